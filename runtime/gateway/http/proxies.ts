/** Proxies named by the operator (`http.proxies`): their forwarding headers are trusted, others are removed. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isLoopbackAddress, normalAddress, Prefixes } from '../../platform/address/address.js'

/** More hops than any chain of proxies has. */
const mostHops = 32
const scheme = 'x-forwarded-proto'
const forwarded = ['x-forwarded-for', scheme, 'x-forwarded-host'] as const

const callerKey = Symbol('caller')

/** The address that a request is attributed to. */
export const callerOf = (request: IncomingMessage): string =>
  (request as { [callerKey]?: string })[callerKey] ?? normalAddress(request.socket.remoteAddress)

export class Proxies {
  readonly #named: Prefixes

  /** @throws RTK_ERR_VARIANT */
  constructor(named: readonly string[]) {
    this.#named = Prefixes.named(named, 'http.proxies')
  }

  get isEmpty(): boolean {
    return this.#named.isEmpty
  }

  has(address: string): boolean {
    return this.#named.has(address)
  }

  /**
   * Records the caller: behind a named proxy, the last address of `X-Forwarded-For` that is not itself a proxy. From
   * all other peers the three headers are removed, so that no later code reads them. Exception: the scheme is kept if
   * no proxy is named and the request comes from this machine.
   * @returns whether a proxy speaks for another client; undefined: it names none
   */
  read(request: IncomingMessage): boolean | undefined {
    const { headers, socket } = request
    if (!this.has(socket.remoteAddress ?? '')) {
      if (forwarded.every((name) => headers[name] === undefined)) return false
      const isOwn = this.isEmpty && isLoopbackAddress(normalAddress(socket.remoteAddress))
      for (const name of forwarded) if (name !== scheme || !isOwn) delete headers[name]
      return false
    }
    const host = headers['x-forwarded-host']
    if (typeof host === 'string') headers.host = host
    const hops = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
    const last = hops
      .slice(-mostHops)
      .map((hop) => normalAddress(hop.trim()))
      .findLast((hop) => hop !== '' && !this.has(hop))
    if (last === undefined) return false
    if (isIP(last) === 0) return undefined
    Object.assign(request, { [callerKey]: last })
    return true
  }
}
