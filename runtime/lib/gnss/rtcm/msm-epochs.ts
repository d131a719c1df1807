import { knownLeap_s } from '../gnss-time.js'
import { constellationOf, decodeMsm, gpsTow_ms, type Msm } from './msm.js'

/** The observations of all constellations at one time. */
export interface MsmEpoch {
  /** GPS time of week, ms. */
  readonly time_ms: number
  /** Decoded MSMs; a constellation may have several. */
  readonly messages: readonly Msm[]
}

/** More messages than any receiver sends for one epoch: 7 constellations, each split in a few. */
const maxMessages = 32

/**
 * Collects the MSMs of a stream into epochs. An epoch is complete with the message that has its multiple-message bit
 * clear, or with the first message of another time, so a lost last message delays it by one interval.
 */
export class MsmEpochs {
  readonly #leap_s: () => number
  #open: Msm[] = []

  /**
   * @param leap_s GPS − UTC; used only for epochs with GLONASS alone, which count the time of day in Moscow time
   */
  constructor(leap_s: () => number = () => knownLeap_s) {
    this.#leap_s = leap_s
  }

  /** Takes a verified frame of any type; returns the epochs that it completes, mostly none or one. */
  push(frame: Uint8Array): MsmEpoch[] {
    const msm = decodeMsm(frame)
    if (!msm) return []
    const done: MsmEpoch[] = []
    if (!this.#belongs(msm)) this.#close(done)
    this.#open.push(msm)
    if (!msm.multiple || this.#open.length === maxMessages) this.#close(done)
    return done
  }

  /** GLONASS time is in another scale and its day may be unknown: it is compared with GLONASS only. */
  #belongs(msm: Msm): boolean {
    return this.#open.every((other) => {
      if (isGlonass(msm) === isGlonass(other)) return time_ms(msm, 0) === time_ms(other, 0)
      return true
    })
  }

  #close(done: MsmEpoch[]): void {
    const messages = this.#open
    this.#open = []
    const clock = messages.find((msm) => !isGlonass(msm)) ?? messages[0]
    const time = clock && time_ms(clock, this.#leap_s())
    if (time !== undefined) done.push({ time_ms: time, messages })
  }
}

const isGlonass = (msm: Msm) => constellationOf(msm.type) === 'GLONASS'

function time_ms(msm: Msm, leap_s: number): number | undefined {
  const constellation = constellationOf(msm.type)
  return constellation && gpsTow_ms(constellation, msm.epochTime, leap_s)
}
