/** Whether a base that was trusted before went on without a break: what a warm start needs instead of the start-up check. Pure. */
import { lockTime } from 'rtk-base/gnss'
import type { Event } from '../procedure/table.js'
import type { HeardEpoch } from './antenna-phases.js'
import type { MovementWatch } from './movement.js'

/** All evidence must have come by then; without it the start-up check decides. */
const longest_ms = 24_000
/** Signals that were tracked all the time: so large a part of those that are tracked now, and on so many satellites. */
const share = 0.6
const fewestSatellites = 6
/** A net displacement from here on may be the beginning of a move that is not reported yet, metres. */
const still_m = 0.03

export class Verification {
  readonly #movement: MovementWatch
  readonly #began_ms: number
  #isBrief: boolean
  #announced = false
  #unbroken = false
  /** From now on the carrier phases would show a move. */
  #watched = false

  /** @param isBrief the base was heard a moment ago: signals that were tracked all the time say enough */
  constructor(movement: MovementWatch, began_ms: number, isBrief: boolean) {
    this.#movement = movement
    this.#began_ms = began_ms
    this.#isBrief = isBrief
  }

  /** The right 1005 came. */
  announced(): void {
    this.#announced = true
  }

  /** @param trusted_ms since the last trusted moment: most signals must have been tracked since before it */
  heard({ epoch: { messages }, report }: HeardEpoch, trusted_ms: number): void {
    const net = report?.net
    this.#watched = net !== undefined && net.distance_m < still_m
    // The carrier phases started afresh: until they have a history again a move would go unnoticed.
    if (report && !net) this.#isBrief = false
    if (this.#unbroken) return
    let signals = 0
    let held = 0
    const satellites = new Set<string>()
    for (const { type, observations } of messages) {
      for (const { satellite, lock } of observations) {
        signals++
        if (lockTime(type, lock).from_ms < trusted_ms) continue
        held++
        satellites.add(`${type} ${satellite}`)
      }
    }
    this.#unbroken = held >= share * signals && satellites.size >= fewestSatellites
  }

  /** Called every second. @returns what came out; undefined while it is open */
  second(now_ms: number): Event | undefined {
    const confirms = this.#movement.confirms(now_ms)
    if (confirms === false) return 'cannot be verified'
    const isOver = now_ms - this.#began_ms >= longest_ms
    const isWatched = this.#watched || this.#isBrief || isOver
    if ((confirms || this.#isBrief) && this.#announced && this.#unbroken && isWatched) return 'nothing changed'
    return isOver ? 'cannot be verified' : undefined
  }

  /** What is missing, for people. */
  get missing(): string {
    if (!this.#unbroken) return 'it is not shown that the signals were tracked all the time'
    return this.#announced ? 'the ranges do not show where the antenna is' : 'the receiver sends no 1005'
  }
}
