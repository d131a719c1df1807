import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { freeTcpPort, listeningTo } from '../harness/process.js'
import { startDevice } from './device.js'
import { epochFrames, hasProgram, processUse, startClients } from './edges.js'
import { keepAwake } from './host.js'
import { atMost, judged, type Measurement, shown } from './measurement.js'
import { onTheLine, openSerialLine, type SerialLine, warmUp } from './serial-line.js'

/** As many as str2str serves. */
const fewest = 32
/** Clients whose arrivals are timed, in the middle of the others. */
const timed = 8
const stalled = 20
/** What those who do not read get in it fits into their sockets: full ones cost the system many times as much. */
const epochs = 20
export interface Run {
  samples: number[]
  /** Percent of a core; of the station or its peer. */
  cpu: number
  rss_MB: number
}

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
async function round(count: number, port: number, line: SerialLine, pid: number): Promise<Run> {
  const around = count - timed
  const front = await startClients('ntrip', port, around >> 1, stalled >> 1)
  const clients = await startClients('ntrip', port, timed)
  const behind = await startClients('ntrip', port, around - (around >> 1), stalled >> 1)
  // Only served: thousands that are read here as well would measure this machine's clients. The system takes what they get.
  front.freeze()
  behind.freeze()
  clients.reset()
  const before = processUse(pid)
  const started = performance.now()
  const written = await feed(line, 1_000, epochs)
  const used = processUse(pid)
  const seconds = (performance.now() - started) / 1_000
  const { arrivals } = await clients.stop()
  front.kill()
  behind.kill()
  const cpu = (100 * (used.cpu_s - before.cpu_s)) / seconds
  return {
    samples: latencies(
      written,
      arrivals.map(({ at_ms }) => at_ms),
    ),
    cpu,
    rss_MB: used.rss_bytes / 1e6,
  }
}

async function measure(count: number, port: number, line: SerialLine, pid: number): Promise<Run> {
  // The position first: without it nobody gets anything.
  await feed(line, 0, 2)
  const first = await startClients('ntrip', port, timed)
  await feed(line, 10, warmUp.epochs, warmUp.interval_ms, 8)
  first.kill()
  const rounds: Run[] = []
  // With a single round of the fewest, the worst epoch would be p99.
  for (let n = 0; n < (count === fewest ? 5 : 1); n++) rounds.push(await round(count, port, line, pid))
  return {
    samples: rounds.flatMap(({ samples }) => samples),
    cpu: rounds.reduce((sum, { cpu }) => sum + cpu, 0) / rounds.length,
    rss_MB: Math.max(...rounds.map(({ rss_MB }) => rss_MB)),
  }
}

/** A station that listens to a line, with room for so many rovers. */
export async function ntripStation(near: string) {
  const room = ['maxClients=10000', 'maxPerAddress=10000', 'mounts=[{"name":"BENCH"}]']
  const options = room.flatMap((option) => ['--set', `ntrip-caster.${option}`])
  const station = await startDevice([...listeningTo(near), ...options])
  const { ntrip } = await station.info<{ ntrip: { caster: { port: number } } }>()
  return { station, port: ntrip.caster.port }
}

/** The station with so many rovers. */
export async function rtkBase(count: number): Promise<Run> {
  const line = await openSerialLine()
  const { station, port } = await ntripStation(line.near)
  const run = await measure(count, port, line, station.child.pid as number)
  await station.end('SIGKILL')
  line.close()
  return run
}

async function str2str(count: number): Promise<Run> {
  const line = await openSerialLine()
  const port = await freeTcpPort()
  // str2str names serial ports from /dev on.
  const device = relative('/dev', line.near)
  const child = spawn('str2str', ['-in', `serial://${device}:115200`, '-out', `ntripc://:${port}/BENCH`], {
    stdio: 'ignore',
  })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const run = await measure(count, port, line, child.pid as number)
  child.kill('SIGKILL')
  await once(child, 'close')
  line.close()
  return run
}

/**
 * NTRIP rovers at 1 Hz, about 1 kB an epoch, 20 of them stalled: latency, the share of a core, memory. The latency of the fewest is
 * judged without the halts of a virtual machine, where that can be had.
 */
export async function benchNtrip(): Promise<Measurement[]> {
  const results: Measurement[] = []
  const release = keepAwake()
  if (release) {
    const { samples } = await rtkBase(fewest).finally(release)
    results.push(...judged(`${fewest} NTRIP rovers, processors kept awake`, samples))
  }
  for (const count of [fewest, 500, 2_000, 5_000]) {
    const { samples, cpu, rss_MB } = await rtkBase(count)
    const name = `${count} NTRIP rovers`
    results.push(...(count === fewest && !release ? judged : shown)(name, samples))
    if (count === 5_000) results.push(atMost(`${name}: share of a core`, cpu, 25, '%'))
    else results.push({ name: `${name}: share of a core`, value: cpu, unit: '%' })
    results.push({ name: `${name}: resident memory`, value: rss_MB, unit: 'MB' })
  }
  if (!hasProgram('str2str')) return results
  const { samples, cpu, rss_MB } = await str2str(fewest)
  return [
    ...results,
    ...shown(`str2str, ${fewest} NTRIP rovers`, samples),
    { name: `str2str, ${fewest} NTRIP rovers: share of a core`, value: cpu, unit: '%' },
    { name: `str2str, ${fewest} NTRIP rovers: resident memory`, value: rss_MB, unit: 'MB' },
  ]
}
