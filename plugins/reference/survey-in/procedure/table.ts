/**
 * The GNSS procedure as one table: states × events → next state and actions. The README prints it, a test keeps the two
 * equal, `procedure.ts` interprets it and knows nothing else.
 */

import type { ProcedureWish } from 'rtk-base/services'

/** For each state, its `gnss.state.status` and what it waits for. */
export const states = {
  offline: { status: 'offline', waits: 'for the receiver port' },
  stalled: { status: 'stalled', waits: 'for data from the receiver' },
  identify: { status: 'identify', waits: 'for the identity and configuration of the receiver' },
  configure: { status: 'configure', waits: 'for the receiver to switch to rover mode' },
  acquire: { status: 'acquire', waits: 'for a 3D fix' },
  initial: { status: 'initial', waits: 'for a position accurate enough to compare' },
  survey: { status: 'survey', waits: 'for the survey-in to reach its accuracy' },
  idle: { status: 'initial', waits: 'for an operator: there is no reference, and the survey-in failed' },
  base: { status: 'configure', waits: 'for the receiver to accept the reference position' },
  accept: { status: 'acquire', waits: 'for a 1005 with exactly the reference position' },
  verify: { status: 'acquire', waits: 'for 15 s of evidence that the trusted base kept running without a break' },
  fixed: { status: 'fixed', waits: 'for nothing: RTCM is sent' },
  moved: { status: 'moved', waits: 'for an operator, or for 10 min of agreement' },
  fault: { status: 'fault', waits: 'a minute, then retries' },
} as const
export type State = keyof typeof states

/** People are informed of these otherwise; in all others the station is on its way. */
const settled: readonly State[] = ['survey', 'idle', 'fixed', 'moved']
export const isSettled = (state: State): boolean => settled.includes(state)
/** The antenna is where the reference is, as far as is known: a move from there is one from the reference. */
const placed: readonly State[] = ['base', 'accept', 'verify', 'fixed']
export const isPlaced = (state: State): boolean => placed.includes(state)
/** The base is expected to hold what was written. */
const confirmed: readonly State[] = ['accept', 'verify', 'fixed']
export const isConfirmed = (state: State): boolean => confirmed.includes(state)
/** Nothing can be done with the receiver. */
export const isAbsent = (state: State): boolean => state === 'offline' || state === 'stalled' || state === 'fault'

export type Event =
  | 'port gone'
  | 'receiver silent'
  | 'receiver heard'
  | 'identified'
  | 'still our base'
  | 'not our base'
  | 'configured'
  | 'not accepted'
  | '3D fix'
  | 'fix lost'
  | 'nothing to compare'
  | 'agrees'
  | 'survey elsewhere'
  | 'manual elsewhere'
  | 'survey usable'
  | 'survey over'
  | 'survey failed'
  | 'right 1005'
  | 'wrong 1005'
  | 'no 1005'
  | '1005 stopped'
  | 'observations stopped'
  | 'antenna unknown'
  | 'nothing changed'
  | 'cannot be verified'
  | 'move suspected'
  | 'agreed for 10 min'
  | 'receiver restarted'
  | 'output changed'
  | 'constellations changed'
  | 'reference changed'
  | 'survey asked for'
  | 'position confirmed'
  | 'try again'

/** The events that a person causes, and what is done then. */
export const wishes: Readonly<Partial<Record<Event, ProcedureWish>>> = {
  'survey asked for': 'survey',
  'position confirmed': 'confirmed',
  'reference changed': 'reference',
}

export type Action =
  /** The gate closes. */
  | 'hold'
  /** The gate opens for the reference. */
  | 'trust'
  /** The mode that the receiver holds is read. */
  | 'read mode'
  | 'set rover'
  | 'set base'
  /** Verifies the base's configuration while it is in use, or is about to be. */
  | 'confirm base'
  | 'gather positions'
  /** A new survey-in, or an interrupted one. */
  | 'survey'
  | 'report move'
  | 'report fault'

/** `same`: the state stays. */
type Line = readonly [from: State | readonly State[] | 'any', on: Event, to: State | 'same', actions: readonly Action[]]

const away = ['offline', 'stalled', 'identify'] as const
const toRover = ['hold', 'set rover'] as const
const toBase = ['hold', 'set base'] as const

