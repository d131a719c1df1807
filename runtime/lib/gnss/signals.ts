/** Signals with the RINEX names of their bands, and the RF band of each in a receiver. */
import type { ConstellationName } from '../../../schemas/services/receiver.js'

/** The RF bands of a receiver: each has an input of its own. */
const bands: Readonly<Record<string, readonly string[]>> = {
  L1: ['L1', 'L1S', 'E1', 'B1I', 'B1C'],
  L2: ['L2', 'E5b', 'B2I'],
  L5: ['L5', 'E5a', 'B2a'],
  L6: ['E6', 'B3I'],
}
const bandBySignal = new Map(Object.entries(bands).flatMap(([band, of]) => of.map((signal) => [signal, band] as const)))

/** The RF band of a signal, by its name; '' if unknown. */
export function bandOf(signal: string): string {
  return bandBySignal.get(signal) ?? ''
}

/** First and last signal ID of MSM (DF395) that belong to a signal. */
const msmSignals: Partial<Record<ConstellationName, readonly [first: number, last: number, signal: string][]>> = {
  gps: [
    [2, 4, 'L1'],
    [8, 17, 'L2'],
    [22, 24, 'L5'],
    [30, 32, 'L1'],
  ],
  glonass: [
    [2, 3, 'L1'],
    [8, 9, 'L2'],
  ],
  galileo: [
    [2, 6, 'E1'],
    [8, 12, 'E6'],
    [14, 16, 'E5b'],
    [22, 24, 'E5a'],
  ],
  beidou: [
    [2, 4, 'B1I'],
    [8, 10, 'B3I'],
    [14, 16, 'B2I'],
    [22, 24, 'B2a'],
    [30, 32, 'B1C'],
  ],
}

/** The name of the signal of an MSM cell; undefined for a constellation or signal without a name here. */
export function msmSignalName(constellation: ConstellationName, id: number): string | undefined {
  return msmSignals[constellation]?.find(([first, last]) => id >= first && id <= last)?.[2]
}
