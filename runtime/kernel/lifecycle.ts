import type { Logger } from 'pino'
import { messageOf, RtkError } from '../errors.js'
import type { PluginDefinition, StopReason } from '../plugin.js'
import type { Clock } from '../ports/clock.js'
import { type ContextHost, createContext } from './context.js'
import { Instance } from './instance.js'
import { withLimit } from './limit.js'

const startLimit_ms = 10_000
const stopLimit_ms = 5_000

export type HandoffValues = Map<string, unknown>

export interface LifecycleDeps {
  log: Logger
  clock: Clock
  host: ContextHost
  /** What the runtime holds of a plugin outside its scope, e.g. upgraded sockets. */
  released(instance: Instance): void
}

export function idsOf(tokens: readonly { id: string }[] | undefined): string[] {
  return (tokens ?? []).map(({ id }) => id)
}

/** The life of one instance: set up, started, stopped. Knows nothing of other plugins. */
export class Lifecycle {
  readonly #deps: LifecycleDeps

  constructor(deps: LifecycleDeps) {
    this.#deps = deps
  }

  /** Runs `setup`: registrations are recorded, nothing is live. @throws RTK_ERR_PLUGIN_SETUP */
  setUp(definition: PluginDefinition, options: Record<string, unknown>): Instance {
    const { log, clock, host } = this.#deps
    const instance = new Instance(definition, log.child({ plugin: definition.name }), clock)
    const ctx = createContext(instance, host)
    instance.context = ctx
    try {
      instance.state = instance.run(() => definition.setup(ctx, options))
      if (instance.state instanceof Promise) {
        instance.state.catch(() => {})
        const text = `${definition.name}: setup is asynchronous; what has to wait belongs in start`
        throw new RtkError('RTK_ERR_PLUGIN_SETUP', text)
      }
    } catch (error) {
      void instance.scope.close()
      if (error instanceof RtkError) throw error
      throw new RtkError('RTK_ERR_PLUGIN_SETUP', `${definition.name}: setup threw: ${messageOf(error)}`, {
        cause: error,
      })
    } finally {
      instance.inSetup = false
    }
    return instance
  }

  /** Runs `start` and opens the gate. A failure leaves nothing behind. @throws RTK_ERR_PLUGIN_START, _TIMEOUT */
  async start(instance: Instance, handoff: HandoffValues): Promise<void> {
    const { definition, name, scope } = instance
    try {
      for (const id of idsOf(definition.needs)) {
        if (this.#deps.host.findService(id) === undefined) throw new Error(`needs ${id}, which nobody provides`)
      }
      const started = instance.run(async () => definition.start?.(instance.context, handoff, instance.state))
      await withLimit(this.#deps.clock, startLimit_ms, name, 'start', started)
      const missing = idsOf(definition.provides).find((id) => !instance.services.has(id))
      if (missing) throw new Error(`did not provide ${missing}`)
      if (scope.closed) throw new Error('was stopped while it started')
      instance.live = true
    } catch (error) {
      instance.run(() => scope.abort())
      await this.discard(instance)
      if (error instanceof RtkError) throw error
      throw new RtkError('RTK_ERR_PLUGIN_START', `${name}: start failed: ${messageOf(error)}`, { cause: error })
    }
  }

  /** Gate, abort, `stop`, undo: always ends, whatever the plugin does. Returns what it hands over. */
  async stop(instance: Instance, reason: StopReason): Promise<HandoffValues> {
    const handoff: HandoffValues = new Map()
    instance.live = false
    instance.run(() => instance.scope.abort())
    try {
      const stopped = instance.run(async () => instance.definition.stop?.(reason, instance.state))
      const values = await withLimit(this.#deps.clock, stopLimit_ms, instance.name, 'stop', stopped)
      for (const [name, value] of values ?? []) handoff.set(name, structuredClone(value))
    } catch (error) {
      instance.log.error({ err: error }, `stop failed: ${messageOf(error)}; what it registered is undone all the same`)
    }
    await this.discard(instance)
    return handoff
  }

  /** Undoes everything that an instance owns. */
  async discard(instance: Instance): Promise<void> {
    instance.live = false
    await instance.scope.close()
    this.#deps.released(instance)
  }
}
