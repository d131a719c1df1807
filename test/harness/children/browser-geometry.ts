/** Run in a network of its own: where parts of the page that only a picture shows truly stand. */
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
  compare(`${view}: nothing in the console`, troubles, [])
}
await browser.close()
await station.end()
