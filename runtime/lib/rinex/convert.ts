/**
 * Converts a receiver's bytes to RINEX. The bytes are read twice: once to find their contents, and once to write the
 * file.
 */
import { type GpsTime, gpsSeconds } from 'rtk-base/gnss'
import type { StationFacts } from './header.js'
import { type NavigationRecord, navigationParts } from './navigation-file.js'
import { type FileContents, type Origin, observationFormat, type RinexVersion } from './observation-file.js'
import { type ObservationEpoch, type SystemLetter, satelliteName } from './observations.js'
import {
  type ObservationSource,
  observationSources,
  RawReader,
  type RawSource,
  type Skipped,
  type SourcedEpoch,
} from './sources/raw-reader.js'

export interface RinexChoice {
  /** Only epochs at whole multiples of this interval, seconds; default: all. */
  readonly interval_s?: number | undefined
  /** Start and end of the span, `gpsSeconds`; default: everything. */
  readonly from_s?: number | undefined
  readonly to_s?: number | undefined
  /** Only these satellite systems; default: all. */
  readonly systems?: readonly SystemLetter[] | undefined
  /**
   * Events during the span, in order of time. Each becomes a comment in the header, and before the first epoch after
   * it.
   */
  readonly events?: readonly RinexEvent[] | undefined
  /** A time (`gpsSeconds`) within half a week of the first epoch, because MSM has no week number. */
  readonly near_s: number
}

/** An event during the recorded span. */
export interface RinexEvent {
  /** `gpsSeconds`. */
  readonly time_s: number
  readonly text: string
}

/** Contents of a span of raw bytes. */
export interface RawSummary {
  readonly contents: FileContents
  readonly epochs: number
  /** Epochs that are missing between the first and the last one. */
  readonly missing: number
  /** Number of phases that were interrupted (loss of lock). */
  readonly slips: number
  readonly satellites: readonly string[]
  readonly source: ObservationSource
  readonly navigation: readonly NavigationRecord[]
  readonly skipped: Skipped
}

/** The files for a source that was read. */
export interface RinexOutput extends RawSummary {
  /** The observation file, in pieces. */
  observations(version: RinexVersion, station: StationFacts, origin: Origin): AsyncGenerator<string>
  /** The navigation file, in pieces or as a whole. */
  navigationParts(origin: Origin): Iterable<string>
  navigationFile(origin: Origin): string
}

/** In the header; all of them stand between the epochs. */
const mostComments = 20
/** Receivers' clocks are within a millisecond or so of the second; RTCM is on it. */
const onTime_s = 0.02

/**
 * Reads the source. Only one kind of observation message is used, so that no epoch is written twice: the receiver's
 * own (UBX-RXM-RAWX, Unicore OBSVM or Septentrio MeasEpoch), unless MSM4-7 has more than twice as many epochs.
 * @returns undefined if the source has no observations
 */
export async function readRaw(source: RawSource, choice: RinexChoice): Promise<RinexOutput | undefined> {
  const survey = new Survey(choice)
  const reader = new RawReader(choice.near_s, survey.channels, 1)
  for await (const epoch of reader.epochs(source)) survey.take(epoch)
  const summary = survey.summary(reader)
  if (!summary) return undefined
  return {
    ...summary,
    async *observations(version, station, origin) {
      const format = observationFormat(version, summary.contents)
      const events = [...(choice.events ?? [])]
      const remarks = [...(station.comments ?? []), ...summary.contents.remarks]
      const comments = [...remarks, ...events.slice(0, mostComments).map(({ text }) => text)]
      yield format.header({ ...station, comments }, origin)
      const thinner = new Thinner(choice)
      const again = new RawReader(choice.near_s, survey.channels, reader.rateSign, summary.source)
      for await (const { epoch } of again.epochs(source)) {
        const written = thinner.take(epoch)
        if (!written) continue
        while (events[0] && events[0].time_s <= gpsSeconds(epoch)) yield format.event(epoch, events.shift()?.text ?? '')
        yield format.epoch(written)
      }
    },
    navigationParts: (origin) => navigationParts(summary.navigation, origin, summary.contents.leap_s),
    navigationFile: (origin) => [...navigationParts(summary.navigation, origin, summary.contents.leap_s)].join(''),
  }
}

/** Chooses epochs and systems. A phase that broke in an epoch that is left out is broken in the next that is not. */
class Thinner {
  readonly #choice: RinexChoice
  readonly #broken = new Set<string>()
  /** The time of the last epoch that was chosen; at first, of the first one. */
  #chosen_s: number | undefined
  #hasWhole = false

  constructor(choice: RinexChoice) {
    this.#choice = choice
  }

