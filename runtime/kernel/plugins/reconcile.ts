import type { Logger } from 'pino'
import { messageOf, RtkError } from '../../errors.js'
import type { App } from '../../gateway/http/app.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { Blocker } from '../../platform/supervision/stalls.js'
import type { StopReason } from '../../plugin.js'
import type { HandoffValues } from '../instance/handoff.js'
import type { Instance } from '../instance/instance.js'
import type { Lifecycle } from '../instance/lifecycle.js'
import type { Services } from '../services.js'
import { compileTables, type Tables } from '../tables.js'
import { adopt, type Entry, type Staged, type Step, stepOf } from './entry.js'
import type { Failures } from './failures.js'
import type { PluginSet } from './plugin-set.js'

export interface ReconcileDeps {
  log: Logger
  clock: Clock
  lifecycle: Lifecycle
  /** Builds the next HTTP app; rejects when the routes do not fit together. */
  stage(instances: readonly Instance[]): Promise<App>
  /** Makes a plugin set live in one step: tables, services, routes. */
  publish(tables: Tables, app: App): void
  services: Services
  /** The plugin that ended the previous process: it stays out of the boot. */
  blocker: Blocker | undefined
}

/**
 * Carries out a change of the plugin set: stage everything off-line, stop the affected plugins, start them again in
 * dependency order, publish in one step. Rolls back if the new version cannot start. The manager runs one change at a
 * time.
 */
export class Reconcile {
  readonly #deps: ReconcileDeps
  readonly #pluginSet: PluginSet
  readonly #failures: Failures

  constructor(deps: ReconcileDeps, pluginSet: PluginSet, failures: Failures) {
    this.#deps = deps
    this.#pluginSet = pluginSet
    this.#failures = failures
  }

  /**
   * Makes a definition live: stages it, then swaps it together with every plugin that depends on it. Nothing live is
   * touched before all off-line checks have passed; if the start fails, the old version is restored.
   */
  async replace(step: Step): Promise<void> {
    const { entry } = step
    const affected = this.#pluginSet.dependentsOf(entry, step.definition)
    const { order, waiting, cycles } = this.#pluginSet.sort([step, ...affected.map(stepOf)])
    const circle = cycles.get(entry)
    if (circle) throw circle
    const missing = waiting.get(entry)
    if (missing && entry.instance) {
      const text = `${entry.name} ${step.definition.version} needs ${this.#pluginSet.named(missing)}`
      throw new RtkError('RTK_ERR_NEEDS_UNMET', `${text}; ${entry.definition?.version} keeps running`)
    }
    if (missing) {
      adopt(step)
      this.#pluginSet.wait(entry)
      return
    }
    const old = entry.instance && stepOf(entry)
    const staged = await this.#stage(order, [entry, ...affected])

    const handoffs = new Map<Entry, HandoffValues>()
    for (const running of this.#pluginSet.running([entry, ...affected]).reverse()) {
      handoffs.set(running, await this.stop(running, 'reload'))
    }
    adopt(step)
    for (const waits of waiting.keys()) this.#pluginSet.wait(waits)
    const problem = await this.#enter(staged.instances, handoffs, entry)
    if (!problem) {
      await this.#publish(staged)
      await this.#wakeWaiting()
      return
    }
    for (const instance of staged.instances) await this.#deps.lifecycle.discard(instance)
    if (!old) {
      await this.publishAgain()
      throw problem
    }
    await this.#rollBack(old, affected, handoffs, problem)
    const outcome = entry.instance
      ? `${old.definition.version} runs again`
      : `${old.definition.version} could not start again either (${entry.reason}): it is retried`
    throw new RtkError(
      'RTK_ERR_RELOAD_FAILED',
      `${entry.name} ${step.definition.version} could not start (${messageOf(problem)}); ${outcome}`,
      { cause: problem },
    )
  }

  /** Stops a plugin and everything that needs it; those wait from now on. */
  async take(entry: Entry, reason: StopReason): Promise<void> {
    const others = this.#pluginSet.dependentsOf(entry)
    for (const running of this.#pluginSet.running([entry, ...others]).reverse()) {
      await this.stop(running, running === entry ? reason : 'reload')
    }
    this.#leaveWaiting(others)
  }

