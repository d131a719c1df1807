/**
 * How often a costly trial is repeated: a sample in `npm test`, all of it in `npm run test:machine`.
 * @example for (let round = 0; round < sample(10, 200); round++) { … }
 */
export function sample(inTest: number, onMachine: number): number {
  return process.env.RTK_BASE_TEST === 'machine' ? onMachine : inTest
}
