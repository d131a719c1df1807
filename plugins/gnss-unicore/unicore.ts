/** The receiver as a service: its link, its reports, its mode. */
import { Mutex } from 'async-mutex'
import { type Frame, isEphemeris, isMsm } from 'rtk-base/gnss'
import { AwakeClock, type BytePort, linkTick_ms, ReceiverLink } from 'rtk-base/link'
import { LogLimit, type PluginContext, unavailable } from 'rtk-base/plugin'
import type {
  Receiver,
  ReceiverCapabilities,
  ReceiverFix,
  ReceiverIdentity,
  ReceiverTarget,
  RtcmFrame,
  SatelliteEpoch,
} from 'rtk-base/services'
import { Commands } from './commands.js'
import { command, type Log, line as lineFraming, log as logFraming, readLine, readLog } from './framing.js'
import * as said from './messages.js'
import { type BaseSettings, takenOutput } from './plan.js'
import { isSame, Setup } from './setup.js'

export interface UnicoreOptions {
  /** Unless a person chose something else. */
  readonly base: BaseSettings
  readonly bauds: readonly number[]
  stationId(): number
}

/** Fixes and satellites are old after that. */
const old_ms = 5_000
/** The receiver sends its position every second: without it its outputs are gone. */
const lost_ms = 10_000
/** How often its mode is read. */
const verify_ms = 20_000
const nobody: ReceiverIdentity = { maker: '', module: '', firmware: '', hardware: '', software: '', serial: '' }

export class UnicoreReceiver implements Receiver {
  readonly can: ReceiverCapabilities = {
    ...{ ownSurvey: false, fixedPosition: 'ecef', settings: 'volatile', restarts: true, stationId: true },
    ...{ antennaDescriptor: false, reports: new Set(['satellites', 'signals'] as const) },
    ...{ rawObservations: ['OBSVM'], intervals_s: [1, 2, 5, 10, 15, 30], output: takenOutput },
  }
  /** The receiver does not say when it started. */
  readonly sinceReset_ms = undefined
  readonly onRtcm
  readonly onFix
  readonly onEphemeris
  readonly onState
  readonly onTime
  readonly onSatellites
  readonly #ctx: PluginContext
  readonly #options: UnicoreOptions
  readonly #events
  readonly #link: ReceiverLink
  readonly #port: BytePort
  readonly #commands: Commands
  readonly #setup: Setup
  readonly #tasks = new Mutex()
  readonly #logLimit: LogLimit
  #identity = nobody
  #mode: Receiver['mode'] = 'unknown'
  /** Of the last `configure` that succeeded. */
  #settings: BaseSettings
  #target: ReceiverTarget | undefined
  /** Of the newest `configure`: frames of the type before it may still come. */
  #msm: 4 | 7 | undefined
  /** Counts `configure`. */
  #newest = 0
  #configured = false
  /** Another object after each restart and each lost link, which end all that was begun before. */
  #life = {}
  #heardPosition_ms = 0
  #verified_ms = 0
  #fix: ReceiverFix | undefined
  #satellites: SatelliteEpoch | undefined
  /** SATSINFO of the epoch whose BESTSAT has not come yet. */
  #seen: Log | undefined
  #corruptBefore = 0
  #isAsking = false
  #told = ''

