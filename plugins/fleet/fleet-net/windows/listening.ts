import { Recording } from 'rtk-base/baseline'
import {
  type Frame,
  Framer,
  gpsSeconds,
  isAnnouncedPosition,
  isMsm,
  isReferencePoint,
  knownLeap_s,
  PublicationGuard,
  type publicationTexts,
  referencePoint,
  stationId,
  unixToGps,
} from 'rtk-base/gnss'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { type FleetMessage, fleet, fleetBroker } from 'rtk-base/services'

/** Why the RTCM of a station cannot be used; `''`: nothing speaks against it. */
export type Trouble = '' | keyof typeof publicationTexts | 'position' | 'sources' | 'moved' | 'gone'

/** The RTCM of one station while pairs need it: subscribed once, bounded, compared with the announced position. */
export class Listening {
  readonly recording: Recording
  readonly #ctx: PluginContext
  readonly #serial: string
  readonly #framer = new Framer({ onFrame: (frame) => this.#frame(frame) })
  readonly #subscriptions: readonly Dispose[]
  readonly #took: () => void
  /** Pairs that use it. */
  users = 0
  #trouble: Trouble = ''
  #trouble_ms = Number.NEGATIVE_INFINITY
  #reference: string
  #stationId: number | undefined
  #now_s = 0
  readonly #guard = new PublicationGuard()

  /** @param took a publication was taken or refused @param window_s pairs use the RTCM of this time */
  constructor(ctx: PluginContext, serial: string, window_s: number, took: () => void) {
    this.#ctx = ctx
    this.#serial = serial
    this.#took = took
    this.recording = new Recording({ longest_s: window_s })
    this.#reference = this.#announced()
    const broker = ctx.services.use(fleetBroker)
    const topic = `base/${serial}/drtk`
    this.#subscriptions = [topic, `${topic}/eph`].map((each) =>
      broker.subscribe(each, (message) => this.#publication(message)),
    )
  }

  close(): void {
    for (const end of this.#subscriptions) void end()
  }

  /** Trouble that was found since `from_ms`, monotonic ms; '' for none. */
  troubleSince(from_ms: number): Trouble {
    this.#compare()
    return this.#trouble_ms >= from_ms ? this.#trouble : ''
  }

  #announced(): string {
    const { arp, reference } = this.#ctx.services.use(fleet).station(this.#serial) ?? {}
    return arp ? `${reference} ${arp.x} ${arp.y} ${arp.z}` : ''
  }

  /** A window that began before another position was announced has no vector. */
  #compare(): void {
    const now = this.#announced()
    if (now === this.#reference) return
    this.#reference = now
    this.#fails(now === '' ? 'gone' : 'moved')
  }

  #publication({ payload, retained }: FleetMessage): void {
    if (retained) return
    const { clock } = this.#ctx
    this.#took()
    this.#compare()
    const refusal = this.#guard.refusal(payload.length, clock.monotonic())
    if (refusal) {
      this.#fails(refusal)
      return
    }
    this.#now_s = gpsSeconds(unixToGps(clock.now() / 1_000, knownLeap_s))
    this.#framer.push(payload, clock.monotonic())
    this.#framer.flush()
  }

  #frame(frame: Frame): void {
    if (frame.kind !== 'rtcm') return
    const { bytes, type } = frame
    if (isReferencePoint(type)) {
      const arp = this.#ctx.services.use(fleet).station(this.#serial)?.arp
      const found = referencePoint(bytes)?.arp
      if (arp && found && !isAnnouncedPosition(found, arp)) this.#fails('position')
    }
    if (isMsm(type)) {
      const id = stationId(bytes)
      this.#stationId ??= id
      // A second station publishes under this name.
      if (id !== this.#stationId) {
        this.#stationId = id
        this.#fails('sources')
      }
    }
    this.recording.take(bytes, this.#now_s)
  }

  /** Nothing of the time before can be used. */
  #fails(why: Trouble): void {
    this.#trouble = why
    this.#trouble_ms = this.#ctx.clock.monotonic()
    this.recording.clear()
  }
}
