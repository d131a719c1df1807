import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import { topicMatches } from 'rtk-base/link'
import { type Dispose, type EventSource, guarded, type PluginContext } from 'rtk-base/plugin'
import type { FleetBroker, FleetMessage } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'

/** A status document has at most 131,072 bytes. MQTT 5 brokers do not deliver anything larger. */
export const largestMessage = 140_000
/** Bytes that may wait for the socket. */
const mostWaiting_bytes = 4 << 20
/** Filters in one packet: brokers limit its length. */
const filtersAtOnce = 200
const unsubscribe_ms = 2_000

export interface BrokerTarget {
  /** `mqtt://host:port` or `mqtts://host:port` */
  readonly url: string
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly username?: string
  readonly password?: string
}

/** An address may have a user and a password in front of its host: they belong in no log. */
const withoutLogin = (url: string) => url.replace(/\/\/.*@/, '//')

type Take = (message: FleetMessage) => unknown

/** One connection to the broker of the stations, for all plugins of the fleet. */
export class BrokerLink implements FleetBroker {
  readonly #ctx: PluginContext
  /** Read before each attempt: an embedded broker may take another port, and files are renewed. */
  readonly #target: () => BrokerTarget | undefined
  readonly #changed: EventSource<boolean>
  readonly #backoff = new Backoff({ first_ms: 500, longest_ms: 30_000, spread: [0.5, 1] })
  readonly #exact = new Map<string, Set<Take>>()
  /** Few, whatever the number of stations: each is compared with each message. */
  readonly #wild = new Map<string, Set<Take>>()
  #client: MqttClient | undefined
  #version: 4 | 5 = 5
  #connected = false
  #isClosed = false
  oversized = 0

  constructor(ctx: PluginContext, target: () => BrokerTarget | undefined) {
    this.#ctx = ctx
    this.#target = target
    this.#changed = ctx.event()
  }

  get connected(): boolean {
    return this.#connected
  }

  get onConnected(): FleetBroker['onConnected'] {
    return this.#changed.on
  }

  get answers(): boolean {
    return this.#connected && this.#version === 5
  }

  start(): void {
    let target: BrokerTarget | undefined
    try {
      target = this.#target()
    } catch (error) {
      this.#failed(`a file of the broker's identity cannot be read: ${(error as Error).message}`)
      return
    }
    if (target === undefined) {
      this.#failed('the embedded broker does not listen yet')
      return
    }
    const { url, ...identity } = target
    const options: IClientOptions = {
      ...identity,
      protocolVersion: this.#version,
      clientId: `rtk-base-fleet-${crypto.randomUUID().slice(0, 13)}`,
      clean: true,
      keepalive: 30,
      connectTimeout: 15_000,
      reconnectPeriod: 0,
      queueQoSZero: false,
      resubscribe: false,
      ...(this.#version === 5 && { properties: { maximumPacketSize: largestMessage + 1_000 } }),
    }
    try {
      this.#use(connect(url, options), url)
    } catch (error) {
      this.#failed(`${withoutLogin(url)}: ${(error as Error).message}`)
    }
  }

  #use(client: MqttClient, address: string): void {
    const url = withoutLogin(address)
    this.#client = client
    let reason = 'the broker closed the connection'
    let isOldBroker = false
    client.on('error', (error) => {
      reason = error.message || String((error as { code?: unknown }).code)
      // 1 and 132: the broker does not speak this version, as NATS with MQTT 5.
      isOldBroker = this.#version === 5 && [1, 132].includes(Number((error as { code?: unknown }).code))
      client.end(true)
    })
    client.on('connect', () => {
      this.#connected = true
      this.#backoff.reset()
      this.#ctx.errors.while('fleet-broker', false)
      this.#ctx.log.info(
        { url, version: this.#version === 5 ? '5' : '3.1.1' },
        'connected to the broker of the stations',
      )
      this.#subscribe([...this.#exact.keys(), ...this.#wild.keys()])
      this.#changed.emit(true)
    })
    client.on('message', (topic, payload, { retain, properties }) => {
      if (payload.length > largestMessage) {
        this.oversized += 1
        return
      }
      const [, serial = '', part = topic] = /^base\/([^/]{1,64})\/(.+)$/s.exec(topic) ?? []
      const { userProperties = {} } = properties ?? {}
      const message: FleetMessage = {
        topic,
        serial,
        part,
        payload,
        retained: retain,
        userProperties: { ...userProperties },
      }
      for (const take of this.#exact.get(topic) ?? []) take(message)
      for (const [filter, takes] of this.#wild) {
        if (topicMatches(filter, topic)) for (const take of takes) take(message)
      }
    })
    client.once('close', () => {
      client.removeAllListeners()
      client.on('error', () => {})
      client.end(true)
      if (this.#client !== client) return
      this.#client = undefined
      const was = this.#connected
      this.#connected = false
      if (was) this.#changed.emit(false)
      if (this.#isClosed) return
      this.#version = isOldBroker ? 4 : this.#version
      if (isOldBroker) this.start()
      else this.#failed(`${url}: ${reason}`)
    })
  }

  #failed(reason: string): void {
    const wait_ms = this.#backoff.next()
    this.#ctx.errors.while('fleet-broker', { reason })
    this.#ctx.timers.after(wait_ms, () => this.start())
  }

  subscribe(filter: string, take: Take): Dispose {
    const own = guarded(take)
    const filters = /[+#]/.test(filter) ? this.#wild : this.#exact
    const takes = filters.get(filter) ?? new Set<Take>()
    takes.add(own)
    filters.set(filter, takes)
    // Each time: the broker sends again what it keeps, which a newcomer has not heard.
    this.#subscribe([filter])
    return () => {
      takes.delete(own)
      if (takes.size > 0) return
      // A plugin that is reloaded subscribes again in a moment.
      this.#ctx.timers.after(unsubscribe_ms, () => {
        if (takes.size > 0 || filters.get(filter) !== takes) return
        filters.delete(filter)
        if (this.#connected) this.#client?.unsubscribe(filter, () => this.#subscribeAgain(filter))
      })
    }
  }

  /** Wanted again before the broker had removed it: some brokers remove what a later SUBSCRIBE has added. */
  #subscribeAgain(filter: string): void {
    if (this.#exact.has(filter) || this.#wild.has(filter)) this.#subscribe([filter])
  }

  #subscribe(filters: readonly string[]): void {
    if (!this.#connected) return
    for (let at = 0; at < filters.length; at += filtersAtOnce) {
      this.#client?.subscribe(filters.slice(at, at + filtersAtOnce), { qos: 0 }, (error) => {
        if (error)
          this.#ctx.log.warn({ err: error }, 'the broker refuses a subscription: check the permissions of the fleet')
      })
    }
  }

  publish(topic: string, payload: string | Buffer, { responseTopic }: { responseTopic?: string } = {}) {
    const client = this.#client
    if (!client || !this.#connected) return 'offline'
    if (client.stream.writableLength > mostWaiting_bytes) return 'full'
    client.publish(topic, payload, {
      qos: 0,
      ...(responseTopic !== undefined && this.#version === 5 && { properties: { responseTopic } }),
    })
    return 'sent'
  }

  stop(): void {
    this.#isClosed = true
    this.#client?.end(true)
  }
}
