/** The receiver: frames in, its identity, fixes, antenna and time out; the `receiver` service. */
import { decodeGga, decodeRtcm, type Frame, type Rtcm3Frame, type RtcmMessageOf } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import {
  device,
  type Ecef,
  type ReceiverLink as LinkState,
  type Receiver,
  type ReceiverFix,
  type ReceiverMode,
  type RtcmFrame,
} from 'rtk-base/services'
import { type AntennaReport, AntennaWatch } from './antenna.js'
import { EpochAssembler } from './epoch.js'
import { Dialog } from './link/dialog.js'
import { ReceiverLink } from './link/receiver-link.js'
import { Listeners } from './listeners.js'
import type { ReceiverPort } from './port/index.js'
import { prepare } from './prepare.js'
import * as ubx from './ubx/index.js'

type Identity = Receiver['identity']
export type Satellites = { visible: number; used: number }
export type StartTimes = { uptime_s: number; timeToFirstFix_s: number }
export type SurveyInReport = ubx.Decoded<typeof ubx.navSvin>

/** What goes over to the next instance on a reload. */
export interface ZedSnapshot {
  identity: Identity
  antenna: AntennaReport
  corruptRtcm: number
}

const tick_ms = 250
/** RTCM counts as flowing for so long after a frame: low-rate sets send every few seconds. */
const rtcmFlows_ms = 5000
const fixIsFresh_ms = 5000
/** No navigation message for so long on a live link: the receiver was restarted and forgot what it was told. */
const forgotten_ms = 8000

