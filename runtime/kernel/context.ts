import type { Logger } from 'pino'
import type { TSchema } from 'typebox'
import { RtkError } from '../errors.js'
import type {
  ConfigKey,
  Dispose,
  InfoBuilder,
  InfoParts,
  PluginContext,
  PluginStore,
  PublishOptions,
  PublishResult,
  ServiceToken,
} from '../plugin.js'
import type { Clock } from '../ports/clock.js'
import type { Store } from '../ports/store.js'
import type { HookName, InfoPart, Instance, ParameterRecord } from './instance.js'

const nameRule = /^[A-Za-z0-9][\w-]*$/
const pathRule = /^[A-Za-z0-9][\w-]*(\.[A-Za-z0-9][\w-]*)*$/

/** What a plugin's context reaches in the runtime. */
export interface ContextHost {
  readonly serial: string
  readonly clock: Clock
  readonly store: Store
  parameterValue(record: ParameterRecord): unknown
  infoChanged(): void
  publish(topic: string, payload: string | Buffer, options: PublishOptions): PublishResult
  findService(id: string): unknown
  utc_s(): number
}

/** The parts of a block, in the order in which they are merged. */
function infoParts(build: InfoBuilder | InfoParts): InfoPart[] {
  if (typeof build === 'function') return [{ class: 'runtime', detail: false, build }]
  const parts: InfoPart[] = []
  for (const detail of [false, true]) {
    const group = detail ? build.detail : build
    for (const part of ['static', 'runtime', 'config'] as const) {
      const builder = group?.[part]
      if (builder) parts.push({ class: part, detail, build: builder })
    }
  }
  return parts
}

/** A view of the store limited to one namespace. */
function pluginStore(store: Store, namespace: string): PluginStore {
  const batch = (values: Readonly<Record<string, unknown>>) =>
    store.batch(Object.entries(values).map(([key, value]) => ({ namespace, key, value })))
  return {
    get: (key) => store.get(namespace, key),
    set: (key, value) => batch({ [key]: value }),
    batch,
    entries: () => store.entries(namespace),
  }
}

/** A timer of the plugin: gated, attributed, isolated, gone with its scope. */
function timers(instance: Instance, clock: Clock): PluginContext['timers'] {
  const { scope } = instance
  const fire = async (what: string, fn: () => void | Promise<void>) => {
    if (scope.closed) return
    try {
      await instance.run(fn)
    } catch (error) {
      instance.failed(error, what)
    }
  }
  return {
    after(ms, fn) {
      const over = scope.own(
        `timer after ${ms} ms`,
        clock.timer(ms, () => {
          void over()
          void fire('timer', fn)
        }),
      )
      return over
    },
    every(ms, fn) {
      let cancel: Dispose = () => {}
      let due_ms = clock.monotonic() + ms
      const arm = () => {
        cancel = clock.timer(Math.max(0, due_ms - clock.monotonic()), () => {
          // A late wake-up is not made up for: the next one is a whole period on, counted from the planned time.
          due_ms = Math.max(due_ms + ms, clock.monotonic())
          if (!scope.closed) arm()
          void fire('timer', fn)
        })
      }
      const stop = scope.own(`timer every ${ms} ms`, () => cancel())
      if (!scope.closed) arm()
      return stop
    },
  }
}

