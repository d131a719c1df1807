/** The parts of NTRIP without a network: each at its limits. */
import fc from 'fast-check'
import t from 'tap'
import { Value } from 'typebox/value'
import { Contents } from '../../../../plugins/rtcm/ntrip-caster/contents.js'
import { ForeignMount } from '../../../../plugins/rtcm/ntrip-caster/foreign.js'
import { StoredLogins } from '../../../../plugins/rtcm/ntrip-caster/logins/stored.js'
import { type MountPoint, OwnMount } from '../../../../plugins/rtcm/ntrip-caster/mount.js'
import { errorReply, streamHead, tableReply } from '../../../../plugins/rtcm/ntrip-caster/replies.js'
import { Rovers } from '../../../../plugins/rtcm/ntrip-caster/rovers.js'
import { reachedAt, rowOf, tableLines } from '../../../../plugins/rtcm/ntrip-caster/table.js'
import { Proof } from '../../../../plugins/rtcm/ntrip-server/proof.js'
import { readReply, saysBanned } from '../../../../plugins/rtcm/ntrip-server/reply.js'
import {
  afterEnd,
  afterNetworkUp,
  fresh,
  keptOf,
  restored,
  waitOf,
} from '../../../../plugins/rtcm/ntrip-server/retry.js'
import { nameOf, requestOf, Target } from '../../../../plugins/rtcm/ntrip-server/target.js'
import { decodeGga, encodeMsm, encodeNmea, geodeticToEcef, isMsm } from '../../../../runtime/lib/gnss/index.js'
import {
  basicLogin,
  ChunkReader,
  chunkOf,
  Distributor,
  filterLines,
  getRequest,
  ggaOf,
  HeadReader,
  parseHeaders,
  parseRequest,
  parseTable,
  readAnswer,
  Selector,
  streamLine,
  TableReader,
  tableText,
} from '../../../../runtime/lib/ntrip/index.js'
import type { Connection, PluginContext } from '../../../../runtime/plugin.js'
import type { RtcmFrame, RtcmStream } from '../../../../schemas/services.js'
import { arpFrame, ManualClock, msmFrame, sample } from '../../../harness/index.js'
import { here, typesIn } from './rig.js'

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const frame = (type: number, bytes: Uint8Array): RtcmFrame => ({ type, bytes, arrival_ms: 0 })
const position = frame(1005, arpFrame(here))
const epochOf = (time: number) => frame(1074, msmFrame(1074, time, false))

/** A connection that keeps what it is told. */
function connection(remoteAddress = '192.0.2.1') {
  const made = {
    ...{ remoteAddress, closed: false, written: [] as Uint8Array[] },
    data: (_: Buffer) => {},
    close: () => {},
    inherited: (): unknown => undefined,
    write: (bytes: Uint8Array) => made.written.push(bytes) > 0,
    onData(fn: (bytes: Buffer) => void) {
      made.data = fn
    },
    onClose(fn: () => void) {
      made.close = fn
    },
    inheritable(fn: () => unknown) {
      made.inherited = fn
    },
    destroy() {
      if (made.closed) return
      made.closed = true
      made.close()
    },
    types: () => made.written.flatMap((bytes) => typesIn(bytes)),
  }
  return made
}
const asConnection = (made: ReturnType<typeof connection>) => made as unknown as Connection

/** A context with a clock, the own stream, and what is listed beside the other outputs. */
function context() {
  const clock = new ManualClock()
  const lines: string[] = []
  const listed: { name: string; closed: boolean }[] = []
  const stream = {
    ...{ open: true, sequence: 0, reason: '', station: undefined, reference: () => [position] },
    list({ name }: { name: string }) {
      const one = { name, closed: false }
      listed.push(one)
      return {
        close: () => {
          one.closed = true
        },
      }
    },
  }
  const repeated: { ms: number; fn: () => void }[] = []
  const ctx = {
    clock,
    log: { debug() {}, warn() {}, info: (_: object, line: string) => lines.push(line) },
    services: { use: () => stream, find: () => stream },
    defer() {},
    timers: {
      after: (ms: number, fn: () => void) => clock.timer(ms, fn),
      every(ms: number, fn: () => void) {
        repeated.push({ ms, fn })
        return () => repeated.splice(0)
      },
    },
  } as unknown as PluginContext
  return { ctx, clock, stream: stream as unknown as RtcmStream, listed, lines, repeated }
}
/** Logins that no test asks. */
const logins = {} as never
const facts = (user = '', chunked = false) => ({ user, agent: 'NTRIP x', version: 1 as const, chunked, since: 7 })

t.test('a rover gets the position, then every frame and every epoch, as its head says', async (t) => {
  const { ctx, stream } = context()
  const mount = new OwnMount(ctx, stream, { name: 'A' }, logins)
  const [plain, chunked] = [connection(), connection()]
  const rovers = new Rovers(ctx)
  rovers.add(asConnection(plain), mount, facts())
  rovers.add(asConnection(chunked), mount, facts('', true))
  mount.distributor.epoch({ frames: [epochOf(1)], complete: true, time: 1, satellites: 2 }, 1)
  mount.distributor.frame(position, 2)
  t.same(plain.types(), [1005, 1074, 1005])
  t.match(text(chunked.written[0] ?? new Uint8Array()), /^19\r\n\xd3/, 'a chunk of 25 bytes')
  t.equal(new ChunkReader().push(Buffer.concat(chunked.written)).length, 3)
  t.match(mount.known, { sequence: 2, position: /./ })
  mount.distributor.reset()
  mount.distributor.epoch({ frames: [epochOf(2)], complete: true, time: 2, satellites: 2 }, 3)
  t.equal(plain.types().length, 3, 'the gate closed: no observation before the position')
  mount.distributor.frame(position, 4)
  mount.distributor.epoch({ frames: [epochOf(3)], complete: true, time: 3, satellites: 2 }, 5)
  t.same(plain.types().slice(3), [1005, 1074])
  plain.destroy()
  mount.distributor.frame(position, 6)
  t.equal(plain.types().length, 5)
})

t.test('one that was inherited gets what went out since, where it has the position', async (t) => {
  const { ctx, stream } = context()
  const mount = new OwnMount(ctx, stream, { name: 'A' }, logins)
  const sink = mount.distributor
  for (const [sequence, item] of [position, epochOf(1), epochOf(2), position].entries()) {
    if (item.type === 1005) sink.frame(item, sequence + 1)
    else sink.epoch({ frames: [item], complete: true, time: 1, satellites: 2 }, sequence + 1)
  }
  const add = (known: { position: string; sequence: number }) => {
    const rover = connection()
    new Rovers(ctx).add(asConnection(rover), mount, facts(), { known })
    return rover.types()
  }
  t.same(add({ position: mount.known.position, sequence: 2 }), [1074, 1005])
  t.same(add({ position: mount.known.position, sequence: 4 }), [])
  t.same(add({ position: 'another', sequence: 4 }), [1005])
  t.same(add({ position: '', sequence: 0 }), [1005])
  for (let n = 5; n <= 70; n++) sink.epoch({ frames: [epochOf(n)], complete: true, time: n, satellites: 2 }, n)
  t.equal(add({ position: mount.known.position, sequence: 6 }).length, 64)
  t.equal(add({ position: mount.known.position, sequence: 0 }).length, 64, 'no more is kept')
  const [closed] = [connection()]
  Object.assign(stream, { open: false })
  new Rovers(ctx).add(asConnection(closed), mount, facts())
  t.same(closed.types(), [], 'nothing while the gate is closed')
})

