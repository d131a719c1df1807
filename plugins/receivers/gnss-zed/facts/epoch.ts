/**
 * Assembles the messages of one navigation epoch. A receiver sends its configured messages in the order of message
 * numbers, so an epoch is complete when both NAV-PVT and NAV-HPPOSECEF are there, at NAV-EOE, when a message of another
 * epoch comes, or after 300 ms; then the finest position that came counts.
 */
import { ecefToGeodetic, type Gga, geodeticToEcef, roundEcef, roundTo } from 'rtk-base/gnss'
import type { GpsFix, ReceiverFix } from 'rtk-base/services'
import type * as ubx from '../ubx/index.js'

type Pvt = ubx.Decoded<typeof ubx.navPvt>
type HpEcef = ubx.Decoded<typeof ubx.navHpPosEcef>
type HpLlh = ubx.Decoded<typeof ubx.navHpPosLlh>
type Status = ubx.Decoded<typeof ubx.navStatus>

interface Pending {
  readonly iTOW_ms: number
  readonly arrival_ms: number
  pvt?: Pvt
  ecef?: HpEcef
  llh?: HpLlh
  status?: Status
}

type Place = Pick<ReceiverFix, 'position' | 'lat' | 'lon' | 'alt' | 'acc_m'>

const patience_ms = 300
/** Time without a position in UBX after which GGA alone is used. */
const ubxOnly_ms = 3000

const fixNames: readonly GpsFix[] = ['none', 'dead-reckoning', '2d', '3d', '3d-dr', 'time']
const ggaFixes: Readonly<Record<number, GpsFix>> = {
  1: '3d',
  2: '3d',
  4: 'rtk-fixed',
  5: 'rtk-float',
  6: 'dead-reckoning',
  7: 'time',
}

export class EpochAssembler {
  readonly #onFix: (fix: ReceiverFix) => void
  #pending: Pending | undefined
  /** The epoch that was reported last: late messages of it are not a new one. */
  #reported_iTOW_ms: number | undefined
  #ubxAt_ms = Number.NEGATIVE_INFINITY
  #gga: Gga | undefined
  #status: { fix: GpsFix; at_ms: number } | undefined

  constructor(onFix: (fix: ReceiverFix) => void) {
    this.#onFix = onFix
  }

  pvt(pvt: Pvt, now_ms: number): void {
    const epoch = this.#begin(pvt.iTOW_ms, now_ms)
    if (!epoch) return
    epoch.pvt = pvt
    if (epoch.ecef) this.#finish()
  }

  hpEcef(ecef: HpEcef, now_ms: number): void {
    const epoch = this.#begin(ecef.iTOW_ms, now_ms)
    if (!epoch) return
    epoch.ecef = ecef
    if (epoch.pvt) this.#finish()
  }

  hpLlh(llh: HpLlh, now_ms: number): void {
    const epoch = this.#begin(llh.iTOW_ms, now_ms)
    if (epoch) epoch.llh = llh
  }

  status(status: Status, now_ms: number): void {
    this.#status = { fix: fixName(status.gpsFix, status.carrSoln), at_ms: now_ms }
    const epoch = this.#begin(status.iTOW_ms, now_ms)
    if (epoch) epoch.status = status
  }

