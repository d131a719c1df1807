/** A station with the procedure on a receiver that does what it is told: for tests of `survey-in` and `rtcm-in`. */

import { GaussMarkov, Random } from 'rtk-base/simulation'
import type { Test } from 'tap'
import surveyIn from '../../../plugins/reference/survey-in/index.js'
import type { Position } from '../../../plugins/reference/survey-in/reference/positions.js'
import rtcm from '../../../plugins/rtcm/rtcm/index.js'
import {
  decodeRtcm,
  type Enu,
  encodeMsm,
  enu,
  geodeticToEcef,
  knownLeap_s,
  msmEpochTime,
  msmType,
  offsetEnu,
} from '../../../runtime/lib/gnss/index.js'
import type { Supervisor } from '../../../runtime/platform/supervision/supervisor.js'
import { definePlugin, type PluginDefinition } from '../../../runtime/plugin.js'
import {
  type Ecef,
  type MqttBus,
  mqttBus,
  procedureStatus,
  type ReceiverFix,
  type RtcmFrame,
  rtcmStream,
  type SatelliteResidual,
} from '../../../schemas/services.js'
import { arpFrame, createTestStation, fakeReceiver, ManualClock, type TestStation } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'

export type Definition = PluginDefinition<never, never>
export const home = geodeticToEcef({ lat: 52, lon: 4, alt: 50 })

export interface RigOptions {
  supervisor?: Supervisor
  changes?: Record<string, unknown>
  options?: Record<string, unknown>
  plugins?: Record<string, Definition | [Definition, Record<string, unknown>]>
  store?: MemoryStore
  clock?: ManualClock
  /** A receiver that was on all the time. */
  receiver?: FakeBase
  /** The data folder of an earlier station. */
  data?: string
}

/** What the antenna and the receiver behind the service are: outlives a restart of the service. */
export class FakeBase {
  readonly clock: ManualClock
  readonly receiver: ReturnType<typeof fakeReceiver>
  truth = home
  /** 3D accuracy of a rover's fixes. */
  acc_m = 1.2
  fixName: ReceiverFix['fix'] = '3d'
  /** So far east of their true place is the base whose corrections it uses, by its own word, metres. */
  baseError_m = 0
  /** Added to the position of its 1005, metres in X. */
  wrong_m = 0
  /** Whether anything is received. */
  hears: boolean = true
  second: boolean = false
  /** Whether it sends observations; a base without satellites sends its 1005 all the same. */
  observes: boolean = true
  /** Whether its observations have carrier phases. */
  sendsPhases: boolean = true
  bootedAt_ms: number
  /** Since when all signals are locked. */
  lockedAt_ms: number
  /** Whether residuals and a second solution are sent while it is fixed. */
  evident: boolean = true
  /** Geoid separation of its fixes, metres. */
  separation_m = 0
  /** Carrier phase noise, 1 sigma, metres. */
  phase_m = 0.0018
  /** Where its own clock begins anew. */
  clockRound_ms = Number.POSITIVE_INFINITY
  #resets = 0
  #floats = 0
  readonly #random = new Random(7)
  readonly #noise = [1, 2, 3].map(() => new GaussMarkov(this.#random, 300))

  constructor(clock: ManualClock) {
    this.clock = clock
    this.bootedAt_ms = clock.monotonic() - 90_000
    this.lockedAt_ms = this.bootedAt_ms
    this.receiver = fakeReceiver(() => clock.monotonic())
    this.receiver.become({ mode: 'rover', configured: false })
  }

  move(east: number, north = 0, up = 0): void {
    this.truth = offsetEnu(this.truth, { east, north, up })
  }

  /** It restarts by itself, as its flash has it. */
  restart(flash?: Ecef): void {
    this.bootedAt_ms = this.clock.monotonic()
    this.loseLock()
    this.receiver.target = flash ? { mode: 'fixed', arp: flash, acc_m: 0.01 } : { mode: 'rover' }
    this.receiver.become({ configured: false, mode: this.receiver.target.mode })
  }

  /** All signals are lost and found again, as by a cable that was off for a moment. */
  loseLock(): void {
    this.lockedAt_ms = this.clock.monotonic()
  }

  /** This share of the satellites slips by some cycles each, and no lock indicator says so. */
  slip(share: number): void {
    for (const { satellite } of sky.slice(0, Math.round(share * sky.length))) {
      this.#slips.set(
        satellite,
        (this.#slips.get(satellite) ?? 0) + 0.19 * (1 + ((satellite * 7) % 5)) * (satellite % 2 === 0 ? 1 : -1),
      )
    }
  }
  readonly #slips = new Map<number, number>()

