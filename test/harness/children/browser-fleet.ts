/**
 * Run in a network of its own: the page of a fleet with stations that exist only as messages, in a browser. Arguments: how many stations, folder
 * for screenshots (or '').
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { until } from '../manual-clock.js'
import { startStation } from '../process.js'
import { checkEvidence, checkNetOnMap, checkPosition } from './browser-fleet-net.js'
import { address, compare, openTab, startBrowser, tell, textWith } from './browser-rig.js'
import { Seed, seededStations } from './fleet-seed.js'

/** What a page has, as far as it is asked for. */
interface InPage {
  hacked: unknown
  document: {
    documentElement: { scrollWidth: number; clientWidth: number }
    querySelectorAll(selector: string): { length: number }
    dispatchEvent(event: unknown): void
  }
  Event: new (name: string) => unknown
  fetch(url: string): Promise<unknown>
  axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
}

const [wanted = '10000', shots = ''] = process.argv.slice(2)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const evil = '<img src=x onerror="hacked=1"><script>hacked=1</script>'

const fleet = await startStation(['fleet', '--set', `http.host=${address}`, '--set', 'mqtt-broker.port=1883'])
let isOver = false
// Nothing that is waited for would come any more.
fleet.child.once('exit', (code, signal) => {
  if (isOver) return
  console.error(`the fleet ended with ${code ?? signal}:\n${fleet.output().slice(-4_000)}`)
  process.exit(1)
})
interface Row {
  serial: string
  verdict: string
}
const list = async (): Promise<Row[]> => {
  const all: Row[] = []
  let page: { stations: Row[]; next: string } | undefined
  do {
    page = (await (await fetch(`${fleet.url}/fleet/stations?after=${page?.next ?? ''}`)).json()) as NonNullable<
      typeof page
    >
    all.push(...page.stations)
  } while (page.next !== '')
  return all
}
/** Asked while the fleet starts: on a busy machine its connection may be closed as idle before the request is read. */
const metrics = () =>
  fetch(`${fleet.url}/metrics`)
    .then((answer) => answer.text())
    .catch(() => '')
await until(async () => /fleet_connected\{to="database"\} 1/.test(await metrics()), 'the database')
await until(async () => /fleet_connected\{to="broker"\} 1/.test(await metrics()), 'the broker')
const seed = await Seed.to('mqtt://127.0.0.1:1883')
const stations = seededStations(Number(wanted))
for (let from = 0; from < stations.length; from += 200)
  await Promise.all(stations.slice(from, from + 200).map((station) => seed.state(station)))
await until(async () => (await list()).length === stations.length, 'every station')

const [first, second] = stations
if (!first || !second) throw new Error('there are at least two stations')
/** Everything that a station chooses is HTML. */
await seed.state({ ...first, verdict: 'unfit', cause: evil, version: evil })
const documentOf = (host: string) => ({
  esp: { serial: first.serial, version: evil, hardware: evil },
  base: {
    name: evil,
    state: {
      base: evil,
      errors: [{ code: evil, text: evil, t: 1 }],
      verdict: { fitness: 'unfit', code: evil, why: evil },
    },
    update: { state: evil },
  },
  gnss: {
    state: { status: evil, gps_fix: evil, antenna: { status: evil }, rf: { jamming: evil } },
    receiver: { model: evil },
    ref: { chosen: evil },
    rtcm: { msgs: [{ id: 1005, interval: 1, nominal: 1, since: 0.5, bytes: 25 }] },
  },
  mqtt: { via: evil, host },
  eth: { ip: `javascript:hacked=1//${evil}` },
  [evil]: evil,
})
await seed.document(first.serial, documentOf('one.example'))
await until(
  async () => (await list()).find(({ serial }) => serial === first.serial)?.verdict === 'unfit',
  'its verdict',
)
const stored = async () =>
  ((await (await fetch(`${fleet.url}/fleet/stations/${first.serial}/documents`)).json()) as unknown[]).length
await until(async () => (await stored()) === 1, 'its document is stored')
await seed.document(first.serial, documentOf(evil))
await until(async () => (await stored()) === 2, 'its change is stored')

const browser = await startBrowser()
const sizes = { phone: { width: 320, height: 800 }, desk: { width: 1440, height: 900 } } as const

