/** Answers of a simulated receiver. If commands are sent back to back, all answers come first, then all data that the commands requested. */
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'

/** Queues answers and data, and sends them together after a delay. */
export class Answers {
  readonly #edges: Pick<Edges, 'timers'>
  readonly #write: (bytes: Uint8Array) => void
  readonly #answer_ms: number
  #timer: Dispose | undefined
  #answers: (string | Uint8Array)[] = []
  #data: (string | Uint8Array)[] = []
  #afterwards: (() => void)[] = []
  #count = 0
  /** Every n-th answer is lost; 0: none. */
  dropEvery = 0

  /** @param answer_ms delay from a command to its answer */
  constructor(edges: Pick<Edges, 'timers'>, answer_ms: number, write: (bytes: Uint8Array) => void) {
    this.#edges = edges
    this.#answer_ms = answer_ms
    this.#write = write
  }

  /** Queues the answer to a command. */
  answer(answer: string | Uint8Array): void {
    if (this.dropEvery === 0 || ++this.#count % this.dropEvery !== 0) this.#answers.push(answer)
    this.#timer ??= this.#edges.timers.after(this.#answer_ms, () => this.#send())
  }

  /** Queues data that a command requested. */
  data(part: string | Uint8Array): void {
    this.#data.push(part)
  }

  /** Runs `run` once the answers have been sent: a restart, a change of the rate. */
  afterwards(run: () => void): void {
    this.#afterwards.push(run)
  }

  /** Discards everything that is not sent yet. */
  forget(): void {
    void this.#timer?.()
    this.#timer = undefined
    this.#answers = []
    this.#data = []
    this.#afterwards = []
  }

  #send(): void {
    const parts = [...this.#answers, ...this.#data]
    const afterwards = this.#afterwards
    this.forget()
    this.#write(Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))))
    for (const run of afterwards) run()
  }
}
