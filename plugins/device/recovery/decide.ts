/**
 * The next step of the recovery ladder if no link is up. Pure, from the states of links, uplinks and modem. The first steps
 * (reconnect, resolve, address family) are the links' own (`rtk-base/link`).
 */
import type { Link, Uplink } from 'rtk-base/services'

export interface Limits {
  /** Without a link for so long before each step. */
  readonly wait_ms: number
  readonly mayRestartModem: boolean
  /** In 24 h. */
  readonly mostRestarts: number
}

export interface Facts {
  readonly now_ms: number
  readonly links: readonly Link[]
  /** Whether a link was up once, in this run or an earlier one. */
  isProven(link: Link): boolean
  /** Undefined where no plugin knows them. */
  readonly uplinks: readonly Uplink[] | undefined
  /** Undefined without a modem. */
  readonly modem: { readonly connected: boolean | undefined; readonly pending: readonly string[] } | undefined
  /** An update of the station is under way. */
  readonly updating: boolean
  /** Restarts of the modem in the last 24 h. */
  readonly restarts: number
  readonly limits: Limits
}

/** State between two evaluations. Times are monotonic. */
export interface State {
  /** Start of the outage; undefined: a link is up. */
  readonly outage_ms: number | undefined
  /** Since when a link is up again, while the outage is not over yet. */
  readonly better_ms: number | undefined
  /** When the last step of this outage was taken: the wait for the next one begins there. */
  readonly lastStep_ms: number | undefined
  /** Uplinks that had the default route in this round of the outage. */
  readonly tried: readonly string[]
  /** Why the last round ended without a step; '' it took one. */
  readonly note: string
  /** Rounds through all steps that brought nothing: each doubles the waits of the next. */
  readonly rounds: number
  /** The uplink that was given the default route. */
  readonly steered: string | undefined
  /** When the return to the usual uplink is due, and the delay used. */
  readonly back: { readonly at_ms: number; readonly wait_ms: number } | undefined
}

export const calm: State = {
  outage_ms: undefined,
  better_ms: undefined,
  lastStep_ms: undefined,
  tried: [],
  note: '',
  rounds: 0,
  steered: undefined,
  back: undefined,
}

export type Step =
  | { readonly step: 'uplink'; readonly to: string; readonly why: string }
  | { readonly step: 'modem'; readonly why: string }
  | { readonly step: 'back'; readonly why: string }

export interface Decision {
  readonly state: State
  readonly step: Step | undefined
  /** The current wait as text; '' without an outage. */
  readonly text: string
}

/** A link that is up for less than this has proven nothing: some accept a connection and never carry anything. */
const steady_ms = 60_000
const longest_ms = 6 * 3_600_000
/** Return to the usual uplink: after this many waits, doubled after each failure. */
const backAfter = 3

const minutes = (ms: number) => `${Math.max(1, Math.round(ms / 60_000))} min`

/** Only links that were up once count: others may have a wrong name. An outage requires all of them down, and none refused. */
export function isCutOff(links: readonly Link[], isProven: Facts['isProven']): boolean {
  const outside = links.filter(({ local }) => !local)
  const counted = outside.filter((link) => link.state !== 'idle' && isProven(link))
  // A peer that refused was reached, proven or not.
  const reached = outside.some(({ state }) => state === 'up' || state === 'refused')
  return counted.length > 0 && !reached
}

export function decide(before: State, facts: Facts): Decision {
  const { now_ms, links } = facts
  const state = observed(before, now_ms, isCutOff(links, facts.isProven))
  if (state.outage_ms === undefined) return wayBack(state, facts)
  const lasts = `no link is up for ${minutes(now_ms - state.outage_ms)}`
  const internet = facts.uplinks?.find((one) => one.default && one.reach === 'internet')
  if (internet) {
    const text = `${lasts}, but the internet is reached through ${internet.name}: the peers are at fault`
    return { state, step: undefined, text }
  }
  const due_ms = dueOf(state, facts.limits)
  if (now_ms < due_ms) {
    const text = [lasts, state.note, `the next step follows in ${minutes(due_ms - now_ms)}`].filter(Boolean).join('; ')
    return { state, step: undefined, text }
  }
  return next(state, facts, lasts)
}

/** The outage begins, lasts or ends: only when a link has come through for a minute. */
function observed(before: State, now_ms: number, isCut: boolean): State {
  if (isCut) return { ...before, outage_ms: before.outage_ms ?? now_ms, better_ms: undefined }
  if (before.outage_ms === undefined) return before
  const better_ms = before.better_ms ?? now_ms
  if (now_ms - better_ms < steady_ms) return { ...before, better_ms }
  return { ...calm, steered: before.steered, back: before.back }
}

