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

/** Stated standard deviations within which an offset is within the accuracy of the survey. */
const withinSigmas = 3
/** A better accuracy than this promises a position that agrees with the neighbours, metres. */
const coarse_m = 0.03
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
  const [found = noCause] = causesOf({
    ...{ id: serial, arp, byRanges: ranged.get(serial)?.byRanges, offset, sigma, now: decimalYear(now_ms) },
    others: [...wrong].flatMap((id) => (id === serial ? [] : (ranged.get(id) ?? []))),
    datum: { ...(frame && { frame }), ...(frame && epoch > 0 && { epoch }), ...(plate && { plate }) },
    ...(antenna.height_m > 0 && { antennaHeight_m: antenna.height_m }),
  })
  if (found.kind === 'swapped' || found.kind === 'far') return found
  return accuracy_m > coarse_m && size(offset) <= withinSigmas * accuracy_m ? surveyCause(accuracy_m) : found
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

function surveyCause(acc_m: number): Cause {
  const accuracy = `${acc_m.toFixed(acc_m < 1 ? 2 : 1)} m`
  return {
    kind: 'survey',
    values: { acc_m },
    text: `The position is as accurate as its survey says (${accuracy}). Survey it with corrections or enter better coordinates if that is not enough.`,
  }
}
