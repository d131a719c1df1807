import { gpsSeconds } from 'rtk-base/gnss'
import { isSatelliteNumber, type ObservationEpoch, type SignalObservation, type SystemLetter } from '../observations.js'
import { EpochBuilder, PhaseTracker } from './epoch-builder.js'

/** Number subtracted from that of a satellite, and its signals, by the satellite system of the tracking status. */
const systems: Readonly<
  Record<number, readonly [letter: SystemLetter, subtracted: number, codes: Readonly<Record<number, string>>]>
> = {
  0: ['G', 0, { 0: '1C', 3: '1L', 6: '5I', 9: '2W', 11: '1S', 14: '5Q', 17: '2L' }],
  1: ['R', 37, { 0: '1C', 5: '2C', 6: '3I', 7: '3Q' }],
  2: ['S', 100, { 0: '1C', 6: '5I' }],
  3: ['E', 0, { 1: '1B', 2: '1C', 12: '5Q', 17: '7Q', 18: '6B', 22: '6C' }],
  4: [
    'C',
    0,
    {
      ...{ 0: '2I', 4: '2Q', 5: '7Q', 6: '6Q', 8: '1P', 12: '5P', 13: '7D' },
      ...{ 17: '7I', 21: '6I', 23: '1D', 28: '5D' },
    },
  ],
  5: ['J', 192, { 0: '1C', 1: '1E', 3: '1L', 4: '1Z', 6: '5I', 11: '1S', 14: '5Q', 17: '2L', 21: '6S', 27: '6E' }],
  6: ['I', 0, { 6: '5A' }],
}

const messageId = 12
const headerSize = 24
const rowSize = 40
/** Time status of the header from which on the time is right. */
const fine = 160
/** Lock times are counted in steps of a second or less. */
const lockStep_ms = 50

/**
 * Observations out of Unicore's OBSVM, binary (Unicore N4 Reference Commands Manual, OBSVM, as the RTKLIB fork of rtklibexplorer and
 * satpulse read it; held against the RANGECMP of the same epoch of a UM980). Behind the header the number of rows (u32); a row:
 * `u16 GLONASS channel + 7 | u16 PRN | f64 range, m | f64 −phase, cycles | u16 | u16 | f32 Doppler, Hz | u16 C/N0 / 0.01 dB-Hz | u16 | f32 lock time, s | u32 tracking status`.
 *
 * L2 with the L2C flag (bit 26) is `2S`, without it `2W`. The MSM of the same receiver calls both `2W`.
 */
export class ObsvmObservations {
  readonly #phases = new PhaseTracker()

  /** @param frame whole verified frame of `unicoreLog` */
  isOwn(frame: Uint8Array): boolean {
    return frame.length > headerSize && frame[4] === messageId && frame[5] === 0
  }

  /** @returns undefined if the message contradicts its length, or was made before the receiver knew the time, or in BeiDou time */
  epoch(frame: Uint8Array): ObservationEpoch | undefined {
    const view = new DataView(frame.buffer, frame.byteOffset, frame.length)
    if (frame.length < headerSize + 8 || view.getUint8(8) !== 0 || view.getUint8(9) < fine) return undefined
    const [week, tow_s] = [view.getUint16(10, true), view.getUint32(12, true) / 1000]
    const count = view.getUint32(headerSize, true)
    const isWhole = headerSize + 4 + count * rowSize + 4 <= frame.length
    if (!isWhole || week === 0 || tow_s >= 604_800) return undefined
    const epoch = new EpochBuilder({ week, tow_s })
    for (let row = 0; row < count; row++) this.#row(view, headerSize + 4 + row * rowSize, epoch)
    return epoch.epoch
  }

  #row(view: DataView, at: number, epoch: EpochBuilder): void {
    const status = view.getUint32(at + 36, true)
    const [system, subtracted = 0, codes] = systems[(status >>> 16) & 7] ?? []
    const type = (status >>> 21) & 31
    const isL2c = system === 'G' && type === 9 && ((status >>> 26) & 1) === 1
    const code = isL2c ? '2S' : codes?.[type]
    const number = view.getUint16(at + 2, true) - subtracted
    if (!system || !code || !isSatelliteNumber(system, number)) return
    const channel = view.getUint16(at, true) - 7
    if (system === 'R' && channel <= 6) epoch.channel(number, channel)
    epoch.add(system, number, this.#signal(view, at, code, `${system}${number}${code}`, status, gpsSeconds(epoch.time)))
  }

  #signal(view: DataView, at: number, code: string, id: string, status: number, time_s: number): SignalObservation {
    const [isPhase, isParityKnown, isRange] = [10, 11, 12].map((bit) => ((status >>> bit) & 1) === 1)
    const [range_m, phase] = [view.getFloat64(at + 4, true), -view.getFloat64(at + 12, true)]
    const [doppler_hz, lock_ms] = [view.getFloat32(at + 24, true), view.getFloat32(at + 32, true) * 1000]
    const cno = view.getUint16(at + 28, true)
    const isKnown = isPhase === true && Number.isFinite(phase) && phase !== 0
    const lock = { from_ms: lock_ms, below_ms: lock_ms + lockStep_ms }
    return {
      code,
      range_m: isRange && range_m > 0 && range_m < Infinity ? range_m : undefined,
      phase_cycles: isKnown ? phase : undefined,
      doppler_hz: isKnown && Number.isFinite(doppler_hz) ? doppler_hz : undefined,
      cno_dbhz: cno > 0 ? cno / 100 : undefined,
      isBroken: isKnown && this.#phases.isBroken(id, time_s, lock),
      isHalf: isKnown && !isParityKnown,
    }
  }
}
