/** One connection to a broker, without the link around it: who is let in, what waits, what comes off again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createPlain, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { Aedes } from 'aedes'
import t, { type Test } from 'tap'
import { Identity } from '../../../plugins/mqtt/mqtt-link/identity/identity.js'
import { StationIdentity } from '../../../plugins/mqtt/mqtt-link/identity/station-identity.js'
import { BusDriver } from '../../../plugins/mqtt/mqtt-link/link/bus-driver.js'
import { defaultGateways } from '../../../plugins/mqtt/mqtt-link/link/outbound.js'
import { Retry } from '../../../plugins/mqtt/mqtt-link/link/retry.js'
import {
  Breach,
  Inspection,
  largestInbound,
  mostAtOnce,
  PacketWatch,
} from '../../../plugins/mqtt/mqtt-link/session/inspection.js'
import { outboxLimit, Session, type SessionEnd, within } from '../../../plugins/mqtt/mqtt-link/session/session.js'
import { SessionFactory } from '../../../plugins/mqtt/mqtt-link/session/session-factory.js'
import { systemNetwork } from '../../../runtime/platform/ports/system-network.js'
import type { PluginContext } from '../../../runtime/plugin.js'
import type { MqttInbound } from '../../../schemas/services.js'
import { ManualClock, until } from '../../harness/index.js'
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
async function connectTo(
  t: Test,
  port: number,
  tls: { ca: string } | undefined,
  { version = 4 }: { version?: 4 | 5 } = {},
) {
  const ends: SessionEnd[] = []
  const messages: MqttInbound[] = []
  let session: Session | undefined
  const first = await new Promise<'accepted' | SessionEnd>((resolve) => {
    session = new Session(
      {
        ...{ host: '127.0.0.1', port, serial: 'TEST0001', clientId: 'TEST0001', tls: tls !== undefined, version },
        net: systemNetwork,
        identity: new Identity(tls ?? {}),
      },
      {
        accepted: () => resolve('accepted'),
        alive() {},
        message: (message) => messages.push(message),
        ended(end) {
          ends.push(end)
          resolve(end)
        },
      },
    )
  })
  t.teardown(() => session?.drop())
  return { first, session: session as unknown as Session, ends, messages }
}

const connack = [0x20, 2, 0, 0]

t.test('a packet that no broker has a reason to send ends the session', async (t) => {
  /** @returns what is wrong with these bytes after a CONNACK, however they are split */
  const wrong = (bytes: readonly number[], sent: { cmd: string; qos?: number }[] = []) => {
    const found = [1, 2, 1_000_000].map((size) => {
      const watch = new PacketWatch()
      watch.sent({ cmd: 'connect' })
      for (const one of sent) watch.sent(one)
      const all = Uint8Array.from([...connack, ...bytes])
      try {
        for (let at = 0; at < all.length; at += size) watch.starts(all.subarray(at, at + size))
        return ''
      } catch (error) {
        return `${error instanceof Breach ? 'breach' : 'no broker'}: ${(error as Error).message}`
      }
    })
    t.equal(new Set(found).size, 1, 'the same however it is split')
    return found[0]
  }
  for (const [cmd, qos, answer, name] of [
    ['publish', 1, 0x40, 'PUBACK'],
    ['publish', 2, 0x50, 'PUBREC'],
    ['pubrel', 0, 0x70, 'PUBCOMP'],
    ['subscribe', 0, 0x90, 'SUBACK'],
    ['unsubscribe', 0, 0xb0, 'UNSUBACK'],
    ['pingreq', 0, 0xd0, 'PINGRESP'],
  ] as const) {
    const nothing = `breach: it sent a ${name} that answers nothing`
    t.equal(wrong([answer, 0]), nothing)
    t.equal(wrong([answer, 0], [{ cmd, qos }]), '')
    t.equal(wrong([answer, 0, answer, 0], [{ cmd, qos }]), nothing, 'once')
    t.equal(
      wrong(
        [answer, 0, answer, 0],
        [
          { cmd, qos },
          { cmd, qos },
        ],
      ),
      '',
    )
  }
  t.equal(wrong([0x40, 0], [{ cmd: 'publish' }]), 'breach: it sent a PUBACK that answers nothing', 'QoS 0')
  for (const [bytes, text] of [
    [[], ''],
    [connack, 'breach: it sent a CONNACK that answers nothing'],
    [[0x30, 0], ''],
    [[0x31, 1, 0], ''],
    [[0x3b, 1, 0], ''],
    [[0x34, 0], 'breach: it sent a PUBLISH of QoS 2: the station subscribes with QoS 1'],
    [[0x36, 0], 'breach: it sent a PUBLISH of QoS 2: the station subscribes with QoS 1'],
    [[0xe0, 0, 0xe0, 0], ''],
    [[0xc0, 0], 'breach: it sent a packet of type 12, which no broker sends'],
    [[0x00, 0], 'breach: it sent a packet of type 0, which no broker sends'],
    [[0x30, 0x80, 0x80, 0x10], ''],
    [[0x30, 0x81, 0x80, 0x10], `breach: it sent a PUBLISH of more than ${largestInbound} bytes`],
    [[0x30, 0xff, 0xff, 0xff], ''],
    [[0x30, 0xff, 0xff, 0xff, 0xff], `breach: it sent a PUBLISH of more than ${largestInbound} bytes`],
  ] as const) {
    t.equal(wrong(bytes), text, bytes.join(' '))
  }
  t.throws(() => new PacketWatch().starts(Buffer.from('HTTP/1.1')), { message: 'its first packet is not a CONNACK' })
})

