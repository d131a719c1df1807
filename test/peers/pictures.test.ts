/**
 * Pictures of the page in its states, compared with the accepted ones: `npm run test:machine -- pictures`. Differences are written to the
 * folder in RTK_BASE_SCREENSHOTS. RTK_BASE_PICTURES=accept replaces the accepted pictures, RTK_BASE_PICTURES=record also the recorded
 * documents.
 */
import { machineOnly } from 'rtk-base/testing'
import t from 'tap'
import { inOwnNetwork, noBrowser } from '../harness/peers/own-network.js'

interface Look {
  /** Why nothing is compared. */
  skip?: string
  picture: string
  /** Pixels that differ, in parts of all. */
  part: number
  troubles: string[]
}

/** A number that changed its last digit is less, a moved button more. */
const most = 0.0015
const wanted = process.env.RTK_BASE_PICTURES ?? 'compare'
const folder = process.env.RTK_BASE_SCREENSHOTS ?? ''

t.setTimeout(1_200_000)
t.test('the page looks as it was accepted', { skip: machineOnly || noBrowser }, async (t) => {
  if (wanted === 'record') for await (const _none of inOwnNetwork(t, 'browser-pictures', ['record']));
  const mode = wanted === 'compare' ? 'compare' : 'accept'
  let count = 0
  let skipped = ''
  for await (const look of inOwnNetwork<Look>(t, 'browser-pictures', [mode, folder])) {
    if (look.skip) {
      skipped = look.skip
      continue
    }
    count += 1
    t.ok(look.part <= most, `${look.picture}: ${(100 * look.part).toFixed(2)} % of the pixels differ`)
    t.strictSame(look.troubles, [], `${look.picture}: no error of the page`)
  }
  if (skipped) t.pass(skipped, { skip: skipped })
  else t.ok(count >= 24, `${count} pictures`)
})
