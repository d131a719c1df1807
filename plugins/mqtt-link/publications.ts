import type { PluginContext } from 'rtk-base/plugin'
import { device, receiver, station } from 'rtk-base/services'
import type { Link } from './link.js'
import { WorkQueue } from './work-queue.js'

/** Events, publication 2: more uptime than this since the last successful publication. */
export const period_ms = 6 * 3_600_000
/** The condition is looked at on this grid, and nowhere between. */
const wake_ms = 100
const lookForReceiver_ms = 1_000
/** Limits: the largest information publication. */
export const payloadLimit = 131_072
/** A document that is too large is not built anew for every wake-up. */
const tooLargePause_ms = 60_000
const queueCapacity = 4

type Trigger = 'connect' | 'periodic' | 'identified' | 'demand'

/**
 * Publishes the information document, every time the whole of it (spec: Events, triggers 1 to 4 and their six rules).
 * 1 to 3 go over a work queue with one pending job each; 4 goes directly. There is no retry: trigger 2 comes again because its
 * condition still holds.
 */
export class Publications {
  readonly #ctx: PluginContext
  readonly #link: Pick<Link, 'hasRoom' | 'largestPayload'>
  readonly #topic: string
  readonly #queue = new WorkQueue(queueCapacity)
  readonly #pending = new Set<Trigger>()
  /** Uptime at the last successful publication. */
  #last_ms = 0
  #lastBytes = 0
  #notBefore_ms = 0
  #identified = false
  #missed = 0
  #cancelWake: () => unknown = () => {}

  constructor(ctx: PluginContext, link: Pick<Link, 'hasRoom' | 'largestPayload'>) {
    this.#ctx = ctx
    this.#link = link
    this.#topic = `base/${ctx.serial}/info`
  }

  /** Publications that were due and did not go out, for whatever reason. */
  get missed(): number {
    return this.#missed + this.#queue.dropped
  }

  get handoff(): { last_ms: number; identified: boolean } {
    return { last_ms: this.#last_ms, identified: this.#identified }
  }

  start(handoff: Partial<Publications['handoff']> = {}): void {
    this.#last_ms = handoff.last_ms ?? 0
    this.#identified = handoff.identified ?? false
    this.#ctx.defer(() => this.#queue.clear())
    this.#sleep()
    if (!this.#identified) this.#awaitReceiver()
  }

  /** Trigger 1: a session was established. */
  onConnect(): void {
    this.#schedule('connect')
  }

  /** Trigger 4: somebody asked for it. */
  onDemand(): void {
    this.#publish('demand')
  }

  // ── trigger 2 ─────────────────────────────────────────────────────────────────────────────────────────────────────

  #uptime_ms(): number {
    return this.#ctx.services.use(device).uptime_ms()
  }

  /**
   * To the next multiple of 100 ms of uptime at which the condition can hold. It is made of time alone, so the wake-ups
   * before that would find nothing: they are left out, and a station at rest sleeps.
   */
  #sleep(): void {
    this.#cancelWake()
    const now_ms = this.#uptime_ms()
    const possible_ms = Math.max(this.#last_ms + period_ms, this.#notBefore_ms, now_ms)
    const wakeAt_ms = (Math.floor(possible_ms / wake_ms) + 1) * wake_ms
    this.#cancelWake = this.#ctx.timers.after(wakeAt_ms - now_ms, () => {
      if (this.#uptime_ms() - this.#last_ms > period_ms && this.#link.hasRoom(this.#lastBytes))
        this.#schedule('periodic')
      this.#sleep()
    })
  }

  // ── trigger 3 ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The first time that the receiver tells its unique id (SEC-UNIQID, class 0x27, id 0x03). */
  #awaitReceiver(): void {
    const stop = this.#ctx.timers.every(lookForReceiver_ms, () => {
      if ((this.#ctx.services.find(receiver)?.identity.serial ?? '') === '') return
      this.#identified = true
      void stop()
      this.#schedule('identified')
    })
  }

  // ── publishing ────────────────────────────────────────────────────────────────────────────────────────────────────

  #schedule(trigger: Trigger): void {
    if (this.#pending.has(trigger)) return
    const accepted = this.#queue.offer(() => {
      this.#pending.delete(trigger)
      this.#publish(trigger)
    })
    if (accepted) this.#pending.add(trigger)
  }

  #publish(trigger: Trigger): void {
    // Building takes the time of every plugin: not for a publication that cannot go out.
    if (!this.#link.hasRoom(this.#lastBytes)) {
      this.#ctx.log.debug({ trigger }, 'no room for an information publication')
      this.#missed++
      return
    }
    const text = this.#ctx.services.use(station).documentText()
    const bytes = Buffer.byteLength(text)
    const limit = Math.min(payloadLimit, this.#link.largestPayload(this.#topic))
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
    this.#ctx.errors.clear('mqtt-info-size')
    this.#last_ms = this.#uptime_ms()
    this.#sleep()
  }

  #tooLarge(bytes: number, limit: number): void {
    this.#missed++
    this.#notBefore_ms = this.#uptime_ms() + tooLargePause_ms
    this.#ctx.errors.raise(
      'mqtt-info-size',
      limit < payloadLimit
        ? `the information document has more than ${limit} bytes, which is what the broker takes, and is not published over MQTT: raise the limit of the broker; the document is there on HTTP`
        : `the information document has more than ${limit} bytes and is not published over MQTT: it is there on HTTP`,
    )
    this.#ctx.log.debug({ bytes, limit }, 'the information document is too large')
    this.#sleep()
  }
}
