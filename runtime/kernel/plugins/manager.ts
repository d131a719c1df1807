import { Mutex } from 'async-mutex'
import type { PluginReport, StationError } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import type { Loaded } from '../../loader/load.js'
import type { Instance } from '../instance/instance.js'
import { idsOf } from '../instance/lifecycle.js'
import { type BootKnowledge, boot } from './boot.js'
import { type Entry, newEntry, reportOf, type Wanted } from './entry.js'
import { Failures } from './failures.js'
import { PluginSet } from './plugin-set.js'
import { Reconcile, type ReconcileDeps } from './reconcile.js'
import { Sources, type SourcesDeps } from './sources.js'

export interface ManagerDeps extends ReconcileDeps, SourcesDeps {
  /** Service → shipped plugin that provides it. */
  serviceHomes: Readonly<Record<string, string>>
  /** UTC; 0 without a credible clock. */
  utc_s(): number
  pluginFailed(name: string): void
  /** Something of a plugin's state changed. */
  stateChanged(): void
}

/**
 * All operations on plugins, one at a time. `plugin-set.ts` holds the plugins and their states, `sources.ts` their sources;
 * `reconcile.ts` makes a plugin live or removes it, and `failures.ts` schedules retries.
 */
export class Manager {
  readonly #deps: ManagerDeps
  readonly #pluginSet: PluginSet
  readonly #sources: Sources
  readonly #failures: Failures
  readonly #reconcile: Reconcile
  readonly #mutex = new Mutex()
  #closed = false

  constructor(deps: ManagerDeps) {
    const { log, clock, services, serviceHomes, stateChanged, pluginFailed, utc_s } = deps
    this.#deps = deps
    this.#pluginSet = new PluginSet(services, serviceHomes, stateChanged)
    this.#sources = new Sources(deps)
    const tryAgain = (entry: Entry) => void this.#mutex.runExclusive(() => this.#tryAgain(entry))
    this.#failures = new Failures({ log, clock, utc_s, tryAgain, pluginFailed }, this.#pluginSet)
    this.#reconcile = new Reconcile(deps, this.#pluginSet, this.#failures)
  }

  report(): PluginReport[] {
    return this.#pluginSet.entries.map((entry) => this.#report(entry))
  }

