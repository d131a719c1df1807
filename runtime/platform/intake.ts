/**
 * A peer's budget of bytes and packets a second, spent before a parser sees them. A faster peer is first slowed down,
 * by not reading from it. After half a minute of overload it loses its connection. Every protocol of the station uses
 * this, so that one peer cannot take the processing time that the RTCM of the others needs.
 */
import { FairShare } from './fair-share/fair-share.js'

/** A limit on received data. */
export interface Rate {
  /** Bytes a second that a peer may send for as long as it likes. */
  readonly bytes_s: number
  /** Bytes that may arrive at once after a quiet period. */
  readonly burst_bytes: number
  /** Packets a second; default: only bytes count. Each packet is charged at least `bytes_s / packets_s` bytes. */
  readonly packets_s?: number
}

/** More work than this in a row, and a stream rests although it is within its budget. */
const mostWork_ms = 25
const workRest_ms = 25
/** A peer held back this long without a break will not stop on its own. */
const patience_ms = 30_000
/** A rest is at least this long: a timer a packet would be work of its own. */
const shortestRest_ms = 10

/** A budget that fills up with time. Pure: the time is passed in. */
export class Budget {
  readonly #rate: Rate
  readonly #perPacket_bytes: number
  #balance_bytes: number
  #at_ms: number

  constructor(rate: Rate, now_ms: number) {
    this.#rate = rate
    this.#perPacket_bytes = rate.packets_s === undefined ? 0 : rate.bytes_s / rate.packets_s
    this.#balance_bytes = rate.burst_bytes
    this.#at_ms = now_ms
  }

  /** Whether the peer was quiet for long enough to have half of its burst again. */
  isCalm(now_ms: number): boolean {
    this.#fill(now_ms)
    return this.#balance_bytes >= this.#rate.burst_bytes / 2
  }

  /**
   * Charges received bytes and packets, even beyond the balance. @returns milliseconds until the debt is paid off; 0:
   * no debt
   */
  charge(bytes: number, packets: number, now_ms: number): number {
    this.#fill(now_ms)
    this.#balance_bytes -= Math.max(bytes, packets * this.#perPacket_bytes)
    return this.#balance_bytes >= 0 ? 0 : (-this.#balance_bytes / this.#rate.bytes_s) * 1_000
  }

  /**
   * For peers that cannot be slowed down: charges packets if the balance covers them. @returns false: drop the
   * packets or let them wait
   */
  admits(bytes: number, now_ms: number, packets = 1): boolean {
    this.#fill(now_ms)
    const cost_bytes = Math.min(Math.max(bytes, packets * this.#perPacket_bytes), this.#rate.burst_bytes)
    if (this.#balance_bytes < cost_bytes) return false
    this.#balance_bytes -= cost_bytes
    return true
  }

  #fill(now_ms: number): void {
    const { bytes_s, burst_bytes } = this.#rate
    const more_bytes = (Math.max(0, now_ms - this.#at_ms) / 1_000) * bytes_s
    this.#balance_bytes = Math.min(burst_bytes, this.#balance_bytes + more_bytes)
    this.#at_ms = now_ms
  }
}

/** A budget for each network: those beyond the known ones share one. */
export const budgetsByNetwork = (rate: Rate, now_ms: number): FairShare<Budget> =>
  new FairShare({
    open: (at_ms) => new Budget(rate, at_ms),
    isIdle: (budget, at_ms) => budget.isCalm(at_ms),
    others: new Budget(rate, now_ms),
  })

/** The budget in words, for a text about a peer that sent too much. */
export function rateText({ bytes_s, packets_s }: Rate): string {
  const packets = packets_s === undefined ? '' : ` or ${packets_s} packets`
  return `more than ${Math.round(bytes_s / 1_024)} KiB${packets} a second for ${patience_ms / 1_000} s`
}

/** The stream that is slowed down. */
export interface IntakeStream {
  pause(): unknown
  resume(): unknown
}

/** Real time: sockets do not follow a test's clock. A test of the intake itself passes its own. */
export interface IntakeTime {
  now_ms(): number
  /** @returns calls it off */
  after(ms: number, fn: () => void): () => unknown
}
const realTime: IntakeTime = {
  now_ms: () => performance.now(),
  after: (ms, fn) => {
    const timer = setTimeout(fn, ms).unref()
    return () => clearTimeout(timer)
  },
}

export interface IntakeOptions {
  /** Default: the bytes are not limited, only the processing time. */
  rate?: Rate
  /**
   * Called when the stream has been slowed down for 30 s without a break. Without a callback, the stream stays slowed
   * down as long as the overload lasts.
   */
  overrun?: () => void
  time?: IntakeTime
}

/** Intakes that rest for their work alone, some milliseconds of real time. What is said of a busy machine must wait for them. */
const resting = new Set<Intake>()
export const areResting = (): boolean => resting.size > 0

/** Limits one stream to its budget, and to half of the processing time. */
export class Intake {
  readonly #stream: IntakeStream
  readonly #budget: Budget | undefined
  readonly #overrun: (() => void) | undefined
  readonly #time: IntakeTime
  #rests = false
  #wake: () => unknown = () => {}
  /** Since when it was held back without a break. */
  #heldSince_ms: number | undefined
  #busy_ms = 0
  #ended_ms: number

  constructor(stream: IntakeStream, { rate, overrun, time = realTime }: IntakeOptions) {
    this.#stream = stream
    this.#budget = rate && new Budget(rate, time.now_ms())
    this.#overrun = overrun
    this.#time = time
    this.#ended_ms = time.now_ms()
  }

  /** Whether the stream is paused because of its budget. */
  get rests(): boolean {
    return this.#rests
  }

  /** Runs `work` for these bytes. Its time counts against this stream. */
  run(bytes: number, packets: number, work: () => void): void {
    const began_ms = this.#time.now_ms()
    try {
      work()
    } finally {
      const ended_ms = this.#time.now_ms()
      const idle_ms = began_ms - this.#ended_ms
      this.#ended_ms = ended_ms
      this.#busy_ms = Math.max(0, this.#busy_ms - idle_ms) + ended_ms - began_ms
      this.took(bytes, packets)
    }
  }

  /** Counts bytes and packets that the parser has got. */
  took(bytes: number, packets = 1): void {
    const now_ms = this.#time.now_ms()
    if (this.#heldSince_ms !== undefined && this.#budget?.isCalm(now_ms)) this.#heldSince_ms = undefined
    const debt_ms = this.#budget?.charge(bytes, packets, now_ms) ?? 0
    if (debt_ms > 0) {
      this.#heldSince_ms ??= now_ms
      if (this.#overrun && now_ms - this.#heldSince_ms >= patience_ms) {
        this.#overrun()
        return
      }
    }
    const work_ms = this.#busy_ms >= mostWork_ms ? workRest_ms : 0
    const rest_ms = Math.max(debt_ms, work_ms)
    if (rest_ms > 0 && !this.#rests) this.#rest(Math.max(rest_ms, shortestRest_ms), debt_ms === 0)
  }

  /** The stream has closed. */
  close(): void {
    this.#wake()
  }

  #rest(ms: number, isForWork: boolean): void {
    this.#rests = true
    this.#stream.pause()
    if (isForWork) resting.add(this)
    const callOff = this.#time.after(ms, () => {
      resting.delete(this)
      this.#rests = false
      this.#stream.resume()
    })
    this.#wake = () => {
      resting.delete(this)
      callOff()
    }
  }
}
