/** The receiver as a service: keeps its link, asks it what is needed, and hands its frames and facts on. */
import type { Frame } from 'rtk-base/gnss'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import {
  device,
  type ReceiverLink as LinkState,
  type Receiver,
  type ReceiverFix,
  type ReceiverMode,
  type ReceiverTarget,
  type RtcmFrame,
  type SatelliteResidual,
} from 'rtk-base/services'
import type { AntennaReport } from './antenna.js'
import { Configurator, type ConfiguratorOptions } from './configure/configurator.js'
import { type Identity, ReceiverFacts } from './facts.js'
import { Dialog } from './link/dialog.js'
import { ReceiverLink } from './link/receiver-link.js'
import { Listeners } from './listeners.js'
import type { ReceiverPort } from './port/index.js'
import { type Prepared, prepare } from './prepare.js'
import { isBootText, RestartWatch } from './restart-watch.js'
import * as ubx from './ubx/index.js'

/** What goes over to the next instance on a reload. */
export interface ZedSnapshot {
  identity: Identity
  antenna: AntennaReport
  corruptRtcm: number
}

export interface ZedOptions extends ConfiguratorOptions {
  bauds: readonly number[]
  /** False: nothing is written. */
  configure: boolean
  /** No RTCM is handed on while the antenna is short or open. */
  antennaHold: boolean
}

const tick_ms = 250
/** RTCM counts as flowing for so long after a frame: low-rate sets send every few seconds. */
const rtcmFlows_ms = 5000
const storedBaudKey = 'baud'
/** The wildcard that names all configuration keys. */
const everyKey = 0x0fffffff

export class ZedReceiver implements Receiver {
  readonly facts: ReceiverFacts
  /** True: nothing is ever written, and the receiver is trusted as it is. */
  readonly listening: boolean
  readonly #ctx: PluginContext
  readonly #port: ReceiverPort
  readonly #options: ZedOptions
  readonly #link: ReceiverLink
  readonly #dialog: Dialog
  readonly #configurator: Configurator
  readonly #watch = new RestartWatch()
  readonly #listeners: ReturnType<typeof listenersOf>
  #mode: ReceiverMode
  #identified: boolean = false
  /** The identity that was told last, as text. */
  #told = ''
  #preparing: boolean = false
  /** What the receiver answered on this link; undefined until it did. */
  #prepared: Prepared | undefined
  /** Counts what makes a receiver forget: a link that went, a restart. */
  #lives = 0
  /** Questions that belong together are not mixed with others. */
  #tasks: Promise<unknown> = Promise.resolve()
  #storedBaud: number | undefined
  #rtcmAt_ms = Number.NEGATIVE_INFINITY
  #rtcmFlowed: boolean = false
  #wasUp: boolean = false
  #corruptBefore = 0

