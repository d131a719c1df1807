/**
 * Phones that join the access point probe a few well-known pages of their makers for internet access. The answer
 * redirects to the station's page, which the phone then opens automatically.
 */
import type { IncomingMessage } from 'node:http'
import type { Dispose } from '../../../schemas/event.js'
import { normalAddress } from '../../platform/address/address.js'
import { guard } from '../../platform/guard/guard.js'
import { currentOwner } from '../../platform/guard/owner.js'

/** The probes of Android, Apple, Windows (two), Ubuntu and Firefox. */
const probes: ReadonlySet<string> = new Set([
  '/generate_204',
  '/hotspot-detect.html',
  '/connecttest.txt',
  '/ncsi.txt',
  '/canonical.html',
  '/success.txt',
])

export class CaptivePortal {
  readonly #addresses = new Set<() => readonly string[] | undefined>()

  /** @param addresses own ones of an access point, asked for at each probe */
  add(addresses: () => readonly string[]): Dispose {
    const owner = currentOwner()
    const guarded = owner ? guard(owner, 'addresses of the access point', addresses) : addresses
    this.#addresses.add(guarded)
    return () => void this.#addresses.delete(guarded)
  }

  /** Where a probe that came in on an access point is sent; undefined: it is none. */
  redirect({ method, url = '', socket }: IncomingMessage): string | undefined {
    if (this.#addresses.size === 0 || method !== 'GET' || !probes.has(url.split('?')[0] as string)) return undefined
    const address = normalAddress(socket.localAddress)
    if (![...this.#addresses].some((own) => own()?.includes(address))) return undefined
    const host = address.includes(':') ? `[${address}]` : address
    return `http://${host}${socket.localPort === 80 ? '' : `:${socket.localPort}`}/`
  }
}
