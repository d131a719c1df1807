import type { ReferencePosition } from 'rtk-base/services'
import type { Datum } from './datum.js'

/** A position that can be used as the reference of the base. */
export interface Reference extends ReferencePosition {
  method: 'survey' | 'manual'
  /** UTC seconds; 0 unknown. */
  t: number
  /** `survey`, `http`, `mqtt`, `console` or `plugin`. */
  by: string
  samples: number
  elapsed_s: number
  /** Unknown if stored by an earlier release. */
  datum?: Datum
  /** Before it was transformed to the announced frame; undefined: it was not. */
  determinedIn?: Datum
  /** Source of the corrections of a corrected survey-in, or of an entered position. */
  source?: string
}

/** Identifies a chosen reference. */
export function signatureOf(reference: Reference | undefined): string {
  if (!reference) return ''
  const { method, arp } = reference
  return JSON.stringify([method, arp.x, arp.y, arp.z])
}