  /** At whole multiples of the interval; and of a receiver that does not observe at them, as often. */
  #isChosen(epoch: ObservationEpoch): boolean {
    const { from_s = Number.NEGATIVE_INFINITY, interval_s, to_s = Number.POSITIVE_INFINITY } = this.#choice
    const time_s = gpsSeconds(epoch)
    if (time_s < from_s - onTime_s || time_s >= to_s - onTime_s) return false
    if (interval_s === undefined) return true
    const isWhole = Math.abs(time_s - Math.round(time_s / interval_s) * interval_s) < onTime_s
    this.#hasWhole ||= isWhole
    const isLate = !this.#hasWhole && this.#chosen_s !== undefined && time_s - this.#chosen_s > interval_s - onTime_s
    if (isWhole || isLate || this.#chosen_s === undefined) this.#chosen_s = time_s
    return isWhole || isLate
  }

  /** Undefined: nothing of it is chosen. */
  take(epoch: ObservationEpoch): ObservationEpoch | undefined {
    const { systems } = this.#choice
    const satellites = systems ? epoch.satellites.filter(({ system }) => systems.includes(system)) : epoch.satellites
    if (this.#isChosen(epoch)) return satellites.length === 0 ? undefined : this.#marked({ ...epoch, satellites })
    for (const { number, signals, system } of satellites) {
      for (const { code, isBroken } of signals) if (isBroken) this.#broken.add(`${system}${number}${code}`)
    }
    return undefined
  }

  #marked(epoch: ObservationEpoch): ObservationEpoch {
    if (this.#broken.size === 0) return epoch
    const satellites = epoch.satellites.map(({ number, signals, system }) => ({
      ...{ number, system },
      signals: signals.map((signal) => {
        const isCarried = signal.phase_cycles !== undefined && this.#broken.delete(`${system}${number}${signal.code}`)
        return isCarried ? { ...signal, isBroken: true } : signal
      }),
    }))
    return { ...epoch, satellites }
  }
}

/** The first reading: everything that the header must say before the first epoch. */
class Survey {
  readonly channels = new Map<number, number>()
  readonly #found: ReadonlyMap<ObservationSource, Found>

  constructor(choice: RinexChoice) {
    this.#found = new Map(observationSources.map((source) => [source, new Found(choice)]))
  }

  take({ epoch, source }: SourcedEpoch): void {
    for (const [slot, channel] of epoch.channels) this.channels.set(slot, channel)
    const found = this.#found.get(source)
    const written = found?.thinner.take(epoch)
    if (written) found?.take(written)
  }

  summary(reader: RawReader): RawSummary | undefined {
    const { leap_s, navigation, skipped } = reader
    const most = Math.max(...[...this.#found.values()].map(({ epochs }) => epochs))
    const [chosen] = [...this.#found].filter(([, { epochs }]) => epochs > 0 && epochs * 2 >= most)
    if (!chosen) return undefined
    const [source, found] = chosen
    const { codes, epochs, first, interval_s, last, satellites, slips } = found
    const slots = [...this.channels].filter(([slot]) => satellites.has(satelliteName('R', slot)))
    const span_s = gpsSeconds(last) - gpsSeconds(first)
    return {
      contents: {
        codes: new Map([...codes].map(([system, set]) => [system, [...set].sort()])),
        ...{ first, last, interval_s, leap_s, isAligned: source === 'MSM', channels: new Map(slots) },
        ...(source === 'MSM' && { glonassBiases: reader.glonassBiases }),
        remarks: reader.remarks(source),
      },
      ...{ epochs, slips, source, skipped },
      missing: interval_s === undefined ? 0 : Math.max(0, Math.round(span_s / interval_s) + 1 - epochs),
      satellites: [...satellites].sort(),
      navigation: [...navigation.values()],
    }
  }
}

class Found {
  readonly thinner: Thinner
  readonly codes = new Map<SystemLetter, Set<string>>()
  readonly satellites = new Set<string>()
  epochs = 0
  slips = 0
  first: Readonly<GpsTime> = { week: 0, tow_s: 0 }
  last: Readonly<GpsTime> = this.first
  /** How often each interval occurs, in whole milliseconds. */
  readonly #intervals = new Map<number, number>()

  constructor(choice: RinexChoice) {
    this.thinner = new Thinner(choice)
  }

  take({ satellites, tow_s, week }: ObservationEpoch): void {
    const time = { week, tow_s }
    if (this.epochs === 0) this.first = time
    else this.#count(Math.round((gpsSeconds(time) - gpsSeconds(this.last)) * 1000))
    this.last = time
    this.epochs++
    for (const { number, signals, system } of satellites) {
      this.satellites.add(satelliteName(system, number))
      const codes = this.codes.get(system) ?? new Set()
      this.codes.set(system, codes)
      for (const { code, isBroken } of signals) {
        codes.add(code)
        if (isBroken) this.slips++
      }
    }
  }

  /** The most frequent one. */
  get interval_s(): number | undefined {
    const [most] = [...this.#intervals].sort(([, p], [, q]) => q - p)
    return most && most[0] > 0 ? most[0] / 1000 : undefined
  }

  #count(interval_ms: number): void {
    // A receiver's clock drifts: intervals of a second differ by microseconds, those of a jump by a millisecond.
    const rounded = Math.round(interval_ms / 10) * 10
    if (this.#intervals.size < 1000 || this.#intervals.has(rounded))
      this.#intervals.set(rounded, (this.#intervals.get(rounded) ?? 0) + 1)
  }
}
