/** Satellites and signals that a mosaic-G5 tracks (recorded: masks of MSM), and how its blocks number them. */
import type { Constellation } from 'rtk-base/gnss'
import { type ConstellationModel, constellations, type MsmSignal, type Sight } from 'rtk-base/simulation'

interface SbfSignal extends MsmSignal {
  /** Signal type of SBF. */
  readonly type: number
}

const signal = (msm: number, frequency_hz: number, type: number): SbfSignal => ({ msm, frequency_hz, type })
/** The C/N0 of GPS P(Y) has no offset. */
export const gpsP2 = 2
const b1i = signal(2, 1561.098e6, 28)
const b3i = signal(8, 1268.52e6, 30)
const signals: Partial<Record<Constellation, readonly SbfSignal[]>> = {
  GPS: [signal(2, 1575.42e6, 0), signal(10, 1227.6e6, gpsP2)],
  GLONASS: [signal(2, 1602e6, 8), signal(8, 1246e6, 11)],
  Galileo: [signal(2, 1575.42e6, 17), signal(15, 1207.14e6, 21), signal(23, 1176.45e6, 20)],
  /** Third generation. */
  BeiDou: [b1i, b3i],
}
const secondGeneration: readonly SbfSignal[] = [b1i, b3i, signal(14, 1207.14e6, 29)]

const beidou = constellations.find(({ name }) => name === 'BeiDou') as ConstellationModel
/** With the second generation of BeiDou, C06 to C17. */
export const sky: readonly ConstellationModel[] = [
  ...constellations.map((model) => ({ ...model, signals: signals[model.name] ?? model.signals })),
  { ...beidou, first: 6, radius_m: 42_164_000, planes: 3, perPlane: 4, signals: secondGeneration },
]

export const signalsOf = ({ constellation }: Sight): readonly SbfSignal[] =>
  constellation.signals as readonly SbfSignal[]

const firsts: Partial<Record<Constellation, number>> = { GPS: 0, GLONASS: 37, Galileo: 70, BeiDou: 140 }
export const svIdOf = ({ constellation, svId }: Sight): number => svId + (firsts[constellation.name] ?? 0)

/** As commands name them. */
export const systemNames: Readonly<Partial<Record<Constellation, string>>> = {
  ...{ GPS: 'GPS', GLONASS: 'GLONASS', Galileo: 'GALILEO', BeiDou: 'BEIDOU', QZSS: 'QZSS' },
}
