import { ControlClient } from '../../runtime/control/client.js'
import { ownPorts, startStation } from '../harness/process.js'
import { processUse } from './edges.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const reloads = 200

/** Reloads of a shipped plugin in a running station, through the control socket: time and memory. */
export async function benchReloads(): Promise<Measurement[]> {
  const { args } = await ownPorts()
  const station = await startStation(args)
  const client = await ControlClient.open(station.data)
  const pid = station.child.pid as number
  const times: number[] = []
  const resident: number[] = []
  for (let i = 0; i < reloads; i++) {
    const started = performance.now()
    await client.call('reload', { plugin: 'http-api' })
    times.push(performance.now() - started)
    resident.push(processUse(pid).rss_bytes)
  }
  client.close()
  await station.end()
  const half = resident.slice(reloads / 2)
  return [
    atMost(`reload of http-api, median of ${reloads}`, quantile(times, 0.5), 100, 'ms'),
    { name: 'reload of http-api, p95', value: quantile(times, 0.95), unit: 'ms' },
    { name: 'resident memory before', value: resident[0] / 1e6, unit: 'MB' },
    { name: `resident memory after ${reloads}`, value: (resident.at(-1) ?? 0) / 1e6, unit: 'MB' },
    atMost('growth over the second hundred', ((half.at(-1) ?? 0) - half[0]) / 1e6, 10, 'MB'),
  ]
}
