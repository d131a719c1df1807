import { RtkError } from 'rtk-base/plugin'
import { routerErrors } from 'rtk-base/services'
import { fieldOf, isObject, numberOf, textOf } from '../operations/parse.js'
import {
  type Call,
  type Credentials,
  isLong,
  isUbus,
  type LoginAnswer,
  limits_ms,
  nameOf,
  type Outcome,
  type Transport,
  type UbusCall,
} from './call.js'
import { mostBytes as answerBytes, type RouterHttp } from './http.js'
import { parsedJson } from './json.js'
import { Secrets } from './secrets.js'

/** May call `session.login` and `session.access` only. */
export const nullSession = '0'.repeat(32)
/** uhttpd answers a longer body with a parse error. */
const mostBytes = 65_536
/** Also the answer to a login with a wrong password. */
const permissionDenied = 6

/** Status of a ubus call (ubusmsg.h) that is not success. */
const statusTexts: Readonly<Record<number, string>> = {
  1: 'invalid command',
  2: 'invalid argument',
  3: 'method not found',
  4: 'not found',
  5: 'no data',
  6: 'permission denied',
  7: 'time limit exceeded',
  8: 'not supported',
  9: 'unknown error',
  10: 'connection failed',
  11: 'out of memory',
  12: 'parse error',
  13: 'system error',
}
const absentStatus = new Set([3, 4])
const timeoutStatus = 7

/** `error.code` of JSON-RPC (uhttpd ubus.c). */
const rpcCode = {
  parse: -32_700,
  methodNotFound: -32_601,
  objectNotFound: -32_000,
  accessDenied: -32_002,
  timeout: -32_003,
}

/** The request of one call. */
export function envelope(session: string, { object, method, args = {} }: Omit<UbusCall, 'limit_ms'>, id: number) {
  return { jsonrpc: '2.0', id, method: 'call', params: [session, object, method, args] }
}

/** ubus over JSON-RPC: `POST /ubus`. */
export class UbusTransport implements Transport {
  readonly kind = 'ubus'
  readonly origin: string
  readonly #http: RouterHttp
  readonly #secrets = new Secrets()
  #session = nullSession
  #id = 0
  /** False once a router answered a batch with something else than a list. */
  #batches = true

  constructor(http: RouterHttp) {
    this.#http = http
    this.origin = http.origin
  }

  async login({ user, pswd }: Credentials, signal: AbortSignal): Promise<LoginAnswer> {
    this.#session = nullSession
    this.#secrets.add(pswd)
    const call = { object: 'session', method: 'login', args: { username: user, password: pswd } }
    const answer = await this.#post(envelope(nullSession, call, ++this.#id), limits_ms.login, signal)
    const session = fieldOf(answer, 'result', 1, 'ubus_rpc_session')
    if (typeof session === 'string' && /^[0-9a-f]{32}$/.test(session)) {
      this.#session = session
      this.#secrets.add(session)
      return 'accepted'
    }
    if (fieldOf(answer, 'result', 0) === permissionDenied) return 'rejected'
    if (fieldOf(answer, 'error', 'code') === rpcCode.accessDenied) return 'denied'
    throw new RtkError(
      routerErrors.RTK_ERR_ROUTER_ANSWER,
      `${this.origin}: session.login was answered ${shown(answer, this.#secrets)}`,
    )
  }

