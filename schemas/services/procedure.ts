/** Provided by the plugin that runs the GNSS procedure. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef } from './receiver.js'

/** Where the GNSS procedure stands (`gnss.state.status`), of the plugin that runs it. */
export interface ProcedureStatus {
  /** One of `gnssStatuses` (schemas/info/gnss.ts). */
  readonly status: string
  /** `status` changed. */
  readonly onState: Event<void>
  /** The procedure can use corrections now (`gnss.state.want_corr`). */
  readonly wantsCorrections: boolean
  /** Corrections are to be kept from the receiver for a while: it must find itself without them. */
  readonly pausesCorrections?: boolean
  /** Sources of corrections whose position is known to be right, as `gnss.state.recvrtcm.remote` names them. */
  readonly trustedSources?: readonly string[]
  /** The reference that is used, or would be used: distinguishes our own corrections from those of another station. */
  readonly reference: Ecef | undefined
  /** The reference that is chosen, and what is known of it; undefined: there is none, or the plugin does not say. */
  readonly chosen?: ChosenReference | undefined
}

export interface ChosenReference {
  readonly method: 'manual' | 'survey'
  /** Metres, 1 sigma; undefined: not known. */
  readonly acc_m: number | undefined
  /** false: of a survey-in that did not reach its accuracy, and that a person lets be used. */
  readonly isComplete: boolean
}
export const procedureStatus = defineService<ProcedureStatus>('procedure-status')
