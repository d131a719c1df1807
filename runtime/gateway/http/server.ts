/**
 * The one HTTP server. It belongs to the kernel, so that no plugin's reload drops the listening socket or a connection:
 * requests go to the live app.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hostname as machineName } from 'node:os'
import type { Duplex } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import type { Dispose } from '../../../schemas/event.js'
import type { Accounts, ErrorValues, HttpRoute } from '../../../schemas/services.js'
import { messageOf, RtkError, type RtkErrorCode } from '../../errors.js'
import { isLoopbackAddress } from '../../platform/address/address.js'
import { FairQueue } from '../../platform/fair-share/fair-queue.js'
import { Places } from '../../platform/fair-share/places.js'
import { CertificateFiles } from '../../platform/files/certificate-files.js'
import type { Owner } from '../../platform/guard/owner.js'
import { budgetsByNetwork } from '../../platform/intake.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { NetworkPort } from '../../platform/ports/network.js'
import { requestRate } from '../../platform/rates.js'
import type { KeptLogin } from '../login/kept-login.js'
import { Login, type LoginOptions, roleRefusal } from '../login/login.js'
import { Door } from '../net/door.js'
import { peerOf } from '../net/peer.js'
import type { ListenAddress } from '../net/types.js'
import { isReading, refusal } from './access.js'
import { type App, buildApp, notedRole, noteRole } from './app.js'
import { HttpConnection } from './http-connection.js'
import { defaultLimits, type HttpLimits } from './limits.js'
import { LocalNetwork } from './local-network.js'
import { callerOf, Proxies } from './proxies.js'
import { rawAnswer, sendError } from './replies.js'
import type { Role } from './routes/config.js'
import type { RouteSet } from './routes/route-set.js'

export interface HttpOptions extends LoginOptions {
  host: string
  /** 0: any free one. */
  port: number
  /** Allowed `Host` names besides addresses and local names. */
  hosts?: string[]
  /** Paths of the PEM files of a certificate with its chain, and of its key: with them, the address speaks HTTPS. */
  tls?: { cert: string; key: string }
  /** Addresses and prefixes of proxies, which speak for those whom they forward. */
  proxies?: string[]
}

export interface HttpServerDeps {
  log: Logger
  clock: Clock
  sockets: NetworkPort
  /** The machine's own name, allowed as `Host`. */
  hostname?: string
  network?: LocalNetwork
  /** A request was admitted; the station's own address that it came to. */
  seen?: (address: string) => void
  /** Left out: passwords and sessions end with the process. */
  kept?: KeptLogin
  /** The people of a plugin that knows some; `away`: it does not run. */
  accounts?: () => Accounts | 'away' | undefined
  limits?: Partial<HttpLimits>
  /** The time, and who is told what a person has to do about the certificate (`CertificateFiles.look`). */
  certificate?: { utc_ms(): number; report(trouble: ErrorValues | undefined): void }
  /** Left out: by the address. */
  isLoopback?: (address: string) => boolean
}

/** How often it is looked whether the files of the certificate were renewed. */
const certificateLook_ms = 60_000
/** An answer that takes longer is waiting for something other than the processor. */
const longestTurn_ms = 50
/** How long an old app may finish its answers. */
const drain_ms = 30_000
/** How long `close` waits for answers under way. */
const closeGrace_ms = 2_000

export class HttpServer {
  /** Of node: it parses and answers. Its connections come from the door. */
  readonly server: Server
  readonly #options: HttpOptions
  readonly #log: Logger
  readonly #clock: Clock
  readonly #sockets: NetworkPort
  readonly #limits: HttpLimits
  readonly #names: readonly string[]
  readonly #network: LocalNetwork
  readonly #seen: HttpServerDeps['seen']
  #live: App | undefined
  readonly #login: Login
  /** Old apps with answers under way → cancels the end of their time. */
  readonly #draining = new Map<App, Dispose>()
  readonly #connections = new Set<HttpConnection>()
  readonly #looking: NodeJS.Timeout
  readonly #places: Places
  readonly #proxies: Proxies
  /** Requests under way of clients behind proxies: each counts as a connection of the client's address. */
  readonly #forwarded: Places
  readonly #isLoopback: (address: string) => boolean
  /** Request budget of each address. */
  readonly #budgets = budgetsByNetwork(requestRate, performance.now())
  readonly #queue = new FairQueue({ longest_ms: longestTurn_ms })
  /** Built last, and not committed: its plugins could not start. */
  #staged: App | undefined
  #closing: boolean = false
  #door: Door | undefined
  readonly #certificate: CertificateFiles | undefined
  readonly #certificateDeps: HttpServerDeps['certificate']
  #certificateLook: Dispose = () => {}

