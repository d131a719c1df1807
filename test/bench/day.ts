import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atLeast, atMost, type Measurement } from './measurement.js'

const hours = 24
/** Until then V8 compiles what a station does, and what grows to a bound reaches it: that is not held against the station. */
const settled = 6

/** A station at the end of a simulated hour. */
export interface Hour {
  rss_bytes: number
  /** In use, after garbage was collected. */
  heap_bytes: number
  /** `gnss.state.status`, `mqtt.state.link` */
  status: string
  link: string
  /** That the worst served subscriber got in this hour. */
  frames: number
  /** Real time. */
  took_ms: number
}

/** A whole station through 24 simulated hours, in a process of its own: what it keeps must not grow. */
export async function benchDay(): Promise<Measurement[]> {
  const script = join(fileURLToPath(import.meta.url), '..', 'day-station.js')
  const child = spawn(process.execPath, ['--expose-gc', script, String(hours)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const day: Hour[] = []
  child.on('message', (hour: Hour) => {
    day.push(hour)
    const { rss_bytes, heap_bytes, status, link, frames, took_ms } = hour
    console.error(
      `  hour ${String(day.length).padStart(2)}: resident ${(rss_bytes / 2 ** 20).toFixed(1)} MiB, ` +
        `heap ${(heap_bytes / 2 ** 20).toFixed(2)} MiB, ${status}, link ${link}, ${frames} frames, ${(took_ms / 1000).toFixed(1)} s`,
    )
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0 || day.length < hours) throw new Error(`the station ended with ${code} after ${day.length} hours`)
  const after_MiB = (hour: number, of: 'rss_bytes' | 'heap_bytes') => day[hour - 1][of] / 2 ** 20
  const growth_MiB = (of: 'rss_bytes' | 'heap_bytes') => after_MiB(hours, of) - after_MiB(settled, of)
  const span = `hour ${settled} to ${hours}`
  return [
    { name: 'resident memory after 2 simulated hours', value: after_MiB(2, 'rss_bytes'), unit: 'MiB' },
    { name: `resident memory after ${settled} simulated hours`, value: after_MiB(settled, 'rss_bytes'), unit: 'MiB' },
    atMost(`resident memory, growth from ${span}`, growth_MiB('rss_bytes'), 5, 'MiB'),
    atMost(`heap in use, growth from ${span}`, growth_MiB('heap_bytes'), 1, 'MiB'),
    atLeast('RTCM frames to the worst served subscriber in the last hour', day[hours - 1].frames, 18_000, 'frames'),
  ]
}