t.test('a login’s connections are counted up and down; one is found by its number', async (t) => {
  const { ctx, stream, listed } = context()
  const mount = new OwnMount(ctx, stream, { name: 'A' }, logins)
  const rovers = new Rovers(ctx)
  const [one, two, three] = [connection(), connection(), connection()]
  rovers.add(asConnection(one), mount, facts('anna'))
  rovers.add(asConnection(two), mount, facts('anna'))
  rovers.add(asConnection(three), mount, facts())
  t.same([rovers.size, rovers.ofUser('anna', logins), rovers.ofUser('', logins)], [3, 2, 0])
  t.match(rovers.list(), [/^1: anna NTRIP x at 192\.0\.2\.1, A$/, /^2: anna/, /^3: NTRIP x at/])
  t.same(
    listed.map(({ name }) => name),
    ['anna', 'anna', 'NTRIP x'],
  )
  t.same([rovers.kick(4), rovers.kick(1)], [false, true])
  t.same([rovers.size, rovers.ofUser('anna', logins), mount.rovers.size, listed[0]?.closed], [2, 1, 2, true])
  t.equal(rovers.endUser('anna', logins), 1)
  t.same([rovers.size, rovers.ofUser('anna', logins), one.closed, two.closed, three.closed], [1, 0, true, true, false])
  t.equal(rovers.endUser('anna', logins), 0)
  t.match(three.inherited(), {
    mount: 'A',
    user: '',
    agent: 'NTRIP x',
    version: 1,
    chunked: false,
    since: 7,
    known: {},
  })
  for (let i = 0; i < 10; i++) rovers.add(asConnection(connection()), mount, facts(`u${'x'.repeat(40)}${i}`))
  t.same(
    rovers.block().map(({ id }) => id),
    [6, 7, 8, 9, 10, 11, 12, 13],
    'the newest eight',
  )
  t.equal(rovers.block()[0]?.user.length, 24)
  t.match(rovers.block()[0], { mount: 'A', unverified: false, ip: '192.0.2.1', since: 7, lat: 0, quality: 0, age: 0 })
  const closing = [context(), context()] as const
  for (const [n, one] of closing.entries()) {
    const ends: (() => void)[] = []
    Object.assign(one.ctx, { defer: (fn: () => void) => ends.push(fn) })
    const own = new Rovers(one.ctx)
    const base =
      n === 0 ? new OwnMount(one.ctx, one.stream, { name: 'A' }, logins) : new ForeignMount(one.ctx, 'F', logins)
    own.add(asConnection(connection()), base, { ...facts(), agent: 'a'.repeat(40) })
    for (const end of ends) end()
    t.same(one.listed, n === 0 ? [{ name: 'a'.repeat(32), closed: true }] : [], 'a foreign stream is not listed')
    t.equal(own.block()[0]?.agent.length, 24)
    t.match(own.list(), [n === 0 ? /, A$/ : /, F \(unverified\)$/])
  }
  const nobody = new Rovers(ctx)
  nobody.add(asConnection(connection()), mount, { ...facts(), agent: '' })
  t.same(nobody.list(), ['1: unnamed at 192.0.2.1, A'])
})

t.test('N9: the position that is sent is read back to the same place', (t) => {
  const check = (lat: number, lon: number, alt = 100) => {
    const sentence = ggaOf(geodeticToEcef({ lat, lon, alt }), 1_800_000_000_000)
    const [, , latText = '', , lonText = ''] = Buffer.from(sentence).toString().split(',')
    if (!/^\d\d[0-5]\d\.\d{5}$/.test(latText) || !/^\d{3}[0-5]\d\.\d{5}$/.test(lonText)) return `${latText} ${lonText}`
    const back = decodeGga(sentence)
    // Half of a hundred-thousandth of a minute.
    const limit = 1.01 * (0.5e-5 / 60)
    const isSame = Math.abs((back?.lat ?? 99) - lat) <= limit && Math.abs((back?.lon ?? 999) - lon) <= limit
    return isSame && back?.altMsl_m !== undefined && Math.abs(back.altMsl_m - alt) < 0.06 ? '' : JSON.stringify(back)
  }
  const wrong: string[] = []
  for (let lat = -89; lat <= 89; lat += 2)
    for (let lon = -179; lon <= 179; lon += 5)
      if (check(lat, lon) !== '') wrong.push(`${lat} ${lon} ${check(lat, lon)}`)
  t.strictSame(wrong.slice(0, 3), [], 'whole degrees')
  const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true })
  fc.assert(
    fc.property(degrees(89.999), degrees(179.999), fc.double({ min: -400, max: 9000, noNaN: true }), (lat, lon, alt) =>
      t.equal(check(lat, lon, alt), '', `${lat} ${lon} ${alt}`),
    ),
    { numRuns: sample(100, 1_000) },
  )
  t.end()
})

t.test('N4: a sentence that is whole enough for a position gives one, any other changes nothing', (t) => {
  const { ctx, stream } = context()
  Object.assign(stream, { station: { id: 0, arp: here } })
  const rovers = new Rovers(ctx)
  const rover = connection()
  rovers.add(asConnection(rover), new OwnMount(ctx, stream, { name: 'A' }, logins), facts())
  const say = (line: string) => rover.data(Buffer.from(line, 'latin1'))
  const shown = () => {
    const { lat, lon, quality } = rovers.block()[0] ?? { lat: 0, lon: 0, quality: 0 }
    return `${lat.toFixed(6)} ${lon.toFixed(6)} ${quality}`
  }
  const summed = (body: string) => Buffer.from(encodeNmea(body)).toString('latin1')
  const known = summed('GPGGA,120000.00,5100.0000000,N,00300.0000000,E,5,12,0.7,8.000,M,42.000,M,,')
  const before = '51.000000 3.000000 5'
  for (const [form, expected] of [
    // Whole enough.
    ['GNGGA,120000,5200.5,N,00430.0,E,4,12,0.7,8.0,M,42.0,M,1.0,0001', '52.008333 4.500000 4'],
    ['GPGGA,120000,5200.5,N,00430.0,E,1,12,0.7,8.0,M,42.0,M', '52.008333 4.500000 1'],
    ['GPGGA,120000,5200.5,N,00430.0,E,1,12,0.7,8.0,M', '52.008333 4.500000 1'],
    ['GPGGA,120000,5200.5,N,00430.0,E,1,12', '52.008333 4.500000 1'],
    ['GPGGA,120000,5200.5,N,00430.0,E,1', '52.008333 4.500000 1'],
    ['GPGGA,,5200.5,S,00430.0,W,1,,,,M,,M,,', '-52.008333 -4.500000 1'],
    ['GPGGA,120000,5200.5,n,00430.0,e,1,12,0.7,8.0,M,42.0,M,,', '52.008333 4.500000 1'],
    ['GPGGA,120000,5200,N,430.0,E,1,12,0.7,8.0,M,42.0,M,,', '52.000000 4.500000 1'],
    ['GPGGA,120000,5200.5,N,00430.0,E,1,12,0.7,8.0,M,42.0,M,,,,extra', '52.008333 4.500000 1'],
    // Not whole.
    ['GPGGA,120000,,,,,1,12,0.7,8.0,M,42.0,M,,', before],
    ['GPGGA,120000,,,,,0,00,99.9,,M,,M,,', before],
    ['GPGGA,,,,,,0,,,,,,,,', before],
    ['GPGGA,120000,5200.5,N,,,1,12,0.7,8.0,M,42.0,M,,', before],
    ['GPGGA,120000,5200.5,,00430.0,,1,12,0.7,8.0,M,42.0,M,,', before],
    ['GPGGA,120000,5200.5,X,00430.0,E,1,12,0.7,8.0,M,42.0,M,,', before],
    ['GPGGA,120000,9100.5,N,00430.0,E,1,12,0.7,8.0,M,42.0,M,,', before],
    ['GPGGA,120000,5275.5,N,00430.0,E,1,12,0.7,8.0,M,42.0,M,,', before],
    ['GPGGA,120000,0000.0000,N,00000.0000,E,0,00,99.9,,M,,M,,', before],
    ['GPGGA,120000,52x0.5,N,00430.0,E,1,12,0.7,8.0,M,42.0,M,,', before],
    ['GPGGA,120000,5200.5,N', before],
    ['GPGGA', before],
    ['GPRMC,120000,A,5200.5,N,00430.0,E,0,0,010100,,', before],
  ] as const) {
    for (const [way, line] of [
      ['with a checksum', summed(form)],
      ['without one', `$${form}\r\n`],
      ['ended by a line feed', `$${form}\n`],
      ['ended by a carriage return', `$${form}\r`],
      ['after blanks', `  ${summed(form)}`],
    ] as const) {
      say(known)
      say(line)
      t.equal(shown(), expected, `${way}: ${form}`)
    }
    say(known)
    say(summed(form).trim())
    t.equal(shown(), expected, `N9: without a line end: ${form}`)
    say('\r\n')
    say(known.trim())
    say(summed(form).trim() + summed(form).trim())
    t.equal(shown(), expected, `N9: two without line ends in one packet: ${form}`)
    say('\r\n')
    say(known)
    say(summed(form).replace(/\*(.)./, (_, first) => `*${first}${first === '0' ? 'F' : '?'}`))
    t.equal(shown(), before, `a wrong checksum: ${form}`)
  }
  const bare = '$GPGGA,120000.00,5200.5,N,00430.0,E,4,12,0.7,8.0,M,42.0,M,1.0,0001'
  for (const [packets, expected] of [
    [[bare], '52.008333 4.500000 4'],
    [[bare.slice(0, 30), bare.slice(30)], '52.008333 4.500000 4'],
    [[bare, bare.replace('5200.5', '5300.0')], '53.000000 4.500000 4'],
    [[bare.slice(0, -12)], before],
    // The rest of the sentence has a wrong checksum: it may come in a packet of its own.
    [[`${bare}*0`], before],
  ] as const) {
    say(`\r\n${known}`)
    for (const packet of packets) say(packet)
    t.equal(shown(), expected, `N9: neither a checksum nor a line end: ${packets.join(' | ')}`)
  }
  const whole = summed('GPGGA,120000.00,5200.5000000,N,00430.0000000,E,4,12,0.7,8.000,M,42.000,M,,').trim()
  fc.assert(
    fc.property(fc.nat(whole.length), fc.constantFrom('\r\n', '\n'), (length, end) => {
      say(known)
      say(`${whole.slice(0, length)}${end}`)
      return [before, '52.008333 4.500000 4'].includes(shown())
    }),
    { numRuns: sample(100, 1_000) },
  )
  const field = fc.oneof(fc.constantFrom('', '5200.5', 'N', '00430.0', 'E', '4', '-1', '1e9', 'NaN', '?'), fc.string())
  fc.assert(
    fc.property(fc.array(field, { maxLength: 18 }), (fields) => {
      say(known)
      say(`$GPGGA,${fields.join(',')}\r\n`)
      const [{ lat, lon } = { lat: 99, lon: 999 }] = rovers.block()
      return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && !(lat === 0 && lon === 0)
    }),
    { numRuns: sample(200, 2_000) },
  )
  say(known)
  say(whole)
  t.equal(shown(), '52.008333 4.500000 4', 'a whole sentence without a line end')
  t.end()
})

