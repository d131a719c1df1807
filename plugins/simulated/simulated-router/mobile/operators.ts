/** Numbers and names of the mobile network: technologies, states, and the operators that are in reach. */
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

/** A network that can be received. */
export interface Operator {
  plmn: string
  name: string
  short: string
  technology: Technology
  forbidden: boolean
}

/** One network can be listed once per technology, and a number can begin with zeros. More than six on purpose. */
export const operatorsAround: readonly Operator[] = [
  { plmn: '24603', name: 'Nordmobil', short: 'NORD', technology: 'LTE', forbidden: false },
  { plmn: '24603', name: 'Nordmobil', short: 'NORD', technology: 'WCDMA', forbidden: false },
  { plmn: '24601', name: 'Baltcell', short: 'BALT', technology: 'LTE', forbidden: false },
  { plmn: '24602', name: 'Amber GSM', short: 'AMBER', technology: 'GSM', forbidden: true },
  { plmn: '24608', name: 'Mežtel', short: 'MEZ', technology: 'LTE', forbidden: false },
  { plmn: '00101', name: 'Test PLMN 1-1', short: 'TEST', technology: 'GSM', forbidden: false },
  { plmn: '310410', name: 'Far "West", Inc.', short: 'FAR', technology: 'NR', forbidden: false },
  { plmn: '24707', name: 'Rīgas tīkls', short: '', technology: 'WCDMA', forbidden: false },
]
