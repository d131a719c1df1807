/** The chunked transfer coding of HTTP/1.1 (RFC 9112, section 7.1) around a stream of RTCM. */

/**
 * Encodes one chunk. Send it in one write, because some casters close a stream if the head of a chunk arrives alone.
 */
export function chunkOf(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

const states = ['size', 'data', 'end', 'over'] as const

/** The state of a reader, for another reader that continues on the same stream. */
export interface ChunkPosition {
  line: string
  left: number
  state: string
}

/** Decodes chunks from pieces of any size. */
export class ChunkReader {
  readonly #largest: number
  #line: string
  /** Bytes left of the chunk. */
  #left: number
  #state: (typeof states)[number]

  /** @param position the state of a previous reader on this stream */
  constructor(largest_bytes = 1_048_576, position: ChunkPosition = { line: '', left: 0, state: 'size' }) {
    this.#largest = largest_bytes
    this.#line = position.line
    this.#left = position.left
    this.#state = states.find((state) => state === position.state) ?? 'size'
  }

  get position(): ChunkPosition {
    return { line: this.#line, left: this.#left, state: this.#state }
  }

  /** The stream has ended with its last chunk. */
  get over(): boolean {
    return this.#state === 'over'
  }

  /**
   * @returns the decoded content of these bytes. @throws RangeError if the bytes are not chunks, or a chunk is too
   * large
   */
  push(bytes: Buffer): Buffer[] {
    const parts: Buffer[] = []
    for (let at = 0; at < bytes.length && this.#state !== 'over'; ) {
      if (this.#state === 'data') {
        const part = bytes.subarray(at, at + this.#left)
        parts.push(part)
        this.#left -= part.length
        at += part.length
        if (this.#left === 0) this.#state = 'end'
        continue
      }
      const byte = bytes[at++] as number
      if (byte !== 10) {
        this.#line += String.fromCharCode(byte)
        if (this.#line.length > 64) throw new RangeError('a chunk begins with something else than its size')
        continue
      }
      this.#endLine(this.#line.trim())
      this.#line = ''
    }
    return parts
  }

  #endLine(line: string): void {
    if (this.#state === 'end') {
      if (line !== '') throw new RangeError('a chunk does not end where it should')
      this.#state = 'size'
      return
    }
    const [, digits] = /^([0-9a-fA-F]{1,8})(;.*)?$/.exec(line) ?? []
    if (digits === undefined) throw new RangeError('a chunk begins with something else than its size')
    this.#left = Number.parseInt(digits, 16)
    if (this.#left > this.#largest) throw new RangeError(`a chunk of ${this.#left} bytes is too large`)
    this.#state = this.#left === 0 ? 'over' : 'data'
  }
}
