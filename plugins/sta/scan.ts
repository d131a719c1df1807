import type { ScannedNetwork } from 'rtk-base/services'

const mostLines = 64

/** One line a network, strongest first: signal, channel, how it authenticates, name. A network of several access points is one line. */
export function scanText(found: readonly ScannedNetwork[]): string {
  const sorted = found.toSorted((a, b) => b.rssi - a.rssi)
  const strongest = sorted.filter(
    ({ ssid, auth }, index) =>
      ssid === '' || sorted.findIndex((one) => one.ssid === ssid && one.auth === auth) === index,
  )
  if (strongest.length === 0) return 'no network is in reach'
  return strongest
    .slice(0, mostLines)
    .map(
      ({ ssid, rssi, channel, auth }) =>
        `${String(rssi).padStart(4)} dBm  channel ${String(channel).padEnd(3)}  ${auth.padEnd(8)}  ${ssid === '' ? '(hidden)' : printable(ssid)}`,
    )
    .join('\n')
}

/** Names come from strangers: what would move a terminal's cursor or begin another line is shown as a dot. */
const printable = (ssid: string) => ssid.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '·').slice(0, 32)
