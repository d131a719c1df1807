import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rtkBase, startStation } from '../harness/process.js'
import { deviceArguments, deviceVariant, startBroker } from './device.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const rounds = 7

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

/** Of a device's plugin set: start-up to the first HTTP answer, as bundle and from source. `idle` measures what it takes then. */
export async function benchStart(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
  const out = join(folder, 'device')
  await rtkBase(['build', deviceVariant(), '--out', out])
  const entry = join(out, 'rtk-base.mjs')
  const broker = await startBroker()
  const device = await startTimes(broker.port, entry)
  const source = await startTimes(broker.port)
  await broker.stop()
  rmSync(folder, { recursive: true, force: true })
  return [
    atMost('device bundle: start to the first HTTP answer, median', quantile(device, 0.5), 300, 'ms'),
    { name: 'from source: start to the first HTTP answer, median', value: quantile(source, 0.5), unit: 'ms' },
  ]
}
