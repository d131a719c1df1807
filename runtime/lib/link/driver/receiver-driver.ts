import { Mutex } from 'async-mutex'
import type { BytePort } from '../../../../schemas/byte-port.js'
import type {
  AntennaReading,
  BandReading,
  Receiver,
  ReceiverCapabilities,
  ReceiverFix,
  ReceiverIdentity,
  ReceiverTarget,
  RtcmFrame,
  SatelliteEpoch,
  Spoofing,
} from '../../../../schemas/services/receiver.js'
import { AwakeClock } from '../../../platform/time/edges.js'
import { LogLimit, type PluginContext, unavailable } from '../../../plugin.js'
import type { Frame, Framing } from '../../gnss/framer.js'
import { isEphemeris, isMsm, sameReference } from '../../gnss/index.js'
import { Dialog } from '../dialog.js'
import { linkTick_ms, ReceiverLink } from '../port/receiver-link.js'
import { type BaseSettings, nobody, takenOutput } from './settings.js'

/** What distinguishes a family of receivers. */
export interface ReceiverFamily {
  /** Name of the plugin, for advice such as *check the option NAME.port*. */
  readonly plugin: string
  readonly maker: string
  readonly framings: readonly Framing[]
  /** A request that changes nothing and that every receiver of the family answers. Sent after 3 s of silence. */
  readonly question: Uint8Array
  /** How long an answer may take. */
  readonly answer_ms: number
  readonly can: Omit<ReceiverCapabilities, 'output' | 'stationId' | 'fixedPosition' | 'ownSurvey'>
}

export interface DriverOptions {
  /** Settings that apply unless a target has others in `output`. */
  readonly base: BaseSettings
  /** Line rates, tried in turn. */
  readonly bauds: readonly number[]
  stationId(): number
}

/** The result that `configure` has to achieve. */
export interface Wanted {
  readonly target: ReceiverTarget
  readonly settings: BaseSettings
  readonly stationId: number
}

/** A frame of the receiver that is not RTCM. */
export type OwnFrame = Exclude<Frame, { kind: 'rtcm' }>

type Held = Awaited<ReturnType<Receiver['readTarget']>>

/** Fixes and satellites are old after that. */
const old_ms = 5_000
/** The receiver sends its position every second: without it its outputs are gone. */
const lost_ms = 10_000
/** How often its mode is read. */
const verify_ms = 20_000

/**
 * The service `receiver` for a receiver that is configured by requests and answers. This class manages the link, the
 * events of the service and the mode. A subclass adds the language of a family of receivers: how to decode frames,
 * how to request identity and mode, and how to make the receiver a base.
 * @typeParam M - the type of messages that can be answers to requests
 */
export abstract class ReceiverDriver<M = string> implements Receiver {
  readonly can: ReceiverCapabilities
  readonly onRtcm
  readonly onFix
  readonly onEphemeris
  readonly onState
  readonly onTime
  readonly onSatellites
  readonly onAntenna
  readonly onInterference
  readonly onSpoofing
  protected readonly ctx: PluginContext
  /** Pass it (`dialog.hear`) every message that may be an answer. */
  protected readonly dialog: Dialog<M>
  /**
   * The MSM type of the newest `configure`. MSM frames of another type, which may still arrive, are dropped.
   * Undefined: none are dropped.
   */
  protected msm: 4 | 7 | undefined
  readonly #family: ReceiverFamily
  readonly #options: DriverOptions
  readonly #events
  readonly #link: ReceiverLink
  readonly #port: BytePort
  readonly #tasks = new Mutex()
  readonly #logLimit: LogLimit
  #identity = nobody
  #mode: Receiver['mode'] = 'unknown'
  /** Of the last `configure` that succeeded. */
  #settings: BaseSettings
  #target: ReceiverTarget | undefined
  /** Counts `configure`. */
  #newest = 0
  #configured = false
  /** Another object after each restart and each lost link, which end all that was begun before. */
  #life = {}
  #heardPosition_ms = 0
  #verified_ms = 0
  #fix: ReceiverFix | undefined
  #satellites: SatelliteEpoch | undefined
  #corruptBefore = 0
  #isAsking = false
  #told = ''

