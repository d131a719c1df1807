import type { Technology } from './enumerations.js'

/** A network that can be received. */
export interface Operator {
  plmn: string
  name: string
  short: string
  technology: Technology
  forbidden: boolean
}

/** The same network can be listed once per technology, and a number can begin with zeros. More than six on purpose. */
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
