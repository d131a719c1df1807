/** The positions of the station in one list: those with a name, those that were the reference, and what became of them. Pure. */
import { type Enu, epsgCodes, frameNamed, roundTo, sameEcef } from 'rtk-base/gnss'
import { badValue, RtkError } from 'rtk-base/plugin'
import { EnuShape } from 'rtk-base/schemas'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { leastSure_m, longestText, printable } from './manual-entry.js'
import type { Override } from './override.js'
import { Provenance, provenanceOf, type Reference } from './reference.js'

export const mostNamed = 50
/** The largest coordinate of a point on the earth, metres. */
const farthest_m = 7e6
const axis = Type.Number({ minimum: -farthest_m, maximum: farthest_m, description: 'ECEF of the antenna, metres' })
const label = Type.String({ maxLength: longestText, pattern: printable, description: 'Printable ASCII characters' })

const name = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]*$',
  description: 'Unique, without control characters',
})
export const PositionName = Type.Object({ name }, { additionalProperties: false })

const accuracy = (maximum: number) =>
  Type.Number({ minimum: 0, maximum, description: '3D 1 sigma, metres; 0: unknown' })
const coordinates = {
  x: axis,
  y: axis,
  z: axis,
  corr: Type.Boolean({ description: 'It was determined with corrections' }),
}
/** A position as a person enters it. */
export const NamedPosition = Type.Object(
  { name, ...coordinates, acc: accuracy(leastSure_m), frame: label, epoch: label },
  { additionalProperties: false },
)
export type NamedPosition = Static<typeof NamedPosition>

const PositionEvent = Type.Object({
  id: Type.Integer({ minimum: 1, description: 'Always increasing, across all positions' }),
  what: Type.Enum(['used', 'moved', 'confirmed'], {
    description:
      'used: RTCM was sent with it. moved: the antenna was found away from it. confirmed: a person said that the antenna is at it all the same',
  }),
  t: Type.Number({ description: 'UTC seconds; 0: unknown' }),
  by: Type.String({ description: 'Whose choice it was' }),
  offset: Type.Optional(EnuShape),
  evidence: Type.Optional(Type.String({ description: 'Why the antenna was believed to be away' })),
})
type PositionEvent = Static<typeof PositionEvent>

export const Position = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  name: Type.String({ maxLength: 63, description: 'Empty: it has none' }),
  provenance: Provenance,
  ...coordinates,
  acc: accuracy(1e6),
  frame: Type.Object({
    epsg: Type.Integer({ minimum: 0, description: 'EPSG code of the three-dimensional system; 0: not known' }),
    name: Type.String({ description: 'Empty: not known' }),
    epoch: Type.String({ description: 'Empty: not known' }),
  }),
  source: Type.Optional(
    Type.String({ description: 'Of the corrections of a survey-in, or of the entered coordinates' }),
  ),
  stationId: Type.Optional(Type.Integer({ minimum: 0, maximum: 4095, description: 'It was last sent with this one' })),
  samples: Type.Number({ description: 'Epochs of the survey-in' }),
  elapsed: Type.Number({ description: 'Seconds of the survey-in' }),
  t: Type.Number({ description: 'When it was determined, entered or saved, UTC seconds; 0: unknown' }),
  by: Type.String({ description: '`survey`, `http`, `mqtt`, `console` or `plugin`' }),
  events: Type.Array(PositionEvent, { description: 'What became of it, oldest first' }),
})
export type Position = Static<typeof Position>
/** A position that is not in the list yet. */
type Candidate = Omit<Position, 'id' | 'name' | 'events'>

export class Positions {
  readonly #mostEvents: number
  #entries: readonly Position[] = []
  #active = 0
  /** The newest event is a move, and nothing was trusted since. */
  #moveStands: boolean = false

  /** @param mostEvents the oldest ones are dropped. A position stays while it has events or a name, or is the active one */
  constructor(mostEvents: number) {
    this.#mostEvents = mostEvents
  }

