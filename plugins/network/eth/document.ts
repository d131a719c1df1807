/** The `eth` block. Shapes: schemas/info/network.ts. */
import type { EthInfo } from 'rtk-base/schemas'
import type { Neighbour, NetworkInterface } from 'rtk-base/services'
import type { Port } from './port.js'

const mostNeighbours = 64

export const identity = (port: NetworkInterface | undefined): Pick<EthInfo, 'mac'> => ({ mac: port?.mac ?? '' })

export function state(
  port: NetworkInterface | undefined,
  neighbours: readonly Neighbour[],
): Omit<EthInfo, 'mac' | 'enabled'> {
  const { address = '', prefix } = port?.ip4[0] ?? {}
  return {
    cable: port?.carrier ?? false,
    ip: address,
    mask: prefix === undefined ? '' : maskOf(prefix),
    gw: port?.gateway ?? '',
    arp: [...new Set(neighbours.map(({ mac }) => mac))].slice(0, mostNeighbours),
  }
}

/** Dotted. */
export function maskOf(prefix: number): string {
  const bits = prefix <= 0 ? 0 : (0xffffffff << (32 - Math.min(32, prefix))) >>> 0
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.')
}

/** One line for the plugin list. */
export function describe({ interface: port, isWanted, absence }: Port): string {
  if (!port) return absence
  const { name, state, reason, ip4 } = port
  if (!isWanted)
    return state === 'connected' || state === 'connecting' ? `${name} is being disabled` : `${name} disabled`
  return [`${name} ${state}`, ip4[0]?.address, reason].filter(Boolean).join(', ')
}
