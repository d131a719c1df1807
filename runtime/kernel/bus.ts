import type { Logger } from 'pino'
import type { MqttBus, MqttDriver, MqttInbound } from '../../schemas/services.js'
import { guard } from '../platform/guard/guard.js'
import { currentOwner } from '../platform/guard/owner.js'
import { topicMatches } from '../platform/topic-filter.js'
import type { MqttSession, PublishOptions, PublishResult } from '../plugin.js'
import type { SeriesHookPoint } from './hook-point.js'
import type { TopicRecord } from './instance/registrations.js'

/** Topics of plugins: some for each, so no station comes near it. */
const mostUndeleted = 1_000

/** Topic handlers and publishing. It contains no client: a plugin attaches the driver of a real link. */
export class Bus implements MqttBus {
  readonly #log: Logger
  readonly #onMqttConnect: SeriesHookPoint<[MqttSession]>
  readonly #onAlive: (address: string) => void
  /** The station's own address of the session that was alive last. */
  #address: string | undefined
  #driver: MqttDriver | undefined
  #topics: readonly TopicRecord[] = []
  /** The topics last given to the driver. */
  #subscribed = ''
  /** Topics whose retained message was to be deleted while the link was down: the plugin that had published it may be gone since. */
  readonly #undeleted = new Set<string>()
  /** The first failure is logged, further ones only after the link was up again. */
  #loggedOffline = false

  /** @param onAlive a broker answered the station at this address of its own */
  constructor(
    log: Logger,
    onMqttConnect: SeriesHookPoint<[MqttSession]>,
    onAlive: (address: string) => void = () => {},
  ) {
    this.#log = log
    this.#onMqttConnect = onMqttConnect
    this.#onAlive = onAlive
  }

  setTopics(topics: readonly TopicRecord[]): void {
    this.#topics = topics
    this.look()
  }

  /** A topic may follow a parameter: updates the subscriptions if the wanted topics changed. */
  look(): void {
    const filters = this.#filters()
    if (filters.join('\n') === this.#subscribed) return
    this.#subscribed = filters.join('\n')
    this.#driver?.subscribe(filters)
  }

  attach(given: MqttDriver): () => void {
    const driver = guardedDriver(given)
    this.#driver = driver
    this.#subscribed = this.#filters().join('\n')
    driver.subscribe(this.#filters())
    return () => {
      if (this.#driver === driver) this.#driver = undefined
    }
  }

  publish(
    topic: string,
    payload: string | Buffer,
    { retain = false, qos = 0, properties, followedBy }: PublishOptions,
  ): PublishResult {
    const result = this.#driver?.publish(topic, payload, { retain, qos, properties, followedBy }) ?? 'offline'
    if (retain) {
      if (payload.length > 0 || result === 'sent') this.#undeleted.delete(topic)
      else if (this.#undeleted.size < mostUndeleted) this.#undeleted.add(topic)
    }
    if (result === 'offline' && !this.#loggedOffline) {
      this.#loggedOffline = true
      this.#log.warn({ topic }, 'MQTT link is down: publications are dropped until it is back')
    }
    return result
  }

  deliver(message: MqttInbound): void {
    const payload = Buffer.from(message.payload.buffer, message.payload.byteOffset, message.payload.byteLength)
    for (const { owner, filter, fn } of this.#topics) {
      if (!owner.live || !topicMatches(filter(), message.topic)) continue
      const handle = guard(owner, `topic ${filter()}`, fn, { limit_ms: Number.POSITIVE_INFINITY })
      handle({ ...message, payload, correlationData: bufferOf(message) })
    }
  }

  get address(): string | undefined {
    return this.#address
  }

  alive(address: string): void {
    this.#address = address
    this.#onAlive(address)
  }

  async connected(session: MqttSession): Promise<void> {
    this.#loggedOffline = false
    for (const topic of [...this.#undeleted]) this.publish(topic, '', { retain: true })
    await this.#onMqttConnect.call(session)
  }

  #filters(): string[] {
    return [...new Set(this.#topics.map(({ filter }) => filter()))].filter((filter) => filter !== '')
  }
}

/** A driver that throws is a link that is down, and no fault of whoever publishes. */
function guardedDriver(driver: MqttDriver): MqttDriver {
  const owner = currentOwner()
  if (!owner) return driver
  // The link says farewell while it is being stopped.
  const options = { whileStopping: true }
  const subscribe = guard(owner, 'subscribe of the MQTT link', driver.subscribe.bind(driver), options)
  const publish = guard(owner, 'publish of the MQTT link', driver.publish.bind(driver), options)
  return { subscribe, publish: (...message) => publish(...message) ?? 'offline' }
}

function bufferOf({ correlationData }: MqttInbound): Buffer | undefined {
  return correlationData && Buffer.from(correlationData)
}
