/** Where others reach the plugin: actions, hooks, HTTP, MQTT. */
import { Type } from 'typebox'
import { guard } from '../../platform/guard/guard.js'
import { isFilter } from '../../platform/topic-filter.js'
import type { PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import type { ActionRecord, HookName } from '../instance/registrations.js'
import { argument, type ContextHost, members, named, registering } from './host.js'

/** `ctx.action` */
export function actionOf(instance: Instance): PluginContext['action'] {
  return (action) => {
    argument('action', action, 'object')
    const { name, run, summary, ...options } = action
    named(instance, 'command', name)
    const what = `command ${name}`
    argument(`${what}: its summary`, summary, 'string')
    argument(`${what}: its function`, run, 'function')
    members(what, options, actionOptions)
    const { caution = '', input = {}, parameter, reads = false, usage } = options
    for (const [field, schema] of Object.entries(input)) argument(`${what}: the schema of ${field}`, schema, 'object')
    if (parameter !== undefined) named(instance, 'parameter', parameter)
    instance.registered.actions.push({
      ...{ owner: instance, name, summary, caution, reads, usage, parameter },
      run: run as ActionRecord['run'],
      input: Type.Object(input, { additionalProperties: false }),
    })
  }
}

const actionOptions = {
  input: 'object',
  usage: 'string',
  caution: 'string',
  reads: 'boolean',
  parameter: 'string',
} as const

/** `ctx.hooks` */
export function hooksOf(instance: Instance): PluginContext['hooks'] {
  const { taps } = instance.registered
  const tap = (hook: HookName) => ({
    tap(fn: (...args: never[]) => unknown, options: { stage?: number } = {}) {
      registering(instance, `tap on ${hook}`)
      argument(`tap on ${hook}: its function`, fn, 'function')
      members(`tap on ${hook}`, options, { stage: 'number' })
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

/** A misspelt role would be one that nobody has. */
function roleOf(what: string, role: unknown): void {
  if (role === undefined || role === 'viewer' || role === 'operator') return
  throw new Error(`${what}: its role is viewer or operator, not ${JSON.stringify(role)}`)
}

/** `ctx.http` */
export function httpOf(instance: Instance): PluginContext['http'] {
  const { routes, httpPlugins } = instance.registered
  return {
    route(options) {
      argument('route: its options', options, 'object')
      registering(instance, `route ${options.url}`)
      argument(`route ${options.url}: its handler`, options.handler, 'function')
      roleOf(`route ${options.url}`, options.config?.role)
      routes.push(options)
    },
    register(plugin, options) {
      registering(instance, 'Fastify plugin')
      argument('Fastify plugin', plugin, 'function')
      if (options !== undefined) argument('Fastify plugin: its options', options, 'object')
      httpPlugins.push({ plugin, options: options ?? {} })
    },
  }
}

/** `ctx.mqtt`: `{SN}` in a topic is the serial number. */
export function mqttOf(instance: Instance, host: ContextHost): PluginContext['mqtt'] {
  const { registered, scope } = instance
  const topicOf = (topic: string) => topic.replaceAll('{SN}', host.serial)
  const filterOf = (topic: string) => {
    argument('topic: its name', topic, 'string')
    if (topic === '' || isFilter(topic)) return topicOf(topic)
    throw new Error(`topic "${topic}": + is a whole level, # a whole level at the end`)
  }
  return {
    on(topic, fn) {
      registering(instance, 'topic')
      argument('topic: its function', fn, 'function')
      const fixed = typeof topic === 'function' ? undefined : filterOf(topic)
      const wanted = guard(instance, 'topic', () => filterOf((topic as () => string)()))
      registered.topics.push({ owner: instance, filter: () => fixed ?? wanted() ?? '', fn })
    },
    publish(topic, payload, { followedBy, ...options } = {}) {
      if (scope.closed) return 'offline'
      const second = followedBy && { followedBy: { ...followedBy, topic: topicOf(followedBy.topic) } }
      return host.publish(topicOf(topic), payload, { ...options, ...second })
    },
    describe(topic) {
      registering(instance, 'description of a topic')
      argument('description of a topic', topic, 'object')
      const { address, from, summary } = topic
      argument('description of a topic: its address', address, 'string')
      argument(`description of ${address}: its summary`, summary, 'string')
      if (from !== 'station' && from !== 'client')
        throw new Error(`description of ${address}: it is from station or client, not ${JSON.stringify(from)}`)
      registered.topicDescriptions.push({ owner: instance, topic })
    },
  }
}
