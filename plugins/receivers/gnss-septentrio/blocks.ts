/** SBF blocks, decoded. Offsets are from the beginning of the block. @see Septentrio mosaic reference guide, "SBF blocks" */
import { ecefToGeodetic, gpsToUnix } from 'rtk-base/gnss'
import type { BandReading, GpsFix, ReceiverFix, Spoofing } from 'rtk-base/services'
import type { Block } from './framing.js'

export const ids = {
  pvtCartesian: 4006,
  satVisibility: 4012,
  channelStatus: 4013,
  receiverStatus: 4014,
  measEpoch: 4027,
  rfStatus: 4092,
  posCovCartesian: 5905,
  receiverTime: 5914,
} as const

/** Not available. */
const missing = -2e10
const float = (view: DataView, at: number) => {
  const value = view.getFloat32(at, true)
  return value === missing ? Number.NaN : value
}

/** By the lower four bits of the mode of a position. */
const fixes: Readonly<Record<number, GpsFix>> = {
  ...{ 1: '3d', 2: '3d', 3: 'time', 4: 'rtk-fixed', 5: 'rtk-float', 6: '3d' },
  ...{ 7: 'rtk-fixed', 8: 'rtk-float', 10: '3d' },
}
const twoDimensions = 0x80
/** Modes with corrections of a base, of SBAS or of a service. */
const correctedModes = new Set([2, 4, 5, 6, 7, 8, 10])
const sbasMode = 6

/** PosCovCartesian: standard deviation in three dimensions, metres; undefined in a base that knows its place. */
export function accuracyOf({ view }: Block): number | undefined {
  if (view.byteLength < 28) return undefined
  const acc_m = Math.sqrt(float(view, 16) + float(view, 20) + float(view, 24))
  return acc_m > 0 ? acc_m : undefined
}

/** PVTCartesian. @param acc_m by `accuracyOf` @param leap_s GPS − UTC; undefined: unknown */
export function fixOf(
  { view, week, tow_ms }: Block,
  { acc_m, leap_s }: { acc_m: number | undefined; leap_s: number | undefined },
  arrival_ms: number,
): ReceiverFix | undefined {
  if (view.byteLength < 76) return undefined
  const mode = view.getUint8(14)
  const type = mode & 0x0f
  const [x, y, z] = [view.getFloat64(16, true), view.getFloat64(24, true), view.getFloat64(32, true)]
  const geoidSeparation_m = float(view, 40)
  const fix = mode & twoDimensions ? '2d' : (fixes[type] ?? 'none')
  const isSolved = view.getUint8(15) === 0 && fix !== 'none' && Math.min(x, y, z) > missing
  const isTimed = week !== undefined && tow_ms !== undefined && leap_s !== undefined
  const position = isSolved ? { x, y, z } : { x: 0, y: 0, z: 0 }
  const used = view.getUint8(74)
  return {
    t: isTimed ? gpsToUnix({ week, tow_s: tow_ms / 1000 }, leap_s) : 0,
    fix: isSolved ? fix : 'none',
    ok: isSolved,
    position,
    ...(isSolved ? ecefToGeodetic(position) : { lat: 0, lon: 0, alt: 0 }),
    acc_m: (isSolved && acc_m) || Number.POSITIVE_INFINITY,
    geoidSeparation_m: isSolved && Number.isFinite(geoidSeparation_m) ? geoidSeparation_m : 0,
    satellitesUsed: used === 0xff ? 0 : used,
    corrected: isSolved && correctedModes.has(type),
    ...(isSolved && type === sbasMode ? { sbas: true } : {}),
    arrival_ms,
  }
}

const fineTime = 0x04

/** ReceiverTime: UTC seconds and GPS − UTC, once both are known. */
export function timeOf({ view, tow_ms }: Block): { utc_s: number; leap_s: number } | undefined {
  if (view.byteLength < 22 || tow_ms === undefined) return undefined
  const [year, month, day, hour, minute, second, leap_s] = [14, 15, 16, 17, 18, 19, 20].map((at) => view.getInt8(at))
  const isKnown = [year, month, day, leap_s].every((value) => value !== undefined && value > -128)
  if (!isKnown || (view.getUint8(21) & fineTime) === 0) return undefined
  const utc_ms = Date.UTC(2000 + (year ?? 0), (month ?? 1) - 1, day, hour, minute, second) + (tow_ms % 1000)
  return { utc_s: utc_ms / 1000, leap_s: leap_s ?? 0 }
}

/** ReceiverStatus: seconds since its start, and whether the antenna draws current. */
export function statusOf({ view }: Block): { uptime_s: number; drawsCurrent: boolean } | undefined {
  if (view.byteLength < 24) return undefined
  return { uptime_s: view.getUint32(16, true), drawsCurrent: (view.getUint32(20, true) & 0x02) !== 0 }
}

/** By the lower four bits of a band's information: a band in which the interference could not be suppressed. */
const unsuppressed = 8
const watched: readonly [band: string, low_hz: number, high_hz: number][] = [
  ['L1', 1_555e6, 1_611e6],
  ['L2', 1_215e6, 1_256e6],
  ['L5', 1_160e6, 1_215e6],
  ['L6', 1_256e6, 1_300e6],
]

/** RFStatus: interference by band. It reports neither strength nor gain. */
export function interferenceOf({ view }: Block): { bands: BandReading[]; spoofing: Spoofing } | undefined {
  if (view.byteLength < 20) return undefined
  const [count, size] = [view.getUint8(14), view.getUint8(15)]
  const worst = new Map<string, BandReading['jamming']>(watched.map(([band]) => [band, 'ok']))
  for (let at = 20, left = count; left > 0 && size >= 8 && at + size <= view.byteLength; left--, at += size) {
    const [frequency_hz, width_khz] = [view.getUint32(at, true), view.getUint16(at + 4, true)]
    const half_hz = (width_khz * 1000) / 2
    for (const [band, low_hz, high_hz] of watched) {
      if (frequency_hz + half_hz < low_hz || frequency_hz - half_hz > high_hz) continue
      if ((view.getUint8(at + 6) & 0x0f) === unsuppressed) worst.set(band, 'critical')
      else if (worst.get(band) === 'ok') worst.set(band, 'warning')
    }
  }
  const unknown = { indicator: Number.NaN, agc: Number.NaN, noise: Number.NaN }
  // Bit 0: signals that are not authentic; bit 1: failed OSNMA.
  const isSpoofed = (view.getUint8(16) & 0x03) !== 0
  return {
    bands: [...worst].map(([band, jamming]) => ({ band, jamming, ...unknown })),
    spoofing: isSpoofed ? 'indicated' : 'none',
  }
}
