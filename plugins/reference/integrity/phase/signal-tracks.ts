import {
  type Constellation,
  constellationOf,
  type LockTime,
  lockBroken,
  lockTime,
  type Msm,
  type MsmEpoch,
} from 'rtk-base/gnss'
import { orderStatistic } from './order-statistic.js'
import type { Direction, Sky } from './sky.js'

/** Samples that are kept: two and a half minutes at one a second. */
export const kept = 152
/** Epochs closer together than this are not kept, which bounds memory at 5 Hz and above. */
const spacing_ms = 950
/** Signals of seven constellations in every band; more are ignored. */
const maxTracks = 512
/** A rate needs two epochs; a satellite counts as lost only when it was tracked for some time. */
const established = 3
/** How long a loss counts towards "at once": receivers give satellites up one after the other. */
const lossWindow_ms = 3_000
/** A track that is unseen for this long, without loss of lock, is dropped. */
const forgotten_ms = 20_000
/** A common step of the phases above this is a correction of the receiver's clock. */
const clockStep_m = 30
const lightMs_m = 299_792.458
/** Below this elevation a satellite is not used. */
const mask_deg = 5
const radians = Math.PI / 180

const order: readonly Constellation[] = ['GPS', 'GLONASS', 'Galileo', 'SBAS', 'QZSS', 'BeiDou', 'NavIC']

/** Until the residuals of a signal are known: the clocks of these satellites wander by millimetres in seconds. */
const expectedVariance: Record<Pace, Partial<Record<Constellation, number>>> = {
  quick: { GPS: 4, GLONASS: 6 },
  slow: { GPS: 30, GLONASS: 80, Galileo: 3, BeiDou: 5, QZSS: 5 },
}

/** How far back a phase is extrapolated from: seconds, for a knock, or half a minute, for a slow push. */
export type Pace = 'quick' | 'slow'

/** One signal of one satellite, as long as it is in lock. */
export interface Track {
  readonly constellation: Constellation
  /** Index of the constellation, 0-6. */
  readonly group: number
  readonly satellite: number
  /** Identifies the satellite among all constellations. */
  readonly satelliteKey: number
  /** Phases by slot of the history. */
  readonly phases_m: Float64Array
  /** The phase of this epoch; NaN when it was not received. */
  phase_m: number
  last_m: number
  /** The rate over the last two epochs, m/s; NaN with fewer. */
  rate_mps: number
  last_ms: number
  lock: LockTime
  half: boolean
  /** Epochs without a break. */
  epochs: number
  /** Variance of the residuals in units of the model, by pace: satellites differ by their clocks. */
  readonly variance: Record<Pace, number>
  /** Number of the first kept epoch without a break. */
  since: number
  readonly sight: LineOfSight
}

/** Direction of a satellite as the receiver gives it, and the unit vector towards it. */
interface LineOfSight {
  azimuth_deg: number
  elevation_deg: number
  isExact: boolean
  east: number
  north: number
  up: number
}

interface SatelliteLock {
  /** Signals of this epoch that were established before: still in lock, and not. */
  held: number
  lost: number
  lost_ms: number
  seen_ms: number
}

/** Lock state of an epoch. */
export interface LockReport {
  /** The share of the tracked satellites that lost lock within the last 3 s. */
  lostShare: number
  /** How many satellites that share is of. */
  tracked: number
}

/** The phases of all signals with their histories and lock states. */
export class SignalTracks {
  readonly #tracks = new Map<number, Track>()
  readonly #locks = new Map<number, SatelliteLock>()
  readonly #sorted = new Float64Array(maxTracks)
  /** When each kept epoch was, and which constellations it had, by slot. */
  readonly times_ms = new Float64Array(kept)
  readonly present = new Uint8Array(kept)
  /** Number of the next kept epoch; its slot is the remainder by `kept`. */
  next = 0
  /** Number of the first kept epoch after the last restart. */
  first = 0

  values(): IterableIterator<Track> {
    return this.#tracks.values()
  }

  /** By constellation: the signals of this epoch with satellites above the mask, as of the last `look`. */
  readonly seen: readonly Track[][] = order.map(() => [])

  /** Takes the directions of the satellites for the epoch just taken. */
  look(sky: Sky): void {
    for (const tracks of this.seen) tracks.length = 0
    for (const track of this.#tracks.values()) {
      if (Number.isNaN(track.phase_m)) continue
      const direction = sky(track.constellation, track.satellite)
      if (!direction || !(direction.elevation_deg >= mask_deg)) continue
      turn(track.sight, direction)
      this.seen[track.group].push(track)
    }
  }

