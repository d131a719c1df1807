/** The probable cause of a contradicted position, from all that the fleet knows of the station. Pure. */
import { causesOf, type NetCause, type NetJudgement, type RangedBase, type Steps } from 'rtk-base/baseline'
import { decimalYear, frameNamed } from 'rtk-base/gnss'
import type { Ecef, Enu, FleetJudgement } from 'rtk-base/services'
import type { StoredVector } from '../store/store.js'
import type { Reference } from './reference.js'
import { noCause } from './step.js'

export type Cause = FleetJudgement['cause']

export interface CauseFacts {
  readonly serial: string
  readonly arp: Ecef
  readonly judgement: Pick<NetJudgement, 'offset' | 'sigma'>
  /** The result of `rangedOf`. */
  readonly ranged: ReadonlyMap<string, RangedBase>
  /** Serial numbers of the contradicted stations. */
  readonly wrong: ReadonlySet<string>
  readonly reference: Reference
  readonly now_ms: number
}

/** A movement causes an offset if it explains this part of it. */
const leastPart = 0.5
const size = ({ east, north, up }: Enu) => Math.hypot(east, north, up)

/** The positions by their ranges of the stations, each of its newest vector. @param vectors the oldest first */
export function* rangedOf(vectors: readonly StoredVector[]): Steps<Map<string, RangedBase>> {
  const ranged = new Map<string, RangedBase>()
  for (const { one, other, oneArp, otherArp, oneRanges, otherRanges } of vectors) {
    yield
    ranged.set(one, { id: one, arp: oneArp, byRanges: oneRanges })
    ranged.set(other, { id: other, arp: otherArp, byRanges: otherRanges })
  }
  return ranged
}

/** The most certain cause, without the history of the station. */
export function probableCause({ serial, arp, judgement, ranged, wrong, reference, now_ms }: CauseFacts): Cause {
  const { offset, sigma } = judgement
  const { plate, epoch, accuracy_m, antenna } = reference
  const frame = frameNamed(reference.frame)
  const [cause = noCause] = causesOf({
    ...{ id: serial, arp, byRanges: ranged.get(serial)?.byRanges, offset, sigma, accuracy_m },
    now: decimalYear(now_ms),
    others: [...wrong].flatMap((id) => (id === serial ? [] : (ranged.get(id) ?? []))),
    datum: { ...(frame && { frame }), ...(frame && epoch > 0 && { epoch }), ...(plate && { plate }) },
    ...(antenna.height_m > 0 && { antennaHeight_m: antenna.height_m }),
  })
  return cause
}

/** Whether the history of the station may tell more than this cause. */
export const mayHaveMoved = ({ kind }: Cause): boolean => kind === 'unexplained' || kind === 'survey'

/** @param offset true minus announced position @param movement of `movementOf` */
export function withMovement(cause: Cause, offset: Enu, movement: NetCause | undefined): Cause {
  if (!movement || !mayHaveMoved(cause)) return cause
  const metres = (axis: keyof Enu) => Number(movement.values[`${axis}_mm`] ?? 0) / 1_000
  const along_m2 = offset.east * metres('east') + offset.north * metres('north') + offset.up * metres('up')
  return along_m2 >= leastPart * size(offset) ** 2 ? movement : cause
}
