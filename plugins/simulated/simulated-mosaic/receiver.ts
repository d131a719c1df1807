/** The simulated mosaic on its USB: commands in; replies, blocks and RTCM out; one epoch a second. */
import { type Constellation, encodeRtcm } from 'rtk-base/gnss'
import type { Edges } from 'rtk-base/link'
import { EcefShape } from 'rtk-base/schemas'
import type { Ecef } from 'rtk-base/services'
import {
  CommandDevice,
  type DeviceOptions,
  type Epoch,
  ephemerisFrame,
  ephemerisType,
  msmFrames,
  type SolvedEpoch,
} from 'rtk-base/simulation'
import { type Static, Type } from 'typebox'
import { type BlockInput, blocks } from './blocks.js'
import { type CommandTarget, identity, port, refusedReply, runCommand } from './commands.js'
import { factorySettings, Settings, writeSetting } from './settings.js'
import { sky, systemNames } from './sky.js'

export const ownOptions = {
  user: Type.String({ default: '', description: 'Commands need a login with this name; empty: they do not' }),
  password: Type.String({ default: '', description: 'Password of the user' }),
}
const OwnOptions = Type.Object(ownOptions)
export type MosaicOptions = DeviceOptions & Static<typeof OwnOptions>

/** Plain data. */
const Own = Type.Object({
  survey: Type.Object({ seconds: Type.Number(), sum: EcefShape }),
})
type Own = Static<typeof Own>

const family = {
  constellations: sky,
  // After a soft reset it answers within 7 s.
  boot_ms: 6500,
  ...{ latency_ms: 30, answer_ms: 15 },
  ...{ hotFix_s: 3, coldFix_s: 25 },
  stated_m: { east: 0.6, north: 0.7, up: 1.3 },
  shapes: { settings: Settings, own: Own },
}
const longestLine = 2048
/** Survey of its own place as a base: a few minutes, and no limit of accuracy. */
const autoBase_s = 120

/** The order in the recording; SBAS, QZSS and NavIC have no satellites in this sky. */
const order: readonly Constellation[] = ['GPS', 'GLONASS', 'Galileo', 'QZSS', 'BeiDou']

const begun = (): Own => ({ survey: { seconds: 0, sum: { x: 0, y: 0, z: 0 } } })

export class SimulatedMosaic extends CommandDevice<Settings, Own> implements CommandTarget {
  /** The USB port has no rate. */
  readonly baud: undefined
  isLoggedIn = false
  readonly #options: MosaicOptions
  #heard = ''

  constructor(options: MosaicOptions, edges: Edges) {
    super(options, edges, family, factorySettings(), begun())
    this.#options = options
    this.isLoggedIn = options.user === ''
    this.installed()
  }

  protected override forget(): void {
    this.#heard = ''
    this.own = begun()
  }

  override connect(send: ((bytes: Uint8Array) => void) | undefined): void {
    super.connect(send)
    this.isLoggedIn = this.#options.user === ''
    this.#heard = ''
  }

  protected get mask_deg(): number {
    return Number(this.settings.ElevationMask.PVT[0])
  }

  protected get without(): readonly string[] {
    const tracked = (this.settings.SatelliteTracking[''][0] ?? '').split('+')
    return Object.entries(systemNames).flatMap(([name, word]) => (tracked.includes(word) ? [] : [name]))
  }

  describeMode(): string {
    const [mode, , place] = this.settings.PVTMode['']
    return mode === 'Static' ? `static ${place}` : 'rover'
  }

  store(mode: 'rover' | 'survey-in' | { arp: Ecef }): void {
    const set = (name: string, ...values: string[]) => writeSetting(this.flash, name, values)
    if (mode === 'rover') {
      set('PVTMode', 'Rover', '', 'auto')
      return
    }
    set('RTCMv3Output', port, 'RTCM1006+RTCM1033+RTCM1230+RTCM1077+RTCM1087+RTCM1097+RTCM1127')
    set('DataInOut', port, 'auto', 'RTCMv3+SBF')
    if (mode === 'survey-in') set('PVTMode', 'Static', '', 'auto')
    else {
      set('StaticPosCartesian', 'Cartesian1', ...[mode.arp.x, mode.arp.y, mode.arp.z].map((axis) => axis.toFixed(4)))
      set('PVTMode', 'Static', '', 'Cartesian1')
    }
  }

  // ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────────

  protected heard(bytes: Uint8Array): void {
    const lines = (this.#heard + Buffer.from(bytes).toString('latin1')).split(/[\r\n]+/)
    this.#heard = (lines.pop() ?? '').slice(-longestLine)
    for (const line of lines) if (line.trim() !== '') this.#command(line.trim())
  }

  #command(line: string): void {
    const text = this.isRefused(line) ? refusedReply(line) : runCommand(this, line, this.isIgnored(line))
    if (text.startsWith('$R:')) this.received.commands++
    if (/^setPVTMode/.test(line)) this.own = begun()
    this.answers.answer(text)
  }

