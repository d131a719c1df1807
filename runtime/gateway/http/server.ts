/**
 * The one HTTP server. It belongs to the kernel, so that no plugin's reload drops the listening socket or a connection:
 * requests go to the live app.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import type { HttpRoute } from '../../../schemas/services.js'
import { RtkError, type RtkErrorCode } from '../../errors.js'
import { FairQueue } from '../../platform/fair-share/fair-queue.js'
import type { Owner } from '../../platform/guard/owner.js'
import type { Clock } from '../../platform/ports/clock.js'
import { roleRefusal } from '../login/login.js'
import type { ListenAddress } from '../net/types.js'
import { isReading } from './access.js'
import { Admission, type AdmissionDeps, type AdmissionOptions, tooOften } from './admission.js'
import { type App, buildApp } from './app.js'
import { Apps, drain_ms } from './apps.js'
import { HttpConnection } from './http-connection.js'
import { HttpDoor, type HttpDoorDeps, type HttpDoorOptions } from './http-door.js'
import { defaultLimits, type HttpLimits } from './limits.js'
import { LocalNetwork } from './local-network.js'
import { callerOf } from './proxies.js'
import { rawAnswer, sendError } from './replies.js'
import type { Role, RouteSet } from './routes/config.js'

export interface HttpOptions extends AdmissionOptions, HttpDoorOptions {
  tls?: { cert: string; key: string }
}

export interface HttpServerDeps extends AdmissionDeps, HttpDoorDeps {
  network?: LocalNetwork
  /** A request was admitted; the station's own address that it came to. */
  seen?: (address: string) => void
  limits?: Partial<HttpLimits>
}

/** An answer that takes longer is waiting for something other than the processor. */
const longestTurn_ms = 50
/** How long `close` waits for answers under way. */
const closeGrace_ms = 2_000

export class HttpServer {
  /** Node's own server: it parses and answers. Its connections come from the door. */
  readonly server: Server
  readonly #log: Logger
  readonly #clock: Clock
  readonly #limits: HttpLimits
  readonly #network: LocalNetwork
  readonly #seen: HttpServerDeps['seen']
  readonly #door: HttpDoor
  readonly #admission: Admission
  readonly #apps: Apps
  readonly #connections = new Set<HttpConnection>()
  readonly #looking: NodeJS.Timeout
  readonly #queue = new FairQueue({ longest_ms: longestTurn_ms })
  #closing: boolean = false

