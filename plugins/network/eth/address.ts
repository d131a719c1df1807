/** A fixed IPv4 address as a person enters it: pure. */
import { isIPv4 } from 'rtk-base/link'
import type { FixedAddress } from 'rtk-base/services'

export interface Entered {
  /** `192.168.1.20/24`, or without a prefix, which is then 24; `''`: none. */
  readonly address: string
  readonly gateway: string
  /** Separated by commas. */
  readonly dns: string
}

/** The usual size of a local network. */
const usualPrefix = 24
export const mostServers = 3

/** Undefined without an address. Only for entries without a fault. */
export function fixedAddressOf({ address, gateway, dns }: Entered): FixedAddress | undefined {
  if (address === '') return undefined
  const [own = '', prefix = usualPrefix] = address.split('/')
  return { address: own, prefix: Number(prefix), gateway, dns: serversOf(dns) }
}

const serversOf = (dns: string) =>
  dns
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/**
 * Fault of an entry, and which entry it is; undefined: none.
 * @param others addresses of the machine's other interfaces
 */
export function faultOf(
  entered: Entered,
  others: readonly { readonly name: string; readonly address: string; readonly prefix: number }[] = [],
): string | undefined {
  const fixed = fixedAddressOf(entered)
  if (!fixed) return entered.gateway + entered.dns === '' ? undefined : 'a gateway and DNS need a fixed address too'
  const { address, prefix, gateway, dns } = fixed
  if (!isIPv4(address)) return `${address} is not an IPv4 address such as 192.168.1.20`
  if (!Number.isInteger(prefix) || prefix < 8 || prefix > 30) return `the prefix is 8 to 30, not ${prefix}`
  const reason = unusable(address)
  if (reason) return `${address} is ${reason}`
  const end = endOf(address, prefix)
  if (end) return `${address} is ${end} of its network`
  if (gateway !== '') {
    if (!isIPv4(gateway)) return `the gateway ${gateway} is not an IPv4 address such as 192.168.1.1`
    if (gateway === address) return 'the gateway is the router, so it has another address than the station'
    if (networkOf(gateway, prefix) !== networkOf(address, prefix))
      return `the gateway ${gateway} is not in the network of ${address}/${prefix}`
    const end = endOf(gateway, prefix)
    if (end) return `the gateway ${gateway} is ${end} of its network`
  }
  if (dns.length > mostServers) return `at most ${mostServers} DNS servers, not ${dns.length}`
  for (const one of dns) {
    if (!isIPv4(one)) return `the DNS server ${one} is not an IPv4 address such as 192.168.1.1`
    const reason = unusable(one)
    if (reason) return `the DNS server ${one} is ${reason}`
  }
  const taken = others.find((other) => {
    const wider = Math.min(other.prefix, prefix)
    return networkOf(other.address, wider) === networkOf(address, wider)
  })
  return (
    taken && `${taken.name} is already in the network of ${address}/${prefix}: choose an address of another network`
  )
}

const numberOf = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const sizeOf = (prefix: number) => 2 ** (32 - prefix)
const networkOf = (address: string, prefix: number) => Math.floor(numberOf(address) / sizeOf(prefix))

/** The first and last addresses are not for machines. */
function endOf(address: string, prefix: number): string {
  const place = numberOf(address) % sizeOf(prefix)
  return place === 0 ? 'the first address' : place === sizeOf(prefix) - 1 ? 'the last address (broadcast)' : ''
}

/** RFC 1122 section 3.2.1.3, RFC 5771, RFC 1112 section 4. */
function unusable(address: string): string {
  const first = Math.floor(numberOf(address) / 2 ** 24)
  if (first === 127) return 'the loopback of each machine'
  if (first === 0 || first >= 240) return 'reserved'
  return first >= 224 ? 'for multicast' : ''
}
