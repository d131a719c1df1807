/**
 * The link to the receiver: keeps the port open, splits the stream into frames, and finds the line rate at which they
 * are valid.
 *
 * | state     | event                                   | next      | also                                       |
 * |-----------|-----------------------------------------|-----------|--------------------------------------------|
 * | `offline` | the port opened                         | `stalled` |                                            |
 * | `offline` | opening failed                          | `offline` | retried after 0.2 … 5 s, or on appearance  |
 * | `stalled` | a valid frame                           | `up`      | the next waits are short again             |
 * | `up`      | 3 s without a valid frame               | `stalled` | `silence` every 3 s, to poll               |
 * | any open  | EOF, error, the device node changed     | `offline` | opened again immediately                   |
 * | any open  | bytes but no valid frame for 10 s       | `offline` | opened with the next rate (after 3 s if    |
 * |           |                                         |           | the rate had been raised)                  |
 * | any open  | nothing for 15 s although it was polled | `offline` | opened with the next rate, unless          |
 * |           |                                         |           | `listenOnly`                               |
 * | any open  | end of a recording                      | `stalled` | nothing more comes                         |
 *
 * Time in which the event loop was blocked does not count, because nothing was read then.
 */
import type { BytePort } from '../../../../schemas/byte-port.js'
import type { ReceiverLink as LinkState } from '../../../../schemas/services/receiver.js'
import type { AwakeClock, Edges } from '../../../platform/time/edges.js'
import { type Frame, Framer, type Framing } from '../../gnss/framer.js'
import { readByOthers } from './exclusive.js'
import { KeptPort } from './kept-port.js'

export interface ReceiverLinkEvents {
  frame(frame: Frame): void
  /** The state changed, or the input ended. */
  state(): void
  /** No valid frame for 3 s, repeated every 3 s. Also called when the port has opened. */
  silence(): void
}

export interface ReceiverLinkOptions {
  /** Tried in turn; the first is the configured one. */
  readonly bauds: readonly number[]
  /** True: nothing is ever written, so a silent receiver does not count as lost. */
  readonly listenOnly: boolean
  /** Framings of the receiver's own protocol. */
  readonly framings?: readonly Framing[]
  readonly random?: () => number
}

const silence_ms = 3000
const noFrame_ms = 10_000
const dead_ms = 15_000
/** A receiver that restarts returns to its stored rate: after a raise that is likelier than noise. */
const noFrameRaised_ms = 3000

/** Interval at which the link is checked; `AwakeClock` needs the same `tick_ms`. */
export const linkTick_ms = 250

/** The link to a receiver, by the table above. */
export class ReceiverLink {
  readonly framer: Framer
  readonly #port: BytePort
  readonly #kept: KeptPort
  readonly #edges: Edges
  readonly #awake: AwakeClock
  readonly #events: ReceiverLinkEvents
  readonly #options: ReceiverLinkOptions
  #state: LinkState = 'offline'
  #reason = 'not opened yet'
  /** The rates to try, the one in use first. */
  #bauds: readonly number[]
  /** The rate was changed while the port was open: just now, and then proven by a frame. */
  #raised: 'no' | 'on-trial' | 'yes' = 'no'
  #heard: boolean = false
  /** When the last valid frame came, the last byte, and when silence was last reported; by the awake clock. */
  #frameAt_ms = 0
  #byteAt_ms = 0
  #silentAt_ms = 0

