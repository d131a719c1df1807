/** From a receiver's bytes to RINEX: read once to know what is in them, and once more to write it. */
import { Framer, type GpsTime, gpsSeconds, knownLeap_s, MsmEpochs, SubframeAssembler } from 'rtk-base/gnss'
import type { StationFacts } from './header.js'
import { MsmObservations } from './msm-observations.js'
import { type NavigationRecord, navigationParts, navigationRecord, recordId } from './navigation-file.js'
import { type FileContents, type Origin, observationFormat, type RinexVersion } from './observation-file.js'
import { type ObservationEpoch, type SystemLetter, satelliteName } from './observations.js'
import { RawxObservations } from './rawx-observations.js'

/** The bytes of a span of time, as often as they are asked for. */
export type RawSource = () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export interface RinexChoice {
  /** Only epochs at whole multiples of it, seconds. */
  readonly interval_s?: number | undefined
  /** From … to, `gpsSeconds`; without: all. */
  readonly from_s?: number | undefined
  readonly to_s?: number | undefined
  /** Only these systems. */
  readonly systems?: readonly SystemLetter[] | undefined
  /** What happened in the time, in order: each is a comment of the header, and stands before the first epoch behind it. */
  readonly events?: readonly RinexEvent[] | undefined
  /** `gpsSeconds` within half a week of the first epoch: MSM has no week. */
  readonly near_s: number
}

export interface RinexEvent {
  /** `gpsSeconds`. */
  readonly time_s: number
  readonly text: string
}

/** What a span of raw bytes contains. */
export interface RawSummary {
  readonly contents: FileContents
  readonly epochs: number
  /** Epochs that are missing between the first and the last one. */
  readonly missing: number
  /** Breaks of phases. */
  readonly slips: number
  readonly satellites: readonly string[]
  readonly source: 'RAWX' | 'MSM'
  readonly navigation: readonly NavigationRecord[]
}

export interface RinexOutput extends RawSummary {
  /** The observation file, in pieces. */
  observations(version: RinexVersion, station: StationFacts, origin: Origin): AsyncGenerator<string>
  /** The navigation file, in pieces, and as a whole. */
  navigationParts(origin: Origin): Iterable<string>
  navigationFile(origin: Origin): string
}

/** Ephemerides further away are of another time: the clock of the source was wrong. */
const twoDays_s = 172_800
/** In the header; all of them stand between the epochs. */
const mostComments = 20
/** More than all satellites send in a day of half-hourly changes. */
const mostRecords = 16_384
/** Receivers' clocks are within a millisecond or so of the second; RTCM is on it. */
const onTime_s = 0.02
/** A receiver that repeats itself, or a file that overlaps the one before. */
const overlap_s = 3_600

/**
 * Reads the source. RXM-RAWX is used where it is, else MSM4-7.
 * @returns undefined if there is no observation in it
 */
