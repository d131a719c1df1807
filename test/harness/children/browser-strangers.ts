/** Run in a network of its own: pages of other origins, with the browser of somebody who is logged in. */
import { createServer } from 'node:http'
import { address, compare, localStation, openTab, startBrowser } from './browser-rig.js'

const token = 'an-operators-secret'
const station = await localStation(['--set', `http.token=${token}`])
const { port } = new URL(station.url)
/** A page that tries everything; another port of this host, and another site. */
const evil = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<h1>evil</h1>'))
await new Promise<void>((resolve) => evil.listen(9_999, address, resolve))
const names = ['evil.example', 'station.evil.example']
const browser = await startBrowser([`--host-resolver-rules=${names.map((name) => `MAP ${name} ${address}`).join(',')}`])
const context = await browser.newContext()
const { page: own } = await openTab(context)
await own.goto(station.url)
await own.getByLabel('Password or token of the station').fill(token)
await own.getByRole('button', { name: 'Log in' }).click()
await own.waitForSelector('.verdict-fit, .verdict-degraded, .verdict-unfit, .verdict-waiting')

const headers = { authorization: `Bearer ${token}` }
const mintime = async () => {
  const list = (await (await fetch(`${station.url}/parameters`, { headers })).json()) as {
    name: string
    value: unknown
  }[]
  return list.find(({ name }) => name === 'gnss-survey-mintime')?.value
}
const before = await mintime()

/** What the page can use, as far as it is asked for. */
interface InPage {
  EventSource: new (url: string, init: object) => { onopen(): void; onerror(): void; close(): void }
  document: {
    createElement(name: string): Record<string, unknown> & { onload(): void; onerror(): void; submit(): void }
    body: { append(element: unknown): void }
  }
  frames: { length: number; [index: number]: { document: { title: string } } }
}
const { page } = await openTab(context)
for (const origin of [`http://${address}:9999`, 'http://evil.example:9999']) {
  await page.goto(`${origin}/`)
  const got = await page.evaluate(async (target) => {
    const { EventSource, document, frames } = globalThis as unknown as InPage
    const outcome = (work: Promise<unknown>) => work.then(String, () => 'refused')
    const change = JSON.stringify({ 'gnss-survey-mintime': 99 })
    const post = (path: string, init: object) =>
      outcome(fetch(target + path, { method: 'POST', credentials: 'include', ...init }).then((answer) => answer.type))
    const read = (path: string) =>
      outcome(fetch(target + path, { credentials: 'include' }).then((answer) => answer.text()))
    const stream = new Promise((resolve) => {
      const source = new EventSource(`${target}/events`, { withCredentials: true })
      source.onopen = () => resolve('open')
      source.onerror = () => {
        source.close()
        resolve('refused')
      }
    })
    const frame = new Promise((resolve) => {
      const element = document.createElement('iframe')
      element.src = `${target}/`
      element.onload = () => {
        try {
          resolve(frames[0]?.document.title)
        } catch {
          resolve('refused')
        }
      }
      document.body.append(element)
    })
    return {
      'POST /change': await post('/change', { body: change }),
      'POST /change without an answer': (await post('/change', { mode: 'no-cors', body: change })) !== 'cors',
      'POST /system without an answer': (await post('/system?reboot', { mode: 'no-cors' })) !== 'cors',
      'GET /get-info': await read('/get-info'),
      'GET /parameters': await read('/parameters'),
      'GET /events': await stream,
      'a frame': await frame,
    }
  }, station.url)
  compare(`a page of ${origin} reads nothing`, got, {
    'POST /change': 'refused',
    'POST /change without an answer': true,
    'POST /system without an answer': true,
    'GET /get-info': 'refused',
    'GET /parameters': 'refused',
    'GET /events': 'refused',
    'a frame': 'refused',
  })
  await page.evaluate((target) => {
    const { document } = globalThis as unknown as InPage
    const form = document.createElement('form')
    Object.assign(form, { method: 'post', action: `${target}/system?reboot`, enctype: 'text/plain' })
    document.body.append(form)
    form.submit()
  }, station.url)
  await page.waitForURL(/system/)
  compare('a form is refused', /asked for it, not one of this station/.test(await page.content()), true)
}
const rebound = await page.goto(`http://station.evil.example:${port}/get-info`)
compare('a name that was rebound to the station is refused', rebound?.status(), 403)
compare('nothing was changed', await mintime(), before)
compare('nor restarted', station.output().split('variant simulator').length, 2)

await browser.close()
evil.closeAllConnections()
evil.close()
await station.end()
