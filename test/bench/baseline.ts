/** The processor that a vector between two stations takes: an hour at 30 s, beside RTKLIB in static mode on the same messages. */
import { baseline, Recording } from '../../runtime/baseline/index.js'
import { roughness, Streams } from '../harness/baseline-streams.js'
import { noPeer } from '../harness/peers/peers.js'
import { rtklibStatic } from '../harness/peers/rtklib-static.js'
import { atMost, type Measurement, quantile } from './measurement.js'

const windows = 12
const epochs = 120
const from = { lat: 52, lon: 4.5, alt: 40 }
const to = { lat: 52.064, lon: 4.603, alt: 60 }
const start_ms = Date.UTC(2026, 5, 2, 9) - 18_000

export async function benchBaseline(): Promise<Measurement[]> {
  const all: number[] = []
  const theirs: number[] = []
  const hasPeer = !noPeer('convbin') && !noPeer('rnx2rtkp')
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
    const before = process.cpuUsage()
    baseline(station('from'), station('to'))
    const { user, system } = process.cpuUsage(before)
    all.push((user + system) / 1e6)
    if (!hasPeer) continue
    const bytes = { from: Buffer.concat(heard.from), to: Buffer.concat(heard.to) }
    theirs.push(rtklibStatic(streams.truth.from, bytes, start_ms).took_ms / 1_000)
  }
  // The first ones are compiled meanwhile.
  const own = all.slice(2)
  return [
    atMost('a pair and hour: median', quantile(own, 0.5), 2, 's'),
    atMost('a pair and hour: the longest', Math.max(...own), 2.4, 's'),
    { name: 'pairs an hour on one core', value: 3_600 / quantile(own, 0.5), unit: '' },
    { name: 'share of a core with four neighbours', value: (400 * quantile(own, 0.5)) / 3_600, unit: '%' },
    ...(hasPeer ? [{ name: 'rnx2rtkp, L1 and L2 of GPS and Galileo', value: quantile(theirs, 0.5), unit: 's' }] : []),
  ]
}
