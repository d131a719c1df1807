/** Provided by neighbours: whether neighbouring bases confirm the announced position. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { ErrorValues } from './device.js'

/** The result of the comparison. `unknown`: there is too little evidence, or one neighbour alone contradicts. */
export const neighbourStates = ['agrees', 'contradicts', 'unknown'] as const
export type NeighbourState = (typeof neighbourStates)[number]

/** `none`: nothing is wrong. `notes`: the contradiction is only reported. `degrades`: the base is not fit. `holds`: no RTCM is sent. */
export const neighbourEffects = ['none', 'notes', 'degrades', 'holds'] as const
export type NeighbourEffect = (typeof neighbourEffects)[number]

export interface NeighbourCheck {
  readonly state: NeighbourState
  /** Effect of the contradiction on the station; `none` in the other states. */
  readonly effect: NeighbourEffect
  /** The result for people. */
  readonly text: string
  /** The remedy; '' if nothing is wrong. */
  readonly advice: string
  /** Kind of contradiction, for translations: `height`, `frame`, `swapped`, `far`, `survey` or `unexplained`; '' in the other states. */
  readonly cause: string
  /**
   * The values of the contradiction: `size_m`, and by how much the true position is farther east, north and up:
   * `east_m`, `north_m`, `up_m`.
   */
  readonly values: ErrorValues
  /** One of the members changed. */
  readonly onChange: Event<void>
}
export const neighbourCheck = defineService<NeighbourCheck>('neighbour-check', {
  shape: {
    ...{ state: 'value', effect: 'value', text: 'value', advice: 'value', cause: 'value', values: 'value' },
    onChange: 'function',
  },
})
