/** Movement of the simulated antenna: instant, steady over a time, or swinging. */
import { type Static, Type } from 'typebox'
import { EnuShape } from '../../../schemas/shapes.js'

export interface Enu {
  east: number
  north: number
  up: number
}

const time_s = Type.Number({ exclusiveMinimum: 0 })
/** Missing: the first epoch is still to come. */
const from_gps_s = Type.Optional(Type.Number())
/** A movement, plain data for the next instance after a reload. `way`: a steady move. `sway`: a swing. */
export const Movement = Type.Union([
  Type.Object({ kind: Type.Literal('way'), by: EnuShape, over_s: time_s, from_gps_s }),
  // Without `over_s` it never ends.
  Type.Object({
    ...{ kind: Type.Literal('sway'), by: EnuShape, period_s: time_s, over_s: Type.Optional(time_s), from_gps_s },
  }),
])
export type Movement = Static<typeof Movement>

export const MotionSnapshot = Type.Object({ settled: EnuShape, movements: Type.Array(Movement) })
export type MotionSnapshot = Static<typeof MotionSnapshot>

const still: Enu = { east: 0, north: 0, up: 0 }
const add = (p: Enu, q: Enu, factor: number): Enu => ({
  east: p.east + q.east * factor,
  north: p.north + q.north * factor,
  up: p.up + q.up * factor,
})

export class Motion {
  #settled: Enu = still
  #movements: Movement[] = []
  /** The time of the newest epoch. */
  #gps_s: number | undefined

  /** Displacement of the antenna from where it was installed. */
  get offset(): Enu {
    return this.#gps_s === undefined ? { ...this.#settled } : this.#at(this.#gps_s)
  }

  /** Metres per second. */
  get velocity(): Enu {
    const { east, north, up } = still
    if (this.#movements.length === 0 || this.#gps_s === undefined) return { east, north, up }
    const step_s = 0.01
    const before = this.#at(this.#gps_s - step_s)
    const after = this.#at(this.#gps_s + step_s)
    return add(add(still, after, 1 / (2 * step_s)), before, -1 / (2 * step_s))
  }

  /** @param over_s 0: at once */
  move(by: Enu, over_s: number): void {
    if (over_s > 0) this.#movements.push({ kind: 'way', by, over_s, from_gps_s: this.#gps_s })
    else this.#settled = add(this.#settled, by, 1)
  }

  /** The antenna swings by `by` to both sides, and ends where it began. @param over_s infinite: it never ends */
  sway(by: Enu, period_s: number, over_s: number): void {
    const end = Number.isFinite(over_s) && { over_s }
    this.#movements.push({ kind: 'sway', by, period_s, ...end, from_gps_s: this.#gps_s })
  }

  /** The antenna stays where it is. */
  stop(): void {
    this.#settled = this.offset
    this.#movements = []
  }

  /** Advances the time to `gps_s`, at which an epoch is measured. */
  advance(gps_s: number): void {
    this.#gps_s = gps_s
    for (const movement of this.#movements) movement.from_gps_s ??= gps_s
    const isOver = ({ from_gps_s = gps_s, over_s = Infinity }: Movement) => gps_s >= from_gps_s + over_s
    for (const movement of this.#movements.filter(isOver)) {
      if (movement.kind === 'way') this.#settled = add(this.#settled, movement.by, 1)
    }
    this.#movements = this.#movements.filter((movement) => !isOver(movement))
  }

  snapshot(): MotionSnapshot {
    return structuredClone({ settled: this.#settled, movements: this.#movements })
  }

  restore({ settled, movements }: MotionSnapshot): void {
    this.#settled = { ...settled }
    this.#movements = structuredClone(movements)
  }

  #at(gps_s: number): Enu {
    return this.#movements.reduce((sum, movement) => add(sum, movement.by, partOf(movement, gps_s)), this.#settled)
  }
}

/** How much of `by` there is at a time. */
function partOf(movement: Movement, gps_s: number): number {
  const elapsed_s = gps_s - (movement.from_gps_s ?? gps_s)
  if (elapsed_s <= 0) return 0
  if (movement.kind === 'way') return Math.min(1, elapsed_s / movement.over_s)
  return elapsed_s < (movement.over_s ?? Infinity) ? Math.sin((2 * Math.PI * elapsed_s) / movement.period_s) : 0
}