  endOfEpoch(iTOW_ms: number): void {
    if (this.#pending?.iTOW_ms === iTOW_ms) this.#finish()
  }

  gga(gga: Gga, now_ms: number): void {
    this.#gga = gga
    if (now_ms - this.#ubxAt_ms < ubxOnly_ms) return
    const statusFix = this.#status && now_ms - this.#status.at_ms < ubxOnly_ms ? this.#status.fix : undefined
    this.#onFix(fixOfGga(gga, statusFix, now_ms))
  }

  /** Called a few times a second. */
  tick(now_ms: number): void {
    if (this.#pending && now_ms - this.#pending.arrival_ms >= patience_ms) this.#finish()
  }

  #begin(iTOW_ms: number, now_ms: number): Pending | undefined {
    if (this.#pending?.iTOW_ms === iTOW_ms) return this.#pending
    if (this.#pending) this.#finish()
    if (this.#reported_iTOW_ms === iTOW_ms) return undefined
    this.#pending = { iTOW_ms, arrival_ms: now_ms }
    return this.#pending
  }

  #finish(): void {
    const epoch = this.#pending
    this.#pending = undefined
    if (!epoch) return
    this.#reported_iTOW_ms = epoch.iTOW_ms
    const { pvt, status } = epoch
    const place = placeOf(epoch)
    // NAV-STATUS alone is not a navigation epoch, e.g. of a receiver that sends its positions as NMEA.
    if (!pvt && !place) return
    this.#ubxAt_ms = epoch.arrival_ms
    this.#onFix({
      t: pvt ? utcOf(pvt) : 0,
      fix: this.#fixName(epoch),
      ok: place !== undefined && (pvt?.gnssFixOK ?? status?.gpsFixOk ?? true),
      ...(place ?? nowhere),
      geoidSeparation_m: separation(epoch) ?? this.#gga?.geoidSeparation_m ?? 0,
      satellitesUsed: pvt?.numSV ?? this.#gga?.satellitesUsed ?? 0,
      corrected: pvt?.diffSoln ?? status?.diffSoln ?? this.#gga?.quality === 2,
      arrival_ms: epoch.arrival_ms,
    })
  }

  #fixName({ pvt, status }: Pending): GpsFix {
    if (pvt) return fixName(pvt.fixType, pvt.carrSoln)
    if (status) return fixName(status.gpsFix, status.carrSoln)
    // Only a position: its fix type by NMEA, otherwise 3D.
    return this.#gga ? (ggaFixes[this.#gga.quality] ?? 'none') : '3d'
  }
}

function fixName(fixType: number, carrSoln: number): GpsFix {
  if (carrSoln === 2) return 'rtk-fixed'
  return carrSoln === 1 ? 'rtk-float' : (fixNames[fixType] ?? 'none')
}

const nowhere: Place = { position: { x: 0, y: 0, z: 0 }, lat: 0, lon: 0, alt: 0, acc_m: Number.POSITIVE_INFINITY }

/** The finest position of the epoch; undefined without a valid one. */
function placeOf({ pvt, ecef, llh }: Pending): Place | undefined {
  if (ecef && !ecef.invalidEcef && (!pvt || pvt.fixType > 0)) {
    const position = { x: ecef.x_m, y: ecef.y_m, z: ecef.z_m }
    return { position, ...ecefToGeodetic(position), acc_m: ecef.pAcc_m }
  }
  if (llh && !llh.invalidLlh && (!pvt || pvt.fixType > 0)) {
    return placeAt(llh.lat_deg, llh.lon_deg, llh.height_m, Math.hypot(llh.hAcc_m, llh.vAcc_m))
  }
  if (pvt && pvt.fixType > 0 && !pvt.invalidLlh) {
    return placeAt(pvt.lat_deg, pvt.lon_deg, pvt.height_m, Math.hypot(pvt.hAcc_m, pvt.vAcc_m))
  }
  return undefined
}

function placeAt(lat: number, lon: number, alt: number, acc_m: number): Place {
  return { position: roundEcef(geodeticToEcef({ lat, lon, alt })), lat, lon, alt, acc_m }
}

function separation({ pvt, llh }: Pending): number | undefined {
  if (llh) return roundTo(llh.height_m - llh.hMSL_m, 4)
  return pvt && roundTo(pvt.height_m - pvt.hMSL_m, 4)
}

/** NAV-PVT or NAV2-PVT alone as a fix; the position is as fine as 1 cm. */
export function fixOfPvt(pvt: Pvt, arrival_ms: number): ReceiverFix {
  const place = placeOf({ iTOW_ms: pvt.iTOW_ms, arrival_ms, pvt })
  return {
    t: utcOf(pvt),
    fix: fixName(pvt.fixType, pvt.carrSoln),
    ok: place !== undefined && pvt.gnssFixOK,
    ...(place ?? nowhere),
    geoidSeparation_m: roundTo(pvt.height_m - pvt.hMSL_m, 4),
    satellitesUsed: pvt.numSV,
    corrected: pvt.diffSoln,
    arrival_ms,
  }
}

/** UTC seconds; 0 until the receiver has resolved date, time and leap seconds. */
function utcOf(pvt: Pvt): number {
  if (!pvt.validDate || !pvt.validTime || !pvt.fullyResolved) return 0
  return Date.UTC(pvt.year, pvt.month - 1, pvt.day, pvt.hour, pvt.min, pvt.sec) / 1000 + pvt.nano_ns / 1e9
}

/**
 * The accuracy is unknown then: infinite.
 * @param statusFix the fix as NAV-STATUS reports it: a base in fixed mode is an ordinary fix for NMEA
 */
function fixOfGga(gga: Gga, statusFix: GpsFix | undefined, now_ms: number): ReceiverFix {
  const { lat, lon, altMsl_m, quality } = gga
  const fix = statusFix ?? ggaFixes[quality] ?? 'none'
  const geoidSeparation_m = gga.geoidSeparation_m ?? 0
  const valid = fix !== 'none' && lat !== undefined && lon !== undefined && altMsl_m !== undefined
  return {
    t: 0,
    fix: valid ? fix : 'none',
    ok: valid,
    ...(valid ? placeAt(lat, lon, altMsl_m + geoidSeparation_m, Number.POSITIVE_INFINITY) : nowhere),
    geoidSeparation_m,
    satellitesUsed: gga.satellitesUsed ?? 0,
    corrected: quality === 2 || quality === 4 || quality === 5,
    arrival_ms: now_ms,
  }
}
