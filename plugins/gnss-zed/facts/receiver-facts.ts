/** What the messages of the receiver say: identity, fixes, satellites, antenna, corrections, time, its own reference. */
import { decodeGga, gpsToUnix, type ReferencePoint, referencePoint } from 'rtk-base/gnss'
import type { Ecef, Receiver, ReceiverFix, SatelliteEpoch, SatelliteResidual } from 'rtk-base/services'
import * as ubx from '../ubx/index.js'
import { AntennaWatch } from './antenna.js'
import { EpochAssembler, fixOfPvt } from './epoch.js'
import { RadioWatch } from './radio.js'
import { ReceivedCorrections } from './received-corrections.js'
import { SatelliteAssembler } from './satellites.js'
import { SignalWatch } from './signal-watch.js'

export type Identity = Receiver['identity']
export type SurveyInReport = ubx.Decoded<typeof ubx.navSvin>

export interface FactEvents {
  fix(fix: ReceiverFix): void
  /** The solution beside the first. */
  secondFix(fix: ReceiverFix): void
  residuals(residuals: readonly SatelliteResidual[]): void
  satellites(epoch: SatelliteEpoch): void
  identity(identity: Identity): void
  /** UTC seconds by the receiver; called only when it has fully resolved them. */
  time(utc_s: number): void
  /** Milliseconds since the receiver started. */
  uptime(msss_ms: number, now_ms: number): void
  /** A line of text for people, with its level. */
  text(level: string, text: string): void
}

export interface FactEdges {
  now_ms(): number
  /** UTC seconds of the device, 0 when not credible; used until the receiver knows the time. */
  deviceUtc_s(): number
}

type Handler = (payload: Uint8Array, now_ms: number) => void

/** An epoch older than this says nothing about now. */
const fixIsFresh_ms = 5000

export class ReceiverFacts {
  readonly antenna = new AntennaWatch()
  readonly corrections = new ReceivedCorrections()
  readonly radio = new RadioWatch()
  readonly signals = new SignalWatch()
  identity: Identity = { module: '', firmware: '', hardware: '', software: '', serial: '' }
  /** The newest epoch with a position. */
  place: ReceiverFix | undefined
  satellites = { visible: 0, used: 0 }
  startTimes = { uptime_s: 0, timeToFirstFix_s: 0 }
  survey: SurveyInReport | undefined
  readonly #edges: FactEdges
  readonly #events: FactEvents
  readonly #epochs = new EpochAssembler((fix) => this.#newFix(fix))
  readonly #handlers: ReadonlyMap<number, Handler>
  readonly #sky = new SatelliteAssembler((epoch) => this.#newSky(epoch))
  #fix: ReceiverFix | undefined
  #skyNow: SatelliteEpoch | undefined
  #time = { utc_s: 0, at_ms: 0 }
  #reference: { point: ReferencePoint; utc_s: number } | undefined

  constructor(edges: FactEdges, events: FactEvents) {
    this.#edges = edges
    this.#events = events
    this.#handlers = this.#makeHandlers()
  }

  /** The newest epoch; undefined when it is older than 5 s. */
  get fix(): ReceiverFix | undefined {
    return this.#fix && this.#edges.now_ms() - this.#fix.arrival_ms < fixIsFresh_ms ? this.#fix : undefined
  }

  /** The newest satellites; undefined when they are older than 5 s. */
  get sky(): SatelliteEpoch | undefined {
    return this.#skyNow && this.#edges.now_ms() - this.#skyNow.arrival_ms < fixIsFresh_ms ? this.#skyNow : undefined
  }

  /** When the newest epoch came; 0 before the first. */
  get fixAt_ms(): number {
    return this.#fix?.arrival_ms ?? 0
  }

