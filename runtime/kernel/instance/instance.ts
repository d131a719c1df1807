import type { Logger } from 'pino'
import type { StationError } from '../../../schemas/services.js'
import { messageOf } from '../../errors.js'
import type { Owner } from '../../platform/guard/owner.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { StandingErrors } from '../../platform/standing-errors.js'
import { activityNumber } from '../../platform/supervision/activity.js'
import type { Dispose, PluginContext, PluginDefinition } from '../../plugin.js'
import { noRegistrations, type Registrations } from './registrations.js'
import { Scope } from './scope.js'

const sameFault_ms = 60_000
/** A fault that did not come again for so long is no status any more; the log has it. */
const faultShown_ms = 3_600_000

/** An error that is found again this soon after a reload was never gone. */
const sameError_ms = 60_000

export interface ErrorsLeft {
  readonly errors: readonly StationError[]
  readonly at_ms: number
}

/** One life of a plugin: its registrations, its resources, and whether its callbacks may run. */
export class Instance implements Owner {
  readonly name: string
  readonly activity: number
  readonly definition: PluginDefinition
  readonly scope: Scope
  readonly log: Logger
  readonly registered: Registrations = noRegistrations()
  /** Set right after construction; the same `ctx` for `setup` and `start`. */
  context!: PluginContext
  /** The return value of `setup`. */
  state: unknown
  readonly services = new Map<string, unknown>()
  /** Set with the context. */
  errors!: StandingErrors
  /** Errors of the previous instance, and when it stopped. */
  before: ErrorsLeft | undefined
  /** Changes up to this number existed at setup; later ones are applied to the instance. */
  readonly changesSeen: number
  /** Registrations are taken until `setup` has returned. */
  inSetup = true
  /** The plugin's `start` was called. */
  hasBegun = false
  /** True from the end of `start` until `stop` begins. */
  live = false
  /** The plugin's own status line. */
  ownStatus = ''
  #fault: { readonly text: string; readonly at_ms: number } | undefined
  readonly clock: Clock
  readonly #lastFault = new Map<string, number>()

  constructor(definition: PluginDefinition, log: Logger, clock: Clock, changesSeen: number) {
    this.name = definition.name
    this.activity = activityNumber(definition.name)
    this.definition = definition
    this.log = log
    this.changesSeen = changesSeen
    this.clock = clock
    this.scope = new Scope(this)
  }

  get signal(): AbortSignal {
    return this.scope.signal
  }

  own(label: string, dispose: Dispose): Dispose {
    return this.scope.own(label, dispose)
  }

  /** Start (UTC seconds) of an error that the previous instance had too; undefined for a new error. */
  lastingSince(code: string, text: string): number | undefined {
    const { before } = this
    if (!before || this.clock.monotonic() - before.at_ms > sameError_ms) return undefined
    const error = before.errors.find((one) => one.code === code)
    return error?.text === text ? error.t : undefined
  }

  /** Newest fault of the plugin while that is news, else the plugin's own status line. */
  get statusText(): string {
    const { ownStatus } = this
    if (this.#fault && this.clock.monotonic() - this.#fault.at_ms >= faultShown_ms) this.#fault = undefined
    return this.#fault?.text ?? ownStatus
  }

  /** A callback of the plugin failed: one log line (the same fault at most once a minute) and its status. */
  failed(error: unknown, what: string): void {
    const text = `${what}: ${messageOf(error)}`
    this.#fault = { text, at_ms: this.clock.monotonic() }
    this.#report(error, text, 'the plugin keeps running')
  }

  leftBehind(error: unknown): void {
    const text = `uncaught error of something that was left open when the plugin stopped: ${messageOf(error)}`
    this.#report(error, text, 'nothing is stopped for it')
  }

  #report(error: unknown, text: string, outcome: string): void {
    const now = this.clock.monotonic()
    const last = this.#lastFault.get(text)
    if (last !== undefined && now - last < sameFault_ms) return
    if (this.#lastFault.size >= 64) this.#lastFault.clear()
    this.#lastFault.set(text, now)
    this.log.error({ err: error }, `${text}; ${outcome}`)
  }
}
