/** One connection to a broker, without the link around it: who is let in, what waits, what comes off again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createPlain, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { Aedes } from 'aedes'
import t, { type Test } from 'tap'
import { noCertificate } from '../../../plugins/mqtt-link/identity/certificate.js'
import { BusDriver } from '../../../plugins/mqtt-link/link/bus-driver.js'
import { Holds } from '../../../plugins/mqtt-link/link/holds.js'
import { Retry } from '../../../plugins/mqtt-link/link/retry.js'
import { TlsTime } from '../../../plugins/mqtt-link/link/tls-time.js'
import { defaultGateways } from '../../../plugins/mqtt-link/session/default-gateways.js'
import { OldBrokers } from '../../../plugins/mqtt-link/session/old-brokers.js'
import { outboxLimit, Session, type SessionEnd } from '../../../plugins/mqtt-link/session/session.js'
import { within } from '../../../plugins/mqtt-link/session/within.js'
import type { PluginContext } from '../../../runtime/plugin.js'
import { ManualClock } from '../../harness/index.js'
import { listen } from '../../harness/peers/brokers.js'
import { createAuthority, type IdentityFile } from '../../harness/peers/certificates.js'
import { noPeer } from '../../harness/peers/peers.js'

/** A broker behind a server, and whether anyone got as far as MQTT. */
async function broker(t: Test, identity?: { cert: string; key: string }) {
  const packets: { topic: string; done: () => void }[] = []
  const state = { connects: 0, holdsBack: false }
  const aedes = await Aedes.createBroker({
    preConnect(_client, _packet, done) {
      state.connects++
      done(null, true)
    },
    authorizePublish(_client, packet, done) {
      if (!state.holdsBack) return done(null)
      packets.push({ topic: packet.topic, done: () => done(null) })
    },
  })
  const sockets = new Set<Socket>()
  const take = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    aedes.handle(socket)
  }
  const server: Server = identity ? createServer(identity, take) : createPlain(take)
  server.on('tlsClientError', () => {})
  const port = await listen(server)
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await new Promise<void>((resolve) => aedes.close(resolve))
  })
  return { port, state, packets }
}

/** Connects; @returns what came first: that the broker accepted, or how it ended. */
async function connectTo(t: Test, port: number, tls: { ca: string } | undefined, host = '127.0.0.1') {
  const ends: SessionEnd[] = []
  let session: Session | undefined
  const first = await new Promise<'accepted' | SessionEnd>((resolve) => {
    session = new Session(
      {
        ...{ host, port, serial: 'TEST0001', clientId: 'TEST0001', tls: tls !== undefined, version: 4 },
        identity: { info: noCertificate, ...tls },
      },
      {
        accepted: () => resolve('accepted'),
        alive() {},
        message() {},
        ended(end) {
          ends.push(end)
          resolve(end)
        },
      },
    )
  })
  t.teardown(() => session?.drop())
  return { first, session: session as unknown as Session, ends }
}

t.test('a broker with a wrong certificate is refused', { skip: noPeer('openssl') }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-tls-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const ours = createAuthority(join(folder, 'ours'))
  const theirs = createAuthority(join(folder, 'theirs'), 'another authority')
  const here = 'subjectAltName=IP:127.0.0.1,DNS:localhost\n'
  const read = ({ cert, key }: IdentityFile) => ({ cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') })
  const ca = readFileSync(ours.ca, 'utf8')
  for (const [what, identity, accepted] of [
    ['one of another authority', theirs.issue('server', '/CN=broker', here), false],
    ['one for another name', ours.issue('other', '/CN=broker', 'subjectAltName=IP:127.0.0.2,DNS:example.org\n'), false],
    ['one that has ended', ours.issue('old', '/CN=broker', here, -1), false],
    ['one for clients', ours.issue('client', '/CN=broker', `${here}extendedKeyUsage=clientAuth\n`), false],
    ['the right one', ours.issue('server', '/CN=broker', here), true],
  ] as const) {
    const { port, state } = await broker(t, read(identity))
    const { first } = await connectTo(t, port, { ca })
    if (accepted) t.equal(first, 'accepted', what)
    else {
      t.match(first, { failure: { cause: 'tls' }, accepted: false, otherVersion: false }, what)
      t.equal(state.connects, 0, `${what}: it got no byte of MQTT`)
    }
  }
})

t.test('what the broker acknowledged makes room again', async (t) => {
  const { port, state, packets } = await broker(t)
  const { first, session } = await connectTo(t, port, undefined)
  t.equal(first, 'accepted')
  t.match(session, { up: true, waiting: 0, unreached: false, remoteAddress: '127.0.0.1' })
  state.holdsBack = true
  const send = (bytes: number, qos: 0 | 1 = 1) => session.publish('x', Buffer.alloc(bytes), { retain: false, qos })
  const size = 1 + 40_000 + 12
  t.equal(send(40_000), 'sent')
  t.ok(session.waiting >= size, `${session.waiting} bytes wait`)
  t.ok(session.hasRoom(outboxLimit - session.waiting))
  t.notOk(session.hasRoom(outboxLimit - session.waiting + 1))
  t.equal(send(40_000), 'full')
  const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 2))
  while (packets.length === 0) await turn()
  t.ok(session.waiting >= size, 'written, and not acknowledged yet')
  state.holdsBack = false
  packets.shift()?.done()
  for (let n = 0; session.waiting > 0 && n < 2000; n++) await turn()
  t.equal(session.waiting, 0)
  t.equal(send(100_000), 'sent', 'one of any size when nothing waits')
  session.drop()
  t.equal(send(1), 'offline')
  t.equal(session.up, false)
})