  constructor(ctx: PluginContext, port: BytePort, options: DriverOptions, family: ReceiverFamily) {
    this.ctx = ctx
    this.#port = port
    this.#options = options
    this.#family = family
    this.can = { ...family.can, ownSurvey: false, fixedPosition: 'ecef', stationId: true, output: takenOutput }
    this.#settings = options.base
    this.#logLimit = new LogLimit(ctx.clock)
    const events = {
      ...{ rtcm: ctx.event<RtcmFrame>(), fix: ctx.event<ReceiverFix>(), ephemeris: ctx.event<Uint8Array>() },
      ...{ state: ctx.event<void>(), time: ctx.event<number>(), satellites: ctx.event<SatelliteEpoch>() },
      ...{ antenna: ctx.event<AntennaReading>(), interference: ctx.event<readonly BandReading[]>() },
      spoofing: ctx.event<Spoofing>(),
    }
    this.#events = events
    const { reports } = family.can
    this.onRtcm = events.rtcm.on
    this.onFix = events.fix.on
    this.onEphemeris = events.ephemeris.on
    this.onState = events.state.on
    this.onTime = events.time.on
    this.onSatellites = events.satellites.on
    this.onAntenna = reports.has('antenna') ? events.antenna.on : undefined
    this.onInterference = reports.has('interference') ? events.interference.on : undefined
    this.onSpoofing = reports.has('spoofing') ? events.spoofing.on : undefined
    this.#link = new ReceiverLink(
      port,
      ctx,
      new AwakeClock(ctx.clock, linkTick_ms),
      { bauds: options.bauds, listenOnly: false, framings: family.framings },
      {
        frame: (frame) => this.#frame(frame),
        state: () => this.#linkChanged(),
        silence: () => void this.#link.write(family.question),
      },
    )
    this.dialog = new Dialog<M>(ctx, (bytes) => this.#link.write(bytes), family.answer_ms)
  }