  /** In the order of their arrival. */
  get entries(): readonly Position[] {
    return this.#entries
  }

  /** ID of the chosen reference; 0: there is none. */
  get active(): number {
    return this.#active
  }

  /** Entries that are damaged are left out. */
  restore(entries: unknown): void {
    const list = Array.isArray(entries) ? entries : []
    this.#keep(list.filter((entry): entry is Position => Value.Check(Position, entry)))
    this.#moveStands = this.#newest()?.event.what === 'moved'
  }

  /** @throws RTK_ERR_NOT_FOUND */
  find(id: number): Position {
    const entry = this.#entries.find((one) => one.id === id)
    if (entry) return entry
    throw new RtkError('RTK_ERR_NOT_FOUND', `there is no position ${id}`)
  }

  /** The entry of a reference; undefined: it has none. */
  of(reference: Reference): Position | undefined {
    return this.#same(candidateOf(reference))
  }

  /** @param reference the chosen one, as announced @returns whether the list changed */
  choose(reference: Reference | undefined): boolean {
    const before = this.#entries
    const entry = reference && (this.of(reference) ?? this.#new(candidateOf(reference)))
    this.#active = entry?.id ?? 0
    this.#keep(entry && !before.includes(entry) ? [...before, entry] : before)
    return this.#entries.map(({ id }) => id).join() !== before.map(({ id }) => id).join()
  }

  // ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** @param by surface of the request @throws RTK_ERR_COMMAND_VALUE */
  save({ name: wanted, frame, epoch, ...coordinates }: NamedPosition, t: number, by: string): Position {
    const datum = frameOf({ frame: frame.trim(), epoch: epoch.trim() })
    const candidate = { provenance: 'entered', ...coordinates, frame: datum, samples: 0, elapsed: 0, t, by } as const
    const free = this.#free(wanted)
    const before = this.#same(candidate)
    const isUnnamed = before?.name === ''
    return this.#put({ ...(isUnnamed ? before : this.#new(candidate)), name: free })
  }

  /** @throws RTK_ERR_NOT_FOUND, RTK_ERR_COMMAND_VALUE */
  rename(id: number, wanted: string): Position {
    return this.#put({ ...this.find(id), name: this.#free(wanted, id) })
  }

  /** Takes the name away. @throws RTK_ERR_NOT_FOUND */
  remove(id: number): void {
    this.#put({ ...this.find(id), name: '' })
  }

  #free(wanted: string, id?: number): string {
    const trimmed = wanted.trim()
    if (trimmed === '') throw badValue('a position needs a name')
    const named = this.#entries.filter((entry) => entry.name !== '' && entry.id !== id)
    if (named.some((entry) => entry.name === trimmed)) throw badValue(`a position is already called ${trimmed}`)
    if (named.length >= mostNamed) throw badValue(`at most ${mostNamed} positions are saved: delete one first`)
    return trimmed
  }

  // ── events ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** RTCM is sent with it. @returns whether the list changed: the reference that was used last is not noted again */
  used(reference: Reference, t: number, stationId: number): boolean {
    this.#moveStands = false
    const last = this.#newest('used')?.entry
    const before = this.of(reference)
    if (last && last === before && last.stationId === stationId) return false
    const event = last && last === before ? undefined : { what: 'used' as const, t, by: reference.by }
    this.#note(reference, event, { stationId })
    return true
  }