  constructor(ctx: PluginContext, port: BytePort, options: UnicoreOptions) {
    this.#ctx = ctx
    this.#port = port
    this.#options = options
    this.#settings = options.base
    this.#logLimit = new LogLimit(ctx.clock)
    this.#events = {
      ...{ rtcm: ctx.event<RtcmFrame>(), fix: ctx.event<ReceiverFix>(), ephemeris: ctx.event<Uint8Array>() },
      ...{ state: ctx.event<void>(), time: ctx.event<number>(), satellites: ctx.event<SatelliteEpoch>() },
    }
    this.onRtcm = this.#events.rtcm.on
    this.onFix = this.#events.fix.on
    this.onEphemeris = this.#events.ephemeris.on
    this.onState = this.#events.state.on
    this.onTime = this.#events.time.on
    this.onSatellites = this.#events.satellites.on
    this.#link = new ReceiverLink(
      port,
      ctx,
      new AwakeClock(ctx.clock, linkTick_ms),
      { bauds: options.bauds, listenOnly: false, framings: [lineFraming, logFraming] },
      {
        frame: (frame) => this.#frame(frame),
        state: () => this.#linkChanged(),
        silence: () => void this.#link.write(command('VERSIONA')),
      },
    )
    this.#commands = new Commands(ctx, (bytes) => this.#link.write(bytes))
    this.#setup = new Setup(this.#commands, ctx.timers)
  }

  start(): void {
    this.#ctx.timers.every(1_000, () => this.#second())
    this.#link.start()
  }

  async stop(): Promise<void> {
    this.#commands.abort()
    await this.#link.stop()
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  get link(): Receiver['link'] {
    return this.#link.state
  }

  get place(): NonNullable<Receiver['place']> {
    const { state, reason } = this.#link
    const advices = {
      offline: `${reason}; check the cable and the option gnss-unicore.port`,
      stalled: 'it is open but silent; check the power of the receiver and the rate (gnss-unicore.baud)',
      up: 'it sends but does not answer; check the line to its input, and that it is a Unicore receiver',
    }
    return { port: this.#port.name, reason, advice: advices[state] }
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
    return this.link === 'up' && this.#link.write(frames)
  }

  /**
   * One at a time. A newer one ends the older one before its next command.
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
    const before = await this.#setup.prepare(target, this.#identity)
    const life = this.#life
    const settings = { ...this.#options.base, ...target.output }
    this.#msm = settings.msm
    const { written, refused } = await this.#setup.write({ target, settings, stationId: this.stationId }, () => {
      stillWanted()
      if (life !== this.#life) throw unavailable('the receiver restarted meanwhile')
    })
    this.#settings = settings
    this.#target = target
    this.#mode = target.mode
    const now_ms = this.#ctx.clock.monotonic()
    this.#heardPosition_ms = now_ms
    this.#verified_ms = now_ms
    this.#set(true)
    return { written, refused: [...before, ...refused] }
  }

  async readTarget(): ReturnType<Receiver['readTarget']> {
    const held = this.link === 'offline' ? undefined : await this.#commands.mode()
    if (!held) return undefined
    this.#mode = held.mode === 'survey-in' ? 'unknown' : held.mode
    this.#tell()
    return held
  }

  /** @throws RTK_ERR_UNAVAILABLE */
  async restart(): Promise<void> {
    const life = this.#life
    const answer = await this.#commands.ask('RESET', 1)
    // It may have restarted before it answered.
    if (answer === undefined && life === this.#life) throw unavailable('the receiver does not answer')
    if (answer) throw unavailable(`the receiver refuses RESET: ${answer}`)
  }

  // ── its reports ───────────────────────────────────────────────────────────────────────────────────────────────────

  #frame(frame: Frame): void {
    // RTCM first: it is the hot path.
    if (frame.kind === 'rtcm') this.#rtcm(frame)
    else if (frame.kind !== 'other') return
    else if (frame.framing === lineFraming.kind) this.#line(readLine(frame.bytes))
    else this.#log(readLog(frame.bytes), frame.arrival_ms)
  }

  #rtcm(frame: RtcmFrame): void {
    if (isEphemeris(frame.type)) this.#events.ephemeris.emit(frame.bytes)
    else if (!isMsm(frame.type) || this.#msm === undefined || frame.type % 10 === this.#msm)
      this.#events.rtcm.emit(frame)
  }

  #line(line: string): void {
    if (said.isGreeting(line)) this.#restarted()
    const version = said.versionOf(line)
    if (version) this.#identified(version)
    this.#commands.hear(line)
  }

  #log(log: Log, arrival_ms: number): void {
    if (log.id === said.bestNav) {
      this.#heardPosition_ms = arrival_ms
      const fix = said.fixOf(log, arrival_ms)
      if (!fix) return
      this.#fix = fix
      this.#events.fix.emit(fix)
    } else if (log.id === said.recTime) {
      const utc_s = said.utcOf(log)
      if (utc_s !== undefined) this.#events.time.emit(utc_s)
    } else if (log.id === said.satsInfo) {
      // Without BESTSAT it is unknown which are used.
      this.#sky(new Set(), arrival_ms)
      this.#seen = log
    } else if (log.id === said.bestSat) this.#sky(said.usedSatellitesOf(log), arrival_ms)
  }

  #sky(used: ReadonlySet<string>, arrival_ms: number): void {
    const tow_ms = this.#seen?.time?.tow_ms
    if (!this.#seen || tow_ms === undefined) return
    const satellites = said.satellitesOf(this.#seen, used)
    this.#seen = undefined
    this.#satellites = { tow_ms, arrival_ms, hasSignals: true, satellites }
    this.#events.satellites.emit(this.#satellites)
  }

  #isRecent(report: { arrival_ms: number } | undefined): boolean {
    return this.link === 'up' && report !== undefined && this.#ctx.clock.monotonic() - report.arrival_ms < old_ms
  }

  // ── its state ─────────────────────────────────────────────────────────────────────────────────────────────────────

  #linkChanged(): void {
    const { state, reason, baud } = this.#link
    const omitted = this.#logLimit.admit(reason)
    if (omitted !== undefined)
      this.#ctx.log.info({ link: state, port: this.#port.name, baud, omitted: omitted || undefined }, reason)
    if (state === 'offline') {
      this.#commands.abort()
      this.#identity = nobody
    }
    // A silence may have been a restart whose greeting was lost.
    if (state !== 'up') this.#restarted()
    this.#tell()
  }

  /** It has lost everything that was written, or may have. */
  #restarted(): void {
    this.#life = {}
    this.#mode = 'unknown'
    this.#set(false)
  }

  async #identify(): Promise<void> {
    const version = await this.#commands.version()
    if (!version) throw unavailable('the receiver does not identify itself')
    this.#identified(version)
  }

  #identified(version: said.Version): void {
    this.#identity = { ...nobody, maker: 'Unicore', ...version }
    this.#tell()
  }

  /** Whether its mode is still the configured one. */
  async #verify(): Promise<void> {
    const held = await this.readTarget()
    if (!held) return
    this.#verified_ms = this.#ctx.clock.monotonic()
    if (this.#configured && !(this.#target && isSame(held, this.#target))) this.#restarted()
  }

  #set(configured: boolean): void {
    this.#configured = configured
    this.#tell()
  }

  /** Asks for what is unknown, such as after a start. */
  #second(): void {
    this.#tell()
    if (this.link !== 'up' || this.#isAsking) return
    const now_ms = this.#ctx.clock.monotonic()
    if (this.#configured && now_ms - this.#heardPosition_ms > lost_ms) this.#restarted()
    const isDue = this.#configured && now_ms - this.#verified_ms >= verify_ms && !this.#tasks.isLocked()
    if (this.#identity.module !== '' && this.#mode !== 'unknown' && !isDue) return
    this.#isAsking = true
    void (this.#identity.module === '' ? this.#identify() : this.#verify())
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
    this.#ctx.status(`${this.link}: ${this.#link.reason}`)
    this.#events.state.emit()
  }
}
