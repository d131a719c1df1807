/** Navigation messages as satellites send them, page by page, for receivers that pass them on: u-blox in RXM-SFRBX. */
import { crc24q } from '../gnss/crc24q.js'
import { isGeostationary } from '../gnss/orbits/kepler.js'
import { ephemerisLayouts } from '../gnss/orbits/layouts.js'
import { navigationMessage } from '../gnss/orbits/subframes/index.js'
import { BitReader } from '../gnss/rtcm/bits.js'

/** One page of a satellite, with the numbers of u-blox. */
export interface NavigationPage {
  readonly gnssId: number
  readonly satellite: number
  readonly sigId: number
  /** 32 bits each. */
  readonly words: readonly number[]
}

/** Information bits by page: the fields of an RTCM ephemeris at the places that the navigation message gives them. */
export function pagesOf(frame: Uint8Array, gnssId: number, satellite: number, bits: number): Map<number, number[]> {
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
      const own = pages.get(page) ?? []
      for (let bit = 0; bit < part; bit++) own[at + bit] = reader.uint(1)
    }
  }
  return pages
}

export const put = (bits: number[], at: number, width: number, value: number): void => {
  for (let bit = 0; bit < width; bit++) bits[at + bit] = Math.floor(value / 2 ** (width - 1 - bit)) % 2
}
const get = (bits: readonly number[], at: number, width: number) =>
  bits.slice(at, at + width).reduce((value, bit) => value * 2 + bit, 0)

/**
 * The page that a satellite sends from this second on, if it has something about its orbit: LNAV and D1 every 6 s (three of
 * five subframes), I/NAV every 2 s (five of fifteen words).
 * @param frame 1019, 1046 or 1042
 * @param gps_s whole GPS seconds
 */
export function navigationPage(frame: Uint8Array, satellite: number, gps_s: number): NavigationPage | undefined {
  const type = (frame[3] << 4) | (frame[4] >> 4)
  const part = (every_s: number, of: number, start_s = 0) =>
    (gps_s - start_s) % every_s === 0 ? 1 + (Math.floor((gps_s - start_s) / every_s) % of) : 0
  if (type === 1019) return lnavPage(frame, satellite, gps_s % 604_800, part(6, 5))
  if (type === 1046) return inavPage(frame, satellite, part(2, 15))
  // BeiDou's time is 14 s behind.
  if (type === 1042 && !isGeostationary(satellite))
    return d1Page(frame, satellite, (gps_s - 14) % 604_800, part(6, 5, 14))
  return undefined
}

function lnavPage(frame: Uint8Array, satellite: number, tow_s: number, subframe: number): NavigationPage | undefined {
  const pages = pagesOf(frame, 0, satellite, 240)
  const bits = pages.get(subframe)
  const issue = get(pages.get(2) ?? [], 48, 8)
  if (!bits) return undefined
  put(bits, 0, 8, 0x8b)
  put(bits, 24, 17, Math.floor(tow_s / 6) + 1)
  put(bits, 43, 3, subframe)
  if (subframe === 1) put(bits, 168, 8, issue)
  if (subframe === 3) put(bits, 216, 8, issue)
  return { gnssId: 0, satellite, sigId: 0, words: lnavWords(bits) }
}

/** Parity by the masks of the receivers' application notes, which include D29 and D30 of the word before. */
const masks = [0x2ec7cd2, 0x1763e69, 0x2bb1f34, 0x15d8f9a, 0x1aec7cd, 0x22dea27]

/** Ten words of 24 bits, with their parity. */
export function lnavWords(bits: readonly number[]): number[] {
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

/** Even page: 114 bits and a tail; odd page: 18 bits, 64 reserved ones, the CRC (OS SIS ICD 2.1, 4.3.2). */
function inavPage(frame: Uint8Array, satellite: number, word: number): NavigationPage | undefined {
  const pages = pagesOf(frame, 2, satellite, 128)
  const data = pages.get(word)
  if (!data) return undefined
  put(data, 0, 6, word)
  if (word >= 2 && word <= 4) put(data, 6, 10, get(pages.get(1) ?? [], 6, 10))
  if (word === 4) put(data, 16, 6, satellite)
  const even = [0, 0, ...data.slice(0, 112)]
  const odd = [1, 0, ...data.slice(112), ...new Array(64).fill(0)]
  // Four zeros in front fill the first byte, and change nothing.
  const covered = [0, 0, 0, 0, ...even, ...odd]
  const bytes = Uint8Array.from({ length: covered.length / 8 }, (_, n) => get(covered, 8 * n, 8))
  const check = new Array<number>(24).fill(0)
  put(check, 0, 24, crc24q(bytes))
  const padded = (bits: readonly number[]) => [...bits, ...new Array(128 - bits.length).fill(0)]
  const all = [...padded(even), ...padded([...odd, ...check])]
  return { gnssId: 2, satellite, sigId: 1, words: Array.from({ length: 8 }, (_, n) => get(all, 32 * n, 32)) }
}

function d1Page(frame: Uint8Array, satellite: number, sow_s: number, subframe: number): NavigationPage | undefined {
  const bits = pagesOf(frame, 3, satellite, 224).get(subframe)
  if (!bits) return undefined
  put(bits, 0, 11, 0b11100010010)
  put(bits, 15, 3, subframe)
  put(bits, 18, 20, sow_s)
  return { gnssId: 3, satellite, sigId: 0, words: bdsWords(bits) }
}

/** x^14 … x^4 modulo x⁴ + x + 1: the check bits that each of eleven information bits adds. */
const powers: number[] = []
for (let exponent = 4, power = 0b0011; exponent <= 14; exponent++) {
  powers.unshift(power)
  power = power & 8 ? ((power << 1) & 15) ^ 0b0011 : power << 1
}
const bch = (bits: readonly number[]) => bits.reduce((check, bit, index) => (bit ? check ^ powers[index] : check), 0)

/** Ten words with their BCH(15,11) check bits: 26 information bits in the first, 22 in each other (BDS-SIS-ICD-B1I 3.0, 5.1.3). */
export function bdsWords(bits: readonly number[]): number[] {
  const first = bits.slice(0, 26)
  const words = [get(first, 0, 26) * 16 + bch(first.slice(15))]
  for (let at = 26; at < bits.length; at += 22) {
    const word = bits.slice(at, at + 22)
    words.push(get(word, 0, 22) * 256 + bch(word.slice(0, 11)) * 16 + bch(word.slice(11)))
  }
  return words
}
