import { Mutex } from 'async-mutex'
import { type Static, Type } from 'typebox'
import type { BytePort } from '../../../../schemas/byte-port.js'
import type {
  AntennaReading,
  BandReading,
  ReceiverLink as LinkState,
  Receiver,
  ReceiverCapabilities,
  ReceiverFix,
  ReceiverIdentity,
  ReceiverTarget,
  RtcmFrame,
  SatelliteEpoch,
  SatelliteResidual,
  Spoofing,
} from '../../../../schemas/services/receiver.js'
import type { ReceiverSettings } from '../../../../schemas/services/reception.js'
import { AwakeClock } from '../../../platform/time/edges.js'
import { LogLimit, type PluginContext, unavailable } from '../../../plugin.js'
import type { Frame, Framing } from '../../gnss/framer.js'
import { isEphemeris, isMsm, sameReference } from '../../gnss/index.js'
import { Dialog } from '../dialog.js'
import { linkTick_ms, ReceiverLink } from '../port/receiver-link.js'
import { type BaseSettings, nobody, takenOutput } from './settings.js'

/** Properties of a family of receivers. */
export interface ReceiverFamily {
  /** Name of the plugin, for advice such as *check the option NAME.port*. */
  readonly plugin: string
  readonly maker: string
  readonly framings: readonly Framing[]
  /** How long an answer may take. */
  readonly answer_ms: number
  /** How often the driver asks for what is unknown, and looks for what is missing. */
  readonly tick_ms: number
  readonly can: Omit<ReceiverCapabilities, 'output' | 'stationId' | 'fixedPosition'>
}

export interface DriverOptions {
  /** Settings that apply unless a target has others in `output`. */
  readonly base: BaseSettings
  /** Line rates, tried in turn. */
  readonly bauds: readonly number[]
  /** False: nothing is ever written, as to a recording; others configure the receiver. */
  readonly configure: boolean
  /** The station's settings for any receiver. */
  settings(): StationSettings
}

/** The settings of the service `receiver-settings` that no target contains. */
export type StationSettings = Pick<ReceiverSettings, 'stationId' | 'correctionMaxAge_s'>

/** The result that `configure` has to achieve. */
export interface WantedSetup {
  readonly target: ReceiverTarget
  readonly settings: BaseSettings
  readonly stationId: number
}

/** A frame of the receiver that is not RTCM. */
export type OwnFrame = Exclude<Frame, { kind: 'rtcm' }>

type Held = Awaited<ReturnType<Receiver['readTarget']>>

const string = Type.String()
/** Knowledge of the driver that its next instance gets at a reload. */
export const DriverSnapshot = Type.Object({
  identity: Type.Unsafe<ReceiverIdentity>(
    Type.Object({
      maker: Type.Optional(string),
      ...{ module: string, firmware: string, hardware: string, software: string, serial: string },
    }),
  ),
  corruptRtcm: Type.Integer({ minimum: 0 }),
})
export type DriverSnapshot = Static<typeof DriverSnapshot>

/** Fixes and satellites are old after that. */
const old_ms = 5_000
/** How often the configuration is read again: any setting may have been changed from outside. */
const verify_ms = 20_000
/** After a sign of a change at most this often. */
const suspect_ms = 2_000

/**
 * The service `receiver`. This class manages the link, the events of the service, and the configuration: one request
 * at a time, and a configuration that is read again every 20 s. A subclass adds the language of a family of receivers.
 * @typeParam M - the type of messages that can be answers to requests
 */
