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
  | 'not taken'
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

export type Row = readonly [from: State | 'any', on: Event, to: State, actions: readonly Action[]]

/** A row for a state takes precedence over one for `any`. An event without a row changes nothing. */
export const table: readonly Row[] = [
  ['any', 'port gone', 'offline', ['hold']],
  ['any', 'receiver silent', 'stalled', ['hold']],
  ['offline', 'receiver heard', 'identify', []],
  ['stalled', 'receiver heard', 'identify', []],

  ['identify', 'identified', 'identify', ['read mode']],
  ['identify', 'still our base', 'verify', ['hold', 'confirm base']],
  ['identify', 'not our base', 'configure', ['hold', 'set rover']],

  ['configure', 'configured', 'acquire', []],
  ['configure', 'not taken', 'fault', ['report fault']],
  ['acquire', '3D fix', 'initial', ['gather positions']],
  ['initial', 'fix lost', 'acquire', []],
  ['initial', 'nothing to compare', 'survey', ['survey']],
  ['initial', 'agrees', 'base', ['set base']],
  ['initial', 'survey elsewhere', 'survey', ['report move', 'survey']],
  ['initial', 'manual elsewhere', 'moved', ['report move']],
  ['initial', 'move suspected', 'moved', ['report move']],

  ['survey', 'survey usable', 'base', ['set base']],
  ['survey', 'agrees', 'base', ['set base']],
  ['survey', 'manual elsewhere', 'moved', ['report move']],
  ['survey', 'survey over', 'configure', ['set rover']],
  ['survey', 'survey failed', 'idle', ['hold']],
  ['survey', 'survey asked for', 'survey', ['survey']],
  ['survey', 'position confirmed', 'base', ['hold', 'set base']],
  ['idle', 'survey usable', 'base', ['set base']],

  ['base', 'configured', 'accept', []],
  ['base', 'not taken', 'fault', ['report fault']],
  ['base', 'antenna unknown', 'configure', ['hold', 'set rover']],
  ['base', 'move suspected', 'moved', ['hold', 'report move', 'set rover']],
  ['accept', 'right 1005', 'fixed', ['trust']],
  ['accept', 'wrong 1005', 'base', ['hold', 'set base']],
  ['accept', 'no 1005', 'base', ['hold', 'set base']],
  ['accept', 'not taken', 'fault', ['hold', 'report fault']],
  ['accept', 'observations stopped', 'configure', ['hold', 'set rover']],
  ['accept', 'antenna unknown', 'configure', ['hold', 'set rover']],
  ['accept', 'move suspected', 'moved', ['hold', 'report move', 'set rover']],

  ['verify', 'nothing changed', 'fixed', ['trust']],
  ['verify', 'cannot be verified', 'configure', ['hold', 'set rover']],
  ['verify', 'not taken', 'configure', ['hold', 'set rover']],
  ['verify', 'move suspected', 'moved', ['hold', 'report move', 'set rover']],

  ['fixed', 'wrong 1005', 'base', ['hold', 'set base']],
  ['fixed', '1005 stopped', 'accept', ['hold', 'confirm base']],
  ['fixed', 'observations stopped', 'configure', ['hold', 'set rover']],
  ['fixed', 'antenna unknown', 'configure', ['hold', 'set rover']],
  ['fixed', 'not taken', 'base', ['hold', 'set base']],
  ['fixed', 'move suspected', 'moved', ['hold', 'report move', 'set rover']],

  ['base', 'output changed', 'base', ['set base']],
  ['accept', 'output changed', 'base', ['hold', 'set base']],
  ['verify', 'output changed', 'configure', ['hold', 'set rover']],
  ['fixed', 'output changed', 'base', ['hold', 'set base']],

  ['offline', 'constellations changed', 'offline', []],
  ['stalled', 'constellations changed', 'stalled', []],
  ['identify', 'constellations changed', 'identify', []],
  ['idle', 'constellations changed', 'idle', ['set rover']],
  ['moved', 'constellations changed', 'moved', ['set rover']],
  ['any', 'constellations changed', 'configure', ['hold', 'set rover']],

  ['moved', 'agreed for 10 min', 'base', ['hold', 'set base']],
  ['moved', 'move suspected', 'moved', ['report move', 'set rover']],
  ['moved', 'position confirmed', 'base', ['hold', 'set base']],
  ['moved', 'receiver restarted', 'moved', ['set rover']],
  ['moved', 'not taken', 'moved', ['set rover']],

  ['fault', 'try again', 'identify', []],
  ['fault', 'receiver restarted', 'fault', []],

  ['identify', 'receiver restarted', 'identify', []],
  ['any', 'receiver restarted', 'identify', ['hold']],

  ['offline', 'reference changed', 'offline', []],
  ['stalled', 'reference changed', 'stalled', []],
  ['identify', 'reference changed', 'identify', []],
  ['any', 'reference changed', 'configure', ['hold', 'set rover']],
  ['offline', 'survey asked for', 'offline', []],
  ['stalled', 'survey asked for', 'stalled', []],
  ['identify', 'survey asked for', 'identify', []],
  ['configure', 'survey asked for', 'configure', []],
  ['acquire', 'survey asked for', 'acquire', []],
  ['initial', 'survey asked for', 'initial', []],
  ['any', 'survey asked for', 'configure', ['hold', 'set rover']],
]

const rows = new Map<string, Row>(table.map((row) => [`${row[0]} ${row[1]}`, row]))

/** The row that an event finds in a state; undefined when nothing happens. */
export function rowOf(state: State, event: Event): Row | undefined {
  return rows.get(`${state} ${event}`) ?? rows.get(`any ${event}`)
}

/** The tables of the README. */
export function printed(): string {
  const line = (...cells: string[]) => `| ${cells.join(' | ')} |`
  return [
    line('state', 'shown as', 'waits'),
    line('---', '---', '---'),
    ...Object.entries(states).map(([name, { status, waits }]) => line(`\`${name}\``, `\`${status}\``, waits)),
    '',
    line('state', 'event', 'next state', 'actions'),
    line('---', '---', '---', '---'),
    ...table.map(([from, on, to, actions]) =>
      line(from === 'any' ? 'any' : `\`${from}\``, on, `\`${to}\``, actions.join(', ') || 'none'),
    ),
  ].join('\n')
}
