import { BlockList, isIPv6 } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'

export type OwnAddress = Pick<NetworkInterfaceInfo, 'address' | 'cidr' | 'internal'>

/** Both ends of a socket. */
export interface Ends {
  localAddress: string | undefined
  remoteAddress: string | undefined
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

/** The addresses of the interface that has this one; empty where none has it. */
export const ownAddresses = (address: string): readonly OwnAddress[] =>
  Object.values(networkInterfaces()).find((all) => all?.some((own) => own.address === address)) ?? []
