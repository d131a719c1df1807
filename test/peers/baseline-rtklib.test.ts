/** The vector between two stations, and RTKLIB's from the same messages: `convbin` and `rnx2rtkp` in static mode. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { baseline, Recording } from '../../runtime/baseline/index.js'
import { distance, enu } from '../../runtime/gnss/index.js'
import type { Ecef } from '../../schemas/services.js'
import { roughness, Streams } from '../harness/baseline-streams.js'
import { few } from '../harness/index.js'
import { noPeer } from '../harness/peers/peers.js'

const skip = noPeer('convbin') || noPeer('rnx2rtkp')
const from = { lat: 52, lon: 4.5, alt: 40 }
const start_ms = Date.UTC(2026, 5, 2, 9) - 18_000
const epochs = 120

/** What RTKLIB says of the place of the second station. */
function solve(t: Test, place: Ecef, streams: Readonly<Record<'from' | 'to', Buffer>>) {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-baseline-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string) => join(folder, name)
  const near = new Date(start_ms).toISOString().slice(0, 19).replaceAll('-', '/').split('T')
  for (const side of ['from', 'to'] as const) {
    writeFileSync(file(`${side}.rtcm3`), streams[side])
    const out = ['-o', file(`${side}.obs`), '-n', file(`${side}.nav`), file(`${side}.rtcm3`)]
    execFileSync('convbin', ['-r', 'rtcm3', '-v', '3.03', '-tr', ...near, ...out], { stdio: 'ignore' })
  }
  const base = [place.x, place.y, place.z].map((axis) => axis.toFixed(4))
  const options = ['-p', '3', '-f', '2', '-sys', 'G,E', '-m', '15', '-e', '-r', ...base, '-o', file('out.pos')]
  execFileSync('rnx2rtkp', [...options, file('to.obs'), file('from.obs'), file('from.nav')], { stdio: 'ignore' })
  const last =
    readFileSync(file('out.pos'), 'latin1')
      .split('\n')
      .filter((line) => /^\d/.test(line))
      .at(-1) ?? ''
  const [x = 0, y = 0, z = 0, quality] = last.trim().split(/\s+/).slice(2).map(Number)
  return { position: { x, y, z }, isFixed: quality === 1 }
}

for (const { km, most_mm } of few(1, [
  { km: 5, most_mm: 5 },
  { km: 10, most_mm: 5 },
  { km: 30, most_mm: 20 },
])) {
  t.test(`${km} km`, { skip, timeout: 300_000 }, async (t) => {
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
    const station = (side: 'from' | 'to') => ({ arp: streams.truth[side], frames: recordings[side].frames })
    const { status, vector } = baseline(station('from'), station('to'))
    t.equal(status, 'fixed')
    const place = streams.truth.from
    const theirs = solve(t, place, { from: Buffer.concat(heard.from), to: Buffer.concat(heard.to) })
    const ours = { x: place.x + vector.x, y: place.y + vector.y, z: place.z + vector.z }
    const truth = streams.truth.to
    const [our_mm, their_mm] = [ours, theirs.position].map((one) => 1_000 * distance(one, truth)) as [number, number]
    t.ok(theirs.isFixed, 'RTKLIB has fixed it')
    t.ok(our_mm <= their_mm + 2, `${our_mm.toFixed(1)} mm from the truth, RTKLIB ${their_mm.toFixed(1)} mm`)
    const { east, north } = enu(truth, ours)
    const level_mm = 1_000 * Math.hypot(east, north)
    t.ok(level_mm <= most_mm, `${level_mm.toFixed(1)} mm in level`)
    // Beyond that RTKLIB, which takes the ionosphere for the same at both, is not as good.
    if (km > 5) return
    const apart = enu(theirs.position, ours)
    t.ok(1_000 * Math.hypot(apart.east, apart.north) <= most_mm, 'both agree')
  })
}
