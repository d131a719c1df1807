import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownPorts, rtkBase, startStation } from '../harness/process.js'
import { processUse } from './edges.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const rounds = 7
const steady_ms = 20_000

async function startTimes(entry?: string): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    const { args } = await ownPorts()
    const started = performance.now()
    const station = await startStation(args, { entry })
    await station.info()
    times.push(performance.now() - started)
    await station.end()
  }
  return times
}

/** Start-up to the first HTTP answer, and resident memory: the device bundle of the full simulator set, and from source. */
export async function benchStart(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
  const out = join(folder, 'device')
  await rtkBase(['build', 'simulator', '--out', out])
  const entry = join(out, 'rtk-base.mjs')
  const device = await startTimes(entry)
  const source = await startTimes()
  const { args } = await ownPorts()
  const station = await startStation(args, { entry })
  await new Promise((resolve) => setTimeout(resolve, steady_ms))
  const { rss_bytes } = processUse(station.child.pid as number)
  await station.end()
  rmSync(folder, { recursive: true, force: true })
  return [
    atMost('device bundle: start to the first HTTP answer, median', quantile(device, 0.5), 500, 'ms'),
    { name: 'from source: start to the first HTTP answer, median', value: quantile(source, 0.5), unit: 'ms' },
    atMost('device bundle: resident memory, full set, steady', rss_bytes / 2 ** 20, 90, 'MiB'),
  ]
}
