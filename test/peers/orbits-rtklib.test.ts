/**
 * Positions, clocks and directions against RTKLIB from the same bytes: `convbin` makes RINEX of a capture, `rnx2rtkp -x
 * 4` writes the positions that it uses into a trace. Both are rounded there: time to 1 µs (4 mm of a satellite's way),
 * positions to 1 mm, clocks to 1 ps.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  decodeEphemeris,
  decodeMsmHeader,
  distance,
  type Ephemeris,
  encodeUbx,
  Framer,
  gpsSeconds,
  messageNumber,
  type OrbitConstellation,
  referencePoint,
  SubframeAssembler,
  satelliteDirection,
  satelliteState,
} from '../../runtime/lib/gnss/index.js'
import type { Ecef } from '../../schemas/services.js'
import { independentDirection, rotatedBy } from '../gnss/support/independent-direction.js'
import { knownFrames } from '../gnss/support/orbit-pages.js'
import { d2Pages, lnavPages } from '../gnss/support/page-writer.js'
import { capture, noCaptures } from '../harness/captures.js'
import { noPeer } from '../harness/peers/peers.js'

const skip = noPeer('convbin') || noPeer('rnx2rtkp') || noCaptures
const light_mps = 299_792_458

/** A folder for the files of a test. */
function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-orbits-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function rinex(
  folder: string,
  format: 'rtcm3' | 'ubx',
  bytes: Uint8Array,
  start?: string,
): { obs: string; nav: string } {
  const [input, obs, nav] = [format, `${format}.obs`, `${format}.nav`].map((name) => join(folder, name))
  writeFileSync(input, bytes)
  const time = start === undefined ? [] : ['-tr', ...start.split(' ')]
  execFileSync('convbin', ['-r', format, '-v', '3.03', ...time, '-o', obs, '-n', nav, input], { stdio: 'ignore' })
  return { obs, nav }
}

interface Place {
  constellation: OrbitConstellation
  satellite: number
  /** Time of transmission. */
  at_s: number
  position: Ecef
  clock_s: number
}

/** RTKLIB's own numbers of satellites, in the order of the systems that Debian's build has. */
const systems: readonly [OrbitConstellation, count: number][] = [
  ['GPS', 32],
  ['GLONASS', 27],
  ['Galileo', 36],
  ['QZSS', 10],
  ['BeiDou', 63],
]
function satelliteOf(number: number): [OrbitConstellation, number] {
  let satellite = number
  for (const [constellation, count] of systems) {
    if (satellite <= count) return [constellation, satellite]
    satellite -= count
  }
  throw new RangeError(`RTKLIB has no satellite ${number}`)
}

/** What RTKLIB computes for every observation, and its last position. */
function solved(folder: string, files: { obs: string; nav: string }, systems: string, interval_s?: number) {
  const out = join(folder, 'solution.pos')
  const thinned = interval_s === undefined ? [] : ['-ti', `${interval_s}`]
  const options = ['-p', '0', '-sys', systems, ...thinned, '-x', '4', '-e', '-o', out]
  execFileSync('rnx2rtkp', [...options, files.obs, files.nav], { stdio: 'ignore' })
  const trace = readFileSync(`${out}.trace`, 'latin1')
  const places: Place[] = []
  for (const [, day, second, number, ...values] of trace.matchAll(
    /^4 (\S+) (\S+) sat=\s*(\d+) rs=(.{13}) (.{13}) (.{13}) dts=(.{12})/gm,
  )) {
    const [x, y, z, clock_ns] = values.map(Number)
    // Without an ephemeris everything is zero.
    if (x === 0) continue
    const [constellation, satellite] = satelliteOf(Number(number))
    const whole_s = Date.parse(`${day.replaceAll('/', '-')}T${second.slice(0, 8)}Z`) / 1000 - 315_964_800
    const at_s = whole_s + Number(second.slice(8))
    places.push({ constellation, satellite, at_s, position: { x, y, z }, clock_s: clock_ns / 1e9 })
  }
  const [, , x, y, z] = readFileSync(out, 'utf8').trim().split('\n').at(-1)?.trim().split(/\s+/).map(Number) ?? []
  return { places, position: { x, y, z } }
}

/** RTKLIB's choice: the ephemeris with the nearest toe; of Galileo one that is past. */
function chosen(all: readonly Ephemeris[], { constellation, satellite, at_s }: Place): Ephemeris | undefined {
  return all
    .filter((one) => one.constellation === constellation && one.satellite === satellite)
    .filter(({ toe_s }) => constellation !== 'Galileo' || toe_s < at_s)
    .sort((p, q) => Math.abs(at_s - q.toe_s) - Math.abs(at_s - p.toe_s))
    .at(-1)
}

interface Worst {
  satellites: Set<number>
  position_m: number
  clock_s: number
  direction_deg: number
}

