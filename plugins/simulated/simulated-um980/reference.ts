/** The position that a UM980 announces as a base. */
import { distance } from 'rtk-base/gnss'
import { EcefShape } from 'rtk-base/schemas'
import type { Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { enteredPosition, type Mode } from './mode.js'

/** Plain data: a reload continues a survey. */
export const ReferenceState = Type.Object({
  survey: Type.Object({ seconds: Type.Number(), sum: EcefShape }),
  reference: Type.Optional(EcefShape),
  /** The receiver sends no RTCM: the entered position is elsewhere. */
  refused: Type.Boolean(),
  /** The result of the last survey, which outlives a restart without SAVECONFIG. */
  surveyed: Type.Optional(EcefShape),
})
export type ReferenceState = Static<typeof ReferenceState>

/** Nothing is known but the result of the last survey. */
export function noReference(surveyed: Ecef | undefined): ReferenceState {
  return { survey: { seconds: 0, sum: { x: 0, y: 0, z: 0 } }, reference: undefined, refused: false, surveyed }
}

/** An entered position that is further away than this is not believed. */
const tooFar_m = 300

/** @param position its own @param undulation_m what an entered height is above */
export function stepReference(state: ReferenceState, mode: Mode, position: Ecef, dt_s: number, undulation_m: number) {
  const entered = enteredPosition(mode, undulation_m)
  if (entered) {
    state.refused = distance(entered, position) > tooFar_m
    state.reference = state.refused ? undefined : entered
  }
  if (mode.kind !== 'survey' || state.reference) return
  const { survey } = state
  survey.seconds += dt_s
  for (const axis of ['x', 'y', 'z'] as const) survey.sum[axis] += position[axis] * dt_s
  if (survey.seconds < mode.seconds) return
  const { x, y, z } = survey.sum
  const mean = { x: x / survey.seconds, y: y / survey.seconds, z: z / survey.seconds }
  const isNear = state.surveyed !== undefined && distance(state.surveyed, mean) <= mode.reuse_m
  // The dangerous quirk: the old position is announced again, and nothing says so.
  if (!isNear) state.surveyed = mean
  state.reference = state.surveyed
}
