import type { NetworkInterface } from 'rtk-base/services'

/** The second interface of a radio that does both at once. */
export const addedInterface = 'rtkap0'

/** Which interface carries what. The same one for both: they take turns, unless the radio is given a second interface. */
export interface Roles {
  readonly accessPoint: NetworkInterface | undefined
  readonly station: NetworkInterface | undefined
}

/** @param only the one radio to use, `''`: any */
export function rolesOf(interfaces: readonly NetworkInterface[], only: string): Roles {
  const radios = interfaces
    .filter(({ kind, state }) => kind === 'wifi' && state !== 'absent' && state !== 'unmanaged')
    .filter(({ name }) => only === '' || name === only || name === addedInterface)
    .toSorted((a, b) => a.name.localeCompare(b.name))
  const added = radios.find(({ name }) => name === addedInterface)
  const own = radios.filter((one) => one !== added)
  if (added) return { accessPoint: added, station: own[0] }
  const able = own.filter(({ wifi }) => wifi?.canBeAp ?? false)
  const [accessPoint] = able
  // With two radios, the uplink gets the radio not used by the access point.
  const station = own.find((one) => one !== accessPoint) ?? own[0]
  return { accessPoint, station }
}

export const takesTurns = ({ accessPoint, station }: Roles) => accessPoint?.name === station?.name

/** The interface has an address that others than its neighbours know: IPv4, or IPv6 beyond the link. DHCP may still be slow then. */
export const hasAddress = ({ ip4, ip6 }: Pick<NetworkInterface, 'ip4' | 'ip6'>) =>
  ip4.length > 0 || ip6.some(({ address }) => !/^fe[89ab]/i.test(address))

/** An uplink is a radio in station mode with an address and with the wanted network: the own access point never is one. */
export function isJoined(station: NetworkInterface | undefined, ssid: string): boolean {
  return (
    station?.state === 'connected' &&
    station.wifi?.mode === 'station' &&
    station.wifi.ssid === ssid &&
    hasAddress(station)
  )
}

export function isAccessPoint(one: NetworkInterface | undefined, ssid: string): boolean {
  return one?.state === 'connected' && one.wifi?.mode === 'ap' && one.wifi.ssid === ssid
}
