import { type EventSource, LogLimit, type PluginContext, RtkError } from 'rtk-base/plugin'
import type { RouterLinkState } from 'rtk-base/schemas'
import { routerErrors } from 'rtk-base/services'
import { anySignal, Backoff } from 'rtk-base/time'
import type { Candidate, CredentialLadder } from '../credentials/ladder.js'
import { loginLimits } from '../credentials/limits.js'
import { dialectOf, type Generation, generationOf } from '../operations/dialect.js'
import type { Input, OperationName, Output } from '../operations/operations.js'
import { Performer } from '../operations/performer.js'
import type { Transport } from '../transport/call.js'
import { type CertificatePin, confirmationOf } from '../transport/certificate.js'
import { findTransport } from '../transport/find.js'
import type { LinkMetrics } from './metrics.js'
import { RouterQueue } from './queue.js'
import { type LinkEvent, nextState } from './states.js'

/** A router restarts in one to two minutes. */
const restart_ms = 20_000
const longestRestart_ms = 5 * 60_000
const backoff = { first_ms: 2_000, longest_ms: 60_000 }
/** Transient failures in a row after which the router counts as gone. */
const mostStrikes = 3
/** The certificate is looked at again: the old router may be back. */
const certificate_ms = 60_000
/** The router wants a new password first: whether it has one by now. */
const newPassword_ms = 60_000
/** Whether the user has got a right that was refused: each look is a login. */
const rights_ms = 60 * 60_000
/** Between two looks at a locked router the wait of the login limits counts, up to this. */
const longestLocked_ms = 30 * 60_000

const gone: ReadonlySet<string> = new Set(['RTK_ERR_ROUTER_OFFLINE'])
const passing: ReadonlySet<string> = new Set(['RTK_ERR_ROUTER_TIMEOUT', 'RTK_ERR_ROUTER_ANSWER'])

export interface LinkDeps {
  readonly ctx: Pick<PluginContext, 'clock' | 'timers' | 'fetch' | 'log' | 'net' | 'signal'>
  readonly url: string
  readonly pin: CertificatePin
  readonly ladder: CredentialLadder
  readonly metrics: () => LinkMetrics
  readonly onState: EventSource<void>
  /** Before a login: identifies the answering device. */
  meet(signal: AbortSignal): Promise<void>
  /** Right after a login, in its own turn, before anybody else calls. It must not fail. */
  arrived(perform: Performer, signal: AbortSignal): Promise<void>
  /** The session had ended, and a new one was opened: it may be with another router. */
  renewed(): void
}

export interface CallOptions {
  signal?: AbortSignal
  /** How long to wait for the turn. */
  patience_ms?: number
}

interface Connected {
  readonly transport: Transport
  readonly performer: Performer
  readonly version: string
  readonly generation: Generation
  readonly rung: Candidate['rung']
}

/** The link to the router: finds it, logs in, runs calls one at a time, and reconnects after any failure. */
export class RouterLink {
  readonly #deps: LinkDeps
  readonly queue: RouterQueue
  readonly #backoff = new Backoff(backoff)
  readonly #logged: LogLimit
  #state: RouterLinkState = 'searching'
  #error = 'not asked yet'
  /** The error without the time of the next attempt, which changes every second. */
  #reason = ''
  #isUnnoted = false
  #answersGarbage = false
  #connected: Connected | undefined
  #candidate: Candidate | undefined
  #strikes = 0
  #byPerson = false
  /** When a restart has taken too long. */
  #overdue_ms = Number.NEGATIVE_INFINITY
  #connecting = false
  #again = false
  #cancel: () => unknown = () => {}

  constructor(deps: LinkDeps) {
    this.#deps = deps
    this.queue = new RouterQueue((ms, fn) => deps.ctx.timers.after(ms, fn))
    this.#logged = new LogLimit(deps.ctx.clock)
  }

  get state(): RouterLinkState {
    return this.#state
  }

  /** Why it is not online; `''` while it is. */
  get error(): string {
    return this.#error
  }

  get reason(): string {
    return this.#reason
  }

  /** No login is tried, as the note of it could not be stored: the router blocks after ten. */
  get isUnnoted(): boolean {
    return this.#isUnnoted
  }

  /** Something answers, but nothing that can be read. */
  get answersGarbage(): boolean {
    return this.#answersGarbage
  }

  /** The connection since the last login; undefined before the first. */
  get connected(): Omit<Connected, 'performer'> | undefined {
    return this.#connected
  }

  /** The credentials in use. */
  get credentials(): Candidate | undefined {
    return this.#candidate
  }

