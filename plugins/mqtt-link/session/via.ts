import { BlockList, isIPv6 } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import type { MqttLink } from 'rtk-base/services'
import { readDefaultGateways } from './default-gateways.js'

type OwnAddress = Pick<NetworkInterfaceInfo, 'address' | 'cidr' | 'internal'>

export interface Ends {
  localAddress: string | undefined
  remoteAddress: string | undefined
}

export interface Surroundings {
  /** As `os.networkInterfaces()` has them. */
  interfaces: Readonly<Record<string, readonly OwnAddress[] | undefined>>
  /** Address of the cellular router; undefined while its modem is not connected. */
  router: string | undefined
  /** Default gateways by interface. */
  gateways(): ReadonlyMap<string, readonly string[]>
}

/**
 * `mqtt.via`: the kind of interface that has the local address of the socket. An Ethernet port counts as cellular where its
 * default gateway is the cellular router, that is connected through its modem, and the broker is not in the local network.
 */
export function viaOf(
  { localAddress, remoteAddress }: Ends,
  { interfaces, router, gateways }: Surroundings,
): MqttLink['via'] {
  const address = plain(localAddress)
  for (const [name, addresses] of Object.entries(interfaces)) {
    if (!addresses?.some((own) => own.address === address && !own.internal)) continue
    if (/^(wl|sta)/.test(name)) return 'sta'
    if (/^(ww|ppp|usb|qmi|rmnet|cdc)/.test(name)) return 'cellular'
    if (!/^(e|br)/.test(name)) continue
    const leadsToModem = router && !isLocal(plain(remoteAddress), addresses) && gateways().get(name)?.includes(router)
    return leadsToModem ? 'cellular' : 'eth'
  }
  return ''
}

/** IPv4 addresses without the form that they have on a socket of IPv6. */
export const plain = (address = '') => address.replace(/^::ffff:/, '')

/** In a network of one of these addresses: reached without the gateway. */
export function isLocal(address: string, own: readonly OwnAddress[]): boolean {
  const family = (one: string) => (isIPv6(one) ? 'ipv6' : 'ipv4')
  const networks = new BlockList()
  for (const { cidr } of own) {
    const [network, bits] = cidr?.split('/') ?? []
    if (network !== undefined) networks.addSubnet(network, Number(bits), family(network))
  }
  return address !== '' && networks.check(address, family(address))
}

/** `viaOf` on this machine. @param router as in `Surroundings` */
export const interfaceOf = (ends: Ends, router: string | undefined): MqttLink['via'] =>
  viaOf(ends, { interfaces: networkInterfaces(), router, gateways: readDefaultGateways })

/** The addresses of the interface that has this one; empty where none has it. */
export const ownAddresses = (address: string): readonly OwnAddress[] =>
  Object.values(networkInterfaces()).find((all) => all?.some((own) => own.address === address)) ?? []
