import { RtkError } from '../../errors.js'
import type { App } from '../../gateway/http/app.js'
import type { Loaded } from '../../loader/load.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { Blocker } from '../../platform/supervision/stalls.js'
import type { Instance } from '../instance/instance.js'
import { compileTables } from '../tables.js'
import { adopt, type Entry, edgesOf, newEntry, type Step, type Wanted } from './entry.js'
import type { Failures } from './failures.js'
import type { PluginSet } from './plugin-set.js'
import type { Reconcile, ReconcileDeps } from './reconcile.js'
import type { Sources } from './sources.js'

/** Knowledge of the boot, beyond the tables, for checking parameters. */
export interface BootKnowledge {
  /** Mistakes in the variant's plugins: options, names, sources. */
  readonly mistakes: readonly RtkError[]
  /** Parameters of plugins that wait for others. */
  readonly later: ReadonlySet<string>
  /** Plugins with unknown parameters because they could not be loaded or set up. */
  readonly unknown: readonly string[]
}

interface Kernel {
  readonly pluginSet: PluginSet
  readonly sources: Sources
  readonly failures: Failures
  readonly reconcile: Reconcile
}

/**
 * The first reconcile: many plugins at once, and none may prevent the others from running. An abort ends it between two
 * steps; plugins already started stay.
 * @param ready gets the mistakes in the variant, for the operator to correct before anything runs: it throws then
 */
export async function boot(
  deps: ReconcileDeps,
  kernel: Kernel,
  wanted: readonly Wanted[],
  ready: (known: BootKnowledge) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { pluginSet, failures, reconcile } = kernel
  const steps: Step[] = []
  const mistakes: RtkError[] = []
  // Side by side: most of a build is waiting for the builder.
  const fetches = wanted.map((want) => fetchUnlessBlocked(deps, kernel, want))
  for (const [index, want] of wanted.entries()) {
    if (signal.aborted) return
    try {
      const step = await prepare(deps, kernel, want, fetches[index])
      if (step) steps.push(step)
    } catch (error) {
      mistakes.push(error as RtkError)
    }
  }
  const { order, waiting, cycles } = pluginSet.sort(steps)
  for (const [entry, circle] of cycles) failures.failed(entry, circle, 'load')
  for (const entry of waiting.keys()) pluginSet.wait(entry)
  const app = await setUpEach(deps, kernel, order)
  const setUp = pluginSet.instances
  // Routes and parameters are there from now on; a plugin answers once it has started, and its services count from then.
  deps.publish(compileTables(setUp), app)
  await ready({ mistakes, ...parametersOf(deps, kernel, steps, mistakes.length > 0) })
  await startEach(deps, order, async (entry) => {
    if (signal.aborted || !entry.instance) return
    await reconcile.startOrFail(entry, entry.instance, new Map())
    // Whoever watches a service has it now, however long others take.
    deps.services.look()
  })
  if (signal.aborted) return
  if (pluginSet.instances.length === setUp.length) deps.publish(compileTables(setUp), app)
  else await reconcile.publishAgain()
}

/** A start that takes longer does not hold up those behind it any more. */
const patience_ms = 500

/**
 * One after the other, so that each finds the optional services of those before it; one that takes long is left behind, with those that
 * need it.
 */
