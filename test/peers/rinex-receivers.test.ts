/** RINEX out of receivers' own messages against `convbin` of RTKLIB, and against the MSM of the same receivers; RINEX 2.11; cut epochs. */
import t from 'tap'
import { gpsSeconds, isMsm, messageNumber, unixToGps } from '../../runtime/lib/gnss/index.js'
import { type RinexVersion, readRaw, type StationFacts } from '../../runtime/lib/rinex/index.js'
import { framesOf, noRecording, recorded } from '../gnss/support/recordings.js'
import { compared, converted, type Format } from '../gnss/support/rinex-compare.js'
import { type ReadEpoch, type ReadObservations, readObservations } from '../gnss/support/rinex-reader.js'
import { capture, noCaptures } from '../harness/captures.js'
import { noPeer } from '../harness/peers/peers.js'

const skip = noPeer('convbin') || noCaptures || noRecording('unicore-um980-raw-cross')
const light_mps = 299_792_458
const station: StationFacts = {
  marker: 'ROOF',
  receiver: { type: 'UNKNOWN' },
  antenna: { type: 'UNKNOWN         NONE' },
  delta_m: { up: 0, east: 0, north: 0 },
}
const origin = { program: 'rtk-base', by: 'test', now_unix_s: 1_800_000_000 }

async function ours(bytes: Uint8Array, day: string, version: RinexVersion = '3.05') {
  const near_s = gpsSeconds(unixToGps(Date.parse(`${day}T12:00:00Z`) / 1000, 18))
  const found = await readRaw(() => [bytes], { near_s })
  if (!found) throw new Error('nothing was found')
  let text = ''
  for await (const part of found.observations(version, station, origin)) text += part
  return { found, read: readObservations(text) }
}

const first = ({ epochs: [epoch] }: ReadObservations): ReadEpoch =>
  epoch ?? { time: '', flag: 0, satellites: new Map(), lines: [] }
const observed = (epoch: ReadEpoch, name: string, type: string) => epoch.satellites.get(name)?.get(type)?.value
const middle = (values: readonly number[]) => values.toSorted((p, q) => p - q)[values.length >> 1] ?? 0
const bytesOf = (frames: readonly Uint8Array[]) => Buffer.concat(frames)

/** Hz, of the signals that are compared. GLONASS is left out. */
const carriers: Readonly<Record<string, number>> = {
  ...{ G1C: 1575.42e6, G2W: 1227.6e6, G2L: 1227.6e6, G5Q: 1176.45e6, J1C: 1575.42e6, J2L: 1227.6e6 },
  ...{ E1C: 1575.42e6, E5Q: 1176.45e6, E7Q: 1207.14e6 },
  ...{ C2I: 1561.098e6, C6I: 1268.52e6, C7I: 1207.14e6, C7D: 1207.14e6, C5P: 1176.45e6, C1P: 1575.42e6 },
}

/**
 * Differences that are meant; of the `convbin` of Debian, 2.4.3 b34:
 * - It does not know that −128 and 0 stand for a phase that is not available: its value is then 8,388.608 cycles below the code.
 * - It does not know B1C and B2a, and takes Dopplers relative to them for relative to another carrier.
 * - Its C/N0 is 250 times too small.
 * - It has no BeiDou above C37, QZSS, SBAS above S40, NavIC above I07, and only three frequencies.
 */
t.test('SBF MeasEpoch of a mosaic-G5, against convbin', { skip }, async (t) => {
  const bytes = recorded('septentrio-mosaic-g5-raw-cross')
  const { found, read } = await ours(bytes, '2026-07-06')
  t.match(found, { source: 'MeasEpoch', epochs: 1, skipped: { contents: 0 } })
  const [own, other] = [first(read), first(readObservations(converted(t, bytes, 'sbf', '2026-07-06').observations))]
  t.equal(own.time, other.time)
  const counts = { C: 0, L: 0, D: 0, S: 0, unavailable: 0 }
  for (const [name, values] of other.satellites) {
    const hasUnknownFirst = own.satellites.get(name)?.has('C1P') || own.satellites.get(name)?.has('C5P')
    for (const [type, { value }] of values) {
      const mine = observed(own, name, type)
      const kind = type[0] as 'C' | 'L' | 'D' | 'S'
      if (mine === undefined) {
        const hz = carriers[`${name[0]}${type.slice(1)}`]
        const code_m = observed(own, name, `C${type.slice(1)}`)
        // With GLONASS the carrier is another one for each satellite.
        if (hz && code_m) t.ok(Math.abs(value - (code_m * hz) / light_mps + 8_388.608) < 0.002, `${name} ${type}`)
        t.equal(kind, 'L', `${name} ${type}`)
        counts.unavailable++
        continue
      }
      if (kind === 'D' && hasUnknownFirst) continue
      counts[kind]++
      const difference = kind === 'S' ? mine * 0.004 - value : mine - value
      t.ok(Math.abs(difference) < 0.0011, `${name} ${type}: ${mine} ${value}`)
    }
  }
  t.ok(
    counts.C > 80 && counts.L > 65 && counts.D > 65 && counts.S > 80 && counts.unavailable < 12,
    JSON.stringify(counts),
  )
})

