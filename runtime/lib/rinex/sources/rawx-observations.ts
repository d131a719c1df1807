import { gpsSeconds } from 'rtk-base/gnss'
import { isSatelliteNumber, type ObservationEpoch, type SignalObservation, type SystemLetter } from '../observations.js'
import { EpochBuilder } from './epoch-builder.js'

/** u-blox `gnssId` and `sigId` → RINEX (F9 HPG 1.51 interface description, §1.5.4). */
const systems: Readonly<Record<number, readonly [SystemLetter, Readonly<Record<number, string>>]>> = {
  0: ['G', { 0: '1C', 3: '2L', 4: '2S', 6: '5I', 7: '5Q' }],
  1: ['S', { 0: '1C' }],
  2: ['E', { 0: '1C', 1: '1B', 3: '5I', 4: '5Q', 5: '7I', 6: '7Q', 8: '6B', 9: '6C' }],
  3: ['C', { 0: '2I', 1: '2I', 2: '7I', 3: '7I', 4: '6I', 10: '6I', 5: '1P', 6: '1D', 7: '5P', 8: '5D' }],
  5: ['J', { 0: '1C', 1: '1Z', 4: '2S', 5: '2L', 8: '5I', 9: '5Q', 12: '1E' }],
  6: ['R', { 0: '1C', 2: '2C' }],
  7: ['I', { 0: '5A' }],
}

const headSize = 16
const rowSize = 32
/** The step of `cpStdev` (0.004 cycles) that stands for unknown. */
const phaseUnknown = 15

interface Tracked {
  readonly time_s: number
  readonly lock_ms: number
  readonly isSubtracted: boolean
}

/** Observations out of UBX-RXM-RAWX (F9 HPG 1.51 interface description, §3.17.9). */
export class RawxObservations {
  readonly #tracked = new Map<string, Tracked>()

  /** @param frame whole verified UBX frame */
  isOwn(frame: Uint8Array): boolean {
    return frame[2] === 0x02 && frame[3] === 0x15
  }

  /** @returns undefined if the frame is no RAWX, is too short, or was made before the receiver knew the week */
  epoch(frame: Uint8Array): ObservationEpoch | undefined {
    if (!this.isOwn(frame) || frame.length < headSize + 8) return undefined
    const payload = new DataView(frame.buffer, frame.byteOffset + 6, frame.length - 8)
    const [week, count] = [payload.getUint16(8, true), payload.getUint8(11)]
    const tow_s = payload.getFloat64(0, true)
    if (payload.byteLength < headSize + count * rowSize || week === 0 || !(tow_s >= 0 && tow_s < 604_800)) {
      return undefined
    }
    const time_s = gpsSeconds({ week, tow_s })
    const epoch = new EpochBuilder({ week, tow_s })
    for (let row = 0; row < count; row++) {
      const at = headSize + row * rowSize
      const [system, codes] = systems[payload.getUint8(at + 20)] ?? []
      const code = codes?.[payload.getUint8(at + 22)]
      const svId = payload.getUint8(at + 21)
      if (!system || !code) continue
      const number = system === 'S' ? svId - 100 : svId
      // A GLONASS satellite of an unknown slot has 255.
      if (!isSatelliteNumber(system, number)) continue
      const channel = payload.getUint8(at + 23) - 7
      if (system === 'R' && channel <= 13) epoch.channel(number, channel)
      epoch.add(system, number, this.#signal(payload, at, `${system}${number}${code}`, code, time_s))
    }
    return epoch.epoch
  }

  #signal(payload: DataView, at: number, id: string, code: string, time_s: number): SignalObservation {
    const state = payload.getUint8(at + 30)
    const [isRange, isPhase, isResolved, isSubtracted] = [1, 2, 4, 8].map((bit) => (state & bit) !== 0)
    const [range_m, phase] = [payload.getFloat64(at, true), payload.getFloat64(at + 8, true)]
    const isKnown = isPhase && (payload.getUint8(at + 28) & 15) < phaseUnknown && Number.isFinite(phase)
    const lock_ms = payload.getUint16(at + 24, true)
    const cno = payload.getUint8(at + 26)
    const doppler_hz = payload.getFloat32(at + 16, true)
    return {
      code,
      range_m: isRange && Number.isFinite(range_m) ? range_m : undefined,
      phase_cycles: isKnown ? phase : undefined,
      doppler_hz: Number.isFinite(doppler_hz) ? doppler_hz : undefined,
      cno_dbhz: cno > 0 ? cno : undefined,
      isBroken: isKnown && this.#isBroken(id, { time_s, lock_ms, isSubtracted: isSubtracted === true }),
      isHalf: isKnown && !isResolved,
    }
  }

  /** The lock time stands still at 64.5 s. A half cycle that is subtracted from now on is a jump of the phase. */
  #isBroken(id: string, now: Tracked): boolean {
    const before = this.#tracked.get(id)
    this.#tracked.set(id, now)
    if (now.lock_ms === 0) return true
    if (!before) return false
    const elapsed_ms = (now.time_s - before.time_s) * 1000
    const isRestarted = now.lock_ms < before.lock_ms || now.lock_ms < Math.min(elapsed_ms * 0.98, 64_000)
    return isRestarted || now.isSubtracted !== before.isSubtracted
  }
}
