/** How each vector changed over the years: a median a day, in a file. */
import { join } from 'node:path'
import { type DailyOffset, dailyOffset, movementOf } from 'rtk-base/baseline'
import { StateFile } from 'rtk-base/files'
import { distance, enu, sameReference } from 'rtk-base/gnss'
import type { DataDir } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { mostNeighbours } from './setting.js'
import type { Vector } from './vector.js'

const day_s = 86_400
const mostDays = 400
const mostAntennas = 100
/** A base that stands elsewhere starts again, metres. */
const elsewhere_m = 25

const number = Type.Number()
const ecef = Type.Object({ x: number, y: number, z: number })
const Curve = Type.Object({
  /** Source of the neighbour. */
  id: Type.String({ maxLength: 400 }),
  /** The antennas of both ends, and the vector between their announced positions, ECEF metres: others begin another curve. */
  antennas: Type.String({ maxLength: mostAntennas }),
  announced: ecef,
  /** The position of this station and the vector at which the curve is zero, ECEF metres. */
  from: ecef,
  vector: ecef,
  /** UTC day since 1970; this station east, north and up of its place at the begin, metres; their standard deviations. */
  days: Type.Array(Type.Array(number, { minItems: 7, maxItems: 7 }), { maxItems: mostDays }),
})
type Curve = Static<typeof Curve>
export type CurveOf = Pick<Curve, 'id' | 'from' | 'antennas'>
const Stored = Type.Object({ curves: Type.Array(Type.Unknown(), { maxItems: 2 * mostNeighbours }) })
/** Successive vectors with other antennas begin another curve: one that is wrong for an hour does not. */
const otherAntennas = 3

export class Curves {
  readonly #dir: () => DataDir
  readonly #failed: (text: string) => void
  #curves = new Map<string, Curve>()
  #today = new Map<string, { day: number; samples: DailyOffset[] }>()
  readonly #moves = new Map<string, string>()
  /** Successive vectors with other antennas. */
  readonly #others = new Map<string, number>()
  #work: Promise<void> = Promise.resolve()

  /** @param failed the file is damaged, or cannot be written */
  constructor(dir: () => DataDir, failed: (text: string) => void) {
    this.#dir = dir
    this.#failed = failed
  }

  /** Reads the file. Never rejects: a damaged one counts as empty, and is reported. */
  async read(): Promise<void> {
    const { value = { curves: [] }, damage } = await this.#file.read()
    if (damage !== undefined) this.#failed(`the curves of the neighbours cannot be read and start again: ${damage}`)
    const curves = value.curves.filter((curve) => Value.Check(Curve, curve))
    if (curves.length < value.curves.length)
      this.#failed('a curve of the neighbours has another form, and starts again')
    for (const curve of curves) this.#curves.set(curve.id, curve)
    for (const id of this.#curves.keys()) this.#judge(id)
  }

  get #file() {
    const { path, ensureRoom } = this.#dir()
    return new StateFile(Stored, join(path, 'curves.json'), { room: ensureRoom })
  }

  /** Adds a vector. When a day is over, its median is written. @param from position of this station @param ids all present neighbours */
  add({ id, from, ...of }: CurveOf, { sigma, vector, offset }: Vector, utc_s: number, ids: readonly string[]): void {
    const antennas = of.antennas.slice(0, mostAntennas)
    const announced = { x: vector.x - offset.x, y: vector.y - offset.y, z: vector.z - offset.z }
    const known = this.#curves.get(id)
    const others = known && known.antennas !== antennas ? (this.#others.get(id) ?? 0) + 1 : 0
    this.#others.set(id, others)
    if (others > 0 && others < otherAntennas) return
    const isSame =
      known?.antennas === antennas &&
      sameReference(known.announced, announced) &&
      distance(known.vector, vector) <= elsewhere_m
    const curve: Curve = isSame
      ? known
      : { id, antennas, announced, from: { ...from }, vector: { ...vector }, days: [] }
    if (!isSame) {
      this.#curves.set(id, curve)
      this.#today.delete(id)
      this.#moves.delete(id)
    }
    const { x, y, z } = curve.vector
    // The vector leads away from this station: where it grows, this station went the other way.
    const moved = { x: x - vector.x + curve.from.x, y: y - vector.y + curve.from.y, z: z - vector.z + curve.from.z }
    const value = { t_s: utc_s, offset: enu(curve.from, moved), sigma }
    const day = Math.floor(utc_s / day_s)
    const today = this.#today.get(id)
    if (today?.day === day) today.samples.push(value)
    else {
      this.#today.set(id, { day, samples: [value] })
      if (today) this.#close(curve, today.day, today.samples, ids)
    }
  }

  /** Days that are over, oldest first. */
  of(id: string): DailyOffset[] {
    return (this.#curves.get(id)?.days ?? []).map(([day = 0, east = 0, north = 0, up = 0, e = 0, n = 0, u = 0]) => ({
      ...{ t_s: day * day_s, offset: { east, north, up }, sigma: { east: e, north: n, up: u } },
    }))
  }

  /** `The antenna moved 11 mm to the east since March 2026: …`; `''`: no significant move. */
  moveOf(id: string): string {
    return this.#moves.get(id) ?? ''
  }

  /** Writes the day that is not over yet. Resolves when it is written. @param ids all present neighbours */
  async stop(ids: readonly string[]): Promise<void> {
    for (const [id, { day, samples }] of this.#today) {
      const curve = this.#curves.get(id)
      if (curve && ids.includes(id)) this.#close(curve, day, samples, ids)
    }
    await this.#work
  }

  #close(curve: Curve, day: number, samples: readonly DailyOffset[], ids: readonly string[]): void {
    const { offset, sigma } = dailyOffset(day * day_s, samples)
    const axes = [offset, sigma].flatMap(({ east, north, up }) => [east, north, up])
    const row = [day, ...axes.map((metres) => Math.round(1e5 * metres) / 1e5)]
    // Ordered by day, as the clock may have been wrong.
    const others = curve.days.filter(([other]) => other !== day)
    curve.days = [...others, row].sort(([p = 0], [q = 0]) => p - q).slice(-mostDays)
    for (const id of this.#curves.keys()) if (!ids.includes(id)) this.#curves.delete(id)
    this.#judge(curve.id)
    const stored = structuredClone({ curves: [...this.#curves.values()] })
    this.#work = this.#work
      .then(() => this.#file.write(stored))
      .catch((error: Error) => this.#failed(`the curves of the neighbours are not stored: ${error.message}`))
  }

  #judge(id: string): void {
    const text = movementOf(this.of(id))?.text
    if (text) this.#moves.set(id, text)
    else this.#moves.delete(id)
  }
}
