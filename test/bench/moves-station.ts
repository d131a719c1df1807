/** A move on the whole station, with the simulated receiver and the manual clock: what each of its surfaces says of it, and its fleet. */
import type { Test } from 'tap'
import alerts from '../../plugins/device/alerts/index.js'
import record from '../../plugins/device/record/index.js'
import system from '../../plugins/device/system/index.js'
import verdictPlugin from '../../plugins/device/verdict/index.js'
import { moveOf } from '../../plugins/page/dashboard/ui/model/moved.js'
import httpApi from '../../plugins/page/http-api/index.js'
import type { Enu } from '../../runtime/lib/gnss/index.js'
import { errorsOf, textAt } from '../../runtime/lib/page/ui/station/document.js'
import { uniform } from '../gnss/support/phase-scenes.js'
import { type FleetRig, fleetRig } from '../plugins/fleet/rig.js'
import { setUp } from '../plugins/receivers/simulator-rig.js'
import { historyOf } from '../plugins/reference/survey-in-rig.js'

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
    after_s: Math.round(logUniform(random, 5, 10_800)),
    over_s: number % 3 === 1 ? Math.round(logUniform(random, 1, 20)) : 0,
    way: wayOf(random, logUniform(random, 0.015, 20)),
    ...(number % 5 === 4 && {
      again: { after_s: Math.round(logUniform(random, 4, 90)), way: wayOf(random, logUniform(random, 0.1, 20)) },
    }),
  }
}

/** The record writes numbers that change once a minute: it may say what the error said within this time. */
const minute_s = 65

const plugins = { verdict: verdictPlugin, 'http-api': httpApi, system, alerts, record }

/** What was set up is taken down in the opposite order. */
function owner(): { t: Test; end(): Promise<void> } {
  const undo: (() => unknown)[] = []
  return {
    t: { teardown: (fn: () => unknown) => undo.push(fn) } as unknown as Test,
    async end() {
      for (const one of undo.reverse()) await one()
    },
  }
}

export interface FleetForMoves extends FleetRig {
  stop(): Promise<void>
}

/** The fleet of all stations of a bench. */
export async function fleetForMoves(): Promise<FleetForMoves> {
  const { t, end } = owner()
  return { ...(await fleetRig(t, { sources: { alerts: {} } })), stop: end }
}

/** The fleet that the station belongs to. */
export interface Member {
  readonly fleet: FleetRig
  readonly serial: string
}

export async function liveStation(life: StationLife, member: Member): Promise<StationSeen> {
  const { t, end } = owner()
  const { serial } = member
  const rig = await setUp(t, { simulator: { seed: life.seed }, plugins, serial })
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
    await rig.seconds(life.over_s)
    const said = new Set<string | undefined>()
    for (let second = 0; second < minute_s; second += 5) {
      await rig.seconds(5)
      said.add(errorsOf(rig.station.station.document()).find(isMove)?.text)
    }
    const shown = rig.field('state.motion.move') as Shown | undefined
    return { shown, truth, differs: shown ? await differences(rig, shown, member, said) : [] }
  } finally {
    await end()
  }
}

type Row = Record<string, string | undefined>

const isMove = ({ code }: { code: string }) => code === 'gnss-moved'

/** What the registry and the alerts of the fleet answer, from the document that the station sends. */
async function toldByFleet(document: Record<string, unknown>, { fleet, serial }: Member): Promise<Row> {
  const station = await fleet.station(serial, { document })
  let row: Row | undefined
  let alert: Row | undefined
  await fleet.passes(
    async () => {
      const { status, json } = await fleet.fleet.request(`/fleet/stations/${serial}`)
      row = status === 200 ? (json() as Row) : undefined
      alert = (await fleet.get<Row[]>('/alerts')).find((one) => one.serial === serial && one.kind === 'moved')
      return Boolean(row?.why && alert)
    },
    () => `a row with its cause in words, and an alert: ${JSON.stringify([row, alert])}`,
  )
  await station.stop()
  return { 'row of the fleet': row?.why, 'alert of the fleet': alert?.text }
}

interface RecordLine {
  readonly all?: Record<string, { text?: string } | null>
  readonly set?: Record<string, { text?: string } | null>
}

/** Where something else is said than in the document. */
async function differences(
  { station }: Awaited<ReturnType<typeof setUp>>,
  shown: Shown,
  member: Member,
  said: ReadonlySet<string | undefined>,
): Promise<string[]> {
  const { east_m, north_m, up_m } = shown
  const hasVector = east_m !== undefined
  const document = (await (await station.request('/get-info')).json()) as Record<string, unknown>
  const error = errorsOf(document).find(isMove)
  const answer = (await station.request('/alerts')).json() as Row[]
  const recorded: Record<string, { text?: string } | null> = {}
  for (const line of (await station.request('/record')).text.trim().split('\n')) {
    const { all, set } = JSON.parse(line) as RecordLine
    Object.assign(recorded, all, set)
  }
  const texts: Row = {
    error: error?.text,
    verdict: textAt(document, 'base.state.verdict.why'),
    alert: answer.find(({ kind }) => kind === 'moved')?.text,
    ...(await toldByFleet(document, member)),
  }
  // Which parts are told depends on the covariance between the axes.
  const parts_m = [shown.size_m, ...(hasVector ? [Math.hypot(east_m, north_m), Math.abs(up_m)] : [])]
  const differs = Object.entries(texts).flatMap(([name, text = '']) => {
    const [, value = Number.NaN, unit] = /(\d+\.\d+) (?:± [\d.]+ )?(c?m)\b/.exec(text) ?? []
    const told_m = unit === 'cm' ? Number(value) / 100 : Number(value)
    const digit_m = unit === 'cm' ? 0.001 : 0.01
    return parts_m.some((part_m) => Math.abs(told_m - part_m) <= 0.6 * digit_m) ? [] : `${name}: ${text}`
  })
  // It cuts a long text.
  const inRecord = recorded['error gnss-moved']?.text?.replace(/…$/, '')
  if (!inRecord || ![...said].some((text) => text?.startsWith(inRecord))) differs.push(`record: ${inRecord}`)
  if (error?.t !== shown.t) differs.push(`the time of the error is ${error?.t}, that of the move ${shown.t}`)
  const { distance_m } = moveOf(document)
  if (distance_m !== shown.size_m) differs.push(`the page asks about ${distance_m} m`)
  const offset = (await historyOf(station)).findLast(({ what }) => what === 'moved')?.offset
  const isSame = offset && Math.hypot(offset.east - east_m, offset.north - north_m, offset.up - up_m) < 0.000_3
  if (hasVector && !shown.at_least && !isSame) differs.push(`the history has ${JSON.stringify(offset)}`)
  return differs
}

/** The largest deviation of an axis in its standard deviations, and whether a sign that is known is wrong. */
export function stationSigmas({ shown, truth }: StationSeen): { sigmas: number; isSignWrong: boolean } {
  if (shown?.east_m === undefined) return { sigmas: 0, isSignWrong: false }
  const axes = [
    [shown.east_m, truth.east, shown.sigma_east_m],
    [shown.north_m, truth.north, shown.sigma_north_m],
    [shown.up_m, truth.up, shown.sigma_up_m],
  ]
  return {
    sigmas: Math.max(...axes.map(([one, other, sigma]) => Math.abs(one - other) / sigma)),
    isSignWrong: axes.some(([one, other, sigma]) => Math.abs(one) > 3 * sigma && one * other < 0),
  }
}
