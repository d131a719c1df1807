import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../harness/manual-clock.js'
import { ownPorts } from '../harness/process.js'
import { processUse, smallMachine, startClients } from './edges.js'
import { atMost, figure, lost } from './measurement.js'
import { definePart, pause } from './part.js'
import { startStation } from './stations.js'

interface Size {
  readonly pages: number
  /** The procedure is over and everything is compiled. */
  readonly warm_ms: number
  readonly settle_ms: number
  readonly measured_ms: number
}

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

/** A full house of open dashboards, each with its event stream as the page opens it, beside the same station without, as on a small machine. */
export const part = definePart<Size>({
  sizes: {
    full: { pages: 16, warm_ms: 60_000, settle_ms: 15_000, measured_ms: 30_000 },
    smoke: { pages: 16, warm_ms: 2_000, settle_ms: 500, measured_ms: 2_000 },
  },
  async run({ pages, warm_ms, settle_ms, measured_ms }) {
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
      rmSync(weight, { force: true })
      station.child.kill('SIGUSR2')
      await until(() => existsSync(weight) && statSync(weight).size > 0, 'the weight of the station')
      return { cpu, held_mb: Number(readFileSync(weight, 'utf8')) / 1e6 }
    }
    await pause(warm_ms)
    let silent = 0
    const withOpen = async (stalled: number) => {
      const clients = await startClients('events', port, pages, stalled)
      await clients.reset()
      const from_ms = performance.now()
      const use = await measure()
      const { bytes, silent: without } = await clients.stop()
      silent += without - stalled
      return { ...use, perSecond: bytes / pages / ((performance.now() - from_ms) / 1_000) }
    }
    const first = await withOpen(0)
    const alone = await measure()
    const full = await withOpen(0)
    const stalled = await withOpen(1)
    const after = await measure()
    await station.end()
    rmSync(folder, { recursive: true, force: true })
    const idle = { cpu: (alone.cpu + after.cpu) / 2, held_mb: (alone.held_mb + after.held_mb) / 2 }
    return [
      figure('the station alone', idle.cpu, '% core', 5),
      figure('its memory', idle.held_mb, 'MB', 80),
      lost('pages that got nothing', 3 * pages, 3 * pages - silent),
      figure('what a page gets, gzip', full.perSecond, 'B/s', 500),
      atMost(`${pages} open dashboards, more`, full.cpu - idle.cpu, 3, '% core'),
      atMost(`${pages} open dashboards, more, the first time`, first.cpu - idle.cpu, 3, '% core', 10),
      atMost(`${pages} open dashboards, more memory`, full.held_mb - idle.held_mb, 20, 'MB'),
      atMost(`one of ${pages} stalled, more than none stalled`, stalled.cpu - full.cpu, 0.5, '% core', 3),
      atMost('one stalled, more memory', stalled.held_mb - full.held_mb, 5, 'MB'),
    ]
  },
})
