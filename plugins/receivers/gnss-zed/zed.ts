/** A u-blox ZED-F9P, or its kind, as a service. */
import { SubframeAssembler, type UbxFrame } from 'rtk-base/gnss'
import {
  type BytePort,
  type DriverOptions,
  linkTick_ms,
  type OwnFrame,
  ReceiverDriver,
  type WantedSetup,
} from 'rtk-base/link'
import { LogLimit, type PluginContext, unavailable } from 'rtk-base/plugin'
import {
  type ReceiverLink as LinkState,
  type OwnSurvey,
  type Receiver,
  type ReceiverCapabilities,
  type ReceiverFix,
  type ReceiverIdentity,
  type RtcmFrame,
  switchableConstellations,
} from 'rtk-base/services'
import { Configurator, type Known } from './configure/configurator.js'
import type { ConfigOptions } from './configure/plan.js'
import { isBootText, RestartWatch } from './configure/restart-watch.js'
import { whoIsThere } from './configure/who.js'
import { ReceiverFacts } from './facts/receiver-facts.js'
import { RateMemory } from './link/rate-memory.js'
import { answer_ms, UbxDialog, type UbxMessage } from './link/ubx-dialog.js'
import * as ubx from './ubx/index.js'

const can = {
  ownSurvey: true,
  settings: 'volatile',
  restarts: false,
  antennaDescriptor: false,
  reports: new Set([
    'antenna',
    'corrections',
    'interference',
    'residuals',
    'satellites',
    'second-fix',
    'signals',
    'spoofing',
  ]),
  rawObservations: ['RXM-RAWX', 'RXM-SFRBX'],
  intervals_s: [1, 2, 5, 10, 15, 30],
} as const satisfies Partial<ReceiverCapabilities>

/** RXM-SFRBX. */
const sfrbx = { cls: 0x02, id: 0x13 }
/** The private message of a moving base. */
const movingBase = 4072
/** The wildcard that names all configuration keys. */
const everyKey = 0x0fffffff
/** The data that CFG-RST deletes (navBbrMask), and how it restarts. */
const hot = 0x0000
const cold = 0xffff
const controlledSoftware = 1

export class ZedReceiver extends ReceiverDriver<UbxMessage> {
  readonly #facts: ReceiverFacts
  readonly #ubx: UbxDialog
  readonly #configurator: Configurator
  readonly #rates: RateMemory
  readonly #logLimit: LogLimit
  readonly #watch = new RestartWatch()
  readonly #pages = new SubframeAssembler()
  /** Undefined until the receiver has answered on this link. */
  #known: Known | undefined
  #expectedSignals: ubx.ExpectedSignals | undefined
  /** The maximum age of corrections that was written: of another one the difference is our own. */
  #writtenAge_s: number | undefined
  #lost_ms = 0
  /** The identity in the log, as text. */
  #logged = ''