  constructor(ctx: PluginContext, port: ReceiverPort, options: ZedOptions) {
    this.#ctx = ctx
    this.#port = port
    this.#options = options
    this.listening = !options.configure || !port.live
    this.#mode = this.listening ? 'listening' : 'unknown'
    this.#listeners = listenersOf(ctx.log)
    this.facts = new ReceiverFacts(
      {
        now_ms: () => ctx.clock.monotonic(),
        deviceUtc_s: () => (ctx.services.find(device)?.utc_ms() ?? 0) / 1000,
      },
      {
        fix: (fix) => this.#fix(fix),
        secondFix: (fix) => this.#listeners.secondFix.tell(fix),
        residuals: (residuals) => this.#listeners.residuals.tell(residuals),
        identity: (identity) => this.#identity(identity),
        // A capture's time is not the time of now.
        time: (utc_s) => port.live && ctx.services.find(device)?.setUtc(utc_s * 1000),
        uptime: (msss_ms, now_ms) => {
          this.#forgot(this.#watch.status(msss_ms, now_ms))
        },
        text: (level, text) => this.#text(level, text),
      },
    )
    this.#link = new ReceiverLink(
      port,
      ctx,
      { bauds: options.bauds, listenOnly: this.listening },
      {
        frame: (frame) => this.#frame(frame),
        state: () => this.#linkChanged(),
        silence: () => this.#prepare(),
      },
    )
    this.#dialog = new Dialog(ctx, (bytes) => this.#link.write(bytes))
    const link = this.#link
    const line = {
      get baud() {
        return link.canSetBaud ? link.baud : 0
      },
      setBaud: (baud: number) => link.setBaud(baud),
      write: (bytes: Uint8Array) => link.write(bytes),
    }
    this.#configurator = new Configurator(ctx, this.#dialog, line, options)
  }

  async start(): Promise<void> {
    const stored = await this.#ctx.store.get(storedBaudKey).catch(() => undefined)
    if (typeof stored === 'number') {
      this.#storedBaud = stored
      this.#link.prefer(stored)
    }
    this.#ctx.timers.every(tick_ms, () => this.#tick())
    this.#link.start()
  }

  async stop(): Promise<ZedSnapshot> {
    await this.#link.stop()
    this.#dialog.abort()
    const { identity, antenna } = this.facts
    return { identity, antenna: antenna.report, corruptRtcm: this.corruptRtcm }
  }

  restore({ identity, antenna, corruptRtcm }: ZedSnapshot): void {
    this.facts.identity = identity
    this.facts.antenna.restore(antenna)
    this.#corruptBefore = corruptRtcm
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  get link(): LinkState {
    return this.#link.state
  }

  get mode(): ReceiverMode {
    return this.#mode
  }

  get identity(): Identity {
    return this.facts.identity
  }

  get fix(): ReceiverFix | undefined {
    return this.facts.fix
  }

  get corruptRtcm(): number {
    return this.#corruptBefore + this.#link.framer.stats.badChecksum.rtcm
  }

  onRtcm(fn: (frame: RtcmFrame) => void): () => void {
    return this.#listeners.rtcm.add(fn)
  }

  onFix(fn: (fix: ReceiverFix) => void): () => void {
    return this.#listeners.fix.add(fn)
  }

  onState(fn: () => void): () => void {
    return this.#listeners.state.add(fn)
  }

  sendCorrections(frames: Uint8Array): boolean {
    return this.link === 'up' && this.#link.write(frames)
  }

  get configured(): boolean {
    return this.#watch.holds !== undefined
  }

  get stationId(): number {
    return (this.listening ? this.facts.arp?.stationId : undefined) ?? this.#options.stationId
  }

  get sinceReset_ms(): number | undefined {
    return this.link === 'offline' ? undefined : this.#watch.sinceReset_ms(this.now_ms())
  }

  async configure(target: ReceiverTarget): Promise<{ written: number; refused: string[] }> {
    this.mayWrite()
    return this.#exclusively(async () => {
      this.mayWrite()
      if (!this.#prepared?.port) await this.#ask()
      const life = this.#lives
      try {
        const result = await this.#configurator.configure(target, this.#known, () => life === this.#lives)
        this.#holdsNow(target)
        return result
      } catch (error) {
        this.#holdsNow(undefined)
        throw error
      }
    })
  }

  async readTarget(): Promise<ReceiverTarget | { mode: 'survey-in' } | undefined> {
    if (this.listening || this.link === 'offline') return undefined
    return this.#exclusively(() => this.#configurator.read())
  }

  onResiduals(fn: (residuals: readonly SatelliteResidual[]) => void): () => void {
    return this.#listeners.residuals.add(fn)
  }

  onSecondFix(fn: (fix: ReceiverFix) => void): () => void {
    return this.#listeners.secondFix.add(fn)
  }

  onWarning(fn: (text: string) => void): () => void {
    return this.#listeners.warning.add(fn)
  }

  /** @throws RTK_ERR_UNAVAILABLE where nothing may or can be written */
  mayWrite(): void {
    if (this.listening)
      throw unavailable('the receiver is only listened to (gnss-zed: configure is false, or a replay)')
    if (this.link === 'offline') throw unavailable(`the receiver is offline: ${this.linkReason}`)
  }

  // ── what the plugin shows of it ───────────────────────────────────────────────────────────────────────────────────

  /** Whether the receiver has told who it is since the link came up. */
  get identified(): boolean {
    return this.#identified
  }

  get rtcmFlows(): boolean {
    return this.now_ms() - this.#rtcmAt_ms < rtcmFlows_ms
  }

  /** Whether the antenna is short or open. */
  get antennaFault(): boolean {
    const { status } = this.facts.antenna.report
    return status === 'short' || status === 'open'
  }

  /** Whether RTCM is held back because of it (option `antennaHold`). */
  get held(): boolean {
    return this.#options.antennaHold && this.antennaFault
  }

  get linkReason(): string {
    return this.#link.reason
  }

  /** A replay came to its end. */
  get ended(): boolean {
    return this.#link.ended
  }

  get portName(): string {
    return this.#port.name
  }

  /** Monotonic milliseconds. */
  now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  /** Writes a controlled restart; false when it could not be written. */
  reset(navBbrMask: number): boolean {
    return this.#link.write(ubx.encodeFrame(ubx.cfgRst, { navBbrMask, resetMode: 1 }))
  }

  /** Deletes everything that was ever stored in the receiver; undefined when it does not answer. */
  deleteStoredConfiguration(): Promise<boolean | undefined> {
    return this.#dialog.delete([everyKey], ubx.layerBit.bbr | ubx.layerBit.flash)
  }

  // ── frames and facts ──────────────────────────────────────────────────────────────────────────────────────────────

  #frame(frame: Frame): void {
    // RTCM first: it is the hot path.
    if (frame.kind === 'rtcm') {
      if (this.held) return
      this.#rtcmAt_ms = frame.arrival_ms
      this.#listeners.rtcm.tell(frame)
      this.facts.rtcm(frame.type, frame.bytes)
    } else if (frame.kind === 'ubx') {
      const payload = ubx.payloadOf(frame.bytes)
      this.facts.ubx(frame.cls, frame.id, payload, frame.arrival_ms)
      this.#dialog.take(frame.cls, frame.id, payload)
    } else this.facts.nmea(frame.bytes, frame.arrival_ms)
  }

  #fix(fix: ReceiverFix): void {
    if (!this.listening && fix.fix !== 'none') this.#hearMode(fix.fix === 'time' ? 'fixed' : 'rover', fix.arrival_ms)
    this.#listeners.fix.tell(fix)
  }

  #hearMode(mode: 'fixed' | 'rover', now_ms: number): void {
    const wrong = this.#watch.mode(mode, now_ms)
    this.#forgot(wrong)
    if (wrong !== '') this.#setMode(mode)
  }

  #text(level: string, text: string): void {
    if (isBootText(text)) this.#forgot('it says that it starts')
    if (level === 'error' || level === 'warning') this.#ctx.log.warn({ level }, `the receiver says: ${text}`)
    if (level === 'warning') this.#listeners.warning.tell(text)
  }

  #identity(identity: Identity): void {
    const text = JSON.stringify(identity)
    if (text === this.#told && this.#identified) return
    if (text !== this.#told) this.#ctx.log.info({ ...identity }, 'the receiver tells who it is')
    this.#told = text
    this.#identified = true
    this.#listeners.state.tell()
  }

  #setMode(mode: ReceiverMode): void {
    if (mode === this.#mode) return
    this.#mode = mode
    this.#listeners.state.tell()
  }

  // ── the link ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #linkChanged(): void {
    const { state, reason, baud } = this.#link
    const trouble = state === 'offline' || (state === 'stalled' && this.#wasUp && !this.ended)
    this.#wasUp = state === 'up'
    this.#ctx.log[trouble ? 'warn' : 'info']({ link: state, port: this.#port.name, baud }, reason)
    if (state === 'offline') {
      this.#dialog.abort()
      this.#identified = false
      this.#prepared = undefined
      this.#lives++
      this.#watch.told(undefined, this.now_ms())
      if (!this.listening) this.#setMode('unknown')
    }
    if (state === 'up') this.#up(baud)
    this.#listeners.state.tell()
  }

  #up(baud: number): void {
    this.#watch.expect(this.now_ms())
    if (baud === 0 || baud === this.#storedBaud || this.listening) return
    // So that the next start of the service need not look for it.
    this.#storedBaud = baud
    this.#ctx.store
      .set(storedBaudKey, baud)
      .catch((error: unknown) => this.#ctx.log.warn({ err: error }, 'the rate is not remembered; it is found again'))
  }

  // ── what the receiver is told ─────────────────────────────────────────────────────────────────────────────────────

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tasks.then(work)
    this.#tasks = done.catch(() => {})
    return done
  }

  get #known() {
    return this.#prepared?.port && { port: this.#prepared.port, firmware: this.#prepared.firmware }
  }

  #holdsNow(target: ReceiverTarget | undefined): void {
    const changed = this.configured || target !== undefined
    this.#watch.told(target, this.now_ms())
    if (this.link === 'up') this.#up(this.#link.baud)
    if (target) this.#mode = target.mode
    if (changed) this.#listeners.state.tell()
  }

  /** Its RAM is as its flash made it, or as someone else did. @param reason nothing happened without one */
  #forgot(reason: string | undefined): void {
    if (!reason || this.listening) return
    const held = this.configured
    this.#lives++
    this.#watch.told(undefined, this.now_ms())
    // One that was told nothing has lost nothing.
    this.#ctx.log[held ? 'warn' : 'debug'](`the receiver restarted or was changed: ${reason}; it is set up again`)
    if (held) this.#listeners.state.tell()
    this.#prepare()
  }

  /** Asks who is there and switches on what is needed, as far as it may write. */
  #prepare(): void {
    if (this.listening || this.#preparing) return
    this.#preparing = true
    this.#exclusively(() => this.#ask())
      .catch((error: unknown) => this.#ctx.log.error({ err: error }, 'asking the receiver failed; it is asked again'))
      .finally(() => {
        this.#preparing = false
      })
  }

  async #ask(): Promise<void> {
    const life = this.#lives
    const prepared = await prepare(this.#dialog)
    if (!prepared || life !== this.#lives) return
    this.#prepared = prepared
    this.#watch.expect(this.now_ms())
    const { port, refused } = prepared
    if (port === undefined) this.#ctx.log.warn('the receiver does not tell which of its ports this is; asked again')
    if (refused.length > 0) this.#ctx.log.warn({ refused }, 'the receiver refused messages; it goes on without them')
  }

  #tick(): void {
    this.facts.tick()
    if (this.link === 'up' && !this.listening) {
      if (!this.#prepared?.port) this.#prepare()
      else this.#forgot(this.#watch.missing(this.facts.fixAt_ms, this.now_ms()))
    }
    const flows = this.rtcmFlows
    if (flows === this.#rtcmFlowed) return
    this.#rtcmFlowed = flows
    this.#listeners.state.tell()
  }
}

const listenersOf = (log: PluginContext['log']) => ({
  rtcm: new Listeners<RtcmFrame>(log),
  fix: new Listeners<ReceiverFix>(log),
  state: new Listeners<void>(log),
  residuals: new Listeners<readonly SatelliteResidual[]>(log),
  secondFix: new Listeners<ReceiverFix>(log),
  warning: new Listeners<string>(log),
})
