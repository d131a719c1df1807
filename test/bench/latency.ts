import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { freeTcpPort, listeningTo } from '../harness/process.js'
import { startDevice } from './device.js'
import { type ClientReport, epochFrames, hasProgram, startClients } from './edges.js'
import { keepAwake } from './host.js'
import { judged, type Measurement, shown } from './measurement.js'
import { onTheLine, openSerialLine, type SerialLine, type Write, warmUp } from './serial-line.js'

const subscribers = 32
const timed = 8
const epochs = 60
const interval_ms = 480

function epochsOnTheLine(count: number, every_ms: number, speed?: number): Write[] {
  return Array.from({ length: count }, (_, n) => onTheLine(epochFrames(n), n * every_ms, speed)).flat()
}

/**
 * From the last byte of a frame in to its last byte at each subscriber, milliseconds: one sample per frame and subscriber. By the
 * bytes: frames come within a millisecond of each other. None at all when something was lost.
 */
function latencies(frames: readonly Write[], written: readonly number[], { arrivals }: ClientReport): number[] {
  const samples: number[] = []
  for (let client = 0; client < timed; client++) {
    let [frame, missing] = [0, frames[0]?.bytes.length ?? 0]
    for (const { bytes, at_ms } of arrivals.filter((arrival) => arrival.client === client)) {
      missing -= bytes
      for (; missing <= 0 && frame < frames.length; missing += frames[frame]?.bytes.length ?? 0) {
        samples.push(at_ms - (written[frame++] as number))
      }
    }
  }
  return samples.length === frames.length * timed ? samples : []
}

/** What is on its way arrives; nothing is sent. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 200))

/** Latencies to 32 clients of the server at `port`, whose receiver is at the near end of the line. */
async function measure(
  kind: 'udp' | 'tcp',
  port: number,
  line: SerialLine,
  served: () => Promise<void> = async () => {},
): Promise<number[]> {
  const front = await startClients(kind, port, (subscribers - timed) / 2)
  const clients = await startClients(kind, port, timed)
  const behind = await startClients(kind, port, (subscribers - timed) / 2)
  await served()
  await line.send(epochsOnTheLine(warmUp.epochs, warmUp.interval_ms, 4))
  // Those in front of and behind the timed ones are only served: reading them too would measure this machine's clients.
  front.freeze()
  behind.freeze()
  await quiet()
  clients.reset()
  await quiet()
  const frames = epochsOnTheLine(epochs, interval_ms)
  const written = await line.send(frames)
  await quiet()
  const report = await clients.stop()
  front.kill()
  behind.kill()
  return latencies(frames, written, report)
}

async function rtkBase(): Promise<number[]> {
  const line = await openSerialLine()
  const station = await startDevice(listeningTo(line.near))
  const samples = await measure('udp', station.udp, line, () => station.subscribers(subscribers))
  await station.end()
  line.close()
  return samples
}

async function str2str(): Promise<number[]> {
  const line = await openSerialLine()
  const port = await freeTcpPort()
  // str2str names serial ports from /dev on.
  const device = relative('/dev', line.near)
  const child = spawn('str2str', ['-in', `serial://${device}:115200`, '-out', `tcpsvr://:${port}`], { stdio: 'ignore' })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const samples = await measure('tcp', port, line)
  child.kill('SIGKILL')
  await once(child, 'close')
  line.close()
  return samples
}

/** Judged without the halts of a virtual machine, where that can be had. */
export async function benchLatency(): Promise<Measurement[]> {
  const results: Measurement[] = []
  const name = `serial → UDP, ${subscribers} subscribers`
  const release = keepAwake()
  if (release) results.push(...judged(`${name}, processors kept awake`, await rtkBase().finally(release)))
  results.push(...(release ? shown : judged)(name, await rtkBase()))
  if (!hasProgram('str2str')) return results
  return [...results, ...shown(`str2str, serial → TCP, ${subscribers} clients`, await str2str())]
}
