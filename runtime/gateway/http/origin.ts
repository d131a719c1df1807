/** The origin page of a request: browsers send it, programs do not. */
import type { IncomingHttpHeaders } from 'node:http'

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/**
 * Scheme, host and port of an `Origin`; undefined unless it is the serialised origin of an http page (RFC 6454 §6.2). A
 * browser sends no other form: no user information, no path, no default port, no other spelling of the address.
 */
function pageOf(origin: string): { scheme: string; host: string; port: string } | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  if (url === undefined || url.origin !== origin || !(url.protocol in defaultPorts)) return undefined
  return { scheme: url.protocol, host: url.hostname, port: url.port || (defaultPorts[url.protocol] as string) }
}

/**
 * Whether a page of another site, or of another port of this host, is behind the request. Browsers send `Origin` with every
 * request that can change something and with every websocket, and `null` from sandboxed frames and files.
 */
export function isForeignOrigin(headers: IncomingHttpHeaders, isSecure = false): boolean {
  const site = headers['sec-fetch-site']
  // `same-site` is another port or another name of the same domain.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  const { origin } = headers
  if (origin === undefined) return false
  const page = pageOf(origin)
  const called = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+?)\.?(?::(\d{1,5}))?$/i.exec(headers.host ?? '')
  if (page === undefined || called === null) return true
  // A proxy in front that uses https sets the header; headers from strangers were removed.
  const scheme = (headers['x-forwarded-proto'] ?? (isSecure && 'https')) === 'https' ? 'https:' : 'http:'
  const [, host = '', port = defaultPorts[scheme]] = called
  return page.scheme !== scheme || page.host.replace(/\.$/, '') !== host.toLowerCase() || page.port !== port
}