t.test('a rover’s position is read from pieces, and never from a damaged sentence', async (t) => {
  const { ctx, clock, stream } = context()
  Object.assign(stream, { station: { id: 0, arp: here } })
  const mount = new OwnMount(ctx, stream, { name: 'A' }, logins)
  const rovers = new Rovers(ctx)
  const rover = connection()
  rovers.add(asConnection(rover), mount, facts())
  const say = (line: string) => rover.data(Buffer.from(line, 'latin1'))
  const of = (lat: string) =>
    Buffer.from(encodeNmea(`GPGGA,120000.00,${lat},N,00400.0000000,E,4,12,0.7,8.000,M,42.000,M,,`)).toString('latin1')
  const good = of('5200.0000000')
  say(good)
  t.match(rovers.block()[0], { lat: 52, lon: 4, quality: 4, age: 0 })
  await clock.advance(1500)
  t.match(rovers.block()[0], { age: 1.5 })
  const other = of('5300.0000000')
  say(other.replace('5300', '5301'))
  say(`*${other.slice(1)}`)
  say(other.replace('$GPGGA', '$GPGGX'))
  say(`$GPGGA,${'x'.repeat(300)}\r\n`)
  t.match(rovers.block()[0], { lat: 52 })
  say(other.slice(0, 20))
  t.match(rovers.block()[0], { lat: 52 }, 'half of a line')
  say(other.slice(20))
  t.match(rovers.block()[0], { lat: 53 })
  t.ok((rovers.block()[0]?.dist ?? 0) > 100_000)
  t.match(rovers.list()[0], /, A, \d+\.\d km away$/)
  const [km] = /[\d.]+(?= km)/.exec(rovers.list()[0] ?? '') ?? []
  t.ok(Math.abs(Number(km) * 1_000 - (rovers.block()[0]?.dist ?? 0)) <= 50, 'the same in the document, in metres')
  say(`${'x'.repeat(300)}\r\n${good}`)
  t.match(rovers.block()[0], { lat: 52 }, 'after a long line')
  rover.closed = true
  say(other)
  t.match(rovers.block()[0], { lat: 52 }, 'nothing of a closed connection')
})

t.test('what a mountpoint sends is measured', async (t) => {
  const clock = new ManualClock()
  const contents = new Contents(clock)
  contents.count(1074, 500)
  t.same(contents.messages, [{ type: 1074 }], 'P1: of one message no interval is known')
  for (let s = 0; s < 10; s++) {
    await clock.advance(5000)
    contents.count(1074, 500)
    contents.count(1005, 125)
  }
  t.same(contents.messages, [
    { type: 1005, interval_s: 5 },
    { type: 1074, interval_s: 5 },
  ])
  t.equal(contents.bitrate, ((11 * 500 + 10 * 125) * 8) / 50)
  await clock.advance(59_999)
  t.equal(contents.messages.length, 2)
  await clock.advance(1)
  t.equal(contents.messages.length, 0, 'what did not come for a minute is not offered')
  for (const interval_s of [60, 300, 3_600]) {
    const rare = new Contents(clock)
    for (let n = 0; n < 3; n++) {
      rare.count(1005, 25)
      const wanted = { type: 1005, ...(n > 0 && { interval_s }) }
      for (let part = 0; part < 4; part++) {
        t.same(rare.messages, [wanted], `P1: every ${interval_s} s: it stays in the table`)
        await clock.advance(250 * interval_s)
      }
    }
    await clock.advance(2_000 * interval_s - 1)
    t.same(rare.messages, [{ type: 1005, interval_s }])
    await clock.advance(1)
    t.same(rare.messages, [], 'P1: after three of its intervals it is not')
  }
  for (let s = 0; s < 600; s++) {
    await clock.advance(1000)
    contents.count(1074, 1000)
  }
  t.ok(Math.abs(contents.bitrate - 8000) < 1000, `${contents.bitrate} bit/s of the last minutes`)
  contents.clear()
  t.same([contents.messages, contents.bitrate], [[], 0])
  contents.count(1074, 125)
  t.equal(contents.bitrate, 1_000, 'the first second counts as one')
  for (const [elapsed_ms, expected] of [
    [120_000, 240],
    [120_001, 320],
  ] as const) {
    const window = new Contents(clock)
    window.count(1074, 1_200)
    await clock.advance(elapsed_ms)
    for (let n = 0; n < 2; n++) window.count(1074, 1_200)
    t.equal(Math.round(window.bitrate), expected, 'after two minutes what is older counts half')
  }
})

t.test('observations before MSM have one band, or two', async (t) => {
  for (const [type, bands] of [
    ...[1000, 1005, 1008, 1013].map((other) => [other, 0] as const),
    ...[1001, 1002, 1009, 1010].map((one) => [one, 1] as const),
    ...[1003, 1004, 1011, 1012].map((two) => [two, 2] as const),
  ]) {
    const contents = new Contents(new ManualClock())
    contents.count(type, 100)
    t.equal(contents.carrier, bands, `${type}`)
  }
})

