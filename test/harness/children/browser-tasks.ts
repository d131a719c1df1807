/** Run in a network of its own: what a layman does, on a phone of 390 px; taps are counted, typing is not. One picture after each task. */
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { until } from '../manual-clock.js'
import { compare, localStation, openTab, post, startBrowser, textWith } from './browser-rig.js'

const [shots = ''] = process.argv.slice(2)
const station = await localStation(['--set', 'simulated-receiver.boot=fixed'])
const browser = await startBrowser()
const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'en', hasTouch: true })
const { page, troubles } = await openTab(context)

type Document = {
  esp: { serial: string }
  base: { name: string }
  gnss: { state: { status: string }; ref: { chosen: string; override?: object } }
}
const info = () => station.info<Document>()
const is = (status: string) => until(async () => (await info()).gnss.state.status === status, status, 120_000)

let taps = 0
const tap = async (what: Locator) => {
  taps += 1
  await what.first().tap()
}
const group = (name: string) => page.locator('.groups').getByRole('link', { name, exact: true })
const tab = (name: string) => page.locator('.tabs').getByRole('link', { name, exact: true })
const button = (name: string | RegExp) => page.locator('main').getByRole('button', { name })
const yes = (name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name })

/** Each begins on the first page. */
async function task(name: string, most: number, play: () => Promise<void>): Promise<void> {
  await page.goto(`${station.url}/#/status`)
  await page.waitForSelector('.verdict-fit, .verdict-degraded, .verdict-unfit, .verdict-waiting')
  taps = 0
  await play()
  compare(`${name}: at most ${most} taps`, taps <= most || taps, true)
  if (shots) await page.screenshot({ path: join(shots, `task ${name.replaceAll(/[^\w ]/g, '')}.png`) })
}

await is('fixed')

await task('a position is entered', 3, async () => {
  await tap(group('Position'))
  await page.getByLabel('Position', { exact: true }).fill('52° 00\' 00.05" N 4° 00\' 00.06" E 50.5 m')
  await tap(button('Review'))
  await tap(yes('Yes, use it'))
  compare(
    'the position is taken',
    await textWith(page, 'main [role=status]', /^Saved/),
    'Saved. The start-up check runs before it is used.',
  )
  await until(async () => (await info()).gnss.ref.chosen === 'manual', 'the entered reference')
})
await is('fixed')

await task('a far position needs a second yes', 4, async () => {
  await tap(group('Position'))
  await page.getByLabel('Position', { exact: true }).fill('53 4 50')
  await tap(button('Review'))
  compare('it cannot be sent yet', await yes('Yes, use it').isDisabled(), true)
  await tap(page.getByRole('dialog').getByRole('checkbox'))
  compare('it can be sent', await yes('Yes, use it').isDisabled(), false)
  await tap(yes('Cancel'))
  compare('nothing was sent', (await info()).gnss.state.status, 'fixed')
})

await post(station, '/system?sim=move%200.8%200%200')
await is('moved')
await task('moved: it is where it was', 2, async () => {
  await tap(button('It is where it was'))
  await tap(yes(/^Yes/))
  await until(async () => (await info()).gnss.ref.override !== undefined, 'the override', 60_000)
  const shown = await textWith(page, '.verdict', /A person confirmed this position/)
  compare('the override is shown', /although it was \d+[.]\d+ m away/.test(shown) || shown, true)
})
await is('fixed')

await task('the survey-in is started', 2, async () => {
  // While nothing goes out it needs no question.
  await page.waitForSelector('.verdict-fit', { timeout: 120_000 })
  await page.goto(`${station.url}/#/survey`)
  await tap(button('Start survey-in'))
  await tap(yes(/^Yes/))
  await is('survey')
})
await task('the survey-in is stopped', 2, async () => {
  await page.goto(`${station.url}/#/survey`)
  await tap(button('Stop survey-in'))
  await tap(yes(/^Yes/))
  await until(async () => (await info()).gnss.state.status !== 'survey', 'the end of the survey-in')
})

await task('a setting is found by what people call it', 2, async () => {
  await tap(page.getByRole('button', { name: 'Search' }))
  await page.getByLabel('Search pages and settings').fill('name of the station')
  await tap(page.getByRole('dialog').getByRole('link', { name: /Name of the station/ }))
  await page.locator('.field').first().waitFor()
  compare('only that one is shown', await page.locator('.field').count(), 1)
})

await task('the report for support', 2, async () => {
  await page.goto(`${station.url}/#/maintenance`)
  const download = page.waitForEvent('download')
  await tap(page.getByRole('link', { name: 'Download support report' }))
  compare(
    'it is an archive',
    (await download).suggestedFilename(),
    `rtk-base-report-${(await info()).esp.serial}.tar.gz`,
  )
})

await task('a password is set', 3, async () => {
  await tap(group('Device'))
  await tap(tab('Access'))
  await page.getByLabel('New password').fill('north-field-26')
  await tap(button('Set password'))
  compare(
    'it is saved',
    await textWith(page, 'main [role=status]', /^Saved/),
    'Saved. Everyone else has to log in again.',
  )
  const answer = await fetch(`${station.url}/get-info`)
  compare('others have to log in', answer.status, 401)
})

// A move is confirmed again until the station can compare.
const unexpected = troubles.filter((text) => !text.includes('503 (Service Unavailable)'))
compare('nothing else in the console', unexpected, [])
await browser.close()
await station.end()
