/** What the parts of the procedure share. */
import type { PluginContext } from 'rtk-base/plugin'
import type { Integrity, Receiver, RtcmJudge } from 'rtk-base/services'
import type { References } from '../reference/references.js'
import type { ReferenceStore } from '../reference-store.js'
import type { CorrectionInput } from '../survey/correction-input.js'
import type { Surveyor } from '../survey/surveyor.js'
import type { Reports } from './reports.js'

export interface ProcedureDeps {
  readonly ctx: PluginContext
  readonly receiver: Receiver
  readonly integrity: Integrity
  /** Closes the gate, and opens it. */
  readonly judge: RtcmJudge
  readonly references: References
  readonly surveyor: Surveyor
  readonly corrections: CorrectionInput
  readonly reports: Reports
  /** What outlasts a restart. */
  readonly store: ReferenceStore
}
