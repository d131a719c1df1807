/**
 * Confirmation of a contradicted position, of a station by itself and of all stations by their fleet. One window may be wrong for all
 * neighbours at once, as in a storm of the ionosphere: so at least two neighbours have to oppose the position, and do so again in windows
 * that share hardly any observations with those of the first judgement.
 */

/** Neighbours that have to oppose a position, in the first windows and in the later ones. */
export const leastOpposing = 2
/** Windows whose ends are apart by this part of their length are mostly independent. */
const apartPart = 2 / 3

export interface Doubt {
  /** When the position was contradicted first. Times are of any one clock, in any one unit. */
  readonly since: number
  /** Length of a window. */
  readonly window: number
}

/** The times that are of later windows than those of the first judgement. */
export const laterThan = <T>(doubt: Doubt, opposing: readonly T[], timeOf: (one: T) => number): T[] =>
  opposing.filter((one) => timeOf(one) >= doubt.since + apartPart * doubt.window)

/** @param opposing time of the newest window of each neighbour that opposes the position */
export const isConfirmed = (doubt: Doubt, opposing: readonly number[]): boolean =>
  laterThan(doubt, opposing, (time) => time).length >= leastOpposing
