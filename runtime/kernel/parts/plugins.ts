/** The third part: the plugins, and how a plugin set goes live. */
import { join } from 'node:path'
import type { TSchema } from 'typebox'
import type { StandbyPlugins } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import type { LocalNetwork } from '../../gateway/http/local-network.js'
import type { RouteSet } from '../../gateway/http/routes/config.js'
import type { HttpServer } from '../../gateway/http/server.js'
import { Listeners } from '../../gateway/net/index.js'
import type { HostTable } from '../../loader/host.js'
import { Loader } from '../../loader/load.js'
import { UpdatedPlugins } from '../../loader/plugin-updates.js'
import type { Prefixes } from '../../platform/address/address.js'
import { LogControl } from '../../platform/log/log-control.js'
import { MetricRegistry } from '../../platform/metrics/index.js'
import { StationMetrics } from '../../platform/metrics/station.js'
import type { Clock } from '../../platform/ports/clock.js'
import { SystemProcesses } from '../../platform/ports/processes.js'
import { readyFolder, shippedPlugins } from '../../platform/release.js'
import { childSchema } from '../../platform/validate.js'
import type { ContextHost } from '../context/index.js'
import type { Instance } from '../instance/instance.js'
import { Lifecycle, type LifecycleDeps } from '../instance/lifecycle.js'
import { describeHandle, openHandles } from '../instance/raw-handles.js'
import type { Wanted } from '../plugins/entry.js'
import { Manager } from '../plugins/manager.js'
import type { PluginGraph } from '../plugins/plugin-graph.js'
import type { RuntimeOptions } from '../runtime-options.js'
import type { Services } from '../services.js'
import type { Changes } from './changes.js'
import type { Foundation } from './foundation.js'
import type { Registries } from './registries.js'
import { provideRuntimeServices } from './runtime-services.js'

/** Sockets and child processes need a moment from their end to their close. */
const closing_ms = 2_000

export interface Plugins {
  readonly manager: Manager
  /** Has to begin before the plugins are loaded. */
  readonly updates: UpdatedPlugins
  close(): Promise<void>
}

/** The parts that plugins are put on. */
export interface Below {
  readonly foundation: Foundation
  readonly registries: Registries
  readonly services: Services
  readonly graph: PluginGraph
  readonly httpServer: HttpServer
  /** Modules that plugins get from the runtime. */
  readonly host: HostTable
  readonly network: LocalNetwork
  readonly proxies: Prefixes
  readonly stopping: AbortSignal
  changes: Changes
}

export function buildPlugins(options: RuntimeOptions, below: Below): Plugins {
  const { base, builtIn, data, log, watch = false, watchdog } = options
  const { foundation, graph, httpServer, network, proxies, registries, services } = below
  const { clock, network: sockets, device, errors } = foundation
  const listeners = new Listeners({ log, clock, network: sockets, isProxy: (address) => proxies.has(address) })
  const counts = new StationMetrics({
    plugins: () => graph.report(),
    listeners: () => listeners.counts(),
    dropped: () => metrics.dropped,
  })
  const metrics = new MetricRegistry((registry) => counts.register(registry))
  const countStalls = watchdog?.onStall(({ plugin }) => counts.stalled(plugin))
  const control = LogControl.of(log)
  const loader = new Loader({
    host: below.host,
    builtIn: builtIn ?? shippedPlugins(),
    base,
    cache: join(data, 'plugins'),
    ready: builtIn === undefined ? readyFolder() : undefined,
    watch,
  })
  const updates = new UpdatedPlugins({
    folder: join(data, 'plugin-updates'),
    bundle: device.sha256,
    onTrial: device.onTrial,
    load: (place) => loader.load(place),
    clock,
    log,
    errors,
    plugins: () => ({
      report: () => graph.report(),
      sourceOf: (plugin) => graph.find(plugin)?.wanted.source,
      reload: (plugin) => manager.reload(plugin),
    }),
  })
  const context = contextHost(options, below, { listeners, metrics })
  const manager = new Manager({
    ...{ clock, graph, loader, log, services, updates, watch },
    lifecycle: new Lifecycle(lifecycleDeps(options, below, context)),
    utc_s: context.utc_s,
    sets: (plugin, schema) => setsOf(options, plugin, schema),
    stage: (instances) => httpServer.stage(instances.map(routesOf)),
    blocker: watchdog?.blocker(),
    files: (plugin, files) => watchdog?.know(plugin, files),
    publish(tables, app) {
      registries.publish(tables)
      httpServer.commit(app)
      services.publish(tables.services)
    },
    pluginFailed: (plugin) => counts.failed(plugin),
  })
  provideRuntimeServices(services, foundation, registries, {
    ...{ control, httpServer, metrics, network, updates },
    standby: standbyService(options, manager),
  })
  return {
    manager,
    updates,
    async close() {
      updates.close()
      await manager.close()
      listeners.close()
      control.listen(undefined)
      countStalls?.()
    },
  }
}

