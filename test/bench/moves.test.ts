/** A small part of the bench `moves`: whether the move that is shown is the move that was made. */
import t from 'tap'
import { noCaptures } from '../harness/captures.js'
import { gateOnly } from '../harness/sample.js'
import { isAtMost, judge, type Life, lifeOf, live } from './moves.js'
import { fleetForMoves, liveStation, stationLifeOf, stationSigmas } from './moves-station.js'

t.setTimeout(3_000_000)

const enu = (east: number, north: number, up: number) => ({ east, north, up })
const still = { without: undefined, fault: undefined, start_s: 30_130 } as const

t.test('S1: a motion that was not held bends the past: the next move shows what it can be wrong by', async (t) => {
  const walk = { begin_s: 45, over_s: 5, way: enu(0.0216, -0.0054, 0.0079) }
  const lives: readonly (readonly [what: string, life: Life])[] = [
    [
      '4 cm down in 8 s, then 7 cm at once',
      {
        ...{
          ...still,
          start_s: 9_764,
          kind: 'pair',
          seconds: 261,
          capture: undefined,
          scene: { interval_s: 0.2, seed: 5289 },
        },
        legs: [
          { begin_s: 182, over_s: 8, way: enu(0.0028, -0.0031, -0.0424) },
          { begin_s: 201, over_s: 0, way: enu(0.0555, -0.0357, -0.0065) },
        ],
      },
    ],
    [
      'a walk of 2 cm in 5 s',
      {
        ...{ ...still, kind: 'walked', legs: [walk], seconds: 110, scene: { seed: 159 } },
        capture: { name: 'swiftnav_week-rollover-STR24.rtcm3', from: 459 },
      },
    ],
    [
      'a walk of 4 cm in 12 s, with 6 s of history',
      {
        ...{ ...still, kind: 'walked', seconds: 100, scene: { seed: 128 } },
        legs: [{ begin_s: 28, over_s: 12, way: enu(0.0281, -0.0348, -0.0056) }],
        capture: { name: 'swiftnav_dropped-packets-STR24.rtcm3', from: 920 },
      },
    ],
    [
      '3 cm while BeiDou is gone',
      {
        ...{ ...still, kind: 'constellation gone', without: 'BeiDou', seconds: 128, scene: { seed: 5145 } },
        legs: [{ begin_s: 68, over_s: 0, way: enu(0.0028, -0.019, -0.029) }],
        capture: { name: 'pygnssutils_pygpsdata-rtcm3.log', from: 7 },
      },
    ],
  ]
  for (const [what, life] of lives) {
    if (life.capture && noCaptures) continue
    const seen = live(life)
    const told = `${what}: ${seen.told.join(', ')}`
    if (!seen.shown) t.fail(`${what}: nothing is shown`)
    t.notOk(judge(seen).isSignWrong, told)
    t.ok(seen.shown?.isLeast ? isAtMost(seen) : judge(seen).sigmas <= 3, told)
  }
})

// Beyond those with which the limits of the watch were chosen, and before those of the bench.
const first = 8_000
t.test('S1: 60 moves of all kinds are shown as they were made', { skip: gateOnly }, async (t) => {
  let [shown, good] = [0, 0]
  for (let number = first; number < first + 50; number++) {
    const seen = live(lifeOf(number))
    const { sigmas, isSignWrong } = judge(seen)
    t.notOk(isSignWrong, `life ${number}: ${seen.told.join(', ')}`)
    if (!seen.shown || seen.shown.isLeast) continue
    shown++
    if (sigmas <= 3) good++
  }
  t.ok(shown >= 35 && good >= shown - 1, `${good} of ${shown} within three of their sigmas`)
  const fleet = await fleetForMoves()
  t.teardown(() => fleet.stop())
  for (let number = first; number < first + 10; number++) {
    const seen = await liveStation(stationLifeOf(number), { fleet, serial: `MOVES${number}` })
    t.same(seen.differs, [], `station ${number}`)
    const { sigmas, isSignWrong } = stationSigmas(seen)
    t.notOk(isSignWrong, `station ${number}: ${JSON.stringify(seen)}`)
    if (seen.shown && !seen.shown.at_least) t.ok(sigmas < 3.5, `station ${number}: ${JSON.stringify(seen)}`)
  }
})
