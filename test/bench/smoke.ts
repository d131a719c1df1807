/** `--smoke`: every part on a small scale. It is no stopwatch: what it finds is what is broken, also on a busy machine. */
import { availableParallelism } from 'node:os'
import { parts } from './parts.js'
import { type Outcome, runPart } from './run-part.js'
import { number, row } from './table.js'

/** Parts mostly wait for processes, sockets and the clock. */
const atOnce = 2 * availableParallelism()
/** Fifty times what a part takes alone on two cores. */
const limit_ms = 600_000

const isLong = (name: string) => parts[name]?.isLong === true

/** One line for each. */
export function faultsOf({ measurements, faults }: Outcome): string[] {
  const absurd = measurements.filter(({ isAbsurd }) => isAbsurd)
  return [
    ...faults,
    ...absurd.map(({ name, value, unit, budget }) => {
      const expected = budget ? ` (${budget})` : ''
      return `${name}: ${number(value)} ${unit}${expected}`
    }),
  ]
}

/** @returns whether there was no fault */
export async function smoke(wanted: readonly string[]): Promise<boolean> {
  // The longest first, so that none of them is left over at the end.
  const waiting = [...wanted].sort((one, other) => Number(isLong(other)) - Number(isLong(one)))
  const faults: string[] = []
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const started = performance.now()
      const outcome = await runPart(name, { size: 'smoke', limit_ms })
      const seconds = ((performance.now() - started) / 1_000).toFixed(1)
      const found = faultsOf(outcome)
      faults.push(...found.map((fault) => `${name}: ${fault}`))
      const result = outcome.skipped !== undefined ? `skipped: ${outcome.skipped}` : found.length > 0 ? 'FAULT' : 'good'
      const rows = outcome.measurements.map((one) => row(one, one.isAbsurd ? 'FAULT' : ''))
      const leftOut = outcome.leftOut.map((reason) => `  left out: ${reason}`)
      // In one piece, as others print too.
      console.log([`\n${name}, ${seconds} s: ${result}`, ...leftOut, ...rows].join('\n'))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  console.log(faults.length > 0 ? '\nFaults:' : `\nno fault in ${wanted.length} parts`)
  for (const fault of faults) console.log(fault)
  return faults.length === 0
}
