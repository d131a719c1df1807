import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevice } from './device.js'
import { collector, processUse } from './edges.js'
import { atMost, figure, lost, quantile } from './measurement.js'
import { definePart, pause } from './part.js'
import { ofTree } from './tree.js'

interface Size {
  readonly warm: number
  readonly reloads: number
  /** What an instance before this one still served is given up by then. */
  readonly rest_ms: number
}

type Control = typeof import('../../runtime/tools/control/client.js')

/** Reloads of a shipped plugin in a running station, through the control socket: time and memory. */
export const part = definePart<Size>({
  sizes: { full: { warm: 200, reloads: 200, rest_ms: 12_000 }, smoke: { warm: 5, reloads: 10, rest_ms: 500 } },
  async run({ warm, reloads, rest_ms }) {
    const { ControlClient } = await ofTree<Control>('runtime/tools/control/client.js')
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
    const preload = join(folder, 'collect.cjs')
    writeFileSync(preload, collector)
    const station = await startDevice([], { nodeOptions: ['--require', preload] })
    const client = await ControlClient.open(station.data)
    const times: number[] = []
    let served = 0
    const reload = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const started = performance.now()
        await client.call('reload', { plugin: 'http-api' })
        times.push(performance.now() - started)
        served += Number((await fetch(`${station.url}/get-info`)).status === 200)
      }
      await pause(rest_ms)
      station.child.kill('SIGUSR2')
      await pause(1_000)
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
      atMost(`reload of http-api, median of ${reloads}`, quantile(times.slice(warm), 0.5), 100, 'ms', 300),
      figure('reload of http-api, p95', quantile(times.slice(warm), 0.95), 'ms'),
      lost('documents that the new instance did not give', warm + reloads, served),
      figure(`heap in use after ${warm} reloads`, before.heap_MiB, 'MiB', 30),
      atMost(`growth over ${reloads} more`, after.heap_MiB - before.heap_MiB, 2, 'MiB'),
      figure(`resident memory after ${warm} reloads`, before.rss_MiB, 'MiB', 120),
      figure(`resident memory after ${reloads} more`, after.rss_MiB, 'MiB', 120),
    ]
  },
})
