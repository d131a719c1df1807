import type { PluginContext } from 'rtk-base/plugin'
import { station } from 'rtk-base/services'
import type { Broker, LinkSettings } from './settings.js'

const stored = 'trial'

const isBroker = (value: unknown): value is Broker =>
  typeof (value as Broker | undefined)?.host === 'string' && typeof (value as Broker).port === 'number'

const same = (a: Broker, b: Broker) => a.host === b.host && a.port === b.port

/**
 * A new broker is on trial: unless it accepts the station in time, the last one that did returns. Only a broker that did
 * accept can return, so that a station that was set up before it had a network keeps what it was told.
 */
export class BrokerTrial {
  readonly #ctx: PluginContext
  readonly #limit_s: number
  #old: Broker | undefined
  #cancel: () => unknown = () => {}

  /** @param limit_s 0: no trial */
  constructor(ctx: PluginContext, limit_s: number) {
    this.#ctx = ctx
    this.#limit_s = limit_s
  }

  /** Goes on with a trial that a restart interrupted. */
  async start(settings: LinkSettings): Promise<void> {
    const old = await this.#ctx.store.get(stored)
    if (isBroker(old) && settings.enabled && !same(old, settings)) this.#begin(old)
    else if (old !== undefined) await this.#keep(undefined)
  }

  /** The settings changed. @param proven the last broker that accepted the station */
  async changed(settings: LinkSettings, proven: Broker | undefined): Promise<void> {
    const before = this.#old
    this.#end()
    this.#ctx.errors.clear('mqtt-broker-change')
    const old = this.#limit_s === 0 || !settings.enabled || (proven && same(proven, settings)) ? undefined : proven
    if (old !== undefined) this.#begin(old)
    if (old !== before) await this.#keep(old)
  }

  /** The broker accepted the station. */
  async accepted(): Promise<void> {
    if (this.#old === undefined) return
    this.#end()
    await this.#keep(undefined)
  }

  #begin(old: Broker): void {
    this.#old = old
    this.#cancel = this.#ctx.timers.after(this.#limit_s * 1000, () => this.#goBack(old))
  }

  #end(): void {
    this.#cancel()
    this.#old = undefined
  }

  async #goBack({ host, port }: Broker): Promise<void> {
    this.#end()
    await this.#keep(undefined)
    const result = await this.#ctx.services
      .use(station)
      .change({ 'mqtt-host': host, 'mqtt-port': port }, { source: 'plugin' })
    const what = `the new broker did not accept this station within ${this.#limit_s} s`
    if (result.result === 'ok') this.#ctx.errors.raise('mqtt-broker-change', `${what}: back to ${host}:${port}`)
    else
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
