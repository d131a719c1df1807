/** The UBX and NMEA messages of one epoch, made of the model and the solution. */
import { ecefToGeodetic, encodeNmea, knownLeap_s } from 'rtk-base/gnss'
import * as ubx from '../../ubx/index.js'
import type { AntennaState, Band, Epoch } from '../physics/model.js'
import type { Solution, SurveyIn } from '../physics/solution.js'

/** Everything that is true of the receiver in this epoch. */
export interface ReceiverEpoch {
  readonly epoch: Epoch
  readonly solution: Solution
  readonly survey: SurveyIn
  /** Since start or reset. */
  readonly msss_ms: number
  /** Start to first fix; 0 before it. */
  readonly ttff_ms: number
  readonly geoidSeparation_m: number
  /** The second solution is on. */
  readonly nav2: boolean
  readonly antenna: AntennaState
  readonly jam_db: Readonly<Record<Band, number>>
  /** Interference is watched (CFG-ITFM). */
  readonly watchesInterference: boolean
  /** As NAV-STATUS.spoofDetState. */
  readonly spoofing: number
}

/** Undefined: there is none now. */
type Builder = (now: ReceiverEpoch) => Uint8Array | undefined

const carrierCode = { none: 0, float: 1, fixed: 2 } as const
const antennaCode = { ok: 2, short: 3, open: 4 } as const

/** In the order in which an epoch sends them; NAV-EOE is last. */
const builders: Partial<Record<ubx.OutputMessage, Builder>> = {
  'NAV-STATUS': ({ epoch, solution, msss_ms, ttff_ms, spoofing }) =>
    ubx.encodeFrame(ubx.navStatus, {
      iTOW_ms: epoch.tow_ms,
      gpsFix: solution.fixType,
      gpsFixOk: solution.fixType > 0,
      diffSoln: solution.corrected,
      wknSet: solution.resolved,
      towSet: solution.resolved,
      carrSoln: carrierCode[solution.carrier],
      spoofDetState: spoofing,
      ttff_ms,
      msss_ms,
    }),
  'NAV-PVT': (now) => ubx.encodeFrame(ubx.navPvt, pvtValues(now)),
  'NAV2-PVT': nav2Pvt,
  'NAV-HPPOSECEF': ({ epoch, solution }) =>
    ubx.encodeFrame(ubx.navHpPosEcef, {
      iTOW_ms: epoch.tow_ms,
      x_m: solution.position.x,
      y_m: solution.position.y,
      z_m: solution.position.z,
      invalidEcef: solution.fixType === 0,
      pAcc_m: Math.hypot(solution.hAcc_m, solution.vAcc_m),
    }),
  'NAV-HPPOSLLH': ({ epoch, solution, geoidSeparation_m }) => {
    const { lat, lon, alt } = ecefToGeodetic(solution.position)
    return ubx.encodeFrame(ubx.navHpPosLlh, {
      iTOW_ms: epoch.tow_ms,
      invalidLlh: solution.fixType === 0,
      lat_deg: lat,
      lon_deg: lon,
      height_m: alt,
      hMSL_m: alt - geoidSeparation_m,
      hAcc_m: solution.hAcc_m,
      vAcc_m: solution.vAcc_m,
    })
  },
  'NAV-TIMEGPS': ({ epoch, solution: { resolved } }) =>
    ubx.encodeFrame(ubx.navTimeGps, {
      iTOW_ms: epoch.tow_ms,
      week: epoch.week,
      leapS: knownLeap_s,
      towValid: resolved,
      weekValid: resolved,
      leapSValid: resolved,
      tAcc_ns: 20,
    }),
  'NAV-TIMELS': ({ epoch, solution: { resolved } }) =>
    ubx.encodeFrame(ubx.navTimeLs, { iTOW_ms: epoch.tow_ms, currLs: knownLeap_s, validCurrLs: resolved }),
  'NAV-SAT': navSat,
  'NAV-SIG': navSig,
  'NAV-SVIN': ({ epoch, survey }) =>
    ubx.encodeFrame(ubx.navSvin, {
      iTOW_ms: epoch.tow_ms,
      dur_s: survey.dur_s,
      x_m: survey.mean.x,
      y_m: survey.mean.y,
      z_m: survey.mean.z,
      meanAcc_m: survey.meanAcc_m,
      obs: survey.obs,
      valid: survey.valid,
      active: survey.active,
    }),
  GGA: nmeaGga,
  'MON-HW': (now) => {
    const { noisePerMs, agcCnt, jamInd, jammingState } = radioValues(now, 'L1')
    const { antenna } = now
    return ubx.encodeFrame(ubx.monHw, {
      noisePerMs,
      agcCnt,
      jamInd,
      jammingState,
      antStatus: antennaCode[antenna],
      antPower: antenna === 'short' ? 0 : 1,
    })
  },
  'MON-RF': monRf,
  'NAV-EOE': ({ epoch }) => ubx.encodeFrame(ubx.navEoe, { iTOW_ms: epoch.tow_ms }),
}

