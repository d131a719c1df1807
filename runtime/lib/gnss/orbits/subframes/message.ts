/**
 * Navigation messages as satellites send them: which bits of which page are which field of the RTCM message with the
 * same content. Bits are numbered from 0, in a page without its parity bits.
 *
 * A receiver passes on what passed its checks (u-blox: "all appropriate parity checks have passed"). They are repeated
 * where it delivers the bits for them, so that a damaged page never becomes an orbit.
 */
import { BitWriter } from '../../rtcm/bits.js'
import type { OrbitConstellation } from '../ephemeris.js'
import type { EphemerisMessage } from '../layouts.js'

type Part = readonly [page: number, bit: number, width: number]

/** Where a field stands: one or more parts, the most significant first. */
export type FieldPlace = readonly Part[]
export const at = (...parts: Part[]): FieldPlace => parts

export interface Page {
  readonly number: number
  readonly bits: Uint8Array
  /** Pages of another issue do not belong to it. Undefined: the page has no issue of its own. */
  readonly issue: number | undefined
}

/** A message of one signal, from the receiver: 32-bit words. */
export interface Subframe {
  readonly satellite: number
  readonly words: readonly number[]
}

export interface NavigationMessage {
  readonly constellation: OrbitConstellation
  /** The RTCM message with the same content. */
  readonly rtcm: EphemerisMessage
  /** Pages 1…n make an ephemeris. */
  readonly pages: number
  readonly places: Readonly<Record<string, FieldPlace>>
  /** The page of a subframe; undefined if it is damaged, or if it has nothing about the orbit. */
  readonly read: (subframe: Subframe) => Page | undefined
}

/** The information bits of words, without gaps. */
export function joined(
  words: readonly number[],
  part: (word: number, index: number) => readonly [value: number, width: number],
): Uint8Array {
  const writer = new BitWriter()
  words.forEach((word, index) => {
    const [value, width] = part(word, index)
    writer.uint(value, width)
  })
  return writer.bytes()
}
