import type { Logger } from 'pino'
import type { PluginReport, PluginStateName } from '../../schemas/services.js'
import { messageOf, RtkError } from '../errors.js'
import type { Generation } from '../http/generation.js'
import type { Loaded } from '../loader/load.js'
import type { PluginDefinition, StopReason } from '../plugin.js'
import type { Clock } from '../ports/clock.js'
import { adopt, type Entry, edgesOf, newEntry, reportOf, type Staged, type Step, stepOf, type Wanted } from './entry.js'
import { dependents, startOrder } from './graph.js'
import type { Instance } from './instance.js'
import { type HandoffValues, idsOf, type Lifecycle } from './lifecycle.js'
import { Mutex } from './limit.js'
import { resolveOptions, type SetOption } from './options.js'
import { compileTables, type Tables } from './tables.js'

/** A failed start is tried again after these, then the plugin is quarantined and tried every `quarantine_ms`. */
const retries_ms = [1_000, 5_000] as const
const quarantine_ms = 300_000
/** A plugin that ran this long without a crash starts its count of failures anew. */
const healthy_ms = 300_000

export interface ManagerDeps {
  log: Logger
  clock: Clock
  lifecycle: Lifecycle
  /** Services of the runtime itself. */
  services: ReadonlyMap<string, unknown>
  load(source: string): Promise<Loaded>
  digest(source: string): Promise<string>
  /** Command-line options of a plugin. */
  sets(plugin: string): readonly SetOption[]
  /** Builds the next HTTP generation; rejects when the routes do not fit together. */
  stage(instances: readonly Instance[]): Promise<Generation>
  /** Puts a plugin set in force, in one step. */
  publish(tables: Tables, generation: Generation): void
  /** Something of a plugin's state changed. */
  stateChanged(): void
  /** The sources of a plugin, for a watcher; empty when it was unloaded. */
  loaded(plugin: string, inputs: readonly string[]): void
}

/**
 * The plugins and their states. Every operation is one reconcile, one at a time: stage everything off-line, stop what is
 * affected, start it anew in the order of needs, publish in one step; roll back when the new version cannot start.
 */
export class Manager {
  readonly #deps: ManagerDeps
  readonly #entries = new Map<string, Entry>()
  readonly #reconcile = new Mutex()
  #closed = false

  constructor(deps: ManagerDeps) {
    this.#deps = deps
  }

  report(): PluginReport[] {
    return [...this.#entries.values()].map(reportOf)
  }

  /** The value of a live service: the runtime's own or a plugin's. */
  findService(id: string): unknown {
    const own = this.#deps.services.get(id)
    if (own !== undefined) return own
    for (const { instance } of this.#entries.values()) {
      if (instance?.live && instance.services.has(id)) return instance.services.get(id)
    }
  }

  /** Instances that run or are about to, in load order. */
  get instances(): Instance[] {
    return [...this.#entries.values()].flatMap(({ instance }) => (instance ? [instance] : []))
  }

  // ── operations ──────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Loads and sets up every wanted plugin, calls `ready` when all parameters are known, then starts them. A plugin that
   * cannot be loaded, set up or started is `failed` and told; the others run.
   * @throws RTK_ERR_PLUGIN_OPTIONS: options are the operator's to correct, before anything runs.
   */
  async boot(wanted: readonly Wanted[], ready: () => Promise<void>): Promise<void> {
    await this.#reconcile.run(async () => {
      const steps: Step[] = []
      for (const want of wanted) {
        const step = await this.#prepare(want)
        if (step) steps.push(step)
      }
      const { order, waiting, cycles } = this.#sort(steps)
      for (const [entry, circle] of cycles) this.#failed(entry, circle, 'load')
      for (const [entry, needs] of waiting) this.#setState(entry, 'waiting', `needs ${needs.join(', ')}`)
      const generation = await this.#setUpEach(order)
      const published = this.instances
      this.#deps.publish(compileTables(published), generation)
      await ready()
      for (const { entry } of order) if (entry.instance) await this.#startOrFail(entry, entry.instance, new Map())
      if (this.instances.length !== published.length) await this.#publishAnew()
    })
  }