async function startEach(
  { clock }: ReconcileDeps,
  order: readonly Step[],
  start: (entry: Entry) => Promise<void>,
): Promise<void> {
  /** Starts under way, by the services that they will provide. */
  const pending = new Map<string, Promise<void>>()
  const late: Promise<void>[] = []
  for (const { entry, definition } of order) {
    const { needs, provides } = edgesOf(definition)
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

/** The parameters of plugins that are not set up, as far as they can be known. */
function parametersOf(
  { lifecycle }: ReconcileDeps,
  { pluginSet }: Kernel,
  steps: readonly Step[],
  incomplete: boolean,
): Omit<BootKnowledge, 'mistakes'> {
  const later = new Set<string>()
  const unknown = incomplete ? ['those with mistakes'] : []
  for (const entry of pluginSet.entries.filter(({ instance }) => !instance)) {
    const step = steps.find((one) => one.entry === entry)
    try {
      if (!step) throw new Error('not loaded')
      const aside = lifecycle.setUp(step.definition, step.options)
      for (const { name } of [...aside.registered.parameters, ...aside.registered.actions]) later.add(name)
      void lifecycle.discard(aside)
    } catch {
      unknown.push(entry.name)
    }
  }
  return { later, unknown }
}

/** Begins to load a plugin; none when it blocked the service before: its code may have done that while it was loaded. */
function fetchUnlessBlocked(
  { blocker }: ReconcileDeps,
  { sources }: Kernel,
  want: Wanted,
): Promise<Loaded> | undefined {
  const entry = newEntry(want.source, want)
  if (blocker?.plugin === entry.name) return undefined
  const loaded = sources.fetchFor(entry)
  // The error reaches the code that awaits it.
  loaded.catch(() => {})
  return loaded
}

/** @throws RTK_ERR_PLUGIN_OPTIONS, RTK_ERR_VARIANT */
async function prepare(
  { blocker }: ReconcileDeps,
  { pluginSet, sources, failures }: Kernel,
  want: Wanted,
  fetched: Promise<Loaded> | undefined,
): Promise<Step | undefined> {
  let entry = newEntry(want.source, want)
  const staysOut = (by: Blocker) => {
    pluginSet.add(entry)
    failures.blocked(entry, by)
    return undefined
  }
  if (blocker && !fetched) return staysOut(blocker)
  try {
    const loaded = await (fetched as Promise<Loaded>)
    entry = newEntry(loaded.definition.name, want)
    if (blocker?.plugin === entry.name) return staysOut(blocker)
    if (pluginSet.find(entry.name)) {
      const other = pluginSet.entry(entry.name).wanted.source
      const text = `two plugins of this variant are called ${entry.name}: "${other}" and "${want.source}"`
      throw new RtkError('RTK_ERR_PLUGIN_OPTIONS', text, { place: ['plugins', want.source] })
    }
    const step = sources.step(entry, loaded)
    adopt(step)
    pluginSet.add(entry)
    sources.own(entry, loaded)
    return step
  } catch (error) {
    if (error instanceof RtkError && error.code === 'RTK_ERR_PLUGIN_OPTIONS') throw error
    if (error instanceof RtkError && error.code === 'RTK_ERR_PLUGIN_NOT_FOUND') {
      throw new RtkError('RTK_ERR_VARIANT', error.message, { place: ['plugins', want.source] })
    }
    pluginSet.add(entry)
    failures.failed(entry, error, 'load')
  }
}

/** Sets plugins up one after the other; a plugin that conflicts with earlier ones fails alone. */
async function setUpEach(
  { lifecycle, stage }: ReconcileDeps,
  { pluginSet, failures }: Kernel,
  steps: readonly Step[],
): Promise<App> {
  for (const { entry, definition, options } of steps) {
    try {
      entry.instance = lifecycle.setUp(definition, options)
      compileTables(pluginSet.instances)
    } catch (error) {
      if (entry.instance) await lifecycle.discard(entry.instance)
      failures.failed(entry, error, 'setup')
    }
  }
  try {
    return await stage(pluginSet.instances)
  } catch {
    // A plugin's routes do not fit. The plugins are tried one by one: this is rare, and each try costs an app.
    let app: App | undefined
    const accepted: Instance[] = []
    for (const instance of pluginSet.instances) {
      try {
        app = await stage([...accepted, instance])
        accepted.push(instance)
      } catch (error) {
        await lifecycle.discard(instance)
        failures.failed(pluginSet.entry(instance.name), error, 'routes')
      }
    }
    return app ?? (await stage([]))
  }
}
