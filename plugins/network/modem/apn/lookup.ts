/** Which APN a SIM needs. Pure: the table is data, the SIM is passed in. */
import type { ApnSettings } from 'rtk-base/services'
import table from './apn-table.json' with { type: 'json' }

/** APN, name of the operator, user, password and authentication; empty ones at the end are left out. */
type Row = readonly [apn: string, carrier: string, user?: string, pswd?: string, auth?: string]

const { settings, networks } = table as unknown as {
  settings: readonly Row[]
  networks: Readonly<Record<string, readonly number[]>>
}

/** Settings used by operators of this network, the most likely first. @param plmn MCC and MNC as text */
export function settingsOf(plmn: string): readonly Row[] {
  const indices = Object.hasOwn(networks, plmn) ? networks[plmn] : []
  return indices.map((index) => settings[index])
}

/** Every network of the table, as text. */
export const knownNetworks = (): readonly string[] => Object.keys(networks)

/** Settings that an operator of this network uses. */
export interface Candidate extends ApnSettings {
  carrier: string
}

/** Settings from the installer that override the table, by the first digits of the IMSI or ICCID (which begins with 89). */
export type Carriers = Readonly<
  Record<string, { apn: string; user?: string; pswd?: string; auth?: ApnSettings['auth'] }>
>

export interface Sim {
  imsi: string
  iccid: string
  /** MCC and MNC of the network that the SIM is at home in, where the modem is registered there. */
  homePlmn?: string
}

/** Networks by issuer prefix of the ICCID (E.118: 89, country code, issuer), for SIMs with an unreadable IMSI. */
const issuers: readonly (readonly [prefix: string, plmn: string])[] = [
  ['8901260', '310260'],
  ['8901410', '310410'],
  ['891480', '311480'],
  ['896101', '50501'],
  ['896102', '50502'],
  ['896103', '50503'],
]

/** The settings that fit the SIM, the most likely one first; empty when its operator is not known. */
export function apnsOf(sim: Sim, carriers: Carriers = {}): Candidate[] {
  const imsi = digits(sim.imsi)
  const iccid = digits(sim.iccid)
  const own = longestPrefix(Object.keys(carriers), [imsi, iccid])
  if (own !== undefined) return [candidate(carriers[own], '')]
  for (const plmn of networksOf({ ...sim, imsi, iccid })) {
    const rows = settingsOf(plmn)
    if (rows.length > 0)
      return rows.map(([apn, carrier, user, pswd, auth]) => candidate({ apn, user, pswd, auth }, carrier))
  }
  return []
}

/** Candidates for MCC and MNC of the SIM, in lookup order: the IMSI does not show whether its MNC has 2 or 3 digits. */
function networksOf({ imsi, iccid, homePlmn = '' }: Sim): string[] {
  if (imsi === '') return issuers.filter(([prefix]) => iccid.startsWith(prefix)).map(([, plmn]) => plmn)
  if (homePlmn !== '' && imsi.startsWith(homePlmn)) return [homePlmn]
  return [imsi.slice(0, 6), imsi.slice(0, 5)]
}

function longestPrefix(prefixes: readonly string[], numbers: readonly string[]): string | undefined {
  const fitting = prefixes.filter((prefix) => numbers.some((number) => number.startsWith(prefix)))
  return fitting.sort((a, b) => b.length - a.length)[0]
}

function candidate(
  { apn, user = '', pswd = '', auth }: { apn: string; user?: string; pswd?: string; auth?: string },
  carrier: string,
): Candidate {
  return { apn, user, pswd, auth: authOf(user, auth), carrier }
}

/** With credentials PAP, unless it is known to be CHAP; without them none. */
export function authOf(user: string, auth?: string): ApnSettings['auth'] {
  if (user === '') return 'none'
  return auth === 'chap' ? 'chap' : 'pap'
}

/** Without the padding and the separators with which some modems report them. */
const digits = (number: string) => /^\d*/.exec(number.replaceAll(/[\s-]/g, ''))?.[0] ?? ''
