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
}

export interface Preview {
  /** Of the antenna reference point. */
  readonly position: Ecef
  readonly frame: FrameName
  readonly epoch: number
  /** 3D, 1 sigma, metres. */
  readonly acc_m: number
  /** From the present reference; undefined: there is none. */
  readonly offset: Enu | undefined
  /** The accuracies do not explain the offset: one of the two is wrong. */
  readonly isDoubtful: boolean
  /** How fast these coordinates become wrong, millimetres a year; undefined: the plate is not known. */
  readonly drift_mm: number | undefined
}

/** Frames of services, and of announced coordinates, agree to this. */
const frame_m = 0.03

/** @param height_m the antenna reference point above the marker */
export function previewOf(
  found: Determined,
  { height_m, reference, to }: { height_m: number; reference: Reference | undefined; to: Announced },
): Preview {
  const at = { position: found.position, frame: found.frame, epoch: found.epoch }
  const marker = transformed(at, { frame: to.frame, epoch: to.epoch ?? found.epoch }, to.plate)
  const position = offsetEnu(marker.position, { east: 0, north: 0, up: height_m })
  const acc_m = Math.hypot(...found.sigma_m, frame_m)
  const offset = reference && enu(reference.position, position)
  const away_m = offset ? Math.hypot(offset.east, offset.north, offset.up) : 0
  const velocity = to.plate && frameVelocity({ ...marker, position }, to.plate)
  return {
    ...{ position, frame: to.frame, epoch: marker.epoch, acc_m, offset },
    // Frames differ by up to a metre, which a reference of unknown frame may be off by.
    isDoubtful: reference !== undefined && reference.acc_m > 0 && away_m > 4 * Math.hypot(reference.acc_m, acc_m),
    drift_mm: velocity && Math.hypot(velocity.x, velocity.y, velocity.z) * 1000,
  }
}

/** `ETRF2000` and the like; undefined: not a frame that positions are transformed to. */
export const frameNamed = (text: string): FrameName | undefined => frameNames.find((name) => name === text)