  start(): void {
    void this.#connect()
    this.#deps.ctx.timers.every(rights_ms, () => {
      if (this.#state === 'online') this.schedule('rights', (performer, signal) => performer.renewRights(signal))
    })
  }

  /** Tries at once: credentials or the certificate were changed, by a person. */
  retry(byPerson: boolean): void {
    this.#byPerson ||= byPerson
    if (this.#connecting) this.#again = true
    else {
      this.#cancel()
      void this.#connect()
    }
  }

  /**
   * One operation, in its turn.
   * @throws RTK_ERR_ROUTER_…, RTK_ERR_ABORTED, RTK_ERR_UNAVAILABLE
   */
  perform<K extends OperationName>(name: K, input: Input<K>, options: CallOptions = {}): Promise<Output<K>> {
    return this.turn(name, (performer, signal) => performer.perform(name, input, signal), options)
  }

  /** Several operations in one turn. */
  async turn<T>(
    label: string,
    work: (performer: Performer, signal: AbortSignal, transport: Transport) => Promise<T>,
    { signal, patience_ms }: CallOptions = {},
  ): Promise<T> {
    const { ctx, metrics } = this.#deps
    this.#usable()
    // One of its own for each call: many of them wait, and each listens.
    const both = anySignal([ctx.signal, signal])
    let release = () => {}
    try {
      release = await this.queue.acquire(label, {
        signal: both.signal,
        ...(patience_ms !== undefined && { patience_ms }),
      })
      const { transport, performer } = this.#usable()
      const begin_ms = ctx.clock.monotonic()
      let code: string | undefined
      try {
        const value = await work(performer, both.signal, transport)
        this.#strikes = 0
        return value
      } catch (error) {
        code = error instanceof RtkError ? error.code : 'RTK_ERR_INTERNAL'
        this.#judge(error, label)
        throw error
      } finally {
        metrics().call(label, (ctx.clock.monotonic() - begin_ms) / 1000, code)
      }
    } finally {
      release()
      both.release()
    }
  }

  /** Calls `turn` without waiting for it: a failure is logged. */
  schedule(label: string, work: (performer: Performer, signal: AbortSignal) => Promise<unknown>): void {
    this.turn(label, work).catch((error: unknown) => this.#report(error, label))
  }

  /** Restarts it or resets it to factory settings. */
  async restart(name: 'reboot' | 'factory', options: CallOptions): Promise<void> {
    await this.perform(name, undefined, options)
    this.restarts('it was told to restart')
  }

  /** Everything from the beginning: another router answers. */
  reconnect(reason: string): void {
    this.#leave('silent', reason, 0)
  }

  /** The router goes away on purpose, and comes back. */
  restarts(reason: string): void {
    this.#overdue_ms = this.#deps.ctx.clock.monotonic() + longestRestart_ms
    this.#leave('restart', reason, restart_ms)
  }

  /** @throws RTK_ERR_ROUTER_…: why nothing can be called now */
  #usable(): Connected {
    if (this.#state === 'online' && this.#connected) return this.#connected
    const { RTK_ERR_ROUTER_CERTIFICATE, RTK_ERR_ROUTER_LOGIN, RTK_ERR_ROUTER_OFFLINE } = routerErrors
    if (this.#state === 'certificate') {
      const { waiting } = this.#deps.pin
      const next = waiting ? `if it was replaced or reset: ${confirmationOf(waiting)}` : 'see router-certificate'
      const text = `the certificate of the router changed: ${this.#error}; ${next}`
      throw new RtkError(RTK_ERR_ROUTER_CERTIFICATE, text)
    }
    const code = this.#state === 'locked' ? RTK_ERR_ROUTER_LOGIN : RTK_ERR_ROUTER_OFFLINE
    throw new RtkError(code, `the router is ${this.#state}: ${this.#error}`)
  }

  /** Evaluates a failed call for the link state. */
  #judge(error: unknown, label: string): void {
    if (!(error instanceof RtkError) || this.#state !== 'online') return
    this.#answersGarbage = error.code === 'RTK_ERR_ROUTER_ANSWER'
    if (error.code === 'RTK_ERR_ROUTER_CERTIFICATE') this.#leave('otherCertificate', error.message, 1)
    else if (error.code === 'RTK_ERR_ROUTER_LOGIN') this.#leave('silent', error.message, loginLimits.gap.within_ms)
    else if (gone.has(error.code)) this.#leave('silent', error.message, this.#backoff.next())
    else if (passing.has(error.code)) {
      this.#report(error, label)
      this.#strikes++
      if (this.#strikes >= mostStrikes) this.#leave('silent', error.message, this.#backoff.next())
    }
  }

  #report(error: unknown, label: string): void {
    const text = error instanceof RtkError ? error.message : String(error)
    const omitted = this.#logged.admit(`${label}: ${text}`)
    if (omitted !== undefined) this.#deps.ctx.log.warn({ operation: label, omitted }, `the router: ${text}`)
  }

  /** Ends being online, or notes why it is not; looks again after `wait_ms`. */
  #leave(event: LinkEvent, reason: string, wait_ms: number, { next = '', isUnnoted = false } = {}): void {
    this.#strikes = 0
    this.#reason = reason
    this.#isUnnoted = isUnnoted
    const error = `${reason}${next}`
    const isOverdue = event === 'silent' && this.#deps.ctx.clock.monotonic() >= this.#overdue_ms
    this.#set(nextState(this.#state, isOverdue ? 'overdue' : event), error)
    this.#cancel()
    this.#cancel = this.#deps.ctx.timers.after(wait_ms, () => this.#connect())
  }

  #set(state: RouterLinkState, error: string): void {
    const changed = state !== this.#state
    this.#state = state
    this.#error = state === 'online' ? '' : error
    if (state === 'online') this.#answersGarbage = false
    if (!changed) return
    this.#deps.ctx.log[state === 'online' ? 'info' : 'warn'](
      { state },
      `router ${state}${error === '' ? '' : `: ${error}`}`,
    )
    this.#deps.onState.emit()
  }

  async #connect(): Promise<void> {
    if (this.#connecting) return
    this.#connecting = true
    const { signal } = this.#deps.ctx
    let release = () => {}
    try {
      release = await this.queue.acquire('connect', { signal, first: true })
      await this.#attempt(signal)
    } catch (error) {
      this.#failed(error)
    } finally {
      release()
      this.#connecting = false
      if (this.#again && !signal.aborted) {
        this.#again = false
        this.retry(false)
      }
    }
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    const { ctx, url, pin, ladder } = this.#deps
    const transport = await findTransport(ctx, url, pin, signal)
    pin.sawPinned()
    await this.#deps.meet(signal)
    const byPerson = this.#byPerson
    this.#byPerson = false
    const step = await ladder.step(transport, byPerson, signal)
    if (!('candidate' in step)) {
      this.#byPerson ||= step.byPerson
      const next = Number.isFinite(step.wait_ms) ? ` (next attempt in ${Math.ceil(step.wait_ms / 1000)} s)` : ''
      this.#leave('rejected', step.reason, Math.min(step.wait_ms, longestLocked_ms), { next })
      return
    }
    this.#candidate = step.candidate
    const connected = await this.#identify(transport, step.candidate, signal)
    this.#connected = connected
    await this.#deps.arrived(connected.performer, signal)
    this.#backoff.reset()
    this.#strikes = 0
    this.#set(nextState(this.#state, 'loggedIn'), '')
  }

  /** Generation of the router, by its firmware version, otherwise by its features. */
  async #identify(transport: Transport, candidate: Candidate, signal: AbortSignal): Promise<Connected> {
    // Once, with the credentials that worked.
    const renew = async (again: AbortSignal) => {
      await this.#deps.ladder.renew(transport, candidate, again)
      this.#deps.renewed()
    }
    const pause = (ms: number, until: AbortSignal) => paused(this.#deps.ctx.timers, ms, until)
    const asNewest = new Performer(transport, dialectOf('7', transport.kind), renew, pause)
    const version = await asNewest.perform('version', undefined, signal).catch((error: unknown) => {
      // A router that is only slow is not taken for another generation.
      const ends = [...gone, 'RTK_ERR_ROUTER_LOGIN', 'RTK_ERR_ROUTER_TIMEOUT']
      if (error instanceof RtkError && ends.includes(error.code)) throw error
      return ''
    })
    let generation = generationOf(version)
    if (generation === undefined) {
      // Only 7.x has modem objects.
      const hasModem = await asNewest.perform('modemId', undefined, signal).then(
        () => true,
        (error: unknown) => {
          if (error instanceof RtkError && error.code === 'RTK_ERR_ROUTER_LOGIN') throw error
          // A router refuses only what it has.
          return error instanceof RtkError && error.code === 'RTK_ERR_ROUTER_REFUSED'
        },
      )
      generation = hasModem || transport.kind === 'rest' ? '7' : 'legacy'
      this.#deps.ctx.log.warn(
        { generation },
        'the firmware version of the router cannot be read: detected by its features',
      )
    }
    const performer =
      generation === '7' ? asNewest : new Performer(transport, dialectOf(generation, transport.kind), renew, pause)
    return { transport, performer, version, generation, rung: candidate.rung }
  }

  #failed(error: unknown): void {
    const { ctx } = this.#deps
    if (ctx.signal.aborted) return
    if (!(error instanceof RtkError)) ctx.log.error({ err: error }, 'the router could not be connected')
    const { code, message } = error instanceof RtkError ? error : { code: 'RTK_ERR_INTERNAL', message: String(error) }
    const { waiting } = this.#deps.pin
    if (code === 'RTK_ERR_ROUTER_CERTIFICATE') {
      const seen = waiting?.fingerprint ? `it shows ${waiting.fingerprint} now` : 'it answers without https now'
      this.#leave('otherCertificate', `${message} (${seen})`, certificate_ms)
    } else if (code === 'RTK_ERR_ROUTER_LOGIN') {
      // A person has to set another password first.
      this.#leave('rejected', message, newPassword_ms)
    } else if (code === 'RTK_ERR_STORE_WRITE') {
      this.#leave('rejected', message, loginLimits.gap.within_ms, { isUnnoted: true })
    } else {
      this.#answersGarbage = code === 'RTK_ERR_ROUTER_ANSWER'
      this.#leave('silent', message, this.#backoff.next())
    }
  }
}

function paused(timers: PluginContext['timers'], ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      void cancel()
      reject(new RtkError('RTK_ERR_ABORTED', 'cancelled, because the caller no longer waits'))
    }
    const cancel = timers.after(ms, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
