/** One receiver: its link, what it reports, and how it becomes a base. */
import { Mutex } from 'async-mutex'
import { isMsm, sameReference } from 'rtk-base/gnss'
import { AwakeClock, type BytePort, Dialog, linkTick_ms, pause, ReceiverLink } from 'rtk-base/link'
import { LogLimit, type PluginContext, unavailable } from 'rtk-base/plugin'
import type {
  Receiver,
  ReceiverFix,
  ReceiverIdentity,
  ReceiverTarget,
  RtcmFrame,
  Satellite,
  SatelliteEpoch,
} from 'rtk-base/services'
import { command, type Log, line as lineFraming, log as logFraming, readLine, readLog } from './framing.js'
import * as said from './messages.js'
import { type BaseSettings, ephemerides, modeCommand, outputCommands, signalGroupOf } from './plan.js'

export interface UnicoreOptions {
  /** Unless a person chose something else. */
  readonly base: BaseSettings
  readonly bauds: readonly number[]
  /** Read again at each use. */
  readonly stationId: number
}

const answer_ms = 1_500
const tries = 3
/** A change of the signal group restarts it; by recordings it answers again after 5 s. */
const restart_ms = 5_000
/** Fixes and satellites are old after that. */
const old_ms = 5_000
/** How long after `MODE BASE` its CONFIG says that it refuses the position. */
const judged_ms = 1_000
/** Its position comes every second: without it the outputs are gone. */
const lost_ms = 10_000
/** How often its mode is read. */
const verify_ms = 20_000
const nobody: ReceiverIdentity = { maker: '', module: '', firmware: '', hardware: '', software: '', serial: '' }

export class UnicoreReceiver {
  readonly onRtcm
  readonly onFix
  readonly onEphemeris
  readonly onState
  readonly onTime
  readonly onSatellites
  readonly #ctx: PluginContext
  readonly #options: UnicoreOptions
  readonly #link: ReceiverLink
  readonly #port: BytePort
  readonly #dialog: Dialog<string>
  #identity = nobody
  #mode: Receiver['mode'] = 'unknown'
  /** The settings and the target of the last `configure` that succeeded. */
  #settings: BaseSettings | undefined
  #target: ReceiverTarget | undefined
  /** Of the newest `configure`: old outputs may still come. */
  #msm: 4 | 7 | undefined
  readonly #tasks = new Mutex()
  /** Counts `configure`. */
  #newest = 0
  /** The signal group that was asked for, with the serial number: written once, whatever is read back. */
  #groupAsked = ''
  readonly #logLimit: LogLimit
  #heardPosition_ms = 0
  #verified_ms = 0
  #configured = false
  /** Grows with each restart and each lost link: what was begun before is void. */
  #life = 0
  #fix: ReceiverFix | undefined
  #satellites: SatelliteEpoch | undefined
  /** SATSINFO of the epoch whose BESTSAT has not come yet. */
  #seen: Log | undefined
  #corruptBefore = 0
  #isAsking = false
  #told = ''

