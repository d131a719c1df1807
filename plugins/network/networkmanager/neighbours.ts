import { readFileSync } from 'node:fs'
import type { Neighbour } from 'rtk-base/services'

const incomplete = '00:00:00:00:00:00'

/** The neighbours on an interface, of the text of `/proc/net/arp`. */
export function neighboursOf(text: string, name: string): Neighbour[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , mac, , device]) => device === name && mac !== undefined && mac !== incomplete)
    .map(([address = '', , , mac = '']) => ({ address, mac: mac.toLowerCase() }))
}

/** As the machine has them; empty where it has no such file. */
export function readNeighbours(name: string): Neighbour[] {
  try {
    return neighboursOf(readFileSync('/proc/net/arp', 'utf8'), name)
  } catch {
    return []
  }
}
