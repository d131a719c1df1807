import { EcefShape } from 'rtk-base/schemas'
import { type Static, Type } from 'typebox'
import { Datum } from './datum.js'

/** A position that can be used as the reference of the base. */
export const Reference = Type.Object({
  arp: EcefShape,
  acc_m: Type.Number({ minimum: 0 }),
  corr: Type.Boolean(),
  seenAt: Type.Optional(EcefShape),
  method: Type.Union([Type.Literal('survey'), Type.Literal('manual')]),
  /** UTC seconds; 0 unknown. */
  t: Type.Number(),
  /** `survey`, `http`, `mqtt`, `console` or `plugin`. */
  by: Type.String(),
  samples: Type.Number(),
  elapsed_s: Type.Number(),
  /** Unknown if stored by an earlier release. */
  datum: Type.Optional(Datum),
  /** Before it was transformed to the announced frame; undefined: it was not. */
  determinedIn: Type.Optional(Datum),
  /** Source of the corrections of a corrected survey-in, or of an entered position. */
  source: Type.Optional(Type.String()),
})
/** A `ReferencePosition` of the service `integrity`, with its origin. */
export type Reference = Static<typeof Reference>

/** Identifies a chosen reference. */
export function signatureOf(reference: Reference | undefined): string {
  if (!reference) return ''
  const { method, arp } = reference
  return JSON.stringify([method, arp.x, arp.y, arp.z])
}
