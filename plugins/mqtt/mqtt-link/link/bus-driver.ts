import type { PluginContext } from 'rtk-base/plugin'
import type { MqttDriver, MqttProperties } from 'rtk-base/services'
import { type Broker, sameBroker } from '../broker.js'
import { onlineStatus, onlineTopic } from '../session/client.js'
import type { Session } from '../session/session.js'

/** Carries the topics of the bus over the session that is up. */
export class BusDriver implements MqttDriver {
  readonly #ctx: PluginContext
  readonly #session: () => Session | undefined
  #filters: readonly string[] = []
  /** The last broker whose packet limit was logged. */
  #logged: Broker | undefined

  /** @param session the current session */
  constructor(ctx: PluginContext, session: () => Session | undefined) {
    this.#ctx = ctx
    this.#session = session
  }

  publish(...[topic, payload, options]: Parameters<MqttDriver['publish']>): 'sent' | 'offline' | 'full' {
    const session = this.#session()
    if (session === undefined) return 'offline'
    const result = session.publish(topic, payload, options)
    if (result === 'full') this.#logLimit(session, topic, Buffer.byteLength(payload), options.properties)
    return result
  }

  /** Once per broker: a packet over its limit would end the session, so it is dropped. */
  #logLimit(session: Session, topic: string, bytes: number, properties?: MqttProperties): void {
    const limit = session.largestPayload(topic, properties)
    if (bytes <= limit || sameBroker(session.broker, this.#logged)) return
    this.#logged = session.broker
    this.#ctx.log.warn(
      { topic, bytes, limit },
      'the broker does not accept packets of this size: they are dropped; raise its limit',
    )
  }

  /** Sets the wanted topics: subscribes new ones, unsubscribes removed ones. */
  subscribe(filters: readonly string[]): void {
    this.#filters = filters
    this.subscribeAll(this.#session(), () => {})
  }

  /** Subscribes all wanted topics. @param done called on any answer of the broker */
  subscribeAll(session: Session | undefined, done: () => void): void {
    session?.subscribe(this.#filters, (refused) => {
      if (refused !== undefined)
        this.#ctx.log.warn(
          { err: refused },
          'the broker rejected a subscription; publishing continues, and the next session subscribes again',
        )
      done()
    })
  }

  /** Publishes `y`. @param session default: the current one */
  sayOnline(session = this.#session()): void {
    session?.publish(onlineTopic(this.#ctx.serial), onlineStatus.online, {
      retain: true,
      qos: 0,
      properties: undefined,
    })
  }
}
