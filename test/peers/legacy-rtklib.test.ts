import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { EpochGrouper } from '../../plugins/rtcm/rtcm/epochs.js'
import {
  constellationOf,
  decodeLegacy,
  decodeMsmHeader,
  Framer,
  isMsm,
  LegacyEncoder,
  legacyConstellation,
  messageNumber,
} from '../../runtime/lib/gnss/index.js'
import { capture, noCaptures } from '../harness/captures.js'
import { noPeer } from '../harness/peers/peers.js'

const skip = noPeer('convbin') || noCaptures
const light_mps = 299_792_458

/** One band of one satellite at one time. */
interface Observed {
  /** RINEX attribute of the signal. */
  attribute: string
  code_m: number | undefined
  phase_cycles: number | undefined
  slip: boolean
}
/** By epoch, then by satellite and band, e.g. `G05 L1`. */
type Observations = Map<string, Map<string, Observed>>

/** RINEX attributes of the signals of a band, in the order of `LegacyEncoder`; RTKLIB calls all L2C of a 1004 X. */
const attributes: Readonly<Record<string, string>> = { G1: 'C', G2: 'WPXLSC', R1: 'C', R2: 'PC' }

function observationsOf(rinex: string): Observations {
  const [head, body] = rinex.split(/END OF HEADER\s*\n/)
  const columns: Record<string, string[]> = {}
  let system = ''
  for (const line of head.split('\n').filter((line) => line.includes('OBS TYPES'))) {
    system = line[0] === ' ' ? system : line[0]
    columns[system] = [...(columns[system] ?? []), ...line.slice(7, 58).trim().split(/\s+/)]
  }
  const all: Observations = new Map()
  let epoch = new Map<string, Observed>()
  for (const line of body.split('\n')) {
    if (line.startsWith('>')) {
      epoch = new Map()
      all.set(line.slice(2, 29), epoch)
      continue
    }
    if (!/^[GR]/.test(line)) continue
    for (const band of ['1', '2']) {
      const at = (name: string) => {
        const column = columns[line[0]].indexOf(name)
        const field = column < 0 ? '' : line.slice(3 + column * 16, 19 + column * 16)
        return { value: field.slice(0, 14).trim(), flags: Number(field[14] ?? 0) }
      }
      const attribute = [...(attributes[`${line[0]}${band}`] ?? '')].find(
        (one) => at(`C${band}${one}`).value || at(`L${band}${one}`).value,
      )
      if (!attribute) continue
      const [code, phase] = [at(`C${band}${attribute}`), at(`L${band}${attribute}`)]
      epoch.set(`${line.slice(0, 3)} L${band}`, {
        attribute,
        code_m: code.value ? Number(code.value) : undefined,
        phase_cycles: phase.value ? Number(phase.value) : undefined,
        slip: (phase.flags & 1) === 1,
      })
    }
  }
  return all
}

/** @param start near the first epoch: RTCM has no date */
function convbin(t: Test, frames: readonly Uint8Array[], start: Date): Observations {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-legacy-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [input, obs, nav] = ['in.rtcm3', 'out.obs', 'out.nav'].map((name) => join(folder, name))
  writeFileSync(input, Buffer.concat(frames))
  const time = start.toISOString().slice(0, 19).replaceAll('-', '/').split('T')
  execFileSync('convbin', ['-r', 'rtcm3', '-v', '3.03', '-tr', ...time, '-o', obs, '-n', nav, input], {
    stdio: 'ignore',
  })
  return observationsOf(readFileSync(obs, 'latin1'))
}

/** The frames of a capture. @param wanted picks one part of it */
function framesOf(name: string, wanted: (type: number) => boolean): Uint8Array[] {
  const frames: Uint8Array[] = []
  const framer = new Framer({
    onFrame: ({ kind, bytes }) => {
      if (kind === 'rtcm' && wanted(messageNumber(bytes))) frames.push(Uint8Array.from(bytes))
    },
  })
  framer.push(capture(name) ?? new Uint8Array(0), 0)
  framer.flush()
  return frames
}

/** 1004 and 1012 as an output makes them. */
function legacyOf(frames: readonly Uint8Array[]): Uint8Array[] {
  const encoder = new LegacyEncoder()
  const made: Uint8Array[] = []
  const grouper = new EpochGrouper(
    () => () => {},
    (epoch) => made.push(...encoder.epoch(epoch.frames.map(({ bytes }) => bytes))),
  )
  for (const bytes of frames) {
    encoder.learn(bytes)
    grouper.push({ type: messageNumber(bytes), bytes, arrival_ms: 0 } as Parameters<EpochGrouper['push']>[0])
  }
  return made
}

