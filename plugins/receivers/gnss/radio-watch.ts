import { type BandReading, type Jamming, jammingStates, type Spoofing } from 'rtk-base/services'
import { Steady } from 'rtk-base/time'

/** Nothing came for this long: nothing is known. */
const stale_ms = 10_000
const jammed = { lasts_ms: 5_000, over_ms: 30_000 }
const spoofed = { lasts_ms: 3_000, over_ms: 60_000 }

const lasting = ({ lasts_ms, over_ms }: { lasts_ms: number; over_ms: number }) =>
  new Steady<boolean>((is) => is, lasts_ms, over_ms, false)

/** Interference per band, and spoofing. A state counts once it has lasted, and ends some time after its last sign. */
export class RadioWatch {
  readonly #interfered = lasting(jammed)
  readonly #jammed = lasting(jammed)
  #spoofed = lasting(spoofed)
  #bands: readonly BandReading[] = []
  #bandsAt_ms = Number.NEGATIVE_INFINITY
  #spoofing: Spoofing = 'unknown'
  #spoofingAt_ms = Number.NEGATIVE_INFINITY
  /** The bands that were critical when `jammed` was last seen to be true. */
  #worst: readonly BandReading[] = []

  /** Interference that degrades the reception or worse, for some seconds or until a moment ago. */
  get interfered(): boolean {
    return this.#interfered.value === true
  }

  /** Interference is critical, for some seconds or until a moment ago. */
  get jammed(): boolean {
    return this.#jammed.value === true
  }

  get spoofed(): boolean {
    return this.#spoofed.value === true
  }

  /** The bands that are jammed. */
  get worst(): readonly BandReading[] {
    return this.#worst
  }

  /** Spoofing of which the previous instance knew counts until its last sign is long enough ago. */
  resumeSpoofed(now_ms: number): void {
    this.#spoofed = new Steady<boolean>((is) => is, spoofed.lasts_ms, spoofed.over_ms)
    this.#spoofed.see(true, now_ms)
  }

  /** Empty while nothing is known. */
  bands(now_ms: number): readonly BandReading[] {
    return now_ms - this.#bandsAt_ms < stale_ms ? this.#bands : []
  }

  /** The jamming of the worst band. */
  jamming(now_ms: number): Jamming {
    const worst = this.bands(now_ms).reduce((most, { jamming }) => Math.max(most, jammingStates.indexOf(jamming)), 0)
    return jammingStates[worst]
  }

  spoofing(now_ms: number): Spoofing {
    return now_ms - this.#spoofingAt_ms < stale_ms ? this.#spoofing : 'unknown'
  }

  takeBands(bands: readonly BandReading[], now_ms: number): void {
    this.#bands = bands
    this.#bandsAt_ms = now_ms
    const critical = bands.filter(({ jamming }) => jamming === 'critical')
    if (critical.length > 0) this.#worst = critical
    this.#jammed.see(critical.length > 0, now_ms)
    this.#interfered.see(critical.length > 0 || bands.some(({ jamming }) => jamming === 'warning'), now_ms)
  }

  takeSpoofing(state: Spoofing, now_ms: number): void {
    this.#spoofing = state
    this.#spoofingAt_ms = now_ms
    this.#spoofed.see(state === 'indicated' || state === 'multiple', now_ms)
  }

  /** Called once a second: states that are no longer reported expire too. */
  tick(now_ms: number): void {
    if (now_ms - this.#bandsAt_ms >= stale_ms) {
      this.#jammed.see(false, now_ms)
      this.#interfered.see(false, now_ms)
    }
    if (now_ms - this.#spoofingAt_ms >= stale_ms) this.#spoofed.see(false, now_ms)
  }
}
