/**
 * Keeps a connection to an outside peer: dials it, watches it, and dials it again after its end.
 *
 * | state        | event                                            | next         | also                               |
 * |--------------|--------------------------------------------------|--------------|------------------------------------|
 * | `off`        | `start` or `retarget` with a peer                | `waiting`    | the first attempt follows at once  |
 * | `waiting`    | the wait is over, the connection is wanted       | `connecting` |                                    |
 * | `waiting`    | the wait is over, it is not wanted               | `idle`       | `wanted` is asked every second     |
 * | `waiting`    | a network came up                                | `waiting`    | a wait for the network ends        |
 * | `idle`       | it is wanted, the wait is over                   | `connecting` |                                    |
 * | `connecting` | `accept`: the owner has the answer that it needs | `up`         |                                    |
 * | `connecting` | `redial`                                         | `connecting` | another connection, without a wait |
 * | `connecting` | it failed, or `end`                              | `waiting`    | `ConnectionRetry` has the wait     |
 * | `up`         | the peer or `end` ended it, the line is cut      | `waiting`    | the same                           |
 * | `up`         | nothing was heard within the limit               | `waiting`    | the same                           |
 * | `up`         | it is not wanted any more                        | `idle`       |                                    |
 * | any          | `stop`, or `retarget` without a peer             | `off`        |                                    |
 */
import type { Link } from '../../../../schemas/services.js'
import type { Socket } from '../../../platform/ports/network.js'
import type { Dispose, PluginContext } from '../../../plugin.js'
import { whenCut } from './acknowledgement.js'
import type { ConnectionEnd, ConnectionRetry } from './connection-retry.js'
import { type Dialled, type DialTarget, dial } from './dial.js'
import { Outbound } from './outbound.js'

const look_ms = 1_000

/** The states of the table above. */
export type KeptConnectionState = 'off' | 'waiting' | 'idle' | 'connecting' | 'up'

/** The events of one connection, from the attempt to its end. */
export interface ConnectionEvents<Cause extends string = never> {
  /** Connected, and over TLS the certificate is good. */
  connected(socket: Socket): void
  data?(bytes: Buffer): void
  /** The system has accepted the waiting bytes. */
  drain?(): void
  /** The connection was examined. @param unacknowledged_ms how long the peer has acknowledged nothing that was sent */
  examined?(unacknowledged_ms: number): void
  /** The peer closed the connection. @returns the end to report; undefined: the owner has called `end` or `redial` */
  closed(): ConnectionEnd<Cause> | undefined
  /** The connection is gone, for whatever reason. */
  over?(): void
}

export interface KeptConnectionOptions<Cause extends string = never> {
  /** Unique in the station, without user or password. */
  readonly name: string
  readonly carries?: Link['carries']
  readonly retry: ConnectionRetry<Cause>
  /** An attempt begins. */
  open(): ConnectionEvents<Cause>
  /** Default: always. @returns true, or why no connection is wanted now */
  wanted?(): true | string
  /** The connection ends when the owner has called `heard` for longer than `limit_ms`. */
  readonly silence?: { limit_ms(): number; text(limit_ms: number): string }
  /** Called each second while the connection is up. */
  everySecond?(): void
  /** The state or its text changed. */
  changed?(): void
}

export class KeptConnection<Cause extends string = never> {
  readonly #ctx: PluginContext
  readonly #options: KeptConnectionOptions<Cause>
  readonly #out: Outbound
  #target: DialTarget | undefined
  #state: KeptConnectionState = 'off'
  #text = ''
  #isStarted = false
  #lastEnd: ConnectionEnd<Cause> | undefined
  #line: Dialled | undefined
  #events: ConnectionEvents<Cause> | undefined
  /** A network came up during this attempt, which may hang on the route that was there before. */
  #cameUp = false
  #upSince_ms = 0
  #heard_ms = 0
  #next: Dispose = () => {}
  #deadline: Dispose = () => {}
  #unwatch: Dispose = () => {}
  #ticking: Dispose = () => {}

  constructor(ctx: PluginContext, options: KeptConnectionOptions<Cause>) {
    this.#ctx = ctx
    this.#options = options
    this.#out = new Outbound(ctx, options.name, '', { carries: options.carries ?? 'out' })
  }

  get state(): KeptConnectionState {
    return this.#state
  }

  /** Why it is `waiting` or `idle`, for a person. */
  get text(): string {
    return this.#text
  }

  /** The last end, while no other attempt was made since. */
  get lastEnd(): ConnectionEnd<Cause> | undefined {
    return this.#lastEnd
  }

  /** The current connection, or that of the current attempt. */
  get socket(): Socket | undefined {
    return this.#line?.socket
  }

  /** Time until the next attempt; 0 while there is a connection. */
  get wait_ms(): number {
    return this.#line || this.#state === 'off' ? 0 : this.#options.retry.wait_ms()
  }

  /** How long the connection has been up. */
  get up_ms(): number {
    return this.#state === 'up' ? this.#ctx.clock.monotonic() - this.#upSince_ms : 0
  }

  /** Call it in `start` of the plugin or later, once. @param target undefined: none yet */
  start(target: DialTarget | undefined): void {
    this.#out.start({ up: () => this.#networkUp(), changed: () => {}, down: () => {} })
    this.#ticking = this.#ctx.timers.every(look_ms, () => this.#tick())
    this.#isStarted = true
    this.retarget(target)
  }

