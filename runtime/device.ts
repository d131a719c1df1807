import type { Device, RunEnd } from '../schemas/services.js'
import type { Release } from './build/release.js'
import type { Clock } from './ports/clock.js'
import type { Machine } from './ports/machine.js'
import type { RunningSlot } from './ports/slots.js'

const mostErrors = 32

export type StationError = ReturnType<Device['errors']>[number]

export interface DeviceDeps {
  hardware: string
  variant: string
  release: Release
  slot: RunningSlot | undefined
  /** The trial of the slot succeeded. */
  confirmed(): void
  /** What the service does changed. */
  described(text: string): void
  lastEnd?: RunEnd | undefined
  bootId: string
  clock: Clock
  machine: Machine
  /** Trouble of the runtime and of every plugin. */
  errors(): StationError[]
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
  readonly #deps: DeviceDeps
  readonly #started_ms: number
  /** UTC minus monotonic time, as the receiver gave it. */
  #offset_ms: number | undefined
  #onTrial: boolean
  #description = ''

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

  /** A time before the build date is not valid: it comes from a recording, or from a receiver after a week number rollover. */
  setUtc(utc_ms: number): void {
    if (this.#isCredible(utc_ms)) this.#offset_ms = utc_ms - this.#deps.clock.monotonic()
  }

  #isCredible(utc_ms: number): boolean {
    return utc_ms >= Date.parse(this.built)
  }

  get knowsUtc(): boolean {
    return this.#offset_ms !== undefined
  }

  isClockSynchronised(): Promise<boolean> {
    return this.#deps.machine.isClockSynchronised()
  }

  setSystemClock(): Promise<void> {
    return this.#deps.machine.setSystemTime(this.utc_ms())
  }

  errors(): StationError[] {
    return this.#deps
      .errors()
      .sort((one, other) => one.t - other.t)
      .slice(-mostErrors)
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

  reboot(): Promise<void> {
    return this.#deps.machine.reboot()
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
