/** The comparison with neighbouring bases: a station, its sky, and bases around it that are right, wrong, silent or hostile. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect, type MqttClient } from 'mqtt'
import t, { type Test } from 'tap'
import verdict from '../../../plugins/device/verdict/index.js'
import { withoutKnown, withoutTwins } from '../../../plugins/reference/neighbours/comparison.js'
import { Curves } from '../../../plugins/reference/neighbours/curve.js'
import { type Compared, confirmed, effectOf, findingOf } from '../../../plugins/reference/neighbours/finding.js'
import neighbours from '../../../plugins/reference/neighbours/index.js'
import { Neighbour } from '../../../plugins/reference/neighbours/neighbour.js'
import type { Vector } from '../../../plugins/reference/neighbours/vector.js'
import rtcm from '../../../plugins/rtcm/rtcm/index.js'
import {
  crc24q,
  decodeMsm,
  encodeMsm,
  enu,
  isEphemeris,
  isMsm,
  type MsmObservation,
  messageNumber,
  offsetEnu,
  transformed,
} from '../../../runtime/lib/gnss/index.js'
import { Random } from '../../../runtime/lib/simulation/index.js'
import { type AnyPlugin, definePlugin } from '../../../runtime/plugin.js'
import type { GnssNeighbours } from '../../../schemas/index.js'
import {
  type Ecef,
  type Enu,
  type NeighbourCheck,
  neighbourCheck,
  procedureStatus,
  type RtcmJudge,
  rtcmGate,
} from '../../../schemas/services.js'
import { NetStreams, roughness } from '../../harness/baseline-streams.js'
import { drive, settled } from '../../harness/drive.js'
import {
  arpFrame,
  createTestStation,
  fakeReceiver,
  ManualClock,
  sample,
  type TestStation,
  until,
} from '../../harness/index.js'

t.setTimeout(600_000)

const step_ms = 30_000
/** A multiple of 30 s of GPS time. */
const begin_ms = Date.UTC(2026, 5, 1, 12) - 18_000
const north = { lat: 52.06, lon: 4.5, alt: 20 }
const east = { lat: 52, lon: 4.6, alt: 20 }
const south = { lat: 51.95, lon: 4.45, alt: 30 }
const places = [{ lat: 52, lon: 4.5, alt: 40 }, north, east, south]
const streams = new NetStreams({ seed: 4, places, roughness: roughness.calm })
const [ownPlace, ...truth] = streams.truths as [Ecef, Ecef, Ecef, Ecef]
interface Sky {
  readonly own: readonly Uint8Array[]
  /** Without ephemerides. */
  readonly bases: readonly (readonly Uint8Array[])[]
  readonly ephemerides: readonly Uint8Array[]
}
const sky: Sky[] = []
/** All tests see the same sky. */
function skyAt(epoch: number): Sky {
  while (sky.length <= epoch) {
    const { stations } = streams.epoch(begin_ms + sky.length * step_ms, step_ms / 1_000)
    const [own = [], ...others] = stations
    const isOrbit = (frame: Uint8Array) => isEphemeris(messageNumber(frame))
    const bases = others.map((frames) => frames.filter((frame) => !isOrbit(frame)))
    sky.push({ own, bases, ephemerides: own.filter(isOrbit) })
  }
  return sky[epoch] as Sky
}

/** A caster with a mountpoint for each base: `N0`, `N1`, … */
async function caster(t: Test) {
  const rovers = new Map<string, Set<Socket>>()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      const mount = /^GET \/(\S+)/.exec(head.toString())?.[1] ?? ''
      socket.write('ICY 200 OK\r\n\r\n')
      rovers.set(mount, (rovers.get(mount) ?? new Set()).add(socket))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const all of rovers.values()) for (const socket of all) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  return {
    port,
    send(mount: string, frames: readonly Uint8Array[]) {
      for (const socket of rovers.get(mount) ?? []) socket.write(Buffer.concat(frames))
    },
    connected: (mount: string) => [...(rovers.get(mount) ?? [])].some((socket) => !socket.destroyed),
    drop(mount: string) {
      for (const socket of rovers.get(mount) ?? []) socket.destroy()
      rovers.delete(mount)
    },
  }
}

/** A client of the station's broker, once the station is connected with it. */
async function brokerClient(t: Test, station: TestStation): Promise<MqttClient> {
  const port = () => {
    const plugin = station.station.plugins().find(({ name }) => name === 'mqtt-broker')
    return Number(/127\.0\.0\.1:(\d+)/.exec(plugin?.reason ?? '')?.[1])
  }
  const link = () => (station.field('mqtt.state') as { link: string }).link
  await drive(station.clock, () => link() === 'up', 'the link to the broker')
  const client = connect({ host: '127.0.0.1', port: port(), protocolVersion: 4, reconnectPeriod: 0 })
  client.on('error', () => {})
  t.teardown(() => void client.end(true))
  await until(() => client.connected, 'a client')
  return client
}

