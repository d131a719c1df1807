/** Limits of what is published under the name of a station: anybody may have published it. */
import type { Ecef } from '../../../schemas/services.js'
import { distance } from './geodesy.js'

/** An epoch of all constellations and signals has 8 kB. */
export const largestPublication_bytes = 65_536
/** Publications in a second, beyond the rate of any station. */
const mostPerSecond = 25
/** A 1005 is the announced reference within this distance. */
const same_m = 0.01

/** What is wrong with a publication, for a sentence that names the station. */
export const publicationTexts = {
  flood: `publishes more than ${mostPerSecond} times a second`,
  size: 'publishes more than 64 KiB at once',
} as const

/** Bounds the publications of one station, before they are read. */
export class PublicationGuard {
  #second = { from_ms: Number.NEGATIVE_INFINITY, count: 0 }

  /** Counts a publication. @param now_ms monotonic @returns why it is not read; undefined: it is */
  refusal(bytes: number, now_ms: number): keyof typeof publicationTexts | undefined {
    if (now_ms - this.#second.from_ms >= 1_000) this.#second = { from_ms: now_ms, count: 0 }
    this.#second.count += 1
    if (this.#second.count > mostPerSecond) return 'flood'
    return bytes > largestPublication_bytes ? 'size' : undefined
  }
}

/** Whether a position in the RTCM of a station is the one that it announces. */
export const isAnnouncedPosition = (inRtcm: Ecef, announced: Ecef): boolean => distance(inRtcm, announced) <= same_m
