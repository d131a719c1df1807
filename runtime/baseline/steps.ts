/** Work in small steps, each of a millisecond or less: at each `yield` somebody else may have the processor. */
export type Steps<T> = Generator<void, T, void>

/** Does the work at once. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
