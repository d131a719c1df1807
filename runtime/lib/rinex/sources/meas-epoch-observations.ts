import { gpsSeconds } from 'rtk-base/gnss'
import {
  codeCarrier_hz,
  isSatelliteNumber,
  type ObservationEpoch,
  type SignalObservation,
  type SystemLetter,
} from '../observations.js'
import { EpochBuilder, PhaseTracker } from './epoch-builder.js'

/** Satellite ID → RINEX (PolaRx5 reference guide 5.5.0, §4.1.9). 62 is a GLONASS satellite of an unknown slot. */
const numbers: readonly (readonly [first: number, last: number, subtracted: number, system: SystemLetter])[] = [
  [1, 37, 0, 'G'],
  [38, 61, 37, 'R'],
  [63, 68, 38, 'R'],
  [71, 106, 70, 'E'],
  [120, 140, 100, 'S'],
  [141, 180, 140, 'C'],
  [181, 187, 180, 'J'],
  [191, 197, 190, 'I'],
  [198, 215, 157, 'S'],
  [216, 222, 208, 'I'],
  [223, 245, 182, 'C'],
]

/** Signal number → RINEX (§4.1.10). L6 of QZSS (27) has no code there; the code is that of RTKLIB. */
const signals: Readonly<Record<number, readonly [system: SystemLetter, code: string]>> = {
  ...{ 0: ['G', '1C'], 1: ['G', '1W'], 2: ['G', '2W'], 3: ['G', '2L'], 4: ['G', '5Q'], 5: ['G', '1L'] },
  ...{ 6: ['J', '1C'], 7: ['J', '2L'], 26: ['J', '5Q'], 27: ['J', '6L'], 32: ['J', '1L'], 33: ['J', '1Z'] },
  ...{ 38: ['J', '1E'], 39: ['J', '5P'] },
  ...{ 8: ['R', '1C'], 9: ['R', '1P'], 10: ['R', '2P'], 11: ['R', '2C'], 12: ['R', '3Q'] },
  ...{ 13: ['C', '1P'], 14: ['C', '5P'], 28: ['C', '2I'], 29: ['C', '7I'], 30: ['C', '6I'], 34: ['C', '7D'] },
  ...{ 15: ['I', '5A'] },
  ...{ 17: ['E', '1C'], 19: ['E', '6C'], 20: ['E', '5Q'], 21: ['E', '7Q'], 22: ['E', '8Q'] },
  ...{ 24: ['S', '1C'], 25: ['S', '5I'] },
}
const galileoE6 = 19
/** P(Y) of GPS: its C/N0 has no offset. */
const withoutOffset = new Set([1, 2])

const light_mps = 299_792_458
const blockId = 4027
const headSize = 20
/** Later revisions append fields to the sub-blocks. */
const [firstSize, otherSize] = [20, 12]
const flags = { multipath: 1, smoothing: 2, e6b: 64, scrambled: 128 }
const info = { smoothed: 1, half: 4 }

/** A signal of a satellite: in full, or relative to the first. */
interface Measured {
  readonly number: number
  readonly info: number
  readonly range_m: number | undefined
  /** Phase − range, cycles. */
  readonly offset_cycles: number | undefined
  readonly doppler_hz: number | undefined
  readonly cno: number
  /** Seconds, and the value at which it is clipped. */
  readonly lock_s: number
  readonly clip_s: number
}

/** A two's complement of so many bits. */
const signed = (value: number, bits: number) => (value << (32 - bits)) >> (32 - bits)

/**
 * Observations out of Septentrio's SBF block MeasEpoch, of the main antenna (PolaRx5 reference guide 5.5.0, "MeasEpoch"; held against
 * `convbin` of RTKLIB). Pseudoranges are those of the block, as with RTKLIB: the corrections for multipath and smoothing, which MeasExtra
 * has, are not taken out again. `remarks` says if there are any.
 */
export class MeasEpochObservations {
  readonly #phases = new PhaseTracker()
  /** Header comments on how the receiver treats its pseudoranges. */
  readonly remarks = new Set<string>()

  /** @param frame whole verified frame of `sbf` */
  isOwn(frame: Uint8Array): boolean {
    return (((frame[5] ?? 0) << 8) | (frame[4] ?? 0)) % 8192 === blockId
  }

  /** @returns undefined if the block contradicts its length, is scrambled, or was made before the receiver knew the time */
  epoch(frame: Uint8Array): ObservationEpoch | undefined {
    const view = new DataView(frame.buffer, frame.byteOffset, frame.length)
    if (frame.length < headSize) return undefined
    const [tow_s, week] = [view.getUint32(8, true) / 1000, view.getUint16(12, true)]
    const [count, size, sizeOfOthers] = [view.getUint8(14), view.getUint8(15), view.getUint8(16)]
    const common = view.getUint8(17)
    if (tow_s >= 604_800 || week === 0xffff || week === 0 || (common & flags.scrambled) !== 0) return undefined
    if (size < firstSize || sizeOfOthers < otherSize) return undefined
    const epoch = new EpochBuilder({ week, tow_s })
    let at = headSize
    for (let left = count; left > 0; left--) {
      if (at + size > frame.length) return undefined
      const end = at + size + view.getUint8(at + 19) * sizeOfOthers
      if (end > frame.length) return undefined
      this.#satellite(view, at, at + size, end, sizeOfOthers, common, epoch)
      at = end
    }
    if ((common & flags.multipath) !== 0) this.remarks.add('Pseudoranges: multipath mitigation is on')
    return epoch.epoch
  }

