import { endianness, networkInterfaces } from 'node:os'
import { readRecordSync } from 'rtk-base/files'
import { type Ends, isLocal, normalAddress, type OwnAddress } from 'rtk-base/link'
import type { MqttLink } from 'rtk-base/services'

export interface Routing {
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
  { interfaces, router, gateways }: Routing,
): MqttLink['via'] {
  const address = normalAddress(localAddress)
  for (const [name, addresses] of Object.entries(interfaces)) {
    if (!addresses?.some((own) => own.address === address && !own.internal)) continue
    if (/^(wl|sta)/.test(name)) return 'sta'
    if (/^(ww|ppp|usb|qmi|rmnet|cdc)/.test(name)) return 'cellular'
    if (!/^(e|br)/.test(name)) continue
    const leadsToModem =
      router && !isLocal(normalAddress(remoteAddress), addresses) && gateways().get(name)?.includes(router)
    return leadsToModem ? 'cellular' : 'eth'
  }
  return ''
}

/** `viaOf` on this machine. @param router as in `Routing` */
export const interfaceOf = (ends: Ends, router: string | undefined): MqttLink['via'] =>
  viaOf(ends, { interfaces: networkInterfaces(), router, gateways: readDefaultGateways })

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
    return defaultGateways(readRecordSync('/proc/net/route'))
  } catch {
    return new Map()
  }
}
