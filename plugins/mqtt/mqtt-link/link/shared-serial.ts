import type { PluginContext } from 'rtk-base/plugin'

const code = 'mqtt-serial-shared'
/** So many take-overs in this time are no half-open session of the station itself: another client is there. */
const most = 3
const window_ms = 600_000
/** Two stations without a longer wait come back within a minute, each time: a broker that restarts ends one session. */
const near_ms = 60_000
/** Kept ends of sessions; more are not needed to find three. */
const mostEnds = 20
/** The other client makes its attempts up to 72 min apart. */
const alone_ms = 7_200_000

/** Whether another client uses the serial number of this station: each of the two ends the session of the other. */
export class SharedSerial {
  readonly #ctx: PluginContext
  #takenOver_ms: number[] = []
  #isShared = false
  /** Ends of sessions for which the broker gave no reason. */
  #ended_ms: number[] = []
  #isSuspected = false
  #cancel: () => unknown = () => {}

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  get isShared(): boolean {
    return this.#isShared
  }

  /** The session was taken over by another client. */
  takenOver(): void {
    const { clock, errors, serial } = this.#ctx
    const now_ms = clock.monotonic()
    this.#cancel()
    this.#takenOver_ms = [...this.#takenOver_ms.filter((at_ms) => now_ms - at_ms < window_ms), now_ms].slice(-most)
    if (this.#takenOver_ms.length < most || this.#isShared) return
    this.#isShared = true
    errors.while(code, { serial })
  }

  /** The broker ended a session, and could not say why. One that ends soon after another may have been taken over. */
  endedUnexplained(): void {
    const { clock, errors, serial } = this.#ctx
    const now_ms = clock.monotonic()
    this.#cancel()
    const ends = [...this.#ended_ms.filter((at_ms) => now_ms - at_ms < window_ms), now_ms].slice(-mostEnds)
    this.#ended_ms = ends
    const isNear = (at_ms: number, n: number) =>
      at_ms - (ends[n - 1] ?? Number.NEGATIVE_INFINITY) <= near_ms ||
      (ends[n + 1] ?? Number.POSITIVE_INFINITY) - at_ms <= near_ms
    if (ends.filter(isNear).length < most || this.#isShared || this.#isSuspected) return
    this.#isSuspected = true
    errors.while(code, { serial, suspected: true })
  }

  /** A session is up: it belongs to this station if it lasts. */
  up(): void {
    if (!this.#isShared && !this.#isSuspected) return
    this.#cancel()
    this.#cancel = this.#ctx.timers.after(this.#isShared ? alone_ms : window_ms, () => this.forget())
  }

  /** Other settings: the next broker knows one client of the name. */
  forget(): void {
    this.#cancel()
    this.#takenOver_ms = []
    this.#isShared = false
    this.#ended_ms = []
    this.#isSuspected = false
    this.#ctx.errors.while(code, false)
  }
}
