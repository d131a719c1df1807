import { Aedes } from 'aedes'
import { listenReason } from 'rtk-base/link'
import type { Bound, EventSource, PluginContext, Socket } from 'rtk-base/plugin'
import type { EmbeddedBroker } from 'rtk-base/services'

export interface BrokerOptions {
  host: string
  port: number
}

/** The spec's largest publication. */
export const payloadLimit = 131_072
export const clientLimit = 64
const retainedLimit = 1_000
const retry_ms = 5_000

/** Where this machine reaches a server that listens on every address. */
const loopbackOf: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** An MQTT 3.1.1 broker inside the service. A port that is taken is a state, not a failure: the broker tries again. */
export class BrokerServer implements EmbeddedBroker {
  readonly #ctx: PluginContext
  readonly #options: BrokerOptions
  readonly #retained = new Set<string>()
  readonly #sockets = new Set<Socket>()
  /** Publications that wait behind a retained one. */
  readonly #publications: { retain: boolean; publish: () => void }[] = []
  #retaining = false
  readonly #address: EventSource<void>
  #aedes: Aedes | undefined
  #bound: Bound | undefined

  constructor(ctx: PluginContext, options: BrokerOptions) {
    this.#ctx = ctx
    this.#options = options
    this.#address = ctx.event()
  }

  get onAddress(): EmbeddedBroker['onAddress'] {
    return this.#address.on
  }

  get address(): EmbeddedBroker['address'] {
    const { host } = this.#options
    return this.#bound && { host: loopbackOf[host] ?? host, port: this.#bound.address.port }
  }

  async start(): Promise<void> {
    const aedes = await Aedes.createBroker({
      concurrency: 100,
      queueLimit: 100,
      maxClientsIdLength: 128,
      connectTimeout: 10_000,
      keepaliveLimit: 0,
      authorizePublish: (_client, { topic, payload, retain }, done) => {
        const refused = this.#refusal(topic, payload, retain)
        if (refused !== undefined) done(new Error(refused))
        else this.#inOrder(retain, () => done(null))
      },
    })
    aedes.on('clientError', (client, error) => this.#ctx.log.debug({ client: client.id, err: error }, 'client error'))
    aedes.on('connectionError', (_client, error) => this.#ctx.log.debug({ err: error }, 'connection error'))
    this.#aedes = aedes
    await this.#listen()
  }

  async stop(): Promise<void> {
    const bound = this.#bound
    this.#bound = undefined
    this.#address.emit()
    for (const socket of this.#sockets) socket.destroy()
    await bound?.close()
    await new Promise<void>((resolve) => {
      if (this.#aedes === undefined) resolve()
      else this.#aedes.close(() => resolve())
    })
  }

  /** Why a publication is rejected, which ends the connection of its sender. */
  #refusal(topic: string, payload: string | Buffer, retain: boolean): string | undefined {
    if (Buffer.byteLength(payload) > payloadLimit) return `a payload has at most ${payloadLimit} bytes`
    if (topic.startsWith('$SYS/')) return 'only the broker publishes on $SYS'
    if (!retain) return undefined
    if (payload.length === 0) this.#retained.delete(topic)
    else if (!this.#retained.has(topic) && this.#retained.size >= retainedLimit) return 'too many retained topics'
    else this.#retained.add(topic)
    return undefined
  }

  /**
   * aedes stores a retained publication before it forwards it, so that the next publication overtakes it; and it treats a
   * publication that was overtaken as a duplicate, which `base/#` then never gets. So what follows a retained publication waits
   * for one turn of the event loop.
   */
  #inOrder(retain: boolean, publish: () => void): void {
    this.#publications.push({ retain, publish })
    if (!this.#retaining) this.#drain()
  }

  #drain(): void {
    this.#retaining = false
    for (let next = this.#publications.shift(); next !== undefined; next = this.#publications.shift()) {
      next.publish()
      if (!next.retain) continue
      this.#retaining = true
      setImmediate(() => this.#drain())
      return
    }
  }

  async #listen(): Promise<void> {
    const { host, port } = this.#options
    try {
      this.#bound = await this.#ctx.net.bind({ host, port }, (socket) => this.#accept(socket))
    } catch (error) {
      if (!this.#ctx.signal.aborted) this.#failed(listenReason(error))
      return
    }
    if (this.#ctx.signal.aborted) return
    const { port: bound } = this.#bound.address
    this.#address.emit()
    this.#ctx.errors.while('mqtt-broker', false)
    this.#ctx.status(`listening on ${host}:${bound}`)
    this.#ctx.log.info({ host, port: bound }, 'the embedded MQTT broker listens')
  }

  #failed(reason: string): void {
    const { host, port } = this.#options
    const entry = this.#ctx.errors.while('mqtt-broker', { host, port, reason })
    this.#ctx.status(entry?.text ?? '')
    this.#ctx.timers.after(retry_ms, () => this.#listen())
  }

  #accept(socket: Socket): void {
    if (this.#sockets.size >= clientLimit) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    this.#aedes?.handle(socket)
  }
}
