import type { Logger } from 'pino'
import { messageOf } from '../../errors.js'
import { isFileInWay } from '../../platform/files/durable-file.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { Blocker } from '../../platform/supervision/stalls.js'
import type { Entry } from './entry.js'
import type { PluginGraph } from './plugin-graph.js'

/** A failed start is retried after these, then the plugin is quarantined and retried every `quarantine_ms`. */
const retries_ms = [1_000, 5_000] as const
const quarantine_ms = 300_000
/** The failed phase, as the start of a sentence. */
const phases = {
  load: 'could not be loaded',
  setup: 'setup failed',
  routes: 'its routes were refused',
  start: 'start failed',
  reload: 'reload failed',
  uncaught: 'uncaught error',
} as const
export type FailurePhase = keyof typeof phases

/** A plugin that ran this long without a crash starts its count of failures from zero. */
const healthy_ms = 300_000

export interface RetryDeps {
  log: Logger
  clock: Clock
  utc_s(): number
  tryAgain(entry: Entry): void
  /** To be counted. */
  pluginFailed(name: string): void
}

/** Plugins that fail: reported, and retried with growing delays. */
export class Retry {
  readonly #deps: RetryDeps
  readonly #graph: PluginGraph

  constructor(deps: RetryDeps, graph: PluginGraph) {
    this.#deps = deps
    this.#graph = graph
  }

  failed(entry: Entry, error: unknown, phase: FailurePhase): void {
    const { clock, utc_s, pluginFailed } = this.#deps
    pluginFailed(entry.name)
    entry.instance = undefined
    const ranWell = entry.startedAt_ms !== undefined && clock.monotonic() - entry.startedAt_ms > healthy_ms
    entry.failures = ranWell ? 1 : entry.failures + 1
    if (entry.failures === 1) entry.failedAt_s = utc_s()
    // Its start attempts are not part of that run.
    entry.startedAt_ms = undefined
    const quarantined = entry.failures > retries_ms.length
    this.#later(entry, error, phase, quarantined ? quarantine_ms : retries_ms[entry.failures - 1])
  }

  #later(entry: Entry, error: unknown, phase: FailurePhase, delay_ms: number): void {
    const { clock, log, tryAgain, utc_s } = this.#deps
    const text = messageOf(error)
    entry.isFileInWay = isFileInWay(error)
    if (entry.failedAt_s === 0) entry.failedAt_s = utc_s()
    this.#graph.setState(entry, entry.failures > retries_ms.length ? 'quarantined' : 'failed', text)
    const again = `retried in ${delay_ms / 1000} s, or at once with "rtk-base plugins reload ${entry.name}"`
    log.error({ plugin: entry.name, err: error, phase }, `${phases[phase]}: ${text}; ${again}`)
    entry.retry_s = delay_ms / 1000
    this.stopTrying(entry)
    entry.retry = clock.timer(delay_ms, () => {
      entry.retry = undefined
      tryAgain(entry)
    })
  }

  /** A plugin that ended the previous process stays out for a while. */
  blocked(entry: Entry, { reason, quarantine_ms }: Blocker): void {
    entry.failures = retries_ms.length + 1
    this.#later(entry, new Error(reason), 'uncaught', quarantine_ms)
  }

  stopTrying(entry: Entry): void {
    void entry.retry?.()
    entry.retry = undefined
  }
}
