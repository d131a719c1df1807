/** Decodes the receiver's messages: into reports, and into what the receiver told last of its firmware, its start and its own survey-in. */
import { decodeGga, gpsToUnix, isReferencePoint, referencePoint } from 'rtk-base/gnss'
import {
  type AntennaReading,
  type BandReading,
  type OwnSurvey,
  type ReceiverFix,
  type ReceiverIdentity,
  type SatelliteEpoch,
  type SatelliteResidual,
  type Spoofing,
  spoofingStates,
} from 'rtk-base/services'
import { type Firmware, firmwareOf } from '../configure/firmware.js'
import * as ubx from '../ubx/index.js'
import { EpochAssembler, fixOfPvt } from './epoch.js'
import { RadioReports } from './radio-reports.js'
import { SatelliteAssembler } from './satellites.js'

/** RXM-COR: protocol and errStatus. */
const rtcm3 = 1
const erroneous = 2

export interface FactEvents {
  fix(fix: ReceiverFix): void
  /** The solution beside the first. */
  secondFix(fix: ReceiverFix): void
  residuals(residuals: readonly SatelliteResidual[]): void
  satellites(epoch: SatelliteEpoch): void
  antenna(reading: AntennaReading): void
  interference(bands: readonly BandReading[]): void
  spoofing(state: Spoofing): void
  /** Corrections of this station were taken. */
  correction(stationId: number): void
  identity(part: Partial<ReceiverIdentity>): void
  /** UTC seconds by the receiver; called only when it has fully resolved them. */
  time(utc_s: number): void
  /** Milliseconds since the receiver started. */
  uptime(msss_ms: number, now_ms: number): void
  /** A line of text for people, with its level. */
  text(level: string, text: string): void
}

type Handler = (payload: Uint8Array, now_ms: number) => void

export class ReceiverFacts {
  /** By the last MON-VER. */
  firmware: Firmware | undefined
  startTimes: { uptime_s: number; timeToFirstFix_s: number } | undefined
  /** The receiver's own survey-in. */
  survey: OwnSurvey | undefined
  /** The station ID of the newest 1005 or 1006. */
  stationId: number | undefined
  readonly #events: FactEvents
  readonly #epochs = new EpochAssembler((fix) => this.#newFix(fix))
  readonly #handlers: ReadonlyMap<number, Handler>
  readonly #sky = new SatelliteAssembler((epoch) => this.#events.satellites(epoch))
  /** The newest epoch was corrected by SBAS and by no base. */
  #sbas: boolean = false

  constructor(events: FactEvents) {
    this.#events = events
    this.#handlers = this.#makeHandlers()
  }

  /** The receiver is absent or silent: its state is unknown. */
  absent(): void {
    this.startTimes = undefined
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

  rtcm(type: number, frame: Uint8Array): void {
    if (isReferencePoint(type)) this.stationId = referencePoint(frame)?.stationId ?? this.stationId
  }

  /** Called a few times a second: ends an epoch of which nothing more comes. */
  tick(now_ms: number): void {
    this.#epochs.tick(now_ms)
    this.#sky.tick(now_ms)
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
    const radio = new RadioReports(this.#events.antenna, this.#events.interference)

    on(ubx.navPvt, (pvt, now_ms) => this.#epochs.pvt(pvt, now_ms))
    on(ubx.navHpPosEcef, (ecef, now_ms) => this.#epochs.hpEcef(ecef, now_ms))
    on(ubx.navHpPosLlh, (llh, now_ms) => this.#epochs.hpLlh(llh, now_ms))
    on(ubx.navEoe, ({ iTOW_ms }) => {
      this.#epochs.endOfEpoch(iTOW_ms)
      this.#sky.endOfEpoch(iTOW_ms)
    })
    on(ubx.navStatus, (status, now_ms) => {
      this.#epochs.status(status, now_ms)
      this.#events.spoofing(spoofingStates[status.spoofDetState] ?? 'unknown')
      const { msss_ms, ttff_ms } = status
      this.#events.uptime(msss_ms, now_ms)
      this.startTimes = { uptime_s: Math.floor(msss_ms / 1000), timeToFirstFix_s: Math.round(ttff_ms / 1000) }
    })
    on(ubx.navTimeGps, ({ iTOW_ms, week, leapS, towValid, weekValid, leapSValid }) => {
      if (towValid && weekValid && leapSValid) this.#events.time(gpsToUnix({ week, tow_s: iTOW_ms / 1000 }, leapS))
    })
    on(ubx.navSat, ({ iTOW_ms, blocks }, now_ms) => {
      this.#sky.navSat(iTOW_ms, blocks, now_ms)
      this.#sbas = blocks.some((block) => block.sbasCorrUsed) && !blocks.some((block) => block.rtcmCorrUsed)
      this.#events.residuals(blocks.flatMap((block) => residualOf(block) ?? []))
    })
    on(ubx.navSig, ({ iTOW_ms, blocks }) => this.#sky.navSig(iTOW_ms, blocks))
    on(ubx.nav2Pvt, (pvt, now_ms) => this.#events.secondFix(fixOfPvt(pvt, now_ms)))
    on(ubx.navSvin, ({ x_m, y_m, z_m, meanAcc_m, active, valid, dur_s, obs }) => {
      const mean = { x: x_m, y: y_m, z: z_m }
      this.survey = { mean, meanAcc_m, active, valid, elapsed_s: dur_s, observations: obs }
    })
    raw(ubx.monRf, (payload, now_ms) => radio.monRf(payload, now_ms))
    raw(ubx.monHw, (payload, now_ms) => radio.monHw(payload, now_ms))
    on(ubx.rxmRtcm, ({ crcFailed, refStation }) => {
      if (!crcFailed) this.#events.correction(refStation)
    })
    on(ubx.rxmCor, ({ protocol, errStatus, correctionId }) => {
      if (protocol === rtcm3 && errStatus !== erroneous) this.#events.correction(correctionId)
    })
    raw(ubx.monVer, (payload) => {
      const version = ubx.decodeIdentity(payload)
      if (!version) return
      const { module, firmware, hardware, software } = version
      this.firmware = firmwareOf(version)
      this.#events.identity({ module, firmware, hardware, software })
    })
    raw(ubx.secUniqId, (payload) => {
      const unique = ubx.secUniqId.decode(payload)
      if (unique) this.#events.identity({ serial: unique.id })
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

  #newFix(epoch: ReceiverFix): void {
    const fix = epoch.corrected && this.#sbas ? { ...epoch, sbas: true } : epoch
    if (fix.t > 0) this.#events.time(fix.t)
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
