import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rtkBase, startStation } from '../harness/process.js'
import { deviceArguments, deviceVariant, startBroker } from './device.js'
import { processUse } from './edges.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const rounds = 7
const steady_ms = 30_000

async function startTimes(mqttPort: number, entry?: string): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    const args = await deviceArguments(mqttPort)
    const started = performance.now()
    const station = await startStation(args, { entry })
    await station.info()
    times.push(performance.now() - started)
    await station.end()
  }
  return times
}

/** Of a device's plugin set: start-up to the first HTTP answer, as bundle and from source, and resident memory on a link. */
export async function benchStart(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
  const out = join(folder, 'device')
  await rtkBase(['build', deviceVariant(), '--out', out])
  const entry = join(out, 'rtk-base.mjs')
  const broker = await startBroker()
  const device = await startTimes(broker.port, entry)
  const source = await startTimes(broker.port)
  const station = await startStation(await deviceArguments(broker.port), { entry })
  await new Promise((resolve) => setTimeout(resolve, steady_ms))
  const { rss_bytes } = processUse(station.child.pid as number)
  await station.end()
  await broker.stop()
  rmSync(folder, { recursive: true, force: true })
  return [
    atMost('device bundle: start to the first HTTP answer, median', quantile(device, 0.5), 500, 'ms'),
    { name: 'from source: start to the first HTTP answer, median', value: quantile(source, 0.5), unit: 'ms' },
    atMost('device bundle: resident memory, all its plugins, steady', rss_bytes / 1e6, 90, 'MB'),
  ]
}
