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
import { type Identity, ReceiverFacts } from './facts.js'
import { Dialog } from './link/dialog.js'
import { ReceiverLink } from './link/receiver-link.js'
import { Listeners } from './listeners.js'
import type { ReceiverPort } from './port/index.js'
import { prepare } from './prepare.js'
import * as ubx from './ubx/index.js'

/** What goes over to the next instance on a reload. */
export interface ZedSnapshot {
  identity: Identity
  antenna: AntennaReport
  corruptRtcm: number
}

const tick_ms = 250
/** RTCM counts as flowing for so long after a frame: low-rate sets send every few seconds. */
const rtcmFlows_ms = 5000
/** No navigation message for so long on a live link: the receiver was restarted and forgot what it was told. */
const forgotten_ms = 8000
/** The wildcard that names all configuration keys. */
const everyKey = 0x0fffffff

export class ZedReceiver implements Receiver {
  readonly facts: ReceiverFacts
  /** True: nothing is ever written, and the receiver is trusted as it is. */
  readonly listening: boolean
  readonly #ctx: PluginContext
  readonly #port: ReceiverPort
  readonly #link: ReceiverLink
  readonly #dialog: Dialog
  readonly #rtcmListeners: Listeners<RtcmFrame>
  readonly #fixListeners: Listeners<ReceiverFix>
  readonly #stateListeners: Listeners<void>
  readonly #residualListeners: Listeners<readonly SatelliteResidual[]>
  readonly #secondFixListeners: Listeners<ReceiverFix>
  readonly #warningListeners: Listeners<string>
  #mode: ReceiverMode
  #identified: boolean = false
  /** The identity that was told last, as text. */
  #told = ''
  #preparing: boolean = false
  #preparedAt_ms = 0
  #rtcmAt_ms = Number.NEGATIVE_INFINITY
  #rtcmFlowed: boolean = false
  #wasUp: boolean = false
  #corruptBefore = 0

  constructor(ctx: PluginContext, port: ReceiverPort, options: { bauds: readonly number[]; configure: boolean }) {
    this.#ctx = ctx
    this.#port = port
    this.listening = !options.configure || !port.live
    this.#mode = this.listening ? 'listening' : 'unknown'
    this.#rtcmListeners = new Listeners(ctx.log)
    this.#fixListeners = new Listeners(ctx.log)
    this.#stateListeners = new Listeners(ctx.log)
    this.#residualListeners = new Listeners(ctx.log)
    this.#secondFixListeners = new Listeners(ctx.log)
    this.#warningListeners = new Listeners(ctx.log)
    this.facts = new ReceiverFacts(
      {
        now_ms: () => ctx.clock.monotonic(),
        deviceUtc_s: () => (ctx.services.find(device)?.utc_ms() ?? 0) / 1000,
      },
      {
        fix: (fix) => this.#fix(fix),
        identity: (identity) => this.#identity(identity),
        // A capture's time is not the time of now.
        time: (utc_s) => port.live && ctx.services.find(device)?.setUtc(utc_s * 1000),
        text: (level, text) => ctx.log.warn({ level }, `the receiver says: ${text}`),
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
  }

  start(): void {
    this.#ctx.timers.every(tick_ms, () => this.#tick())
    this.#link.start()
  }

  async stop(): Promise<ZedSnapshot> {
    await this.#link.stop()
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
    return this.#rtcmListeners.add(fn)
  }

  onFix(fn: (fix: ReceiverFix) => void): () => void {
    return this.#fixListeners.add(fn)
  }

  onState(fn: () => void): () => void {
    return this.#stateListeners.add(fn)
  }

  sendCorrections(frames: Uint8Array): boolean {
    return this.link === 'up' && this.#link.write(frames)
  }

  get configured(): boolean {
    return false
  }

  get stationId(): number {
    return 0
  }

  get sinceReset_ms(): number | undefined {
    return undefined
  }

  async configure(_target: ReceiverTarget): Promise<{ written: number; refused: string[] }> {
    throw unavailable('the receiver is not configured by this version')
  }

  async readTarget(): Promise<ReceiverTarget | { mode: 'survey-in' } | undefined> {
    return undefined
  }

  onResiduals(fn: (residuals: readonly SatelliteResidual[]) => void): () => void {
    return this.#residualListeners.add(fn)
  }

  onSecondFix(fn: (fix: ReceiverFix) => void): () => void {
    return this.#secondFixListeners.add(fn)
  }

  onWarning(fn: (text: string) => void): () => void {
    return this.#warningListeners.add(fn)
  }

  // ── what the plugin shows of it ───────────────────────────────────────────────────────────────────────────────────

  /** Whether the receiver has told who it is since the link came up. */
  get identified(): boolean {
    return this.#identified
  }

  get rtcmFlows(): boolean {
    return this.now_ms() - this.#rtcmAt_ms < rtcmFlows_ms
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
      this.#rtcmAt_ms = frame.arrival_ms
      this.#rtcmListeners.tell(frame)
      this.facts.rtcm(frame.type, frame.bytes)
    } else if (frame.kind === 'ubx') {
      const payload = ubx.payloadOf(frame.bytes)
      this.facts.ubx(frame.cls, frame.id, payload, frame.arrival_ms)
      this.#dialog.take(frame.cls, frame.id, payload)
    } else this.facts.nmea(frame.bytes, frame.arrival_ms)
  }

  #fix(fix: ReceiverFix): void {
    if (!this.listening && fix.fix !== 'none') this.#setMode(fix.fix === 'time' ? 'fixed' : 'rover')
    this.#fixListeners.tell(fix)
  }

  #identity(identity: Identity): void {
    const text = JSON.stringify(identity)
    if (text === this.#told && this.#identified) return
    if (text !== this.#told) this.#ctx.log.info({ ...identity }, 'the receiver tells who it is')
    this.#told = text
    this.#identified = true
    this.#stateListeners.tell()
  }

  #setMode(mode: ReceiverMode): void {
    if (mode === this.#mode) return
    this.#mode = mode
    this.#stateListeners.tell()
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
      this.#preparedAt_ms = 0
      if (!this.listening) this.#setMode('unknown')
    }
    this.#stateListeners.tell()
  }

  /** Asks who is there and switches on what is needed, as far as it may write. */
  #prepare(): void {
    if (this.listening || this.#preparing) return
    this.#preparing = true
    prepare(this.#dialog)
      .then((prepared) => {
        if (!prepared) return
        this.#preparedAt_ms = this.now_ms()
        const { port, refused } = prepared
        if (port === undefined) this.#ctx.log.warn('the receiver does not tell which of its ports this is; asked again')
        if (refused.length > 0)
          this.#ctx.log.warn({ refused }, 'the receiver refused messages; it goes on without them')
      })
      .catch((error: unknown) => this.#ctx.log.error({ err: error }, 'asking the receiver failed; it is asked again'))
      .finally(() => {
        this.#preparing = false
      })
  }

  #tick(): void {
    this.facts.tick()
    const now = this.now_ms()
    const heard_ms = Math.max(this.#preparedAt_ms, this.facts.fixAt_ms)
    if (this.link === 'up' && (this.#preparedAt_ms === 0 || now - heard_ms > forgotten_ms)) this.#prepare()
    const flows = this.rtcmFlows
    if (flows === this.#rtcmFlowed) return
    this.#rtcmFlowed = flows
    this.#stateListeners.tell()
  }
}
