import {
  decodeRtcm,
  Framer,
  type FramerStats,
  gpsSeconds,
  knownLeap_s,
  MsmEpochs,
  SubframeAssembler,
  sbf,
  unicoreLog,
} from 'rtk-base/gnss'
import type { GlonassBiases } from '../glonass-biases.js'
import { type NavigationRecord, navigationRecord, recordId } from '../navigation-file.js'
import type { ObservationEpoch } from '../observations.js'
import { MeasEpochObservations } from './meas-epoch-observations.js'
import { MsmObservations, RateSign } from './msm-observations.js'
import { ObsvmObservations } from './obsvm-observations.js'
import { RawxObservations } from './rawx-observations.js'

/** Returns the bytes of a span of time. Called each time the bytes are read. */
export type RawSource = () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Messages with observations, the preferred ones first: MSM rounds, and its clock may be steered where that of the others is not. */
export const observationSources = ['RAWX', 'OBSVM', 'MeasEpoch', 'MSM'] as const
/** The kind of messages that the observations come from. */
export type ObservationSource = (typeof observationSources)[number]

export interface SourcedEpoch {
  readonly source: ObservationSource
  readonly epoch: ObservationEpoch
}

/** Parts of a source that could not be used. */
export interface Skipped {
  /** Messages with a wrong checksum, including bytes that only look like the start of a message. */
  readonly checksums: number
  /** Observation messages with a correct checksum whose content contradicts their length or has no time. */
  readonly contents: number
}

/** Ephemerides further away are of another time: the clock of the source was wrong. */
const twoDays_s = 172_800
/** More than all satellites send in a day of half-hourly changes. */
const mostRecords = 16_384
/** A receiver that repeats itself, or a file that overlaps the one before. */
const overlap_s = 3_600

interface OwnMessages {
  isOwn(frame: Uint8Array): boolean
  epoch(frame: Uint8Array): ObservationEpoch | undefined
}

/**
 * Bytes → epochs, in order, and everything beside them. Ephemerides come from RTCM, and from RXM-SFRBX.
 *
 * An epoch of MSM whose last message is missing is complete with the first message of the next epoch. At the end of the source it is not
 * written, as with `convbin` of RTKLIB: the rest of it begins the next file.
 */
export class RawReader {
  readonly navigation = new Map<string, NavigationRecord>()
  leap_s = knownLeap_s
  #biases: GlonassBiases | undefined | 'contradictory'
  #contents = 0
  #badChecksum: FramerStats['badChecksum'] | undefined
  readonly #wanted: ObservationSource | undefined
  readonly #rawx = new RawxObservations()
  readonly #obsvm = new ObsvmObservations()
  readonly #measEpoch = new MeasEpochObservations()
  readonly #msm: MsmObservations
  readonly #epochs = new MsmEpochs(() => this.leap_s)
  readonly #pages = new SubframeAssembler()
  readonly #channels: Map<number, number>
  readonly #rates = new RateSign()
  #near_s: number
  readonly #last = new Map<ObservationSource, number>()

  /**
   * @param near_s `gpsSeconds` within half a week of the first epoch: MSM has no week
   * @param channels GLONASS frequency channels by slot: those of ephemerides are added
   * @param wanted only epochs of this source; without: of all
   */
  constructor(near_s: number, channels: Map<number, number>, rateSign: 1 | -1, wanted?: ObservationSource) {
    this.#near_s = near_s
    this.#channels = channels
    this.#msm = new MsmObservations(channels, rateSign)
    this.#wanted = wanted
  }

  get rateSign(): 1 | -1 {
    return this.#rates.sign
  }

  /** The biases in 1230, which is about MSM; undefined without it, or if it changed. */
  get glonassBiases(): GlonassBiases | undefined {
    return this.#biases === 'contradictory' ? undefined : this.#biases
  }

  get skipped(): Skipped {
    const { nmea = 0, other = 0, rtcm = 0, ubx = 0 } = this.#badChecksum ?? {}
    return { checksums: nmea + other + rtcm + ubx, contents: this.#contents }
  }

  /** Comments on the observations of a source. */
  remarks(source: ObservationSource): readonly string[] {
    return source === 'MeasEpoch' ? [...this.#measEpoch.remarks] : []
  }

  async *epochs(source: RawSource): AsyncGenerator<SourcedEpoch> {
    let found: SourcedEpoch[] = []
    const framer = new Framer({
      framings: [sbf, unicoreLog],
      onFrame: (frame) => {
        if (frame.kind === 'ubx') this.#ubx(frame.bytes, found)
        else if (frame.kind === 'rtcm') this.#rtcm(frame.bytes, found)
        else if (frame.kind === 'other' && frame.framing === sbf.kind)
          this.#own('MeasEpoch', this.#measEpoch, frame.bytes, found)
        else if (frame.kind === 'other') this.#own('OBSVM', this.#obsvm, frame.bytes, found)
      },
    })
    this.#badChecksum = framer.stats.badChecksum
    for await (const bytes of source()) {
      framer.push(bytes, 0)
      yield* found
      found = []
    }
    framer.flush()
    yield* found
  }

  #own(source: ObservationSource, messages: OwnMessages, frame: Uint8Array, found: SourcedEpoch[]): void {
    if ((this.#wanted ?? source) !== source || !messages.isOwn(frame)) return
    const epoch = messages.epoch(frame)
    if (!epoch) this.#contents++
    else this.#take(source, epoch, found)
  }

  /** Each time is written once, in order. */
  #take(source: ObservationSource, epoch: ObservationEpoch, found: SourcedEpoch[]): boolean {
    const behind_s = (this.#last.get(source) ?? Number.NEGATIVE_INFINITY) - gpsSeconds(epoch)
    if (behind_s >= 0 && behind_s < overlap_s) return false
    this.#near_s = gpsSeconds(epoch)
    this.#last.set(source, this.#near_s)
    found.push({ source, epoch })
    return true
  }

  #ubx(frame: Uint8Array, found: SourcedEpoch[]): void {
    this.#own('RAWX', this.#rawx, frame, found)
    const message = this.#pages.push(frame, this.#near_s)
    if (message) this.#navigation(message)
  }

  #rtcm(frame: Uint8Array, found: SourcedEpoch[]): void {
    this.#navigation(frame)
    if ((this.#wanted ?? 'MSM') !== 'MSM') return
    this.#bias(frame)
    for (const complete of this.#epochs.push(frame)) {
      const epoch = this.#msm.epoch(complete, this.#near_s)
      if (this.#take('MSM', epoch, found)) this.#rates.take(epoch)
    }
  }

  #bias(frame: Uint8Array): void {
    const message = decodeRtcm(frame)
    if (message?.type !== 1230) return
    const { biases_m, biasesAligned: isAligned } = message
    const biases = { isAligned, biases_m }
    if (this.#biases === undefined) this.#biases = biases
    else if (JSON.stringify(this.#biases) !== JSON.stringify(biases)) this.#biases = 'contradictory'
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
