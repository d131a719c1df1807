/**
 * Observation messages for rovers that do not know MSM: 1004 (GPS) and 1012 (GLONASS), L1 and L2 (RTCM 10403.3 §3.5.2
 * and §3.5.4), made from MSM4-7.
 */
import { ephemerisLayouts } from '../orbits/layouts.js'
import { BitReader, BitWriter } from './bits.js'
import { encodeFrame, messageNumber } from './frame.js'
import { type Field, flag, readFields, signed, uint, unsigned, type Values, writeFields } from './layout.js'
import { type LockTime, legacyLock, lockBroken, lockTime } from './lock-time.js'
import { constellationOf, decodeMsm, isMsm, type Msm, type MsmObservation, splitGlonassTime } from './msm.js'

type LegacyConstellation = 'GPS' | 'GLONASS'

/** The constellation of an observation message before MSM (1001-1004, 1009-1012); undefined for other messages. */
export function legacyConstellation(type: number): LegacyConstellation | undefined {
  if (type >= 1001 && type <= 1004) return 'GPS'
  return type >= 1009 && type <= 1012 ? 'GLONASS' : undefined
}

/** Whether the message has observations: MSM, or a message from before MSM. */
export const isObservation = (type: number): boolean => isMsm(type) || legacyConstellation(type) !== undefined

const header = (timeBits: number) =>
  [
    uint('stationId', 12),
    /** ms of the GPS week (DF004), or of the Moscow day (DF034). */
    uint('epochTime', timeBits),
    /** More observations of this epoch follow. */
    flag('synchronous'),
    uint('satellites', 5),
    flag('smoothing'),
    uint('smoothingInterval', 3),
  ] as const

const satellite = <C extends Field>(channel: readonly C[], rangeBits: number, modulusBits: number) =>
  [
    uint('satellite', 6),
    uint('l1Code', 1),
    ...channel,
    /** The pseudorange modulo the ambiguity modulus. */
    unsigned('l1Range_m', rangeBits, 50),
    /** Phase range − L1 pseudorange. */
    signed('l1Phase_m', 20, 2000),
    uint('l1Lock', 7),
    uint('modulus', modulusBits),
    unsigned('l1Cnr_dbhz', 8, 4),
    uint('l2Code', 2),
    /** L2 pseudorange − L1 pseudorange. */
    signed('l2Range_m', 14, 50),
    /** L2 phase range − L1 pseudorange. */
    signed('l2Phase_m', 20, 2000),
    uint('l2Lock', 7),
    unsigned('l2Cnr_dbhz', 8, 4),
  ] as const

/** The most negative value of a signed field means invalid, as in MSM. */
const invalidPhase_m = -262.144
const mostPhase_m = 262.1435
const invalidRange_m = -163.84
const mostRange_m = 163.82
const mostCnr_dbhz = 63.75
/** The satellite count has 5 bits. */
const mostSatellites = 31
/** A phase range that does not fit is moved by whole multiples of these cycles, which rovers undo (DF012). */
const rollover_cycles = 1500
const light_mps = 299_792_458
const day_ms = 86_400_000

type Signal = readonly [msm: number, code: number]

/** Differences of the two messages. Of several signals of a satellite the first of the list is sent. */
interface Kind {
  readonly type: 1004 | 1012
  readonly header: ReturnType<typeof header>
  readonly satellite: readonly Field[]
  readonly modulus_m: number
  readonly moduli: number
  /** Satellite numbers from 1. */
  readonly most: number
  readonly l1: readonly Signal[]
  readonly l2: readonly Signal[]
  /** Hz; `channel`: DF040, the GLONASS frequency channel + 7. */
  readonly frequencies: (channel: number) => readonly [l1: number, l2: number]
}

const channelField = uint('channel', 5)
const satelliteLayouts = { 1004: satellite([], 24, 8), 1012: satellite([channelField], 25, 7) } as const

const kinds: Readonly<Record<LegacyConstellation, Kind>> = {
  GPS: {
    type: 1004,
    header: header(30),
    satellite: satelliteLayouts[1004],
    modulus_m: 299_792.458,
    moduli: 256,
    most: 32,
    l1: [[2, 0]],
    // 2W, 2P, then L2C: 2X, 2L, 2S, 2C (DF016).
    l2: [
      [10, 3],
      [9, 1],
      [17, 0],
      [16, 0],
      [15, 0],
      [8, 0],
    ],
    frequencies: () => [1_575_420_000, 1_227_600_000],
  },
  GLONASS: {
    type: 1012,
    header: header(27),
    satellite: satelliteLayouts[1012],
    modulus_m: 599_584.916,
    moduli: 128,
    most: 24,
    l1: [[2, 0]],
    // 2P, 2C (DF046).
    l2: [
      [9, 1],
      [8, 0],
    ],
    frequencies: (channel) => [1_602_000_000 + (channel - 7) * 562_500, 1_246_000_000 + (channel - 7) * 437_500],
  },
}

