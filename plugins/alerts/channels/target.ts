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

/** The machine itself, for a client. */
const unspecified = /^(0\.0\.0\.0|::)$/

export const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '')

/** An IPv4-mapped IPv6 address reaches the IPv4 address. URLs have it in hexadecimal. */
function plainOf(host: string): string {
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/i.exec(host) ?? []
  if (high === undefined || low === undefined) return host.replace(/^::ffff:(?=[\d.]+$)/i, '')
  const bytes = [high, low].flatMap((pair) => [Number.parseInt(pair, 16) >> 8, Number.parseInt(pair, 16) & 255])
  return bytes.join('.')
}

/** @returns what is wrong with a host; undefined: nothing, or a name whose address is looked up when a notice is sent */
export function hostTrouble(given: string, { allowsPrivate, isLocal, isRouter }: Reach): string | undefined {
  const host = plainOf(given)
  const version = isIP(host)
  if (version > 0 && linkLocal.check(host, version === 4 ? 'ipv4' : 'ipv6')) return 'has a link-local address'
  if (isRouter(host)) return 'has the address of the router'
  if (!allowsPrivate && (host === 'localhost' || unspecified.test(host) || isLocal(host)))
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