  constructor(options: HttpOptions, deps: HttpServerDeps) {
    const { log, clock } = deps
    this.#log = log
    this.#clock = clock
    this.#seen = deps.seen
    this.#limits = { ...defaultLimits, ...deps.limits }
    this.#network = deps.network ?? new LocalNetwork(clock)
    this.#admission = new Admission(options, deps, this.#limits, this.#network)
    this.#apps = new Apps(log, clock)
    this.#door = new HttpDoor(options, deps, {
      admit: (socket) => this.#admission.enters(socket),
      accepted: (socket) => this.#accepted(socket),
    })
    const limits = this.#limits
    this.server = createServer({
      headersTimeout: limits.headersTimeout_ms,
      requestTimeout: limits.requestTimeout_ms,
      keepAliveTimeout: limits.keepAliveTimeout_ms,
      connectionsCheckingInterval: limits.checkInterval_ms,
      maxHeaderSize: limits.maxHeaderSize,
    })
    // Node begins to watch its limits with this event.
    this.server.emit('listening')
    this.#looking = setInterval(() => this.#look(), limits.checkInterval_ms).unref()
    this.server.on('request', (request, response) => this.#onRequest(request, response))
    this.server.on('upgrade', (request, socket, head) => this.#onUpgrade(request, socket, head))
    this.server.on('clientError', (error, socket) => this.#onClientError(error, socket))
  }

  /** See `HttpDoor.open`. */
  listen(opened?: (at: ListenAddress) => void): ReturnType<HttpDoor['open']> {
    return this.#door.open(opened)
  }

  /** Open ones. */
  get connections(): number {
    return this.#connections.size
  }

  /** SHA-256 of its own certificate; undefined: it speaks plain HTTP. */
  get fingerprint256(): string | undefined {
    return this.#door.fingerprint256
  }

  /**
   * Builds the next app; nothing live is touched.
   * @throws RTK_ERR_ROUTE_TAKEN naming both owners, RTK_ERR_ROUTES
   */
  async stage(sets: readonly RouteSet[]): Promise<App> {
    const { login, proxies } = this.#admission
    return this.#apps.stage(
      await buildApp(sets, { log: this.#log, clock: this.#clock, limits: this.#limits, login, proxies }),
    )
  }

  /** `next` answers new requests. The old app answers its own to the end, then closes. */
  commit(next: App): void {
    this.#apps.commit(next)
  }

  /** Routes that answer now. */
  get routes(): readonly HttpRoute[] {
    return this.#apps.routes
  }

  /** Removes every password of the login. @returns whether there were any @throws RTK_ERR_STORE_WRITE */
  resetPasswords(): Promise<boolean> {
    return this.#admission.login.resetPasswords()
  }

  /**
   * A plugin stops. Its answers may finish like those of an old app, then they are cut off: without the plugin a stream
   * never ends, and its reader would wait for ever.
   */
  release(owner: Owner): void {
    for (const answer of [...this.#connections].flatMap((connection) => connection.answersOf(owner))) {
      const spare = this.#clock.timer(drain_ms, () => void answer.destroy())
      answer.once('close', () => void spare())
    }
  }

  /** Stops accepting, gives answers under way 2 s, then ends every connection. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    clearInterval(this.#looking)
    this.#door.close()
    this.server.close()
    this.server.closeIdleConnections()
    // Real time, not the clock port: a stopping process must stop, even with a test's clock.
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeGrace_ms)
    })
    await Promise.race([this.#apps.idle(), late])
    clearTimeout(timer)
    await Promise.all([...this.#connections].map((connection) => connection.cutOff()))
    await this.#apps.close()
  }

  // ── requests ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = HttpConnection.of(request.socket)
    if (connection?.isRefused) return
    connection?.begin(response)
    const refused = connection?.mayAsk === false ? tooOften(request) : this.#admission.forwards(request, response)
    if (refused !== undefined) {
      if (connection) connection.isRefused = true
      response.shouldKeepAlive = false
      sendError(response, refused)
      return
    }
    const { headers } = request
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
      response.once('finish', () => this.#dumpRest(request))
    if (this.#closing) response.shouldKeepAlive = false
    const page = this.#network.portal.redirect(request)
    if (page !== undefined) {
      response.shouldKeepAlive = false
      response.writeHead(302, { location: page, 'cache-control': 'no-store', 'content-length': 0 }).end()
      return
    }
    const admitted = this.#admission.roleOf(request, false)
    if (!(admitted instanceof Promise)) this.#enter(request, response, admitted)
    else void admitted.then((later) => response.destroyed || this.#enter(request, response, later))
  }

  #enter(request: IncomingMessage, response: ServerResponse, admitted: Role | RtkError): void {
    if (admitted instanceof RtkError) {
      this.#log.debug({ code: admitted.code, peer: callerOf(request) }, admitted.message)
      response.shouldKeepAlive = false
      sendError(response, admitted)
      return
    }
    this.#seen?.(request.socket.localAddress ?? '')
    const { live } = this.#apps
    if (live === undefined) {
      sendError(response, new RtkError('RTK_ERR_UNAVAILABLE', 'the service is starting'))
      return
    }
    // Fastify answers 415 to a malformed media type, but here the type does not matter.
    const { headers } = request
    const type = headers['content-type']
    if (type !== undefined && !/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/.test(type))
      headers['content-type'] = 'application/octet-stream'
    this.#inTurn(request, response, live)
  }

  /**
   * A turn lasts until the answer is out. Programs on this machine do not wait: a proxy speaks for many. Whoever has gone
   * loses its turn: Node never emits `close` for an answer queued behind another (pipelining), see `HttpConnection.end`.
   */
  #inTurn(request: IncomingMessage, response: ServerResponse, live: App): void {
    const address = callerOf(request)
    if (this.#admission.isLoopback(address)) {
      live.handle(request, response)
      return
    }
    const end = this.#queue.take(address, () => (this.#apps.live ?? live).handle(request, response))
    if (end) response.once('close', end)
  }

  /** Reads the rest of an unwanted body for a moment, so that its sender gets to see the answer. */
  #dumpRest(request: IncomingMessage): void {
    const { socket } = request
    // A client that went away has no socket any more.
    if (request.complete || !socket) return
    request.resume()
    const timer = setTimeout(() => socket.destroy(), this.#limits.checkInterval_ms)
    request.once('close', () => clearTimeout(timer))
  }

  #accepted(socket: Socket): void {
    const connection = new HttpConnection(socket, this.#admission.budgetOf(socket))
    this.#connections.add(connection)
    socket.once('close', () => {
      this.#connections.delete(connection)
      connection.end()
    })
    this.server.emit('connection', socket)
  }

  #look(): void {
    const now_ms = performance.now()
    const { idleTimeout_ms, handlerTimeout_ms } = this.#limits
    for (const connection of this.#connections) {
      connection.look(now_ms, idleTimeout_ms)
      for (const reply of connection.overdue(this.#clock.monotonic(), handlerTimeout_ms)) this.#giveUpOn(reply)
    }
    this.#endOfSessions()
  }

  /**
   * The end of a session also ends the answers it still reads: an event stream would last as long as its page is open.
   */
  #endOfSessions(): void {
    for (const connection of this.#connections) {
      // A state-changing request was allowed when it began, so it is finished.
      for (const answer of connection.underWay)
        if (isReading(answer.req.method ?? '') && this.#admission.isOver(answer.req)) answer.destroy()
    }
  }

  /** A handler did not begin to answer in time: its client is told, and the handler's later answer is dropped. */
  #giveUpOn(reply: FastifyReply): void {
    const { method, url = '', config } = reply.routeOptions
    const { owner, errors, timeout_ms = this.#limits.handlerTimeout_ms } = config
    const what = `route ${[method].flat().join('|')} ${url}`
    const text = `${config.plugin}: ${what} gave no answer within ${timeout_ms / 1_000} s`
    const error = new RtkError('RTK_ERR_PLUGIN_TIMEOUT', text)
    reply.hijack()
    reply.raw.shouldKeepAlive = false
    sendError(reply.raw, error, errors)
    owner?.failed(error, what)
  }

  /** Malformed, oversized or late input. An error here must end the connection, never the process. */
  #onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (!socket.writable || error.code === 'ECONNRESET' || HttpConnection.of(socket)?.isAnswering) {
      socket.destroy()
      return
    }
    const [code, message] = clientErrors[error.code ?? ''] ?? clientErrors.other
    socket.end(rawAnswer(new RtkError(code, message)), () => socket.destroy())
  }

  // ── upgrades ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Nothing of the station takes another protocol; the access rules answer first. */
  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!/\bwebsocket\b/i.test(request.headers.upgrade ?? '')) {
      const readAnew = () => {
        if (socket.destroyed) return
        socket.unshift(Buffer.concat([withoutUpgrade(request), head]))
        this.server.emit('connection', socket)
      }
      const before = HttpConnection.of(socket)?.underWay.at(-1)
      if (before) before.once('close', readAnew)
      else readAnew()
      return
    }
    // Node took its own listeners off: without one here an ECONNRESET would end the process.
    socket.on('error', (error) => this.#log.debug({ err: error }, 'a connection that asked for an upgrade failed'))
    const [path = ''] = (request.url ?? '').split('?', 1)
    const answer = (admitted: Role | RtkError) => {
      const refused = admitted instanceof RtkError ? admitted : roleRefusal(admitted, 'operator')
      const error = refused ?? new RtkError('RTK_ERR_NOT_FOUND', `nothing at ${path} takes an upgrade`)
      socket.end(rawAnswer(error), () => socket.destroy())
    }
    const admitted = this.#admission.forwards(request, socket) ?? this.#admission.roleOf(request, true)
    if (admitted instanceof Promise) void admitted.then((later) => socket.destroyed || answer(later))
    else answer(admitted)
  }
}

/**
 * An unsupported protocol is ignored (RFC 9110 §7.8): Java's HTTP client asks for `h2c` with every first request. Node
 * has released the connection by then, and reads this request anew.
 */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!/^(upgrade|http2-settings)$/i.test(rawHeaders[at])) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

const clientErrors: Record<string, [RtkErrorCode, string]> & { other: [RtkErrorCode, string] } = {
  HPE_HEADER_OVERFLOW: ['RTK_ERR_REQUEST_HEADERS', 'the headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: ['RTK_ERR_REQUEST_TIMEOUT', 'the request did not arrive in time'],
  other: ['RTK_ERR_REQUEST', 'the request is not valid HTTP'],
}