  /** From the first kept epoch to the last. */
  get history_ms(): number {
    const from = Math.max(this.first, this.next - kept)
    return this.next > from ? this.times_ms[(this.next - 1) % kept] - this.times_ms[from % kept] : 0
  }

  /**
   * The share of this epoch's satellites without a phase that goes back for so long; 0 with fewer than `least`
   * satellites.
   */
  youngShare(time_ms: number, history_ms: number, least: number): number {
    const old = new Set<number>()
    const all = new Set<number>()
    for (const { phase_m, satelliteKey, since } of this.#tracks.values()) {
      if (Number.isNaN(phase_m)) continue
      all.add(satelliteKey)
      const isKept =
        since < this.next && (since <= this.next - kept || this.times_ms[since % kept] <= time_ms - history_ms)
      if (isKept) old.add(satelliteKey)
    }
    return all.size < least ? 0 : 1 - old.size / all.size
  }

  /** A track starts afresh: its phase slipped. */
  restart(track: Track): void {
    track.since = this.next
    track.epochs = 1
    track.rate_mps = Number.NaN
  }

  /** Earlier epochs do not count from now on. */
  forgetBefore(from_ms: number): void {
    const oldest = Math.max(this.first, this.next - kept)
    this.first = this.next
    while (this.first > oldest && this.times_ms[(this.first - 1) % kept] >= from_ms) this.first--
  }

  /** All start afresh; locks stay known, so that a break during a gap shows. */
  restartAll(): void {
    this.first = this.next
    for (const track of this.#tracks.values()) this.restart(track)
  }

  /**
   * @param time_ms of the epoch on a scale without week ends
   * @param absence_ms how long a constellation may be missing before its satellites count as lost
   */
  take(epoch: MsmEpoch, time_ms: number, absence_ms: number): LockReport {
    for (const lock of this.#locks.values()) {
      lock.held = 0
      lock.lost = 0
    }
    for (const track of this.#tracks.values()) track.phase_m = Number.NaN
    let received = 0
    for (const msm of epoch.messages) {
      const constellation = constellationOf(msm.type)
      if (!constellation) continue
      // Phases of MSM1-3 are modulo one light millisecond and of no use.
      if (msm.type % 10 <= 3) continue
      const group = order.indexOf(constellation)
      received |= 1 << group
      this.#observe(msm, constellation, group, time_ms)
    }
    this.#expire(received, time_ms, absence_ms)
    this.#steerClock(time_ms)
    for (const track of this.#tracks.values()) {
      if (Number.isNaN(track.phase_m)) continue
      const interval_ms = time_ms - track.last_ms
      if (track.epochs > 1 && interval_ms > 0) track.rate_mps = ((track.phase_m - track.last_m) / interval_ms) * 1000
      track.last_m = track.phase_m
      track.last_ms = time_ms
    }
    this.#received = received
    return this.#report(time_ms)
  }
  #received = 0

  /** Keeps the epoch just taken in the history, unless it is too close to the last kept one; returns its slot then. */
  keep(time_ms: number): number | undefined {
    const before = (this.next + kept - 1) % kept
    if (this.next > this.first && time_ms - this.times_ms[before] < spacing_ms) return undefined
    const slot = this.next % kept
    this.times_ms[slot] = time_ms
    this.present[slot] = this.#received
    for (const track of this.#tracks.values()) track.phases_m[slot] = track.phase_m
    this.next++
    return slot
  }

  #observe(msm: Msm, constellation: Constellation, group: number, time_ms: number): void {
    for (const { satellite, signal, phase_m, lock, halfCycle } of msm.observations) {
      if (phase_m === undefined || !Number.isFinite(phase_m)) continue
      const key = (group * 64 + satellite) * 32 + signal
      const known = this.#tracks.get(key)
      const now = lockTime(msm.type, lock)
      const half = halfCycle ?? false
      if (!known) {
        if (this.#tracks.size < maxTracks)
          this.#start(key, constellation, group, satellite, phase_m, time_ms, now, half)
        continue
      }
      if (!Number.isNaN(known.phase_m)) continue
      known.phase_m = phase_m
      const lockState = this.#lockOf(known.satelliteKey, time_ms)
      // Half a cycle that was known and is not any more was found anew.
      const broken = lockBroken(known.lock, now, time_ms - known.last_ms) || (half && !known.half)
      if (known.epochs >= established) {
        if (broken) lockState.lost++
        else lockState.held++
      }
      if (broken || half !== known.half) this.restart(known)
      else known.epochs++
      known.lock = now
      known.half = half
    }
  }

  #start(
    key: number,
    constellation: Constellation,
    group: number,
    satellite: number,
    phase_m: number,
    time_ms: number,
    lock: LockTime,
    half: boolean,
  ): void {
    this.#tracks.set(key, {
      constellation,
      group,
      satellite,
      satelliteKey: group * 64 + satellite,
      phases_m: new Float64Array(kept),
      phase_m,
      last_m: phase_m,
      rate_mps: Number.NaN,
      last_ms: time_ms,
      lock,
      half,
      epochs: 1,
      variance: {
        quick: expectedVariance.quick[constellation] ?? 1,
        slow: expectedVariance.slow[constellation] ?? 2,
      },
      since: this.next,
      sight: { azimuth_deg: Number.NaN, elevation_deg: Number.NaN, isExact: false, east: 0, north: 0, up: 0 },
    })
    this.#lockOf(group * 64 + satellite, time_ms)
  }

