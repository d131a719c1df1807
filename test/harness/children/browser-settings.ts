/** Run in a network of its own: every parameter is changed in the page, reviewed, applied and taken back; one that cuts the link returns. */
import { execFileSync } from 'node:child_process'
import { until } from '../manual-clock.js'
import { address, compare, localStation, openTab, post, startBrowser, textWith } from './browser-rig.js'
import { otherValue, type Parameter } from './other-value.js'

const window_s = 8
const station = await localStation(['--set', `trial.window_s=${window_s}`, '--set', 'simulated-receiver.boot=fixed'])
const parameters = async () => (await (await fetch(`${station.url}/parameters`)).json()) as Parameter[]
const browser = await startBrowser()
const { page, troubles } = await openTab(await browser.newContext({ viewport: { width: 1440, height: 900 } }))
await page.goto(`${station.url}/#/settings`)
await page.locator('.task').first().waitFor()
for (const task of await page.locator('.task > summary').all()) await task.click()
await page.waitForSelector('.field')
await page.getByLabel('Show keys').check()

const fieldOf = (name: string) =>
  page.locator('.field', { has: page.locator('code', { hasText: new RegExp(`^${name}$`) }) })

/** @returns whether it has a field */
async function enter(name: string, value: unknown): Promise<boolean> {
  const field = fieldOf(name)
  if ((await field.count()) !== 1) return false
  if ((await field.locator('fieldset').count()) > 0) {
    const isList = Array.isArray(value)
    if (isList) await field.getByRole('button', { name: 'Add' }).click()
    const whole = (isList ? value[0] : value) as Record<string, unknown>
    if (typeof whole !== 'object') {
      const entry = field.locator('.row').last().locator('select, input')
      const isChoice = (await entry.evaluate((element) => element.tagName)) === 'SELECT'
      await (isChoice ? entry.selectOption(String(whole)) : entry.fill(String(whole)))
      return true
    }
    for (const [part, own] of Object.entries(whole)) await field.locator(`[name=${part}]`).fill(String(own))
    return true
  }
  const text = value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  const secret = field.locator('input[type=password]')
  if ((await secret.count()) > 0) await secret.fill(text)
  else if ((await field.locator('input[type=checkbox]').count()) > 0)
    await field.locator('input[type=checkbox]').setChecked(value === 1 || value === true)
  else if ((await field.locator('select').count()) > 0) await field.locator('select').selectOption(text)
  else await field.locator('input, textarea').fill(text)
  return true
}

async function apply(): Promise<string> {
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
  return textWith(page, '[role=status]', /^(Saved|Nothing was changed)/)
}

const before = await parameters()
compare('every parameter has a field', await page.locator('.field').count(), before.length)
/** What only one transaction of its own can change, as it excludes others. */
const apart: readonly (readonly string[])[] = [['gnss-ref-manual-lat', 'gnss-ref-manual-lon', 'gnss-ref-manual-alt']]
/** This station cannot: it has no certificate. */
const refused = 'mqtt-rtcm-sign'
const groups = [
  ...[...new Set(before.map(({ plugin }) => plugin))].map((plugin) =>
    before.filter((one) => one.plugin === plugin && !apart.flat().includes(one.name) && one.name !== refused),
  ),
  ...apart.map((names) => before.filter(({ name }) => names.includes(name))),
]
for (const own of groups) {
  const names = own.map(({ name }) => name)
  const of = `${own[0]?.plugin}, ${names[0]} …`
  const wanted = new Map(own.map((one) => [one.name, otherValue(one)]))
  const impossible = names.filter((name) => wanted.get(name) === undefined)
  compare(`${of}: another value is known for every parameter`, impossible, [])
  const missing: string[] = []
  for (const [name, value] of wanted) if (!(await enter(name, value))) missing.push(name)
  compare(`${of}: every one is entered`, missing, [])
  compare(`${of}: applied`, await apply(), 'Saved.')
  const now = new Map((await parameters()).map((one) => [one.name, one.secret ? one.set : one.value]))
  compare(
    `${of}: the station has it`,
    Object.fromEntries(names.map((name) => [name, now.get(name)])),
    Object.fromEntries(own.map(({ name, secret }) => [name, secret ? true : wanted.get(name)])),
  )
  // Of a secret nobody knows what it was.
  const open = own.filter(({ secret }) => !secret)
  if (open.length > 0) {
    const undo = page.getByRole('button', { name: /^Undo/ })
    await undo.click({ timeout: 5_000 }).catch(() => {})
    await undo.waitFor({ state: 'detached' })
    const undone = new Map((await parameters()).map(({ name, value }) => [name, value]))
    compare(
      `${of}: taken back`,
      Object.fromEntries(open.map(({ name }) => [name, undone.get(name)])),
      Object.fromEntries(open.map(({ name, value }) => [name, value])),
    )
  }
}
await enter(refused, 1)
const refusal = await apply()
compare('what the station refuses says why', /^Nothing was changed.*needs a certificate/.test(refusal) || refusal, true)
const isMarked = await fieldOf(refused).locator('[aria-invalid=true]').count()
compare('its field is marked', isMarked, 1)
await page.getByRole('button', { name: 'Discard' }).click()
compare('nothing in the console', troubles.splice(0), [])

// The cable gets the address through which the page comes, so that switching it off cuts the page off.
for (const line of [`address eth0 ${address}/24`, 'disconnect eth0', 'activate eth0'])
  await post(station, `/system?${encodeURIComponent(`sim-network=${line}`)}`)
type Eth = { eth: { state: { ip4?: { ip: string } } } }
await until(async () => JSON.stringify((await station.info<Eth>()).eth).includes(address), 'the cable has the address')
await enter('eth-en', 0)
await page.getByRole('button', { name: 'Review' }).click()
const warning = await page.getByRole('dialog').innerText()
compare('the review names what may cut the link', /May disconnect you: Cable/.test(warning) || warning, true)
await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
// The titles of settings come with another request.
const bar = await textWith(page, '[role=alert]', /on trial: Cable/)
compare(
  'the page says that it is on trial',
  /Changed on trial: Cable\. .* Without an answer the old values return/.test(bar) || bar,
  true,
)
execFileSync('ip', ['addr', 'del', `${address}/24`, 'dev', 'lo'])
const silent = await textWith(page, '[role=alert]', /No contact/)
compare('the page says that it hears nothing', /No contact/.test(silent) || silent, true)
await new Promise((resolve) => setTimeout(resolve, (window_s + 1) * 1_000))
execFileSync('ip', ['addr', 'add', `${address}/24`, 'dev', 'lo'])
const said = await textWith(page, '[role=alert]', /taken back/)
compare('the page says that it was set back', /the values before are back|choose Keep/.test(said) || said, true)
await until(async () => fieldOf('eth-en').locator('input').isChecked(), 'the page shows the value before')
const last = (await parameters()).find(({ name }) => name === 'eth-en')
compare('the station has the value before', last?.value, 1)

// And one that is kept: somebody says so.
await enter('eth-en', 0)
await page.getByRole('button', { name: 'Review' }).click()
await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
await page.getByRole('button', { name: 'Keep' }).click()
await page.getByRole('button', { name: 'Keep' }).waitFor({ state: 'detached' })
compare('what is kept stays', (await parameters()).find(({ name }) => name === 'eth-en')?.value, 0)
compare('and is not set back', JSON.stringify(await station.info()).includes('"trial"'), false)

await browser.close()
await station.end()
