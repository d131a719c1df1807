import type { Logger } from 'pino'
import { RtkError } from '../../errors.js'
import type { InfoBuilder, InfoParts, PluginContext } from '../../plugin.js'
import { stationError } from '../../station-error.js'
import { EventHub, listen } from '../instance/events.js'
import type { Instance } from '../instance/instance.js'
import type { HookName, InfoPart } from '../instance/registrations.js'
import { configOf } from './config.js'
import { fetchOf } from './fetch.js'
import { type ContextHost, named, opening, placed, registering } from './host.js'
import { metricsOf } from './metrics.js'
import { netOf } from './net.js'
import { processOf } from './process.js'
import { servicesOf } from './services.js'
import { storeOf } from './store.js'
import { timersOf } from './timers.js'
import { uiOf } from './ui.js'

export type { ContextHost } from './host.js'

/** The parts of a block, in the order in which they are merged. */
function infoParts(build: InfoBuilder | InfoParts): InfoPart[] {
  if (typeof build === 'function') return [{ class: 'runtime', detail: false, fallback: false, build }]
  const parts: InfoPart[] = []
  for (const group of ['basic', 'detail', 'fallback'] as const) {
    const builders = group === 'basic' ? build : build[group]
    for (const part of ['static', 'runtime', 'config'] as const) {
      const builder = builders?.[part]
      if (builder)
        parts.push({ class: part, detail: group === 'detail', fallback: group === 'fallback', build: builder })
    }
  }
  return parts
}

/** Builds the `ctx` of one instance. Everything registered through it is recorded on, or owned by, the instance. */
export function createContext(instance: Instance, host: ContextHost): PluginContext {
  const { registered, scope, name } = instance
  const { clock } = host
  const topicOf = (topic: string) => topic.replaceAll('{SN}', host.serial)
  const tap = (hook: HookName) => ({
    tap(fn: (...args: never[]) => unknown, options: { stage?: number } = {}) {
      registering(instance, `tap on ${hook}`)
      registered.taps[hook].push({ owner: instance, stage: options.stage ?? 0, fn })
    },
  })

  const errors: PluginContext['errors'] = {
    raise(code, given) {
      if (scope.closed) return
      const error = stationError(code, given, host.utc_s())
      const { text, severity } = error
      const before = instance.errors.get(code)
      if (before?.text === text && before.severity === severity) return
      instance.errors.delete(code)
      instance.errors.set(code, { ...error, t: instance.lastingSince(code, text) ?? error.t })
      instance.log.warn({ code }, text)
      host.infoChanged()
    },
    clear(code) {
      if (instance.errors.delete(code)) host.infoChanged()
    },
  }

  return {
    name,
    serial: host.serial,
    since: host.since,
    log: instance.log as Logger,
    signal: scope.signal,
    clock: { now: () => clock.now(), monotonic: () => clock.monotonic() },
    timers: timersOf(instance, clock),
    event<T>() {
      const hub = new EventHub<T>(clock, `listener of ${name}`)
      scope.own('event', () => hub.close())
      return hub
    },
    on: (event, fn) => listen(instance, clock, event, fn),
    config: configOf(instance, host),
    info: {
      block(path, build) {
        placed(instance, path)
        const record = { owner: instance, path, parts: infoParts(build), cache: new Map() }
        registered.blocks.push(record)
        return {
          changed() {
            record.cache.clear()
            host.infoChanged()
          },
        }
      },
    },
    commands: {
      add(command, help, run, { value = true, words = [], caution = '' } = {}) {
        named(instance, 'command', command)
        registered.commands.push({ owner: instance, name: command, help, value, caution, words, run })
      },
    },
    hooks: {
      onInfoBuild: tap('onInfoBuild'),
      onChange: tap('onChange'),
      onSystemCommand: tap('onSystemCommand'),
      onMqttConnect: tap('onMqttConnect'),
    },
    http: {
      route(options) {
        registering(instance, `route ${options.url}`)
        registered.routes.push(options)
      },
      register(plugin, options) {
        registering(instance, 'Fastify plugin')
        registered.httpPlugins.push({ plugin, options: options ?? {} })
      },
      upgrade(path, fn, { role = 'operator' } = {}) {
        registering(instance, `upgrade ${path}`)
        if (registered.upgrades.has(path)) {
          throw new RtkError('RTK_ERR_ROUTE_TAKEN', `${name} registers the upgrade of ${path} twice`)
        }
        registered.upgrades.set(path, { handler: fn, role })
      },
    },
    mqtt: {
      on(topic, fn) {
        registering(instance, 'topic')
        const filter = typeof topic === 'function' ? () => topicOf(topic()) : () => topicOf(topic)
        registered.topics.push({ owner: instance, filter, fn })
      },
      publish: (topic, payload, options = {}) =>
        scope.closed ? 'offline' : host.publish(topicOf(topic), payload, options),
    },
    services: servicesOf(instance, host),
    store: storeOf(name, host.store),
    errors,
    banner(label, text, { onTerminal = false } = {}) {
      registering(instance, 'banner')
      registered.banner.push({ label, text, onTerminal })
    },
    ui: uiOf(instance),
    status(given) {
      // Plugins are not type-checked when they are loaded.
      const text = String(given)
      if (instance.statusText === text) return
      instance.statusText = text
      host.infoChanged()
    },
    defer(dispose) {
      scope.own('deferred', dispose)
    },
    net: netOf(instance, host, errors),
    process: processOf(instance, host.processes),
    fetch: fetchOf(instance, clock),
    metrics: metricsOf(instance, host.metrics),
    dataDir(folder = 'main', options) {
      opening(instance, `data folder ${folder}`)
      return host.files.dir(name, folder, options)
    },
  }
}