interface Setting {
  readonly bases?: number
  /** Own announced position minus the true one, metres. */
  readonly off?: { east: number; north: number; up: number }
  /** Sent by a base at an epoch; default: its position and its observations. */
  readonly sends?: (base: number, frames: readonly Uint8Array[], epoch: number) => readonly Uint8Array[]
  readonly arps?: (base: number, epoch: number) => Ecef
  readonly effect?: string
  /** Own receiver reports orbits; default: true. */
  readonly orbits?: boolean
  /** Over the broker of the station instead of a caster. */
  readonly mqtt?: boolean
}

async function setUp(t: Test, setting: Setting = {}) {
  const { bases = 3 } = setting
  const clock = new ManualClock(begin_ms)
  const receiver = fakeReceiver(() => clock.monotonic())
  const state = {
    reference: offsetEnu(ownPlace, setting.off ?? { east: 0, north: 0, up: 0 }),
    status: 'fixed',
  }
  let judge: RtcmJudge | undefined
  let check: NeighbourCheck | undefined
  const procedure = definePlugin({
    name: 'procedure',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [rtcmGate],
    provides: [procedureStatus],
    setup(ctx) {
      const changed = ctx.event<void>()
      ctx.services.provide(procedureStatus, {
        ...{ onState: changed.on, wantsCorrections: false },
        get status() {
          return state.status
        },
        get reference() {
          return state.reference
        },
      })
    },
    start(ctx) {
      ctx.services.watch(neighbourCheck, (service) => {
        check = service
      })
      judge = ctx.services.use(rtcmGate).judge()
      judge.trust({ arp: state.reference })
    },
  })
  const source = await caster(t)
  const isMqtt = setting.mqtt === true
  const station = await createTestStation({
    clock,
    plugins: {
      'fake-receiver': receiver.definition,
      rtcm: rtcm as AnyPlugin,
      procedure: procedure as AnyPlugin,
      verdict: verdict as AnyPlugin,
      neighbours: neighbours as AnyPlugin,
    },
    sources: isMqtt ? { 'mqtt-broker': { port: 0 }, 'mqtt-link': { insecure: true } } : {},
  })
  t.teardown(() => station.stop())
  const mounts = Array.from({ length: bases }, (_, base) => `N${base}`)
  const change = (values: object) => station.station.change(values as never, { source: 'http' })
  t.match(
    await change({
      neighbours: mounts.map((mount) =>
        isMqtt ? { serial: mount } : { host: '127.0.0.1', port: source.port, mount, password: 's3cret' },
      ),
      'neighbours-effect': setting.effect ?? 'degraded',
    }),
    { result: 'ok' },
  )
  const shown = () => station.field('gnss.neighbours') as GnssNeighbours
  const sender = isMqtt ? await brokerClient(t, station) : undefined
  if (!sender) await drive(clock, () => mounts.every((mount) => source.connected(mount)), 'all streams')
  const send = (mount: string, frames: readonly Uint8Array[]) =>
    sender ? void sender.publish(`base/${mount}/drtk`, Buffer.concat(frames)) : source.send(mount, frames)
  let epoch = Math.ceil(clock.monotonic() / step_ms)
  const arpOf = (base: number) => setting.arps?.(base, epoch) ?? (truth[base] as Ecef)
  /** An epoch of all, and the time until the next. */
  const next = async () => {
    await clock.advance(begin_ms + epoch * step_ms - clock.now())
    const { own, bases } = skyAt(epoch)
    receiver.emit(arpFrame(state.reference, 1))
    for (const frame of own) if (setting.orbits !== false || isMsm(messageNumber(frame))) receiver.emit(frame)
    const before = shown().list[0]?.epochs ?? 0
    for (const [base, mount] of mounts.entries()) {
      const frames = [arpFrame(arpOf(base), base + 2), ...(bases[base] ?? [])]
      send(mount, setting.sends?.(base, frames, epoch) ?? frames)
    }
    await settled()
    if (sender && before < 120) await until(() => (shown().list[0]?.epochs ?? 0) > before, 'delivered')
    epoch += 1
    for (let half = 0; half < 2; half++) {
      await clock.advance(step_ms / 2 - 200)
      for (const [base, mount] of mounts.entries()) if (!setting.sends) send(mount, [arpFrame(arpOf(base), base + 2)])
      await settled()
    }
  }
  /** Epochs until something is so. @returns the minutes it took */
  const epochsUntil = async (condition: () => unknown, what: string, most = 400) => {
    const first = epoch
    while (!condition()) {
      if (epoch - first > most) {
        t.comment(JSON.stringify(shown(), null, 1))
        throw new Error(`not in ${most} epochs: ${what}`)
      }
      await next()
    }
    return (epoch - first) / 2
  }
  const stand = (reference: Ecef) => {
    state.reference = reference
    judge?.trust({ arp: reference })
  }
  const verdictNow = () => station.field('base.state.verdict') as { fitness: string; code: string; why_code: string }
  return {
    ...{ state, station, source, send, shown, epochsUntil, next, stand, change, verdictNow, clock, receiver },
    check: () => check as NeighbourCheck,
  }
}

