/** Explains one minute of the record in sentences: the headline, then the chain of causes, nearest first. Pure. */

import type { RecordValue } from 'rtk-base/schemas'
import { iso } from 'rtk-base/time'
import {
  isAntennaBad,
  isClosed,
  isJammed,
  isPluginFaulty,
  isPluginWaiting,
  isReceiverAway,
  isSpoofed,
  isWaiting,
} from './cause.js'
import { type Found, minute_ms } from './found.js'

/** A minute that is not over yet has no count. */
const present_ms = 90_000

/** Cause of waiting in each state of the procedure. */
const waits: Readonly<Record<string, string>> = {
  offline: 'the port of the receiver could not be opened',
  stalled: 'the receiver was silent',
  identify: 'the receiver was asked who it is',
  configure: 'the receiver was being configured',
  acquire: 'it waited for a 3D fix, or for the base to be confirmed',
  initial: 'it waited for a position that is good enough to be compared with the reference',
  survey: 'a survey-in ran: the reference was not known yet',
  fixed: 'the reference was in use',
  moved: 'the antenna was not at its reference position, and an operator had to decide',
  fault: 'the receiver did not do what it was told; everything was tried again every minute',
}

const text = (value: unknown) => (value === undefined ? '' : String(value))
const capital = (sentence: string) => sentence.charAt(0).toUpperCase() + sentence.slice(1)
/** Reasons are written with and without a full stop. */
const ended = (sentence: string) => `${capital(sentence.trim().replace(/[.;:,\s]+$/, ''))}.`

/** @param now_ms when it is asked */
export function answer(found: Found, now_ms: number): string[] {
  const when = iso(found.at_ms).replace(/:00Z$/, 'Z')
  if (found.first_ms === undefined) return ['The record is empty: it began just now, or it could not be written.']
  if (found.at_ms + minute_ms <= found.first_ms)
    return [`Nothing is known of ${when}: the record begins at ${iso(found.first_ms)}.`]
  const isPresent = found.last_ms !== undefined && found.last_ms < found.at_ms && now_ms - found.last_ms < present_ms
  const sentences = isAway(found) && !isPresent ? away(found, when) : ran(found, when, now_ms)
  const { clock_ms, lost } = found
  if (Math.abs(clock_ms) >= minute_ms)
    sentences.push(
      `The clock of the station was set by ${Math.round(clock_ms / 1000)} s after that: the time asked for is that of the corrected clock.`,
    )
  if (lost > 0)
    sentences.push(`${lost} lines of the record could not be written then: the disk was full or took no writes.`)
  return sentences
}

/** Nothing was written in that minute. */
const isAway = ({ signs, minute }: Found) => signs === 0 && minute === undefined

function away({ before, nextRun, at_ms, last_ms = 0 }: Found, when: string): string[] {
  const begin = before ? ` from ${iso(before.t)}` : ''
  if (nextRun && nextRun.t < at_ms + minute_ms)
    return [`No RTCM went out at ${when}: the service started at ${iso(nextRun.t)}.`, endOf(nextRun)]
  if (nextRun)
    return [
      `No RTCM went out at ${when}: the service did not run${begin}; it started again at ${iso(nextRun.t)}.`,
      endOf(nextRun),
    ]
  if (last_ms < at_ms)
    return [
      before?.stopped
        ? `No RTCM went out at ${when}: the service was stopped at ${iso(before.t)} (${before.stopped}).`
        : `The record ends at ${iso(last_ms)}: the service did not run at ${when}, or nothing could be written.`,
    ]
  return [`Nothing was recorded at ${when}: the plugin record did not run, or the disk took no writes.`]
}

const endOf = ({ how, text, at_ms }: NonNullable<Found['nextRun']>) =>
  how === 'first'
    ? 'There was no earlier run.'
    : ended(`the run before ended${at_ms > 0 ? ` at ${iso(at_ms)}` : ''}: ${text}`)

