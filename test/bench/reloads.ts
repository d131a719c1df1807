import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ControlClient } from '../../runtime/control/client.js'
import { startDevice } from './device.js'
import { collector, processUse } from './edges.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const warm = 200
const reloads = 200
/** What an instance before this one still served is given up by then. */
const rest_ms = 12_000

/** Reloads of a shipped plugin in a running station, through the control socket: time and memory. */
export async function benchReloads(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
  const preload = join(folder, 'collect.cjs')
  writeFileSync(preload, collector)
  const station = await startDevice([], { nodeOptions: ['--require', preload] })
  const client = await ControlClient.open(station.data)
  const times: number[] = []
  const reload = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const started = performance.now()
      await client.call('reload', { plugin: 'http-api' })
      times.push(performance.now() - started)
    }
    await new Promise((resolve) => setTimeout(resolve, rest_ms))
    station.child.kill('SIGUSR2')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const metrics = await (await fetch(`${station.url}/metrics`)).text()
    const heap = Number(/^\w*nodejs_heap_size_used_bytes (\S+)/m.exec(metrics)?.[1])
    return { heap_MiB: heap / 2 ** 20, rss_MiB: processUse(station.child.pid as number).rss_bytes / 2 ** 20 }
  }
  const before = await reload(warm)
  const after = await reload(reloads)
  client.close()
  await station.end()
  rmSync(folder, { recursive: true, force: true })
  return [
    atMost(`reload of http-api, median of ${reloads}`, quantile(times.slice(warm), 0.5), 100, 'ms'),
    { name: 'reload of http-api, p95', value: quantile(times.slice(warm), 0.95), unit: 'ms' },
    { name: `heap in use after ${warm} reloads`, value: before.heap_MiB, unit: 'MiB' },
    atMost(`growth over ${reloads} more`, after.heap_MiB - before.heap_MiB, 2, 'MiB'),
    { name: `resident memory after ${warm} reloads`, value: before.rss_MiB, unit: 'MiB' },
    { name: `resident memory after ${reloads} more`, value: after.rss_MiB, unit: 'MiB' },
  ]
}
