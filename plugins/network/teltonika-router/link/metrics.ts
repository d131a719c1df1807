import type { PluginContext } from 'rtk-base/plugin'

/** Metrics of the link. */
export class LinkMetrics {
  readonly #calls
  readonly #failures
  readonly #duration
  readonly #logins

  /** @param now what the gauges show */
  constructor(ctx: Pick<PluginContext, 'metrics'>, now: { online(): boolean; queue(): number }) {
    const { metrics } = ctx
    this.#calls = metrics.counter({
      name: 'router_calls_total',
      help: 'Operations done with the router.',
      labels: ['operation'],
    })
    this.#failures = metrics.counter({
      name: 'router_call_failures_total',
      help: 'Operations with the router that failed, by error code.',
      labels: ['operation', 'code'],
    })
    this.#duration = metrics.histogram({
      name: 'router_call_duration_seconds',
      help: 'How long operations with the router took, without the wait for their turn.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 210],
    })
    this.#logins = metrics.counter({
      name: 'router_logins_total',
      help: 'Logins at the router.',
      labels: ['result'],
      zeros: [{ result: 'ok' }, { result: 'refused' }],
    })
    metrics.gauge({
      name: 'router_online',
      help: '1 while the station is logged in at the router.',
      collect: (gauge) => gauge.set(now.online() ? 1 : 0),
    })
    metrics.gauge({
      name: 'router_queue_length',
      help: 'Operations with the router that run or wait for their turn.',
      collect: (gauge) => gauge.set(now.queue()),
    })
  }

  login(result: 'ok' | 'refused'): void {
    this.#logins.inc(1, { result })
  }

  /** @param code of the error; undefined: it went well */
  call(operation: string, seconds: number, code?: string): void {
    this.#calls.inc(1, { operation })
    this.#duration.observe(seconds)
    if (code !== undefined) this.#failures.inc(1, { operation, code })
  }
}
