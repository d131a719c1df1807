/** Provided by the runtime: the panels of plugins, the routes, the log, the metrics. */

import type { Event } from '../event.js'
import type { MqttTopic } from '../mqtt/topics.js'
import { defineService } from '../token.js'

/** One file of a browser bundle, ready to be served. */
export interface ClientFile {
  /** File name with a hash of its content. */
  readonly name: string
  /** Content type. */
  readonly type: string
  readonly bytes: Uint8Array
  /** The same compressed; undefined where that would not make it smaller. */
  readonly gzip: Uint8Array | undefined
  /** The name changes with the content, so browsers may keep it for ever. */
  readonly immutable: boolean
}

/** What `import ui from './ui/main.tsx?client'` gives. */
export interface ClientBundle {
  /** Name of the file that a page loads as a module. */
  readonly entry: string
  /** Names of the style sheets that a page links. */
  readonly styles: readonly string[]
  readonly files: readonly ClientFile[]
}

export interface Panel {
  /** The plugin that it belongs to; a plugin has at most one. */
  readonly plugin: string
  readonly title: string
  readonly module: ClientBundle
}

/** The panels that plugins added with `ctx.ui.panel`, for the plugin that serves the page of the station. */
export interface Panels {
  /** Those of the plugins that run now. */
  list(): readonly Panel[]
}
export const panels = defineService<Panels>('panels')

export interface HttpRoute {
  method: string
  /** As Fastify writes it: `/reference/history/:id`, `/ui/*`. */
  url: string
  plugin: string
  /** Of the route: `summary`, `description`, JSON Schemas of `querystring`, `params`, `body`, `response`. */
  schema: Readonly<Record<string, unknown>>
  /** Who may use it where tokens are set. */
  role: 'none' | 'viewer' | 'operator'
  /** How the body is read. */
  body: 'json' | 'stream' | 'buffer' | 'ignore'
  /** Errors are one line of text. */
  textErrors: boolean
}

/** The routes that answer now, for a description of the interface. */
export interface HttpRoutes {
  list(): readonly HttpRoute[]
}
export const httpRoutes = defineService<HttpRoutes>('http-routes')

/** The MQTT topics of the plugins that run now, for a description of the interface. */
export interface MqttTopics {
  list(): readonly MqttTopic[]
}
export const mqttTopics = defineService<MqttTopics>('mqtt-topics')

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** A line of the log, with everything that was logged; secrets are replaced already. */
export interface LogLine {
  /** As pino has them: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
  level: number
  /** UTC milliseconds by the system clock. */
  time: number
  msg?: string
  plugin?: string
  [field: string]: unknown
}

/** The log of the running service. */
export interface Logs {
  /** Every line that is written. What a listener logs itself is not shown to it. */
  readonly onLine: Event<LogLine>
  /** The level in force: of a plugin, or of everything that has no level of its own. */
  level(plugin?: string): string
  /** In force at once and until the service ends. @param plugin left out: everything, also plugins that had a level of their own */
  setLevel(level: LogLevel, plugin?: string): void
}
export const logs = defineService<Logs>('logs')

/** What the plugins and the runtime count, for Prometheus. */
export interface Metrics {
  /** The exposition format, in one text. */
  text(): Promise<string>
  readonly contentType: string
  /** Counters and histograms begin at zero again: those of every plugin, or of one. */
  reset(plugin?: string): void
}
export const metrics = defineService<Metrics>('metrics')
