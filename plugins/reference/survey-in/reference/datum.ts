/** The frame and the epoch of coordinates: as entered, and as the station announces them. Pure. */
import {
  announcedAs,
  type DatedPosition,
  type DatumWish,
  decimalYear,
  epochNamed,
  frameNamed,
  movesWithPlate,
  roundEcef,
  roundTo,
  transformed,
} from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { Reference } from './reference.js'

export const Datum = Type.Object({
  /** e.g. `ETRF2000`; empty: not known. */
  frame: Type.String(),
  /** e.g. `2010.0`. */
  epoch: Type.String(),
})
export type Datum = Static<typeof Datum>

/** @returns undefined: its frame is not one that positions are transformed between, or its epoch is not known */
export function datedPosition({ arp: position, datum }: Pick<Reference, 'arp' | 'datum'>): DatedPosition | undefined {
  const frame = frameNamed(datum?.frame ?? '')
  const epoch = epochNamed(datum?.epoch ?? '')
  return frame && epoch !== undefined ? { position, frame, epoch } : undefined
}

/** A reference as the station announces it: transformed where that is wished and possible, otherwise unchanged. */
export function announcedReference(reference: Reference, wish: DatumWish): Reference {
  const at = wish.frame === undefined && wish.epoch === undefined ? undefined : datedPosition(reference)
  if (!at || !reference.datum) return reference
  const to = announcedAs(at, wish)
  if (to.frame === at.frame && to.epoch === at.epoch) return reference
  const epoch = to.epoch === at.epoch ? reference.datum.epoch : epochText(to.epoch)
  return { ...reference, arp: roundEcef(to.position), datum: { frame: to.frame, epoch } }
}

/**
 * Where positions without corrections are expected: they are in the frame of the satellites, ITRF2020 at the present epoch.
 * @returns to a centimetre; undefined: the frame of the reference or the time is not known
 */
export function seenAt(reference: Reference, { plate }: DatumWish, utc_s: number): Ecef | undefined {
  const at = datedPosition(reference)
  if (!at || utc_s === 0) return undefined
  const now = decimalYear(utc_s * 1000)
  // Without its plate, a point of ITRF is left where it was: a centimetre a year does not matter here.
  const current = plate ? at : { ...at, epoch: movesWithPlate(at.frame) ? now : at.epoch }
  const { x, y, z } = transformed(current, { frame: 'ITRF2020', epoch: plate ? now : current.epoch }, plate).position
  return { x: roundTo(x, 2), y: roundTo(y, 2), z: roundTo(z, 2) }
}

/** A thousandth of a year is a tenth of a millimetre of the fastest plate. */
const epochText = (year: number) => String(Math.round(year * 1000) / 1000)

/**
 * Frame and epoch of a survey-in: those of its corrections, otherwise those of the broadcast orbits.
 * @param t of the survey-in, UTC seconds; 0 unknown
 */
export function surveyDatum(corrected: boolean, ofCorrections: Datum, t: number): Datum {
  return corrected ? ofCorrections : { frame: 'WGS84', epoch: t > 0 ? decimalYear(t * 1000).toFixed(2) : '' }
}

/** Whether two of them are known to be different. */
export function differs(a: Datum, b: Datum): boolean {
  if (!a.frame || !b.frame) return false
  if (plain(a.frame) !== plain(b.frame)) return true
  return a.epoch !== '' && b.epoch !== '' && plainEpoch(a.epoch) !== plainEpoch(b.epoch)
}

export function datumText({ frame, epoch }: Datum): string {
  return epoch ? `${frame} epoch ${epoch}` : frame
}

/** `ETRF 2000`, `etrf-2000` and `ETRF2000` are one frame, and so are `IGS20` and `ITRF2020`. */
const plain = (frame: string) => frameNamed(frame) ?? frame.toUpperCase().replaceAll(/[\s_-]/g, '')

const plainEpoch = (epoch: string) => (Number.isFinite(Number(epoch)) ? String(Number(epoch)) : plain(epoch))