t.test('SBF MeasEpoch against the MSM7 of the next second', { skip }, async (t) => {
  const frames = framesOf(recorded('septentrio-mosaic-g5-raw-cross'))
  const [own, msm] = await Promise.all([
    ours(bytesOf(frames.filter(({ kind }) => kind === 'other').map(({ bytes }) => bytes)), '2026-07-06'),
    ours(bytesOf(frames.filter(({ kind }) => kind === 'rtcm').map(({ bytes }) => bytes)), '2026-07-06'),
  ])
  t.equal(msm.found.source, 'MSM')
  const rows = [...first(msm.read).satellites].flatMap(([name, values]) =>
    Object.entries(carriers).flatMap(([id, hz]) => {
      const [system, code] = [id[0], id.slice(1)]
      const [c, d] = [values.get(`C${code}`)?.value, values.get(`D${code}`)?.value]
      const [c0, d0] = ['C', 'D'].map((kind) => observed(first(own.read), name, kind + code))
      if (name[0] !== system || c === undefined || d === undefined || c0 === undefined || d0 === undefined) return []
      // The way in the second, by the mean of the rates.
      const way_m = (-(d + d0) / 2) * (light_mps / hz)
      return [{ name: `${name} ${code}`, code_m: c - c0 - way_m, doppler_hz: d - d0 }]
    }),
  )
  t.ok(rows.length >= 45, `${rows.length} signals`)
  const clock_m = middle(rows.map(({ code_m }) => code_m))
  for (const { code_m, doppler_hz, name } of rows) {
    t.ok(Math.abs(code_m - clock_m) < 1, `${name}: ${code_m}`)
    t.ok(Math.abs(doppler_hz) < 3, `${name}: ${doppler_hz} Hz`)
  }
})

/** `convbin` reads the RANGECMP that the receiver sends in NovAtel's format: resolved to 1/128 m, 1/256 cycles and Hz, and 1 dB-Hz. */
t.test('OBSVM of a UM980, against convbin from the RANGECMP of the same epoch', { skip }, async (t) => {
  const bytes = recorded('unicore-um980-raw-cross')
  const { found, read } = await ours(bytes, '2026-05-23')
  t.match(found, { source: 'OBSVM', epochs: 1, skipped: { contents: 0 } })
  const [own, other] = [first(read), first(readObservations(converted(t, bytes, 'nov', '2026-05-23').observations))]
  t.equal(own.time, other.time)
  t.strictSame(
    [...other.satellites.keys()].filter((name) => !own.satellites.has(name)),
    [],
  )
  const counts = { C: 0, L: 0, D: 0, S: 0 }
  const limits = { C: 0.0045, L: 0.0041, D: 0.0041, S: 1.1 }
  for (const [name, values] of other.satellites) {
    for (const [type, { value }] of values) {
      // L2C has no flag in RANGECMP, which calls L2 of GLONASS P.
      const code = type.slice(1)
      const codes = code === '2W' ? ['2W', '2S'] : name.startsWith('R') && code === '2P' ? ['2C'] : [code]
      const mine = codes.map((one) => observed(own, name, type[0] + one)).find((one) => one !== undefined)
      const kind = type[0] as 'C' | 'L' | 'D' | 'S'
      // RTKLIB has no frequency for the phase of GLONASS.
      if (name.startsWith('R') && kind === 'L') continue
      counts[kind]++
      t.ok(Math.abs((mine ?? Number.NaN) - value) <= limits[kind], `${name} ${type}: ${mine} ${value}`)
    }
  }
  t.ok(counts.C > 60 && counts.L > 40 && counts.D > 50 && counts.S > 60, JSON.stringify(counts))
})

t.test('OBSVM against the MSM7 of the same epoch, whose clock is steered', { skip }, async (t) => {
  const frames = framesOf(recorded('unicore-um980-raw-cross'))
  // The epoch whose beginning is missing has BeiDou only; its time is that of OBSVM.
  const msmBytes = frames.filter(({ kind }) => kind === 'rtcm').map(({ bytes }) => bytes)
  const [own, msm] = await Promise.all([
    ours(recorded('unicore-um980-raw-cross'), '2026-05-23'),
    ours(bytesOf(msmBytes), '2026-05-23'),
  ])
  const [mine, other] = [first(own.read), first(msm.read)]
  t.equal(mine.time, other.time)
  const rows = [...other.satellites].flatMap(([name, values]) =>
    Object.entries(carriers).flatMap(([id, hz]) => {
      const code = id.slice(1)
      const [c, l, d] = ['C', 'L', 'D'].map((kind) => values.get(kind + code)?.value)
      const [c0, l0, d0] = ['C', 'L', 'D'].map((kind) => observed(mine, name, kind + code))
      return id[0] === name[0] && c && c0 && d && d0
        ? [{ name: `${name} ${code}`, hz, c: c0 - c, l: (l0 ?? NaN) - (l ?? NaN), d: d0 - d, d0 }]
        : []
    }),
  )
  t.ok(rows.length >= 55, `${rows.length} signals`)
  // Later by the error of the clock, in which the satellite moves.
  const offset_s = middle(rows.map(({ c }) => c)) / light_mps
  const clock_s = middle(rows.map(({ c, d0, hz }) => (c - (d0 * light_mps * offset_s) / hz) / light_mps))
  let phases = 0
  for (const { c, d, d0, hz, l, name } of rows) {
    const steered_m = clock_s * (light_mps + (d0 * light_mps) / hz)
    t.ok(Math.abs(c - steered_m) < 0.02, `${name} code`)
    t.ok(Math.abs((d * light_mps) / hz) < 0.3, `${name} Doppler ${d}`)
    if (Number.isNaN(l)) continue
    phases++
    const cycles = l - (steered_m * hz) / light_mps
    t.ok(Math.abs(cycles - Math.round(cycles)) < 0.01, `${name} phase ${cycles}`)
  }
  t.ok(phases > 50, `${phases} phases`)
})

