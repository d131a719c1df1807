/** Run in a network of its own: where parts of the page that only a picture shows truly stand. */
import { until } from '../manual-clock.js'
import { compare, localStation, openTab, startBrowser } from './browser-rig.js'

const views = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } }

/** Run in the page. */
const barsOfPage = `[...document.querySelector('.cno-bars').querySelectorAll('.cno-bar')].map((bar) => {
  const svg = bar.querySelector('svg').getBoundingClientRect()
  const [value, name] = [...bar.querySelectorAll('span')].map((one) => one.getBoundingClientRect())
  const { position, display } = getComputedStyle(bar)
  return {
    isStacked: value.bottom <= svg.top + 1 && svg.bottom <= name.top + 1,
    isTall: svg.height > 2.5 * svg.width && svg.width > 8,
    style: position + ' ' + display,
    left: Math.round(bar.getBoundingClientRect().left),
  }
})`
const saveBarOfPage = `(() => {
  const bar = document.querySelector('.save-bar')
  const box = bar.getBoundingClientRect()
  const { position, display } = getComputedStyle(bar)
  const buttons = [...bar.querySelectorAll('button')].map((button) => button.getBoundingClientRect())
  return {
    isInView: box.top >= 0 && box.bottom <= innerHeight + 1,
    isWide: box.width > 3 * box.height,
    areInside: buttons.length > 1 && buttons.every(({ top, bottom }) => top >= box.top && bottom <= box.bottom),
    style: position + ' ' + display,
  }
})()`
interface Bar {
  isStacked: boolean
  isTall: boolean
  style: string
  left: number
}

const station = await localStation(['--set', 'simulated-receiver.boot=fixed'])
const browser = await startBrowser()
type History = { figures: { fitness?: unknown[] } }
const history = async () => (await (await fetch(`${station.url}/history?figures=fitness&step=1`)).json()) as History
await until(async () => ((await history()).figures.fitness?.length ?? 0) > 3, 'curves of the day', 90_000)
for (const [view, viewport] of Object.entries(views)) {
  const { page, troubles } = await openTab(await browser.newContext({ viewport }))
  await page.goto(`${station.url}/#/sky`)
  await page.locator('.cno-bar').nth(4).waitFor()
  const bars = await page.evaluate<Bar[]>(barsOfPage)
  const wrong = bars.filter(({ isStacked, isTall, style }) => !isStacked || !isTall || style !== 'static grid')
  compare(`${view}: each C/N0 bar has its value above it and its name below`, wrong, [])
  compare(`${view}: bars stand beside each other`, new Set(bars.slice(0, 4).map(({ left }) => left)).size, 4)

  await page.goto(`${station.url}/#/settings`)
  await page.locator('.field').first().waitFor()
  compare(`${view}: without a change there is nothing to save`, await page.locator('.save-bar').count(), 0)
  await page.locator('.field input:not([type=checkbox])').first().fill('7')
  await page.locator('.save-bar').waitFor()
  const bar = { isInView: true, isWide: true, areInside: true, style: 'sticky flex' }
  compare(`${view}: the bar to save stands in view, across the form`, await page.evaluate(saveBarOfPage), bar)

  // What cannot be is said where it is typed, and no question is asked.
  await page.goto(`${station.url}/#/rtcm`)
  const mask = page.getByLabel('Elevation mask')
  await mask.fill('95')
  const beside = await mask.locator('xpath=ancestor::div[1]').innerText()
  compare(`W6: ${view}: a mask of 95° is refused at its field`, /Only 0 to 60\./.test(beside) || beside, true)
  const width_px = (await mask.boundingBox())?.width ?? 0
  compare(`W6: ${view}: a field of two digits is narrow`, width_px < 300 ? true : width_px, true)
  await mask.locator('xpath=ancestor::form[1]').getByRole('button', { name: 'Save' }).click()
  compare(`W6: ${view}: and asks nothing`, await page.getByRole('dialog').count(), 0)

  // A file with a mistyped name is refused before anything is sent.
  await page.goto(`${station.url}/#/settings`)
  await page.getByText('Settings as a file').click()
  const file = { 'rtk-base': '1', serial: 'X', changes: { 'station-name': 'Other', 'udp-prot': 2_199 } }
  const buffer = Buffer.from(JSON.stringify(file))
  await page.getByLabel('Load settings from a file').setInputFiles({ name: 's.json', mimeType: 'text/json', buffer })
  const review = page.getByRole('dialog')
  const note = await review.innerText()
  compare(
    `C9: ${view}: a mistyped name is named, with what was meant`,
    /udp-prot \(udp-port\?\)/.test(note) || note,
    true,
  )
  const apply = review.getByRole('button', { name: 'Apply' })
  compare(`C9: ${view}: and the file is not sent`, await apply.isDisabled(), true)
  await page.keyboard.press('Escape')

  // One colouring of a time, shares that add up, and titles that say what the axis shows.
  for (const path of ['timeline', 'status']) {
    await page.goto(`${station.url}/#/${path}`)
    await page.locator('.day-band').first().waitFor()
    // Band and curves are asked for one by one: a card that has not got its answer says what it was asked for.
    const claims = page.locator('main').filter({ hasText: '24 hours' })
    await claims.waitFor({ state: 'detached' }).catch(() => {})
    compare(`W1: ${view}, ${path}: one band of the day`, await page.locator('.day-band, svg.band').count(), 1)
    const text = await page.locator('main').innerText()
    const legend = await page.locator('main .day-axis + .legend').innerText()
    const shares = [...legend.matchAll(/(\d+) %/g)].map(([, percent]) => Number(percent))
    compare(
      `W1: ${view}, ${path}: shares add up`,
      shares.reduce((sum, one) => sum + one, 0),
      100,
    )
    compare(`W1: ${view}, ${path}: a young station claims no day`, /24 hours/.exec(text)?.[0] ?? '', '')
  }

  await page.goto(`${station.url}/#/positions`)
  await page.locator('#position-text').fill('somewhere')
  await page.getByRole('button', { name: 'Review', exact: true }).click()
  const focused = 'document.activeElement.id'
  compare(`W6: ${view}: a position that cannot be read is shown again`, await page.evaluate(focused), 'position-text')
  compare(
    `W6: ${view}: with the reason beside it`,
    await page.locator('#position-help .trouble').innerText(),
    'This is not a position that can be read.',
  )

  await page.getByRole('button', { name: 'Search', exact: true }).first().click()
  await page.locator('#search').fill('mask')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  compare(`W6: ${view}: one Escape closes the search`, await page.getByRole('dialog').count(), 0)
  compare(`${view}: nothing in the console`, troubles, [])
}
await browser.close()
await station.end()
