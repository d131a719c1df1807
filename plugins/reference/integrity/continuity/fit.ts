/** The displacement of an antenna between two times by ranges that were differenced in time, satellite by satellite. Pure. */
import { leastSquares, median } from 'rtk-base/gnss'
import type { Bridging } from './observed.js'

/** The difference of one satellite. */
export interface Difference {
  readonly constellation: Bridging
  /** Unit vector towards it after the outage. */
  readonly sight: readonly [number, number, number]
  /** How far that vector turned: the error of the assumed place counts by it. */
  readonly turn: readonly [number, number, number]
  /** Mapping of the troposphere after the outage, and its change. */
  readonly mapping: number
  readonly mappingChange: number
  /** Measured change of the range less the computed one, metres. */
  readonly change_m: number
  /** 1 sigma, metres. */
  readonly sigma_m: number
}

/** 1 sigma, metres. */
export interface Uncertain {
  /** The assumed place of the antenna, by axis. */
  readonly place_m: number
  /** Zenith delay of the troposphere beside the model, and its change since. */
  readonly zenith_m: number
  readonly zenithChange_m: number
  /** The displacement, by axis; omitted: anything. */
  readonly displacement_m?: number
  /** How much larger than the model the noise may be; omitted: 2.5 times. */
  readonly scale?: number
}

export interface Fitted {
  readonly east: number
  readonly north: number
  readonly up: number
  /** 1 sigma, metres: horizontally (both axes together) and vertically. */
  readonly sigma: { readonly level_m: number; readonly up_m: number }
  /** That agree with it, and all. */
  readonly satellites: number
  readonly of: number
  /** Left to show a wrong range. */
  readonly redundancy: number
  /** How much larger than the model the noise is; 1 at least. */
  readonly scale: number
}

const absoluteRounds = 10
const rejectingRounds = 8
/** In sigmas: farther away it does not agree. */
const outlier = 4
/** The noise may be larger than the model says by this. */
const mostScale = 2.5
/** A phase that differs from most by more than this was set anew. Such a move shows in positions. */
const farthest_m = 500
/** Displacement, place, zenith, its change. */
const unknowns = 8

/**
 * Least squares: change = clock − sight · displacement − turn · place + mappingChange · zenith + mapping · zenithChange, with one
 * clock a constellation. Place and zenith are unknown within their sigma, so what the differences cannot tell from a displacement
 * is in the sigma of the result. The absolute values are minimised first, then those beyond 4 sigma are left out.
 * @returns undefined with too few satellites, or if they contradict each other
 */
export function fitDisplacement(all: readonly Difference[], uncertain: Uncertain): Fitted | undefined {
  const clocks = [...new Set(all.map(({ constellation }) => constellation))]
  const most = uncertain.scale ?? mostScale
  const middle = new Map(
    clocks.map((clock) => [clock, median(all.flatMap((one) => (one.constellation === clock ? one.change_m : [])))]),
  )
  const near = all.filter(
    ({ constellation, change_m }) => Math.abs(change_m - (middle.get(constellation) ?? 0)) <= farthest_m,
  )
  const rows = near.map(({ constellation, sight, turn, mapping, mappingChange, change_m, sigma_m }) => {
    const row = new Float64Array(unknowns + clocks.length)
    for (let axis = 0; axis < 3; axis++) {
      row[axis] = -sight[axis]
      row[3 + axis] = -turn[axis]
    }
    row[6] = mappingChange
    row[7] = mapping
    row[unknowns + clocks.indexOf(constellation)] = 1
    return { row, value: change_m - (middle.get(constellation) ?? 0), sigma_m, constellation }
  })
  const { place_m, zenith_m, zenithChange_m, displacement_m: free_m = 0 } = uncertain
  const priors = [free_m, free_m, free_m, place_m, place_m, place_m, zenith_m, zenithChange_m]
  const factors = new Array<number>(rows.length).fill(1)
  let solved: ReturnType<typeof solve>
  const round = () => {
    solved = solve(rows, factors, priors)
    return solved
  }
  for (let i = 0; i < absoluteRounds; i++) {
    if (!round()) return undefined
    for (const [i, away] of awayOf(rows, solved?.solution).entries()) factors[i] = 1 / Math.max(away, 0.5)
  }
  for (let i = 0; i < rejectingRounds; i++) {
    const away = awayOf(rows, solved?.solution)
    const scale = Math.min(Math.max(1.48 * median([...away]), 1), most)
    const before = factors.join()
    for (const [i, one] of away.entries()) factors[i] = one <= outlier * scale ? 1 : 0
    if (!round()) return undefined
    if (factors.join() === before) break
  }
  if (!solved) return undefined
  const used = rows.filter((_, i) => factors[i] === 1)
  const redundancy = used.length - 3 - new Set(used.map(({ constellation }) => constellation)).size
  if (redundancy < 1) return undefined
  const squares = awayOf(used, solved.solution).reduce((sum, away) => sum + away ** 2, 0)
  const scale = Math.max(1, Math.sqrt(squares / redundancy))
  if (scale > most * 1.5) return undefined
  const { solution, covariance } = solved
  const [east, north, up] = solution
  const variance_m2 = (axis: number) => covariance[axis * (solution.length + 1)]
  return {
    ...{ east, north, up },
    sigma: {
      level_m: scale * Math.sqrt(variance_m2(0) + variance_m2(1)),
      up_m: scale * Math.sqrt(variance_m2(2)),
    },
    ...{ satellites: used.length, of: all.length, redundancy, scale },
  }
}

interface Row {
  readonly row: Float64Array
  readonly value: number
  readonly sigma_m: number
}

/** In sigmas. */
function awayOf(rows: readonly Row[], solution: Float64Array | undefined): number[] {
  return rows.map(({ row, value, sigma_m }) => {
    const computed_m = row.reduce((sum, factor, i) => sum + factor * (solution?.[i] ?? 0), 0)
    return Math.abs(value - computed_m) / sigma_m
  })
}

function solve(rows: readonly Row[], factors: readonly number[], priors: readonly number[]) {
  if (rows.length < 4) return undefined
  const weighted = rows.map(({ row, value, sigma_m }, i) => ({ row, value, weight: factors[i] / sigma_m ** 2 }))
  // A constellation of which no satellite agrees has no clock.
  const hasClock = (i: number) => weighted.some(({ row, weight }) => weight > 0 && row[i] !== 0)
  const known = Array.from(rows[0].row, (_, i) => {
    if (i >= unknowns) return hasClock(i) ? 0 : 1
    return priors[i] > 0 ? 1 / priors[i] ** 2 : 0
  })
  return leastSquares(weighted, known.length, known)
}
