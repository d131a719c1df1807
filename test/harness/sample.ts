/**
 * Number of repetitions of a slow test: `inTest` in `npm test`, `onMachine` in `npm run test:machine`.
 * @param inGate number with `CI=true`; default: `inTest`
 * @example for (let round = 0; round < sample(10, 200); round++) { … }
 */
export function sample(inTest: number, onMachine: number, inGate = inTest): number {
  if (process.env.RTK_BASE_TEST === 'machine') return onMachine
  return process.env.CI === 'true' ? inGate : inTest
}

/** The first few cases of many in `npm test`, the first third with `CI=true`; all of them in `npm run test:machine`. */
export function few<T>(inTest: number, all: readonly T[]): readonly T[] {
  return all.slice(0, sample(inTest, all.length, Math.max(inTest, Math.ceil(all.length / 3))))
}

/** Value for the option `skip` of a test that needs another system or an hour. The test runs only in `npm run test:machine`. */
export const machineOnly: string | false = sample(0, 1) === 1 ? false : 'runs in `npm run test:machine`'

/** Value for the option `skip` of a slow test. The test runs only with `CI=true` and in `npm run test:machine`. */
export const gateOnly: string | false = sample(0, 1, 1) === 1 ? false : 'runs with CI=true'