export abstract class ReceiverDriver<M = string> implements Receiver {
  readonly onRtcm
  readonly onFix
  readonly onEphemeris
  readonly onState
  readonly onTime
  readonly onWarning
  readonly onSatellites
  readonly onSecondFix
  readonly onResiduals
  readonly onCorrection
  readonly onAntenna
  readonly onInterference
  readonly onSpoofing
  protected readonly ctx: PluginContext
  /** Nothing is ever written: others configure the receiver, and it is trusted. */
  protected readonly listening: boolean
  /** The events that a family reports, for what has no method of its own. */
  protected readonly events
  protected readonly line: ReceiverLink
  protected readonly port: BytePort
  protected readonly awake: AwakeClock
  /** Pass it (`dialog.hear`) every message that may be an answer. */
  protected readonly dialog: Dialog<M>
  /**
   * The MSM type of the newest `configure`. MSM frames of another type, which may still arrive, are dropped.
   * Undefined: none are dropped.
   */
  protected msm: 4 | 7 | undefined
  readonly #family: ReceiverFamily
  readonly #can: ReceiverCapabilities
  readonly #options: DriverOptions
  readonly #tasks = new Mutex()
  readonly #logLimit: LogLimit
  /** Questions that wait for their turn, or are asked. */
  readonly #open = new Set<'identify' | 'verify'>()
  #identity: ReceiverIdentity
  #isKnown = false
  #mode: Receiver['mode'] = 'unknown'
  /** The target of the last `configure` that succeeded. */
  #wanted: WantedSetup | undefined
  /** Counts `configure`. */
  #newest = 0
  #configured = false
  #life = {}
  #verified_ms = 0
  #fix: ReceiverFix | undefined
  #satellites: SatelliteEpoch | undefined
  #corruptBefore = 0
  #wasUp = false
  #told = ''

  constructor(ctx: PluginContext, port: BytePort, options: DriverOptions, family: ReceiverFamily) {
    this.ctx = ctx
    this.port = port
    this.listening = !options.configure || !port.live
    this.#options = options
    this.#family = family
    this.#identity = { ...nobody, maker: family.maker }
    this.#can = { ...family.can, fixedPosition: 'ecef', stationId: true, output: takenOutput }
    this.#logLimit = new LogLimit(ctx.clock)
    this.awake = new AwakeClock(ctx.clock, linkTick_ms)
    this.events = {
      ...{ rtcm: ctx.event<RtcmFrame>(), fix: ctx.event<ReceiverFix>(), ephemeris: ctx.event<Uint8Array>() },
      ...{ state: ctx.event<void>(), time: ctx.event<number>(), warning: ctx.event<string>() },
      ...{ satellites: ctx.event<SatelliteEpoch>(), secondFix: ctx.event<ReceiverFix>() },
      ...{ residuals: ctx.event<readonly SatelliteResidual[]>(), correction: ctx.event<{ stationId: number }>() },
      ...{ antenna: ctx.event<AntennaReading>(), interference: ctx.event<readonly BandReading[]>() },
      spoofing: ctx.event<Spoofing>(),
    }
    const { events } = this
    const { reports } = family.can
    this.onRtcm = events.rtcm.on
    this.onFix = events.fix.on
    this.onEphemeris = events.ephemeris.on
    this.onState = events.state.on
    this.onTime = events.time.on
    this.onWarning = events.warning.on
    this.onSatellites = events.satellites.on
    this.onSecondFix = reports.has('second-fix') ? events.secondFix.on : undefined
    this.onResiduals = reports.has('residuals') ? events.residuals.on : undefined
    this.onCorrection = reports.has('corrections') ? events.correction.on : undefined
    this.onAntenna = reports.has('antenna') ? events.antenna.on : undefined
    this.onInterference = reports.has('interference') ? events.interference.on : undefined
    this.onSpoofing = reports.has('spoofing') ? events.spoofing.on : undefined
    this.line = new ReceiverLink(
      port,
      ctx,
      this.awake,
      { bauds: options.bauds, listenOnly: this.listening, framings: family.framings },
      {
        frame: (frame) => this.#frame(frame),
        state: () => this.#linkChanged(),
        silence: () => this.silence(),
      },
    )
    this.dialog = new Dialog<M>(ctx, (bytes) => this.line.write(bytes), family.answer_ms)
  }

