/** Code ranges of single satellites, averaged over minutes before and after an outage: by how much the antenna moved. Pure. */
import { type Ephemeris, median, type ObservedEpoch } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Fitted, fitDisplacement } from './fit.js'
import { areApart, type Bridging, dispersion, type EphemerisOf, expectedOf } from './observed.js'

/** Code errors last for a minute: more samples tell nothing new. */
const spacing_s = 5
/** Samples of a quarter of an hour: what was before counts less and less. */
const mostSamples = 180
/** With fewer, 5 min, a level is not compared. */
const fewestSamples = 60
/** A satellite that was not seen for so long is left out. */
const unseen_s = 60
/** Twice the time that errors of code last: samples of this time count as one. */
const correlation_s = 120
/** The least sigma of levels: multipath that lasts longer. In the zenith, metres. */
const leastSigma_m = 0.3
/** The ionosphere on L1 changes differently for each satellite: at once, and within an hour. */
const ionosphere = { least_m: 0.2, m_per_h: 1 } as const
const uncertain = { place_m: 1.5, zenith_m: 0.15, zenithChange_m: 0.05 } as const
/** Errors of broadcast orbits and clocks change, for which a newer ephemeris may be used. */
const orbit = { least_m: 0.15, mph: 0.3 } as const
/** After a longer outage other satellites are up, and too much has changed. */
const longest_h = 2

/** The mean of a signal's range less the computed one, beside the others of its constellation. Plain data. */
export interface CodeLevel {
  readonly constellation: Bridging
  readonly satellite: number
  /** Signal ID of MSM. */
  readonly signal: number
  level_m: number
  variance_m2: number
  samples: number
  /** `gpsSeconds` of the newest sample. */
  at_s: number
  sight: readonly [number, number, number]
  mapping: number
}

export class CodeLevels {
  readonly #levels = new Map<string, CodeLevel>()
  #at_s = Number.NEGATIVE_INFINITY
  /** Samples since the start. */
  samples = 0

  /** Whether an epoch of this time counts. */
  isDue(at_s: number): boolean {
    return at_s < this.#at_s || at_s - this.#at_s >= spacing_s
  }

  /** @param arp place that the ranges are compared with; always the same */
  take({ at_s, satellites }: ObservedEpoch<Bridging>, arp: Ecef, ephemerisOf: EphemerisOf): void {
    if (!this.isDue(at_s)) return
    this.#at_s = at_s
    this.samples++
    const groups = new Map<string, { id: string; rest_m: number; fresh: CodeLevel }[]>()
    for (const { constellation, satellite, signals } of satellites) {
      const ephemeris: Ephemeris | undefined = ephemerisOf(constellation, satellite)
      for (const { signal, code_m } of signals) {
        const expected = expectedOf(arp, ephemeris, at_s, code_m)
        const rest_m = code_m - (expected?.range_m ?? Number.NaN)
        if (!expected || !Number.isFinite(rest_m)) continue
        const { sight, mapping } = expected
        const group = groups.get(`${constellation} ${signal}`) ?? []
        groups.set(`${constellation} ${signal}`, group)
        const fresh = { constellation, satellite, signal, level_m: 0, variance_m2: 0, samples: 0, at_s, sight, mapping }
        group.push({ id: `${constellation} ${satellite} ${signal}`, rest_m, fresh })
      }
    }
    for (const group of groups.values()) {
      const known = group.flatMap(({ id, rest_m }) => {
        const level = this.#levels.get(id)
        return level ? rest_m - level.level_m : []
      })
      // The clock of the receiver, by the satellites that have a level.
      const clock_m = median(known.length > 0 ? known : group.map(({ rest_m }) => rest_m))
      for (const { id, rest_m, fresh } of group) this.#add(id, rest_m - clock_m, fresh)
    }
  }