t.test('the parser gets a few messages at once, and every byte', async (t) => {
  const inspection = new Inspection()
  inspection.watch.sent({ cmd: 'connect' })
  const parts: Buffer[] = []
  inspection.on('data', (part: Buffer) => parts.push(part))
  const message = [0x30, 3, 0, 1, 120]
  const whole = Buffer.from([
    ...connack,
    ...Array(2 * mostAtOnce + 1)
      .fill(message)
      .flat(),
  ])
  inspection.write(whole)
  await until(() => Buffer.concat(parts).length === whole.length, 'all of it')
  t.same(Buffer.concat(parts), whole)
  t.same(
    parts.map(({ length }) => Math.floor(length / message.length)),
    [mostAtOnce, mostAtOnce, 1],
  )
  const errors: Error[] = []
  inspection.on('error', (error) => errors.push(error))
  inspection.write(Buffer.from(connack))
  await until(() => errors.length > 0, 'the breach')
  t.ok(errors[0] instanceof Breach)
})

/** A server that answers every connection with these bytes, and keeps what it gets. */
async function answering(t: Test, answer: readonly number[], ends = false) {
  const state = { bytes: Buffer.alloc(0), sockets: [] as Socket[] }
  const server = createPlain((socket) => {
    state.sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => (ends ? socket.end(Buffer.from(answer)) : socket.write(Buffer.from(answer))))
    socket.on('data', (bytes) => {
      state.bytes = Buffer.concat([state.bytes, bytes])
    })
  })
  const port = await listen(server)
  t.teardown(() => {
    for (const socket of state.sockets) socket.destroy()
    server.close()
  })
  return { port, state }
}

t.test('a session states its limits, and keeps to those of the broker', async (t) => {
  // Maximum packet size 1000 (MQTT 5, section 3.2.2.3.6).
  const { port, state } = await answering(t, [0x20, 8, 0, 0, 5, 0x27, 0, 0, 3, 0xe8])
  const { first, session } = await connectTo(t, port, undefined, { version: 5 })
  t.equal(first, 'accepted')
  t.ok(state.bytes.includes(Buffer.from([0x27, 0, 4, 0, 0])), 'packets of 256 KiB at most')
  t.ok(state.bytes.includes(Buffer.from([0x21, 0, 32])), '32 publications at once')
  const properties = { userProperties: { a: 'bc' }, correlationData: Buffer.alloc(4) }
  const send = (bytes: number, more: object = {}) =>
    session.publish('xy', Buffer.alloc(bytes), { retain: false, qos: 0, ...more })
  for (const [more, largest] of [
    [{}, 986],
    [{ properties: { userProperties: { a: 'bc' } } }, 978],
    [{ properties }, 971],
  ] as const) {
    t.equal(session.largestPayload('xy', (more as { properties?: object }).properties), largest)
    t.equal(send(largest + 1, more), 'full')
    t.equal(send(largest, more), 'sent')
    await until(() => session.waiting === 0, 'room')
  }
  const from = state.bytes.length
  t.equal(await session.leave('q'), true)
  await until(() => state.bytes.subarray(from).includes(Buffer.from([0xe0])), 'DISCONNECT')
  const farewell = state.bytes.subarray(from)
  const topic = 'base/TEST0001/online'
  t.same(
    farewell
      .subarray(0, 4 + topic.length + 2)
      .toString('latin1')
      .slice(4),
    `${topic}\0q`,
  )
  t.equal(farewell[0], 0x31, 'retained')
})

