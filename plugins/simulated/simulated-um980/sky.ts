/** Satellites and signals that a UM980 tracks, and the numbers that its logs have for them (recorded, daemon and raw-cross). */
import type { Constellation } from 'rtk-base/gnss'
import { type ConstellationModel, constellations, type MsmSignal, type Sight } from 'rtk-base/simulation'

interface Um980Signal extends MsmSignal {
  /** In SATSINFO. */
  readonly id: number
  /** Bit in the mask of BESTSAT. */
  readonly bit: number
}

const signal = (msm: number, frequency_hz: number, id: number, bit: number): Um980Signal => ({
  ...{ msm, frequency_hz, id, bit },
})
const b1i = signal(2, 1561.098e6, 0, 1)
const b3i = signal(8, 1268.52e6, 21, 4)
const signals: Partial<Record<Constellation, readonly Um980Signal[]>> = {
  GPS: [signal(2, 1575.42e6, 0, 1), signal(10, 1227.6e6, 9, 2), signal(23, 1176.45e6, 14, 4)],
  GLONASS: [signal(2, 1602e6, 0, 1), signal(8, 1246e6, 5, 2)],
  Galileo: [signal(2, 1575.42e6, 2, 1), signal(15, 1207.14e6, 17, 2), signal(23, 1176.45e6, 12, 4)],
  /** Third generation. */
  BeiDou: [b1i, b3i, signal(23, 1176.45e6, 12, 32), signal(25, 1207.14e6, 13, 64), signal(31, 1575.42e6, 8, 8)],
}
const secondGeneration: readonly Um980Signal[] = [b1i, b3i, signal(14, 1207.14e6, 17, 2)]

const beidou = constellations.find(({ name }) => name === 'BeiDou') as ConstellationModel
/** With the second generation of BeiDou, C06 to C17: with it, its observations need two messages. */
export const um980Sky: readonly ConstellationModel[] = [
  ...constellations.map((model) => ({ ...model, signals: signals[model.name] ?? model.signals })),
  { ...beidou, first: 6, radius_m: 42_164_000, planes: 3, perPlane: 4, signals: secondGeneration },
]

/** In the order of the logs. SATSINFO, BESTSAT and STADOP number each constellation in their own ways. */
const numbers = {
  GPS: { satsInfo: 0, bestSat: 0, prn: 0, stadop: 0 },
  GLONASS: { satsInfo: 1, bestSat: 1, prn: 37, stadop: 43 },
  BeiDou: { satsInfo: 4, bestSat: 6, prn: 0, stadop: 160 },
  Galileo: { satsInfo: 3, bestSat: 5, prn: 0, stadop: 74 },
} as const
type Name = keyof typeof numbers
export const logOrder = Object.keys(numbers) as Name[]

/** How the logs name a satellite. */
export function namesOf({ constellation, svId }: Sight) {
  const { satsInfo, bestSat, prn, stadop } = numbers[constellation.name as Name]
  return { satsInfo, bestSat, prn: svId + prn, stadop: svId + stadop }
}

export const signalsOf = ({ constellation }: Sight): readonly Um980Signal[] =>
  constellation.signals as readonly Um980Signal[]
