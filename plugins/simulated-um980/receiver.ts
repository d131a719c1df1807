/** The simulated UM980: commands in; answers, logs and RTCM out; one epoch a second. */
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
import type { Ecef } from 'rtk-base/services'
import { type Epoch, type LineDevice, Model } from 'rtk-base/simulation'
import { Answers } from './answers.js'
import { CommandLines } from './command-lines.js'
import { type CommandTarget, runCommand } from './commands.js'
import { modeText, stationIdOf } from './mode.js'
import type { Um980Options, Um980Snapshot } from './options.js'
import { answerLine, type LogTime, listText, modeLine, nameLine } from './output/frames.js'
import { type LogInput, logBytes } from './output/logs.js'
import { um980Rtcm } from './output/rtcm.js'
import {
  antennaOf,
  applySetting,
  baudOf,
  enteredUndulation,
  factorySettings,
  leastCn0,
  maskedNames,
  type Settings,
} from './settings.js'
import { um980Sky } from './sky.js'
import { Navigation } from './solution.js'

/** Silence of a start: receivers.md advises a wait of 5 s. */
const boot_ms = 4000
/** From an epoch to its first byte (recorded). */
const latency_ms = 30
const period_ms = 1000
const earliest_utc_ms = Date.UTC(2026, 0, 1)

/** A base as rtkbase configures it, on the port of the receiver. */
const baseOutputs = [
  ...['RTCM1005 1', 'RTCM1033 10', 'RTCM1230 10'],
  ...['RTCM1074 1', 'RTCM1084 1', 'RTCM1094 1', 'RTCM1114 1', 'RTCM1124 1'],
]

export class SimulatedUm980 implements LineDevice, CommandTarget {
  readonly options: Um980Options
  readonly model: Model
  readonly navigation: Navigation
  readonly faults = { silent: false, wrongReference_m: 0, corruptFrames: 0 }
  /** Beginnings of commands that are refused, and of those that are answered but not carried out. */
  readonly refusedCommands = new Set<string>()
  readonly ignoredCommands = new Set<string>()
  settings: Settings
  flash: Settings
  #flashWrites = 0
  #memory: { surveyed?: Ecef } = {}
  readonly #edges: Edges
  readonly #utcOffset_ms: number
  readonly #lines = new CommandLines()
  readonly answers: Answers
  #send: ((bytes: Uint8Array) => void) | undefined
  #bootedAt_ms: number
  #awake = false
  #echoes = false
  #epochTimer: Dispose = () => {}
  #last: { epoch: Epoch; input: LogInput } | undefined
  #baud: number
  readonly received = { bytes: 0, commands: 0 }

