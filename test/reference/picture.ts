/**
 * The pictures of the documentation: the status page of a simulated station, once RTCM goes out and a rover listens, and the overview of a
 * fleet of ten simulated stations, once something has happened to three of them.
 */
import { createSocket } from 'node:dgram'
import { mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { freeUdpPort, ownPorts, startStation, until } from 'rtk-base/testing'
import { packageRoot } from '../../runtime/platform/release.js'
import { startBrowser } from '../harness/children/browser-rig.js'

const size = { width: 1200, height: 760 }
const most_bytes = 150_000

export async function takePicture(): Promise<void> {
  const file = join(packageRoot(), 'runtime', 'docs', 'images', 'status.png')
  mkdirSync(dirname(file), { recursive: true })
  const { args, udp } = await ownPorts()
  const station = await startStation([...args, '--set', 'udp-rtcm.host=127.0.0.1'])
  const rover = createSocket('udp4').bind(await freeUdpPort(), '127.0.0.1')
  const browser = await startBrowser()
  try {
    type Info = { base: { state: { verdict: { fitness: string } } } }
    const fitness = async () => (await station.info<Info>()).base.state.verdict.fitness
    await until(async () => (await fitness()) !== 'unfit', 'RTCM', 120_000)
    rover.send('North field', udp, '127.0.0.1')
    const page = await browser.newPage({ viewport: size, locale: 'en', colorScheme: 'light' })
    await page.goto(`${station.url}/`)
    // The curves of the page have something to show.
    await page.waitForTimeout(60_000)
    rover.send('North field', udp, '127.0.0.1')
    await page.waitForTimeout(2_000)
    await page.screenshot({ path: file })
  } finally {
    await browser.close()
    rover.close()
    await station.end()
  }
  checkSize(file)
}

export async function takeFleetPicture(): Promise<void> {
  const file = join(packageRoot(), 'runtime', 'docs', 'images', 'fleet.png')
  const fleet = await startStation(['fleet-demo', '--set', 'mqtt-broker.port=0', '--change', 'ntrip-caster-port=0'])
  const browser = await startBrowser()
  try {
    const verdicts = async () => {
      const answer = await fetch(`${fleet.url}/fleet/stations`)
      // Until the database was read, nobody knows whether a login is needed.
      if (!answer.ok) return false
      const rows = (await answer.json()) as { verdict: string; online: string }[]
      const isThere = (is: (row: { verdict: string; online: string }) => boolean) => rows.some(is)
      return isThere(({ verdict }) => verdict === 'unfit') && isThere(({ online }) => online === 'offline')
    }
    await until(verdicts, 'what happens to them', 180_000)
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en', colorScheme: 'light' })
    await page.goto(`${fleet.url}/`)
    await page.locator('.rows-one').first().waitFor()
    await page.waitForTimeout(5_000)
    await page.screenshot({ path: file })
  } finally {
    await browser.close()
    await fleet.end()
  }
  checkSize(file)
}

function checkSize(file: string): void {
  const { size: bytes } = statSync(file)
  console.log(`${file}: ${bytes} bytes`)
  if (bytes > most_bytes) throw new Error(`the picture is larger than ${most_bytes} bytes`)
}
