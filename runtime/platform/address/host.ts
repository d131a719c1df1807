/** The one field for a host: what people paste into it either works, or is refused with the place where it belongs. */
import Type from 'typebox'
import { hostPattern, optionalHostPattern } from './host-name.js'

const description = 'a host name or an address, without http://, user or port: the port has a field of its own'

/** Names, IPv4 and IPv6 addresses. A change, and the body of a request, are cleaned by `hostOf` before. */
export const Host = Type.String({ maxLength: 253, pattern: hostPattern, description })
/** A `Host`, or nothing. */
export const OptionalHost = Type.String({
  maxLength: 253,
  pattern: optionalHostPattern,
  description: `${description}; empty: none`,
})
