import { createSocket } from 'node:dgram'
import { networkInterfaces } from 'node:os'
import { type DecodedPacket, decode, encode, type Question } from 'dns-packet'
import fc from 'fast-check'
import { conformance, createTestStation, freeUdpPort, ManualClock, until } from 'rtk-base/testing'
import t from 'tap'
import { Announcer } from '../../../../plugins/network/mdns/announcer.js'
import mdns from '../../../../plugins/network/mdns/index.js'
import { type LinkHandlers, type OpenLink, udpLinks } from '../../../../plugins/network/mdns/link.js'
import { type Announcement, dataOf, namesFor, uniqueRecords } from '../../../../plugins/network/mdns/records.js'
import { Responder } from '../../../../plugins/network/mdns/responder.js'
import { systemNetwork } from '../../../../runtime/platform/ports/system-network.js'
import { type AnyPlugin, definePlugin } from '../../../../runtime/plugin.js'
import { device, localNetwork } from '../../../../schemas/services.js'
import { drive } from '../../../harness/drive.js'

const port = 5353
const asker = { address: '192.168.1.99', port }

/** Everybody on one cable hears everybody, the sender too. */
class Segment {
  readonly clock = new ManualClock()
  readonly packets: DecodedPacket[] = []
  /** Sent to one asker alone. */
  readonly direct: { packet: DecodedPacket; to: { address: string; port: number } }[] = []
  /** What reading costs; a test may make it dear. */
  spent = () => 0
  readonly #members = new Map<Responder, string>()

  station(serial: string, address: string, own: Partial<Announcement> = {}) {
    const state = { conflicts: 0, closed: false, attempt: 1 }
    const make = (): Announcement => ({
      ...namesFor(serial, state.attempt),
      port: 80,
      isSecure: false,
      txt: [`serial=${serial}`, 'path=/'],
      ip4: [address],
      ip6: [],
      ...own,
    })
    const responder: Responder = new Responder(
      {
        send: (bytes, to) => this.#send(Buffer.from(bytes), address, to),
        close: async () => {
          state.closed = true
        },
      },
      make(),
      {
        port,
        monotonic: () => this.clock.monotonic(),
        spent: () => this.spent(),
        after: (ms, fn) => this.clock.timer(ms, fn),
        random: () => 0.5,
        conflict: () => {
          state.conflicts += 1
          state.attempt += 1
          responder.update(make())
        },
        isOwn: () => false,
      },
    )
    this.#members.set(responder, address)
    responder.start()
    return { responder, state, update: (changed: Partial<Announcement>) => responder.update({ ...make(), ...changed }) }
  }

  ask(questions: Question[], more: Parameters<typeof encode>[0] = {}, from = asker): void {
    this.#send(encode({ type: 'query', questions, ...more }), from.address, undefined, from.port)
  }

  say(answers: Parameters<typeof encode>[0]['answers']): void {
    this.#send(encode({ type: 'response', answers: answers ?? [] }), asker.address)
  }