  async call(calls: readonly Call[], together: boolean, signal: AbortSignal): Promise<Outcome[]> {
    const wanted = calls.filter(isUbus)
    for (const { args } of wanted) this.#secrets.addFrom(args)
    if (together && wanted.length > 1 && this.#batches) {
      const outcomes = await this.#batch(wanted, signal)
      if (outcomes) return outcomes
      this.#batches = false
    }
    const outcomes: Outcome[] = []
    for (const call of wanted) {
      const request = envelope(this.#session, call, ++this.#id)
      const answer = await this.#post(request, call.limit_ms ?? limits_ms.usual, signal)
      const outcome = outcomeOf(answer, call, this.#secrets)
      outcomes.push(outcome)
      if (!outcome.ok && !call.optional) break
    }
    return outcomes
  }

  async forward(request: unknown, limit_ms: number, signal: AbortSignal): Promise<string> {
    const { text } = await this.#send(withSession(request, this.#session), limit_ms, signal, answerBytes.large)
    if (parsedJson(text) === undefined) throw notJson(this.origin, text)
    return text
  }

  /** Undefined when this router takes no batches. */
  async #batch(calls: readonly UbusCall[], signal: AbortSignal): Promise<Outcome[] | undefined> {
    const requests = calls.map((call) => envelope(this.#session, call, ++this.#id))
    const limit_ms = Math.max(...calls.map((call) => call.limit_ms ?? limits_ms.usual))
    const answers = await this.#post(requests, limit_ms, signal)
    if (!Array.isArray(answers)) return undefined
    return calls.map((call, index) => {
      const answer = answers.find((one) => fieldOf(one, 'id') === requests[index]?.id)
      return outcomeOf(answer, call, this.#secrets)
    })
  }

  async #post(request: unknown, limit_ms: number, signal: AbortSignal): Promise<unknown> {
    const most = isLong(limit_ms) ? answerBytes.large : answerBytes.usual
    const { text } = await this.#send(request, limit_ms, signal, most)
    const answer = parsedJson(text)
    if (answer === undefined) throw notJson(this.origin, text)
    return answer
  }

  async #send(request: unknown, limit_ms: number, signal: AbortSignal, most: number) {
    const body = JSON.stringify(request)
    if (Buffer.byteLength(body) > mostBytes) {
      throw new RtkError('RTK_ERR_BODY_TOO_LARGE', `the router takes requests of at most ${mostBytes} bytes`)
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await this.#http.exchange('/ubus', {
      method: 'POST',
      headers,
      body,
      limit_ms,
      mostBytes: most,
      signal,
    })
    if (answer.status !== 200) {
      throw new RtkError(
        routerErrors.RTK_ERR_ROUTER_ANSWER,
        `${this.origin}/ubus: answered with HTTP status ${answer.status}`,
      )
    }
    return answer
  }
}

const notJson = (place: string, text: string) =>
  new RtkError(
    routerErrors.RTK_ERR_ROUTER_ANSWER,
    `${place}: the answer cannot be read as JSON (${text.length} characters)`,
  )

/** The shape of an answer without its values: they may be secrets. */
function shown(answer: unknown, secrets: Secrets): string {
  if (!isObject(answer)) return `with ${Array.isArray(answer) ? 'a list' : typeof answer}`
  const code = fieldOf(answer, 'error', 'code') ?? fieldOf(answer, 'result', 0)
  return typeof code === 'number'
    ? `with code ${code}`
    : `with an object of ${textOf(secrets.hide(Object.keys(answer).slice(0, 5).join(', ')))}`
}

/** Whether an answer refuses the session: it has ended, or it lacks the right. */
export const isDenied = (answer: unknown): boolean =>
  fieldOf(answer, 'error', 'code') === rpcCode.accessDenied || fieldOf(answer, 'result', 0) === permissionDenied

/** Whether a call was done: its session is good. */
export const isDone = (answer: unknown): boolean => fieldOf(answer, 'result', 0) === 0

/** Evaluates the answer of a call. */
function outcomeOf(answer: unknown, call: UbusCall, secrets: Secrets): Outcome {
  const failed = (kind: Exclude<Outcome, { ok: true }>['kind'], text: string): Outcome => ({
    ok: false,
    kind,
    text: `${nameOf(call)}: ${text}`,
  })
  const error = fieldOf(answer, 'error')
  if (isObject(error)) {
    const code = numberOf(error.code)
    const text = `${textOf(secrets.hide(error.message), 'error').slice(0, 100)} (${code ?? 'no code'})`
    if (code === rpcCode.objectNotFound || code === rpcCode.methodNotFound) return failed('absent', text)
    if (isDenied(answer)) return failed('expired', text)
    if (code === rpcCode.timeout) return failed('timeout', text)
    return failed(code === rpcCode.parse ? 'answer' : 'refused', text)
  }
  const result = fieldOf(answer, 'result')
  if (!Array.isArray(result) || typeof result[0] !== 'number')
    return failed('answer', `answered ${shown(answer, secrets)}`)
  const [status, value = {}] = result as [number, unknown]
  if (status !== 0) {
    const text = `${statusTexts[status] ?? 'failed'} (status ${status})`
    if (absentStatus.has(status)) return failed('absent', text)
    if (isDenied(answer)) return failed('expired', text)
    return failed(status === timeoutStatus ? 'timeout' : 'refused', text)
  }
  // The modem's objects report failures inside a call that succeeded.
  const errno = numberOf(fieldOf(value, 'errno') ?? 0) ?? -1
  if (call.object.startsWith('gsm.') && errno !== 0) {
    return failed('refused', `${textOf(secrets.hide(fieldOf(value, 'error')), 'error').slice(0, 100)} (errno ${errno})`)
  }
  if (call.accepts?.(value) === false) {
    const output = textOf(secrets.hide(fieldOf(value, 'stderr')), secrets.hide(fieldOf(value, 'stdout')))
    return failed('refused', output === '' ? 'it ended with an error' : output)
  }
  return { ok: true, value }
}

/** A client's request with the session inserted. */
function withSession(request: unknown, session: string): unknown {
  if (Array.isArray(request)) return request.map((one) => withSession(one, session))
  if (!isObject(request) || !Array.isArray(request.params)) return request
  return { ...request, params: [session, ...request.params.slice(1)] }
}
