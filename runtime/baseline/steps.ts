/** Work in small steps, each much shorter than a millisecond: at each `yield` somebody else may have the processor. */
export type Steps<T> = Generator<void, T, void>
