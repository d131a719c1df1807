/** Internet addresses: one form of each, the network that its client is counted by, and lists of prefixes. */
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { RtkError } from '../../errors.js'

export { isIP, isIPv4, isIPv6 }

/**
 * The one form of an address: without a zone (`%eth0`), an IPv4-mapped IPv6 address as the IPv4 address that it is, other IPv6 addresses as
 * RFC 5952 writes them. Any other text as it is, in lower case.
 */
export function normalAddress(address = ''): string {
  const plain = address.replace(/%.*$/, '').toLowerCase()
  if (!isIPv6(plain)) return plain
  // ipaddr.js takes `::127.0.0.1` for a mapped address: the system does not, and a stranger would be local.
  const parsed = ipaddr.IPv6.parse(plain.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, inWords))
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.toRFC5952String()
}

const inWords = (_: string, ...bytes: string[]): string => {
  const [a, b, c, d] = bytes.map(Number) as [number, number, number, number]
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

/** An address from its 4 or 16 bytes. */
export const addressOf = (bytes: Uint8Array): string => normalAddress(ipaddr.fromByteArray([...bytes]).toString())

/** An address of this machine that no other can have. A `Prefixes` would take as long as the rest of an admission. */
export const isLoopbackAddress = (address: string) =>
  address === '::1' || (address.startsWith('127.') && isIPv4(address))

/**
 * The network that an address belongs to when clients are counted for limits. An IPv6 client can use any address of its /64, so the
 * result is the /64 (`2001:db8:0:1::/64`). An IPv4 address and `::1` are returned as they are.
 */
export function networkOf(address: string): string {
  const plain = normalAddress(address)
  if (!isIPv6(plain) || plain === '::1') return plain
  const words = ipaddr.IPv6.parse(plain).parts.slice(0, 4)
  return `${words.map((word) => word.toString(16)).join(':')}::/64`
}

const kindOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** Addresses and prefixes (`10.0.0.0/8`). */
export class Prefixes {
  readonly #list = new BlockList()
  readonly isEmpty: boolean

  /** @throws Error naming the text that is neither */
  constructor(texts: readonly string[]) {
    this.isEmpty = texts.length === 0
    for (const text of texts) {
      const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
      const plain = normalAddress(address)
      // Of an IPv4-mapped prefix the first 96 bits are said already.
      const said = isIPv6(address) && isIPv4(plain) ? 96 : 0
      const longest = isIPv6(plain) ? 128 : 32
      const prefix = bits === undefined ? longest : Number(bits) - said
      if (isIP(address) === 0 || !(prefix >= 0 && prefix <= longest))
        throw new Error(`"${text}" is neither an address nor a prefix such as 10.0.0.0/8`)
      this.#list.addSubnet(plain, prefix, kindOf(plain))
    }
  }

  /** @throws RTK_ERR_VARIANT naming the option that has a wrong one */
  static named(texts: readonly string[], option: string): Prefixes {
    try {
      return new Prefixes(texts)
    } catch (error) {
      throw new RtkError('RTK_ERR_VARIANT', `${option}: ${(error as Error).message}`)
    }
  }

  has(address: string): boolean {
    if (this.isEmpty) return false
    const plain = normalAddress(address)
    return isIP(plain) !== 0 && this.#list.check(plain, kindOf(plain))
  }
}
