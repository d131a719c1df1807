/** Numbers and texts that the modem daemon reports (reference §4.1). */
import type { SimState } from '../options.js'

export const registrationTexts = {
  0: 'Not registered',
  1: 'Registered, home',
  2: 'Searching',
  3: 'Denied',
  4: 'Unknown',
  5: 'Roaming',
} as const
export type RegistrationStatus = keyof typeof registrationTexts

export const modeIds = { auto: 1, manual: 2, unregister: 3, 'manual-auto': 5 } as const
export type SelectionMode = keyof typeof modeIds

export const operatorStates = ['Unknown', 'Available', 'Current', 'Forbidden'] as const

/** How a technology is named: mode of the network, access technology, short generation. */
export const technologies = {
  GSM: { netMode: 'GSM', act_id: 1, act: 'GSM', generation: '2G' },
  WCDMA: { netMode: 'WCDMA', act_id: 3, act: 'UTRAN', generation: '3G' },
  LTE: { netMode: 'LTE', act_id: 8, act: 'E-UTRAN', generation: '4G' },
  NR: { netMode: '5G-NSA', act_id: 13, act: 'EUTRAN-NR', generation: '5G' },
} as const
export type Technology = keyof typeof technologies

export const pinStates: Record<SimState, { id: number; text: string; sim: string }> = {
  ready: { id: 1, text: 'OK', sim: 'Inserted' },
  absent: { id: 10, text: 'Not inserted', sim: 'Not inserted' },
  pin: { id: 4, text: 'PIN', sim: 'Inserted' },
  puk: { id: 5, text: 'PUK', sim: 'Inserted' },
  error: { id: 13, text: 'SIM failure', sim: 'Failure' },
}
