/** Metrics of the station in the form that Prometheus reads. */
import type { Registry } from 'prom-client'
import { RtkError } from '../../errors.js'
import { guard } from '../guard/guard.js'
import { asRuntime, type Owner, type StopReason } from '../guard/owner.js'
import { MetricFamily, prom } from './family.js'
import { checkBuckets, fullName, type MetricKind } from './rules.js'
import type { HistogramOptions, MetricOptions } from './types.js'

/**
 * A metric belongs to a plugin and goes with it. Its values stay over a reload when the next version has the same metric.
 */
export class MetricRegistry {
  readonly #own: (registry: Registry) => void
  #registry: Registry | undefined
  /** Live families by name. */
  readonly #families = new Map<string, MetricFamily>()
  /** The metrics of versions that do not run yet. */
  readonly #coming = new Map<Owner, MetricFamily[]>()
  /** Values that were dropped because their metric has too many combinations of labels. */
  readonly dropped = new Map<string, number>()

  /** @param own adds the runtime's own metrics, which read themselves; called when the first metric is made or read */
  constructor(own: (registry: Registry) => void) {
    this.#own = own
  }

  get contentType(): string {
    return this.#all.contentType
  }

  /**
   * @param runs its owner has started; else the metric shows when it does
   * @throws RTK_ERR_METRIC, RTK_ERR_METRIC_TAKEN
   */
  create(owner: Owner, kind: MetricKind, options: MetricOptions, runs: boolean): MetricFamily {
    const name = fullName(kind, options)
    if (kind === 'histogram') checkBuckets(options as HistogramOptions)
    const coming = this.#coming.get(owner) ?? []
    const before = this.#families.get(name)
    const others = [...this.#coming].flatMap(([other, families]) => (other.name === owner.name ? [] : families))
    const taken =
      others.find((family) => family.name === name) ?? (before?.owner.name === owner.name ? undefined : before)
    const isTwice = before?.owner === owner || coming.some((family) => family.name === name)
    const holder = taken?.owner.name ?? (isTwice ? owner.name : undefined)
    const isOwn = !before && this.#all.getSingleMetric(name) !== undefined
    if (holder || isOwn) {
      const by = holder ? `plugin ${holder}` : 'the runtime'
      throw new RtkError('RTK_ERR_METRIC_TAKEN', `metric ${name} of ${owner.name} is taken by ${by}`)
    }
    const dropped = (metric: string) => this.dropped.set(metric, (this.dropped.get(metric) ?? 0) + 1)
    // Only these can have too many.
    if (options.labels?.length && !this.dropped.has(name)) this.dropped.set(name, 0)
    const family = new MetricFamily({ owner, kind, name, options, dropped }, before)
    if (runs) this.#install(family)
    else this.#coming.set(owner, [...coming, family])
    return family
  }

  /** A plugin runs: its metrics are live, and metrics that only its previous version had are removed. */
  entered(owner: Owner): void {
    const families = this.#coming.get(owner) ?? []
    this.#coming.delete(owner)
    for (const old of this.#of(owner.name)) if (old.owner !== owner) this.#remove(old)
    for (const family of families) this.#install(family)
  }

  /** A plugin is about to stop: its counts stay for the next version. */
  leaving(owner: Owner, reason: StopReason): void {
    for (const family of this.#of(owner.name)) {
      if (family.owner !== owner) continue
      if (reason !== 'reload') this.#remove(family)
      else if (family.collect) family.reset()
    }
  }

  released(owner: Owner): void {
    this.#coming.delete(owner)
  }

  /** Everything as text. */
  async text(): Promise<string> {
    for (const family of this.#families.values()) {
      const { owner, collect, name } = family
      if (!collect) continue
      family.reset()
      if (owner.signal.aborted) continue
      const set = (value: number, labels?: Parameters<MetricFamily['add']>[1]) => family.add(value, labels)
      const what = `metric ${name}`
      const returned: unknown = guard(owner, what, collect)({ set, remove: (one) => family.remove(one) })
      // Its author means it to be the value: without a word there would be none.
      if (typeof returned === 'number')
        owner.failed(new Error(`collect returned ${returned}: it has to call gauge.set`), what)
    }
    return asRuntime(() => this.#all.metrics())
  }

  /** Counters and histograms begin at zero again: all, or those of one plugin. */
  reset(plugin?: string): void {
    for (const family of this.#families.values()) {
      if (family.kind !== 'gauge' && (plugin === undefined || plugin === family.owner.name)) family.reset()
    }
  }

  get #all(): Registry {
    if (!this.#registry) {
      this.#registry = new (prom().Registry)()
      this.#own(this.#registry)
    }
    return this.#registry
  }

  #of(plugin: string): MetricFamily[] {
    return [...this.#families.values()].filter(({ owner }) => owner.name === plugin)
  }

  #install(family: MetricFamily): void {
    this.#families.set(family.name, family)
    this.#all.removeSingleMetric(family.name)
    this.#all.registerMetric(family.counted.metric)
  }

  #remove({ name }: MetricFamily): void {
    this.#families.delete(name)
    this.#all.removeSingleMetric(name)
  }
}
