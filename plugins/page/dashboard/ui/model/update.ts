/** Where an update is: from the document alone, so that it is the same for whoever opens the page. Pure. */
import {
  type Json,
  listAt,
  numberAt,
  type StationError,
  textAt,
} from '../../../../../runtime/lib/page/ui/station/document.js'

export const updateSteps = ['transfer', 'verify', 'install', 'restart', 'trial'] as const
export type UpdateStep = (typeof updateSteps)[number]

export interface UpdateNow {
  /** Undefined: none is under way. */
  readonly step: UpdateStep | undefined
  readonly percent: number
  /** Why the last one does not run. */
  readonly failure: StationError | undefined
  /** The update ran, and the version before it was started again by itself; else it was refused before it ran. */
  readonly isTakenBack: boolean
}

const stepsByState: Readonly<Record<string, UpdateStep>> = {
  downloading: 'transfer',
  verifying: 'verify',
  installing: 'install',
  rebooting: 'restart',
}

export function updateOf(document: Json | undefined): UpdateNow {
  const state = textAt(document, 'base.update.state')
  // The new version also calls its trial verifying; while an image is verified the station says that it is updating.
  const isTrial = state === 'verifying' && textAt(document, 'base.state.base') !== 'updating'
  const failed = listAt<StationError>(document, 'base.state.errors').find(({ code }) => code === 'update-failed')
  return {
    step: isTrial ? 'trial' : stepsByState[state],
    percent: numberAt(document, 'base.update.progress') ?? 0,
    failure: failed,
    isTakenBack: failed?.values?.cause !== undefined,
  }
}

export type StepMark = 'done' | 'now' | 'next'

export const markOf = (step: UpdateStep, now: UpdateStep): StepMark => {
  const by = updateSteps.indexOf(step) - updateSteps.indexOf(now)
  return by < 0 ? 'done' : by === 0 ? 'now' : 'next'
}
