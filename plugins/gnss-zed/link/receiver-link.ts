/**
 * Keeps the byte stream to the receiver alive: opens, watches, re-opens, tries baud rates, and cuts the stream into frames.
 *
 * | state     | event                                   | next      | also                                       |
 * |-----------|-----------------------------------------|-----------|--------------------------------------------|
 * | `offline` | the port opened                         | `stalled` |                                            |
 * | `offline` | opening failed                          | `offline` | again after 0.2 … 5 s, or when it appears  |
 * | `stalled` | a valid frame                           | `up`      | the ladder starts anew                     |
 * | `up`      | 3 s without a valid frame               | `stalled` | `onSilence` every 3 s, to poll             |
 * | any open  | EOF, error, the device node changed     | `offline` | re-opened at once                          |
 * | any open  | bytes but no valid frame for 10 s       | `offline` | re-opened with the next rate; after 3 s    |
 * |           |                                         |           | where the rate had been raised             |
 * | any open  | nothing for 15 s although it was polled | `offline` | re-opened; never while it only listens     |
 * | any open  | end of a capture                        | `stalled` | nothing more comes                         |
 */
import { type Frame, Framer } from 'rtk-base/gnss'
import type { ReceiverLink as LinkState } from 'rtk-base/services'
import type { Edges, ReceiverPort } from '../port/types.js'
import { Ladder } from './ladder.js'

export interface LinkEvents {
  frame(frame: Frame): void
  /** The state changed, or the input ended. */
  state(): void
  /** 3 s without a valid frame, and again every 3 s. */
  silence(): void
}

export interface LinkOptions {
  /** Tried in turn; the first is the configured one. */
  readonly bauds: readonly number[]
  /** Nothing is ever written, so silence proves nothing. */
  listenOnly: boolean
  random?: () => number
}

/** What is going on with the port itself; `LinkState` is what the outside sees of it. */
type Phase = 'stopped' | 'waiting' | 'opening' | 'open' | 'ended'

const tick_ms = 250
const silence_ms = 3000
const noFrame_ms = 10_000
const dead_ms = 15_000
/** A receiver that restarts falls back to its stored rate: after a raise that is likelier than noise. */
const noFrameRaised_ms = 3000
const ladder_ms = [200, 5000] as const

export class ReceiverLink {
  readonly framer: Framer
  readonly #port: ReceiverPort
  readonly #edges: Edges
  readonly #events: LinkEvents
  readonly #options: LinkOptions
  readonly #ladder: Ladder
  #state: LinkState = 'offline'
  #reason = 'not opened yet'
  /** The rates to try, the one in use first. */
  #bauds: readonly number[]
  /** The rate was changed while the port was open: just now, and then proven by a frame. */
  #raised: 'no' | 'on-trial' | 'yes' = 'no'
  /** Counts openings: what belongs to an earlier one is ignored. */
  #generation = 0
  #phase: Phase = 'stopped'
  #retryAt_ms = 0
  #wasAbsent: boolean = false
  #frameAt_ms = 0
  #heard: boolean = false
  #byteAt_ms = 0
  #silentAt_ms = 0

