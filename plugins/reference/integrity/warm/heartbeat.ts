/** When the base was trusted last, twice a minute: in a small file of its own that wears no flash. */
import { join } from 'node:path'
import { StateFile } from 'rtk-base/files'
import type { DataDir } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'

const Beat = Type.Object({
  /** Unique id of the receiver. */
  uid: Type.String(),
  /** As in `Trusted`. */
  msss_ms: Type.Number({ minimum: 0 }),
  t: Type.Number({ minimum: 0 }),
})
export type Beat = Static<typeof Beat>

/**
 * It need not outlive a power cut: the receiver lost its power too, or its lock times, which are compared with the age, count to a
 * minute only. A stop in order stores the moment with the settings.
 */
export class Heartbeat {
  readonly #dir: () => DataDir
  #kept: StateFile<typeof Beat> | undefined

  /** @param dir a volatile data folder, asked for when it is needed first: a plugin has one from its start on */
  constructor(dir: () => DataDir) {
    this.#dir = dir
  }

  /** @throws without a folder */
  get #file(): StateFile<typeof Beat> {
    this.#kept ??= new StateFile(Beat, join(this.#dir().path, 'last.json'))
    return this.#kept
  }

  /** Undefined where there is none, or none that can be read. */
  read(): Beat | undefined {
    try {
      return this.#file.readSync().value
    } catch {
      return undefined
    }
  }

  /** Never rejects: without it the next start checks more. */
  async write(beat: Beat): Promise<void> {
    try {
      await this.#file.write(beat)
    } catch {}
  }
}
