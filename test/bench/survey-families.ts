/** Families of errors of a position that stands still: what a survey-in may meet. Seeded; metres and seconds. */
import { GaussMarkov, type Random } from 'rtk-base/simulation'

type Axes = readonly [number, number, number]

/** One cause of errors: x, y, z at a time; called with rising times. */
type Part = (t_s: number) => Axes

export interface Family {
  name: string
  /** The error of each epoch of one survey, and what the receiver says of its accuracy. */
  draw(random: Random): { error: Part; acc_m: number }
}

/** From `low` to `high`, evenly on a logarithmic scale. */
export const logUniform = (random: Random, low: number, high: number) => low * (high / low) ** random.uniform()
const uniform = (random: Random, low: number, high: number) => low + (high - low) * random.uniform()
const day_s = 86_400
/** Slow parts are computed again after so long. */
const coarse_s = 10

/** Constant for `coarse_s`: for parts that change in minutes. */
function coarsely(part: Part): Part {
  let until = Number.NEGATIVE_INFINITY
  let value: Axes = [0, 0, 0]
  return (t_s) => {
    if (t_s >= until) {
      until = t_s + coarse_s
      value = part(t_s)
    }
    return value
  }
}

const white = (random: Random, sigma_m: number): Part => {
  return () => [sigma_m * random.normal(), sigma_m * random.normal(), sigma_m * random.normal()]
}

/** @param sigma_m of an axis */
function gaussMarkov(random: Random, sigma_m: number, tau_s: number): Part {
  const axes = [0, 1, 2].map(() => new GaussMarkov(random, tau_s))
  let before_s = 0
  return coarsely((t_s) => {
    const dt_s = t_s - before_s
    before_s = t_s
    const [x, y, z] = axes.map((axis) => sigma_m * axis.step(dt_s))
    return [x, y, z]
  })
}

/** Multipath that comes back with the satellites: waves of minutes to an hour. @param sigma_m of an axis */
function multipath(random: Random, sigma_m: number): Part {
  const axes = [0, 1, 2].map(() =>
    [0, 1, 2].map(() => ({ period_s: logUniform(random, 300, 3_600), phase: 2 * Math.PI * random.uniform() })),
  )
  const amplitude_m = sigma_m * Math.sqrt(2 / 3)
  return coarsely((t_s) => {
    const [x, y, z] = axes.map((waves) =>
      waves.reduce(
        (sum, { period_s, phase }) => sum + amplitude_m * Math.sin((2 * Math.PI * t_s) / period_s + phase),
        0,
      ),
    )
    return [x, y, z]
  })
}

/** What is left of the ionosphere over a day: mostly upwards, highest after noon. */
function ionosphere(random: Random, most_m: number): Part {
  const start_s = day_s * random.uniform()
  return coarsely((t_s) => {
    const phase = (2 * Math.PI * (start_s + t_s)) / day_s
    const up = most_m * Math.max(0, Math.cos(phase))
    return [0.2 * up, 0.2 * up, 0.96 * up]
  })
}

/** As that, over a delay that stays at night. */
function ionosphereAndNight(random: Random, most_m: number, night_m: number): Part {
  const day = ionosphere(random, most_m)
  return (t_s) => {
    const [x, y, z] = day(t_s)
    return [x + 0.2 * night_m, y + 0.2 * night_m, z + 0.96 * night_m]
  }
}

/** Away from where it began. */
const ramp = (perHour_m: number): Part => {
  return (t_s) => {
    const each = (perHour_m * t_s) / 3_600
    return [each, each, each]
  }
}

/** Satellites come and go: the position steps every few minutes to tens of minutes. @param sigma_m of an axis */
function steps(random: Random, sigma_m: number, longest_s = 3_600): Part {
  let until = 0
  let value: Axes = [0, 0, 0]
  return (t_s) => {
    if (t_s >= until) {
      until = t_s + logUniform(random, 300, longest_s)
      value = [sigma_m * random.normal(), sigma_m * random.normal(), sigma_m * random.normal()]
    }
    return value
  }
}

