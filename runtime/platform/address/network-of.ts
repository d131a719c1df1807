import { isIPv6 } from 'node:net'
import { normalAddress } from './address.js'

/**
 * The network that an address belongs to when clients are counted for limits. An IPv6 client can use any address of
 * its /64, so the result is the
 * /64 (`2001:db8:0:1::/64`). An IPv4 address (also an IPv4-mapped one) and `::1` are returned as they are.
 */
export function networkOf(address: string): string {
  const plain = normalAddress(address)
  if (!isIPv6(plain) || plain === '::1') return plain
  const [before = '', after = ''] = plain.split('::').map((half) => half.replace(/[\d.]+\.\d+$/, '0:0'))
  const first = before.split(':').filter(Boolean)
  const last = after.split(':').filter(Boolean)
  const words = [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last].slice(0, 4)
  return `${words.map((word) => Number.parseInt(word, 16).toString(16)).join(':')}::/64`
}
