import type { Enu, MsmEpoch } from 'rtk-base/gnss'
import { moved_m } from '../limits.js'
import { Creep } from './creep.js'
import { Departure, doubted, magnitude, type Placed } from './departure.js'
import { type Displacement, doubtOf } from './displacement.js'
import { EpochClock } from './epoch-clock.js'
import { Excursions } from './excursions.js'
import { Motion, significance, span_ms } from './motion.js'
import { type Fitted, PhaseFit } from './phase-fit.js'
import { type Plan, quickPlans, slowPlans } from './reference.js'
import type { Move, PhaseReport } from './report.js'
import { kept, type LockReport, SignalTracks } from './signal-tracks.js'
import type { Sky } from './sky.js'
import { Calm, ThirdDifferences } from './third-difference.js'

export interface PhaseWatchOptions {
  /** A net displacement from which the antenna counts as moved, metres. */
  threshold_m?: number
}

/** Satellites that lose lock within 3 s: from this share, of at least as many, it is an event of the antenna or the sky. */
const lossShare = 0.5
const lossOf = 5
/** From this share on it is one too where the satellites that are left do not determine the position any more, as they did before. */
const blindingShare = 0.25
const blindingOf = 2
/** A phase that goes back for less is no part of a position: signals that lose lock one after another blind the watch, too. */
const history_ms = 20_000
/** If a larger share of the satellites is without such a phase, it is no longer a few that come and go behind trees. */
const youngShare = 0.75
/** For so long the position may be unknown: the extrapolation ends 3 s ago, so a move within this time shows behind it. */
const unseen_ms = 3_000
/**
 * Maximum absence of a constellation, if the others still show moves (`seen`) and if they do not (`blind`). Lines drop frames; the
 * lock times show afterwards whether the constellation was tracked meanwhile.
 */
const absence_ms = { seen: 10_000, blind: 6_000 }
/**
 * A pause of up to this part of the history is bridged, 10 s at most: the polynomials reach so far without an error that looks like a
 * move. An antenna that moved meanwhile shows at the first epoch behind it.
 */
const bridged = { share: 0.1, most_ms: 10_000 }
/** Contradicting epochs before a contradiction is reported and the watch restarts: a single epoch may be damaged. */
const patience = 2
/** An antenna that has stayed at its new place for so long is watched there. */
const renewAfter_ms = 10_000
/** The displacement shows later than the antenna leaves: so much of the time before is left out, but no more than that. */
const unsure_ms = { least: 1_000, most: 10_000 }
/** Without a position from the phases before the move for so long, what comes now is watched. */
const lost_ms = 5_000

interface Solved extends Partial<Fitted> {
  /** The time since when the level lasts. */
  readonly since_ms?: number | undefined
}

/** A slow push, and how large one shows at most. */
interface Pushed {
  readonly position: Displacement
  readonly response: number
}

/**
 * Watches the antenna through the carrier phases of its own observations. For each epoch it reports the displacement since the
 * previous one and over the last 10 s, whether lock was lost, and whether the antenna `moved`.
 *
 * Each phase is compared with a polynomial through its own past, which removes the satellite motion. The residual
 * of all signals is the motion of the antenna along the lines of sight, and the clock of the receiver.
 */
export class PhaseWatch {
  readonly #threshold_m: number
  readonly #tracks = new SignalTracks()
  readonly #thirdDifferences = new ThirdDifferences(this.#tracks)
  readonly #motion: Motion
  readonly #creep: Creep
  /** Level of the antenna by slot of the history. */
  readonly #levels = new Float64Array(kept * 3)
  readonly #excursions = new Excursions(this.#tracks)
  readonly #quick = new PhaseFit('quick', this.#tracks, quickPlans, this.#levels)
  readonly #slow = new PhaseFit('slow', this.#tracks, slowPlans, this.#levels)
  readonly #clock = new EpochClock()
  #contradicted = 0
  #losing = false
  /** The satellites determined the position, and nothing has been reported since. */
  #isSeen = false
  /** Time at which the satellites last determined the position. */
  #seen_ms: number | undefined
  /** The antenna has left its place, until it is watched at its new one. */
  #departure: Departure | undefined
  /** The epochs of the new place are history: those before it only tell the way there. */
  #isRenewed = false
  /** Displacement by a slow push, since it is reported. */
  #crept: (Pushed & { readonly from_ms: number }) | undefined
  /** When the watch restarts after a slow push, or a step of a short history. */
  #renew_ms = Infinity

