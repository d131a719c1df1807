/** Limits on one client and one handler. Times in milliseconds. */
export interface HttpLimits {
  /** A request's headers must be in by then. */
  headersTimeout_ms: number
  /** A parsed body must be in by then; streamed ones must not pause for `idleTimeout_ms`. */
  bodyTimeout_ms: number
  /** A whole request must be in by then, also a firmware image over a slow link. */
  requestTimeout_ms: number
  /** A handler must begin its answer within this time after the end of the request; a route may override it. */
  handlerTimeout_ms: number
  /** A connection in the middle of a request or an answer is closed after this long without traffic. */
  idleTimeout_ms: number
  keepAliveTimeout_ms: number
  /** Interval of the check for connections and handlers that have exceeded their time. */
  checkInterval_ms: number
  /** Bytes of headers. */
  maxHeaderSize: number
  connections: number
  /** From one address that is not of this machine. */
  perAddress: number
  /** Places of `connections` for programs on this machine: the health of an update is asked for there. */
  keptForLoopback: number
  /** Bytes of a parsed body, unless a route overrides it. */
  body: number
}

export const defaultLimits: HttpLimits = {
  headersTimeout_ms: 10_000,
  bodyTimeout_ms: 30_000,
  requestTimeout_ms: 30 * 60_000,
  handlerTimeout_ms: 60_000,
  idleTimeout_ms: 60_000,
  keepAliveTimeout_ms: 15_000,
  checkInterval_ms: 2_000,
  maxHeaderSize: 16_384,
  connections: 512,
  perAddress: 32,
  keptForLoopback: 8,
  body: 65_536,
}