/** The largest differences by constellation; `unknown` are places without an ephemeris here. */
function compared(places: readonly Place[], all: readonly Ephemeris[], arp: Ecef) {
  const worst: Partial<Record<OrbitConstellation, Worst>> = {}
  let unknown = 0
  for (const place of places) {
    const ephemeris = chosen(all, place)
    const state = ephemeris && satelliteState(ephemeris, place.at_s)
    if (!ephemeris || !state) {
      unknown++
      continue
    }
    const one = worst[place.constellation] ?? { satellites: new Set(), position_m: 0, clock_s: 0, direction_deg: 0 }
    worst[place.constellation] = one
    one.satellites.add(place.satellite)
    one.position_m = Math.max(one.position_m, distance(state.position, place.position))
    one.clock_s = Math.max(one.clock_s, Math.abs(state.clock_s - place.clock_s))
    const travel_s = distance(arp, rotatedBy(place.position, 0.075)) / light_mps
    const expected = independentDirection(arp, rotatedBy(place.position, travel_s))
    const found = satelliteDirection(arp, ephemeris, place.at_s + travel_s)
    const turn_deg = Math.abs(((found?.azimuth_deg ?? Number.NaN) - expected.azimuth_deg + 540) % 360) - 180
    const rise_deg = Math.abs((found?.elevation_deg ?? Number.NaN) - expected.elevation_deg)
    one.direction_deg = Math.max(one.direction_deg, Math.abs(turn_deg), rise_deg)
  }
  return { worst, unknown }
}

const limits = { position_m: 0.01, clock_s: 2e-12, direction_deg: 1e-4 }

function agrees(t: Test, what: string, { worst, unknown }: ReturnType<typeof compared>, expected: object): void {
  t.equal(unknown, 0, `${what}: RTKLIB has an ephemeris where there is none here`)
  const counts = Object.entries(worst).map(([name, { satellites }]) => [name, satellites.size])
  t.strictSame(Object.fromEntries(counts), expected, what)
  for (const [name, { position_m, clock_s, direction_deg }] of Object.entries(worst)) {
    const figures = `${(position_m * 1000).toFixed(2)} mm, ${(clock_s * 1e12).toFixed(2)} ps, ${direction_deg.toExponential(1)}°`
    t.ok(position_m < limits.position_m && clock_s < limits.clock_s, `${what}, ${name}: ${figures}`)
    t.ok(direction_deg < limits.direction_deg, `${what}, ${name}: direction`)
  }
}

/** The frames of a capture. */
function framesOf(name: string, onFrame: (kind: string, bytes: Uint8Array) => void): void {
  const framer = new Framer({ onFrame: ({ kind, bytes }) => onFrame(kind, Uint8Array.from(bytes)) })
  framer.push(capture(name) ?? new Uint8Array(0), 0)
  framer.flush()
}

t.test('RTCM: every satellite is where RTKLIB has it', { skip }, async (t) => {
  for (const [name, start, week, galileo, expected] of [
    [
      ...(['swiftnav_week-rollover-STR24.rtcm3', '2018/07/14 23:50:00', 2009, 1046] as const),
      { GPS: 15, GLONASS: 10, Galileo: 6, QZSS: 1, BeiDou: 11 },
    ],
    [
      ...(['swiftnav_dropped-packets-STR24.rtcm3', '2018/07/12 23:38:00', 2009, 1046] as const),
      { GPS: 14, GLONASS: 10, Galileo: 5, QZSS: 1, BeiDou: 9 },
    ],
    // Of the messages of F/NAV alone.
    [
      ...(['swiftnav_missing-beidou-STR17.rtcm3', '2018/07/18 03:16:00', 2010, 1045] as const),
      { GPS: 10, GLONASS: 6, Galileo: 7, QZSS: 1 },
    ],
    [...(['swiftnav_sept.rtcm', '2018/01/02 19:58:00', 1982, 1045] as const), { GPS: 1, GLONASS: 1, Galileo: 1 }],
  ] as const) {
    const folder = folderOf(t)
    const kept: Uint8Array[] = []
    const all: Ephemeris[] = []
    let now_s = Number.NaN
    let arp: Ecef | undefined
    framesOf(name, (kind, bytes) => {
      const type = messageNumber(bytes)
      // Of two messages of Galileo with one toe rnx2rtkp uses neither.
      if (kind !== 'rtcm' || (type !== galileo && (type === 1045 || type === 1046))) return
      kept.push(bytes)
      arp ??= referencePoint(bytes)?.arp
      const tow_s = (type === 1074 || type === 1077 ? (decodeMsmHeader(bytes)?.epochTime ?? 0) : 0) / 1000
      // The first minutes of a new week.
      if (tow_s > 0) now_s = gpsSeconds({ week: tow_s < 1_000 ? week + 1 : week, tow_s })
    })
    for (const bytes of kept) {
      const ephemeris = decodeEphemeris(bytes, now_s)
      if (ephemeris) all.push(ephemeris)
    }
    const files = rinex(folder, 'rtcm3', Buffer.concat(kept), start)
    if (galileo === 1045) {
      // rnx2rtkp uses the data of I/NAV (source 517) only, whatever its options say: F/NAV (258) is given out as such.
      writeFileSync(files.nav, readFileSync(files.nav, 'latin1').replaceAll('.258000000000D+03', '.517000000000D+03'))
    }
    const { places } = solved(folder, files, 'G,R,E,J,C', 10)
    agrees(t, name, compared(places, all, arp ?? { x: 0, y: 0, z: 0 }), expected)
  }
})