t.test('neighbours confirm the position, contradict a wrong one, and hold RTCM if that is wanted', async (t) => {
  const { shown, epochsUntil, clock, next, stand, state, station, verdictNow, check, change } = await setUp(t, {
    effect: 'hold',
  })
  const first = await epochsUntil(() => shown().state === 'agrees', 'confirmed')
  t.ok(first >= 20 && first < 40, `after ${first} min`)
  t.equal(check().effect, 'none')
  await epochsUntil(() => shown().list.every(({ status }) => status !== 'none'), 'all compared')
  for (const one of shown().list) t.match(one, { status: 'fixed', link: 'streaming', text: '', moved: '' })
  t.equal(station.field('gnss.rtcm.subscribers') !== undefined, true)
  t.notMatch(JSON.stringify([station.lines, station.station.document()]), 's3cret')

  stand(offsetEnu(ownPlace, { east: 0.07, north: 0.07, up: 0 }))
  await epochsUntil(() => shown().state === 'unknown', 'another position: the evidence is void')
  await epochsUntil(() => shown().state === 'contradicts', 'contradicted')
  t.match(check(), { effect: 'degrades', cause: 'unexplained' })
  const { east: e, north: n } = shown().offset
  t.ok(Math.abs(e + 0.07) < 0.02 && Math.abs(n + 0.07) < 0.02, `true minus announced: ${e} ${n}`)
  await epochsUntil(() => verdictNow().code === 'neighbours', 'the verdict')
  t.match(verdictNow(), { fitness: 'degraded', why_code: 'neighbours-unexplained' })
  t.equal(check().effect, 'degrades', 'once is not enough')
  const again = await epochsUntil(() => check().effect === 'holds', 'held after the second judgement')
  t.ok(again > 40, `${again} min later`)
  const [, port] = /:(\d+)\//.exec(shown().list[0]?.source ?? '') ?? []
  const renamed = [0, 1, 2].map((n) => ({ host: '127.0.0.1', port: Number(port), mount: `N${n}`, name: `Base ${n}` }))
  t.match(await change({ neighbours: renamed }), { result: 'ok' })
  t.match(
    shown().list.map(({ name }) => name),
    ['Base 0', 'Base 1', 'Base 2'],
  )
  t.equal(check().effect, 'holds', 'under another name it is the same neighbour')
  await epochsUntil(() => verdictNow().code === 'silent', 'the verdict')
  t.match(verdictNow(), { fitness: 'unfit', why_code: 'neighbours-contradict' })

  const opened = () => station.lines.filter(({ msg }) => msg === 'RTCM goes out').length
  const before = opened()
  await station.reload('neighbours')
  await next()
  t.equal(opened(), before, 'S2: held while it is reloaded')
  await station.unload('neighbours')
  await clock.advance(200)
  t.equal(opened(), before + 1, 'without the plugin nobody holds it')
  state.status = 'survey'
  await station.load('neighbours')
  t.equal(check().effect, 'holds', 'S2: held from the start after a restart')
  t.match(shown(), { state: 'unknown', effect: 'holds' }, 'S2: before its evidence is judged')
  state.status = 'fixed'
  await next()
  t.equal(check().effect, 'holds', 'and by the evidence of the file')
  t.equal(shown().state, 'contradicts')
  t.equal(opened(), before + 1)

  stand(ownPlace)
  await epochsUntil(() => check().effect === 'none', 'open again', 4)
  t.equal(check().state, 'unknown')
  await station.unload('neighbours')
  await station.load('neighbours')
  await epochsUntil(() => shown().list.every(({ link }) => link === 'streaming'), 'again')
  t.equal(check().effect, 'none', 'what is over is not restored')
})

t.test(
  'a neighbour whose station ID or position keeps changing is ignored; one base is no two witnesses',
  async (t) => {
    const off = { east: 0.1, north: 0.1, up: 0 }
    const flips = Array.from({ length: 200 }, (_, n) =>
      arpFrame(offsetEnu(truth[2], { ...off, up: 0.01 * (n % 2) }), 4),
    )
    const { shown, epochsUntil, check } = await setUp(t, {
      ...{ bases: 3, effect: 'hold' },
      // The first two are one base, which is wrong.
      arps: (base) => (base < 2 ? offsetEnu(truth[0], off) : (truth[2] as Ecef)),
      sends(base, frames, epoch) {
        const own = base === 1 ? [arpFrame(offsetEnu(truth[0], off), 2), ...(skyAt(epoch).bases[0] ?? [])] : frames
        return base === 2 ? [...flips, ...frames] : own
      },
    })
    await epochsUntil(() => shown().list[0]?.status === 'fixed', 'compared')
    for (let hour = 0; hour < sample(1, 2, 2); hour++) {
      await epochsUntil(() => (shown().list[0]?.age ?? 0) > 3_000, 'later')
      t.match(shown(), { state: 'unknown', effect: 'none' })
    }
    // Both contradict this station: they are compared, and count as one.
    t.match(shown().list[2], { text: /keeps changing/ })
    t.equal(check().effect, 'none')
  },
)

