/** The text of a RINEX 2.11 observation file (RINEX 2.11, tables A1 and A2). */
import type { GpsTime } from 'rtk-base/gnss'
import type { StationFacts } from './header.js'
import { calendarOf, commentLines, fixed, line } from './header.js'
import type { FileContents, ObservationFormat, Origin } from './observation-file.js'
import { byName, commonLines, endOfHeader, intervalLines, lliOf, timeLine, value } from './observation-lines.js'
import {
  type ObservationEpoch,
  type SatelliteObservations,
  type SignalObservation,
  type SystemLetter,
  satelliteName,
  systemOrder,
} from './observations.js'

type Codes = Readonly<Partial<Record<SystemLetter, readonly string[]>>>

/**
 * A frequency: codes of the observation C (without help of the encrypted code), and of P, each the best first. 2.11 has no attributes, and
 * no BeiDou.
 */
interface Band {
  readonly name: string
  readonly c: Codes
  readonly p: Codes
  /** Whose phase, Doppler and strength count if a satellite has both. On L2 all satellites of GPS have P, but not all have C. */
  readonly first: 'c' | 'p'
}
const bands: readonly Band[] = [
  {
    name: '1',
    c: { G: ['1C', '1L', '1X', '1S'], R: ['1C'], E: ['1C', '1X', '1B'], S: ['1C'] },
    p: { G: ['1P', '1W'], R: ['1P'] },
    first: 'c',
  },
  { name: '2', c: { G: ['2L', '2X', '2S', '2C'], R: ['2C'] }, p: { G: ['2P', '2W'], R: ['2P'] }, first: 'p' },
  { name: '5', c: { G: ['5Q', '5X', '5I'], E: ['5Q', '5X', '5I'], S: ['5I', '5Q', '5X'] }, p: {}, first: 'c' },
  { name: '7', c: { E: ['7Q', '7X', '7I'] }, p: {}, first: 'c' },
  { name: '8', c: { E: ['8Q', '8X', '8I'] }, p: {}, first: 'c' },
  { name: '6', c: { E: ['6C', '6X', '6B'] }, p: {}, first: 'c' },
]
const oldSystems: readonly SystemLetter[] = ['G', 'R', 'E', 'S']

/** The columns of a band: C, P or both, then the phase, Doppler and strength. */
interface Columns {
  readonly band: Band
  readonly hasC: boolean
  readonly hasP: boolean
}

interface Observed {
  readonly c: SignalObservation | undefined
  readonly p: SignalObservation | undefined
}

/** C1, P1, C2, P2 and the others, with the choice of phases that `convbin` of RTKLIB makes. */
export class Rinex2 implements ObservationFormat {
  readonly #contents: FileContents
  readonly #columns: readonly Columns[]
  readonly #types: readonly string[]

  constructor(contents: FileContents) {
    this.#contents = contents
    const occurs = (codes: Codes) =>
      oldSystems.some((system) => codes[system]?.some((code) => contents.codes.get(system)?.includes(code)))
    this.#columns = bands
      .map((band) => ({ band, hasC: occurs(band.c), hasP: occurs(band.p) }))
      .filter(({ hasC, hasP }) => hasC || hasP)
    this.#types = this.#columns.flatMap(({ band: { name }, hasC, hasP }) => [
      ...(hasC ? [`C${name}`] : []),
      ...(hasP ? [`P${name}`] : []),
      ...[`L${name}`, `D${name}`, `S${name}`],
    ])
  }

  header(station: StationFacts, origin: Origin): string {
    const contents = this.#contents
    const systems = systemOrder.filter((system) => contents.codes.has(system) && oldSystems.includes(system))
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
      ...intervalLines(contents),
      timeLine(contents.first, 'TIME OF FIRST OBS'),
      timeLine(contents.last, 'TIME OF LAST OBS'),
      line(String(contents.leap_s).padStart(6), 'LEAP SECONDS'),
      endOfHeader,
    ]
    return `${lines.join('\n')}\n`
  }

  epoch(epoch: ObservationEpoch): string {
    const shown = epoch.satellites
      .map((satellite) => ({ satellite, bands: this.#columns.map(({ band }) => observedIn(satellite, band)) }))
      .filter(({ bands }) => bands.some(({ c, p }) => c !== undefined || p !== undefined))
      .sort((a, b) => byName(a.satellite, b.satellite))
    const names = shown.map(({ satellite: { system, number } }) => satelliteName(system, number))
    const rows = shown.flatMap(({ bands }) => {
      const columns = bands.flatMap((observed, at) => this.#values(observed, at))
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

  #values({ c, p }: Observed, at: number): string[] {
    const columns = this.#columns[at]
    const best = columns?.band.first === 'p' ? (p ?? c) : (c ?? p)
    return [
      ...(columns?.hasC ? [value(c?.range_m)] : []),
      ...(columns?.hasP ? [value(p?.range_m)] : []),
      value(best?.phase_cycles, best && lliOf(best)),
      value(best?.doppler_hz),
      value(best?.cno_dbhz),
    ]
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
}

/** The best signals of a band that the satellite has. */
function observedIn({ signals, system }: SatelliteObservations, { c, p }: Band): Observed {
  const best = (codes: Codes) =>
    codes[system]
      ?.map((wanted) => signals.find(({ code }) => code === wanted))
      .find((signal): signal is SignalObservation => signal !== undefined)
  return { c: best(c), p: best(p) }
}
