/** The vector between two stations, and RTKLIB's from the same messages: `convbin` and `rnx2rtkp` in static mode. */
import t from 'tap'
import { baseline, Recording } from '../../runtime/lib/baseline/index.js'
import { enu } from '../../runtime/lib/gnss/index.js'
import { roughness, Streams } from '../harness/baseline-streams.js'
import { few } from '../harness/index.js'
import { noPeer } from '../harness/peers/peers.js'
import { rtklibStatic } from '../harness/peers/rtklib-static.js'

const skip = noPeer('convbin') || noPeer('rnx2rtkp')
const from = { lat: 52, lon: 4.5, alt: 40 }
const start_ms = Date.UTC(2026, 5, 2, 9) - 18_000
const epochs = 120

for (const { km, most_mm } of few(2, [
  { km: 5, most_mm: 5 },
  { km: 10, most_mm: 5 },
  { km: 30, most_mm: 20 },
])) {
  t.test(`G2: ${km} km, with the clocks of real receivers`, { skip, timeout: 300_000 }, async (t) => {
    const to = { lat: 52 + km / 157, lon: 4.5 + km / 97, alt: 60 }
    const streams = new Streams({ seed: km, from, to, roughness: roughness.calm })
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
    const { status, vector } = baseline(station('from'), station('to'))
    t.equal(status, 'fixed')
    const place = streams.truth.from
    const theirs = rtklibStatic(place, { from: Buffer.concat(heard.from), to: Buffer.concat(heard.to) }, start_ms)
    const ours = { x: place.x + vector.x, y: place.y + vector.y, z: place.z + vector.z }
    const truth = streams.truth.to
    const { east, north } = enu(truth, ours)
    const level_mm = 1_000 * Math.hypot(east, north)
    t.ok(level_mm <= most_mm, `${level_mm.toFixed(1)} mm in level`)
    // Of longer vectors RTKLIB fixes no integers.
    if (km > 10) return
    t.ok(theirs.isFixed, 'RTKLIB has fixed it')
    const apart = enu(theirs.position, ours)
    const apart_mm = 1_000 * Math.hypot(apart.east, apart.north)
    t.ok(apart_mm <= 3, `${apart_mm.toFixed(1)} mm from RTKLIB in level`)
    t.ok(Math.abs(apart.up) <= 0.01, `${(1_000 * apart.up).toFixed(1)} mm in height`)
  })
}
