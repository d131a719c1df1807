import type { Device, RunEnd, StationError } from '../../schemas/services.js'
import type { Clock } from './ports/clock.js'
import type { Machine } from './ports/machine.js'
import type { RunningSlot } from './ports/slots.js'
import type { Release } from './release.js'

const mostErrors = 32
const ranks = { degrades: 0, doubts: 1, silences: 2 } as const
/** No station runs a release for longer. */
const longestLife_ms = 20 * 365.25 * 86_400_000
/** The first time must be confirmed for this long. */
const proof_ms = 10_000
/** Between two times of a receiver that agree: a block of the event loop delays one. */
const agreement_ms = 2_000
/** A receiver that was wrong is set right by less than this: a known time cannot be further off. */
const longestJump_ms = 3_600_000
/** The largest drift of the monotonic clock: a service of the system may slew it by 500 ppm (adjtimex(2)). */
const largestDrift = 500e-6

export interface DeviceDeps {
  hardware: string
  variant: string
  release: Release
  slot: RunningSlot | undefined
  /** The trial of the slot succeeded. */
  confirmed(): void
  /** The description of the service changed. */
  described(text: string): void
  lastEnd?: RunEnd | undefined
  bootId: string
  clock: Clock
  machine: Machine
  /** The receiver's time contradicts the known one; undefined: it does not. */
  contradicted(utc_ms: number | undefined): void
  /** Trouble of the runtime and of every plugin. */
  errors(): StationError[]
  onErrors: Device['onErrors']
  keepSettings(): Promise<void>
  extendStart(ms: number): void
  /** Clears what a factory reset clears, durably, and refuses later writes. */
  clearStore(): Promise<void>
}

/** The controller that runs the service: release, uptime, time, restarts. */
export class StationDevice implements Device {
  readonly hardware: string
  readonly variant: string
  readonly bundle: string
  readonly version: string
  readonly sha256: string
  readonly built: string
  readonly partition: string
  readonly slots: Device['slots']
  /** Set once the HTTP server listens. */
  http: Device['http']
  readonly lastEnd: RunEnd | undefined
  readonly bootId: string
  readonly onErrors: Device['onErrors']
  readonly #deps: DeviceDeps
  readonly #started_ms: number
  /** UTC minus monotonic time, as the receiver gave it. */
  #offset_ms: number | undefined
  #told: Device['toldUtc']
  /** The offset of the first time that counted. */
  #anchor: { offset_ms: number; at_ms: number } | undefined
  /** The first time that a receiver gave, and since when it has been consistent. */
  #unproved: { offset_ms: number; since_ms: number } | undefined
  #onTrial: boolean
  #description = ''
  #stopping = false

  constructor(deps: DeviceDeps) {
    this.#deps = deps
    this.hardware = deps.hardware
    this.variant = deps.variant
    this.bundle = deps.release.variant ?? ''
    this.version = deps.release.version
    this.sha256 = deps.release.sha256
    this.built = deps.release.built
    const { slot } = deps
    this.partition = slot?.running ?? ''
    this.slots = slot && { root: slot.root, running: slot.running }
    this.#onTrial = slot?.onTrial ?? false
    this.lastEnd = deps.lastEnd
    this.bootId = deps.bootId
    this.onErrors = deps.onErrors
    this.#started_ms = deps.clock.monotonic()
  }

  uptime_ms(): number {
    return this.#deps.clock.monotonic() - this.#started_ms
  }

