/** Run in a network of its own: a session that ends while its page is open. */
import { address, compare, localStation, openTab, startBrowser, textWith } from './browser-rig.js'

const token = 'an-operators-secret'
const station = await localStation(['--set', `http.token=${token}`])
const browser = await startBrowser()
const context = await browser.newContext()
const { page } = await openTab(context)
const logIn = async () => {
  await page.getByLabel('Password or token of the station').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
}
const says = async (what: string, selector: string, text: RegExp) => {
  const found = await textWith(page, selector, text)
  compare(what, text.test(found) || found, true)
}

await page.goto(`${station.url}/#/settings`)
await page.waitForSelector('main form')
compare('a first login speaks of no session', await page.locator('[role=alert]', { hasText: 'ended' }).count(), 0)
await logIn()
await page.getByLabel('Show keys').check()
await page.locator('.task > summary').first().click()
const field = page
  .locator('.field', { has: page.locator('code', { hasText: /^gnss-survey-mintime$/ }) })
  .locator('input')
await field.fill('77')

const [cookie] = await context.cookies()
compare('the cookie is for this browser and this station alone', cookie, {
  ...cookie,
  ...{ domain: address, path: '/', httpOnly: true, sameSite: 'Strict', secure: false },
})
const end = () =>
  fetch(`${station.url}/session`, { method: 'DELETE', headers: { cookie: `${cookie?.name}=${cookie?.value}` } })
await end()
await says('the page says that the session has ended', '[role=alert]', /session has ended/)
compare('what was shown is not seen any more', await field.isVisible(), false)
await logIn()
await field.waitFor()
compare('after the login it goes on where it was', await field.inputValue(), '77')
await says('and hears the station again', '.verdict-text', /\w{4}/)
await page.getByRole('button', { name: 'Review' }).click()
await page.getByRole('button', { name: 'Apply' }).click()
await says('and changes it', '[role=status]', /Saved/)

// While the page does something, before its stream ends.
const [other] = await context.cookies()
await fetch(`${station.url}/session`, { method: 'DELETE', headers: { cookie: `${other?.name}=${other?.value}` } })
await page.getByRole('link', { name: 'Expert' }).click()
await page.getByRole('link', { name: 'Commands' }).click()
await says('a page that is refused asks for the login', '[role=alert]', /session has ended/)
await logIn()
await page
  .getByRole('button', { name: 'run log', exact: false })
  .first()
  .waitFor()
  .catch(() => {})
compare('and is filled after it', (await page.locator('.command').count()) > 5, true)

await page.getByRole('button', { name: 'Log out' }).click()
await page.waitForSelector('main form')
compare('who logs out sees the login', await page.locator('.verdict').count(), 0)
compare('and has no cookie', (await context.cookies()).length, 0)

await browser.close()
await station.end()