  start(): void | Promise<void> {
    this.ctx.timers.every(this.#family.tick_ms, () => this.tick())
    this.line.start()
  }

  async stop(): Promise<DriverSnapshot> {
    this.dialog.abort()
    await this.line.stop()
    return { identity: this.#identity, corruptRtcm: this.corruptRtcm }
  }

  /** Call it before `start`. */
  restore({ identity, corruptRtcm }: DriverSnapshot): void {
    this.#identity = identity
    this.#corruptBefore = corruptRtcm
  }

  /** A setting of the station changed (service `receiver-settings`). */
  settingsChanged(): void {
    this.#tell()
  }

  // ── the language of a family ──────────────────────────────────────────────────────────────────────────────────────

  /** Decodes a frame. It has one of the family's `framings`, or is UBX or NMEA. */
  protected abstract heard(frame: OwnFrame): void
  /** Asks who the receiver is, and calls `identified`. @throws RTK_ERR_UNAVAILABLE */
  protected abstract identify(): Promise<void>
  /** Reads the mode and the position that the receiver holds. Undefined: no answer. */
  protected abstract readMode(): Promise<Held>
  /**
   * Makes the receiver hold what is wanted, and proves it by reading back.
   * @param check throws if a newer target replaced this one, or the port closed; call it before each command
   * @throws RTK_ERR_UNAVAILABLE
   */
  protected abstract bring(wanted: WantedSetup, check: () => void): ReturnType<Receiver['configure']>
  /**
   * Reads the configuration again, and sets back what may be set back.
   * @param wanted of the last `configure`; undefined: the receiver is not configured
   * @returns why the receiver has to be configured again; '': it need not; undefined: no answer
   */
  protected abstract verify(wanted: WantedSetup | undefined): Promise<string | undefined>
  /** The link is silent, or just opened: sends a question that makes any receiver of the family answer. */
  protected abstract silence(): void
  /** @throws RTK_ERR_UNAVAILABLE */
  abstract restart(): Promise<void>

  /** The link has this state now. */
  protected linkChanged(_state: LinkState): void {}

  /** Whether the receiver on this link has answered who it is. */
  protected get isKnown(): boolean {
    return this.#isKnown
  }

  /** Called every `tick_ms`. */
  protected tick(): void {
    this.#tell()
    if (this.listening || this.link !== 'up' || this.#tasks.isLocked()) return
    if (!this.isKnown) this.inquire('identify')
    else if (this.isDue) this.inquire('verify')
  }

  /** Whether the configuration is to be read again. */
  protected get isDue(): boolean {
    return this.#configured && this.#sinceVerified_ms >= verify_ms
  }

  // ── what a family reports ─────────────────────────────────────────────────────────────────────────────────────────

  /** A navigation epoch. */
  protected report(fix: ReceiverFix): void {
    this.#fix = fix
    this.events.fix.emit(fix)
  }

  /** @param utc_s undefined: the receiver does not know it yet */
  protected reportTime(utc_s: number | undefined): void {
    if (utc_s !== undefined) this.events.time.emit(utc_s)
  }

  protected reportSatellites(epoch: SatelliteEpoch): void {
    this.#satellites = epoch
    this.events.satellites.emit(epoch)
  }

  /** @param identity what is known of it; the rest is empty */
  protected identified(identity: Partial<ReceiverIdentity>): void {
    this.#identity = { ...nobody, maker: this.#family.maker, ...identity }
    this.#isKnown = this.#identity.module !== ''
    this.#tell()
  }

  protected setMode(mode: Receiver['mode']): void {
    this.#mode = mode
    this.#tell()
  }

  /**
   * Call it when the receiver has lost, or may have lost, everything that was written.
   * @param reason for the log; '': the driver itself restarted it
   */
  protected restarted(reason = ''): void {
    this.#life = {}
    // A receiver that was not configured has lost nothing.
    if (reason !== '')
      this.ctx.log[this.#configured ? 'warn' : 'debug'](
        `the receiver restarted or was changed: ${reason}; it is set up again`,
      )
    this.#set(false)
  }

  /** A message came that the configuration does not contain: it is read again at once, but not too often. */
  protected suspect(): void {
    const isDue = this.#sinceVerified_ms >= suspect_ms && !this.#tasks.isLocked()
    if (this.link === 'up' && this.#configured && isDue) this.inquire('verify')
  }

  /** Sends bytes that have no answer. @returns false: not accepted */
  protected write(bytes: Uint8Array): boolean {
    return this.line.write(bytes)
  }

  /** Token that is replaced at each restart and each lost link, which end all that was begun before. */
  protected get life(): object {
    return this.#life
  }

  /** Target that the receiver was configured to; undefined while it is not configured. */
  protected get wanted(): WantedSetup | undefined {
    return this.#configured ? this.#wanted : undefined
  }

  protected get station(): StationSettings {
    return this.#options.settings()
  }

  /** Runs a request after those under way. */
  protected inTurn<T>(request: () => Promise<T>): Promise<T> {
    return this.#tasks.runExclusive(request)
  }

  /** Asks in turn, unless the same question is open. */
  protected inquire(question: 'identify' | 'verify'): void {
    if (this.listening || this.#open.has(question)) return
    this.#open.add(question)
    void this.inTurn(() => (question === 'identify' ? this.identify() : this.#verify()))
      .catch((error: unknown) => this.ctx.log.debug({ err: error }, 'the receiver is asked again'))
      .finally(() => this.#open.delete(question))
  }

  /** @throws RTK_ERR_UNAVAILABLE where nothing may or can be written */
  protected mayWrite(): void {
    if (this.listening)
      throw unavailable(`the receiver is only listened to (${this.#family.plugin}: configure is false, or a replay)`)
    if (this.link === 'offline') throw unavailable(`the receiver is offline: ${this.line.reason}`)
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  get can(): ReceiverCapabilities {
    return this.#can
  }

  get link(): LinkState {
    return this.line.state
  }

  get place(): NonNullable<Receiver['place']> {
    return { port: this.port.name, reason: this.line.reason, advice: this.advices[this.link] }
  }

  /** By state of the link, for people. */
  protected get advices(): Readonly<Record<LinkState, string>> {
    const { plugin, maker } = this.#family
    return {
      offline: `${this.line.reason}; check the cable and the option ${plugin}.port`,
      stalled: `it is open but silent; check the power of the receiver and the rate (${plugin}.baud)`,
      up: `it sends but does not answer; check the line to its input, and that it is a ${maker} receiver`,
    }
  }

  /** Undefined here, because most receivers do not report when they started. */
  get sinceReset_ms(): number | undefined {
    return undefined
  }

  get mode(): Receiver['mode'] {
    if (this.listening) return 'listening'
    return this.link === 'up' ? this.#mode : 'unknown'
  }

  get identity(): ReceiverIdentity {
    return this.#identity
  }

  /** Undefined here, because a base works without the settings that `configure` reports as refused. */
  get rejected(): readonly string[] | undefined {
    return undefined
  }

  get configured(): boolean {
    return this.#configured
  }

  get stationId(): number {
    return this.station.stationId
  }

  get #settings(): BaseSettings {
    return this.#wanted?.settings ?? this.#options.base
  }

  get output(): Receiver['output'] {
    if (this.listening) return undefined
    const { constellations, elevationMask_deg, ...rtcm } = this.#settings
    return {
      ...rtcm,
      ...(constellations && { constellations }),
      ...(elevationMask_deg !== undefined && { elevationMask_deg }),
    }
  }

  get intervals_s(): NonNullable<Receiver['intervals_s']> {
    return { observations: this.#settings.observationInterval_s, reference: this.#settings.referenceInterval_s }
  }

  get fix(): ReceiverFix | undefined {
    return this.#isRecent(this.#fix) ? this.#fix : undefined
  }

  get satellites(): SatelliteEpoch | undefined {
    return this.#isRecent(this.#satellites) ? this.#satellites : undefined
  }

  get corruptRtcm(): number {
    return this.#corruptBefore + this.line.framer.stats.badChecksum.rtcm
  }

  resetCounters(): void {
    this.#corruptBefore = -this.line.framer.stats.badChecksum.rtcm
  }

  sendCorrections(frames: Uint8Array): boolean {
    return this.link === 'up' && this.write(frames)
  }

  /**
   * Runs one at a time. A newer call ends an older one before its next command.
   * @throws RTK_ERR_UNAVAILABLE with the reason of the receiver
   */
  async configure(target: ReceiverTarget): ReturnType<Receiver['configure']> {
    this.mayWrite()
    const job = ++this.#newest
    const check = () => {
      if (job !== this.#newest) throw unavailable('another configuration has replaced it')
      this.mayWrite()
    }
    return this.inTurn(async () => {
      check()
      try {
        return await this.#configure(structuredClone(target), check)
      } catch (error) {
        this.#set(false)
        throw error
      }
    })
  }

  async #configure(target: ReceiverTarget, check: () => void): ReturnType<Receiver['configure']> {
    if (!this.isKnown) await this.identify()
    const wanted = { target, settings: { ...this.#options.base, ...target.output }, stationId: this.station.stationId }
    const result = await this.bring(wanted, check)
    check()
    this.#wanted = wanted
    this.#mode = target.mode
    this.#verified_ms = this.ctx.clock.monotonic()
    this.#set(true)
    return result
  }

  /** Waits for a configuration that is under way. */
  readTarget(): ReturnType<Receiver['readTarget']> {
    return this.inTurn(async () => {
      const held = this.listening || this.link === 'offline' ? undefined : await this.readMode()
      if (held) this.setMode(modeOf(held))
      return held
    })
  }

  // ── its frames ────────────────────────────────────────────────────────────────────────────────────────────────────

  #frame(frame: Frame): void {
    // RTCM first: it is the hot path.
    if (frame.kind === 'rtcm') this.heardRtcm(frame)
    else this.heard(frame)
  }

  protected heardRtcm(frame: RtcmFrame): void {
    if (isEphemeris(frame.type)) this.events.ephemeris.emit(frame.bytes)
    else if (!this.isOtherMsm(frame.type)) this.events.rtcm.emit(frame)
  }

  /** A second MSM type would be mixed with the first. */
  protected isOtherMsm(type: number): boolean {
    return isMsm(type) && this.msm !== undefined && type % 10 !== this.msm
  }

  /** The last state of a recording is kept. */
  #isRecent(report: { arrival_ms: number } | undefined): boolean {
    const isThere = this.link === 'up' || this.line.ended
    return isThere && report !== undefined && this.ctx.clock.monotonic() - report.arrival_ms < old_ms
  }

  // ── its state ─────────────────────────────────────────────────────────────────────────────────────────────────────

  #linkChanged(): void {
    const { state, reason, baud, ended } = this.line
    const isTrouble = state === 'offline' || (state === 'stalled' && this.#wasUp && !ended)
    this.#wasUp = state === 'up'
    const omitted = this.#logLimit.admit(reason)
    if (omitted !== undefined)
      this.ctx.log[isTrouble ? 'warn' : 'info'](
        { link: state, port: this.port.name, baud, omitted: omitted || undefined },
        reason,
      )
    this.linkChanged(state)
    // The receiver that answers next may be another one.
    if (state === 'offline') {
      this.dialog.abort()
      this.#isKnown = false
      this.#mode = 'unknown'
      this.restarted()
    }
    this.#tell()
  }

  async #verify(): Promise<void> {
    const life = this.#life
    const begin_ms = this.ctx.clock.monotonic()
    const wrong = await this.verify(this.wanted)
    if (wrong === undefined || life !== this.#life) return
    this.#verified_ms = begin_ms
    if (wrong !== '') this.restarted(wrong)
  }

  get #sinceVerified_ms(): number {
    return this.ctx.clock.monotonic() - this.#verified_ms
  }

  #set(configured: boolean): void {
    this.#configured = configured
    this.#tell()
  }

  #tell(): void {
    const { link, mode, identity, configured, stationId, output, rejected } = this
    const state = JSON.stringify([link, this.line.reason, mode, identity, configured, stationId, output, rejected])
    if (state === this.#told) return
    this.#told = state
    this.ctx.status(`${link}; ${this.port.name}: ${this.line.reason}`)
    this.events.state.emit()
  }
}

/** The receiver's own survey-in is none of the modes of the service. */
export const modeOf = ({ mode }: NonNullable<Held>): Receiver['mode'] => (mode === 'survey-in' ? 'unknown' : mode)

/** Whether the mode and position that the receiver holds are those of the target. */
export function isSame(held: NonNullable<Held>, target: ReceiverTarget): boolean {
  if (held.mode !== 'fixed' || target.mode !== 'fixed') return held.mode === target.mode
  return sameReference(held.arp, target.arp)
}
