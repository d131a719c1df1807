/** What a router at rest is asked by both plugins together: one poller reads for both. */
import t from 'tap'
import modem from '../../../../plugins/network/modem/index.js'
import type { AnyPlugin } from '../../../../runtime/plugin.js'
import { FakeRouter } from './fake-router.js'
import { startRig } from './rig.js'
import { current, legacy, rest } from './shapes.js'

const minutes = 10
/** Requests in that time, of which those of one operation, counted by one of its calls. */
const worlds = {
  legacy: { shape: legacy(), requests: 150, calls: { 'system.info': 21 } },
  current: {
    shape: current(),
    requests: 162,
    calls: { 'gsm.modem0.get_signal_query': 45, 'gsm.modem0.get_net_reg_stat_all': 47, 'gsm.modem0.get_pin_state': 11 },
  },
  rest: { shape: rest(), requests: 150, calls: { 'GET /api/modems/status': 130 } },
}

for (const [name, { shape, requests, calls }] of Object.entries(worlds))
  t.test(name, async (t) => {
    const users = { admin: 'right', root: 'right' }
    const router = await new FakeRouter({ ...shape, users }).listen(t)
    const plugins = { modem: modem as AnyPlugin }
    const rig = await startRig(t, { url: router.url, changes: { 'rtr-pswd': 'right' }, plugins })
    await rig.reach('online')
    await rig.pass(2 * 60_000, 1_000)
    let count = 0
    router.fault = () => {
      count++
      return false
    }
    router.asked.length = 0
    await rig.pass(minutes * 60_000, 1_000)
    t.ok(count <= requests, `${count} requests in ${minutes} min`)
    for (const [call, most] of Object.entries(calls)) {
      const made = router.asked.filter((one) => one.name === call).length
      t.ok(made > most / 2 && made <= most, `${made} times ${call}`)
    }
    t.equal(router.mostInFlight, 1)
  })
