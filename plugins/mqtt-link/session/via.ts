import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import type { MqttLink } from 'rtk-base/services'
import { readDefaultGateways } from './default-gateways.js'

export interface Surroundings {
  /** As `os.networkInterfaces()` has them. */
  interfaces: Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, 'address' | 'internal'>[] | undefined>>
  /** Address of the cellular router; undefined while its modem is not connected. */
  router: string | undefined
  /** Default gateways by interface. */
  gateways(): ReadonlyMap<string, readonly string[]>
}

/**
 * `mqtt.via`: the kind of interface that has the local address of the socket. An Ethernet port counts as cellular where its
 * default gateway is the cellular router, and that is connected through its modem.
 */
export function viaOf(
  localAddress: string | undefined,
  { interfaces, router, gateways }: Surroundings,
): MqttLink['via'] {
  const address = (localAddress ?? '').replace(/^::ffff:/, '')
  for (const [name, addresses] of Object.entries(interfaces)) {
    if (!addresses?.some((own) => own.address === address && !own.internal)) continue
    if (/^(wl|sta)/.test(name)) return 'sta'
    if (/^(ww|ppp|usb|qmi|rmnet|cdc)/.test(name)) return 'cellular'
    if (!/^(e|br)/.test(name)) continue
    return router && gateways().get(name)?.includes(router) ? 'cellular' : 'eth'
  }
  return ''
}

/** `viaOf` on this machine. */
export const interfaceOf = (localAddress: string | undefined, router: string | undefined): MqttLink['via'] =>
  viaOf(localAddress, { interfaces: networkInterfaces(), router, gateways: readDefaultGateways })
