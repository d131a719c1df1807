import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { Type } from 'typebox'
import { fieldOf, isObject } from './operations/parse.js'
import type { Router } from './router.js'
import { limits_ms } from './transport/call.js'
import { parsedJson } from './transport/json.js'
import { isDenied, isDone } from './transport/ubus.js'

/** For the turn. */
const patience_ms = 30_000

/** Calls that take minutes. */
const slowMethods = new Set(['scan_operators', 'set_operator_selection', 'exec', 'exec2'])

const Call = Type.Union([
  Type.Object({ jsonrpc: Type.String(), method: Type.String() }, { description: 'JSON-RPC 2.0' }),
  Type.Object(
    { object: Type.String(), method: Type.String(), args: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
    { description: 'A call of ubus' },
  ),
])
const RutRequest = Type.Union([Call, Type.Array(Call, { minItems: 1 })])

/** `POST /rut`: JSON-RPC of a client, with the station's session. */
export function addRutRoute(ctx: PluginContext, router: Router): void {
  const forwarder = new Forwarder(router, () => ctx.clock.monotonic())
  ctx.http.route({
    method: 'POST',
    url: '/rut',
    schema: {
      summary: 'JSON-RPC to the router, with the session of the station',
      requestBody: { required: true, content: { 'application/json': { schema: RutRequest } } },
      response: { 200: Type.Unknown({ description: 'The answer of the router, unchanged' }) },
    },
    config: { timeout_ms: limits_ms.scan + patience_ms + 5_000 },
    handler: async (request, reply) => {
      const asked = requestOf(request.body)
      return reply.type('application/json; charset=utf-8').send(await forwarder.forward(asked))
    },
  })
}

/** Routers keep a session for at least 5 min after its last use. */
const young_ms = 60_000

class Forwarder {
  readonly #router: Router
  readonly #now_ms: () => number
  /** The time of the last login after which a call was denied all the same: it lacks a right that no login gives. */
  #denied_ms = Number.NEGATIVE_INFINITY

  constructor(router: Router, now_ms: () => number) {
    this.#router = router
    this.#now_ms = now_ms
  }

  /** The router's answer as it came; a session that has expired is renewed once. */
  async forward(request: unknown): Promise<string> {
    const limit_ms = limitOf(request)
    return this.#router.link.turn(
      'rut',
      async (performer, signal, transport) => {
        const text = await transport.forward(request, limit_ms, signal)
        // Each login counts in the log of the router: not one for each request.
        if (!isSessionDenied(text) || this.#now_ms() - this.#denied_ms < young_ms) return text
        await performer.renew(signal)
        const again = await transport.forward(request, limit_ms, signal)
        if (isSessionDenied(again)) this.#denied_ms = this.#now_ms()
        return again
      },
      { patience_ms },
    )
  }
}

/** The session was refused, not one missing right: nothing was done. A router looks up an object before it looks at the session. */
function isSessionDenied(text: string): boolean {
  const answers = [parsedJson(text)].flat()
  return answers.some(isDenied) && !answers.some(isDone)
}

/**
 * A JSON-RPC object, a batch, or `{ object, method, args }`.
 * @throws RTK_ERR_REQUEST
 */
export function requestOf(body: unknown): unknown {
  const parts = [body].flat()
  const isRpc = (part: unknown) => isObject(part) && typeof part.method === 'string'
  if (parts.length === 0 || !parts.every(isRpc)) {
    const text = 'send a JSON-RPC object, a batch of them, or { "object": …, "method": …, "args": … }'
    throw new RtkError('RTK_ERR_REQUEST', text)
  }
  const requests = parts.map((part, index) => fullRequest(part as Record<string, unknown>, index))
  if (requests.some(({ params }) => params?.[1] === 'session' && params[2] === 'login')) {
    throw new RtkError(
      'RTK_ERR_REQUEST',
      'session.login is left to the station: every login counts towards the block of the router',
    )
  }
  return Array.isArray(body) ? requests : requests[0]
}

interface RpcRequest extends Record<string, unknown> {
  params?: unknown[]
}

function fullRequest(part: Record<string, unknown>, index: number): RpcRequest {
  if (typeof part.object !== 'string') return withSession(part as RpcRequest)
  const { object, method, args = {} } = part
  return { jsonrpc: '2.0', id: index + 1, method: 'call', params: ['', object, method, args] }
}

/** A call without a session, `[object, method, args]`, gets a place for it; one with a session has its own replaced. */
function withSession(request: RpcRequest): RpcRequest {
  const { params } = request
  const isShort = request.method === 'call' && Array.isArray(params) && params.length === 3 && isObject(params[2])
  return isShort ? { ...request, params: ['', ...params] } : request
}

function limitOf(request: unknown): number {
  const methods = [request].flat().map((one) => fieldOf(one, 'params', 2))
  return methods.some((method) => slowMethods.has(String(method))) ? limits_ms.scan : limits_ms.info
}