  #satellite(
    view: DataView,
    at: number,
    others: number,
    end: number,
    size: number,
    common: number,
    epoch: EpochBuilder,
  ): void {
    const id = view.getUint8(at + 2)
    const [, , subtracted = 0, system] = numbers.find(([first, last]) => id >= first && id <= last) ?? []
    const number = id - subtracted
    if (!system || !isSatelliteNumber(system, number)) return
    const first = firstOf(view, at)
    const channel = channelOf(first)
    if (system === 'R' && channel !== undefined) epoch.channel(number, channel)
    const firstCode = codeOf(first, system, common)
    const first_hz = firstCode && codeCarrier_hz(system, firstCode, channel)
    const add = (one: Measured, code: string | undefined, antenna: number) => {
      if (!code || antenna !== 0) return
      if ((one.info & info.smoothed) !== 0) this.remarks.add('Pseudoranges: smoothed by the receiver')
      const carrier = codeCarrier_hz(system, code, channel)
      epoch.add(system, number, this.#signal(one, code, `${system}${number}${code}`, carrier, gpsSeconds(epoch.time)))
    }
    add(first, firstCode, view.getUint8(at + 1) >> 5)
    for (let other = others; other < end; other += size) {
      const own = signalNumber(view.getUint8(other), view.getUint8(other + 5))
      const code = codeOf({ number: own }, system, common)
      const hz = code && codeCarrier_hz(system, code, channel)
      const ratio = hz && first_hz ? hz / first_hz : undefined
      add(otherOf(view, other, first, ratio), code, view.getUint8(other) >> 5)
    }
  }

  #signal(one: Measured, code: string, id: string, carrier: number | undefined, time_s: number): SignalObservation {
    const { clip_s, cno, doppler_hz, lock_s, number, offset_cycles, range_m } = one
    const isPhase = range_m !== undefined && offset_cycles !== undefined && carrier !== undefined && lock_s <= clip_s
    const phase_cycles = isPhase ? (range_m * carrier) / light_mps + offset_cycles : undefined
    const lock = { from_ms: lock_s * 1000, below_ms: lock_s === clip_s ? Infinity : (lock_s + 1) * 1000 }
    return {
      ...{ code, range_m, phase_cycles, doppler_hz },
      cno_dbhz: cno === 0xff ? undefined : cno / 4 + (withoutOffset.has(number) ? 0 : 10),
      isBroken: isPhase && this.#phases.isBroken(id, time_s, lock),
      isHalf: isPhase && (one.info & info.half) !== 0,
    }
  }
}

/** From 32 on in the information. */
const signalNumber = (type: number, information: number) => ((type & 31) === 31 ? (information >> 3) + 32 : type & 31)

function codeOf({ number }: Pick<Measured, 'number'>, system: SystemLetter, common: number): string | undefined {
  const [of, code] = signals[number] ?? []
  if (of !== system) return undefined
  return number === galileoE6 && (common & flags.e6b) !== 0 ? '6B' : code
}

/** GLONASS: the frequency number stands in the information, with an offset of 8. */
function channelOf({ info: information, number }: Measured): number | undefined {
  const channel = (information >> 3) - 8
  return number >= 8 && number <= 11 && channel >= -7 && channel <= 13 ? channel : undefined
}

/** MeasEpochChannelType1: the first signal of a satellite, in full. */
function firstOf(view: DataView, at: number): Measured {
  const code = (view.getUint8(at + 3) & 15) * 2 ** 32 + view.getUint32(at + 4, true)
  const doppler = view.getInt32(at + 8, true)
  const [low, high] = [view.getUint16(at + 12, true), view.getInt8(at + 14)]
  const information = view.getUint8(at + 18)
  return {
    ...{ number: signalNumber(view.getUint8(at + 1), information), info: information },
    range_m: code === 0 ? undefined : code / 1000,
    offset_cycles: high === -128 && low === 0 ? undefined : (high * 65_536 + low) / 1000,
    doppler_hz: doppler === -(2 ** 31) ? undefined : doppler / 10_000,
    ...{ cno: view.getUint8(at + 15), lock_s: view.getUint16(at + 16, true), clip_s: 65_534 },
  }
}

/**
 * MeasEpochChannelType2: a further signal, as differences to the first.
 * @param ratio of its carrier to that of the first
 */
function otherOf(view: DataView, at: number, first: Measured, ratio: number | undefined): Measured {
  const offsets = view.getUint8(at + 3)
  const [codeHigh, dopplerHigh] = [signed(offsets & 7, 3), signed(offsets >> 3, 5)]
  const [codeLow, dopplerLow] = [view.getUint16(at + 6, true), view.getUint16(at + 10, true)]
  const [low, high] = [view.getUint16(at + 8, true), view.getInt8(at + 4)]
  const isCode = first.range_m !== undefined && !(codeHigh === -4 && codeLow === 0)
  const isDoppler = first.doppler_hz !== undefined && ratio !== undefined && !(dopplerHigh === -16 && dopplerLow === 0)
  const information = view.getUint8(at + 5)
  return {
    ...{ number: signalNumber(view.getUint8(at), information), info: information },
    range_m: isCode ? (first.range_m ?? 0) + (codeHigh * 65_536 + codeLow) / 1000 : undefined,
    offset_cycles: high === -128 && low === 0 ? undefined : (high * 65_536 + low) / 1000,
    doppler_hz: isDoppler
      ? (first.doppler_hz ?? 0) * (ratio ?? 1) + (dopplerHigh * 65_536 + dopplerLow) / 10_000
      : undefined,
    ...{ cno: view.getUint8(at + 2), lock_s: view.getUint8(at + 1), clip_s: 254 },
  }
}
