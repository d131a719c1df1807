/** When the base was trusted last, twice a minute: in a small file of its own that wears no flash. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DataDir, readRecordSync } from 'rtk-base/plugin'
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
  readonly #dir: () => DataDir
  #file: string | undefined
  #writing: Promise<unknown> = Promise.resolve()

  /** @param dir a volatile data folder, asked for when it is needed first: a plugin has one from its start on */
  constructor(dir: () => DataDir) {
    this.#dir = dir
  }

  /** @throws without a folder */
  #path(): string {
    this.#file ??= join(this.#dir().path, 'last.json')
    return this.#file
  }

  /** Undefined where there is none, or none that can be read. */
  read(): Beat | undefined {
    try {
      const value: unknown = JSON.parse(readRecordSync(this.#path()))
      return Value.Check(Beat, value) ? value : undefined
    } catch {
      return undefined
    }
  }

  /** Never rejects: without it the next start checks more. */
  async write(beat: Beat): Promise<void> {
    this.#writing = this.#writing.then(() => this.#replace(beat)).catch(() => {})
    await this.#writing
  }

  async #replace(beat: Beat): Promise<void> {
    const file = this.#path()
    const aside = `${file}.new`
    await rm(aside, { recursive: true, force: true })
    await writeFile(aside, JSON.stringify(beat), { mode: 0o600, flag: 'wx' })
    await rename(aside, file)
  }
}