/** One satellite of a 1004 or 1012; `channel` in 1012 only. */
export type LegacySatellite = Values<(typeof satelliteLayouts)[1004]> & Partial<Values<[typeof channelField]>>

/** A 1004 or 1012. */
export interface Legacy extends Omit<Values<ReturnType<typeof header>>, 'satellites'> {
  type: 1004 | 1012
  satellites: LegacySatellite[]
}

/** The observations of a 1004 or 1012; undefined when the frame is neither, or too short. */
export function decodeLegacy(frame: Uint8Array): Legacy | undefined {
  const kind = Object.values(kinds).find(({ type }) => type === messageNumber(frame))
  if (!kind) return undefined
  const reader = new BitReader(frame, 3, frame.length - 3)
  reader.uint(12)
  const { satellites: count, ...head } = readFields(reader, kind.header)
  const satellites = Array.from({ length: count }, () => readFields(reader, kind.satellite) as LegacySatellite)
  return reader.overrun ? undefined : { type: kind.type, ...head, satellites }
}

/** @returns a whole frame. @throws RangeError when a value does not fit its field */
export function encodeLegacy({ type, satellites, ...head }: Legacy): Uint8Array {
  const kind = type === 1004 ? kinds.GPS : kinds.GLONASS
  const writer = new BitWriter()
  writer.uint(type, 12)
  writeFields(writer, kind.header, { ...head, satellites: satellites.length })
  for (const one of satellites) writeFields(writer, kind.satellite, one as Values<readonly Field[]>)
  return encodeFrame(writer.bytes())
}

/** The lock of a signal at its last usable phase. */
interface Track {
  signal: number
  /** Undefined: the phase cannot continue, whatever the next indicator says. */
  lock: LockTime | undefined
  time_ms: number
  indicator: number
  /** The indicator sent last: 0 without a phase. */
  sent: number
}

/** Makes 1004 and 1012 from MSM. It keeps the frequency channels of GLONASS, and the lock of each signal. Never throws. */
export class LegacyEncoder {
  /** DF040 by GLONASS slot. */
  readonly #channels = new Map<number, number>()
  readonly #tracks = new Map<string, Track>()

  /** Takes the GLONASS channel from a 1020. Other frames are ignored. */
  learn(frame: Uint8Array): void {
    if (messageNumber(frame) !== 1020) return
    const reader = new BitReader(frame, 3, frame.length - 3)
    reader.uint(12)
    const { satellite, channel } = readFields(reader, ephemerisLayouts[1020])
    if (!reader.overrun && channel <= 20) this.#channels.set(satellite, channel)
  }

  /**
   * The observations of an epoch. Left out: constellations other than GPS and GLONASS, satellites without an L1 C/A
   * pseudorange, GLONASS satellites of unknown channel, and phases with an unresolved half cycle.
   * @param frames all frames of one epoch; those other than MSM4-7 are ignored
   * @param wants the messages to make
   * @param more observations of this epoch follow in other messages
   * @returns 1004 and 1012, more than one of each above 31 satellites
   */
  epoch(frames: readonly Uint8Array[], wants: (type: number) => boolean = () => true, more = false): Uint8Array[] {
    const made = (['GPS', 'GLONASS'] as const)
      .filter((constellation) => wants(kinds[constellation].type))
      .flatMap((constellation) => this.#messages(constellation, frames))
    return made.map((message, index) => encodeLegacy({ ...message, synchronous: more || index < made.length - 1 }))
  }

  #messages(constellation: LegacyConstellation, frames: readonly Uint8Array[]): Legacy[] {
    const kind = kinds[constellation]
    const all = frames.flatMap((frame) => {
      const type = messageNumber(frame)
      return constellationOf(type) === constellation && type % 10 >= 4 ? (decodeMsm(frame) ?? []) : []
    })
    const [first] = all
    if (!first) return []
    const parts = all.filter(({ epochTime }) => epochTime === first.epochTime)
    const epochTime = constellation === 'GLONASS' ? splitGlonassTime(first.epochTime).ms : first.epochTime
    for (const part of parts) if (constellation === 'GLONASS') this.#learnInfo(part)

    const satellites: LegacySatellite[] = []
    for (let number = 1; number <= kind.most; number++) {
      const made = this.#satellite(kind, number, parts, epochTime)
      if (made) satellites.push(made)
    }
    const { stationId, smoothing, smoothingInterval } = first
    const head = { type: kind.type, stationId, epochTime, synchronous: false, smoothing, smoothingInterval }
    return Array.from({ length: Math.ceil(satellites.length / mostSatellites) }, (_, index) => ({
      ...head,
      satellites: satellites.slice(index * mostSatellites, (index + 1) * mostSatellites),
    }))
  }

