import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atLeast, atMost, figure, lost, none } from './measurement.js'
import { definePart, progress } from './part.js'

interface Size {
  readonly hours: number
  /** Seconds of such an hour. */
  readonly hour_s: number
  /** Until then V8 compiles what a station does, and what grows to a bound reaches it: that is not held against the station. */
  readonly settled: number
  /** In an hour, in which the receiver is away once for half a minute. */
  readonly leastFrames: number
}

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
  /** More than that of the best served one. */
  missed: number
  /** Real time. */
  took_ms: number
}

/** A whole station through 24 simulated hours, in a process of its own: what it keeps must not grow. */
export const part = definePart<Size>({
  sizes: {
    full: { hours: 24, hour_s: 3_600, settled: 6, leastFrames: 18_000 },
    smoke: { hours: 3, hour_s: 120, settled: 1, leastFrames: 300 },
  },
  notComparable: "the station lives in one process with this tree's manual clock",
  async run({ hours, hour_s, settled, leastFrames }) {
    const script = join(fileURLToPath(import.meta.url), '..', 'day-station.js')
    const child = spawn(process.execPath, ['--expose-gc', script, String(hours), String(hour_s)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const day: Hour[] = []
    child.on('message', (hour: Hour) => {
      day.push(hour)
      const { rss_bytes, heap_bytes, status, link, frames, took_ms } = hour
      progress(
        `hour ${String(day.length).padStart(2)}: resident ${(rss_bytes / 2 ** 20).toFixed(1)} MiB, ` +
          `heap ${(heap_bytes / 2 ** 20).toFixed(2)} MiB, ${status}, link ${link}, ${frames} frames, ${(took_ms / 1000).toFixed(1)} s`,
      )
    })
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0 || day.length < hours) throw new Error(`the station ended with ${code} after ${day.length} hours`)
    const after_MiB = (hour: number, of: 'rss_bytes' | 'heap_bytes') => day[hour - 1][of] / 2 ** 20
    const growth_MiB = (of: 'rss_bytes' | 'heap_bytes') => after_MiB(hours, of) - after_MiB(settled, of)
    const span = `hour ${settled} to ${hours}`
    const fixed = day.slice(1).filter(({ status, link }) => status === 'fixed' && link === 'up').length
    return [
      figure('resident memory after 2 simulated hours', after_MiB(2, 'rss_bytes'), 'MiB', 150),
      figure(`resident memory after ${settled} simulated hours`, after_MiB(settled, 'rss_bytes'), 'MiB', 150),
      atMost(`resident memory, growth from ${span}`, growth_MiB('rss_bytes'), 5, 'MiB', 20),
      atMost(`heap in use, growth from ${span}`, growth_MiB('heap_bytes'), 1, 'MiB'),
      lost('hours at whose end it is not fixed or without its broker', hours - 1, fixed, 'hours'),
      none(
        'RTCM frames that the worst served subscriber got less than the best',
        day.reduce((sum, { missed }) => sum + missed, 0),
      ),
      atLeast('RTCM frames to the worst served subscriber in the last hour', day[hours - 1].frames, leastFrames, ''),
    ]
  },
})
