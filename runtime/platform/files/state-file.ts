/** A small durable record of a checked shape, in a file of its own: JSON, for this user alone (mode 0600). */
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { disk, type FileSystem } from './disk.js'
import { replaceFile, replaceFileSync, systemCode } from './durable-file.js'
import { readPlain, readPlainSync } from './plain-file.js'

/** Content of a file. Without a file both are left out. */
export interface StateFileContent<T> {
  readonly value?: T
  /** Why the file that is there cannot be used. */
  readonly damage?: string
}

export interface StateFileOptions {
  /** A larger file counts as damaged; default: 1 MiB. */
  largest_bytes?: number
  fs?: FileSystem
  /** Asked before a value is written, e.g. `ensureRoom` of a data folder. Its rejection is that of the write. */
  room?(bytes: number): Promise<void>
}

/**
 * Anything may be at the path, and reading never throws: a start must not depend on a file. A value is durable before
 * its writer continues.
 */
export class StateFile<const S extends TSchema> {
  readonly path: string
  readonly #schema: S
  readonly #largest_bytes: number
  readonly #fs: FileSystem
  readonly #room: (bytes: number) => Promise<void>

  constructor(
    schema: S,
    path: string,
    { largest_bytes = 1 << 20, fs = disk, room = async () => {} }: StateFileOptions = {},
  ) {
    this.path = path
    this.#schema = schema
    this.#largest_bytes = largest_bytes
    this.#fs = fs
    this.#room = room
  }

  /** Never rejects. */
  async read(): Promise<StateFileContent<Static<S>>> {
    try {
      return this.#parsed(await readPlain(this.path, this.#largest_bytes, this.#fs))
    } catch (error) {
      return unread(error)
    }
  }

  /** Like `read`, for a start that cannot wait. */
  readSync(): StateFileContent<Static<S>> {
    try {
      return this.#parsed(readPlainSync(this.path, this.#largest_bytes))
    } catch (error) {
      return unread(error)
    }
  }

  /** Durable when it resolves. Writes run one after another. @throws an error of the file system, or of `room` */
  async write(value: Static<S>): Promise<void> {
    const text = JSON.stringify(value)
    await this.#room(Buffer.byteLength(text))
    await replaceFile(this.path, text, { fs: this.#fs })
  }

  /** Like `write`, for a process that is ending. Without `room`. */
  writeSync(value: Static<S>): void {
    replaceFileSync(this.path, JSON.stringify(value))
  }

  /** Whatever is there goes. @throws an error of the file system */
  async remove(): Promise<void> {
    await this.#fs.rm(this.path, { recursive: true, force: true })
  }

  #parsed(bytes: Buffer): StateFileContent<Static<S>> {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    if (Value.Check(this.#schema, value)) return { value }
    return { damage: 'it does not match the format of this version' }
  }
}

const unread = (error: unknown): { damage?: string } =>
  systemCode(error) === 'ENOENT' ? {} : { damage: (error as Error).message }
