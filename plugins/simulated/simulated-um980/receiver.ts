/** The simulated UM980: commands in; answers, logs and RTCM out; one epoch a second. */
import type { Edges } from 'rtk-base/link'
import type { Ecef } from 'rtk-base/services'
import { CommandDevice, type DeviceOptions, type Epoch, type SolvedEpoch } from 'rtk-base/simulation'
import { type Static, Type } from 'typebox'
import { CommandLines } from './command-lines.js'
import { type CommandTarget, runCommand } from './commands.js'
import { modeText, stationIdOf } from './mode.js'
import { answerLine, type LogTime, listText, modeLine, nameLine } from './output/frames.js'
import { type LogInput, logBytes } from './output/logs.js'
import { um980Rtcm } from './output/rtcm.js'
import { noReference, ReferenceState, stepReference } from './reference.js'
import {
  antennaOf,
  applySetting,
  baudOf,
  enteredUndulation,
  factorySettings,
  leastCn0,
  maskedNames,
  Settings,
} from './settings.js'
import { um980Sky } from './sky.js'

/** Options of a UM980 alone. */
export const ownOptions = {
  com: Type.Integer({ default: 3, minimum: 1, maximum: 3, description: 'Port of the receiver: COM1 to COM3' }),
}
const Own = Type.Object(ownOptions)
export type Um980Options = DeviceOptions & Static<typeof Own>

const family = {
  constellations: um980Sky,
  // Advice to users: wait for 5 s.
  boot_ms: 4000,
  // Recorded, as the times below.
  latency_ms: 30,
  answer_ms: 40,
  ...{ hotFix_s: 3, coldFix_s: 8 },
  // With 28 satellites: larger than the errors are.
  stated_m: { east: 1.95, north: 2.11, up: 2.64 },
  shapes: { settings: Settings, own: ReferenceState },
}

/** A base as rtkbase configures it, on the port of the receiver. */
const baseOutputs = [
  ...['RTCM1005 1', 'RTCM1033 10', 'RTCM1230 10'],
  ...['RTCM1074 1', 'RTCM1084 1', 'RTCM1094 1', 'RTCM1114 1', 'RTCM1124 1'],
]

export class SimulatedUm980 extends CommandDevice<Settings, ReferenceState> implements CommandTarget {
  readonly com: number
  readonly #options: Um980Options
  readonly #lines = new CommandLines()
  #last: LogInput | undefined
  #baud: number

  constructor(options: Um980Options, edges: Edges) {
    super(options, edges, family, factorySettings(), noReference(undefined))
    this.#options = options
    this.com = options.com
    this.installed()
    this.#baud = baudOf(this.settings, this.com)
  }

  get baud(): number {
    return this.#baud
  }

  get refused(): boolean {
    return this.own.refused
  }

  protected get mask_deg(): number {
    return this.settings.mask_deg
  }

  protected get without(): readonly string[] {
    return maskedNames(this.settings)
  }

  override restore(snapshot: ReturnType<SimulatedUm980['snapshot']>): void {
    super.restore(snapshot)
    this.#baud = baudOf(this.settings, this.com)
  }

  override restart(cold = false): void {
    super.restart(cold)
    this.#baud = baudOf(this.settings, this.com)
  }

  protected override greet(): void {
    this.write(Buffer.from(nameLine(this.com)))
  }

  protected override forget(): void {
    this.#last = undefined
    this.#lines.forget()
    this.own = noReference(this.own.surveyed)
  }

  store(mode: 'rover' | 'survey-in' | { arp: Ecef }): void {
    const words = () => {
      if (mode === 'rover') return 'MODE ROVER SURVEY'
      if (mode === 'survey-in') return 'MODE BASE TIME 60 1'
      return modeText({ kind: 'ecef', id: '', ...mode.arp })
    }
    const lines = mode === 'rover' ? [words()] : [words(), ...baseOutputs]
    for (const line of lines) applySetting(this.flash, line.split(' '), this.com)
  }

  describeMode(): string {
    const place = this.own.reference ? 'FIXEDPOS' : 'no reference'
    return `${modeText(this.settings.mode)}, ${this.refused ? 'position refused' : place}`
  }

  // ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────────

