import { decodeEphemeris, gpsSeconds, isEphemeris, knownLeap_s, messageNumber, unixToGps } from 'rtk-base/gnss'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { device, receiver } from 'rtk-base/services'

/** An ephemeris is valid for hours; one of GLONASS for half an hour. */
const apart_ms = 600_000
/** One that the receiver has not sent again for so long is of a satellite that has set, or has become old. */
const old_ms = 3_600_000
const mostSatellites = 128

/**
 * The newest ephemeris of each satellite, published below the RTCM every ten minutes: whoever computes the vector between two
 * stations needs the orbits, and most receivers have none in their RTCM.
 */
export class Ephemerides {
  readonly #ctx: PluginContext
  readonly #topic: string
  readonly #frames = new Map<string, { readonly frame: Uint8Array; readonly came_ms: number }>()
  #sent_ms = Number.NEGATIVE_INFINITY

  constructor(ctx: PluginContext, topic: string) {
    this.#ctx = ctx
    this.#topic = topic
  }

  listen(): void {
    const { on, services } = this.#ctx
    services.watch(receiver, (source) => {
      const ends: (Dispose | undefined)[] = [
        source && on(source.onRtcm, ({ bytes }) => this.#take(bytes)),
        source?.onEphemeris && on(source.onEphemeris, (bytes) => this.#take(bytes)),
      ]
      return () => {
        for (const end of ends) void end?.()
      }
    })
  }

  #take(frame: Uint8Array): void {
    if (!isEphemeris(messageNumber(frame))) return
    const utc_ms = this.#ctx.services.use(device).utc_ms()
    const ephemeris = decodeEphemeris(frame, gpsSeconds(unixToGps(utc_ms / 1_000, knownLeap_s)))
    if (!ephemeris) return
    const id = `${ephemeris.constellation} ${ephemeris.satellite}`
    // A copy: frames are views of larger buffers, which would stay in memory.
    const kept = { frame: Uint8Array.from(frame), came_ms: this.#ctx.clock.monotonic() }
    if (this.#frames.has(id) || this.#frames.size < mostSatellites) this.#frames.set(id, kept)
  }

  /** RTCM was published: the ephemerides follow when it is time. */
  published(): void {
    const now_ms = this.#ctx.clock.monotonic()
    if (now_ms - this.#sent_ms < apart_ms) return
    for (const [id, { came_ms }] of this.#frames) if (now_ms - came_ms > old_ms) this.#frames.delete(id)
    if (this.#frames.size === 0) return
    const payload = Buffer.concat([...this.#frames.values()].map(({ frame }) => frame))
    if (this.#ctx.mqtt.publish(this.#topic, payload) === 'sent') this.#sent_ms = now_ms
  }

  /** A new connection: subscribers may have missed the last ones. */
  connected(): void {
    this.#sent_ms = Number.NEGATIVE_INFINITY
  }
}