/** Another satellite than the one whose orbit it is. */
function forged(frame: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(frame)
  // The number follows the 12 bits of the message number, see 1019, 1042 and 1046: DF009, DF252, DF488.
  bytes[4] = ((bytes[4] ?? 0) & 0xf0) | (((bytes[4] ?? 0) + 1) & 0x0f)
  const crc = crc24q(bytes, 0, bytes.length - 3)
  bytes.set([crc >> 16, (crc >> 8) & 0xff, crc & 0xff], bytes.length - 3)
  return bytes
}

t.test('a neighbour that lies is named, and this station stays fit; a reload keeps the evidence', async (t) => {
  const lie = { east: 0.3, north: 0, up: 0 }
  const { shown, epochsUntil, station, check, verdictNow } = await setUp(t, {
    arps: (base) => (base === 1 ? offsetEnu(truth[1], lie) : (truth[base] as Ecef)),
  })
  await epochsUntil(() => shown().list.every(({ status }) => status === 'fixed'), 'all compared')
  t.match(shown(), { state: 'agrees', effect: 'none' })
  t.match(
    shown().list.map(({ text }) => text),
    ['', /off by 0\.\d\d m: the other neighbours confirm/, ''],
  )
  t.ok(Math.abs((shown().list[1]?.east ?? 0) + 0.3) < 0.02)
  t.not(verdictNow().code, 'neighbours')
  await station.reload('neighbours')
  t.match(shown(), { state: 'agrees' }, 'the vectors are taken over')
  t.equal(check().state, 'agrees')
  const metrics = (await station.request('/metrics')).text
  if (metrics.includes('neighbour'))
    t.match(metrics, /neighbour_offset_meters\{neighbour="N1",axis="east"\} -0\.(29|30|31)/)
})

t.test('a neighbour that announces the position of another one does not silence it', async (t) => {
  const { shown, epochsUntil, check } = await setUp(t, {
    off: { east: 0, north: 0.2, up: 0 },
    arps: (base) => truth[base === 0 ? 1 : base] as Ecef,
  })
  await epochsUntil(() => shown().state === 'contradicts', 'the other two contradict')
  t.equal(check().effect, 'degrades')
  t.ok(Math.abs(shown().offset.north + 0.2) < 0.03)
})

t.test('a stream that can never be compared says why', (t) => {
  const neighbour = new Neighbour(() => {})
  const [msm = new Uint8Array()] = (skyAt(0).bases[0] ?? []).filter((frame) => isMsm(messageNumber(frame)))
  const now_s = 1_000_000_000
  neighbour.receive(arpFrame(ownPlace, 2), 0, now_s)
  t.equal(neighbour.uselessness(100_000), '', 'too early to say')
  t.match(neighbour.uselessness(130_000), /no observations as MSM/)
  neighbour.receive(msm, 131_000, now_s)
  t.match(neighbour.uselessness(132_000), /full half minutes/)
  t.end()
})

t.test('P1: a neighbour with rare epochs is silent after three of them', (t) => {
  const [msm = new Uint8Array()] = (skyAt(0).bases[0] ?? []).filter((frame) => isMsm(messageNumber(frame)))
  for (const [interval_ms, limit_ms] of [
    [1_000, 30_000],
    [15_000, 45_000],
    [60_000, 180_000],
  ] as const) {
    const neighbour = new Neighbour(() => {})
    t.equal(neighbour.isSilent(0), true)
    neighbour.receive(msm, 0, undefined)
    neighbour.receive(msm, interval_ms, undefined)
    t.equal(neighbour.isSilent(interval_ms + limit_ms), false, `${interval_ms} ms`)
    t.equal(neighbour.isSilent(interval_ms + limit_ms + 1), true, `${interval_ms} ms`)
  }
  t.end()
})

t.test('one neighbour alone decides nothing', async (t) => {
  const { shown, epochsUntil, check, verdictNow } = await setUp(t, {
    ...{ bases: 1, effect: 'hold', off: { east: 0.1, north: 0, up: 0 } },
  })
  await epochsUntil(() => shown().list[0]?.status === 'fixed', 'compared')
  const first = shown().list[0]?.age
  await epochsUntil(() => (shown().list[0]?.age ?? 0) < 60 && first !== undefined, 'compared')
  for (let again = 0; again < sample(1, 2, 2); again++) {
    await epochsUntil(() => (shown().list[0]?.age ?? 0) > 600, 'later')
    await epochsUntil(() => (shown().list[0]?.age ?? 0) < 60, 'compared again')
    t.match(shown(), { state: 'unknown', effect: 'none', text: /only one neighbour/ })
    t.match(shown().list[0], { text: /which of the two is wrong is not known/ })
  }
  t.equal(check().effect, 'none')
  t.not(verdictNow().code, 'neighbours')
})

