/** The sockets of the router: plain and TLS on loopback, always on the same ports, shut while it is away. */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Certificate } from './certificate.js'

const host = '127.0.0.1'
/** Of real time: someone else on this machine has the port for a moment. */
const again_ms = 20

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export interface ListenerOptions {
  certificate: Certificate | undefined
  /** Plain HTTP answers 307. */
  redirect: boolean
}

export class Listeners {
  readonly #plain: Server
  readonly #tls: HttpsServer | undefined
  readonly #ports = new Map<Server, number>()
  readonly #sockets = new Set<Socket>()
  #wanted = false
  #change: Promise<void> = Promise.resolve()

  constructor(handler: Handler, { certificate, redirect }: ListenerOptions) {
    const safely: Handler = async (request, response) => {
      try {
        await handler(request, response)
      } catch {
        // The connection ended while a body was read.
        response.destroy()
      }
    }
    this.#tls =
      certificate &&
      createHttpsServer({ cert: certificate.cert, key: certificate.key }, (...both) => void safely(...both))
    const redirecting: Handler = async (request, response) => {
      const location = `https://${host}:${this.port(true)}${request.url ?? '/'}`
      response.writeHead(307, { Location: location, 'Content-Length': 0 }).end()
      request.resume()
    }
    const plain = this.#tls && redirect ? redirecting : safely
    this.#plain = createHttpServer((...both) => void plain(...both))
    for (const server of this.#servers) {
      server.maxConnections = 100
      server.keepAliveTimeout = 20_000
      server.on('connection', (socket: Socket) => {
        this.#sockets.add(socket)
        socket.on('error', () => {})
        socket.once('close', () => this.#sockets.delete(socket))
      })
    }
  }

  port(tls: boolean): number {
    return this.#ports.get((tls ? this.#tls : undefined) ?? this.#plain) ?? 0
  }

  get listening(): boolean {
    return this.#servers.every((server) => server.listening)
  }

  /** Resolves when it can be reached. */
  open(): Promise<void> {
    this.#wanted = true
    this.#change = this.#change.then(() => this.#listen())
    return this.#change
  }

  /** At once nothing answers any more; resolves when the sockets are free. */
  close(): Promise<void> {
    this.#wanted = false
    const closed = this.#servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve())))
    for (const socket of this.#sockets) socket.destroy()
    this.#change = Promise.all([this.#change, ...closed]).then(() => {})
    return this.#change
  }

  /** New connections see this certificate; there are no old ones any more. */
  present({ cert, key }: Certificate): void {
    this.#tls?.setSecureContext({ cert, key })
    for (const socket of this.#sockets) socket.destroy()
  }

  get #servers(): Server[] {
    return this.#tls ? [this.#plain, this.#tls] : [this.#plain]
  }

  async #listen(): Promise<void> {
    for (const server of this.#servers) {
      while (this.#wanted && !server.listening) {
        const failed = await this.#try(server)
        if (failed !== undefined && !this.#ports.has(server)) throw failed
        if (failed !== undefined) await wait(again_ms)
      }
    }
    // The power went while the sockets were being opened.
    if (!this.#wanted) for (const server of this.#servers) server.close()
  }

  #try(server: Server): Promise<Error | undefined> {
    return new Promise((resolve) => {
      server.once('error', resolve)
      server.listen({ host, port: this.#ports.get(server) ?? 0 }, () => {
        server.off('error', resolve)
        this.#ports.set(server, (server.address() as AddressInfo).port)
        resolve(undefined)
      })
    })
  }
}
