/** Provided by the runtime: the panels of plugins, the routes, the log, the metrics. */

import type { Dispose, Event } from '../event.js'
import type { MqttTopic } from '../mqtt/topics.js'
import { defineService } from '../token.js'

/** One file of a program for the browser, ready to be served. */
export interface ClientFile {
  /** File name with a hash of its content. */
  readonly name: string
  /** Content type. */
  readonly type: string
  readonly bytes: Uint8Array
  /** Compressed content; undefined if not smaller. */
  readonly gzip: Uint8Array | undefined
  /** The name changes with the content, so browsers may cache the file forever. */
  readonly immutable: boolean
}

/** The result of `import ui from './ui/main.tsx?client'`. */
export interface ClientBundle {
  /** Name of the file that a page loads as a module. */
  readonly entry: string
  /** Names of the style sheets that a page links. */
  readonly styles: readonly string[]
  readonly files: readonly ClientFile[]
}

/** A page of a plugin, with an entry in the navigation. */
export interface Panel {
  /** The plugin that it belongs to (`ctx.name`); a plugin has at most one. */
  readonly plugin: string
  /** 1 to 40 characters, for the navigation. */
  readonly title: string
  /** From an import that ends with `?client`: its export `show` is called, see `rtk-base/panel`. */
  readonly module: ClientBundle
}

/** The web page of the station. Follow it: `services.watch(stationPage, (page) => page?.add(panel))`. */
export interface StationPage {
  /** Adds a panel until the returned function is called. @throws what is wrong with it */
  add(panel: Panel): Dispose
}
export const stationPage = defineService<StationPage>('station-page')

/** The plugins' texts in languages other than English, for the plugin that serves the page of the station. */
export interface PluginTexts {
  /** Languages in which a running plugin has texts, e.g. `de`. */
  readonly languages: readonly string[]
  /** Changes when a plugin with texts starts, stops or is replaced. */
  readonly version: string
  /** Key → text, of all running plugins; empty for a language that no plugin has. */
  of(language: string): Readonly<Record<string, string>>
}
export const pluginTexts = defineService<PluginTexts>('plugin-texts')

export interface HttpRoute {
  method: string
  /** In Fastify's syntax: `/positions/:id`, `/ui/*`. */
  url: string
  plugin: string
  /** Schema of the route: `summary`, `description`, JSON Schemas of `querystring`, `params`, `body`, `response`. */
  schema: Readonly<Record<string, unknown>>
  /** Required role if a login is set. */
  role: 'none' | 'viewer' | 'operator'
  /** Parsing of the body. */
  body: 'json' | 'stream' | 'buffer'
  /** Errors are one line of text. */
  textErrors: boolean
}

/** The current routes, for a description of the interface. */
export interface HttpRoutes {
  list(): readonly HttpRoute[]
}
export const httpRoutes = defineService<HttpRoutes>('http-routes')

/** A person with an access key of their own. */
export interface Account {
  readonly user: string
  readonly role: 'viewer' | 'operator'
}

/** The session of a person who logged in. */
export interface PersonSession {
  readonly user: string
  /** UTC. */
  readonly expires_ms: number
}

/**
 * The people who may log in to this service, beside the tokens and passwords of the station: `POST /session` takes their access key, and
 * `request.user` names them. The keys are generated, never chosen.
 */
export interface Accounts {
  /** There are people (or this is not known yet), so a login is needed. */
  readonly isOn: boolean
  /** false: who may log in was not read yet, after the start. Until then, requests that need a login are answered 503. */
  readonly isKnown: boolean
  find(accessKey: string): Account | undefined
  /** The role that a person has now; undefined: no access any more, and sessions end. */
  roleOf(user: string): Account['role'] | undefined
  /**
   * A session that is known here, by the hash of its id. Sessions are the same in every instance of the service. They end with the access
   * key of their person.
   */
  session(hash: string): PersonSession | undefined
  /** Looks whether the session began in another instance a moment ago: `session` knows it then. */
  readSession(hash: string): Promise<void>
  beginSession(hash: string, session: PersonSession): Promise<void>
  endSession(hash: string): Promise<void>
}
export const accounts = defineService<Accounts>('accounts', {
  shape: {
    ...{ isOn: 'value', isKnown: 'value', find: 'function', roleOf: 'function' },
    ...{ session: 'function', readSession: 'function', beginSession: 'function', endSession: 'function' },
  },
})

/** The MQTT topics of the running plugins, for a description of the interface. */
export interface MqttTopics {
  list(): readonly MqttTopic[]
}
export const mqttTopics = defineService<MqttTopics>('mqtt-topics')

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** A line of the log, with all fields; secrets are already redacted. */
export interface LogLine {
  /** pino level: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
  level: number
  /** UTC milliseconds by the system clock. */
  time: number
  msg?: string
  plugin?: string
  [field: string]: unknown
}

/** The log of the running service. */
export interface Logs {
  /** Every written line, except the listener's own lines. */
  readonly onLine: Event<LogLine>
  /** Current level of a plugin, or the default level. */
  level(plugin?: string): string
  /** Takes effect at once, until the service ends. @param plugin omitted: all plugins, including those with their own level */
  setLevel(level: LogLevel, plugin?: string): void
}
export const logs = defineService<Logs>('logs')

/** The plugins of the variant's `standby`, for a plugin that finds out which of them the station needs. */
export interface StandbyPlugins {
  readonly names: readonly string[]
  /**
   * Starts a plugin with the options of the variant, overridden by `options`. Rejects with RTK_ERR_PLUGIN_NOT_FOUND for
   * a plugin that is not in `standby`, with RTK_ERR_ALREADY_LOADED, or with the reason why it cannot run. Do not wait
   * for it in `setup`, `start` or `stop`.
   */
  load(name: string, options?: Readonly<Record<string, unknown>>): Promise<void>
  /** Stops a plugin. Plugins that need it wait. */
  unload(name: string): Promise<void>
}
export const standbyPlugins = defineService<StandbyPlugins>('standby-plugins')

/** Prometheus metrics of the plugins and the runtime. */
export interface Metrics {
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>
  readonly contentType: string
  /** Resets counters and histograms, of one plugin or of all. */
  reset(plugin?: string): void
}
export const metrics = defineService<Metrics>('metrics')