  #lockOf(satelliteKey: number, time_ms: number): SatelliteLock {
    let lock = this.#locks.get(satelliteKey)
    if (!lock) {
      lock = { held: 0, lost: 0, lost_ms: -Infinity, seen_ms: time_ms }
      this.#locks.set(satelliteKey, lock)
    }
    lock.seen_ms = time_ms
    return lock
  }

  /** Drops signals that a received constellation no longer has. A constellation that is missing may be a lost packet. */
  #expire(received: number, time_ms: number, absence_ms: number): void {
    for (const [key, track] of this.#tracks) {
      if (!Number.isNaN(track.phase_m)) continue
      if ((received & (1 << track.group)) === 0 && time_ms - track.last_ms <= absence_ms) continue
      if (track.epochs >= established) {
        const lock = this.#locks.get(track.satelliteKey)
        if (lock) lock.lost++
      }
      this.#tracks.delete(key)
    }
  }

  /**
   * When the receiver sets its clock, the phases step by the same length c·δ, and are measured δ later, while the satellites
   * move: up to 0.8 m apart for a millisecond. The history is carried over the step with the rate of each signal.
   */
  #steerClock(time_ms: number): void {
    let count = 0
    for (const track of this.#tracks.values()) {
      if (Number.isNaN(track.phase_m) || Number.isNaN(track.rate_mps) || track.epochs < 2) continue
      this.#sorted[count++] = track.phase_m - track.last_m - (track.rate_mps * (time_ms - track.last_ms)) / 1000
    }
    if (count < 4) return
    const step_m = orderStatistic(this.#sorted, count, count >> 1)
    if (Math.abs(step_m) < clockStep_m) return
    const later_s = step_m / lightMs_m / 1000
    for (const track of this.#tracks.values()) {
      const shift_m = step_m - later_s * track.rate_mps
      if (Number.isNaN(shift_m)) {
        if (track.epochs > 1) this.restart(track)
        continue
      }
      const { phases_m } = track
      for (let slot = 0; slot < kept; slot++) phases_m[slot] += shift_m
      track.last_m += shift_m
    }
  }

  #report(time_ms: number): LockReport {
    let recent = 0
    let held = 0
    for (const [key, lock] of this.#locks) {
      if (lock.lost > 0 && lock.held === 0) lock.lost_ms = time_ms
      if (time_ms - lock.lost_ms < lossWindow_ms) recent++
      else if (lock.held > 0) held++
      else if (time_ms - lock.seen_ms > forgotten_ms) this.#locks.delete(key)
    }
    const tracked = recent + held
    const lostShare = tracked > 0 ? recent / tracked : 0
    return { lostShare, tracked }
  }
}

/** Directions that come in whole degrees stay for minutes. */
function turn(sight: LineOfSight, { azimuth_deg, elevation_deg, isExact = false }: Direction): void {
  sight.isExact = isExact
  if (sight.azimuth_deg === azimuth_deg && sight.elevation_deg === elevation_deg) return
  const cosine = Math.cos(elevation_deg * radians)
  sight.azimuth_deg = azimuth_deg
  sight.elevation_deg = elevation_deg
  sight.east = cosine * Math.sin(azimuth_deg * radians)
  sight.north = cosine * Math.cos(azimuth_deg * radians)
  sight.up = Math.sin(elevation_deg * radians)
}
