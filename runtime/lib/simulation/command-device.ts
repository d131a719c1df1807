/** A simulated receiver with text commands: settings in RAM and flash, answers, and faults of single commands. */
import type { Edges } from 'rtk-base/link'
import type { Ecef } from 'rtk-base/services'
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox'
import { Answers } from './answers.js'
import { type DeviceTimes, SimulatedDevice } from './device.js'
import type { DeviceOptions } from './device-options.js'
import { type Epoch, Model, ModelSnapshot, type Track } from './model.js'
import type { ConstellationModel } from './sky.js'
import { type PvtSolution, Solver, type SolverOptions, SolverState } from './solver.js'

/** Properties of a make. */
export interface DeviceFamily extends SolverOptions, DeviceTimes {
  readonly constellations: readonly ConstellationModel[]
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
  readonly solution: PvtSolution
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

/**
 * A simulated receiver with text commands. `S` is the type of its settings, `O` that of its other state (`own`); both
 * are plain data. A make implements the abstract members.
 */
export abstract class CommandDevice<S extends object, O extends object> extends SimulatedDevice<DeviceSnapshot<S, O>> {
  /** Beginnings of commands that are refused (`refusedCommands`), or answered but not carried out (`ignoredCommands`). */
  readonly refusedCommands = new Set<string>()
  readonly ignoredCommands = new Set<string>()
  readonly answers: Answers
  settings: S
  flash: S
  own: O
  readonly #family: DeviceFamily
  readonly #options: DeviceOptions
  readonly #solver: Solver
  #flashWrites = 0
  #isAwake = false
  #echoes: boolean

  constructor(options: DeviceOptions, edges: Edges, family: DeviceFamily, factory: S, own: O) {
    super(new Model({ ...options, constellations: family.constellations }), edges, family)
    this.#family = family
    this.#options = options
    this.#echoes = options.echo
    this.answers = new Answers(edges, family.answer_ms, (bytes) => this.write(bytes))
    this.#solver = new Solver(this.model, family)
    this.flash = factory
    this.own = own
    this.settings = structuredClone(factory)
  }

  // ── the language of a make ────────────────────────────────────────────────────────────────────────────────────────

  /** Sends the reports and the RTCM of an epoch. */
  protected abstract sendEpoch(solved: SolvedEpoch): void
  /** Stores a mode in flash, with RTCM enabled, as if configured externally. */
  abstract store(mode: 'rover' | 'survey-in' | { arp: Ecef }): void
  /** The receiver's mode in the words of its commands, with the position of a base. */
  abstract describeMode(): string
  /** Elevation mask. */
  protected abstract readonly mask_deg: number

  /** The constructor of a make calls this last: applies the option `boot` and loads the settings from flash. */
  protected installed(): void {
    if (this.#options.boot === 'fixed') this.store({ arp: this.model.truth })
    this.settings = structuredClone(this.flash)
  }

  // ── power ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  get shape(): TUnsafe<DeviceSnapshot<S, O>> {
    const { settings, own } = this.#family.shapes
    return Type.Unsafe<DeviceSnapshot<S, O>>(Type.Object({ ...Common.properties, settings, flash: settings, own }))
  }

  snapshot(): DeviceSnapshot<S, O> {
    return structuredClone({
      ...{ settings: this.settings, flash: this.flash, flashWrites: this.#flashWrites, own: this.own },
      ...{ model: this.model.snapshot(), solver: this.#solver.state, bootedAt_ms: this.bootedAt_ms },
    })
  }

  restore({ settings, flash, flashWrites, own, model, solver, bootedAt_ms }: DeviceSnapshot<S, O>): void {
    this.settings = settings
    this.flash = flash
    this.#flashWrites = flashWrites
    this.own = own
    this.model.restore(model)
    this.#solver.state = solver
    this.bootedAt_ms = bootedAt_ms
    this.#echoes = false
  }

  protected override booted(): void {
    this.#isAwake = true
  }

  override powerOff(): void {
    this.answers.forget()
    this.#isAwake = false
    super.powerOff()
  }

  protected load(cold: boolean): void {
    this.#echoes = this.#options.echo
    this.settings = structuredClone(this.flash)
    this.#solver.restart(cold)
  }

  // ── its line ──────────────────────────────────────────────────────────────────────────────────────────────────────

  override connect(send: ((bytes: Uint8Array) => void) | undefined): void {
    super.connect(send)
    if (!send) this.#echoes = false
  }

  override input(bytes: Uint8Array): void {
    if (!this.#isAwake) return
    if (this.#echoes) this.write(bytes)
    super.input(bytes)
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

  protected measured(epoch: Epoch, dt_s: number): void {
    const tracks = epoch.tracks.filter(({ sight }) => sight.elevation_deg >= this.mask_deg)
    this.sendEpoch({ epoch, tracks, solution: this.#solver.step(epoch, tracks, dt_s), dt_s })
  }
}

function begins(beginnings: ReadonlySet<string>, command: string): boolean {
  const capitals = command.toUpperCase()
  return [...beginnings].some((beginning) => capitals.startsWith(beginning))
}
