import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { ConfigKey, ConfigOptions, PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import type { ParameterRecord } from '../instance/registrations.js'
import { argument, type ContextHost, members, named, registering } from './host.js'

/** Besides the default, which the schema checks. */
const parameterOptions = {
  title: 'string',
  secret: 'boolean',
  boundTo: 'strings',
  endsLink: 'boolean',
  trial: 'object',
} as const

/** `ctx.config`: parameters and rules. */
export function configOf(instance: Instance, host: ContextHost): PluginContext['config'] {
  const { registered } = instance
  const isOwn = (name: string) => registered.parameters.some((record) => record.name === name)
  return {
    define<S extends TSchema>(key: string, schema: S, options: { default: unknown }): ConfigKey<never> {
      named(instance, 'parameter', key)
      argument(`parameter ${key}: its schema`, schema, 'object')
      argument(`parameter ${key}: its options`, options, 'object')
      const { default: preset, ...rest } = options
      members(`parameter ${key}`, rest, parameterOptions)
      const { trial } = rest as ConfigOptions<unknown>
      if (trial !== undefined) argument(`parameter ${key}: its trial.reaches`, trial.reaches, 'function')
      if (!Value.Check(schema, preset)) {
        throw new Error(`parameter ${key}: its default ${JSON.stringify(preset)} does not fit its own schema`)
      }
      const record: ParameterRecord = { owner: instance, name: key, schema, options, listeners: [] }
      registered.parameters.push(record)
      return {
        name: key,
        get: () => host.parameterValue(record) as never,
        onChange: (fn) => {
          argument(`onChange of ${key}: its function`, fn, 'function')
          record.listeners.push(fn as (now: unknown, before: unknown) => void)
        },
      }
    },
    rule(names, check) {
      registering(instance, 'rule')
      argument('rule: its parameters', names, 'strings')
      argument(`rule of ${names}: its function`, check, 'function')
      registered.rules.push({ owner: instance, names, check })
    },
    onChange(names, fn) {
      registering(instance, 'onChange')
      argument('onChange: its parameters', names, 'strings')
      argument(`onChange of ${names}: its function`, fn, 'function')
      const foreign = names.find((name) => !isOwn(name))
      if (foreign !== undefined) throw new Error(`onChange of "${foreign}": only own parameters, after their define`)
      registered.changes.push({ owner: instance, names, fn })
    },
  }
}
