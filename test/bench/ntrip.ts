import { freeTcpPort, listeningTo } from '../harness/process.js'
import { startDevice } from './device.js'
import { epochFrames, hasPeer, processUse, startClients } from './edges.js'
import { keepAwake } from './host.js'
import { atMost, figure, judged, lost, type Measurement, shown } from './measurement.js'
import { definePart } from './part.js'
import { onTheLine, openSerialLine, type SerialLine } from './serial-line.js'
import { startStr2str } from './str2str.js'

/** One run with a number of rovers. */
export interface RunSize {
  /** Clients whose arrivals are timed, in the middle of the others. */
  readonly timed: number
  readonly stalled: number
  /** What those who do not read get in them fits into their sockets: full ones cost the system many times as much. */
  readonly epochs: number
  /** Sent first and not measured. */
  readonly warmUp: number
  /** With a single round of the fewest rovers, the worst epoch would be p99. */
  readonly rounds: number
}

interface Size extends RunSize {
  /** As many rovers as str2str serves. */
  readonly fewest: number
  readonly more: readonly number[]
  /** The last of `more` may take so much of a core. */
  readonly budget: number
}

export interface Run {
  samples: number[]
  /** Percent of a core; of the station or its peer. */
  cpu: number
  rss_MB: number
  loss: { sent: number; arrived: number }
}

/** Until then a station compiles what it runs; at 25 Hz, as many epochs as it gets in ten minutes. */
const warmUpInterval_ms = 40

/** The observations of so many epochs, what belongs to no epoch 0.3 of an interval later; when the last of each were written. */
async function feed(line: SerialLine, from: number, count: number, interval_ms = 1_000, speed = 1): Promise<number[]> {
  const writes = Array.from({ length: count }, (_, n) => {
    const frames = epochFrames(from + n)
    const rest = { at_ms: (n + 0.4) * interval_ms, bytes: Buffer.concat(frames.slice(4)) }
    return [...onTheLine(frames.slice(0, 4), n * interval_ms, speed), rest]
  })
  const written = await line.send(writes.flat())
  return written.filter((_, index) => index % 5 === 3)
}

/** From the observations in to each timed client, ms; what comes later belongs to what came between. */
function latencies(written: readonly number[], arrivals: readonly number[]): number[] {
  return arrivals.flatMap((arrival) => {
    const at = written.findLast((moment) => moment <= arrival)
    return at !== undefined && arrival - at < 290 ? [arrival - at] : []
  })
}

/** What so many clients get in `epochs` epochs. */
async function round(count: number, size: RunSize, port: number, line: SerialLine, pid: number): Promise<Run> {
  const { timed, stalled, epochs } = size
  const around = count - timed
  const front = await startClients('ntrip', port, around >> 1, stalled >> 1)
  const clients = await startClients('ntrip', port, timed)
  const behind = await startClients('ntrip', port, around - (around >> 1), stalled >> 1)
  // Only served: thousands that are read here as well would measure this machine's clients. The system takes what they get.
  front.freeze()
  behind.freeze()
  await clients.reset()
  const before = processUse(pid)
  const started = performance.now()
  const written = await feed(line, 1_000, epochs)
  const used = processUse(pid)
  const seconds = (performance.now() - started) / 1_000
  const all = Array.from({ length: epochs }, (_, n) => Buffer.concat(epochFrames(1_000 + n)).length)
  const sent = timed * all.reduce((sum, one) => sum + one, 0)
  const { arrivals, bytes } = await clients.stop((report) => report.bytes >= sent)
  front.kill()
  behind.kill()
  return {
    samples: latencies(
      written,
      arrivals.map(({ at_ms }) => at_ms),
    ),
    cpu: (100 * (used.cpu_s - before.cpu_s)) / seconds,
    rss_MB: used.rss_bytes / 1e6,
    loss: { sent, arrived: bytes },
  }
}

