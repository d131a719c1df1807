/** Meaning of u-blox numbers: constellations by gnssId, signals by gnssId and sigId, as RINEX names their bands. */
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

/** By blockId of MON-RF. */
export const rfBands = ['L1', 'L2', 'L5'] as const

/** CFG-SIGNAL of a constellation, and of each of its signals. Read only: a receiver has those of its own bands. */
const signalKeys: readonly [constellation: ConstellationName, enable: number, signals: Record<string, number>][] = [
  ['gps', 0x1031001f, { L1: 0x10310001, L2: 0x10310003, L5: 0x10310004 }],
  ['glonass', 0x10310025, { L1: 0x10310018, L2: 0x1031001a }],
  ['galileo', 0x10310021, { E1: 0x10310007, E5b: 0x1031000a, E5a: 0x10310009, E6: 0x1031000b }],
  ['beidou', 0x10310022, { B1I: 0x1031000d, B1C: 0x1031000f, B2I: 0x1031000e, B3I: 0x10310010, B2a: 0x10310028 }],
]
/** Names all keys of CFG-SIGNAL. */
export const everySignalKey = 0x0031ffff

/** The signals of the worldwide constellations that a receiver is set to track. */
export type ExpectedSignals = ReadonlyMap<ConstellationName, readonly string[]>

export function expectedSignals(values: ReadonlyMap<number, number | bigint>): ExpectedSignals {
  const isOn = (key: number) => Number(values.get(key) ?? 0) === 1
  return new Map(
    signalKeys
      .filter(([, enable]) => isOn(enable))
      .map(([constellation, , signals]) => [
        constellation,
        Object.keys(signals).filter((signal) => isOn(signals[signal])),
      ]),
  )
}