  utc_ms(): number {
    const { clock } = this.#deps
    if (this.#offset_ms !== undefined) return clock.monotonic() + this.#offset_ms
    const now_ms = clock.now()
    return this.#isCredible(now_ms) ? now_ms : 0
  }

  /**
   * A time before the build date comes from a recording, or from a receiver after a week number rollover; one long
   * after it from a receiver that is spoofed. The first time counts once the system clock agrees or it has lasted 10
   * s. A time that contradicts a known one never counts: it would be stored with a reference position and would set the
   * system clock.
   */
  setUtc(utc_ms: number): void {
    if (!this.#isCredible(utc_ms)) return
    const { clock, contradicted } = this.#deps
    const now_ms = clock.monotonic()
    const offset_ms = utc_ms - now_ms
    const anchor = this.#anchor
    if (anchor !== undefined) {
      // Against the first time, not the last one: many small steps would lead anywhere.
      const drift_ms = (now_ms - anchor.at_ms) * largestDrift
      const isJump = Math.abs(offset_ms - anchor.offset_ms) > longestJump_ms + drift_ms
      contradicted(isJump ? utc_ms : undefined)
      if (!isJump) this.#take(utc_ms, now_ms)
      return
    }
    const first = this.#unproved
    if (first === undefined || Math.abs(offset_ms - first.offset_ms) > agreement_ms)
      this.#unproved = { offset_ms, since_ms: now_ms }
    const isProved = now_ms - (this.#unproved?.since_ms ?? now_ms) >= proof_ms
    const hasWitness = this.#isCredible(clock.now()) && Math.abs(utc_ms - clock.now()) <= longestJump_ms
    if (isProved || hasWitness) this.#take(utc_ms, now_ms)
  }

  #take(utc_ms: number, at_ms: number): void {
    this.#offset_ms = utc_ms - at_ms
    this.#anchor ??= { offset_ms: this.#offset_ms, at_ms }
    this.#told = { utc_ms, at_ms }
  }

  #isCredible(utc_ms: number): boolean {
    const built_ms = Date.parse(this.built)
    return utc_ms >= built_ms && utc_ms < built_ms + longestLife_ms
  }

  get knowsUtc(): boolean {
    return this.#offset_ms !== undefined
  }

  get toldUtc(): Device['toldUtc'] {
    return this.#told
  }

  isClockSynchronised(): Promise<boolean> {
    return this.#deps.machine.isClockSynchronised()
  }

  setSystemClock(): Promise<void> {
    return this.#deps.machine.setSystemTime(this.utc_ms())
  }

  errors(): StationError[] {
    const all = this.#deps.errors().sort((one, other) => one.t - other.t)
    // Of too many, the newest of the most severe: what degrades the station must not hide what silences it.
    const kept = new Set(all.toSorted((one, other) => ranks[one.severity] - ranks[other.severity]).slice(-mostErrors))
    return all.filter((error) => kept.has(error))
  }

  get onTrial(): boolean {
    return this.#onTrial
  }

  confirmed(): void {
    if (!this.#onTrial) return
    this.#onTrial = false
    this.#deps.confirmed()
  }

  describe(text: string): void {
    if (text === this.#description) return
    this.#description = text
    this.#deps.described(text)
  }

  restartService(): void {
    this.#deps.machine.restartService()
  }

  get stopping(): boolean {
    return this.#stopping
  }

  reboot(after_ms = 0): Promise<void> {
    return this.#stop(after_ms, (machine) => machine.reboot())
  }

  shutDown(after_ms = 0): Promise<void> {
    return this.#stop(after_ms, (machine) => machine.shutDown())
  }

  async #stop(after_ms: number, how: (machine: Machine) => Promise<void>): Promise<void> {
    const { clock, machine } = this.#deps
    this.#stopping = true
    try {
      if (after_ms > 0) await new Promise<void>((resolve) => void clock.timer(after_ms, resolve))
      await how(machine)
    } catch (error) {
      this.#stopping = false
      throw error
    }
  }

  keepSettings(): Promise<void> {
    return this.#deps.keepSettings()
  }

  extendStart(ms: number): void {
    if (this.#onTrial) this.#deps.extendStart(ms)
  }

  async factory(): Promise<void> {
    await this.#deps.clearStore()
    this.#deps.machine.restartService()
  }
}