/** Never comes to rest. @param perRootHour_m of an axis after an hour */
function walk(random: Random, perRootHour_m: number): Part {
  const at: [number, number, number] = [0, 0, 0]
  const step_m = perRootHour_m * Math.sqrt(coarse_s / 3_600)
  return coarsely(() => {
    for (const axis of [0, 1, 2]) at[axis] += step_m * random.normal()
    return at
  })
}

function sum(parts: readonly Part[]): Part {
  return (t_s) => {
    let x = 0
    let y = 0
    let z = 0
    for (const part of parts) {
      const [dx, dy, dz] = part(t_s)
      x += dx
      y += dy
      z += dz
    }
    return [x, y, z]
  }
}

/** Parts with their 3D sigma: 0 for what the receiver knows nothing of. */
type Known = [Part, number]

function of(name: string, parts: (random: Random) => Known[], optimism = 1): Family {
  return {
    name,
    draw(random) {
      const all = parts(random)
      const bias = [0.1 * random.normal(), 0.1 * random.normal(), 0.1 * random.normal()] as const
      const known_m = Math.hypot(...all.map(([, sigma_m]) => sigma_m))
      return {
        error: sum([...all.map(([part]) => part), () => bias]),
        // Up to a fifth wrong.
        acc_m: (known_m * uniform(random, 0.8, 1.2)) / optimism,
      }
    },
  }
}

const three = Math.sqrt(3)
const noise = (random: Random): Known => {
  const sigma_m = logUniform(random, 0.05, 0.5)
  return [white(random, sigma_m), three * sigma_m]
}
const fast = (random: Random): Known => {
  const sigma_m = logUniform(random, 0.1, 1)
  return [gaussMarkov(random, sigma_m, logUniform(random, 30, 1_800)), three * sigma_m]
}
const waves = (random: Random): Known => {
  const sigma_m = logUniform(random, 0.1, 1)
  return [multipath(random, sigma_m), three * sigma_m]
}
const slow = (random: Random): Known => {
  const sigma_m = uniform(random, 0.2, 0.6)
  return [gaussMarkov(random, sigma_m, uniform(random, 7_200, 28_800)), three * sigma_m]
}
const sky = (random: Random): Known => [ionosphere(random, uniform(random, 1, 3)), 0]
const base = (random: Random) => [noise(random), waves(random), fast(random)]

export const families: readonly Family[] = [
  of('1 white + two Gauss-Markov', (random) => [noise(random), fast(random), fast(random)]),
  of('2 sidereal multipath + Gauss-Markov', base),
  of('3 as 2, with slow Gauss-Markov 2-8 h', (random) => [...base(random), slow(random)]),
  of('4 as 2, with diurnal ionosphere of 1-3 m', (random) => [...base(random), sky(random)]),
  of('5 ramp of 0.3 m/h per axis', (random) => [...base(random), [ramp(0.3), 0]]),
  of(
    '6 errors of 2-4 combined, accuracy stated 2 times too good',
    (random) => [...base(random), slow(random), sky(random)],
    2,
  ),
  of('7 satellites come and go: steps of 0.2-1 m', (random) => {
    const sigma_m = uniform(random, 0.2, 1)
    return [noise(random), fast(random), [steps(random, sigma_m), three * sigma_m]]
  }),
  of('8 random walk of 0.3 m/√h per axis', (random) => [...base(random), [walk(random, 0.3), 0]]),
  of(
    '9 errors of 2-4 combined, accuracy stated 3 times too good',
    (random) => [...base(random), slow(random), sky(random)],
    3,
  ),
  of('10 diurnal ionosphere of 1-3 m, plus a constant 0.5 m', (random) => [
    ...base(random),
    [ionosphereAndNight(random, uniform(random, 1, 3), 0.5), 0],
  ]),
  of('11 steps of 0.5-2 m, up to 2 h apart', (random) => {
    const sigma_m = uniform(random, 0.5, 2)
    return [noise(random), fast(random), [steps(random, sigma_m, 7_200), three * sigma_m]]
  }),
  of('12 ramp of 1 m/h per axis', (random) => [...base(random), [ramp(1), 0]]),
]