  /** The reference point of the base as the receiver sends it in 1005 or 1006, and when it was heard last. */
  get arp(): { position: Ecef; stationId: number; utc_s: number } | undefined {
    if (!this.#reference) return undefined
    const { point, utc_s } = this.#reference
    return { position: point.arp, stationId: point.stationId, utc_s }
  }

  /** UTC seconds: of the receiver, else of the device, 0 when neither is credible. */
  utc_s(): number {
    const { utc_s, at_ms } = this.#time
    return utc_s > 0 ? utc_s + (this.#edges.now_ms() - at_ms) / 1000 : this.#edges.deviceUtc_s()
  }

  /** The receiver is away or silent: what it said of itself is no longer known. */
  absent(): void {
    this.antenna.absent()
    this.startTimes = { uptime_s: 0, timeToFirstFix_s: 0 }
  }

  ubx(cls: number, id: number, payload: Uint8Array, now_ms: number): void {
    this.#handlers.get(ubx.messageKey(cls, id))?.(payload, now_ms)
  }

  nmea(sentence: Uint8Array, now_ms: number): void {
    const gga = decodeGga(sentence)
    if (gga) this.#epochs.gga(gga, now_ms)
    else {
      // $GNTXT,01,01,02,… is a notice.
      const [, text] = /^\$..TXT,\d+,\d+,\d+,([^*]*)/.exec(Buffer.from(sentence).toString('latin1')) ?? []
      if (text) this.#events.text('notice', text)
    }
  }

  rtcm(type: number, frame: Uint8Array, now_ms: number): void {
    this.signals.rtcm(type, frame, now_ms)
    if (type !== 1005 && type !== 1006) return
    const point = referencePoint(frame)
    if (point) this.#reference = { point, utc_s: this.utc_s() }
  }

  /** Called a few times a second: ends an epoch of which nothing more comes. */
  tick(): void {
    const now_ms = this.#edges.now_ms()
    this.#epochs.tick(now_ms)
    this.#sky.tick(now_ms)
    this.radio.tick(now_ms)
  }

  /** Which message is for whom. */
  #makeHandlers(): Map<number, Handler> {
    const handlers = new Map<number, Handler>()
    const raw = ({ cls, id }: { cls: number; id: number }, fn: Handler) => handlers.set(ubx.messageKey(cls, id), fn)
    const on = <L extends ubx.Layout>(layout: L, fn: (values: ubx.Decoded<L>, now_ms: number) => void) =>
      raw(layout, (payload, now_ms) => {
        const values = ubx.decode(layout, payload)
        if (values) fn(values, now_ms)
      })
    const utc = () => Math.floor(this.utc_s())

    on(ubx.navPvt, (pvt, now_ms) => this.#epochs.pvt(pvt, now_ms))
    on(ubx.navHpPosEcef, (ecef, now_ms) => this.#epochs.hpEcef(ecef, now_ms))
    on(ubx.navHpPosLlh, (llh, now_ms) => this.#epochs.hpLlh(llh, now_ms))
    on(ubx.navEoe, ({ iTOW_ms }) => {
      this.#epochs.endOfEpoch(iTOW_ms)
      this.#sky.endOfEpoch(iTOW_ms)
    })
    on(ubx.navStatus, (status, now_ms) => {
      this.#epochs.status(status, now_ms)
      this.radio.status(status.spoofDetState, now_ms)
      const { msss_ms, ttff_ms } = status
      this.#events.uptime(msss_ms, now_ms)
      this.startTimes = { uptime_s: Math.floor(msss_ms / 1000), timeToFirstFix_s: Math.round(ttff_ms / 1000) }
    })
    on(ubx.navTimeGps, ({ iTOW_ms, week, leapS, towValid, weekValid, leapSValid }, now_ms) => {
      if (towValid && weekValid && leapSValid) this.#setTime(gpsToUnix({ week, tow_s: iTOW_ms / 1000 }, leapS), now_ms)
    })
    on(ubx.navSat, ({ iTOW_ms, blocks }, now_ms) => {
      this.#sky.navSat(iTOW_ms, blocks, now_ms)
      const visible = blocks.filter(({ cno_dbhz }) => cno_dbhz > 0).length
      this.satellites = { visible, used: blocks.filter(({ used }) => used).length }
      this.#events.residuals(blocks.flatMap((block) => residualOf(block) ?? []))
    })
    on(ubx.navSig, ({ iTOW_ms, blocks }) => this.#sky.navSig(iTOW_ms, blocks))
    on(ubx.nav2Pvt, (pvt, now_ms) => this.#events.secondFix(fixOfPvt(pvt, now_ms)))
    on(ubx.navSvin, (survey) => {
      this.survey = survey
    })
    raw(ubx.monRf, (payload, now_ms) => {
      this.antenna.monRf(payload, now_ms, utc())
      this.radio.monRf(payload, now_ms)
    })
    raw(ubx.monHw, (payload, now_ms) => {
      this.antenna.monHw(payload, now_ms, utc())
      this.radio.monHw(payload, now_ms)
    })
    raw(ubx.rxmRtcm, (payload, now_ms) => this.corrections.rxmRtcm(payload, now_ms))
    raw(ubx.rxmCor, (payload, now_ms) => this.corrections.rxmCor(payload, now_ms))
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
    // Errors, warnings, notices; the rest is chatter.
    for (const id of [0, 1, 2]) {
      raw({ cls: ubx.INF_CLASS, id }, (payload) => {
        const inf = ubx.decodeInf(id, payload)
        if (inf) this.#events.text(inf.level, inf.text)
      })
    }
    return handlers
  }

  #identify(part: Partial<Identity>): void {
    this.identity = { ...this.identity, ...part }
    this.#events.identity(this.identity)
  }

  #setTime(utc_s: number, at_ms: number): void {
    this.#time = { utc_s, at_ms }
    this.#events.time(utc_s)
  }

  #newSky(epoch: SatelliteEpoch): void {
    this.#skyNow = epoch
    this.signals.satellites(epoch)
    this.#events.satellites(epoch)
  }

  #newFix(fix: ReceiverFix): void {
    this.#fix = fix
    if (fix.ok && fix.fix !== 'none') this.place = fix
    if (fix.t > 0) this.#setTime(fix.t, fix.arrival_ms)
    this.#events.fix(fix)
  }
}

function residualOf(block: ubx.Decoded<typeof ubx.navSat>['blocks'][number]): SatelliteResidual | undefined {
  const constellation = ubx.constellationName(block.gnssId)
  if (!constellation) return undefined
  return {
    constellation,
    satellite: block.svId,
    azimuth_deg: block.azim_deg,
    elevation_deg: block.elev_deg,
    residual_m: block.prRes_m,
    used: block.used,
  }
}
