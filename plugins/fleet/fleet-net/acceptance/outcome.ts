/** Whether a position is accepted by the evidence of its test, and why not. Pure. */
import type { NetJudgement } from 'rtk-base/baseline'
import { type Evidence, isCounted, leastWindows } from './evidence.js'

export type Outcome = 'accepted' | 'rejected' | 'undecided'

/** An accepted position is right to this with two standard deviations, metres, in level and in height. */
const accepted_m = 0.05
const sigmas = 2
/** Neighbours that must confirm a position. */
const leastNeighbours = 2
/** Part of the time of the test that must have windows. */
const leastCovered = 0.7

/** No evidence is neither an acceptance nor a rejection. @param hours that the test was to take */
export function outcomeOf(
  evidence: Evidence,
  { state, reason }: NetJudgement,
  hours: number,
): { outcome: Outcome; reason: string } {
  const { neighbours } = evidence
  const agreeing = neighbours.filter(({ verdict }) => verdict === 'agrees').length
  const others = neighbours.filter(({ verdict }) => verdict === 'contradicts').length
  if (state === 'contradicts')
    return {
      outcome: 'rejected',
      reason: `the net of stations contradicts the position (${others} of ${neighbours.length} neighbours do so by themselves)`,
    }
  const unsteady = neighbours.filter((one) => isCounted(one) && !one.steady).map((one) => one.serial)
  if (unsteady.length > 0 && agreeing <= others + unsteady.length)
    return {
      outcome: 'undecided',
      reason: `the position changed during the test, or the vectors do not repeat (${unsteady.join(', ')}): look at the antenna, and test again`,
    }
  if (state !== 'agrees' || agreeing < leastNeighbours || agreeing <= others)
    return {
      outcome: 'undecided',
      reason: `${agreeing} neighbours confirm the position in at least ${leastWindows} windows, ${others} contradict it, and at least ${leastNeighbours} that are more must confirm it (${state}: ${reason})`,
    }
  if (evidence.covered < leastCovered * hours)
    return {
      outcome: 'undecided',
      reason: `only ${evidence.covered} of ${hours} h have windows, and ${100 * leastCovered} % are needed: see the reasons of the pairs, and test again`,
    }
  const doubt = doubtOf(evidence)
  if (doubt) return { outcome: 'undecided', reason: doubt }
  return { outcome: 'accepted', reason: `${agreeing} of ${neighbours.length} neighbours confirm the position` }
}

/** Why a position that the neighbours confirm is not known well enough to accept it; `''`: it is. */
function doubtOf({ offset, sigma, neighbours }: Evidence): string {
  const cm = (metres: number) => `${(100 * metres).toFixed(metres < 0.1 ? 1 : 0)} cm`
  const parts = [
    {
      ...{ name: 'horizontal position', antennas_m: 0 },
      ...{ offset_m: Math.hypot(offset.east, offset.north), sigma_m: Math.hypot(sigma.east, sigma.north) },
    },
    { name: 'height', antennas_m: antennasOf(neighbours), offset_m: Math.abs(offset.up), sigma_m: sigma.up },
  ]
  const doubts = parts.flatMap(({ name, antennas_m, offset_m, sigma_m }) => {
    const known_m = sigmas * sigma_m + antennas_m
    if (offset_m + known_m <= accepted_m) return []
    const differ = antennas_m > 0 ? ': the antennas differ' : ''
    const known = `the ${name} is only known to ${cm(known_m)}`
    const wrong = `the ${name} differs by ${cm(offset_m)} ± ${cm(known_m)}`
    return [`${known_m > accepted_m ? known : wrong}${differ}`]
  })
  return doubts.length > 0 ? `${doubts.join(', and ')} (2 σ; accepted up to ${cm(accepted_m)} together)` : ''
}

/** By how much the height may be off, by the confirming neighbour whose antenna is most alike, metres. More neighbours do not lessen it. */
const antennasOf = (neighbours: Evidence['neighbours']): number => {
  const all = neighbours.filter(({ verdict }) => verdict === 'agrees').map(({ antennas }) => antennas)
  return all.length > 0 ? Math.min(...all) : 0
}
