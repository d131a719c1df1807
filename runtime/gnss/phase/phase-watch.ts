import type { Enu } from '../geodesy.js'
import { Calm } from './calm.js'
import { type Displacement, DisplacementFit } from './displacement.js'
import { EpochClock } from './epoch-clock.js'
import { Motion, significance } from './motion.js'
import type { MsmEpoch } from './msm-epochs.js'
import { Reference, type Window } from './reference.js'
import type { PhaseReport } from './report.js'
import { kept, type LockReport, SignalTracks, type Track } from './signal-tracks.js'
import type { Sky } from './sky.js'
import { type ThirdDifference, ThirdDifferences } from './third-difference.js'

export interface PhaseWatchOptions {
  /** A net displacement from which the antenna counts as moved, metres. */
  threshold_m?: number
}

const groups = 8
/** Satellites that lose lock within 3 s: from this share, of at least as many, it is an event of the antenna or the sky. */
const lossShare = 0.5
const lossOf = 5
/** From this share on it is one too where the satellites that are left do not determine the position any more, as they did before. */
const blindingShare = 0.25
const blindingOf = 2
/** Half a cycle is 9.5 cm on L1; an outlier beyond this is a slip. */
const slip_m = 0.05
/** Noise of a phase in the zenith, metres, and below which elevation a satellite is not used. */
const zenithNoise_m = 0.0015
const mask_deg = 5
const radians = Math.PI / 180
/** How the variance of a signal follows its residuals. */
const varianceMemory = 40
const leastVariance = 0.3
const outlierVariance = 9
/** Epochs without agreement before everything starts afresh. */
const patience = 2
/** After a move the history before it is of no use any more. */
const renewAfter_ms = 10_000

interface Solved {
  readonly slips: number
  readonly position?: Displacement
  readonly step?: Enu | undefined
  readonly stepNoise?: number
  readonly since_ms?: number | undefined
}

interface Use {
  readonly track: Track
  readonly row: number
  /** By the model. */
  readonly sigma_m: number
}

/**
 * Watches the antenna through the carrier phases of its own observations: once an epoch it says how far the antenna moved
 * since the last one and over the last 10 s, whether lock was lost, and whether the antenna `moved`.
 *
 * Each phase is held against a polynomial through its own past, which takes the motion of the satellite away. What is left
 * of all signals is the motion of the antenna along the lines of sight, and the clock of the receiver.
 */
export class PhaseWatch {
  readonly #threshold_m: number
  readonly #tracks = new SignalTracks()
  readonly #fit = new DisplacementFit()
  readonly #reference = new Reference(this.#tracks)
  readonly #thirdDifferences = new ThirdDifferences()
  readonly #motion: Motion
  readonly #uses: Use[] = []
  /** Level of the antenna by slot of the history. */
  readonly #levels = new Float64Array(kept * 3)
  readonly #clock = new EpochClock()
  #disagreed = 0
  #losing = false
  /** The satellites determined the position, and nothing has been reported since. */
  #isSeen = false
  /** When a move is over for the history, and all starts afresh. */
  #renew_ms = Infinity

  constructor({ threshold_m = 0.03 }: PhaseWatchOptions = {}) {
    this.#threshold_m = threshold_m
    this.#motion = new Motion(threshold_m)
  }

  /**
   * Takes one epoch, in order of time.
   * @param sky directions of the satellites; without, only lock and third differences are watched
   */
  take(epoch: MsmEpoch, sky?: Sky): PhaseReport | undefined {
    const { pause_ms } = this.#clock
    const interval_ms = this.#clock.advance(epoch.time_ms)
    if (interval_ms === undefined) return undefined
    const lock = this.#tracks.take(epoch, this.#clock.time_ms, pause_ms)
    const interrupted = interval_ms > pause_ms
    if (this.#clock.time_ms >= this.#renew_ms) this.#restart()
    if (interrupted) this.#restart()
    const solved = sky && this.#position(sky)
    const lossOfLock = this.#lost(lock, sky !== undefined && !solved?.position)
    if (solved?.position) this.#isSeen = true
    const slot = this.#tracks.keep(this.#clock.time_ms)
    if (slot !== undefined) {
      const { east, north, up } = this.#motion.level
      this.#levels.set([east, north, up], slot * 3)
      if (solved?.since_ms !== undefined) this.#relevel(solved.since_ms)
    }
    const moved = this.#moved(solved?.position)
    const third = slot === undefined ? undefined : this.#thirdDifferences.of(this.#tracks)
    return this.#report(epoch.time_ms, interval_ms, interrupted, lossOfLock, lock, solved, moved, third)
  }

  /** @param isUnknown the position is not determined @returns whether lock was lost on so many satellites that nothing is known about the antenna */
  #lost({ tracked, lostShare }: LockReport, isUnknown: boolean): boolean {
    const blinds = this.#isSeen && isUnknown && lostShare >= blindingShare && lostShare * tracked >= blindingOf
    const losing = tracked >= lossOf && (lostShare > lossShare || blinds)
    const begins = losing && !this.#losing
    this.#losing = losing
    if (isUnknown) this.#isSeen = false
    return begins
  }