  async stop(entry: Entry, reason: StopReason): Promise<HandoffValues> {
    const { instance } = entry
    if (!instance) return new Map()
    this.#pluginSet.setState(entry, 'stopping', reason)
    const handoff = await this.#deps.lifecycle.stop(instance, reason)
    entry.instance = undefined
    entry.left = { errors: instance.errors, at_ms: this.#deps.clock.monotonic() }
    this.#deps.services.look()
    this.#pluginSet.setState(entry, 'stopped', reason)
    return handoff
  }

  async startOrFail(entry: Entry, instance: Instance, handoff: HandoffValues): Promise<void> {
    const missing = this.#pluginSet.missing(entry)
    try {
      await this.#start(entry, instance, handoff)
    } catch (error) {
      if (missing.length > 0) this.#pluginSet.wait(entry)
      else this.#failures.failed(entry, error, 'start')
    }
  }

  async publishAgain(): Promise<void> {
    const { instances } = this.#pluginSet
    this.#deps.publish(compileTables(instances), await this.#deps.stage(instances))
  }

  /** Restarts the version that ran before `problem`, with its handoff values. */
  async #rollBack(
    old: Step,
    affected: readonly Entry[],
    handoffs: ReadonlyMap<Entry, HandoffValues>,
    problem: unknown,
  ): Promise<void> {
    const { entry } = old
    this.#deps.log.error(
      { plugin: entry.name, err: problem },
      'the new version could not start: the old one starts again',
    )
    adopt(old)
    const { order } = this.#pluginSet.sort([old, ...affected.map(stepOf)])
    let back: Staged
    try {
      back = await this.#stage(order, [entry, ...affected])
    } catch (error) {
      this.#leaveWaiting(affected)
      await this.publishAgain()
      throw error
    }
    await this.#enter(back.instances, handoffs)
    await this.#publish(back)
  }

  /** Leaves plugins waiting that stopped because a service they need has gone. */
  #leaveWaiting(entries: readonly Entry[]): void {
    for (const entry of entries) this.#pluginSet.wait(entry)
  }

  /** Sets steps up off-line and checks them against everything live but `replaced`. Throws with nothing touched. */
  async #stage(steps: readonly Step[], replaced: readonly Entry[]): Promise<Staged> {
    const instances: Instance[] = []
    try {
      for (const { definition, options } of steps) instances.push(this.#deps.lifecycle.setUp(definition, options))
      const fresh = new Map(instances.map((instance) => [instance.name, instance]))
      const next = this.#pluginSet.entries.flatMap((entry) => {
        const instance = fresh.get(entry.name) ?? (replaced.includes(entry) ? undefined : entry.instance)
        return instance ? [instance] : []
      })
      compileTables(next)
      return { instances, set: next.length, app: await this.#deps.stage(next) }
    } catch (error) {
      for (const instance of instances) await this.#deps.lifecycle.discard(instance)
      throw error
    }
  }

  /** Starts staged instances in order. Gives up at a failure of `decisive`; another one's failure is its own. */
  async #enter(
    instances: readonly Instance[],
    handoffs: ReadonlyMap<Entry, HandoffValues>,
    decisive?: Entry,
  ): Promise<unknown> {
    for (const instance of instances) {
      const entry = this.#pluginSet.entry(instance.name)
      const handoff = handoffs.get(entry) ?? new Map()
      if (entry !== decisive) {
        await this.startOrFail(entry, instance, handoff)
        continue
      }
      try {
        await this.#start(entry, instance, handoff)
      } catch (error) {
        return error
      }
    }
  }

  async #start(entry: Entry, instance: Instance, handoff: HandoffValues): Promise<void> {
    entry.instance = instance
    instance.before = entry.left
    this.#deps.services.enter(instance)
    this.#pluginSet.setState(entry, 'starting', '')
    try {
      await this.#deps.lifecycle.start(instance, handoff)
    } catch (error) {
      entry.instance = undefined
      throw error
    }
    entry.startedAt_ms = this.#deps.clock.monotonic()
    this.#pluginSet.setState(entry, 'running', '')
  }

  /** Starts what waited for a service that is there now. */
  async #wakeWaiting(): Promise<void> {
    for (;;) {
      const entry = this.#pluginSet.entries.find(
        (waits) => waits.state === 'waiting' && this.#pluginSet.missing(waits).length === 0,
      )
      if (!entry) return
      try {
        const staged = await this.#stage([stepOf(entry)], [entry])
        await this.#enter(staged.instances, new Map())
        await this.#publish(staged)
      } catch (error) {
        this.#failures.failed(entry, error, 'setup')
      }
    }
  }

  /** Publishes the staged set; with other routes if a staged instance has already stopped. */
  async #publish({ set, app }: Staged): Promise<void> {
    const { instances } = this.#pluginSet
    if (instances.length === set) this.#deps.publish(compileTables(instances), app)
    else await this.publishAgain()
  }
}
