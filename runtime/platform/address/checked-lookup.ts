import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { RtkError } from '../../errors.js'

/** What is wrong with an address that a connection would go to; undefined: nothing. */
export type Refuses = (address: string) => string | undefined

export const addressRefused = (trouble: string): RtkError => new RtkError('RTK_ERR_FETCH_TARGET', trouble)

/**
 * For a connection that may not go everywhere: the addresses that are checked are those that are dialled, so no name server can answer
 * the check and the connection differently. An address in place of a name is not looked up: check it yourself.
 */
export const checkedLookup =
  (refuses: Refuses): LookupFunction =>
  (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const trouble = error ? undefined : found.map(({ address }) => refuses(address)).find((one) => one !== undefined)
      const [first] = found ?? []
      if (error) done(error, '')
      else if (trouble !== undefined) done(addressRefused(trouble), '')
      else if (options.all) done(null, found)
      else done(null, first?.address ?? '', first?.family)
    })
  }
