/** A router that answers with recorded shapes (RUTOS JSON-RPC and REST) and nothing else: what it is not given, it has not got. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export type Args = Record<string, unknown>
/** Data of a ubus call or of a REST answer; a `Status` for a ubus failure; a function of the arguments. */
export type Answer = unknown | ((args: Args) => unknown)
export class Status {
  readonly code: number
  constructor(code: number) {
    this.code = code
  }
}

export interface FakeOptions {
  /** `gsm.modem0.info` → answer. Undefined: there is no /ubus. */
  ubus?: Record<string, Answer>
  /** `GET /api/modems/status` → answer. Undefined: there is no /api. */
  rest?: Record<string, Answer>
  users?: Record<string, string>
  tls?: { key: string; cert: string }
}

export interface Asked {
  name: string
  args: Args
  session: string
}

const nullSession = '0'.repeat(32)

export class FakeRouter {
  readonly asked: Asked[] = []
  readonly logins: { user: string; pswd: string; ok: boolean }[] = []
  users: Record<string, string>
  /** How a login over ubus is answered, whatever its password: undefined as usual. */
  mood: (() => 'rejected' | 'denied' | undefined) | undefined
  /** Takes batches. */
  batches = true
  /** How a call in a session that has ended is answered over ubus: an error of JSON-RPC, or the status 6. */
  endedAs: 'error' | 'status' = 'error'
  /** What happens to a request before it is answered; true: it was dealt with. */
  fault: ((request: IncomingMessage, response: ServerResponse, body: string) => boolean | Promise<boolean>) | undefined
  inFlight = 0
  mostInFlight = 0
  url = ''
  ubus: FakeOptions['ubus']
  rest: FakeOptions['rest']
  readonly #tls: FakeOptions['tls']
  readonly #sessions = new Set<string>()
  #server: ReturnType<typeof createServer> | undefined
  #count = 0

  constructor({ ubus, rest, users = { admin: 'right' }, tls }: FakeOptions) {
    this.ubus = ubus
    this.rest = rest
    this.users = users
    this.#tls = tls
  }

  async listen(t: Test, port = 0): Promise<this> {
    const handler = (request: IncomingMessage, response: ServerResponse) => void this.#handle(request, response)
    const server = this.#tls ? createSecure(this.#tls, handler) : createServer(handler)
    this.#server = server
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    this.url = `${this.#tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
    t.teardown(() => this.close())
    return this
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server) return
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  expire(): void {
    this.#sessions.clear()
  }

  /** Names of what was asked, without logins and questions before them. */
  names(): string[] {
    return this.asked.map(({ name }) => name).filter((name) => !name.startsWith('session.'))
  }

  argsOf(name: string): Args[] {
    return this.asked.filter((one) => one.name === name).map(({ args }) => args)
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.inFlight++
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight)
    response.on('close', () => this.inFlight--)
    let body = ''
    for await (const piece of request) body += String(piece)
    if (await this.fault?.(request, response, body)) return
    if (request.url === '/ubus') this.#answerUbus(response, body)
    else this.#answerRest(request, response, body)
  }

  #answerUbus(response: ServerResponse, body: string): void {
    if (!this.ubus) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html><body>Not found</body></html>')
      return
    }
    const parsed = JSON.parse(body) as unknown
    const answer = Array.isArray(parsed)
      ? this.batches
        ? parsed.map((one) => this.#one(one))
        : { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } }
      : this.#one(parsed)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  #one(request: unknown): unknown {
    const { id, params } = request as { id: unknown; params: [string, string, string, Args] }
    const [session, object, method, args] = params
    const name = `${object}.${method}`
    this.asked.push({ name, args, session })
    const error = (code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } })
    const result = (...values: unknown[]) => ({ jsonrpc: '2.0', id, result: values })
    if (name === 'session.login') {
      const mood = this.mood?.()
      const ok = mood === undefined && this.users[String(args.username)] === args.password
      this.logins.push({ user: String(args.username), pswd: String(args.password), ok })
      if (mood === 'denied') return error(-32_002, 'Access denied')
      if (!ok) return result(6)
      return result(0, {
        ubus_rpc_session: this.#open(),
        timeout: 300,
        expires: 299,
        acls: {},
        data: { username: args.username },
      })
    }
    if (name === 'session.access') return result(0, { access: true })
    const answers = this.ubus ?? {}
    if (!Object.keys(answers).some((key) => key.startsWith(`${object}.`))) return error(-32_000, 'Object not found')
    if (session === nullSession || !this.#sessions.has(session))
      return this.endedAs === 'status' ? result(6) : error(-32_002, 'Access denied')
    if (!(name in answers)) return result(3)
    const value = valueFor(answers[name], args)
    if (value instanceof Status) return value.code === -32_002 ? error(-32_002, 'Access denied') : result(value.code)
    return value === undefined ? result(0) : result(0, value)
  }

  #answerRest(request: IncomingMessage, response: ServerResponse, body: string): void {
    const send = (status: number, answer: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    if (!this.rest) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html></html>')
      return
    }
    const name = `${request.method} ${request.url}`
    const isJson = String(request.headers['content-type'] ?? '').includes('json')
    const sent = (isJson && body !== '' ? JSON.parse(body) : { raw: body }) as Args
    const session = String(request.headers.authorization ?? '').replace('Bearer ', '')
    const failed = (status: number, code: number, error: string) =>
      send(status, { success: false, errors: [{ code, error, source: 'general' }] })
    if (name === 'GET /api/unauthorized/status')
      return void send(200, { success: true, data: { device_name: 'RUTX11' } })
    if (name === 'POST /api/login') {
      const ok = this.users[String(sent.username)] === sent.password
      this.logins.push({ user: String(sent.username), pswd: String(sent.password), ok })
      if (!ok) return void failed(401, 121, 'Login failed for any reason')
      const data = { username: sent.username, group: 'root', token: this.#open(), expires: 299 }
      return void send(200, { success: true, data })
    }
    if (!this.#sessions.has(session)) return void failed(401, 123, 'Invalid token')
    const args = (sent.data ?? (isJson ? {} : sent)) as Args
    this.asked.push({ name, args, session })
    if (!(name in this.rest)) return void failed(404, 122, 'Not found')
    const value = valueFor(this.rest[name], args)
    if (value instanceof Status) return void failed(value.code, value.code, 'refused by the test')
    send(200, { success: true, data: value ?? {} })
  }

  #open(): string {
    const session = (++this.#count).toString(16).padStart(32, 'a')
    this.#sessions.add(session)
    return session
  }
}

const valueFor = (answer: Answer, args: Args): unknown =>
  typeof answer === 'function' ? (answer as (args: Args) => unknown)(args) : answer