  raw(bytes: Buffer): void {
    for (const responder of this.#members.keys()) responder.received(bytes, asker)
  }

  /** Answers that were sent to everybody from now on, until time has passed. */
  async during(seconds: number): Promise<DecodedPacket[]> {
    const from = this.packets.length
    for (let i = 0; i < seconds * 20; i++) await this.clock.advance(50)
    return this.packets.slice(from)
  }

  #send(bytes: Buffer, address: string, to?: { address: string; port: number }, from = port): void {
    if (to) {
      this.direct.push({ packet: decode(bytes), to })
      return
    }
    this.packets.push(decode(bytes))
    for (const responder of this.#members.keys()) responder.received(bytes, { address, port: from })
  }
}

const names = (packet: DecodedPacket | undefined, part: 'answers' | 'additionals' | 'authorities' = 'answers') =>
  (packet?.[part] ?? []).map(({ type, name }) => `${type} ${name}`).toSorted((a, b) => (a < b ? -1 : 1))

const http = '_http._tcp.local'
const ptr: Question = { name: http, type: 'PTR' }

t.test('a station probes, announces, answers, and says goodbye', async (t) => {
  const segment = new Segment()
  const { responder, state } = segment.station('SN1', '192.168.1.2')
  const start = await segment.during(3)
  const [first] = start
  t.strictSame(
    start.map(({ type }) => type),
    ['query', 'query', 'query', 'response', 'response'],
  )
  t.match(names(first, 'authorities'), ['A rtk-base-sn1.local', 'SRV RTK base SN1._http._tcp.local'])
  const announced = start.at(-1)
  t.strictSame(names(announced), [
    'A rtk-base-sn1.local',
    'PTR _http._tcp.local',
    'PTR _rtk-base._tcp.local',
    'PTR _services._dns-sd._udp.local',
    'PTR _services._dns-sd._udp.local',
    'SRV RTK base SN1._http._tcp.local',
    'SRV RTK base SN1._rtk-base._tcp.local',
    'TXT RTK base SN1._http._tcp.local',
    'TXT RTK base SN1._rtk-base._tcp.local',
  ])
  t.equal(announced?.flag_aa, true)
  segment.ask([ptr])
  const [answer] = await segment.during(0.5)
  t.strictSame(names(answer), ['PTR _http._tcp.local'])
  t.match(names(answer, 'additionals'), ['A rtk-base-sn1.local', 'SRV RTK base SN1._http._tcp.local'])
  t.equal(answer?.answers?.[0] && dataOf(answer.answers[0]), 'rtk base sn1._http._tcp.local')
  const txt = uniqueRecords({
    ...namesFor('SN1'),
    port: 80,
    isSecure: false,
    txt: ['serial=SN1', 'path=/'],
    ip4: [],
    ip6: [],
  })
  const heard = answer?.additionals?.find(({ type }) => type === 'TXT')
  t.equal(heard && dataOf(heard), txt.filter(({ type }) => type === 'TXT').map(dataOf)[0])
  await responder.close()
  const goodbye = segment.packets.at(-1)
  t.equal(goodbye?.answers?.length, 9)
  t.ok(goodbye?.answers?.every((one) => 'ttl' in one && one.ttl === 0))
  t.ok(state.closed)
  const after = segment.packets.length
  segment.ask([ptr])
  await segment.during(2)
  t.equal(segment.packets.length, after + 1, 'nothing more')
})

t.test('a page with a certificate is announced as one', async (t) => {
  const segment = new Segment()
  segment.station('SN1', '192.168.1.2', { isSecure: true })
  const announced = names((await segment.during(3)).at(-1))
  for (const type of ['SRV', 'TXT']) t.ok(announced.includes(`${type} RTK base SN1._https._tcp.local`), type)
  t.notOk(announced.some((name) => name.includes('_http.')))
})

t.test('questions: kinds, known answers, plain DNS, rate', async (t) => {
  const segment = new Segment()
  segment.station('SN1', '192.168.1.2')
  await segment.during(5)
  const answersTo = async (...given: Parameters<Segment['ask']>) => {
    await segment.during(2)
    segment.ask(...given)
    return (await segment.during(0.5)).filter(({ type }) => type === 'response')
  }
  t.equal((await answersTo([{ name: 'rtk-base-SN1.LOCAL', type: 'A' }])).length, 1, 'case does not matter')
  t.equal((await answersTo([{ name: 'other.local', type: 'A' }])).length, 0)
  t.equal((await answersTo([{ ...ptr, class: 'CH' }])).length, 0, 'another class')
  t.strictSame(names((await answersTo([{ name: 'RTK base SN1._http._tcp.local', type: 'ANY' as never }]))[0]), [
    'SRV RTK base SN1._http._tcp.local',
    'TXT RTK base SN1._http._tcp.local',
  ])
  const known = (ttl: number) => [{ name: http, type: 'PTR' as const, ttl, data: 'RTK base SN1._http._tcp.local' }]
  t.equal((await answersTo([ptr], { answers: known(4_500) })).length, 0, 'the asker knows')
  t.equal((await answersTo([ptr], { answers: known(100) })).length, 1, 'the asker forgets soon')
  await segment.during(2)
  for (let i = 0; i < 20; i++) segment.ask([ptr])
  t.equal((await segment.during(0.5)).filter(({ type }) => type === 'response').length, 1, 'once a second')
  segment.ask([ptr], { id: 77 }, { address: '192.168.1.50', port: 40_000 })
  t.match(segment.direct, [
    { to: { address: '192.168.1.50', port: 40_000 }, packet: { id: 77, questions: [{ name: http }] } },
  ])
  t.ok(
    segment.direct[0]?.packet.answers?.every((one) => 'ttl' in one && one.ttl === 10 && !('flush' in one && one.flush)),
  )
})

t.test('a name that is taken is changed, by whoever comes later', async (t) => {
  const segment = new Segment()
  const first = segment.station('SN1', '192.168.1.2')
  await segment.during(5)
  const second = segment.station('SN1', '192.168.1.3', { port: 8080 })
  await segment.during(10)
  t.strictSame([first.state.attempt, second.state.attempt], [1, 2])
  t.equal(first.responder.state, 'announced')
  t.equal(second.responder.state, 'announced')
  segment.ask([ptr])
  const found = (await segment.during(0.5)).flatMap(({ type, answers = [] }) =>
    type === 'response' ? answers.map(dataOf) : [],
  )
  t.strictSame(
    found.toSorted((a, b) => (a < b ? -1 : 1)),
    ['rtk base sn1 (2)._http._tcp.local', 'rtk base sn1._http._tcp.local'],
  )
})

t.test('a newcomer right after the announcement hears that the name is taken', async (t) => {
  const segment = new Segment()
  const first = segment.station('SN1', '192.168.1.2')
  while (first.responder.state !== 'announced') await segment.during(0.05)
  const second = segment.station('SN1', '192.168.1.3')
  await segment.during(1.2)
  t.strictSame([first.state.attempt, second.state.attempt], [1, 2])
  await segment.during(5)
  t.strictSame([first.responder.state, second.responder.state], ['announced', 'announced'])
})

t.test('two that start at once end with two names', async (t) => {
  const segment = new Segment()
  const stations = [segment.station('SN1', '192.168.1.2'), segment.station('SN1', '192.168.1.3')]
  await segment.during(15)
  t.strictSame(
    stations.map(({ state }) => state.attempt).toSorted((a, b) => (a < b ? -1 : 1)),
    [1, 2],
  )
  t.ok(stations.every(({ responder }) => responder.state === 'announced'))
})

t.test('an address that changes: goodbye for the old one', async (t) => {
  const segment = new Segment()
  const { update } = segment.station('SN1', '192.168.1.2')
  await segment.during(5)
  const from = segment.packets.length
  update({ ip4: ['192.168.1.7'] })
  await segment.during(3)
  const packets = segment.packets.slice(from)
  const goodbye = packets.find(({ type, answers = [] }) => type === 'response' && answers.length === 1)
  t.match(goodbye?.answers, [{ type: 'A', ttl: 0, data: '192.168.1.2' }])
  t.match(
    packets.at(-1)?.answers?.find(({ type }) => type === 'A'),
    { ttl: 120, data: '192.168.1.7' },
  )
})

t.test('whatever comes in: it lives, and answers afterwards', async (t) => {
  const segment = new Segment()
  const { responder } = segment.station('SN1', '192.168.1.2')
  await segment.during(5)
  const valid = encode({ type: 'query', questions: [ptr] })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(), fc.nat({ max: 255 }), (bytes, at, value) => {
      segment.raw(Buffer.from(bytes))
      const broken = Buffer.from(valid)
      broken[at % broken.length] = value
      segment.raw(broken)
      segment.raw(broken.subarray(0, at % broken.length))
    }),
    { numRuns: 60 },
  )
  // A name that points at itself.
  segment.raw(Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 0x0c, 0, 12, 0, 1]))
  segment.raw(Buffer.alloc(20_000))
  t.ok(responder.malformed > 0)
  await segment.during(5)
  segment.ask([ptr])
  t.equal((await segment.during(0.5)).length, 1)
  const before = segment.packets.length
  for (let i = 0; i < 5_000; i++) segment.ask([{ name: `x${i}.local`, type: 'A' }])
  segment.ask([ptr])
  await segment.during(0.5)
  t.equal(segment.packets.length - before, 5_001, 'a flood is not read')
})

