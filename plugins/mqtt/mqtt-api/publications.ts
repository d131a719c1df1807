import type { PluginContext } from 'rtk-base/plugin'
import { device, type MqttLink, mqttLink, station } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Periodic } from './triggers.js'
import { WorkQueue } from './work-queue.js'

/** Limits: the largest information publication. */
export const payloadLimit = 131_072
/** A document that is too large is not built again for each wake-up. */
const tooLargePause_ms = 60_000
const queueCapacity = 4

/** State handed over to the next instance. */
export const PublicationsHandoff = Type.Object({
  last_ms: Type.Number(),
  identified: Type.Boolean(),
  session: Type.Optional(Type.String()),
})
type PublicationsHandoff = Static<typeof PublicationsHandoff>

type Trigger = 'connect' | 'periodic' | 'identified' | 'demand'

/**
 * Publishes the status document, always the whole of it (spec: Events, triggers 1 to 4 and their six rules). Triggers 1 to 3
 * go through a work queue with one pending job each, trigger 4 publishes directly. There is no retry: trigger 2 fires again while
 * its condition holds.
 */
export class Publications {
  readonly #ctx: PluginContext
  readonly #topic: string
  readonly #queue = new WorkQueue(queueCapacity)
  readonly #pending = new Set<Trigger>()
  readonly #periodic: Periodic
  /** The session of the last connect publication. */
  #session: string | undefined
  #lastBytes = 0
  #identified = false
  #missed = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#topic = `base/${ctx.serial}/info`
    this.#periodic = new Periodic(
      (ms, wake) => ctx.timers.after(ms, wake),
      () => ctx.services.use(device).uptime_ms(),
      () => {
        if (this.#hasRoom()) this.#schedule('periodic')
      },
    )
  }

  /** Due publications that were not sent, for any reason. */
  get missed(): number {
    return this.#missed + this.#queue.dropped
  }

  /** Trigger 3 has fired. */
  get identified(): boolean {
    return this.#identified
  }

  get handoff(): PublicationsHandoff {
    return { last_ms: this.#periodic.last_ms, identified: this.#identified, session: this.#session }
  }

  start(handoff?: PublicationsHandoff): void {
    this.#identified = handoff?.identified ?? false
    this.#session = handoff?.session
    this.#ctx.defer(() => this.#queue.clear())
    this.#periodic.start(handoff?.last_ms ?? 0)
    // The link may have connected before this plugin started.
    if (this.#link?.session !== undefined) this.onConnect()
  }

  /** Trigger 1: a session was established. Once for each session. */
  onConnect(): void {
    const session = this.#link?.session
    if (session !== undefined && session === this.#session) return
    this.#session = session
    this.#schedule('connect')
  }

  /** Trigger 3: the receiver reported its unique id for the first time. */
  onIdentified(): void {
    this.#identified = true
    this.#schedule('identified')
  }

  /** Trigger 4: a client asked for the document. */
  onDemand(): void {
    this.#publish('demand')
  }

  get #link(): MqttLink | undefined {
    return this.#ctx.services.find(mqttLink)
  }

  /** Judged by the size of the last document. */
  #hasRoom(): boolean {
    return this.#link?.hasRoom(this.#lastBytes) === true
  }

  #schedule(trigger: Trigger): void {
    if (this.#pending.has(trigger)) return
    const accepted = this.#queue.offer(() => {
      this.#pending.delete(trigger)
      this.#publish(trigger)
    })
    if (accepted) this.#pending.add(trigger)
  }

  #publish(trigger: Trigger): void {
    // Building takes time in every plugin: not for a publication that cannot be sent.
    if (!this.#hasRoom()) {
      this.#ctx.log.debug({ trigger }, 'no room for an information publication')
      this.#missed++
      return
    }
    const text = this.#ctx.services.use(station).documentText()
    const bytes = Buffer.byteLength(text)
    const limit = Math.min(payloadLimit, this.#link?.largestPayload(this.#topic) ?? payloadLimit)
    if (bytes > limit) {
      this.#tooLarge(bytes, limit)
      return
    }
    const result = this.#ctx.mqtt.publish(this.#topic, text)
    this.#ctx.log.debug({ trigger, result, bytes }, 'information publication')
    this.#lastBytes = bytes
    if (result !== 'sent') {
      this.#missed++
      return
    }
    this.#ctx.errors.while('mqtt-info-size', false)
    this.#periodic.published()
  }

  #tooLarge(bytes: number, limit: number): void {
    this.#missed++
    this.#periodic.pause(tooLargePause_ms)
    const limit_bytes = Math.max(0, limit)
    this.#ctx.errors.while('mqtt-info-size', { limit_bytes, broker: limit < payloadLimit })
    this.#ctx.log.debug({ bytes, limit }, 'the status document is too large')
  }
}