  constructor(options: Um980Options, edges: Edges) {
    this.options = options
    this.#edges = edges
    this.answers = new Answers(edges, (bytes) => this.#write(bytes))
    this.model = new Model({ ...options, constellations: um980Sky })
    this.navigation = new Navigation(this.model)
    this.flash = factorySettings()
    if (options.boot === 'fixed') this.store({ arp: this.model.truth })
    this.settings = structuredClone(this.flash)
    this.#baud = baudOf(this.settings, options.com)
    this.#utcOffset_ms = Math.max(edges.clock.now(), earliest_utc_ms) - edges.clock.monotonic()
    this.#bootedAt_ms = edges.clock.monotonic()
  }

  snapshot(): Um980Snapshot {
    return structuredClone({
      ...{ settings: this.settings, flash: this.flash, flashWrites: this.#flashWrites, memory: this.#memory },
      ...{ model: this.model.snapshot(), navigation: this.navigation.state, bootedAt_ms: this.#bootedAt_ms },
    })
  }

  /** Continues from another instance, as if it had been powered all the time. */
  restore({ settings, flash, flashWrites, memory, model, navigation, bootedAt_ms }: Um980Snapshot): void {
    this.settings = settings
    this.flash = flash
    this.#flashWrites = flashWrites
    this.#memory = memory
    this.model.restore(model)
    this.navigation.state = navigation
    this.#bootedAt_ms = bootedAt_ms
    this.#baud = baudOf(settings, this.com)
  }

  get com(): number {
    return this.options.com
  }

  get baud(): number {
    return this.#baud
  }

  get flashWrites(): number {
    return this.#flashWrites
  }

  get refused(): boolean {
    return this.navigation.refused
  }

  connect(send: ((bytes: Uint8Array) => void) | undefined): void {
    this.#send = send
    if (!send) this.#echoes = false
  }

  input(bytes: Uint8Array): void {
    if (!this.#awake || this.faults.silent) return
    this.received.bytes += bytes.length
    if (this.#echoes) this.#write(bytes)
    for (const line of this.#lines.push(bytes)) this.#command(line)
  }

  /** Switches power on. */
  powerOn(): void {
    void this.#epochTimer()
    // After a snapshot it has been on all the time.
    const left_ms = Math.max(0, this.#bootedAt_ms + boot_ms - this.#edges.clock.monotonic())
    if (left_ms > 0) this.#echoes = this.options.echo
    this.#epochTimer = this.#edges.timers.after(left_ms, () => {
      this.#awake = true
      if (left_ms > 0) this.#write(Buffer.from(nameLine(this.com)))
      this.#schedule()
    })
  }

  powerOff(): void {
    void this.#epochTimer()
    this.answers.forget()
    this.#last = undefined
    this.#awake = false
    this.#lines.forget()
  }

  restart(cold = false): void {
    this.powerOff()
    this.settings = structuredClone(this.flash)
    this.#baud = baudOf(this.settings, this.com)
    this.navigation.restart(cold)
    this.#bootedAt_ms = this.#edges.clock.monotonic()
    this.powerOn()
  }

  /** Somebody left this in its flash. */
  store(mode: 'rover' | 'survey-in' | { arp: Ecef }): void {
    const words = () => {
      if (mode === 'rover') return 'MODE ROVER SURVEY'
      if (mode === 'survey-in') return 'MODE BASE TIME 60 1'
      return modeText({ kind: 'ecef', id: '', ...mode.arp })
    }
    const lines = mode === 'rover' ? [words()] : [words(), ...baseOutputs]
    for (const line of lines) applySetting(this.flash, line.split(' '), this.com)
  }

  // ── commands ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #command(line: string): void {
    const capitals = line.toUpperCase()
    const begins = (beginnings: Set<string>) => [...beginnings].some((beginning) => capitals.startsWith(beginning))
    const isRefused = begins(this.refusedCommands)
    const run = () => (begins(this.ignoredCommands) ? 'OK' : runCommand(this, line))
    const response = isRefused ? `PARSING FAILD NO MATCHING FUNC  ${capitals.split(/[\s,]/)[0]}` : run()
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
    return logBytes(name, this.#last?.input ?? this.#nothingYet())
  }

  settingChanged(words: readonly string[]): void {
    if (words[0] === 'MODE') this.navigation.modeChanged()
    if (words[1] !== `COM${this.com}` || words[0] !== 'CONFIG') return
    this.answers.afterwards(() => {
      this.#baud = baudOf(this.settings, this.com)
    })
  }

  save(): void {
    this.flash = structuredClone(this.settings)
    this.#flashWrites++
  }

  reset(cold: boolean, factory: boolean): void {
    if (factory) {
      this.flash = factorySettings()
      this.#memory = {}
      this.#flashWrites++
    }
    this.answers.afterwards(() => this.restart(cold))
  }

  setSignalGroup(words: readonly string[]): boolean {
    if (!applySetting(this.flash, words, this.com)) return false
    this.#flashWrites++
    this.answers.afterwards(() => this.restart())
    return true
  }

  // ── epochs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** UTC as it knows it. */
  get #utc_ms(): number {
    return this.#edges.clock.monotonic() + this.#utcOffset_ms
  }

  get #time(): LogTime {
    return this.#last?.input.time ?? { week: undefined, tow_ms: this.#edges.clock.monotonic() - this.#bootedAt_ms }
  }

  get #undulation_m(): number {
    return enteredUndulation(this.settings) ?? this.options.geoidSeparation_m
  }

  #schedule(): void {
    const now = this.#utc_ms
    // 1 ms of play, or rounding would make the same epoch come twice.
    const next = (Math.floor((now - latency_ms + 1) / period_ms) + 1) * period_ms
    this.#epochTimer = this.#edges.timers.after(next + latency_ms - now, () => {
      this.#epoch(next)
      this.#schedule()
    })
  }

  #epoch(utc_ms: number): void {
    const { settings, navigation, faults } = this
    const dt_s = this.#last ? Math.max(0, utc_ms - this.#last.epoch.utc_ms) / 1000 : 1
    this.model.without = new Set(maskedNames(settings))
    const epoch = this.model.epoch(utc_ms, dt_s, true)
    const tracks = epoch.tracks.filter(({ sight }) => sight.elevation_deg >= settings.mask_deg)
    const base = { mode: settings.mode, undulation_m: this.#undulation_m, memory: this.#memory }
    const solution = navigation.step(epoch, tracks, dt_s, base)
    const arp = navigation.state.reference
    const hasFix = solution.position !== undefined
    const time = hasFix
      ? { week: epoch.week, tow_ms: epoch.tow_ms }
      : { week: undefined, tow_ms: this.#edges.clock.monotonic() - this.#bootedAt_ms }
    const input: LogInput = {
      ...{ time, epoch, undulation_m: this.#undulation_m, mask_deg: settings.mask_deg },
      solution: arp && hasFix ? { ...solution, position: arp } : solution,
      fixed: arp !== undefined,
    }
    this.#last = { epoch, input }
    const rtcm =
      hasFix && !navigation.refused
        ? um980Rtcm({
            ...{ epoch, tracks, stationId: stationIdOf(settings.mode), least_dbhz: leastCn0(settings) },
            arp: arp && { ...arp, x: arp.x + faults.wrongReference_m },
            antenna: antennaOf(settings),
            due: (type) => this.#isDue(`RTCM${type}`, epoch),
          })
        : []
    const own = Object.keys(settings.outputs).filter((key) => key.endsWith(` COM${this.com}`))
    const due = own.map((key) => key.split(' ')[0]).filter((name) => this.#isDue(name, epoch))
    const logged = due.flatMap((name) => logBytes(name, input) ?? [])
    this.#write(Buffer.concat([...rtcm.map((frame) => this.#damaged(frame)), ...logged]))
  }

  #isDue(name: string, { tow_ms }: Epoch): boolean {
    const rate_s = this.settings.outputs[`${name} COM${this.com}`] ?? 0
    return rate_s > 0 && (rate_s < 1 || Math.round(tow_ms / 1000) % Math.round(rate_s) === 0)
  }

  /** Before the first epoch. */
  #nothingYet(): LogInput {
    const epoch = this.model.epoch(Math.floor(this.#utc_ms / 1000) * 1000, 0, false)
    const solution = { position: undefined, used: [], sigma_m: { east: 0, north: 0, up: 0 } }
    return { ...{ epoch, solution, time: this.#time, fixed: false }, undulation_m: 0, mask_deg: this.settings.mask_deg }
  }

  #damaged(frame: Uint8Array): Uint8Array {
    if (this.faults.corruptFrames === 0) return frame
    this.faults.corruptFrames--
    const damaged = Uint8Array.from(frame)
    damaged[frame.length >> 1] ^= 0x5a
    return damaged
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length > 0 && !this.faults.silent) this.#send?.(bytes)
  }
}
