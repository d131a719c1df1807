import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownPorts, startStation } from '../harness/process.js'
import { processUse, smallMachine, startClients } from './edges.js'
import { atMost, type Measurement } from './measurement.js'

const pages = 16
const settle_ms = 15_000
const measured_ms = 30_000

/**
 * Loaded into the station: on SIGUSR2 it collects garbage and writes down what is resident, without the pages that V8 keeps for what comes:
 * those alone go up and down by 30 MB while nobody looks.
 */
const weigher = (file: string) => `process.on('SIGUSR2', () => {
  require('node:v8').setFlagsFromString('--expose-gc')
  const collect = require('node:vm').runInNewContext('gc')
  collect()
  collect()
  const { rss, heapTotal, heapUsed } = process.memoryUsage()
  require('node:fs').writeFileSync(${JSON.stringify(file)}, String(rss - heapTotal + heapUsed))
})`

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A full house of open dashboards, each with its event stream as the page opens it, beside the same station without, as on a small machine. */
export async function benchDashboard(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
  const [preload, weight] = [join(folder, 'weigh.cjs'), join(folder, 'weight')]
  writeFileSync(preload, weigher(weight))
  const { args } = await ownPorts()
  const station = await startStation(args, { nodeOptions: [...smallMachine, '--require', preload] })
  const pid = station.child.pid as number
  const port = Number(new URL(station.url).port)
  /** Percent of a core, and what is held after a collection. */
  const measure = async () => {
    await pause(settle_ms)
    const before = processUse(pid).cpu_s
    await pause(measured_ms)
    const cpu = (100 * (processUse(pid).cpu_s - before)) / (measured_ms / 1_000)
    station.child.kill('SIGUSR2')
    await pause(2_000)
    return { cpu, held_mb: Number(readFileSync(weight, 'utf8')) / 1e6 }
  }
  // The procedure is over and everything is compiled.
  await pause(60_000)
  const withOpen = async (stalled: number) => {
    const clients = await startClients('events', port, pages, stalled)
    clients.reset()
    const use = await measure()
    const { bytes } = await clients.stop()
    return { ...use, bytes }
  }
  const first = await withOpen(0)
  const alone = await measure()
  const full = await withOpen(0)
  const stalled = await withOpen(1)
  const after = await measure()
  await station.end()
  rmSync(folder, { recursive: true, force: true })
  const idle = { cpu: (alone.cpu + after.cpu) / 2, held_mb: (alone.held_mb + after.held_mb) / 2 }
  const per_s = full.bytes / pages / ((settle_ms + measured_ms) / 1_000 + 2)
  return [
    { name: 'the station alone', value: idle.cpu, unit: '% core' },
    { name: 'its memory', value: idle.held_mb, unit: 'MB' },
    { name: 'what a page gets, gzip', value: per_s, unit: 'B/s' },
    atMost(`${pages} open dashboards, more`, full.cpu - idle.cpu, 3, '% core'),
    atMost(`${pages} open dashboards, more, the first time`, first.cpu - idle.cpu, 3, '% core'),
    atMost(`${pages} open dashboards, more memory`, full.held_mb - idle.held_mb, 20, 'MB'),
    atMost(`one of ${pages} stalled, more than none stalled`, stalled.cpu - full.cpu, 0.5, '% core'),
    atMost('one stalled, more memory', stalled.held_mb - full.held_mb, 5, 'MB'),
  ]
}
