import { networkInterfaces } from 'node:os'

/** `mqtt.via`: the kind of interface that has the local address of the socket. */
export function viaOf(localAddress: string | undefined): 'eth' | 'sta' | 'cellular' | '' {
  const address = (localAddress ?? '').replace(/^::ffff:/, '')
  for (const [name, addresses] of Object.entries(networkInterfaces())) {
    if (!addresses?.some((own) => own.address === address && !own.internal)) continue
    if (/^(wl|sta)/.test(name)) return 'sta'
    if (/^(ww|ppp|usb|qmi|rmnet|cdc)/.test(name)) return 'cellular'
    if (/^(e|br)/.test(name)) return 'eth'
  }
  return ''
}