  constructor({ threshold_m = moved_m }: PhaseWatchOptions = {}) {
    this.#threshold_m = threshold_m
    this.#motion = new Motion(threshold_m)
    this.#creep = new Creep(threshold_m)
  }

  /**
   * Takes one epoch, in order of time.
   * @param sky directions of the satellites; without, only lock is watched
   */
  take(epoch: MsmEpoch, sky?: Sky): PhaseReport | undefined {
    const pause_ms = Math.max(this.#clock.pause_ms, Math.min(bridged.most_ms, bridged.share * this.#tracks.history_ms))
    const interval_ms = this.#clock.advance(epoch.time_ms)
    if (interval_ms === undefined) return undefined
    const lock = this.#tracks.take(
      epoch,
      this.#clock.time_ms,
      Math.max(pause_ms, this.#isSeen ? absence_ms.seen : absence_ms.blind),
    )
    const interrupted = interval_ms > pause_ms
    if (this.#clock.time_ms >= this.#renew_ms) this.#restart()
    if (interrupted) this.#restart()
    if (sky) this.#tracks.look(sky)
    const solved = sky && (this.#departure ? this.#onTheWay(this.#departure) : this.#position())
    const lossOfLock = this.#lost(lock, sky !== undefined && !solved?.position)
    const contradiction = this.#contradicts(solved?.contradicts)
    if (contradiction) this.#restart()
    if (lossOfLock) this.#motion.forgetUsual()
    if (solved?.position) {
      this.#isSeen = true
      this.#seen_ms = this.#clock.time_ms
    }
    const slot = this.#tracks.keep(this.#clock.time_ms)
    if (slot !== undefined) {
      const { east, north, up } = (solved?.position && this.#motion.swungOut(solved.position)) ?? this.#motion.level
      this.#levels.set([east, north, up], slot * 3)
      this.#excursions.keep(slot, solved?.position, this.#motion.level)
      if (solved?.since_ms !== undefined) this.#relevel(solved.since_ms)
    }
    const crept = sky && slot !== undefined && !this.#departure ? this.#push() : undefined
    const moved = this.#moved(solved ?? {}, crept)
    const third = slot === undefined ? undefined : this.#thirdDifferences.newest()
    // A phase with little history takes no part in the position, and its slip would show when it does.
    if (third && this.#motion.isStill(this.#clock.time_ms)) this.#thirdDifferences.restartSlipped()
    const events = { interrupted, lossOfLock, contradiction, moved }
    const report = this.#report(interval_ms, events, lock, solved)
    const isDisturbed = third && this.#calm.disturbed(third)
    // It left again before it was watched: an epoch on either side in one fit would look like a move back.
    if (isDisturbed && this.#isRenewed && !solved?.position) this.#tracks.forgetBefore(this.#clock.time_ms)
    return report
  }

  /** @param isUnknown the position is undetermined @returns whether too many satellites lost lock to know the antenna position */
  #lost({ tracked, lostShare }: LockReport, isUnknown: boolean): boolean {
    const blinds = this.#isSeen && isUnknown && lostShare >= blindingShare && lostShare * tracked >= blindingOf
    const losing = tracked >= lossOf && (lostShare > lossShare || blinds)
    const begins = losing && !this.#losing
    this.#losing = losing
    if (isUnknown) this.#isSeen = false
    const isBlinded = isUnknown && this.#isBlinded()
    if (begins || isBlinded) this.#seen_ms = undefined
    return begins || isBlinded
  }

  /** Whether signals lost one after another have left no position for so long that a move meanwhile would not show. */
  #isBlinded(): boolean {
    const { time_ms } = this.#clock
    if (this.#seen_ms === undefined || time_ms - this.#seen_ms <= unseen_ms) return false
    return this.#tracks.youngShare(time_ms, history_ms, lossOf) > youngShare
  }

  /** @returns whether phases in lock have contradicted each other for long enough to be evidence */
  #contradicts(contradicts = false): boolean {
    this.#contradicted = contradicts ? this.#contradicted + 1 : 0
    return this.#contradicted >= patience
  }

  #restart(): void {
    this.#tracks.restartAll()
    this.#departure = undefined
    this.#begin()
  }

  /** The antenna is at its place by definition. */
  #begin(): void {
    this.#motion.restart()
    this.#creep.restart()
    this.#contradicted = 0
    this.#seen_ms = undefined
    this.#crept = undefined
    this.#isRenewed = false
    this.#renew_ms = Infinity
    this.#calm.restart()
  }

  /** The watch of the new place begins with the first epoch there. */
  #renew({ arrived_ms = this.#clock.time_ms }: Departure): void {
    this.#tracks.forgetBefore(arrived_ms)
    this.#begin()
    this.#relevel(arrived_ms)
    this.#isRenewed = true
  }

  /** The position in the frame of the first place, as long as the present one has no history. */
  #onTheWay(departure: Departure): Solved | undefined {
    const { time_ms, interval_ms } = this.#clock
    const fitted = this.#quick.solve(time_ms, interval_ms, departure.past)
    const position = fitted?.position
    if (position) departure.take({ time_ms, position: this.#placed(position, fitted), stepNoise: fitted.stepNoise })
    const isLost = time_ms - departure.heard_ms > lost_ms
    const isOver = isLost || time_ms - departure.moved_ms >= renewAfter_ms
    // It left again: the new place is another one.
    if (this.#isRenewed && !isOver) this.#isRenewed = false
    if (!this.#isRenewed && isOver) this.#renew(departure)
    if (this.#isRenewed) {
      const solved = this.#position()
      if (solved?.position || isLost) this.#departure = undefined
      return solved
    }
    if (position) this.#motion.keep(time_ms, position)
    return fitted && { ...fitted, contradicts: false }
  }

  /** The position in the frame of `Motion`, with the slips that the solution shows; undefined when it is not observable. */
  #position(): Solved | undefined {
    const { time_ms, interval_ms } = this.#clock
    const fitted = this.#quick.solve(time_ms, interval_ms)
    if (!fitted?.position) return fitted
    const { position, stepNoise, plan } = fitted
    // From where it was, to the farthest that the extrapolation puts it on the other side.
    const { east, north, up } = this.#excursion(plan)
    const bent_m = (1 + fitted.response) * Math.hypot(east, north, up)
    const since_ms = this.#motion.add(time_ms, position, stepNoise, bent_m)
    // A short fit has the step in it by now, and little history to lose.
    if (since_ms !== undefined && plan.degree === 2) this.#renew_ms = Math.min(this.#renew_ms, time_ms + 1)
    return { ...fitted, since_ms }
  }

  /** A displacement by less a second than the quick polynomials tell from the motion of the satellites. */
  #push(): Pushed | undefined {
    const { time_ms, interval_ms } = this.#clock
    const { position, response = 1 } = this.#slow.solve(time_ms, interval_ms) ?? {}
    if (!position || !this.#creep.take(time_ms, position, this.#motion.level)) return undefined
    return { position, response }
  }

  #moved(solved: Solved, crept: Pushed | undefined): boolean | undefined {
    const { position } = solved
    const { time_ms } = this.#clock
    if (this.#departure && !this.#isRenewed) return true
    if (position && isFitted(solved) && this.#motion.moved(time_ms, position)) {
      this.#leave(position, solved)
      return true
    }
    if (crept) {
      this.#crept = { ...crept, from_ms: this.#crept?.from_ms ?? time_ms }
      if (this.#renew_ms === Infinity) this.#renew_ms = time_ms + renewAfter_ms
    }
    if (this.#crept) return true
    if (!position) return undefined
    const { east_m, north_m, up_m } = position.sigma
    return Math.max(east_m, north_m, up_m) * significance * doubtOf(position) <= this.#threshold_m ? false : undefined
  }

  /** From now on the phases are extrapolated from those before the antenna left. */
  #leave(position: Displacement, fitted: Fitted): void {
    const { time_ms } = this.#clock
    const { plan, stepNoise, response, response_ps } = fitted
    const { east_m, north_m, up_m } = position.sigma
    const { first } = this.#tracks
    const used_ms = time_ms - plan.lag_ms
    const { quietAt_ms } = this.#motion
    const until_ms = Math.max(Math.min(used_ms, quietAt_ms - unsure_ms.least), used_ms - unsure_ms.most)
    const samples = this.#motion.since(Math.max(until_ms, quietAt_ms), this.#placed(position, fitted), stepNoise)
    const isRebound = this.#motion.rebounds(position)
    const unseen_m = Math.max(this.#threshold_m, significance * doubtOf(position) * Math.max(east_m, north_m, up_m))
    const past = { first, until_ms }
    this.#departure = new Departure({ samples, past, response, unseen_mps: unseen_m * response_ps, isRebound })
    this.#isRenewed = false
    this.#crept = undefined
    this.#renew_ms = Infinity
  }

  /** The farthest in the past that is extrapolated. */
  #excursion({ lag_ms, window_ms }: Plan): Enu {
    const until_ms = this.#clock.time_ms - lag_ms
    return this.#excursions.farthest(until_ms - window_ms, until_ms)
  }

  /** With what such an excursion explains of it. */
  #placed(position: Displacement, { plan, response }: Fitted): Placed {
    const { east, north, up } = this.#excursion(plan)
    return { ...position, bend: { east: response * east, north: response * north, up: response * up } }
  }

  #relevel(since_ms: number): void {
    const { next, first, times_ms } = this.#tracks
    const { east, north, up } = this.#motion.level
    for (let number = next - 1; number >= Math.max(first, next - kept); number--) {
      const slot = number % kept
      if (times_ms[slot] < since_ms) break
      this.#excursions.forget(slot)
      this.#levels.set([east, north, up], slot * 3)
    }
  }

  #report(
    interval_ms: number,
    events: Pick<PhaseReport, 'interrupted' | 'lossOfLock' | 'contradiction' | 'moved'>,
    lock: LockReport,
    solved: Solved | undefined,
  ): PhaseReport {
    const position = solved?.position
    const isSpanned = this.#clock.interval_ms < span_ms
    const net = isSpanned && position ? this.#motion.net(this.#clock.time_ms, position) : undefined
    return {
      interval_s: interval_ms / 1000,
      ...events,
      ...lock,
      net: position &&
        net && {
          ...position,
          ...{ east_m: net.east, north_m: net.north, up_m: net.up },
          distance_m: Math.hypot(net.east, net.north, net.up),
        },
      move: events.moved ? this.#move() : undefined,
      sway_m: position && this.#motion.sway_m(this.#clock.time_ms),
    }
  }
  readonly #calm = new Calm()

  #move(): Move | undefined {
    const { time_ms } = this.#clock
    if (this.#departure) return this.#departure.moveAt(time_ms)
    if (!this.#crept) return undefined
    const { position, response, from_ms } = this.#crept
    const { east, north, up } = this.#motion.level
    const [east_m, north_m, up_m] = [position.east_m - east, position.north_m - north, position.up_m - up]
    const way = magnitude({ east_m, north_m, up_m, covariance: doubted(position) }, response)
    return { ...way, moves: 1, isLeast: true, age_s: (time_ms - from_ms) / 1000 }
  }
}

const isFitted = (solved: Solved): solved is Solved & Fitted => solved.plan !== undefined
