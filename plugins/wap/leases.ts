/** The lease file of NetworkManager's dnsmasq: `<expiry epoch s> <mac> <ip> <hostname|*> <client-id|*>` a line. */
import { isIPv4 } from 'node:net'

const mostLeases = 1_024

/** Where NetworkManager has it for an interface. */
export const leasesPath = (folder: string, name: string) => `${folder}/dnsmasq-${name}.leases`

/**
 * IPv4 by MAC address, lower case. Lines that are none are left out. The expiry is not looked at: a base station often has no clock, and
 * only clients that are on the air are asked for.
 */
export function leasesOf(text: string): ReadonlyMap<string, string> {
  const leases = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [expiry = '', mac = '', ip = ''] = line.trim().split(/\s+/)
    if (!/^\d{1,12}$/.test(expiry) || !/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(mac) || !isIPv4(ip)) continue
    if (leases.size >= mostLeases) break
    leases.set(mac.toLowerCase(), ip)
  }
  return leases
}
