/**
 * Whom the station may send to at an address that a person entered: never a link-local one or the router, and others of
 * the local network only where the plugin allows them.
 */
import { cellularRouter, localNetwork, network } from '../../../schemas/services.js'
import { isLoopbackAddress, normalAddress, Prefixes } from '../../platform/address/address.js'
import type { PluginContext } from '../../plugin.js'

export interface HostReach {
  /** A host of the local network; the station itself is one, by any of its names. */
  isLocal(host: string): boolean
  isRouter(address: string): boolean
  /** The option of the variant without which addresses of the local network are refused; undefined: they are allowed. */
  readonly neededOption?: string
}

const linkLocal = new Prefixes(['169.254.0.0/16', 'fe80::/10'])

/** The machine itself, for a client: RFC 6761 (6.3), and the unspecified addresses. */
const isStation = (host: string) =>
  /^(localhost|.+\.localhost|0\.0\.0\.0|::)\.?$/i.test(host) || isLoopbackAddress(host)

/** The reach of a plugin, by the networks that the station has now. */
export function reachOf({ services }: PluginContext, neededOption?: string): HostReach {
  return {
    isLocal: (host) => isStation(normalAddress(host)) || (services.find(localNetwork)?.isLocal(host) ?? false),
    isRouter: (address) =>
      address !== '' &&
      [
        services.find(cellularRouter)?.address,
        ...(services.find(network)?.interfaces ?? []).flatMap(({ gateway, route6 }) => [gateway, route6?.gateway]),
      ].some((one) => normalAddress(one) === address),
    ...(neededOption !== undefined && { neededOption }),
  }
}

/** The host of a URL, without the brackets of an IPv6 address. */
export const urlHost = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '')

/** @returns what is wrong with a host; undefined: nothing, or a name, whose addresses are checked when it is dialled (`refuses` of `ctx.fetch`) */
export function hostTrouble(host: string, { isLocal, isRouter, neededOption }: HostReach): string | undefined {
  const address = normalAddress(host)
  if (linkLocal.has(address)) return 'has a link-local address'
  const isOwn = isStation(address)
  // A simulated router has an address of the station.
  if (!isOwn && isRouter(address)) return 'has the address of the router'
  if (neededOption === undefined || !(isOwn || isLocal(address))) return undefined
  const whose = isOwn ? 'leads to this station itself' : 'has an address of the local network'
  return `${whose}, which ${neededOption} of the variant does not allow`
}