t.test('how an attempt ends says whether the other version may do', async (t) => {
  for (const [what, answer, ends, version, expected] of [
    ['closed without an answer', [], true, 5, { accepted: false, otherVersion: true, failure: { cause: 'closed' } }],
    ['unacceptable version', [0x20, 3, 0, 132, 0], false, 5, { accepted: false, otherVersion: true }],
    ['unacceptable level', [0x20, 2, 0, 1], false, 4, { accepted: false, otherVersion: true }],
    ['not authorised', [0x20, 2, 0, 5], false, 4, { otherVersion: false, failure: { cause: 'auth' } }],
    ['no broker', [...Buffer.from('HTTP/1.1 400')], false, 4, { otherVersion: false, failure: { cause: 'protocol' } }],
    ['a breach', [0xc0, 0], false, 4, { otherVersion: false, failure: { cause: 'protocol' } }],
  ] as const) {
    const { port } = await answering(t, answer, ends)
    const { first, ends: all } = await connectTo(t, port, undefined, { version })
    t.match(first, expected, what)
    t.equal(all.length, 1)
  }
  const { port, state } = await answering(t, connack)
  const { first, ends, session } = await connectTo(t, port, undefined)
  t.equal(first, 'accepted')
  state.sockets[0]?.end()
  await until(() => ends.length > 0, 'the end')
  t.match(ends, [{ accepted: true, otherVersion: false, failure: { cause: 'closed' } }])
  t.equal(session.up, false)
})

t.test('a message that nobody asked for ends the session; one that was asked for arrives as it is', async (t) => {
  const { port, state } = await answering(t, connack)
  const { ends, session, messages } = await connectTo(t, port, undefined)
  const publish = (topic: string, first = 0x30) =>
    state.sockets[0]?.write(Buffer.from([first, 3 + topic.length, 0, topic.length, ...Buffer.from(topic), 120]))
  session.subscribe(['a/#', 'b'], () => {})
  session.subscribe(['b'], () => {})
  publish('a/1', 0x31)
  publish('b')
  await until(() => messages.length === 2, 'two messages')
  t.match(messages, [
    { topic: 'a/1', retain: true },
    { topic: 'b', retain: false },
  ])
  t.notOk(messages.some((one) => 'responseTopic' in one || 'correlationData' in one))
  publish('c')
  await until(() => ends.length > 0, 'the end')
  t.match(ends, [{ accepted: true, failure: { end: 'breach', text: /a message on c, which the station did not/ } }])
})

t.test('which version and whether TLS: by the options, the identity and what the broker took', async (t) => {
  const here = { host: 'h', port: 1 }
  const clock = new ManualClock()
  const factory = (options: object) => new SessionFactory({ clock, serial: 'x' } as never, options as never)
  for (const [protocol, first, isOld, afterEnd] of [
    ['auto', 5, 4, true],
    ['5', 5, 5, false],
    ['4', 4, 4, false],
  ] as const) {
    const sessions = factory({ protocol })
    const end = { otherVersion: true } as SessionEnd
    t.equal(sessions.version(here), first, protocol)
    t.same([sessions.fallsBack(5, end), sessions.fallsBack(4, end)], [afterEnd, false], protocol)
    t.equal(sessions.fallsBack(5, { ...end, otherVersion: false }), false)
    sessions.accepted(here, 5)
    t.equal(sessions.version(here), first, 'a broker that takes 5 is not an old one')
    sessions.accepted(here, 4)
    t.equal(sessions.version(here), isOld, protocol)
  }
  for (const [insecure, identity, uses] of [
    [true, {}, false],
    [true, { ca: 'x' }, true],
    [true, { cert: 'x' }, true],
    [false, {}, true],
  ] as const) {
    t.equal(factory({ insecure }).usesTls(identity), uses)
  }
})