t.test('a ping that was not answered is known at the next one', async (t) => {
  const { port } = await broker(t)
  const { session } = await connectTo(t, port, undefined)
  t.equal(session.ping(), true)
  t.equal(session.ping(), false)
  t.same([session.largestPayload('x'), session.version], [Number.POSITIVE_INFINITY, 4])
  t.equal(await session.leave('q'), true)
  t.equal(session.up, false)
})

t.test('holds, waits and memories end when they should', async (t) => {
  const clock = new ManualClock()
  const lines: string[] = []
  const ctx = {
    clock,
    status() {},
    log: { warn: (_: object, line: string) => lines.push(line) },
    timers: { after: (ms: number, fn: () => void) => clock.timer(ms, fn) },
    services: { use: () => time },
  } as never
  const time = { utc: 0, up: 0, utc_ms: () => time.utc, uptime_ms: () => time.up }
  const holds = new Holds(ctx)
  let freed = 0
  const free = () => freed++
  const release = holds.add('a', free)
  holds.add('b', free)
  t.equal(holds.reason, 'a')
  release()
  release()
  t.same([holds.reason, freed], ['b', 0])
  await clock.advance(599_999)
  t.equal(freed, 0)
  await clock.advance(1)
  t.same([holds.reason, freed], [undefined, 1], 'ten minutes at most')

  const tls = new TlsTime(ctx)
  const failure = { cause: 'tls', text: 'x' } as const
  t.same([tls.awaited, tls.explained(failure).text], [true, 'x (the time is not known yet, which may be the cause)'])
  t.same(tls.explained({ cause: 'dns', text: 'x' }).text, 'x')
  time.up = 59_999
  t.equal(tls.awaited, true)
  time.up = 60_000
  t.equal(tls.awaited, false)
  time.up = 0
  time.utc = 1
  t.same([tls.awaited, tls.explained(failure)], [false, failure])

  const retry = new Retry(ctx)
  let again = 0
  t.equal(
    retry.failed({ cause: 'held', text: 'h' }, () => again++),
    0,
  )
  const wait_ms = retry.failed({ cause: 'dns', text: 'x' }, () => again++)
  t.ok(wait_ms > 0 && wait_ms <= 2000)
  retry.failed({ cause: 'dns', text: 'x' }, () => again++)
  t.equal(lines.length, 2, 'the same failure once')
  retry.succeeded()
  retry.failed({ cause: 'dns', text: 'x' }, () => again++)
  t.equal(lines.length, 3)
  await clock.advance(60_000)
  t.equal(again, 1, 'only the newest waits')
  retry.after(10, () => again++)
  retry.cancel()
  await clock.advance(10)
  t.equal(again, 1)

  const old = new OldBrokers(() => clock.monotonic())
  old.add({ host: 'h', port: 1 })
  t.same([old.has({ host: 'h', port: 1 }), old.has({ host: 'h', port: 2 })], [true, false])
  await clock.advance(24 * 3_600_000 - 1)
  t.ok(old.has({ host: 'h', port: 1 }))
  await clock.advance(1)
  t.notOk(old.has({ host: 'h', port: 1 }), 'for 24 hours')

  const route = (flags: string, destination = '00000000', mask = '00000000', gateway = '0101A8C0') =>
    defaultGateways(`head\neth0\t${destination}\t${gateway}\t${flags}\t0\t0\t0\t${mask}\t0\t0\t0`, true)
  t.same([...route('0003')], [['eth0', ['192.168.1.1']]])
  t.same([...route('0001')], [], 'without a gateway')
  t.same([...route('0002')], [], 'down')
  t.same([...route('0003', '0000A8C0')], [])
  t.same([...route('0003', '00000000', '00FFFFFF')], [])
  t.same([...route('0003', '00000000', '00000000', 'x')], [])
  t.same(
    [...defaultGateways('h\na 00000000 C0A80101 0003 0 0 0 00000000\na 00000000 C0A80102 0003 0 0 0 00000000', false)],
    [['a', ['192.168.1.1', '192.168.1.2']]],
  )
  t.same(await Promise.all([within(1000, Promise.resolve(1), 2), within(1, new Promise<number>(() => {}), 2)]), [1, 2])
})

t.test('a payload that is larger than a broker takes is told once for each broker; a full queue is not', async (t) => {
  const told: unknown[] = []
  const ctx = { log: { warn: (fields: object) => told.push(fields) } } as unknown as PluginContext
  const state = { broker: { host: 'a.example', port: 1883 } }
  const session = {
    publish: () => 'full',
    largestPayload: () => 100,
    get broker() {
      return state.broker
    },
  }
  const driver = new BusDriver(ctx, () => session as unknown as Session)
  const publish = (bytes: number) => driver.publish('base/x/info', 'x'.repeat(bytes), { retain: false, qos: 1 })
  t.equal(publish(100), 'full')
  t.strictSame(told, [])
  for (const host of ['a.example', 'a.example', 'b.example']) {
    state.broker = { host, port: 1883 }
    publish(101)
  }
  t.strictSame(told, Array(2).fill({ topic: 'base/x/info', bytes: 101, limit: 100 }))
})
