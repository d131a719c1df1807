/** What the state of the receiver means to the procedure: link, configuration, epochs. Pure. */
import type { Receiver, ReceiverFix } from 'rtk-base/services'
import { isPosition } from '../watch/live-position.js'
import type { Event, State } from './table.js'

/** The receiver is asked what it holds when an epoch came on this link, or after this long. */
const firstEpoch_ms = 4000
const lost_ms = 10_000

export class ReceiverEvents {
  #wasConfigured: boolean = false
  #questioned: boolean = false
  #epochAt_ms = Number.NEGATIVE_INFINITY
  #positionAt_ms = Number.NEGATIVE_INFINITY

  /** Another step begins. @param configured given where it is known to hold its configuration */
  begin(configured?: boolean): void {
    this.#questioned = false
    if (configured !== undefined) this.#wasConfigured = configured
  }

  /** Link, mode or configuration changed. */
  look({ link, configured }: Receiver, state: State): Event | undefined {
    const was = this.#wasConfigured
    this.#wasConfigured = configured
    if (link === 'offline') return state === 'offline' ? undefined : 'port gone'
    if (link === 'stalled') return state === 'stalled' ? undefined : 'receiver silent'
    if (state === 'offline' || state === 'stalled') return 'receiver heard'
    // While it is being configured, the result of that comes as an event of its own.
    const isBusy = state === 'configure' || state === 'base'
    return was && !configured && !isBusy ? 'receiver restarted' : undefined
  }

  /** One navigation epoch. @returns whether it has a position */
  epoch(fix: ReceiverFix, now_ms: number): fix is ReceiverFix {
    this.#epochAt_ms = now_ms
    if (!isPosition(fix)) return false
    this.#positionAt_ms = now_ms
    return true
  }

  hasPosition(now_ms: number): boolean {
    return now_ms - this.#positionAt_ms <= lost_ms
  }

  /**
   * Whether the receiver is known well enough to ask what it holds; once in each step.
   * @param since_ms when the step began
   * @param needsClock its clock must have been heard on this link, because it will be compared
   */
  isIdentified(receiver: Receiver, since_ms: number, now_ms: number, needsClock: boolean): boolean {
    if (this.#questioned || receiver.identity.serial === '') return false
    if (needsClock && this.#epochAt_ms < since_ms && now_ms - since_ms < firstEpoch_ms) return false
    this.#questioned = true
    return true
  }
}
