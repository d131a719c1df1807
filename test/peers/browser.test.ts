/** The page in a real browser, on an address of a local network: every page, in every situation. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { childEnv, gateOnly, sample } from 'rtk-base/testing'
import t from 'tap'
import { packageRoot } from '../../runtime/build/release.js'
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
  ? ['cold start', 'fixed', 'surveying', 'antenna open', 'jammed', 'receiver gone', 'moved']
  : ['fixed', 'antenna open']
const root = process.getuid?.() === 0 ? false : 'only root may make network namespaces'
const shots = process.env.RTK_BASE_SCREENSHOTS ?? ''

t.test('every page', { skip: noPeer('chromium') || root || (shots ? false : gateOnly) }, async (t) => {
  if (shots && !existsSync(shots)) mkdirSync(shots, { recursive: true })
  const child = join(packageRoot(), 'build', 'test', 'harness', 'children', 'browser.js')
  const themes = all ? 'light,dark' : 'dark'
  const command = `ip link set lo up && ip addr add 192.168.77.1/24 dev lo && exec "$0" "$@"`
  const args = ['-n', 'sh', '-c', command, process.execPath, child, situations.join(','), 'phone,desk', themes, shots]
  const browser = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'], env: childEnv() })
  let trouble = ''
  browser.stderr.on('data', (chunk) => {
    trouble += chunk
  })
  const ended = once(browser, 'close')
  const pages = new Set<string>()
  for await (const line of createInterface(browser.stdout)) {
    if (!line.startsWith('{')) continue
    const { situation, view, theme, page, heading, troubles, axe, tooWide } = JSON.parse(line) as Look
    pages.add(page)
    const what = `${page}, ${situation}, ${view}, ${theme}`
    t.not(heading, '', what)
    t.strictSame(troubles, [], `${what}: no error in the console, no report of the policy`)
    t.strictSame(axe, [], `${what}: axe finds nothing`)
    t.notOk(tooWide, `${what}: fits the screen`)
  }
  const [code] = await ended
  t.equal(code, 0, trouble)
  t.ok(pages.size >= 12, [...pages].join(' '))
})
