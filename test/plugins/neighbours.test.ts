/** The comparison with neighbouring bases: a station, its sky, and bases around it that are right, wrong, silent or hostile. */
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import neighbours from '../../plugins/neighbours/index.js'
import rtcm from '../../plugins/rtcm/index.js'
import verdict from '../../plugins/verdict/index.js'
import { crc24q, enu, isMsm, messageNumber, offsetEnu } from '../../runtime/gnss/index.js'
import { type AnyPlugin, definePlugin } from '../../runtime/plugin.js'
import type { GnssNeighbours } from '../../schemas/index.js'
import {
  type Ecef,
  type NeighbourCheck,
  neighbourCheck,
  procedureStatus,
  type RtcmJudge,
  rtcmGate,
} from '../../schemas/services.js'
import { roughness, type StreamEpoch, Streams } from '../harness/baseline-streams.js'
import { arpFrame, createTestStation, fakeReceiver, ManualClock, until } from '../harness/index.js'

t.setTimeout(600_000)

const step_ms = 30_000
/** A multiple of 30 s of GPS time. */
const begin_ms = Date.UTC(2026, 5, 1, 12) - 18_000
const north = { lat: 52.06, lon: 4.5, alt: 20 }
const east = { lat: 52, lon: 4.6, alt: 20 }
const south = { lat: 51.95, lon: 4.45, alt: 30 }
const streams = new Streams({
  ...{ seed: 4, from: { lat: 52, lon: 4.5, alt: 40 }, to: north, more: [east, south], roughness: roughness.calm },
})
const truth = [streams.truth.to, ...streams.truth.more] as const
const sky: StreamEpoch[] = []
/** All tests see the same sky. */
function skyAt(epoch: number): StreamEpoch {
  while (sky.length <= epoch) sky.push(streams.epoch(begin_ms + sky.length * step_ms, step_ms / 1_000))
  return sky[epoch] as StreamEpoch
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
}

