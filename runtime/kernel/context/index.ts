import type { Logger } from 'pino'
import { EventHub, listen } from '../../platform/guard/event-hub.js'
import type { PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import { configOf } from './config.js'
import { argument, type ContextHost, members, registering } from './host.js'
import { fetchOf, netOf } from './network.js'
import { processOf } from './process.js'
import { englishOf, errorsOf, infoOf, metricsOf, statusOf } from './reports.js'
import { servicesOf } from './services.js'
import { dataDirOf, storeOf } from './storage.js'
import { actionOf, hooksOf, httpOf, mqttOf } from './surfaces.js'
import { timersOf } from './timers.js'

export type { ContextHost } from './host.js'

/** Builds the `ctx` of one instance. Everything registered through it is recorded on, or owned by, the instance. */
export function createContext(instance: Instance, host: ContextHost): PluginContext {
  const { registered, scope, name } = instance
  const { clock } = host
  const errors = errorsOf(instance, host)
  return {
    name,
    serial: host.serial,
    log: instance.log as Logger,
    signal: scope.signal,
    clock: { now: () => clock.now(), monotonic: () => clock.monotonic() },
    timers: timersOf(instance, clock),
    event<T>() {
      const hub = new EventHub<T>(`listener of ${name}`)
      scope.own('event', () => hub.close())
      return hub
    },
    on(event, fn, order) {
      argument('listener: its event', event, 'function')
      argument('listener: its function', fn, 'function')
      return listen(instance, event, fn, order)
    },
    config: configOf(instance, host),
    info: infoOf(instance, host),
    action: actionOf(instance),
    hooks: hooksOf(instance),
    http: httpOf(instance),
    mqtt: mqttOf(instance, host),
    services: servicesOf(instance, host),
    store: storeOf(name, host.store),
    dataDir: dataDirOf(instance, host),
    errors,
    text: englishOf(instance),
    status: statusOf(instance, host),
    metrics: metricsOf(instance, host.metrics),
    banner(label, text, options = {}) {
      registering(instance, 'banner')
      argument('banner: its label', label, 'string')
      argument(`banner ${label}: its text`, text, 'function')
      members(`banner ${label}`, options, { onTerminal: 'boolean' })
      const { onTerminal = false } = options
      registered.banner.push({ label, text, onTerminal })
    },
    net: netOf(instance, host, errors),
    process: processOf(instance, host.processes),
    fetch: fetchOf(instance, host),
    defer(dispose) {
      argument('defer: its function', dispose, 'function')
      scope.own('deferred', dispose)
    },
  }
}
