/** Common parts of all causes of a wrong announced position: the facts that they follow from, and how they are worded. */
import type { Ecef, Enu } from '../../../../schemas/services.js'
import type { FrameName, PlateName } from '../../gnss/index.js'

export interface NetCause {
  readonly kind: /** Two stations announce each other's position. */
    | 'swapped'
    /** The ranges of the station itself contradict the announced position. */
    | 'far'
    /** The position is given in another frame than that of the neighbours. */
    | 'frame'
    /** Only the height is wrong: `values.point` says of which point the height probably is. */
    | 'height'
    /** The antenna moves or has moved. */
    | 'moved'
    /** The offset is within the accuracy that is stated for the position. */
    | 'survey'
    | 'unexplained'
  readonly values: Readonly<Record<string, string | number | boolean>>
  readonly text: string
}

/** A base with the position that follows from its own ranges, right to metres, ECEF. */
export interface RangedBase {
  readonly id: string
  readonly arp: Ecef
  readonly byRanges?: Ecef | undefined
}

/** A wrong base, and the facts that are known about it. */
export interface CauseEvidence extends RangedBase {
  /** True minus announced position and its standard deviations, of `judgeNet`, metres. */
  readonly offset: Enu
  readonly sigma: Enu
  /** The datum of the announced position, as the operator gave it. */
  readonly datum?: { readonly frame?: FrameName; readonly epoch?: number; readonly plate?: PlateName }
  readonly neighbours?: { readonly frame?: FrameName; readonly epoch?: number }
  /** Stated accuracy of the announced position, 3D, 1 sigma, metres; omitted: not known. */
  readonly accuracy_m?: number | undefined
  /** Decimal year of the measurement. */
  readonly now: number
  /** Height of the antenna reference point above the marker, metres. */
  readonly antennaHeight_m?: number
  /** Height of the phase centre above the antenna reference point, metres. */
  readonly phaseCentre_m?: number
  /** Bases whose position this base may announce. */
  readonly others?: readonly RangedBase[]
}

/** Whether a value is at least `smallest_m` and more than three standard deviations. */
export const isSignificant = (value: number, sigma: number, smallest_m: number): boolean =>
  Math.abs(value) >= smallest_m && Math.abs(value) > 3 * sigma

/** `0.134 m`, `1.24 m`, `12.3 km` */
export function lengthText(metres: number): string {
  if (metres >= 10_000) return `${(metres / 1_000).toFixed(1)} km`
  return `${metres.toFixed(metres < 1 ? 3 : metres < 100 ? 2 : 0)} m`
}

/** `a`, `a and b`, `a, b and c` */
export function listed(parts: readonly string[], word: 'and' | 'or' = 'and'): string {
  const last = parts[parts.length - 1] ?? ''
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} ${word} ${last}`
}
