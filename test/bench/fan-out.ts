import { open } from 'node:fs/promises'
import { openPty } from '../harness/peers/pty.js'
import { listeningTo } from '../harness/process.js'
import { startDevice } from './device.js'
import { epochFrames, processUse, startClients } from './edges.js'
import { atMost, figure, lost } from './measurement.js'
import { definePart, pause } from './part.js'

interface Size {
  readonly subscribers: number
  readonly epochs: number
  /** Every client has asked at least once by then. */
  readonly settle_ms: number
}

/** Subscribers by UDP at 1 Hz: loss and the share of a core. */
export const part = definePart<Size>({
  sizes: {
    full: { subscribers: 2_000, epochs: 15, settle_ms: 21_000 },
    smoke: { subscribers: 200, epochs: 3, settle_ms: 1_000 },
  },
  async run({ subscribers, epochs, settle_ms }) {
    const pty = await openPty()
    const station = await startDevice([...listeningTo(pty.near), '--set', 'udp-rtcm.maxSubscribers=2500'])
    const clients = await startClients('udp', station.udp, subscribers)
    // The document lists no more.
    await station.subscribers(64)
    await pause(settle_ms)
    await clients.reset()
    const file = await open(pty.far, 'w')
    const pid = station.child.pid as number
    const before = processUse(pid)
    const started = performance.now()
    let frames = 0
    for (let n = 0; n < epochs; n++) {
      const epoch = epochFrames(n)
      frames += epoch.length
      await file.write(Buffer.concat(epoch))
      await pause(1_000)
    }
    const seconds = (performance.now() - started) / 1_000
    const used = processUse(pid)
    const report = await clients.stop(({ datagrams }) => datagrams >= frames * subscribers)
    await file.close()
    await station.end()
    await pty.close()
    const name = `${subscribers} subscribers at 1 Hz`
    return [
      lost(`${name}: datagrams lost`, frames * subscribers, report.datagrams),
      lost(`${name}: frames lost by the worst served`, frames, report.fewest),
      atMost(`${name}: share of a core`, (100 * (used.cpu_s - before.cpu_s)) / seconds, 15, '%'),
      figure(`${name}: resident memory`, used.rss_bytes / 1e6, 'MB', 120),
    ]
  },
})
