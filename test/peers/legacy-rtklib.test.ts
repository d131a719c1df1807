import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { EpochGrouper } from '../../plugins/rtcm/epochs.js'
import {
  constellationOf,
  decodeLegacy,
  decodeMsmHeader,
  Framer,
  isMsm,
  LegacyEncoder,
  legacyConstellation,
  messageNumber,
} from '../../runtime/gnss/index.js'
import { capture, noCaptures } from '../harness/captures.js'
import { noPeer } from '../harness/peers/peers.js'

const skip = noPeer('convbin') || noCaptures
const light_mps = 299_792_458

/** One band of one satellite at one time. */
interface Observed {
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
      const attribute = [...(attributes[`${line[0]}${band}`] ?? '')].find((one) => at(`C${band}${one}`).value || at(`L${band}${one}`).value)
      if (!attribute) continue
      const [code, phase] = [at(`C${band}${attribute}`), at(`L${band}${attribute}`)]
      epoch.set(`${line.slice(0, 3)} L${band}`, {
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

/** The epochs and signals of `ours` beside those of `theirs`. */
function compare(theirs: Observations, ours: Observations, wavelength: (key: string) => number) {
  const found = { signals: 0, code_m: 0, phase_m: 0, missing: 0, rolled: 0, bothSlip: 0 }
  const onlyOurs: string[] = []
  const onlyTheirs: string[] = []
  const rolls = new Map<string, number>()
  for (const [time, expected] of theirs) {
    const made = ours.get(time)
    if (!made) continue
    for (const [key, one] of expected) {
      const other = made.get(key)
      if (!other) {
        found.missing++
        continue
      }
      found.signals++
      if (one.code_m !== undefined && other.code_m !== undefined) {
        found.code_m = Math.max(found.code_m, Math.abs(one.code_m - other.code_m))
      }
      if (one.phase_cycles === undefined || other.phase_cycles === undefined) {
        if (one.phase_cycles !== other.phase_cycles) found.missing++
        continue
      }
      const difference = other.phase_cycles - one.phase_cycles
      const roll = Math.round(difference / 1500)
      found.phase_m = Math.max(found.phase_m, Math.abs(difference - roll * 1500) * wavelength(key))
      // A rover follows the multiples of 1500 cycles, so they are the same as long as the lock lasts.
      if (!other.slip && (rolls.get(key) ?? roll) !== roll) found.rolled++
      rolls.set(key, roll)
      if (one.slip && other.slip) found.bothSlip++
      else if (one.slip) onlyTheirs.push(`${time} ${key}`)
      else if (other.slip) onlyOurs.push(`${time} ${key}`)
    }
  }
  return { ...found, onlyOurs, onlyTheirs }
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
    const result = compare(theirs, ours, wavelengthsOf(made))
    t.comment({ msm: theirs.size, legacy: ours.size, ...result, onlyOurs: result.onlyOurs.length, some: result.onlyOurs.slice(0,6), theirs: result.onlyTheirs.slice(0,6) })
    t.ok(result.signals > 100)
    t.ok(result.code_m <= codeLimit_m, `pseudoranges: ${result.code_m}`)
    t.ok(result.phase_m <= phaseLimit_m, `phases: ${result.phase_m}`)
  })
}