t.test('packets that are dear to read: few of them in a second, and no long answer to a short question', async (t) => {
  const segment = new Segment()
  const { responder } = segment.station('SN1', '192.168.1.2')
  await segment.during(5)
  let work_ms = 0
  segment.spent = () => (work_ms += 15)
  const { malformed } = responder
  // Cut off behind a pointer: it is counted when it was read.
  for (let i = 0; i < 100; i++) segment.raw(Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xc0]))
  t.equal(responder.malformed - malformed, 4, 'for 50 ms')
  await segment.during(1)
  segment.spent = () => 0
  const many = Array.from({ length: 300 }, () => ptr)
  segment.ask(many, {}, { ...asker, port: 40_000 })
  t.equal(segment.direct.length, 0, 'more records than anybody has')
  segment.ask(many.slice(0, 200), {}, { ...asker, port: 40_000 })
  t.equal(segment.direct[0]?.packet.questions?.length, 64)
})

t.test('a question from port 0, which cannot be answered, does not end the plugin', async (t) => {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  for (const name of ['addMembership', 'setMulticastInterface', 'setMulticastTTL', 'setMulticastLoopback'] as const)
    Object.assign(socket, { [name]: () => {} })
  const from: number[] = []
  const open = udpLinks({ datagram: async () => socket }, port)
  const link = await open(
    { name: 'lo', address: '127.0.0.1', prefix: 8, ip6: [] },
    {
      received(bytes, { address, port }) {
        from.push(port)
        link.send(bytes, { address, port })
      },
      failed: () => {},
    },
  )
  for (const port of [0, 40_000]) socket.emit('message', Buffer.from('?'), { address: '127.0.0.1', port })
  t.same(from, [40_000])
})

