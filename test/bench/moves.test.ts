/** A small part of the bench `moves`: whether the move that is shown is the move that was made. */
import t from 'tap'
import { gateOnly } from '../harness/sample.js'
import { judge, lifeOf, live } from './moves.js'
import { liveStation, stationLifeOf, stationSigmas } from './moves-station.js'

t.setTimeout(3_000_000)

t.test('S1: 60 moves of all kinds are shown as they were made', { skip: gateOnly }, async (t) => {
  let [shown, good] = [0, 0]
  for (let number = 0; number < 50; number++) {
    const seen = live(lifeOf(number))
    const { sigmas, isSignWrong } = judge(seen)
    t.notOk(isSignWrong, `life ${number}: ${seen.told.join(', ')}`)
    if (!seen.shown || seen.shown.isLeast) continue
    shown++
    if (sigmas <= 3) good++
  }
  t.ok(shown >= 35 && good >= shown - 1, `${good} of ${shown} within three of their sigmas`)
  for (let number = 0; number < 10; number++) {
    const seen = await liveStation(stationLifeOf(number))
    t.same(seen.differs, [], `station ${number}`)
    if (seen.shown && !seen.shown.at_least)
      t.ok(stationSigmas(seen) < 3.5, `station ${number}: ${JSON.stringify(seen)}`)
  }
})
