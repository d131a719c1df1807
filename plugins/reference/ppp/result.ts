/** The effect of a determined position on this station: as it would be announced, beside the present reference. Pure. */
import {
  announcedAs,
  type DatedPosition,
  type DatumWish,
  driftOf,
  enu,
  type FrameName,
  frameNamed,
  movesWithPlate,
  offsetEnu,
} from 'rtk-base/gnss'
import type { Ecef, Enu } from 'rtk-base/services'
import type { Determined } from './determined.js'

export interface Reference {
  readonly position: Ecef
  /** 3D, 1 sigma, metres; 0: unknown. */
  readonly acc_m: number
  /** As entered; '' unknown. */
  readonly frame: string
}

/**
 * Reasons to look twice. `distance`: the accuracies do not explain the offset. `frame`: the present reference is in another frame, so that
 * rovers will be shifted by its difference. `plate`: the plate does not move with the frame, so one of the two is of another place.
 * `antenna`: the antenna was not set, or the table of antennas does not have it. Without its calibration the position is that of its phase
 * centre, centimetres above.
 */
export const doubtNames = ['distance', 'frame', 'plate', 'antenna'] as const
export type Doubt = (typeof doubtNames)[number]

export interface Preview {
  /** The position of the antenna reference point, as it would be announced. */
  readonly position: Ecef
  readonly frame: FrameName
  readonly epoch: number
  /** 3D, 1 sigma, metres. */
  readonly acc_m: number
  /** From the present reference; undefined: there is none. */
  readonly offset: Enu | undefined
  readonly doubts: readonly Doubt[]
  /** How fast these coordinates become wrong, millimetres a year; undefined: the plate is not known. */
  readonly drift_mm: number | undefined
}

export interface Circumstances {
  /** The antenna reference point above the marker. */
  readonly height_m: number
  /** IGS code of the antenna in the submitted file; '' none; undefined: not known, as of an import. */
  readonly antenna: string | undefined
  /** Whether the table of antennas has it; undefined: there was no table. */
  readonly isCalibrated: boolean | undefined
  readonly reference: Reference | undefined
  readonly to: DatumWish
  /** Decimal year. */
  readonly now: number
}

/** Realisations of a frame agree to this. */
const frame_m = 0.03
/** The accuracy of a reference whose accuracy nobody entered. */
const unknownReference_m = 0.05
/** Phase centres are so far above the reference point of an antenna. */
const phaseCentre_m = 0.05
/** Uplift and other motion that plates do not have, metres a year. */
const unmodelled_m = 0.002
/** A frame that moves with the plate drifts less. */
const steady_mm = 5

/** The antenna reference point above a determined marker, in the frame of the determination. */
export function antennaOf({ epoch, frame, position }: Omit<Determined, 'covariance'>, height_m: number): DatedPosition {
  return { position: offsetEnu(position, { east: 0, north: 0, up: height_m }), frame, epoch }
}

export function previewOf(
  found: Determined,
  { antenna, height_m, isCalibrated, now, reference, to }: Circumstances,
): Preview {
  const announced = announcedAs(antennaOf(found, height_m), to)
  const { epoch, frame, position } = announced
  const drift = driftOf(announced, to.plate, now)
  const mayBePhaseCentre = antenna === '' || isCalibrated === false
  const drift_mm = drift && drift.rate_m * 1000
  const [xx, , , yy, , zz] = found.covariance
  const acc_m = Math.hypot(
    Math.sqrt(xx + yy + zz),
    frame_m,
    drift?.since_m ?? 0,
    unmodelled_m * (epoch - found.epoch),
    mayBePhaseCentre ? phaseCentre_m : 0,
  )
  const offset = reference && enu(reference.position, position)
  const away_m = offset ? Math.hypot(offset.east, offset.north, offset.up) : 0
  const doubts: Doubt[] = []
  if (reference && away_m > 4 * Math.hypot(reference.acc_m || unknownReference_m, acc_m)) doubts.push('distance')
  if (reference && reference.frame !== '' && frameNamed(reference.frame) !== frame) doubts.push('frame')
  if (drift_mm !== undefined && drift_mm > steady_mm && movesWithPlate(frame)) doubts.push('plate')
  if (mayBePhaseCentre) doubts.push('antenna')
  return { position, frame, epoch, acc_m, offset, doubts, drift_mm }
}