t.test('an MSM has the bands of its signals; MSM1 has no carrier phases', async (t) => {
  const observations = [2, 9].map((signal) => ({ satellite: 3, signal, pseudorange_m: 22_000_000 }))
  const frame = encodeMsm({ type: 1074, stationId: 0, epochTime: 0, multiple: false, observations })
  for (const [type, bands] of [
    [1071, 0],
    [1072, 2],
    [1074, 2],
    [1077, 2],
    [1091, 0],
    [1230, 0],
    [1005, 0],
  ] as const) {
    const contents = new Contents(new ManualClock())
    contents.count(type, 100, frame)
    t.equal(contents.carrier, bands, `${type}`)
  }
  const unseen = new Contents(new ManualClock())
  unseen.count(1074, 100)
  t.equal(unseen.carrier, 0, 'without its bytes its bands are unknown')
})

t.test('a row of the table says what was measured', async (t) => {
  const clock = new ManualClock()
  const row = (types: number[], more: Partial<MountPoint> = {}, signals = [2, 9]) => {
    const contents = new Contents(clock)
    for (const type of types) {
      const observations = signals.map((signal) => ({ satellite: 3, signal, pseudorange_m: 22_000_000 }))
      const frame = isMsm(type)
        ? encodeMsm({ type, stationId: 0, epochTime: 0, multiple: false, observations })
        : undefined
      contents.count(type, 100, frame)
    }
    const mount = { name: 'A', unverified: false, contents, arp: undefined, generator: '', ...more } as MountPoint
    const facts = { serial: 'SN1', host: '', port: 0, place: 'Delft', country: 'NLD' }
    return rowOf(mount, { ...facts, generator: 'rtk-base', needsLogin: true })
  }
  t.match(row([1005, 1074, 1094, 1124]), {
    ...{ identifier: 'Delft', format: 'RTCM 3.2', details: '1005,1074,1094,1124', carrier: 2 },
    ...{ systems: 'GPS+GAL+BDS', lat: 0, generator: 'rtk-base', authentication: 'B', misc: '' },
  })
  t.match(row([1084], { arp: here, unverified: true, generator: 'u' }), {
    ...{
      identifier: 'A',
      systems: 'GLO',
      misc: 'unverified, GLONASS without frequency channels and 1230',
      generator: 'u',
    },
  })
  t.ok(Math.abs(row([], { arp: here }).lat - 52) < 0.1)
  t.strictSame(
    [row([1005]), row([1074], {}, [2]), row([1071]), row([1002]), row([1004]), row([1074, 1084])].map(
      ({ carrier }) => carrier,
    ),
    [0, 1, 0, 1, 2, 2],
    'bands with carrier phases: none, L1, more',
  )
  t.equal(row([1087]).misc, 'GLONASS without 1230')
  t.equal(row([1085, 1230]).misc, '')
  t.equal(row([1084, 1020]).misc, 'GLONASS without 1230')
  t.equal(row([1077, 1087, 1097, 1107, 1117, 1127, 1137]).systems, 'GPS+GLO+GAL+SBAS+QZS+BDS+IRS')
  t.same([row([1075, 1005]).network, row([], { unverified: true }).network], ['SN1', 'NONE'])
  t.match(row([1005]), { nmea: 0, solution: 0 })
  t.match(row([1005], { needsPosition: true }), { nmea: 1, solution: 1 }, 'a base is chosen for the rover')

  const mount = (more: object) =>
    ({ name: 'M', contents: new Contents(clock), unverified: true, ...more }) as MountPoint
  const tableFacts = { ...{ serial: 'SN1', host: 'h', port: 2101, place: 'Delft', country: 'NLD' }, generator: 'g' }
  const lines = (needsLogin: boolean, ...mounts: MountPoint[]) => tableLines(mounts, { ...tableFacts, needsLogin })
  t.match(lines(true, mount({ arp: here }), mount({ unverified: false, arp: here })), [
    /^CAS;h;2101;Delft;SN1;1;NLD;52\.\d\d;4\.00;0\.0\.0\.0;0;$/,
    'NET;SN1;Delft;B;N;none;none;none;',
    /^STR;M;M;.*;unverified$/,
    /^STR;M;Delft;RTCM 3\.2;/,
  ])
  t.match(
    lines(false, mount({ arp: here })).slice(0, 2),
    [/;NLD;0\.00;0\.00;/, /^NET;SN1;Delft;N;/],
    'no place of its own',
  )
  for (const [header, expected] of [
    ['base.example:2102', ['base.example', 2102]],
    ['base.example', ['base.example', 99]],
    ['[2001:db8::1]:80', ['[2001:db8::1]', 80]],
    ['a b', ['192.0.2.5', 99]],
    [undefined, ['192.0.2.5', 99]],
  ] as const) {
    const { host, port } = reachedAt(header, { localAddress: '::ffff:192.0.2.5', localPort: 99 })
    t.same([host, port], expected)
  }
  t.same(reachedAt(undefined, {}), { host: '', port: 0 })
})

const high = Buffer.from(arpFrame(here, 0, 1.5))

t.test('P1: a foreign base with rare epochs is silent after three of them', async (t) => {
  for (const [interval_ms, free_ms, gone_ms] of [
    [1_000, 10_000, 60_000],
    [15_000, 45_000, 60_000],
    [30_000, 90_000, 90_000],
  ] as const) {
    const { ctx, clock, repeated } = context()
    const mount = new ForeignMount(ctx, 'F', logins)
    const base = connection('192.0.2.9')
    const take = mount.take(asConnection(base), { agent: 'x', since: 3, chunked: false })
    const look = repeated.find(({ ms }) => ms === 5000)?.fn ?? (() => t.fail('nobody looks'))
    take(Buffer.concat([position.bytes, epochOf(1).bytes]))
    await clock.advance(interval_ms)
    take(Buffer.from(epochOf(2).bytes))
    await clock.advance(free_ms - 1)
    look()
    t.same([mount.taken, mount.offered], [true, true], `${interval_ms} ms`)
    await clock.advance(1)
    t.equal(mount.taken, false, `${interval_ms} ms`)
    await clock.advance(gone_ms - free_ms)
    look()
    t.equal(mount.offered, false, `${interval_ms} ms`)
    mount.close()
  }
})

t.test('a foreign base is relayed frame by frame, and gone after a minute of silence', async (t) => {
  const { ctx, clock, lines, repeated } = context()
  const mount = new ForeignMount(ctx, 'F', logins)
  const [base, rover] = [connection('192.0.2.9'), connection()]
  t.same([mount.offered, mount.taken, mount.generator], [false, false, 'unknown'])
  const take = mount.take(asConnection(base), { agent: 'NTRIP base', since: 3, chunked: false })
  t.same([mount.offered, mount.taken, mount.generator], [true, true, 'NTRIP base'])
  new Rovers(ctx).add(asConnection(rover), mount, facts())
  take(Buffer.concat([epochOf(1).bytes]))
  t.same(rover.types(), [], 'no observation before a position')
  take(Buffer.concat([position.bytes, epochOf(2).bytes]))
  t.same(rover.types(), [1005, 1074])
  t.same(mount.arp, here)
  t.match(mount.block(), {
    connected: true,
    ip: '192.0.2.9',
    agent: 'NTRIP base',
    since: 3,
    silent: 0,
    frames: 3,
    rovers: 1,
  })
  const late = connection()
  new Rovers(ctx).add(asConnection(late), mount, facts())
  t.same(late.types(), [1005])
  await clock.advance(9999)
  t.equal(mount.taken, true)
  await clock.advance(1)
  t.equal(mount.taken, false, 'silent for 10 s it makes room')
  t.match(mount.block(), { silent: 10 })
  take(Buffer.from('no frame at all'))
  await clock.advance(49_999)
  const look = repeated.find(({ ms }) => ms === 5000)?.fn ?? (() => t.fail('nobody looks'))
  look()
  t.ok(mount.offered)
  await clock.advance(1)
  look()
  t.same([mount.offered, base.closed, mount.arp], [false, true, undefined])
  t.match(lines.at(-1), /silent for 60 s/)
  const next = connection()
  const again = mount.take(asConnection(next), { agent: '', since: 0, chunked: true })
  again(chunkOf(epochOf(3).bytes))
  t.same(rover.types(), [1005, 1074], 'what the next base sends begins with its position')
  again(chunkOf(position.bytes))
  again(chunkOf(epochOf(4).bytes))
  t.same(rover.types(), [1005, 1074, 1005, 1074])
  again(Buffer.from('0\r\n\r\n'))
  t.ok(next.closed && !mount.offered)
  t.match(lines.at(-1), /ended the stream/)
  const tall = connection()
  mount.take(asConnection(tall), { agent: '', since: 0, chunked: false })(high)
  t.same(mount.arp, here, 'a 1006 is a position too')
  tall.destroy()
  t.notOk(mount.offered)
  const wrong = connection()
  mount.take(asConnection(wrong), { agent: '', since: 0, chunked: true })(Buffer.from('no chunk\r\n'))
  t.ok(wrong.closed)
  const last = connection()
  mount.take(asConnection(last), { agent: '', since: 0, chunked: false })
  mount.close()
  t.ok(last.closed && rover.closed && late.closed)
  t.equal(repeated.length, 0)
})

