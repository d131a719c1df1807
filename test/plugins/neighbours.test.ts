/** The comparison with neighbouring bases: a station, its sky, and bases around it that are right, wrong, silent or hostile. */
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import neighbours from '../../plugins/neighbours/index.js'
import rtcm from '../../plugins/rtcm/index.js'
import verdict from '../../plugins/verdict/index.js'
import { offsetEnu } from '../../runtime/gnss/index.js'
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
    for (const frame of from) receiver.emit(frame)
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