export async function readRaw(source: RawSource, choice: RinexChoice): Promise<RinexOutput | undefined> {
  const survey = new Survey(choice)
  const reader = new RawReader(choice, survey.channels, 1)
  for await (const epoch of reader.epochs(source)) survey.take(epoch)
  const summary = survey.summary(reader)
  if (!summary) return undefined
  return {
    ...summary,
    async *observations(version, station, origin) {
      const format = observationFormat(version, summary.contents)
      const events = [...(choice.events ?? [])]
      const comments = [...(station.comments ?? []), ...events.slice(0, mostComments).map(({ text }) => text)]
      yield format.header({ ...station, comments }, origin)
      const thinner = new Thinner(choice)
      const again = new RawReader(choice, survey.channels, reader.rateSign, summary.source)
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
  /** Of the last epoch that was chosen; at first, of the first one. */
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

interface SourcedEpoch {
  readonly source: 'RAWX' | 'MSM'
  readonly epoch: ObservationEpoch
}

/** Bytes → epochs, in order, and everything beside them. */
class RawReader {
  readonly navigation = new Map<string, NavigationRecord>()
  leap_s = knownLeap_s
  readonly #wanted: 'RAWX' | 'MSM' | undefined
  readonly #rawx = new RawxObservations()
  readonly #msm: MsmObservations
  readonly #epochs = new MsmEpochs(() => this.leap_s)
  readonly #pages = new SubframeAssembler()
  readonly #channels: Map<number, number>
  readonly #rates = new RateSign()
  #near_s: number
  readonly #last = { RAWX: Number.NEGATIVE_INFINITY, MSM: Number.NEGATIVE_INFINITY }

  constructor(choice: RinexChoice, channels: Map<number, number>, rateSign: 1 | -1, wanted?: 'RAWX' | 'MSM') {
    this.#near_s = choice.near_s
    this.#channels = channels
    this.#msm = new MsmObservations(channels, rateSign)
    this.#wanted = wanted
  }

  get rateSign(): 1 | -1 {
    return this.#rates.sign
  }

  async *epochs(source: RawSource): AsyncGenerator<SourcedEpoch> {
    let found: SourcedEpoch[] = []
    const framer = new Framer({
      onFrame: (frame) => {
        if (frame.kind === 'ubx') this.#ubx(frame.bytes, found)
        else if (frame.kind === 'rtcm') this.#rtcm(frame.bytes, found)
      },
    })
    for await (const bytes of source()) {
      framer.push(bytes, 0)
      yield* found
      found = []
    }
    framer.flush()
    yield* found
  }

  #ubx(frame: Uint8Array, found: SourcedEpoch[]): void {
    const epoch = this.#wanted === 'MSM' ? undefined : this.#rawx.epoch(frame)
    if (epoch && this.#isLater('RAWX', epoch)) {
      this.#near_s = gpsSeconds(epoch)
      found.push({ source: 'RAWX', epoch })
    }
    const message = this.#pages.push(frame, this.#near_s)
    if (message) this.#navigation(message)
  }

  #rtcm(frame: Uint8Array, found: SourcedEpoch[]): void {
    this.#navigation(frame)
    if (this.#wanted === 'RAWX') return
    for (const complete of this.#epochs.push(frame)) {
      const epoch = this.#msm.epoch(complete, this.#near_s)
      if (!this.#isLater('MSM', epoch)) continue
      this.#near_s = gpsSeconds(epoch)
      this.#rates.take(epoch)
      found.push({ source: 'MSM', epoch })
    }
  }

  /** Each time is written once, in order. */
  #isLater(source: 'RAWX' | 'MSM', epoch: ObservationEpoch): boolean {
    const behind_s = this.#last[source] - gpsSeconds(epoch)
    if (behind_s >= 0 && behind_s < overlap_s) return false
    this.#last[source] = gpsSeconds(epoch)
    return true
  }

  #navigation(frame: Uint8Array): void {
    const record = navigationRecord(frame, this.#near_s, this.leap_s)
    if (!record) return
    const { ephemeris } = record
    if (ephemeris.constellation === 'GLONASS') this.#channels.set(ephemeris.satellite, ephemeris.channel)
    const isWanted = Math.abs(ephemeris.toe_s - this.#near_s) < twoDays_s
    if (isWanted && this.navigation.size < mostRecords) this.navigation.set(recordId(record), record)
  }
}

/** Whether the rates of a receiver have the sign of the range, as RTCM has it, or that of the Doppler: by its own phases. */
class RateSign {
  readonly #before = new Map<string, { readonly time_s: number; readonly phase: number }>()
  #sum = 0

  get sign(): 1 | -1 {
    return this.#sum < 0 ? -1 : 1
  }

  /** @param epoch made with the sign of RTCM */
  take(epoch: ObservationEpoch): void {
    const time_s = gpsSeconds(epoch)
    for (const { number, signals, system } of epoch.satellites) {
      for (const { code, doppler_hz, isBroken, phase_cycles } of signals) {
        if (phase_cycles === undefined || doppler_hz === undefined) continue
        const id = `${system}${number}${code}`
        const before = this.#before.get(id)
        this.#before.set(id, { time_s, phase: phase_cycles })
        const elapsed_s = time_s - (before?.time_s ?? time_s)
        if (!before || isBroken || elapsed_s <= 0 || elapsed_s > 31) continue
        this.#sum += Math.sign(-(phase_cycles - before.phase) * doppler_hz)
      }
    }
  }
}

/** The first reading: everything that the header must say before the first epoch. */
class Survey {
  readonly channels = new Map<number, number>()
  readonly #found: Readonly<Record<SourcedEpoch['source'], Found>>

  constructor(choice: RinexChoice) {
    this.#found = { RAWX: new Found(choice), MSM: new Found(choice) }
  }

  take({ epoch, source }: SourcedEpoch): void {
    for (const [slot, channel] of epoch.channels) this.channels.set(slot, channel)
    const written = this.#found[source].thinner.take(epoch)
    if (written) this.#found[source].take(written)
  }

  summary({ leap_s, navigation }: RawReader): RawSummary | undefined {
    const source = this.#found.RAWX.epochs > 0 ? 'RAWX' : 'MSM'
    const found = this.#found[source]
    if (found.epochs === 0) return undefined
    const { codes, epochs, first, interval_s, last, satellites, slips } = found
    const slots = [...this.channels].filter(([slot]) => satellites.has(satelliteName('R', slot)))
    const span_s = gpsSeconds(last) - gpsSeconds(first)
    return {
      contents: {
        codes: new Map([...codes].map(([system, set]) => [system, [...set].sort()])),
        ...{ first, last, interval_s, leap_s, isAligned: source === 'MSM', channels: new Map(slots) },
      },
      ...{ epochs, slips, source },
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
