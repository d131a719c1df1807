/** Verifies that a previously trusted base kept running without a break. A warm start requires this instead of the start-up check. Pure. */
import { lockTime } from 'rtk-base/gnss'
import type { Judgement } from 'rtk-base/services'
import type { HeardEpoch } from '../antenna-phases.js'
import type { MovementWatch } from '../code/movement.js'
import { fewestSatellites, moved_m, trackedShare, verified_ms } from '../limits.js'

export class Verification {
  readonly #movement: Pick<MovementWatch, 'confirms'>
  readonly #began_ms: number
  /** Why ranges are insufficient; '' if they suffice. */
  readonly #againstRanges: string
  /** The base was heard recently: the carrier phases may bridge the gap. */
  #byPhases: boolean
  #unbroken = false
  /** From now on the carrier phases would show a move. */
  #watched = false

  constructor(
    movement: Pick<MovementWatch, 'confirms'>,
    began_ms: number,
    { byPhases, againstRanges }: { byPhases: boolean; againstRanges: string },
  ) {
    this.#movement = movement
    this.#began_ms = began_ms
    this.#byPhases = byPhases
    this.#againstRanges = againstRanges
  }

  /** @param trusted_ms since the last trusted moment: most signals must have been tracked since before it; NaN: unknown */
  heard({ epoch: { messages }, report }: HeardEpoch, trusted_ms: number): void {
    const net = report?.net
    // A larger net displacement may be the start of a move that is not reported yet.
    this.#watched = net !== undefined && net.distance_m < moved_m
    // The carrier phases restarted: they say nothing about the time before.
    if (report && !net) this.#byPhases = false
    if (this.#unbroken) return
    let signals = 0
    let held = 0
    const satellites = new Set<string>()
    for (const { type, observations } of messages) {
      for (const { satellite, lock, phase_m } of observations) {
        signals++
        if (phase_m === undefined || !(lockTime(type, lock).from_ms >= trusted_ms)) continue
        held++
        satellites.add(`${type} ${satellite}`)
      }
    }
    this.#unbroken = held >= trackedShare * signals && satellites.size >= fewestSatellites
  }

  /**
   * Called every second.
   * @param announced the correct 1005 was received
   * @param bridged carrier phases that stayed in lock over an outage, compared by orbits, show that the antenna stayed
   * @returns the answer, and the missing evidence
   */
  second(now_ms: number, announced: boolean, bridged?: true | 'pending'): Judgement {
    const confirms = this.#movement.confirms(now_ms)
    const why = this.#missing(announced)
    const isOver = now_ms - this.#began_ms >= verified_ms
    // Phases tell decimetres, some seconds of ranges metres: the errors of code last for a minute.
    if (announced && bridged === true && (this.#watched || isOver)) return { answer: true, why: '' }
    if (confirms === false && !bridged) return { answer: false, why }
    const isBridged = confirms !== false && this.#byPhases && this.#watched
    const isRanged = this.#againstRanges === '' && confirms === true && (this.#watched || isOver)
    if (announced && this.#unbroken && (isBridged || isRanged)) return { answer: true, why: '' }
    const isHopeless = this.#againstRanges !== '' && !this.#byPhases && bridged === undefined
    return { answer: isOver || isHopeless ? false : undefined, why }
  }

  #missing(announced: boolean): string {
    if (this.#againstRanges && !this.#byPhases)
      return `the carrier phases do not bridge the gap, and ${this.#againstRanges}`
    if (!this.#unbroken) return 'it is not shown that the signals were tracked all the time'
    return announced ? 'neither carrier phases nor ranges show where the antenna is' : 'the receiver sends no 1005'
  }
}
