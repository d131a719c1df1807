import { EcefShape } from 'rtk-base/schemas'
import { type Static, Type } from 'typebox'
import { Datum } from './datum.js'

/** How a position was determined. `surveyed`: without corrections. `rtk-averaged`: with them. */
export const Provenance = Type.Enum(['surveyed', 'rtk-averaged', 'entered', 'ppp'])
export type Provenance = Static<typeof Provenance>

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
  /** Undefined: unknown. */
  datum: Type.Optional(Datum),
  /** Of an entered one that a calculation determined. */
  provenance: Type.Optional(Provenance),
  /** Source of the corrections of a corrected survey-in, or of an entered position. */
  source: Type.Optional(Type.String()),
})
/** A `ReferencePosition` of the service `integrity`, with its origin. */
export type Reference = Static<typeof Reference>

export function provenanceOf({ method, corr, provenance }: Reference): Provenance {
  if (method === 'survey') return corr ? 'rtk-averaged' : 'surveyed'
  return provenance ?? 'entered'
}

/** Identifies a chosen reference. */
export function signatureOf(reference: Reference | undefined): string {
  if (!reference) return ''
  const { method, arp } = reference
  return JSON.stringify([method, arp.x, arp.y, arp.z])
}
