/** The third part: the plugins, where they come from, and how a set of them comes into force. */
import { join } from 'node:path'
import {
  device as deviceToken,
  httpRoutes,
  type LogLine,
  type Logs,
  localNetwork,
  logs as logsToken,
  type Metrics,
  metrics as metricsToken,
  mqttBus,
  type Panels,
  panels as panelsToken,
  pluginUpdates as pluginUpdatesToken,
  station as stationToken,
} from '../../schemas/services.js'
import { homesOf, readCatalogue } from '../build/catalogue.js'
import { readyFolder, shippedPlugins } from '../build/release.js'
import type { Gateway } from '../http/gateway.js'
import type { LocalNetwork } from '../http/local-network.js'
import type { ContextHost } from '../kernel/context/index.js'
import { EventHub } from '../kernel/instance/events.js'
import type { Instance } from '../kernel/instance/instance.js'
import { Lifecycle } from '../kernel/instance/lifecycle.js'
import { describeHandle, openHandles } from '../kernel/instance/raw-handles.js'
import type { Wanted } from '../kernel/plugins/entry.js'
import { Manager } from '../kernel/plugins/manager.js'
import { Services } from '../kernel/services.js'
import { Loader } from '../loader/load.js'
import { UpdatedPlugins } from '../loader/plugin-updates.js'
import { SourceWatcher } from '../loader/watch.js'
import { LogControl } from '../log/log-control.js'
import { MetricRegistry } from '../metrics/index.js'
import { StationMetrics } from '../metrics/station.js'
import { Network } from '../net/index.js'
import type { NamedAddresses } from '../net/named-addresses.js'
import type { RuntimeOptions } from '../options.js'
import type { Clock } from '../ports/clock.js'
import { SystemProcesses } from '../ports/processes.js'
import { childSchema } from '../validate.js'
import type { Foundation } from './foundation.js'
import type { Registries } from './registries.js'

/** Sockets and child processes need a moment from their end to their close. */
const closing_ms = 2_000

export interface Plugins {
  readonly manager: Manager
  readonly wanted: readonly Wanted[]
  /** Has to begin before the plugins are loaded. */
  readonly updates: UpdatedPlugins
  close(): Promise<void>
}

