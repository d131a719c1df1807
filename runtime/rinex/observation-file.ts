/** The text of a RINEX observation file (RINEX 3.05, table A2 and A3; 2.11, tables A1 and A2). */
import type { GpsTime } from 'rtk-base/gnss'
import { calendarOf, commentLines, field, fixed, line, programLine, type StationFacts } from './header.js'
import {
  type ObservationEpoch,
  type SatelliteObservations,
  type SignalObservation,
  type SystemLetter,
  satelliteName,
} from './observations.js'

export type RinexVersion = '3.05' | '2.11'

/** The contents of a file, found by reading its source once. */
export interface FileContents {
  /** Codes by system, each in the order of the columns. */
  readonly codes: ReadonlyMap<SystemLetter, readonly string[]>
  readonly first: Readonly<GpsTime>
  readonly last: Readonly<GpsTime>
  readonly interval_s: number | undefined
  readonly channels: ReadonlyMap<number, number>
  readonly leap_s: number
  /** The source guarantees that the phases of a band are aligned, as MSM does (RTCM 10403.3, §3.5.16). */
  readonly isAligned: boolean
}

export interface Origin {
  readonly program: string
  readonly by: string
  /** When the file is made. */
  readonly now_unix_s: number
}

const order: readonly SystemLetter[] = ['G', 'R', 'E', 'C', 'J', 'S', 'I']
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

/** `  20123456.789 7`: F14.3, loss-of-lock indicator, blank signal strength. */
function value(number: number | undefined, lli = 0): string {
  const text = number === undefined || !(Math.abs(number) < 1e10) ? '' : fixed(number, 14, 3)
  if (text.length !== 14) return ' '.repeat(16)
  return `${text}${lli === 0 ? ' ' : lli} `
}

const lliOf = ({ isBroken, isHalf }: SignalObservation) => (isBroken ? 1 : 0) + (isHalf ? 2 : 0)

function observed(kind: (typeof kinds)[number], signal: SignalObservation | undefined): string {
  if (!signal) return value(undefined)
  if (kind === 'C') return value(signal.range_m)
  if (kind === 'L') return value(signal.phase_cycles, lliOf(signal))
  return value(kind === 'D' ? signal.doppler_hz : signal.cno_dbhz)
}

const endOfHeader = line('', 'END OF HEADER')

/** The lines that both versions share, before the list of observations. */
function commonLines(version: RinexVersion, system: string, station: StationFacts, origin: Origin): string[] {
  const { antenna, delta_m, position, receiver } = station
  const { x, y, z } = position ?? { x: 0, y: 0, z: 0 }
  return [
    line(`${version.padStart(9)}${' '.repeat(11)}${'OBSERVATION DATA'.padEnd(20)}${system}`, 'RINEX VERSION / TYPE'),
    programLine(origin.program, origin.by, origin.now_unix_s),
    ...commentLines(station.comments ?? []),
    line(field(station.marker, 60), 'MARKER NAME'),
    ...(station.markerNumber ? [line(field(station.markerNumber, 20), 'MARKER NUMBER')] : []),
    ...(version === '3.05' ? [line('GEODETIC', 'MARKER TYPE')] : []),
    line(`${field(station.observer, 20)}${field(station.agency, 40)}`, 'OBSERVER / AGENCY'),
    line(
      `${field(receiver.serial, 20)}${field(receiver.type, 20)}${field(receiver.firmware, 20)}`,
      'REC # / TYPE / VERS',
    ),
    line(`${field(antenna.serial, 20)}${field(antenna.type, 20)}`, 'ANT # / TYPE'),
    line([x, y, z].map((part) => fixed(part, 14, 4)).join(''), 'APPROX POSITION XYZ'),
    line([delta_m.up, delta_m.east, delta_m.north].map((part) => fixed(part, 14, 4)).join(''), 'ANTENNA: DELTA H/E/N'),
  ]
}

function timeLine(time: Readonly<GpsTime>, label: string): string {
  const { year, month, day, hour, minute, second } = calendarOf(time)
  const date = [year, month, day, hour, minute].map((part) => String(part).padStart(6)).join('')
  return line(`${date}${fixed(second, 13, 7)}     GPS`, label)
}

