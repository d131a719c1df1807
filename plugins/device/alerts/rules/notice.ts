/** The words of a notice. Pure. Names and texts come from outside: they are made harmless for every kind of channel. */
import type { AlertKind } from 'rtk-base/services'
import { type Batch, mostListed, type Overflow } from './batches.js'
import { clockTime, dayAndTime } from './quiet-hours.js'

export interface NoticeContent {
  readonly what: 'begin' | 'worse' | 'repeat' | 'end' | 'more' | 'test'
  /** The kind of the alerts; `''` for several kinds or none. */
  readonly kind: string
  readonly severity: 'warning' | 'critical'
  readonly group: string
  /** How many alerts (or notices, for `more`) it stands for. */
  readonly count: number
  /** One line. */
  readonly subject: string
  /** Several lines. */
  readonly text: string
  /** Names of the stations, with commas; the first ten. */
  readonly names: string
}

const longestName = 64
const longestText = 400

type Phrases = Readonly<Record<AlertKind, readonly [one: string, several: string]>>

/** Kind → what one station does, what several do. */
const kinds: Phrases = {
  offline: ['is offline', 'are offline'],
  unfit: ['sends no corrections', 'send no corrections'],
  moved: ['has moved', 'have moved'],
  position: ['announces a wrong position', 'announce wrong positions'],
  degraded: ['is degraded', 'are degraded'],
  broker: ['lost its broker', 'lost their broker'],
  database: ['lost its database', 'lost their database'],
  'update-failed': ['could not be updated', 'could not be updated'],
  certificate: ['needs a new certificate', 'need new certificates'],
  disk: ['has a full disk', 'have full disks'],
}

const ended: Phrases = {
  offline: ['is online again', 'are online again'],
  unfit: ['sends corrections again', 'send corrections again'],
  moved: ['is at its position again', 'are at their positions again'],
  position: ['announces the right position again', 'announce the right positions again'],
  degraded: ['is well again', 'are well again'],
  broker: ['has its broker again', 'have their broker again'],
  database: ['has its database again', 'have their database again'],
  'update-failed': ['has no failed update any more', 'have no failed update any more'],
  certificate: ['has a new certificate', 'have new certificates'],
  disk: ['has room on its disk again', 'have room on their disks again'],
}

/**
 * One line without characters that channels give a meaning: line breaks (headers of mails), tags (HTML, Slack) and mentions of
 * everybody. Similar characters take their place.
 */
export function harmless(text: string, longest = longestText): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('@', '＠')
    .trim()
  const letters = [...line]
  return letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : line
}

type Listed = Batch['listed'][number]

const nameOf = ({ name, serial }: Listed): string => {
  const shown = harmless(name, longestName)
  if (serial === '') return shown || 'the fleet'
  return shown === '' || shown === serial ? serial : `${shown} (${serial})`
}

function phrase({ what, kind, count }: Batch): string {
  const texts: Readonly<Record<string, readonly [one: string, several: string]>> = what === 'end' ? ended : kinds
  const several = count > 1
  const known = texts[kind]
  if (known) return several ? known[1] : known[0]
  return what === 'end' ? `${harmless(kind)}: all clear` : harmless(kind)
}

/** @param zone of the times, IANA name; `''`: that of the machine */
export function noticeOf(batch: Batch, zone: string): NoticeContent {
  const { what, kind, severity, count } = batch
  const listed = batch.listed.slice(0, mostListed)
  const group = harmless(batch.group, longestName)
  const first_s = Math.min(...listed.map(({ since_s }) => since_s || Number.POSITIVE_INFINITY))
  const since = what === 'begin' && Number.isFinite(first_s) ? ` since ${clockTime(first_s * 1_000, zone)}` : ''
  const still = what === 'repeat' ? 'still: ' : ''
  const [only] = listed
  const whom = count === 1 && only ? nameOf(only) : `${count} stations${group === '' ? '' : ` of group ${group}`}`
  const times = only && count === 1 && only.flaps > 0 && what === 'begin' ? ', comes and goes' : ''
  const subject = `${still}${whom} ${phrase(batch)}${since}${times}`
  return {
    ...{ what, kind, severity, group, count, subject: harmless(subject, 250) },
    text: textOf({ ...batch, listed }, zone),
    names: listed.map(nameOf).join(', '),
  }
}

function textOf({ what, count, listed }: Batch, zone: string): string {
  const rows = listed.flatMap((one) => {
    const since =
      one.since_s > 0 ? `${what === 'end' ? 'it began' : 'since'} ${dayAndTime(one.since_s * 1_000, zone)}` : ''
    const flaps = one.flaps > 0 ? `came back ${one.flaps} ${one.flaps === 1 ? 'time' : 'times'}` : ''
    const about = what === 'end' ? '' : harmless(one.text)
    const advice = what === 'end' ? '' : harmless(one.advice)
    const head = [nameOf(one), about].filter((part) => part !== '').join(': ')
    const notes = [since, flaps].filter((part) => part !== '').join(', ')
    return [`${head}${notes && ` (${notes})`}`, ...(advice === '' ? [] : [`  To do: ${advice}`])]
  })
  const rest = count - listed.length
  return [...rows, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n')
}

export function overflowNotice({ count, isCritical, subjects }: Overflow): NoticeContent {
  const rest = count - subjects.length
  return {
    ...{ what: 'more', kind: '', severity: isCritical ? 'critical' : 'warning', group: '', count, names: '' },
    subject: `and ${count} more ${count === 1 ? 'notice' : 'notices'}`,
    text: [...subjects, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n'),
  }
}

/** @param from name of the station or of the fleet */
export function testNotice(from: string): NoticeContent {
  const name = harmless(from, longestName)
  return {
    ...{ what: 'test', kind: 'test', severity: 'warning', group: '', count: 1, names: name },
    subject: `${name}: test of the alerts`,
    text: 'This is a test. Alerts arrive here.',
  }
}
