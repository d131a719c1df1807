import { isMsm, isReferencePoint } from 'rtk-base/gnss'
import { asMsm4, jitter_ms, type Numbered, Pace, withLastMarked } from 'rtk-base/ntrip'
import { fittingStep, type Measured, rankOf, type Step, steps } from './plan.js'

const window_ms = 10_000
/** A smaller reduction is used only after it would have fitted for this long, so that the output does not change every minute. */
const patience_ms = 60_000
/** Maximum lead over the budget, seconds. */
const burst_s = 2

export interface ThinnerEvents {
  /** @returns false: the line takes nothing now */
  write(bytes: Uint8Array): boolean
  /** The stream is thinned in another way. */
  thinned(step: Step): void
}

/** Makes the stream fit through a line: whole epochs, the position first, never more bytes a second than the budget. */
export class Thinner {
  readonly #budget: number
  readonly #now_ms: () => number
  readonly #events: ThinnerEvents
  #primed = false
  #step = 0
  #fewer_ms: number | undefined
  #measured = new Map<number, Measured>()
  #epochs = 0
  #since_ms: number
  #isFirst = true
  /** Bytes that may go out now. */
  #credit: number
  #credit_ms: number
  #pace = new Pace()
  /** The last sent message of each type outside epochs. */
  readonly #last = new Map<number, { bytes: Uint8Array; at_ms: number }>()
  sent_bytes = 0
  /** Epochs that did not fit, or that the line did not take. */
  dropped = 0

  /** @param budget bytes a second @param now_ms monotonic */
  constructor(budget: number, now_ms: () => number, events: ThinnerEvents) {
    this.#budget = budget
    this.#now_ms = now_ms
    this.#events = events
    this.#credit = budget * burst_s
    this.#credit_ms = now_ms()
    this.#since_ms = this.#credit_ms
  }

  get step(): Step {
    return steps[this.#step] as Step
  }

  /** The line is a new one, or the gate opened or closed: the position goes out before anything else. */
  reset(): void {
    this.#primed = false
    this.#last.clear()
    this.#pace = new Pace()
  }

  frame({ type, bytes }: Numbered): void {
    if (isMsm(type)) return
    this.#measure({ type, bytes })
    const now_ms = this.#now_ms()
    const { rank, other_s } = this.step
    const last = this.#last.get(type)
    const isSame = last !== undefined && Buffer.compare(last.bytes, bytes) === 0
    if (rankOf(type) > rank || (isSame && now_ms - last.at_ms < other_s * 1_000 - jitter_ms)) return
    if (!this.#primed && !isReferencePoint(type)) return
    // The position is not weighed: without it nothing else is of use.
    if (!isReferencePoint(type) && !this.#affords(bytes.length)) return
    if (!this.#write(bytes)) return
    if (isReferencePoint(type)) this.#primed = true
    this.#last.set(type, { bytes, at_ms: now_ms })
  }

  epoch({ frames }: { readonly frames: readonly Numbered[] }): void {
    this.#epochs += 1
    for (const frame of frames) this.#measure(frame)
    this.#plan()
    const { rank, msm4, epoch_s } = this.step
    const now_ms = this.#now_ms()
    if (!this.#primed || !this.#pace.isDue(now_ms, epoch_s * 1_000)) return
    const chosen = frames.filter(({ type }) => rankOf(type) <= rank).map((frame) => (msm4 ? asMsm4(frame) : frame))
    if (chosen.length === 0) return
    const whole = chosen.length < frames.length ? withLastMarked(chosen) : chosen
    const bytes = Buffer.concat(whole.map((frame) => frame.bytes))
    if (!this.#affords(bytes.length) || !this.#write(bytes)) this.dropped += 1
    else this.#pace.took(now_ms, epoch_s * 1_000)
  }

  #measure(frame: Numbered): void {
    const measured = this.#measured.get(frame.type) ?? { count: 0, bytes: 0, msm4_bytes: 0 }
    measured.count += 1
    measured.bytes += frame.bytes.length
    measured.msm4_bytes += asMsm4(frame).bytes.length
    this.#measured.set(frame.type, measured)
  }

  /** More is left out at once where the budget asks for it, less only after a minute. */
  #plan(): void {
    const now_ms = this.#now_ms()
    const seconds = Math.max(1, (now_ms - this.#since_ms) / 1_000)
    if (!this.#isFirst && now_ms - this.#since_ms < window_ms) return
    const fitting = fittingStep(this.#budget, this.#measured, this.#epochs, seconds)
    const before = this.#step
    if (fitting > this.#step) this.#step = fitting
    else if (fitting < this.#step) {
      this.#fewer_ms ??= now_ms
      if (now_ms - this.#fewer_ms >= patience_ms) this.#step = fitting
    }
    if (fitting >= before || this.#step !== before) this.#fewer_ms = undefined
    this.#isFirst = false
    this.#measured = new Map()
    this.#epochs = 0
    this.#since_ms = now_ms
    if (this.#step !== before) this.#events.thinned(this.step)
  }

  /** Whether this many bytes may be sent now. A single epoch may exceed the saved budget; the next epochs then wait. */
  #affords(bytes: number): boolean {
    const now_ms = this.#now_ms()
    const most = this.#budget * burst_s
    this.#credit = Math.min(most, this.#credit + ((now_ms - this.#credit_ms) / 1_000) * this.#budget)
    this.#credit_ms = now_ms
    return this.#credit >= Math.min(bytes, most)
  }

  #write(bytes: Uint8Array): boolean {
    if (!this.#events.write(bytes)) return false
    this.#credit -= bytes.length
    this.sent_bytes += bytes.length
    return true
  }
}