  /** Whether a plugin that is loaded provides this service, also while it does not run. */
  names(service: string): boolean {
    return this.#pluginSet.entries.some(
      ({ definition }) => definition !== undefined && idsOf(definition.provides).includes(service),
    )
  }

  /** Messages to a person: from running plugins, and about plugins that do not run. */
  troubles(): StationError[] {
    const raised = this.instances.flatMap(({ errors }) => [...errors.values()])
    return [...raised, ...this.#failures.troubles()]
  }

  /** Instances that run or are about to, in load order. */
  get instances(): Instance[] {
    return this.#pluginSet.instances
  }

  /**
   * Loads and sets up every wanted plugin, calls `ready` when all parameters are known, then starts them. A plugin that
   * cannot be loaded, set up or started becomes `failed` and is reported; the others run.
   * @throws what `ready` throws
   */
  async boot(
    wanted: readonly Wanted[],
    ready: (known: BootKnowledge) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const kernel = {
      pluginSet: this.#pluginSet,
      sources: this.#sources,
      failures: this.#failures,
      reconcile: this.#reconcile,
    }
    await this.#mutex.runExclusive(() => boot(this.#deps, kernel, wanted, ready, signal))
  }

  /** Adds a plugin to the running service. Nothing is left of it when it cannot be loaded or started. */
  async load(want: Wanted): Promise<PluginReport> {
    return this.#mutex.runExclusive(async () => {
      const loaded = await this.#sources.fetch(want)
      const { name } = loaded.definition
      const known = this.#pluginSet.find(name)
      if (known) throw new RtkError('RTK_ERR_ALREADY_LOADED', `${name} is loaded already (${known.state})`)
      const entry = newEntry(name, want)
      const step = this.#sources.step(entry, loaded)
      this.#pluginSet.add(entry)
      try {
        await this.#reconcile.replace(step)
      } catch (error) {
        this.#pluginSet.delete(entry)
        throw error
      }
      this.#sources.own(entry, loaded)
      return this.#report(entry)
    })
  }

  /** Takes a plugin out. Those that need it wait. */
  async unload(name: string): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      const entry = this.#pluginSet.entry(name)
      this.#failures.stopTrying(entry)
      this.#sources.disown(entry)
      await this.#reconcile.take(entry, 'remove')
      this.#pluginSet.delete(entry)
      await this.#reconcile.publishAgain()
      this.#deps.stateChanged()
    })
  }

  /** Loads the code again and replaces the running version; if the new version fails, the old one keeps running. */
  async reload(name: string): Promise<PluginReport> {
    return this.#mutex.runExclusive(async () => {
      const entry = this.#pluginSet.entry(name)
      const loaded = await this.#fetchAgain(entry)
      if (loaded.digest !== entry.digest) entry.failures = 0
      this.#failures.stopTrying(entry)
      try {
        await this.#reconcile.replace(this.#sources.step(entry, loaded))
      } catch (error) {
        // A plugin that did not run before is retried, as is one with an old version that could not start again.
        if (!entry.instance && !entry.retry) this.#failures.failed(entry, error, 'reload')
        throw error
      }
      const report = this.#report(entry)
      this.#deps.log.info({ plugin: report.name, version: report.version }, 'reloaded')
      return report
    })
  }

  /** Like `reload`, but only if the code changed. Called by a watcher. */
  async reloadIfChanged(name: string): Promise<PluginReport | undefined> {
    return (await this.#sources.isChanged(this.#pluginSet.entry(name))) ? this.reload(name) : undefined
  }

  /** The key of a plugin in the variant; undefined when the station has none of that name. */
  sourceOf(name: string): string | undefined {
    return this.#pluginSet.find(name)?.wanted.source
  }

  /** The running plugin to which the first of `files` belongs that belongs to one alone. */
  ownerOfFiles(files: readonly string[]): string | undefined {
    const running = this.#pluginSet.entries.filter(({ instance }) => instance)
    for (const file of files) {
      const owners = running.filter((entry) => entry.files.has(file))
      if (owners.length === 1) return owners[0].name
    }
  }

  dependsOn(plugin: string, provider: string): boolean {
    const entry = this.#pluginSet.find(provider)
    return entry !== undefined && this.#pluginSet.dependentsOf(entry).some(({ name }) => name === plugin)
  }

  /**
   * An uncaught error of a plugin: it is stopped and started again with back-off. False if no such plugin runs, or
   * another instance of it: leftovers of an old version must not take the new one down.
   */
  crashed(name: string, error: unknown, by: unknown): boolean {
    const entry = this.#pluginSet.find(name)
    const instance = entry?.instance
    if (!entry || !instance || (by && by !== instance)) return false
    instance.live = false
    void this.#mutex.runExclusive(async () => {
      if (entry.instance !== instance || this.#closed) return
      await this.#reconcile.take(entry, 'reload')
      this.#failures.failed(entry, error, 'uncaught')
      await this.#reconcile.publishAgain()
    })
    return true
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#mutex.runExclusive(async () => {
      const { entries } = this.#pluginSet
      for (const entry of entries) this.#failures.stopTrying(entry)
      for (const entry of this.#pluginSet.running(entries).reverse()) await this.#reconcile.stop(entry, 'shutdown')
    })
  }

  #report(entry: Entry): PluginReport {
    return reportOf(entry, entry.state === 'waiting' ? this.#pluginSet.needsOf(entry) : entry.reason)
  }

  async #fetchAgain(entry: Entry): Promise<Loaded> {
    const loaded = await this.#sources.fetchFor(entry)
    const before = entry.name
    this.#pluginSet.rename(entry, loaded.definition)
    this.#sources.own(entry, loaded, before)
    return loaded
  }

  async #tryAgain(entry: Entry): Promise<void> {
    if (this.#closed || this.#pluginSet.find(entry.name) !== entry || entry.instance) return
    try {
      const loaded = await this.#fetchAgain(entry)
      await this.#reconcile.replace(this.#sources.step(entry, loaded))
    } catch (error) {
      this.#failures.failed(entry, error, 'start')
    }
  }
}
