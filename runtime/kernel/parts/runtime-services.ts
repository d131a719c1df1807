/** The services that the runtime itself provides to plugins. */
import {
  device as deviceToken,
  httpRoutes,
  type LogLine,
  type Logs,
  localNetwork,
  logs as logsToken,
  type Metrics,
  type MqttTopics,
  metrics as metricsToken,
  mqttBus,
  mqttTopics as mqttTopicsToken,
  type PluginTexts,
  type PluginUpdates,
  pluginTexts as pluginTextsToken,
  pluginUpdates as pluginUpdatesToken,
  type StandbyPlugins,
  standbyPlugins as standbyPluginsToken,
  station as stationToken,
} from '../../../schemas/services.js'
import type { LocalNetwork } from '../../gateway/http/local-network.js'
import type { HttpServer } from '../../gateway/http/server.js'
import { mergeTexts } from '../../loader/texts.js'
import { EventHub } from '../../platform/guard/event-hub.js'
import type { LogControl } from '../../platform/log/log-control.js'
import type { MetricRegistry } from '../../platform/metrics/index.js'
import { runtimeTexts } from '../../platform/texts/index.js'
import type { Services } from '../services.js'
import type { Tables } from '../tables.js'
import type { Foundation } from './foundation.js'
import type { Registries } from './registries.js'

export interface ServiceParts {
  control: LogControl
  httpServer: HttpServer
  metrics: MetricRegistry
  network: LocalNetwork
  updates: PluginUpdates
  standby: StandbyPlugins
}

export function provideRuntimeServices(
  services: Services,
  { device, serial }: Foundation,
  { bus, station, tables }: Registries,
  { control, httpServer, metrics, network, updates, standby }: ServiceParts,
): void {
  services.provide(stationToken, station)
  services.provide(deviceToken, device)
  services.provide(mqttBus, bus)
  services.provide(localNetwork, network)
  services.provide(metricsToken, metricsService(metrics))
  services.provide(httpRoutes, { list: () => httpServer.routes })
  services.provide(mqttTopicsToken, topicsService(tables, serial))
  services.provide(logsToken, logsService(control))
  services.provide(pluginTextsToken, textsService(tables))
  services.provide(pluginUpdatesToken, updates)
  services.provide(standbyPluginsToken, standby)
}

function metricsService(registry: MetricRegistry): Metrics {
  return {
    text: () => registry.text(),
    get contentType() {
      return registry.contentType
    },
    reset: (plugin) => registry.reset(plugin),
  }
}

/** Listens to the log from now on. */
function logsService(control: LogControl): Logs {
  const lines = new EventHub<LogLine>('listener of the log')
  control.listen({ wanted: () => lines.listeners > 0, show: (line) => lines.emit(line) })
  return {
    onLine: lines.on,
    level: (plugin) => control.level(plugin),
    setLevel: (level, plugin) => control.setLevel(level, plugin),
  }
}

function textsService(tables: () => Tables): PluginTexts {
  const own = { files: runtimeTexts, digest: '' }
  const all = () => [own, ...tables().instances.flatMap(({ live, registered }) => (live ? [registered.texts] : []))]
  return {
    get languages() {
      const found = new Set(all().flatMap(({ files }) => [...files.keys()]))
      // The document is in English.
      found.delete('en')
      return [...found].sort()
    },
    get version() {
      return all()
        .map(({ digest }) => digest)
        .filter(Boolean)
        .join('.')
    },
    of: (language) => mergeTexts(all(), language),
  }
}

/** Topics with the plugins' descriptions; a subscribed topic without one has only its address. */
function topicsService(tables: () => Tables, serial: string): MqttTopics {
  return {
    list() {
      const { topicDescriptions, topics } = tables()
      const described = topicDescriptions.filter(({ owner }) => owner.live).map(({ topic }) => topic)
      const known = new Set(described.map(({ address }) => address.replaceAll('{SN}', serial)))
      const others = topics
        .filter(({ owner, filter }) => owner.live && filter() !== '' && !known.has(filter()))
        .map(({ owner, filter }) => ({
          address: filter().replace(`base/${serial}/`, 'base/{SN}/'),
          from: 'client' as const,
          summary: `Taken by the plugin ${owner.name}`,
        }))
      return [...described, ...others]
    },
  }
}
