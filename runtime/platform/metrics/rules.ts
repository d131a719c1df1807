import { RtkError } from '../../errors.js'
import type { GaugeOptions, HistogramOptions, MetricOptions } from './types.js'

export type MetricKind = 'counter' | 'gauge' | 'histogram'

const prefix = 'rtk_base_'
const nameRule = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
/** Units that `promtool check metrics` rejects: non-base units and abbreviations. */
const badUnits: Readonly<Record<string, string>> = {
  ...unit('seconds', 'milliseconds microseconds nanoseconds minutes hours days s ms us ns sec min m h d'),
  ...unit('bytes', 'kilobytes megabytes gigabytes kibibytes mebibytes gibibytes bits b kb mb gb kib mib gib'),
  ...unit('meters', 'kilometers centimeters millimeters micrometers km cm mm'),
  ...unit('ratio', 'percent percents percentage'),
  ...unit('celsius', 'fahrenheit kelvin'),
  ...unit('volts', 'millivolts mv'),
}
const types = ['counter', 'gauge', 'histogram', 'summary']

function unit(base: string, others: string): Record<string, string> {
  return Object.fromEntries(others.split(' ').map((other) => [other, base]))
}

/** The whole name of a metric. @throws RTK_ERR_METRIC when Prometheus would not like it */
export function fullName(kind: MetricKind, options: MetricOptions & Pick<GaugeOptions, 'collect'>): string {
  const { name, help, labels = [], zeros = [], maxSeries = 0, collect } = options ?? {}
  const bad = (what: string) => new RtkError('RTK_ERR_METRIC', `metric "${name}": ${what}`)
  // Plugins are not type-checked when they are loaded.
  if (typeof name !== 'string' || typeof help !== 'string') throw bad('its name and its help are strings')
  if (!Array.isArray(labels) || !Array.isArray(zeros)) throw bad('its labels and its zeros are lists')
  if (collect !== undefined && typeof collect !== 'function') throw bad('its collect is a function')
  if (!Number.isInteger(maxSeries)) throw bad('its maxSeries is a whole number')
  if (!nameRule.test(name)) throw bad('a name has lower-case words with underscores between them')
  if (name.startsWith(prefix)) throw bad(`${prefix} is put before it by the runtime`)
  if (help.trim() === '') throw bad('it has no help')
  const words = name.split('_')
  const last = words.at(-1) as string
  if (kind === 'counter' && last !== 'total') throw bad('a counter ends in _total')
  if (kind !== 'counter' && last === 'total') throw bad('only a counter ends in _total')
  if (['count', 'sum', 'bucket', 'info'].includes(last)) throw bad(`_${last} is for other kinds of metrics`)
  const wrong = words.find((word, index) => word in badUnits && index === words.length - (last === 'total' ? 2 : 1))
  if (wrong) throw bad(`its unit is ${badUnits[wrong]}, not ${wrong}`)
  const kinds = words.find((word) => types.includes(word))
  if (kinds) throw bad(`${kinds} is not allowed in a name`)
  for (const label of labels) {
    const isReserved = label === 'le' || label === 'quantile'
    if (!nameRule.test(label) || isReserved) throw bad(`"${label}" can't be a label`)
  }
  if (new Set(labels).size < labels.length) throw bad('two of its labels have the same name')
  return `${prefix}${name}`
}

/** @throws RTK_ERR_METRIC */
export function checkBuckets({ name, buckets }: HistogramOptions): void {
  const ascending = buckets?.every?.(
    (bound, index) => Number.isFinite(bound) && (index === 0 || bound > buckets[index - 1]),
  )
  if (Array.isArray(buckets) && buckets.length > 0 && buckets.length <= 50 && ascending) return
  throw new RtkError('RTK_ERR_METRIC', `metric "${name}": buckets are 1 to 50 ascending numbers`)
}
