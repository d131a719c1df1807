/** The service `station`: the operations that every surface offers, and the report for support. */

import type { Station } from '../../../schemas/services.js'
import type { Variant } from '../../../schemas/variant.js'
import { EventHub } from '../../platform/guard/event-hub.js'
import { attempt } from '../../platform/guard/guard.js'
import type { Caller, Source } from '../../plugin.js'
import type { Bus } from '../bus.js'
import type { PluginGraph } from '../plugins/plugin-graph.js'
import type { ActionRegistry } from '../registries/actions.js'
import type { ConfigRegistry } from '../registries/config.js'
import type { InfoRegistry } from '../registries/info.js'
import { Nvs } from '../registries/nvs.js'
import { makeReport, type ReportingPlugin } from '../report/index.js'
import type { Tables } from '../tables.js'
import type { Changes } from './changes.js'
import type { Foundation } from './foundation.js'

export interface StationDeps {
  readonly data: string
  readonly variant: Variant
  readonly bus: Bus
  readonly actions: ActionRegistry
  readonly config: ConfigRegistry
  readonly documents: InfoRegistry
  tables(): Tables
  readonly graph: PluginGraph
  readonly changes: Changes
}

export function buildStation(foundation: Foundation, deps: StationDeps): Station {
  const { serial, store } = foundation
  const { actions, bus, changes, config, documents, graph, tables } = deps
  const counters = new EventHub<void>('listener of the counters')
  // Over MQTT there is one way to the station: that of the link.
  const callerOf = (source: Source, address = source === 'mqtt' ? bus.address : undefined): Caller =>
    address === undefined ? { source } : { source, address }
  return {
    serial,
    change: (values, { source, answered, address }) => config.change(values, callerOf(source, address), answered),
    parameters: () => config.values.list(),
    act: (name, input, { source }) => actions.act(name, input, source),
    command: (text, { source, secret }) => {
      if (source === 'console') config.trial.seen({ source })
      return actions.command(text, source, secret)
    },
    get trial() {
      return config.trial.pending
    },
    confirmChange: () => config.trial.confirm(),
    undoChange: () => config.undoTrial(),
    actions: () => actions.list(),
    document: (mask) => documents.document(mask),
    documentText: (mask, reader) => documents.text(mask, reader),
    plugins: () => graph.report(),
    onPlugins: changes.onPlugins,
    report: () => supportReport(foundation, deps),
    resetCounters: () => {
      counters.emit()
      changes.document()
    },
    onCountersReset: counters.on,
    nvs: new Nvs({
      store,
      isShown: (name) => isPublic(tables(), name),
      isPlugin: (name) => graph.find(name) !== undefined,
    }),
  }
}

async function supportReport(
  { device, files, store }: Foundation,
  { data, documents, graph, tables, variant }: StationDeps,
): Promise<Buffer> {
  return makeReport({
    data,
    plugins: tables().instances.flatMap((instance): ReportingPlugin[] => {
      const { live, name, definition, state } = instance
      const folder = (of?: string) => files.path(name, of)
      return live && definition.report
        ? [{ name, report: () => attempt(instance, 'report', async () => definition.report?.(folder, state) ?? {}) }]
        : []
    }),
    store,
    version: device.version,
    live: {
      version: device.version,
      variant: { name: variant.name, hardware: variant.hardware },
      given: variant,
      document: JSON.parse(documents.text(undefined, 'viewer')),
      plugins: graph.report(),
      isSecret: (name) => !isPublic(tables(), name),
      isShown: (name) => isPublic(tables(), name),
    },
  })
}

/** A parameter with a public value: it has an owner here and is not a secret. */
function isPublic(tables: Tables, name: string): boolean {
  const record = tables.parameters.get(name)
  return record !== undefined && record.options.secret !== true
}
