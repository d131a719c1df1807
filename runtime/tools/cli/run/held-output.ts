import type { DestinationStream } from 'pino'

/** A longer start shows its progress. */
const limit_ms = 3_000

/** On a terminal, startup log lines follow the banner, which shows where to look. */
export class HeldOutput implements DestinationStream {
  readonly #output: DestinationStream
  readonly #limit: NodeJS.Timeout
  #held: string[] | undefined = []

  constructor(output: DestinationStream, held_ms = limit_ms) {
    this.#output = output
    this.#limit = setTimeout(this.release, held_ms).unref()
    // A start that fails shows all the more.
    process.once('exit', this.release)
  }

  write(line: string): void {
    if (this.#held) this.#held.push(line)
    else this.#output.write(line)
  }

  /** Writes what was held, and from now on everything at once. */
  readonly release = (): void => {
    clearTimeout(this.#limit)
    process.off('exit', this.release)
    const held = this.#held ?? []
    this.#held = undefined
    for (const line of held) this.#output.write(line)
  }
}
