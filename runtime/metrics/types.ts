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
   * Series of a counter that exist from the start, with 0. Prometheus does not count a step from *no series* to 1. A counter
   * without labels always starts with 0.
   */
  zeros?: readonly MetricLabels[]
  /** Combinations of label values that are kept; default: 200. Further ones are dropped and counted. */
  maxSeries?: number
}

export interface GaugeOptions extends MetricOptions {
  /**
   * Called when the metrics are read, synchronously, instead of `set` at every change. Series that it does not set are
   * removed. Returning the value instead is a mistake of the plugin.
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