  #observations(t: number): void {
    const lock = lockIndicator(this.clock.monotonic() - this.lockedAt_ms)
    const offset = enu(home, this.truth)
    constellations.forEach((name, i) => {
      const type = msmType(name, 7)
      this.receiver.emit(
        encodeMsm({
          type,
          stationId: 0,
          epochTime: msmEpochTime(name, (t % 604_800) * 1000, knownLeap_s),
          multiple: i < constellations.length - 1,
          iods: 0,
          clockSteering: 0,
          externalClock: 0,
          smoothing: false,
          smoothingInterval: 0,
          observations: skyOf[i].map((direction) => {
            const range_m = 22e6 - along(direction, offset)
            return {
              satellite: direction.satellite,
              signal: 2,
              pseudorange_m: range_m,
              ...(this.sendsPhases && {
                phase_m: range_m + (this.#slips.get(direction.satellite) ?? 0) + this.phase_m * this.#random.normal(),
              }),
              lock,
              halfCycle: false,
              cnr_dbhz: 45,
            }
          }),
          info: {},
        }),
      )
    })
  }

  /** Its ambiguities are searched for some seconds when it is asked to. */
  #fixNow(): ReceiverFix['fix'] {
    const { resets } = this.receiver
    if (resets > this.#resets) this.#floats = 5
    this.#resets = resets
    return this.fixName === 'rtk-fixed' && this.#floats-- > 0 ? 'rtk-float' : this.fixName
  }

