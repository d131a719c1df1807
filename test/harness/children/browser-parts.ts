/** Run in a network of its own: the panel and the page of a third party, made of the parts of `rtk-base/page/ui`. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { packageRoot } from '../../../runtime/platform/release.js'
import { ControlClient } from '../../../runtime/tools/control/client.js'
import { until } from '../manual-clock.js'
import { compare, localStation, openTab, startBrowser, textWith } from './browser-rig.js'

/** What the page can use, as far as it is asked for. */
interface InPage {
  axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
}
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const token = 'an-operators-secret'
const station = await localStation(['--set', `http.token=${token}`])
const control = await ControlClient.open(station.data)
await control.call('load', { plugin: join(packageRoot(), 'examples', 'third-party-plugin') })
const headers = { authorization: `Bearer ${token}` }
const least = async () => {
  const document = (await (await fetch(`${station.url}/get-info`, { headers })).json()) as {
    'epoch-meter': { min_satellites: number }
  }
  return document['epoch-meter'].min_satellites
}

async function look(page: Page, what: string): Promise<void> {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as InPage).axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
  })
  compare(`${what}: axe finds nothing`, found, [])
}

const logIn = async (page: Page) => {
  await page.getByLabel('Password or token of the station').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** What both have, and what a person does there. */
async function use(page: Page, what: string, wanted: number): Promise<void> {
  const bars = page.locator('svg.epoch-meter rect')
  const isDrawn = await until(async () => (await bars.count()) > 0, 'bars').then(
    () => true,
    () => false,
  )
  compare(`${what}: the epochs are drawn`, isDrawn, true)
  const box = await page.locator('svg.epoch-meter').boundingBox()
  compare(`${what}: with its own style`, (box?.height ?? 0) > 100, true)
  const field = page.getByLabel('Fewest satellites of a good epoch')
  await field.fill('201')
  await page.getByRole('button', { name: 'Save' }).click()
  const isWrong = await page.locator('.entry .trouble').innerText()
  compare(`${what}: what is wrong stands at the field`, isWrong, 'A whole number from 0 to 200.')
  await field.fill(String(wanted))
  await page.keyboard.press('Enter')
  compare(`${what}: it is saved`, /Saved/.test(await textWith(page, '[role=status]', /Saved/)), true)
  compare(`${what}: at the station`, await least(), wanted)
  await page.getByRole('button', { name: 'Start counting anew' }).click()
  await page.getByRole('button', { name: 'Yes, run it' }).click()
  const answer = /all counts are 0/i
  compare(`${what}: the action answers`, answer.test(await textWith(page, '[role=status]', answer)), true)
  await look(page, what)
}

const browser = await startBrowser()
for (const [what, path, wanted] of [
  ['page', '/epoch-meter/page', 5],
  ['panel', '/#/panel/epoch-meter', 6],
] as const) {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 } })
  const { page, troubles } = await openTab(context)
  await page.goto(station.url + path)
  await logIn(page)
  await page.getByRole('heading', { name: 'Epoch meter', level: 1 }).waitFor()
  await use(page, what, wanted)
  await page.locator('footer select').nth(1).selectOption('de')
  const german = await textWith(page, 'dt', /Gesendete Epochen/)
  compare(`${what}: in German`, german, 'Gesendete Epochen')
  compare(
    `${what}: nothing in the console`,
    troubles.filter((one) => !/401/.test(one)),
    [],
  )
  await context.close()
}
control.close()
await browser.close()
await station.end()
