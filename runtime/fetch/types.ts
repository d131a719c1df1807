/** Types of `ctx.fetch`. */

export interface FetchOptions extends Omit<RequestInit, 'redirect' | 'dispatcher'> {
  /** Until the head of the answer, and between two pieces of its body; default: 30 s. */
  timeout_ms?: number
  /** The largest body, after decompression; default: 1 MiB. */
  maxBytes?: number
  /** How many redirects are followed, 0 to 5; with 0, the default, the redirect itself is the answer. */
  redirects?: number
  /** PEM: the authorities that are trusted, instead of the public ones. */
  ca?: string | readonly string[]
  /** PEM: authorities that are trusted beside the public ones. */
  extraCa?: string | readonly string[]
  /**
   * SHA-256 of the server's own certificate (hexadecimal, with or without colons). A certificate with this digest is accepted even
   * if it is self-signed, for another name or expired. Without `ca` or `extraCa` nothing else is checked.
   */
  fingerprint256?: string
}

/** As the global `fetch`, with limits: the body can be streamed. */
export type Fetch = (url: string | URL, options?: FetchOptions) => Promise<Response>