export function buildPlugins(
  options: RuntimeOptions,
  { clock, serial, since, store, device, files, troubles }: Foundation,
  { config, bus, station, tables, publish, changed }: Registries,
  {
    gateway,
    network,
    proxies,
    stopping,
  }: { gateway: Gateway; network: LocalNetwork; proxies: NamedAddresses; stopping: AbortSignal },
): Plugins {
  const { log } = options
  const utc_s = () => Math.floor(device.utc_ms() / 1000)
  const sockets = new Network({ log, clock, isProxy: (address) => proxies.has(address) })
  const counts = new StationMetrics({
    plugins: () => manager.report(),
    listeners: () => sockets.figures(),
    dropped: () => metrics.dropped,
  })
  const metrics = new MetricRegistry(clock, (registry) => counts.register(registry))
  const figures: Metrics = {
    text: () => metrics.text(),
    get contentType() {
      return metrics.contentType
    },
    reset: (plugin) => metrics.reset(plugin),
  }
  const countStalls = options.watchdog?.onStall(({ plugin }) => counts.stalled(plugin))
  const lines = new EventHub<LogLine>(clock, 'listener of the log')
  const control = LogControl.of(log)
  control.listen({ wanted: () => lines.listeners > 0, show: (line) => lines.emit(line) })
  const logs: Logs = {
    onLine: lines.on,
    level: (plugin) => control.level(plugin),
    setLevel: (level, plugin) => control.setLevel(level, plugin),
  }
  const panels: Panels = {
    list: () =>
      tables()
        .panels.filter(({ owner }) => owner.live)
        .map(({ owner, title, module }) => ({ plugin: owner.name, title, module })),
  }
  const updates = new UpdatedPlugins({
    folder: join(options.data, 'plugin-updates'),
    bundle: device.sha256,
    onTrial: device.onTrial,
    load: (place) => loader.load(place),
    clock,
    log,
    raise: (code, trouble) => troubles.raise(code, trouble),
    clear: (code) => troubles.clear(code),
    plugins: () => manager,
  })
  const services = new Services(
    new Map<string, unknown>([
      [stationToken.id, station],
      [deviceToken.id, device],
      [mqttBus.id, bus],
      [localNetwork.id, network],
      [metricsToken.id, figures],
      [httpRoutes.id, { list: () => gateway.routes }],
      [logsToken.id, logs],
      [panelsToken.id, panels],
      [pluginUpdatesToken.id, updates],
    ]),
  )
  const host: ContextHost = {
    serial,
    since,
    clock,
    store,
    parameterValue: (record) => config.value(record),
    infoChanged: changed,
    publish: (topic, payload, publishOptions) => bus.publish(topic, payload, publishOptions),
    findService: (id, asker) => services.find(id, asker),
    watchService: (owner, id, call) => services.watch(owner, id, call),
    utc_s,
    network: sockets,
    files,
    metrics,
    processes: options.processes ?? new SystemProcesses(clock),
  }
  const loader = new Loader({
    builtIn: options.builtIn ?? shippedPlugins(),
    base: options.base,
    cache: join(options.data, 'plugins'),
    ready: options.builtIn === undefined ? readyFolder() : undefined,
    watch: options.watch,
  })
  const watcher = options.watch ? new SourceWatcher(clock, log, (plugin) => void reloadChanged(plugin)) : undefined
  const lifecycle = new Lifecycle({
    log,
    clock,
    host,
    stopping,
    changesSeen: () => config.newest,
    entered(instance) {
      sockets.entered(instance)
      metrics.entered(instance)
    },
    leaving(instance, reason) {
      sockets.leaving(instance, reason)
      metrics.leaving(instance, reason)
    },
    released(instance) {
      gateway.release(instance)
      metrics.released(instance)
    },
    gone: (instance) => {
      if (options.ownProcess && !stopping.aborted) nameLeftOpen(instance, clock)
    },
  })
  const manager = new Manager({
    log,
    clock,
    lifecycle,
    services,
    serviceHomes: homesOf(readCatalogue()),
    utc_s,
    load: (source, check) => updates.load(source, check),
    digest: (source) => loader.digest(source),
    sets: (plugin, schema) => [
      ...(options.sets?.get(plugin) ?? []),
      ...(options.careful && childSchema(schema, 'configure') ? [{ path: 'configure', text: 'false' }] : []),
    ],
    stage: (instances) => gateway.stage(instances.map(routeOwner)),
    blocker: options.watchdog?.blocker(),
    files: (plugin, files) => options.watchdog?.know(plugin, files),
    publish(tables, generation) {
      publish(tables)
      gateway.commit(generation)
      services.publish(tables.services)
    },
    stateChanged: changed,
    forgotten: (source) => void loader.forget(source),
    pluginFailed: (plugin) => counts.failed(plugin),
    unreadable: (plugin, source) => watcher?.add(plugin, loader.looked(source)),
    loaded: (plugin, inputs) => (inputs.length > 0 ? watcher?.set(plugin, inputs) : watcher?.drop(plugin)),
  })
  const reloadChanged = async (plugin: string) => {
    try {
      await manager.reloadIfChanged(plugin)
    } catch (error) {
      const runs = manager.report().some(({ name, state }) => name === plugin && state === 'running')
      const next = runs ? 'the old version goes on' : 'it does not run; save it again when it is corrected'
      log.error({ plugin, err: error }, `not reloaded: ${(error as Error).message}; ${next}`)
    }
  }
  return {
    manager,
    updates,
    wanted: wantedPlugins(options),
    async close() {
      updates.close()
      await manager.close()
      sockets.close()
      control.listen(undefined)
      countStalls?.()
      watcher?.close()
    },
  }
}

/** Says once what a plugin left open, when what is being closed has had its time. */
function nameLeftOpen(instance: Instance, clock: Clock): void {
  clock.timer(closing_ms, () => {
    const open = openHandles(instance)
    if (open.length === 0) return
    const names = open.map(describeHandle).join(', ')
    const what = `the plugin left open: ${names}; close it in stop, or with ctx.defer. It stays until the service restarts`
    instance.log.warn({ leftOpen: open.length }, what)
  })
}

function routeOwner(instance: Instance) {
  const { registered } = instance
  return {
    key: instance,
    name: instance.name,
    live: () => instance.live,
    run: <T>(fn: () => T) => instance.run(fn),
    failed: (error: unknown, what: string) => instance.failed(error, what),
    routes: registered.routes,
    plugins: registered.httpPlugins,
    upgrades: registered.upgrades,
  }
}

function wantedPlugins({ variant, definitions }: RuntimeOptions): Wanted[] {
  return Object.entries(variant.plugins).map(([source, options]) => ({
    source,
    options,
    definition: definitions && source in definitions ? () => definitions[source] : undefined,
  }))
}
