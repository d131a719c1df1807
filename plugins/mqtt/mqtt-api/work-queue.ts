/** Jobs that run one after another, each in its own turn of the event loop. A job that finds the queue full is dropped and counted. */
export class WorkQueue {
  readonly #capacity: number
  readonly #jobs: (() => void)[] = []
  #dropped = 0
  #next: NodeJS.Immediate | undefined

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Jobs that were dropped. */
  get dropped(): number {
    return this.#dropped
  }

  /** Adds a job, which must not throw. False: it was dropped. */
  offer(job: () => void): boolean {
    if (this.#jobs.length >= this.#capacity) {
      this.#dropped++
      return false
    }
    this.#jobs.push(job)
    this.#arm()
    return true
  }

  /** Removes all waiting jobs. */
  clear(): void {
    if (this.#next !== undefined) clearImmediate(this.#next)
    this.#next = undefined
    this.#jobs.length = 0
  }

  #arm(): void {
    this.#next ??= setImmediate(() => {
      this.#next = undefined
      const job = this.#jobs.shift()
      if (this.#jobs.length > 0) this.#arm()
      job?.()
    })
  }
}
