/** Enumerations of RUTOS modems (modem_api.h) in the words of the document. */
import type { ModemNetwork, SimState } from 'rtk-base/schemas'
import type { ModemSignal, ScannedOperator } from 'rtk-base/services'
import { boundedOf, numberOf, textOf } from './parse.js'

const networkById: Readonly<Record<number, ModemNetwork>> = {
  0: 'unregistered',
  1: 'home',
  2: 'searching',
  3: 'denied',
  4: 'unknown',
  5: 'roaming',
  6: 'home',
  7: 'roaming',
}

/** First match counts: `not registered` before `registered`. */
const networkByText: readonly (readonly [RegExp, ModemNetwork])[] = [
  [/denied/i, 'denied'],
  [/search/i, 'searching'],
  [/not registered|unregistered/i, 'unregistered'],
  [/roam/i, 'roaming'],
  [/home|registered/i, 'home'],
]

export function networkOf(id: unknown, ...texts: readonly unknown[]): ModemNetwork {
  const known = networkById[numberOf(id) ?? -1]
  return known ?? networkByText.find(([pattern]) => pattern.test(textOf(...texts, id)))?.[1] ?? 'unknown'
}

const pinById: Readonly<Record<number, SimState>> = {
  1: 'ready',
  4: 'pin',
  5: 'puk',
  6: 'error',
  7: 'error',
  8: 'error',
  9: 'error',
  10: 'absent',
  13: 'error',
  15: 'puk',
}

const simByText: readonly (readonly [RegExp, SimState])[] = [
  [/not inserted|no sim|absent|removed/i, 'absent'],
  [/puk/i, 'puk'],
  [/pin/i, 'pin'],
  [/fail|error|lock|busy|not ready/i, 'error'],
  [/insert|ready|ok/i, 'ready'],
]

/** The state that numbered or worded PIN and SIM states mean; undefined when they say nothing. */
export function simStateOf(id: unknown, ...texts: readonly unknown[]): SimState | undefined {
  const known = pinById[numberOf(id) ?? -1]
  if (known) return known
  const text = textOf(...texts)
  return simByText.find(([pattern]) => pattern.test(text))?.[1]
}

/** `attached` / `detached`, by number (0 unknown, 1 detached, 2 attached) or word. */
export function packetServiceOf(id: unknown, text?: unknown): 'attached' | 'detached' | '' {
  const state = numberOf(id)
  if (state === 2) return 'attached'
  if (state === 1) return 'detached'
  const word = textOf(text).toLowerCase()
  if (word.includes('detached')) return 'detached'
  return word.includes('attached') ? 'attached' : ''
}

export function signalOf(values: Readonly<Record<'rssi' | 'rsrp' | 'rsrq' | 'sinr', unknown>>): ModemSignal {
  return {
    rssi_dbm: boundedOf(values.rssi, -130, -1),
    rsrp_dbm: boundedOf(values.rsrp, -160, -20),
    rsrq_db: boundedOf(values.rsrq, -50, 30),
    sinr_db: boundedOf(values.sinr, -40, 60),
  }
}

/** `gsmctl`, the modem objects and REST all report 0.1 °C. */
export function tenthsOf(value: unknown): number | undefined {
  const tenths = numberOf(value)
  return tenths === undefined ? undefined : tenths / 10
}

/** The slot of a SIM; undefined if not reported. */
export const slotOf = (...values: readonly unknown[]) => /^[1-4]$/.exec(textOf(...values))?.[0]

/** Access technology by the number of 3GPP TS 27.007 `+COPS`, for modems that only have AT commands. */
const actNames: Readonly<Record<number, string>> = {
  0: 'GSM',
  1: 'GSM compact',
  2: 'UTRAN',
  3: 'GSM EGPRS',
  4: 'HSDPA',
  5: 'HSUPA',
  6: 'HSDPA+HSUPA',
  7: 'E-UTRAN',
  11: 'NR',
  12: 'NG-RAN',
  13: 'EUTRAN-NR',
}

/** In this order: `E-UTRAN` has `UTRAN` in it. */
const generations: readonly (readonly [RegExp, ScannedOperator['generation']])[] = [
  [/NR|NG-RAN|5G/i, '5G'],
  [/E-?UTRAN|LTE|eMTC|Cat|NB-?IoT|4G/i, '4G'],
  [/UTRAN|HS|UMTS|WCDMA|3G/i, '3G'],
  [/GSM|EDGE|GPRS|2G/i, '2G'],
]

export const mobileGenerationOf = (technology: string): ScannedOperator['generation'] =>
  generations.find(([pattern]) => pattern.test(technology))?.[1] ?? ''

const operatorStates = ['unknown', 'available', 'current', 'forbidden'] as const

export function operatorStateOf(id: unknown, text?: unknown): ScannedOperator['status'] {
  const known = operatorStates[numberOf(id) ?? -1]
  if (known) return known
  const word = textOf(text).toLowerCase()
  return operatorStates.find((state) => word.includes(state)) ?? 'unknown'
}

/** An item of a scan; undefined without a PLMN. */
export function scannedOf(item: {
  plmn: unknown
  names: readonly unknown[]
  technology: unknown
  state: unknown
  stateText?: unknown
}): ScannedOperator | undefined {
  const plmn = /^\d{5,6}$/.exec(textOf(item.plmn))?.[0]
  if (plmn === undefined) return undefined
  return {
    plmn,
    name: textOf(...item.names),
    generation: mobileGenerationOf(textOf(item.technology)),
    status: operatorStateOf(item.state, item.stateText),
  }
}

/** `+COPS: (2,"LMT","LMT","24701",7),(1,…),,(0,1,3),(0,2)` of AT+COPS=?. */
export function scannedByAt(output: string): ScannedOperator[] {
  return [...output.matchAll(/\((\d),"([^"]*)","([^"]*)","(\d{5,6})"(?:,(\d+))?\)/g)].flatMap(
    ([, state, long, short, plmn, act]) =>
      scannedOf({ plmn, names: [long, short], technology: actNames[Number(act)] ?? '', state }) ?? [],
  )
}

/** MCC and MNC as one number; 0 without one. */
export function plmnOf(...values: readonly unknown[]): number {
  for (const value of values) {
    const digits = /^\d{5,6}$/.exec(textOf(value))?.[0]
    if (digits !== undefined) return Number(digits)
  }
  return 0
}
