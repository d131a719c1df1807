/** The self-signed certificate that a router makes for itself (RFC 5280; ECDSA P-256 with SHA-256). */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import {
  BitString,
  Constructed,
  fromBER,
  Integer,
  ObjectIdentifier,
  Sequence,
  Set as SetOf,
  UTCTime,
  Utf8String,
} from 'asn1js'
import type { Bound, NetworkPort, Socket } from 'rtk-base/plugin'

export interface Certificate {
  cert: string
  key: string
  /** SHA-256 of the certificate: hexadecimal, lower case. */
  fingerprint256: string
}

const oids = { commonName: '2.5.4.3', organization: '2.5.4.10', ecdsaWithSha256: '1.2.840.10045.4.3.2' }

const part = (oid: string, value: string) =>
  new SetOf({ value: [new Sequence({ value: [new ObjectIdentifier({ value: oid }), new Utf8String({ value })] })] })
const algorithm = () => new Sequence({ value: [new ObjectIdentifier({ value: oids.ecdsaWithSha256 })] })
const name = (commonName: string) =>
  new Sequence({ value: [part(oids.organization, 'Simulated router'), part(oids.commonName, commonName)] })
const pem = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`

export function selfSigned(commonName: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  // The first bit is clear: a serial number is positive.
  const serial = Buffer.concat([Buffer.from([0x2a]), randomBytes(15)])
  const tbs = new Sequence({
    value: [
      new Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [new Integer({ value: 2 })] }),
      new Integer({ valueHex: new Uint8Array(serial) }),
      algorithm(),
      name(commonName),
      new Sequence({
        value: [new UTCTime({ valueDate: new Date('2024-01-01') }), new UTCTime({ valueDate: new Date('2044-01-01') })],
      }),
      name(commonName),
      fromBER(new Uint8Array(spki)).result,
    ],
  })
  const signature = sign('sha256', new Uint8Array(tbs.toBER()), privateKey)
  const whole = new Sequence({
    value: [tbs, algorithm(), new BitString({ valueHex: new Uint8Array(signature) })],
  })
  const der = Buffer.from(whole.toBER())
  return {
    cert: pem(der),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    fingerprint256: createHash('sha256').update(der).digest('hex'),
  }
}

const host = '127.0.0.1'
/** The time between attempts, real: someone else on this machine has the port for a moment. */
const again_ms = 20
const mostConnections = 100

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Where the router listens. */
export interface Ports {
  plain: number
  tls?: number
}

export interface ListenerOptions {
  network: NetworkPort
  certificate: Certificate | undefined
  /** Plain HTTP answers 307. */
  redirect: boolean
  /** Left out: free ones. */
  ports?: Ports
}

export class Listeners {
  readonly #plain: Server
  readonly #tls: HttpsServer | undefined
  readonly #network: NetworkPort
  readonly #ports = new Map<Server, number>()
  readonly #bound = new Map<Server, Bound>()
  readonly #sockets = new Set<Socket>()
  #wanted = false
  #change: Promise<void> = Promise.resolve()

  constructor(handler: Handler, { network, certificate, redirect, ports }: ListenerOptions) {
    this.#network = network
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
    if (ports) this.#ports.set(this.#plain, ports.plain)
    if (this.#tls && ports?.tls) this.#ports.set(this.#tls, ports.tls)
    for (const server of this.#servers) server.keepAliveTimeout = 20_000
  }

  port(tls: boolean): number {
    return this.#ports.get((tls ? this.#tls : undefined) ?? this.#plain) ?? 0
  }

  get listening(): boolean {
    return this.#servers.every((server) => this.#bound.has(server))
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
    const closed = this.#unbind()
    for (const socket of this.#sockets) socket.destroy()
    this.#change = Promise.all([this.#change, closed]).then(() => {})
    return this.#change
  }

  /** New connections get this certificate; old connections are closed. */
  present({ cert, key }: Certificate): void {
    this.#tls?.setSecureContext({ cert, key })
    for (const socket of this.#sockets) socket.destroy()
  }

  get #servers(): Server[] {
    return this.#tls ? [this.#plain, this.#tls] : [this.#plain]
  }

  async #unbind(): Promise<void> {
    const all = [...this.#bound.values()]
    this.#bound.clear()
    await Promise.all(all.map((bound) => bound.close()))
  }

  async #listen(): Promise<void> {
    for (const server of this.#servers) {
      while (this.#wanted && !this.#bound.has(server)) {
        const failed = await this.#try(server)
        if (failed !== undefined && !this.#ports.has(server)) throw failed
        if (failed !== undefined) await wait(again_ms)
      }
    }
    // The power went while the sockets were being opened.
    if (!this.#wanted) await this.#unbind()
  }

  async #try(server: Server): Promise<unknown> {
    try {
      const options = { host, port: this.#ports.get(server) ?? 0 }
      const bound = await this.#network.bind(options, (socket) => this.#connected(server, socket))
      this.#bound.set(server, bound)
      this.#ports.set(server, bound.address.port)
      return undefined
    } catch (error) {
      return error
    }
  }

  #connected(server: Server, socket: Socket): void {
    if (this.#sockets.size >= mostConnections) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    server.emit('connection', socket)
  }
}
