/** Stories of the page in a real browser, each in a network of its own: settings, updates, sessions, reloads. */
import { existsSync, mkdirSync } from 'node:fs'
import { gateOnly } from 'rtk-base/testing'
import t from 'tap'
import type { Finding } from '../harness/children/browser-rig.js'
import { inOwnNetwork, noBrowser } from '../harness/peers/own-network.js'

t.setTimeout(3_000_000)
const shots = process.env.RTK_BASE_SCREENSHOTS ?? ''
if (shots && !existsSync(shots)) mkdirSync(shots, { recursive: true })

for (const [name, what] of [
  ['browser-settings', 'every setting is changed, taken back, and set back by itself where it cut the page off'],
  ['browser-geometry', 'the bars of C/N0 and the bar to save stand where they belong'],
  ['browser-upload', 'an upload that breaks off is sent again'],
  ['browser-session', 'a session that ends asks for the login, and goes on after it'],
  ['browser-exact', 'from the guide to an exact position, in six taps, and the table of antennas'],
  ['browser-parts', 'the panel and the page of a third party, made of the same parts'],
  ['browser-strangers', 'pages of other origins'],
  ['browser-reloads', 'the page outlives a reload of every plugin'],
] as const) {
  t.test(what, { skip: noBrowser || gateOnly }, async (t) => {
    let count = 0
    for await (const { what, found, wanted } of inOwnNetwork<Finding>(t, name, [shots])) {
      t.strictSame(found, wanted, what)
      count += 1
    }
    t.ok(count > 5, `${count} findings`)
  })
}