  #add(id: string, value_m: number, fresh: CodeLevel): void {
    const before = this.#levels.get(id)
    const level = before && fresh.at_s - before.at_s <= unseen_s ? before : fresh
    level.samples = Math.min(level.samples + 1, mostSamples)
    const away_m = value_m - level.level_m
    level.level_m += away_m / level.samples
    level.variance_m2 += ((1 - 1 / level.samples) * away_m ** 2 - level.variance_m2) / level.samples
    level.at_s = fresh.at_s
    level.sight = fresh.sight
    level.mapping = fresh.mapping
    this.#levels.set(id, level)
  }

  /** Levels that can be compared. */
  get settled(): CodeLevel[] {
    return [...this.#levels.values()].filter(
      ({ samples, at_s }) => samples >= fewestSamples && this.#at_s - at_s <= unseen_s,
    )
  }
}

/** @returns where the antenna is from where it was; undefined: it does not show */
export function compareLevels(before: readonly CodeLevel[], after: readonly CodeLevel[]): Fitted | undefined {
  const ids = new Map<string, CodeLevel[]>()
  for (const level of after) {
    const id = `${level.constellation} ${level.satellite}`
    ids.set(id, [...(ids.get(id) ?? []), level])
  }
  const differences = [...ids.values()].flatMap((levels) => {
    const changes = levels.flatMap((now) => {
      const then = before.find((one) => isSameSignal(one, now))
      return then ? { now, then, change_m: now.level_m - then.level_m, sigma_m: sigmaOf(now, then) } : []
    })
    const [first] = changes
    if (!first) return []
    const { now, then } = first
    const hours = (now.at_s - then.at_s) / 3600
    if (!(hours >= 0 && hours <= longest_h)) return []
    const { constellation, sight, mapping } = now
    const second = changes.find(({ now: { signal } }) => areApart(constellation, now.signal, signal))
    const change = withoutIonosphere(first, second, ionosphere.least_m + ionosphere.m_per_h * hours)
    const turn = [0, 1, 2].map((axis) => sight[axis] - then.sight[axis]) as [number, number, number]
    return {
      ...{ constellation, sight, turn, mapping, mappingChange: mapping - then.mapping },
      ...{ change_m: change.value_m, sigma_m: Math.hypot(change.sigma_m, orbit.least_m, orbit.mph * hours) },
    }
  })
  return fitDisplacement(differences, uncertain)
}

const isSameSignal = (p: CodeLevel, q: CodeLevel) =>
  p.constellation === q.constellation && p.satellite === q.satellite && p.signal === q.signal

function sigmaOf(...levels: readonly CodeLevel[]): number {
  return Math.hypot(
    ...levels.map(({ variance_m2, samples, mapping }) =>
      Math.hypot(
        Math.sqrt(variance_m2 * Math.min(1, correlation_s / (samples * spacing_s))),
        leastSigma_m * Math.sqrt(mapping),
      ),
    ),
  )
}

type Change = { readonly now: CodeLevel; readonly change_m: number; readonly sigma_m: number }

/**
 * The change of the ionosphere by both signals, drawn to zero by how noisy it is: of quiet minutes it is smaller than the noise that
 * taking it off would add.
 */
function withoutIonosphere(first: Change, second: Change | undefined, ionosphere_m: number) {
  const { constellation, signal } = first.now
  if (!second) return { value_m: first.change_m, sigma_m: Math.hypot(first.sigma_m, ionosphere_m) }
  const ratio = dispersion(constellation, [signal, second.now.signal]) - 1
  const noise_m = Math.hypot(first.sigma_m, second.sigma_m) / ratio
  const share = ionosphere_m ** 2 / (ionosphere_m ** 2 + noise_m ** 2)
  const value_m = first.change_m - (share * (second.change_m - first.change_m)) / ratio
  const own_m = (1 + share / ratio) * first.sigma_m
  const other_m = (share / ratio) * second.sigma_m
  return { value_m, sigma_m: Math.hypot(own_m, other_m, (1 - share) * ionosphere_m) }
}
