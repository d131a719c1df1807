import { Duplex } from 'node:stream'
import { Aedes } from 'aedes'
import type { Connection, EventSource, Listener, PluginContext } from 'rtk-base/plugin'
import type { EmbeddedBroker } from 'rtk-base/services'

export interface BrokerOptions {
  host: string
  port: number
}

/** The spec's largest publication. */
export const payloadLimit = 131_072
export const clientLimit = 64
/** The stations of a simulated fleet share one address. */
export const addressLimit = 32
/** A publication of the largest size arrives at once. */
export const clientRate = { bytes_s: 1_048_576, burst_bytes: 1_048_576 }
const retainedLimit = 1_000

/** Where this machine reaches a server that listens on every address. */
const loopbackOf: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** An MQTT 3.1.1 broker inside the service. */
export class BrokerServer implements EmbeddedBroker {
  readonly #ctx: PluginContext
  readonly #options: BrokerOptions
  readonly #retained = new Set<string>()
  /** Publications that wait behind a retained one. */
  readonly #publications: { retain: boolean; publish: () => void }[] = []
  #retaining = false
  readonly #address: EventSource<void>
  #aedes: Aedes | undefined
  #listener: Listener | undefined

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
    const bound = this.#listener?.address
    return bound && { host: loopbackOf[host] ?? host, port: bound.port }
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
    const { host, port } = this.#options
    const limits = { maxConnections: clientLimit, maxPerAddress: addressLimit, rate: clientRate }
    const listener = this.#ctx.net.listen(
      { name: 'clients', host, port, setting: 'mqtt-broker.port', ...limits },
      (connection) => void aedes.handle(streamOf(connection)),
    )
    this.#listener = listener
    void listener.opened.then((bound) => {
      this.#address.emit()
      this.#ctx.status(`listening on ${host}:${bound.port}`)
    })
  }

  async stop(): Promise<void> {
    this.#listener = undefined
    this.#address.emit()
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
}

/** The connection as the stream that aedes reads and writes. */
function streamOf(connection: Connection): Duplex {
  let drained: (() => void) | undefined
  const settle = () => {
    drained?.()
    drained = undefined
  }
  const stream = new Duplex({
    read: () => connection.resume(),
    writev(chunks, done) {
      if (connection.write(Buffer.concat(chunks.map(({ chunk }) => chunk))) || connection.closed) done()
      else drained = done
    },
    final(done) {
      connection.end()
      done()
    },
    destroy(error, done) {
      connection.destroy()
      done(error)
    },
  })
  connection.onData((bytes) => {
    if (!stream.push(bytes)) connection.pause()
  })
  connection.onDrain(settle)
  connection.onClose(() => {
    settle()
    // What the client sent last is still read.
    stream.push(null)
  })
  return stream
}