/** Hours, minutes and seconds, whatever pads them. */
const clockOf = (time: string) => time.trim().split(/\s+/).slice(-3).map(Number).join(' ')
/** Without the first epoch: RTKLIB takes its time from the first message of it, and loses the observations of that. */
const withClocks = (read: ReadObservations): ReadObservations => ({
  ...read,
  epochs: read.epochs.slice(1).map((epoch) => ({ ...epoch, time: clockOf(epoch.time) })),
})

/** Both have C/A and P(Y) on L2, and C/A and P of GLONASS; the second has P on L1, too. */
for (const [name, format, day, types] of [
  [
    'swiftnav_sept.rtcm',
    'rtcm3',
    '2018-01-02',
    'C1 P1 L1 D1 S1 C2 P2 L2 D2 S2 C5 L5 D5 S5 C7 L7 D7 S7 C8 L8 D8 S8 C6 L6 D6 S6',
  ],
  ['swiftnav_javad.rtcm', 'rtcm3', '2018-01-02', 'C1 P1 L1 D1 S1 P2 L2 D2 S2 C5 L5 D5 S5 C7 L7 D7 S7 C8 L8 D8 S8'],
] as const satisfies readonly (readonly [string, Format, string, string])[]) {
  t.test(`2.11 of ${name}, against convbin`, { skip }, async (t) => {
    const bytes = capture(name)
    if (!bytes) throw new Error(`no ${name}`)
    const { read } = await ours(bytes, day, '2.11')
    const theirs = readObservations(converted(t, bytes, format, day, '2.11').observations)
    t.equal(read.types.get('')?.join(' '), types)
    t.strictSame([...(read.types.get('') ?? [])].sort(), [...(theirs.types.get('') ?? [])].sort())
    const { missing, only, values, worst } = compared(withClocks(read), withClocks(theirs))
    t.equal(missing, 0)
    t.ok(values > 5_000, `${values} values`)
    t.ok(Math.max(...Object.values(worst)) < 0.0011, JSON.stringify(worst))
    t.strictSame(
      [only.own.size, only.theirs.size],
      [0, 0],
      `${JSON.stringify([...only.own])} ${JSON.stringify([...only.theirs])}`,
    )
  })
}

t.test('an epoch of MSM whose last message is missing', { skip }, async (t) => {
  const bytes = capture('swiftnav_sept.rtcm')
  if (!bytes) throw new Error('no capture')
  const frames = framesOf(bytes)
    .filter(({ kind }) => kind === 'rtcm')
    .map(({ bytes }) => bytes)
  const types = frames.map(messageNumber)
  const isMultiple = (frame: Uint8Array) => ((frame[9] ?? 0) & 0x02) !== 0
  const lasts = frames.flatMap((frame, at) => (isMsm(types[at] ?? 0) && !isMultiple(frame) ? [at] : []))
  t.ok(lasts.length > 50, `${lasts.length} epochs`)
  const count = async (kept: readonly Uint8Array[]) => {
    const all = bytesOf(kept)
    const theirs = readObservations(converted(t, all, 'rtcm3', '2018-01-02').observations)
    const { read } = await ours(all, '2018-01-02')
    return { own: read.epochs.map(({ time }) => time), theirs: theirs.epochs.map(({ time }) => time) }
  }
  const whole = await count(frames)
  t.strictSame(whole.own, whole.theirs)
  const end = await count(frames.slice(0, lasts.at(-1)))
  t.strictSame(end.own, whole.own.slice(0, -1), 'at the end it is not written')
  t.strictSame(end.theirs, end.own, 'nor by RTKLIB')
  const between = lasts[20] ?? 0
  const middleCut = await count(frames.filter((_, at) => at !== between))
  t.strictSame(middleCut.own, whole.own, 'between others it is written with what came')
  t.equal(middleCut.theirs.length, whole.theirs.length - 1, 'RTKLIB loses it')
})
