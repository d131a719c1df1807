/**
 * Two verdicts of a station, from the broker's memory, a document or the database: which of them counts, and since
 * when. Pure.
 */
import type { FleetStation } from 'rtk-base/services'
import { type Facts, verdictOf } from './reading.js'

export type Verdict = Pick<FleetStation, 'verdict' | 'cause' | 'why'>

export const unheard: Omit<FleetStation, 'serial' | 'firstSeen_s' | 'seen_s'> = {
  ...{ name: '', group: '', labels: {}, online: 'unknown', onlineSince_s: 0 },
  ...{ verdict: 'unknown', cause: 'not-heard', why: '', verdictSince_s: 0, source: 'none' },
  ...{ arp: undefined, place: undefined, reference: '', version: '', variant: '' },
  ...{ rtcm: { signed: false, rate_s: 1 }, rovers: 0, uplink: '', certificateUntil_s: 0 },
  ...{ update: { state: '', failed: false }, errors: [], document_s: 0 },
}

export const verdictIn = ({ verdict = 'unknown', cause = '', why = '' }: Facts): Verdict => ({ verdict, cause, why })

/** Facts that the topic `state` carries. */
const ofState = ['verdict', 'cause', 'why', 'verdictSince_s', 'source', 'arp', 'place', 'reference', 'version']

/** Both come from the topic `state`, by a clock that is set, and the one is of an earlier time. */
export const isOlder = (one: Facts, other: Facts): boolean =>
  one.source === 'state' &&
  other.source === 'state' &&
  (one.verdictSince_s ?? 0) > 0 &&
  (one.verdictSince_s ?? 0) < (other.verdictSince_s ?? 0)

/** Facts heard of a station since the start, without those older than the stored ones: all that differ from a station never heard. */
export const heardIn = (station: FleetStation, stored: FleetStation): Partial<FleetStation> => {
  const skipped = isOlder(station, stored) && !isWorse(station, stored) ? ofState : []
  return Object.fromEntries(
    Object.entries(station).filter(
      ([name, value]) => value !== (unheard as Readonly<Record<string, unknown>>)[name] && !skipped.includes(name),
    ),
  )
}

const ranks = { fit: 0, degraded: 1, unfit: 2, unknown: 3 } as const
export const isWorse = ({ verdict = 'unknown' }: Facts, than: Pick<FleetStation, 'verdict'>): boolean =>
  ranks[verdict] > ranks[than.verdict]

/**
 * Whether a verdict can have begun when the station says: without a clock it does not know, and a wrong clock gives times of the future, or
 * before the verdict that it replaces.
 */
export const isPossible = (
  { verdict, cause, verdictSince_s = 0 }: Facts,
  before: FleetStation,
  now_s: number,
): boolean =>
  verdictSince_s > 0 &&
  verdictSince_s <= now_s + 5 &&
  ((verdict === before.verdict && cause === before.cause) ||
    before.source !== 'state' ||
    verdictSince_s >= before.verdictSince_s)

/** The station did not say why. */
export const isUnexplained = ({ why, cause }: FleetStation): boolean => why === '' && cause !== 'ok'

export const sinceOf = (station: FleetStation, { verdict, cause }: Facts, now_s: number): number =>
  station.verdict === verdict && station.cause === cause ? station.verdictSince_s : now_s

/** A document without a verdict is a sign of life all the same: then what the broker has kept is so. */
export function decided(document: Record<string, unknown>, kept: Verdict | undefined): Partial<Verdict> {
  const own = verdictOf(document)
  return own.verdict === 'unknown' && kept ? kept : own
}

/** The document explains the verdict that the station has now. */
export const isOwnVerdict = (document: Record<string, unknown>, { cause }: FleetStation): boolean =>
  verdictOf(document).cause === cause