  constructor(ctx: PluginContext, port: BytePort, options: UnicoreOptions) {
    this.#ctx = ctx
    this.#logLimit = new LogLimit(ctx.clock)
    this.#port = port
    this.#options = options
    this.onRtcm = ctx.event<RtcmFrame>()
    this.onFix = ctx.event<ReceiverFix>()
    this.onEphemeris = ctx.event<Uint8Array>()
    this.onState = ctx.event<void>()
    this.onTime = ctx.event<number>()
    this.onSatellites = ctx.event<SatelliteEpoch>()
    const framings = [lineFraming, logFraming]
    this.#link = new ReceiverLink(
      port,
      ctx,
      new AwakeClock(ctx.clock, linkTick_ms),
      { bauds: options.bauds, listenOnly: false, framings },
      {
        frame: ({ kind, bytes, arrival_ms, ...frame }) => {
          if (kind === 'rtcm') this.#rtcm({ type: 'type' in frame ? frame.type : 0, bytes, arrival_ms })
          else if ('framing' in frame && frame.framing === lineFraming.kind) this.#line(readLine(bytes))
          else if ('framing' in frame) this.#log(readLog(bytes), arrival_ms)
        },
        state: () => this.#linkChanged(),
        silence: () => void this.#link.write(command('VERSIONA')),
      },
    )
    this.#dialog = new Dialog<string>(ctx, (request) => this.#link.write(request), answer_ms)
  }

  start(): void {
    this.#ctx.timers.every(1_000, () => this.#second())
    this.#link.start()
  }

  async stop(): Promise<void> {
    this.#dialog.abort()
    await this.#link.stop()
  }

  get link(): Receiver['link'] {
    return this.#link.state
  }

  get place(): NonNullable<Receiver['place']> {
    const advices = {
      offline: `${this.#link.reason}; check the cable and the option gnss-unicore.port`,
      stalled: 'it is open but silent; check the power of the receiver and the rate (gnss-unicore.baud)',
      up: 'it sends but does not answer; check the line to its input, and that it is a Unicore receiver',
    }
    const advice = advices[this.link]
    return { port: this.#port.name, reason: this.#link.reason, advice }
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

  get settings(): BaseSettings | undefined {
    return this.#settings
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

  write(bytes: Uint8Array): boolean {
    return this.link === 'up' && this.#link.write(bytes)
  }

  /**
   * One at a time; what a newer one replaces ends before its next command.
   * @throws RTK_ERR_UNAVAILABLE with what the receiver said
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
    const refused: string[] = []
    const before = await this.readTarget()
    // A base at another position ends before anything else.
    if (!before || !isSame(before, target)) await this.#need('MODE ROVER SURVEY')
    await this.#setSignals(refused)
    const life = this.#life
    this.#msm = settings.msm
    const commands = outputCommands(settings)
    let silent = 0
    for (const asked of commands) {
      stillWanted()
      const answer = await this.#ask(asked)
      silent = answer === undefined ? silent + 1 : 0
      if (answer === '') continue
      const isNeeded = /^(BESTNAVB|RTCM1005|RTCM107)/.test(asked)
      if (answer === undefined && (isNeeded || silent > 1)) throw unavailable('the receiver does not answer')
      if (isNeeded) throw unavailable(`the receiver refuses ${asked}: ${answer}`)
      refused.push(asked)
    }
    stillWanted()
    if (target.mode === 'fixed') await this.#fixAt(target)
    const held = await this.readTarget()
    if (!held || !isSame(held, target))
      throw unavailable(held ? 'the receiver does not hold the mode that was set' : 'the receiver does not answer')
    if (life !== this.#life) throw unavailable('the receiver restarted meanwhile')
    stillWanted()
    this.#settings = settings
    this.#target = target
    const now_ms = this.#ctx.clock.monotonic()
    this.#heardPosition_ms = now_ms
    this.#verified_ms = now_ms
    this.#set(true)
    return { written: commands.length + 1, refused }
  }

  async readTarget(): ReturnType<Receiver['readTarget']> {
    const held = await this.#dialog.ask(command('MODE'), said.modeOf, tries)
    if (!held) return undefined
    this.#mode = held.mode === 'survey-in' ? 'unknown' : held.mode
    this.#tell()
    return held
  }

  /** @throws RTK_ERR_UNAVAILABLE */
  async restart(): Promise<void> {
    const life = this.#life
    // It may restart before it has answered.
    const answer = await this.#dialog.ask(
      command('RESET'),
      (line) => (this.#life === life ? said.answerTo('RESET', line) : ''),
      1,
    )
    if (answer === undefined) throw unavailable('the receiver does not answer')
    if (answer !== '') throw unavailable(`the receiver refuses RESET: ${answer}`)
  }

  // ── asking ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** @returns '' done, else why not; undefined: no answer */
  #ask(text: string): Promise<string | undefined> {
    return this.#dialog.ask(command(text), (line) => said.answerTo(text, line), tries)
  }

  /** @throws RTK_ERR_UNAVAILABLE unless it says OK */
  async #need(text: string): Promise<void> {
    const answer = await this.#ask(text)
    if (answer === undefined) throw unavailable('the receiver does not answer')
    if (answer !== '') throw unavailable(`the receiver refuses ${text}: ${answer}`)
  }

  async #identify(): Promise<void> {
    const version = await this.#dialog.ask(command('VERSIONA'), said.versionOf, tries)
    if (!version) throw unavailable('the receiver does not say what it is')
    this.#identity = { ...nobody, maker: 'Unicore', ...version }
    this.#tell()
  }

  /** Changes the tracked signals if others are set. The receiver keeps them in its flash, and restarts. */
  async #setSignals(refused: string[]): Promise<void> {
    const wanted = signalGroupOf(this.#identity.module)
    const held = await this.#dialog.ask(command('CONFIG'), (line) => said.configOf('SIGNALGROUP', line), tries)
    const asked = `CONFIG SIGNALGROUP ${wanted}`
    if (held === wanted) return
    // Once: each time costs the flash a write and the base a restart.
    const isAsked = this.#groupAsked === this.#identity.serial + asked
    this.#groupAsked = this.#identity.serial + asked
    if (held === undefined || isAsked || (await this.#ask(asked)) !== '') {
      refused.push(asked)
      return
    }
    await pause(this.#ctx.timers, restart_ms)
    await this.#need('MODE ROVER SURVEY')
  }

  async #fixAt(target: ReceiverTarget): Promise<void> {
    await this.#need(modeCommand(target, this.#options.stationId))
    await pause(this.#ctx.timers, judged_ms)
    // The answer to MASK comes behind that to CONFIG.
    const doubt = await this.#dialog.ask(
      command('CONFIG\r\nMASK'),
      (line) => {
        if (line.startsWith('$CONFIG,') && /not correct/i.test(line)) return line
        return said.configOf('MASK', line) === undefined ? undefined : ''
      },
      tries,
    )
    if (doubt === undefined) throw unavailable('the receiver does not answer')
    if (doubt) throw unavailable('the receiver refuses the position: it is more than 300 m from where it finds itself')
  }

  // ── hearing ───────────────────────────────────────────────────────────────────────────────────────────────────────

  #rtcm(frame: RtcmFrame): void {
    if (ephemerides.includes(frame.type)) this.onEphemeris.emit(frame.bytes)
    else if (!isMsm(frame.type) || this.#msm === undefined || frame.type % 10 === this.#msm) this.onRtcm.emit(frame)
  }

  #line(line: string): void {
    if (said.isGreeting(line)) this.#restarted()
    const version = said.versionOf(line)
    if (version) {
      this.#identity = { ...nobody, maker: 'Unicore', ...version }
      this.#tell()
    }
    this.#dialog.hear(line)
  }

  #log(log: Log, arrival_ms: number): void {
    if (log.id === said.bestNav) {
      this.#heardPosition_ms = arrival_ms
      const fix = said.fixOf(log, arrival_ms)
      if (!fix) return
      this.#fix = fix
      this.onFix.emit(fix)
    } else if (log.id === said.recTime) {
      const utc_s = said.utcOf(log)
      if (utc_s !== undefined) this.onTime.emit(utc_s)
    } else if (log.id === said.satsInfo) {
      // Without BESTSAT nobody says which are used.
      this.#sky(new Set(), arrival_ms)
      this.#seen = log
    } else if (log.id === said.bestSat) this.#sky(said.usedSatellitesOf(log), arrival_ms)
  }

  #sky(used: ReadonlySet<string>, arrival_ms: number): void {
    const tow_ms = this.#seen?.time?.tow_ms
    if (!this.#seen || tow_ms === undefined) return
    const satellites: Satellite[] = said.satellitesOf(this.#seen, used)
    this.#seen = undefined
    this.#satellites = { tow_ms, arrival_ms, hasSignals: true, satellites }
    this.onSatellites.emit(this.#satellites)
  }

  #isRecent(report: { arrival_ms: number } | undefined): boolean {
    return this.link === 'up' && report !== undefined && this.#ctx.clock.monotonic() - report.arrival_ms < old_ms
  }

  #linkChanged(): void {
    const { state, reason, baud } = this.#link
    const omitted = this.#logLimit.admit(reason)
    if (omitted !== undefined)
      this.#ctx.log.info({ link: state, port: this.#port.name, baud, omitted: omitted || undefined }, reason)
    if (state === 'offline') {
      this.#dialog.abort()
      this.#identity = nobody
    }
    // A silence may have been a restart whose greeting was lost.
    if (state !== 'up') this.#restarted()
    this.#tell()
  }

  /** It has lost everything that was written, or may have. */
  #restarted(): void {
    this.#life++
    this.#mode = 'unknown'
    this.#set(false)
  }

  /** Whether it still is what it was configured to. */
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

  /** Asks what is not known yet, such as after a start. */
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
    const state = JSON.stringify([this.link, this.mode, this.#identity, this.#configured, this.#options.stationId])
    if (state === this.#told) return
    this.#told = state
    this.#ctx.status(`${this.link}: ${this.#link.reason}`)
    this.onState.emit()
  }
}

function isSame(held: ReceiverTarget | { mode: 'survey-in' }, target: ReceiverTarget): boolean {
  if (held.mode !== 'fixed' || target.mode !== 'fixed') return held.mode === target.mode
  return sameReference(held.arp, target.arp)
}
