/** A rover 3 km away, whose RTK is RTKLIB's, on what a base of each family sends, on the 1004 that are made of it, and on RINEX of our own. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SimulatedUm980 } from '../../plugins/simulated/simulated-um980/receiver.js'
import {
  distance,
  ecefToGeodetic,
  gpsSeconds,
  isMsm,
  offsetEnu,
  referencePoint,
  unixToGps,
} from '../../runtime/lib/gnss/index.js'
import { Selector } from '../../runtime/lib/ntrip/selection.js'
import { readRaw } from '../../runtime/lib/rinex/index.js'
import type { Ecef, RtcmFrame } from '../../schemas/services.js'
import { few, type ManualClock } from '../harness/index.js'
import { noPeer } from '../harness/peers/peers.js'
import { baseOf, families } from '../plugins/receivers/receiver-rig.js'

const skip = noPeer('convbin') || noPeer('rnx2rtkp')
t.setTimeout(600_000)

const observed_s = 90

/** A UM980 that measures at the clock of the base. */
function roverAt(clock: ManualClock, place: Ecef) {
  const timers = { after: (ms: number, fn: () => void) => clock.timer(ms, fn), every: () => () => {} }
  const options = {
    boot: 'rover',
    seed: 99,
    geoidSeparation_m: 44.568,
    noise: 'quiet',
    tcp: 0,
    com: 3,
    echo: false,
  } as const
  const rover = new SimulatedUm980({ ...options, ...ecefToGeodetic(place) }, { clock, timers })
  const heard: Uint8Array[] = []
  rover.connect((bytes) => heard.push(Uint8Array.from(bytes)))
  rover.powerOn()
  return {
    heard,
    measure() {
      const types = [1077, 1097, 1127, 1019, 1042, 1046]
      rover.input(Buffer.from(types.map((type) => `RTCM${type} 1\r\n`).join('')))
    },
  }
}

interface Solved {
  readonly position: Ecef
  readonly isFixed: boolean
}

interface Question {
  readonly base: Uint8Array
  readonly rover: Uint8Array
  /** Of the base. */
  readonly at: Ecef
  /** RTKLIB's letters. */
  readonly systems: string
  readonly utc_ms: number
  /** RINEX is ours, and the rover stands still: one position of all. */
  readonly isOwn?: boolean
}

/** What RTKLIB makes of both. */
async function solve(t: Test, { at, base, isOwn = false, rover, systems, utc_ms }: Question): Promise<Solved[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-rover-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string) => join(folder, name)
  const near = new Date(utc_ms).toISOString().slice(0, 19).replaceAll('-', '/').split('T')
  for (const [name, bytes] of [
    ['base', base],
    ['rover', rover],
  ] as const) {
    if (isOwn) {
      await writeRinex(bytes, utc_ms, file(`${name}.obs`), file(`${name}.nav`))
      continue
    }
    writeFileSync(file(`${name}.rtcm3`), bytes)
    const out = ['-o', file(`${name}.obs`), '-n', file(`${name}.nav`), file(`${name}.rtcm3`)]
    execFileSync('convbin', ['-r', 'rtcm3', '-v', '3.03', '-tr', ...near, ...out], { stdio: 'ignore' })
  }
  const place = [at.x, at.y, at.z].map((axis) => axis.toFixed(4))
  const options = [
    '-p',
    isOwn ? '3' : '2',
    '-f',
    '2',
    '-h',
    '-sys',
    systems,
    '-m',
    '15',
    '-e',
    '-r',
    ...place,
    '-o',
    file('out.pos'),
  ]
  execFileSync('rnx2rtkp', [...options, file('rover.obs'), file('base.obs'), file('rover.nav')], { stdio: 'ignore' })
  const lines = readFileSync(file('out.pos'), 'latin1').split('\n')
  return lines
    .filter((line) => /^\d/.test(line))
    .map((line) => {
      const [x = 0, y = 0, z = 0, quality] = line.trim().split(/\s+/).slice(2).map(Number)
      return { position: { x, y, z }, isFixed: quality === 1 }
    })
}

async function writeRinex(bytes: Uint8Array, utc_ms: number, obs: string, nav: string): Promise<void> {
  const near_s = gpsSeconds(unixToGps(utc_ms / 1000, 18))
  const found = await readRaw(() => [bytes], { near_s })
  if (!found) throw new Error('no observations')
  const station = {
    marker: 'TEST',
    receiver: { type: '' },
    antenna: { type: '' },
    delta_m: { up: 0, east: 0, north: 0 },
  }
  const origin = { program: 'test', by: '', now_unix_s: utc_ms / 1000 }
  let text = ''
  for await (const part of found.observations('3.05', station, origin)) text += part
  writeFileSync(obs, text)
  writeFileSync(nav, found.navigationFile(origin))
}

for (const family of few(2, families)) {
  t.test(`a rover fixes on a base with ${family.name}`, { skip }, async (t) => {
    const { bench, sent, observed, truth } = await baseOf(t, family)
    const { clock } = bench.station
    t.ok(await bench.within(300, observed), 'a base')
    const place = offsetEnu(truth(), { east: 2_100, north: -2_100, up: 3 })
    const rover = roverAt(clock, place)
    await bench.seconds(20)
    rover.measure()
    await bench.seconds(2)
    rover.heard.length = 0
    const selector = new Selector({ legacy: true })
    const modern: Uint8Array[] = []
    const old: Uint8Array[] = []
    for (let second = 0; second < observed_s; second++) {
      sent.length = 0
      await bench.seconds(1)
      const isOf = ({ type }: RtcmFrame) => isMsm(type)
      modern.push(...sent.map(({ bytes }) => bytes))
      old.push(...sent.filter((frame) => !isOf(frame) && selector.frame(frame)).map(({ bytes }) => bytes))
      old.push(...selector.epoch(sent.filter(isOf), clock.monotonic()).map(({ bytes }) => bytes))
    }
    const arp = modern.map((bytes) => referencePoint(bytes)?.arp).find((found) => found !== undefined)
    if (!arp) return t.fail('no 1005')
    // It is where the antenna is to a metre; the way from it to the rover is what RTK measures.
    const [from, moved] = [truth(), { x: 0, y: 0, z: 0 }]
    for (const axis of ['x', 'y', 'z'] as const) moved[axis] = place[axis] + arp[axis] - from[axis]
    for (const [name, frames, systems, isOwn] of [
      ['MSM7', modern, 'G,E,C', false],
      ['1004', old, 'G', false],
      ['RINEX of our own, static', modern, 'G,E,C', true],
    ] as const) {
      const streams = { base: Buffer.concat(frames), rover: Buffer.concat(rover.heard), at: arp }
      const solved = await solve(t, { ...streams, systems, isOwn, utc_ms: clock.now() })
      const fixed = solved.filter(({ isFixed }) => isFixed)
      t.ok(fixed.length > 0.7 * observed_s, `${name}: ${fixed.length} of ${solved.length} are fixed`)
      const worst_m = Math.max(...fixed.map(({ position }) => distance(position, moved)))
      t.ok(worst_m < (isOwn ? 0.02 : 0.03), `${name}: ${(worst_m * 1000).toFixed(1)} mm`)
    }
  })
}
