import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownPorts, startStation } from '../harness/process.js'
import { collector, processUse, startClients } from './edges.js'
import { atMost, type Measurement } from './measurement.js'

const pages = 16
const settle_ms = 15_000
const measured_ms = 30_000

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A full house of open dashboards, each with its event stream as the page opens it, beside the same station without. */
export async function benchDashboard(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
  const preload = join(folder, 'collect.cjs')
  writeFileSync(preload, collector)
  const { args } = await ownPorts()
  const station = await startStation(args, { nodeOptions: ['--require', preload] })
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
    return { cpu, held_mb: processUse(pid).rss_bytes / 1e6 }
  }
  // The procedure is over and everything is compiled.
  await pause(60_000)
  const withOpen = async (stalled: number) => {
    const clients = await startClients('events', port, pages, stalled)
    clients.reset()
    const use = await measure()
    const { fewest, most, bytes } = await clients.stop()
    return { ...use, fewest, most, bytes }
  }
  const first = await withOpen(0)
  const alone = await measure()
  const full = await withOpen(0)
  const stalled = await withOpen(1)
  const after = await measure()
  await station.end()
  rmSync(folder, { recursive: true, force: true })
  const idle = { cpu: (alone.cpu + after.cpu) / 2, held_mb: Math.min(alone.held_mb, after.held_mb) }
  const per_s = full.bytes / pages / ((settle_ms + measured_ms) / 1_000 + 2)
  return [
    { name: 'the station alone', value: idle.cpu, unit: '% core' },
    { name: 'its resident memory after a collection', value: idle.held_mb, unit: 'MB' },
    { name: 'what a page gets, gzip', value: per_s, unit: 'B/s' },
    atMost(`${pages} open dashboards, more`, full.cpu - idle.cpu, 3, '% core'),
    atMost(`${pages} open dashboards, more, the first time`, first.cpu - idle.cpu, 3, '% core'),
    atMost(`${pages} open dashboards, more memory`, full.held_mb - idle.held_mb, 20, 'MB'),
    atMost(`one of ${pages} stalled, more than none stalled`, stalled.cpu - full.cpu, 0.5, '% core'),
    atMost('one stalled, more memory', stalled.held_mb - full.held_mb, 2, 'MB'),
  ]
}
