import { RtkError } from '../../errors.js'
import type { Resolve } from '../ports/network.js'

/** Fault of an address that a connection would go to; undefined: none. */
export type Refuses = (address: string) => string | undefined

export const addressRefused = (trouble: string): RtkError => new RtkError('RTK_ERR_FETCH_TARGET', trouble)

/** The sentence of a refused address, of an error of `ctx.fetch`; undefined: another error. */
export function refusedAddress(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof RtkError && at.code === 'RTK_ERR_FETCH_TARGET' && !(at.cause instanceof Error)) return at.message
  return undefined
}

/**
 * For a connection that may not go everywhere: the addresses that are checked are those that are dialled, so no name server can answer
 * the check and the connection differently. An address in place of a name is not resolved: check it yourself.
 */
export const checkedResolve =
  (resolve: Resolve, refuses: Refuses): Resolve =>
  async (host) => {
    const found = await resolve(host)
    for (const { address } of found) {
      const trouble = refuses(address)
      if (trouble !== undefined) throw addressRefused(trouble)
    }
    return found
  }
