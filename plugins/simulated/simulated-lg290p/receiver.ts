/** The simulated LG290P: sentences in; answers, sentences and RTCM out. */
import { type Constellation, encodeNmea, encodeRtcm } from 'rtk-base/gnss'
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
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
import { type CommandTarget, runCommand } from './commands.js'
import { endOfEpoch, type SentenceInput, type SurveyState, sentences } from './sentences.js'
import { baseMode, factorySettings, modeOf, Settings, Stored } from './settings.js'
import { sky } from './sky.js'

export const ownOptions = {
  surveySticks: Type.Boolean({ default: false, description: 'The counter of its own survey stays where it begins' }),
  usb: Type.Boolean({ default: true, description: 'Its line is USB, which goes when it restarts and comes back' }),
}
const OwnOptions = Type.Object(ownOptions)
export type Lg290pOptions = DeviceOptions & Static<typeof OwnOptions>

/** Plain data. */
const Own = Type.Object({
  /** The settings in effect: those of flash at its start. */
  active: Stored,
  survey: Type.Object({ seconds: Type.Number(), sum: EcefShape }),
  surveyed: Type.Optional(EcefShape),
})
type Own = Static<typeof Own>

const family = {
  constellations: sky,
  boot_ms: 2000,
  // Recorded; the time of an answer is assumed.
  ...{ latency_ms: 40, answer_ms: 20 },
  // A position about 15 s after a restart.
  ...{ hotFix_s: 13, coldFix_s: 25 },
  stated_m: { east: 0.9, north: 1, up: 1.8 },
  shapes: { settings: Settings, own: Own },
}
/** The receiver writes its flash for so long. */
const saving_ms = 300
const uart_baud = 460_800
const longestLine = 512

/** The order in the recording; QZSS has no satellites in this sky. */
const order: readonly Constellation[] = ['BeiDou', 'GPS', 'GLONASS', 'Galileo', 'QZSS']
const messageOf: Readonly<Partial<Record<number, string>>> = {
  107: '107X',
  108: '108X',
  109: '109X',
  111: '111X',
  112: '112X',
}
const constellationNames = ['GPS', 'GLONASS', 'Galileo', 'BeiDou', 'QZSS', 'NavIC']

const noSurvey = () => ({ survey: { seconds: 0, sum: { x: 0, y: 0, z: 0 } }, surveyed: undefined })
const begun = ({ stored }: Settings): Own => ({ active: structuredClone(stored), ...noSurvey() })

export class SimulatedLg290p extends CommandDevice<Settings, Own> implements CommandTarget {
  readonly baud: number | undefined
  readonly #options: Lg290pOptions
  #heard = ''
  /** Ephemerides by satellite. */
  readonly #sent = new Map<number, string>()
  #saving: Dispose = () => {}

  constructor(options: Lg290pOptions, edges: Edges) {
    super(options, edges, family, factorySettings(), begun(factorySettings()))
    this.#options = options
    this.baud = options.usb ? undefined : uart_baud
    this.installed()
    this.own = begun(this.settings)
  }

  override restart(cold = false): void {
    super.restart(cold)
    this.own = begun(this.settings)
  }

  protected override forget(): void {
    void this.#saving()
    this.#sent.clear()
    this.#heard = ''
  }

  get runningMode(): 'rover' | 'base' {
    return modeOf(this.own.active)
  }

  protected get mask_deg(): number {
    return this.settings.mask_deg
  }

  protected get without(): readonly string[] {
    return constellationNames.filter((_, i) => this.own.active.PQTMCFGCNST?.[i] === '0')
  }

  protected override get period_ms(): number {
    return this.runningMode === 'base' ? 1000 : Number(this.own.active.PQTMCFGFIXRATE?.[0])
  }

  describeMode(): string {
    const [kind] = this.own.active.PQTMCFGSVIN ?? []
    const how = { 1: 'survey', 2: 'fixed' }[Number(kind)] ?? 'no position'
    return this.runningMode === 'base' ? `base, ${how}` : 'rover'
  }

  store(mode: 'rover' | 'survey-in' | { arp: Ecef }): void {
    const { stored } = this.flash
    stored.PQTMCFGRCVRMODE = [mode === 'rover' ? '1' : baseMode]
    if (mode === 'rover') return
    if (mode === 'survey-in') stored.PQTMCFGSVIN = ['1', '60', '5.0', '0.0000', '0.0000', '0.0000']
    else stored.PQTMCFGSVIN = ['2', '0', '0.0', ...[mode.arp.x, mode.arp.y, mode.arp.z].map((axis) => axis.toFixed(4))]
  }

  // ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Without CR and LF a command is ignored. */
  protected heard(bytes: Uint8Array): void {
    const lines = (this.#heard + Buffer.from(bytes).toString('latin1')).split('\r\n')
    this.#heard = (lines.pop() ?? '').slice(-longestLine)
    for (const line of lines) {
      const [, text = '', sum = ''] = /\$([ -~]+)\*([0-9A-F]{2})$/i.exec(line) ?? []
      const expected = [...text].reduce((xor, character) => xor ^ character.charCodeAt(0), 0)
      if (text !== '' && Number.parseInt(sum, 16) === expected) this.#sentence(text)
    }
  }

  #sentence(text: string): void {
    const fields = text.split(',')
    const [name = ''] = fields
    // A sentence of a position is no command.
    if (!name.startsWith('PQTM')) return
    const run = () => (this.isIgnored(text) ? 'OK' : runCommand(this, fields))
    const answer = this.isRefused(text) ? 'ERROR,2' : run()
    if (answer === undefined) return
    if (!answer.startsWith('ERROR')) this.received.commands++
    this.answers.answer(encodeNmea(`${name},${answer}`))
  }