async function measure(count: number, size: RunSize, port: number, line: SerialLine, pid: number): Promise<Run> {
  // The position first: without it nobody gets anything.
  await feed(line, 0, 2)
  const first = await startClients('ntrip', port, size.timed)
  await feed(line, 10, size.warmUp, warmUpInterval_ms, 8)
  first.kill()
  const rounds: Run[] = []
  for (let n = 0; n < size.rounds; n++) rounds.push(await round(count, size, port, line, pid))
  const sum = (of: (run: Run) => number) => rounds.reduce((total, run) => total + of(run), 0)
  return {
    samples: rounds.flatMap(({ samples }) => samples),
    cpu: sum(({ cpu }) => cpu) / rounds.length,
    rss_MB: Math.max(...rounds.map(({ rss_MB }) => rss_MB)),
    loss: { sent: sum(({ loss }) => loss.sent), arrived: sum(({ loss }) => loss.arrived) },
  }
}

/** A station that listens to a line, with room for so many rovers. */
export async function ntripStation(near: string) {
  const room = ['maxClients=10000', 'mounts=[{"name":"BENCH"}]']
  const options = room.flatMap((option) => ['--set', `ntrip-caster.${option}`])
  const station = await startDevice([...listeningTo(near), ...options])
  const { ntrip } = await station.info<{ ntrip: { caster: { port: number } } }>()
  return { station, port: ntrip.caster.port }
}

/** The station with so many rovers. */
export async function rtkBase(count: number, size: RunSize): Promise<Run> {
  const line = await openSerialLine()
  const { station, port } = await ntripStation(line.near)
  const run = await measure(count, size, port, line, station.child.pid as number)
  await station.end('SIGKILL')
  line.close()
  return run
}

async function str2str(count: number, size: RunSize): Promise<Run> {
  const line = await openSerialLine()
  const port = await freeTcpPort()
  const peer = await startStr2str(line, `ntripc://:${port}/BENCH`)
  const run = await measure(count, size, port, line, peer.pid)
  await peer.stop()
  line.close()
  return run
}

const bytesLost = (name: string, { loss }: Run) =>
  lost(`${name}: bytes lost by those that are timed`, loss.sent, loss.arrived, 'bytes')

/**
 * NTRIP rovers at 1 Hz, about 1 kB an epoch, some of them stalled: latency, the share of a core, memory. The latency of the fewest is
 * judged without the halts of a virtual machine, where that can be had.
 */
export const part = definePart<Size>({
  sizes: {
    full: {
      ...{ fewest: 32, more: [500, 2_000, 5_000], budget: 25 },
      ...{ timed: 8, stalled: 20, epochs: 20, warmUp: 600, rounds: 5 },
    },
    smoke: {
      ...{ fewest: 32, more: [200], budget: 25 },
      ...{ timed: 8, stalled: 4, epochs: 3, warmUp: 10, rounds: 1 },
    },
  },
  async run(size) {
    const { fewest, more, budget } = size
    const results: Measurement[] = []
    const release = keepAwake()
    if (release) {
      const run = await rtkBase(fewest, size).finally(release)
      const name = `${fewest} NTRIP rovers, processors kept awake`
      results.push(...judged(name, run.samples), bytesLost(name, run))
    }
    for (const count of [fewest, ...more]) {
      const run = await rtkBase(count, count === fewest ? size : { ...size, rounds: 1 })
      const name = `${count} NTRIP rovers`
      results.push(...(count === fewest && !release ? judged : shown)(name, run.samples), bytesLost(name, run))
      const share = `${name}: share of a core`
      results.push(count === more.at(-1) ? atMost(share, run.cpu, budget, '%') : figure(share, run.cpu, '%'))
      results.push(figure(`${name}: resident memory`, run.rss_MB, 'MB', 120))
    }
    if (!hasPeer('str2str')) return results
    const { samples, cpu, rss_MB } = await str2str(fewest, size)
    return [
      ...results,
      ...shown(`str2str, ${fewest} NTRIP rovers`, samples),
      figure(`str2str, ${fewest} NTRIP rovers: share of a core`, cpu, '%'),
      figure(`str2str, ${fewest} NTRIP rovers: resident memory`, rss_MB, 'MB'),
    ]
  },
})
