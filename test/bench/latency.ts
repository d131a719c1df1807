import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { relative } from 'node:path'
import { openPty } from '../harness/peers/pty.js'
import { freeTcpPort, listeningTo } from '../harness/process.js'
import { startDevice } from './device.js'
import { epochFrames, hasProgram, startClients, unixNow_ms } from './edges.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const subscribers = 32
const timed = 8
const epochs = 80
/** Sent first and not measured, 24 s: until then a station gives back what only its start needed. */
const warmUp = 50
const interval_ms = 400
/** A serial line at 115,200 baud: 10 bits a byte. */
const bytesPerMs = 11.52

/**
 * Writes epochs into a pty as a serial line would bring them: frame by frame, each in the time that its bytes take.
 * Returns when the last byte of each measured frame was written.
 */
async function feedEpochs(far: string): Promise<number[]> {
  const file = await open(far, 'w')
  const written: number[] = []
  for (let n = 0; n < epochs; n++) {
    for (const frame of epochFrames(n)) {
      await new Promise((resolve) => setTimeout(resolve, frame.length / bytesPerMs))
      if (n >= warmUp) written.push(unixNow_ms())
      // At once: a write that another thread makes would be timed as well.
      writeSync(file.fd, frame)
    }
    await new Promise((resolve) => setTimeout(resolve, interval_ms))
  }
  await file.close()
  return written
}

/** From the last byte of a measured frame in to each subscriber, milliseconds: one sample per frame and subscriber. */
function latencies(written: readonly number[], arrivals: readonly number[]): number[] {
  const samples: number[] = []
  for (const arrival of arrivals) {
    const at = written.findLast((moment) => moment <= arrival)
    if (at !== undefined) samples.push(arrival - at)
  }
  return samples
}

/** Latencies to 32 clients of the server at `port`, whose receiver is at the near end of a pty. */
async function measure(
  kind: 'udp' | 'tcp',
  port: number,
  far: string,
  served: () => Promise<void> = async () => {},
): Promise<number[]> {
  // Those in front of and behind the timed ones are only served: reading them too would measure this machine's clients.
  const front = await startClients(kind, port, (subscribers - timed) / 2)
  const clients = await startClients(kind, port, timed)
  const behind = await startClients(kind, port, (subscribers - timed) / 2)
  await served()
  front.freeze()
  behind.freeze()
  clients.reset()
  const written = await feedEpochs(far)
  const { arrivals } = await clients.stop()
  front.kill()
  behind.kill()
  return latencies(written, arrivals)
}

async function rtkBase(): Promise<number[]> {
  const pty = await openPty()
  const station = await startDevice(listeningTo(pty.near))
  const samples = await measure('udp', station.udp, pty.far, () => station.subscribers(subscribers))
  await station.end()
  await pty.close()
  return samples
}

async function str2str(): Promise<number[]> {
  const pty = await openPty()
  const port = await freeTcpPort()
  // str2str names serial ports from /dev on: the link of the pty is resolved.
  const device = relative('/dev', realpathSync(pty.near))
  const child = spawn('str2str', ['-in', `serial://${device}:115200`, '-out', `tcpsvr://:${port}`], { stdio: 'ignore' })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const samples = await measure('tcp', port, pty.far)
  child.kill('SIGKILL')
  await once(child, 'close')
  await pty.close()
  return samples
}

export async function benchLatency(): Promise<Measurement[]> {
  const own = await rtkBase()
  const results = [
    atMost(`serial → UDP, ${subscribers} subscribers, p50 of ${own.length} samples`, quantile(own, 0.5), 1, 'ms'),
    atMost(`serial → UDP, ${subscribers} subscribers, p99`, quantile(own, 0.99), 3, 'ms'),
  ]
  if (!hasProgram('str2str')) return results
  const peer = await str2str()
  if (peer.length === 0) return results
  return [
    ...results,
    { name: `str2str, serial → TCP, ${subscribers} clients, p50`, value: quantile(peer, 0.5), unit: 'ms' },
    { name: `str2str, serial → TCP, ${subscribers} clients, p99`, value: quantile(peer, 0.99), unit: 'ms' },
  ]
}
