import { signedBytes } from 'rtk-base/gnss'
import type { PluginContext, PublishResult } from 'rtk-base/plugin'
import type { RtcmSignature } from 'rtk-base/schemas'
import { device, type MqttLink, mqttLink } from 'rtk-base/services'
import type { Ephemerides } from './ephemerides.js'
import type { Epochs } from './epochs.js'
import type { ListedTopic } from './listed-topic.js'
import type { Sequence } from './sequence.js'

/** `waiting`: the previous publication is still being signed. `unsigned`: it could not be signed, and has to be. */
export type Outcome = PublishResult | 'none' | 'waiting' | 'unsigned'

export interface PublisherSettings {
  topic: string
  rate_s(): number
  signed(): boolean
}

/** Publications that follow that of an epoch. */
interface Companions {
  readonly listed: ListedTopic
  readonly ephemerides: Ephemerides
}

/** Publishes the newest epoch when a publication is due, and signs it where that is configured. */
export class Publisher {
  readonly #ctx: PluginContext
  readonly #settings: PublisherSettings
  readonly #epochs: Epochs
  readonly #sequence: Sequence
  readonly #companions: Companions
  readonly #pace = new PublishPace()
  #outcome: Outcome = 'none'
  #signing = false
  #cancel: () => unknown = () => {}

  constructor(
    ctx: PluginContext,
    settings: PublisherSettings,
    epochs: Epochs,
    sequence: Sequence,
    companions: Companions,
  ) {
    this.#ctx = ctx
    this.#settings = settings
    this.#epochs = epochs
    this.#sequence = sequence
    this.#companions = companions
  }

  /** The newest publication went out. */
  get active(): boolean {
    return this.#outcome === 'sent'
  }

  /** There is a new epoch, or a new rate. */
  schedule(): void {
    this.#cancel()
    if (!this.#epochs.fresh) return
    const came_ms = this.#ctx.clock.monotonic()
    const wait_ms = this.#pace.wait_ms(came_ms, this.#settings.rate_s())
    if (wait_ms <= 0) void this.#publishDue(0)
    else this.#cancel = this.#ctx.timers.after(wait_ms, () => this.#publishDue(wait_ms))
  }

  async #publishDue(waited_ms: number): Promise<void> {
    if (!this.#epochs.fresh) return
    const now_ms = this.#ctx.clock.monotonic()
    // A publication that failed is not repeated, but the next epoch does not wait.
    if ((await this.publish()) === 'sent') this.#pace.published(now_ms, this.#settings.rate_s(), waited_ms)
  }

  /** Publishes the newest epoch now, new or not. */
  async publish(): Promise<Outcome> {
    const payload = this.#epochs.payload()
    if (payload === undefined) return 'none'
    this.#epochs.published()
    const outcome = this.#settings.signed() ? await this.#publishSigned(payload) : this.#send(payload)
    this.#outcome = outcome
    if (outcome === 'offline') this.#companions.listed.offline()
    if (outcome === 'sent') {
      this.#companions.listed.published()
      this.#companions.ephemerides.published()
    }
    return outcome
  }

  async #publishSigned(payload: Buffer): Promise<Outcome> {
    const link = this.#ctx.services.find(mqttLink)
    if (link?.up === false) return 'offline'
    if (this.#signing) return 'waiting'
    this.#signing = true
    const { closings } = this.#epochs
    try {
      if (link === undefined) throw new Error('mqtt-link, which holds the key, does not run')
      const signature = await signatureOf(this.#ctx, link, this.#sequence, this.#settings.topic, payload)
      this.#ctx.errors.while('mqtt-rtcm-sign', false)
      // The gate may have closed meanwhile, and opened again with another reference.
      return this.#epochs.closings > closings ? 'none' : this.#send(payload, signature)
    } catch (error) {
      this.#ctx.errors.while('mqtt-rtcm-sign', { reason: (error as Error).message })
      return 'unsigned'
    } finally {
      this.#signing = false
    }
  }

  #send(payload: Buffer, signature?: RtcmSignature): PublishResult {
    const { topic } = this.#settings
    if (signature === undefined) return this.#ctx.mqtt.publish(topic, payload)
    const v5 = this.#ctx.services.find(mqttLink)?.version === 5
    if (v5) return this.#ctx.mqtt.publish(topic, payload, { properties: { userProperties: { ...signature } } })
    return this.#ctx.mqtt.publish(topic, payload, {
      followedBy: { topic: `${topic}/sig`, payload: JSON.stringify(signature) },
    })
  }

  /** Publishes the certificate for verifiers. Without signatures an empty payload deletes a retained one. */
  publishCertificate(): void {
    const certificate = this.#settings.signed() ? this.#ctx.services.find(mqttLink)?.certificate : ''
    if (certificate === undefined) return
    this.#ctx.mqtt.publish(`${this.#settings.topic}/cert`, certificate, { retain: true })
  }
}

/** An epoch that is early by this much or less is published at once: receivers jitter. */
const early_ms = 100

/**
 * When to publish: every n seconds, in step with the epochs. An epoch that arrives when a publication is due is published at once.
 * An earlier one waits until then, and each time a little less, so that publications come back into step after a late epoch.
 */
export class PublishPace {
  /** When the last publication was due; the next one is counted from there. */
  #from_ms = Number.NEGATIVE_INFINITY

  /** Milliseconds that an epoch which arrived at `now_ms` has to wait; 0: publish it now. */
  wait_ms(now_ms: number, rate_s: number): number {
    const left_ms = this.#from_ms + rate_s * 1000 - now_ms
    return left_ms <= early_ms ? 0 : left_ms
  }

  /** A publication was sent. @param waited_ms how long its epoch had waited */
  published(now_ms: number, rate_s: number, waited_ms: number): void {
    const due_ms = this.#from_ms + rate_s * 1000
    // An early publication must not make the next one earlier still: several epochs a second would raise the rate.
    this.#from_ms = now_ms < due_ms ? due_ms : now_ms - Math.min(early_ms, waited_ms)
  }
}

/** Signs one publication. Rejects with the reason when it cannot be signed. */
async function signatureOf(
  ctx: PluginContext,
  link: MqttLink,
  sequence: Sequence,
  topic: string,
  payload: Uint8Array,
): Promise<RtcmSignature> {
  const number = await sequence.issue()
  const time_ms = Math.floor(ctx.services.use(device).utc_ms())
  const { algorithm, signature, serial } = await link.sign(signedBytes(topic, number, time_ms, payload))
  return {
    'sig-alg': algorithm as RtcmSignature['sig-alg'],
    sig: Buffer.from(signature).toString('base64'),
    'sig-cert': serial,
    'sig-seq': String(number),
    'sig-time': String(time_ms),
  }
}
