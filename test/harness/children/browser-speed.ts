/**
 * Run in a network of its own: how soon the page shows the verdict on slow machines and lines, and what it costs while it stays open.
 * Argument: minutes that it stays open. Findings are figures: `wanted` is the most that is allowed.
 */
import type { Browser, CDPSession } from 'playwright-core'
import { localStation, startBrowser, tell } from './browser-rig.js'

const minutes = Number(process.argv[2] ?? 30)
/** Code is compiled and rings are full after this part of the time. */
const warmUp_min = Math.min(minutes / 4, 5)
const samples = 10
const rounds = 3
const limits = { slowProcessor_ms: 1_000, slow3g_ms: 3_500, cpu_percent: 1, growth_percent: 10 }
const verdict = '.verdict-fit, .verdict-degraded, .verdict-unfit, .verdict-waiting'

/** As Lighthouse's "slow 3G": 400 kbit/s, 400 ms; bytes a second. */
const slow3g = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }

/** Run in the page before its own code: notes when the verdict is painted. */
const noteVerdict = `{
  const look = () => {
    if (document.querySelector(${JSON.stringify(verdict)})) requestAnimationFrame(() => { globalThis.verdictAt_ms = performance.now() })
    else requestAnimationFrame(look)
  }
  look()
}`

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Milliseconds from the navigation to the first verdict, with an empty cache. */
async function firstVerdict(
  browser: Browser,
  url: string,
  slow: (cdp: CDPSession) => Promise<unknown>,
): Promise<number> {
  const found: number[] = []
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    const page = await context.newPage()
    await page.addInitScript(noteVerdict)
    await slow(await context.newCDPSession(page))
    await page.goto(url)
    await page.waitForSelector(verdict, { timeout: 60_000 })
    await pause(500)
    found.push(await page.evaluate<number>('globalThis.verdictAt_ms'))
    await context.close()
  }
  return Math.round(median(found))
}

const station = await localStation(['--set', 'simulated-receiver.boot=fixed'])
const browser = await startBrowser()
const slowProcessor_ms = await firstVerdict(browser, station.url, (cdp) =>
  cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 }),
)
tell({
  what: 'first verdict with a processor slowed down 4 times, ms',
  found: slowProcessor_ms,
  wanted: limits.slowProcessor_ms,
})
const slow3g_ms = await firstVerdict(browser, station.url, async (cdp) => {
  await cdp.send('Network.enable')
  await cdp.send('Network.emulateNetworkConditions', slow3g)
})
tell({ what: 'first verdict over slow 3G, ms', found: slow3g_ms, wanted: limits.slow3g_ms })

const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
await page.goto(station.url)
await page.waitForSelector(verdict)
const inPage = await page.context().newCDPSession(page)
const inBrowser = await browser.newBrowserCDPSession()
/** Seconds of all renderers; the page is the only one. */
async function used_s(): Promise<number> {
  const { processInfo } = await inBrowser.send('SystemInfo.getProcessInfo')
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}
/** What the page holds after a collection, bytes. */
async function held_bytes(): Promise<number> {
  await inPage.send('HeapProfiler.collectGarbage')
  return (await inPage.send('Runtime.getHeapUsage')).usedSize
}
await pause(warmUp_min * 60_000)
const heap: number[] = [await held_bytes()]
let cpu_s = 0
for (let sample = 0; sample < samples; sample++) {
  const before = await used_s()
  await pause(((minutes - warmUp_min) * 60_000) / samples)
  // Without the collection.
  cpu_s += (await used_s()) - before
  heap.push(await held_bytes())
}
const cpu_percent = (100 * cpu_s) / ((minutes - warmUp_min) * 60)
tell({ what: 'renderer, percent of a core', found: Number(cpu_percent.toFixed(2)), wanted: limits.cpu_percent })
const [first = 0] = heap
const growth = (100 * ((heap.at(-1) ?? 0) - first)) / first
const kB = heap.map((bytes) => Math.round(bytes / 1_000)).join(' ')
tell({
  what: `growth of the heap, percent (kB: ${kB})`,
  found: Number(growth.toFixed(1)),
  wanted: limits.growth_percent,
})
await browser.close()
await station.end()
