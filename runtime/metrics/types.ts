/** The author's side of `ctx.metrics`. */
export type MetricLabels = Readonly<Record<string, string | number>>

export interface MetricOptions {
  /**
   * Snake case, without the prefix `rtk_base_`, as Prometheus has names: a counter ends in `_total`, a unit is a base unit in full
   * (`_seconds`, `_bytes`, `_meters`, `_ratio`).
   */
  name: string
  /** One sentence for the reader of the page. */
  help: string
  labels?: readonly string[]
  /**
   * Series of a counter that are there from the start, at 0: an increase from nothing to 1 is none for Prometheus. A counter without labels
   * always begins so.
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

/** A call with wrong labels or no number is reported as the plugin's fault; it never throws. */
export interface Counter {
  /** @param value 1 when left out; never negative */
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
