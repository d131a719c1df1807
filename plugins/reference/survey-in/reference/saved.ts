/** Positions that a person has named and kept, used or not: bounded, plain values for the store. Pure. */
import { badValue, RtkError } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

export const mostSaved = 50
/** The largest coordinate of a point on the earth, metres. */
const farthest_m = 7e6
const axis = Type.Number({ minimum: -farthest_m, maximum: farthest_m })
const datumText = Type.String({ maxLength: 32 })

const name = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]*$',
  description: 'Unique, without control characters',
})
export const NamedPosition = Type.Object(
  {
    name,
    x: axis,
    y: axis,
    z: axis,
    acc: Type.Number({ minimum: 0, maximum: 1e6, description: '3D 1 sigma, metres; 0: unknown' }),
    corr: Type.Boolean({ description: 'It was determined with corrections' }),
    frame: datumText,
    epoch: datumText,
  },
  { additionalProperties: false },
)
export type NamedPosition = Static<typeof NamedPosition>
export const NewName = Type.Object({ name }, { additionalProperties: false })

export const SavedPosition = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  ...NamedPosition.properties,
  t: Type.Number({ description: 'When it was saved, UTC seconds' }),
})
export type SavedPosition = Static<typeof SavedPosition>

export class SavedPositions {
  #entries: readonly SavedPosition[] = []

  /** By name. */
  get entries(): readonly SavedPosition[] {
    return this.#entries
  }

  /** Entries that are damaged are left out. */
  restore(entries: unknown): void {
    const found = Array.isArray(entries) ? entries.slice(0, mostSaved) : []
    this.#set(found.filter((entry): entry is SavedPosition => Value.Check(SavedPosition, entry)))
  }

  /** @throws RTK_ERR_NOT_FOUND */
  find(id: number): SavedPosition {
    const found = this.#entries.find((entry) => entry.id === id)
    if (found) return found
    throw new RtkError('RTK_ERR_NOT_FOUND', `there is no saved position ${id}`)
  }

  /** @throws RTK_ERR_COMMAND_VALUE */
  add(position: NamedPosition, t: number): SavedPosition {
    if (this.#entries.length >= mostSaved) throw badValue(`at most ${mostSaved} positions are saved: delete one first`)
    const id = 1 + Math.max(0, ...this.#entries.map((entry) => entry.id))
    const entry = { id, ...position, name: this.#free(position.name), t }
    this.#set([...this.#entries, entry])
    return entry
  }

  /** @throws RTK_ERR_NOT_FOUND, RTK_ERR_COMMAND_VALUE */
  rename(id: number, name: string): SavedPosition {
    const renamed = { ...this.find(id), name: this.#free(name, id) }
    this.#set(this.#entries.map((entry) => (entry.id === id ? renamed : entry)))
    return renamed
  }

  /** @throws RTK_ERR_NOT_FOUND */
  remove(id: number): void {
    const gone = this.find(id)
    this.#set(this.#entries.filter((entry) => entry !== gone))
  }

  #free(given: string, id?: number): string {
    const name = given.trim()
    if (name === '') throw badValue('a position needs a name')
    if (this.#entries.some((entry) => entry.name === name && entry.id !== id))
      throw badValue(`a position is already called ${name}`)
    return name
  }

  #set(entries: readonly SavedPosition[]): void {
    this.#entries = entries.toSorted((a, b) => a.name.localeCompare(b.name))
  }
}
