/** The second part: the plugins' registrations, behind the operations that every surface offers. */
import type { Logger } from 'pino'
import { documentOrder, type InfoSection, type TrialSection } from '../../../schemas/index.js'
import type { Station } from '../../../schemas/services.js'
import type { Variant } from '../../../schemas/variant.js'
import { homesOf, readCatalogue } from '../../loader/catalogue.js'
import type { ActionCall, ChangeSet, InfoSelection, MqttSession } from '../../plugin.js'
import { Bus } from '../bus.js'
import { BailHookPoint, SeriesHookPoint, SyncHookPoint } from '../hook-point.js'
import type { Instance } from '../instance/instance.js'
import type { HookName } from '../instance/registrations.js'
import type { PluginGraph } from '../plugins/plugin-graph.js'
import { ActionRegistry } from '../registries/actions.js'
import { ConfigRegistry } from '../registries/config.js'
import { InfoRegistry } from '../registries/info.js'
import { compileTables, type Tables } from '../tables.js'
import type { Changes } from './changes.js'
import type { Foundation } from './foundation.js'
import { buildStation } from './station.js'

export interface Registries {
  readonly config: ConfigRegistry
  readonly bus: Bus
  readonly station: Station
  tables(): Tables
  /** Makes another set of registrations live. */
  publish(next: Tables): void
}

export interface RegistryOptions {
  data: string
  info: InfoSection
  log: Logger
  graph: PluginGraph
  changes: Changes
  trial: TrialSection
  variant: Variant
}

export async function buildRegistries(
  foundation: Foundation,
  { changes, data, graph, info, log, trial, variant }: RegistryOptions,
): Promise<Registries> {
  const { clock, errors, store } = foundation
  const live = new LiveTables()
  const { hooks } = live
  const tables = () => live.now
  const common = { clock, log, tables }
  const documents = new InfoRegistry({
    ...common,
    onInfoBuild: hooks.onInfoBuild,
    assignment: info.mask as 1 | 2,
    order: documentOrder,
  })
  changes.heardBy(() => documents.invalidate())
  const bus = new Bus(log, hooks.onMqttConnect, (address) => config.trial.seen({ source: 'mqtt', address }))
  const config = new ConfigRegistry({
    ...common,
    store,
    trial_s: trial.window_s,
    onChange: hooks.onChange,
    start: async (record, source) => void (await actions.run(record, {}, source)),
    changed: () => {
      changes.document()
      bus.look()
    },
    errors,
  })
  await config.load()
  const actions = new ActionRegistry({
    ...common,
    onSystemCommand: hooks.onSystemCommand,
    homes: homesOf(readCatalogue(), 'commands'),
    stateOf: (name) => graph.find(name)?.state,
  })
  const station = buildStation(foundation, {
    ...{ data, variant, actions, bus, changes, config, documents, tables, graph },
  })
  const publish = (next: Tables) => {
    const added = live.publish(next)
    bus.setTopics(next.topics)
    config.published(added)
    changes.plugins()
  }
  return { config, bus, station, tables, publish }
}

/** The live registrations, and the hooks that run their taps. */
class LiveTables {
  readonly hooks = {
    onInfoBuild: new SyncHookPoint<[Record<string, unknown>, InfoSelection]>('onInfoBuild'),
    onChange: new SeriesHookPoint<[ChangeSet]>('onChange'),
    onSystemCommand: new BailHookPoint<[ActionCall], string>('onSystemCommand'),
    onMqttConnect: new SeriesHookPoint<[MqttSession]>('onMqttConnect'),
  }
  #tables: Tables = compileTables([])

  get now(): Tables {
    return this.#tables
  }

  /** @returns the instances that were not among them before */
  publish(next: Tables): Instance[] {
    const before = new Set(this.#tables.instances)
    this.#tables = next
    for (const [name, hook] of Object.entries(this.hooks)) hook.set(next.taps[name as HookName])
    return next.instances.filter((instance) => !before.has(instance))
  }
}
