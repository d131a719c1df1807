/**
 * The control socket: a unix socket in the data folder (mode 0600), one JSON object per line each way.
 * Request `{ id, method, params }`, answer `{ id, result }` or `{ id, error: { code, message } }`.
 */

export const longestLine = 64 * 1024

/** Cuts a byte stream into lines; a line beyond the limit ends it. */
export class LineReader {
  #rest = ''
  readonly #onLine: (line: string) => void

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  /** False when a line is too long: the peer is not one of ours. */
  push(text: string): boolean {
    this.#rest += text
    const lines = this.#rest.split('\n')
    this.#rest = lines.pop() as string
    for (const line of lines) if (line.length <= longestLine) this.#onLine(line)
    return this.#rest.length <= longestLine && lines.every((line) => line.length <= longestLine)
  }
}
