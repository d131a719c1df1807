/**
 * Decides which requests may use the HTTP interface. The local network needs no login, so the service rejects
 * everything from outside it: foreign peers, names that an attacker's DNS points here (rebinding), and pages of other
 * sites and ports. Pure functions; the HTTP server calls them before routing, and before a request for an upgrade is refused: its answer tells a foreign page nothing.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { networkInterfaces } from 'node:os'
import { RtkError } from '../../errors.js'
import { Prefixes } from '../../platform/address/address.js'
import { isForeignOrigin } from './origin.js'

const local = new Prefixes([
  ...['127.0.0.0/8', '::1'],
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'], // RFC 1918
  ...['169.254.0.0/16', 'fe80::/10'], // link-local, RFC 3927 and RFC 4291
  'fc00::/7', // unique local, RFC 4193
])

/** The prefixes of the machine's own interfaces. One of length 0 contains every address, so it defines no local network. */
export const ownPrefixes = (interfaces: ReturnType<typeof networkInterfaces>): Prefixes =>
  new Prefixes(
    Object.values(interfaces).flatMap((addresses) =>
      (addresses ?? []).flatMap(({ cidr }) => (cidr && !cidr.endsWith('/0') ? [cidr] : [])),
    ),
  )

/**
 * Remembers answers by the object that they depend on and a text of the request: both checks run for every request, and
 * a client asks with the same address and name again and again. Bounded, as a stranger chooses the texts.
 */
function remembered<K extends object>(answer: (text: string, key: K) => boolean): (text: string, key: K) => boolean {
  const caches = new WeakMap<K, Map<string, boolean>>()
  return (text, key) => {
    let cache = caches.get(key)
    if (cache === undefined || cache.size > 256) {
      cache = new Map()
      caches.set(key, cache)
    }
    let verdict = cache.get(text)
    if (verdict === undefined) {
      verdict = answer(text, key)
      cache.set(text, verdict)
    }
    return verdict
  }
}

/** Loopback, link-local, private, or inside a prefix of one of its own interfaces. */
export const isLocalPeer = remembered(
  (address: string, own: Prefixes): boolean => local.has(address) || own.has(address),
)

/** The host of a `Host` header in lower case, without port, brackets and final dot; undefined when it is malformed. */
export function hostOfHeader(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{0,5})?$/i.exec(header)
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '')
}

const localSuffixes = ['.local', '.lan', '.home.arpa', '.internal']

/** A host that no foreign DNS server can answer for: an attacker's name that points here is none of these. */
export const isLocalHost = remembered((header: string, names: readonly string[]): boolean => {
  const host = hostOfHeader(header)
  if (host === undefined || host === '') return false
  return (
    isIP(host) !== 0 ||
    !host.includes('.') ||
    localSuffixes.some((suffix) => host.endsWith(suffix)) ||
    names.some((name) => name.toLowerCase() === host)
  )
})

const readOnly = new Set(['GET', 'HEAD', 'OPTIONS'])

/** A method that changes nothing. */
export const isReading = (method: string) => readOnly.has(method)

/** Whether a request can change state; one for an upgrade is judged as if it could. */
export const isStateChanging = (method: string, upgrade: boolean) => upgrade || !isReading(method)

/**
 * An event stream only reads, but it holds one of few places while it is open: a foreign page, which gains nothing from
 * it, would block its visitor's own pages. A browser always identifies an `EventSource` (HTML, section 9.2).
 */
const asksForEvents = ({ accept }: IncomingHttpHeaders) => accept?.includes('text/event-stream') === true

export interface AccessRequest {
  method: string
  /** As on the request line. */
  url: string
  headers: IncomingHttpHeaders
  /** Name, value, name, value … as received. */
  rawHeaders: readonly string[]
  peer: string
  upgrade: boolean
}

export interface AccessRules {
  /** Prefixes of own interfaces. */
  own: Prefixes
  /** Own and configured host names. */
  names: readonly string[]
  /** The station's own address speaks HTTPS. */
  isSecure?: boolean
  /** Tokens are set: they decide instead of the peer's address. */
  login: boolean
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** Why a request is refused before anybody asks who it is from; undefined when it is allowed. */
export function refusal(request: AccessRequest, rules: AccessRules): RtkError | undefined {
  const { headers } = request
  if (!rules.login && !isLocalPeer(request.peer, rules.own))
    return new RtkError('RTK_ERR_FORBIDDEN_PEER', `${request.peer} is not on the local network`)
  // An absolute request target would have to win over Host; no client of a plain server sends one.
  if (countHosts(request.rawHeaders) > 1 || !/^[/*]/.test(request.url))
    return new RtkError('RTK_ERR_FORBIDDEN_HOST', 'the request does not name one host')
  // HTTP/1.0 may leave Host out; a browser, which rebinding needs, never does.
  if (headers.host !== undefined && !isLocalHost(headers.host, rules.names))
    return new RtkError('RTK_ERR_FORBIDDEN_HOST', `${JSON.stringify(headers.host)} is not a name of this station`)
  if (
    (isStateChanging(request.method, request.upgrade) || asksForEvents(headers)) &&
    isForeignOrigin(headers, rules.isSecure)
  )
    return new RtkError(
      'RTK_ERR_FORBIDDEN_ORIGIN',
      `a page of ${JSON.stringify(headers.origin ?? 'another site')} asked for it, not one of this station`,
    )
  return undefined
}
