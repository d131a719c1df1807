import type { Caller } from 'rtk-base/plugin'
import type { NetworkInterface } from 'rtk-base/services'

/** Whether a caller comes through the port, as it is wanted: he reached one of its addresses. */
export function reaches(port: NetworkInterface | undefined, isWanted: boolean, { address }: Caller): boolean {
  if (!isWanted || port?.state !== 'connected' || address === undefined) return false
  return [...port.ip4, ...port.ip6].some((own) => own.address === address)
}