/** Builds the `ctx` of one instance. Everything registered through it is recorded on, or owned by, the instance. */
export function createContext(instance: Instance, host: ContextHost): PluginContext {
  const { registered, scope, name } = instance
  const topicOf = (topic: string) => topic.replaceAll('{SN}', host.serial)

  /** Registrations end with `setup`: the runtime checks and publishes them as one set. */
  const registering = (what: string): void => {
    if (instance.inSetup) return
    throw new RtkError('RTK_ERR_LATE_REGISTRATION', `${name}: ${what} after setup`)
  }
  /** A name that nobody could ask for is a slip of its author. */
  const named = (what: string, value: string, rule: RegExp): void => {
    registering(`${what} ${value}`)
    if (!rule.test(value)) throw new Error(`${what} "${value}": a name has letters, digits and dashes`)
  }
  const tap = (hook: HookName) => ({
    tap(fn: (...args: never[]) => unknown, options: { stage?: number } = {}) {
      registering(`tap on ${hook}`)
      registered.taps[hook].push({ owner: instance, stage: options.stage ?? 0, fn })
    },
  })

  return {
    name,
    serial: host.serial,
    log: instance.log as Logger,
    signal: scope.signal,
    clock: { now: () => host.clock.now(), monotonic: () => host.clock.monotonic() },
    timers: timers(instance, host.clock),
    config: {
      define<S extends TSchema>(key: string, schema: S, options: { default: unknown }): ConfigKey<never> {
        named('parameter', key, nameRule)
        const record: ParameterRecord = { owner: instance, name: key, schema, options, listeners: [] }
        registered.parameters.push(record)
        return {
          name: key,
          get: () => host.parameterValue(record) as never,
          onChange: (fn) => {
            record.listeners.push(fn as (now: unknown, before: unknown) => void)
          },
        }
      },
      action(key, schema, run) {
        named('action', key, nameRule)
        registered.actions.push({ owner: instance, name: key, schema, run: run as (value: unknown) => void })
      },
      rule(names, check) {
        registering('rule')
        registered.rules.push({ owner: instance, names, check })
      },
    },
    info: {
      block(path, build) {
        named('block', path, pathRule)
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
      add(command, help, run) {
        named('command', command, nameRule)
        registered.commands.push({ owner: instance, name: command, help, run })
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
        registering(`route ${options.url}`)
        registered.routes.push(options)
      },
      register(plugin, options) {
        registering('Fastify plugin')
        registered.httpPlugins.push({ plugin, options: options ?? {} })
      },
      upgrade(path, fn, { role = 'operator' } = {}) {
        registering(`upgrade ${path}`)
        if (registered.upgrades.has(path)) {
          throw new RtkError('RTK_ERR_ROUTE_TAKEN', `${name} registers the upgrade of ${path} twice`)
        }
        registered.upgrades.set(path, { handler: fn, role })
      },
    },
    mqtt: {
      on(topic, fn) {
        registering(`topic ${topic}`)
        registered.topics.push({ owner: instance, filter: topicOf(topic), fn })
      },
      publish: (topic, payload, options = {}) =>
        scope.closed ? 'offline' : host.publish(topicOf(topic), payload, options),
    },
    services: {
      provide<T>(token: ServiceToken<T>, value: T) {
        if (!instance.definition.provides?.some(({ id }) => id === token.id)) {
          throw new RtkError('RTK_ERR_SERVICE_MISSING', `${name} provides ${token.id} but does not name it in provides`)
        }
        instance.services.set(token.id, value)
      },
      use<T>(token: ServiceToken<T>): T {
        if (instance.inSetup) {
          throw new RtkError('RTK_ERR_SERVICE_MISSING', `${name} uses ${token.id} in setup: use it from start on`)
        }
        const value = host.findService(token.id)
        if (value === undefined) {
          throw new RtkError('RTK_ERR_SERVICE_MISSING', `${name} uses ${token.id}, which nobody provides now`)
        }
        return value as T
      },
      find: <T>(token: ServiceToken<T>) => host.findService(token.id) as T | undefined,
    },
    store: Object.assign(pluginStore(host.store, `plugin.${name}`), {
      protected: pluginStore(host.store, `protected.${name}`),
    }),
    errors: {
      raise(code, text) {
        if (scope.closed) return
        const before = instance.errors.get(code)
        if (before?.text === text) return
        instance.errors.delete(code)
        instance.errors.set(code, { code, text, t: host.utc_s() })
        instance.log.warn({ code }, text)
        host.infoChanged()
      },
      clear(code) {
        if (instance.errors.delete(code)) host.infoChanged()
      },
    },
    status(text) {
      instance.statusText = text
    },
    defer(dispose) {
      scope.own('deferred', dispose)
    },
  }
}