  /** One second of what a receiver sends. */
  epoch(): void {
    const { receiver, clock } = this
    receiver.become({ sinceReset_ms: (clock.monotonic() - this.bootedAt_ms) % this.clockRound_ms })
    const { target } = receiver
    const t = Math.floor(clock.now() / 1000)
    const scale = this.fixName === 'rtk-fixed' ? 0.01 : this.acc_m / 2
    const [east, north, up] = this.#noise.map((axis) => scale * axis.step(1))
    const live = offsetEnu(this.truth, { east, north, up })
    if (!this.hears) {
      this.loseLock()
      receiver.fix({ t, fix: 'none', ok: false, position: { x: 0, y: 0, z: 0 } })
      return
    }
    if (this.observes) this.#observations(t)
    if (target.mode === 'fixed') {
      receiver.fix({ t, fix: 'time', position: target.arp, acc_m: target.acc_m })
      receiver.emit(arpFrame({ ...target.arp, x: target.arp.x + this.wrong_m }))
      if (this.evident) receiver.residuals(residualsOf(target.arp, this.truth, this.#random))
      if (this.second) receiver.secondFix({ ...fixOf(live, t, this.acc_m, clock.monotonic()) })
    } else {
      const corrected = this.fixName !== '3d'
      if (this.evident) receiver.residuals(residualsOf(live, this.truth, this.#random))
      const geoidSeparation_m = this.separation_m
      if (this.second) receiver.secondFix(fixOf(live, t, this.acc_m, clock.monotonic()))
      const position = corrected ? offsetEnu(live, { east: this.baseError_m, north: 0, up: 0 }) : live
      receiver.fix({ t, fix: this.#fixNow(), position, acc_m: this.acc_m, corrected, geoidSeparation_m })
    }
  }
}

function fixOf(position: Ecef, t: number, acc_m: number, arrival_ms: number): ReceiverFix {
  return {
    t,
    fix: '3d',
    ok: true,
    position,
    lat: 0,
    lon: 0,
    alt: 0,
    acc_m,
    geoidSeparation_m: 0,
    satellitesUsed: 20,
    corrected: false,
    arrival_ms,
  }
}

const constellations = ['GPS', 'GLONASS', 'Galileo', 'BeiDou'] as const
const radians = Math.PI / 180
/** Where the satellites are. A receiver gives these directions in whole degrees. */
const sky = [...Array(24).keys()].map((satellite) => ({
  constellation: constellations[satellite % 4].toLowerCase(),
  satellite: satellite + 1,
  azimuth_deg: (satellite * 137.508) % 360,
  elevation_deg: 12 + ((satellite * 31.37) % 75),
}))
type Direction = (typeof sky)[number]
/** Unit vectors towards them. */
const sights = new Map(
  sky.map((direction) => {
    const { azimuth_deg, elevation_deg } = direction
    const level = Math.cos(elevation_deg * radians)
    const east = Math.sin(azimuth_deg * radians) * level
    return [direction, { east, north: Math.cos(azimuth_deg * radians) * level, up: Math.sin(elevation_deg * radians) }]
  }),
)
const skyOf = constellations.map((name) => sky.filter(({ constellation }) => constellation === name.toLowerCase()))

/** What the ranges say beside the position that the base holds. */
export function residualsOf(arp: Ecef, truth: Ecef, random: Random, noise_m = 1.5): SatelliteResidual[] {
  const offset = enu(arp, truth)
  return sky.map((direction) => {
    const { constellation, satellite, azimuth_deg, elevation_deg } = direction
    return {
      ...{ constellation, satellite, used: true },
      azimuth_deg: Math.round(azimuth_deg),
      elevation_deg: Math.round(elevation_deg),
      residual_m: constellation.length - along(direction, offset) + noise_m * random.normal(),
    }
  })
}

/** The part of an offset towards a satellite. */
function along(direction: Direction, { east, north, up }: Enu): number {
  const sight = sights.get(direction)
  return sight ? sight.east * east + sight.north * north + sight.up * up : Number.NaN
}

/** DF407 as a u-blox receiver sends it: it counts up to 64.5 s. */
function lockIndicator(lock_ms: number): number {
  const most_ms = Math.min(64_500, lock_ms)
  if (most_ms < 64) return most_ms
  const power = Math.floor(Math.log2(most_ms / 32))
  return Math.floor(most_ms / 2 ** power) + 32 * power
}

export interface Rig {
  station: TestStation
  base: FakeBase
  store: MemoryStore
  clock: ManualClock
  /** What left through the gate. */
  sent: RtcmFrame[]
  /** The positions in the 1005 that left. */
  arps(): Ecef[]
  seconds(count: number): Promise<void>
  /** Goes on until the condition holds. @returns after how many seconds */
  until(condition: () => unknown, limit_s: number): Promise<number>
  /** As `gnss.state.status` would show it. */
  state(): string | undefined
  field(path: string): unknown
  errors(): string[]
  change(values: Record<string, unknown>): ReturnType<TestStation['station']['change']>
  command(text: string): ReturnType<TestStation['station']['command']>
  /** Where MQTT messages come in. */
  bus(): MqttBus
}

/** What became of the positions, oldest first: each event with its position. */
export async function historyOf(station: TestStation) {
  const { entries } = (await station.request('/positions')).json() as { entries: Position[] }
  return entries
    .flatMap(({ events, id: position, ...rest }) => events.map((event) => ({ ...rest, position, ...event })))
    .toSorted((a, b) => a.id - b.id)
}

/** Settings with which a survey-in takes half a minute. */
export const quick = { 'gnss-survey-mintime': 15, 'gnss-survey-accuracy': 5 }

export async function setUp(t: Test, options: RigOptions = {}): Promise<Rig> {
  const clock = options.clock ?? options.receiver?.clock ?? new ManualClock()
  const base = options.receiver ?? new FakeBase(clock)
  const store = options.store ?? new MemoryStore()
  const sent: RtcmFrame[] = []
  let bus: MqttBus | undefined
  let status = (): string | undefined => undefined
  const probe = definePlugin({
    name: 'probe',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [rtcmStream, mqttBus],
    setup: () => undefined,
    start(ctx) {
      bus = ctx.services.use(mqttBus)
      status = () => ctx.services.find(procedureStatus)?.status
      const take = (frame: RtcmFrame) => sent.push(frame) > 0
      ctx.services.use(rtcmStream).subscribe({ via: 'test', name: 'probe', ip: '', take })
    },
  })
  const station = await createTestStation({
    clock,
    store,
    ...(options.data !== undefined && { data: options.data }),
    variant: { changes: options.changes ?? quick },
    ...(options.supervisor && { supervisor: options.supervisor }),
    plugins: {
      'fake-receiver': base.receiver.definition,
      rtcm: rtcm as unknown as Definition,
      'survey-in': [surveyIn as unknown as Definition, { initial_s: 10, ...options.options }],
      probe: probe as unknown as Definition,
      ...options.plugins,
    },
  })
  t.teardown(() => station.stop())
  const seconds = async (count: number) => {
    for (let i = 0; i < count; i++) {
      base.epoch()
      await clock.advance(1000)
    }
  }
  return {
    station,
    base,
    store,
    clock,
    sent,
    arps: () =>
      sent.flatMap(({ bytes }) => {
        const message = decodeRtcm(bytes)
        return message?.type === 1005 ? [{ x: message.x, y: message.y, z: message.z }] : []
      }),
    seconds,
    async until(condition, limit_s) {
      for (let i = 0; i <= limit_s; i++) {
        if (await condition()) return i
        await seconds(1)
      }
      throw new Error(`not within ${limit_s} s: ${String(condition)}; ${JSON.stringify(station.field('gnss'))}`)
    },
    state: () => status(),
    bus() {
      if (!bus) throw new Error('the probe does not run')
      return bus
    },
    field: (path) => station.field(`gnss.${path}`),
    errors: () => station.device.errors().map(({ text }) => text),
    change: (values) => station.station.change(values, { source: 'http' }),
    command: (text) => station.station.command(text, { source: 'console' }),
  }
}