/** A station that announces on loopback alone. */
async function loopbackStation(udp: number, serial: string) {
  return createTestStation({
    clock: new ManualClock(),
    variant: { serial },
    plugins: { mdns: [mdns as AnyPlugin, { interfaces: ['lo'], port: udp }] },
  })
}

t.test('two stations on the loopback interface, over real sockets', async (t) => {
  const udp = await freeUdpPort()
  const heard: DecodedPacket[] = []
  const listener = await udpLinks(systemNetwork, udp)(
    { name: 'lo', address: '127.0.0.1', prefix: 8, ip6: [] },
    { received: (bytes) => heard.push(decode(bytes)), failed: () => {} },
  )
  t.teardown(() => listener.close())
  const one = await loopbackStation(udp, 'SN1')
  const pass = (condition: () => unknown, what: string, ...stations: { clock: ManualClock }[]) => {
    const clocks = {
      monotonic: () => stations[0]?.clock.monotonic() ?? 0,
      advance: async (ms: number) => {
        for (const { clock } of stations) await clock.advance(ms)
      },
    }
    return drive(clocks, condition, what, 100)
  }
  const announces = (instance: string) => () =>
    heard.some(
      ({ type, answers = [] }) =>
        type === 'response' &&
        answers.some((answer) => answer.type === 'PTR' && dataOf(answer) === `${instance}.${http}`),
    )
  await pass(announces('rtk base sn1'), 'the first one is announced', one)
  const txt = heard.flatMap(({ answers = [] }) => answers).find(({ type }) => type === 'TXT')
  t.equal(txt && dataOf(txt), JSON.stringify(['serial=SN1', 'version=0.0.0-test', 'hardware=test', 'path=/']))
  const srv = heard.flatMap(({ answers = [] }) => answers).find(({ type }) => type === 'SRV')
  t.match(srv, { data: { port: Number(new URL(one.url).port) } })
  const two = await loopbackStation(udp, 'SN1')
  await pass(announces('rtk base sn1 (2)'), 'the second one has another name', one, two)
  t.match(two.station.plugins()[0]?.reason, /'RTK base SN1 \(2\)' on lo \(127\.0\.0\.1\)/)
  t.match(one.station.plugins()[0]?.reason, /'RTK base SN1' on lo/)
  heard.length = 0
  await two.reload('mdns')
  await pass(announces('rtk base sn1 (2)'), 'again after a reload', one, two)
  t.ok(
    heard.some(
      ({ answers = [] }) => answers.length > 1 && answers.every((answer) => 'ttl' in answer && answer.ttl === 0),
    ),
  )
  heard.length = 0
  await two.stop()
  await one.stop()
  await until(
    () => heard.some(({ answers = [] }) => answers.some((answer) => 'ttl' in answer && answer.ttl === 0)),
    'goodbye',
  )
})