t.test('a foreign base that is inherited continues in the middle of a frame', async (t) => {
  for (const chunked of [false, true]) {
    const { ctx, clock } = context()
    const [old, next] = [new ForeignMount(ctx, 'F', logins), new ForeignMount(ctx, 'F', logins)]
    const coded = (bytes: Uint8Array) => (chunked ? chunkOf(bytes) : Buffer.from(bytes))
    const whole = coded(epochOf(1).bytes)
    const [base, rover, moved] = [connection(), connection(), connection()]
    const take = old.take(asConnection(base), { agent: `a${'x'.repeat(40)}`, since: 3, chunked })
    take(coded(position.bytes))
    take(coded(high))
    take(coded(position.bytes))
    take(whole.subarray(0, 20))
    const rovers = new Rovers(ctx)
    rovers.add(asConnection(rover), next, facts())
    t.same(rover.types(), [], 'nothing is known of its base')
    next.goOn(asConnection(moved), base.inherited() as never)
    moved.data(whole.subarray(20))
    t.same(rover.types(), [1074], 'it has the position already')
    t.match(next.block(), { connected: true, since: 3, frames: 1, agent: `a${'x'.repeat(23)}`, rovers: 1 })
    const late = connection()
    rovers.add(asConnection(late), next, facts())
    t.same(late.types(), [1005], 'the newest position alone')
    await clock.advance(10_000)
    t.equal(next.block().bitrate, Math.round((epochOf(1).bytes.length * 8) / 10))
    take(coded(position.bytes))
    next.release('another password')
    t.match(next.block(), { connected: false, ip: '', agent: '', since: 0, silent: 0, frames: 0, bitrate: 0 })
    t.ok(moved.closed)
    moved.data(coded(position.bytes))
    t.equal(next.arp, undefined, 'what it still sends counts for nothing')
  }
})

t.test('a login is known as long as it is right', async (t) => {
  const kept = new Map<string, unknown>()
  const store = {
    protected: {
      batch: async (values: object) => Object.entries(values).map((one) => kept.set(...one)),
      get: async (key: string) => kept.get(key),
    },
  }
  const ctx = { store } as unknown as PluginContext
  const logins = new StoredLogins(ctx, 'users', 2)
  const isNamed = (asked: string) => (mount: string) => mount === asked
  const asker = { address: '127.0.0.1', isWanted: () => true }
  const anna = { user: 'anna', password: 's3cret' }
  await logins.set('anna', 's3cret', ['A'], 4)
  t.equal(logins.knows(anna, isNamed('A')), undefined, 'nobody has tried it yet')
  t.equal(await logins.allows({ ...anna, password: 'wrong' }, isNamed('A'), asker), undefined)
  t.equal(logins.knows({ ...anna, password: 'wrong' }, isNamed('A')), undefined)
  t.equal(await logins.allows(anna, isNamed('B'), asker), undefined, 'of another mountpoint')
  t.notOk(logins.knows({ user: '__proto__', password: 'x' }, isNamed('A')))
  t.match(await logins.allows(anna, isNamed('A'), asker), { mounts: ['A'], most: 4 })
  t.ok(logins.knows(anna, isNamed('A')))
  t.equal(logins.knows(anna, isNamed('B')), undefined)
  const pending = logins.allows({ ...anna }, isNamed('A'), asker)
  await logins.set('anna', 'other', ['A'], 4)
  t.ok(await pending, 'it was known')
  t.equal(logins.knows(anna, isNamed('A')), undefined, 'with another password it is not any more')
  t.equal(await logins.allows(anna, isNamed('A'), asker), undefined)
  const changing = logins.allows({ user: 'anna', password: 'other' }, isNamed('A'), asker)
  await logins.delete('anna')
  t.equal(await changing, undefined, 'deleted while it was looked at')
  t.same([logins.count, logins.has('anna'), await logins.delete('anna')], [0, false, false])
  await logins.set('bert', 'x', [], 1)
  await logins.set('carl', 'x', [], 1)
  await t.rejects(logins.set('dora', 'x', [], 1), /there are 2 already/)
  await logins.set('carl', 'y', [], 3)
  t.ok(await logins.allows({ user: 'carl', password: 'y' }, isNamed('any'), asker))
  await logins.set('bert', 'z', [], 1)
  t.ok(await logins.allows({ user: 'bert', password: 'z' }, isNamed('any'), asker))
  t.ok(logins.knows({ user: 'carl', password: 'y' }, isNamed('any')), 'several are known at a time')
  await logins.set('bert', 'x', [], 1)
  const gone = Array.from({ length: 200 }, (_, n) => {
    const given = { user: 'bert', password: `wrong${n}` }
    return logins.allows(given, isNamed('any'), { ...asker, isWanted: () => false })
  })
  const right = logins.allows({ user: 'bert', password: 'x' }, isNamed('any'), { ...asker, address: '192.0.2.1' })
  t.ok(await right)
  t.same([...new Set(await Promise.all(gone))], ['unasked'], 'who left is not looked at')
  const later = new StoredLogins(ctx, 'users')
  await later.load()
  t.same(later.list(), [
    { name: 'bert', mounts: [], most: 1 },
    { name: 'carl', mounts: [], most: 3 },
  ])
})

t.test('a damaged login locks out nobody else and lets nobody in', async (t) => {
  const login = { hash: 'a.b', mounts: ['A'], most: 1 }
  const load = async (stored: unknown) => {
    const faults: string[] = []
    const log = { error: (_fields: object, message: string) => faults.push(message) }
    const protectedStore = { get: async () => stored, batch: async () => {} }
    const ctx = { log, store: { protected: protectedStore } } as unknown as PluginContext
    const logins = new StoredLogins(ctx, 'users')
    await logins.load()
    return { logins, faults: faults.length }
  }
  const asker = { address: '127.0.0.1', isWanted: () => true }
  const isAsked = () => true
  for (const damaged of [
    ...[null, 7, 'x', [], {}],
    ...[
      { ...login, hash: 7 },
      { ...login, mounts: 'A' },
      { ...login, mounts: [7] },
      { ...login, most: '1' },
    ],
    ...[
      { ...login, hash: undefined },
      { ...login, mounts: undefined },
      { ...login, most: -1 },
    ],
  ]) {
    const what = JSON.stringify(damaged)
    const { logins, faults } = await load({ anna: damaged })
    t.same([faults, logins.isEmpty, logins.list()], [1, false, [{ name: 'anna', mounts: [], most: 0 }]], what)
    for (const password of ['', 'undefined']) {
      t.equal(await logins.allows({ user: 'anna', password }, isAsked, asker), undefined, what)
    }
    await logins.set('bert', 'x', [], 1)
    t.ok(await logins.allows({ user: 'bert', password: 'x' }, isAsked, asker), 'the others get in')
    await logins.set('anna', 'y', [], 1)
    t.ok(await logins.allows({ user: 'anna', password: 'y' }, isAsked, asker), 'once it is set again, it is right')
  }
  for (const stored of [null, 7, 'x', [login]]) {
    const { logins, faults } = await load(stored)
    t.same([faults, logins.count, logins.isEmpty], [1, 0, false], `not open: ${JSON.stringify(stored)}`)
    await logins.set('bert', 'x', [], 1)
    await logins.delete('bert')
    t.ok(logins.isEmpty, 'who deletes the last one opens it')
  }
  const sound = await load({ anna: login })
  t.same([sound.faults, sound.logins.list()], [0, [{ name: 'anna', mounts: ['A'], most: 1 }]])
  t.ok((await load(undefined)).logins.isEmpty)
})

