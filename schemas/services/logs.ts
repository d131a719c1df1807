/** Provided by the runtime: the log of the running service. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'

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
