/** Run in a network of its own: where parts of the page that only a picture shows truly stand. */
import { until } from '../manual-clock.js'
import { compare, localStation, openTab, post, startBrowser, textWith } from './browser-rig.js'

interface Info {
  esp: { serial: string; version: string; sha256: string }
  gnss: { receiver: { rejected: string[] }; ref: { override?: unknown } }
  base: { state: { errors: unknown[] } }
}

const views = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } }
/** Of the settings with every task folded. */
const most_px: Readonly<Record<string, number>> = { phone: 4_500, desk: 2_500 }

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
/** Texts of the page that are cut off at an edge, and not written out in a title: labels, drawings, choices, short values. */
const clippedOfPage = `(() => {
  const found = new Set()
  const isCut = ({ left, right, top, bottom }, edge, { overflowX, overflowY }) =>
    (/hidden|clip/.test(overflowX) && (left < edge.left - 1 || right > edge.right + 1)) ||
    (/hidden|clip/.test(overflowY) && (top < edge.top - 2 || bottom > edge.bottom + 2))
  const boxOf = (one) => {
    if (one.namespaceURI.endsWith('svg')) return one.getBoundingClientRect()
    const range = document.createRange()
    range.selectNodeContents(one)
    return range.getBoundingClientRect()
  }
  for (const one of document.querySelectorAll('header *, nav *, main *')) {
    const isText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (!isText || one.getClientRects().length === 0 || one.closest('option, title, textarea, [title]')) continue
    const box = boxOf(one)
    for (let edge = one; edge.tagName !== 'BODY'; edge = edge.parentElement) {
      const style = getComputedStyle(edge)
      const rect = edge.getBoundingClientRect()
      // For screen readers alone; or it can be scrolled into view.
      if (rect.width <= 1 || /auto|scroll/.test(style.overflowX + style.overflowY)) break
      if (isCut(box, rect, style)) found.add(one.textContent.trim().slice(0, 60))
    }
  }
  const pen = document.createElement('canvas').getContext('2d')
  for (const one of document.querySelectorAll('main select, main input:not([type=checkbox], [type=radio], [type=file])')) {
    const text = one.tagName === 'SELECT' ? (one.selectedOptions[0]?.textContent ?? '') : one.value || one.placeholder
    const { font, paddingLeft, paddingRight } = getComputedStyle(one)
    pen.font = font
    const room = one.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
    if (one.clientWidth > 0 && text.length <= 30 && pen.measureText(text).width > room + 1) found.add('field: ' + text)
  }
  return [...found]
})()`

interface Bar {
  isStacked: boolean
  isTall: boolean
  style: string
  left: number
}

const station = await localStation([
  ...['--set', 'simulated-receiver.boot=fixed'],
  ...['--change', `station-name=${'Base of the north-eastern field '.repeat(2).trim()}`],
])
const browser = await startBrowser()
/** A station that is busy refuses a poll. */
type History = { figures?: { fitness?: unknown[] } }
const history = async () => (await (await fetch(`${station.url}/history?figures=fitness&step=1`)).json()) as History
await until(async () => ((await history()).figures?.fitness?.length ?? 0) > 3, 'curves of the day')
for (const [view, viewport] of Object.entries(views)) {
  const { page, troubles } = await openTab(await browser.newContext({ viewport }))
  await page.goto(`${station.url}/#/sky`)
  await page.locator('.cno-bar').nth(4).waitFor()
  const bars = await page.evaluate<Bar[]>(barsOfPage)
  const wrong = bars.filter(({ isStacked, isTall, style }) => !isStacked || !isTall || style !== 'static grid')
  compare(`${view}: each C/N0 bar has its value above it and its name below`, wrong, [])
  compare(`${view}: bars stand beside each other`, new Set(bars.slice(0, 4).map(({ left }) => left)).size, 4)

  await page.goto(`${station.url}/#/settings`)
  await page.locator('.task').first().waitFor()
  const height_px = await page.evaluate<number>('document.documentElement.scrollHeight')
  compare(`${view}: the tasks fit in two to four screens`, height_px <= most_px[view] || height_px, true)
  const now = await page.locator('.task', { hasText: 'Corrections out' }).innerText()
  compare(`${view}: a folded task says what is the case`, /UDP in the local network/.test(now) || now, true)
  await page.locator('.task > summary').first().click()
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
    // Band and curves come in two answers: a card without its own says what it has asked for.
    const claims = page.locator('main').filter({ hasText: '24 hours' })
    await claims.waitFor({ state: 'detached' }).catch(() => {})
    compare(`W1: ${view}, ${path}: one band of the day`, await page.locator('.day-band, svg.band').count(), 1)
    const text = await page.locator('main').innerText()
    const legend = await page.locator('main .day-axis + .legend').innerText()
    // "< 1 %" is one that is rounded to none.
    const shares = [...legend.matchAll(/(< )?(\d+) %/g)].map(([, less, percent]) => (less ? 0 : Number(percent)))
    compare(
      `W1: ${view}, ${path}: shares add up`,
      shares.reduce((sum, one) => sum + one, 0),
      100,
    )
    compare(`W1: ${view}, ${path}: a young station claims no day`, /24 hours/.exec(text)?.[0] ?? '', '')
  }

  await page.goto(`${station.url}/#/positions`)
  const position = page.getByLabel('Position', { exact: true })
  await position.fill('somewhere')
  await page.getByRole('button', { name: 'Review', exact: true }).click()
  await page.locator('textarea:focus').waitFor()
  compare(`W6: ${view}: a position that cannot be read is shown again`, await position.inputValue(), 'somewhere')
  compare(
    `W6: ${view}: with the reason beside it`,
    await page.locator('.entry:has(textarea) .trouble').innerText(),
    'This is not a position that can be read.',
  )

  await page.getByRole('button', { name: 'Search', exact: true }).first().click()
  await page.locator('#search').fill('mask')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  compare(`W6: ${view}: one Escape closes the search`, await page.getByRole('dialog').count(), 0)
  compare(`${view}: nothing in the console`, troubles, [])
}

