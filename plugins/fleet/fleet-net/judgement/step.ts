/** From a judgement to what is stored of a base. Pure. */
import { isConfirmed, type NetJudgement } from 'rtk-base/baseline'
import type { Ecef, FleetJudgement } from 'rtk-base/services'

/** Judgement of a base as it is stored. */
export interface StoredBase extends FleetJudgement {
  /** Neighbours whose vectors were used or left out. */
  readonly neighbours: readonly string[]
  /** Announced position that was judged, ECEF metres. */
  readonly arp: Ecef
  /** Time of the newest vector with which it was first contradicted, UTC seconds; undefined: it is not. */
  readonly doubted_s: number | undefined
}

export const noCause = { kind: '', values: {}, text: '' } as const
const nowhere = { east: 0, north: 0, up: 0 } as const
const finite = (value: number) => (Number.isFinite(value) ? value : 0)

export interface Evidence {
  readonly serial: string
  readonly arp: Ecef
  readonly now_s: number
  /** The time of the newest vector of this base, UTC seconds. */
  readonly newest_s: number
  /** Begin of the middle one of its windows, UTC seconds; 0: it has none. */
  readonly window_s: number
  /** The newest fixed vector of each neighbour that opposes the announced position, UTC seconds. */
  readonly opposing_s: readonly number[]
  /** Length of a window. */
  readonly length_s: number
  readonly neighbours: readonly string[]
  readonly cause: FleetJudgement['cause']
}

/**
 * A position is contradicted when it still is by newer windows of at least two opposing neighbours. Until then it is `unknown`, with the
 * reason `pending`: contradicted once is no agreement. Every other state counts at once.
 * @param before of the same announced position; undefined: none
 */
export function stepped(before: StoredBase | undefined, found: NetJudgement, evidence: Evidence): StoredBase {
  const { serial, arp, now_s, newest_s, window_s, opposing_s, length_s, neighbours, cause } = evidence
  // The clock may have been set back since the doubt.
  const doubted_s = Math.min(before?.doubted_s ?? newest_s, newest_s)
  const isNew = found.state === 'contradicts' && before?.state !== 'contradicts'
  const isPending = isNew && !isConfirmed({ since: doubted_s, window: length_s }, opposing_s)
  const state = isPending ? 'unknown' : found.state
  const { sigma } = found
  return {
    ...{ serial, arp, neighbours, state, window_s, vectors: found.vectors },
    reason: isPending ? 'pending' : found.reason,
    offset: found.state === 'unknown' ? nowhere : found.offset,
    sigma: { east: finite(sigma.east), north: finite(sigma.north), up: finite(sigma.up) },
    since_s: state === before?.state ? before.since_s : now_s,
    cause: state === 'contradicts' ? cause : noCause,
    doubted_s: found.state === 'contradicts' ? doubted_s : undefined,
  }
}

/** No vector of the last hours: nothing is known any more. */
export const unjudged: NetJudgement = {
  ...{ state: 'unknown', reason: 'no-vectors', offset: nowhere, vectors: 0, leftOut: [] },
  sigma: { east: Infinity, north: Infinity, up: Infinity },
}