  save(name: string): void {
    void this.#saving()
    this.#saving = this.edges.timers.after(saving_ms, () => {
      this.writeFlash()
      this.answers.answer(encodeNmea(`${name},OK`))
    })
  }

  restoreFactory(): void {
    this.settings = factorySettings()
  }

  // ── epochs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  protected sendEpoch({ epoch, tracks, solution, dt_s }: SolvedEpoch): void {
    if (solution.position) this.#survey(solution.position, dt_s)
    const input: SentenceInput = {
      ...{ epoch, tracks, solution, undulation_m: this.#options.geoidSeparation_m, reference: this.#reference },
      survey: this.#surveyState,
    }
    const isDue = (message: string) => this.#isDue(message, epoch)
    const parts = sentences(input, isDue)
    if (solution.position) parts.push(...this.#rtcm(input, isDue).map((frame) => this.damaged(frame)))
    if (isDue('PQTMEOE')) parts.push(endOfEpoch(epoch))
    this.write(Buffer.concat(parts))
  }

  #rtcm({ epoch, tracks, reference }: SentenceInput, isDue: (message: string) => boolean): Uint8Array[] {
    const { stationId } = this.settings
    const frames: Uint8Array[] = []
    if (reference && isDue('RTCM3-1005')) frames.push(this.#station(reference))
    if (isDue('RTCM3-1033')) {
      const antenna = { antennaDescriptor: '', antennaSetupId: 0, antennaSerial: '' }
      const receiver = { receiverType: 'LG290P03AAN', receiverFirmware: 'R02A01S', receiverSerial: 'MPY26A84V001632' }
      frames.push(encodeRtcm({ type: 1033, stationId, ...antenna, ...receiver }))
    }
    const kind = Number(this.own.active.PQTMCFGRTCM?.[0])
    const due = (type: number) => type % 10 === kind && isDue(`RTCM3-${messageOf[Math.floor(type / 10)]}`)
    frames.push(...msmFrames({ epoch, tracks, stationId, order, models: sky, clockSteering: 1, due }))
    if (isDue('RTCM3-1230')) {
      const biases_m = { l1ca: 0, l1p: 0, l2ca: 0, l2p: 0 }
      frames.push(encodeRtcm({ type: 1230, stationId, biasesAligned: true, biases_m }))
    }
    frames.push(...this.#ephemerides(epoch, tracks, isDue))
    return frames
  }

  /** Mode 1: those that are new; 2: all of them in an interval. */
  #ephemerides(epoch: Epoch, tracks: SentenceInput['tracks'], isDue: (message: string) => boolean): Uint8Array[] {
    const [, , , , , mode, every_s] = this.own.active.PQTMCFGRTCM ?? []
    const isTime = Math.round(epoch.tow_ms / 1000) % Math.max(1, Number(every_s)) === 0
    return tracks.flatMap(({ sight }) => {
      const frame = isDue(`RTCM3-${ephemerisType(sight)}`) ? ephemerisFrame(sight, epoch.gps_s) : undefined
      if (!frame) return []
      const text = Buffer.from(frame).toString('latin1')
      const isNew = this.#sent.get(sight.key) !== text
      this.#sent.set(sight.key, text)
      return (mode === '2' ? isTime : mode === '1' && isNew) ? [frame] : []
    })
  }

  #station({ x, y, z }: Ecef): Uint8Array {
    return encodeRtcm({
      ...{ type: 1005, stationId: this.settings.stationId, itrfYear: 0, gps: true, glonass: true, galileo: true },
      ...{ virtual: false, singleOscillator: true, quarterCycle: 0, x: x + this.faults.wrongReference_m, y, z },
    })
  }

  /** Every rate counts epochs. */
  #isDue(message: string, { utc_ms }: Epoch): boolean {
    const [rate = 0] = this.settings.outputs[this.runningMode][message] ?? []
    return rate > 0 && Math.round(utc_ms / this.period_ms) % rate === 0
  }

  // ── its place ─────────────────────────────────────────────────────────────────────────────────────────────────────

  get #svin(): readonly string[] {
    return this.runningMode === 'base' ? (this.own.active.PQTMCFGSVIN ?? []) : []
  }

  /** A survey of its own goes on until it is long enough. The stated accuracy decides nothing here. */
  #survey(position: Ecef, dt_s: number): void {
    const [kind, seconds] = this.#svin
    const { survey } = this.own
    if (kind !== '1' || this.own.surveyed || this.#options.surveySticks) return
    survey.seconds += dt_s
    for (const axis of ['x', 'y', 'z'] as const) survey.sum[axis] += position[axis] * dt_s
    if (survey.seconds >= Number(seconds)) this.own.surveyed = this.#mean
  }

  get #mean(): Ecef {
    const { seconds, sum } = this.own.survey
    const over = Math.max(1, seconds)
    return { x: sum.x / over, y: sum.y / over, z: sum.z / over }
  }

  get #reference(): Ecef | undefined {
    const [kind, , , ...place] = this.#svin
    if (kind === '1') return this.own.surveyed
    const [x = Number.NaN, y = Number.NaN, z = Number.NaN] = place.map(Number)
    return kind === '2' ? { x, y, z } : undefined
  }

  get #surveyState(): SurveyState {
    const [kind, wanted_s = '0'] = this.#svin
    const { seconds } = this.own.survey
    const running = this.own.surveyed ? 2 : 1
    const acc_m = seconds > 0 ? 2 / Math.sqrt(seconds) : 0
    return { valid: kind === '1' ? running : 0, seconds, wanted_s: Number(wanted_s), mean: this.#mean, acc_m }
  }
}
