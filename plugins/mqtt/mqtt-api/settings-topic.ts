import { createHash } from 'node:crypto'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import type { StationSettings } from 'rtk-base/schemas'
import { mqttLink, station } from 'rtk-base/services'

/** Plugins come and go together: one publication. Also how long it waits for room in the send queue. */
const settle_ms = 5_000
const stored = 'settings-published'

/**
 * Publishes `base/{SN}/settings`, what can be set and done here, with which a fleet draws its forms. Retained, and large, so only
 * where it differs from what this broker has, also after a restart; and on demand.
 */
export class SettingsTopic {
  readonly #ctx: PluginContext
  readonly #topic: string
  /**
   * Digest of what this broker has, with its name: it may have several addresses, and where one ends the session for so large a
   * message, the next session must not send it again. Undefined: not read yet.
   */
  #published: string | undefined
  /** A client waits for them. */
  #isAsked: boolean = false
  #soon: Dispose | undefined

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#topic = `base/${ctx.serial}/settings`
  }

  async start(): Promise<void> {
    this.#ctx.on(this.#ctx.services.use(station).onPlugins, () => this.later())
    const value = await this.#ctx.store.get(stored).catch(() => undefined)
    this.#published ??= typeof value === 'string' ? value : ''
    this.later()
  }

  /** A plugin came or went, or a session was established. */
  later(): void {
    this.#soon ??= this.#ctx.timers.after(settle_ms, () => {
      this.#soon = undefined
      this.#publish()
    })
  }

  /** A client asked, whatever was published before. */
  onDemand(): void {
    this.#isAsked = true
    this.#publish()
  }

  /** The plugin is removed: nobody answers these settings any more. */
  async remove(): Promise<void> {
    this.#ctx.mqtt.publish(this.#topic, '', { retain: true })
    await this.#ctx.store.set(stored, undefined).catch(() => {})
  }

  #publish(): void {
    const link = this.#ctx.services.find(mqttLink)
    if (this.#published === undefined || link?.session === undefined || !link.broker) return
    const { host, port } = link.broker
    const text = JSON.stringify(this.#settings())
    const digest = createHash('sha256').update(text).digest('base64url')
    const published = `${host}:${port} ${digest}`
    if (published === this.#published && !this.#isAsked) return
    const bytes = Buffer.byteLength(text)
    if (bytes > link.largestPayload(this.#topic)) {
      this.#ctx.log.debug({ bytes }, 'the broker does not take so large a message as the settings')
      this.#isAsked = false
      return
    }
    if (!link.hasRoom(bytes) || this.#ctx.mqtt.publish(this.#topic, text, { retain: true }) !== 'sent') {
      this.later()
      return
    }
    this.#isAsked = false
    if (published === this.#published) return
    this.#published = published
    this.#ctx.store.set(stored, published).catch((error: unknown) => {
      this.#ctx.log.debug(error, 'after a restart the settings are published once more')
    })
  }

  #settings(): StationSettings {
    const { services } = this.#ctx
    const own = services.use(station)
    return {
      parameters: own.parameters().map(({ value: _value, set: _set, ...known }) => known),
      actions: own.actions(),
    }
  }
}