  /** Adds a plugin to the running service. Nothing is left of it when it cannot be loaded or started. */
  async load(want: Wanted): Promise<PluginReport> {
    return this.#reconcile.run(async () => {
      const { definition, digest, inputs, file } = await this.#fetch(want)
      const known = this.#entries.get(definition.name)
      if (known) throw new RtkError('RTK_ERR_ALREADY_LOADED', `${definition.name} is loaded already (${known.state})`)
      const entry = newEntry(definition.name, want)
      const step = this.#stepFor(entry, definition, digest)
      this.#entries.set(entry.name, entry)
      try {
        await this.#replace(step)
      } catch (error) {
        this.#entries.delete(entry.name)
        throw error
      }
      this.#loaded(entry, inputs, file)
      return reportOf(entry)
    })
  }

  /** Takes a plugin out. Those that need it wait. */
  async unload(name: string): Promise<void> {
    await this.#reconcile.run(async () => {
      const entry = this.#entry(name)
      void entry.retry?.()
      this.#deps.loaded(name, [])
      await this.#take(entry, 'remove')
      this.#entries.delete(name)
      await this.#publishAnew()
      this.#deps.stateChanged()
    })
  }

  /** Loads the code again and replaces the running version; the old one goes on when the new one is bad. */
  async reload(name: string): Promise<PluginReport> {
    return this.#reconcile.run(async () => {
      const entry = this.#entry(name)
      const { definition, digest, inputs, file } = await this.#fetch(entry.wanted)
      this.#rename(entry, definition)
      this.#loaded(entry, inputs, file)
      if (digest !== entry.digest) entry.failures = 0
      void entry.retry?.()
      entry.retry = undefined
      try {
        await this.#replace(this.#stepFor(entry, definition, digest))
      } catch (error) {
        // One that did not run before, and one whose old version could not start again either, are tried again.
        if (!entry.instance && !entry.retry) this.#failed(entry, error, 'reload')
        throw error
      }
      return reportOf(entry)
    })
  }

  /** As `reload`, when the code changed; what a watcher calls. */
  async reloadIfChanged(name: string): Promise<PluginReport | undefined> {
    const { wanted, digest } = this.#entry(name)
    if (wanted.definition || (await this.#deps.digest(wanted.source)) === digest) return undefined
    return this.reload(name)
  }

  /** The running plugin to which the first of `files` belongs that belongs to one alone. */
  ownerOfFiles(files: readonly string[]): string | undefined {
    const running = [...this.#entries.values()].filter(({ instance }) => instance)
    for (const file of files) {
      const owners = running.filter((entry) => entry.files.has(file))
      if (owners.length === 1) return owners[0].name
    }
  }

  /** An uncaught error of a plugin: it is stopped and started again with back-off. False when no such plugin runs. */
  crashed(name: string, error: unknown): boolean {
    const entry = this.#entries.get(name)
    const instance = entry?.instance
    if (!entry || !instance) return false
    instance.live = false
    void this.#reconcile.run(async () => {
      if (entry.instance !== instance || this.#closed) return
      await this.#take(entry, 'reload')
      this.#failed(entry, error, 'uncaught error')
      await this.#publishAnew()
    })
    return true
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#reconcile.run(async () => {
      for (const entry of this.#entries.values()) void entry.retry?.()
      for (const entry of this.#running([...this.#entries.values()]).reverse()) await this.#stop(entry, 'shutdown')
    })
  }

  // ── one reconcile ───────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Puts a definition in force: staged, then swapped together with every plugin that depends on it. Until everything that
   * can be checked off-line was checked, nothing live is touched; a start that fails brings the old version back.
   */
  async #replace(step: Step): Promise<void> {
    const { entry } = step
    const affected = this.#dependentsOf(entry, step.definition)
    const { order, waiting, cycles } = this.#sort([step, ...affected.map(stepOf)])
    const circle = cycles.get(entry)
    if (circle) throw circle
    const missing = waiting.get(entry)
    if (missing && !entry.instance) {
      adopt(step)
      this.#setState(entry, 'waiting', `needs ${missing.join(', ')}`)
      return
    }
    const old = entry.instance && stepOf(entry)
    const staged = await this.#stage(order, [entry, ...affected])

    const handoffs = new Map<Entry, HandoffValues>()
    for (const running of this.#running([entry, ...affected]).reverse()) {
      handoffs.set(running, await this.#stop(running, 'reload'))
    }
    adopt(step)
    for (const [waits, needs] of waiting) this.#setState(waits, 'waiting', `needs ${needs.join(', ')}`)
    const problem = await this.#enter(staged.instances, handoffs, entry)
    if (!problem) {
      await this.#publish(staged)
      await this.#wakeWaiting()
      return
    }
    for (const instance of staged.instances) await this.#deps.lifecycle.discard(instance)
    if (!old) {
      await this.#publishAnew()
      throw problem
    }
    this.#deps.log.error(
      { plugin: entry.name, err: problem },
      'the new version could not start: the old one starts again',
    )
    adopt(old)
    const back = await this.#stage(this.#sort([old, ...affected.map(stepOf)]).order, [entry, ...affected])
    await this.#enter(back.instances, handoffs)
    await this.#publish(back)
    throw new RtkError(
      'RTK_ERR_RELOAD_FAILED',
      `${entry.name} ${step.definition.version} could not start (${messageOf(problem)}); ${old.definition.version} runs again`,
      { cause: problem },
    )
  }

  /** Sets steps up off-line and checks them against everything live but `replaced`. Throws with nothing touched. */
  async #stage(steps: readonly Step[], replaced: readonly Entry[]): Promise<Staged> {
    const instances: Instance[] = []
    try {
      for (const { definition, options } of steps) instances.push(this.#deps.lifecycle.setUp(definition, options))
      const fresh = new Map(instances.map((instance) => [instance.name, instance]))
      const next = [...this.#entries.values()].flatMap((entry) => {
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
      const entry = this.#entry(instance.name)
      const handoff = handoffs.get(entry) ?? new Map()
      if (entry !== decisive) {
        await this.#startOrFail(entry, instance, handoff)
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
    this.#setState(entry, 'starting', '')
    try {
      await this.#deps.lifecycle.start(instance, handoff)
    } catch (error) {
      entry.instance = undefined
      throw error
    }
    entry.startedAt_ms = this.#deps.clock.monotonic()
    this.#setState(entry, 'running', '')
  }

  async #startOrFail(entry: Entry, instance: Instance, handoff: HandoffValues): Promise<void> {
    const missing = this.#missing(entry)
    try {
      await this.#start(entry, instance, handoff)
    } catch (error) {
      if (missing.length > 0) this.#setState(entry, 'waiting', `needs ${missing.join(', ')}`)
      else this.#failed(entry, error, 'start')
    }
  }

  async #stop(entry: Entry, reason: StopReason): Promise<HandoffValues> {
    const { instance } = entry
    if (!instance) return new Map()
    this.#setState(entry, 'stopping', reason)
    const handoff = await this.#deps.lifecycle.stop(instance, reason)
    entry.instance = undefined
    this.#setState(entry, 'stopped', reason)
    return handoff
  }

  /** Stops a plugin and everything that needs it; those wait from now on. */
  async #take(entry: Entry, reason: StopReason): Promise<void> {
    const others = this.#dependentsOf(entry, undefined)
    for (const running of this.#running([entry, ...others]).reverse()) {
      await this.#stop(running, running === entry ? reason : 'reload')
    }
    for (const other of others) this.#setState(other, 'waiting', `needs ${this.#missing(other).join(', ')}`)
  }

  /** Starts what waited for a service that is there now. */
  async #wakeWaiting(): Promise<void> {
    for (;;) {
      const entry = [...this.#entries.values()].find(
        (waits) => waits.state === 'waiting' && this.#missing(waits).length === 0,
      )
      if (!entry) return
      try {
        const staged = await this.#stage([stepOf(entry)], [entry])
        await this.#enter(staged.instances, new Map())
        await this.#publish(staged)
      } catch (error) {
        this.#failed(entry, error, 'setup')
      }
    }
  }

  /** Publishes what was staged; anew when one of the staged instances is gone already. */
  async #publish({ set, generation }: Staged): Promise<void> {
    if (this.instances.length === set) this.#deps.publish(compileTables(this.instances), generation)
    else await this.#publishAnew()
  }

  async #publishAnew(): Promise<void> {
    this.#deps.publish(compileTables(this.instances), await this.#deps.stage(this.instances))
  }

  // ── boot ────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #prepare(want: Wanted): Promise<Step | undefined> {
    let entry = newEntry(want.source, want)
    try {
      const { definition, digest, inputs, file } = await this.#fetch(want)
      entry = newEntry(definition.name, want)
      if (this.#entries.has(entry.name)) {
        throw new RtkError('RTK_ERR_PLUGIN_OPTIONS', `two plugins of this variant are called ${entry.name}`)
      }
      const step = this.#stepFor(entry, definition, digest)
      adopt(step)
      this.#entries.set(entry.name, entry)
      this.#loaded(entry, inputs, file)
      return step
    } catch (error) {
      if (error instanceof RtkError && error.code === 'RTK_ERR_PLUGIN_OPTIONS') throw error
      this.#entries.set(entry.name, entry)
      this.#failed(entry, error, 'load')
    }
  }

  /** Sets plugins up one after the other; one that conflicts with those before it fails alone. */
  async #setUpEach(steps: readonly Step[]): Promise<Generation> {
    let generation: Generation | undefined
    for (const { entry, definition, options } of steps) {
      try {
        entry.instance = this.#deps.lifecycle.setUp(definition, options)
        compileTables(this.instances)
      } catch (error) {
        if (entry.instance) await this.#deps.lifecycle.discard(entry.instance)
        this.#failed(entry, error, 'setup')
      }
    }
    try {
      return await this.#deps.stage(this.instances)
    } catch {
      // Somebody's routes do not fit: found out one by one, as this is rare and costs a generation each.
      const all = this.instances
      const accepted: Instance[] = []
      for (const instance of all) {
        try {
          generation = await this.#deps.stage([...accepted, instance])
          accepted.push(instance)
        } catch (error) {
          await this.#deps.lifecycle.discard(instance)
          this.#failed(this.#entry(instance.name), error, 'routes')
        }
      }
      return generation ?? (await this.#deps.stage([]))
    }
  }

  // ── failures ────────────────────────────────────────────────────────────────────────────────────────────────────

  #failed(entry: Entry, error: unknown, phase: string): void {
    const { clock, log } = this.#deps
    entry.instance = undefined
    if (entry.startedAt_ms > 0 && clock.monotonic() - entry.startedAt_ms > healthy_ms) entry.failures = 0
    entry.failures += 1
    const quarantined = entry.failures > retries_ms.length
    const delay_ms = quarantined ? quarantine_ms : retries_ms[entry.failures - 1]
    const text = messageOf(error)
    this.#setState(entry, quarantined ? 'quarantined' : 'failed', text)
    log.error(
      { plugin: entry.name, err: error, phase },
      `${phase} failed: ${text}; tried again in ${delay_ms / 1000} s`,
    )
    void entry.retry?.()
    entry.retry = clock.timer(delay_ms, () => {
      entry.retry = undefined
      void this.#reconcile.run(() => this.#tryAgain(entry))
    })
  }

  async #tryAgain(entry: Entry): Promise<void> {
    if (this.#closed || this.#entries.get(entry.name) !== entry || entry.instance) return
    try {
      const { definition, digest, inputs, file } = await this.#fetch(entry.wanted)
      this.#rename(entry, definition)
      this.#loaded(entry, inputs, file)
      await this.#replace(this.#stepFor(entry, definition, digest))
    } catch (error) {
      this.#failed(entry, error, 'start')
    }
  }

  // ── small parts ─────────────────────────────────────────────────────────────────────────────────────────────────

  async #fetch({ definition, source }: Wanted): Promise<Loaded> {
    return definition ? { definition: definition(), digest: '', inputs: [], file: '' } : this.#deps.load(source)
  }

  #loaded(entry: Entry, inputs: readonly string[], file: string): void {
    entry.files = new Set([...inputs, file])
    this.#deps.loaded(entry.name, inputs)
  }

  #stepFor(entry: Entry, definition: PluginDefinition, digest: string): Step {
    const sets = this.#deps.sets(entry.name)
    return {
      entry,
      definition,
      digest,
      options: resolveOptions(entry.name, definition.options, entry.wanted.options, sets),
    }
  }

  /** Code that could not be loaded before is known by its source until its own name is read. */
  #rename(entry: Entry, { name }: PluginDefinition): void {
    if (entry.name === name) return
    if (entry.definition) {
      throw new RtkError('RTK_ERR_PLUGIN_INVALID', `${entry.name} now calls itself ${name}: unload it and load it anew`)
    }
    this.#entries.delete(entry.name)
    entry.name = name
    this.#entries.set(name, entry)
  }

  /** Orders steps by their needs, given what is live besides them. */
  #sort(steps: readonly Step[]) {
    const mine = new Set(steps.map(({ entry }) => entry))
    const given = new Set(this.#deps.services.keys())
    for (const entry of this.#entries.values()) {
      if (entry.instance && !mine.has(entry)) for (const id of idsOf(entry.definition?.provides)) given.add(id)
    }
    const nodes = steps.map((step) => ({ name: step.entry.name, ...edgesOf(step.definition), step }))
    const sorted = startOrder(nodes, given)
    const entryOf = (name: string) => nodes.find((node) => node.name === name)?.step.entry as Entry
    const circle = (text: string) =>
      new RtkError('RTK_ERR_PLUGIN_CYCLE', `plugins need each other in a circle: ${text}`)
    return {
      order: sorted.order.map(({ step }) => step),
      waiting: new Map([...sorted.waiting].map(([name, needs]) => [entryOf(name), needs])),
      cycles: new Map([...sorted.cycles].map(([name, text]) => [entryOf(name), circle(text)])),
    }
  }

  #missing(entry: Entry): string[] {
    return idsOf(entry.definition?.needs).filter((id) => this.findService(id) === undefined)
  }

  /** Running plugins that need what `entry` provides or will provide, directly or through others. */
  #dependentsOf(entry: Entry, next: PluginDefinition | undefined): Entry[] {
    const nodes = [...this.#entries.values()]
      .filter((other) => other !== entry && other.instance)
      .map((other) => ({ name: other.name, ...edgesOf(other.definition), entry: other }))
    const services = [...edgesOf(entry.definition).provides, ...edgesOf(next).provides]
    return [...dependents(nodes, services)].map((node) => node.entry)
  }

  /** Those of `entries` that run, providers first. */
  #running(entries: readonly Entry[]): Entry[] {
    return this.#sort(entries.filter(({ instance }) => instance).map(stepOf)).order.map(({ entry }) => entry)
  }

  #setState(entry: Entry, state: PluginStateName, reason: string): void {
    entry.state = state
    entry.reason = reason
    this.#deps.stateChanged()
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name)
    if (!entry) throw new RtkError('RTK_ERR_NOT_LOADED', `no plugin ${name} is loaded`)
    return entry
  }
}
