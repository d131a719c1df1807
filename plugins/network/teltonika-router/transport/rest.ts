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
  type RestCall,
  type Transport,
} from './call.js'
import { mostBytes, type RouterHttp } from './http.js'
import { parsedJson } from './json.js'
import { Secrets } from './secrets.js'

/** `errors[].code` of the REST interface. */
const code = {
  notImplemented: 100,
  unauthorised: 120,
  loginFailed: 121,
  invalidToken: 123,
  expiredPassword: 124,
  firstLogin: 125,
}

/** The REST interface below `/api`, for routers without JSON-RPC. */
export class RestTransport implements Transport {
  readonly kind = 'rest'
  readonly origin: string
  readonly #http: RouterHttp
  readonly #secrets = new Secrets()
  #token = ''

  constructor(http: RouterHttp) {
    this.#http = http
    this.origin = http.origin
  }

  async login({ user, pswd }: Credentials, signal: AbortSignal): Promise<LoginAnswer> {
    this.#token = ''
    this.#secrets.add(pswd)
    const { status, text } = await this.#http.exchange('/api/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: user, password: pswd }),
      limit_ms: limits_ms.login,
      signal,
    })
    const answer = parsedJson(text)
    const token = fieldOf(answer, 'data', 'token')
    if (fieldOf(answer, 'success') === true && typeof token === 'string' && token !== '') {
      this.#token = token
      this.#secrets.add(token)
      return 'accepted'
    }
    const codes = codesOf(answer)
    const isFirst = codes.includes(code.firstLogin)
    if (isFirst || codes.includes(code.expiredPassword)) {
      const why = isFirst ? 'its password has never been changed' : 'its password has expired'
      const what = `${why}: log in to its web page, set another one, and set rtr-pswd to it`
      throw new RtkError(routerErrors.RTK_ERR_ROUTER_LOGIN, `${this.origin}: ${what}`)
    }
    if (status === 401 || status === 403 || codes.includes(code.loginFailed)) return 'rejected'
    throw new RtkError(
      routerErrors.RTK_ERR_ROUTER_ANSWER,
      `${this.origin}/api/login: HTTP status ${status}, codes ${codes.join(', ') || 'none'}`,
    )
  }

  async call(calls: readonly Call[], _together: boolean, signal: AbortSignal): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    for (const call of calls) {
      if (isUbus(call)) continue
      this.#secrets.addFrom(call.data)
      const body = call.data === undefined ? undefined : JSON.stringify({ data: call.data })
      const outcome = await this.#send(
        call,
        body,
        body === undefined ? {} : { 'content-type': 'application/json' },
        signal,
      )
      outcomes.push(outcome)
      if (!outcome.ok && !call.optional) break
    }
    return outcomes
  }

  async forward(): Promise<string> {
    const what = 'this router offers no JSON-RPC: install the package "JSON-RPC support" in its package manager'
    throw new RtkError(routerErrors.RTK_ERR_ROUTER_UNSUPPORTED, `${this.origin}: ${what}`)
  }

  /** A file for the router. */
  async upload(path: string, form: Blob, limit_ms: number, signal: AbortSignal): Promise<Outcome> {
    return this.#send({ verb: 'POST', path, limit_ms }, form, { 'content-type': form.type }, signal)
  }

  async #send(
    call: RestCall,
    body: string | Blob | undefined,
    type: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { status, text } = await this.#http.exchange(call.path, {
      method: call.verb,
      headers: { ...type, ...(this.#token !== '' && { authorization: `Bearer ${this.#token}` }) },
      ...(body !== undefined && { body }),
      limit_ms: call.limit_ms ?? limits_ms.usual,
      ...(isLong(call.limit_ms) && { mostBytes: mostBytes.large }),
      signal,
    })
    return outcomeOf(status, parsedJson(text), call, this.#secrets)
  }
}

function errorsOf(answer: unknown): Record<string, unknown>[] {
  const errors = fieldOf(answer, 'errors')
  return Array.isArray(errors) ? errors.filter(isObject) : []
}

const codesOf = (answer: unknown) => errorsOf(answer).map((one) => numberOf(one.code) ?? 0)

function outcomeOf(status: number, answer: unknown, call: RestCall, secrets: Secrets): Outcome {
  if (status < 300 && fieldOf(answer, 'success') === true) return { ok: true, value: fieldOf(answer, 'data') ?? {} }
  const codes = codesOf(answer)
  const texts = errorsOf(answer).map(
    (one) => `${textOf(secrets.hide(one.error)).slice(0, 100)} (${numberOf(one.code) ?? 'no code'})`,
  )
  const failed = (kind: Exclude<Outcome, { ok: true }>['kind']): Outcome => ({
    ok: false,
    kind,
    text: `${nameOf(call)}: ${texts.join('; ') || `HTTP status ${status}`}`,
  })
  if (status === 401 || codes.includes(code.unauthorised) || codes.includes(code.invalidToken)) return failed('expired')
  if (status === 404 || status === 501 || codes.includes(code.notImplemented)) return failed('absent')
  return failed(fieldOf(answer, 'success') === false ? 'refused' : 'answer')
}
