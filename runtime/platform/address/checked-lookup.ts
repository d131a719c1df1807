import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { RtkError } from '../../errors.js'

/** What is wrong with an address that a connection would go to; undefined: nothing. */
export type Refuses = (address: string) => string | undefined

export const addressRefused = (trouble: string): RtkError => new RtkError('RTK_ERR_FETCH_TARGET', trouble)

function firstTrouble(refuses: Refuses, found: readonly LookupAddress[]): string | undefined {
  for (const { address } of found) {
    const trouble = refuses(address)
    if (trouble !== undefined) return trouble
  }
  return undefined
}

/** The sentence of a refused address, of an error of `ctx.fetch`; undefined: another error. */
export function refusedAddress(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof RtkError && at.code === 'RTK_ERR_FETCH_TARGET' && !(at.cause instanceof Error)) return at.message
  return undefined
}

/**
 * For a connection that may not go everywhere: the addresses that are checked are those that are dialled, so no name server can answer
 * the check and the connection differently. An address in place of a name is not looked up: check it yourself.
 */
export const checkedLookup =
  (refuses: Refuses): LookupFunction =>
  (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const trouble = error ? undefined : firstTrouble(refuses, found)
      const [first] = found ?? []
      if (error) done(error, '')
      else if (trouble !== undefined) done(addressRefused(trouble), '')
      else if (options.all) done(null, found)
      else done(null, first?.address ?? '', first?.family)
    })
  }