/** A row for a state takes precedence over one for `any`. An event without a row changes nothing. */
const lines: readonly Line[] = [
  ['any', 'port gone', 'offline', ['hold']],
  ['any', 'receiver silent', 'stalled', ['hold']],
  [['offline', 'stalled'], 'receiver heard', 'identify', []],
  [['identify', 'fault'], 'receiver restarted', 'same', []],
  ['moved', 'receiver restarted', 'moved', ['set rover']],
  ['any', 'receiver restarted', 'identify', ['hold']],

  ['identify', 'identified', 'identify', ['read mode']],
  ['identify', 'still our base', 'verify', ['hold', 'confirm base']],
  ['identify', 'not our base', 'configure', toRover],
  ['configure', 'configured', 'acquire', []],
  ['acquire', '3D fix', 'initial', ['gather positions']],
  ['initial', 'fix lost', 'acquire', []],
  ['initial', 'nothing to compare', 'survey', ['survey']],
  ['initial', 'survey elsewhere', 'survey', ['report move', 'survey']],
  [['initial', 'survey'], 'agrees', 'base', ['set base']],
  [['initial', 'survey'], 'manual elsewhere', 'moved', ['report move']],

  [['survey', 'idle'], 'survey usable', 'base', ['set base']],
  ['survey', 'survey over', 'configure', ['set rover']],
  ['survey', 'survey failed', 'idle', ['hold']],
  ['survey', 'survey asked for', 'survey', ['survey']],
  [[...away, 'configure', 'acquire', 'initial'], 'survey asked for', 'same', []],
  ['any', 'survey asked for', 'configure', toRover],

  ['base', 'configured', 'accept', []],
  ['accept', 'right 1005', 'fixed', ['trust']],
  [['accept', 'fixed'], 'wrong 1005', 'base', toBase],
  ['accept', 'no 1005', 'base', toBase],
  ['fixed', '1005 stopped', 'accept', ['hold', 'confirm base']],
  [['accept', 'fixed'], 'observations stopped', 'configure', toRover],
  ['verify', 'nothing changed', 'fixed', ['trust']],
  ['verify', 'cannot be verified', 'configure', toRover],

  [['base', 'accept', 'fixed'], 'antenna unknown', 'configure', toRover],
  [['base', 'accept', 'verify', 'fixed'], 'move suspected', 'moved', ['hold', 'report move', 'set rover']],
  ['initial', 'move suspected', 'moved', ['report move']],
  ['moved', 'move suspected', 'moved', ['report move', 'set rover']],
  ['moved', 'agreed for 10 min', 'base', toBase],
  [['moved', 'survey'], 'position confirmed', 'base', toBase],

  [['configure', 'base'], 'not accepted', 'fault', ['report fault']],
  ['accept', 'not accepted', 'fault', ['hold', 'report fault']],
  ['verify', 'not accepted', 'configure', toRover],
  ['fixed', 'not accepted', 'base', toBase],
  ['moved', 'not accepted', 'moved', ['set rover']],
  ['fault', 'try again', 'identify', []],

  ['base', 'output changed', 'base', ['set base']],
  [['accept', 'fixed'], 'output changed', 'base', toBase],
  ['verify', 'output changed', 'configure', toRover],
  [away, 'constellations changed', 'same', []],
  [['idle', 'moved'], 'constellations changed', 'same', ['set rover']],
  ['any', 'constellations changed', 'configure', toRover],
  [away, 'reference changed', 'same', []],
  ['any', 'reference changed', 'configure', toRover],
]

export interface Row {
  readonly from: State | 'any'
  readonly on: Event
  readonly to: State
  readonly actions: readonly Action[]
}

const statesOf = (from: Line[0]): readonly (State | 'any')[] => (typeof from === 'string' ? [from] : from)

/** One row for each state and event. */
export const table: readonly Row[] = lines.flatMap(([names, on, to, actions]) =>
  statesOf(names).map((from) => ({ from, on, to: to === 'same' ? (from as State) : to, actions })),
)

const rows = new Map(table.map((row) => [`${row.from} ${row.on}`, row]))

/** The row that an event finds in a state; undefined when nothing happens. */
export function rowOf(state: State, event: Event): Row | undefined {
  return rows.get(`${state} ${event}`) ?? rows.get(`any ${event}`)
}

/** The tables of the README. */
export function printed(): string {
  const line = (...cells: string[]) => `| ${cells.join(' | ')} |`
  const cell = (name: State | 'any' | 'same') => (name === 'any' || name === 'same' ? name : `\`${name}\``)
  return [
    line('state', 'shown as', 'waits'),
    line('---', '---', '---'),
    ...Object.entries(states).map(([name, { status, waits }]) => line(`\`${name}\``, `\`${status}\``, waits)),
    '',
    line('state', 'event', 'next state', 'actions'),
    line('---', '---', '---', '---'),
    ...lines.map(([from, on, to, actions]) =>
      line(statesOf(from).map(cell).join(', '), on, cell(to), actions.join(', ') || 'none'),
    ),
  ].join('\n')
}