t.test('a broker that floods the station is left alone for 15 min, then up to 6 h', async (t) => {
  const clock = new ManualClock()
  const [lines, shown]: [string[], string[]] = [[], []]
  const ctx = {
    clock,
    status: (text: string) => shown.push(text),
    log: { warn: (_: object, line: string) => lines.push(line) },
    timers: { after: (ms: number, fn: () => void) => clock.timer(ms, fn) },
  }
  const retry = new Retry(ctx as never)
  const breach = { cause: 'protocol', text: 'it floods', end: 'breach' } as const
  for (const minutes of [15, 30, 60, 120, 240, 360, 360]) {
    retry.succeeded()
    const wait_ms = retry.failed(breach, () => {})
    t.ok(wait_ms >= minutes * 48_000 && wait_ms <= minutes * 72_000, `${wait_ms / 60_000} min`)
    t.equal(
      lines.at(-1),
      `the MQTT link is down: it floods; the next attempt follows in ${Math.round(wait_ms / 60_000)} min`,
    )
  }
  t.equal(shown.at(-1), 'down (protocol): it floods; retrying')
  retry.reset()
  t.ok(retry.failed(breach, () => {}) <= 15 * 72_000, 'another broker is tried at once')
  for (const cause of ['config', 'held'] as const) {
    retry.cancel()
    t.equal(
      retry.failed({ cause, text: 'set it' }, () => {}),
      0,
    )
    t.same([shown.at(-1), clock.pending], ['set it', 0])
    t.equal(lines.at(-1), 'the MQTT link is down: set it')
  }
  retry.failed({ cause: 'dns', text: 'y' }, () => {})
  t.equal(lines.at(-1), 'the MQTT link is down: y; retrying automatically')
})

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
  await until(() => packets.length > 0, 'the first packet')
  t.ok(session.waiting >= size, 'written, and not acknowledged yet')
  state.holdsBack = false
  packets.shift()?.done()
  await until(
    () => session.waiting === 0,
    () => `nothing waits, not ${session.waiting} bytes`,
  )
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

t.test(
  'an exchanged certificate is not used without the authority that is set',
  { skip: noPeer('openssl') },
  async (t) => {
    const authority = createAuthority(join(t.testdir(), 'pki'))
    const { cert, key } = authority.issue('device', '/CN=TEST0001', 'extendedKeyUsage=clientAuth\n')
    const renewed = {
      cert: readFileSync(cert, 'utf8'),
      key: readFileSync(key, 'utf8'),
      replaces: 'another certificate',
    }
    const ctx = {
      log: { warn() {} },
      store: { protected: { get: async (name: string) => (name === 'identity' ? renewed : undefined) } },
    } as never
    const gone = join(t.testdirName, 'gone.pem')
    await t.rejects(new StationIdentity(ctx, { ca: gone, cert, key }).next(), {
      message: /^the ca file cannot be read: /,
    })
    t.match(await new StationIdentity(ctx, { ca: authority.ca, cert, key }).next(), { cert: renewed.cert })
  },
)

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
  const retry = new Retry(ctx)
  let freed = 0
  const free = () => freed++
  const release = retry.hold('a', free)
  retry.hold('b', free)
  t.equal(retry.heldFor, 'a')
  release()
  release()
  t.same([retry.heldFor, freed], ['b', 0])
  await clock.advance(599_999)
  t.equal(freed, 0)
  await clock.advance(1)
  t.same([retry.heldFor, freed], [undefined, 1], 'ten minutes at most')

  const tls = new SessionFactory(ctx, { clientId: 'x', protocol: 'auto', insecure: false })
  const failure = { cause: 'tls', text: 'x' } as const
  t.same(
    [tls.awaitsTime({}), tls.explained(failure).text],
    [true, 'x (the time is not known yet, which may be the cause)'],
  )
  t.same(tls.explained({ cause: 'dns', text: 'x' }).text, 'x')
  time.up = 59_999
  t.equal(tls.awaitsTime({}), true)
  time.up = 60_000
  t.equal(tls.awaitsTime({}), false)
  time.up = 0
  const plain = new SessionFactory(ctx, { clientId: 'x', protocol: 'auto', insecure: true })
  t.equal(plain.awaitsTime({}), false)
  time.utc = 1
  t.same([tls.awaitsTime({}), tls.explained(failure)], [false, failure])

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
  const timeouts = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timeouts()
  await within(60_000, Promise.resolve(1), 2)
  t.equal(timeouts(), before, 'what came in time leaves no timer behind')
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
