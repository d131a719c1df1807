/** Types of `ctx.fetch`. */

import type { Refuses } from '../address/checked-resolve.js'

export interface FetchOptions extends Omit<RequestInit, 'redirect' | 'dispatcher'> {
  /** Time limit until the headers of the answer, and between two pieces of its body; default: 30 s. */
  timeout_ms?: number
  /** Time limit of the whole exchange, the body included. Default: none, for a body that is a stream. */
  whole_ms?: number
  /** Largest body in bytes, after decompression; default: 1 MiB. */
  maxBytes?: number
  /** Maximum number of redirects to follow, 0 to 5. With 0 (default), the redirect itself is the answer. */
  redirects?: number
  /** PEM: the CAs that are trusted, instead of the public CAs. */
  ca?: string | readonly string[]
  /** PEM: CAs that are trusted in addition to the public CAs. */
  extraCa?: string | readonly string[]
  /**
   * SHA-256 of the server's own certificate (hexadecimal, with or without colons). Any other certificate is refused.
   * Without `ca` and `extraCa`, nothing else is checked: the certificate may be self-signed, expired, or for another
   * name. With `ca` or `extraCa`, the certificate must also pass the usual checks.
   */
  fingerprint256?: string
  /** PEM: the certificate that this side shows, and its key (mutual TLS). */
  client?: { readonly cert: string; readonly key: string }
  /**
   * Asked about each address that a connection is about to go to, also behind a redirect: what is wrong with it, or undefined. Pass the
   * same function each time: connections are kept by it.
   * @throws RTK_ERR_FETCH_TARGET with its answer
   */
  refuses?: Refuses
}

/** Like the global `fetch`, with limits. The body can be streamed. */
export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<Response>