  protected heard(bytes: Uint8Array): void {
    for (const line of this.#lines.push(bytes)) this.#command(line)
  }

  #command(line: string): void {
    const run = () => (this.isIgnored(line) ? 'OK' : runCommand(this, line))
    const [name = ''] = line.toUpperCase().split(/[\s,]/)
    const response = this.isRefused(line) ? `PARSING FAILD NO MATCHING FUNC  ${name}` : run()
    if (response === 'OK') this.received.commands++
    this.answers.answer(answerLine(line, response))
  }

  say(data: string | Uint8Array | undefined): void {
    if (data !== undefined) this.answers.data(data)
  }

  modeText(text: string): string {
    return modeLine(this.#time, text)
  }

  outputList(lines: readonly string[]): string {
    return listText(this.#time, lines)
  }

  log(name: string): Uint8Array | undefined {
    return logBytes(name, this.#last ?? this.#nothingYet())
  }

  settingChanged(words: readonly string[]): void {
    if (words[0] === 'MODE') this.own = noReference(this.own.surveyed)
    if (words[1] !== `COM${this.com}` || words[0] !== 'CONFIG') return
    this.answers.afterwards(() => {
      this.#baud = baudOf(this.settings, this.com)
    })
  }

  save(): void {
    this.writeFlash()
  }

  resetCommand(cold: boolean, factory: boolean): void {
    if (factory) {
      this.writeFlash(factorySettings())
      this.own.surveyed = undefined
    }
    this.answers.afterwards(() => this.reset(cold))
  }

  setSignalGroup(words: readonly string[]): boolean {
    if (!applySetting(this.flash, words, this.com)) return false
    this.writeFlash(this.flash)
    this.answers.afterwards(() => this.reset())
    return true
  }

  // ── epochs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  get #time(): LogTime {
    return this.#last?.time ?? { week: undefined, tow_ms: this.uptime_ms }
  }

  get #undulation_m(): number {
    return enteredUndulation(this.settings) ?? this.#options.geoidSeparation_m
  }

  protected sendEpoch({ epoch, tracks, solution, dt_s }: SolvedEpoch): void {
    const { settings, own, faults } = this
    const { position } = solution
    const undulation_m = this.#undulation_m
    if (position) stepReference(own, settings.mode, position, dt_s, undulation_m)
    const arp = own.reference
    const input: LogInput = {
      time: position ? { week: epoch.week, tow_ms: epoch.tow_ms } : { week: undefined, tow_ms: this.uptime_ms },
      ...{ epoch, undulation_m, mask_deg: settings.mask_deg },
      solution: arp && position ? { ...solution, position: arp } : solution,
      fixed: arp !== undefined,
    }
    this.#last = input
    const rtcm =
      position && !own.refused
        ? um980Rtcm({
            ...{ epoch, tracks, stationId: stationIdOf(settings.mode), least_dbhz: leastCn0(settings) },
            arp: arp && { ...arp, x: arp.x + faults.wrongReference_m },
            antenna: antennaOf(settings),
            due: (type) => this.#isDue(`RTCM${type}`, epoch),
          })
        : []
    const ofThisPort = Object.keys(settings.outputs).filter((key) => key.endsWith(` COM${this.com}`))
    const due = ofThisPort.map((key) => key.split(' ')[0]).filter((name) => this.#isDue(name, epoch))
    const logged = due.flatMap((name) => logBytes(name, input) ?? [])
    this.write(Buffer.concat([...rtcm.map((frame) => this.damaged(frame)), ...logged]))
  }

  #isDue(name: string, { tow_ms }: Epoch): boolean {
    const rate_s = this.settings.outputs[`${name} COM${this.com}`] ?? 0
    return rate_s > 0 && (rate_s < 1 || Math.round(tow_ms / 1000) % Math.round(rate_s) === 0)
  }

  /** Before the first epoch. */
  #nothingYet(): LogInput {
    const epoch = this.model.epoch(Math.floor(this.utc_ms / 1000) * 1000, 0, false)
    const solution = { position: undefined, used: [], sigma_m: { east: 0, north: 0, up: 0 } }
    return { ...{ epoch, solution, time: this.#time, fixed: false }, undulation_m: 0, mask_deg: this.settings.mask_deg }
  }
}