t.test('heads are read however they come, and bounded', async (t) => {
  const head = new HeadReader(20)
  t.equal(head.push(Buffer.from('GET / HTTP/1.0\r\n')), undefined)
  t.match(head.push(Buffer.from('A: b\r\n\r\nrest')), 'too-large')
  const exact = new HeadReader(20)
  t.match(exact.push(Buffer.from('GET /x\r\nA: 12345678\n\nrest')), { lines: ['GET /x', 'A: 12345678'] })
  t.equal(text((new HeadReader().push(Buffer.from('A\r\n\r\nrest')) as { rest: Buffer }).rest), 'rest')
  t.equal(new HeadReader(20).push(Buffer.alloc(21, 65)), 'too-large')
  t.equal(new HeadReader(20).push(Buffer.alloc(20, 65)), undefined)
  t.equal(new HeadReader().end(), undefined)
  const one = () => new HeadReader(4096, /^(ICY 200 OK|ERROR.*)$/)
  t.match(one().push(Buffer.from('ICY 200 OK\r\n')), { lines: ['ICY 200 OK'] })
  t.match(one().push(Buffer.from('ICY 200 OK\r\n\xd3\x00', 'latin1')), { lines: ['ICY 200 OK'], rest: { length: 2 } })
  t.equal(one().push(Buffer.from('ICY 200 OK\r\nServer: x')), undefined, 'a header follows')
  t.match(one().push(Buffer.from('ICY 200 OK\r\n\r\n')), { lines: ['ICY 200 OK'] })
  t.equal(one().push(Buffer.from('HTTP/1.1 200 OK\r\n')), undefined)
  const bounded = (limit: number) => new HeadReader(limit, /^ICY 200 OK$/).push(Buffer.from('ICY 200 OK\n'))
  t.match([bounded(10), bounded(9)], [{ lines: ['ICY 200 OK'] }, 'too-large'])
  t.same(
    [...parseHeaders(['A: b', 'a: c', ': d', 'none', ' X-Y :  z '])],
    [
      ['a', 'b'],
      ['x-y', 'z'],
    ],
  )
  const basic = (plain: string) =>
    basicLogin(new Map([['authorization', `basic ${Buffer.from(plain).toString('base64')}`]]))
  t.same(
    [basic('a:b:c'), basic('a'), basic(':')],
    [
      { user: 'a', password: 'b:c' },
      { user: 'a', password: '' },
      { user: '', password: '' },
    ],
  )
  t.equal(basicLogin(new Map([['authorization', 'Bearer x']])), undefined)
})

t.test('requests are read as clients write them', async (t) => {
  const request = (...lines: string[]) => parseRequest(lines)
  t.match(request('GET /A%20B?STR;x HTTP/1.1', 'Ntrip-Version: NTRIP/2.0'), {
    method: 'GET',
    mount: 'A B',
    query: 'STR;x',
    version: 2,
  })
  t.match(request('GET / HTTP/1.0'), { mount: '', query: '', version: 1, password: undefined })
  t.match(request('GET /A%zz'), { mount: 'A%zz' })
  t.match(request('SOURCE pw /ROOF'), { method: 'SOURCE', mount: 'ROOF', password: 'pw', version: 1 })
  t.match(request('SOURCE ROOF'), { mount: 'ROOF', password: '' })
  for (const bad of ['SOURCE', 'GET / HTTP/2', 'get / HTTP/1.0', 'GE / HTTP/1.0', 'ABCDEFGHI /', '']) {
    t.equal(request(bad), undefined, bad)
  }
})

t.test('chunks are bounded and go on where a reader was', async (t) => {
  const reader = new ChunkReader(8)
  t.equal(text(Buffer.concat(reader.push(Buffer.from('8\r\n12345')))), '12345')
  const next = new ChunkReader(8, reader.position)
  t.equal(text(Buffer.concat(next.push(Buffer.from('678\r\n1;x\r\n9\r\n')))), '6789')
  t.notOk(next.over)
  next.push(Buffer.from('0\r\n'))
  t.ok(next.over)
  t.same(next.push(Buffer.from('1\r\nx\r\n')), [], 'nothing follows the end')
  t.throws(() => new ChunkReader(8).push(Buffer.from('9\r\n')), /too large/)
  t.throws(() => new ChunkReader().push(Buffer.from(`${'0'.repeat(65)}`)), /something else/)
  t.same(new ChunkReader().push(Buffer.from('0'.repeat(64))), [])
  t.same(new ChunkReader().push(Buffer.from('100000\r\n')), [])
  t.throws(() => new ChunkReader().push(Buffer.from('100001\r\n')), /a chunk of 1048577 bytes is too large/)
  t.throws(() => new ChunkReader().push(Buffer.from('1\r\nxy\r\n')), /does not end where it should/)
  const odd = new ChunkReader(8, { line: '', left: 0, state: 'no state' })
  t.equal(text(Buffer.concat(odd.push(Buffer.from('1\r\nx\r\n')))), 'x')
})

t.test('tables are written, read and filtered', async (t) => {
  const row = {
    ...{ mount: 'A', identifier: 'De;lft\n', format: 'RTCM 3.2', details: '1005(1)', carrier: 2, systems: 'GPS+GLO' },
    ...{ network: 'NONE', country: 'NLD', lat: 52.345, lon: 4.5, nmea: 0 as const, solution: 1 as const },
    ...{ generator: 'gé', authentication: 'B', bitrate: 5000.4, misc: 'x' },
  }
  const line = streamLine(row)
  t.equal(line, 'STR;A;De lft ;RTCM 3.2;1005(1);2;GPS+GLO;NONE;NLD;52.34;4.50;0;1;g?;none;B;N;5000;x')
  t.match(parseTable(tableText([line])), [
    { ...row, identifier: 'De lft ', lat: 52.34, generator: 'g?', bitrate: 5000 },
  ])
  t.match(parseTable('STR;A\nSTR;\nCAS;x\nSTR;B;;;;x;;;;;;1;1;;;;;;a;b'), [
    { mount: 'A', carrier: 0, nmea: 0, solution: 0 },
    { mount: 'B', nmea: 1, solution: 1, misc: 'a;b' },
  ])
  const seen: string[] = []
  const reader = new TableReader(({ mount }) => seen.push(mount))
  for (const piece of ['ST', 'R;A;\nSTR;B', ';\nENDSOURCE', 'TABLE\r\n', 'STR;C;\n']) reader.push(Buffer.from(piece))
  t.same([seen, reader.over, reader.bytes], [['A', 'B'], true, 37])
  reader.push(Buffer.from(`STR;${'x'.repeat(9000)}`))
  const [longest] = parseTable(`STR;${'x'.repeat(9000)}`)
  t.equal(longest?.mount.length, 4_096 - 4, 'the rest of a line is left out')
  t.match(parseTable('STR;A;De;RTCM 3;1005(1);2;GPS;NET;NLD;-1.5;x;0;0;gen;none;N;N;9600;'), [
    { ...{ mount: 'A', identifier: 'De', format: 'RTCM 3', details: '1005(1)', carrier: 2, systems: 'GPS' } },
  ])
  t.match(parseTable('STR;A;De;RTCM 3;1005(1);2;GPS;NET;NLD;-1.5;x;0;0;gen;none;N;N;9600;'), [
    { ...{ network: 'NET', country: 'NLD', lat: -1.5, lon: 0, generator: 'gen', authentication: 'N', bitrate: 9600 } },
  ])
  const lines = ['STR;BASE1;Delft;52.00', 'STR;BASE2;Gouda;53.00', 'CAS;x', 'STR;ROOF;;']
  const found = (query: string) => filterLines(lines, query).map((line) => line.split(';')[1])
  t.same(found('STR'), ['BASE1', 'BASE2', 'ROOF'])
  t.same(found('STR;BASE*'), ['BASE1', 'BASE2'])
  t.same(found('STR;*A*E*1'), ['BASE1'])
  t.same(found('STR;B*1*1'), [], 'each text is a part of its own')
  t.same(found('STR;*SE*SE*'), [])
  t.same(found('STR;BASE1|ROOF'), ['BASE1', 'ROOF'])
  t.same(found('STR;!BASE1'), ['BASE2', 'ROOF'])
  t.same(
    [found('STR;;;<53'), found('STR;;;<=53'), found('STR;;;>52'), found('STR;;;>=52'), found('STR;;;=53')],
    [
      ['BASE1', 'ROOF'],
      ['BASE1', 'BASE2', 'ROOF'],
      ['BASE2', 'ROOF'],
      ['BASE1', 'BASE2', 'ROOF'],
      ['BASE2', 'ROOF'],
    ],
  )
  t.same(found('STR;%42ASE1'), ['BASE1'])
  t.same(found('STR;~x'), ['BASE1', 'BASE2', 'ROOF'])
  t.equal(filterLines(lines, 'x;y').length, 4)
})

