/** The figures of the day that plots need. Pure. */
import { type Fitness, fitnesses, valueAt } from 'rtk-base/schemas'
import type { Reception, SatelliteEpoch } from 'rtk-base/services'
import type { Json } from '../../../../runtime/lib/page/ui/station/document.js'
import { roversOf } from '../../../../runtime/lib/page/ui/station/links.js'
import type { Figure } from './ring.js'

/** Input of the series: safety from the services, the rest from the document. Undefined: unknown. */
export interface Evidence {
  readonly fitness: Fitness | undefined
  readonly reception: Pick<Reception, 'satellitesUsed' | 'satellitesVisible' | 'slips'> | undefined
  /** The receiver is connected. */
  readonly isUp: boolean
  /** The satellites of the newest epoch. */
  readonly satellites: SatelliteEpoch | undefined
  readonly document: Record<string, unknown>
  /** RTCM bytes and epochs that went out since the sample before, and its length. */
  readonly rtcm: { bytes: number; epochs: number; elapsed_s: number }
}

type Read = (evidence: Evidence) => number | undefined

const fromWorst: readonly Fitness[] = [...fitnesses].reverse()
const L1 = /^(L1|E1|B1I|B1C)$/

/** Mean of the signals in use, of one band group. */
const cno =
  (isBand: (signal: string) => boolean): Read =>
  ({ satellites }) => {
    const all = (satellites?.satellites ?? []).flatMap(({ signals }) =>
      signals.filter(({ signal, used }) => used && isBand(signal)).map(({ cno_dbhz }) => cno_dbhz),
    )
    return all.length === 0 ? undefined : all.reduce((sum, one) => sum + one, 0) / all.length
  }

const field =
  (path: string): Read =>
  ({ document }) => {
    const value = valueAt(document, path)
    return typeof value === 'number' ? value : undefined
  }

/** For a signal strength and the distance to the reference, 0 means unknown. */
const unless0 =
  (read: Read): Read =>
  (evidence) =>
    read(evidence) || undefined

const listAt = <T>(document: unknown, path: string) => (valueAt(document, path) ?? []) as readonly T[]

const table: readonly (Figure & { read: Read })[] = [
  {
    name: 'fitness',
    unit: '',
    resolution: 1,
    read: ({ fitness }) => (fitness === undefined ? undefined : fromWorst.indexOf(fitness)),
  },
  { name: 'satellites-used', unit: '', resolution: 1, read: ({ reception }) => reception?.satellitesUsed },
  { name: 'satellites-seen', unit: '', resolution: 1, read: ({ reception }) => reception?.satellitesVisible },
  { name: 'cno-l1', unit: 'dB-Hz', resolution: 0.1, read: cno((signal) => L1.test(signal)) },
  { name: 'cno-l2', unit: 'dB-Hz', resolution: 0.1, read: cno((signal) => !L1.test(signal)) },
  {
    name: 'interference',
    unit: '',
    resolution: 1,
    read: ({ document }) =>
      highest(
        listAt<{ indicator?: number }>(document, 'gnss.state.rf.bands').flatMap(({ indicator }) => indicator ?? []),
      ),
  },
  {
    name: 'slips',
    unit: '%',
    resolution: 0.1,
    // Of nothing that is received nothing slips.
    read: ({ reception }) => (reception?.satellitesVisible ? scaled(reception.slips, 100) : undefined),
  },
  {
    name: 'sway',
    unit: 'mm',
    resolution: 0.1,
    read: (all) =>
      all.isUp && field('gnss.state.motion.satellites')(all) !== 0
        ? scaled(field('gnss.state.motion.sway')(all), 1_000)
        : undefined,
  },
  { name: 'distance', unit: 'm', resolution: 0.001, read: unless0(field('gnss.pos.delta')) },
  {
    name: 'rtcm-rate',
    unit: 'B/s',
    resolution: 1,
    read: ({ rtcm: { bytes, elapsed_s } }) => (elapsed_s > 0 ? bytes / elapsed_s : undefined),
  },
  {
    name: 'epochs',
    unit: '1/s',
    resolution: 0.01,
    read: ({ rtcm: { epochs, elapsed_s } }) => (elapsed_s > 0 ? epochs / elapsed_s : undefined),
  },
  { name: 'rovers', unit: '', resolution: 1, read: ({ document }) => roversIn(document) },
  { name: 'mobile-rssi', unit: 'dBm', resolution: 1, read: unless0(field('modem.state.rssi')) },
  { name: 'mobile-rsrp', unit: 'dBm', resolution: 1, read: field('modem.state.rsrp') },
  { name: 'mobile-rsrq', unit: 'dB', resolution: 1, read: field('modem.state.rsrq') },
  { name: 'mobile-sinr', unit: 'dB', resolution: 1, read: field('modem.state.sinr') },
  { name: 'wifi-rssi', unit: 'dBm', resolution: 1, read: unless0(field('sta.rssi')) },
]

const highest = (values: readonly number[]) => (values.length === 0 ? undefined : Math.max(...values))
const scaled = (value: number | undefined, factor: number) => (value === undefined ? undefined : value * factor)

function roversIn(document: unknown): number | undefined {
  return Array.isArray(valueAt(document, 'gnss.rtcm.subscribers')) ? roversOf(document as Json).length : undefined
}

export const figures: readonly Figure[] = table.map(({ name, unit, resolution }) => ({ name, unit, resolution }))
export const readFigures = (evidence: Evidence): (number | undefined)[] => table.map(({ read }) => read(evidence))
