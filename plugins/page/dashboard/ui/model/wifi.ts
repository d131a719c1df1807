/** Networks that a scan found, and what a signal is worth. Pure. */

/** The value of `wifi-sta-scan`. */
export interface ScannedNetwork {
  readonly ssid: string
  readonly bssid: string
  readonly channel: number
  readonly signal_dbm: number
  readonly auth: string
  readonly canJoin: boolean
}

export type Strength = 'strong' | 'good' | 'weak' | 'poor'

/** dBm of a WiFi network. */
export function wifiStrength(signal_dbm: number): Strength {
  if (signal_dbm >= -55) return 'strong'
  if (signal_dbm >= -67) return 'good'
  return signal_dbm >= -77 ? 'weak' : 'poor'
}

/** dBm of a mobile network (RSSI). */
export function mobileStrength(rssi_dbm: number): Strength {
  if (rssi_dbm >= -65) return 'strong'
  if (rssi_dbm >= -80) return 'good'
  return rssi_dbm >= -95 ? 'weak' : 'poor'
}

/** One row a name, by its strongest access point; those that can be joined first. Hidden networks have no name to tap. */
export function joinable(found: readonly ScannedNetwork[]): readonly ScannedNetwork[] {
  const sorted = found
    .filter(({ ssid }) => ssid !== '')
    .sort((a, b) => Number(b.canJoin) - Number(a.canJoin) || b.signal_dbm - a.signal_dbm)
  return sorted.filter(({ ssid, auth }, at) => sorted.findIndex((one) => one.ssid === ssid && one.auth === auth) === at)
}

export const needsPassword = (auth: string): boolean => auth !== 'open'

/** The station takes 8 to 63 printable characters, or 64 hexadecimal digits. */
export const isWifiPassword = (text: string): boolean => /^([ -~]{8,63}|[0-9A-Fa-f]{64})$/.test(text)

export interface Operator {
  readonly plmn: number
  readonly name: string
  /** Bitmask: 256 GSM, 258 LTE, 4 any other. */
  readonly act: number
}

const technologies: readonly (readonly [mask: number, name: string])[] = [
  [258, 'LTE'],
  [256, 'GSM'],
  [4, 'UMTS'],
]
export const technologyOf = (act: number): string => technologies.find(([mask]) => (act & mask) === mask)?.[1] ?? ''