  logIn(user: string, password: string): boolean {
    this.isLoggedIn ||= user === this.#options.user && password === this.#options.password
    return this.isLoggedIn
  }

  save(): void {
    this.writeFlash()
  }

  resetCommand(cold: boolean, factory: boolean): void {
    if (factory) this.writeFlash(factorySettings())
    this.answers.afterwards(() => this.reset(cold))
  }

  // ── epochs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  protected sendEpoch({ epoch, tracks, solution, dt_s }: SolvedEpoch): void {
    if (solution.position) this.#survey(solution.position, dt_s)
    const reference = this.#reference
    const input: BlockInput = {
      ...{ epoch, tracks, solution, undulation_m: this.#options.geoidSeparation_m, reference },
      isSurveying: this.#isStatic && reference === undefined,
      ...{ uptime_s: Math.floor(this.uptime_ms / 1000), jam_db: this.model.jam_db },
      ...{ isSpoofed: this.faults.spoofing >= 2, hasAntennaCurrent: this.model.antenna === 'ok' },
    }
    const sends = this.settings.DataInOut[port][1]?.split('+') ?? []
    const frames: Uint8Array[] = sends.includes('SBF') ? blocks(input, this.#blocksDue(epoch)) : []
    if (sends.includes('RTCMv3') && reference && solution.position)
      frames.push(...this.#rtcm(input, reference).map((frame) => this.damaged(frame)))
    this.write(Buffer.concat(frames))
  }

  #blocksDue({ tow_ms }: Epoch): string[] {
    return Object.values(this.settings.SBFOutput).flatMap(([to, names = '', every = '']) => {
      const seconds = Number(every.replace('sec', ''))
      return to === port && Math.round(tow_ms / 1000) % seconds === 0 ? names.split('+') : []
    })
  }

  #rtcm({ epoch, tracks }: BlockInput, { x, y, z }: Ecef): Uint8Array[] {
    const wanted = this.settings.RTCMv3Output[port][0].split('+')
    const stationId = Number(this.settings.RTCMv3Formatting[''][0])
    const due = (type: number) => {
      const interval_s = Number(this.settings.RTCMv3Interval[intervalOf(type)]?.[0] ?? 1)
      return wanted.includes(`RTCM${type}`) && Math.round(epoch.tow_ms / 1000) % interval_s === 0
    }
    const frames = msmFrames({ epoch, tracks, stationId, order, models: sky, clockSteering: 0, due })
    if (due(1230)) {
      const biases_m = { l1ca: 0, l1p: 0, l2ca: 0, l2p: 0 }
      frames.push(encodeRtcm({ type: 1230, stationId, biasesAligned: true, biases_m }))
    }
    if (due(1033)) {
      const antenna = { antennaDescriptor: '', antennaSetupId: 0, antennaSerial: 'Unknown' }
      const receiver = { receiverFirmware: identity.firmware, receiverSerial: identity.serial }
      frames.push(encodeRtcm({ type: 1033, stationId, ...antenna, receiverType: 'SEPT MOSAIC-G5 P3', ...receiver }))
    }
    const reference = {
      ...{ stationId, itrfYear: 0, gps: true, glonass: true, galileo: true, virtual: false },
      ...{ singleOscillator: true, quarterCycle: 1, x: x + this.faults.wrongReference_m, y, z },
    }
    if (due(1005)) frames.push(encodeRtcm({ type: 1005, ...reference }))
    if (due(1006)) frames.push(encodeRtcm({ type: 1006, ...reference, antennaHeight_m: 0 }))
    for (const { sight } of tracks) {
      const frame = due(ephemerisType(sight) ?? 0) && ephemerisFrame(sight, epoch.gps_s)
      if (frame) frames.push(frame)
    }
    return frames
  }

  // ── its place ─────────────────────────────────────────────────────────────────────────────────────────────────────

  get #isStatic(): boolean {
    return this.settings.PVTMode[''][0] === 'Static'
  }

  #survey(position: Ecef, dt_s: number): void {
    const { survey } = this.own
    if (!this.#isStatic || survey.seconds >= autoBase_s) return
    survey.seconds += dt_s
    for (const axis of ['x', 'y', 'z'] as const) survey.sum[axis] += position[axis] * dt_s
  }

  get #reference(): Ecef | undefined {
    if (!this.#isStatic) return undefined
    const [, , place = ''] = this.settings.PVTMode['']
    if (place !== 'auto') {
      const [x = 0, y = 0, z = 0] = this.settings.StaticPosCartesian[place].map(Number)
      return { x, y, z }
    }
    const { seconds, sum } = this.own.survey
    return seconds < autoBase_s ? undefined : { x: sum.x / seconds, y: sum.y / seconds, z: sum.z / seconds }
  }
}

/** The name of the interval of a message. */
function intervalOf(type: number): string {
  if (type === 1005 || type === 1006) return 'RTCM1005|6'
  return type >= 1071 && type <= 1137 ? `MSM${type % 10}` : `RTCM${type}`
}
