/** A gateway without a kernel around it, for tests of what it does with requests. */
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import type { HttpLimits } from '../../runtime/gateway/http/limits.js'
import { LocalNetwork } from '../../runtime/gateway/http/local-network.js'
import type { RouteSet } from '../../runtime/gateway/http/routes/config.js'
import { type HttpOptions, HttpServer } from '../../runtime/gateway/http/server.js'
import { type KeptLogin, loginOfProcess } from '../../runtime/gateway/login/kept-login.js'
import type { Owner } from '../../runtime/platform/guard/owner.js'
import { type Clock, systemClock } from '../../runtime/platform/ports/clock.js'
import { systemNetwork } from '../../runtime/platform/ports/system-network.js'
import { ownerOf } from './owner.js'

export interface OwnerParts {
  routes?: RouteOptions[]
  plugins?: { plugin: FastifyPluginAsync; options: object }[]
  live?: () => boolean
}

export const failures: { owner: string; what: string; error: unknown }[] = []
/** One plugin's routes. */
export function owner(name: string, parts: OwnerParts = {}): RouteSet & { readonly owner: Owner } {
  const own: Owner = {
    ...ownerOf(name),
    get live() {
      return parts.live?.() ?? true
    },
    failed: (error, what) => void failures.push({ owner: name, what, error }),
  }
  return { name, owner: own, routes: parts.routes ?? [], plugins: parts.plugins ?? [] }
}

export const get = (url: string, handler: RouteOptions['handler']): RouteOptions => ({ method: 'GET', url, handler })
export const post = (
  url: string,
  handler: RouteOptions['handler'],
  more: Partial<RouteOptions> = {},
): RouteOptions => ({
  method: 'POST',
  url,
  handler,
  ...more,
})
export const says = (word: string) => async () => ({ word })

/** A gateway on a free loopback port with these plugins. */
export async function serve(
  t: Test,
  owners: RouteSet[],
  {
    limits = {},
    logLines = [],
    clock = systemClock,
    kept = loginOfProcess(),
    network = new LocalNetwork(clock),
    isLoopback,
    ...options
  }: Partial<HttpOptions> & {
    limits?: Partial<HttpLimits>
    logLines?: string[]
    clock?: Clock
    kept?: KeptLogin
    network?: LocalNetwork
    isLoopback?: (address: string) => boolean
  } = {},
) {
  const sink = new PassThrough().on('data', (line) => logLines.push(String(line)))
  const gateway = new HttpServer(
    { host: '127.0.0.1', port: 0, ...options },
    {
      log: pino(sink),
      clock,
      sockets: systemNetwork,
      hostname: 'station.example',
      limits,
      kept,
      network,
      ...(isLoopback && { isLoopback }),
    },
  )
  const at = await gateway.listen()
  if (typeof at === 'string') throw new Error(`no ${at}`)
  const { port } = at
  gateway.commit(await gateway.stage(owners))
  t.teardown(() => gateway.close())
  const swap = async (next: RouteSet[]) => gateway.commit(await gateway.stage(next))
  const ask = async (path: string, more: RequestOptions & { body?: string | Buffer } = {}) => {
    const { body, ...rest } = more
    const request = httpRequest({ host: '127.0.0.1', port, path, agent: false, ...rest })
    request.end(body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const answer = await text(response)
    return {
      status: response.statusCode,
      headers: response.headers,
      text: answer,
      json: json(answer),
      socket: request.socket,
    }
  }
  return { gateway, port, swap, ask }
}

function json(answer: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(answer)
  } catch {
    return undefined
  }
}

/** Sends bytes as they are and collects what comes back until the server closes. */
export async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  // Not `once`: a reset is an end like any other here.
  await new Promise((resolve) => socket.on('close', resolve))
  return answer
}

export function upgradeRequest(path: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`GET ${path} HTTP/1.1`, 'connection: upgrade', 'upgrade: websocket', ...lines, '', ''].join('\r\n')
}

export function deferred(): { promise: Promise<unknown>; resolve: (value: unknown) => void } {
  let resolve: (value: unknown) => void = () => {}
  const promise = new Promise<unknown>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
