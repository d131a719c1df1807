import { ownPorts, startStation } from '../harness/process.js'
import { processUse } from './edges.js'
import { type Measurement, quantile } from './measurement.js'

const rounds = 5
const steady_ms = 15_000

/** Start-up to the first HTTP answer, and resident memory, of the full simulator set. */
export async function benchStart(): Promise<Measurement[]> {
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    const { args } = await ownPorts()
    const started = performance.now()
    const station = await startStation(args)
    await station.info()
    times.push(performance.now() - started)
    await station.end()
  }
  const { args } = await ownPorts()
  const station = await startStation(args)
  await new Promise((resolve) => setTimeout(resolve, steady_ms))
  const { rss_bytes } = processUse(station.child.pid as number)
  await station.end()
  return [
    { name: 'start from source to the first answer, median', value: quantile(times, 0.5), unit: 'ms' },
    { name: 'resident memory from source, full set, steady', value: rss_bytes / 1e6, unit: 'MB' },
  ]
}
