/** One Fastify instance, built off-line from the registrations of the live plugins. It does not listen on its own. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type onRequestHookHandler,
  type onSendHookHandler,
  type RouteOptions,
} from 'fastify'
import type { Logger } from 'pino'
import type { ErrorKind } from '../../../schemas/error-table.js'
import type { HttpRoute } from '../../../schemas/services.js'
import { errorTable, kindOf, messageOf, RtkError } from '../../errors.js'
import { type Owner, runAs } from '../../platform/guard/owner.js'
import { didYouMean } from '../../platform/nearest.js'
import type { Clock } from '../../platform/ports/clock.js'
import { type Login, roleRefusal, starting } from '../login/login.js'
import { passwordPath, sessionPath, sessionRoutes } from '../login/session.js'
import { bodyParser, RequestError, ValidationError, validatorCompiler } from './body.js'
import { noteReply } from './http-connection.js'
import type { HttpLimits } from './limits.js'
import type { Proxies } from './proxies.js'
import { errorBody, errorText, headersOf } from './replies.js'
import type { Role, RouteSet } from './routes/config.js'
import { neededRole, RouteTable, routeTaken } from './routes/table.js'

export interface AppDeps {
  log: Logger
  clock: Clock
  limits: HttpLimits
  login: Login
  proxies: Proxies
}

/**
 * Fastify makes these once for each app. Response schemas document; compiling a serialiser per route costs more
 * start-up than it saves at run time.
 */
const compilers = {
  buildValidator: () => validatorCompiler as never,
  buildSerializer: () => () => (data: unknown) => JSON.stringify(data),
}

/** Made by `buildApp`, put to work by `HttpServer.commit`. */
export class App {
  readonly #app: FastifyInstance
  readonly routes: readonly HttpRoute[]
  #inFlight = 0
  #idle: { promise: Promise<void>; resolve: () => void } | undefined
  #closed: Promise<void> | undefined
  /** One listener for all answers: a closure for each is paid with every request. */
  readonly #ended = () => {
    this.#inFlight--
    if (this.#inFlight > 0 || this.#idle === undefined) return
    this.#idle.resolve()
    this.#idle = undefined
  }

  constructor(app: FastifyInstance, routes: readonly HttpRoute[]) {
    this.#app = app
    this.routes = routes
  }

