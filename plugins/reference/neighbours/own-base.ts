/** This station as one end of the vectors: its observations before the gate, and the position that it announces. */
import { Recording } from 'rtk-base/baseline'
import { gpsSeconds, isEphemeris, isMsm, knownLeap_s, messageNumber, sameReference, unixToGps } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import { device, type Ecef, procedureStatus, receiver, rtcmStream } from 'rtk-base/services'

/** The antenna is not, or not yet, at the position that goes out. */
const unsettled = new Set(['survey', 'moved'])

/** Messages with the descriptor of the antenna. */
export const describesAntenna = (type: number): boolean => type === 1007 || type === 1008 || type === 1033

export class OwnBase {
  readonly recording = new Recording()
  readonly #ctx: PluginContext
  readonly #isWanted: () => boolean
  readonly #changed: () => void
  #arp: Ecef | undefined
  #isSettled = false
  /** The antenna is known not to be, or not yet, at an announced position. */
  isUnsettled = false

  /** @param isWanted false: nothing is recorded @param changed the announced position is another */
  constructor(ctx: PluginContext, isWanted: () => boolean, changed: () => void) {
    this.#ctx = ctx
    this.#isWanted = isWanted
    this.#changed = changed
  }

  /** Call it in `start` of the plugin. */
  listen(): void {
    const { on, services } = this.#ctx
    services.watch(receiver, (source) => {
      const ends = [
        source && on(source.onRtcm, ({ bytes, type }) => this.#record(bytes, type)),
        source?.onEphemeris && on(source.onEphemeris, (bytes) => this.#record(bytes, messageNumber(bytes))),
      ]
      return () => {
        for (const end of ends) void end?.()
      }
    })
    this.update()
  }

  /** The announced position, ECEF metres; undefined: none, or the antenna is known to be elsewhere. */
  get arp(): Ecef | undefined {
    return this.#isSettled ? this.#arp : undefined
  }

  /** GPS seconds of now; undefined: the time is not known. */
  now_s(): number | undefined {
    const utc_ms = this.#ctx.services.use(device).utc_ms()
    return utc_ms > 0 ? gpsSeconds(unixToGps(utc_ms / 1_000, knownLeap_s)) : undefined
  }

  /** The announced position may have changed. */
  update(): void {
    const { services } = this.#ctx
    const procedure = services.find(procedureStatus)
    const stream = services.find(rtcmStream)
    const arp = procedure?.reference ?? stream?.station?.arp
    // The station itself describes the antenna behind the gate, most receivers do not.
    for (const { bytes, type } of stream?.reference() ?? []) if (describesAntenna(type)) this.#record(bytes, type)
    this.isUnsettled = unsettled.has(procedure?.status ?? '')
    const hadMoved = this.#isSettled && this.isUnsettled
    const isSettled = arp !== undefined && !this.isUnsettled
    const isSame = arp === undefined || (this.#arp !== undefined && sameReference(arp, this.#arp))
    // While a plugin is reloaded there is none for a moment.
    if (arp) this.#arp = { ...arp }
    this.#isSettled = isSettled
    if (isSame && !hadMoved) return
    this.recording.clear()
    this.#changed()
  }

  #record(bytes: Uint8Array, type: number): void {
    if (!this.#isWanted() || (!isMsm(type) && !isEphemeris(type) && !describesAntenna(type))) return
    const now_s = this.now_s()
    if (now_s !== undefined) this.recording.take(bytes, now_s)
  }
}
