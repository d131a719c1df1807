import type { LogLine } from 'rtk-base/services'

/** A line is cut to this: a stack trace fits, a logged document does not. */
const longestLine = 8_192

/** The newest lines as JSON texts, bounded in bytes, so that memory and the saved file stay small. */
export class LogRing {
  readonly #limit: number
  #lines: string[] = []
  /** Lines before this index are dropped; they are removed in portions, because moving them is expensive. */
  #first = 0
  #bytes = 0
  #count = 0

  constructor(limit_bytes: number) {
    this.#limit = limit_bytes
  }

  /** Number of lines since the start, including dropped ones: unchanged means that none was added. */
  get count(): number {
    return this.#count
  }

  add(line: LogLine): void {
    const text = JSON.stringify(line)
    // A cut object is not JSON: the identifying members are kept.
    const { level, time, plugin, msg = '' } = line
    const kept =
      text.length <= longestLine ? text : JSON.stringify({ level, time, plugin, msg: `${msg.slice(0, 4_000)} … (cut)` })
    this.#lines.push(kept)
    this.#bytes += Buffer.byteLength(kept) + 1
    this.#count++
    while (this.#bytes > this.#limit) {
      this.#bytes -= Buffer.byteLength(this.#lines[this.#first++] as string) + 1
    }
    if (this.#first > 1_024 && this.#first > this.#lines.length / 2) {
      this.#lines = this.#lines.slice(this.#first)
      this.#first = 0
    }
  }

  /** One JSON object a line, oldest first. */
  text(): string {
    return this.#lines
      .slice(this.#first)
      .map((line) => `${line}\n`)
      .join('')
  }

  clear(): void {
    this.#lines = []
    this.#first = 0
    this.#bytes = 0
  }
}