  /** Requests that it has not answered to the end. */
  get inFlight(): number {
    return this.#inFlight
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight++
    response.on('close', this.#ended)
    this.#app.routing(request, response)
  }

  /** Resolves when the last answer ended, at once when none is under way. Any number of callers may wait. */
  async idle(): Promise<void> {
    if (this.#inFlight === 0) return
    this.#idle ??= deferred()
    await this.#idle.promise
  }

  /** Runs the `onClose` hooks; answers under way continue. */
  close(): Promise<void> {
    this.#closed ??= this.#app.close()
    return this.#closed
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const roleKey = Symbol('role')
/** Without it Fastify compares a function with the exports of each loaded module, to find its name. */
const displayName = Symbol.for('fastify.display-name')

/** Notes what the caller may do, before an app gets the request. */
export function noteRole(request: IncomingMessage, role: Role): void {
  ;(request as { [roleKey]?: Role })[roleKey] = role
}

/** Undefined: the request was admitted while there was no login. */
export const notedRole = (request: IncomingMessage): Role | undefined => (request as { [roleKey]?: Role })[roleKey]

/**
 * @throws RTK_ERR_ROUTE_TAKEN naming both owners; RTK_ERR_ROUTES for any other refusal by Fastify, naming the owner.
 */
export async function buildApp(sets: readonly RouteSet[], deps: AppDeps): Promise<App> {
  const { log, clock, limits, login, proxies } = deps
  const app: FastifyInstance = fastify({
    loggerInstance: requestLogger(log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: limits.body,
    pluginTimeout: 10_000,
    // The HTTP server closes connections, never an app.
    forceCloseConnections: false,
    return503OnClosing: false,
    // For `request.ip`.
    ...(!proxies.isEmpty && { trustProxy: (address: string) => proxies.has(address) }),
    schemaController: { compilersFactory: compilers },
    frameworkErrors: (error, request, reply) => answerError(error, request, reply as FastifyReply, log),
  }) as unknown as FastifyInstance
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', bodyParser(limits.bodyTimeout_ms, clock))
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply, log))
  app.decorateRequest('role', {
    getter(this: FastifyRequest) {
      return login.isOn ? (notedRole(this.raw) ?? 'none') : 'operator'
    },
  })
  app.decorateRequest('user', {
    getter(this: FastifyRequest) {
      return login.userOf(this.raw.headers) ?? ''
    },
  })
  // Always there: a password may be set while this app answers.
  app.addHook('onRequest', (request, reply, done) => {
    if (login.isOn) checkRole(request, reply, done, log, login.isStarting)
    else done()
  })
  const taken = new RouteTable()
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const methods = taken.methodsOf(path)
    if (methods.length === 0) {
      // Nobody without a role comes here (checkRole): paths say what a station has.
      const text = `${request.method} ${request.url} is not here${didYouMean(path, taken.paths)}`
      return void reply.code(404).send(errorBody(errorTable.RTK_ERR_NOT_FOUND, text))
    }
    const text = `${path} takes ${methods.join(' or ')}, not ${request.method}`
    void reply.code(405).header('allow', methods.join(', ')).send(errorBody(errorTable.RTK_ERR_METHOD, text))
  })

  const runtime = sessionRoutes(login, log)
  for (const path of [sessionPath, passwordPath]) taken.reserve(path, runtime.name)
  try {
    for (const set of [runtime, ...sets]) {
      const register = (scope: FastifyInstance) => registerSet(scope, set, taken, log)
      app.register(Object.assign(register, { [displayName]: set.name }))
    }
    await app.ready()
  } catch (error) {
    await app.close().catch(() => {})
    if (error instanceof RtkError) throw error
    throw new RtkError('RTK_ERR_ROUTES', messageOf(error), { cause: error })
  }
  return new App(app, taken.entries)
}

/** Before every route, and without a route: compares the caller's role with the role the route needs. */
function checkRole(
  request: FastifyRequest,
  reply: FastifyReply,
  done: () => void,
  log: Logger,
  isStarting: boolean,
): void {
  const config = request.routeOptions.config ?? {}
  const refused = roleRefusal(request.role, neededRole(request.method, config))
  if (refused === undefined) done()
  else if (isStarting && request.role === 'none') answerError(starting(), request, reply, log)
  else answerError(refused, request, reply, log)
}

async function registerSet(scope: FastifyInstance, set: RouteSet, taken: RouteTable, log: Logger): Promise<void> {
  const { name, owner } = set
  const gate: onRequestHookHandler = (_request, reply, done) => {
    noteReply(reply)
    if (!owner) done()
    else if (owner.live) runAs(owner, done)
    else void answerNotRunning(reply, owner)
  }
  if (set.plugins.length > 0) {
    const ownLog = log.child({ plugin: name })
    scope.setChildLoggerFactory(() => ownLog)
    scope.addHook('onRequest', gate)
  }
  scope.addHook('onRoute', (route) => {
    route.config = { ...route.config, plugin: name, owner }
    if (route.method === 'HEAD') route.onSend = [endStream, route.onSend ?? []].flat()
    taken.add(route, name)
  })
  let what = ''
  try {
    for (const route of set.routes) {
      what = `${[route.method].flat().join('|')} ${route.url}: `
      // Copies: Fastify modifies its arguments, and the next app uses the record again.
      const copy = set.plugins.length > 0 ? { ...route } : gated(route, gate, owner)
      if (route.schema !== undefined) copy.schema = { ...route.schema }
      scope.route(copy)
    }
    what = ''
    for (const { plugin, options } of set.plugins) {
      const register = () => scope.register(plugin, { ...options })
      await (owner ? runAs(owner, register) : register())
    }
  } catch (error) {
    if (error instanceof RtkError && error.code === 'RTK_ERR_ROUTE_TAKEN') throw error
    const other = taken.lastConflict
    if ((error as FastifyError).code === 'FST_ERR_DUPLICATED_ROUTE' && other !== undefined)
      throw routeTaken(other.what, other.owner, name)
    throw new RtkError('RTK_ERR_ROUTES', `plugin ${name}: ${what}${messageOf(error)}`, { cause: error })
  }
}

/** The answer to a HEAD has no body: a stream made for it would have no reader and would run as long as its source. */
const endStream: onSendHookHandler = (_request, _reply, payload, done) => {
  if (payload instanceof Readable) payload.destroy()
  done(null, payload)
}

/** One logger for all requests: a child for each, or a factory that Fastify checks each time, is a tenth of a request. */
function requestLogger(log: Logger): Logger {
  const shared = Object.create(log) as Logger
  shared.child = (() => shared) as unknown as Logger['child']
  return shared
}

/**
 * A route that runs on behalf of its plugin, and only while that runs. Where a body may come, a hook decides before it is
 * read; a plain GET is wrapped, as a hook costs each of them more.
 */
function gated(route: RouteOptions, gate: onRequestHookHandler, owner: Owner | undefined): RouteOptions {
  const { handler, onRequest } = route
  if (route.method !== 'GET') return { ...route, onRequest: [gate, onRequest ?? []].flat() }
  return {
    ...route,
    handler(request, reply) {
      noteReply(reply)
      if (!owner) return handler.call(this, request, reply)
      if (!owner.live) return answerNotRunning(reply, owner)
      return runAs(owner, () => handler.call(this, request, reply))
    },
  }
}

function answerNotRunning(reply: FastifyReply, owner: Owner): FastifyReply {
  const kind = errorTable.RTK_ERR_UNAVAILABLE
  const body = errorBody(kind, `plugin ${owner.name} is not running`)
  const { type, text } = errorText(body, reply.routeOptions.config.errors)
  return reply
    .code(503)
    .headers({ ...headersOf(kind), connection: 'close' })
    .type(type)
    .send(text)
}

/** A server upstream answered wrongly or too late: not an error of the station. */
const isUpstream = new Set([502, 504])

/** Every error of a handler, a hook or the framework. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const { plugin, errors } = request.routeOptions.config ?? {}
  const send = (kind: ErrorKind, message: string, field?: string, status = kind.status) => {
    for (const [name, value] of Object.entries(headersOf(kind))) reply.header(name, value)
    const { type, text } = errorText(errorBody(kind, message, field), errors)
    void reply.code(status).type(type).send(text)
  }
  const code = (error as { code?: unknown }).code
  const status = (error as { statusCode?: unknown }).statusCode
  if (isRtkError(error)) {
    if (isUpstream.has(error.statusCode))
      log.warn({ code: error.code, plugin }, `answered with ${error.statusCode}: ${error.message}`)
    else if (error.statusCode >= 500 && error.statusCode !== 503) log.error({ err: error, plugin }, 'a route failed')
    send(kindOf(error), error.message)
  } else if (error instanceof ValidationError) {
    send(errorTable.RTK_ERR_REQUEST, error.message, error.field)
  } else if (error instanceof RequestError) {
    send(error.statusCode === 408 ? errorTable.RTK_ERR_REQUEST_TIMEOUT : errorTable.RTK_ERR_REQUEST, error.message)
  } else if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    send(errorTable.RTK_ERR_BODY_TOO_LARGE, messageOf(error))
  } else if (typeof status === 'number' && status >= 400 && status < 500) {
    // An error from a route's own library about a request, e.g. with statusCode 404.
    send(
      status === 404 ? errorTable.RTK_ERR_NOT_FOUND : errorTable.RTK_ERR_REQUEST,
      messageOf(error),
      undefined,
      status,
    )
  } else {
    log.error({ err: error, plugin, method: request.method, url: request.url }, 'a route failed')
    send(errorTable.RTK_ERR_INTERNAL, 'the request could not be answered')
  }
}

/** By shape, so that a plugin bundled with its own copy of the class is understood too. */
function isRtkError(error: unknown): error is RtkError {
  if (error instanceof RtkError) return true
  const { name, code, statusCode } = (error ?? {}) as { name?: unknown; code?: unknown; statusCode?: unknown }
  return name === 'RtkError' && typeof code === 'string' && typeof statusCode === 'number'
}
