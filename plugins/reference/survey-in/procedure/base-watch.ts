/** Checks that the base works as configured: its 1005, and the flow of its RTCM. Pure. */
import { type ReferenceDifference, referenceDifference } from 'rtk-base/gnss'
import type { ErrorValues, Receiver, RtcmFlow, RtcmFrame } from 'rtk-base/services'
import type { Reference } from '../reference/reference.js'
import type { Event } from './table.js'

/** The first message may still be of the previous mode. */
const wrongFrames = 3
/** How often it is configured again before that counts as a fault. */
const acceptRounds = 3
/** A message is missing after this many of its intervals, but not before the time below. */
const missed = 3
const accept_ms = 15_000
const announces_ms = 10_000

export type Intervals = NonNullable<Receiver['intervals_s']>

/** What is wrong with the base: `gate.fault.KIND` is its text. `rejected`: the receiver did not accept the configuration. */
export type BaseFault =
  | ReferenceDifference
  | { readonly kind: 'no-reference' | 'rejected'; readonly values?: ErrorValues | undefined }

/** Values of a text that shows the fault. */
export const faultValues = (fault: BaseFault | undefined): ErrorValues =>
  fault ? { fault_code: `gate.fault.${fault.kind}`, ...fault.values } : {}

/** Values of a text that shows how the newest 1005 differs. */
export const differenceValues = (difference: ReferenceDifference | undefined): ErrorValues =>
  difference ? { difference_code: `gate.fault.${difference.kind}`, ...difference.values } : {}

export class BaseWatch {
  /** The reference that the receiver was configured to, or is about to be. */
  target: Reference | undefined
  /** The last fault. */
  fault: BaseFault | undefined
  /** How the newest 1005 differs from the target; undefined while it does not. */
  difference: ReferenceDifference | undefined
  /** The configured station ID and message intervals. */
  expected: { stationId: number; intervals_s: Intervals } = {
    stationId: 0,
    intervals_s: { observations: 1, reference: 1 },
  }
  readonly #flow: RtcmFlow
  #referenceAt_ms = Number.NEGATIVE_INFINITY
  #wrong = 0
  #rounds = 0

  /** @param flow of the receiver's observations: a base without satellites keeps sending its 1005 */
  constructor(flow: RtcmFlow) {
    this.#flow = flow
  }

  /** Detects missing messages that a rover needs. Without observations the antenna position is unknown. */
  stopped(now_ms: number): Event | undefined {
    if (this.#flow.flows === false) return 'observations stopped'
    const patience_ms = this.#patience_ms(announces_ms, 'reference')
    return now_ms - this.#referenceAt_ms > patience_ms ? '1005 stopped' : undefined
  }

  /** A new step of the procedure begins. @param now_ms given when the 1005 is known to come */
  begin(now_ms?: number): void {
    this.#wrong = 0
    if (now_ms === undefined) return
    this.#referenceAt_ms = now_ms
  }

  /** @param step waiting for acceptance, or fixed @returns the event caused by the frame */
  heard(frame: RtcmFrame, step: 'accept' | 'fixed' | undefined): Event | undefined {
    const { type, arrival_ms } = frame
    if (!step || !this.target) return undefined
    const difference = referenceDifference(frame.bytes, { arp: this.target.arp, stationId: this.expected.stationId })
    if (difference === undefined) {
      if (type !== 1005 && type !== 1006) return undefined
      this.#referenceAt_ms = arrival_ms
      this.difference = undefined
      return step === 'accept' && this.#flow.flows ? 'right 1005' : undefined
    }
    this.difference = difference
    this.fault = difference
    if (step === 'fixed') return 'wrong 1005'
    return ++this.#wrong < wrongFrames ? undefined : this.#round('wrong 1005')
  }

  #patience_ms(least_ms: number, of: keyof Intervals): number {
    return Math.max(least_ms, missed * this.expected.intervals_s[of] * 1000)
  }

  /** Called every second of waiting for the right 1005. @param since_ms when that began */
  waits(since_ms: number, now_ms: number): Event | undefined {
    if (!this.#flow.flows) {
      const flowed = this.#flow.newest_ms >= since_ms
      return flowed || now_ms - since_ms > this.#patience_ms(accept_ms, 'observations')
        ? 'observations stopped'
        : undefined
    }
    // The right one may have come already: acceptance waits for more than that.
    const begun_ms = Math.max(since_ms, this.#flow.since_ms, this.#referenceAt_ms)
    if (now_ms - begun_ms < this.#patience_ms(accept_ms, 'reference')) return undefined
    // A 1005 that comes rarely may have been wrong, but not often enough to count as that.
    if (this.#wrong === 0) this.difference = undefined
    this.fault = this.difference ?? { kind: 'no-reference' }
    return this.#round('no 1005')
  }

  /** The receiver rejected the configuration. The state of its 1005 is unaffected. */
  rejected(why: string): void {
    this.fault = { kind: 'rejected', values: { ...differenceValues(this.difference), why } }
  }

  /** The base is trusted: it may be configured again as often as before. */
  trusted(): void {
    this.#rounds = 0
  }

  #round(event: Event): Event {
    if (++this.#rounds < acceptRounds) return event
    this.#rounds = 0
    return 'not accepted'
  }
}