  constructor(ctx: PluginContext, port: BytePort, driver: DriverOptions, options: ConfigOptions) {
    super(ctx, port, driver, {
      ...{ plugin: 'gnss-zed', maker: 'u-blox', framings: [], answer_ms, tick_ms: linkTick_ms, can },
    })
    const { events } = this
    this.#rates = new RateMemory(ctx)
    this.#logLimit = new LogLimit(ctx.clock)
    this.#ubx = new UbxDialog(this.dialog)
    this.#configurator = new Configurator(ctx, this.#ubx, this.line, options, () => this.station.correctionMaxAge_s)
    this.#facts = new ReceiverFacts({
      fix: (fix) => this.#fix(fix),
      secondFix: (fix) => events.secondFix.emit(fix),
      residuals: (residuals) => events.residuals.emit(residuals),
      satellites: (epoch) => {
        // An epoch between whole seconds: other software changed the rate.
        if (epoch.tow_ms % 1000 !== 0) this.suspect()
        this.reportSatellites(epoch)
      },
      identity: (part) => this.#identity(part),
      antenna: (reading) => events.antenna.emit(reading),
      interference: (bands) => events.interference.emit(bands),
      spoofing: (state) => events.spoofing.emit(state),
      correction: (stationId) => events.correction.emit({ stationId }),
      time: (utc_s) => events.time.emit(utc_s),
      uptime: (msss_ms, now_ms) => this.#lose(this.#watch.status(msss_ms, now_ms)),
      text: (level, text) => this.#text(level, text),
    })
  }

  override async start(): Promise<void> {
    const baud = await this.#rates.load()
    if (baud !== undefined) this.line.prefer(baud)
    await super.start()
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  override settingsChanged(): void {
    super.settingsChanged()
    const isAge = this.station.correctionMaxAge_s !== this.#writtenAge_s
    if (isAge && this.configured && this.link === 'up') this.inquire('verify')
  }

  // ── the language of the family ────────────────────────────────────────────────────────────────────────────────────

  /** Configuring the receiver takes its port in use. */
  protected override get isKnown(): boolean {
    return this.#known !== undefined
  }

  /** Also enables the messages that a status needs, in any mode of the receiver. */
  protected async identify(): Promise<void> {
    const { life } = this
    const { log } = this.ctx
    const answerer = await whoIsThere(this.#ubx)
    if (!answerer || life !== this.life) return
    const { module, firmware, port } = answerer
    if (!port) {
      log.warn('the receiver port in use could not be determined; asking again')
      return
    }
    if (!(await this.#configurator.show(port)) || life !== this.life) return
    this.#known = { firmware, port }
    if (firmware.takenFor)
      log.warn({ module }, `this receiver is not known: it is configured like a ${firmware.takenFor}`)
    this.#watch.expect(this.ctx.clock.monotonic())
    await this.#readSignals()
  }

  protected readMode(): ReturnType<Receiver['readTarget']> {
    return this.#configurator.read()
  }

  protected async bring(wanted: WantedSetup): ReturnType<Receiver['configure']> {
    const { life } = this
    this.msm = wanted.settings.msm
    this.#writtenAge_s = this.station.correctionMaxAge_s
    const result = await this.#configurator.configure(wanted, this.#known, () => life === this.life)
    // Missing signals are those of the new constellations, also before the configuration is read again.
    if (wanted.target.output?.constellations) await this.#readSignals()
    this.#watch.begin(this.ctx.clock.monotonic())
    this.#keepRate()
    return result
  }

  protected async verify(wanted: WantedSetup | undefined): Promise<string> {
    if (!wanted || !this.#known) return ''
    const { correctionMaxAge_s } = this.station
    const isExpected = correctionMaxAge_s !== this.#writtenAge_s
    this.#writtenAge_s = correctionMaxAge_s
    const wrong = await this.#configurator.verify(wanted, this.#known, isExpected)
    if (wrong === '') await this.#readSignals()
    return wrong
  }

  async #readSignals(): Promise<void> {
    this.#expectedSignals = (await this.#configurator.expectedSignals()) ?? this.#expectedSignals
  }

  protected silence(): void {
    this.inquire('identify')
  }

  /** A silent receiver may still hold its configuration: its clock tells. */
  protected override linkChanged(state: LinkState): void {
    if (state === 'up') {
      this.#watch.expect(this.ctx.clock.monotonic())
      this.#keepRate()
    } else if (!this.line.ended) this.#facts.absent()
    if (state !== 'offline') return
    this.#known = undefined
    this.#logged = ''
  }

  /** The messages that are enabled at each new link are lost too. */
  protected override restarted(reason?: string): void {
    this.#watch.begin(this.ctx.clock.monotonic())
    super.restarted(reason)
    if (reason) this.inquire('identify')
  }

  protected override tick(): void {
    const now_ms = this.ctx.clock.monotonic()
    this.#facts.tick(now_ms)
    if (this.link === 'up') {
      // Data received while the event loop was blocked is not read yet: its messages are expected from now on.
      this.awake.monotonic()
      const { lost_ms } = this.awake
      if (lost_ms !== this.#lost_ms) this.#watch.expect(now_ms)
      this.#lost_ms = lost_ms
      if (this.isKnown) this.#lose(this.#watch.missing(this.configured, now_ms))
    }
    super.tick()
  }

  /** @param sign of a lost configuration; '' or undefined: there is none */
  #lose(sign: string | undefined): void {
    if (sign && !this.listening) this.restarted(sign)
  }

  #keepRate(): void {
    if (!this.listening) this.#rates.keep(this.line.baud)
  }

  // ── its messages ──────────────────────────────────────────────────────────────────────────────────────────────────

  protected override heardRtcm(frame: RtcmFrame): void {
    if (!this.#isUnwanted(frame.type)) this.events.rtcm.emit(frame)
    this.#facts.rtcm(frame.type, frame.bytes)
  }

  /** Whether other software enabled the message. */
  #isUnwanted(type: number): boolean {
    if (!this.configured) return false
    const isUnwanted = type === movingBase || this.isOtherMsm(type)
    if (isUnwanted) this.suspect()
    return isUnwanted
  }

  protected heard(frame: OwnFrame): void {
    if (frame.kind === 'ubx') {
      const { cls, id } = frame
      if (cls === sfrbx.cls && id === sfrbx.id) {
        this.#page(frame)
        return
      }
      const payload = ubx.payloadOf(frame.bytes)
      this.#facts.ubx(cls, id, payload, frame.arrival_ms)
      this.dialog.hear({ cls, id, payload })
    } else this.#facts.nmea(frame.bytes, frame.arrival_ms)
  }

  #page({ bytes, arrival_ms }: UbxFrame): void {
    const ephemeris = this.#pages.push(bytes, arrival_ms / 1000)
    if (ephemeris) this.events.ephemeris.emit(ephemeris)
  }

  /** An epoch tells the mode, as a base is fixed by time alone. */
  #fix(fix: ReceiverFix): void {
    this.#watch.epoch(fix.arrival_ms)
    if (!this.listening && fix.fix !== 'none') {
      const mode = fix.fix === 'time' ? 'fixed' : 'rover'
      const sign = this.#watch.mode(mode, this.wanted?.target.mode, fix.arrival_ms)
      this.#lose(sign)
      if (sign !== '') this.setMode(mode)
    }
    this.report(fix)
  }

  #text(level: string, text: string): void {
    if (isBootText(text)) this.#lose('it printed its boot banner')
    if (level === 'error' || level === 'warning') {
      const omitted = this.#logLimit.admit(text)
      if (omitted !== undefined)
        this.ctx.log.warn({ severity: level, omitted: omitted || undefined }, `the receiver reports: ${text}`)
    }
    if (level === 'warning') this.events.warning.emit(text)
  }

  #identity(part: Partial<ReceiverIdentity>): void {
    this.identified({ ...this.identity, maker: 'u-blox', ...part })
    const text = JSON.stringify(this.identity)
    if (text === this.#logged) return
    this.#logged = text
    const omitted = this.#logLimit.admit(text)
    if (omitted !== undefined)
      this.ctx.log.info({ ...this.identity, omitted: omitted || undefined }, 'the receiver identified itself')
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Older firmware and the X20P have no second fix. */
  override get can(): ReceiverCapabilities {
    if (this.#facts.firmware?.nav2 !== false) return super.can
    return { ...super.can, reports: new Set([...can.reports].filter((report) => report !== 'second-fix')) }
  }

  protected override get advices(): Readonly<Record<LinkState, string>> {
    return {
      offline: `${this.line.reason}; check the cable and the option gnss-zed.port; it is opened again as soon as it can be`,
      stalled: this.line.ended
        ? 'it contains no valid frame; check that the option gnss-zed.port names a recording of a receiver'
        : 'it is open but silent; check the rate (gnss-zed.baud) and the messages configured in the receiver',
      up: 'it sends but does not answer; check the line to its input, and that its port accepts UBX',
    }
  }

  get recording(): Receiver['recording'] {
    return this.port.live ? undefined : { ended: this.line.ended, isEmpty: !this.line.heard }
  }

  override get sinceReset_ms(): number | undefined {
    return this.link === 'offline' ? undefined : this.#watch.sinceReset_ms(this.ctx.clock.monotonic())
  }

  /** A receiver that is only listened to has the ID that it sends; one that takes none always sends 0. */
  override get stationId(): number {
    if (this.listening) return this.#facts.stationId ?? super.stationId
    return this.#configurator.lacksStationId ? 0 : super.stationId
  }

  /** The constellations are those that the receiver reports. */
  override get output(): Receiver['output'] {
    const output = super.output
    const signals = this.#expectedSignals
    return output && signals
      ? { ...output, constellations: switchableConstellations.filter((name) => signals.has(name)) }
      : output
  }

  override get rejected(): readonly string[] {
    return this.#configurator.rejected
  }

  get startTimes(): Receiver['startTimes'] {
    return this.#facts.startTimes
  }

  get expectedSignals(): ubx.ExpectedSignals | undefined {
    return this.#expectedSignals
  }

  get ownSurvey(): OwnSurvey | undefined {
    return this.#facts.survey
  }

  async resetAmbiguities(): Promise<void> {
    this.mayWrite()
    await this.inTurn(() => this.#configurator.resetAmbiguities())
  }

  /** Hot start: keeps stored and current data of the receiver. */
  async restart(): Promise<void> {
    this.mayWrite()
    if (!this.#reset(hot)) throw unavailable('the port of the receiver accepts no data now; nothing was restarted')
  }

  /** Deletes the stored configuration of the receiver, then a cold start. @throws RTK_ERR_UNAVAILABLE */
  async reset(): Promise<void> {
    this.mayWrite()
    const isDeleted = await this.#ubx.delete([everyKey], ubx.layerBit.bbr | ubx.layerBit.flash)
    if (isDeleted === undefined) throw unavailable('the receiver does not answer; nothing was reset')
    if (!isDeleted) throw unavailable('the receiver refused to delete its configuration; nothing was reset')
    if (!this.#reset(cold))
      throw unavailable(
        'the configuration is deleted, but the port accepts no data now: the receiver was not restarted',
      )
  }

  #reset(navBbrMask: number): boolean {
    const isWritten = this.write(ubx.encodeFrame(ubx.cfgRst, { navBbrMask, resetMode: controlledSoftware }))
    if (isWritten) this.restarted('a restart was requested')
    return isWritten
  }
}
