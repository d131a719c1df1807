/** Units of the values in network blocks, whose names do not contain them. Pure. */

/** Last name of the path → unit. */
const units: Readonly<Record<string, string>> = {
  signal: 'dBm',
  rssi: 'dBm',
  rsrp: 'dBm',
  rsrq: 'dB',
  sinr: 'dB',
  temp: '°C',
  tx_power: 'dBm',
  max_txpwr: 'dBm',
  bandwidth: 'MHz',
  inactive_time: 's',
  sent: 'B',
  recvd: 'B',
}

/** Seconds that something runs. */
export const isDuration = (path: string): boolean => path === 'state uptime'

/** UTC seconds. */
export const isTime = (path: string): boolean => path === 'state time'

/** The unit of a figure by its path, as a card shows it; `''` without one. */
export const unitOf = (path: string): string => units[path.slice(path.lastIndexOf(' ') + 1)] ?? ''
