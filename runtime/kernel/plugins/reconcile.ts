import type { Logger } from 'pino'
import { messageOf, RtkError } from '../../errors.js'
import type { Generation } from '../../http/generation.js'
import type { StopReason } from '../../plugin.js'
import type { Clock } from '../../ports/clock.js'
import type { Blocker } from '../../watchdog/stalls.js'
import type { Instance } from '../instance/instance.js'
import type { HandoffValues, Lifecycle } from '../instance/lifecycle.js'
import type { Services } from '../services.js'
import { compileTables, type Tables } from '../tables.js'
import { adopt, type Entry, type Staged, type Step, stepOf } from './entry.js'
import type { Failures } from './failures.js'
import type { Roster } from './roster.js'

export interface ReconcileDeps {
  log: Logger
  clock: Clock
  lifecycle: Lifecycle
  /** Builds the next HTTP generation; rejects when the routes do not fit together. */
  stage(instances: readonly Instance[]): Promise<Generation>
  /** Puts a plugin set in force, in one step: tables, services, routes. */
  publish(tables: Tables, generation: Generation): void
  services: Services
  /** The plugin that ended the process before this one: it stays out of the boot. */
  blocker: Blocker | undefined
}

/**
 * How a change of the plugin set is carried out: stage everything off-line, stop what is affected, start it again in the
 * order of needs, publish in one step; roll back when the new version cannot start. One at a time: the manager sees to it.
 */
export class Reconcile {
  readonly #deps: ReconcileDeps
  readonly #roster: Roster
  readonly #failures: Failures

  constructor(deps: ReconcileDeps, roster: Roster, failures: Failures) {
    this.#deps = deps
    this.#roster = roster
    this.#failures = failures
  }

  /**
   * Puts a definition in force: staged, then swapped together with every plugin that depends on it. Until everything that
   * can be checked off-line was checked, nothing live is touched; a start that fails brings the old version back.
   */
  async replace(step: Step): Promise<void> {
    const { entry } = step
    const affected = this.#roster.dependentsOf(entry, step.definition)
    const { order, waiting, cycles } = this.#roster.sort([step, ...affected.map(stepOf)])
    const circle = cycles.get(entry)
    if (circle) throw circle
    const missing = waiting.get(entry)
    if (missing && entry.instance) {
      const text = `${entry.name} ${step.definition.version} needs ${this.#roster.named(missing)}`
      throw new RtkError('RTK_ERR_NEEDS_UNMET', `${text}; ${entry.definition?.version} goes on`)
    }
    if (missing) {
      adopt(step)
      this.#roster.wait(entry)
      return
    }
    const old = entry.instance && stepOf(entry)
    const staged = await this.#stage(order, [entry, ...affected])

    const handoffs = new Map<Entry, HandoffValues>()
    for (const running of this.#roster.running([entry, ...affected]).reverse()) {
      handoffs.set(running, await this.stop(running, 'reload'))
    }
    adopt(step)
    for (const waits of waiting.keys()) this.#roster.wait(waits)
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
    const others = this.#roster.dependentsOf(entry)
    for (const running of this.#roster.running([entry, ...others]).reverse()) {
      await this.stop(running, running === entry ? reason : 'reload')
    }
    this.#leaveWaiting(others)
  }

  async stop(entry: Entry, reason: StopReason): Promise<HandoffValues> {
    const { instance } = entry
    if (!instance) return new Map()
    this.#roster.setState(entry, 'stopping', reason)
    const handoff = await this.#deps.lifecycle.stop(instance, reason)
    entry.instance = undefined
    entry.left = { errors: instance.errors, at_ms: this.#deps.clock.monotonic() }
    this.#deps.services.look()
    this.#roster.setState(entry, 'stopped', reason)
    return handoff
  }

  async startOrFail(entry: Entry, instance: Instance, handoff: HandoffValues): Promise<void> {
    const missing = this.#roster.missing(entry)
    try {
      await this.#start(entry, instance, handoff)
    } catch (error) {
      if (missing.length > 0) this.#roster.wait(entry)
      else this.#failures.failed(entry, error, 'start')
    }
  }

  async publishAgain(): Promise<void> {
    const { instances } = this.#roster
    this.#deps.publish(compileTables(instances), await this.#deps.stage(instances))
  }

  /** The version that ran before `problem` starts again, with what it handed over. */
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
    const { order } = this.#roster.sort([old, ...affected.map(stepOf)])
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

  /** Those that were stopped because what they need is gone. */
  #leaveWaiting(entries: readonly Entry[]): void {
    for (const entry of entries) this.#roster.wait(entry)
  }

  /** Sets steps up off-line and checks them against everything live but `replaced`. Throws with nothing touched. */
  async #stage(steps: readonly Step[], replaced: readonly Entry[]): Promise<Staged> {
    const instances: Instance[] = []
    try {
      for (const { definition, options } of steps) instances.push(this.#deps.lifecycle.setUp(definition, options))
      const fresh = new Map(instances.map((instance) => [instance.name, instance]))
      const next = this.#roster.entries.flatMap((entry) => {
        const instance = fresh.get(entry.name) ?? (replaced.includes(entry) ? undefined : entry.instance)
        return instance ? [instance] : []
      })
      compileTables(next)
      return { instances, set: next.length, generation: await this.#deps.stage(next) }
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
      const entry = this.#roster.entry(instance.name)
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
    this.#roster.setState(entry, 'starting', '')
    try {
      await this.#deps.lifecycle.start(instance, handoff)
    } catch (error) {
      entry.instance = undefined
      throw error
    }
    entry.startedAt_ms = this.#deps.clock.monotonic()
    this.#roster.setState(entry, 'running', '')
  }

  /** Starts what waited for a service that is there now. */
  async #wakeWaiting(): Promise<void> {
    for (;;) {
      const entry = this.#roster.entries.find(
        (waits) => waits.state === 'waiting' && this.#roster.missing(waits).length === 0,
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

  /** Publishes what was staged; with other routes when one of the staged instances is gone already. */
  async #publish({ set, generation }: Staged): Promise<void> {
    const { instances } = this.#roster
    if (instances.length === set) this.#deps.publish(compileTables(instances), generation)
    else await this.publishAgain()
  }
}