/** Their links are on the page for experts only. */
const experts = ['#/procedure', '#/commands', '#/plugins', '#/more']
for (const locale of ['en-GB', 'de-DE']) {
  const { page } = await openTab(await browser.newContext({ viewport: { width: 1280, height: 900 }, locale }))
  await page.goto(station.url)
  await page.locator('.verdict').waitFor()
  const links = await page.locator('nav a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
  for (const path of new Set([...links, ...experts])) {
    await page.goto(`${station.url}/${path}`)
    await page.locator('main h1').waitFor()
    // Cards come one by one.
    await page.waitForTimeout(400)
    await page.locator('main details').evaluateAll((all) => {
      for (const one of all) one.setAttribute('open', '')
    })
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      const clipped = await page.evaluate<string[]>(`new Promise(requestAnimationFrame).then(() => ${clippedOfPage})`)
      compare(`W6: ${locale}, ${width} px, ${path}: no text is cut off`, clipped, [])
    }
  }
  const narrow =
    "Object.assign(document.querySelector('main h1').style, { overflow: 'hidden', width: '9px', whiteSpace: 'nowrap' })"
  await page.evaluate(narrow)
  compare(`W6: ${locale}: and one would be found`, (await page.evaluate<string[]>(clippedOfPage)).length, 1)
  // A receiver that lacks a setting works without it.
  const { serial, version, sha256 } = ((await (await fetch(`${station.url}/get-info`)).json()) as Info).esp
  const document = (await (await fetch(`${station.url}/get-info`)).json()) as Info
  document.gnss.receiver.rejected = ['CFG-RTCM-DF003_OUT']
  const hello = { serial, version, sha256, hardware: 'simulator', tiles: '', attribution: '', role: 'operator' }
  const events = Object.entries({ hello, document }).map(
    ([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`,
  )
  await page.route('**/events*', (route) => route.fulfill({ contentType: 'text/event-stream', body: events.join('') }))
  await page.goto(`${station.url}/?again#/maintenance`)
  const row = locale === 'en-GB' ? /lacks[\s\S]*CFG-RTCM-DF003_OUT/ : /fehlen[\s\S]*CFG-RTCM-DF003_OUT/
  compare(`N7: ${locale}: the receiver's card names what it lacks`, row.test(await textWith(page, 'main', row)), true)
  await page.close()
}

// A phone goes into the pocket as soon as the question is answered.
{
  const { page } = await openTab(await browser.newContext({ viewport: views.phone }))
  await page.goto(station.url)
  await page.locator('.verdict').waitFor()
  await post(station, '/system?sim=move%200.8%200%200')
  await page.getByRole('button', { name: 'It is where it was' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^Yes/ }).click()
  await page.close()
  let last = ''
  const isTaken = async () => {
    const { base, gnss } = (await (await fetch(`${station.url}/get-info`)).json()) as Info
    last = JSON.stringify([base.state.errors, gnss.ref.override ?? null])
    return /a person confirmed the position: it is checked/.test(last) || gnss.ref.override !== undefined
  }
  const taken = await until(isTaken, 'the confirmation').then(
    () => true,
    () => last,
  )
  compare('W12: the answer is stored though the page was closed at once', taken, true)
}
await browser.close()
await station.end()
