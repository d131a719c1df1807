/** What the browser test of the fleet looks at in the comparison with neighbours. */
import type { Page } from 'playwright-core'
import { until } from '../manual-clock.js'
import { compare, textWith } from './browser-rig.js'

interface NetCheck {
  readonly page: Page
  /** Of the fleet. */
  readonly url: string
  /** A text that is HTML. */
  readonly evil: string
  readonly judge: (what: string) => Promise<void>
  /** Of the console of the page. */
  readonly troubles: string[]
}

/** Nobody has sent RTCM, so that no line is green. @returns a station that has neighbours */
export async function checkNetOnMap({ judge, page, url }: NetCheck): Promise<string> {
  type Net = { pairs: { one: string; other: string }[] }
  const net = async () => (await (await fetch(`${url}/fleet/net`)).json()) as Net
  // Pairs are there 15 s after the last new station.
  await until(async () => (await net()).pairs.length > 0, 'pairs')
  compare('the map has no net at first', await page.locator('.net-lines').count(), 0)
  await page.locator('.map-ground').focus()
  await page.keyboard.press('0')
  await page.getByLabel('Net', { exact: true }).check()
  await page.locator('.map-ground .net-none[d^=M]').waitFor({ state: 'attached' })
  const drawn = async (kind: string) => (await page.locator(`.map-ground .net-${kind}`).getAttribute('d')) ?? ''
  const judged = [await drawn('agrees'), await drawn('contradicts')]
  compare('without vectors a line is neither good nor bad', judged, ['', ''])
  compare('the number of lines is limited', (await drawn('none')).split('M').length - 1 <= 5_000, true)
  await judge('the net on the map')
  await page.getByLabel('Net', { exact: true }).uncheck()
  await page.locator('.map-ground .net-lines').waitFor({ state: 'detached' })
  return (await net()).pairs[0]?.one ?? ''
}

/** On the page of a station that was never compared: an acceptance test is started. */
export async function checkPosition({ judge, page, troubles }: NetCheck): Promise<void> {
  compare(
    'who was never compared is not confirmed',
    await textWith(page, '.tone', /Not compared/),
    '– Not compared yet',
  )
  const neighbours = page.getByRole('region', { name: 'Position checked by neighbours' })
  compare('its neighbours are listed', await neighbours.getByText('not compared yet').first().isVisible(), true)
  const start = page.getByRole('button', { name: 'Acceptance test' })
  await page.getByLabel('Length, hours').fill('72')
  compare('a test has at most 71 hours', await start.isDisabled(), true)
  await page.getByLabel('Length, hours').fill('2')
  await start.click()
  compare('a test is started', /Started/.test(await textWith(page, '[role=status]', /Started/)), true)
  await start.click()
  compare('a second one is refused', /is running/.test(await textWith(page, '.trouble', /is running/)), true)
  // The browser itself writes down that it was refused.
  troubles.splice(0)
  await page.getByRole('region', { name: 'Acceptance tests' }).getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'Acceptance test' }).waitFor()
  compare('it runs', /running/.test(await textWith(page, '.tone', /running/)), true)
  compare('there is no evidence yet', await page.getByText('No vector to a neighbour').isVisible(), true)
  await judge('an acceptance test')
}

/** Answers as after days of vectors, with every text as HTML: a net takes hours, and this test has none. */
export async function checkEvidence({ evil, judge, page, url }: NetCheck): Promise<void> {
  const day = 86_400
  const offset = { east: 0.004, north: -0.002, up: -0.102 }
  const sigma = { east: 0.002, north: 0.002, up: 0.004 }
  const shared = { serial: evil, reason: evil, offset, sigma }
  const judgement = {
    ...{ ...shared, state: 'contradicts', vectors: 4, since: day },
    cause: { kind: evil, values: {}, text: evil },
  }
  const pairs = [{ one: 'A', other: evil, status: 'float', reason: evil, tried: day }]
  const days = [1, 2, 5].map((n) => ({ t: n * day, offset, sigma }))
  const position = { x: 3_924_687.1234, y: 301_132.7891, z: 5_001_910.5512, lat: 52.1, lon: 4.4, alt: 43.1 }
  const neighbour = { ...shared, windows: 24, fixed: 0.92, repeatability: sigma, change: sigma, verdict: 'contradicts' }
  const test = {
    ...{ id: 7, serial: evil, begun: day, until: 2 * day, ended: 2 * day, by: evil, version: evil, position },
    ...{
      outcome: 'rejected',
      reason: evil,
      evidence: { neighbours: [neighbour], offset, sigma, covered: 22.5, cause: evil },
    },
  }
  const answer = (path: string, body: object) => page.route(path, (route) => route.fulfill({ json: body }))
  await answer('**/fleet/net/stations/*', { judgement, pairs, days })
  await answer('**/fleet/net/acceptance/7', test)
  await page.reload()
  const up = await textWith(page, '.figures div', /^Up\s*[-−]/)
  compare('a wrong position has its correction', up.replace(/\s+/, ' '), 'Up -102 mm ± 4 mm')
  compare(
    'days without vectors are a gap',
    (await page.locator('.plot .curve.stroke-galileo').getAttribute('d'))?.split('M').length,
    3,
  )
  await page.locator('.plot summary').click()
  const table = page.getByRole('region', { name: /^Table: Offset of each day/ })
  await table.locator('tbody tr').first().waitFor()
  compare('a table has the same days, and those without vectors', await table.locator('tbody tr').count(), 4)
  await judge('a contradicted position')
  await page.goto(`${url}/#/acceptance?id=7`)
  compare('the outcome', await textWith(page, '.tone', /rejected/), '✕ rejected')
  await judge('the evidence of a rejection')
  // The width of A4 without its margins, in CSS pixels.
  const before = page.viewportSize()
  await page.setViewportSize({ width: 718, height: 1_000 })
  await page.emulateMedia({ media: 'print' })
  const isPrinted = (selector: string) => page.locator(selector).first().isVisible()
  compare(
    'only the evidence is printed',
    [await isPrinted('tbody'), await isPrinted('nav'), await isPrinted('.choices'), await isPrinted('.screen-only')],
    [true, false, false, false],
  )
  await judge('the printed evidence')
  await page.emulateMedia({ media: null })
  if (before) await page.setViewportSize(before)
  await page.unrouteAll()
}