/** What axe finds, what is too wide, and whether a text became more than a text. */
async function judge(page: Page, what: string, troubles: string[]): Promise<void> {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { axe, document, hacked } = globalThis as unknown as InPage
    const { violations } = await axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    })
    return {
      axe: violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`),
      isTooWide: document.documentElement.scrollWidth > document.documentElement.clientWidth + 1,
      isHacked: hacked !== undefined || document.querySelectorAll('img, script:not([src]), [onerror]').length > 0,
      javascript: document.querySelectorAll('a[href^="javascript" i]').length,
    }
  })
  compare(
    what,
    { ...found, troubles: troubles.splice(0) },
    { axe: [], isTooWide: false, isHacked: false, javascript: 0, troubles: [] },
  )
  if (shots) await page.screenshot({ path: join(shots, `fleet-${what.replaceAll(/\W+/g, '-')}.png`), fullPage: true })
}

const go = async (page: Page, path: string, heading: string) => {
  await page.goto(`${fleet.url}/#/${path}`)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}
const pages: [path: string, heading: string, ready: string][] = [
  ['overview', 'Overview', '.rows-one'],
  [`station/${first.serial}`, evil, '.gap'],
  ['rollouts', 'Rollouts', 'form, .card button.main'],
  ['rovers', 'Rovers', 'form'],
  ['alerts', 'Alerts', '.list .command'],
  ['record', 'Record', 'td, .list .command'],
  ['people', 'People', 'form'],
]
for (const [view, scheme] of [
  ['desk', 'light'],
  ['phone', 'dark'],
] as const) {
  const context = await browser.newContext({ viewport: sizes[view], colorScheme: scheme, reducedMotion: 'reduce' })
  const { page, troubles } = await openTab(context)
  for (const [path, heading, ready] of pages) {
    await go(page, path, heading)
    await page.locator(ready).first().waitFor()
    for (const one of await page.locator('#content summary').all()) await one.click()
    await judge(page, `${view} ${scheme}, ${path}`, troubles)
  }
  await page.getByLabel('Language').selectOption('de')
  await page.goto(`${fleet.url}/#/overview`)
  compare(`${view}: in German`, await textWith(page, 'h1', /Übersicht/), 'Übersicht')
  await context.close()
}

/** The way to the fleet, which can be away. */
const sockets = new Set<Socket>()
let isAway = false
const proxy = createServer((near) => {
  const far = connect(Number(new URL(fleet.url).port), address)
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(from)
    from
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    from.pipe(to)
  }
  if (isAway) near.destroy()
}).listen(8_099, address)
const away = (now: boolean) => {
  isAway = now
  if (now) for (const socket of sockets) socket.destroy()
}

// ── the overview ────────────────────────────────────────────────────────────────────────────────────────────────────
const context = await browser.newContext({ viewport: sizes.desk, reducedMotion: 'reduce' })
const { page, troubles } = await openTab(context)
await page.goto(`http://${address}:8099/`)
await page.locator('.rows-one').first().waitFor()
const rows = page.locator('.rows-one')
const few = async () => (await rows.count()) < 60 && (await page.locator('.map-mark').count()) < 300
compare('of ten thousand stations the page holds those that are seen', await few(), true)
const shown = (text: RegExp) => textWith(page, '[role=status]', text)
// The verdict of a station that is offline is unknown.
const unfit = stations.filter((one) => one.online === 'y' && (one === first || one.verdict === 'unfit')).length
await page
  .getByRole('button', { name: /Not sending/ })
  .first()
  .click()
