/**
 * The control socket: a unix socket in the data folder (mode 0600), one JSON object per line each way.
 * Request `{ id, method, params }`, answer `{ id, result }` or `{ id, error: { code, message } }`.
 */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'

export const longestLine = 64 * 1024

/** Linux takes 107 bytes for the path of a unix socket. */
const longestSocketPath = 107

/** The socket of a data folder, as the shorter of its absolute and its relative path. */
export function socketPath(data: string): string {
  const absolute = join(data, 'control.sock')
  const local = relative(process.cwd(), absolute)
  const shorter = local.length < absolute.length ? local : absolute
  if (Buffer.byteLength(shorter) > longestSocketPath) {
    throw new Error(`${absolute} is longer than a unix socket may be: use a data folder with a shorter path`)
  }
  return shorter
}

export function socketExists(data: string): boolean {
  return existsSync(join(data, 'control.sock'))
}

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
