/** The manual reference as a person enters it: ECEF or angles. Pure. */
import { distance, geodeticToEcef, offsetEnu, roundEcef, roundTo } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'

/** The change parameters `gnss-ref-manual-*`; null is not set. */
export interface ManualEntry {
  lat: number | null
  lon: number | null
  alt: number | null
  x: number | null
  y: number | null
  z: number | null
  /** The 0.1 mm part counts; else the position is taken to 1 cm. */
  hp: boolean
  /** The phase centre was entered, so far above the antenna reference point, metres; undefined: the reference point itself was. */
  phaseCentre_m?: number
}

/** Bounds of the parameters, and so of a position that is saved to be entered later. */
export const leastSure_m = 100_000
export const longestText = 32
export const printable = '^[\\x20-\\x7e]*$'

/** How far two ways of stating one position may be apart. */
export const agreement_m = 0.01

const isSet = (...values: (number | null)[]): boolean => values.every((value) => value !== null)

function byAngles({ lat, lon, alt }: ManualEntry): Ecef | undefined {
  if (!isSet(lat, lon, alt)) return undefined
  return geodeticToEcef({ lat: lat as number, lon: lon as number, alt: alt as number })
}

function byAxes({ x, y, z }: ManualEntry): Ecef | undefined {
  return isSet(x, y, z) ? { x: x as number, y: y as number, z: z as number } : undefined
}

/**
 * The antenna reference point: undefined until one of the groups of coordinates is complete. ECEF comes before angles. Below a phase
 * centre it lies along the normal of the ellipsoid.
 */
export function manualPosition(entry: ManualEntry): Ecef | undefined {
  const entered = byAxes(entry) ?? byAngles(entry)
  if (!entered) return undefined
  const { phaseCentre_m } = entry
  const position = phaseCentre_m ? offsetEnu(entered, { east: 0, north: 0, up: -phaseCentre_m }) : entered
  const { x, y, z } = position
  return entry.hp ? roundEcef(position) : { x: roundTo(x, 2), y: roundTo(y, 2), z: roundTo(z, 2) }
}

/** The disagreement of the two groups; undefined if they agree or one is incomplete. */
export function disagreement(entry: ManualEntry): string | undefined {
  const axes = byAxes(entry)
  const angles = byAngles(entry)
  if (!axes || !angles) return undefined
  const apart_m = distance(axes, angles)
  if (apart_m <= agreement_m) return undefined
  const apart = apart_m < 10 ? `${apart_m.toFixed(3)} m` : `${Math.round(apart_m)} m`
  return `gnss-ref-manual-x, -y, -z and -lat, -lon, -alt are ${apart} apart: send one of them, the other is replaced`
}