  constructor(port: ReceiverPort, edges: Edges, options: LinkOptions, events: LinkEvents) {
    this.#port = port
    this.#edges = edges
    this.#options = options
    this.#bauds = options.bauds
    this.#events = events
    this.#ladder = new Ladder(...ladder_ms, options.random)
    this.framer = new Framer({ onFrame: (frame) => this.#frame(frame) })
  }

  get state(): LinkState {
    return this.#state
  }

  /** Why it is in that state, for people. */
  get reason(): string {
    return this.#reason
  }

  /** The input came to its end: a replay without `loop`. */
  get ended(): boolean {
    return this.#phase === 'ended'
  }

  /** Whether a valid frame ever came. */
  get heard(): boolean {
    return this.#heard
  }

  /** The rate in use; 0 where the line has none. */
  get baud(): number {
    return this.#port.hasBaud ? (this.#bauds[0] ?? 0) : 0
  }

  /** Tries this rate first, then the others in their order. */
  prefer(baud: number): void {
    this.#bauds = [baud, ...this.#bauds.filter((other) => other !== baud)]
  }

  /** Goes on at another rate without closing; the one before is the next to be tried when nothing makes sense there. */
  async setBaud(baud: number): Promise<void> {
    const generation = this.#generation
    try {
      await this.#port.setBaud?.(baud)
    } catch (error) {
      if (generation === this.#generation) this.#lost(error instanceof Error ? error.message : String(error))
      return
    }
    if (generation !== this.#generation) return
    this.prefer(baud)
    this.#raised = 'on-trial'
    this.framer.flush()
    this.framer.setBaud(baud)
  }

  start(): void {
    this.#phase = 'waiting'
    this.#edges.timers.every(tick_ms, () => this.#tick())
    this.#connect()
  }

  async stop(): Promise<void> {
    this.#phase = 'stopped'
    this.#generation++
    await this.#port.close()
  }

  write(bytes: Uint8Array): boolean {
    return this.#phase === 'open' && !this.#options.listenOnly && this.#port.write(bytes)
  }

  #now(): number {
    return this.#edges.clock.monotonic()
  }

  #connect(): void {
    const generation = ++this.#generation
    const current = () => generation === this.#generation
    this.#phase = 'opening'
    this.framer.setBaud(this.baud || undefined)
    this.#port
      .open(this.baud, {
        data: (chunk) => {
          if (current()) this.#data(chunk)
        },
        closed: (reason, end) => {
          if (current()) end ? this.#end(reason) : this.#lost(reason)
        },
      })
      .then(
        () => {
          if (current()) this.#opened()
          else if (this.#phase === 'stopped') void this.#port.close()
        },
        (error: unknown) => {
          if (current()) this.#failed(error instanceof Error ? error.message : String(error))
        },
      )
  }

  #opened(): void {
    const now = this.#now()
    this.#phase = 'open'
    this.#frameAt_ms = now
    this.#silentAt_ms = now
    this.#byteAt_ms = 0
    this.#wasAbsent = false
    this.#change('stalled', 'open, no frame yet')
    // The first question need not wait: an unconfigured receiver may have nothing to say by itself.
    this.#events.silence()
  }

  #failed(reason: string): void {
    this.#phase = 'waiting'
    this.#retryAt_ms = this.#now() + this.#ladder.next()
    this.#change('offline', reason)
  }

  #lost(reason: string): void {
    this.#generation++
    this.#phase = 'waiting'
    this.framer.flush()
    this.#change('offline', reason)
    this.#retryAt_ms = Number.POSITIVE_INFINITY
    const again = () => {
      // "At once" is after the device was let go: until then the system would call it busy.
      if (this.#phase === 'waiting') this.#retryAt_ms = this.#now() + this.#ladder.next()
    }
    this.#port.close().then(again, again)
  }

  #end(reason: string): void {
    this.#phase = 'ended'
    this.framer.flush()
    this.#state = 'stalled'
    this.#reason = reason
    this.#events.state()
  }

  #data(chunk: Uint8Array): void {
    // The first bytes may come before `open` has told that it is done.
    this.#byteAt_ms = this.#now()
    this.framer.push(chunk, this.#byteAt_ms)
  }

  #frame(frame: Frame): void {
    this.#heard = true
    this.#frameAt_ms = this.#now()
    this.#silentAt_ms = this.#frameAt_ms
    this.#ladder.reset()
    if (this.#raised === 'on-trial') this.#raised = 'yes'
    if (this.#state !== 'up' && this.#phase === 'open') this.#change('up', 'frames arrive')
    this.#events.frame(frame)
  }

  #tick(): void {
    if (this.#phase === 'stopped') return
    const now = this.#now()
    const { deadline_ms } = this.framer
    if (deadline_ms !== undefined && now >= deadline_ms) this.framer.expire(now)
    if (this.#phase === 'waiting') this.#retry(now)
    else if (this.#phase !== 'open') return
    else if (this.#port.present?.() === false) this.#lost('the device is gone')
    else this.#watch(now)
  }

  #retry(now: number): void {
    const present = this.#port.present?.() ?? true
    if (!present) this.#wasAbsent = true
    else if (this.#wasAbsent) {
      // It has just come back: no reason to wait for the ladder.
      this.#wasAbsent = false
      this.#ladder.reset()
      this.#retryAt_ms = now
    }
    if (present && now >= this.#retryAt_ms) this.#connect()
  }

  #watch(now: number): void {
    const sinceFrame_ms = now - this.#frameAt_ms
    const byteAt_ms = this.#byteAt_ms
    const babble = byteAt_ms > this.#frameAt_ms && now - byteAt_ms < silence_ms
    const patience_ms = this.#raised === 'yes' ? noFrameRaised_ms : noFrame_ms
    if (babble && this.#port.live && sinceFrame_ms >= patience_ms) {
      this.#nextBaud()
      this.#lost(`bytes but no valid frame for ${patience_ms / 1000} s`)
    } else if (!babble && !this.#options.listenOnly && this.#port.live && sinceFrame_ms >= dead_ms) {
      this.#nextBaud()
      this.#lost(`no answer for ${dead_ms / 1000} s`)
    } else if (now - this.#silentAt_ms >= silence_ms) {
      this.#silentAt_ms = now
      this.#change('stalled', `no frame for ${Math.round(sinceFrame_ms / 1000)} s`)
      this.#events.silence()
    }
  }

  #nextBaud(): void {
    this.#raised = 'no'
    const [first, ...others] = this.#bauds
    if (first !== undefined) this.#bauds = [...others, first]
  }

  #change(state: LinkState, reason: string): void {
    const same = this.#state === state
    this.#state = state
    this.#reason = reason
    if (!same) this.#events.state()
  }
}