  /** MSM5 and 7 have the channels (DF419); 14 is reserved, 15 unknown. */
  #learnInfo({ info = {} }: Msm): void {
    for (const [slot, channel] of Object.entries(info)) if (channel < 14) this.#channels.set(Number(slot), channel)
  }

  #satellite(kind: Kind, number: number, parts: readonly Msm[], time_ms: number): LegacySatellite | undefined {
    const [l1, l1Code] = pick(kind.l1, number, parts)
    const [l2, l2Code] = pick(kind.l2, number, parts)
    const channel = kind.type === 1012 ? this.#channels.get(number) : 7
    const range_m = l1?.pseudorange_m ?? -1
    const modulus = Math.floor(range_m / kind.modulus_m)
    if (!l1 || channel === undefined || modulus < 0 || modulus >= kind.moduli) return undefined
    const l1Range_m = Math.round((range_m - modulus * kind.modulus_m) * 50) / 50
    // The others are relative to the pseudorange as it is sent, so its rounding does not add to theirs.
    const sent_m = modulus * kind.modulus_m + l1Range_m
    const l2Range_m = (l2?.pseudorange_m ?? Number.NaN) - sent_m
    const [f1, f2] = kind.frequencies(channel)
    return {
      satellite: number,
      l1Code,
      ...(kind.type === 1012 && { channel }),
      l1Range_m,
      l1Phase_m: phaseOf(l1, sent_m, f1),
      l1Lock: this.#lock(`${kind.type} ${number} L1`, l1, time_ms),
      modulus,
      l1Cnr_dbhz: cnrOf(l1),
      l2Code,
      l2Range_m: Math.abs(l2Range_m) <= mostRange_m ? l2Range_m : invalidRange_m,
      l2Phase_m: phaseOf(l2, sent_m, f2),
      l2Lock: this.#lock(`${kind.type} ${number} L2`, l2, time_ms),
      l2Cnr_dbhz: cnrOf(l2),
    }
  }

  /**
   * The lock time indicator to send (DF013 etc.). A break makes it less than the one before, or 0; without a break it
   * never decreases. Rovers such as RTKLIB notice nothing else.
   */
  #lock(key: string, cell: Cell | undefined, time_ms: number): number {
    const before = this.#tracks.get(key)
    if (!cell || !hasPhase(cell)) {
      if (before) before.sent = 0
      // With the half cycle the phase may jump, and no indicator tells.
      if (before && cell?.halfCycle) before.lock = undefined
      return 0
    }
    const lock = lockTime(cell.type, cell.lock)
    let indicator = legacyLock(lock.from_ms)
    if (before) {
      const interval_ms = (time_ms - before.time_ms + day_ms * 7) % day_ms
      const isBroken = !before.lock || before.signal !== cell.signal || lockBroken(before.lock, lock, interval_ms)
      indicator = isBroken ? Math.max(0, Math.min(indicator, before.sent - 1)) : Math.max(indicator, before.indicator)
    }
    this.#tracks.set(key, { signal: cell.signal, lock, time_ms, indicator, sent: indicator })
    return indicator
  }
}

/** An observation and the MSM that it is of. */
type Cell = MsmObservation & { readonly type: number }

/** The satellite's first signal of the list, and its code. */
function pick(signals: readonly Signal[], number: number, parts: readonly Msm[]): [Cell | undefined, code: number] {
  for (const [signal, code] of signals) {
    for (const { type, observations } of parts) {
      const found = observations.find((one) => one.satellite === number && one.signal === signal)
      if (found) return [{ ...found, type }, code]
    }
  }
  return [undefined, 0]
}

const hasPhase = ({ phase_m, halfCycle }: MsmObservation) => phase_m !== undefined && !halfCycle

const cnrOf = (cell: MsmObservation | undefined) => Math.min(mostCnr_dbhz, cell?.cnr_dbhz ?? 0)

/** The phase range relative to the pseudorange, in the range of its field. */
function phaseOf(cell: MsmObservation | undefined, range_m: number, frequency: number): number {
  if (!cell || !hasPhase(cell) || cell.phase_m === undefined) return invalidPhase_m
  const phase_m = cell.phase_m - range_m
  const excess = Math.max(0, Math.ceil((Math.abs(phase_m) - mostPhase_m) / ((rollover_cycles * light_mps) / frequency)))
  return phase_m - Math.sign(phase_m) * excess * ((rollover_cycles * light_mps) / frequency)
}
