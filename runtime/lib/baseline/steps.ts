/** Work in small steps, each of a millisecond or less: at each `yield` somebody else may have the processor. */
export type Steps<T> = Generator<void, T, void>

/** Does the work at once. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Work without a pause: shorter than the interval of any output. */
const step_ms = 4

/**
 * Does the work for a process that has other work.
 * @param pause called after every few milliseconds of work; the work is resumed after it
 * @throws whatever `pause` rejects with, to give up
 */
export async function inSteps<T>(steps: Steps<T>, pause: () => Promise<void>): Promise<T> {
  let until_ms = performance.now() + step_ms
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() < until_ms) continue
    await pause()
    until_ms = performance.now() + step_ms
  }
}