t.test('answers are those that clients of each version know', async (t) => {
  t.equal(streamHead(1, true, 5), 'ICY 200 OK\r\n\r\n')
  t.match(streamHead(2, true, 0), /^HTTP\/1\.1 200 OK\r\n(.+\r\n)*Transfer-Encoding: chunked\r\n\r\n$/)
  t.notMatch(streamHead(2, false, 0), /chunked|Date/)
  t.match(streamHead(2, false, 1000), /Date: Thu, 01 Jan 1970 00:00:01 GMT\r\n/)
  t.match(tableReply(1, false, 'T', 0), /^SOURCETABLE 200 OK\r\n(.+\r\n)*Content-Length: 1\r\n(.+\r\n)*\r\nT$/)
  t.match(tableReply(1, true, 'T', 0), /^HTTP\/1\.1 200 OK\r\n(.+\r\n)*Content-Type: text\/plain/)
  t.match(tableReply(2, false, 'T', 0), /^HTTP\/1\.1 200 OK\r\nNtrip-Version(.+\r\n)*Content-Type: gnss\/sourcetable/)
  t.equal(errorReply(401, 'x', 1, 'SOURCE'), 'ERROR - Bad Password\r\n')
  t.equal(errorReply(409, 'x', 1, 'SOURCE'), 'ERROR - Mount Point Taken or Invalid\r\n')
  t.equal(errorReply(400, 'x', 1, 'SOURCE'), 'ERROR - Bad Request\r\n')
  t.match(
    errorReply(401, 'x', 2, 'GET', 'A'),
    /^HTTP\/1\.1 401 Unauthorized\r\nNtrip-Version(.+\r\n)*WWW-Authenticate: Basic realm="\/A", charset="UTF-8"\r\n(.+\r\n)*\r\nx\r\n$/,
  )
  t.match(errorReply(404, 'x', 1), /^HTTP\/1\.0 404 Not Found\r\nServer(.+\r\n)*Content-Length: 3\r\n/)
  t.notMatch(errorReply(404, 'x', 1), /WWW-Auth|Ntrip-Version/)
})

// ── the push ────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('N3: logins are sent as UTF-8', (t) => {
  const login = Buffer.from('jürgen:密碼').toString('base64')
  const target = { host: 'h', mount: 'M', user: 'jürgen', password: '密碼' }
  t.match(requestOf({ ...target, version: 2 }, '1'), `Authorization: Basic ${login}`)
  t.match(requestOf(target, '1'), 'SOURCE 密碼 M')
  for (const version of [1, 2] as const)
    t.match(getRequest({ ...target, version, agent: 'x' }), `Authorization: Basic ${login}`)
  // As a Mac types it.
  const typed = {
    ...target,
    user: target.user.normalize('NFD'),
    password: 'geheim ü'.normalize('NFD').replace(' ', ''),
  }
  const sent = Buffer.from('jürgen:geheimü').toString('base64')
  t.match(requestOf({ ...typed, version: 2 }, '1'), `Authorization: Basic ${sent}`)
  t.match(requestOf(typed, '1'), 'SOURCE geheimü M')
  t.match(getRequest({ ...typed, version: 2, agent: 'x' }), `Authorization: Basic ${sent}`)
  t.end()
})

t.test('N1: an answer counts by its code, whatever the dialect', (t) => {
  const push = (head: string) => {
    const reply = readReply(head.split('\n'))
    return reply.accepted ? 'yes' : reply.code
  }
  const get = (head: string) => {
    const answer = readAnswer(head.split('\n'))
    return answer.kind === 'refused' ? answer.code : answer.kind
  }
  const dialects = ['ICY', 'icy', 'HTTP/1.0', 'HTTP/1.1', 'HTTP/2', 'HTTP/1.1 ', 'RTSP/1.0']
  for (const dialect of dialects) {
    for (const [status, pushed, got] of [
      ['200 OK', 'yes', 'stream'],
      ['200', 'yes', 'stream'],
      ['200 OK - text', 'yes', 'stream'],
      ['200 OKAY', 'yes', 'stream'],
      ['201 Created', 'yes', 'stream'],
      ['299 x', 'yes', 'stream'],
      ['2000 x', 'other', 'other'],
      ['300 x', 'web', 'web'],
      ['399 x', 'web', 'web'],
      ['200 OK\nContent-Type: text/html; charset=utf-8', 'web', 'web'],
      ['200 OK\nContent-Type: gnss/sourcetable', 'other', 'table'],
      ['200 OK\nServer: blocked/1', 'yes', 'stream'],
      ['400 x', 'other', 'other'],
      ['401 Unauthorized', 'login', 'login'],
      // Casters of the NTRIP 1 line put their refusals into a page of HTML.
      ['401 Unauthorized\nContent-Type: text/html', 'login', 'login'],
      ['403 Forbidden\nContent-Type: text/html', 'forbidden', 'forbidden'],
      ['404 Not Found\nContent-Type: text/html', 'mount', 'mount'],
      ['409 Conflict\nContent-Type: text/html', 'taken', 'other'],
      ['503 Busy\nContent-Type: text/html', 'other', 'other'],
      ['511 Network Authentication Required\nContent-Type: text/html', 'web', 'web'],
      ['403 Forbidden', 'forbidden', 'forbidden'],
      ['404 Not Found', 'mount', 'mount'],
      ['409 Conflict', 'taken', 'other'],
      ['503 mountpoint down', 'other', 'other'],
    ] as const) {
      t.equal(push(`${dialect} ${status}`), pushed, `push: ${dialect} ${status}`)
      t.equal(get(`${dialect} ${status}`), got, `get: ${dialect} ${status}`)
    }
  }
  for (const [line, pushed, got] of [
    ['OK', 'yes', 'stream'],
    ['SOURCETABLE 200 OK', 'other', 'table'],
    ['ERROR - Bad Password', 'password', 'login'],
    ['ERROR - Mount Point Taken', 'taken', 'other'],
    ['ERROR - Mount Point Taken or Invalid', 'taken', 'mount'],
    ['ERROR - Mount Point Invalid', 'mount', 'mount'],
    ['ERROR - x', 'other', 'other'],
    ['Server: NtripCaster/1.0\nWWW-Authenticate: Basic realm="/M"\nContent-Type: text/html', 'login', 'login'],
    ['OK, but no', 'other', 'other'],
    ['', 'other', 'other'],
  ] as const) {
    t.equal(push(line), pushed, `push: ${line}`)
    t.equal(get(line), got, `get: ${line}`)
  }
  t.end()
})

