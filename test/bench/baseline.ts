/**
 * The processor that a vector between two stations takes: an hour at 30 s, beside RTKLIB in static mode on the same messages. How much of
 * it holds up the service when threads compute.
 */
import { BaselineThreads } from '../../plugins/fleet/fleet-net/threads/threads.js'
import type { Station } from '../../runtime/lib/baseline/index.js'
import { roughness, Streams } from '../harness/baseline-streams.js'
import { rtklibStatic } from '../harness/peers/rtklib-static.js'
import { hasPeer } from './edges.js'
import { atMost, figure, lost, quantile } from './measurement.js'
import { definePart } from './part.js'
import { ofTree } from './tree.js'

interface Size {
  /** Pairs and hours; the first `compiling` are not counted, as the code is compiled meanwhile. */
  readonly windows: number
  readonly compiling: number
  readonly epochs: number
}

type Estimator = typeof import('../../runtime/lib/baseline/index.js')

const from = { lat: 52, lon: 4.5, alt: 40 }
const to = { lat: 52.064, lon: 4.603, alt: 60 }
const start_ms = Date.UTC(2026, 5, 2, 9) - 18_000

/** A vector of 10 km is right when it is so near to the truth, also without integers. */
const right_m = 0.5

export const part = definePart<Size>({
  sizes: {
    full: { windows: 12, compiling: 2, epochs: 120 },
    smoke: { windows: 2, compiling: 1, epochs: 60 },
  },
  async run({ windows, compiling, epochs }) {
    const { baseline, Recording } = await ofTree<Estimator>('rtk-base/baseline')
    const all: number[] = []
    const theirs: number[] = []
    let right = 0
    let last: readonly Station[] = []
    const isCompared = hasPeer('convbin') && hasPeer('rnx2rtkp')
    for (let seed = 1; seed <= windows; seed++) {
      const streams = new Streams({ seed, from, to, roughness: seed % 2 ? roughness.calm : roughness.rough })
      const recordings = { from: new Recording(), to: new Recording() }
      const heard = { from: [] as Uint8Array[], to: [] as Uint8Array[] }
      for (let epoch = 0; epoch < epochs; epoch++) {
        const arrived = streams.epoch(start_ms + epoch * 30_000, 30)
        for (const side of ['from', 'to'] as const) {
          heard[side].push(...arrived[side])
          for (const frame of arrived[side]) recordings[side].take(frame, arrived.now_s)
        }
      }
      const station = (side: 'from' | 'to') => ({ arp: streams.truth[side], ...recordings[side].taken })
      last = [station('from'), station('to')]
      const before = process.cpuUsage()
      const found = baseline(station('from'), station('to'))
      const { user, system } = process.cpuUsage(before)
      all.push((user + system) / 1e6)
      // The announced places are the true ones.
      const { east, north, up } = found.offset
      right += Number(found.status !== 'none' && Math.hypot(east, north, up) < right_m)
      if (!isCompared) continue
      const bytes = { from: Buffer.concat(heard.from), to: Buffer.concat(heard.to) }
      theirs.push(rtklibStatic(streams.truth.from, bytes, start_ms).took_ms / 1_000)
    }
    const loop_ms = await loopBusy_ms(last, windows)
    const own = all.slice(compiling)
    const median = quantile(own, 0.5)
    return [
      lost(`vectors that are not within ${right_m} m`, windows, right),
      atMost('a pair and hour: median', median, 2, 's'),
      atMost('a pair and hour in a thread: the loop of the service', loop_ms, 20, 'ms'),
      atMost('a pair and hour: the longest', Math.max(...own), 2.4, 's'),
      figure('pairs an hour on one core', 3_600 / median, ''),
      figure('share of a core with four neighbours', (400 * median) / 3_600, '%'),
      ...(isCompared ? [figure('rnx2rtkp, L1 and L2 of GPS and Galileo', quantile(theirs, 0.5), 's')] : []),
    ]
  },
})

/** For each of some vectors that a thread computes, the time in which the event loop of this thread works. */
async function loopBusy_ms([one, other]: readonly Station[], vectors: number): Promise<number> {
  if (!one || !other) return 0
  const threads = new BaselineThreads({ most: 1 })
  await threads.solve(one, other)
  const before = performance.eventLoopUtilization()
  await Promise.all(Array.from({ length: vectors }, () => threads.solve(one, other)))
  const { active } = performance.eventLoopUtilization(before)
  await threads.stop()
  return active / vectors
}
