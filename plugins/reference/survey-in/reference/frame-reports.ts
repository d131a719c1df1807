/** What is wrong with the frame of the reference, as the values of two standing errors. Pure. */
import { type DatumWish, type Drift, decimalYear, driftOf, epochNamed, frameNamed } from 'rtk-base/gnss'
import type { ErrorValues } from 'rtk-base/services'
import type { SurveyRecord } from '../survey/surveyor.js'
import { type Datum, datedPosition, datumText, differs } from './datum.js'
import type { Reference } from './reference.js'

/** Rovers of centimetres notice it. */
const mostDrift_m = 0.02

export interface FrameWish {
  /** The intended frame and epoch of the reference. */
  readonly wanted: Datum
  /** Those that it is announced in. */
  readonly announced: DatumWish
}

/** `gnss-reference-frame`: the corrections of a survey-in, or an entered position, are in another frame than intended. */
export function frameTrouble(
  { state, corrected, datum }: Pick<SurveyRecord, 'state' | 'corrected' | 'datum'>,
  chosen: Reference | undefined,
  { announced: { frame }, wanted: intended }: FrameWish,
): ErrorValues | undefined {
  const runs = state === 'running'
  const used = runs ? corrected && datum : chosen?.method === 'survey' && chosen.corr && chosen.datum
  const wanted = frame ? { frame, epoch: '' } : intended
  const isTransformed = frame !== undefined && used && frameNamed(used.frame) && epochNamed(used.epoch) !== undefined
  if (used && !isTransformed && differs(used, wanted)) return { runs, used: datumText(used), wanted: datumText(wanted) }
  if (!frame || runs || chosen?.method !== 'manual' || chosen.datum?.frame === frame) return undefined
  const entered = chosen.datum?.frame ? datumText(chosen.datum) : ''
  return { used: entered, wanted: frame, entered: true, _used: entered || 'an unknown frame' }
}

/** Rate and size of the drift of the announced coordinates; undefined: their frame, the plate or the time is not known. */
export function driftOfReference(
  chosen: Reference | undefined,
  { plate }: DatumWish,
  utc_s: number,
): Drift | undefined {
  const at = chosen && datedPosition(chosen)
  return at && utc_s > 0 ? driftOf(at, plate, decimalYear(utc_s * 1000)) : undefined
}

/** `gnss-reference-drift`: the plate has carried the coordinates too far. An epoch that a person chose is meant to stay. */
export function driftTrouble(
  chosen: Reference | undefined,
  { epoch }: DatumWish,
  drift: Drift | undefined,
): ErrorValues | undefined {
  if (!chosen?.datum || epoch !== undefined || !drift || drift.since_m < mostDrift_m) return undefined
  const { rate_m, since_m } = drift
  return { datum: datumText(chosen.datum), since: (since_m * 100).toFixed(1), rate: (rate_m * 1000).toFixed(0) }
}