t.test('what neighbours send in bad faith or not at all leaves the others unaffected', async (t) => {
  const noise = Uint8Array.from({ length: 4_000 }, (_, n) => (n * 7919 + (n >> 3)) & 0xff)
  const { shown, epochsUntil, next, source, station, clock } = await setUp(t, {
    sends(base, frames, epoch) {
      if (base === 0) return [...frames, ...skyAt(epoch).ephemerides.map(forged)]
      // Garbage before good frames, and the same epoch two hundred times.
      if (base === 1) return [noise, ...frames, noise, ...Array.from({ length: 200 }, () => frames).flat()]
      return epoch < 70 ? frames : []
    },
  })
  await epochsUntil(() => shown().list.every(({ status }) => status === 'fixed'), 'compared, each')
  t.match(shown(), { state: 'agrees' }, 'orbits of the receiver take precedence over forged ones')
  t.ok(shown().list.every(({ epochs }) => epochs <= 120))
  await epochsUntil(() => shown().list[2]?.link === 'waiting', 'silent')
  t.match(shown().list[2], { text: /\S/ })
  t.match(shown(), { state: 'agrees' })
  source.drop('N0')
  source.drop('N1')
  for (let step = 0; step < 400 && shown().state !== 'unknown'; step++) await clock.advance(30_000)
  t.match(shown(), { state: 'unknown', text: 'no neighbour was compared yet' }, 'evidence ends after 3 h')
  t.ok(station.lines.every(({ level }) => level < 50))
  await next()
})

/** The same observations, as a receiver tells them whose clock is ahead. */
const clockAhead = (frames: readonly Uint8Array[], ahead_ms: number) =>
  frames.map((frame) => {
    const msm = decodeMsm(frame)
    if (!msm) return frame
    const ahead_m = 299_792.458 * ahead_ms
    const observations = msm.observations.map((one) => ({
      ...one,
      ...(one.pseudorange_m !== undefined && { pseudorange_m: one.pseudorange_m + ahead_m }),
      ...(one.phase_m !== undefined && { phase_m: one.phase_m + ahead_m }),
    }))
    const epochTime = msm.epochTime + ahead_ms
    return encodeMsm({ ...msm, epochTime, observations }, { outOfRange: 'invalid' })
  })

t.test('G2: bases whose clocks are off by milliseconds confirm the position like others', async (t) => {
  const { shown, next } = await setUp(t, {
    sends: (base, frames) => clockAhead(frames, [1, 2, 5][base] ?? 0),
  })
  for (let epoch = 0; epoch < 70; epoch++) await next()
  const { state, list } = shown()
  t.equal(state, 'agrees')
  for (const { name, status, east, north, up } of list) {
    t.equal(status, 'fixed', name)
    t.ok(Math.hypot(east, north, up) < 0.02, `${name}: ${east} ${north} ${up}`)
  }
})

t.test('a neighbour adds the orbits that this station lacks, and replaces none', (t) => {
  const {
    ephemerides,
    bases: [to = []],
  } = skyAt(0)
  const at = (frames: readonly Uint8Array[], now_s = 1_000) => frames.map((frame) => ({ frame, now_s }))
  const known = at(ephemerides.slice(0, 5))
  const theirs = at([...ephemerides, ...ephemerides.slice(0, 5).map(forged), ...to])
  const kept = new Set(withoutKnown(theirs, known).map(({ frame }) => frame))
  t.ok(ephemerides.length > 10 && ephemerides.slice(0, 5).every((frame) => !kept.has(frame)))
  t.ok(to.every((frame) => kept.has(frame)))
  t.ok(ephemerides.slice(5).some((frame) => kept.has(frame)))
  const stale = [...at(ephemerides.slice(0, 5), 1_000), ...at(to, 9_000)]
  t.equal(withoutKnown(theirs, stale).length, theirs.length, 'old orbits give way')
  t.end()
})

