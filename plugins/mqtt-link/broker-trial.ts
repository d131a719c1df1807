import type { PluginContext } from 'rtk-base/plugin'
import { station } from 'rtk-base/services'
import { type Broker, type LinkSettings, sameBroker } from './settings.js'

const stored = 'trial'

const isBroker = (value: unknown): value is Broker =>
  typeof (value as Broker | undefined)?.host === 'string' && typeof (value as Broker).port === 'number'

/** A new broker is on trial: unless it accepts the station in time, the old one returns. */
export class BrokerTrial {
  readonly #ctx: PluginContext
  readonly #limit_s: number
  /** What the settings say. */
  #now: Broker | undefined
  /** What returns; undefined while nothing is on trial. */
  #old: Broker | undefined
  #cancel: () => unknown = () => {}

  /** @param limit_s 0: no trial */
  constructor(ctx: PluginContext, limit_s: number) {
    this.#ctx = ctx
    this.#limit_s = limit_s
  }

  /** Goes on with a trial that a restart interrupted. */
  async start(settings: LinkSettings): Promise<void> {
    this.#now = settings
    const old = await this.#ctx.store.get(stored)
    if (isBroker(old) && this.#limit_s > 0 && !sameBroker(old, settings)) this.#begin(old, settings)
    else if (old !== undefined) await this.#keep(undefined)
  }

  /** The settings changed. */
  async changed(settings: LinkSettings): Promise<void> {
    const before = this.#old
    // A second change before the first one was accepted: the one before both returns.
    const old = before ?? this.#now
    this.#end()
    this.#now = settings
    this.#ctx.errors.clear('mqtt-broker-change')
    // Having no broker is nothing to return to.
    if (this.#limit_s > 0 && old !== undefined && old.host !== '' && !sameBroker(old, settings))
      this.#begin(old, settings)
    if (this.#old !== before) await this.#keep(this.#old)
  }

  /** The broker accepted the station. */
  async accepted(): Promise<void> {
    if (this.#old === undefined) return
    this.#end()
    await this.#keep(undefined)
  }

  /** While the link is switched off the time does not run. */
  #begin({ host, port }: Broker, { enabled }: LinkSettings): void {
    const old = { host, port }
    this.#old = old
    if (enabled) this.#cancel = this.#ctx.timers.after(this.#limit_s * 1000, () => this.#goBack(old))
  }

  #end(): void {
    this.#cancel()
    this.#old = undefined
  }

  async #goBack({ host, port }: Broker): Promise<void> {
    this.#end()
    // The change that follows is no new trial.
    const refused = this.#now
    this.#now = { host, port }
    await this.#keep(undefined)
    const result = await this.#ctx.services
      .use(station)
      .change({ 'mqtt-host': host, 'mqtt-port': port }, { source: 'plugin' })
    const what = `the new broker did not accept this station within ${this.#limit_s} s`
    if (result.result === 'ok') {
      this.#ctx.errors.raise('mqtt-broker-change', `${what}: back to ${host}:${port}`)
      return
    }
    this.#now = refused
    this.#ctx.errors.raise(
      'mqtt-broker-change',
      `${what}, and ${host}:${port} could not be set again (${result.errors?.[0]?.message}): change mqtt-host by hand`,
    )
  }

  async #keep(old: Broker | undefined): Promise<void> {
    try {
      await this.#ctx.store.batch({ [stored]: old })
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'a restart would not know that the broker is on trial')
    }
  }
}
