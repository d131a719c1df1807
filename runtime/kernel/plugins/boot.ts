import { RtkError } from '../../errors.js'
import type { App } from '../../gateway/http/app.js'
import type { Loaded } from '../../loader/load.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { Blocker } from '../../platform/supervision/stalls.js'
import type { Instance } from '../instance/instance.js'
import { compileTables } from '../tables.js'
import type { PluginCode } from './code.js'
import { type Entry, edgesOf, newEntry, type Version, type Wanted } from './entry.js'
import type { PluginGraph } from './plugin-graph.js'
import type { Retry } from './retry.js'
import type { Transaction, TransactionDeps } from './transaction.js'

/** Knowledge of the boot, beyond the tables, for checking parameters. */
export interface BootKnowledge {
  /** Mistakes in the variant's plugins: options, names, sources. */
  readonly mistakes: readonly RtkError[]
  /** Parameters of plugins that wait for others. */
  readonly later: ReadonlySet<string>
  /** Plugins with unknown parameters because they could not be loaded or set up. */
  readonly unknown: readonly string[]
}

interface BootDeps extends TransactionDeps {
  readonly graph: PluginGraph
  readonly code: PluginCode
  readonly retry: Retry
  readonly transaction: Transaction
  readonly blocker: Blocker | undefined
}

/**
 * The first change of the plugin set, from none to all that the variant asks for. Unlike later ones it takes each plugin for itself: what
 * fails is left out, reported and retried, and none prevents the others from running. An abort ends it between two steps; plugins already
 * started stay.
 */
export class Boot {
  readonly #deps: BootDeps
  readonly #signal: AbortSignal

  constructor(deps: BootDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
  }

