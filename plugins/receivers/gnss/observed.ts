/** State gathered from the service `receiver`, and the station's conclusions from it. */
import { isReferencePoint, type ReferencePoint, referencePoint } from 'rtk-base/gnss'
import { AwakeClock } from 'rtk-base/link'
import type { EventSource, Handoff, HandoffPairs, PluginContext } from 'rtk-base/plugin'
import {
  type AntennaStatus,
  device,
  type Ecef,
  type Receiver,
  type ReceiverFix,
  type Reception,
  receiver as receiverToken,
  rtcmStream,
  type SatelliteEpoch,
} from 'rtk-base/services'
import { Type } from 'typebox'
import { AntennaReport, AntennaWatch } from './antenna-watch.js'
import { ReportedCorrections } from './corrections.js'
import { RadioWatch } from './radio-watch.js'
import { SignalWatch } from './signal-watch.js'

const tick_ms = 1_000

export interface HoldOptions {
  /** No RTCM goes out while the antenna is short or open. */
  antennaHold: boolean
  /** No RTCM is sent while spoofing is reported. */
  spoofedHold: boolean
}

export class Observed implements Reception {
  readonly antennaWatch = new AntennaWatch()
  readonly corrections = new ReportedCorrections()
  readonly radio = new RadioWatch()
  readonly signals = new SignalWatch()
  readonly onState: Reception['onState']
  readonly #ctx: PluginContext
  readonly #options: HoldOptions
  readonly #changed: EventSource<void>
  readonly #awake: AwakeClock
  #receiver: Receiver | undefined
  #place: ReceiverFix | undefined
  #time = { utc_s: 0, at_ms: 0 }
  #reference: { point: ReferencePoint; utc_s: number } | undefined
  #wasUp: boolean = false
  #reported = ''

  constructor(ctx: PluginContext, options: HoldOptions) {
    this.#ctx = ctx
    this.#options = options
    this.#changed = ctx.event()
    this.onState = this.#changed.on
    this.#awake = new AwakeClock(ctx.clock, tick_ms)
  }

