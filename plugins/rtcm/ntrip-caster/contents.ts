import { bandOf, constellationOf, decodeMsmHeader, msmSignalName } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { ConstellationName } from 'rtk-base/services'

/** A message that came less often than this, and than three of its intervals, is not offered any more. */
const shown_ms = 60_000
const shownIntervals = 3
/** The longest interval that a selection can have: for so long a message may be the first of its kind. */
const longestInterval_ms = 3_600_000
const window_ms = 120_000

/** Observations of GPS and GLONASS before MSM (RTCM 10403.3, 1001-1004 and 1009-1012): two numbers with L1 only, then two with L1 and L2. */
const legacyBands = new Map(
  [1001, 1009].flatMap((first) => [0, 1, 2, 3].map((i) => [first + i, i < 2 ? ['L1'] : ['L1', 'L2']] as const)),
)

/** The RF bands that a message has carrier phases of. MSM1 has none. */
function bandsOf(type: number, frame: Uint8Array | undefined): readonly string[] {
  const constellation = constellationOf(type)?.toLowerCase() as ConstellationName | undefined
  if (!constellation || type % 10 === 1) return legacyBands.get(type) ?? []
  const signals = (frame && decodeMsmHeader(frame)?.signals) ?? []
  return signals.map((id) => bandOf(msmSignalName(constellation, id) ?? '')).filter(Boolean)
}

/** Measured contents of a mountpoint: messages with their intervals, bits per second. */
export class Contents {
  readonly #clock: PluginContext['clock']
  /** By message number: monotonic ms of the last one, ms between the last two if there were two, and its bands. */
  readonly #seen = new Map<number, { last_ms: number; interval_ms: number | undefined; bands: readonly string[] }>()
  #bytes = 0
  #since_ms: number

  constructor(clock: PluginContext['clock']) {
    this.#clock = clock
    this.#since_ms = clock.monotonic()
  }

  /** @param frame the whole message; without it, its bands are unknown */
  count(type: number, bytes: number, frame?: Uint8Array): void {
    const now_ms = this.#clock.monotonic()
    const before = this.#seen.get(type)
    const interval_ms = before && now_ms - before.last_ms
    this.#seen.set(type, { last_ms: now_ms, interval_ms, bands: bandsOf(type, frame) })
    this.#bytes += bytes
    if (now_ms - this.#since_ms > window_ms) {
      this.#bytes /= 2
      this.#since_ms += (now_ms - this.#since_ms) / 2
    }
  }

  clear(): void {
    this.#seen.clear()
    this.#bytes = 0
    this.#since_ms = this.#clock.monotonic()
  }

  /** By message number. Of a message that came once only, no interval is known. */
  get messages(): { type: number; interval_s?: number }[] {
    return this.#shown
      .map(([type, { interval_ms }]) => ({
        type,
        ...(interval_ms !== undefined && { interval_s: Math.max(1, Math.round(interval_ms / 1000)) }),
      }))
      .sort((one, other) => one.type - other.type)
  }

  /** As a source table has it: carrier phases of no band (0), of one (1), or of two or more (2). */
  get carrier(): 0 | 1 | 2 {
    const { size } = new Set(this.#shown.flatMap(([, { bands }]) => bands))
    return size === 0 ? 0 : size === 1 ? 1 : 2
  }

  get #shown() {
    const now_ms = this.#clock.monotonic()
    return [...this.#seen].filter(
      ([, { last_ms, interval_ms = longestInterval_ms / shownIntervals }]) =>
        now_ms - last_ms < Math.max(shown_ms, shownIntervals * interval_ms),
    )
  }

  /** Bits a second, of the last minute or two. */
  get bitrate(): number {
    return (this.#bytes * 8_000) / Math.max(1_000, this.#clock.monotonic() - this.#since_ms)
  }
}