  /** @param ready gets the mistakes in the variant, for the operator to correct before anything runs: it throws then */
  async run(wanted: readonly Wanted[], ready: (known: BootKnowledge) => Promise<void>): Promise<void> {
    const { clock, graph, publish, retry, services, transaction } = this.#deps
    const loaded: Entry[] = []
    const mistakes: RtkError[] = []
    // Side by side: most of a build is waiting for the builder.
    const fetches = wanted.map((want) => this.#fetchUnlessBlocked(want))
    for (const [index, want] of wanted.entries()) {
      if (this.#signal.aborted) return
      try {
        const entry = await this.#load(want, fetches[index])
        if (entry) loaded.push(entry)
      } catch (error) {
        mistakes.push(error as RtkError)
      }
    }
    const { order, waiting, cycles } = graph.sort(loaded)
    for (const [entry, circle] of cycles) retry.failed(entry, circle, 'load')
    for (const entry of waiting.keys()) graph.wait(entry)
    const app = await this.#setUpEach(order)
    const setUp = graph.instances
    // Routes and parameters are there from now on; a plugin answers once it has started, and its services count from then.
    publish(compileTables(setUp), app)
    await ready({ mistakes, ...this.#parametersOf(loaded, mistakes.length > 0) })
    await startEach(clock, order, async (entry) => {
      if (this.#signal.aborted || !entry.instance) return
      await transaction.startOrFail(entry, entry.instance, new Map())
      // Whoever watches a service has it now, however long others take.
      services.look()
    })
    if (this.#signal.aborted) return
    if (graph.instances.length === setUp.length) publish(compileTables(setUp), app)
    else await transaction.publishAgain()
  }

  /** Begins to load a plugin; none when it blocked the service before: its code may have done that while it was loaded. */
  #fetchUnlessBlocked(want: Wanted): Promise<Loaded> | undefined {
    const entry = newEntry(want.source, want)
    if (this.#deps.blocker?.plugin === entry.name) return undefined
    const loaded = this.#deps.code.fetchFor(entry)
    // The error reaches the code that awaits it.
    loaded.catch(() => {})
    return loaded
  }

  /** @throws RTK_ERR_PLUGIN_OPTIONS, RTK_ERR_VARIANT */
  async #load(want: Wanted, fetched: Promise<Loaded> | undefined): Promise<Entry | undefined> {
    const { blocker, code, graph, retry } = this.#deps
    let entry = newEntry(want.source, want)
    const staysOut = (by: Blocker) => {
      graph.add(entry)
      retry.blocked(entry, by)
      return undefined
    }
    if (blocker && !fetched) return staysOut(blocker)
    try {
      const loaded = await (fetched as Promise<Loaded>)
      entry = newEntry(loaded.definition.name, want)
      if (blocker?.plugin === entry.name) return staysOut(blocker)
      const other = graph.find(entry.name)
      if (other) {
        const text = `two plugins of this variant are called ${entry.name}: "${other.wanted.source}" and "${want.source}"`
        throw new RtkError('RTK_ERR_PLUGIN_OPTIONS', text, { place: ['plugins', want.source] })
      }
      entry.version = code.versionOf(entry, loaded)
      graph.add(entry)
      code.own(entry, loaded)
      return entry
    } catch (error) {
      if (error instanceof RtkError && error.code === 'RTK_ERR_PLUGIN_OPTIONS') throw error
      if (error instanceof RtkError && error.code === 'RTK_ERR_PLUGIN_NOT_FOUND') {
        throw new RtkError('RTK_ERR_VARIANT', error.message, { place: ['plugins', want.source] })
      }
      graph.add(entry)
      retry.failed(entry, error, 'load')
    }
  }

  /** Sets plugins up one after the other; a plugin that conflicts with earlier ones fails alone. */
  async #setUpEach(entries: readonly Entry[]): Promise<App> {
    const { graph, lifecycle, retry, stage } = this.#deps
    for (const entry of entries) {
      try {
        entry.instance = lifecycle.setUp(...setUpOf(entry))
        compileTables(graph.instances)
      } catch (error) {
        if (entry.instance) await lifecycle.discard(entry.instance)
        retry.failed(entry, error, 'setup')
      }
    }
    try {
      return await stage(graph.instances)
    } catch {
      // A plugin's routes do not fit. The plugins are tried one by one: this is rare, and each try costs an app.
      let app: App | undefined
      const accepted: Instance[] = []
      for (const instance of graph.instances) {
        try {
          app = await stage([...accepted, instance])
          accepted.push(instance)
        } catch (error) {
          await lifecycle.discard(instance)
          retry.failed(graph.entry(instance.name), error, 'routes')
        }
      }
      return app ?? (await stage([]))
    }
  }

  /** The parameters of plugins that are not set up, as far as they can be known. */
  #parametersOf(loaded: readonly Entry[], incomplete: boolean): Omit<BootKnowledge, 'mistakes'> {
    const { graph, lifecycle } = this.#deps
    const later = new Set<string>()
    const unknown = incomplete ? ['those with mistakes'] : []
    for (const entry of graph.entries.filter(({ instance }) => !instance)) {
      try {
        if (!loaded.includes(entry)) throw new Error('not loaded')
        const aside = lifecycle.setUp(...setUpOf(entry))
        for (const { name } of aside.registered.parameters) later.add(name)
        for (const { parameter } of aside.registered.actions) if (parameter) later.add(parameter)
        void lifecycle.discard(aside)
      } catch {
        unknown.push(entry.name)
      }
    }
    return { later, unknown }
  }
}

function setUpOf({ version }: Entry): [Version['definition'], Version['options']] {
  const { definition, options } = version as Version
  return [definition, options]
}

/** A start that takes longer does not hold up those behind it any more. */
const patience_ms = 500

/**
 * One after the other, so that each finds the optional services of those before it; one that takes long is left behind, with those that
 * need it.
 */
async function startEach(clock: Clock, order: readonly Entry[], start: (entry: Entry) => Promise<void>): Promise<void> {
  /** Starts under way, by the services that they will provide. */
  const pending = new Map<string, Promise<void>>()
  const late: Promise<void>[] = []
  for (const entry of order) {
    const { needs, provides } = edgesOf(entry.version)
    const needed = needs.flatMap((id) => pending.get(id) ?? [])
    const started = needed.length > 0 ? Promise.all(needed).then(() => start(entry)) : start(entry)
    if (needed.length === 0 && (await isDoneWithin(clock, patience_ms, started))) continue
    const ended = started.finally(() => {
      for (const id of provides) pending.delete(id)
    })
    // A rejection is that of the boot, which waits for all of them at its end.
    ended.catch(() => {})
    late.push(ended)
    for (const id of provides) pending.set(id, ended)
  }
  await Promise.all(late)
}

function isDoneWithin(clock: Clock, limit_ms: number, work: Promise<void>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(limit_ms, () => resolve(false))
    work.then(() => resolve(true), reject).finally(() => void cancel())
  })
}
