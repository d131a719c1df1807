/** The text of a RINEX observation file (RINEX 3.05, tables A2 and A3). */
import type { GpsTime } from 'rtk-base/gnss'
import { biasComments, biasLine, type GlonassBiases } from './glonass-biases.js'
import { calendarOf, commentLines, fixed, line, type StationFacts } from './header.js'
import { byName, commonLines, endOfHeader, intervalLines, lliOf, timeLine, value } from './observation-lines.js'
import {
  type ObservationEpoch,
  type SignalObservation,
  type SystemLetter,
  satelliteName,
  systemOrder,
} from './observations.js'
import { Rinex2 } from './old-observation-file.js'

export type RinexVersion = '3.05' | '2.11'

/** The contents of a file, found by reading its source once. */
export interface FileContents {
  /** Codes by system, each in the order of the columns. */
  readonly codes: ReadonlyMap<SystemLetter, readonly string[]>
  /** First and last epoch. */
  readonly first: Readonly<GpsTime>
  readonly last: Readonly<GpsTime>
  /** Undefined: unknown. */
  readonly interval_s: number | undefined
  /** GLONASS frequency channels by slot. */
  readonly channels: ReadonlyMap<number, number>
  /** GPS − UTC, seconds. */
  readonly leap_s: number
  /** The source guarantees that the phases of a band are aligned, as MSM does (RTCM 10403.3, §3.5.16). */
  readonly isAligned: boolean
  /** Undefined: unknown. */
  readonly glonassBiases?: GlonassBiases | undefined
  /** Comments for the header on how the receiver processes its observations. */
  readonly remarks: readonly string[]
}

/** Program and operator in the header of a RINEX file, and its date. */
export interface Origin {
  readonly program: string
  readonly by: string
  /** When the file is made. */
  readonly now_unix_s: number
}

const kinds = ['C', 'L', 'D', 'S'] as const

/** Lines and epochs of an observation file. */
export interface ObservationFormat {
  header(station: StationFacts, origin: Origin): string
  epoch(epoch: ObservationEpoch): string
  /** A comment between the epochs. */
  event(time: Readonly<GpsTime>, comment: string): string
}

export function observationFormat(version: RinexVersion, contents: FileContents): ObservationFormat {
  return version === '3.05' ? new Rinex3(contents) : new Rinex2(contents)
}

function observed(kind: (typeof kinds)[number], signal: SignalObservation | undefined): string {
  if (!signal) return value(undefined)
  if (kind === 'C') return value(signal.range_m)
  if (kind === 'L') return value(signal.phase_cycles, lliOf(signal))
  return value(kind === 'D' ? signal.doppler_hz : signal.cno_dbhz)
}

const systemsOf = ({ codes }: FileContents) => systemOrder.filter((system) => codes.has(system))

class Rinex3 implements ObservationFormat {
  readonly #contents: FileContents

  constructor(contents: FileContents) {
    this.#contents = contents
  }

  header(station: StationFacts, origin: Origin): string {
    const contents = this.#contents
    const systems = systemsOf(contents)
    const [only = 'G'] = systems
    const lines = [
      ...commonLines('3.05', systems.length === 1 ? only : 'M', station, origin),
      ...(contents.codes.has('R') ? commentLines(biasComments(contents.glonassBiases)) : []),
      ...systems.flatMap((system) => this.#typeLines(system)),
      line('DBHZ', 'SIGNAL STRENGTH UNIT'),
      ...intervalLines(contents),
      timeLine(contents.first, 'TIME OF FIRST OBS'),
      timeLine(contents.last, 'TIME OF LAST OBS'),
      ...systems.flatMap((system) => this.#shiftLines(system)),
      ...(contents.codes.has('R') ? slotLines(contents.channels) : []),
      ...(contents.codes.has('R') ? [biasLine(contents.glonassBiases)] : []),
      line(String(contents.leap_s).padStart(6), 'LEAP SECONDS'),
      endOfHeader,
    ]
    return `${lines.join('\n')}\n`
  }

  epoch(epoch: ObservationEpoch): string {
    const { satellites } = epoch
    const shown = satellites.filter(({ system }) => this.#contents.codes.has(system)).toSorted(byName)
    const rows = shown.map(({ number, signals, system }) => {
      const columns = (this.#contents.codes.get(system) ?? []).flatMap((code) => {
        const signal = signals.find((one) => one.code === code)
        return kinds.map((kind) => observed(kind, signal))
      })
      return `${satelliteName(system, number)}${columns.join('')}`.trimEnd()
    })
    return `${[this.#epochLine(epoch, 0, shown.length), ...rows].join('\n')}\n`
  }

  event(time: Readonly<GpsTime>, comment: string): string {
    const lines = commentLines([comment])
    return `${[this.#epochLine(time, 4, lines.length), ...lines].join('\n')}\n`
  }

  #epochLine(time: Readonly<GpsTime>, flag: number, count: number): string {
    const { year, month, day, hour, minute, second } = calendarOf(time)
    const date = [month, day, hour, minute].map((part) => ` ${String(part).padStart(2, '0')}`).join('')
    return `> ${year}${date}${fixed(second, 11, 7)}  ${flag}${String(count).padStart(3)}`
  }

  #typeLines(system: SystemLetter): string[] {
    const types = (this.#contents.codes.get(system) ?? []).flatMap((code) => kinds.map((kind) => ` ${kind}${code}`))
    const rows = Array.from({ length: Math.ceil(types.length / 13) }, (_, row) => types.slice(row * 13, row * 13 + 13))
    return rows.map((row, at) =>
      line(
        `${at === 0 ? `${system}  ${String(types.length).padStart(3)}` : ' '.repeat(6)}${row.join('')}`,
        'SYS / # / OBS TYPES',
      ),
    )
  }

  /**
   * No correction was applied here. MSM has aligned phases, so 0 is right (RTCM 10403.3, §3.5.16). No manual says it of RXM-RAWX, OBSVM and
   * MeasEpoch: the system alone stands for unknown (RINEX 3.05, table A2; the reference signals are in table A23).
   */
  #shiftLines(system: SystemLetter): string[] {
    if (!this.#contents.isAligned) return [line(system, 'SYS / PHASE SHIFT')]
    const codes = this.#contents.codes.get(system) ?? []
    return codes.map((code) => line(`${system} L${code}${fixed(0, 9, 5)}`, 'SYS / PHASE SHIFT'))
  }
}

function slotLines(channels: ReadonlyMap<number, number>): string[] {
  const slots = [...channels].sort(([p], [q]) => p - q)
  if (slots.length === 0) return [line('  0', 'GLONASS SLOT / FRQ #')]
  const entries = slots.map(([slot, channel]) => ` R${String(slot).padStart(2, '0')}${String(channel).padStart(3)}`)
  const rows = Array.from({ length: Math.ceil(entries.length / 8) }, (_, row) => entries.slice(row * 8, row * 8 + 8))
  return rows.map((row, at) =>
    line(`${at === 0 ? String(entries.length).padStart(3) : '   '}${row.join('')}`, 'GLONASS SLOT / FRQ #'),
  )
}
