/** Types of `ctx.metrics`. */

export type MetricLabels = Readonly<Record<string, string | number>>

export interface MetricOptions {
  /**
   * Snake case, without the prefix `rtk_base_`, by the rules of Prometheus: a counter ends in `_total`, a unit is a base unit in full
   * (`_seconds`, `_bytes`, `_meters`, `_ratio`).
   */
  name: string
  /** One sentence that explains the metric. */
  help: string
  labels?: readonly string[]
  /**
   * Label values of the series that exist from the start, with the value 0, because Prometheus does not count a step
   * from *no series* to 1. A counter without labels always starts with 0.
   */
  zeros?: readonly MetricLabels[]
  /** Maximum number of combinations of label values; default: 200. Further combinations are dropped and counted. */
  maxSeries?: number
}

export interface GaugeOptions extends MetricOptions {
  /**
   * Called synchronously when the metrics are read, as an alternative to `set` at every change. Set the values with
   * `gauge.set`. Series that are not set are removed. A returned value is reported as the plugin's fault.
   */
  collect?: (gauge: Gauge) => void
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending, in the unit of the metric. */
  buckets: readonly number[]
}

/** Wrong labels, or a value that is not a number, are reported as the plugin's fault. A call never throws. */
export interface Counter {
  /** @param value default: 1; never negative */
  inc(value?: number, labels?: MetricLabels): void
}

export interface Gauge {
  set(value: number, labels?: MetricLabels): void
  /** Removes one series, e.g. that of a disconnected client. */
  remove(labels: MetricLabels): void
}

export interface Histogram {
  observe(value: number, labels?: MetricLabels): void
}
