/** A whole day of the station on the simulated receiver. In a file of its own: it takes as long as all the others. */
import t from 'tap'
import { setUp } from './simulator-rig.js'

// 86,400 epochs of the real path: a minute or two of computing.
t.setTimeout(900_000)

t.test('24 simulated hours unmoved raise no alarm; then a move of 30 m is held in 30 s', async (t) => {
  // Observations are encoded less often: the check does not live on them.
  const rig = await setUp(t, { rtcm: { msmInterval_s: 30 } })
  await rig.until(() => rig.arps().length > 0, 60)
  let far_m = 0
  for (let minute = 0; minute < 24 * 60; minute++) {
    await rig.clock.advance(60_000)
    far_m = Math.max(far_m, rig.field('pos.delta') as number)
    rig.sent.length = 0
    if (rig.field('state.status') !== 'fixed') break
  }
  t.equal(rig.field('state.status'), 'fixed')
  t.strictSame(rig.station.device.errors(), [])
  t.ok(far_m < 8, `at most ${far_m.toFixed(1)} m`)
  rig.simulated.move(0, 0, 30)
  const seconds = await rig.until(() => rig.field('state.status') === 'moved', 40)
  t.ok(seconds <= 30, `${seconds} s`)
})