  constructor(options: HttpOptions, deps: HttpServerDeps) {
    this.#options = options
    this.#log = deps.log
    this.#seen = deps.seen
    this.#clock = deps.clock
    this.#sockets = deps.sockets
    this.#limits = { ...defaultLimits, ...deps.limits }
    this.#network = deps.network ?? new LocalNetwork(deps.clock)
    this.#certificate = options.tls && new CertificateFiles(options.tls)
    this.#certificateDeps = deps.certificate
    this.#login = new Login(options, deps.clock, deps.kept, deps.accounts)
    this.#names = [deps.hostname ?? machineName(), ...(options.hosts ?? [])]
    this.#isLoopback = deps.isLoopback ?? isLoopbackAddress
    const tell = (refused: number, why: string) =>
      this.#log.warn({ refused }, `${refused} HTTP connection(s) refused: ${why}; more are refused until some end`)
    this.#places = new Places(deps.clock, tell, this.#isLoopback)
    this.#proxies = new Proxies(options.proxies ?? [])
    this.#forwarded = new Places(deps.clock, (refused, why) =>
      this.#log.warn({ refused }, `${refused} request(s) of a proxy refused: ${why}; more are refused until some end`),
    )
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

  /**
   * An address that the machine does not have yet, or a certificate that cannot be read, is tried again: RTCM does not depend on it.
   * @returns what is missing then; `opened` is called when it is there
   * @throws RTK_ERR_LISTEN
   */
  listen(opened: (at: ListenAddress) => void = () => {}): Promise<ListenAddress | 'address' | 'certificate'> {
    return new Promise((resolve, reject) => {
      let tell = (at: ListenAddress): void => resolve(at)
      let hasFailed = false
      const certificate = this.#certificate
      const ports = { network: this.#sockets, clock: this.#clock }
      this.#door = new Door(ports, this.#options, certificate && (() => certificate.read()), {
        // Proxies of HTTP name their clients in each request.
        isProxy: () => false,
        proxyFailed: () => {},
        admit: (socket) => this.#admits(socket),
        accepted: (socket) => this.#accepted(socket),
        handshakesRefused: (refused, why) =>
          this.#log.warn(
            { refused },
            `${refused} TLS handshake(s) refused: ${why}; more are refused until some have finished`,
          ),
        handshakeFailed: (error) => this.#log.debug({ err: error }, 'a TLS handshake failed'),
        opened: (at) => tell(at),
        failed: (_text, _wait_ms, error) => {
          if (hasFailed) return
          hasFailed = true
          const { host, port } = this.#options
          const text = `cannot listen on ${host}:${port}: ${messageOf(error)}`
          const { code, syscall } = error as NodeJS.ErrnoException
          // The rest of the station runs all the same: RTCM needs no page.
          const isCertificate = certificate !== undefined && syscall !== 'listen'
          if (code === 'EADDRNOTAVAIL' || isCertificate) {
            const why = isCertificate ? 'its certificate' : 'this machine has no such address (yet)'
            this.#log.warn(`${text}: ${why}; it is tried again every few seconds`)
            tell = opened
            resolve(isCertificate ? 'certificate' : 'address')
          } else {
            this.#door?.close()
            reject(new RtkError('RTK_ERR_LISTEN', text, { cause: error }))
          }
        },
      })
      if (certificate) this.#followCertificate(certificate)
    })
  }

  #followCertificate(certificate: CertificateFiles): void {
    this.#certificateLook = this.#clock.timer(certificateLook_ms, () => {
      const trouble = certificate.look(this.#certificateDeps?.utc_ms() ?? 0, () => {
        this.#door?.renew()
        this.#log.info('the certificate of the HTTP server was renewed: connections from now on get the new one')
      })
      this.#certificateDeps?.report(trouble)
      this.#followCertificate(certificate)
    })
  }

  /** Open ones. */
  get connections(): number {
    return this.#connections.size
  }

  /** SHA-256 of its own certificate; undefined: it speaks plain HTTP. */
  get fingerprint256(): string | undefined {
    return this.#certificate?.certificate?.fingerprint256
  }

  /**
   * Builds the next app; nothing live is touched.
   * @throws RTK_ERR_ROUTE_TAKEN naming both owners, RTK_ERR_ROUTES
   */
  async stage(sets: readonly RouteSet[]): Promise<App> {
    const staged = await buildApp(sets, {
      log: this.#log,
      clock: this.#clock,
      limits: this.#limits,
      login: this.#login,
      proxies: this.#proxies,
    })
    await this.#dropStaged()
    this.#staged = staged
    return staged
  }

  /** Code of plugins in it may hold resources that only its end gives back. */
  async #dropStaged(): Promise<void> {
    const dropped = this.#staged
    this.#staged = undefined
    await dropped?.close().catch((error) => this.#log.warn({ err: error }, 'an onClose hook of a route failed'))
  }

  /** Removes every password of the login. @returns whether there were any @throws RTK_ERR_STORE_WRITE */
  resetPasswords(): Promise<boolean> {
    return this.#login.resetPasswords()
  }

  /** Those that answer now. */
  get routes(): readonly HttpRoute[] {
    return this.#live?.routes ?? []
  }

  /** `next` answers new requests. The old app answers its own to the end, then closes. */
  commit(next: App): void {
    if (this.#staged === next) this.#staged = undefined
    const old = this.#live
    this.#live = next
    if (old === undefined || old === next) return
    this.#draining.set(
      old,
      this.#clock.timer(drain_ms, () => void this.#retire(old)),
    )
    void old.idle().then(() => this.#retire(old))
  }

  async #retire(old: App): Promise<void> {
    void this.#draining.get(old)?.()
    if (!this.#draining.delete(old)) return
    await old.close().catch((error) => this.#log.warn({ err: error }, 'an onClose hook of a route failed'))
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
    void this.#certificateLook()
    this.#door?.close()
    this.server.close()
    this.server.closeIdleConnections()
    const apps = [...this.#draining.keys(), ...(this.#live ? [this.#live] : [])]
    // Real time, not the clock port: a stopping process must stop, even with a test's clock.
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeGrace_ms)
    })
    await Promise.race([Promise.all(apps.map((app) => app.idle())), late])
    clearTimeout(timer)
    await Promise.all([...this.#connections].map((connection) => connection.cutOff()))
    await this.#dropStaged()
    for (const app of apps) {
      void this.#draining.get(app)?.()
      this.#draining.delete(app)
      await app.close().catch((error) => this.#log.warn({ err: error }, 'an onClose hook of a route failed'))
    }
  }

  // ── requests ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const connection = HttpConnection.of(request.socket)
    if (connection?.isRefused) return
    connection?.begin(response)
    const refused = connection?.mayAsk === false ? tooOften(request) : this.#forwards(request, response)
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
    const admitted = this.#admit(request, false)
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
    if (this.#live === undefined) {
      sendError(response, new RtkError('RTK_ERR_UNAVAILABLE', 'the service is starting'))
      return
    }
    // Fastify answers 415 to a malformed media type, but here the type does not matter.
    const { headers } = request
    const type = headers['content-type']
    if (type !== undefined && !/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/.test(type))
      headers['content-type'] = 'application/octet-stream'
    this.#inTurn(request, response, this.#live)
  }

  /**
   * Records the caller. A client behind a proxy has the same limits as a direct one: on requests, and on requests under way.
   * @returns why the request goes no further
   */
  #forwards(request: IncomingMessage, ended: ServerResponse | Duplex): RtkError | undefined {
    const isForwarded = this.#proxies.read(request)
    if (isForwarded === undefined)
      return new RtkError('RTK_ERR_REQUEST', 'the proxy names no address in X-Forwarded-For')
    if (!isForwarded) return undefined
    const address = callerOf(request)
    if (!this.#budgets.of(address, performance.now()).admits(0, performance.now())) return tooOften(request)
    const { connections: maxConnections, perAddress: maxPerAddress } = this.#limits
    const leave = this.#forwarded.enter(address, { maxConnections, maxPerAddress }, () => void ended.destroy())
    if (leave === undefined) return tooOften(request)
    ended.once('close', leave)
    return undefined
  }

  /**
   * A turn lasts until the answer is out. Programs on this machine do not wait: a proxy speaks for many. Whoever has gone
   * loses its turn: Node never emits `close` for an answer queued behind another (pipelining), see `HttpConnection.end`.
   */
  #inTurn(request: IncomingMessage, response: ServerResponse, live: App): void {
    const address = callerOf(request)
    if (this.#isLoopback(address)) {
      live.handle(request, response)
      return
    }
    const end = this.#queue.take(address, () => (this.#live ?? live).handle(request, response))
    if (end) response.once('close', end)
  }

  /** The caller's role, or the error that refuses the request. A password in it is checked first. */
  #admit(request: IncomingMessage, upgrade: boolean): Role | RtkError | Promise<Role | RtkError> {
    const { method = '', url = '', headers, rawHeaders } = request
    const peer = callerOf(request)
    const rules = {
      own: this.#network.prefixes(),
      names: this.#names,
      login: this.#login.admitsAll,
      isSecure: this.#certificate !== undefined,
    }
    const refused = refusal({ method, url, headers, rawHeaders, peer, upgrade }, rules)
    if (refused !== undefined || !this.#login.isOn) return refused ?? 'operator'
    if (!this.#login.isUnproven(headers)) return this.#roleOf(request, peer)
    return this.#login.prove({ headers, peer }).then(
      () => this.#roleOf(request, peer),
      (error) => error as RtkError,
    )
  }

  #roleOf(request: IncomingMessage, peer: string): Role | RtkError {
    const { headers } = request
    try {
      const role = this.#login.roleOf({ headers, peer, local: this.#network.isLocal(peer) })
      noteRole(request, role)
      return role
    } catch (error) {
      return error as RtkError
    }
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

  #admits(socket: Socket): boolean {
    const { address } = peerOf(socket)
    const { connections: maxConnections, perAddress, keptForLoopback } = this.#limits
    const maxPerAddress = this.#proxies.has(address) ? maxConnections : perAddress
    const giveWay = () => void socket.destroy()
    const isSilent = () => socket.bytesWritten === 0 && HttpConnection.of(socket)?.hasAsked !== true
    const leave = this.#places.enter(address, { maxConnections, maxPerAddress, keptForLoopback }, giveWay, isSilent)
    if (leave) socket.once('close', leave)
    return leave !== undefined
  }

  #accepted(socket: Socket): void {
    const { address } = peerOf(socket)
    const isCounted = !this.#proxies.has(address) && !this.#isLoopback(address)
    const now_ms = performance.now()
    const connection = new HttpConnection(socket, isCounted ? this.#budgets.of(address, now_ms) : undefined)
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
    if (this.#login.isOn) this.#endOfSessions()
  }

  /**
   * The end of a session also ends the answers it still reads: an event stream would last as long as its page is open.
   */
  #endOfSessions(): void {
    const isOver = (request: IncomingMessage) => {
      const local = this.#network.isLocal(callerOf(request))
      // Admitted while there was no login: only an operator keeps that.
      return !this.#login.allowsStill(notedRole(request) ?? 'operator', { headers: request.headers, local })
    }
    for (const connection of this.#connections) {
      // A state-changing request was allowed when it began, so it is finished.
      for (const answer of connection.underWay)
        if (isReading(answer.req.method ?? '') && isOver(answer.req)) answer.destroy()
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
    const admitted = this.#forwards(request, socket) ?? this.#admit(request, true)
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

const tooOften = (request: IncomingMessage) =>
  new RtkError('RTK_ERR_TOO_MANY_REQUESTS', `${callerOf(request)} asks too often`)

const clientErrors: Record<string, [RtkErrorCode, string]> & { other: [RtkErrorCode, string] } = {
  HPE_HEADER_OVERFLOW: ['RTK_ERR_REQUEST_HEADERS', 'the headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: ['RTK_ERR_REQUEST_TIMEOUT', 'the request did not arrive in time'],
  other: ['RTK_ERR_REQUEST', 'the request is not valid HTTP'],
}
