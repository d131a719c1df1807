import { freeTcpPort, listeningTo } from '../harness/process.js'
import { startDevice } from './device.js'
import { epochFrames, hasPeer, startClients } from './edges.js'
import { keepAwake } from './host.js'
import { judged, lost, type Measurement, shown } from './measurement.js'
import { definePart } from './part.js'
import { onTheLine, openSerialLine, type SerialLine, type Write } from './serial-line.js'
import { startStr2str } from './str2str.js'

interface Size {
  readonly subscribers: number
  /** Of them, those whose arrivals are timed, in the middle of the others. */
  readonly timed: number
  /** Sent first and not measured. */
  readonly warmUp: { readonly epochs: number; readonly interval_ms: number }
  readonly epochs: number
  readonly interval_ms: number
}

interface Run {
  /** From the last byte of a frame in to its last byte at each subscriber, milliseconds. */
  samples: number[]
  loss: { sent: number; arrived: number }
}

function epochsOnTheLine(count: number, every_ms: number, speed?: number): Write[] {
  return Array.from({ length: count }, (_, n) => onTheLine(epochFrames(n), n * every_ms, speed)).flat()
}

/** One sample per frame. By the bytes: frames come within a millisecond of each other. */
function latencies(frames: readonly Write[], written: readonly number[], arrivals: readonly Arrival[]): number[] {
  const samples: number[] = []
  let [frame, missing] = [0, frames[0]?.bytes.length ?? 0]
  for (const { bytes, at_ms } of arrivals) {
    missing -= bytes
    for (; missing <= 0 && frame < frames.length; missing += frames[frame]?.bytes.length ?? 0) {
      samples.push(at_ms - (written[frame++] as number))
    }
  }
  return samples
}

interface Arrival {
  bytes: number
  at_ms: number
}

/** Latencies to the clients of the server at `port`, whose receiver is at the near end of the line. */
async function measure(
  { subscribers, timed, warmUp, epochs, interval_ms }: Size,
  kind: 'udp' | 'tcp',
  port: number,
  line: SerialLine,
  served: () => Promise<void> = async () => {},
): Promise<Run> {
  const front = await startClients(kind, port, (subscribers - timed) / 2)
  const clients = await startClients(kind, port, timed)
  const behind = await startClients(kind, port, (subscribers - timed) / 2)
  await served()
  await line.send(epochsOnTheLine(warmUp.epochs, warmUp.interval_ms, 4))
  // Those in front of and behind the timed ones are only served: reading them too would measure this machine's clients.
  front.freeze()
  behind.freeze()
  await clients.reset()
  const frames = epochsOnTheLine(epochs, interval_ms)
  const written = await line.send(frames)
  const sent = timed * frames.reduce((sum, frame) => sum + frame.bytes.length, 0)
  const { arrivals, bytes } = await clients.stop((report) => report.bytes >= sent)
  front.kill()
  behind.kill()
  const of = (client: number) => arrivals.filter((arrival) => arrival.client === client)
  // With a loss, bytes no longer say which frame came.
  const samples =
    bytes === sent ? Array.from({ length: timed }, (_, client) => latencies(frames, written, of(client))).flat() : []
  return { samples, loss: { sent, arrived: bytes } }
}

async function rtkBase(size: Size): Promise<Run> {
  const line = await openSerialLine()
  const station = await startDevice(listeningTo(line.near))
  const run = await measure(size, 'udp', station.udp, line, () => station.subscribers(size.subscribers))
  await station.end()
  line.close()
  return run
}

async function str2str(size: Size): Promise<Run> {
  const line = await openSerialLine()
  const port = await freeTcpPort()
  const peer = await startStr2str(line, `tcpsvr://:${port}`)
  const run = await measure(size, 'tcp', port, line)
  await peer.stop()
  line.close()
  return run
}

/** From the serial line to UDP subscribers. Judged without the halts of a virtual machine, where that can be had. */
export const part = definePart<Size>({
  sizes: {
    full: { subscribers: 32, timed: 8, warmUp: { epochs: 600, interval_ms: 40 }, epochs: 60, interval_ms: 480 },
    smoke: { subscribers: 32, timed: 8, warmUp: { epochs: 10, interval_ms: 40 }, epochs: 6, interval_ms: 480 },
  },
  async run(size) {
    const results: Measurement[] = []
    const name = `serial → UDP, ${size.subscribers} subscribers`
    const add = (what: string, judge: typeof judged, { samples, loss }: Run) =>
      results.push(...judge(what, samples), lost(`${what}: bytes lost`, loss.sent, loss.arrived, 'bytes'))
    const release = keepAwake()
    if (release) add(`${name}, processors kept awake`, judged, await rtkBase(size).finally(release))
    add(name, release ? shown : judged, await rtkBase(size))
    if (hasPeer('str2str')) {
      const { samples } = await str2str(size)
      results.push(...shown(`str2str, serial → TCP, ${size.subscribers} clients`, samples))
    }
    return results
  },
})
