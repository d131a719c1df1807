/** A station, a tab of it, and what tasks need of both. */
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { until } from '../../manual-clock.js'
import type { StationProcess } from '../../process.js'
import { compare, openTab, textWith } from '../browser-rig.js'
import { Hands, type Mode, modes } from './hands.js'

/** The parts of the document that tasks look at. */
export interface Document {
  esp: { serial: string; version: string }
  base: { name: string; state: { trial?: object } }
  gnss: { state: { status: string }; ref: { chosen: string; override?: object; survey: { allow_use: number } } }
  ntrip: { server: { state: string }[]; caster: { port: number } }
  /** With a network to join only. */
  sta?: { ssid: string; ip4: string }
  eth?: { ip: string }
  modem: { cfg: { apn: string; plmn: number } }
}

export class Player {
  readonly hands: Hands
  readonly page: Page
  readonly station: StationProcess
  readonly #mode: Mode
  readonly #troubles: string[]
  readonly #shots: string

  constructor(tab: { page: Page; troubles: string[] }, mode: Mode, station: StationProcess, shots: string) {
    this.page = tab.page
    this.hands = new Hands(tab.page, mode)
    this.station = station
    this.#mode = mode
    this.#troubles = tab.troubles
    this.#shots = shots
  }

  static async start(browser: Browser, mode: Mode, station: StationProcess, shots: string): Promise<Player> {
    const context = await browser.newContext({ viewport: modes[mode], locale: 'en', hasTouch: mode === 'finger' })
    return new Player(await openTab(context), mode, station, shots)
  }

  /** Begins on the first page, or on another one that a person has open already. One picture at its end. */
  async task(name: string, most: number, play: () => Promise<void>, from = 'status'): Promise<void> {
    const { hands, page } = this
    await page.goto(`${this.station.url}/#/${from}`)
    await page.waitForSelector('.verdict-fit, .verdict-degraded, .verdict-unfit, .verdict-waiting')
    hands.taps = 0
    try {
      await play()
    } catch (error) {
      const shown = await page.locator('main').innerText()
      compare(`${name}: ends`, `${error}\nwhile the page shows:\n${shown}`, '')
    }
    compare(`${name}: at most ${most} taps`, hands.taps <= most || hands.taps, true)
    compare(`${name}: the focus is always seen`, hands.stumbles.splice(0), [])
    if (this.#shots !== '')
      await page.screenshot({ path: join(this.#shots, `task ${this.#mode} ${name.replaceAll(/[^\w ]/g, '')}.png`) })
  }

  /** @param expected by the browser, which reports every refused request */
  quiet(expected: RegExp): void {
    compare(
      'nothing else in the console',
      this.#troubles.filter((text) => !expected.test(text)),
      [],
    )
  }

  tap = (what: Locator): Promise<void> => this.hands.tap(what)
  group = (name: string): Locator => this.page.locator('a.group').filter({ hasText: name })
  /** Of the open group: above the content on a phone, in the column at a desk. */
  tab = (name: string): Locator => this.page.locator('.tabs, .within').getByRole('link', { name, exact: true })
  button = (name: string | RegExp): Locator => this.page.locator('main').getByRole('button', { name })
  field = (name: string): Locator => this.page.locator('main').getByLabel(name, { exact: true })
  yes = (name: string | RegExp): Locator => this.page.getByRole('dialog').getByRole('button', { name })
  /** What opens more of a card. */
  more = (name: string): Locator => this.page.locator('main summary').filter({ hasText: name })

  info = (): Promise<Document> => this.station.info<Document>()
  is = (status: string): Promise<void> => until(async () => (await this.info()).gnss.state.status === status, status)

  async says(what: string, selector: string, text: RegExp): Promise<void> {
    const found = await textWith(this.page, selector, text)
    compare(what, text.test(found) || found, true)
  }
}
