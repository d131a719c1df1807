/** When the base was trusted last, twice a minute: in a small file of its own that wears no flash. */
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataDir } from 'rtk-base/plugin'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

const Beat = Type.Object({
  /** Unique id of the receiver. */
  uid: Type.String(),
  /** As in `Trusted`. */
  msss_ms: Type.Number({ minimum: 0 }),
  t: Type.Number({ minimum: 0 }),
})
export interface Beat {
  readonly uid: string
  readonly msss_ms: number
  readonly t: number
}

/**
 * It need not outlive a power cut: the receiver lost its power too, or its lock times, which are compared with the age, count to a
 * minute only. A stop in order stores the moment with the settings.
 */
export class Heartbeat {
  readonly #file: string
  #writing: Promise<unknown> = Promise.resolve()

  /** @param dir a volatile data folder; may throw where there is none */
  constructor(dir: () => DataDir) {
    this.#file = fileIn(dir)
  }

  /** Undefined where there is none, or none that can be read. */
  read(): Beat | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file, 'utf8'))
      return Value.Check(Beat, value) ? value : undefined
    } catch {
      return undefined
    }
  }

  /** Never rejects: without it the next start checks more. */
  async write(beat: Beat): Promise<void> {
    const aside = `${this.#file}.new`
    this.#writing = this.#writing
      .then(() => writeFile(aside, JSON.stringify(beat), { mode: 0o600 }))
      .then(() => rename(aside, this.#file))
      .catch(() => {})
    await this.#writing
  }
}

function fileIn(dir: () => DataDir): string {
  try {
    return join(dir().path, 'last.json')
  } catch {
    return ''
  }
}
