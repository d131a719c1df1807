/** One receiver: its link, its configuration and its state. */
import { type Frame, isMsm, SubframeAssembler, type UbxFrame } from 'rtk-base/gnss'
import { AwakeClock, type BytePort, linkTick_ms, ReceiverLink } from 'rtk-base/link'
import { LogLimit, type PluginContext, unavailable } from 'rtk-base/plugin'
import {
  type ReceiverLink as LinkState,
  type Receiver,
  type ReceiverFix,
  type ReceiverIdentity,
  type ReceiverTarget,
  switchableConstellations,
} from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Configurator, type ConfiguratorOptions } from './configure/configurator.js'
import { type Output, outputOf } from './configure/output.js'
import { Upkeep } from './configure/upkeep.js'
import { type ReceiverEvents, receiverEvents } from './events.js'
import { ReceiverFacts } from './facts/receiver-facts.js'
import { RateMemory } from './link/rate-memory.js'
import { UbxDialog } from './link/ubx-dialog.js'
import * as ubx from './ubx/index.js'

const string = Type.String()
/** State handed over to the next instance on a reload. */
export const ZedSnapshot = Type.Object({
  identity: Type.Unsafe<ReceiverIdentity>(
    Type.Object({
      maker: Type.Optional(string),
      ...{ module: string, firmware: string, hardware: string, software: string, serial: string },
    }),
  ),
  corruptRtcm: Type.Integer({ minimum: 0 }),
})
export type ZedSnapshot = Static<typeof ZedSnapshot>

export interface ZedOptions extends ConfiguratorOptions {
  bauds: readonly number[]
  /** False: nothing is written. */
  configure: boolean
}

/** RXM-SFRBX. */
const sfrbx = { cls: 0x02, id: 0x13 }
/** The private message of a moving base. */
const movingBase = 4072
/** The wildcard that names all configuration keys. */
const everyKey = 0x0fffffff

export class ZedReceiver {
  readonly facts: ReceiverFacts
  /** Listening mode: never writes, and trusts the receiver without checks. */
  readonly listening: boolean
  readonly events: ReceiverEvents
  readonly upkeep: Upkeep
  readonly #ctx: PluginContext
  readonly #port: BytePort
  readonly #options: Pick<ZedOptions, 'rtcm' | 'stationId'>
  readonly #link: ReceiverLink
  readonly #dialog: UbxDialog
  readonly #configurator: Configurator
  readonly #rates: RateMemory
  readonly #awake: AwakeClock
  readonly #logLimit: LogLimit
  /** The identity that was reported last, as text; '' before the first on this link. */
  #reported = ''
  #expectedSignals: ubx.ExpectedSignals | undefined
  /** Satellites and messages of the newest target. */
  #output: Output
  #wasUp: boolean = false
  readonly #pages = new SubframeAssembler()
  #corruptBefore = 0

  constructor(ctx: PluginContext, port: BytePort, options: ZedOptions) {
    this.#ctx = ctx
    this.#logLimit = new LogLimit(ctx.clock)
    this.#port = port
    this.#options = options
    this.#output = outputOf(options.rtcm)
    this.listening = !options.configure || !port.live
    this.events = receiverEvents(ctx)
    this.#rates = new RateMemory(ctx)
    this.#awake = new AwakeClock(ctx.clock, linkTick_ms)
    this.facts = new ReceiverFacts(
      { now_ms: () => this.now_ms() },
      {
        fix: (fix) => this.#fix(fix),
        secondFix: (fix) => this.events.secondFix.emit(fix),
        residuals: (residuals) => this.events.residuals.emit(residuals),
        satellites: (epoch) => {
          // An epoch between whole seconds: other software changed the rate.
          if (epoch.tow_ms % 1000 !== 0) this.upkeep.suspect()
          this.events.satellites.emit(epoch)
        },
        identity: (identity) => this.#identity(identity),
        antenna: (reading) => this.events.antenna.emit(reading),
        interference: (bands) => this.events.interference.emit(bands),
        spoofing: (state) => this.events.spoofing.emit(state),
        correction: (stationId) => this.events.correction.emit({ stationId }),
        time: (utc_s) => this.events.time.emit(utc_s),
        uptime: (msss_ms, now_ms) => this.upkeep.clock(msss_ms, now_ms),
        text: (level, text) => this.#text(level, text),
      },
    )
    const link = new ReceiverLink(
      port,
      ctx,
      this.#awake,
      { bauds: options.bauds, listenOnly: this.listening },
      {
        frame: (frame) => this.#frame(frame),
        state: () => this.#linkChanged(),
        silence: () => this.upkeep.ask(),
      },
    )
    this.#link = link
    this.#dialog = new UbxDialog(ctx, (bytes) => link.write(bytes))
    this.#configurator = new Configurator(ctx, this.#dialog, link, options)
    this.upkeep = new Upkeep({
      log: ctx.log,
      dialog: this.#dialog,
      configurator: this.#configurator,
      now_ms: () => this.now_ms(),
      lost_ms: () => this.#awake.lost_ms,
      listening: this.listening,
      isUp: () => this.link === 'up',
      mayWrite: () => this.mayWrite(),
      changed: () => this.#changed(),
      expectSignals: (signals) => {
        this.#expectedSignals = signals
      },
    })
  }

