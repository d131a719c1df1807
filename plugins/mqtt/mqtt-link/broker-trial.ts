import { type PluginContext, type Source, Trial } from 'rtk-base/plugin'
import { station } from 'rtk-base/services'
import { type Broker, type LinkSettings, sameBroker } from './settings.js'

const stored = 'trial'

const isBroker = (value: unknown): value is Broker =>
  typeof (value as Broker | undefined)?.host === 'string' && typeof (value as Broker).port === 'number'

/** The values that return, for a person. */
const nameOf = ({ host, port }: Broker) => (host === '' ? 'the embedded broker' : `${host}:${port}`)

/** A change of the broker parameters. */
export interface BrokerChange {
  source: Source
  /** The link was up when the change came. */
  wasUp: boolean
}

/**
 * A broker that replaces a working one is on trial: if it does not accept the station in time, the old values return. If the link
 * was down there is nothing to return to, unless the change came over MQTT, because then the link was just up. The old values are
 * stored in the same batch as the new ones: a power cut cannot leave a broker without its trial.
 */
export class BrokerTrial {
  readonly #ctx: PluginContext
  readonly #limit_s: number
  /** The settings that are applied; undefined before the start. */
  #now: LinkSettings | undefined
  readonly #trial: Trial<Broker>

  /** @param limit_s 0: no trial */
  constructor(ctx: PluginContext, limit_s: number) {
    this.#ctx = ctx
    this.#limit_s = limit_s
    const clock = { monotonic: () => ctx.clock.monotonic(), timer: ctx.timers.after }
    this.#trial = new Trial({ clock, window_ms: limit_s * 1000, over: () => this.#goBack() })
  }

  /** Begins the trial that is stored, also one that a restart interrupted. */
  async start(settings: LinkSettings): Promise<void> {
    this.#trial.end()
    this.#now = settings
    const old = await this.#ctx.store.get(stored)
    if (isBroker(old) && this.#limit_s > 0 && !sameBroker(old, settings.parameters)) {
      this.#trial.begin({ host: old.host, port: old.port })
      // The time does not run while the link is switched off.
      if (settings.enabled) this.#trial.start()
    } else if (old !== undefined) await this.#forget()
  }

  /** Entries that a change to `next` stores in the same batch. */
  writes(next: Broker, { source, wasUp }: BrokerChange): Record<string, Broker | undefined> {
    // Not started yet: an interrupted trial stays as it is stored.
    if (this.#now === undefined) return {}
    // A second change while the first is on trial: the broker before both returns.
    const worked = this.#trial.before ?? (wasUp || source === 'mqtt' ? this.#now.parameters : undefined)
    const isTried = this.#limit_s > 0 && worked !== undefined && !sameBroker(next, worked)
    return { [stored]: isTried ? worked : undefined }
  }

  /** A change is stored, and the settings are these now. */
  async changed(settings: LinkSettings): Promise<void> {
    this.#ctx.errors.while('mqtt-broker-change', false)
    await this.start(settings)
  }

  /** The broker accepted the station. */
  async accepted(): Promise<void> {
    if (this.#trial.look('good') !== 'kept') return
    this.#trial.end()
    await this.#forget()
  }

  async #goBack(): Promise<void> {
    const old = this.#trial.before
    if (!old) return
    this.#trial.end()
    const result = await this.#ctx.services
      .use(station)
      .change({ 'mqtt-host': old.host, 'mqtt-port': old.port }, { source: 'plugin' })
    const restored = result.result === 'ok'
    // It is tried again at the next start.
    if (!restored) this.#trial.end()
    const reason = result.errors?.[0]?.message ?? ''
    const values = { limit_s: this.#limit_s, broker: nameOf(old), restored, ...(!restored && { reason }) }
    this.#ctx.errors.while('mqtt-broker-change', values)
  }

  async #forget(): Promise<void> {
    try {
      await this.#ctx.store.set(stored, undefined)
    } catch (error) {
      const text = 'the end of the trial of the broker could not be stored: a restart begins it again'
      this.#ctx.log.warn({ err: error }, text)
    }
  }
}
