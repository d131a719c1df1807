/**
 * Writes the content of an RTCM ephemeris as navigation pages that a u-blox receiver would deliver, for signals of
 * which there is no capture: BeiDou D2 and QZSS LNAV. The check bits are computed in another way than the library
 * checks them.
 */

import { ephemerisLayouts } from '../../../runtime/gnss/orbits/layouts.js'
import { navigationMessage } from '../../../runtime/gnss/orbits/subframes/index.js'
import { BitReader, bitsAt } from '../../../runtime/gnss/rtcm/bits.js'
import { encodeUbx } from '../../../runtime/gnss/ubx.js'

/** Information bits by page, as bits of an array: the fields of the frame at the places that the message gives them. */
function pagesOf(frame: Uint8Array, gnssId: number, satellite: number, bits: number): Map<number, number[]> {
  const message = navigationMessage(gnssId, satellite, 0)
  if (!message) throw new RangeError(`no navigation message of ${gnssId} ${satellite}`)
  const pages = new Map<number, number[]>()
  for (let page = 1; page <= message.pages; page++) pages.set(page, new Array(bits).fill(0))
  const reader = new BitReader(frame, 3, frame.length - 3)
  reader.uint(12)
  for (const field of ephemerisLayouts[message.rtcm]) {
    const width = field.kind === 'flag' ? 1 : field.bits
    const parts = ('name' in field && message.places[field.name]) || []
    if (parts.length === 0) reader.uint(width)
    for (const [page, at, part] of parts) {
      for (let bit = 0; bit < part; bit++) (pages.get(page) ?? [])[at + bit] = reader.uint(1)
    }
  }
  return pages
}

const put = (bits: number[], at: number, width: number, value: number) => {
  for (let bit = 0; bit < width; bit++) bits[at + bit] = Math.floor(value / 2 ** (width - 1 - bit)) % 2
}
const get = (bits: number[], at: number, width: number) =>
  bits.slice(at, at + width).reduce((value, bit) => value * 2 + bit, 0)

const sfrbx = (gnssId: number, satellite: number, words: readonly number[]) => {
  const payload = new Uint8Array(8 + 4 * words.length)
  payload.set([gnssId, satellite, 0, 0, words.length, 0, 2, 0])
  const view = new DataView(payload.buffer)
  for (const [index, word] of words.entries()) view.setUint32(8 + 4 * index, word, true)
  return encodeUbx(0x02, 0x13, payload)
}

/** x^14 … x^4 modulo x⁴ + x + 1: the check bits that each of eleven information bits adds. */
const powers: number[] = []
for (let exponent = 4, power = 0b0011; exponent <= 14; exponent++) {
  powers.unshift(power)
  power = power & 8 ? ((power << 1) & 15) ^ 0b0011 : power << 1
}
const bch = (bits: number[]) => bits.reduce((check, bit, index) => (bit ? check ^ powers[index] : check), 0)

function bdsWords(bits: number[]): number[] {
  const first = bits.slice(0, 26)
  const words = [get(first, 0, 26) * 16 + bch(first.slice(15))]
  for (let at = 26; at < bits.length; at += 22) {
    const word = bits.slice(at, at + 22)
    words.push(get(word, 0, 22) * 256 + bch(word.slice(0, 11)) * 16 + bch(word.slice(11)))
  }
  return words
}

/** @returns ten UBX frames with the D2 pages of a frame 1042 */
export function d2Pages(frame: Uint8Array, satellite: number, secondOfWeek: number): Uint8Array[] {
  return [...pagesOf(frame, 3, satellite, 224)].map(([page, bits]) => {
    put(bits, 0, 11, 0b11100010010)
    put(bits, 15, 3, 1)
    put(bits, 18, 20, secondOfWeek + 3 * (page - 1))
    put(bits, 38, 4, page)
    return sfrbx(3, satellite, bdsWords(bits))
  })
}

/** @returns three UBX frames with the LNAV subframes of a frame 1044 */
export function lnavPages(frame: Uint8Array, satellite: number, secondOfWeek: number): Uint8Array[] {
  return [...pagesOf(frame, 5, satellite, 240)].map(([subframe, bits]) => {
    put(bits, 0, 8, 0x8b)
    put(bits, 24, 17, secondOfWeek / 6 + subframe)
    put(bits, 43, 3, subframe)
    // What a 1044 does not have: the L2P flag, which is always set, and the issue in subframe 3.
    if (subframe === 1) put(bits, 72, 1, 1)
    if (subframe === 3) put(bits, 216, 8, issueOf(frame))
    return sfrbx(5, satellite, lnavWords(bits))
  })
}

/** IODE of a 1044: behind its number, satellite, toc and clock. */
const issueOf = (frame: Uint8Array) => bitsAt(frame, 24 + 12 + 4 + 16 + 8 + 16 + 22, 8)

/** Parity by the masks of the receivers' application notes, which include D29 and D30 of the word before. */
const masks = [0x2ec7cd2, 0x1763e69, 0x2bb1f34, 0x15d8f9a, 0x1aec7cd, 0x22dea27]

function lnavWords(bits: number[]): number[] {
  let before = 0
  return Array.from({ length: 10 }, (_, index) => {
    const solvesParity = index === 1 || index === 9
    const words = [0, 1, 2, 3].map((tail) => {
      const data = solvesParity ? get(bits, index * 24, 22) * 4 + tail : get(bits, index * 24, 24)
      const covered = before * 2 ** 24 + data
      const parity = masks.reduce((code, mask) => code * 2 + (ones(covered & mask) % 2), 0)
      return { data, parity }
    })
    // Words 2 and 10 have two bits that are chosen so that their parity ends with zeros.
    const { data, parity } = (solvesParity && words.find((word) => (word.parity & 3) === 0)) || words[0]
    before = parity & 3
    return data * 64 + parity
  })
}

const ones = (value: number) => value.toString(2).replaceAll('0', '').length