t.test('a base that cannot be compared', async (t) => {
  const far = offsetEnu(truth[0], { east: 150_000, north: 0, up: 0 })
  await t.test('too far, the same antenna twice, its own stream', async (t) => {
    const { shown, next } = await setUp(t, {
      arps: (base) => [far, truth[1], offsetEnu(truth[1], { east: 0.2, north: 0, up: 0 })][base] as Ecef,
    })
    for (let epoch = 0; epoch < 90; epoch++) await next()
    t.match(
      shown().list.map(({ status, text }) => `${status} ${text}`),
      [/^none too far: it is 15\d km away/, /^fixed $/, /^fixed it is at the same position as number 2 of the list/],
    )
    const own = await setUp(t, { bases: 1, arps: () => ownPlace })
    for (let epoch = 0; epoch < 50; epoch++) await own.next()
    t.match(own.shown().list[0], { status: 'none', text: /own stream/ })
  })
  await t.test('without orbits', async (t) => {
    const { shown, next } = await setUp(t, { bases: 1, orbits: false })
    for (let epoch = 0; epoch < 50; epoch++) await next()
    t.match(shown(), { state: 'unknown', list: [{ status: 'none', text: /neither base sends the orbits/ }] })
  })
  await t.test('G3: one frequency, and phases that do not fit', async (t) => {
    const random = new Random(1)
    const changed = (frames: readonly Uint8Array[], change: (one: MsmObservation) => MsmObservation[]) =>
      frames.map((frame) => {
        const msm = decodeMsm(frame)
        if (!msm) return frame
        return encodeMsm({ ...msm, observations: msm.observations.flatMap(change) }, { outOfRange: 'invalid' })
      })
    const disturbed = (one: MsmObservation) => [{ ...one, phase_m: (one.phase_m ?? 0) + 2 * random.uniform() }]
    const { shown, next } = await setUp(t, {
      bases: 2,
      sends: (base, frames) => changed(frames, (one) => (base === 1 ? disturbed(one) : one.signal < 8 ? [one] : [])),
    })
    for (let epoch = 0; epoch < 70; epoch++) await next()
    t.match(shown(), {
      state: 'unknown',
      list: [
        { status: 'none', text: /fewer than 5 satellites with the same two frequencies .* switch on/ },
        { status: 'none', text: /do not fit each other/ },
      ],
    })
  })
  await t.test('its station ID or position changes: the evidence starts again', async (t) => {
    const { shown, epochsUntil, station } = await setUp(t, {
      bases: 1,
      arps: (_base, epoch) => (epoch < 60 ? truth[0] : offsetEnu(truth[0], { east: 0, north: 0.5, up: 0 })),
    })
    await epochsUntil(() => shown().state === 'agrees', 'compared')
    await epochsUntil(() => shown().state === 'unknown', 'another position')
    t.match(shown().list[0], { status: 'none', text: /another \d+ min/ })
    t.ok(station.lines.some(({ msg }) => /its announced position changed/.test(msg)))
  })
})

t.test('a station on the same broker', async (t) => {
  const { shown, epochsUntil, send } = await setUp(t, { bases: 1, mqtt: true })
  await epochsUntil(() => shown().state === 'agrees', 'compared')
  t.match(shown().list[0], { name: 'N0', source: 'mqtt base/N0/drtk', status: 'fixed' })
  send('N0', [new Uint8Array(70_000)])
  await until(() => /64 KiB/.test(shown().list[0]?.text ?? ''), 'a message that is too large is ignored')
  t.match(shown(), { state: 'agrees' })
})

t.test('settings', async (t) => {
  const { station, source, change } = await setUp(t, { bases: 1 })
  const { port } = source
  const json = async (method: string, neighbours?: object[]) => {
    const body = neighbours && { body: JSON.stringify({ neighbours }), headers: { 'content-type': 'application/json' } }
    return (await station.request('/neighbours', { method, ...body })).json() as { neighbours: object[] }
  }
  const own = { host: '127.0.0.1', port, mount: 'N0' }
  t.same(await json('GET'), { neighbours: [{ ...own, set: true }] }, 'never a password')
  t.match(await json('PUT', [{ ...own, name: 'A' }, { serial: 'OTHER' }]), { result: 'ok' })
  t.same(await json('GET'), {
    neighbours: [
      { ...own, name: 'A', set: true },
      { serial: 'OTHER', set: false },
    ],
  })
  await json('PUT', [{ ...own, host: 'localhost' }])
  t.match(await json('GET'), { neighbours: [{ set: false }] }, 'a password goes to no other host')
  await json('PUT', [{ ...own, tls: true, password: 's3cret' }])
  await json('PUT', [own])
  t.match(await json('GET'), { neighbours: [{ set: false }] }, 'S5: nor in plain text after TLS')
  for (const [what, list] of Object.entries({
    'listed twice': [own, { ...own, name: 'B' }],
    'this station': [{ serial: 'TEST0001' }],
    'are called N0': [own, { ...own, port: 9 }],
  }))
    t.match(JSON.stringify(await change({ neighbours: list })), what)
  t.notMatch(await change({ neighbours: Array.from({ length: 5 }, (_, n) => ({ serial: `S${n}` })) }), { result: 'ok' })
  await json('PUT', [{ ...own, password: 's3cret' }])
  const refused = await json('PUT', [own, { ...own, name: 'B' }])
  t.match(refused, { result: 'failed', leftover: { neighbours: [own, { name: 'B' }] } })
  t.notMatch(JSON.stringify(refused), 's3cret', 'a refused change does not show the stored password')
  t.match(await change({ neighbours: [] }), { result: 'ok' })
  t.match(station.field('gnss.neighbours'), { state: 'unknown', text: 'no neighbours are set', list: [] })
})

