import { type ConfigKey, type PluginContext, type Resolve, type Source, Trial } from 'rtk-base/plugin'
import { embeddedBroker, station } from 'rtk-base/services'

export interface Broker {
  host: string
  port: number
}

/** A broker, and which of its addresses the attempt takes. */
export interface DialledBroker extends Broker {
  resolve?: Resolve
}

export const sameBroker = (a: Broker, b: Broker | undefined): boolean => a.host === b?.host && a.port === b.port

/** The values that return, for a person. */
const nameOf = ({ host, port }: Broker) => (host === '' ? 'the embedded broker' : `${host}:${port}`)

/** Default of `mqtt-port`: MQTT over TLS. */
export const tlsPort = 8_883

/** Key of the store: the parameters that return if the broker on trial does not accept the station. */
const stored = 'trial'

const isBroker = (value: unknown): value is Broker =>
  typeof (value as Broker | undefined)?.host === 'string' && typeof (value as Broker).port === 'number'

export interface BrokerKeys {
  /** `mqtt-en` */
  enabled: ConfigKey<number>
  /** `mqtt-host` */
  host: ConfigKey<string>
  /** `mqtt-port` */
  port: ConfigKey<number>
}

/** A change of the broker parameters. */
export interface BrokerChange {
  source: Source
  /** The link was up when the change came. */
  wasUp: boolean
}

/**
 * Which broker the link uses: the one of `mqtt-host` and `mqtt-port`. While no host is set, it is the embedded broker, where the
 * variant has one: at the port on which it listens, or at `mqtt-port` where that is not the default.
 *
 * A broker that replaces a working one is on trial: if it does not accept the station in time, the old values return. If the link
 * was down there is nothing to return to, unless the change came over MQTT, because then the link was just up. The old values are
 * stored in the same batch as the new ones: a power cut cannot leave a broker without its trial.
 */
export class BrokerChoice {
  readonly #ctx: PluginContext
  readonly #keys: BrokerKeys
  readonly #limit_s: number
  readonly #trial: Trial<Broker>
  /** Until the start, an interrupted trial stays as it is stored. */
  #isStarted = false
  /** The broker that the link was told of last. */
  #applied: Broker = { host: '', port: 0 }

  /** @param limit_s 0: no trial */
  constructor(ctx: PluginContext, keys: BrokerKeys, limit_s: number) {
    this.#ctx = ctx
    this.#keys = keys
    this.#limit_s = limit_s
    const clock = { monotonic: () => ctx.clock.monotonic(), timer: ctx.timers.after }
    this.#trial = new Trial({ clock, window_ms: limit_s * 1000, over: () => this.#goBack() })
  }

  get enabled(): boolean {
    return this.#keys.enabled.get() === 1
  }

  /** `''` as host: none. */
  get current(): Broker {
    const { host, port } = this.#parameters
    const address = host === '' ? this.#ctx.services.find(embeddedBroker)?.address : undefined
    if (address === undefined) return { host, port }
    return { host: address.host, port: port === tlsPort ? address.port : port }
  }

  get #parameters(): Broker {
    return { host: this.#keys.host.get(), port: this.#keys.port.get() }
  }

  /** Begins the trial that is stored, also one that a restart interrupted. */
  async start(): Promise<void> {
    this.#isStarted = true
    await this.#load()
  }

  async #load(): Promise<void> {
    this.#trial.end()
    const old = await this.#ctx.store.get(stored)
    if (isBroker(old) && this.#limit_s > 0 && !sameBroker(old, this.#parameters)) {
      this.#trial.begin({ host: old.host, port: old.port })
      // The time does not run while the link is switched off.
      if (this.enabled) this.#trial.start()
    } else if (old !== undefined) await this.#forget()
  }

  /** Calls `moved` when the embedded broker starts to listen, stops, or moves to another port. From `start` on. */
  watch(moved: () => void): void {
    this.#applied = this.current
    const look = () => {
      const { current } = this
      if (sameBroker(current, this.#applied)) return
      this.#applied = current
      moved()
    }
    this.#ctx.services.watch(embeddedBroker, (broker) => {
      look()
      return broker && this.#ctx.on(broker.onAddress, look)
    })
  }

  /** Entries that a change to `next` stores in the same batch. */
  writes(next: Broker, { source, wasUp }: BrokerChange): Record<string, Broker | undefined> {
    if (!this.#isStarted) return {}
    // A second change while the first is on trial: the broker before both returns.
    const worked = this.#trial.before ?? (wasUp || source === 'mqtt' ? this.#parameters : undefined)
    const isTried = this.#limit_s > 0 && worked !== undefined && !sameBroker(next, worked)
    return { [stored]: isTried ? worked : undefined }
  }

  /** A change is stored: the link is told of it next. */
  async changed(): Promise<void> {
    this.#ctx.errors.while('mqtt-broker-change', false)
    await this.#load()
    this.#applied = this.current
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
