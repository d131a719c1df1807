import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { relative } from 'node:path'
import { openPty } from '../harness/peers/pty.js'
import { freeTcpPort, listeningTo } from '../harness/process.js'
import { startDevice } from './device.js'
import { epochFrames, hasProgram, processUse, startClients, unixNow_ms } from './edges.js'
import { keepAwake } from './host.js'
import { atMost, type Measurement, quantile } from './measurement.js'

/** As many as str2str serves. */
const fewest = 32
/** Clients whose arrivals are timed, in the middle of the others. */
const timed = 8
const stalled = 20
/** Sent first at 10 Hz and not measured: until then a station compiles what it runs. */
const warmUp = 300
/** What those who do not read get in it fits into their sockets: full ones cost the system many times as much. */
const epochs = 20
/** A serial line at 115,200 baud: 10 bits a byte. */
const bytesPerMs = 11.52

export interface Run {
  samples: number[]
  /** Percent of a core; of the station or its peer. */
  cpu: number
  rss_MB: number
}

/**
 * Feeds epochs frame by frame, each in the time that its bytes take on a line of 115,200 baud; what belongs to no epoch comes
 * 300 ms later. Returns when the last observations of each epoch were written.
 */
async function feed(far: string, from: number, count: number, interval_ms = 1_000): Promise<number[]> {
  const file = await open(far, 'w')
  const written: number[] = []
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const started = performance.now()
  for (let n = from; n < from + count; n++) {
    const frames = epochFrames(n)
    for (const frame of frames.slice(0, 4)) {
      await pause(Math.min(frame.length / bytesPerMs, interval_ms / 10))
      written[n - from] = unixNow_ms()
      // At once: a write that another thread makes would be timed as well.
      writeSync(file.fd, frame)
    }
    await pause(0.3 * interval_ms)
    await file.write(Buffer.concat(frames.slice(4)))
    const next_ms = started + (n + 1 - from) * interval_ms
    await pause(Math.max(0, next_ms - performance.now()))
  }
  await file.close()
  return written
}

/** From the observations in to each timed client, ms; what comes 150 ms later belongs to what came between. */
function latencies(written: readonly number[], arrivals: readonly number[]): number[] {
  return arrivals.flatMap((arrival) => {
    const at = written.findLast((moment) => moment <= arrival)
    return at !== undefined && arrival - at < 290 ? [arrival - at] : []
  })
}

/** What so many clients get in `epochs` epochs. */
async function round(count: number, port: number, far: string, pid: number): Promise<Run> {
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
  const written = await feed(far, 1_000, epochs)
  const used = processUse(pid)
  const seconds = (performance.now() - started) / 1_000
  const { arrivals } = await clients.stop()
  front.kill()
  behind.kill()
  const cpu = (100 * (used.cpu_s - before.cpu_s)) / seconds
  return { samples: latencies(written, arrivals), cpu, rss_MB: used.rss_bytes / 1e6 }
}

async function measure(count: number, port: number, far: string, pid: number): Promise<Run> {
  // The position first: without it nobody gets anything.
  await feed(far, 0, 2)
  const first = await startClients('ntrip', port, timed)
  await feed(far, 10, warmUp, 100)
  first.kill()
  const rounds: Run[] = []
  // With a single round of the fewest, the worst epoch would be p99.
  for (let n = 0; n < (count === fewest ? 5 : 1); n++) rounds.push(await round(count, port, far, pid))
  return {
    samples: rounds.flatMap(({ samples }) => samples),
    cpu: rounds.reduce((sum, { cpu }) => sum + cpu, 0) / rounds.length,
    rss_MB: Math.max(...rounds.map(({ rss_MB }) => rss_MB)),
  }
}

/** A station that listens to a pty, with room for so many rovers. */
export async function ntripStation(near: string) {
  const room = ['maxClients=10000', 'maxPerAddress=10000', 'mounts=[{"name":"BENCH"}]']
  const options = room.flatMap((option) => ['--set', `ntrip-caster.${option}`])
  const station = await startDevice([...listeningTo(near), ...options])
  const { ntrip } = await station.info<{ ntrip: { caster: { port: number } } }>()
  return { station, port: ntrip.caster.port }
}

async function rtkBase(count: number): Promise<Run> {
  const pty = await openPty()
  const { station, port } = await ntripStation(pty.near)
  const run = await measure(count, port, pty.far, station.child.pid as number)
  await station.end('SIGKILL')
  await pty.close()
  return run
}

async function str2str(count: number): Promise<Run> {
  const pty = await openPty()
  const port = await freeTcpPort()
  // str2str names serial ports from /dev on: the link of the pty is resolved.
  const device = relative('/dev', realpathSync(pty.near))
  const child = spawn('str2str', ['-in', `serial://${device}:115200`, '-out', `ntripc://:${port}/BENCH`], {
    stdio: 'ignore',
  })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const run = await measure(count, port, pty.far, child.pid as number)
  child.kill('SIGKILL')
  await once(child, 'close')
  await pty.close()
  return run
}

/** NTRIP rovers at 1 Hz, about 1 kB an epoch, 20 of them stalled: latency, the share of a core, memory. */
export async function benchNtrip(): Promise<Measurement[]> {
  const results: Measurement[] = []
  for (const count of [fewest, 500, 2_000, 5_000]) {
    const { samples, cpu, rss_MB } = await rtkBase(count)
    const [p50, p99] = [quantile(samples, 0.5), quantile(samples, 0.99)]
    const name = `${count} NTRIP rovers`
    if (count === fewest) results.push(atMost(`${name}: p50`, p50, 1, 'ms'), atMost(`${name}: p99`, p99, 3, 'ms'))
    else
      results.push({ name: `${name}: p50`, value: p50, unit: 'ms' }, { name: `${name}: p99`, value: p99, unit: 'ms' })
    if (count === 5_000) results.push(atMost(`${name}: share of a core`, cpu, 25, '%'))
    else results.push({ name: `${name}: share of a core`, value: cpu, unit: '%' })
    results.push({ name: `${name}: resident memory`, value: rss_MB, unit: 'MB' })
  }
  const sleep = keepAwake()
  const awake = await rtkBase(fewest).finally(sleep)
  for (const [name, share] of Object.entries({ p50: 0.5, p99: 0.99 })) {
    const value = quantile(awake.samples, share)
    results.push({ name: `${fewest} NTRIP rovers, processors kept awake: ${name}`, value, unit: 'ms' })
  }
  if (!hasProgram('str2str')) return results
  const { samples, cpu, rss_MB } = await str2str(fewest)
  return [
    ...results,
    { name: `str2str, ${fewest} NTRIP rovers: p50`, value: quantile(samples, 0.5), unit: 'ms' },
    { name: `str2str, ${fewest} NTRIP rovers: p99`, value: quantile(samples, 0.99), unit: 'ms' },
    { name: `str2str, ${fewest} NTRIP rovers: share of a core`, value: cpu, unit: '%' },
    { name: `str2str, ${fewest} NTRIP rovers: resident memory`, value: rss_MB, unit: 'MB' },
  ]
}
