/** How rough the ionosphere between both stations was in a window. */
import { median } from '../gnss/index.js'
import { slantAt } from './adjustment/index.js'
import type { DifferencedEpoch } from './differences.js'

/** Shorter arcs lose most of the variation to their mean. */
const leastEpochs = 20

interface Value {
  readonly clock: string
  readonly arcs: string
  readonly difference_m: number
  /** By how much a metre in the zenith changes the difference. */
  readonly scale: number
}

/**
 * From the differences of the phases of both frequencies, which hold nothing but the ionosphere, a clock and an ambiguity.
 * @returns of the delay on the first frequency in the zenith: standard deviation from the mean of each arc, metres; zero: unknown
 */
export function variation_m(epochs: readonly DifferencedEpoch[]): number {
  const values = epochs.flatMap(({ satellites }, index) =>
    satellites.flatMap(({ constellation, signals: [first, second], to }): Value[] => {
      if (first?.phase_m === undefined || second?.phase_m === undefined) return []
      const scale = slantAt(to.elevation_deg) * ((second.wavelength_m / first.wavelength_m) ** 2 - 1)
      const arcs = `${first.arc} ${second.arc}`
      return [{ clock: `${index} ${constellation}`, arcs, difference_m: first.phase_m - second.phase_m, scale }]
    }),
  )
  const long = [...groups(values, ({ arcs }) => arcs)].filter((own) => own.length >= leastEpochs).flatMap(centred)
  const alone = groups(long, ({ clock }) => clock).flatMap((own) => {
    const middle = median(own.map(({ difference_m }) => difference_m))
    return own.map((value) => ({ ...value, difference_m: value.difference_m - middle }))
  })
  const squares = groups(alone, ({ arcs }) => arcs)
    .flatMap(centred)
    .map(({ difference_m, scale }) => (difference_m / scale) ** 2)
  return squares.length > 0 ? Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / squares.length) : 0
}

function centred(own: readonly Value[]): Value[] {
  const mean = own.reduce((sum, { difference_m }) => sum + difference_m, 0) / own.length
  return own.map((value) => ({ ...value, difference_m: value.difference_m - mean }))
}

function groups(values: readonly Value[], keyOf: (value: Value) => string): Value[][] {
  const found = new Map<string, Value[]>()
  for (const value of values) {
    const own = found.get(keyOf(value))
    if (own) own.push(value)
    else found.set(keyOf(value), [value])
  }
  return [...found.values()]
}
