import { type FrameName, frameNames, type PlateName } from './frames.js'
import { type DatedPosition, frameVelocity, transformed } from './transform.js'

/**
 * The frame and epoch that a station announces its position in, independent of the frame in which the position was
 * determined.
 */
export interface DatumWish {
  /** Undefined: the frame of the determination. */
  readonly frame?: FrameName | undefined
  /** Decimal year; undefined: the epoch of the determination. */
  readonly epoch?: number | undefined
  /** The tectonic plate that carries the station. */
  readonly plate?: PlateName | undefined
}

/** IGS20 and its updates are ITRF2020 to a fraction of a millimetre, IGS14 is ITRF2014. */
const aliases: Readonly<Record<string, FrameName>> = {
  IGS20: 'ITRF2020',
  IGB20: 'ITRF2020',
  IGC20: 'ITRF2020',
  IGS14: 'ITRF2014',
  IGB14: 'ITRF2014',
}

/**
 * The frame for a name as people write it: `ETRF2000`, `etrf 2000`, `IGb20`.
 * @returns undefined if the frame is unknown, so that positions in it are not transformed
 */
export function frameNamed(text: string): FrameName | undefined {
  const plain = text.toUpperCase().replaceAll(/[\s_-]/g, '')
  return aliases[plain] ?? frameNames.find((name) => name.toUpperCase() === plain)
}

/** Decimal year of an epoch that a person entered; undefined if the text is not an epoch. */
export function epochNamed(text: string): number | undefined {
  const year = text.trim() === '' ? Number.NaN : Number(text)
  return year >= 1980 && year < 2100 ? year : undefined
}

/**
 * Transforms a position into the frame and epoch that the station announces. Without `plate`, the point is not moved
 * between the epochs.
 */
export function announcedAs(
  at: DatedPosition,
  { epoch = at.epoch, frame = at.frame, plate }: DatumWish,
): DatedPosition {
  return transformed(at, { frame, epoch }, plate)
}

/** How the present coordinates of a point differ from its announced coordinates, in the announced frame. */
export interface Drift {
  /** Metres a year. */
  readonly rate_m: number
  /** Metres since the epoch of the coordinates. */
  readonly since_m: number
}

/** @param now decimal year @returns undefined: the plate is unknown */
export function driftOf(at: DatedPosition, plate: PlateName | undefined, now: number): Drift | undefined {
  if (!plate) return undefined
  const { x, y, z } = frameVelocity(at, plate)
  const rate_m = Math.hypot(x, y, z)
  return { rate_m, since_m: rate_m * Math.abs(now - at.epoch) }
}
