import { open } from 'node:fs/promises'
import { openPty } from '../harness/peers/pty.js'
import { listeningTo } from '../harness/process.js'
import { startDevice } from './device.js'
import { epochFrames, processUse, startClients } from './edges.js'
import { atLeast, atMost, type Measurement } from './measurement.js'

const subscribers = 2_000
const epochs = 15

/** 2,000 subscribers by UDP at 1 Hz: loss and the share of a core. */
export async function benchFanOut(): Promise<Measurement[]> {
  const pty = await openPty()
  const station = await startDevice([
    ...listeningTo(pty.near),
    '--set',
    'udp-rtcm.maxSubscribers=2500',
    '--set',
    'udp-rtcm.maxPerAddress=2500',
  ])
  const clients = await startClients('udp', station.udp, subscribers)
  await station.subscribers(64)
  // Every client has asked at least twice by then.
  await new Promise((resolve) => setTimeout(resolve, 21_000))
  clients.reset()
  const file = await open(pty.far, 'w')
  const pid = station.child.pid as number
  const before = processUse(pid)
  const started = performance.now()
  let frames = 0
  for (let n = 0; n < epochs; n++) {
    const epoch = epochFrames(n)
    frames += epoch.length
    await file.write(Buffer.concat(epoch))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  const seconds = (performance.now() - started) / 1_000
  const used = processUse(pid)
  const report = await clients.stop()
  await file.close()
  await station.end()
  await pty.close()
  return [
    atLeast(
      `${subscribers} subscribers at 1 Hz: datagrams delivered`,
      (100 * report.datagrams) / (frames * subscribers),
      100,
      '%',
    ),
    atLeast(`${subscribers} subscribers: frames of the worst served, of ${frames}`, report.fewest, frames, 'frames'),
    atMost(`${subscribers} subscribers: share of a core`, (100 * (used.cpu_s - before.cpu_s)) / seconds, 15, '%'),
    { name: `${subscribers} subscribers: resident memory`, value: used.rss_bytes / 1e6, unit: 'MB' },
  ]
}