function contextHost(
  options: RuntimeOptions,
  { changes, foundation, registries, services, stopping }: Below,
  { listeners, metrics }: { listeners: Listeners; metrics: MetricRegistry },
): ContextHost {
  const { clock, network, serial, store, device, files } = foundation
  const { config, bus } = registries
  return {
    ...{ serial, clock, network, store, files, metrics, listeners },
    processes: options.processes ?? new SystemProcesses(clock),
    parameterValue: (record) => config.values.of(record),
    documentChanged: changes.document,
    errorsChanged: changes.errors,
    publish: (topic, payload, publishOptions) => bus.publish(topic, payload, publishOptions),
    findService: (id, asker) => services.find(id, asker),
    watchService: (owner, id, call) => services.watch(owner, id, call),
    utc_s: () => Math.floor(device.utc_ms() / 1000),
    isStopping: () => stopping.aborted,
  }
}

function lifecycleDeps(
  { log, ownProcess }: RuntimeOptions,
  { httpServer, registries: { config }, stopping }: Below,
  host: ContextHost,
): LifecycleDeps {
  const { clock, listeners, metrics } = host
  return {
    ...{ log, clock, host, stopping },
    changesSeen: () => config.values.newest,
    entered(instance) {
      listeners.entered(instance)
      metrics.entered(instance)
    },
    leaving(instance, reason) {
      listeners.leaving(instance, reason)
      metrics.leaving(instance, reason)
    },
    released(instance) {
      httpServer.release(instance)
      metrics.released(instance)
    },
    gone(instance) {
      if (ownProcess && !stopping.aborted) nameLeftOpen(instance, clock)
    },
  }
}

/** Options of a plugin by the command line; a receiver that is only listened to is not configured. */
function setsOf({ sets, careful }: RuntimeOptions, plugin: string, schema: TSchema | undefined) {
  return [
    ...(sets?.get(plugin) ?? []),
    ...(careful && childSchema(schema, 'configure') ? [{ path: 'configure', text: 'false' }] : []),
  ]
}

/** Logs once which handles a plugin left open, after closing handles have had time to finish. */
function nameLeftOpen(instance: Instance, clock: Clock): void {
  clock.timer(closing_ms, () => {
    const open = openHandles(instance)
    if (open.length === 0) return
    const names = open.map(describeHandle).join(', ')
    const what = `the plugin left open: ${names}; close it in stop, or with ctx.defer. It stays until the service restarts`
    instance.log.warn({ leftOpen: open.length }, what)
  })
}

function routesOf(instance: Instance): RouteSet {
  const { name, registered } = instance
  return { name, owner: instance, routes: registered.routes, plugins: registered.httpPlugins }
}

function standbyService({ variant: { standby = {} }, definitions }: RuntimeOptions, manager: Manager): StandbyPlugins {
  const known = (name: string) => {
    const options = standby[name]
    if (options === undefined) throw new RtkError('RTK_ERR_PLUGIN_NOT_FOUND', `${name} is not in the variant's standby`)
    return options
  }
  return {
    names: Object.keys(standby),
    async load(name, options) {
      const definition = definitions && name in definitions ? () => definitions[name] : undefined
      await manager.load({ source: name, options: { ...known(name), ...options }, definition })
    },
    async unload(name) {
      known(name)
      await manager.unload(name)
    },
  }
}

/** The plugins that the variant asks for. */
export function wantedPlugins({ variant, definitions }: RuntimeOptions): Wanted[] {
  return Object.entries(variant.plugins).map(([source, options]) => ({
    source,
    options,
    definition: definitions && source in definitions ? () => definitions[source] : undefined,
  }))
}
