/** The move that is shown, on the whole application with the simulated receiver and the manual clock. */
import t, { type Test } from 'tap'
import type { Enu } from '../../../runtime/lib/gnss/index.js'
import { uniform } from '../../gnss/support/phase-scenes.js'
import { sample } from '../../harness/index.js'
import { setUp } from '../receivers/simulator-rig.js'

t.setTimeout(3_000_000)

interface Shown {
  readonly east_m: number
  readonly north_m: number
  readonly up_m: number
  readonly sigma_east_m: number
  readonly sigma_north_m: number
  readonly sigma_up_m: number
  readonly moves: number
  readonly at_least: boolean
  readonly t: number
}

type Leg = readonly [after_s: number, way: Enu, over_s?: number]

const level = (size_m: number, azimuth: number): Enu => ({
  east: size_m * Math.sin(azimuth),
  north: size_m * Math.cos(azimuth),
  up: 0,
})
const cm = ({ east, north, up }: Enu) => [east, north, up].map((value) => (100 * value).toFixed(1)).join(' ')

/** What is shown in each second of a minute behind the last move; each move is made so long after the one before. */
async function live(t: Test, seed: number, legs: readonly Leg[]) {
  const rig = await setUp(t, { simulator: { seed } })
  await rig.until(() => rig.field('state.status') === 'fixed', 300)
  let moved_s = 0
  for (const [after_s, { east, north, up }, over_s = 0] of legs) {
    await rig.seconds(after_s)
    moved_s ||= rig.station.device.utc_ms() / 1000
    rig.simulated.move(east, north, up, over_s)
  }
  const shown: Shown[] = []
  for (let second = 0; second < 60; second++) {
    await rig.seconds(1)
    const move = rig.field('state.motion.move') as Shown | undefined
    if (move) shown.push(move)
  }
  const errors = rig.station.device.errors()
  const faults = rig.check()
  await rig.station.stop()
  return { shown, errors, faults, moved_s }
}

/** How far a statement is from the truth, in its own standard deviations: the worst axis. */
const sigmasOf = (move: Shown, { east, north, up }: Enu): number =>
  Math.max(
    Math.abs(move.east_m - east) / move.sigma_east_m,
    Math.abs(move.north_m - north) / move.sigma_north_m,
    Math.abs(move.up_m - up) / move.sigma_up_m,
  )

const random = uniform(80)
const moves = Array.from({ length: 80 }, (_, n) => {
  const way = level(0.02 * 2 ** random(), 2 * Math.PI * random())
  return { seed: n + 1, after_s: Math.round(5 + 65 * random()), way }
})

t.test('S1: the move that is shown is the move that was made, for as long as it is shown', async (t) => {
  const first = { seed: 1, after_s: 10, way: level(0.03, Math.PI / 2) }
  // Those that showed the opposite direction at last, and others.
  const wrong = [12, 16, 18].map((n) => moves[n])
  for (const { seed, after_s, way } of [first, ...wrong, ...moves.slice(0, sample(2, 80, 80))]) {
    const { shown, errors, faults, moved_s } = await live(t, seed, [[after_s, way]])
    const what = `sky ${seed}, ${after_s} s after fixed, ${cm(way)} cm`
    t.same(faults, [])
    const worst = Math.max(0, ...shown.map((move) => sigmasOf(move, way)))
    t.ok(worst < 3.5, `${what}: ${worst.toFixed(1)} sigmas`)
    const last = shown.at(-1)
    if (!last) continue
    const away_m = Math.hypot(last.east_m - way.east, last.north_m - way.north, last.up_m)
    t.ok(away_m < 0.01, `${what}: ${(100 * away_m).toFixed(1)} cm off`)
    const [error] = errors
    const size = (100 * Math.hypot(last.east_m, last.north_m)).toFixed(1)
    t.match(error.text, `a move of ${size} ± `, error.text)
    t.ok(Math.abs(error.t - moved_s) <= 2 && error.t === last.t, 'the time of the error is the time of the move')
  }
})

const east = (size_m: number): Enu => ({ east: size_m, north: 0, up: 0 })
t.test('G6: moves behind a move add up', async (t) => {
  const tables: readonly (readonly [what: string, legs: readonly Leg[], moves: number])[] = [
    [
      '1 m, 9 s after a step of 3 cm',
      [
        [60, east(0.03)],
        [9, east(1)],
      ],
      2,
    ],
    [
      '20 cm north, 7 s after 3 cm east',
      [
        [60, east(0.03)],
        [7, { east: 0, north: 0.2, up: 0 }],
      ],
      2,
    ],
    [
      '6 cm back, 65 s after 3 cm',
      [
        [60, east(0.03)],
        [65, east(-0.06)],
      ],
      2,
    ],
    [
      '1 m, 20 s after a step of 3 cm',
      [
        [60, east(0.03)],
        [20, east(1)],
      ],
      2,
    ],
  ]
  for (const [index, [what, legs, count]] of tables.entries()) {
    const { shown, errors } = await live(t, index + 1, legs)
    const truth = legs.reduce(
      (sum, [, way]) => ({ east: sum.east + way.east, north: sum.north + way.north, up: 0 }),
      east(0),
    )
    const last = shown.at(-1)
    if (!last) return t.fail(`${what}: nothing is shown`)
    t.ok(sigmasOf(last, truth) < 3.5, `${what}: ${JSON.stringify(last)}`)
    t.match(last, { moves: count, at_least: false })
    t.match(errors[0].text, `in ${count} moves`)
  }
})

t.test('G6: a walk is «at least» while it goes on, and then has its size', async (t) => {
  const { shown, errors } = await live(t, 3, [[120, east(9), 15]])
  const ways = shown.map(({ east_m, at_least }) => [at_least, east_m] as const)
  const onTheWay = ways.filter(([isLeast]) => isLeast)
  t.ok(onTheWay.length > 5 && onTheWay.every(([, east_m]) => east_m <= 9.05), JSON.stringify(ways))
  const last = shown.at(-1)
  t.ok(last && !last.at_least && sigmasOf(last, east(9)) < 3.5, JSON.stringify(last))
  t.match(errors[0].text, /a move of (9\.00|8\.99)\d* ± 0\.\d+ m east/)
})
