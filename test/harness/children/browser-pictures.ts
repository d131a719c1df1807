/**
 * Run in a network of its own: takes a picture of each state of the page and compares it with the accepted one. Arguments: `compare`,
 * `accept` or `record`, the folder for what differs, and names of pictures (all without). One JSON line for each picture.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { picturesFolder, readRecording, record } from '../../pictures/recording.js'
import { type Picture, pageScript, pictures, sizes } from '../../pictures/states.js'
import { localStation, startBrowser, tell } from './browser-rig.js'

const [mode = 'compare', differences = '', only = ''] = process.argv.slice(2)
const accepted = join(picturesFolder, 'accepted')
const fontsFile = join(accepted, 'fonts.txt')

const loggedOut = { role: 'none', login: true, expires: 0 }

/** Pictures are kept at half their size, as WebP: a tenth of the bytes. Both sides of a comparison are. Run in a page of its own; base64. */
const shrink = `async (png) => {
  const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob())
  const canvas = document.createElement('canvas')
  canvas.width = image.width / 2
  canvas.height = image.height / 2
  const context = canvas.getContext('2d')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/webp', 0.75).split(',')[1]
}`
/**
 * Pixels that differ more than the smoothing of an edge does, in parts of all; and a picture of them: the new one pale, the differences red.
 */
const difference = `async ([one, other]) => {
  const pixelsOf = async (webp) => {
    const image = await createImageBitmap(await (await fetch('data:image/webp;base64,' + webp)).blob())
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    const context = canvas.getContext('2d')
    context.drawImage(image, 0, 0)
    return { canvas, context, pixels: context.getImageData(0, 0, image.width, image.height) }
  }
  const [old, now] = [await pixelsOf(one), await pixelsOf(other)]
  if (old.canvas.width !== now.canvas.width || old.canvas.height !== now.canvas.height) return { part: 1, png: '' }
  const [a, b] = [old.pixels.data, now.pixels.data]
  let count = 0
  for (let at = 0; at < a.length; at += 4) {
    const [red, green, blue] = [a[at] - b[at], a[at + 1] - b[at + 1], a[at + 2] - b[at + 2]]
    const isOther = Math.abs(0.3 * red + 0.59 * green + 0.11 * blue) > 24 || Math.abs(red - blue) > 48
    if (isOther) count += 1
    const pale = (value) => 255 - (255 - value) / 4
    const shown = isOther ? [220, 0, 0] : [pale(b[at]), pale(b[at + 1]), pale(b[at + 2])]
    for (const [index, value] of shown.entries()) b[at + index] = value
  }
  now.context.putImageData(now.pixels, 0, 0)
  return { part: count / (a.length / 4), png: now.canvas.toDataURL('image/png').split(',')[1] }
}`
/** Widths of texts in the fonts of the page: other fonts make other pictures. */
const fingerprint = `(() => {
  const context = document.createElement('canvas').getContext('2d')
  const widthOf = (font) => {
    context.font = font
    return context.measureText('Reference ÄÖÜ 0123456789 → mmm iii').width.toFixed(2)
  }
  return ['16px system-ui', 'bold 16px system-ui', '14px ui-monospace, monospace', '16px sans-serif'].map(widthOf).join(' ')
})()`

if (mode === 'record') {
  await record()
  process.exit(0)
}
const recording = readRecording()
const station = await localStation(['--set', 'simulated-receiver.boot=fixed'])
const browser = await startBrowser(['--font-render-hinting=none', '--force-color-profile=srgb'])
const tool = await browser.newPage()
await tool.goto('data:text/html,<title>pictures</title>')
const fonts = `${browser.version().split('.')[0]} ${await tool.evaluate<string>(fingerprint)}`
const known = existsSync(fontsFile) ? readFileSync(fontsFile, 'utf8').trim() : ''
if (mode === 'compare' && fonts !== known)
  tell({ skip: `other fonts or another browser: ${fonts}, accepted with ${known}` })
else {
  for (const folder of [accepted, differences]) if (folder) mkdirSync(folder, { recursive: true })
  if (mode === 'accept') writeFileSync(fontsFile, `${fonts}\n`)
  const names = only.split(',')
  for (const picture of pictures) if (only === '' || names.includes(picture.name)) await look(picture)
}
await browser.close()
await station.end()

