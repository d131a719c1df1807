/** The third part: the plugins, and how a plugin set goes live. */
import { type Accounts, accounts, type StandbyPlugins } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import type { LocalNetwork } from '../../gateway/http/local-network.js'
import type { RouteSet } from '../../gateway/http/routes/route-set.js'
import type { HttpServer } from '../../gateway/http/server.js'
import { Network } from '../../gateway/net/index.js'
import { homesOf, readCatalogue } from '../../loader/catalogue.js'
import type { HostTable } from '../../loader/host.js'
import type { UpdatedPlugins } from '../../loader/plugin-updates.js'
import type { Prefixes } from '../../platform/address/address.js'
import { LogControl } from '../../platform/log/log-control.js'
import { MetricRegistry } from '../../platform/metrics/index.js'
import { StationMetrics } from '../../platform/metrics/station.js'
import type { Clock } from '../../platform/ports/clock.js'
import { SystemProcesses } from '../../platform/ports/processes.js'
import { childSchema } from '../../platform/validate.js'
import type { ContextHost } from '../context/index.js'
import type { Instance } from '../instance/instance.js'
import { Lifecycle, type LifecycleDeps } from '../instance/lifecycle.js'
import { describeHandle, openHandles } from '../instance/raw-handles.js'
import type { Wanted } from '../plugins/entry.js'
import { Manager, type ManagerDeps } from '../plugins/manager.js'
import type { RuntimeOptions } from '../runtime-options.js'
import { Services } from '../services.js'
import { openCode } from './code.js'
import type { Foundation } from './foundation.js'
import type { Registries } from './registries.js'
import { runtimeServices } from './runtime-services.js'

/** Sockets and child processes need a moment from their end to their close. */
const closing_ms = 2_000

export interface Plugins {
  readonly manager: Manager
  readonly wanted: readonly Wanted[]
  /** Has to begin before the plugins are loaded. */
  readonly updates: UpdatedPlugins
  /** Of a plugin that knows people; `away`: the variant has one, but it does not run. */
  accounts(): Accounts | 'away' | undefined
  close(): Promise<void>
}

/** The ports through which plugins reach other systems. */
export interface Edges {
  httpServer: HttpServer
  /** What plugins get from the runtime. */
  host: HostTable
  network: LocalNetwork
  proxies: Prefixes
  stopping: AbortSignal
}

export function buildPlugins(
  options: RuntimeOptions,
  foundation: Foundation,
  registries: Registries,
  edges: Edges,
): Plugins {
  const { log, watchdog } = options
  const { clock } = foundation
  const { httpServer, network, proxies } = edges
  const sockets = new Network({ log, clock, isProxy: (address) => proxies.has(address) })
  const counts = new StationMetrics({
    plugins: () => manager.report(),
    listeners: () => sockets.figures(),
    dropped: () => metrics.dropped,
  })
  const metrics = new MetricRegistry((registry) => counts.register(registry))
  const countStalls = watchdog?.onStall(({ plugin }) => counts.stalled(plugin))
  const control = LogControl.of(log)
  const code = openCode(options, foundation, edges.host, () => manager)
  const { updates } = code
  const services = new Services(
    runtimeServices(foundation, registries, {
      ...{ control, httpServer, metrics, network, updates },
      standby: standbyService(options, () => manager),
    }),
  )
  const host = contextHost(options, foundation, registries, services, { sockets, metrics, stopping: edges.stopping })
  const serviceHomes = homesOf(readCatalogue(), 'provides')
  const wanted = wantedPlugins(options)
  const manager = new Manager({
    ...{ log, clock, services, ...code.forManager },
    lifecycle: new Lifecycle(lifecycleDeps(options, registries, edges, host)),
    serviceHomes,
    utc_s: host.utc_s,
    sets: (plugin, schema) => setsOf(options, plugin, schema),
    stage: (instances) => httpServer.stage(instances.map(routesOf)),
    blocker: watchdog?.blocker(),
    files: (plugin, files) => watchdog?.know(plugin, files),
    publish(tables, app) {
      registries.publish(tables)
      httpServer.commit(app)
      services.publish(tables.services)
    },
    stateChanged: registries.changed,
    pluginFailed: (plugin) => counts.failed(plugin),
  })
  return {
    manager,
    updates,
    wanted,
    accounts() {
      const found = services.find(accounts.id) as Accounts | undefined
      return (
        found ??
        (wanted.some(({ source }) => source === serviceHomes[accounts.id]) || manager.names(accounts.id)
          ? 'away'
          : undefined)
      )
    },
    async close() {
      updates.close()
      await manager.close()
      sockets.close()
      control.listen(undefined)
      countStalls?.()
      code.close()
    },
  }
}

function contextHost(
  options: RuntimeOptions,
  { clock, serial, store, device, files }: Foundation,
  { config, bus, changed }: Registries,
  services: Services,
  { sockets, metrics, stopping }: { sockets: Network; metrics: MetricRegistry; stopping: AbortSignal },
): ContextHost {
  return {
    ...{ serial, clock, store, files, metrics, network: sockets },
    processes: options.processes ?? new SystemProcesses(clock),
    parameterValue: (record) => config.value(record),
    infoChanged: changed,
    publish: (topic, payload, publishOptions) => bus.publish(topic, payload, publishOptions),
    findService: (id, asker) => services.find(id, asker),
    watchService: (owner, id, call) => services.watch(owner, id, call),
    utc_s: () => Math.floor(device.utc_ms() / 1000),
    isStopping: () => stopping.aborted,
  }
}

function lifecycleDeps(
  { log, ownProcess }: RuntimeOptions,
  { config }: Registries,
  { httpServer, stopping }: Edges,
  host: ContextHost,
): LifecycleDeps {
  const { clock, network, metrics } = host
  return {
    ...{ log, clock, host, stopping },
    changesSeen: () => config.newest,
    entered(instance) {
      network.entered(instance)
      metrics.entered(instance)
    },
    leaving(instance, reason) {
      network.leaving(instance, reason)
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
function setsOf({ sets, careful }: RuntimeOptions, ...[plugin, schema]: Parameters<ManagerDeps['sets']>) {
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

function standbyService(
  { variant: { standby = {} }, definitions }: RuntimeOptions,
  manager: () => Manager,
): StandbyPlugins {
  const known = (name: string) => {
    const options = standby[name]
    if (options === undefined) throw new RtkError('RTK_ERR_PLUGIN_NOT_FOUND', `${name} is not in the variant's standby`)
    return options
  }
  return {
    names: Object.keys(standby),
    async load(name, options) {
      const definition = definitions && name in definitions ? () => definitions[name] : undefined
      await manager().load({ source: name, options: { ...known(name), ...options }, definition })
    },
    async unload(name) {
      known(name)
      await manager().unload(name)
    },
  }
}

function wantedPlugins({ variant, definitions }: RuntimeOptions): Wanted[] {
  return Object.entries(variant.plugins).map(([source, options]) => ({
    source,
    options,
    definition: definitions && source in definitions ? () => definitions[source] : undefined,
  }))
}