  /** A move that is only found again, after a restart or while the link comes and goes, is not noted again. */
  moved(reference: Reference, t: number, evidence: string, offset?: Enu): void {
    const last = this.#newest()
    if (this.#moveStands && last?.event.evidence === evidence && last.entry === this.of(reference)) return
    this.#moveStands = true
    const { by } = reference
    this.#note(reference, { what: 'moved', t, by, evidence, ...(offset && { offset: rounded(offset) }) })
  }

  /** A person says that the antenna is at it. */
  confirmed(reference: Reference, { t, by, offset, evidence }: Override): void {
    this.#moveStands = false
    this.#note(reference, { what: 'confirmed', t, by, offset: rounded(offset), evidence })
  }

  #note(reference: Reference, event: Omit<PositionEvent, 'id'> | undefined, more: Partial<Position> = {}): void {
    const entry = this.of(reference) ?? this.#new(candidateOf(reference))
    const events = event ? [...entry.events, { id: (this.#newest()?.event.id ?? 0) + 1, ...event }] : entry.events
    this.#put({ ...entry, ...more, events })
  }

  #newest(what?: PositionEvent['what']): { entry: Position; event: PositionEvent } | undefined {
    return this.#entries
      .flatMap((entry) => entry.events.map((event) => ({ entry, event })))
      .filter(({ event }) => what === undefined || event.what === what)
      .toSorted((a, b) => a.event.id - b.event.id)
      .at(-1)
  }

  // ── the list ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #new(candidate: Candidate): Position {
    const id = 1 + Math.max(0, ...this.#entries.map((entry) => entry.id))
    return { id, name: '', ...candidate, events: [] }
  }

  #same(candidate: Candidate): Position | undefined {
    return this.#entries.find((entry) => isSame(entry, candidate))
  }

  #put(entry: Position): Position {
    const isThere = this.#entries.some(({ id }) => id === entry.id)
    this.#keep(isThere ? this.#entries.map((one) => (one.id === entry.id ? entry : one)) : [...this.#entries, entry])
    return entry
  }

  #keep(entries: readonly Position[]): void {
    const ids = entries.flatMap(({ events }) => events.map(({ id }) => id)).toSorted((a, b) => a - b)
    const oldest = ids.at(-this.#mostEvents) ?? 0
    this.#entries = entries
      .map((entry) => ({ ...entry, events: entry.events.filter(({ id }) => id >= oldest) }))
      .filter(({ id, name: kept, events }) => kept !== '' || events.length > 0 || id === this.#active)
  }
}

/** Two survey-ins are two positions; to enter the same coordinates again is one. */
function isSame(a: Candidate, b: Candidate): boolean {
  if (a.provenance !== b.provenance || !sameEcef(a, b)) return false
  if (isSurveyed(a)) return a.t === b.t
  const isAsGood = roundTo(a.acc, 4) === roundTo(b.acc, 4) && a.corr === b.corr
  return isAsGood && a.frame.name === b.frame.name && a.frame.epoch === b.frame.epoch && a.source === b.source
}

export const isSurveyed = ({ provenance }: Pick<Position, 'provenance'>): boolean =>
  provenance === 'surveyed' || provenance === 'rtk-averaged'

function frameOf({ frame, epoch }: { frame: string; epoch: string }): Position['frame'] {
  // Without a frame, an epoch says nothing.
  const known = frameNamed(frame)
  return { epsg: known ? epsgCodes[known] : 0, name: frame, epoch: frame && epoch }
}

function candidateOf(reference: Reference): Candidate {
  const { arp, acc_m, samples, elapsed_s, corr, t, by, datum = { frame: '', epoch: '' }, source } = reference
  const { x, y, z } = arp
  return {
    provenance: provenanceOf(reference),
    ...{ x, y, z, acc: roundTo(acc_m, 4), corr, frame: frameOf(datum) },
    ...(source && { source }),
    ...{ samples, elapsed: Math.floor(elapsed_s), t, by },
  }
}

/** A surveyed position as the reference that it was. */
export function surveyedReference({ x, y, z, acc, corr, frame, samples, elapsed, t, by }: Position): Reference {
  const datum = frame.name && { datum: { frame: frame.name, epoch: frame.epoch } }
  return { method: 'survey', arp: { x, y, z }, acc_m: acc, corr, t, by, samples, elapsed_s: elapsed, ...datum }
}

function rounded({ east, north, up }: Enu): Enu {
  return { east: roundTo(east, 4), north: roundTo(north, 4), up: roundTo(up, 4) }
}
