/**
 * Run in a network of its own: a station on an address of a local network (127.0.0.1 is a secure context and hides what fails on a roof), and
 * a browser that opens every page of it. One JSON line for each look. Arguments: situations, views, themes, folder for screenshots (or '').
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { until } from '../manual-clock.js'
import { rtkBase, startStation } from '../process.js'

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
const address = '192.168.77.1'
const sizes: Record<string, { width: number; height: number }> = {
  phone: { width: 390, height: 844 },
  desk: { width: 1440, height: 900 },
}
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const ready = ['--change', 'gnss-survey-mintime=15', '--change', 'gnss-survey-accuracy=5']
const station = await startStation([
  ...ready,
  '--change',
  'ntrip-caster-port=0',
  '--set',
  'mqtt-broker.port=0',
  '--set',
  `http.host=${address}`,
])
await rtkBase(['plugins', 'load', './examples/third-party-plugin', '--data', station.data])
const status = async () => (await station.info<{ gnss: { state: { status: string } } }>()).gnss.state.status
const is = (wanted: string) => until(async () => (await status()) === wanted, wanted, 120_000)
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
  moved: [() => command('sim=move%2030%200%200').then(() => is('moved')), () => command('sim=move%20-30%200%200')],
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
for (const situation of situations.split(',')) {
  const [go, back] = ways[situation] ?? ways.fixed ?? []
  await go?.()
  for (const view of views.split(',')) for (const theme of themes.split(',')) await look(situation, view, theme)
  await back?.()
}
await browser.close()
await station.end()

async function look(situation: string, view: string, theme: string): Promise<void> {
  const colorScheme = theme === 'dark' ? 'dark' : 'light'
  const context = await browser.newContext({ viewport: sizes[view] ?? null, colorScheme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(error.message))
  await page.goto(`${station.url}/`)
  await page.waitForSelector('.verdict-fit, .verdict-degraded, .verdict-unfit')
  const paths = await page.$$eval('nav a', (links) => links.map((link) => link.getAttribute('href') ?? ''))
  for (const path of paths) {
    await page.evaluate((hash) => (globalThis as unknown as InPage).location.assign(hash), path)
    await page.waitForSelector('main h1')
    await page.waitForTimeout(400)
    if (shots)
      await page.screenshot({ path: join(shots, `${situation}-${path.slice(2)}-${view}-${theme}.png`), fullPage: true })
    const found = { situation, view, theme, page: path.slice(2), troubles: troubles.splice(0), ...(await judged(page)) }
    process.stdout.write(`${JSON.stringify(found)}\n`)
  }
  await context.close()
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