/** When the next step follows. */
export function dueOf({ outage_ms = 0, lastStep_ms, rounds }: State, { wait_ms }: Limits): number {
  return (lastStep_ms ?? outage_ms) + Math.min(longest_ms, wait_ms * 2 ** rounds)
}

function next(state: State, facts: Facts, lasts: string): Decision {
  const { now_ms, uplinks = [], limits } = facts
  if (state.better_ms !== undefined) return { state, step: undefined, text: `${lasts}; one does since a moment ago` }
  const present = uplinks.find((one) => one.default)
  const tried = present ? [...state.tried, present.name] : state.tried
  const other = uplinks.find(
    (one) => one.up && !one.default && !tried.includes(one.name) && one.reach !== 'none' && one.reach !== 'portal',
  )
  const stepped = { ...state, lastStep_ms: now_ms, tried }
  if (other) {
    // Counted from this change: a delay left by an earlier outage may have elapsed.
    const wait_ms = state.back?.wait_ms ?? backAfter * limits.wait_ms
    const why = `${lasts} through ${present?.name ?? 'any uplink'}`
    const to = { ...stepped, steered: other.name, back: { at_ms: now_ms + wait_ms, wait_ms } }
    return { state: to, step: { step: 'uplink', to: other.name, why }, text: `${lasts}: ${other.name} is tried` }
  }
  if (state.steered !== undefined) {
    const to = { ...stepped, steered: undefined, back: undefined }
    return {
      state: to,
      step: { step: 'back', why: `${lasts} through any uplink` },
      text: `${lasts}: the usual uplink is tried`,
    }
  }
  const against = againstRestart(facts)
  const round = { ...stepped, tried: [], rounds: state.rounds + 1, note: against.text }
  // Evaluated again at the next turn, not a round later: a scan takes minutes.
  if (against.soon) return { state, step: undefined, text: `${lasts}; the modem is not restarted: ${against.text}` }
  if (against.text !== '') return { state: round, step: undefined, text: `${lasts}; ${against.text}` }
  const why = `${lasts} and the modem is ${facts.modem?.connected === false ? 'not connected' : 'the only way out'}`
  return { state: round, step: { step: 'modem', why }, text: `${lasts}: the modem restarts` }
}

/** Why the modem is not restarted; '' nothing speaks against it. */
function againstRestart({ modem, uplinks, updating, limits, restarts }: Facts): { text: string; soon: boolean } {
  const never = (text: string) => ({ text, soon: false })
  if (modem === undefined) return never('the links retry automatically')
  const isWay = uplinks?.some((one) => one.kind === 'cellular' && (one.default || !uplinks.some(({ up }) => up)))
  if (uplinks !== undefined && !isWay) return never('the modem is not the way out, so it is not restarted')
  if (uplinks === undefined && modem.connected !== false) return never('the modem is connected, so it is not restarted')
  if (!limits.mayRestartModem) return never('the modem is not restarted: recovery-modem is 0')
  if (restarts >= limits.mostRestarts)
    return never(`the modem is not restarted: that was done ${restarts} times in 24 h (recovery-modem-max)`)
  if (updating) return { text: 'an update is under way', soon: true }
  if (modem.pending.length > 0) return { text: `it is busy (${modem.pending.join(', ')})`, soon: true }
  return never('')
}

/** No outage: the default route returns to the usual uplink once that reaches the internet, or is due for a try. */
function wayBack(state: State, { now_ms, uplinks = [], limits }: Facts): Decision {
  const { steered } = state
  if (steered === undefined) {
    // The usual uplink held for as long as the next way back would have taken: the next outage waits as the first one did.
    const hasHeld = state.back !== undefined && now_ms >= state.back.at_ms
    return { state: hasHeld ? { ...state, back: undefined } : state, step: undefined, text: '' }
  }
  const others = uplinks.filter((one) => one.name !== steered && one.up)
  const proven = others.find(({ reach }) => reach === 'internet')
  const back = state.back ?? { at_ms: now_ms + backAfter * limits.wait_ms, wait_ms: backAfter * limits.wait_ms }
  if (!proven && (now_ms < back.at_ms || others.length === 0))
    return { state: { ...state, back }, step: undefined, text: `the uplink ${steered} replaces the usual one` }
  const wait_ms = Math.min(longest_ms, back.wait_ms * 2)
  const why = proven ? `${proven.name} reaches the internet again` : `${steered} replaced the usual uplink long enough`
  // Should it fail, the next way back is tried later.
  const to = { ...state, steered: undefined, back: { at_ms: now_ms + wait_ms, wait_ms } }
  return { state: to, step: { step: 'back', why }, text: '' }
}
