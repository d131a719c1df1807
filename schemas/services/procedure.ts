/** Provided by the plugin that runs the GNSS procedure. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef } from './receiver.js'

/** Status of the GNSS procedure (`gnss.state.status`). */
export interface ProcedureStatus {
  /** One of `gnssStatuses` (schemas/info/gnss.ts). */
  readonly status: string
  /** `status` changed. */
  readonly onState: Event<void>
  /** The procedure can use corrections now (`gnss.state.want_corr`). */
  readonly wantsCorrections: boolean
  /** Corrections are withheld from the receiver for a while: it must find its position without them. */
  readonly pausesCorrections?: boolean
  /** Correction sources with a verified position, named as in `gnss.state.recvrtcm.remote`. */
  readonly trustedSources?: readonly string[]
  /** The reference in use or to be used: distinguishes the station's own corrections from those of another station. */
  readonly reference: Ecef | undefined
  /** The request of a person that the station is carrying out. */
  readonly asked?: ProcedureWish | undefined
  /** The chosen reference; undefined: none, or the plugin does not report it. */
  readonly chosen?: ChosenReference | undefined
}

/** `survey`: a survey-in. `confirmed`: the check of a confirmed position. `reference`: the check of another reference. */
export type ProcedureWish = 'survey' | 'confirmed' | 'reference'

export interface ChosenReference {
  readonly method: 'manual' | 'survey'
  /** Metres, 1 sigma; undefined: unknown. */
  readonly acc_m: number | undefined
  /** Reference frame of the announced coordinates, e.g. `ETRF2000`; empty or undefined: unknown. */
  readonly frame?: string
  /** false: from a survey-in that missed its accuracy, but that a person allowed to be used. */
  readonly isComplete: boolean
  /** A person confirmed it although the antenna seemed to be elsewhere. */
  readonly override?: { readonly t: number; readonly by: string; readonly distance_m: number }
}
export const procedureStatus = defineService<ProcedureStatus>('procedure-status')
