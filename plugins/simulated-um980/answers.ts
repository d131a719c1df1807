/** Answers of a UM980: those to commands that were sent back to back come first, then their data (recorded). */
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'

/** From a command to its answer (recorded). */
const answer_ms = 40

export class Answers {
  readonly #edges: Pick<Edges, 'timers'>
  readonly #write: (bytes: Uint8Array) => void
  #timer: Dispose | undefined
  #lines: string[] = []
  #data: (string | Uint8Array)[] = []
  #afterwards: (() => void)[] = []
  #count = 0
  /** Every n-th answer is lost; 0: none. */
  dropEvery = 0

  constructor(edges: Pick<Edges, 'timers'>, write: (bytes: Uint8Array) => void) {
    this.#edges = edges
    this.#write = write
  }

  answer(line: string): void {
    if (this.dropEvery === 0 || ++this.#count % this.dropEvery !== 0) this.#lines.push(line)
    this.#timer ??= this.#edges.timers.after(answer_ms, () => this.#send())
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
    this.#lines = []
    this.#data = []
    this.#afterwards = []
  }

  #send(): void {
    const parts = [...this.#lines, ...this.#data]
    const afterwards = this.#afterwards
    this.forget()
    this.#write(Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))))
    for (const run of afterwards) run()
  }
}