export class ZedReceiver implements Receiver {
  readonly antenna = new AntennaWatch()
  /** True: nothing is ever written, and the receiver is trusted as it is. */
  readonly listening: boolean
  identity: Identity = { module: '', firmware: '', hardware: '', software: '', serial: '' }
  /** The newest epoch with a position. */
  place: ReceiverFix | undefined
  satellites: Satellites = { visible: 0, used: 0 }
  startTimes: StartTimes = { uptime_s: 0, timeToFirstFix_s: 0 }
  survey: SurveyInReport | undefined
  /** What the receiver's own 1005 or 1006 says, and when it came last. */
  arp: { message: RtcmMessageOf<1005> | RtcmMessageOf<1006>; at_ms: number; utc_s: number } | undefined
  readonly #ctx: PluginContext
  readonly #port: ReceiverPort
  readonly #link: ReceiverLink
  readonly #dialog: Dialog
  readonly #epochs = new EpochAssembler((fix) => this.#newFix(fix))
  readonly #rtcmListeners: Listeners<RtcmFrame>
  readonly #fixListeners: Listeners<ReceiverFix>
  readonly #stateListeners: Listeners<void>
  readonly #handlers: ReadonlyMap<number, (payload: Uint8Array, now_ms: number) => void>
  #fix: ReceiverFix | undefined
  #mode: ReceiverMode
  #identified: boolean = false
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
    this.#handlers = this.#messageHandlers()
  }

  start(): void {
    this.#ctx.timers.every(tick_ms, () => this.#tick())
    this.#link.start()
  }

  async stop(): Promise<ZedSnapshot> {
    await this.#link.stop()
    return { identity: this.identity, antenna: this.antenna.report, corruptRtcm: this.corruptRtcm }
  }

  restore({ identity, antenna, corruptRtcm }: ZedSnapshot): void {
    this.identity = identity
    this.antenna.restore(antenna)
    this.#corruptBefore = corruptRtcm
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  get link(): LinkState {
    return this.#link.state
  }

  get mode(): ReceiverMode {
    return this.#mode
  }

  /** Undefined when the newest epoch is older than 5 s. */
  get fix(): ReceiverFix | undefined {
    return this.#fix && this.now_ms() - this.#fix.arrival_ms < fixIsFresh_ms ? this.#fix : undefined
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

  /** Monotonic milliseconds. */
  now_ms(): number {
    return this.#ctx.clock.monotonic()
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

  get baud(): number {
    return this.#link.baud
  }

  /** The reference point of the base as the receiver sends it. */
  get arpPosition(): Ecef | undefined {
    return this.arp && { x: this.arp.message.x, y: this.arp.message.y, z: this.arp.message.z }
  }

  /** UTC seconds: of the receiver, else of the device, 0 when neither is credible. */
  utc_s(): number {
    const { t, arrival_ms } = this.#fix ?? { t: 0, arrival_ms: 0 }
    if (t > 0) return t + (this.now_ms() - arrival_ms) / 1000
    return (this.#ctx.services.find(device)?.utc_ms() ?? 0) / 1000
  }

  /** Writes a reset; false when it could not be written. */
  reset(navBbrMask: number): boolean {
    return this.#link.write(ubx.encodeFrame(ubx.cfgRst, { navBbrMask, resetMode: 1 }))
  }

  /** Deletes everything that was ever stored in the receiver; undefined when it does not answer. */
  deleteStoredConfiguration(): Promise<boolean | undefined> {
    return this.#dialog.delete([everyKey], ubx.layerBit.bbr | ubx.layerBit.flash)
  }

  // ── frames ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #frame(frame: Frame): void {
    // RTCM first: it is the hot path.
    if (frame.kind === 'rtcm') this.#rtcm(frame)
    else if (frame.kind === 'ubx') {
      const payload = ubx.payloadOf(frame.bytes)
      this.#handlers.get(ubx.messageKey(frame.cls, frame.id))?.(payload, frame.arrival_ms)
      this.#dialog.take(frame.cls, frame.id, payload)
    } else {
      const gga = decodeGga(frame.bytes)
      if (gga) this.#epochs.gga(gga, frame.arrival_ms)
    }
  }

  #rtcm(frame: Rtcm3Frame): void {
    this.#rtcmAt_ms = frame.arrival_ms
    this.#rtcmListeners.tell(frame)
    if (frame.type !== 1005 && frame.type !== 1006) return
    const message = decodeRtcm(frame.bytes)
    if (message?.type !== 1005 && message?.type !== 1006) return
    this.arp = { message, at_ms: frame.arrival_ms, utc_s: this.utc_s() }
  }

  /** Which message is for whom. */
  #messageHandlers() {
    const handlers = new Map<number, (payload: Uint8Array, now_ms: number) => void>()
    const on = <L extends ubx.Layout>(layout: L, fn: (values: ubx.Decoded<L>, now_ms: number) => void) =>
      handlers.set(ubx.messageKey(layout.cls, layout.id), (payload, now_ms) => {
        const values = ubx.decode(layout, payload)
        if (values) fn(values, now_ms)
      })
    const raw = ({ cls, id }: { cls: number; id: number }, fn: (payload: Uint8Array, now_ms: number) => void) =>
      handlers.set(ubx.messageKey(cls, id), fn)

    on(ubx.navPvt, (pvt, now_ms) => this.#epochs.pvt(pvt, now_ms))
    on(ubx.navHpPosEcef, (ecef, now_ms) => this.#epochs.hpEcef(ecef, now_ms))
    on(ubx.navHpPosLlh, (llh, now_ms) => this.#epochs.hpLlh(llh, now_ms))
    on(ubx.navEoe, ({ iTOW_ms }) => this.#epochs.endOfEpoch(iTOW_ms))
    on(ubx.navStatus, (status, now_ms) => {
      this.#epochs.status(status, now_ms)
      this.startTimes = {
        uptime_s: Math.floor(status.msss_ms / 1000),
        timeToFirstFix_s: Math.round(status.ttff_ms / 1000),
      }
    })
    on(ubx.navSat, ({ blocks }) => {
      const visible = blocks.filter(({ cno_dbhz }) => cno_dbhz > 0).length
      this.satellites = { visible, used: blocks.filter(({ used }) => used).length }
    })
    on(ubx.navSvin, (survey) => {
      this.survey = survey
    })
    raw(ubx.monRf, (payload, now_ms) => this.antenna.monRf(payload, now_ms, Math.floor(this.utc_s())))
    raw(ubx.monHw, (payload, now_ms) => this.antenna.monHw(payload, now_ms, Math.floor(this.utc_s())))
    raw(ubx.monVer, (payload) => {
      const version = ubx.decodeIdentity(payload)
      if (!version) return
      const { module, firmware, hardware, software } = version
      this.#identify({ module, firmware, hardware, software })
    })
    raw(ubx.secUniqId, (payload) => {
      const unique = ubx.secUniqId.decode(payload)
      if (unique) this.#identify({ serial: unique.id })
    })
    for (const id of [0, 1]) {
      raw({ cls: ubx.INF_CLASS, id }, (payload) => {
        const inf = ubx.decodeInf(id, payload)
        if (inf) this.#ctx.log.warn({ level: inf.level }, `the receiver says: ${inf.text}`)
      })
    }
    return handlers
  }

  #identify(part: Partial<Identity>): void {
    this.#identified = true
    const next = { ...this.identity, ...part }
    if (JSON.stringify(next) === JSON.stringify(this.identity)) return
    this.identity = next
    this.#ctx.log.info({ ...next }, 'receiver identified')
    this.#stateListeners.tell()
  }

  #newFix(fix: ReceiverFix): void {
    this.#fix = fix
    if (fix.ok && fix.fix !== 'none') this.place = fix
    // A capture's time is not the time of now.
    if (fix.t > 0 && this.#port.live) this.#ctx.services.find(device)?.setUtc(fix.t * 1000)
    if (!this.listening && fix.fix !== 'none') this.#setMode(fix.fix === 'time' ? 'fixed' : 'rover')
    this.#fixListeners.tell(fix)
  }

  #setMode(mode: ReceiverMode): void {
    if (mode === this.#mode) return
    this.#mode = mode
    this.#stateListeners.tell()
  }

  // ── the link ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #linkChanged(): void {
    const { state, reason } = this.#link
    const expected = state === 'up' || (state === 'stalled' && !this.#wasUp)
    this.#wasUp = state === 'up'
    this.#ctx.log[expected ? 'info' : 'warn']({ link: state, port: this.#port.name, baud: this.baud }, reason)
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
        if (port === undefined) this.#ctx.log.warn('the receiver does not tell which port this is; asked again later')
        if (refused.length > 0) this.#ctx.log.warn({ refused }, 'the receiver refused messages; shown without them')
      })
      .catch((error: unknown) => this.#ctx.log.error({ err: error }, 'asking the receiver failed; asked again later'))
      .finally(() => {
        this.#preparing = false
      })
  }

  #tick(): void {
    const now = this.now_ms()
    this.#epochs.tick(now)
    const heard_ms = Math.max(this.#preparedAt_ms, this.#fix?.arrival_ms ?? 0)
    if (this.link === 'up' && (this.#preparedAt_ms === 0 || now - heard_ms > forgotten_ms)) this.#prepare()
    const flows = this.rtcmFlows
    if (flows !== this.#rtcmFlowed) {
      this.#rtcmFlowed = flows
      this.#stateListeners.tell()
    }
  }
}

/** The wildcard that names all groups. */
const everyKey = 0x0fffffff
