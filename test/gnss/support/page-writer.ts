/**
 * Writes the content of an RTCM ephemeris as navigation pages that a u-blox receiver would deliver, for signals of
 * which there is no capture: BeiDou D2 and QZSS LNAV. The check bits are computed in another way than the library
 * checks them.
 */

import { bitsAt } from '../../../runtime/lib/gnss/rtcm/bits.js'
import { encodeUbx } from '../../../runtime/lib/gnss/ubx.js'
import { bdsWords, lnavWords, pagesOf, put } from '../../../runtime/lib/simulation/subframes.js'

const sfrbx = (gnssId: number, satellite: number, words: readonly number[]) => {
  const payload = new Uint8Array(8 + 4 * words.length)
  payload.set([gnssId, satellite, 0, 0, words.length, 0, 2, 0])
  const view = new DataView(payload.buffer)
  for (const [index, word] of words.entries()) view.setUint32(8 + 4 * index, word, true)
  return encodeUbx(0x02, 0x13, payload)
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
