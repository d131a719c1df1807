import { Mutex } from 'async-mutex'
import type { PluginReport } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import type { Loaded } from '../../loader/load.js'
import type { Blocker } from '../../platform/supervision/stalls.js'
import { Boot, type BootKnowledge } from './boot.js'
import { type CodeDeps, PluginCode } from './code.js'
import { type Entry, newEntry, type Wanted } from './entry.js'
import type { PluginGraph } from './plugin-graph.js'
import { Retry } from './retry.js'
import { Transaction, type TransactionDeps } from './transaction.js'

export interface ManagerDeps extends TransactionDeps, CodeDeps {
  graph: PluginGraph
  /** UTC; 0 without a credible clock. */
  utc_s(): number
  pluginFailed(name: string): void
  /** The plugin that ended the previous process: it stays out of the boot. */
  blocker: Blocker | undefined
}

/**
 * The commands on plugins, one at a time. `plugin-graph.ts` holds the plugins and their states, `code.ts` finds their code;
 * `transaction.ts` makes a plugin live or removes it, and `retry.ts` tries again.
 */
export class Manager {
  readonly #deps: ManagerDeps
  readonly #graph: PluginGraph
  readonly #code: PluginCode
  readonly #retry: Retry
  readonly #transaction: Transaction
  readonly #mutex = new Mutex()
  #closed = false

  constructor(deps: ManagerDeps) {
    this.#deps = deps
    this.#graph = deps.graph
    this.#code = new PluginCode(deps, (plugin) => void this.#reloadIfChanged(plugin))
    const tryAgain = (entry: Entry) => void this.#mutex.runExclusive(() => this.#tryAgain(entry))
    this.#retry = new Retry({ ...deps, tryAgain }, deps.graph)
    this.#transaction = new Transaction(deps, deps.graph, this.#retry)
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
    const { blocker, lifecycle } = this.#deps
    const boot = new Boot(
      { ...this.#deps, code: this.#code, retry: this.#retry, transaction: this.#transaction, blocker, lifecycle },
      signal,
    )
    await this.#mutex.runExclusive(() => boot.run(wanted, ready))
  }

  /** Adds a plugin to the running service. Nothing is left of it when it cannot be loaded or started. */
  async load(want: Wanted): Promise<PluginReport> {
    return this.#mutex.runExclusive(async () => {
      const loaded = await this.#code.fetch(want)
      const { name } = loaded.definition
      const known = this.#graph.find(name)
      if (known) throw new RtkError('RTK_ERR_ALREADY_LOADED', `${name} is loaded already (${known.state})`)
      const entry = newEntry(name, want)
      const version = this.#code.versionOf(entry, loaded)
      this.#graph.add(entry)
      try {
        await this.#transaction.replace(entry, version)
      } catch (error) {
        this.#graph.delete(entry)
        throw error
      }
      this.#code.own(entry, loaded)
      return this.#graph.reportOf(entry)
    })
  }

  /** Takes a plugin out. Those that need it wait. */
  async unload(name: string): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      const entry = this.#graph.entry(name)
      this.#retry.stopTrying(entry)
      this.#code.disown(entry)
      await this.#transaction.take(entry, 'remove')
      this.#graph.delete(entry)
      await this.#transaction.publishAgain()
    })
  }

  /** Loads the code again and replaces the running version; if the new version fails, the old one keeps running. */
  async reload(name: string): Promise<PluginReport> {
    return this.#mutex.runExclusive(async () => {
      const entry = this.#graph.entry(name)
      const loaded = await this.#fetchAgain(entry)
      if (loaded.digest !== entry.version?.digest) entry.failures = 0
      this.#retry.stopTrying(entry)
      try {
        await this.#transaction.replace(entry, this.#code.versionOf(entry, loaded))
      } catch (error) {
        // A plugin that did not run before is retried, as is one with an old version that could not start again.
        if (!entry.instance && !entry.retry) this.#retry.failed(entry, error, 'reload')
        throw error
      }
      const report = this.#graph.reportOf(entry)
      this.#deps.log.info({ plugin: report.name, version: report.version }, 'reloaded')
      return report
    })
  }

  /**
   * An uncaught error of a plugin: it is stopped and started again with back-off. False if no such plugin runs, or
   * another instance of it: leftovers of an old version must not take the new one down.
   */
  crashed(name: string, error: unknown, by: unknown): boolean {
    const entry = this.#graph.find(name)
    const instance = entry?.instance
    if (!entry || !instance || (by && by !== instance)) return false
    instance.live = false
    void this.#mutex.runExclusive(async () => {
      if (entry.instance !== instance || this.#closed) return
      await this.#transaction.take(entry, 'reload')
      this.#retry.failed(entry, error, 'uncaught')
      await this.#transaction.publishAgain()
    })
    return true
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#mutex.runExclusive(async () => {
      const { entries } = this.#graph
      for (const entry of entries) this.#retry.stopTrying(entry)
      for (const entry of this.#graph.running(entries).reverse()) await this.#transaction.stop(entry, 'shutdown')
    })
    this.#code.close()
  }

  /** The sources of a plugin were saved. */
  async #reloadIfChanged(name: string): Promise<void> {
    try {
      if (await this.#code.isChanged(this.#graph.entry(name))) await this.reload(name)
    } catch (error) {
      const runs = this.#graph.find(name)?.state === 'running'
      const next = runs ? 'the old version keeps running' : 'it does not run; save it again when it is corrected'
      this.#deps.log.error({ plugin: name, err: error }, `not reloaded: ${(error as Error).message}; ${next}`)
    }
  }

  async #fetchAgain(entry: Entry): Promise<Loaded> {
    const loaded = await this.#code.fetchFor(entry)
    const before = entry.name
    this.#graph.rename(entry, loaded.definition)
    this.#code.own(entry, loaded, before)
    return loaded
  }

  async #tryAgain(entry: Entry): Promise<void> {
    if (this.#closed || this.#graph.find(entry.name) !== entry || entry.instance) return
    try {
      const loaded = await this.#fetchAgain(entry)
      await this.#transaction.replace(entry, this.#code.versionOf(entry, loaded))
    } catch (error) {
      this.#retry.failed(entry, error, 'start')
    }
  }
}
