/** The common part of the simulated receivers of all makes: power, settings in RAM and flash, epochs and faults. A make adds its protocol. */
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
import type { Ecef } from 'rtk-base/services'
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox'
import { Answers } from './answers.js'
import type { DeviceOptions } from './device-options.js'
import type { LineDevice } from './line.js'
import { type Epoch, Model, ModelSnapshot, type Track } from './model.js'
import type { ConstellationModel } from './sky.js'
import { type Solution, Solver, type SolverOptions, SolverState } from './solver.js'

/** Properties of a make. */
export interface DeviceFamily extends SolverOptions {
  readonly constellations: readonly ConstellationModel[]
  /** Time from a start until the receiver answers. */
  readonly boot_ms: number
  /** Time from an epoch to its first byte. */
  readonly latency_ms: number
  /** Time from a command to its answer. */
  readonly answer_ms: number
  /** Schemas of the settings and of the other state (`own`), for what survives a reload. */
  readonly shapes: { readonly settings: TSchema; readonly own: TSchema }
}

/** An epoch as the receiver has measured and solved it. */
export interface SolvedEpoch {
  readonly epoch: Epoch
  /** Satellites above its mask. */
  readonly tracks: readonly Track[]
  readonly solution: Solution
  /** Seconds since the previous epoch. */
  readonly dt_s: number
}

/** State of a simulated receiver that survives a reload of its plugin. */
const Common = Type.Object({
  flashWrites: Type.Integer({ minimum: 0 }),
  model: ModelSnapshot,
  solver: SolverState,
  /** Last start of the receiver, monotonic milliseconds. */
  bootedAt_ms: Type.Number(),
})
export type DeviceSnapshot<S, O> = Static<typeof Common> & { settings: S; flash: S; own: O }

const earliest_utc_ms = Date.UTC(2026, 0, 1)

/**
 * A simulated receiver. `S` is the type of its settings, `O` that of its other state (`own`); both are plain data. A make implements the
 * abstract members.
 */
export abstract class SimulatedDevice<S extends object, O extends object> implements LineDevice {
  readonly model: Model
  readonly faults = { silent: false, wrongReference_m: 0, corruptFrames: 0, spoofing: 1 }
  /** Beginnings of commands that are refused (`refusedCommands`), or answered but not carried out (`ignoredCommands`). */
  readonly refusedCommands = new Set<string>()
  readonly ignoredCommands = new Set<string>()
  readonly answers: Answers
  readonly received = { bytes: 0, commands: 0 }
  settings: S
  flash: S
  own: O
  onRestart: (() => void) | undefined
  protected readonly edges: Edges
  readonly #family: DeviceFamily
  readonly #options: DeviceOptions
  readonly #solver: Solver
  readonly #utcOffset_ms: number
  #send: ((bytes: Uint8Array) => void) | undefined
  #flashWrites = 0
  #bootedAt_ms: number
  #isAwake = false
  #echoes: boolean
  #epochTimer: Dispose = () => {}
  #last_utc_ms: number | undefined

  constructor(options: DeviceOptions, edges: Edges, family: DeviceFamily, factory: S, own: O) {
    this.edges = edges
    this.#family = family
    this.#options = options
    this.#echoes = options.echo
    this.answers = new Answers(edges, family.answer_ms, (bytes) => this.write(bytes))
    this.model = new Model({ ...options, constellations: family.constellations })
    this.#solver = new Solver(this.model, family)
    this.flash = factory
    this.own = own
    this.settings = structuredClone(factory)
    this.#utcOffset_ms = Math.max(edges.clock.now(), earliest_utc_ms) - edges.clock.monotonic()
    this.#bootedAt_ms = edges.clock.monotonic()
  }

  // ── the language of a make ────────────────────────────────────────────────────────────────────────────────────────

  /** Present rate of its line; undefined: USB. */
  abstract readonly baud: number | undefined
  /** Takes bytes from the host while the receiver runs. */
  protected abstract heard(bytes: Uint8Array): void
  /** Sends the reports and the RTCM of an epoch. */
  protected abstract sendEpoch(solved: SolvedEpoch): void
  /** Stores a mode in flash, with RTCM enabled, as if configured externally. */
  abstract store(mode: 'rover' | 'survey-in' | { arp: Ecef }): void
  /** The receiver's mode in the words of its commands, with the position of a base. */
  abstract describeMode(): string
  /** Elevation mask. */
  protected abstract readonly mask_deg: number
  /** Constellations that are not tracked, by name. */
  protected abstract readonly without: readonly string[]
  /** Interval of epochs; default 1000. */
  protected get period_ms(): number {
    return 1000
  }
  /** Called after a start, when the receiver is ready: sends its boot message, if it has one. */
  protected greet(): void {}
  /** Called at power-off: discards the state that a restart loses. */
  protected forget(): void {}

