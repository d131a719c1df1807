/** What u-blox numbers mean: constellations by gnssId, signals by gnssId and sigId, as RINEX names their bands. */
import type { ConstellationName } from 'rtk-base/services'

const names: Readonly<Record<number, ConstellationName>> = {
  0: 'gps',
  1: 'sbas',
  2: 'galileo',
  3: 'beidou',
  5: 'qzss',
  6: 'glonass',
  7: 'navic',
}

/** By sigId; both components of a signal have one name. */
const signals: Readonly<Record<ConstellationName, Readonly<Record<number, string>>>> = {
  gps: { 0: 'L1', 3: 'L2', 4: 'L2', 6: 'L5', 7: 'L5' },
  sbas: { 0: 'L1' },
  galileo: { 0: 'E1', 1: 'E1', 3: 'E5a', 4: 'E5a', 5: 'E5b', 6: 'E5b', 8: 'E6', 9: 'E6', 10: 'E6' },
  beidou: {
    0: 'B1I',
    1: 'B1I',
    2: 'B2I',
    3: 'B2I',
    4: 'B3I',
    10: 'B3I',
    5: 'B1C',
    6: 'B1C',
    7: 'B2a',
    8: 'B2a',
  },
  qzss: { 0: 'L1', 1: 'L1S', 4: 'L2', 5: 'L2', 8: 'L5', 9: 'L5', 12: 'L1' },
  glonass: { 0: 'L1', 2: 'L2' },
  navic: { 0: 'L5' },
}

/** Undefined for a gnssId that means nothing to us. */
export function constellationName(gnssId: number): ConstellationName | undefined {
  return names[gnssId]
}

/** `L1`, `E5b`, `B2I`; a signal that the table does not have has its number as name. */
export function signalName(constellation: ConstellationName, sigId: number): string {
  return signals[constellation][sigId] ?? `signal ${sigId}`
}

/** From this qualityInd on code and carrier are locked. */
export const carrierLocked = 5
