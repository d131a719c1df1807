/** The page in a real browser, on an address of a local network: every page in every situation, and what a person does there. */
import { existsSync, mkdirSync } from 'node:fs'
import { gateOnly, machineOnly, sample } from 'rtk-base/testing'
import t from 'tap'
import type { Finding } from '../harness/children/browser-rig.js'
import { inOwnNetwork, noBrowser } from '../harness/peers/own-network.js'

interface Look {
  situation: string
  view: string
  theme: string
  page: string
  heading: string
  troubles: string[]
  axe: string[]
  tooWide: boolean
}

t.setTimeout(3_000_000)
const all = sample(0, 1) === 1
const situations = all
  ? [
      'cold start',
      'fixed',
      'surveying',
      'antenna open',
      'jammed',
      'receiver gone',
      'broker gone',
      'update running',
      'moved',
      'session expired',
    ]
  : ['fixed', 'antenna open']
/** How each is looked at: in the gate a desk shows one of them. */
const views = all ? situations.map(() => 'phone+desk') : ['phone+desk', 'phone']
const shots = process.env.RTK_BASE_SCREENSHOTS ?? ''

t.test('every page', { skip: noBrowser || (shots ? false : gateOnly) }, async (t) => {
  if (shots && !existsSync(shots)) mkdirSync(shots, { recursive: true })
  const pages = new Set<string>()
  const themes = all ? 'light,dark' : 'dark'
  const seen = new Set<string>()
  for await (const look of inOwnNetwork<Look>(t, 'browser', [situations.join(','), views.join(','), themes, shots])) {
    const { situation, view, theme, page, heading, troubles, axe, tooWide } = look
    pages.add(page)
    seen.add(situation)
    const what = `${page}, ${situation}, ${view}, ${theme}`
    t.not(heading, '', what)
    t.strictSame(troubles, [], `${what}: no error in the console, no report of the policy`)
    t.strictSame(axe, [], `${what}: axe finds nothing`)
    t.notOk(tooWide, `${what}: fits the screen`)
  }
  t.ok(pages.size >= 12, [...pages].join(' '))
  t.strictSame([...seen], situations)
})

for (const [mode, what, skip] of [
  ['finger', 'by finger on a phone', gateOnly],
  ['keys', 'by keyboard at a desk', machineOnly],
] as const) {
  t.test(`what a layman does, ${what}`, { skip: noBrowser || skip }, async (t) => {
    let count = 0
    for await (const { what, found, wanted } of inOwnNetwork<Finding>(t, 'browser-tasks', [mode, shots])) {
      t.strictSame(found, wanted, what)
      count += 1
    }
    t.ok(count > 80, `${count} findings`)
  })
}
