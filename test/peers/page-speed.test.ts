/**
 * How soon the page shows the verdict on slow machines and lines, and what it costs while it stays open: `npm run test:machine --
 * page-speed`. RTK_BASE_PAGE_MIN sets the minutes that it stays open.
 */
import { machineOnly } from 'rtk-base/testing'
import t from 'tap'
import { inOwnNetwork, noBrowser } from '../harness/peers/own-network.js'

const minutes = Number(process.env.RTK_BASE_PAGE_MIN ?? 30)

t.setTimeout((minutes + 5) * 60_000)
t.test('the page is quick, and cheap to keep open', { skip: machineOnly || noBrowser }, async (t) => {
  let count = 0
  for await (const { what, found, wanted } of inOwnNetwork<Figure>(t, 'browser-speed', [String(minutes)])) {
    count += 1
    t.ok(found <= wanted, `${what}: ${found}, at most ${wanted}`)
  }
  t.equal(count, 4)
})

interface Figure {
  what: string
  found: number
  wanted: number
}
