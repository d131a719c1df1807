/** What a determined position means for this station: in the frame that it announces, beside its present reference. Pure. */
import { enu, type FrameName, frameNames, frameVelocity, offsetEnu, type PlateName, transformed } from 'rtk-base/gnss'
import type { Ecef, Enu } from 'rtk-base/services'
import type { Determined } from './csrs.js'

export interface Announced {
  readonly frame: FrameName
  /** Decimal year; undefined: that of the determined position. */
  readonly epoch: number | undefined
  readonly plate: PlateName | undefined
}

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
 * `antenna`: the service did not know the antenna, so the position is that of its phase centre, centimetres above.
 */
export type Doubt = 'distance' | 'frame' | 'plate' | 'antenna'

export interface Preview {
  /** Of the antenna reference point. */
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
  readonly reference: Reference | undefined
  readonly to: Announced
  /** Decimal year. */
  readonly now: number
}

/** Realisations of a frame agree to this. */
const frame_m = 0.03
/** Of a reference whose accuracy nobody entered. */
const unknownReference_m = 0.05
/** Phase centres are so far above the reference point of an antenna. */
const phaseCentre_m = 0.05
/** Uplift and other motion that plates do not have, metres a year. */
const unmodelled_m = 0.002
/** A frame that moves with the plate drifts less. */
const steady_mm = 5
const moving: readonly FrameName[] = ['ETRF2020', 'ETRF2014', 'ETRF2000', 'GDA2020', 'NAD83(2011)', 'NAD83(CSRS)']

export function previewOf(found: Determined, { antenna, height_m, now, reference, to }: Circumstances): Preview {
  const at = { position: found.position, frame: found.frame, epoch: found.epoch }
  const marker = transformed(at, { frame: to.frame, epoch: to.epoch ?? found.epoch }, to.plate)
  const position = offsetEnu(marker.position, { east: 0, north: 0, up: height_m })
  const velocity = to.plate && frameVelocity({ ...marker, position }, to.plate)
  const drift_mm = velocity && Math.hypot(velocity.x, velocity.y, velocity.z) * 1000
  const years = [((drift_mm ?? 0) / 1000) * (now - marker.epoch), unmodelled_m * (marker.epoch - found.epoch)]
  const acc_m = Math.hypot(...found.sigma_m, frame_m, ...years, antenna === '' ? phaseCentre_m : 0)
  const offset = reference && enu(reference.position, position)
  const away_m = offset ? Math.hypot(offset.east, offset.north, offset.up) : 0
  const doubts: Doubt[] = []
  if (reference && away_m > 4 * Math.hypot(reference.acc_m || unknownReference_m, acc_m)) doubts.push('distance')
  if (reference && reference.frame !== '' && reference.frame !== to.frame) doubts.push('frame')
  if (drift_mm !== undefined && drift_mm > steady_mm && moving.includes(to.frame)) doubts.push('plate')
  if (antenna === '') doubts.push('antenna')
  return { position, frame: to.frame, epoch: marker.epoch, acc_m, offset, doubts, drift_mm }
}

/** `ETRF2000` and the like; undefined: not a frame that positions are transformed to. */
export const frameNamed = (text: string): FrameName | undefined => frameNames.find((name) => name === text)
