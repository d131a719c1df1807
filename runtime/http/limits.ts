/** What one client and one handler may take. Times in milliseconds. */
export interface HttpLimits {
  /** A request's headers must be in by then. */
  headersTimeout_ms: number
  /** A parsed body must be in by then; streamed ones must not pause for `idleTimeout_ms`. */
  bodyTimeout_ms: number
  /** A whole request must be in by then, also a firmware image over a slow link. */
  requestTimeout_ms: number
  /** A handler must have begun its answer by then, counted from the end of the request; a route may say otherwise. */
  handlerTimeout_ms: number
  /** A connection in the middle of a request or an answer that moves no byte for so long is closed. */
  idleTimeout_ms: number
  keepAliveTimeout_ms: number
  /** How often the server looks for connections and handlers that are over their time. */
  checkInterval_ms: number
  /** Bytes of headers. */
  maxHeaderSize: number
  connections: number
  /** From one address that is not of this machine. */
  perAddress: number
  /** Places of `connections` for programs on this machine: the health of an update is asked for there. */
  keptForLoopback: number
  /** Bytes of a parsed body, unless a route says otherwise. */
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
