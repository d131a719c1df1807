import { networkInterfaces } from 'node:os'
import { type Ends, isLocal, type OwnAddress, plain } from 'rtk-base/link'
import type { MqttLink } from 'rtk-base/services'
import { readDefaultGateways } from './default-gateways.js'

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

/** `viaOf` on this machine. @param router as in `Surroundings` */
export const interfaceOf = (ends: Ends, router: string | undefined): MqttLink['via'] =>
  viaOf(ends, { interfaces: networkInterfaces(), router, gateways: readDefaultGateways })
