import type { Counter, Histogram, Gauge as PromGauge, Registry } from 'prom-client'
import type { Owner } from '../guard/owner.js'
import { ownPackages } from '../host-packages.js'
import type { MetricKind } from './rules.js'
import type { Gauge, GaugeOptions, HistogramOptions, MetricLabels, MetricOptions } from './types.js'

const seriesLimit = 200
const longestValue = 128

/** A metric's counts: kept over a reload of its plugin. */
export interface Counted {
  readonly metric: Counter | PromGauge | Histogram
  readonly series: Set<string>
}

export interface FamilyDeps {
  readonly owner: Owner
  readonly kind: MetricKind
  readonly name: string
  readonly options: MetricOptions
  /** One more value that was dropped: the metric has too many series. */
  dropped(name: string): void
}

/** One metric of one version of a plugin. */
export class MetricFamily {
  readonly owner: Owner
  readonly kind: MetricKind
  readonly name: string
  readonly options: MetricOptions
  readonly counted: Counted
  readonly #labels: readonly string[]
  readonly #limit: number
  readonly #dropped: (name: string) => void

  /** @param before of the previous version, if it had this metric */
  constructor({ owner, kind, name, options, dropped }: FamilyDeps, before?: MetricFamily) {
    this.owner = owner
    this.kind = kind
    this.name = name
    this.options = options
    this.#labels = options.labels ?? []
    this.#limit = options.maxSeries ?? seriesLimit
    this.#dropped = dropped
    this.counted = before?.isLike(this) ? before.counted : { metric: this.#make(), series: new Set() }
    this.#begin()
  }

  get collect(): ((gauge: Gauge) => void) | undefined {
    return (this.options as GaugeOptions).collect
  }

  /** Whether the other family can continue its values. */
  isLike(other: MetricFamily): boolean {
    const shape = ({ kind, name, options }: MetricFamily) =>
      JSON.stringify([kind, name, options.labels ?? [], (options as Partial<HistogramOptions>).buckets])
    return shape(this) === shape(other)
  }

  add(value: number, labels?: MetricLabels): void {
    if (!Number.isFinite(value) || (this.kind === 'counter' && value < 0)) {
      this.#wrong(`${value} is not a valid value for a ${this.kind}`)
      return
    }
    const checked = this.#admit(labels)
    if (!checked) return
    const { metric } = this.counted
    if (this.kind === 'counter') (metric as Counter).inc(checked, value)
    else if (this.kind === 'gauge') (metric as PromGauge).set(checked, value)
    else (metric as Histogram).observe(checked, value)
  }

  remove(labels: MetricLabels): void {
    const checked = this.#checked(labels)
    if (!checked || !this.counted.series.delete(keyOf(checked))) return
    this.counted.metric.remove(checked)
  }

  reset(): void {
    const { metric, series } = this.counted
    metric.reset()
    series.clear()
    this.#begin()
    // A gauge without labels would show 0, which looks like a value: an unset gauge is unknown.
    if (this.kind === 'gauge' && this.#labels.length === 0) metric.remove({})
    // The others do this themselves.
    if (this.kind === 'histogram' && this.#labels.length === 0) (metric as Histogram).zero({})
  }

  #begin(): void {
    if (this.kind === 'counter') for (const labels of this.options.zeros ?? []) this.add(0, labels)
  }

  #make(): Counted['metric'] {
    const { name, options } = this
    const common = { name, help: options.help, labelNames: [...this.#labels], registers: [] }
    if (this.kind === 'counter') return new (prom().Counter)(common)
    if (this.kind === 'gauge') return new (prom().Gauge)(common)
    return new (prom().Histogram)({ ...common, buckets: [...(options as HistogramOptions).buckets] })
  }

  #admit(labels: MetricLabels | undefined): Record<string, string> | undefined {
    const checked = this.#checked(labels)
    if (!checked || this.#labels.length === 0) return checked
    const { series } = this.counted
    const key = keyOf(checked)
    if (series.has(key)) return checked
    if (series.size >= this.#limit) {
      this.#dropped(this.name)
      return undefined
    }
    series.add(key)
    return checked
  }

  /** In the order of the declaration, as texts of bounded length. */
  #checked(labels: MetricLabels = {}): Record<string, string> | undefined {
    const checked: Record<string, string> = {}
    for (const label of this.#labels) {
      if (labels[label] === undefined) return this.#wrong(`its label ${label} is missing`)
      try {
        checked[label] = String(labels[label]).slice(0, longestValue)
      } catch {
        return this.#wrong(`its label ${label} has no text`)
      }
    }
    const stranger = Object.keys(labels).find((label) => !this.#labels.includes(label))
    return stranger === undefined ? checked : this.#wrong(`it has no label ${stranger}`)
  }

  #wrong(text: string): undefined {
    this.owner.failed(new Error(text), `metric ${this.name}`)
  }
}

function keyOf(labels: Record<string, string>): string {
  return JSON.stringify(Object.values(labels))
}

interface Prom {
  Counter: typeof Counter
  Gauge: typeof PromGauge
  Histogram: typeof Histogram
  Registry: typeof Registry
}

let loaded: Prom | undefined

/**
 * The parts of prom-client in use, loaded at first use. They are imported by file, because the main file also loads a
 * push gateway, a cluster and the default metrics: 11 MB, too much for a small machine.
 */
export function prom(): Prom {
  const load = <T>(file: string) => ownPackages[`prom-client/lib/${file}`]() as T
  loaded ??= {
    Counter: load('counter'),
    Gauge: load('gauge'),
    Histogram: load('histogram'),
    Registry: load('registry'),
  }
  return loaded
}
