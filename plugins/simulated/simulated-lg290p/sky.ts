/** Satellites and signals that an LG290P tracks, and how its sentences number them (recorded: masks of MSM and signals of GSV). */
import type { Constellation } from 'rtk-base/gnss'
import { type ConstellationModel, constellations, type MsmSignal, type Sight } from 'rtk-base/simulation'

interface NmeaSignal extends MsmSignal {
  /** In GSV, hexadecimal. */
  readonly gsv: string
}

const signal = (msm: number, frequency_hz: number, gsv: string): NmeaSignal => ({ msm, frequency_hz, gsv })
const b1i = signal(2, 1561.098e6, '1')
const b3i = signal(8, 1268.52e6, '8')
const signals: Partial<Record<Constellation, readonly NmeaSignal[]>> = {
  GPS: [signal(2, 1575.42e6, '1'), signal(17, 1227.6e6, '6'), signal(23, 1176.45e6, '8')],
  GLONASS: [signal(2, 1602e6, '1'), signal(8, 1246e6, '3')],
  Galileo: [
    ...[signal(2, 1575.42e6, '7'), signal(15, 1207.14e6, '2')],
    ...[signal(23, 1176.45e6, '1'), signal(8, 1278.75e6, '5')],
  ],
  /** Third generation. */
  BeiDou: [b1i, b3i, signal(31, 1575.42e6, '3'), signal(23, 1176.45e6, '5'), signal(25, 1207.14e6, '6')],
}
const secondGeneration: readonly NmeaSignal[] = [b1i, signal(14, 1207.14e6, 'B'), b3i]

const beidou = constellations.find(({ name }) => name === 'BeiDou') as ConstellationModel
/** With the second generation of BeiDou, C06 to C17: with it, its observations need two messages. */
export const sky: readonly ConstellationModel[] = [
  ...constellations.map((model) => ({ ...model, signals: signals[model.name] ?? model.signals })),
  { ...beidou, first: 6, radius_m: 42_164_000, planes: 3, perPlane: 4, signals: secondGeneration },
]

export const signalsOf = ({ constellation }: Sight): readonly NmeaSignal[] =>
  constellation.signals as readonly NmeaSignal[]

interface System {
  readonly name: Constellation
  readonly talker: string
  /** In GSA. */
  readonly id: number
  /** Offset that is added to the number of a satellite. */
  readonly add: number
  /** The signals of GSV, in its order. */
  readonly signals: readonly string[]
}

/** In the order of GSV. QZSS and NavIC have no satellites in this sky. */
export const systems: readonly System[] = [
  { name: 'GPS', talker: 'GP', id: 1, add: 0, signals: ['1', '6', '8'] },
  { name: 'GLONASS', talker: 'GL', id: 2, add: 64, signals: ['1', '3'] },
  { name: 'Galileo', talker: 'GA', id: 3, add: 0, signals: ['7', '2', '1', '5'] },
  { name: 'BeiDou', talker: 'GB', id: 4, add: 0, signals: ['1', 'B', '8', '3', '5', '6'] },
  { name: 'QZSS', talker: 'GQ', id: 5, add: 0, signals: ['1', '6', '8'] },
  { name: 'NavIC', talker: 'GI', id: 6, add: 0, signals: ['1'] },
]
