/** Whom a webhook may reach: whoever sets one must not post to the router or to other machines of the local network. */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

export interface Reach {
  isLocal(address: string): boolean
  isRouter(address: string): boolean
  /** The variant allows addresses of the local network. */
  readonly allowsPrivate: boolean
}

const linkLocal = new BlockList()
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4')
linkLocal.addSubnet('fe80::', 10, 'ipv6')

export const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '')

/** @returns what is wrong with a host; undefined: nothing, or a name whose address is looked up when a notice is sent */
export function hostTrouble(host: string, { allowsPrivate, isLocal, isRouter }: Reach): string | undefined {
  const version = isIP(host)
  if (version > 0 && linkLocal.check(host, version === 4 ? 'ipv4' : 'ipv6')) return 'has a link-local address'
  if (isRouter(host)) return 'has the address of the router'
  if (!allowsPrivate && (host === 'localhost' || isLocal(host)))
    return 'has an address of the local network, which alerts.privateTargets of the variant does not allow'
  return undefined
}

/** The same with the addresses of a name. */
export async function targetTrouble(url: string, reach: Reach): Promise<string | undefined> {
  const host = hostOf(url)
  const own = hostTrouble(host, reach)
  if (own || isIP(host) > 0) return own
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => hostTrouble(address, reach)).find((trouble) => trouble !== undefined)
}