  /** Follows the receiver, whichever plugin has it. */
  follow(handoff: Handoff): void {
    const before = handoff.get('antenna', AntennaReport)
    if (before) this.antennaWatch.restore(before)
    if (handoff.get('spoofed', Type.Boolean())) this.radio.resumeSpoofed(this.now_ms())
    this.#ctx.services.watch(receiverToken, (source) => this.#connect(source))
    this.#ctx.timers.every(tick_ms, () => {
      this.radio.tick(this.now_ms())
      const expected = this.#receiver?.expectedSignals
      if (expected) this.signals.expect(expected, this.now_ms())
      this.awake_ms()
      this.#report()
    })
  }

  /** For the next instance. */
  handOver(): HandoffPairs {
    return [
      ['antenna', this.antennaWatch.report],
      ['spoofed', this.radio.spoofed],
    ]
  }

  get receiver(): Receiver | undefined {
    return this.#receiver
  }

  now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  /** Monotonic time without the time the event loop was blocked. Limits of silence are measured with it. */
  awake_ms(): number {
    return this.#awake.monotonic()
  }

  /** UTC seconds: of the receiver, else of the device, 0 when neither is credible. */
  utc_s(): number {
    const { utc_s, at_ms } = this.#time
    if (utc_s > 0) return utc_s + (this.now_ms() - at_ms) / 1000
    return (this.#ctx.services.find(device)?.utc_ms() ?? 0) / 1000
  }

  /** The newest epoch; undefined when it is older than 5 s. */
  get fix(): ReceiverFix | undefined {
    return this.#receiver?.fix
  }

  /** The newest epoch with a position. */
  get place(): ReceiverFix | undefined {
    return this.#place
  }

  /** The reference point of the base as the receiver sends it in 1005 or 1006, and when it was heard last. */
  get arp(): { position: Ecef; utc_s: number } | undefined {
    return this.#reference && { position: this.#reference.point.arp, utc_s: this.#reference.utc_s }
  }

  get rtcmFlows(): boolean {
    return this.#ctx.services.find(rtcmStream)?.input.flows === true
  }

  get sky(): SatelliteEpoch | undefined {
    return this.#receiver?.satellites
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  get antenna(): AntennaStatus {
    return this.antennaWatch.report.status
  }

  get jamming() {
    return this.radio.jamming(this.now_ms())
  }

  get interfered(): boolean | undefined {
    return this.jamming === 'unknown' && !this.radio.interfered ? undefined : this.radio.interfered
  }

  get jammed(): boolean | undefined {
    return this.jamming === 'unknown' && !this.radio.jammed ? undefined : this.radio.jammed
  }

  get spoofing() {
    return this.radio.spoofing(this.now_ms())
  }

  get spoofed(): boolean | undefined {
    return this.spoofing === 'unknown' && !this.radio.spoofed ? undefined : this.radio.spoofed
  }

  get slips(): number | undefined {
    return this.#wasUp ? this.signals.slips(this.now_ms()) : undefined
  }

  get satellitesUsed(): number | undefined {
    const { fix } = this
    if (!fix) return undefined
    return this.sky?.satellites.filter(({ used }) => used).length || fix.satellitesUsed
  }

  /** A receiver that only sends NMEA reports the satellites that it uses. */
  get satellitesVisible(): number | undefined {
    const used = this.satellitesUsed
    if (used === undefined) return undefined
    return Math.max(this.sky?.satellites.filter(({ cno_dbhz }) => cno_dbhz > 0).length ?? 0, used)
  }

  get held(): Reception['held'] {
    if (this.#options.antennaHold && this.antennaWatch.fails) return 'antenna'
    return this.#options.spoofedHold && this.radio.spoofed ? 'spoofed' : ''
  }

  // ── what comes in ─────────────────────────────────────────────────────────────────────────────────────────────────

  #connect(source: Receiver | undefined): () => void {
    this.#receiver = source
    this.#stateChanged()
    if (!source) return () => {}
    const { on } = this.#ctx
    const now_ms = () => this.now_ms()
    const undo = [
      on(source.onState, () => this.#stateChanged()),
      on(source.onRtcm, ({ type, bytes, arrival_ms }) => {
        this.signals.rtcm(type, bytes, arrival_ms)
        const point = isReferencePoint(type) ? referencePoint(bytes) : undefined
        if (point) this.#reference = { point, utc_s: this.utc_s() }
      }),
      on(source.onFix, (fix) => {
        if (fix.ok && fix.fix !== 'none') this.#place = fix
        if (fix.t > 0 && !source.onTime) this.#setTime(fix.t, fix.arrival_ms)
      }),
      source.onTime && on(source.onTime, (utc_s) => this.#setTime(utc_s, now_ms())),
      source.onSatellites && on(source.onSatellites, (epoch) => this.signals.satellites(epoch)),
      source.onAntenna &&
        on(source.onAntenna, (reading) => {
          this.antennaWatch.read(reading, Math.floor(this.utc_s()))
          this.#report()
        }),
      source.onInterference && on(source.onInterference, (bands) => this.radio.takeBands(bands, now_ms())),
      source.onSpoofing && on(source.onSpoofing, (state) => this.radio.takeSpoofing(state, now_ms())),
      source.onCorrection && on(source.onCorrection, ({ stationId }) => this.corrections.count(stationId, now_ms())),
    ]
    return () => undo.forEach((dispose) => void dispose?.())
  }

  #stateChanged(): void {
    const isUp = this.#receiver?.link === 'up'
    if (isUp && !this.#wasUp) this.signals.begin(this.now_ms())
    // The last state of a recording is kept.
    if (!isUp && !this.#receiver?.recording?.ended) this.antennaWatch.absent()
    this.#wasUp = isUp
    this.#reported = ''
    this.#report()
  }

  #setTime(utc_s: number, at_ms: number): void {
    this.#time = { utc_s, at_ms }
    if (!this.#receiver?.recording) this.#ctx.services.find(device)?.setUtc(utc_s * 1000)
  }

  #report(): void {
    const text = [this.antenna, this.radio.interfered, this.radio.jammed, this.radio.spoofed, this.held].join(' ')
    if (text === this.#reported) return
    this.#reported = text
    this.#changed.emit()
  }
}