async function look(picture: Picture): Promise<void> {
  const context = await contextOf(browser, picture)
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('pageerror', ({ message }) => troubles.push(message))
  await page.goto(`${station.url}/#/${picture.page}`)
  await settled(page, picture)
  const whole = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64')
  await context.close()
  const now = await tool.evaluate<string>(`(${shrink})(${JSON.stringify(whole)})`)
  const file = join(accepted, `${picture.name}.webp`)
  if (mode === 'accept') writeFileSync(file, Buffer.from(now, 'base64'))
  if (differences) writeFileSync(join(differences, `${picture.name}-whole.png`), Buffer.from(whole, 'base64'))
  const old = existsSync(file) ? readFileSync(file).toString('base64') : ''
  const { part, png } = old
    ? await tool.evaluate<{ part: number; png: string }>(`(${difference})(${JSON.stringify([old, now])})`)
    : { part: 1, png: '' }
  if (part > 0 && png !== '' && differences)
    writeFileSync(join(differences, `${picture.name}-difference.png`), Buffer.from(png, 'base64'))
  tell({ picture: picture.name, part, troubles })
}

/** A browser to which the recording is the station; only the files of the page and its texts come from a real one. */
async function contextOf(browser: Browser, picture: Picture): Promise<BrowserContext> {
  const { width, height } = sizes[picture.size]
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: picture.theme,
    reducedMotion: 'reduce',
    locale: picture.language === 'de' ? 'de-DE' : 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  await context.addInitScript(pageScript(recording, picture))
  await context.route(
    ({ pathname }) => pathname !== '/' && !/^\/(ui|texts)\//.test(pathname),
    (route) => {
      const url = new URL(route.request().url())
      const answer =
        (picture.isLogin && url.pathname === '/session' ? loggedOut : picture.answers?.[url.pathname]) ??
        recording.answers[url.pathname] ??
        seriesOf(url) ??
        timelineOf(url)
      if (answer === undefined) return route.fulfill({ status: 404, body: 'not found' })
      const body = typeof answer === 'string' ? answer : JSON.stringify(answer)
      return route.fulfill({ contentType: 'application/json', body })
    },
  )
  return context
}

/** Values of a day that are the same every time. */
function seriesOf(url: URL): object | undefined {
  if (url.pathname !== '/history') return undefined
  const step = Number(url.searchParams.get('step') ?? 1)
  const count = Math.floor(8_640 / step)
  const names = (url.searchParams.get('figures') ?? '').split(',')
  const value = (name: string, at: number) => {
    if (name === 'fitness') return at > count * 0.3 && at < count * 0.35 ? 0 : 2
    const wave = Math.sin((at / count) * 12) + Math.sin((at / count) * 31) / 2
    return name.startsWith('cno') ? 44 + 2 * wave : 28 + Math.round(3 * wave)
  }
  const figures = Object.fromEntries(
    names.map((name) => [name, Array.from({ length: count }, (_, at) => value(name, at))]),
  )
  return { t: Math.floor(recording.at_ms / 1_000), interval_s: 10 * step, units: {}, figures }
}

/** A day with two interruptions. */
function timelineOf({ pathname, searchParams }: URL): object | undefined {
  if (pathname !== '/record/timeline') return undefined
  const [from, to] = [Number(searchParams.get('from')) * 1_000, Number(searchParams.get('to')) * 1_000]
  const parts = [
    { until: 0.3, cause: 'sent' },
    { until: 0.35, cause: 'no-observations' },
    { until: 0.7, cause: 'sent' },
    { until: 0.72, cause: 'gate-closed', values: { reason: 'the receiver restarted: its reference is checked again' } },
    { until: 1, cause: 'sent' },
  ]
  const spans = parts.map(({ until, cause, values = {} }, at) => {
    const begin = parts[at - 1]?.until ?? 0
    return { from: from + begin * (to - from), to: from + until * (to - from), cause, values }
  })
  return { spans }
}

/** Everything that is loaded on demand has come, and nothing moves. */
async function settled(page: Page, { isLogin = false, act }: Picture): Promise<void> {
  await page.waitForSelector(isLogin ? 'form' : 'main h1')
  await page.waitForLoadState('networkidle')
  if (act) await act(page)
  let before = ''
  for (let round = 0; round < 40; round++) {
    await page.waitForTimeout(300)
    const now = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64')
    if (now === before && round > 1) return
    before = now
  }
}
