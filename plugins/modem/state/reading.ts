/** A value that was read, and when. */
export class Reading<T> {
  readonly #now_ms: () => number
  readonly #valid_ms: number
  #value: T | undefined
  #at_ms = Number.NEGATIVE_INFINITY

  /** @param valid_ms how long it holds; infinite for what does not change by itself */
  constructor(now_ms: () => number, valid_ms: number) {
    this.#now_ms = now_ms
    this.#valid_ms = valid_ms
  }

  /** Undefined while it was not read, and when it is too old. */
  get value(): T | undefined {
    return this.#now_ms() - this.#at_ms <= this.#valid_ms ? this.#value : undefined
  }

  set(value: T): void {
    this.#value = value
    this.#at_ms = this.#now_ms()
  }

  clear(): void {
    this.#value = undefined
  }
}
