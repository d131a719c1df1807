/**
 * The control socket: a unix socket in the data folder (mode 0600), one JSON object per line each way.
 * Request `{ id, method, params }`, answer `{ id, result }` or `{ id, error: { code, message } }`.
 */
import { join } from 'node:path'
import { reachSocket } from '../../platform/ports/socket-path.js'

/** Of a request: a change or a command, which surfaces limit to less. */
export const longestRequest = 64 * 1024
/** Bytes of an answer: the status document is the largest, and third-party blocks in it are unbounded. */
export const longestAnswer = 4 * 1024 * 1024

/** Cuts a byte stream into lines; a line beyond the limit ends it. */
export class LineReader {
  #rest = ''
  readonly #longest: number
  readonly #onLine: (line: string) => void

  constructor(longest: number, onLine: (line: string) => void) {
    this.#longest = longest
    this.#onLine = onLine
  }

  /** False if a line is too long: the start of the next line is then unknown. */
  push(text: string): boolean {
    const lines = `${this.#rest}${text}`.split('\n')
    this.#rest = lines.pop() as string
    for (const line of lines) {
      if (line.length > this.#longest) return false
      this.#onLine(line)
    }
    return this.#rest.length <= this.#longest
  }
}

const name = 'control.sock'

/** Where the control socket of a data folder is. */
export const socketFile = (data: string): string => join(data, name)

/** A path to it that a unix socket takes. Valid until `release` is called. */
export const reachControl = (data: string) => reachSocket(data, name)
