import table from './apn-table.json' with { type: 'json' }

/** APN, name of the operator, user, password and authentication; empty ones at the end are left out. */
type Row = readonly [apn: string, carrier: string, user?: string, pswd?: string, auth?: string]

const { settings, networks } = table as unknown as {
  settings: readonly Row[]
  networks: Readonly<Record<string, readonly number[]>>
}

/** The settings that operators of this network use, the most likely one first. @param plmn MCC and MNC as they are written */
export function settingsOf(plmn: string): readonly Row[] {
  const indices = Object.hasOwn(networks, plmn) ? networks[plmn] : []
  return indices.map((index) => settings[index])
}

/** Every network of the table, as it is written. */
export const knownNetworks = (): readonly string[] => Object.keys(networks)
