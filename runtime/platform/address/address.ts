import { isIPv4, isIPv6 } from 'node:net'

/** Without a zone (`%eth0`), and an IPv4-mapped IPv6 address as the IPv4 address that it is. */
export function normalAddress(address = ''): string {
  const plain = address.replace(/%.*$/, '').toLowerCase()
  const mapped = /^(?:0{0,4}:){2,5}ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/.exec(plain)
  if (mapped === null || !isIPv6(plain)) return plain
  if (mapped[1] !== undefined) return mapped[1]
  const [high, low] = [Number.parseInt(mapped[2] as string, 16), Number.parseInt(mapped[3] as string, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** An address of this machine that no other can have. A `BlockList` would take as long as the rest of an admission. */
export const isLoopbackAddress = (address: string) =>
  address === '::1' || (address.startsWith('127.') && isIPv4(address))
