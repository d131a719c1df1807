/** Where the satellites of a capture stand at each epoch, without the steps of what its receiver says of them. */
import type { Direction, Sky } from '../../../plugins/reference/integrity/phase/sky.js'
import type { Constellation } from '../../../runtime/lib/gnss/index.js'
import type { Observed } from './phase-captures.js'

/** Directions are read so often, in epochs. */
const every = 5
const radians = Math.PI / 180

interface Path {
  readonly epochs: number[]
  readonly directions: Direction[]
}
type Fit = (epoch: number) => Direction | undefined

/**
 * A displacement of metres along directions in steps would show as steps of centimetres, which no antenna makes. A line through the unit
 * vectors of some minutes is as near to the truth as the directions are.
 */
export class SmoothSky {
  readonly #observed: readonly Observed[]
  readonly #fits = new Map<string, Fit>()

  constructor(observed: readonly Observed[]) {
    this.#observed = observed
  }

  /** @param epoch of those that were given */
  at(epoch: number): Sky {
    return (constellation, satellite) => {
      const key = `${constellation} ${satellite}`
      let fit = this.#fits.get(key)
      if (!fit) {
        fit = fitOf(this.#pathOf(constellation, satellite))
        this.#fits.set(key, fit)
      }
      return fit(epoch)
    }
  }

  #pathOf(constellation: Constellation, satellite: number): Path {
    const path: Path = { epochs: [], directions: [] }
    for (let epoch = 0; epoch < this.#observed.length; epoch += every) {
      const direction = this.#observed[epoch].sky?.(constellation, satellite)
      if (!direction) continue
      path.epochs.push(epoch)
      path.directions.push(direction)
    }
    return path
  }
}

function fitOf({ epochs, directions }: Path): Fit {
  if (epochs.length === 0) return () => undefined
  const unit = directions.map(({ azimuth_deg, elevation_deg }) => {
    const flat = Math.cos(elevation_deg * radians)
    return [
      flat * Math.sin(azimuth_deg * radians),
      flat * Math.cos(azimuth_deg * radians),
      Math.sin(elevation_deg * radians),
    ]
  })
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const middle = mean(epochs)
  const spread = epochs.reduce((sum, epoch) => sum + (epoch - middle) ** 2, 0)
  const [[east0, east1], [north0, north1], [up0, up1]] = [0, 1, 2].map((axis) => {
    const along = epochs.reduce((sum, epoch, index) => sum + (epoch - middle) * unit[index][axis], 0)
    return [mean(unit.map((one) => one[axis])), spread > 0 ? along / spread : 0]
  })
  return (epoch) => {
    const after = epoch - middle
    const [east, north, up] = [east0 + east1 * after, north0 + north1 * after, up0 + up1 * after]
    return {
      azimuth_deg: (Math.atan2(east, north) / radians + 360) % 360,
      elevation_deg: Math.atan2(up, Math.hypot(east, north)) / radians,
    }
  }
}
