/** The navigation message of GPS and QZSS. */
import { bitsAt } from '../../rtcm/bits.js'
import { at, joined, type NavigationMessage } from './message.js'

/** GPS and QZSS LNAV, subframes 1-3 (IS-GPS-200, figure 20-1): ten words of 24 bits. */
const lnav: Pick<NavigationMessage, 'pages' | 'places' | 'read'> = {
  pages: 3,
  places: {
    week: at([1, 48, 10]),
    codeOnL2: at([1, 58, 2]),
    accuracy: at([1, 60, 4]),
    health: at([1, 64, 6]),
    clockIssue: at([1, 70, 2], [1, 168, 8]),
    l2pOff: at([1, 72, 1]),
    groupDelay_s: at([1, 160, 8]),
    tocOfWeek_s: at([1, 176, 16]),
    af2_sps2: at([1, 192, 8]),
    af1_sps: at([1, 200, 16]),
    af0_s: at([1, 216, 22]),
    issue: at([2, 48, 8]),
    crs_m: at([2, 56, 16]),
    deltaN_radps: at([2, 72, 16]),
    m0_rad: at([2, 88, 32]),
    cuc_rad: at([2, 120, 16]),
    e: at([2, 136, 32]),
    cus_rad: at([2, 168, 16]),
    sqrtA: at([2, 184, 32]),
    toeOfWeek_s: at([2, 216, 16]),
    longFit: at([2, 232, 1]),
    cic_rad: at([3, 48, 16]),
    omega0_rad: at([3, 64, 32]),
    cis_rad: at([3, 96, 16]),
    i0_rad: at([3, 112, 32]),
    crc_m: at([3, 144, 16]),
    omega_rad: at([3, 160, 32]),
    omegaDot_radps: at([3, 192, 24]),
    idot_radps: at([3, 224, 14]),
  },
  /** IODE is in subframes 2 and 3, and in the low bits of IODC in subframe 1 (20.3.4.4). */
  read: ({ words }) => {
    if (words.length !== 10 || !isLnavIntact(words)) return undefined
    const bits = joined(words, (word) => [(word >>> 6) & 0xffffff, 24])
    const number = bitsAt(bits, 43, 3)
    const issueAt = [168, 48, 216][number - 1]
    if (bitsAt(bits, 0, 8) !== 0x8b || issueAt === undefined) return undefined
    return { number, bits, issue: bitsAt(bits, issueAt, 8) }
  },
}

export const gps: NavigationMessage = { constellation: 'GPS', rtcm: 1019, ...lnav }
export const qzss: NavigationMessage = { constellation: 'QZSS', rtcm: 1044, ...lnav }

/** Data bits (1-24) in each of the parity bits D25-D30, and the bit of the word before (IS-GPS-200, table 20-XIV). */
const lnavEquations = [
  [[1, 2, 3, 5, 6, 10, 11, 12, 13, 14, 17, 18, 20, 23], 'D29'],
  [[2, 3, 4, 6, 7, 11, 12, 13, 14, 15, 18, 19, 21, 24], 'D30'],
  [[1, 3, 4, 5, 7, 8, 12, 13, 14, 15, 16, 19, 20, 22], 'D29'],
  [[2, 4, 5, 6, 8, 9, 13, 14, 15, 16, 17, 20, 21, 23], 'D30'],
  [[1, 3, 5, 6, 7, 9, 10, 14, 15, 16, 17, 18, 21, 22, 24], 'D30'],
  [[3, 5, 6, 8, 9, 10, 11, 13, 15, 19, 22, 23, 24], 'D29'],
] as const
const lnavMasks = lnavEquations.map(([bits, before]) => ({
  data: bits.reduce((mask, bit) => mask | (1 << (24 - bit)), 0),
  before: before === 'D29' ? 2 : 1,
}))

/**
 * The parity of a subframe of GPS or QZSS (LNAV), ten words with 24 data bits and 6 parity bits at their end. Data bits
 * are upright; u-blox F9 receivers invert the parity bits along with the data, others may not: both are accepted.
 */
function isLnavIntact(words: readonly number[]): boolean {
  // D29 and D30 of the last word of a subframe are 0 (20.3.5.1).
  let before = 0
  return words.every((word) => {
    const data = (word >>> 6) & 0xffffff
    const parity = lnavMasks.reduce(
      (bits, mask) => (bits << 1) | (ones(data & mask.data) ^ ones(before & mask.before)),
      0,
    )
    before = parity & 3
    const difference = (word & 63) ^ parity
    return difference === 0 || difference === 63
  })
}

/** 0 or 1. */
function ones(word: number): number {
  let odd = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) odd ^= 1
  return odd
}
