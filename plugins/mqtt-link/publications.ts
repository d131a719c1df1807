import type { PluginContext, PublishResult } from 'rtk-base/plugin'
import { type Station, station as stationToken } from 'rtk-base/services'

/** Publishing the information document on `base/{SN}/info`; every publication carries the whole document. */
export class Publications {
  readonly #ctx: PluginContext

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Trigger 1: a session was established. */
  onConnect(): void {
    this.#publish('connect')
  }

  /** Trigger 4: somebody asked for it. */
  onDemand(): void {
    this.#publish('demand')
  }

  #publish(trigger: 'connect' | 'demand'): PublishResult {
    const station: Station = this.#ctx.services.use(stationToken)
    const result = this.#ctx.mqtt.publish('base/{SN}/info', station.documentText())
    if (result !== 'sent') this.#ctx.log.debug({ trigger, result }, 'the document was not published')
    return result
  }
}
