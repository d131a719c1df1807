/** Where others reach the plugin: commands, hooks, HTTP, MQTT. */
import { RtkError } from '../../errors.js'
import type { PluginContext } from '../../plugin.js'
import { onBehalf } from '../instance/events.js'
import type { Instance } from '../instance/instance.js'
import type { HookName } from '../instance/registrations.js'
import { argument, type ContextHost, named, registering } from './host.js'

/** `ctx.commands` */
export function commandsOf(instance: Instance): PluginContext['commands'] {
  const { commands } = instance.registered
  return {
    add(command, help, run, { value = true, words = [], caution = '' } = {}) {
      named(instance, 'command', command)
      argument(`command ${command}: its help`, help, 'string')
      argument(`command ${command}: its function`, run, 'function')
      argument(`command ${command}: its words`, words, 'list')
      argument(`command ${command}: its caution`, caution, 'string')
      commands.push({ owner: instance, name: command, help, value, caution, words, run })
    },
  }
}

/** `ctx.hooks` */
export function hooksOf(instance: Instance): PluginContext['hooks'] {
  const { taps } = instance.registered
  const tap = (hook: HookName) => ({
    tap(fn: (...args: never[]) => unknown, options: { stage?: number } = {}) {
      registering(instance, `tap on ${hook}`)
      argument(`tap on ${hook}: its function`, fn, 'function')
      taps[hook].push({ owner: instance, stage: options.stage ?? 0, fn })
    },
  })
  return {
    onInfoBuild: tap('onInfoBuild'),
    onChange: tap('onChange'),
    onSystemCommand: tap('onSystemCommand'),
    onMqttConnect: tap('onMqttConnect'),
  }
}

/** `ctx.http` */
export function httpOf(instance: Instance): PluginContext['http'] {
  const { routes, httpPlugins, upgrades } = instance.registered
  return {
    route(options) {
      argument('route: its options', options, 'object')
      registering(instance, `route ${options.url}`)
      argument(`route ${options.url}: its handler`, options.handler, 'function')
      routes.push(options)
    },
    register(plugin, options) {
      registering(instance, 'Fastify plugin')
      argument('Fastify plugin', plugin, 'function')
      httpPlugins.push({ plugin, options: options ?? {} })
    },
    upgrade(path, fn, { role = 'operator' } = {}) {
      registering(instance, `upgrade ${path}`)
      argument('upgrade: its path', path, 'string')
      argument(`upgrade ${path}: its function`, fn, 'function')
      if (upgrades.has(path)) {
        throw new RtkError('RTK_ERR_ROUTE_TAKEN', `${instance.name} registers the upgrade of ${path} twice`)
      }
      upgrades.set(path, { handler: fn, role })
    },
  }
}

/** `ctx.mqtt`: `{SN}` in a topic is the serial number. */
export function mqttOf(instance: Instance, host: ContextHost): PluginContext['mqtt'] {
  const { registered, scope } = instance
  const topicOf = (topic: string) => topic.replaceAll('{SN}', host.serial)
  return {
    on(topic, fn) {
      registering(instance, 'topic')
      if (typeof topic !== 'function') argument('topic: its name', topic, 'string')
      argument('topic: its function', fn, 'function')
      const wanted = onBehalf(instance, host.clock, 'topic', () =>
        topicOf(typeof topic === 'function' ? topic() : topic),
      )
      registered.topics.push({ owner: instance, filter: () => wanted() ?? '', fn })
    },
    publish(topic, payload, { beside, ...options } = {}) {
      if (scope.closed) return 'offline'
      const second = beside && { beside: { ...beside, topic: topicOf(beside.topic) } }
      return host.publish(topicOf(topic), payload, { ...options, ...second })
    },
    describe(topic) {
      registering(instance, 'description of a topic')
      argument('description of a topic', topic, 'object')
      registered.topicDescriptions.push({ owner: instance, topic })
    },
  }
}
