/** Every reference that was ever used, and every move that was found: newest last, bounded, plain values for the store. Pure. */
import { type Enu, roundTo, sameEcef } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { Value } from 'typebox/value'
import { historyEntry } from '../stored-values.js'
import type { Override } from './override.js'
import type { Reference } from './reference.js'

export interface HistoryEntry {
  /** Always increasing; the ID in `POST /reference/history/:id`. */
  id: number
  /**
   * `used`: RTCM was sent with it. `moved`: the antenna was found away from it. `confirmed`: a person said that the antenna is
   * at it all the same.
   */
  what: 'used' | 'moved' | 'confirmed'
  method: Reference['method']
  x: number
  y: number
  z: number
  acc: number
  samples: number
  elapsed: number
  corr: boolean
  /** Frame of the coordinates; absent if unknown. */
  frame?: string
  epoch?: string
  /** Source of the corrections of a corrected survey-in, or of an entered position. */
  source?: string
  /** When the reference was determined, UTC seconds; 0 unknown. */
  determined: number
  /** When this entry was made. */
  t: number
  /** Origin of the setting. */
  by: string
  /** For `moved` and `confirmed`: offset of the antenna, metres, and the evidence. */
  offset?: Enu
  evidence?: string
}

export class ReferenceHistory {
  readonly #most: number
  #entries: HistoryEntry[] = []
  /** The newest entry is a move, and nothing was trusted since. */
  #moveStands: boolean = false

  constructor(most: number) {
    this.#most = most
  }

  get entries(): readonly HistoryEntry[] {
    return this.#entries
  }

  /** Entries that are damaged are left out. */
  restore(entries: unknown): void {
    if (!Array.isArray(entries)) return
    this.#entries = entries
      .slice(-this.#most)
      .filter((entry): entry is HistoryEntry => Value.Check(historyEntry, entry))
    this.#moveStands = this.#entries.at(-1)?.what === 'moved'
  }

  find(id: number): HistoryEntry | undefined {
    return this.#entries.find((entry) => entry.id === id)
  }

  /** @returns whether it was new: the reference that was used last is not entered again */
  used(reference: Reference, t: number): boolean {
    this.#moveStands = false
    const last = this.#entries.findLast(({ what }) => what === 'used')
    if (last && isOf(last, reference)) return false
    this.#add({ what: 'used', ...plain(reference), t })
    return true
  }

  /** A move that is only found again, after a restart or while the link comes and goes, is not entered again. */
  moved(reference: Reference, t: number, evidence: string, offset?: Enu): void {
    const last = this.#entries.at(-1)
    if (this.#moveStands && last?.evidence === evidence && isOf(last, reference)) return
    this.#moveStands = true
    this.#add({ what: 'moved', ...plain(reference), t, evidence, ...(offset && { offset: rounded(offset) }) })
  }

  /** @param by surface of the person's command */
  confirmed(reference: Reference, { t, by, offset, evidence }: Override): void {
    this.#moveStands = false
    this.#add({ what: 'confirmed', ...plain(reference), t, by, offset: rounded(offset), evidence })
  }

  #add(entry: Omit<HistoryEntry, 'id'>): void {
    const id = (this.#entries.at(-1)?.id ?? 0) + 1
    this.#entries = [...this.#entries, { id, ...entry }].slice(-this.#most)
  }
}

function isOf(entry: HistoryEntry, { method, arp, t }: Reference): boolean {
  return entry.method === method && sameEcef(entry, arp) && entry.determined === t
}

function plain({ method, arp, acc_m, samples, elapsed_s, corr, t, by, datum, source }: Reference) {
  const { x, y, z }: Ecef = arp
  const acc = roundTo(acc_m, 4)
  const elapsed = Math.floor(elapsed_s)
  return { method, x, y, z, acc, samples, elapsed, corr, ...datum, ...(source && { source }), determined: t, by }
}

function rounded({ east, north, up }: Enu): Enu {
  return { east: roundTo(east, 4), north: roundTo(north, 4), up: roundTo(up, 4) }
}
