/**
 * Run in a network of its own: a browser that opens every page of a station. One JSON line for each look. Arguments: situations, the views of
 * each (`phone+desk`), themes, folder for screenshots (or '').
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { ControlClient } from '../../../runtime/tools/control/client.js'
import { until } from '../manual-clock.js'
import { rtkBase } from '../process.js'
import { localStation, openTab, startBrowser, tell } from './browser-rig.js'

/** What a page has, as far as it is asked for: the types of the DOM would be those of every file. */
interface InPage {
  location: { assign(url: string): void }
  document: {
    documentElement: { scrollWidth: number; clientWidth: number }
    querySelector(selector: string): { textContent: string | null } | null
  }
  axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
}

const [situations = '', views = '', themes = '', shots = ''] = process.argv.slice(2)
const sizes: Record<string, { width: number; height: number }> = {
  phone: { width: 390, height: 844 },
  desk: { width: 1440, height: 900 },
}
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const changes = ['gnss-survey-mintime=15', 'gnss-survey-accuracy=5', 'mqtt-host=127.0.0.1', 'mqtt-port=1883']
const station = await localStation(changes.flatMap((change) => ['--change', change]))
await rtkBase(['plugins', 'load', './examples/third-party-plugin', '--data', station.data])
const control = await ControlClient.open(station.data)
/** An image that comes a byte a second, until its server has enough of it. */
let isGone = false
const slow = createServer((_request, response) => {
  if (isGone) return response.writeHead(404).end()
  response.writeHead(200, { 'content-length': 10_000 }).write('a'.repeat(4_000))
  return setInterval(() => response.write('a'), 1_000).unref()
}).listen(0, '127.0.0.1')
await once(slow, 'listening')
const { port: slowPort } = slow.address() as { port: number }
const status = async () => (await station.info<{ gnss: { state: { status: string } } }>()).gnss.state.status
const is = (wanted: string) => until(async () => (await status()) === wanted, wanted)
const mqttUp = async () => (await station.info<{ mqtt: { state: { link: string } } }>()).mqtt.state.link === 'up'
const updating = async () => (await station.info<{ base: { update: { state: string } } }>()).base.update.state
const command = async (text: string) => (await fetch(`${station.url}/system?${text}`, { method: 'POST' })).text()

/** Situation → how the simulator gets there, and back. */
const ways: Record<string, [go: () => Promise<unknown>, back: () => Promise<unknown>]> = {
  'cold start': [async () => {}, async () => {}],
  fixed: [() => is('fixed'), async () => {}],
  surveying: [() => command('start-survey-in').then(() => is('survey')), () => is('fixed')],
  'antenna open': [() => command('sim=antenna%20open'), () => command('sim=antenna%20ok').then(() => is('fixed'))],
  jammed: [() => command('sim=jam%2030'), () => command('sim=jam%200')],
  'receiver gone': [
    () => command('sim=unplug').then(() => is('offline')),
    () => command('sim=replug').then(() => is('fixed')),
  ],
  'broker gone': [
    async () => {
      await until(mqttUp, 'the broker has the station')
      await control.call('unload', { plugin: 'mqtt-broker' })
      await until(async () => !(await mqttUp()), 'the broker is gone')
    },
    () => control.call('load', { plugin: 'mqtt-broker' }),
  ],
  'update running': [
    async () => {
      await command(`firmware=http://127.0.0.1:${slowPort}/next.img`)
      await until(async () => (await updating()) === 'downloading', 'the download')
    },
    async () => {
      isGone = true
      slow.closeAllConnections()
      await until(async () => (await updating()) === 'failed', 'its end')
    },
  ],
  moved: [() => command('sim=move%2030%200%200').then(() => is('moved')), () => command('sim=move%20-30%200%200')],
}

/** Their links are on the page for experts only. */
const experts = ['#/procedure', '#/commands', '#/plugins', '#/more']

const browser = await startBrowser()
for (const [index, situation] of situations.split(',').entries()) {
  const viewsNow = views.split(',')[index]?.split('+') ?? []
  if (situation === 'session expired') {
    await expired(viewsNow)
    continue
  }
  const way = ways[situation]
  if (!way) throw new Error(`no way to the situation ${situation}`)
  const [go, back] = way
  await go()
  for (const view of viewsNow) for (const theme of themes.split(',')) await look(situation, view, theme)
  await back()
}
await browser.close()
slow.closeAllConnections()
slow.close()
control.close()
await station.end()

async function look(situation: string, view: string, theme: string): Promise<void> {
  const { context, page, troubles } = await tab(view, theme)
  await page.goto(`${station.url}/`)
  await page.waitForSelector('.verdict-fit, .verdict-degraded, .verdict-unfit, .verdict-waiting')
  const links = await page.$$eval('nav a', (found) => found.map((link) => link.getAttribute('href') ?? ''))
  const paths = new Set([...links, ...experts])
  for (const path of paths) {
    await page.evaluate((hash) => (globalThis as unknown as InPage).location.assign(hash), path)
    await page.waitForSelector('main h1')
    await page.waitForTimeout(400)
    // On a busy machine the page may not have heard of the station for a while: it is pale then.
    await page.waitForSelector('.out-of-contact', { state: 'detached' })
    await report(page, { situation, view, theme, page: path.slice(2), troubles: troubles.splice(0) })
  }
  await context.close()
}

interface Look {
  situation: string
  view: string
  theme: string
  page: string
  troubles: string[]
}

async function report(page: Page, look: Look): Promise<void> {
  const name = [look.situation, look.page, look.view, look.theme].join('-')
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true })
  tell({ ...look, ...(await judged(page)) })
}

/** On a station of its own, as the others have no login. */
async function expired(viewsNow: readonly string[]): Promise<void> {
  const token = 'an-operators-secret'
  const guarded = await localStation([
    '--set',
    `http.token=${token}`,
    '--set',
    'mqtt-broker.port=0',
    '--change',
    'udp-port=2199',
  ])
  for (const view of viewsNow) {
    for (const theme of themes.split(',')) {
      const { context, page, troubles } = await tab(view, theme)
      await page.goto(guarded.url)
      await page.getByLabel('Password or token of the station').fill(token)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.waitForSelector('.verdict-fit, .verdict-degraded, .verdict-unfit, .verdict-waiting')
      const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
      await fetch(`${guarded.url}/session`, { method: 'DELETE', headers: { cookie } })
      await page.getByText('The session has ended').waitFor()
      // The browser itself writes down that it was refused.
      const own = troubles.filter((text) => !/401|ERR_INCOMPLETE_CHUNKED_ENCODING/.test(text))
      await report(page, { situation: 'session expired', view, theme, page: 'login', troubles: own })
      await context.close()
    }
  }
  await guarded.end()
}

async function tab(view: string, theme: string) {
  const colorScheme = theme === 'dark' ? 'dark' : 'light'
  const context = await browser.newContext({ viewport: sizes[view] ?? null, colorScheme, reducedMotion: 'reduce' })
  return { context, ...(await openTab(context)) }
}

/** What axe finds, whether the page is wider than the screen, and its heading. */
async function judged(page: Page): Promise<{ axe: string[]; tooWide: boolean; heading: string }> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { axe, document } = globalThis as unknown as InPage
    const { violations } = await axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    })
    return {
      axe: violations.map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ html }) => html.slice(0, 160))
            .join(' | ')}`,
      ),
      tooWide: document.documentElement.scrollWidth > document.documentElement.clientWidth + 1,
      heading: document.querySelector('main h1')?.textContent ?? '',
    }
  })
}