  start(): void {
    this.ctx.timers.every(1_000, () => this.#second())
    this.#link.start()
  }

  async stop(): Promise<void> {
    this.dialog.abort()
    await this.#link.stop()
  }

  // ── the language of a family ──────────────────────────────────────────────────────────────────────────────────────

  /** Decodes a frame. It has one of the family's `framings`, or is UBX or NMEA. */
  protected abstract heard(frame: OwnFrame): void
  /** Requests the identity. Undefined: no answer. */
  protected abstract whoIsIt(): Promise<Partial<ReceiverIdentity> | undefined>
  /** Reads the mode and the position that the receiver holds. */
  protected abstract readMode(): Promise<Held>
  /**
   * Writes settings that may restart the receiver, before `setUp`. @returns refused settings that a base does not
   * need
   */
  protected abstract prepare(wanted: Wanted, identity: ReceiverIdentity): Promise<string[]>
  /**
   * Writes outputs and mode. The mode is read back afterwards.
   * @param check throws if the receiver or the target changed meanwhile; call it before each command
   * @throws RTK_ERR_UNAVAILABLE
   */
  protected abstract setUp(wanted: Wanted, check: () => void): ReturnType<Receiver['configure']>
  /** @throws RTK_ERR_UNAVAILABLE */
  abstract restart(): Promise<void>

  // ── what a family reports ─────────────────────────────────────────────────────────────────────────────────────────

  protected report(fix: ReceiverFix | undefined): void {
    this.#heardPosition_ms = this.ctx.clock.monotonic()
    if (!fix) return
    this.#fix = fix
    this.#events.fix.emit(fix)
  }

  protected reportTime(utc_s: number | undefined): void {
    if (utc_s !== undefined) this.#events.time.emit(utc_s)
  }

  protected reportSatellites(epoch: SatelliteEpoch): void {
    this.#satellites = epoch
    this.#events.satellites.emit(epoch)
  }

  protected reportAntenna(reading: AntennaReading): void {
    this.#events.antenna.emit(reading)
  }

  protected reportInterference(bands: readonly BandReading[]): void {
    this.#events.interference.emit(bands)
  }

  protected reportSpoofing(spoofing: Spoofing): void {
    this.#events.spoofing.emit(spoofing)
  }

  protected identified(identity: Partial<ReceiverIdentity>): void {
    this.#identity = { ...nobody, maker: this.#family.maker, ...identity }
    this.#tell()
  }

  /** Call it when the receiver has lost, or may have lost, everything that was written. */
  protected restarted(): void {
    this.#life = {}
    this.#mode = 'unknown'
    this.#set(false)
  }

  /** Sends bytes that have no answer. @returns false: not accepted */
  protected write(bytes: Uint8Array): boolean {
    return this.#link.write(bytes)
  }

  /** A new object after each restart and each lost link. */
  protected get life(): object {
    return this.#life
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  get link(): Receiver['link'] {
    return this.#link.state
  }

  get place(): NonNullable<Receiver['place']> {
    const { state, reason } = this.#link
    const { plugin, maker } = this.#family
    const advices = {
      offline: `${reason}; check the cable and the option ${plugin}.port`,
      stalled: `it is open but silent; check the power of the receiver and the rate (${plugin}.baud)`,
      up: `it sends but does not answer; check the line to its input, and that it is a ${maker} receiver`,
    }
    return { port: this.#port.name, reason, advice: advices[state] }
  }

  /** Undefined here, because most receivers do not report when they started. */
  get sinceReset_ms(): number | undefined {
    return undefined
  }

  get mode(): Receiver['mode'] {
    return this.link === 'up' ? this.#mode : 'unknown'
  }

  get identity(): ReceiverIdentity {
    return this.#identity
  }

  get configured(): boolean {
    return this.#configured
  }

  get stationId(): number {
    return this.#options.stationId()
  }

  get output(): Receiver['output'] {
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
    return this.#corruptBefore + this.#link.framer.stats.badChecksum.rtcm
  }

  resetCounters(): void {
    this.#corruptBefore = -this.#link.framer.stats.badChecksum.rtcm
  }

  sendCorrections(frames: Uint8Array): boolean {
    return this.link === 'up' && this.write(frames)
  }

  /**
   * Runs one at a time. A newer call ends an older one before its next command.
   * @throws RTK_ERR_UNAVAILABLE with the reason of the receiver
   */
  configure(target: ReceiverTarget): ReturnType<Receiver['configure']> {
    const job = ++this.#newest
    return this.#tasks.runExclusive(async () => {
      try {
        return await this.#configure(target, () => {
          if (job !== this.#newest) throw unavailable('another configuration has replaced it')
          if (this.link === 'offline') throw unavailable(`the receiver is offline: ${this.#link.reason}`)
        })
      } catch (error) {
        this.#set(false)
        throw error
      }
    })
  }

