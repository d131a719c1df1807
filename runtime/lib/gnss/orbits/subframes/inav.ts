/** The navigation message I/NAV of Galileo. */
import { crc24q } from '../../crc24q.js'
import { BitWriter, bitsAt } from '../../rtcm/bits.js'
import { at, joined, type NavigationMessage } from './message.js'

/** Galileo I/NAV of E1-B and E5b, words 1-5 (OS SIS ICD 2.1, 4.3): 128 bits out of two pages. */
export const inav: NavigationMessage = {
  constellation: 'Galileo',
  rtcm: 1046,
  pages: 5,
  places: {
    issue: at([1, 6, 10]),
    toeOfWeek_s: at([1, 16, 14]),
    m0_rad: at([1, 30, 32]),
    e: at([1, 62, 32]),
    sqrtA: at([1, 94, 32]),
    omega0_rad: at([2, 16, 32]),
    i0_rad: at([2, 48, 32]),
    omega_rad: at([2, 80, 32]),
    idot_radps: at([2, 112, 14]),
    omegaDot_radps: at([3, 16, 24]),
    deltaN_radps: at([3, 40, 16]),
    cuc_rad: at([3, 56, 16]),
    cus_rad: at([3, 72, 16]),
    crc_m: at([3, 88, 16]),
    crs_m: at([3, 104, 16]),
    accuracy: at([3, 120, 8]),
    cic_rad: at([4, 22, 16]),
    cis_rad: at([4, 38, 16]),
    tocOfWeek_s: at([4, 54, 14]),
    af0_s: at([4, 68, 31]),
    af1_sps: at([4, 99, 21]),
    af2_sps2: at([4, 120, 6]),
    groupDelayE5a_s: at([5, 47, 10]),
    groupDelayE5b_s: at([5, 57, 10]),
    /** E5b health and validity, then those of E1-B; in the word both healths come first. */
    health: at([5, 67, 2], [5, 71, 1], [5, 69, 2], [5, 72, 1]),
    week: at([5, 73, 12]),
  },
  /** u-blox delivers the even page in words 0-3 and the odd page in words 4-7. Alert pages (bit 1) have no orbit. */
  read: ({ satellite, words }) => {
    if (words.length < 8) return undefined
    const pages = joined(words.slice(0, 8), (word) => [word >>> 0, 32])
    if (bitsAt(pages, 0, 2) !== 0b00 || bitsAt(pages, 128, 2) !== 0b10 || !isInavIntact(pages)) return undefined
    const word = new BitWriter()
    word.copy(pages, 2, 112)
    word.copy(pages, 130, 16)
    const bits = word.bytes()
    const number = bitsAt(bits, 0, 6)
    if (number < 1 || number > 5 || (number === 4 && bitsAt(bits, 16, 6) !== satellite)) return undefined
    return { number, bits, issue: number === 5 ? undefined : bitsAt(bits, 6, 10) }
  },
}

/**
 * The CRC of a Galileo I/NAV page pair (OS SIS ICD 2.1, 5.1.9.4): over the even page without its tail and the odd page
 * up to the CRC, 196 bits.
 * @param pages the even page from bit 0, the odd page from bit 128
 */
function isInavIntact(pages: Uint8Array): boolean {
  const covered = new BitWriter()
  // Leading zeros fill the first byte and do not change the CRC.
  covered.uint(0, 4)
  covered.copy(pages, 0, 114)
  covered.copy(pages, 128, 82)
  return crc24q(covered.bytes()) === bitsAt(pages, 128 + 82, 24)
}
