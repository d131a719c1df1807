import type { Logger } from 'pino'
import { messageOf, RtkError } from '../../errors.js'
import type { App } from '../../gateway/http/app.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { StopReason } from '../../plugin.js'
import type { HandoffValues } from '../instance/handoff.js'
import type { Instance } from '../instance/instance.js'
import type { Lifecycle } from '../instance/lifecycle.js'
import type { Services } from '../services.js'
import { compileTables, type Tables } from '../tables.js'
import { type Entry, nextOf, type Version } from './entry.js'
import type { PluginGraph } from './plugin-graph.js'
import type { Retry } from './retry.js'

export interface TransactionDeps {
  log: Logger
  clock: Clock
  lifecycle: Lifecycle
  /** Builds the next HTTP app; rejects when the routes do not fit together. */
  stage(instances: readonly Instance[]): Promise<App>
  /** Makes a plugin set live in one step: tables, services, routes. */
  publish(tables: Tables, app: App): void
  services: Services
}

/** Instances that were set up and checked, and the app that has their routes. */
interface Staged {
  readonly instances: readonly Instance[]
  /** How many instances the app was built for. */
  readonly set: number
  readonly app: App
}

/**
 * A change of the plugin set: everything is staged off-line, the affected plugins are stopped, started again in the order of their needs,
 * and published in one step. If the new version cannot start, the old one comes back. The manager runs one change at a time.
 */
export class Transaction {
  readonly #deps: TransactionDeps
  readonly #graph: PluginGraph
  readonly #retry: Retry

  constructor(deps: TransactionDeps, graph: PluginGraph, retry: Retry) {
    this.#deps = deps
    this.#graph = graph
    this.#retry = retry
  }

  /**
   * Makes a version live: stages it, then swaps it together with every plugin that depends on it. Nothing live is touched before all
   * off-line checks have passed; if the start fails, the old version is restored.
   */
  async replace(entry: Entry, next: Version): Promise<void> {
    entry.next = next
    try {
      await this.#replace(entry, next)
    } finally {
      entry.next = undefined
    }
  }

  async #replace(entry: Entry, next: Version): Promise<void> {
    const affected = this.#graph.dependentsOf(entry)
    const all = [entry, ...affected]
    const { order, waiting, cycles } = this.#graph.sort(all)
    const circle = cycles.get(entry)
    if (circle) throw circle
    const missing = waiting.get(entry)
    if (missing && entry.instance) {
      const text = `${entry.name} ${next.definition.version} needs ${this.#graph.named(missing)}`
      throw new RtkError('RTK_ERR_NEEDS_UNMET', `${text}; ${entry.version?.definition.version} keeps running`)
    }
    if (missing) {
      entry.version = next
      this.#graph.wait(entry)
      return
    }
    const old = entry.instance && entry.version
    const staged = await this.#stage(order, all)

    const handoffs = new Map<Entry, HandoffValues>()
    for (const running of this.#graph.running(all).reverse()) {
      handoffs.set(running, await this.stop(running, 'reload'))
    }
    entry.version = next
    for (const waits of waiting.keys()) this.#graph.wait(waits)
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
    await this.#rollBack(entry, old, affected, handoffs, problem)
    const outcome = entry.instance
      ? `${old.definition.version} runs again`
      : `${old.definition.version} could not start again either (${entry.reason}): it is retried`
    throw new RtkError(
      'RTK_ERR_RELOAD_FAILED',
      `${entry.name} ${next.definition.version} could not start (${messageOf(problem)}); ${outcome}`,
      { cause: problem },
    )
  }

  /** Stops a plugin and everything that needs it; those wait from now on. */
  async take(entry: Entry, reason: StopReason): Promise<void> {
    const others = this.#graph.dependentsOf(entry)
    for (const running of this.#graph.running([entry, ...others]).reverse()) {
      await this.stop(running, running === entry ? reason : 'reload')
    }
    this.#leaveWaiting(others)
  }

  async stop(entry: Entry, reason: StopReason): Promise<HandoffValues> {
    const { instance } = entry
    if (!instance) return new Map()
    this.#graph.setState(entry, 'stopping', reason)
    const handoff = await this.#deps.lifecycle.stop(instance, reason)
    entry.instance = undefined
    entry.left = { errors: instance.errors.list(), at_ms: this.#deps.clock.monotonic() }
    this.#deps.services.look()
    this.#graph.setState(entry, 'stopped', reason)
    return handoff
  }

  async startOrFail(entry: Entry, instance: Instance, handoff: HandoffValues): Promise<void> {
    const missing = this.#graph.missing(entry)
    try {
      await this.#start(entry, instance, handoff)
    } catch (error) {
      if (missing.length > 0) this.#graph.wait(entry)
      else this.#retry.failed(entry, error, 'start')
    }
  }

  async publishAgain(): Promise<void> {
    const { instances } = this.#graph
    this.#deps.publish(compileTables(instances), await this.#deps.stage(instances))
  }

  /** Restarts the version that ran before `problem`, with its handoff values. */
  async #rollBack(
    entry: Entry,
    old: Version,
    affected: readonly Entry[],
    handoffs: ReadonlyMap<Entry, HandoffValues>,
    problem: unknown,
  ): Promise<void> {
    this.#deps.log.error(
      { plugin: entry.name, err: problem },
      'the new version could not start: the old one starts again',
    )
    entry.version = old
    entry.next = undefined
    const { order } = this.#graph.sort([entry, ...affected])
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
    for (const entry of entries) this.#graph.wait(entry)
  }

  /** Sets plugins up off-line and checks them against everything live but `replaced`. Throws with nothing touched. */
  async #stage(entries: readonly Entry[], replaced: readonly Entry[]): Promise<Staged> {
    const instances: Instance[] = []
    try {
      for (const entry of entries) {
        const { definition, options } = nextOf(entry) as Version
        instances.push(this.#deps.lifecycle.setUp(definition, options))
      }
      const fresh = new Map(instances.map((instance) => [instance.name, instance]))
      const next = this.#graph.entries.flatMap((entry) => {
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
      const entry = this.#graph.entry(instance.name)
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
    this.#graph.setState(entry, 'starting', '')
    try {
      await this.#deps.lifecycle.start(instance, handoff)
    } catch (error) {
      entry.instance = undefined
      throw error
    }
    entry.startedAt_ms = this.#deps.clock.monotonic()
    this.#graph.setState(entry, 'running', '')
  }

  /** Starts what waited for a service that is there now. */
  async #wakeWaiting(): Promise<void> {
    for (;;) {
      const entry = this.#graph.entries.find(
        (waits) => waits.state === 'waiting' && this.#graph.missing(waits).length === 0,
      )
      if (!entry) return
      try {
        const staged = await this.#stage([entry], [entry])
        await this.#enter(staged.instances, new Map())
        await this.#publish(staged)
      } catch (error) {
        this.#retry.failed(entry, error, 'setup')
      }
    }
  }

  /** Publishes the staged set; with other routes if a staged instance has already stopped. */
  async #publish({ set, app }: Staged): Promise<void> {
    const { instances } = this.#graph
    if (instances.length === set) this.#deps.publish(compileTables(instances), app)
    else await this.publishAgain()
  }
}