  constructor(
    port: BytePort,
    edges: Edges,
    awake: AwakeClock,
    options: ReceiverLinkOptions,
    events: ReceiverLinkEvents,
  ) {
    this.#port = port
    this.#edges = edges
    this.#awake = awake
    this.#options = options
    this.#bauds = options.bauds
    this.#events = events
    this.framer = new Framer({ framings: options.framings ?? [], onFrame: (frame) => this.#frame(frame) })
    this.#kept = new KeptPort(
      port,
      edges,
      {
        baud: () => this.baud,
        opening: () => this.framer.setBaud(this.baud || undefined),
        opened: () => this.#opened(),
        data: (chunk) => this.#data(chunk),
        closed: (reason) => this.#closed(reason),
        ended: (reason) => this.#ended(reason),
      },
      options.random,
    )
  }

  get state(): LinkState {
    return this.#state
  }

  /** The reason for `state`, for people. */
  get reason(): string {
    return this.#reason
  }

  /** The input has ended: a replay without `loop`. */
  get ended(): boolean {
    return this.#kept.phase === 'ended'
  }

  /** Whether a valid frame has ever arrived. */
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

  /** Switches to another rate without closing; the previous rate is tried next if no valid frame arrives. */
  async setBaud(baud: number): Promise<void> {
    if (!(await this.#kept.setBaud(baud))) return
    this.prefer(baud)
    this.#raised = 'on-trial'
    this.framer.flush()
    this.framer.setBaud(baud)
  }

  start(): void {
    this.#edges.timers.every(linkTick_ms, () => this.#tick())
    this.#kept.start()
  }

  async stop(): Promise<void> {
    await this.#kept.stop()
  }

  write(bytes: Uint8Array): boolean {
    return !this.#options.listenOnly && this.#kept.write(bytes)
  }

  #opened(): void {
    const now_ms = this.#awake.monotonic()
    this.#frameAt_ms = now_ms
    this.#silentAt_ms = now_ms
    this.#byteAt_ms = 0
    this.#change('stalled', 'open, no frame yet')
    // Poll at once: an unconfigured receiver may send nothing by itself.
    this.#events.silence()
  }

  #closed(reason: string): void {
    this.framer.flush()
    this.#change('offline', reason)
  }

  #ended(reason: string): void {
    this.framer.flush()
    this.#state = 'stalled'
    this.#reason = reason
    this.#events.state()
  }

  #data(chunk: Uint8Array): void {
    // The first bytes may come before `open` has resolved.
    this.#byteAt_ms = this.#awake.monotonic()
    this.framer.push(chunk, this.#edges.clock.monotonic())
  }

  #frame(frame: Frame): void {
    this.#heard = true
    this.#frameAt_ms = this.#awake.monotonic()
    this.#silentAt_ms = this.#frameAt_ms
    this.#kept.works()
    if (this.#raised === 'on-trial') this.#raised = 'yes'
    if (this.#state !== 'up' && this.#kept.phase === 'open') this.#change('up', 'frames arrive')
    this.#events.frame(frame)
  }

  #tick(): void {
    const awake_ms = this.#awake.monotonic()
    const now_ms = this.#edges.clock.monotonic()
    const { deadline_ms } = this.framer
    if (deadline_ms !== undefined && now_ms >= deadline_ms) this.framer.expire(now_ms)
    if (this.#kept.phase === 'open') this.#watch(awake_ms)
  }

  #watch(now_ms: number): void {
    const sinceFrame_ms = now_ms - this.#frameAt_ms
    const byteAt_ms = this.#byteAt_ms
    const babble = byteAt_ms > this.#frameAt_ms && now_ms - byteAt_ms < silence_ms
    const patience_ms = this.#raised === 'yes' ? noFrameRaised_ms : noFrame_ms
    if (babble && this.#port.live && sinceFrame_ms >= patience_ms) {
      this.#nextBaud()
      this.#kept.drop(`bytes but no valid frame for ${patience_ms / 1000} s: another rate is tried; ${readByOthers}`)
    } else if (!babble && !this.#options.listenOnly && this.#port.live && sinceFrame_ms >= dead_ms) {
      this.#nextBaud()
      this.#kept.drop(`no answer for ${dead_ms / 1000} s: check power and cable; ${readByOthers}`)
    } else if (now_ms - this.#silentAt_ms >= silence_ms) {
      this.#silentAt_ms = now_ms
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
    // For a port that cannot be opened, a new reason is reported: it contains the remedy.
    const same = this.#state === state && (state !== 'offline' || this.#reason === reason)
    this.#state = state
    this.#reason = reason
    if (!same) this.#events.state()
  }
}
