import { readFileSync } from 'node:fs'
import { endianness } from 'node:os'

/** Flags of a route (linux/route.h): it is up, and leads to a gateway. */
const viaGateway = 0x0001 | 0x0002

/** Default gateways by interface, IPv4, of the text of `/proc/net/route`. */
export function defaultGateways(text: string, isLittleEndian = endianness() === 'LE'): Map<string, string[]> {
  const gateways = new Map<string, string[]>()
  for (const line of text.split('\n').slice(1)) {
    const [name = '', destination, gateway = '', flags = '', , , , mask] = line.trim().split(/\s+/)
    const isDefault = destination === '00000000' && mask === '00000000'
    if (!isDefault || (Number.parseInt(flags, 16) & viaGateway) !== viaGateway || !/^[0-9A-F]{8}$/i.test(gateway))
      continue
    // The kernel prints the four bytes of the address as one number of its own byte order.
    const bytes = [...Buffer.from(gateway, 'hex')]
    gateways.set(name, [...(gateways.get(name) ?? []), (isLittleEndian ? bytes.reverse() : bytes).join('.')])
  }
  return gateways
}

/** The routes as the machine has them; empty where it has no such file. */
export function readDefaultGateways(): Map<string, string[]> {
  try {
    return defaultGateways(readFileSync('/proc/net/route', 'utf8'))
  } catch {
    return new Map()
  }
}
