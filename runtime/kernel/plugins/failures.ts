import type { Logger } from 'pino'
import type { StationError } from '../../../schemas/services.js'
import { messageOf } from '../../errors.js'
import type { Clock } from '../../platform/ports/clock.js'
import { stationError } from '../../platform/station-error.js'
import type { Blocker } from '../../platform/supervision/stalls.js'
import type { Entry } from './entry.js'
import type { PluginSet } from './plugin-set.js'

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
export type Phase = keyof typeof phases

/** A plugin that ran this long without a crash starts its count of failures from zero. */
const healthy_ms = 300_000

export interface FailuresDeps {
  log: Logger
  clock: Clock
  utc_s(): number
  tryAgain(entry: Entry): void
  /** To be counted. */
  pluginFailed(name: string): void
}

/** Handles plugins that fail: reports them and retries with growing delays. */
export class Failures {
  readonly #deps: FailuresDeps
  readonly #pluginSet: PluginSet

  constructor(deps: FailuresDeps, pluginSet: PluginSet) {
    this.#deps = deps
    this.#pluginSet = pluginSet
  }

  failed(entry: Entry, error: unknown, phase: Phase): void {
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

  #later(entry: Entry, error: unknown, phase: Phase, delay_ms: number): void {
    const { clock, log, tryAgain, utc_s } = this.#deps
    const text = messageOf(error)
    if (entry.failedAt_s === 0) entry.failedAt_s = utc_s()
    this.#pluginSet.setState(entry, entry.failures > retries_ms.length ? 'quarantined' : 'failed', text)
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

  /** Messages to a person about plugins that do not run. */
  troubles(): StationError[] {
    return this.#pluginSet.entries
      .filter(({ state }) => state === 'failed' || state === 'quarantined')
      .map(({ name, reason, failedAt_s, retry_s }) => {
        const text = `plugin ${name} does not run: ${reason}`
        const first = reason.includes('ENOTDIR') ? 'a file is where a folder is needed: remove it; ' : ''
        const advice = `${first}it is retried after ${retry_s} s, or at once with "rtk-base plugins reload ${name}"`
        const values = { plugin: name, reason, retry_s }
        return stationError('plugin-failed', { text, advice, severity: 'silences', values }, failedAt_s)
      })
  }

  stopTrying(entry: Entry): void {
    void entry.retry?.()
    entry.retry = undefined
  }
}
