/** The evidence for a closed gate, in a file: a restart or a power cut must not open the gate of a base that is known to be wrong. */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { StateFile } from 'rtk-base/files'
import type { DataDir } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'
import { mostNeighbours } from './setting.js'
import { mostVectors, Place, Vector, valid_ms } from './vector.js'

/** Evidence that the next instance takes over, after a reload or a restart. */
export const Kept = Type.Object({
  arp: Place,
  confirmation: Type.Optional(
    Type.Object({ since_ms: Type.Number(), isRepeated: Type.Boolean(), isRepeatedFixed: Type.Boolean() }),
  ),
  vectors: Type.Array(
    Type.Object({ source: Type.String(), arp: Place, vectors: Type.Array(Vector, { maxItems: mostVectors }) }),
    { maxItems: mostNeighbours },
  ),
})
export type Kept = Static<typeof Kept>

/** What the file contains. */
const Held = Type.Object({
  /** When it was written: UTC, and by the monotonic clock that the times of `kept` are of. */
  utc_ms: Type.Number(),
  monotonic_ms: Type.Number(),
  kept: Kept,
})
export type Held = Static<typeof Held>

/** The evidence, with times of the present monotonic clock. @returns undefined: it is too old */
export function evidenceOf(held: Held, utc_ms: number, monotonic_ms: number): Kept | undefined {
  const age_ms = utc_ms - held.utc_ms
  if (!(age_ms >= 0 && age_ms < valid_ms)) return undefined
  return shifted(held.kept, monotonic_ms - age_ms - held.monotonic_ms)
}

export class HeldFile {
  readonly #dir: () => DataDir
  readonly #failed: (text: string) => void
  #work: Promise<void> = Promise.resolve()
  #isThere = true
  #written: Kept | undefined

  /** @param failed the file cannot be read or written */
  constructor(dir: () => DataDir, failed: (text: string) => void) {
    this.#dir = dir
    this.#failed = failed
  }

  get #file() {
    const { path, ensureRoom } = this.#dir()
    return new StateFile(Held, join(path, 'held.json'), { room: ensureRoom })
  }

  /** Never rejects. @returns undefined: there is none, or it cannot be read */
  async read(): Promise<Held | undefined> {
    const { value, damage } = await this.#file.read()
    if (damage !== undefined) this.#failed(`the evidence of the neighbours cannot be read: ${damage}`)
    return value
  }

  /** Evidence that is stored already is not written again. */
  write(kept: Kept, utc_ms: number, monotonic_ms: number): void {
    if (isDeepStrictEqual(kept, this.#written)) return
    this.#written = kept
    this.#isThere = true
    this.#do(() => this.#file.write({ utc_ms, monotonic_ms, kept }))
  }

  remove(): void {
    if (!this.#isThere) return
    this.#isThere = false
    this.#written = undefined
    this.#do(() => this.#file.remove())
  }

  /** Resolves when all is written. */
  get written(): Promise<void> {
    return this.#work
  }

  #do(work: () => Promise<unknown>): void {
    this.#work = this.#work
      .then(async () => void (await work()))
      .catch((error: Error) => {
        // Tried again at the next judgement.
        this.#isThere = true
        this.#written = undefined
        this.#failed(`the evidence of the neighbours is not stored: ${error.message}`)
      })
  }
}

function shifted({ arp, confirmation, vectors }: Kept, by_ms: number): Kept {
  return {
    arp,
    ...(confirmation && { confirmation: { ...confirmation, since_ms: confirmation.since_ms + by_ms } }),
    vectors: vectors.map((one) => ({
      ...one,
      vectors: one.vectors.map((vector) => ({ ...vector, at_ms: vector.at_ms + by_ms })),
    })),
  }
}