  async start(): Promise<void> {
    const baud = await this.#rates.load()
    if (baud !== undefined) this.#link.prefer(baud)
    this.#ctx.timers.every(linkTick_ms, () => this.#tick())
    this.#link.start()
  }

  async stop(): Promise<ZedSnapshot> {
    await this.#link.stop()
    this.#dialog.abort()
    return { identity: this.facts.identity, corruptRtcm: this.corruptRtcm }
  }

  restore({ identity, corruptRtcm }: ZedSnapshot): void {
    this.facts.identity = identity
    this.#corruptBefore = corruptRtcm
  }

  /** The station ID that it is configured to send, as far as it takes one; may be changed while it runs. */
  get stationId(): number {
    return this.#configurator.lacksStationId ? 0 : this.#options.stationId
  }

  /** Names of optional keys that this receiver rejected: it works without them. */
  get rejected(): readonly string[] {
    return this.#configurator.rejected
  }

  /** Between two MSM of a constellation, and between two 1005, as configured. */
  get intervals_s(): { observations: number; reference: number } {
    const { observationInterval_s, referenceInterval_s } = this.#output
    return { observations: observationInterval_s, reference: referenceInterval_s }
  }

  /** Satellites and messages as configured. The constellations are those that the receiver reports. */
  get output(): Receiver['output'] {
    if (this.listening) return undefined
    const { elevationMask_deg, constellations: chosen, ...messages } = this.#output
    const held = this.#expectedSignals
    const constellations = held ? switchableConstellations.filter((name) => held.has(name)) : chosen
    return {
      ...messages,
      ...(constellations && { constellations }),
      ...(elevationMask_deg !== undefined && { elevationMask_deg }),
    }
  }

  configure(target: ReceiverTarget): ReturnType<Receiver['configure']> {
    // From now on: messages of the type before are not forwarded while they are switched.
    this.#output = outputOf(this.#options.rtcm, target.output)
    return this.upkeep.configure(target)
  }

  get link(): LinkState {
    return this.#link.state
  }

  get corruptRtcm(): number {
    return this.#corruptBefore + this.#link.framer.stats.badChecksum.rtcm
  }

  /** Damaged frames are counted from 0 again. */
  resetCounters(): void {
    this.#corruptBefore = -this.#link.framer.stats.badChecksum.rtcm
  }

  /** Writes raw bytes; false if the port accepts nothing. */
  write(bytes: Uint8Array): boolean {
    return this.#link.write(bytes)
  }

  /** Deletes everything that was ever stored in the receiver; undefined when it does not answer. */
  deleteStoredConfiguration(): Promise<boolean | undefined> {
    return this.#dialog.delete([everyKey], ubx.layerBit.bbr | ubx.layerBit.flash)
  }

  /** Whether the receiver has identified itself since the link came up. */
  get identified(): boolean {
    return this.#reported !== ''
  }

  /** The signals that it is set to track; undefined until they were read. */
  get expectedSignals(): ubx.ExpectedSignals | undefined {
    return this.#expectedSignals
  }

  get linkReason(): string {
    return this.#link.reason
  }

  /** A replay came to its end. */
  get ended(): boolean {
    return this.#link.ended
  }

  /** Whether a valid frame ever came. */
  get heard(): boolean {
    return this.#link.heard
  }

  get isRecording(): boolean {
    return !this.#port.live
  }

