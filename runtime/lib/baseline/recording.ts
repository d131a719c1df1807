/** The newest RTCM of one station that a vector needs: observations every 30 s, and ephemerides. */
import type { Ecef } from '../../../schemas/services.js'
import {
  decodeEphemeris,
  decodeRtcm,
  epochUtc_ms,
  gpsEpoch_unix_s,
  gpsSeconds,
  isEphemeris,
  isMsm,
  knownLeap_s,
  messageNumber,
  unixToGps,
} from '../gnss/index.js'

export interface RecordedFrame {
  readonly frame: Uint8Array
  /** When it arrived, `gpsSeconds`. */
  readonly now_s: number
}

/** A station, as it takes part in a vector. */
export interface Station {
  /** The position that it announces, ECEF metres. */
  readonly arp: Ecef
  /** RTCM of the station. Of observations, the epochs at each half minute are used. */
  readonly frames: readonly RecordedFrame[]
  /** Descriptor of its antenna (1008 or 1033), e.g. `TRM57971.00     NONE`; omitted or empty: unknown. */
  readonly antenna?: string
}

/** Whether a descriptor names a model of antennas. */
export const isModel = (antenna = ''): boolean => antenna !== '' && !antenna.startsWith('ADVNULLANTENNA')

export interface RecordingOptions {
  /** Age of the oldest epoch. Default: 3,600 s. */
  readonly longest_s?: number
}

/** An epoch of a wrong time would keep those that follow it out. */
const latest_s = 120
/**
 * Epochs between these are not used. The errors of phases, multipath and air, last for minutes: with more of them a vector would not be
 * better, but look so.
 */
const interval_s = 30
/** Epochs are on the grid to this: a receiver's clock may be off by some milliseconds. */
const grid_s = 0.1

/** The half minute of an epoch (`gpsSeconds`); undefined: the epoch is between two of them. */
export function halfMinuteOf(at_s: number): number | undefined {
  const whole_s = interval_s * Math.round(at_s / interval_s)
  return Math.abs(at_s - whole_s) <= grid_s ? whole_s : undefined
}

/** Messages of one epoch: more than any receiver sends. */
const mostFrames = 32
/** The newest ephemerides that are kept of each satellite: an hour has three of GLONASS. */
const mostEphemerides = 3
const mostSatellites = 200
/**
 * Messages in any of these intervals that are decoded. A receiver sends the ephemerides of at most 120 satellites in 10 min, or all of them
 * at once when it starts.
 */
const paces = { interval_s: 10, ephemerides: 200, antennas: 20 }

/**
 * ```ts
 * const recording = new Recording()
 * recording.take(frame, now_s) // each RTCM frame of a station
 * const found = baseline({ arp, ...recording.taken }, other)
 * ```
 * An hour takes about 200 kB, and never more than 4 MB.
 */
export class Recording {
  readonly #longest_s: number
  /** Observations by epoch, the oldest first. */
  #epochs: { readonly at_s: number; readonly frames: RecordedFrame[] }[] = []
  readonly #ephemerides = new Map<string, RecordedFrame[]>()
  /** Descriptor of the antenna; `''`: unknown. */
  antenna = ''
  #pace = { from_s: 0, ephemerides: 0, antennas: 0 }

  constructor(options: RecordingOptions = {}) {
    this.#longest_s = options.longest_s ?? 3_600
  }

  /**
   * Takes a verified frame. Frames of other types, and observations of another time, are ignored. So are ephemerides beyond 200 in 10 s and
   * descriptors of antennas beyond 20: decoding a flood of them would take too long.
   * @param now_s the time of arrival, `gpsSeconds`, right to a minute
   */
  take(frame: Uint8Array, now_s: number): void {
    const type = messageNumber(frame)
    if (isMsm(type)) this.#observed(frame, now_s)
    else if (isEphemeris(type)) {
      if (this.#paced('ephemerides', now_s)) this.#ephemeris(frame, now_s)
    } else if ((type === 1007 || type === 1008 || type === 1033) && this.#paced('antennas', now_s)) {
      const message = decodeRtcm(frame)
      const named = message && 'antennaDescriptor' in message ? message.antennaDescriptor.trim() : ''
      // Casters add a message without a model to that of the base.
      if (this.antenna === '' || isModel(named)) this.antenna = named
    }
  }

  /** Frames and antenna of the station, for a vector: ephemerides, then the observations. The announced position is added. */
  get taken(): Omit<Station, 'arp'> {
    const frames = [...[...this.#ephemerides.values()].flat(), ...this.#epochs.flatMap(({ frames }) => frames)]
    return { frames, antenna: this.antenna }
  }

  get epochs(): number {
    return this.#epochs.length
  }

  /** Forgets all but the orbits: the antenna or the announced position is another. */
  clear(): void {
    this.#epochs = []
    this.antenna = ''
  }

  #paced(kind: 'ephemerides' | 'antennas', now_s: number): boolean {
    // The clock may be set back.
    if (!(Math.abs(now_s - this.#pace.from_s) < paces.interval_s))
      this.#pace = { from_s: now_s, ephemerides: 0, antennas: 0 }
    this.#pace[kind] += 1
    return this.#pace[kind] <= paces[kind]
  }

  #observed(frame: Uint8Array, now_s: number): void {
    const near_ms = 1_000 * (now_s + gpsEpoch_unix_s - knownLeap_s)
    const utc_ms = epochUtc_ms(frame, near_ms, knownLeap_s)
    if (utc_ms === undefined) return
    const gps_s = gpsSeconds(unixToGps(utc_ms / 1_000, knownLeap_s))
    const at_s = halfMinuteOf(gps_s)
    if (at_s === undefined || !(Math.abs(at_s - now_s) <= latest_s)) return
    // The clock was ahead, and was set back: its epochs must not keep those of the right time out.
    while ((this.#epochs.at(-1)?.at_s ?? 0) > now_s + latest_s) this.#epochs.pop()
    const newest = this.#epochs.at(-1)
    if (newest?.at_s === at_s) {
      if (newest.frames.length < mostFrames) newest.frames.push(kept(frame, now_s))
      return
    }
    // Time that does not advance is a stream that was sent again.
    if (newest && at_s < newest.at_s) return
    this.#epochs.push({ at_s, frames: [kept(frame, now_s)] })
    while ((this.#epochs[0]?.at_s ?? at_s) <= at_s - this.#longest_s) this.#epochs.shift()
  }

  #ephemeris(frame: Uint8Array, now_s: number): void {
    const ephemeris = decodeEphemeris(frame, now_s)
    if (!ephemeris) return
    const id = `${ephemeris.constellation} ${ephemeris.satellite}`
    const known = this.#ephemerides.get(id) ?? []
    const newest = known.at(-1)
    // The same one comes every few seconds.
    if (newest && Buffer.compare(newest.frame, frame) === 0) {
      known[known.length - 1] = { frame: newest.frame, now_s }
      return
    }
    if (!this.#ephemerides.has(id) && this.#ephemerides.size >= mostSatellites) return
    this.#ephemerides.set(id, [...known, kept(frame, now_s)].slice(-mostEphemerides))
  }
}

/** A copy: frames are views of larger buffers, which would stay in memory. */
const kept = (frame: Uint8Array, now_s: number): RecordedFrame => ({ frame: Uint8Array.from(frame), now_s })