  #restart(): void {
    this.#tracks.restartAll()
    this.#motion.restart()
    this.#disagreed = 0
    this.#renew_ms = Infinity
    this.#calm.restart()
  }

  /** The position in the frame of `Motion`, with the slips that the solution shows; undefined when it is not observable. */
  #position(sky: Sky): Solved | undefined {
    const { time_ms, interval_ms } = this.#clock
    const plan = this.#reference.choose(time_ms, interval_ms)
    if (!plan) return undefined
    const fit = this.#fit
    fit.clear()
    this.#uses.length = 0
    let noise = 1
    let window: Window | undefined
    let clock = 0
    for (let group = 0; group < groups; group++) {
      const own = this.#reference.window(plan, time_ms, group, window)
      if (!own) continue
      // Extrapolated from the same epochs, the one clock of the receiver is the same.
      if (window && own !== window) clock++
      window = own
      noise = own.error.noise
      this.#addRows(group, own, clock, sky)
    }
    if (fit.size === 0) return undefined
    const position = fit.solve()
    if (!position) {
      if (++this.#disagreed >= patience) this.#restart()
      return { slips: 0 }
    }
    this.#disagreed = 0
    let slips = 0
    for (const { track, row, sigma_m } of this.#uses) {
      const size = Math.min((fit.rest_m(row) / sigma_m) ** 2, outlierVariance * track.variance)
      track.variance = Math.max(leastVariance, track.variance + (size - track.variance) / varianceMemory)
      if (fit.agrees(row) || Math.abs(fit.rest_m(row)) < slip_m) continue
      this.#tracks.restart(track)
      slips++
    }
    const step = this.#motion.step(position)
    const stepNoise = Math.sqrt(2 / (1 + noise))
    const since_ms = this.#motion.add(this.#clock.time_ms, position, stepNoise)
    // A short fit has the step in it by now, and little history to lose.
    if (since_ms !== undefined && plan.degree === 2) this.#renew_ms = Math.min(this.#renew_ms, this.#clock.time_ms + 1)
    return { slips, position, step, stepNoise, since_ms }
  }

  #addRows(group: number, { first, count, error }: Window, clock: number, sky: Sky): void {
    const { weights, slots } = this.#reference
    let levelEast = 0
    let levelNorth = 0
    let levelUp = 0
    for (let k = 0; k < count; k++) {
      const at = slots[k] * 3
      levelEast += weights[k] * this.#levels[at]
      levelNorth += weights[k] * this.#levels[at + 1]
      levelUp += weights[k] * this.#levels[at + 2]
    }
    for (const track of this.#tracks.values()) {
      if (track.group !== group || track.since > first || Number.isNaN(track.phase_m)) continue
      const direction = sky(track.constellation, track.satellite)
      if (!direction || !(direction.elevation_deg >= mask_deg)) continue
      const { phases_m, phase_m } = track
      let residual_m = 0
      for (let k = 0; k < count; k++) residual_m += weights[k] * (phase_m - phases_m[slots[k]])
      if (!Number.isFinite(residual_m)) continue
      const sine = Math.sin(direction.elevation_deg * radians)
      const cosine = Math.cos(direction.elevation_deg * radians)
      const east = cosine * Math.sin(direction.azimuth_deg * radians)
      const north = cosine * Math.cos(direction.azimuth_deg * radians)
      const variance = (zenithNoise_m * zenithNoise_m * (1 + error.noise) * (1 + 1 / (sine * sine))) / 2
      const sigma_m = Math.sqrt(variance + error.bias_m * error.bias_m)
      const unit = this.#unit
      unit.east = east
      unit.north = north
      unit.up = sine
      const row = this.#fit.add(
        track.satelliteKey,
        clock,
        unit,
        residual_m - (east * levelEast + north * levelNorth + sine * levelUp),
        sigma_m * Math.sqrt(track.variance),
      )
      if (row >= 0) this.#uses.push({ track, row, sigma_m })
    }
  }
  readonly #unit = { east: 0, north: 0, up: 0 }

  #moved(position: Displacement | undefined): boolean | undefined {
    if (!position) return undefined
    if (this.#motion.moved(this.#clock.time_ms, position)) {
      if (this.#renew_ms === Infinity) this.#renew_ms = this.#clock.time_ms + renewAfter_ms
      return true
    }
    const { east_m, north_m, up_m } = position.sigma
    return Math.max(east_m, north_m, up_m) * significance <= this.#threshold_m ? false : undefined
  }

  #relevel(since_ms: number): void {
    const { next, first, times_ms } = this.#tracks
    const { east, north, up } = this.#motion.level
    for (let number = next - 1; number >= Math.max(first, next - kept); number--) {
      const slot = number % kept
      if (times_ms[slot] < since_ms) break
      this.#levels.set([east, north, up], slot * 3)
    }
  }

  #report(
    time_ms: number,
    interval_ms: number,
    interrupted: boolean,
    lossOfLock: boolean,
    lock: LockReport,
    solved: Solved | undefined,
    moved: boolean | undefined,
    third: ThirdDifference | undefined,
  ): PhaseReport {
    const position = solved?.position
    const net = position && this.#motion.net(this.#clock.time_ms, position)
    return {
      time_ms,
      interval_s: interval_ms / 1000,
      interrupted,
      ...lock,
      lossOfLock,
      slips: solved?.slips ?? 0,
      step: position && solved?.step && toDisplacement(solved.step, position, solved.stepNoise ?? 1),
      net: position &&
        net && {
          ...toDisplacement(net, position, 1),
          distance_m: Math.hypot(net.east, net.north, net.up),
          span_s: net.span_s,
        },
      sway_m: position && this.#motion.sway_m(this.#clock.time_ms),
      moved,
      thirdDifference: third,
      disturbed: third && this.#calm.disturbed(third),
    }
  }
  readonly #calm = new Calm()
}

function toDisplacement({ east, north, up }: Enu, { sigma, satellites }: Displacement, factor: number): Displacement {
  return {
    east_m: east,
    north_m: north,
    up_m: up,
    sigma: { east_m: sigma.east_m * factor, north_m: sigma.north_m * factor, up_m: sigma.up_m * factor },
    satellites,
  }
}
