import type { Ecef } from '../../../../schemas/services.js'
import { type FrameName, type Helmert, helmerts, type PlateName, plates } from './frames.js'

/** A position with its frame and epoch (decimal year). */
export interface DatedPosition {
  readonly position: Ecef
  readonly frame: FrameName
  readonly epoch: number
}

const mas = Math.PI / 180 / 3_600_000
const millimetre = 1e-3
const ppb = 1e-9

/**
 * Transforms a point to another frame and epoch.
 * @param plate the plate that moves the point between the epochs (horizontally, ITRF2020-PMM); undefined: the point
 *   does not move in ITRF2020
 * @returns the position, which agrees with the published parameters to 0.1 mm
 */
export function transformed(
  { epoch, frame, position }: DatedPosition,
  to: { readonly frame: FrameName; readonly epoch: number },
  plate?: PlateName,
): DatedPosition {
  const global = inGlobal(position, frame, epoch)
  const moved = plate === undefined ? global : along(global, plateVelocity(global, plate), to.epoch - epoch)
  return { position: fromGlobal(moved, to.frame, to.epoch), frame: to.frame, epoch: to.epoch }
}

/** Velocity of a point that moves with its plate, in ITRF2020, metres a year. */
export function plateVelocity({ x, y, z }: Ecef, plate: PlateName): Ecef {
  const [wx, wy, wz] = plates[plate].map((rate) => rate * mas) as [number, number, number]
  return { x: wy * z - wz * y, y: wz * x - wx * z, z: wx * y - wy * x }
}

/**
 * Velocity of a point of this plate in the frame of `at`, metres a year: how fast fixed coordinates become wrong. It
 * is nearly zero in a frame that moves with the plate.
 */
export function frameVelocity(at: DatedPosition, plate: PlateName): Ecef {
  const later = transformed(at, { frame: at.frame, epoch: at.epoch + 1 }, plate).position
  return { x: later.x - at.position.x, y: later.y - at.position.y, z: later.z - at.position.z }
}

const along = ({ x, y, z }: Ecef, velocity: Ecef, years: number): Ecef => ({
  x: x + velocity.x * years,
  y: y + velocity.y * years,
  z: z + velocity.z * years,
})

/** ITRF2020 of a position at its epoch. */
function inGlobal(position: Ecef, frame: FrameName, epoch: number): Ecef {
  return pathTo(frame).reduceRight((at, step) => apply(step.helmert, at, epoch, !step.isInverse), position)
}

function fromGlobal(position: Ecef, frame: FrameName, epoch: number): Ecef {
  return pathTo(frame).reduce((at, step) => apply(step.helmert, at, epoch, step.isInverse), position)
}

interface Step {
  readonly helmert: Helmert
  readonly isInverse: boolean
}

/** From ITRF2020 to a frame. */
function pathTo(frame: FrameName): readonly Step[] {
  if (frame === 'ITRF2020') return []
  const direct = helmerts.find(({ from, to }) => to === frame && from === 'ITRF2020')
  if (direct) return [{ helmert: direct, isInverse: false }]
  const back = helmerts.find(({ from, to }) => from === frame && to === 'ITRF2020')
  if (back) return [{ helmert: back, isInverse: true }]
  const last = helmerts.find(({ to }) => to === frame)
  if (!last) throw new RangeError(`there is no way to ${frame}`)
  return [...pathTo(last.from), { helmert: last, isInverse: false }]
}

/** The linear form of the published formulas; the inverse undoes it exactly but for rotations squared (10⁻⁷ m). */
function apply(helmert: Helmert, { x, y, z }: Ecef, epoch: number, isInverse: boolean): Ecef {
  const years = epoch - helmert.epoch
  const sign = helmert.convention === 'position vector' ? 1 : -1
  const at = (values: readonly number[], rates: readonly number[], unit: number) =>
    values.map((value, axis) => (value + (rates[axis] ?? 0) * years) * unit) as [number, number, number]
  const [tx, ty, tz] = at(helmert.translation_mm, helmert.translationRate_mm, millimetre)
  const [rx, ry, rz] = at(helmert.rotation_mas, helmert.rotationRate_mas, mas * sign)
  const scale = 1 + (helmert.scale_ppb + helmert.scaleRate_ppb * years) * ppb
  if (!isInverse) {
    return {
      x: tx + scale * (x - rz * y + ry * z),
      y: ty + scale * (rz * x + y - rx * z),
      z: tz + scale * (-ry * x + rx * y + z),
    }
  }
  const [dx, dy, dz] = [(x - tx) / scale, (y - ty) / scale, (z - tz) / scale]
  return { x: dx + rz * dy - ry * dz, y: -rz * dx + dy + rx * dz, z: ry * dx - rx * dy + dz }
}

/** Decimal year of a time, UTC milliseconds. */
export function decimalYear(utc_ms: number): number {
  const year = new Date(utc_ms).getUTCFullYear()
  const [start, end] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)]
  return year + (utc_ms - start) / (end - start)
}
