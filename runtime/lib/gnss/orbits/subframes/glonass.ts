/** The navigation message of GLONASS. */
import { bitsAt } from '../../rtcm/bits.js'
import { at, joined, type NavigationMessage } from './message.js'

/** GLONASS strings 1-4 (ICD 5.1, table 4.5 and figure 4.3): bit 85 of the string is bit 0. */
export const glonass: NavigationMessage = {
  constellation: 'GLONASS',
  rtcm: 1020,
  pages: 4,
  places: {
    p1: at([1, 7, 2]),
    frameTime: at([1, 9, 12]),
    xDot_mps: at([1, 21, 24]),
    xDotDot_mps2: at([1, 45, 5]),
    x_m: at([1, 50, 27]),
    unhealthy: at([2, 5, 1]),
    p2: at([2, 8, 1]),
    tb: at([2, 9, 7]),
    yDot_mps: at([2, 21, 24]),
    yDotDot_mps2: at([2, 45, 5]),
    y_m: at([2, 50, 27]),
    p3: at([3, 5, 1]),
    gamma: at([3, 6, 11]),
    p: at([3, 18, 2]),
    ln: at([3, 20, 1]),
    zDot_mps: at([3, 21, 24]),
    zDotDot_mps2: at([3, 45, 5]),
    z_m: at([3, 50, 27]),
    tau_s: at([4, 5, 22]),
    deltaTau_s: at([4, 27, 5]),
    age_days: at([4, 32, 5]),
    p4: at([4, 51, 1]),
    accuracy: at([4, 52, 4]),
    day: at([4, 59, 11]),
    m: at([4, 75, 2]),
  },
  /**
   * The fourth word is u-blox's: superframe and frame, 0 while it does not know them. Strings of one frame belong
   * together.
   */
  read: ({ satellite, words }) => {
    if (words.length !== 4 || words[3] === 0) return undefined
    const bits = joined(words.slice(0, 3), (word) => [word >>> 0, 32])
    const number = bitsAt(bits, 1, 4)
    if (bitsAt(bits, 0, 1) !== 0 || number < 1 || number > 4 || !isGlonassStringIntact(bits)) return undefined
    if (number === 4 && bitsAt(bits, 70, 5) !== satellite) return undefined
    return { number, bits, issue: words[3] }
  },
}

/**
 * The Hamming code of a GLONASS string (ICD 5.1, 4.7): check bits β1-β7 are bits 1-7 of the string, bit 8 makes the
 * number of ones even. The sums of the ICD are those of a Hamming code in which the data bits 9-85 have the places that
 * are no powers of 2.
 * @param bits the string from bit 85 down to bit 1
 */
function isGlonassStringIntact(bits: Uint8Array): boolean {
  let places = 0
  let odd = 0
  let place = 3
  for (let number = 1; number <= 85; number++) {
    const bit = bitsAt(bits, 85 - number, 1)
    odd ^= bit
    if (number <= 7) places ^= bit << (number - 1)
    if (number <= 8) continue
    if (bit) places ^= place
    do place++
    while ((place & (place - 1)) === 0)
  }
  return places === 0 && odd === 0
}
