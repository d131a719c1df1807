/** A move on the whole station, with the simulated receiver and the manual clock: what each of its surfaces says of it. */
import type { Test } from 'tap'
import { stationAlerts } from '../../plugins/alerts/sources/conditions.js'
import { alertsOf } from '../../plugins/fleet-registry/alerts.js'
import httpApi from '../../plugins/http-api/index.js'
import verdictPlugin from '../../plugins/verdict/index.js'
import type { Enu } from '../../runtime/gnss/index.js'
import type { Verdict } from '../../schemas/info/base.js'
import type { FleetStation } from '../../schemas/services.js'
import { uniform } from '../gnss/support/phase-scenes.js'
import { setUp } from '../plugins/gnss/simulator-rig.js'

/** `gnss.state.motion.move` */
interface Shown extends Enu3, Sigmas {
  readonly by: 'phases' | 'code'
  readonly t: number
  readonly size_m: number
  readonly at_least: boolean
  readonly moves: number
}
interface Enu3 {
  readonly east_m: number
  readonly north_m: number
  readonly up_m: number
}
interface Sigmas {
  readonly sigma_east_m: number
  readonly sigma_north_m: number
  readonly sigma_up_m: number
}

export interface StationLife {
  readonly seed: number
  /** What happens to the receiver before. */
  readonly before: 'nothing' | 'antenna' | 'restart'
  readonly after_s: number
  readonly over_s: number
  readonly way: Enu
  /** A second move, so long after the first. */
  readonly again?: { readonly after_s: number; readonly way: Enu }
}

export interface StationSeen {
  /** Undefined: the station was not held. */
  readonly shown: Shown | undefined
  readonly truth: Enu
  /** What does not show the value of the document. */
  readonly differs: readonly string[]
}

const logUniform = (random: () => number, low: number, high: number) => low * (high / low) ** random()
function wayOf(random: () => number, size_m: number): Enu {
  const [up, azimuth] = [2 * random() - 1, 2 * Math.PI * random()]
  const level = size_m * Math.sqrt(1 - up * up)
  return { east: level * Math.sin(azimuth), north: level * Math.cos(azimuth), up: size_m * up }
}

export function stationLifeOf(number: number): StationLife {
  const random = uniform(1_000_003 + number)
  random()
  return {
    seed: number + 1,
    before: (['nothing', 'nothing', 'antenna', 'restart'] as const)[number % 4],
    // More history than some minutes changes nothing.
    after_s: Math.round(Math.min(300, logUniform(random, 5, 10_800))),
    over_s: number % 3 === 1 ? Math.round(logUniform(random, 1, 20)) : 0,
    way: wayOf(random, logUniform(random, 0.02, 20)),
    ...(number % 5 === 4 && {
      again: { after_s: Math.round(logUniform(random, 4, 90)), way: wayOf(random, logUniform(random, 0.1, 20)) },
    }),
  }
}

const plugins = { verdict: verdictPlugin, 'http-api': httpApi }

export async function liveStation(life: StationLife): Promise<StationSeen> {
  const undo: (() => unknown)[] = []
  const rig = await setUp({ teardown: (fn: () => unknown) => undo.push(fn) } as unknown as Test, {
    simulator: { seed: life.seed },
    plugins,
  })
  try {
    const isFixed = () => rig.field('state.status') === 'fixed'
    await rig.until(isFixed, 300)
    if (life.before !== 'nothing') {
      await rig.seconds(30)
      if (life.before === 'restart') rig.simulated.restart()
      else rig.simulated.antenna('open')
      await rig.seconds(10)
      rig.simulated.antenna('ok')
      await rig.until(isFixed, 900)
    }
    await rig.seconds(life.after_s)
    rig.simulated.move(life.way.east, life.way.north, life.way.up, life.over_s)
    let truth = life.way
    if (life.again) {
      const { after_s, way } = life.again
      await rig.seconds(life.over_s + after_s)
      rig.simulated.move(way.east, way.north, way.up)
      truth = { east: truth.east + way.east, north: truth.north + way.north, up: truth.up + way.up }
    }
    await rig.seconds(life.over_s + 60)
    const shown = rig.field('state.motion.move') as Shown | undefined
    return { shown, truth, differs: shown ? await differences(rig, shown) : [] }
  } finally {
    for (const one of undo) await one()
  }
}

/** Where something else is said than in the document. */
async function differences({ station }: Awaited<ReturnType<typeof setUp>>, shown: Shown): Promise<string[]> {
  const { east_m, north_m, up_m } = shown
  const hasVector = east_m !== undefined
  const errors = station.device.errors()
  const error = errors.find(({ code }) => code === 'gnss-moved')
  const verdict = station.field('base.state.verdict') as Verdict
  const facts = { serial: 'S', name: '', utc_s: 1, verdict, link: undefined, errors, disk: undefined }
  const fleet = {
    cause: verdict.code,
    online: 'online',
    verdict: verdict.fitness,
    why: verdict.why,
    errors: [],
    update: {},
  }
  const row = { ...fleet, certificateUntil_s: 0, verdictSince_s: 0, serial: 'S', name: '', group: '' }
  const texts: Record<string, string | undefined> = {
    error: error?.text,
    verdict: verdict.why,
    alert: stationAlerts(facts)[0]?.text,
    'fleet row': alertsOf(row as unknown as FleetStation, { now_s: 1, offline_s: 1 })[0]?.text,
  }
  // Which parts are told depends on the covariance between the axes.
  const parts_m = [shown.size_m, ...(hasVector ? [Math.hypot(east_m, north_m), Math.abs(up_m)] : [])]
  const differs = Object.entries(texts).flatMap(([name, text = '']) => {
    const [, value = Number.NaN, unit] = /(\d+\.\d+) (?:± [\d.]+ )?(c?m)\b/.exec(text) ?? []
    const told_m = unit === 'cm' ? Number(value) / 100 : Number(value)
    const digit_m = unit === 'cm' ? 0.001 : 0.01
    return parts_m.some((part_m) => Math.abs(told_m - part_m) <= 0.6 * digit_m) ? [] : `${name}: ${text}`
  })
  if (error?.t !== shown.t) differs.push(`the time of the error is ${error?.t}, that of the move ${shown.t}`)
  const { entries } = (await station.request('/reference/history')).json() as {
    entries: { what: string; offset?: Enu }[]
  }
  const offset = entries.findLast(({ what }) => what === 'moved')?.offset
  const isSame = offset && Math.hypot(offset.east - east_m, offset.north - north_m, offset.up - up_m) < 0.000_3
  if (hasVector && !shown.at_least && !isSame) differs.push(`the history has ${JSON.stringify(offset)}`)
  return differs
}

/** The largest deviation of an axis in its standard deviations. */
export function stationSigmas({ shown, truth }: StationSeen): number {
  if (!shown) return Number.NaN
  return Math.max(
    Math.abs(shown.east_m - truth.east) / shown.sigma_east_m,
    Math.abs(shown.north_m - truth.north) / shown.sigma_north_m,
    Math.abs(shown.up_m - truth.up) / shown.sigma_up_m,
  )
}