/** The messages of one epoch that are due. */
export function ubxMessages(now: ReceiverEpoch, due: (message: ubx.OutputMessage) => boolean): Uint8Array[] {
  const frames: Uint8Array[] = []
  for (const message of Object.keys(builders) as ubx.OutputMessage[]) {
    const frame = due(message) ? builders[message]?.(now) : undefined
    if (frame) frames.push(frame)
  }
  return frames
}

/** The answer to a poll of one of these; undefined when there is none. */
export function ubxMessage(cls: number, id: number, now: ReceiverEpoch): Uint8Array | undefined {
  const layout = pollable.find((candidate) => candidate.cls === cls && candidate.id === id)
  return layout && builders[layout.name as ubx.OutputMessage]?.(now)
}
const pollable: ubx.Layout[] = [
  ubx.navStatus,
  ubx.navPvt,
  ubx.nav2Pvt,
  ubx.navHpPosEcef,
  ubx.navHpPosLlh,
  ubx.navTimeGps,
  ubx.navTimeLs,
  ubx.navSat,
  ubx.navSig,
  ubx.navSvin,
  ubx.monHw,
  ubx.monRf,
]

/** The solution that knows nothing of the time mode, nor of corrections. */
function nav2Pvt(now: ReceiverEpoch): Uint8Array | undefined {
  if (!now.nav2) return undefined
  const { solution } = now
  const { position, hAcc_m, vAcc_m } = solution.own
  const { lat, lon, alt } = ecefToGeodetic(position)
  return ubx.encodeFrame(ubx.nav2Pvt, {
    ...pvtValues(now),
    fixType: solution.fixType > 0 ? 3 : 0,
    diffSoln: false,
    carrSoln: 0,
    lat_deg: lat,
    lon_deg: lon,
    height_m: alt,
    hMSL_m: alt - now.geoidSeparation_m,
    hAcc_m,
    vAcc_m,
    pDOP: solution.fixType > 0 ? 1.2 : 99.99,
    lastCorrectionAge: 0,
  })
}

function pvtValues({ epoch, solution, geoidSeparation_m }: ReceiverEpoch): ubx.Encodable<typeof ubx.navPvt> {
  const utc = new Date(Math.round(epoch.utc_ms))
  const { lat, lon, alt } = ecefToGeodetic(solution.position)
  const { resolved, fixType } = solution
  return {
    iTOW_ms: epoch.tow_ms,
    year: utc.getUTCFullYear(),
    month: utc.getUTCMonth() + 1,
    day: utc.getUTCDate(),
    hour: utc.getUTCHours(),
    min: utc.getUTCMinutes(),
    sec: utc.getUTCSeconds(),
    nano_ns: utc.getUTCMilliseconds() * 1e6,
    validDate: resolved,
    validTime: resolved,
    fullyResolved: resolved,
    confirmedAvai: true,
    confirmedDate: resolved,
    confirmedTime: resolved,
    tAcc_ns: resolved ? 20 : 4e9,
    fixType,
    gnssFixOK: fixType > 0,
    diffSoln: solution.corrected,
    carrSoln: carrierCode[solution.carrier],
    numSV: solution.used.length,
    lat_deg: lat,
    lon_deg: lon,
    height_m: alt,
    hMSL_m: alt - geoidSeparation_m,
    hAcc_m: solution.hAcc_m,
    vAcc_m: solution.vAcc_m,
    sAcc_mps: 0.05,
    headAcc_deg: 180,
    pDOP: solution.pDOP,
    invalidLlh: fixType === 0,
    lastCorrectionAge: solution.corrected ? 2 : 0,
  }
}

