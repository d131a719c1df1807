/** The page in a real browser, on an address of a local network: every page in every situation, and what a person does there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { childEnv, gateOnly, sample } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { packageRoot } from '../../runtime/build/release.js'
import type { Finding } from '../harness/children/browser-rig.js'
import { noPeer } from '../harness/peers/peers.js'

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
const root = process.getuid?.() === 0 ? false : 'only root may make network namespaces'
const shots = process.env.RTK_BASE_SCREENSHOTS ?? ''
const skip = noPeer('chromium') || root

/** Runs a program of `test/harness/children` in a network of its own. @returns what it says, a line at a time */
async function* told<T>(t: Test, name: string, ...args: string[]): AsyncGenerator<T> {
  const child = join(packageRoot(), 'build', 'test', 'harness', 'children', `${name}.js`)
  const command = `ip link set lo up && ip addr add 192.168.77.1/24 dev lo && exec "$0" "$@"`
  const browser = spawn('unshare', ['-n', 'sh', '-c', command, process.execPath, child, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnv(),
  })
  let trouble = ''
  browser.stderr.on('data', (chunk) => {
    trouble += chunk
  })
  const ended = once(browser, 'close')
  for await (const line of createInterface(browser.stdout)) if (line.startsWith('{')) yield JSON.parse(line) as T
  const [code] = await ended
  t.equal(code, 0, trouble)
}

t.test('every page', { skip: skip || (shots ? false : gateOnly) }, async (t) => {
  if (shots && !existsSync(shots)) mkdirSync(shots, { recursive: true })
  const pages = new Set<string>()
  const themes = all ? 'light,dark' : 'dark'
  const seen = new Set<string>()
  for await (const look of told<Look>(t, 'browser', situations.join(','), 'phone,desk', themes, shots)) {
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

for (const [name, what] of [
  ['browser-settings', 'every setting is changed, taken back, and set back by itself where it cut the page off'],
  ['browser-tasks', 'what a layman does on a phone, by taps'],
  ['browser-geometry', 'the bars of C/N0 and the bar to save stand where they belong'],
  ['browser-upload', 'an upload that breaks off is sent again'],
  ['browser-session', 'a session that ends asks for the login, and goes on after it'],
  ['browser-strangers', 'pages of other origins'],
  ['browser-reloads', 'the page outlives a reload of every plugin'],
] as const) {
  t.test(what, { skip: skip || gateOnly }, async (t) => {
    let count = 0
    for await (const { what, found, wanted } of told<Finding>(t, name, shots)) {
      t.strictSame(found, wanted, what)
      count += 1
    }
    t.ok(count > 5, `${count} findings`)
  })
}
