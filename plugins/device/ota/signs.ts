import type { PluginContext } from 'rtk-base/plugin'
import { device, mqttLink, rtcmStream } from 'rtk-base/services'
import type { Signs } from './health.js'
import type { Before } from './memory.js'

/** Before an update: short breaks do not count. */
const before_ms = 60_000
const answer_ms = 5_000

/** Watches what shows that a station does its work. */
export class StationSigns {
  readonly #ctx: PluginContext
  /** When RTCM was last known to flow. */
  #flowed_ms = Number.NEGATIVE_INFINITY
  #up_ms = Number.NEGATIVE_INFINITY

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  watch(): void {
    const { clock, on, services } = this.#ctx
    services.watch(rtcmStream, (stream) => {
      if (!stream) return
      let { flows } = stream
      const ended = () => {
        if (flows) this.#flowed_ms = clock.monotonic()
        flows = stream.flows
      }
      const end = on(stream.onFlow, ended)
      return () => {
        ended()
        return end()
      }
    })
  }

  /** The health that an update must restore. */
  before(): Before {
    const now_ms = this.#ctx.clock.monotonic()
    const flowed = this.#flows || now_ms - this.#flowed_ms < before_ms
    return { rtcm: flowed, broker: this.#isUp() || now_ms - this.#up_ms < before_ms }
  }

  async now(): Promise<Signs> {
    return { rtcm: this.#flows, broker: this.#isUp(), control: await this.#answers() }
  }

  get #flows(): boolean {
    return this.#ctx.services.find(rtcmStream)?.flows === true
  }

  #isUp(): boolean {
    const up = this.#ctx.services.find(mqttLink)?.up === true
    if (up) this.#up_ms = this.#ctx.clock.monotonic()
    return up
  }

  /** Asks the way a client does. A login that it asks for is an answer too. */
  async #answers(): Promise<boolean> {
    const { fetch, services } = this.#ctx
    const { http } = services.use(device)
    if (!http) return false
    try {
      const { url, fingerprint256 } = http
      const options = { timeout_ms: answer_ms, ...(fingerprint256 !== undefined && { fingerprint256 }) }
      const response = await fetch(`${url}/get-info?0x01`, options)
      await response.text()
      return response.status < 500
    } catch {
      return false
    }
  }
}