async function setUp(t: Test, setting: Setting = {}) {
  const { bases = 3 } = setting
  const clock = new ManualClock(begin_ms)
  const receiver = fakeReceiver(() => clock.monotonic())
  const state = { reference: offsetEnu(streams.truth.from, setting.off ?? { east: 0, north: 0, up: 0 }) }
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
        ...{ status: 'fixed', onState: changed.on, wantsCorrections: false },
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
  const station = await createTestStation({
    clock,
    plugins: {
      'fake-receiver': receiver.definition,
      rtcm: rtcm as AnyPlugin,
      procedure: procedure as AnyPlugin,
      verdict: verdict as AnyPlugin,
      neighbours: neighbours as AnyPlugin,
    },
  })
  t.teardown(() => station.stop())
  const mounts = Array.from({ length: bases }, (_, base) => `N${base}`)
  const change = (values: object) => station.station.change(values as never, { source: 'http' })
  t.match(
    await change({
      neighbours: mounts.map((mount) => ({ host: '127.0.0.1', port: source.port, mount, password: 's3cret' })),
      'neighbours-effect': setting.effect ?? 'degraded',
    }),
    { result: 'ok' },
  )
  const shown = () => station.field('gnss.neighbours') as GnssNeighbours
  const turns = async () => {
    for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  const connect = async () => {
    await until(async () => {
      if (mounts.every((mount) => source.connected(mount))) return true
      await clock.advance(1_000)
      await turns()
      return false
    }, 'all streams')
  }
  await connect()
  let epoch = Math.ceil(clock.monotonic() / step_ms)
  const arpOf = (base: number) => setting.arps?.(base, epoch) ?? (truth[base] as Ecef)
  /** An epoch of all, and the time until the next. */
  const next = async () => {
    await clock.advance(begin_ms + epoch * step_ms - clock.now())
    const { from, to, more } = skyAt(epoch)
    receiver.emit(arpFrame(state.reference, 1))
    for (const frame of from) if (setting.orbits !== false || isMsm(messageNumber(frame))) receiver.emit(frame)
    for (const [base, mount] of mounts.entries()) {
      const frames = [arpFrame(arpOf(base), base + 2), ...([to, ...more][base] ?? [])]
      source.send(mount, setting.sends?.(base, frames, epoch) ?? frames)
    }
    await turns()
    epoch += 1
    for (let half = 0; half < 2; half++) {
      await clock.advance(step_ms / 2 - 200)
      for (const [base, mount] of mounts.entries())
        if (!setting.sends) source.send(mount, [arpFrame(arpOf(base), base + 2)])
      await turns()
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
    ...{ station, source, shown, epochsUntil, next, stand, change, verdictNow, clock, receiver },
    check: () => check as NeighbourCheck,
  }
}

t.test('neighbours confirm the position, contradict a wrong one, and hold RTCM if that is wanted', async (t) => {
  const { shown, epochsUntil, stand, station, verdictNow, check } = await setUp(t, { effect: 'hold' })
  const first = await epochsUntil(() => shown().state === 'agrees', 'confirmed')
  t.ok(first >= 20 && first < 40, `after ${first} min`)
  t.equal(check().effect, 'none')
  await epochsUntil(() => shown().list.every(({ status }) => status !== 'none'), 'all compared')
  for (const one of shown().list) t.match(one, { status: 'fixed', link: 'streaming', text: '', moved: '' })
  t.equal(station.field('gnss.rtcm.subscribers') !== undefined, true)
  t.notMatch(JSON.stringify([station.lines, station.station.document()]), 's3cret')

  stand(offsetEnu(streams.truth.from, { east: 0.07, north: 0.07, up: 0 }))
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
  await epochsUntil(() => verdictNow().code === 'silent', 'the verdict')
  t.match(verdictNow(), { fitness: 'unfit', why_code: 'neighbours-contradict' })

  stand(streams.truth.from)
  await epochsUntil(() => check().effect === 'none', 'open again', 4)
  t.equal(check().state, 'unknown')
})

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

t.test('one neighbour alone decides nothing', async (t) => {
  const { shown, epochsUntil, check, verdictNow } = await setUp(t, {
    ...{ bases: 1, effect: 'hold', off: { east: 0.1, north: 0, up: 0 } },
  })
  await epochsUntil(() => shown().list[0]?.status === 'fixed', 'compared')
  const first = shown().list[0]?.age
  await epochsUntil(() => (shown().list[0]?.age ?? 0) < 60 && first !== undefined, 'compared')
  for (let again = 0; again < 2; again++) {
    await epochsUntil(() => (shown().list[0]?.age ?? 0) > 600, 'later')
    await epochsUntil(() => (shown().list[0]?.age ?? 0) < 60, 'compared again')
    t.match(shown(), { state: 'unknown', effect: 'none', text: /one neighbour alone/ })
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
  t.match(shown().list[2], { text: /no good message for 30 s/ })
  t.match(shown(), { state: 'agrees' })
  source.drop('N0')
  source.drop('N1')
  for (let step = 0; step < 400 && shown().state !== 'unknown'; step++) await clock.advance(30_000)
  t.match(shown(), { state: 'unknown', text: 'no neighbour was compared yet' }, 'evidence ends after 3 h')
  t.ok(station.lines.every(({ level }) => level < 50))
  await next()
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
      [/^none too far: it is 15\d km away/, /^fixed $/, /^none it is at the same position as N1/],
    )
    const own = await setUp(t, { bases: 1, arps: () => streams.truth.from })
    for (let epoch = 0; epoch < 50; epoch++) await own.next()
    t.match(own.shown().list[0], { status: 'none', text: /own stream/ })
  })
  await t.test('without orbits', async (t) => {
    const { shown, next } = await setUp(t, { bases: 1, orbits: false })
    for (let epoch = 0; epoch < 50; epoch++) await next()
    t.match(shown(), { state: 'unknown', list: [{ status: 'none', text: /neither base sends the orbits/ }] })
  })
  await t.test('its station ID or position changes: the evidence begins anew', async (t) => {
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