function navSat({ epoch, solution }: ReceiverEpoch): Uint8Array {
  const tracks = new Map(epoch.tracks.map((track) => [track.sight.key, track]))
  const used = new Set(solution.used.map(({ sight }) => sight.key))
  return ubx.encodeFrame(ubx.navSat, {
    iTOW_ms: epoch.tow_ms,
    blocks: epoch.sky.map((sight) => {
      const track = tracks.get(sight.key)
      return {
        gnssId: sight.constellation.gnssId,
        svId: sight.svId,
        cno_dbhz: track?.cno_dbhz ?? 0,
        elev_deg: sight.elevation_deg,
        azim_deg: sight.azimuth_deg,
        prRes_m: solution.residuals.get(sight.key) ?? 0,
        quality: track ? (track.lock_s > 1 ? 7 : 4) : 1,
        used: used.has(sight.key),
        health: 1,
        orbitSource: 1,
        ephAvail: true,
        rtcmCorrUsed: solution.corrected && used.has(sight.key),
      }
    }),
  })
}

function navSig({ epoch, solution }: ReceiverEpoch): Uint8Array {
  const used = new Set(solution.used.map(({ sight }) => sight.key))
  return ubx.encodeFrame(ubx.navSig, {
    iTOW_ms: epoch.tow_ms,
    blocks: epoch.tracks.flatMap(({ sight, signals }) =>
      signals.map(({ cno_dbhz, lock_s }, i) => ({
        gnssId: sight.constellation.gnssId,
        svId: sight.svId,
        sigId: sight.constellation.signals[i].ubx,
        cno_dbhz,
        prRes_m: (solution.residuals.get(sight.key) ?? 0) * (i === 0 ? 1 : 0.6),
        quality: lock_s > 1 ? 7 : 4,
        prUsed: used.has(sight.key),
        crUsed: used.has(sight.key) && solution.carrier !== 'none',
      })),
    ),
  })
}

/** What interference does to the input of a band: the gain goes down, the noise up, and a tone shows in the indicator. */
function radioValues({ antenna, jam_db, watchesInterference, epoch }: ReceiverEpoch, band: Band) {
  const loss_db = jam_db[band]
  const isConnected = antenna === 'ok'
  const quiet = { agcCnt: isConnected ? 5200 : 7900, noisePerMs: isConnected ? 85 : 40 }
  return {
    // The maker's own names: at a warning the fix is still there, at a critical level it is not.
    jammingState: watchesInterference ? (loss_db > 15 ? 3 : loss_db > 3 ? 2 : 1) : 0,
    agcCnt: Math.max(500, quiet.agcCnt - loss_db * 120 + (epoch.tow_ms % 7)),
    noisePerMs: quiet.noisePerMs + loss_db * 3,
    jamInd: Math.min(255, 8 + loss_db * 7),
  }
}

function monRf(now: ReceiverEpoch): Uint8Array {
  const { antenna } = now
  const block = (band: Band, blockId: number) => ({
    blockId,
    ...radioValues(now, band),
    antStatus: antennaCode[antenna],
    // The supervisor switches the power of a short circuit off.
    antPower: antenna === 'short' ? 0 : 1,
    ofsI: 12,
    magI: 156,
    ofsQ: 9,
    magQ: 150,
  })
  return ubx.encodeFrame(ubx.monRf, { blocks: [block('L1', 0), block('L2', 1)] })
}

const ggaQuality = (solution: Solution): number => {
  if (solution.fixType === 0) return 0
  if (solution.carrier === 'fixed') return 4
  if (solution.carrier === 'float') return 5
  return solution.corrected ? 2 : 1
}

function nmeaGga({ epoch, solution, geoidSeparation_m }: ReceiverEpoch): Uint8Array {
  const { lat, lon, alt } = ecefToGeodetic(solution.position)
  const angle = (value: number, digits: number) => {
    const tenMillionths = Math.round(Math.abs(value) * 60 * 1e7)
    const degrees = Math.floor(tenMillionths / 60e7)
    return `${String(degrees).padStart(digits, '0')}${((tenMillionths - degrees * 60e7) / 1e7).toFixed(7).padStart(10, '0')}`
  }
  const time = new Date(epoch.utc_ms).toISOString().slice(11, 22).replaceAll(':', '')
  const fields = [
    'GNGGA',
    time,
    angle(lat, 2),
    lat < 0 ? 'S' : 'N',
    angle(lon, 3),
    lon < 0 ? 'W' : 'E',
    ggaQuality(solution),
    String(solution.used.length).padStart(2, '0'),
    solution.pDOP.toFixed(2),
    (alt - geoidSeparation_m).toFixed(3),
    'M',
    geoidSeparation_m.toFixed(3),
    'M',
    solution.corrected ? '1.0' : '',
    '',
  ]
  return encodeNmea(fields.join(','))
}
