/** One measured figure; `budget` as a person reads it. Figures of peers have neither budget nor verdict. */
export interface Measurement {
  name: string
  value: number
  unit: string
  budget?: string
  ok?: boolean
}

/** A figure that must not be above its budget. */
export function atMost(name: string, value: number, budget: number, unit: string): Measurement {
  return { name, value, unit, budget: `< ${budget} ${unit}`, ok: value < budget }
}

/** A figure that must not be below its budget. */
export function atLeast(name: string, value: number, budget: number, unit: string): Measurement {
  return { name, value, unit, budget: `>= ${budget} ${unit}`, ok: value >= budget }
}

/** The value below which `share` (0-1) of the samples lie. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Latencies in milliseconds, without a verdict. */
export const shown = (name: string, samples: readonly number[]): Measurement[] => [
  { name: `${name}: p50`, value: quantile(samples, 0.5), unit: 'ms' },
  { name: `${name}: p99`, value: quantile(samples, 0.99), unit: 'ms' },
]
/** By the budget of the design, for 32 clients. */
export const judged = (name: string, samples: readonly number[]): Measurement[] => [
  atMost(`${name}: p50`, quantile(samples, 0.5), 1, 'ms'),
  atMost(`${name}: p99`, quantile(samples, 0.99), 3, 'ms'),
]
