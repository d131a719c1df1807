import { hasSystemCode } from 'rtk-base/files'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { routerErrors } from 'rtk-base/services'
import { anySignal } from 'rtk-base/time'

/** The connection ended after the request was sent: whether it was carried out is not known. */
export class BrokenOff extends RtkError {
  constructor(place: string, cause: unknown) {
    super(routerErrors.RTK_ERR_ROUTER_OFFLINE, `${place}: the router cut the connection off`, { cause })
  }
}

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Blob
  /** For the whole exchange, the body of the answer included. */
  readonly limit_ms: number
  /** The largest answer; that of an ordinary call when left out. */
  readonly mostBytes?: number
  readonly signal: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** `''` when there is none. */
  readonly location: string
}

export type HttpEdges = Pick<PluginContext, 'fetch' | 'timers'>

/** The largest answers: those of ordinary calls have a few KiB. */
export const mostBytes = { usual: 131_072, large: 1_048_576 } as const

/** One server: its origin, and the certificate that it must have. */
export class RouterHttp {
  readonly origin: string
  readonly #edges: HttpEdges
  readonly #pin: string | undefined

  /** @param pin SHA-256 of its certificate; undefined over plain HTTP */
  constructor(edges: HttpEdges, origin: string, pin?: string) {
    this.#edges = edges
    this.origin = origin
    this.#pin = pin
  }

  /** @throws RTK_ERR_ROUTER_OFFLINE, _TIMEOUT, _ANSWER, _CERTIFICATE, RTK_ERR_ABORTED */
  async exchange(path: string, { limit_ms, signal, mostBytes: most, ...init }: HttpRequest): Promise<HttpAnswer> {
    const { fetch, timers } = this.#edges
    const over = anySignal([signal])
    const late = tooSlow(this.origin, limit_ms)
    const cancel = timers.after(limit_ms, () => over.abort(late))
    try {
      const response = await fetch(`${this.origin}${path}`, {
        ...init,
        timeout_ms: limit_ms,
        maxBytes: most ?? mostBytes.usual,
        signal: over.signal,
        ...(this.#pin !== undefined && { fingerprint256: this.#pin }),
      })
      const text = await response.text()
      return { status: response.status, text, location: response.headers.get('location') ?? '' }
    } catch (error) {
      if (over.signal.reason === late) throw late
      throw routerFailure(error, this.origin)
    } finally {
      void cancel()
      over.release()
    }
  }
}

const tooSlow = (place: string, limit_ms: number) =>
  new RtkError(routerErrors.RTK_ERR_ROUTER_TIMEOUT, `${place}: the router did not answer within ${limit_ms / 1000} s`)

/** The failure of a request as one of the router. */
function routerFailure(error: unknown, place: string): unknown {
  if (!(error instanceof RtkError)) return error
  const { code, message } = error
  switch (code) {
    case 'RTK_ERR_FETCH_UNREACHABLE':
    case 'RTK_ERR_FETCH_REFUSED':
      return new RtkError(routerErrors.RTK_ERR_ROUTER_OFFLINE, message, { cause: error })
    case 'RTK_ERR_FETCH_TIMEOUT':
      return new RtkError(routerErrors.RTK_ERR_ROUTER_TIMEOUT, message, { cause: error })
    case 'RTK_ERR_FETCH_CERTIFICATE':
      return new RtkError(routerErrors.RTK_ERR_ROUTER_CERTIFICATE, message, { cause: error })
    case 'RTK_ERR_FETCH_ANSWER':
      if (hasSystemCode(error, cutOff)) return new BrokenOff(place, error)
      return new RtkError(routerErrors.RTK_ERR_ROUTER_ANSWER, message, { cause: error })
    case 'RTK_ERR_ABORTED':
      return error
    default:
      return new RtkError(routerErrors.RTK_ERR_ROUTER_ANSWER, message, { cause: error })
  }
}

/** Codes of Node and of its HTTP client for a connection that the other side ended. */
const cutOff = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']