const systemsOf = ({ codes }: FileContents) => order.filter((system) => codes.has(system))

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
      ...systems.flatMap((system) => this.#typeLines(system)),
      line('DBHZ', 'SIGNAL STRENGTH UNIT'),
      ...(contents.interval_s === undefined ? [] : [line(fixed(contents.interval_s, 10, 3), 'INTERVAL')]),
      timeLine(contents.first, 'TIME OF FIRST OBS'),
      timeLine(contents.last, 'TIME OF LAST OBS'),
      ...systems.flatMap((system) => this.#shiftLines(system)),
      ...(contents.codes.has('R') ? slotLines(contents.channels) : []),
      // Blank: not known.
      ...(contents.codes.has('R') ? [line('', 'GLONASS COD/PHS/BIS')] : []),
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

  /** Blank behind the system: it is not known whether the phases are aligned. */
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

const byName = (p: SatelliteObservations, q: SatelliteObservations) =>
  order.indexOf(p.system) - order.indexOf(q.system) || p.number - q.number

/** Observations of 2.11 and the codes that they are of, the best first. It has no BeiDou, and no attribute but P for P(Y). */
const oldTypes: readonly (readonly [
  type: string,
  codes: Readonly<Partial<Record<SystemLetter, readonly string[]>>>,
])[] = [
  ['1', { G: ['1C', '1L', '1X'], R: ['1C'], E: ['1C', '1X', '1B'], S: ['1C'] }],
  ['2', { G: ['2L', '2X', '2S', '2C', '2W', '2P'], R: ['2C', '2P'] }],
  ['5', { G: ['5Q', '5X', '5I'], E: ['5Q', '5X', '5I'], S: ['5I'] }],
  ['7', { E: ['7Q', '7X', '7I'] }],
]

class Rinex2 implements ObservationFormat {
  readonly #contents: FileContents
  /** Bands that occur, e.g. 1, 2 and 7. */
  readonly #bands: readonly string[]
  readonly #types: readonly string[]

  constructor(contents: FileContents) {
    this.#contents = contents
    this.#bands = oldTypes
      .filter(([, codes]) => systemsOf(contents).some((system) => this.#codeIn(contents, system, codes[system] ?? [])))
      .map(([band]) => band)
    this.#types = this.#bands.flatMap((band) => [
      `${this.#isP(band) ? 'P' : 'C'}${band}`,
      `L${band}`,
      `D${band}`,
      `S${band}`,
    ])
  }

  header(station: StationFacts, origin: Origin): string {
    const contents = this.#contents
    const systems = systemsOf(contents).filter((system) => system in (oldTypes[0]?.[1] ?? {}))
    const [only = 'G'] = systems
    const rows = Array.from({ length: Math.ceil(this.#types.length / 9) }, (_, row) =>
      this.#types.slice(row * 9, row * 9 + 9),
    )
    const lines = [
      ...commonLines('2.11', systems.length === 1 ? only : 'M', station, origin),
      line('     1     1', 'WAVELENGTH FACT L1/2'),
      ...rows.map((row, at) =>
        line(
          `${at === 0 ? String(this.#types.length).padStart(6) : ' '.repeat(6)}${row.map((type) => `    ${type}`).join('')}`,
          '# / TYPES OF OBSERV',
        ),
      ),
      ...(contents.interval_s === undefined ? [] : [line(fixed(contents.interval_s, 10, 3), 'INTERVAL')]),
      timeLine(contents.first, 'TIME OF FIRST OBS'),
      timeLine(contents.last, 'TIME OF LAST OBS'),
      line(String(contents.leap_s).padStart(6), 'LEAP SECONDS'),
      endOfHeader,
    ]
    return `${lines.join('\n')}\n`
  }

  epoch(epoch: ObservationEpoch): string {
    const shown = epoch.satellites
      .map((satellite) => ({ satellite, signals: this.#bands.map((band) => this.#signal(satellite, band)) }))
      .filter(({ signals }) => signals.some((signal) => signal !== undefined))
      .sort((p, q) => byName(p.satellite, q.satellite))
    const names = shown.map(({ satellite: { system, number } }) => satelliteName(system, number))
    const rows = shown.flatMap(({ signals }) => {
      const columns = signals.flatMap((signal) => kinds.map((kind) => observed(kind, signal)))
      return Array.from({ length: Math.ceil(columns.length / 5) }, (_, row) =>
        columns
          .slice(row * 5, row * 5 + 5)
          .join('')
          .trimEnd(),
      )
    })
    return `${[...this.#epochLines(epoch, 0, names), ...rows].join('\n')}\n`
  }

  event(time: Readonly<GpsTime>, comment: string): string {
    const lines = commentLines([comment])
    const head = `${this.#date(time)}  4${String(lines.length).padStart(3)}`
    return `${[head, ...lines].join('\n')}\n`
  }

  #epochLines(time: Readonly<GpsTime>, flag: number, names: readonly string[]): string[] {
    const head = `${this.#date(time)}  ${flag}${String(names.length).padStart(3)}`
    const rows = Array.from({ length: Math.max(1, Math.ceil(names.length / 12)) }, (_, row) =>
      names.slice(row * 12, row * 12 + 12),
    )
    return rows.map((row, at) => `${at === 0 ? head : ' '.repeat(32)}${row.join('')}`)
  }

  #date(time: Readonly<GpsTime>): string {
    const { year, month, day, hour, minute, second } = calendarOf(time)
    const parts = [year % 100, month, day, hour, minute]
    return `${parts.map((part, at) => ` ${at === 0 ? String(part).padStart(2, '0') : String(part).padStart(2)}`).join('')}${fixed(second, 11, 7)}`
  }

  /** The best signal of a band that the satellite has. */
  #signal({ signals, system }: SatelliteObservations, band: string): SignalObservation | undefined {
    const codes = oldTypes.find(([name]) => name === band)?.[1][system] ?? []
    for (const code of codes) {
      const found = signals.find((signal) => signal.code === code)
      if (found) return found
    }
    return undefined
  }

  #codeIn({ codes }: FileContents, system: SystemLetter, wanted: readonly string[]): boolean {
    return wanted.some((code) => codes.get(system)?.includes(code))
  }

  /** Whether all that GPS has in the band is tracked with help of the encrypted code. */
  #isP(band: string): boolean {
    const ofBand = (this.#contents.codes.get('G') ?? []).filter(([first]) => first === band)
    return ofBand.length > 0 && ofBand.every((code) => code.endsWith('W') || code.endsWith('P'))
  }
}
