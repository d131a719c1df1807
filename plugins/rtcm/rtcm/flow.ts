import { flowLimit_ms, isObservation, ObservationInterval } from 'rtk-base/gnss'
import type { Dispose } from 'rtk-base/plugin'
import type { RtcmFlow } from 'rtk-base/services'

const shortest_ms = 5_000
/** A timer that is later than this did not run because the event loop was blocked: what came meanwhile is not read yet. */
const late_ms = 1_000

export interface FlowDeps {
  now_ms(): number
  after(ms: number, fn: () => void): Dispose
  /** Configured interval of the observations; undefined: the newest ones show it. */
  interval_s(): number | undefined
  /** Whether other messages count while no observation ever came: nobody knows what a listened receiver sends. */
  isListening(): boolean
  changed(): void
}

/** Whether observations come through one side of the gate. */
export class Flow implements RtcmFlow {
  readonly #deps: FlowDeps
  #flows: boolean | undefined = false
  readonly #measured = new ObservationInterval()
  #since_ms = Number.NEGATIVE_INFINITY
  /** The observations have their time from here on: the newest one, the beginning, or a new interval. */
  #from_ms = Number.NEGATIVE_INFINITY
  #interval_s: number | undefined
  #hasObservations = false
  #cancel: Dispose | undefined

  constructor(deps: FlowDeps) {
    this.#deps = deps
  }

  get flows(): boolean | undefined {
    return this.#flows
  }

  get newest_ms(): number {
    return this.#measured.newest_ms
  }

  get since_ms(): number {
    return this.#since_ms
  }

  get limit_ms(): number {
    const interval_ms = this.#interval_s === undefined ? this.#measured.interval_ms : this.#interval_s * 1000
    return flowLimit_ms(interval_ms, shortest_ms)
  }

  /** Unknown from now on, until an observation comes or none came in time. */
  begin(): void {
    this.#interval_s = this.#deps.interval_s()
    this.#from_ms = this.#deps.now_ms()
    this.#become(undefined)
    this.#await()
  }

  /** Nothing comes through any more. */
  end(): void {
    this.#cancelTimer()
    this.#become(false)
  }

  /** The configured interval may have changed: the receiver gets the time of the new one. */
  intervalChanged(): void {
    const interval_s = this.#deps.interval_s()
    if (interval_s === this.#interval_s) return
    this.#interval_s = interval_s
    if (this.#flows === false) return
    this.#from_ms = this.#deps.now_ms()
    this.#cancelTimer()
    this.#await()
  }

  /** A message came through. */
  count(type: number): void {
    if (isObservation(type)) this.#hasObservations = true
    else if (this.#hasObservations || !this.#deps.isListening()) return
    const now_ms = this.#deps.now_ms()
    this.#measured.heard(now_ms)
    this.#from_ms = now_ms
    if (this.#flows === true) return
    this.#since_ms = now_ms
    this.#become(true)
    this.#await()
  }

  #await(): void {
    if (this.#cancel) return
    const due_ms = this.#from_ms + this.limit_ms
    const wait_ms = due_ms - this.#deps.now_ms()
    this.#arm(wait_ms)
  }

  #arm(wait_ms: number): void {
    const due_ms = this.#deps.now_ms() + wait_ms
    this.#cancel = this.#deps.after(wait_ms, () => {
      this.#cancel = undefined
      const now_ms = this.#deps.now_ms()
      if (now_ms < this.#from_ms + this.limit_ms) this.#await()
      else if (now_ms - due_ms > late_ms) this.#arm(late_ms)
      else this.#become(false)
    })
  }

  #cancelTimer(): void {
    void this.#cancel?.()
    this.#cancel = undefined
  }

  #become(flows: boolean | undefined): void {
    if (flows === this.#flows) return
    this.#flows = flows
    this.#deps.changed()
  }
}