t.test('the finding', async (t) => {
  const arp = ownPlace
  const year = 2026.9
  const compared = (...offsets: Enu[]): Compared[] =>
    offsets.map((offset, n) => {
      const to = truth[n] as Ecef
      const length_m = Math.hypot(to.x - arp.x, to.y - arp.y, to.z - arp.z)
      // The neighbour is where it announces, and this station is not: the vector starts elsewhere.
      const start = offsetEnu(arp, offset)
      const local = { east: -offset.east, north: -offset.north, up: -offset.up }
      const vector: Vector = {
        ...{
          at_ms: 0,
          status: 'fixed',
          length_m,
          heightDoubt_m: 0,
          displaced: {},
          local,
          sigma: { east: 0.005, north: 0.005, up: 0.01 },
        },
        vector: { x: to.x - start.x, y: to.y - start.y, z: to.z - start.z },
        offset: { x: arp.x - start.x, y: arp.y - start.y, z: arp.z - start.z },
        covariance: [3e-5, 0, 0, 0, 3e-5, 0, 0, 0, 3e-5],
      }
      return { name: `N${n}`, arp: to, vectors: [vector] }
    })
  const at = (east: number, north: number, up: number): Enu => ({ east, north, up })
  const wrong = findingOf({ arp }, compared(at(0, 0.4, 0), at(0, 0.4, 0)), year)
  t.match(wrong, {
    state: 'contradicts',
    isExplained: false,
    against: ['N0', 'N1'],
    values: { north_m: 0.4, size_m: 0.4 },
  })
  t.match(wrong.text, /0\.400 m too far south/)
  const three = findingOf({ arp }, compared(at(0, 0.4, 0), at(0, 0.4, 0), at(2, -1, 0)), year)
  t.match(three, { state: 'contradicts', against: ['N0', 'N1'] }, 'another offset is no confirmation')
  t.equal(three.against.length, 2)
  const high = findingOf({ arp }, compared(at(0, 0, 0.09), at(0, 0, 0.09)), year)
  t.match(high, { state: 'contradicts', cause: 'height', isExplained: true }, 'antennas may differ')
  t.match(findingOf({ arp }, compared(at(0, 0, 1.5), at(0, 0, 1.5)), year), { cause: 'height', isExplained: false })
  t.match(findingOf({ arp }, compared(at(0.3, 0, 0), at(-0.3, 0.2, 0)), year), { state: 'unknown', against: [] })
  t.match(findingOf({ arp }, compared(at(0.3, 0, 0), at(0, 0, 0)), year), {
    state: 'agrees',
    text: /by 1 of 2 compared/,
  })
  t.match(findingOf({ arp }, compared(at(0.3, 0, 0)), year), { state: 'unknown', text: /only one neighbour/ })
  const coarse = findingOf({ arp, acc_m: 2 }, compared(at(0.4, 0.3, 1.7), at(0.4, 0.3, 1.7)), year)
  t.match(coarse, {
    state: 'contradicts',
    cause: 'survey',
    isStated: true,
    text: /as accurate as its survey says \(2\.0 m\)/,
  })
  t.equal(
    effectOf(coarse, 'hold', { since_ms: 0, isRepeated: true, isRepeatedFixed: true }),
    'notes',
    'as accurate as it says',
  )
  const fine = findingOf({ arp, acc_m: 0.02 }, compared(at(0.4, 0.3, 1.7), at(0.4, 0.3, 1.7)), year)
  t.match(fine, { isStated: false })
  t.equal(effectOf(fine, 'hold', { since_ms: 0, isRepeated: true, isRepeatedFixed: true }), 'holds')
  t.match(findingOf({ arp }, [], year), { state: 'unknown', text: 'no neighbour was compared yet' })
  const itrf = { position: arp, frame: 'ETRF2000', epoch: 2010 } as const
  const { position } = transformed(itrf, { frame: 'ITRF2020', epoch: year }, 'EURA')
  const other = enu(arp, position)
  const frame = findingOf({ arp }, compared(other, other), year)
  t.match(frame, { state: 'contradicts', cause: 'frame', isExplained: true })

  const hour_ms = 3_600_000
  const measured = (status: 'fixed' | 'float', ...at: number[]) => at.map((at_ms) => ({ at_ms, status }))
  const first = { ...wrong, measured: measured('fixed', 0, 0) }
  const once = confirmed(undefined, first, 0)
  const later = (status: 'fixed' | 'float', ...at: number[]) => {
    const finding = { ...wrong, measured: measured(status, ...at) }
    return effectOf(finding, 'hold', confirmed(once, finding, hour_ms))
  }
  t.equal(effectOf(first, 'hold', once), 'degrades')
  t.equal(later('fixed', hour_ms, 0), 'degrades', 'one new window is not enough')
  t.equal(later('fixed', hour_ms / 3, hour_ms / 3), 'degrades', 'nor two that overlap')
  t.equal(later('fixed', hour_ms), 'notes', 'one neighbour alone decides nothing')
  t.equal(later('fixed', hour_ms, hour_ms), 'holds')
  t.equal(effectOf({ ...wrong, measured: measured('float', 0, 0) }, 'hold', once), 'notes', 'a storm of one window')
  t.equal(later('float', hour_ms, hour_ms), 'degrades', 'without integers, only when repeated')
  const twice = confirmed(once, { ...wrong, measured: measured('fixed', hour_ms, hour_ms) }, hour_ms)
  t.equal(effectOf(wrong, 'degraded', twice), 'degrades')
  t.equal(effectOf(wrong, 'note', twice), 'notes')
  for (const explained of [high, frame]) t.equal(effectOf(explained, 'hold', twice), 'degrades')
  for (const state of ['agrees', 'unknown'] as const)
    t.equal(confirmed(twice, { state, measured: [] }, hour_ms), undefined)
})