compare(
  'a count is a filter',
  await shown(/ of /),
  `${unfit} of ${stations.length.toLocaleString('en-US')} Clear filters`,
)
compare('it is in the address', new URL(page.url()).hash, '#/overview?verdict=unfit')
await page.getByRole('button', { name: 'Clear filters' }).click()
await page.getByLabel(/^Search/).fill(second.serial.toLowerCase())
compare('a serial number is found', (await shown(/^1 of/)).startsWith('1 of'), true)
await seed.state({ ...second, verdict: 'unfit', cause: 'antenna' })
compare(
  'a verdict changes while it is looked at',
  /antenna fault/.test(await textWith(page, '.rows-one', /antenna fault/)),
  true,
)
away(true)
await page.getByText('No contact with the fleet').waitFor()
await seed.state({ ...second, verdict: 'fit', cause: 'ok' })
away(false)
compare(
  'what changed without contact is read afterwards',
  /Working/.test(await textWith(page, '.rows-one', /Working/)),
  true,
)
// The browser itself writes down that it could not connect.
troubles.splice(0)
await page.getByLabel(/^Search/).fill('')
await page.locator('.rows').focus()
await page.keyboard.press('End')
const last = stations.length
await page.locator(`.rows-one[aria-posinset="${last}"]`).waitFor()
compare('the keyboard reaches the end of the list', await few(), true)
await page.locator('.map-ground').focus()
const marks = async () => (await page.locator('.map-mark').evaluateAll((all) => all.map((one) => `${one}`))).length
const before = await marks()
await page.keyboard.press('+')
await page.keyboard.press('+')
await page.keyboard.press('ArrowLeft')
await page.locator('.map-cluster').first().waitFor()
compare('the keyboard zooms and moves the map', (await marks()) !== before, true)
await page.keyboard.press('0')
await page.locator('.map-cluster').first().focus()
await page.keyboard.press('Enter')
compare('a mark comes apart by keyboard', (await page.locator('.map-mark').count()) > 0, true)
const netCheck = { page, troubles, url: fleet.url, evil, judge: (what: string) => judge(page, what, troubles) }
const compared = await checkNetOnMap(netCheck)

// ── a station ───────────────────────────────────────────────────────────────────────────────────────────────────────
await go(page, `station/${second.serial}`, second.serial)
await page.getByText('Name, group, labels').click()
await page.getByLabel('Name', { exact: true }).fill(evil.slice(0, 60))
await page.getByLabel('Group').fill('north')
await page.getByRole('button', { name: 'Save' }).click()
compare('a name and a group are given', await textWith(page, 'h2', /^<img/), evil.slice(0, 60))
compare('W11: the page of a station has its name', await textWith(page, 'h1', /^<img/), evil.slice(0, 60))
await page.getByText('Change a parameter').click()
await page.getByLabel('Add a setting').selectOption('station-name')
await page.getByRole('button', { name: /^Leave out/ }).click()
await page.getByLabel('Add a setting').selectOption('mqtt-rtcm-rate')
await page.getByLabel('seconds between two publications').fill('200')
await page.getByRole('button', { name: 'Change', exact: true }).click()
compare('what cannot be is said at its field', /Only 1 to 60/.test(await textWith(page, '.trouble', /Only/)), true)
await page.getByLabel('seconds between two publications').fill('2')
await page.getByRole('button', { name: 'Change', exact: true }).click()
await page.getByRole('button', { name: 'Yes, run it' }).click()
compare('a parameter is changed after a question', /taken the value/.test(await shown(/taken the value/)), true)
await page.getByText('Run a command').click()
await page.getByLabel('Command', { exact: true }).selectOption('reboot')
await page.getByRole('button', { name: 'Run', exact: true }).click()
compare(
  'a command that interrupts is asked about',
  /half a minute/.test(await textWith(page, 'dialog', /RTCM stops/)),
  true,
)
await page.getByRole('button', { name: 'Yes, run it' }).click()
compare('and then sent', /Sent/.test(await shown(/^.*Sent/)), true)
await judge(page, 'a station after actions', troubles)

// ── the check by neighbours ─────────────────────────────────────────────────────────────────────────────────────────
// Any station may be in the first pair; these two have names.
await go(page, `station/${compared}`, [first.serial, second.serial].includes(compared) ? evil : compared)
await checkPosition(netCheck)
await page.goto(`${fleet.url}/#/station/${compared}`)
await checkEvidence(netCheck)

