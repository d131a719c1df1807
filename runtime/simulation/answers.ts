/** Answers of a simulated receiver: those to commands that were sent back to back come first, then their data. */
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'

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

  /** @param answer_ms from a command to its answer */
  constructor(edges: Pick<Edges, 'timers'>, answer_ms: number, write: (bytes: Uint8Array) => void) {
    this.#edges = edges
    this.#answer_ms = answer_ms
    this.#write = write
  }

  answer(answer: string | Uint8Array): void {
    if (this.dropEvery === 0 || ++this.#count % this.dropEvery !== 0) this.#answers.push(answer)
    this.#timer ??= this.#edges.timers.after(this.#answer_ms, () => this.#send())
  }

  data(part: string | Uint8Array): void {
    this.#data.push(part)
  }

  /** What is done when the answers are out: a restart, another rate. */
  afterwards(run: () => void): void {
    this.#afterwards.push(run)
  }

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
