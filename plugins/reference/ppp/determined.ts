/** A position that was determined elsewhere, as its reports give it. Pure. */
import { type FrameName, frameNamed } from 'rtk-base/gnss'

export interface Determined {
  /** The position of the marker, metres. */
  readonly position: { readonly x: number; readonly y: number; readonly z: number }
  readonly covariance: Covariance
  readonly frame: FrameName
  /** Decimal year. */
  readonly epoch: number
  /** The antenna reference point above the marker, as the service read it from the file, metres; undefined: not in the report. */
  readonly height_m: number | undefined
  /** The kind of orbits: `final`, `rapid` or `ultra-rapid`; undefined: not in the report. */
  readonly product?: string | undefined
}

/** xx, xy, xz, yy, yz, zz, square metres. */
export type Covariance = readonly [number, number, number, number, number, number]

/** @param correlations of xy, xz and yz; 0 where the report has none */
export function covarianceOf(
  [x, y, z]: readonly [number, number, number],
  [xy, xz, yz]: readonly [number, number, number] = [0, 0, 0],
): Covariance {
  return [x * x, xy * x * y, xz * x * z, y * y, yz * y * z, z * z]
}

/** A position that a report cannot have. @returns undefined: there is nothing wrong with it */
export function problemOf({ x, y, z }: Determined['position'], covariance: Covariance): string | undefined {
  const radius = Math.hypot(x, y, z)
  if (!(radius > 6_330_000 && radius < 6_400_000)) return 'its position is not on the earth'
  const [xx, xy, xz, yy, yz, zz] = covariance
  const isPossible = xy * xy <= xx * yy && xz * xz <= xx * zz && yz * yz <= yy * zz
  const isReadable = [xx, yy, zz].every((variance) => variance > 0 && variance < 1e6)
  return isReadable && isPossible ? undefined : 'its accuracy cannot be read'
}

/** @returns a text that says what is wrong with the name */
export function frameOf(name: string): FrameName | { readonly problem: string } {
  return frameNamed(name) ?? { problem: `its frame '${name.slice(0, 16)}' is not known` }
}

/** The highest antenna above its marker, metres: what is higher is a damaged report. */
const highest_m = 100

/** @param field of a report, metres @returns undefined: it is missing, or no height of an antenna */
export function heightOf(field: string | undefined): number | undefined {
  const height_m = Number(field ?? Number.NaN)
  return Math.abs(height_m) <= highest_m ? height_m : undefined
}

/** `26:331:43200`: year (above 50 of the last century, SINEX 2.02), day of the year, second of the day. @returns decimal year; undefined: it is none */
export function epochOf(text: string): number | undefined {
  const [, yy, day, second] = /^(\d{2}):(\d{3}):(\d{5})$/.exec(text) ?? []
  if (yy === undefined || Number(day) < 1 || Number(day) > 366) return undefined
  const year = (Number(yy) > 50 ? 1900 : 2000) + Number(yy)
  const length = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1 ? 366 : 365
  return year + (Number(day) - 1 + Number(second) / 86_400) / length
}

/** @param given as a client sends it: XYZ of the marker, its frame, epoch and accuracy @returns a text that says what is wrong with it */
export function readGiven(given: {
  readonly x: number
  readonly y: number
  readonly z: number
  readonly frame: string
  readonly epoch: number
  readonly acc: number
}): Determined | string {
  const { acc, epoch, x, y, z } = given
  const frame = frameNamed(given.frame)
  if (!frame) return `its frame '${given.frame.slice(0, 16)}' is not known`
  const variance = (acc * acc) / 3
  const covariance: Covariance = [variance, 0, 0, variance, 0, variance]
  const problem = problemOf({ x, y, z }, covariance)
  return problem ?? { position: { x, y, z }, covariance, frame, epoch, height_m: undefined }
}