/** A day of the GPS week of 2018-07-08, when GPS − UTC was 18 s as it is now. */
function startOf(frames: readonly Uint8Array[]): Date {
  const first = frames.find((bytes) => constellationOf(messageNumber(bytes)) === 'GPS' || messageNumber(bytes) === 1004)
  const tow_ms = first && (decodeMsmHeader(first) ?? decodeLegacy(first))?.epochTime
  return new Date(Date.UTC(2018, 6, 8) + (tow_ms ?? 0))
}

/** Channels of the captures' GLONASS satellites, from the frames that were made. */
function wavelengthsOf(frames: readonly Uint8Array[]): (key: string) => number {
  const channels = new Map<string, number>()
  for (const frame of frames) {
    for (const { satellite, channel } of decodeLegacy(frame)?.satellites ?? []) {
      if (channel !== undefined) channels.set(`R${String(satellite).padStart(2, '0')}`, channel - 7)
    }
  }
  return (key) => {
    const isL1 = key.endsWith('L1')
    if (key.startsWith('G')) return light_mps / (isL1 ? 1_575_420_000 : 1_227_600_000)
    const channel = channels.get(key.slice(0, 3)) ?? 0
    return light_mps / (isL1 ? 1_602_000_000 + channel * 562_500 : 1_246_000_000 + channel * 437_500)
  }
}

/** Of the two converters' roundings to 0.001 m and 0.001 cycles, besides that of the messages. */
const codeLimit_m = 0.01 + 0.001 + 1e-6
const phaseLimit_m = 0.000_5

/** Times as seconds of the GPS day, which both messages and RINEX have. */
const dayOf = (time: string) => {
  const [, , , hour, minute, second] = time.trim().split(/\s+/).map(Number)
  return Math.round(hour * 3600 + minute * 60 + second)
}

/** The satellites and lock indicators that were made, e.g. `1234 G05 L1`. */
function locksOf(frames: readonly Uint8Array[]): Map<string, number> {
  const locks = new Map<string, number>()
  for (const frame of frames) {
    const message = decodeLegacy(frame)
    const isGps = message?.type === 1004
    const time_s = Math.round((message?.epochTime ?? 0) / 1000)
    const day_s = isGps ? time_s % 86_400 : (time_s - 10_800 + 18 + 86_400) % 86_400
    for (const { satellite, l1Lock, l2Lock } of message?.satellites ?? []) {
      const key = `${day_s} ${isGps ? 'G' : 'R'}${String(satellite).padStart(2, '0')}`
      locks.set(`${key} L1`, l1Lock)
      locks.set(`${key} L2`, l2Lock)
    }
  }
  return locks
}

/** The epochs and signals of `ours` beside those of `theirs`. */
function compare(theirs: Observations, ours: Observations, made: readonly Uint8Array[]) {
  const [wavelength, locks] = [wavelengthsOf(made), locksOf(made)]
  const found = { epochs: 0, signals: 0, code_m: 0, phase_m: 0, rolled: 0, slips: 0, newSlips: 0, leftOut: 0 }
  /** Signals that only the MSM have, and slips that only one of both has. */
  const [missing, onlyOurs, onlyTheirs]: string[][] = [[], [], []]
  const before = new Map<string, { attribute: string; roll: number }>()
  for (const [time, expected] of theirs) {
    const epoch = ours.get(time)
    if (!epoch) continue
    found.epochs++
    for (const [key, one] of expected) {
      const other = epoch.get(key)
      const place = `${dayOf(time)} ${key}`
      // Without an L1 pseudorange, and GLONASS of unknown channel or above slot 24.
      if (!locks.has(place) && (key.startsWith('R') || expected.get(key.replace('L2', 'L1'))?.code_m === undefined)) {
        found.leftOut++
        continue
      }
      if (!other || (one.code_m === undefined) !== (other.code_m === undefined)) {
        missing.push(place)
        continue
      }
      found.signals++
      found.code_m = Math.max(found.code_m, Math.abs((one.code_m ?? 0) - (other.code_m ?? 0)))
      if (one.phase_cycles === undefined || other.phase_cycles === undefined) {
        if (one.phase_cycles !== other.phase_cycles) missing.push(place)
        continue
      }
      const difference = other.phase_cycles - one.phase_cycles
      const roll = Math.round(difference / 1500)
      found.phase_m = Math.max(found.phase_m, Math.abs(difference - roll * 1500) * wavelength(key))
      // A rover follows the multiples of 1500 cycles, so they are the same as long as the lock lasts.
      const last = before.get(key)
      before.set(key, { attribute: one.attribute, roll })
      // convbin flags the first observations of a file by itself.
      if (!last) continue
      if (!other.slip && last.roll !== roll) found.rolled++
      if (one.slip && other.slip) found.slips++
      else if (one.slip) onlyTheirs.push(place)
      // A lock of less than a second twice: an indicator of whole seconds cannot tell that it lasts. Another signal.
      else if (other.slip && (locks.get(place) === 0 || last.attribute !== one.attribute)) found.newSlips++
      else if (other.slip) onlyOurs.push(place)
    }
  }
  return { ...found, missing, onlyOurs, onlyTheirs }
}

