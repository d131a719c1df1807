/** One measured figure; `budget` as a person reads it. Figures of peers have neither budget nor verdict. */
export interface Measurement {
  name: string
  value: number
  unit: string
  budget?: string
  ok?: boolean
  /** It cannot be true of a station that works, however busy the machine and however few the clients. */
  isAbsurd?: boolean
}

/** So many times worse than what is expected. */
const absurd = 10

/**
 * A figure that must not be above its budget.
 * @param expected on a busy machine, where that is far from the budget
 */
export function atMost(name: string, value: number, budget: number, unit: string, expected = budget): Measurement {
  const isAbsurd = !(value <= absurd * expected)
  return { name, value, unit, budget: `< ${budget} ${unit}`, ok: value < budget, isAbsurd }
}

/** A figure that must not be below its budget. */
export function atLeast(name: string, value: number, budget: number, unit: string, expected = budget): Measurement {
  const isAbsurd = !(value >= expected / absurd)
  return { name, value, unit, budget: `>= ${budget} ${unit}`, ok: value >= budget, isAbsurd }
}

/** A figure without a budget; with `expected` its magnitude is known. */
export function figure(name: string, value: number, unit: string, expected?: number): Measurement {
  const isFar = expected !== undefined && !(value <= absurd * expected && value >= expected / absurd)
  return { name, value, unit, isAbsurd: isFar || !Number.isFinite(value) }
}

/** What was sent and did not arrive, or arrived twice: not one, at any size and on any machine. */
export function lost(name: string, sent: number, arrived: number, unit = ''): Measurement {
  const value = sent - arrived
  const isWhole = sent > 0 && value === 0
  return { name, value, unit, budget: `0 of ${sent}`, ok: isWhole, isAbsurd: !isWhole }
}

/** What must not be, at any size and on any machine. */
export function none(name: string, value: number, unit = ''): Measurement {
  return { name, value, unit, budget: '0', ok: value === 0, isAbsurd: value !== 0 }
}

/** The value below which `share` (0-1) of the samples lie. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Latencies in milliseconds, without a verdict. */
export const shown = (name: string, samples: readonly number[]): Measurement[] => [
  figure(`${name}: p50`, quantile(samples, 0.5), 'ms'),
  figure(`${name}: p99`, quantile(samples, 0.99), 'ms'),
]
/** By the budget of the design, for 32 clients. A process that many others keep from the processor waits for tens of milliseconds. */
export const judged = (name: string, samples: readonly number[]): Measurement[] => [
  atMost(`${name}: p50`, quantile(samples, 0.5), 1, 'ms', 20),
  atMost(`${name}: p99`, quantile(samples, 0.99), 3, 'ms', 100),
]