  /** Connects to another peer, without a wait; before `start`, only notes it. @param target undefined: to none */
  retarget(target: DialTarget | undefined): void {
    this.#hangUp()
    void this.#next()
    if (this.#target) this.#options.retry.reset?.()
    this.#target = target
    this.#lastEnd = undefined
    this.#out.retarget(target ? `${target.host}:${target.port}` : '')
    this.#become(target ? 'waiting' : 'off', '')
    this.#out.idle('')
    // No plugin may connect before it is started.
    if (target && this.#isStarted) this.#schedule()
  }

  stop(): void {
    this.#isStarted = false
    void this.#ticking()
    void this.#next()
    this.#out.close()
    this.#hangUp()
    this.#state = 'off'
  }

  /** The peer accepted: the connection is up. */
  accept(): void {
    const { socket } = this
    if (!socket) return
    void this.#deadline()
    this.#upSince_ms = this.#ctx.clock.monotonic()
    this.#heard_ms = this.#upSince_ms
    this.#options.retry.accepted?.()
    this.#out.up(socket)
    this.#unwatch = whenCut(
      this.#ctx,
      socket,
      (text) => this.end({ cause: 'cut', text, answered: false }),
      (unacknowledged_ms) => this.#events?.examined?.(unacknowledged_ms),
    )
    this.#become('up', '')
  }

  /** Data arrived for which the silence is measured. */
  heard(): void {
    this.#heard_ms = this.#ctx.clock.monotonic()
  }

  /** Limits the time until `accept` or the next deadline. */
  deadline(limit_ms: number, passed: () => void): void {
    void this.#deadline()
    this.#deadline = this.#ctx.timers.after(limit_ms, passed)
  }

  /** Ends the attempt or the connection; the next attempt follows after a wait. */
  end(end: ConnectionEnd<Cause>): void {
    if (!this.#line) return
    const { retry, silence, name } = this.#options
    const isUp = this.#state === 'up'
    const lasted_ms = isUp ? (silence ? this.#heard_ms : this.#ctx.clock.monotonic()) - this.#upSince_ms : 0
    this.#hangUp()
    retry.ended(end, lasted_ms)
    if (this.#cameUp) retry.networkUp()
    this.#lastEnd = end
    const { text, answered } = end
    const wait_ms = retry.wait_ms()
    this.#out.failed(text, wait_ms, { answered })
    this.#ctx.log.warn({ connection: name, wait_s: Math.round(wait_ms / 1000) }, text)
    this.#become('waiting', text)
    this.#schedule()
  }

  /** Connects again without a wait: the peer has answered what had to be known before. */
  redial(): void {
    this.#hangUp()
    this.#dial()
  }

  #tick(): void {
    if (this.#state === 'up') this.#look()
    // The wait may be shorter by now: it may have begun before the station knew the time.
    else if (this.#state === 'idle' || this.#state === 'waiting') this.#schedule()
  }

  #look(): void {
    const { wanted, silence, everySecond } = this.#options
    const reason = wanted?.() ?? true
    const limit_ms = silence?.limit_ms() ?? Number.POSITIVE_INFINITY
    if (reason !== true) this.#pause(reason)
    else if (silence && this.#ctx.clock.monotonic() - this.#heard_ms > limit_ms)
      this.end({ cause: 'silent', text: silence.text(limit_ms), answered: false })
    else everySecond?.()
  }

  #schedule(): void {
    void this.#next()
    const wait_ms = this.#options.retry.wait_ms()
    if (wait_ms > 0) this.#next = this.#ctx.timers.after(wait_ms, () => this.#due())
    else this.#due()
  }

  #due(): void {
    const wanted = this.#options.wanted?.() ?? true
    if (wanted === true) this.#dial()
    else if (this.#state !== 'idle' || this.#text !== wanted) {
      this.#become('idle', wanted)
      this.#out.idle(wanted)
    }
  }

  #dial(): void {
    const target = this.#target
    if (!target) return
    this.#cameUp = false
    this.#lastEnd = undefined
    this.#options.retry.begins()
    this.#become('connecting', '')
    const events = this.#options.open()
    this.#events = events
    this.#line = dial(
      this.#ctx,
      target,
      {
        connected: (socket) => events.connected(socket),
        data: (bytes) => events.data?.(bytes),
        drain: () => events.drain?.(),
        failed: (text, answered, code) => this.end({ cause: code, text, answered }),
        closed: () => {
          const end = events.closed()
          if (end) this.end(end)
        },
      },
      this.#out,
    )
  }

  /** The connection is not wanted any more. */
  #pause(reason: string): void {
    this.#hangUp()
    this.#options.retry.paused()
    this.#out.idle(reason)
    this.#ctx.log.info({ connection: this.#options.name }, reason || 'the connection is not needed now')
    this.#become('idle', reason)
  }

  #networkUp(): void {
    if (this.#state === 'connecting') this.#cameUp = true
    if (this.#state !== 'waiting') return
    this.#options.retry.networkUp()
    this.#schedule()
  }

  #hangUp(): void {
    const [line, events] = [this.#line, this.#events]
    this.#line = undefined
    this.#events = undefined
    void this.#deadline()
    void this.#unwatch()
    events?.over?.()
    line?.hangUp()
  }

  #become(state: KeptConnectionState, text: string): void {
    this.#state = state
    this.#text = text
    this.#options.changed?.()
  }
}