const pageCapture = 'pygnssutils_pygpsdata_testobsnavdata.log'
const now_s = gpsSeconds({ week: 2414, tow_s: 138_500 })

/** The RTCM frames that the pages of UBX frames make. */
function assembled(pages: readonly Uint8Array[]): Uint8Array[] {
  const assembler = new SubframeAssembler()
  return pages.flatMap((page) => assembler.push(page, now_s) ?? [])
}

/** RINEX records without their last line, the time of transmission, by satellite. */
function recordsOf(nav: string): Map<string, string> {
  const [, body] = readFileSync(nav, 'latin1').split(/END OF HEADER\s*\n/)
  const records = body.split(/^(?=[GRECJ]\d\d )/m).filter((record) => record.trim() !== '')
  return new Map(
    records.map((record) => {
      const lines = record.trimEnd().split('\n')
      // GLONASS has it at the end of the first line, rounded otherwise.
      const kept = record.startsWith('R') ? [lines[0].slice(0, 61), ...lines.slice(1)] : lines.slice(0, -1)
      return [record.slice(0, 3), kept.map((line) => line.trimEnd()).join('\n')]
    }),
  )
}

t.test('pages of a receiver: the same ephemerides and places as convbin and rnx2rtkp have', { skip }, async (t) => {
  const folder = folderOf(t)
  const pages: Uint8Array[] = []
  framesOf(pageCapture, (kind, bytes) => {
    if (kind === 'ubx') pages.push(bytes)
  })
  const frames = assembled(pages)
  const ubx = rinex(folder, 'ubx', capture(pageCapture) ?? new Uint8Array(0))
  const rtcm = rinex(folder, 'rtcm3', Buffer.concat(frames), '2026/04/13 14:28:10')
  const [theirs, ours] = [recordsOf(ubx.nav), recordsOf(rtcm.nav)]
  t.equal(theirs.size, 15, `convbin has ${[...theirs.keys()]}`)
  for (const [satellite, record] of theirs) t.equal(ours.get(satellite), record, satellite)

  const all = frames.flatMap((frame) => decodeEphemeris(frame, now_s) ?? [])
  const { places, position } = solved(folder, ubx, 'G,R,C')
  agrees(t, 'pages', compared(places, all, position), { GPS: 3, GLONASS: 8, BeiDou: 4 })

  // convbin makes no ephemeris of this capture's Galileo pages, so rnx2rtkp is given those that were made here.
  const galileo = solved(folder, { obs: ubx.obs, nav: rtcm.nav }, 'E')
  const ofGalileo = galileo.places.filter(({ constellation }) => constellation === 'Galileo')
  agrees(t, 'pages', compared(ofGalileo, all, position), { Galileo: 5 })
})

t.test('pages without a capture: convbin reads D2 and QZSS at the places of the tables', { skip }, async (t) => {
  const [, beidou, qzss] = knownFrames
  for (const [what, { frame, satellite }, write, week, tow_s, time] of [
    ['C01', beidou, d2Pages, 2010, 0, '2018/07/15 00:00:30'],
    ['J01', qzss, lnavPages, 2009, 604_500, '2018/07/14 23:55:30'],
  ] as const) {
    const folder = folderOf(t)
    // RTKLIB takes pages when it knows the time, from an RXM-RAWX without observations.
    const epoch = new DataView(new ArrayBuffer(16))
    epoch.setFloat64(0, tow_s + 30, true)
    epoch.setUint16(8, week, true)
    epoch.setUint8(13, 1)
    const pages = write(frame, satellite, tow_s)
    const stream = Buffer.concat([encodeUbx(0x02, 0x15, new Uint8Array(epoch.buffer)), ...pages])
    const theirs = recordsOf(rinex(folder, 'ubx', stream).nav).get(what)
    const ours = recordsOf(rinex(folder, 'rtcm3', frame, time).nav).get(what)
    t.ok(ours, `RTKLIB reads the message of ${what}`)
    t.equal(theirs, ours, what)
  }
})
