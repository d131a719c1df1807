/** The picture of the README: the status page of a simulated station, once RTCM goes out and a rover listens. */
import { createSocket } from 'node:dgram'
import { mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { freeUdpPort, ownPorts, startStation, until } from 'rtk-base/testing'
import { packageRoot } from '../../runtime/build/release.js'
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
  const { size: bytes } = statSync(file)
  console.log(`${file}: ${bytes} bytes`)
  if (bytes > most_bytes) throw new Error(`the picture is larger than ${most_bytes} bytes`)
}
