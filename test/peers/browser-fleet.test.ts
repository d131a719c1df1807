/** The page of a fleet of ten thousand stations in a real browser: every page, what people do there, and texts that are HTML. */
import { gateOnly } from 'rtk-base/testing'
import t from 'tap'
import type { Finding } from '../harness/children/browser-rig.js'
import { inOwnNetwork, noBrowser } from '../harness/peers/own-network.js'

t.setTimeout(3_000_000)
const shots = process.env.RTK_BASE_SCREENSHOTS ?? ''

t.test('the page of a fleet', { skip: noBrowser || (shots ? false : gateOnly) }, async (t) => {
  let last = ''
  for await (const { what, found, wanted } of inOwnNetwork<Finding>(t, 'browser-fleet', ['10000', shots])) {
    t.strictSame(found, wanted, what)
    last = what
  }
  t.equal(last, 'end', 'all of it was looked at')
})
