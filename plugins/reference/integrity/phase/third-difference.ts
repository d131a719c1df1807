import { orderStatistic } from './order-statistic.js'
import { kept, type SignalTracks, type Track } from './signal-tracks.js'

/** A third difference beyond this is a slip, not noise. */
export const slip_m = 0.08
const groups = 7
const samples = 4
/** Satellites that a constellation needs for a median. */
const minSatellites = 3
const maxTracks = 512

/** The third differences in time of all phases, each without the median of its constellation. */
export interface ThirdDifference {
  /**
   * Standard deviation by the median of the absolute values, metres; √20 times the noise of one phase when the antenna stands still. Slips
   * do not disturb it.
   */
  readonly scale_m: number
  readonly signals: number
}

/** Works without directions: detects that something moved or slipped, not the direction. */
export class ThirdDifferences {
  readonly #watched: SignalTracks
  readonly #tracks: Track[] = []
  readonly #slipped: Track[] = []
  readonly #values = new Float64Array(maxTracks)
  readonly #groups = new Int8Array(maxTracks)
  readonly #sorted = new Float64Array(maxTracks)

  constructor(tracks: SignalTracks) {
    this.#watched = tracks
  }

  /** The phases beyond 8 cm of the last call start afresh: the antenna stood still, so they slipped. */
  restartSlipped(): void {
    for (const track of this.#slipped) this.#watched.restart(track)
  }

  /** The difference of the last four kept epochs; undefined unless they are evenly spaced, 2 s apart at most. */
  newest(): ThirdDifference | undefined {
    const tracks = this.#watched
    if (tracks.next - tracks.first < samples) return undefined
    const [s0, s1, s2, s3] = [1, 2, 3, 4].map((back) => (tracks.next - back) % kept)
    const { times_ms } = tracks
    const interval_ms = times_ms[s0] - times_ms[s1]
    const uneven = (newer: number, older: number) =>
      Math.abs(times_ms[newer] - times_ms[older] - interval_ms) > interval_ms / 50
    if (interval_ms > 2_000 || uneven(s1, s2) || uneven(s2, s3)) return undefined

    const values = this.#values
    let count = 0
    for (const track of tracks.values()) {
      if (track.since > tracks.next - samples || count === maxTracks) continue
      const { phases_m } = track
      const value = phases_m[s0] - phases_m[s3] - 3 * (phases_m[s1] - phases_m[s2])
      if (Number.isNaN(value)) continue
      values[count] = value
      this.#tracks[count] = track
      this.#groups[count++] = track.group
    }
    this.#slipped.length = 0
    let used = 0
    for (let group = 0; group < groups; group++) {
      let size = 0
      for (let i = 0; i < count; i++) if (this.#groups[i] === group) this.#sorted[size++] = values[i]
      if (size < minSatellites) continue
      const median = orderStatistic(this.#sorted, size, size >> 1)
      for (let i = 0; i < count; i++) {
        if (this.#groups[i] !== group) continue
        const rest = Math.abs(values[i] - median)
        if (rest > slip_m) this.#slipped.push(this.#tracks[i])
        // Groups are sequential, so writes stay behind reads.
        this.#rests[used++] = rest
      }
    }
    if (used === 0) return undefined
    const scale_m = 1.4826 * orderStatistic(this.#rests, used, used >> 1)
    return { scale_m, signals: used }
  }
  readonly #rests = new Float64Array(maxTracks)
}

/** Beyond this multiple of the station's usual value, and this minimum, something moved or all phases are bad. */
const times = 2.5
const least_m = 0.015
/** Epochs that make up what is usual. */
const memory = 60
const warmUp = 5
/** Fewer signals are not representative. */
const minSignals = 8

/** Learns the usual third difference of a station and detects unusual ones. */
export class Calm {
  #usual_m = 0
  #epochs = 0

  restart(): void {
    this.#epochs = 0
  }

  /** @returns undefined when there are too few signals or too short a history to tell */
  disturbed({ scale_m, signals }: ThirdDifference): boolean | undefined {
    if (signals < minSignals) return undefined
    const known = this.#epochs >= warmUp
    const disturbed = known && scale_m > Math.max(least_m, times * this.#usual_m)
    if (!disturbed) {
      this.#epochs++
      this.#usual_m += (scale_m - this.#usual_m) / Math.min(this.#epochs, memory)
    }
    return known ? disturbed : undefined
  }
}
