/** The verdict for people who use the corrections. Pure. */

import { ecefToGeodetic } from '../../../../../runtime/lib/gnss/geodesy.js'
import {
  at,
  type Json,
  numberAt,
  textAt,
  type Verdict,
  verdictOf,
} from '../../../../../runtime/lib/page/ui/station/document.js'
import { hasReference, referenceAccuracy } from '../../../../../runtime/lib/page/ui/station/set-up.js'

/** Beyond this rovers notice that the whole map is shifted. */
const exact_m = 0.1

/** `coarse`: fit, but where it is in the world is known to decimetres or metres only. `waiting`: a start or a survey-in, which takes time and is not a fault. */
export type Mood = Verdict['fitness'] | 'coarse' | 'waiting' | 'unknown'

export function moodOf(document: Json | undefined): Mood {
  const verdict = verdictOf(document)
  if (!document || !verdict) return 'unknown'
  if (verdict.fitness === 'fit') return absoluteOf(document)?.isExact === false ? 'coarse' : 'fit'
  return /^(stopping|starting|surveying)$/.test(verdict.code) ? 'waiting' : verdict.fitness
}

export interface Absolute {
  /** The accuracy of the reference in the world, 1 sigma, metres. */
  readonly acc_m: number
  readonly isExact: boolean
}

/** How well the position is known in the world; undefined without a reference in use, or one of unknown accuracy. */
export function absoluteOf(document: Json | undefined): Absolute | undefined {
  if (!document || textAt(document, 'gnss.state.status') !== 'fixed') return undefined
  const acc_m = referenceAccuracy(document)
  return acc_m === undefined ? undefined : { acc_m, isExact: acc_m <= exact_m }
}

/** The name that people gave the station, else its serial number. */
export const nameOf = (document: Json | undefined, serial: string): string =>
  textAt(document, 'base.name') || serial || 'rtk-base'

/** The reference, which rests; before there is one, where the receiver finds itself. */
function placeOf(document: Json): { lat: number; lon: number } | undefined {
  const chosen = `gnss.ref.${textAt(document, 'gnss.ref.chosen')}`
  const number = (path: string) => numberAt(document, path) ?? 0
  if (hasReference(document) && textAt(document, `${chosen}.type`) !== '')
    return ecefToGeodetic({ x: number(`${chosen}.x`), y: number(`${chosen}.y`), z: number(`${chosen}.z`) })
  return number('gnss.pos.t') ? { lat: number('gnss.pos.lat'), lon: number('gnss.pos.lon') } : undefined
}

/** Degrees with a letter, to about a metre: enough to tell which roof. */
export function placeText(document: Json | undefined): string {
  const place = document && placeOf(document)
  if (!place) return ''
  const { lat, lon } = place
  return `${Math.abs(lat).toFixed(5)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lon).toFixed(5)}° ${lon < 0 ? 'W' : 'E'}`
}

/** A person said that the antenna is where it was, against the evidence. */
export const overrideOf = (document: Json | undefined) =>
  at(document, 'gnss.ref.override') as { t: number; by: string; distance: number } | undefined