// ── a rollout ───────────────────────────────────────────────────────────────────────────────────────────────────────
await go(page, 'rollouts', 'Rollouts')
await page.getByLabel('Name', { exact: true }).fill(evil.slice(0, 60))
await page.getByRole('button', { name: 'Preview' }).click()
compare('what is missing is said', await textWith(page, '.trouble', /at least/), 'Choose at least one setting.')
const change = page.getByRole('group', { name: 'Settings to change' })
await change.getByLabel('Add a setting').selectOption('mqtt-rtcm-rate')
await change.getByLabel('seconds between two publications').fill('1')
await page.getByRole('button', { name: 'Preview' }).click()
await page.locator('.waves li').first().waitFor()
compare('a preview has three waves', await page.locator('.waves li').count(), 3)
await page.getByRole('button', { name: 'Begin the rollout' }).click()
await page.getByRole('button', { name: 'Yes, run it' }).click()
compare('it runs', /running/.test(await textWith(page, '.tone', /running/)), true)
await page.getByRole('button', { name: 'Pause' }).click()
await page.getByRole('button', { name: 'Yes, run it' }).click()
compare('it is paused', /paused/.test(await textWith(page, '.tone', /paused/)), true)
await page.getByRole('button', { name: 'Stop' }).click()
await page.getByRole('button', { name: 'Yes, run it' }).click()
compare('it is stopped', /stopped/.test(await textWith(page, '.tone', /stopped/)), true)
await judge(page, 'a rollout', troubles)
await go(page, 'record', 'Record')
await page.getByLabel('Kind').selectOption({ label: 'actions of people' })
compare('actions are in the record', /mqtt-rtcm-rate/.test(await textWith(page, 'td', /mqtt-rtcm-rate/)), true)
await judge(page, 'the record of actions', troubles)

// ── accounts of rovers ──────────────────────────────────────────────────────────────────────────────────────────────
await go(page, 'rovers', 'Rovers')
await page.getByLabel('Name', { exact: true }).fill('rover-1')
await page.getByRole('button', { name: 'Add', exact: true }).click()
compare('the password of an account is shown once', (await page.locator('.once').innerText()).length > 8, true)
compare('the account is in the list', await textWith(page, 'th', /rover-1/), 'rover-1')
await judge(page, 'an account', troubles)

// ── people ──────────────────────────────────────────────────────────────────────────────────────────────────────────
await go(page, 'people', 'People')
await page.getByLabel('Name', { exact: true }).fill('ada')
await page.getByRole('button', { name: 'Add', exact: true }).click()
const admin = await page.locator('.once').innerText()
compare('the key of the first admin is shown', /^rtk_[\w-]{27}$/.test(admin), true)
// From now on everybody has to log in, which ends the page's stream of events: nothing is grey, and no alarm beside the key.
const opened: string[] = []
page.on('request', (request) => opened.push(new URL(request.url()).pathname))
await page.evaluate(async () => {
  const { document, Event, fetch } = globalThis as unknown as InPage
  document.dispatchEvent(new Event('visibilitychange'))
  await fetch('/session')
})
compare('the stream stays closed, also after a look at another tab', opened.includes('/fleet/live'), false)
compare('no alarm', await page.getByRole('alert').count(), 0)
const others = troubles.splice(0).filter((text) => !text.includes('ERR_INCOMPLETE_CHUNKED_ENCODING'))
await judge(page, 'the key of the first admin', others)
await page.getByRole('button', { name: 'Log in' }).click()
const logIn = async (tab: Page, key: string) => {
  await tab.getByLabel('Access key').fill(key)
  await tab.getByRole('button', { name: 'Log in' }).click()
}
await logIn(page, 'rtk_wrong')
compare('a wrong key', await textWith(page, '.trouble', /Wrong/), 'Wrong access key.')
await logIn(page, admin)
await page.getByText('ada (you)').waitFor()
await page.getByLabel('Name', { exact: true }).fill('ben')
await page.getByRole('button', { name: 'Add', exact: true }).click()
await page.getByText('Access key of ben').waitFor()
const viewer = await page.locator('.once').innerText()
const { page: other } = await openTab(await browser.newContext({ viewport: sizes.desk }))
await other.goto(`${fleet.url}/#/station/${second.serial}`)
await logIn(other, viewer)
await other.getByText('Read-only access').waitFor()
await other.locator('.fleet-verdict').waitFor()
compare('a viewer sees no actions', await other.getByText('Run a command').count(), 0)
await other.getByRole('heading', { name: 'Acceptance tests' }).waitFor()
compare('and starts no test', await other.getByLabel('Length, hours').count(), 0)
compare('and no people', await other.getByRole('link', { name: 'People' }).count(), 0)
await page.getByRole('button', { name: 'Remove ben' }).click()
await page.getByRole('button', { name: 'Yes, run it' }).click()
await page.getByText('ben', { exact: true }).waitFor({ state: 'detached' })
await other.reload()
await other.getByLabel('Access key').waitFor()
compare('who was removed has to log in', await other.getByText('Read-only access').count(), 0)

tell({ what: 'end', found: true, wanted: true })
await browser.close()
proxy.close()
await seed.end()
isOver = true
await fleet.end()
