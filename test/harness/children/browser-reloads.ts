/** Run in a network of its own: every plugin is reloaded while the page is open. */
import { ControlClient } from '../../../runtime/tools/control/client.js'
import { until } from '../manual-clock.js'
import { compare, localStation, openTab, startBrowser } from './browser-rig.js'

const station = await localStation()
const control = await ControlClient.open(station.data)
const browser = await startBrowser()
const { page, troubles } = await openTab(await browser.newContext())
await page.goto(`${station.url}/#/status`)
await page.waitForSelector('.verdict-fit, .verdict-degraded, .verdict-unfit, .verdict-waiting')
const plugins = (await control.call<{ name: string }[]>('list')).map(({ name }) => name)
for (const plugin of plugins) {
  await control.call('reload', { plugin })
  const before = await page.locator('.figures').innerText()
  // The time of the satellites goes on each second: whatever was reloaded, the page hears of it.
  const goesOn = await until(async () => (await page.locator('.figures').innerText()) !== before, 'news').then(
    () => true,
    () => false,
  )
  compare(`${plugin}: the page goes on`, goesOn, true)
}
await page.goto(`${page.url().split('#')[0]}#/plugins`)
await page.waitForSelector('main table, main .card')
compare('and other pages open', (await page.locator('main h1').innerText()).length > 0, true)
compare('nothing in the console', troubles, [])
control.close()
await browser.close()
await station.end()
