/**
 * How often a costly trial is repeated: a sample in `npm test`, all of it in `npm run test:machine`.
 * @param inGate with `CI=true`; as in `npm test` when left out
 * @example for (let round = 0; round < sample(10, 200); round++) { … }
 */
export function sample(inTest: number, onMachine: number, inGate = inTest): number {
  if (process.env.RTK_BASE_TEST === 'machine') return onMachine
  return process.env.CI === 'true' ? inGate : inTest
}

/** The first few cases of many in `npm test`; all of them with `CI=true` and in `npm run test:machine`. */
export function few<T>(inTest: number, all: readonly T[]): readonly T[] {
  return all.slice(0, sample(inTest, all.length, all.length))
}

/** For `skip` of a test that needs another system or an hour: it runs in `npm run test:machine`. */
export const machineOnly: string | false = sample(0, 1) === 1 ? false : 'runs in `npm run test:machine`'

/** For `skip` of a test that `npm test` leaves out to be quick: it runs with `CI=true` and in `npm run test:machine`. */
export const gateOnly: string | false = sample(0, 1, 1) === 1 ? false : 'runs with CI=true'
