/**
 * Moves of the antenna on the whole application, with the simulated receiver: its geometry is exact, what it says of the satellites
 * is in whole degrees. What counts is what leaves: no observation later than 4 s after the antenna is 5 cm away.
 */
import t, { type Test } from 'tap'
import { isMsm } from '../../../runtime/lib/gnss/index.js'
import { gateOnly, sample } from '../../harness/index.js'
import { setUp } from '../receivers/simulator-rig.js'

t.setTimeout(3_000_000)

/** A rover notices it. */
const far_m = 0.05
/** For the move to be seen, and for what is on its way. */
const allowed_s = 4
const sizes_m = [0.03, 0.05, 0.5, 3, 4, 5, 6, 9, 15, 30, 100]
const lasts_s = [0, 1, 3, 6, 20]
const begins_s = [5, 60, 900]

interface Life {
  size_m: number
  over_s: number
  begin_s: number
  seed: number
}

const directions = [
  [1, 0, 0],
  [-0.6, 0.8, 0],
  [0, -0.8, 0.6],
  [0.5, 0.5, -Math.SQRT1_2],
] as const

/** @returns seconds from the antenna being away by 5 cm, or by its whole way, to the last observation that left; below 0: held before */
async function live(t: Test, { size_m, over_s, begin_s, seed }: Life): Promise<number> {
  const rig = await setUp(t, { simulator: { seed }, survey: { initial_s: 60 } })
  await rig.until(() => rig.field('state.status') === 'fixed', 300)
  await rig.seconds(begin_s)
  const [east, north, up] = directions[seed % directions.length]
  rig.simulated.move(east * size_m, north * size_m, up * size_m, over_s)
  const away_s = Math.max(1, Math.ceil((over_s * Math.min(far_m, size_m)) / size_m))
  rig.sent.length = 0
  let last_s = 0
  for (let second = 1; second <= away_s + 40; second++) {
    await rig.seconds(1)
    if (rig.sent.some(({ type }) => isMsm(type))) last_s = second
    rig.sent.length = 0
  }
  await rig.station.stop()
  return last_s - away_s
}

/** What no phase shows in time: satellite clocks and the troposphere wander as much. See the datasheet. */
const isCreep = ({ size_m, over_s }: Life) => over_s > 0 && size_m / over_s < 0.005

const lives: Life[] = begins_s.flatMap((begin_s) =>
  lasts_s.flatMap((over_s) => sizes_m.map((size_m) => ({ size_m, over_s, begin_s, seed: 0 }))),
)

t.test('no observation leaves later than 4 s after the antenna is 5 cm away', async (t) => {
  const count = sample(1, 2 * lives.length, 6)
  const tally = { near: 0, nearInTime: 0, creeps: 0, creepsInTime: 0 }
  for (let first = 0; first < count; first += 12) {
    // A dozen stations at a time: what a test set up lives as long as that test.
    await t.test(`lives ${first + 1} to ${Math.min(count, first + 12)}`, async (t) => {
      for (let n = first; n < Math.min(count, first + 12); n++) {
        // Steps that have no factor in common with the table reach all of it.
        const life = { ...lives[(n * 23) % lives.length], seed: n + 1 }
        const late_s = await live(t, life)
        const what = `${life.size_m} m over ${life.over_s} s, ${life.begin_s} s after fixed: ${late_s} s`
        if (isCreep(life)) {
          tally.creeps++
          if (late_s <= allowed_s) tally.creepsInTime++
          t.comment(what)
        } else if (life.size_m < far_m) {
          tally.near++
          if (late_s <= 3) tally.nearInTime++
          t.comment(what)
        } else t.ok(late_s <= allowed_s, what)
      }
    })
  }
  const { near, nearInTime, creeps, creepsInTime } = tally
  t.ok(nearInTime >= 0.95 * near - 1, `${nearInTime} of ${near} moves of 3 cm are held within 3 s`)
  t.comment(`${creepsInTime} of ${creeps} creeps below 5 mm/s are held in time`)
})

t.test('a walk of 9 m is reported with its size, not with its first centimetres', async (t) => {
  const rig = await setUp(t)
  await rig.until(() => rig.field('state.status') === 'fixed', 300)
  await rig.seconds(120)
  rig.simulated.move(9, 0, 0, 3)
  await rig.until(() => rig.field('state.status') === 'moved', 10)
  await rig.seconds(3)
  const [text] = rig.station.device.errors().map((error) => error.text)
  const size_m = Number(/a move of (?:at least )?([\d.]+) ± [\d.]+ m/.exec(text ?? '')?.[1])
  t.ok(size_m > 2.5, text)
})

t.test(
  'without carrier phases the code holds what is far beyond its errors, within 45 s',
  { skip: gateOnly },
  async (t) => {
    const moves = [
      [12, 0],
      [0, 18],
    ] as const
    for (const [east, up] of moves.slice(sample(1, 0))) {
      const rig = await setUp(t, { survey: { phases: { enabled: false, threshold_m: 0.03 } } })
      await rig.until(() => rig.field('state.status') === 'fixed', 300)
      await rig.seconds(900)
      t.equal(rig.field('state.status'), 'fixed')
      rig.simulated.move(east, 0, up)
      const after_s = await rig.until(() => rig.field('state.status') !== 'fixed', 120)
      t.ok(after_s <= 45, `E ${east} U ${up} m: ${after_s} s`)
    }
  },
)