  /** The constructor of a make calls this last: applies the option `boot` and loads the settings from flash. */
  protected installed(): void {
    if (this.#options.boot === 'fixed') this.store({ arp: this.model.truth })
    this.settings = structuredClone(this.flash)
  }

  // ── power ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Schema of `snapshot`: only a value that fits can be restored. */
  get shape(): TUnsafe<DeviceSnapshot<S, O>> {
    const { settings, own } = this.#family.shapes
    return Type.Unsafe<DeviceSnapshot<S, O>>(Type.Object({ ...Common.properties, settings, flash: settings, own }))
  }

  snapshot(): DeviceSnapshot<S, O> {
    return structuredClone({
      ...{ settings: this.settings, flash: this.flash, flashWrites: this.#flashWrites, own: this.own },
      ...{ model: this.model.snapshot(), solver: this.#solver.state, bootedAt_ms: this.#bootedAt_ms },
    })
  }

  /** Continues from another instance, as if it had been powered all the time. */
  restore({ settings, flash, flashWrites, own, model, solver, bootedAt_ms }: DeviceSnapshot<S, O>): void {
    this.settings = settings
    this.flash = flash
    this.#flashWrites = flashWrites
    this.own = own
    this.model.restore(model)
    this.#solver.state = solver
    this.#bootedAt_ms = bootedAt_ms
    this.#echoes = false
  }

  powerOn(): void {
    void this.#epochTimer()
    // After a snapshot it has been on all the time.
    const left_ms = Math.max(0, this.#bootedAt_ms + this.#family.boot_ms - this.edges.clock.monotonic())
    this.#epochTimer = this.edges.timers.after(left_ms, () => {
      this.#isAwake = true
      if (left_ms > 0) this.greet()
      this.#schedule()
    })
  }

  powerOff(): void {
    void this.#epochTimer()
    this.answers.forget()
    this.#last_utc_ms = undefined
    this.#isAwake = false
    this.forget()
  }

  /** Starts from flash. @param cold without orbits: the fix takes longer */
  restart(cold = false): void {
    this.powerOff()
    this.#echoes = this.#options.echo
    this.settings = structuredClone(this.flash)
    this.#solver.restart(cold)
    this.#bootedAt_ms = this.edges.clock.monotonic()
    this.powerOn()
  }

  /** The receiver restarts unexpectedly: as `restart`, and calls `onRestart`. */
  reset(cold = false): void {
    this.restart(cold)
    this.onRestart?.()
  }

  protected get uptime_ms(): number {
    return this.edges.clock.monotonic() - this.#bootedAt_ms
  }

  // ── its line ──────────────────────────────────────────────────────────────────────────────────────────────────────

  connect(send: ((bytes: Uint8Array) => void) | undefined): void {
    this.#send = send
    if (!send) this.#echoes = false
  }

  input(bytes: Uint8Array): void {
    if (!this.#isAwake || this.faults.silent) return
    this.received.bytes += bytes.length
    if (this.#echoes) this.write(bytes)
    this.heard(bytes)
  }

  protected write(bytes: Uint8Array): void {
    if (bytes.length > 0 && !this.faults.silent) this.#send?.(bytes)
  }

  // ── settings ──────────────────────────────────────────────────────────────────────────────────────────────────────

  get flashWrites(): number {
    return this.#flashWrites
  }

  /** @param flash the new content; default: the current settings */
  writeFlash(flash: S = structuredClone(this.settings)): void {
    this.flash = flash
    this.#flashWrites++
  }

  protected isRefused(command: string): boolean {
    return begins(this.refusedCommands, command)
  }

  protected isIgnored(command: string): boolean {
    return begins(this.ignoredCommands, command)
  }

  // ── epochs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** UTC of the receiver. */
  protected get utc_ms(): number {
    return this.edges.clock.monotonic() + this.#utcOffset_ms
  }

  #schedule(): void {
    const { latency_ms } = this.#family
    const now = this.utc_ms
    // 1 ms of play, or rounding would make the same epoch come twice.
    const next = (Math.floor((now - latency_ms + 1) / this.period_ms) + 1) * this.period_ms
    this.#epochTimer = this.edges.timers.after(next + latency_ms - now, () => {
      this.#epoch(next)
      this.#schedule()
    })
  }

  #epoch(utc_ms: number): void {
    const dt_s =
      this.#last_utc_ms === undefined ? this.period_ms / 1000 : Math.max(0, utc_ms - this.#last_utc_ms) / 1000
    this.#last_utc_ms = utc_ms
    this.model.without = new Set(this.without)
    const epoch = this.model.epoch(utc_ms, dt_s, true)
    const tracks = epoch.tracks.filter(({ sight }) => sight.elevation_deg >= this.mask_deg)
    this.sendEpoch({ epoch, tracks, solution: this.#solver.step(epoch, tracks, dt_s), dt_s })
  }

  /** An RTCM frame on its way out, damaged while the fault lasts. */
  protected damaged(frame: Uint8Array): Uint8Array {
    if (this.faults.corruptFrames === 0) return frame
    this.faults.corruptFrames--
    const damaged = Uint8Array.from(frame)
    damaged[frame.length >> 1] ^= 0x5a
    return damaged
  }
}

function begins(beginnings: ReadonlySet<string>, command: string): boolean {
  const capitals = command.toUpperCase()
  return [...beginnings].some((beginning) => capitals.startsWith(beginning))
}