t.test('a push asks as its version wants, and reads every answer', async (t) => {
  t.equal(nameOf({ host: 'h', mount: 'M' }), 'h:2101/M')
  t.equal(
    requestOf({ host: 'h', mount: 'M', password: 'p' }, '1'),
    'SOURCE p M\r\nSource-Agent: NTRIP rtk-base/1\r\nSTR: \r\n\r\n',
  )
  t.match(
    requestOf({ host: 'h', mount: 'M', version: 2, user: 'u', password: 'p' }, '1'),
    /^POST \/M HTTP\/1\.1\r\nHost: h:2101\r\n(.+\r\n)*Authorization: Basic dTpw\r\n(.+\r\n)*Transfer-Encoding: chunked\r\n\r\n$/,
  )
  const six = '2001:db8::1'
  t.match(requestOf({ host: six, mount: 'M', version: 2 }, '1'), '\r\nHost: [2001:db8::1]:2101\r\n', 'an IPv6 address')
  t.match(
    getRequest({ host: six, port: 80, mount: 'M', version: 2, agent: 'x' }),
    '\r\nHost: [2001:db8::1]\r\n',
    'of a rover',
  )
  const kind = (first: string, body = '') => {
    const reply = readReply(first.split('\n'), body)
    return reply.accepted ? 'yes' : reply.kind
  }
  for (const [first, expected] of [
    ['ERROR - x\nyour IP is banned', 'final'],
    ['HTTP/1.1 400 x\nServer: banned', 'other'],
  ] as const) {
    t.equal(kind(first), expected, first)
  }
  t.equal(kind('HTTP/1.1 400 x', 'you are blocked'), 'final')
  t.notOk(saysBanned('urban'))
  for (const [lines, text] of [
    [[], 'the caster did not answer'],
    [['ERROR - x\u0007y'], 'the caster refused: ERROR - x y'],
    [['x'.repeat(121)], `the caster refused: ${'x'.repeat(120)}`],
    [['HTTP/1.1 418 tea'], 'the caster refused: HTTP/1.1 418 tea'],
    [['HTTP/1.1 400 no: Authorization: Basic bWU6czNjcmV0'], /refused: HTTP\/1\.1 400 no: …$/],
    [['ERROR - SOURCE s3cret /M'], /refused: ERROR - …$/],
    [['no mountpoint M'], 'the caster does not know the mountpoint: no mountpoint M'],
    [['go away, you are banned', 'x'], 'the caster has banned this address: go away, you are banned'],
  ] as const) {
    t.match(readReply(lines), { accepted: false, text }, String(text))
  }
  const target = { host: 'h.example', mount: 'M' }
  for (const [more, isValid] of [
    [{}, true],
    [{ version: 1, proof: 'echo', echo: { user: 'u', password: 'p' } }, true],
    [{ version: 2, proof: 'off' }, true],
    [{ version: 3 }, false],
    [{ user: 'jürgen', password: '密碼' }, true],
    [{ user: 'a b' }, false],
    [{ user: 'a:b' }, false],
    [{ password: 'a:b' }, true],
    [{ password: 'a\u0000' }, false],
    [{ proof: 'all' }, false],
    [{ pasword: 'p' }, false],
    [{ echo: { user: 'u', password: 'p', host: 'h' } }, false],
  ] as const) {
    t.equal(Value.Check(Target, { ...target, ...more }), isValid, JSON.stringify(more))
  }
})

t.test('a caster that asks for a wait gets it; only a wait for the own network ends with it', async (t) => {
  const middle = (end: Parameters<typeof afterEnd>[1], state = fresh) =>
    afterEnd({ ...state, tried_ms: 1000 }, end, 1000, 0.5)
  t.match(middle('network'), { failures: 1, taken: 0, notBefore_ms: 16_000, last: 'network', tried_ms: 1000 })
  t.match(middle('final'), { notBefore_ms: 1000 + 6 * 3_600_000 })
  t.match(middle('web'), { notBefore_ms: 16_000 })
  t.match(middle('taken', { ...fresh, taken: 4, failures: 4 }), { taken: 5, notBefore_ms: 31_000 })
  t.match(middle('taken', { ...fresh, taken: 5, failures: 5 }), { taken: 6, notBefore_ms: 481_000 })
  t.match(middle('closed', { ...fresh, taken: 5 }), { taken: 0 })
  t.match(middle('idle', { ...fresh, failures: 3 }), { failures: 3, notBefore_ms: 121_000 })
  t.equal(Math.round(waitOf(afterEnd(fresh, 'network', 0, 1), 0)), 18_000)
  const waits = middle('network', { ...fresh, failures: 6 })
  t.equal(afterNetworkUp(waits).notBefore_ms, 16_000)
  t.equal(afterNetworkUp({ ...waits, notBefore_ms: 5000 }).notBefore_ms, 5000, 'never later')
  t.equal(afterNetworkUp({ ...waits, last: 'final' }).notBefore_ms, waits.notBefore_ms)
  t.same([waitOf(waits, waits.notBefore_ms - 1), waitOf(waits, waits.notBefore_ms), waitOf(waits, 1e15)], [1, 0, 0])
  for (const last of ['taken', 'other'] as const) {
    const kept = { failures: 1, taken: last === 'taken' ? 1 : 0, last, rest_ms: 5_000, since_utc_ms: 0 }
    t.same(keptOf({ ...middle(last), notBefore_ms: 6_000 }, 1_000, 0), kept, 'a caster asked for it')
    t.match(restored(kept, 100, 1e12), { notBefore_ms: 5_100, last }, 'since when is not known: all of it is left')
    t.match(restored({ ...kept, since_utc_ms: 1 }, 100, 2_001), { notBefore_ms: 3_100 })
  }
})

t.test('a proof is of this connection alone', async (t) => {
  const { ctx, clock } = context()
  const target = { host: '192.0.2.1', mount: 'M', proof: 'off' } as const
  const proof = new Proof(ctx, target, () => {}, { random: () => 0, resolve: async () => [] })
  proof.start('192.0.2.1')
  proof.sent(position.bytes)
  await clock.advance(4_000_000)
  t.same([proof.state, proof.text], ['none', ''])
  proof.stop()
})

t.test('a selection thins whole epochs, and the position always goes out', async (t) => {
  const selector = new Selector({ messages: [1074], interval_s: 5 })
  t.same(
    [1005, 1006, 1074, 1084, 1230].map((type) => selector.wantsFrame(type)),
    [true, true, true, false, false],
  )
  const frames = [frame(1074, msmFrame(1074, 1, true)), frame(1084, msmFrame(1084, 1, false))]
  const sent = Array.from({ length: 16 }, (_, s) => selector.epoch(frames, s * 1000).length)
  t.same(sent, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
  const sentTo: number[] = []
  const distributor = new Distributor<{ primed: boolean }>(
    { open: true, reference: () => [] } as unknown as RtcmStream,
    {},
    () => 0,
    {
      send: (_, { bytes }) => sentTo.push(...typesIn(bytes)) > 0,
    },
  )
  distributor.add({ primed: false })
  distributor.frame(frame(1230, new Uint8Array(10)), 1)
  distributor.epoch({ frames: [epochOf(1)], complete: true, time: 1, satellites: 1 }, 2)
  t.same(sentTo, [])
  distributor.frame(position, 3)
  distributor.frame(epochOf(2), 4)
  distributor.epoch({ frames: [epochOf(2)], complete: true, time: 1, satellites: 1 }, 5)
  t.same(sentTo, [1005, 1074], 'observations by the epoch alone')
})
