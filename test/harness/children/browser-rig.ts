/**
 * What the children of the browser test share: a station on an address of a local network (127.0.0.1 is a secure context and hides what
 * fails on a roof), a browser, and one JSON line for each thing that was looked at. They run in a network of their own, so ports are free.
 */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { longestWait_ms } from '../longest-wait.js'
import { type StationProcess, type StationProcessOptions, startStation } from '../process.js'

export const address = '192.168.77.1'

/** What was found of something, and what it should be: the test compares them. */
export interface Finding {
  what: string
  found: unknown
  wanted: unknown
}
export const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
export const compare = (what: string, found: unknown, wanted: unknown): void =>
  tell({ what, found, wanted } satisfies Finding)

export const localStation = (args: readonly string[] = [], options?: StationProcessOptions): Promise<StationProcess> =>
  startStation(
    [
      ...['--change', 'ntrip-caster-port=0', '--set', 'mqtt-broker.port=1883', '--set', `http.host=${address}`],
      ...args,
    ],
    options,
  )

export const startBrowser = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', ...args] })

/** A tab, and what its console complained of. */
export async function openTab(context: BrowserContext): Promise<{ page: Page; troubles: string[] }> {
  const page = await context.newPage()
  page.setDefaultTimeout(longestWait_ms)
  const troubles: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(error.message))
  return { page, troubles }
}

export const post = async (station: StationProcess, path: string, body?: unknown): Promise<string> => {
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  return (await fetch(`${station.url}${path}`, { method: 'POST', ...init })).text()
}

/** Waits for a text of the page; @returns it, or what is there instead */
export async function textWith(page: Page, selector: string, wanted: RegExp): Promise<string> {
  const found = page.locator(selector).filter({ hasText: wanted }).first()
  await found.waitFor({ state: 'visible' }).catch(() => {})
  const texts = (await found.count()) > 0 ? [await found.innerText()] : await page.locator(selector).allInnerTexts()
  return texts.join(' | ')
}
