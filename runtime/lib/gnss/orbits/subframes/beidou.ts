/** The navigation messages D1 and D2 of BeiDou. */
import { bitsAt } from '../../rtcm/bits.js'
import { at, joined, type NavigationMessage, type Page } from './message.js'

/** BeiDou D1 of medium and inclined orbits, subframes 1-3 (BDS-SIS-ICD-B1I 3.0, 5.2.2). */
export const d1: NavigationMessage = {
  constellation: 'BeiDou',
  rtcm: 1042,
  pages: 3,
  places: {
    health: at([1, 38, 1]),
    clockIssue: at([1, 39, 5]),
    accuracy: at([1, 44, 4]),
    week: at([1, 48, 13]),
    tocOfWeek_s: at([1, 61, 17]),
    groupDelay1_ns: at([1, 78, 10]),
    groupDelay2_ns: at([1, 88, 10]),
    af2_sps2: at([1, 162, 11]),
    af0_s: at([1, 173, 24]),
    af1_sps: at([1, 197, 22]),
    issue: at([1, 219, 5]),
    deltaN_radps: at([2, 38, 16]),
    cuc_rad: at([2, 54, 18]),
    m0_rad: at([2, 72, 32]),
    e: at([2, 104, 32]),
    cus_rad: at([2, 136, 18]),
    crc_m: at([2, 154, 18]),
    crs_m: at([2, 172, 18]),
    sqrtA: at([2, 190, 32]),
    toeOfWeek_s: at([2, 222, 2], [3, 38, 15]),
    i0_rad: at([3, 53, 32]),
    cic_rad: at([3, 85, 18]),
    omegaDot_radps: at([3, 103, 24]),
    cis_rad: at([3, 127, 18]),
    idot_radps: at([3, 145, 14]),
    omega0_rad: at([3, 159, 32]),
    omega_rad: at([3, 191, 32]),
  },
  /** The issue is that of subframe 1 only, so the subframes must be of one frame: they come 6 s apart. */
  read: ({ words }) =>
    bdsPage(words, 10, (bits, subframe) => ({ number: subframe, bits, issue: secondOfWeek(bits) - 6 * subframe })),
}

/** BeiDou D2 of geostationary satellites, pages 1-10 of subframe 1 (BDS-SIS-ICD-B1I 3.0, 5.3.2). */
export const d2: NavigationMessage = {
  constellation: 'BeiDou',
  rtcm: 1042,
  pages: 10,
  places: {
    health: at([1, 42, 1]),
    clockIssue: at([1, 43, 5]),
    accuracy: at([1, 48, 4]),
    week: at([1, 52, 13]),
    tocOfWeek_s: at([1, 65, 17]),
    groupDelay1_ns: at([1, 82, 10]),
    groupDelay2_ns: at([1, 92, 10]),
    af0_s: at([3, 80, 24]),
    af1_sps: at([3, 104, 4], [4, 42, 18]),
    af2_sps2: at([4, 60, 11]),
    issue: at([4, 71, 5]),
    deltaN_radps: at([4, 76, 16]),
    cuc_rad: at([4, 92, 14], [5, 42, 4]),
    m0_rad: at([5, 46, 32]),
    cus_rad: at([5, 78, 18]),
    e: at([5, 96, 10], [6, 42, 22]),
    sqrtA: at([6, 64, 32]),
    cic_rad: at([6, 96, 10], [7, 42, 8]),
    cis_rad: at([7, 50, 18]),
    toeOfWeek_s: at([7, 68, 17]),
    i0_rad: at([7, 85, 21], [8, 42, 11]),
    crc_m: at([8, 53, 18]),
    crs_m: at([8, 71, 18]),
    omegaDot_radps: at([8, 89, 19], [9, 42, 5]),
    omega0_rad: at([9, 47, 32]),
    omega_rad: at([9, 79, 27], [10, 42, 5]),
    idot_radps: at([10, 47, 14]),
  },
  /** Pages come 3 s apart. Words behind the fifth are reserved. */
  read: ({ words }) =>
    bdsPage(words, 5, (bits, subframe) => {
      const page = bitsAt(bits, 38, 4)
      if (subframe !== 1 || page < 1 || page > 10) return undefined
      return { number: page, bits, issue: secondOfWeek(bits) - 3 * page }
    }),
}

const secondOfWeek = (bits: Uint8Array) => bitsAt(bits, 18, 20)

/** Preamble, reserved bits, subframe number, second of week: the same in D1 and D2 (5.2.4.1). */
function bdsPage(
  words: readonly number[],
  used: number,
  page: (bits: Uint8Array, subframe: number) => Page | undefined,
): Page | undefined {
  if (words.length !== 10 || !isBdsFirstWordIntact(words[0])) return undefined
  if (!words.slice(1, used).every(isBdsWordIntact)) return undefined
  const bits = joined(words.slice(0, used), (word, index) =>
    index === 0 ? [(word >>> 4) & 0x3ffffff, 26] : [(word >>> 8) & 0x3fffff, 22],
  )
  const subframe = bitsAt(bits, 15, 3)
  return bitsAt(bits, 0, 11) === 0b11100010010 && subframe >= 1 && subframe <= 3 ? page(bits, subframe) : undefined
}

/**
 * The BCH(15,11) code of a BeiDou word after its first: 22 information bits, then the 4 check bits of the first and
 * those of the second half (BDS-SIS-ICD-B1I 3.0, 5.1.3). Receivers deliver words without interleaving.
 */
function isBdsWordIntact(word: number): boolean {
  const first = (((word >>> 19) & 2047) << 4) | ((word >>> 4) & 15)
  const second = (((word >>> 8) & 2047) << 4) | (word & 15)
  return bchRemainder(first) === 0 && bchRemainder(second) === 0
}

/** The first word of a BeiDou subframe: 15 bits without a check, 11 information bits, 4 check bits. */
function isBdsFirstWordIntact(word: number): boolean {
  return bchRemainder(word & 0x7fff) === 0
}

/** Modulo x⁴ + x + 1. */
function bchRemainder(code: number): number {
  let rest = code
  for (let bit = 14; bit >= 4; bit--) if ((rest >>> bit) & 1) rest ^= 0b10011 << (bit - 4)
  return rest
}