function ran(found: Found, when: string, now_ms: number): string[] {
  const { minute } = found
  const outputs = outputsOf(found)
  if (minute === undefined) {
    const age_ms = now_ms - found.at_ms
    const isDue = age_ms < present_ms ? 'its count is not written yet' : 'its count is missing'
    const why = age_ms < minute_ms ? 'the minute is not over yet' : isDue
    const isOpen = found.end.gate?.open === true
    // It may be open again: what closed it is asked for all the same.
    const wasClosed = badOf(found, 'gate', 'reason', isClosed) !== undefined
    const gate = !isOpen ? 'closed at' : wasClosed ? 'closed for a part of' : 'open at'
    const head = `The gate was ${gate} ${when} (${why}).`
    return [head, ...restarted(found), ...(isOpen && !wasClosed ? [] : causesOf(found)), ...outputs]
  }
  const { epochs, gap, interrupted, rovers } = minute
  const ways = linksOf(found)
  const isUp = ways.filter(({ state }) => state.includes('up')).length
  const wanted = ways.filter(({ state }) => !(state.length === 1 && state[0] === 'idle')).length
  const clients = `${count(rovers, 'rover')} and ${isUp} of ${count(wanted, 'link')}`
  if (epochs === 0 && interrupted !== false)
    return [`No RTCM went out at ${when}.`, ...restarted(found), ...causesOf(found), ...outputs]
  if (interrupted)
    return [
      `RTCM went out at ${when} with an interruption of ${Math.round(gap)} s: ${count(epochs, 'epoch')}, to ${clients}.`,
      ...restarted(found),
      ...causesOf(found),
      ...outputs,
    ]
  if (rovers === 0 && wanted > 0 && isUp === 0)
    return [
      `RTCM was made at ${when} (${count(epochs, 'epoch')}), but no client got it: no link was up.`,
      ...networkOf(found),
      ...outputs,
    ]
  const head = `RTCM went out at ${when}: ${count(epochs, 'epoch')} to ${clients}; the longest gap had ${gap} s.`
  return [head, ...(isUp < wanted ? networkOf(found) : []), ...outputs]
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`

/** The values that a thing had in the minute, the oldest first. */
function valuesOf({ begin, during }: Found, key: string): RecordValue[] {
  const first = begin[key]
  return [first, ...(during.get(key) ?? []).map(({ value }) => value)].filter((value) => value !== undefined)
}

interface Bad {
  /** The first that lasted longest in the minute, all of its kind counted together. */
  readonly value: RecordValue
  /** All kinds in the order in which they came. */
  readonly kinds: readonly { readonly value: RecordValue; readonly ms: number }[]
}

/** Bad values of a key in the minute. @param field distinguishes kinds, ignoring numbers */
function badOf(found: Found, key: string, field: string, isBad: (value: RecordValue) => boolean): Bad | undefined {
  const { begin, during, at_ms } = found
  const changes = [{ t: at_ms, value: begin[key] }, ...(during.get(key) ?? [])]
  const kinds = new Map<string, { value: RecordValue; ms: number }>()
  for (const [index, { t, value }] of changes.entries()) {
    if (value === undefined || !isBad(value)) continue
    const ms = (changes[index + 1]?.t ?? at_ms + minute_ms) - t
    const name = kindOf(value, field)
    const kind = kinds.get(name)
    if (kind) kind.ms += ms
    else kinds.set(name, { value, ms })
  }
  const all = [...kinds.values()]
  const longest = Math.max(...all.map(({ ms }) => ms))
  const value = all.find(({ ms }) => ms === longest)?.value
  return value && { value, kinds: all }
}

const kindOf = (value: RecordValue, field: string) => text(value[field]).replace(/\d+/g, '0')

const from = ({ since, at_ms }: Found, value: RecordValue | undefined) => {
  const t = value && since.get(value)
  if (t === undefined) return ' from before the record begins'
  return t < at_ms ? ` from ${iso(t)}` : ` at ${iso(t)}`
}

function restarted({ nextRun, at_ms }: Found): string[] {
  if (!nextRun || nextRun.t >= at_ms + minute_ms) return []
  return [`The service started at ${iso(nextRun.t)}.`, endOf(nextRun)]
}

/**
 * Why none was sent: gate, procedure, receiver, antenna, interference, then recent actions. For each, the value that lasted longest in
 * the minute, and the first one.
 */
function causesOf(found: Found): string[] {
  const sentences: string[] = []
  const say = (sentence: string) => void sentences.push(ended(sentence))
  const the = (key: string, field: string, isBad: (value: RecordValue) => boolean) =>
    badOf(found, key, field, isBad)?.value

  const gate = the('gate', 'reason', isClosed)
  if (gate) say(`the gate was closed${from(found, gate)}: ${reasonsOf(found, gate)}`)
  const procedure = badOf(found, 'procedure', 'status', isWaiting)
  if (procedure) {
    const status = text(procedure.value.status)
    const waited = waits[status] ?? 'see the plugin that runs it'
    say(`the procedure was at ${status}${from(found, procedure.value)}: ${waited}${othersOf(procedure)}`)
  }
  const source = the('receiver', 'link', isReceiverAway)
  if (source) {
    const what = source.link === 'offline' ? 'was not there (no port, or nothing on it)' : 'was silent'
    say(`the receiver ${what}${from(found, source)}`)
  }
  const antenna = the('antenna', 'status', isAntennaBad)
  if (antenna) {
    const what = antenna.status === 'open' ? 'open (not connected)' : 'short-circuited'
    say(`the antenna was ${what}${from(found, antenna)}`)
  }
  const jammed = the('air', 'jammed', isJammed)
  if (jammed) say(`interference was too strong for the receiver${from(found, jammed)}`)
  const spoofed = the('air', 'spoofed', isSpoofed)
  if (spoofed) say(`the receiver reported spoofing${from(found, spoofed)}`)
  const { minute } = found
  const isHeard = !source && valuesOf(found, 'receiver').length > 0
  if (minute && isHeard && minute.fix === 'none')
    say(`the receiver had no position: ${count(minute.visible, 'satellite')} received, ${minute.used} used`)
  const corrections = the('corrections', 'come', ({ wanted, come }) => wanted === true && come !== true)
  if (corrections && procedure?.value.status === 'survey') say('corrections were wanted, and none came')
  for (const sentence of pluginsOf(found)) say(sentence)
  if (sentences.length === 0 && isHeard) say('the gate was open and the receiver answered, but it sent no observations')
  if (sentences.length === 0) say('the record has no reason')
  return [...sentences, ...errorsOf(found), ...notesOf(found)]
}

/** Plugins that failed, each; those that waited for them in one sentence. */
function pluginsOf(found: Found): string[] {
  const faulty = keysOf(found, 'plugin ').flatMap((key) => {
    const value = badOf(found, key, 'state', isPluginFaulty)?.value
    return value ? [{ name: key.slice(7), value }] : []
  })
  const waiting = faulty.filter(({ value }) => isPluginWaiting(value))
  const [first] = waiting
  const names = waiting.map(({ name }) => name).join(', ')
  return [
    ...faulty
      .filter(({ value }) => !isPluginWaiting(value))
      .map(({ name, value }) => `the plugin ${name} was ${text(value.state)}: ${text(value.reason)}`),
    ...(first
      ? [
          `the plugin${waiting.length > 1 ? 's' : ''} ${names} ${waiting.length > 1 ? 'were' : 'was'} waiting: ${text(first.value.reason)}`,
        ]
      : []),
  ]
}

/** Why it was closed at first, and for most of the minute. */
function reasonsOf({ origin }: Found, gate: RecordValue): string {
  const first = origin.get(gate) ?? gate
  const isSame = kindOf(first, 'reason') === kindOf(gate, 'reason')
  return isSame
    ? text(gate.reason)
    : `${text(first.reason).replace(/[.;:,\s]+$/, '')}; after that: ${text(gate.reason)}`
}

/** The other states of the minute; those shorter than a second are not relevant. */
function othersOf({ value, kinds }: Bad): string {
  const others = kinds.filter((kind) => kind.value !== value && kind.ms >= 1_000)
  if (others.length === 0) return ''
  return `; in the same minute: ${others.map(({ value, ms }) => `${text(value.status)} (${Math.round(ms / 1000)} s)`).join(', ')}`
}

/** Every key with this beginning that there was in the minute. */
const keysOf = ({ begin, during }: Found, beginning: string): string[] =>
  [...new Set([...Object.keys(begin), ...during.keys()])].filter((key) => key.startsWith(beginning))

/** Errors reported by the station. Its summary repeats the above. */
function errorsOf(found: Found): string[] {
  return keysOf(found, 'error ')
    .filter((key) => key !== 'error base-degraded')
    .slice(0, 8)
    .map((key) => ended(`error ${key.slice(6)}: ${text(valuesOf(found, key).at(-1)?.text)}`))
}

const doings: Readonly<Record<string, string>> = {
  change: 'settings were changed',
  command: 'a command came',
  reload: 'a plugin was reloaded',
  recovery: 'recovery',
  flapping: 'unsteady',
}

function notesOf({ notes }: Found): string[] {
  return notes.slice(-6).map(({ t, what, text: words }) => ended(`${iso(t)} ${doings[what] ?? what}: ${words}`))
}

interface Way {
  readonly name: string
  /** The states that it had in the minute. */
  readonly state: readonly string[]
}

function linksOf(found: Found): Way[] {
  return keysOf(found, 'link ').map((key) => ({
    name: key.slice(5),
    state: [...new Set(valuesOf(found, key).map(({ state }) => text(state)))],
  }))
}

/** Every link that was not up all the time. */
function outputsOf(found: Found): string[] {
  return linksOf(found).flatMap(({ name, state }) => {
    const isBad = (value: RecordValue) => value.state === 'down' || value.state === 'refused'
    const bad = badOf(found, `link ${name}`, 'reason', isBad)?.value
    if (!bad) return []
    const how = bad.state === 'refused' ? 'was refused' : 'was down'
    const again = state.includes('up') ? ' for a part of the minute' : ''
    return [ended(`${name} ${how}${again}${from(found, bad)}: ${text(bad.reason)}`)]
  })
}

/** The station's network: uplinks, modem, recovery steps. */
function networkOf(found: Found): string[] {
  const keys = keysOf(found, 'uplink ')
  const values = keys.map((key) => [key, valuesOf(found, key).at(-1)] as const)
  const isAnyUp = values.some(([, value]) => value?.up === true)
  const sentences = values.flatMap(([key, value]) => {
    const name = key.slice(7)
    if (value?.up !== true)
      return isAnyUp ? [] : [ended(`the uplink ${name} was down${from(found, value)}: ${text(value?.text)}`)]
    if (value.default === true && value.reach !== 'internet' && value.reach !== 'unknown')
      return [
        ended(
          `the uplink ${name} had the default route, and reached ${value.reach === 'portal' ? 'a login page instead of the internet' : 'nothing beyond the local network'}`,
        ),
      ]
    return []
  })
  if (keys.length > 0 && !isAnyUp) sentences.unshift('No uplink was up.')
  const modem = valuesOf(found, 'modem').find(({ connected }) => connected === false)
  if (modem)
    sentences.push(
      ended(`the modem had no data connection${from(found, modem)}${modem.pending ? ` (${text(modem.pending)})` : ''}`),
    )
  return [...sentences, ...notesOf({ ...found, notes: found.notes.filter(({ what }) => what === 'recovery') })]
}
