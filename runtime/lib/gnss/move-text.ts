/** A move in words, with its uncertainty. Pure. */
import type { AntennaMove, ErrorValues, MoveVector } from '../../../schemas/services.js'

/** A part that is smaller than this many standard deviations is not told: its direction is unknown. */
const known_sigmas = 2
const directions = ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'] as const

function withUnit(size_m: number, sigma_m?: number): string {
  const [unit, per] = size_m < 1 ? ['cm', 100] : ['m', 1]
  const decimals = size_m < 1 ? 1 : sigma_m !== undefined && sigma_m < 0.01 ? 3 : 2
  const lengths_m = sigma_m === undefined ? [size_m] : [size_m, sigma_m]
  return `${lengths_m.map((one) => (one * per).toFixed(decimals)).join(' ± ')} ${unit}`
}

/** Standard deviations of the axes, metres. */
export function sigmasOf({ covariance: [ee, , , nn, , uu] }: MoveVector): {
  east_m: number
  north_m: number
  up_m: number
} {
  return { east_m: Math.sqrt(ee), north_m: Math.sqrt(nn), up_m: Math.sqrt(uu) }
}

/** The part on the ground, along its direction. */
function levelOf({ east_m, north_m, covariance: [ee, en, , nn] }: MoveVector) {
  const size_m = Math.hypot(east_m, north_m)
  const [east, north] = size_m > 0 ? [east_m / size_m, north_m / size_m] : [1, 0]
  const sigma_m = Math.sqrt(Math.max(0, east * east * ee + 2 * east * north * en + north * north * nn))
  const turn = (Math.atan2(east_m, north_m) / (2 * Math.PI) + 1) * directions.length
  return { size_m, sigma_m, direction: directions[Math.round(turn) % directions.length] }
}

const total = ({ covariance: [ee, , , nn, , uu] }: MoveVector): number => Math.sqrt(ee + nn + uu)

/** Several moves have brought it back to where it was, as far as is known. */
const isNear = (vector: MoveVector | undefined, isLeast: boolean): vector is MoveVector =>
  vector !== undefined && !isLeast

/** The parts of the text, for translations: `shape` says which there are. */
export function moveValues({ vector, size_m, isLeast, moves }: AntennaMove): ErrorValues {
  const least = isLeast ? 'at least ' : ''
  const several: ErrorValues = moves > 1 ? { moves } : {}
  const level = vector && levelOf(vector)
  const isLevel = level && level.size_m > known_sigmas * level.sigma_m
  const up_sigma_m = vector ? sigmasOf(vector).up_m : 0
  const isHeight = vector && Math.abs(vector.up_m) > known_sigmas * up_sigma_m
  const shape = isLevel && isHeight ? 'both' : isLevel ? 'level' : isHeight ? 'rise' : 'size'
  if (shape === 'size') {
    if (isNear(vector, isLeast))
      return { shape: 'none', size: withUnit(size_m + known_sigmas * total(vector)), ...several }
    // The sum of several may be less than their sizes.
    return { shape, size: `${moves > 1 ? 'about' : 'more than'} ${withUnit(size_m)}`, ...several }
  }
  return {
    shape,
    ...(isLevel && {
      level: least + withUnit(level.size_m, level.sigma_m),
      direction: level.direction,
    }),
    ...(isHeight && {
      rise: (isLevel ? '' : least) + withUnit(Math.abs(vector.up_m), up_sigma_m),
      vertical: vector.up_m > 0 ? 'up' : 'down',
    }),
    ...several,
  }
}

/** E.g. `3.0 ± 0.5 cm east and 2.1 ± 0.6 cm down, in 2 moves`. */
export function moveText(move: AntennaMove): string {
  const { shape, size, level, direction, rise, vertical, moves } = moveValues(move)
  const parts = [level && `${level} ${direction}`, rise && `${rise} ${vertical}`].filter(Boolean)
  const text =
    shape === 'none'
      ? `less than ${size}, so it may be back`
      : shape === 'size'
        ? `${size}, direction unknown`
        : parts.join(' and ')
  return moves ? `${text}, in ${moves} moves` : text
}
