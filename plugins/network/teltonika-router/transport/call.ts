/** Calls to a router and their answers, for all transports. */

/** One ubus call (JSON-RPC `call`). */
export interface UbusCall {
  readonly object: string
  readonly method: string
  readonly args?: Readonly<Record<string, unknown>>
  /** The answer must be in by then; 15 s when left out. */
  readonly limit_ms?: number
  /** The operation continues without its answer. */
  readonly optional?: boolean
  /** False for a negative answer, e.g. of a command with a non-zero exit code. */
  readonly accepts?: (answer: unknown) => boolean
}

/** One REST request. */
export interface RestCall {
  readonly verb: 'GET' | 'POST' | 'PUT'
  /** Below the origin, e.g. `/api/modems/status`. */
  readonly path: string
  /** Sent as `{ "data": … }`. */
  readonly data?: unknown
  readonly limit_ms?: number
  readonly optional?: boolean
}

export type Call = UbusCall | RestCall

export const isUbus = (call: Call): call is UbusCall => 'object' in call

/** Name in messages and documentation: `gsm.modem0.info`, `GET /api/modems/status`. */
export function nameOf(call: Call): string {
  return isUbus(call) ? `${call.object}.${call.method}` : `${call.verb} ${call.path}`
}

/** Time limits of calls. A login that is given up may have been counted. */
export const limits_ms = { usual: 15_000, login: 30_000, info: 30_000, scan: 210_000 } as const

/** Calls that take minutes have long answers too. */
export const isLong = (limit_ms: number | undefined) => limit_ms === limits_ms.scan

/**
 * Why a call failed.
 * - `absent`: this router has no such object, method, section or path
 * - `expired`: the session is not valid, or it has not the right (ubus does not distinguish them)
 * - `refused`: the router refused the call
 * - `timeout`: the router aborted the call
 * - `answer`: the answer cannot be read
 */
export type FailureKind = 'absent' | 'expired' | 'refused' | 'timeout' | 'answer'

export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly kind: FailureKind; readonly text: string }

export interface Credentials {
  readonly user: string
  readonly pswd: string
}

/**
 * `rejected`: user or password is wrong, or the router blocks this address. `denied`: "Access denied", the answer of a starting
 * router to any pair.
 */
export type LoginAnswer = 'accepted' | 'rejected' | 'denied'

export type TransportKind = 'ubus' | 'rest'

/** A way to talk to one router. It sends what it is asked to, one request at a time; order and repetition belong to its user. */
export interface Transport {
  readonly kind: TransportKind
  /** Where it talks to: `http://192.168.1.1`. */
  readonly origin: string
  /** @throws RTK_ERR_ROUTER_OFFLINE, _TIMEOUT, _ANSWER, _CERTIFICATE, _LOGIN where it wants a new password first */
  login(credentials: Credentials, signal: AbortSignal): Promise<LoginAnswer>
  /**
   * The outcome of each call. One after the other it ends at the first failure of a call that is not optional.
   * @param together all are independent: in one request where the router takes that
   * @throws RTK_ERR_ROUTER_OFFLINE, _TIMEOUT, _ANSWER, _CERTIFICATE
   */
  call(calls: readonly Call[], together: boolean, signal: AbortSignal): Promise<Outcome[]>
  /**
   * Forwards a client's JSON-RPC request with the session filled in. @returns the raw answer
   * @throws RTK_ERR_ROUTER_UNSUPPORTED where the transport has no JSON-RPC, and as `call`
   */
  forward(request: unknown, limit_ms: number, signal: AbortSignal): Promise<string>
}