  /** Advice if the receiver is silent or does not answer. */
  get advice(): string {
    if (this.link === 'up')
      return 'it sends but does not answer; check the line to its input, and that its port accepts UBX'
    if (this.ended)
      return 'it contains no valid frame; check that the option gnss-zed.port names a recording of a receiver'
    return this.link === 'offline'
      ? `${this.linkReason}; check the cable and the option gnss-zed.port; it is opened again as soon as it can be`
      : 'it is open but silent; check the rate (gnss-zed.baud) and the messages configured in the receiver'
  }

  get portName(): string {
    return this.#port.name
  }

  /** Monotonic milliseconds. */
  now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  /** The same without the time the event loop was blocked. Limits of silence are measured with it. */
  awake_ms(): number {
    return this.#awake.monotonic()
  }

  /** @throws RTK_ERR_UNAVAILABLE where nothing may or can be written */
  mayWrite(): void {
    if (this.listening)
      throw unavailable('the receiver is only listened to (gnss-zed: configure is false, or a replay)')
    if (this.link === 'offline') throw unavailable(`the receiver is offline: ${this.linkReason}`)
  }

  // ── what comes in ─────────────────────────────────────────────────────────────────────────────────────────────────

  #frame(frame: Frame): void {
    // RTCM first: it is the hot path.
    if (frame.kind === 'rtcm') {
      if (!this.#isUnwanted(frame.type)) this.events.rtcm.emit(frame)
      this.facts.rtcm(frame.type, frame.bytes)
    } else if (frame.kind === 'ubx') {
      if (frame.cls === sfrbx.cls && frame.id === sfrbx.id) {
        this.#page(frame)
        return
      }
      const payload = ubx.payloadOf(frame.bytes)
      this.facts.ubx(frame.cls, frame.id, payload, frame.arrival_ms)
      this.#dialog.hear(frame.cls, frame.id, payload)
    } else this.facts.nmea(frame.bytes, frame.arrival_ms)
  }

  #page({ bytes, arrival_ms }: UbxFrame): void {
    const ephemeris = this.#pages.push(bytes, arrival_ms / 1000)
    if (ephemeris) this.events.ephemeris.emit(ephemeris)
  }

  /** Enabled by other software: a second MSM type would be mixed with the first. */
  #isUnwanted(type: number): boolean {
    if (!this.upkeep.configured) return false
    const unwanted = type === movingBase || (isMsm(type) && type % 10 !== this.#output.msm)
    if (unwanted) this.upkeep.suspect()
    return unwanted
  }

  #fix(fix: ReceiverFix): void {
    this.upkeep.epoch(fix)
    this.events.fix.emit(fix)
  }

  #text(level: string, text: string): void {
    this.upkeep.said(text)
    if (level === 'error' || level === 'warning') {
      const omitted = this.#logLimit.admit(text)
      if (omitted !== undefined)
        this.#ctx.log.warn({ severity: level, omitted: omitted || undefined }, `the receiver reports: ${text}`)
    }
    if (level === 'warning') this.events.warning.emit(text)
  }

  #identity(identity: ReceiverIdentity): void {
    const text = JSON.stringify(identity)
    if (text === this.#reported) return
    const omitted = this.#logLimit.admit(text)
    if (omitted !== undefined)
      this.#ctx.log.info({ ...identity, omitted: omitted || undefined }, 'the receiver identified itself')
    this.#reported = text
    this.#changed()
  }

  #linkChanged(): void {
    const { state, reason, baud } = this.#link
    const trouble = state === 'offline' || (state === 'stalled' && this.#wasUp && !this.ended)
    this.#wasUp = state === 'up'
    this.#ctx.log[trouble ? 'warn' : 'info']({ link: state, port: this.#port.name, baud }, reason)
    if (state === 'up') this.upkeep.linkUp()
    // The last state of a recording is kept.
    else if (!this.ended) this.facts.absent()
    if (state === 'offline') {
      this.#dialog.abort()
      this.#reported = ''
      this.upkeep.linkLost()
    }
    this.#changed()
  }

  #changed(): void {
    if (this.link === 'up' && !this.listening) this.#rates.keep(this.#link.baud)
    this.events.state.emit()
  }

  #tick(): void {
    this.facts.tick()
    this.upkeep.tick(this.facts.fixAt_ms)
  }
}
