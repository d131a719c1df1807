/** Reference positions: the manual one as it was entered, the surveyed one, and how one is held against where the antenna is. Pure. */
import { distance, type Enu, enu, geodeticToEcef, roundEcef, roundTo } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { LivePosition } from './live-position.js'

/** A position that can be used as the reference of the base. */
export interface Reference {
  method: 'survey' | 'manual'
  /** To 0.1 mm. */
  arp: Ecef
  /** 3D, 1 sigma, metres; 0 unknown. */
  acc_m: number
  /** Determined with RTK corrections. */
  corr: boolean
  /** UTC seconds; 0 unknown. */
  t: number
  /** `survey`, `http`, `mqtt`, `console` or `plugin`. */
  by: string
  samples: number
  elapsed_s: number
}

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
}

/** How far the two ways of entering one position may be apart. */
const agreement_m = 0.01

const isSet = (...values: (number | null)[]): boolean => values.every((value) => value !== null)

function byAngles({ lat, lon, alt }: ManualEntry): Ecef | undefined {
  if (!isSet(lat, lon, alt)) return undefined
  return geodeticToEcef({ lat: lat as number, lon: lon as number, alt: alt as number })
}

function byAxes({ x, y, z }: ManualEntry): Ecef | undefined {
  return isSet(x, y, z) ? { x: x as number, y: y as number, z: z as number } : undefined
}

/** The position that was entered: undefined until one of its groups is complete. ECEF comes before angles. */
export function manualPosition(entry: ManualEntry): Ecef | undefined {
  const position = byAxes(entry) ?? byAngles(entry)
  if (!position) return undefined
  const { x, y, z } = position
  return entry.hp ? roundEcef(position) : { x: roundTo(x, 2), y: roundTo(y, 2), z: roundTo(z, 2) }
}

/** What is wrong with the two groups together; undefined when they agree or one is not complete. */
export function disagreement(entry: ManualEntry): string | undefined {
  const axes = byAxes(entry)
  const angles = byAngles(entry)
  if (!axes || !angles) return undefined
  const apart_m = distance(axes, angles)
  if (apart_m <= agreement_m) return undefined
  const apart = apart_m < 10 ? `${apart_m.toFixed(3)} m` : `${Math.round(apart_m)} m`
  return `gnss-ref-manual-x, -y, -z and -lat, -lon, -alt are ${apart} apart: send both, or take one back with null`
}

export interface Comparison {
  distance_m: number
  limit_m: number
  offset: Enu
  agrees: boolean
}

/** Holds a live position against a reference: the closer limit when both are RTK-corrected. */
export function compare(
  live: LivePosition,
  reference: Pick<Reference, 'arp' | 'corr'>,
  limits: { maxDelta_m: number; maxDeltaCorr_m: number },
): Comparison {
  const limit_m = live.corrected && reference.corr ? limits.maxDeltaCorr_m : limits.maxDelta_m
  const distance_m = distance(live.position, reference.arp)
  return { distance_m, limit_m, offset: enu(reference.arp, live.position), agrees: distance_m <= limit_m }
}

/** `E +30.0 / N -0.2 / U +1.4 m` */
export function offsetText({ east, north, up }: Enu): string {
  const part = (name: string, value: number) => `${name} ${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(1)}`
  return `${part('E', east)} / ${part('N', north)} / ${part('U', up)} m`
}