  async #configure(target: ReceiverTarget, stillWanted: () => void): ReturnType<Receiver['configure']> {
    stillWanted()
    if (this.#identity.module === '') await this.#identify()
    const settings = { ...this.#options.base, ...target.output }
    const wanted = { target, settings, stationId: this.stationId }
    const before = await this.prepare(wanted, this.#identity)
    const life = this.#life
    const check = () => {
      stillWanted()
      if (life !== this.#life) throw unavailable('the receiver restarted meanwhile')
    }
    this.msm = settings.msm
    const { written, refused } = await this.setUp(wanted, check)
    const held = await this.readMode()
    if (!held) throw unavailable('the receiver does not answer')
    if (!isSame(held, target)) throw unavailable('the receiver does not hold the mode that was set')
    check()
    this.#settings = settings
    this.#target = target
    this.#mode = target.mode
    const now_ms = this.ctx.clock.monotonic()
    this.#heardPosition_ms = now_ms
    this.#verified_ms = now_ms
    this.#set(true)
    return { written, refused: [...before, ...refused] }
  }

  /** Waits for a configuration that is under way. */
  readTarget(): ReturnType<Receiver['readTarget']> {
    return this.#tasks.runExclusive(() => this.#readTarget())
  }

  async #readTarget(): ReturnType<Receiver['readTarget']> {
    const held = this.link === 'offline' ? undefined : await this.readMode()
    if (!held) return undefined
    this.#mode = held.mode === 'survey-in' ? 'unknown' : held.mode
    this.#tell()
    return held
  }

  // ── its frames ────────────────────────────────────────────────────────────────────────────────────────────────────

  #frame(frame: Frame): void {
    // RTCM first: it is the hot path.
    if (frame.kind === 'rtcm') this.#rtcm(frame)
    else this.heard(frame)
  }

  #rtcm(frame: RtcmFrame): void {
    if (isEphemeris(frame.type)) this.#events.ephemeris.emit(frame.bytes)
    else if (!isMsm(frame.type) || this.msm === undefined || frame.type % 10 === this.msm) this.#events.rtcm.emit(frame)
  }

  #isRecent(report: { arrival_ms: number } | undefined): boolean {
    return this.link === 'up' && report !== undefined && this.ctx.clock.monotonic() - report.arrival_ms < old_ms
  }

  // ── its state ─────────────────────────────────────────────────────────────────────────────────────────────────────

  #linkChanged(): void {
    const { state, reason, baud } = this.#link
    const omitted = this.#logLimit.admit(reason)
    if (omitted !== undefined)
      this.ctx.log.info({ link: state, port: this.#port.name, baud, omitted: omitted || undefined }, reason)
    if (state === 'offline') {
      this.dialog.abort()
      this.#identity = nobody
    }
    // A silence may have been a restart whose greeting was lost.
    if (state !== 'up') this.restarted()
    this.#tell()
  }

  async #identify(): Promise<void> {
    const identity = await this.whoIsIt()
    if (!identity) throw unavailable('the receiver does not identify itself')
    this.identified(identity)
  }

  /** Whether its mode is still the configured one. */
  async #verify(): Promise<void> {
    const held = await this.#readTarget()
    if (!held) return
    this.#verified_ms = this.ctx.clock.monotonic()
    if (this.#configured && !(this.#target && isSame(held, this.#target))) this.restarted()
  }

  #set(configured: boolean): void {
    this.#configured = configured
    this.#tell()
  }

  /** Asks for what is unknown, such as after a start. */
  #second(): void {
    this.#tell()
    if (this.link !== 'up' || this.#isAsking) return
    const now_ms = this.ctx.clock.monotonic()
    if (this.#configured && now_ms - this.#heardPosition_ms > lost_ms) this.restarted()
    const isDue = this.#configured && now_ms - this.#verified_ms >= verify_ms && !this.#tasks.isLocked()
    if (this.#identity.module !== '' && this.#mode !== 'unknown' && !isDue) return
    this.#isAsking = true
    void this.#tasks
      .runExclusive(() => (this.#identity.module === '' ? this.#identify() : this.#verify()))
      .catch(() => {
        // The next second asks again.
      })
      .finally(() => {
        this.#isAsking = false
      })
  }

  #tell(): void {
    const state = JSON.stringify([this.link, this.mode, this.#identity, this.#configured, this.stationId])
    if (state === this.#told) return
    this.#told = state
    this.ctx.status(`${this.link}: ${this.#link.reason}`)
    this.#events.state.emit()
  }
}

/** Whether the mode and position that the receiver holds are those of the target. */
export function isSame(held: NonNullable<Held>, target: ReceiverTarget): boolean {
  if (held.mode !== 'fixed' || target.mode !== 'fixed') return held.mode === target.mode
  return sameReference(held.arp, target.arp)
}
