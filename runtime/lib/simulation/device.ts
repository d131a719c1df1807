/** The common part of the simulated receivers of all makes: power, epochs, the line and faults. A make adds its protocol. */
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
import type { TUnsafe } from 'typebox'
import type { LineDevice } from './line.js'
import type { Epoch, Model } from './model.js'

/** Times of a make. */
export interface DeviceTimes {
  /** From a start until the first epoch is planned. */
  readonly boot_ms: number
  /** From an epoch to its first byte. */
  readonly latency_ms: number
}

/** Without a credible system clock the receiver still knows the time: it has satellites. */
const earliest_utc_ms = Date.UTC(2026, 0, 1)

/**
 * A simulated receiver. A make implements the abstract members.
 * @typeParam S - the state that survives a reload of the plugin; plain data
 */
export abstract class SimulatedDevice<S extends object = object> implements LineDevice {
  readonly model: Model
  /** `spoofing`: 0 unknown, 1 none, 2 indicated, 3 in several ways. */
  readonly faults = { silent: false, wrongReference_m: 0, corruptFrames: 0, spoofing: 1 }
  /** Input from the host since power came on. */
  readonly received = { bytes: 0, commands: 0 }
  onRestart: (() => void) | undefined
  protected readonly edges: Edges
  /** The last start, monotonic. */
  protected bootedAt_ms: number
  readonly #times: DeviceTimes
  /** UTC of the receiver less the monotonic clock: a step of the system clock does not move the satellites. */
  readonly #utcOffset_ms: number
  #send: ((bytes: Uint8Array) => void) | undefined
  #timer: Dispose = () => {}
  #last_utc_ms: number | undefined

  constructor(model: Model, edges: Edges, times: DeviceTimes) {
    this.model = model
    this.edges = edges
    this.#times = times
    this.#utcOffset_ms = Math.max(edges.clock.now(), earliest_utc_ms) - edges.clock.monotonic()
    this.bootedAt_ms = edges.clock.monotonic()
  }

  // ── the language of a make ────────────────────────────────────────────────────────────────────────────────────────

  /** Schema of `snapshot`: only a value that fits can be restored. */
  abstract readonly shape: TUnsafe<S>
  abstract snapshot(): S
  /** Continues from another instance, as if it had been powered all the time. */
  abstract restore(snapshot: S): void
  /** Present rate of its line; undefined: USB. */
  abstract readonly baud: number | undefined
  /** Takes bytes from the host. */
  protected abstract heard(bytes: Uint8Array): void
  /** An epoch was measured: sends its reports and its RTCM. @param dt_s seconds since the previous epoch */
  protected abstract measured(epoch: Epoch, dt_s: number): void
  /** Called at a start: settings and state are those of the flash. @param cold without orbits: the fix takes longer */
  protected abstract load(cold: boolean): void
  /** Constellations that are not tracked, by name. */
  protected abstract readonly without: readonly string[]
  /** Whether the receiver measures. */
  protected get isTracking(): boolean {
    return true
  }
  /** Interval of epochs. */
  protected get period_ms(): number {
    return 1000
  }
  /** Called after a start, when the receiver is ready: sends its boot message, if it has one. */
  protected greet(): void {}
  /** Called at power-off: discards the state that a restart loses. */
  protected forget(): void {}

  // ── power ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Switches power on. Epochs continue until `powerOff`, even without a listener. */
  powerOn(): void {
    void this.#timer()
    // After a snapshot it has been on all the time.
    const left_ms = Math.max(0, this.bootedAt_ms + this.#times.boot_ms - this.edges.clock.monotonic())
    this.#timer = this.edges.timers.after(left_ms, () => {
      this.booted()
      if (left_ms > 0) this.greet()
      this.schedule()
    })
  }

  protected booted(): void {}

  powerOff(): void {
    void this.#timer()
    this.#last_utc_ms = undefined
    this.forget()
  }

  /** Starts from flash. */
  restart(cold = false): void {
    this.powerOff()
    this.load(cold)
    this.bootedAt_ms = this.edges.clock.monotonic()
    this.powerOn()
  }

  /** The receiver restarts unexpectedly: as `restart`, and calls `onRestart`. */
  reset(cold = false): void {
    this.restart(cold)
    this.onRestart?.()
  }

  protected get uptime_ms(): number {
    return this.edges.clock.monotonic() - this.bootedAt_ms
  }

  // ── its line ──────────────────────────────────────────────────────────────────────────────────────────────────────

  connect(send: ((bytes: Uint8Array) => void) | undefined): void {
    this.#send = send
  }

  input(bytes: Uint8Array): void {
    if (this.faults.silent) return
    this.received.bytes += bytes.length
    this.heard(bytes)
  }

  /** @returns false: nobody listens, or the receiver is silent */
  protected write(bytes: Uint8Array): boolean {
    if (bytes.length === 0 || this.faults.silent || !this.#send) return false
    this.#send(bytes)
    return true
  }

  // ── epochs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** UTC of the receiver. */
  get utc_ms(): number {
    return this.edges.clock.monotonic() + this.#utcOffset_ms
  }

  /** Plans the next epoch, at a whole multiple of the interval. */
  protected schedule(): void {
    void this.#timer()
    const { latency_ms } = this.#times
    const now = this.utc_ms
    // 1 ms of play, or rounding would make the same epoch come twice.
    const next = (Math.floor((now - latency_ms + 1) / this.period_ms) + 1) * this.period_ms
    this.#timer = this.edges.timers.after(next + latency_ms - now, () => {
      this.#epoch(next)
      this.schedule()
    })
  }

  #epoch(utc_ms: number): void {
    const dt_s =
      this.#last_utc_ms === undefined ? this.period_ms / 1000 : Math.max(0, utc_ms - this.#last_utc_ms) / 1000
    this.#last_utc_ms = utc_ms
    this.model.without = new Set(this.without)
    this.measured(this.model.epoch(utc_ms, dt_s, this.isTracking), dt_s)
  }

  /** An RTCM frame on its way out, damaged while the fault lasts. */
  damaged(frame: Uint8Array): Uint8Array {
    if (this.faults.corruptFrames === 0) return frame
    this.faults.corruptFrames--
    const damaged = Uint8Array.from(frame)
    damaged[frame.length >> 1] ^= 0x5a
    return damaged
  }
}
