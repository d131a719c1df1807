import type { Logger } from 'pino'
import { messageOf, RtkError } from '../../errors.js'
import { readTexts } from '../../loader/texts.js'
import { attempt } from '../../platform/guard/guard.js'
import { runAs, type StopReason } from '../../platform/guard/owner.js'
import { ownPlace } from '../../platform/guard/uncaught.js'
import { limitLog } from '../../platform/log/log-limit.js'
import type { Clock } from '../../platform/ports/clock.js'
import { during } from '../../platform/supervision/activity.js'
import type { PluginDefinition } from '../../plugin.js'
import { type ContextHost, createContext } from '../context/index.js'
import { CheckedHandoff, type HandoffValues } from './handoff.js'
import { Instance } from './instance.js'

const startLimit_ms = 10_000
const stopLimit_ms = 5_000
/** The whole service has 3 s to stop. */
const shutdownLimit_ms = 2_000

export interface LifecycleDeps {
  log: Logger
  clock: Clock
  host: ContextHost
  /** The number of the newest change of parameters. */
  changesSeen(): number
  /** Aborts when the service stops: starts are no longer awaited. */
  stopping: AbortSignal
  /** An instance runs: deferred deliveries can be handed to it. */
  entered(instance: Instance): void
  /** An instance is about to stop: its handoff values for the next version are collected. */
  leaving(instance: Instance, reason: StopReason): void
  /** Releases resources that the runtime holds for an instance outside its scope, e.g. answers under way. */
  released(instance: Instance): void
  /** An instance has stopped: handles it opened past `ctx` are searched for. */
  gone?(instance: Instance): void
}

export function idsOf(tokens: readonly { id: string }[] | undefined): string[] {
  return (tokens ?? []).map(({ id }) => id)
}

/** Where the plugin's own code failed, for a message: ` (at file:line:column)`, '' if the stack has no such place. */
function place(error: unknown): string {
  const own = error instanceof RtkError ? '' : ownPlace(error)
  return own ? ` (at ${own})` : ''
}

function cloneOf(key: string, value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch (error) {
    const reason = messageOf(error).replaceAll(/\s+/g, ' ')
    throw new Error(`"${key}" cannot be handed over, only plain values can: ${reason}`)
  }
}

/** `work`, or a rejection when `signal` aborts before it is done. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(new Error('the service stops'))
    if (signal.aborted) aborted()
    signal.addEventListener('abort', aborted)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}

/** The life of one instance: set up, started, stopped. Knows nothing of other plugins. */
export class Lifecycle {
  readonly #deps: LifecycleDeps

  constructor(deps: LifecycleDeps) {
    this.#deps = deps
  }

  /** Runs `setup`: registrations are recorded, nothing is live. @throws RTK_ERR_PLUGIN_SETUP */
  setUp(definition: PluginDefinition, options: Record<string, unknown>): Instance {
    const { log, clock, host, changesSeen } = this.#deps
    const instance = new Instance(
      definition,
      limitLog(log.child({ plugin: definition.name }), clock),
      clock,
      changesSeen(),
    )
    const ctx = createContext(instance, host)
    instance.context = ctx
    instance.registered.texts = readTexts(definition.texts, (file, reason) =>
      instance.log.warn({ file }, `${file} is not used (${reason}): the page shows this plugin in English`),
    )
    try {
      instance.state = during(definition.name, 'setup', () => runAs(instance, () => definition.setup(ctx, options)))
      if (instance.state instanceof Promise) {
        instance.state.catch(() => {})
        const text = `${definition.name}: setup is asynchronous; move asynchronous work to start`
        throw new RtkError('RTK_ERR_PLUGIN_SETUP', text)
      }
    } catch (error) {
      void instance.scope.close()
      if (error instanceof RtkError) throw error
      const text = `${definition.name}: setup threw: ${messageOf(error)}${place(error)}`
      throw new RtkError('RTK_ERR_PLUGIN_SETUP', text, { cause: error })
    } finally {
      instance.inSetup = false
    }
    return instance
  }

  /**
   * Runs `start` and opens the gate. A failure leaves nothing behind: `stop` is called for everything that `start` had
   * already opened.
   * @throws RTK_ERR_PLUGIN_START, RTK_ERR_PLUGIN_TIMEOUT
   */
  async start(instance: Instance, handoff: HandoffValues): Promise<void> {
    const { host } = this.#deps
    const { definition, name, scope } = instance
    try {
      for (const id of idsOf(definition.needs)) {
        if (host.findService(id, instance) === undefined) throw new Error(`needs ${id}, which no plugin provides`)
      }
      instance.hasBegun = true
      const { context, state } = instance
      const checked = new CheckedHandoff(handoff, instance.log)
      const started = async () => during(name, 'start', () => definition.start?.(context, checked, state))
      await attempt(instance, 'start', () => unlessAborted(this.#deps.stopping, started()), startLimit_ms)
      const missing = idsOf(definition.provides).find((id) => !instance.services.has(id))
      if (missing) throw new Error(`did not provide ${missing}`)
      if (scope.closed) throw new Error('was stopped while it started')
      instance.live = true
      this.#deps.entered(instance)
    } catch (error) {
      await this.stop(instance, 'remove')
      if (error instanceof RtkError) throw error
      const text = `${name}: start failed: ${messageOf(error)}${place(error)}`
      throw new RtkError('RTK_ERR_PLUGIN_START', text, { cause: error })
    }
  }

  /** Gate, abort, `stop`, undo: always ends, even if the plugin misbehaves. Returns its handoff values. */
  async stop(instance: Instance, reason: StopReason): Promise<HandoffValues> {
    const { context, definition, log, name, scope, state } = instance
    const handoff = new Map<string, unknown>()
    instance.live = false
    this.#deps.leaving(instance, reason)
    runAs(instance, () => scope.abort())
    if (!instance.hasBegun) {
      await this.discard(instance)
      return handoff
    }
    try {
      const stopped = async () => during(name, 'stop', () => definition.stop?.(reason, state, context))
      const limit_ms = this.#deps.stopping.aborted ? shutdownLimit_ms : stopLimit_ms
      const values = await attempt(instance, 'stop', stopped, limit_ms)
      for (const [key, value] of values ?? []) handoff.set(key, cloneOf(key, value))
    } catch (error) {
      log.error({ err: error }, `stop failed: ${messageOf(error)}; everything that it registered is undone`)
    }
    await this.discard(instance)
    return handoff
  }

  /** Undoes everything that an instance owns. */
  async discard(instance: Instance): Promise<void> {
    instance.live = false
    await instance.scope.close()
    this.#deps.released(instance)
    this.#deps.gone?.(instance)
  }
}