const any = () => true
const withoutLegacy = (type: number) => legacyConstellation(type) === undefined
for (const [name, wanted] of [
  ['swiftnav_javad.rtcm', withoutLegacy],
  ['swiftnav_sept.rtcm', withoutLegacy],
  ['swiftnav_switch-legacy-msm-legacy-msm.rtcm', (type: number) => isMsm(type) && type % 10 === 4],
  ['swiftnav_switch-legacy-msm-legacy-msm.rtcm', (type: number) => isMsm(type) && type % 10 === 7],
  ['pygnssutils_pygpsdata-rtcm3.log', any],
  ['gpsd_ublox-zed-f9t-rtcm3.log', any],
  ['swiftnav_missing-beidou-STR17.rtcm3', any],
  ['swiftnav_week-rollover-STR24.rtcm3', any],
  ['swiftnav_dropped-packets-STR24.rtcm3', any],
] as const) {
  t.test(`${name}: RTKLIB reads the same from 1004 and 1012 as from the MSM`, { skip }, async (t) => {
    const frames = framesOf(name, wanted)
    const made = legacyOf(frames)
    const start = startOf(frames)
    const [theirs, ours] = [convbin(t, frames, start), convbin(t, made, start)]
    const { missing, onlyOurs, onlyTheirs, ...figures } = compare(theirs, ours, made)
    t.ok(figures.epochs > 20 && figures.signals > 500, JSON.stringify(figures))
    t.ok(figures.code_m <= codeLimit_m, `pseudoranges: ${figures.code_m}`)
    t.ok(figures.phase_m <= phaseLimit_m, `phases: ${figures.phase_m}`)
    t.equal(figures.rolled, 0, 'whole rollovers only with a slip')
    t.strictSame(missing, [], 'every signal')
    t.strictSame(onlyOurs, [], 'no slip that was none')
    t.strictSame(onlyTheirs, [], 'no slip is lost')
  })
}

t.test('a station’s own 1004 and 1012 of the same epoch: the same but for its clock', { skip: noCaptures }, (t) => {
  const frames = framesOf('pyrtcm_pygpsdata-NTRIP-USCL00CHL0.log', any)
  const msm = frames.filter((bytes) => [1077, 1087].includes(messageNumber(bytes)))
  const made = new LegacyEncoder().epoch(msm).map(decodeLegacy)
  let compared = 0
  for (const theirs of frames.flatMap((bytes) => decodeLegacy(bytes) ?? [])) {
    const ours = made.find((message) => message?.type === theirs.type)
    t.equal(ours?.epochTime, theirs.epochTime)
    for (const one of theirs.satellites) {
      const other = ours?.satellites.find(({ satellite }) => satellite === one.satellite)
      if (!other) continue
      compared++
      const near = (name: keyof typeof one, tolerance: number) => {
        const difference = Math.abs((other[name] ?? 0) - (one[name] ?? 0))
        t.ok(difference <= tolerance, `${theirs.type} ${one.satellite} ${name}: ${difference}`)
      }
      const modulus_m = theirs.type === 1004 ? 299_792.458 : 599_584.916
      const range_m = (of: typeof one) => of.l1Range_m + of.modulus * modulus_m
      // It moves the clock of its MSM by 0.36 ms, and smooths its pseudoranges in another way.
      t.ok(
        Math.abs(range_m(other) - range_m(one) - 107_745.7) < 0.5,
        `${one.satellite}: ${range_m(other) - range_m(one)}`,
      )
      near('l1Code', 0)
      near('channel', 0)
      near('l1Lock', 1)
      near('l1Cnr_dbhz', 0.25)
      near('l1Phase_m', 0.03)
      // Of GLONASS it sends the C/A code of L2.
      if (theirs.type === 1012) continue
      near('l2Code', 0)
      near('l2Lock', 1)
      near('l2Cnr_dbhz', 0.25)
      near('l2Range_m', 0.021)
      near('l2Phase_m', 0.03)
    }
  }
  t.equal(compared, 18)
  t.end()
})
