import { isGeostationary } from '../kepler.js'
import { d1, d2 } from './beidou.js'
import { glonass } from './glonass.js'
import { inav } from './inav.js'
import { gps, qzss } from './lnav.js'
import type { NavigationMessage } from './message.js'

export type { NavigationMessage, Page } from './message.js'

/**
 * The message of a signal by u-blox's numbers (F9 HPG 1.51 interface description, "GNSS identifiers" and "Signal
 * identifiers"); undefined for messages without a decoder here, e.g. CNAV.
 */
export function navigationMessage(gnssId: number, satellite: number, sigId: number): NavigationMessage | undefined {
  switch (gnssId) {
    case 0:
      return sigId === 0 ? gps : undefined
    case 2:
      // E1-B and E5b; the messages of older receivers have no signal, 0.
      return [0, 1, 5].includes(sigId) ? inav : undefined
    case 3:
      // B1I, B2I and B3I, each with D1 and D2.
      return [0, 1, 2, 3, 4, 10].includes(sigId) ? (isGeostationary(satellite) ? d2 : d1) : undefined
    case 5:
      return sigId === 0 ? qzss : undefined
    case 6:
      return sigId === 0 || sigId === 2 ? glonass : undefined
    default:
      return undefined
  }
}
