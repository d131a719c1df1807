/** Lines of the tables that the bench prints. */
import type { Measurement } from './measurement.js'

export const number = (value: number) => value.toFixed(Math.abs(value) < 100 ? 2 : 0)

export const verdict = ({ ok }: Measurement) => (ok === undefined ? '' : ok ? 'met' : 'MISSED')

/** @param judgement Default: by the budget */
export function row(measurement: Measurement, judgement = verdict(measurement)): string {
  const { name, value, unit, budget = '' } = measurement
  const columns = [name.padEnd(68), number(value).padStart(9), unit.padEnd(8), budget.padEnd(16), judgement]
  return `  ${columns.join(' ')}`.trimEnd()
}
