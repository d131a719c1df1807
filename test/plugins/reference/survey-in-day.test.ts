/** A whole day of the station on the simulated receiver, in the gate. In a file of its own: it takes as long as all the others. */
import t from 'tap'
import { gateOnly, sample } from '../../harness/index.js'
import { setUp } from '../receivers/simulator-rig.js'

// 86,400 epochs of the real path: minutes of computing.
t.setTimeout(1_800_000)

const minutes = sample(3, 24 * 60, 20)
/** Flash wears: some writes for what a new base determines in its first minutes; 50 in the whole day. */
const mostWrites = 5 + (45 * minutes) / (24 * 60)

t.test('a day in typical noise raises no alarm; then a move of 5 cm is held in 3 s', async (t) => {
  t.comment(`${minutes} min`)
  const rig = await setUp(t)
  await rig.until(() => rig.arps().length > 0, 60)
  rig.simulated.noise('typical')
  const writtenBefore = rig.store.writes
  let far_m = 0
  for (let minute = 0; minute < minutes; minute++) {
    await rig.clock.advance(60_000)
    far_m = Math.max(far_m, rig.field('pos.delta') as number)
    rig.sent.length = 0
    if (rig.field('state.status') !== 'fixed') break
  }
  t.equal(rig.field('state.status'), 'fixed')
  t.strictSame(rig.station.device.errors(), [])
  const writes = rig.store.writes - writtenBefore
  t.comment(`${writes} writes of the settings`)
  t.ok(writes <= mostWrites, `at most ${mostWrites}`)
  t.ok(far_m < 8, `at most ${far_m.toFixed(1)} m`)
  rig.simulated.move(0.04, 0, 0.03)
  const seconds = await rig.until(() => rig.field('state.status') !== 'fixed', 40)
  t.ok(seconds <= 3, `${seconds} s`)
})

t.test('observations and 1005 that come every 30 s make a base as well', { skip: gateOnly }, async (t) => {
  const rig = await setUp(t, { rtcm: { msmInterval_s: 30, referenceInterval_s: 30 } })
  await rig.until(() => rig.field('state.status') === 'fixed', 150)
  await rig.seconds(600)
  t.equal(rig.field('state.status'), 'fixed')
  t.strictSame(rig.station.device.errors(), [])
})
