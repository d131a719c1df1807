/** The life of an alert, so that what flaps gives one notice. */

export type AlertState =
  /** Reported by its source, for too short a time for a notice. */
  | 'pending'
  /** The alert ended before it had held long enough. */
  | 'lapsed'
  /** The alert holds, and a notice tells of it. */
  | 'active'
  /** The source does not report the alert any more, for too short a time for the all-clear. */
  | 'ending'

export type AlertEvent =
  /** The source reports it. */
  | 'reported'
  /** The source does not report it. */
  | 'missing'
  /** The state has lasted for `hold_s`. */
  | 'held'
  /** The alert came and went so often that this alone is worth a notice. */
  | 'flapped'

export type Next = {
  readonly state: AlertState | 'over'
  /** A notice. */
  readonly tells?: 'begin' | 'end'
  /** The alert came back: one more time that it comes and goes. */
  readonly counts?: true
}

/** States, events and next states; an event without an entry changes nothing. */
export const alertStates: Readonly<Record<AlertState, Partial<Record<AlertEvent, Next>>>> = {
  pending: {
    missing: { state: 'lapsed' },
    held: { state: 'active', tells: 'begin' },
    flapped: { state: 'active', tells: 'begin' },
  },
  lapsed: { reported: { state: 'pending', counts: true }, held: { state: 'over' } },
  active: { missing: { state: 'ending' } },
  ending: { reported: { state: 'active', counts: true }, held: { state: 'over', tells: 'end' } },
}