t.test('bases at one position', (t) => {
  const witness = (name: string, east: number, status: 'fixed' | 'float', sigma = 0.005, arp = truth[0]) => {
    const local = { east, north: 0, up: 0 }
    return { name, arp, vectors: [{ status, local, sigma: { east: sigma, north: sigma, up: sigma } } as Vector] }
  }
  const names = (...all: ReturnType<typeof witness>[]) => withoutTwins(all).map(({ name }) => name)
  const q = witness('Q', -1, 'fixed', 0.005, truth[1])
  t.same(names(witness('P2', -0.9, 'float', 0.15), witness('P', -1, 'fixed'), q), ['P', 'Q'], 'the more precise counts')
  t.same(names(witness('P2', 0, 'fixed'), witness('P', -1, 'fixed'), q), ['P2', 'P', 'Q'], 'one of them lies')
  t.end()
})

t.test('the curve', async (t) => {
  const path = t.testdir()
  const dir = () => ({
    path,
    quota_bytes: 1e6,
    usage: async () => ({ bytes: 0, files: 0 }),
    ensureRoom: async () => {},
  })
  const failures: string[] = []
  const make = async () => {
    const curves = new Curves(dir, (text) => failures.push(text))
    await curves.read()
    return curves
  }
  const curves = await make()
  const from = ownPlace
  const start_s = Date.UTC(2026, 0, 1) / 1_000
  const vectorTo = (east: number, announced = 0) => {
    const place = offsetEnu(from, { east, north: 0, up: 0 })
    const vector = { x: truth[0].x - place.x, y: truth[0].y - place.y, z: truth[0].z - place.z }
    const sigma = { east: 0.003, north: 0.003, up: 0.006 }
    const offset = { x: vector.x - announced, y: vector.y, z: vector.z }
    return { vector, offset, sigma } as Vector
  }
  const add = (to: Curves, day: number, east: number, { antennas = 'A B', announced = 0 } = {}) =>
    to.add({ id: 'A', from, antennas }, vectorTo(east, announced), start_s + day * 86_400, ['A'])
  const noise = (day: number) => 0.001 * Math.sin(day * 12.9898)
  for (let day = 0; day < 30; day++) add(curves, day, noise(day))
  t.equal(curves.moveOf('A'), '')
  for (let day = 30; day < 60; day++) for (const part of [0, 0.3, 0.6]) add(curves, day + part, 0.02 + noise(day))
  t.match(curves.moveOf('A'), /moved (19|20|21) mm to the east/)
  await curves.stop(['A'])
  const file = join(path, 'curves.json')
  t.equal(statSync(file).mode & 0o777, 0o600)
  const again = await make()
  t.same(again.of('A'), curves.of('A'))
  t.equal(again.of('A').length, 60, 'with the day that the stop ended')
  t.equal(again.moveOf('A'), curves.moveOf('A'))
  for (let day = 60; day < 470; day++) add(again, day, 0.02)
  t.equal(again.of('A').length, 400)
  add(again, 471, 3_000)
  t.same(again.of('A'), [], 'elsewhere: starts again')
  for (const other of [{ antennas: 'A C' }, { announced: 0.08 }]) {
    for (let day = 472; day < 476; day++) add(again, day, 3_000)
    const { length } = again.of('A')
    add(again, 476, 3_000, { antennas: 'A wrong' })
    t.ok(length > 0 && again.of('A').length >= length, 'one vector with another antenna changes nothing')
    add(again, 477, 3_000)
    for (const part of [0, 0.1, 0.2]) add(again, 478 + part, 3_000, other)
    t.same(again.of('A'), [], 'another antenna, or another announced position: starts again')
  }
  again.add({ id: 'B', from, antennas: 'x'.repeat(300) }, vectorTo(0), start_s + 480 * 86_400, ['B'])
  await again.stop(['B'])
  t.same(
    (JSON.parse(readFileSync(file, 'utf8')) as { curves: { id: string }[] }).curves.map(({ id }) => id),
    ['B'],
    'a neighbour that is no longer set leaves no curve',
  )
  t.equal((await make()).of('B').length, 1)
  t.same(failures, [])
  for (const damaged of ['{', '[]', '{"curves":[{"id":7}]}', 'x'.repeat(2_000_000)]) {
    writeFileSync(file, damaged)
    t.same((await make()).of('A'), [])
  }
  t.equal(failures.length, 4)
  t.match(failures[0], /start again/)
})