t.test(
  'names that a stranger claims, all of them: the first one is tried again after an hour, then later and later',
  async (t) => {
    let isHostile = true
    const probed: string[] = []
    let receive: LinkHandlers['received'] = () => {}
    /** Somebody who has every name that is asked for. */
    const send = (bytes: Uint8Array) => {
      const { type, authorities = [] } = decode(Buffer.from(bytes))
      const srv = authorities.find((record) => record.type === 'SRV')
      if (type !== 'query' || !srv) return
      probed.push(srv.name.split('.')[0])
      const answers = [{ ...srv, data: { port: 9, target: 'stranger.local' } }]
      const reply = encode({ type: 'response', answers: answers as never })
      if (isHostile) queueMicrotask(() => receive(reply, { ...asker, family: 'IPv4', size: reply.length }))
    }
    const open: OpenLink = async (_on, handlers) => {
      receive = handlers.received
      return { send, close: async () => {} }
    }
    const list = () => networkInterfaces()
    const plugin = definePlugin({
      name: 'mdns',
      version: '1.0.0',
      api: '^1.0.0',
      needs: [localNetwork, device],
      setup: (ctx) => new Announcer(ctx, { interfaces: ['lo'], port, open, list }),
      start: (_ctx, _handoff, announcer) => announcer.follow(),
    })
    const clock = new ManualClock()
    const station = await createTestStation({
      clock,
      variant: { serial: 'SN1' },
      plugins: { mdns: plugin as AnyPlugin },
    })
    t.teardown(() => station.stop())
    await drive(
      clock,
      () => station.station.plugins()[0]?.reason.startsWith("'RTK base SN1 (50)'"),
      'the last name',
      100,
    )
    const probedAgain = async (seconds: number) => {
      probed.length = 0
      await clock.advance(seconds * 1_000)
      return probed.includes('RTK base SN1')
    }
    t.equal(await probedAgain(3_500), false, 'not within the hour')
    t.equal(await probedAgain(500), true)
    t.equal(await probedAgain(6_700), false, 'not within two more')
    isHostile = false
    t.equal(await probedAgain(1_400), true)
    t.match(station.station.plugins()[0]?.reason, "'RTK base SN1' on lo")
  },
)

t.test('a port that cannot be had is reported and tried again; no interface, no announcement', async (t) => {
  const station = await createTestStation({ plugins: { mdns: [mdns as AnyPlugin, { interfaces: ['none0'] }] } })
  t.teardown(() => station.stop())
  await station.clock.advance(2_000)
  t.match(station.station.plugins()[0], { state: 'running', reason: 'no local interface' })
  const elsewhere = await createTestStation({ plugins: { mdns: mdns as AnyPlugin } })
  t.teardown(() => elsewhere.stop())
  await elsewhere.clock.advance(2_000)
  t.match(elsewhere.station.plugins()[0]?.reason, 'no local interface', 'its HTTP server listens on loopback only')
})

t.test('the plugin stands what every plugin must stand', async () => {
  await conformance(mdns as never, { interfaces: ['lo'], port: await freeUdpPort() })
})

t.test('names of any serial number fit into DNS', async () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{1,80}$/), fc.integer({ min: 1, max: 50 }), (serial, attempt) => {
      const { instance, host } = namesFor(serial, attempt)
      return instance.length <= 63 && host.length <= 63 && /^[a-z0-9-]+$/.test(host)
    }),
  )
})
