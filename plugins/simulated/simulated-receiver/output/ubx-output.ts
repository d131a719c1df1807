/** The UBX and NMEA messages of one epoch, made of the model and the solution. */
import { ecefToGeodetic, encodeNmea, knownLeap_s } from 'rtk-base/gnss'
import type { AntennaState, Band, Epoch } from 'rtk-base/simulation'
import type { Solution, SurveyIn } from '../solution.js'
import type { Output } from '../ubx/keys.js'
import { type MessageName, messages } from '../ubx/messages.js'
import { parts, type Values, write } from '../ubx/wire.js'

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
/** u-blox numbers: of the constellation, and of the two signals that the simulated sky has of it. */
const gnss: Readonly<Record<string, { id: number; signals: readonly number[] }>> = {
  GPS: { id: 0, signals: [0, 3] },
  Galileo: { id: 2, signals: [0, 5] },
  BeiDou: { id: 3, signals: [0, 2] },
  GLONASS: { id: 6, signals: [0, 2] },
}
const antennaCode = { ok: 2, short: 3, open: 4 } as const

/** The messages that are made of an epoch. */
type Made = Exclude<MessageName, 'RXM-RTCM' | 'RXM-COR' | 'ACK-ACK' | 'ACK-NAK' | 'MON-COMMS'> | 'GGA'

/** Messages in the order in which an epoch sends them; NAV-EOE is last. */
const builders: Record<Made, Builder> = {
  'NAV-STATUS': ({ epoch, solution, msss_ms, ttff_ms, spoofing }) =>
    write(messages['NAV-STATUS'], {
      iTOW: epoch.tow_ms,
      gpsFix: solution.fixType,
      gpsFixOk: solution.fixType > 0,
      diffSoln: solution.corrected,
      wknSet: solution.resolved,
      towSet: solution.resolved,
      carrSoln: carrierCode[solution.carrier],
      spoofDetState: spoofing,
      ttff: ttff_ms,
      msss: msss_ms,
    }),
  'NAV-PVT': (now) => write(messages['NAV-PVT'], pvtValues(now)),
  'NAV2-PVT': nav2Pvt,
  'NAV-HPPOSECEF': ({ epoch, solution }) =>
    write(messages['NAV-HPPOSECEF'], {
      iTOW: epoch.tow_ms,
      ...fine(['ecefX', 'ecefXHp'], solution.position.x, 1e4, 100),
      ...fine(['ecefY', 'ecefYHp'], solution.position.y, 1e4, 100),
      ...fine(['ecefZ', 'ecefZHp'], solution.position.z, 1e4, 100),
      invalidEcef: solution.fixType === 0,
      pAcc: Math.hypot(solution.hAcc_m, solution.vAcc_m),
    }),
  'NAV-HPPOSLLH': ({ epoch, solution, geoidSeparation_m }) => {
    const { lat, lon, alt } = ecefToGeodetic(solution.position)
    return write(messages['NAV-HPPOSLLH'], {
      iTOW: epoch.tow_ms,
      invalidLlh: solution.fixType === 0,
      ...fine(['lat', 'latHp'], lat, 1e9, 100),
      ...fine(['lon', 'lonHp'], lon, 1e9, 100),
      ...fine(['height', 'heightHp'], alt, 1e4, 10),
      ...fine(['hMSL', 'hMSLHp'], alt - geoidSeparation_m, 1e4, 10),
      hAcc: solution.hAcc_m,
      vAcc: solution.vAcc_m,
    })
  },
  'NAV-TIMEGPS': ({ epoch, solution: { resolved } }) =>
    write(messages['NAV-TIMEGPS'], {
      iTOW: epoch.tow_ms,
      week: epoch.week,
      leapS: knownLeap_s,
      towValid: resolved,
      weekValid: resolved,
      leapSValid: resolved,
      tAcc: 20,
    }),
  'NAV-TIMELS': ({ epoch, solution: { resolved } }) =>
    write(messages['NAV-TIMELS'], { iTOW: epoch.tow_ms, currLs: knownLeap_s, validCurrLs: resolved }),
  'NAV-SAT': navSat,
  'NAV-SIG': navSig,
  'NAV-SVIN': ({ epoch, survey }) =>
    write(messages['NAV-SVIN'], {
      iTOW: epoch.tow_ms,
      dur: survey.dur_s,
      ...fine(['meanX', 'meanXHP'], survey.mean.x, 1e4, 100),
      ...fine(['meanY', 'meanYHP'], survey.mean.y, 1e4, 100),
      ...fine(['meanZ', 'meanZHP'], survey.mean.z, 1e4, 100),
      meanAcc: survey.meanAcc_m,
      obs: survey.obs,
      valid: survey.valid,
      active: survey.active,
    }),
  GGA: nmeaGga,
  'MON-HW': (now) => {
    const { antenna } = now
    return write(messages['MON-HW'], {
      ...radioValues(now, 'L1'),
      aStatus: antennaCode[antenna],
      aPower: antenna === 'short' ? 0 : 1,
    })
  },
  'MON-RF': monRf,
  'NAV-EOE': ({ epoch }) => write(messages['NAV-EOE'], { iTOW: epoch.tow_ms }),
}

/** The messages of one epoch that are due. */
export function ubxMessages(now: ReceiverEpoch, due: (message: Output) => boolean): Uint8Array[] {
  const frames: Uint8Array[] = []
  for (const message of Object.keys(builders) as Made[]) {
    const frame = due(message) ? builders[message](now) : undefined
    if (frame) frames.push(frame)
  }
  return frames
}

/** The answer to a poll of one of these; undefined when there is none. */
export function ubxMessage(cls: number, id: number, now: ReceiverEpoch): Uint8Array | undefined {
  const name = (Object.keys(builders) as Made[]).find(
    (one) => one !== 'GGA' && messages[one].is[0] === cls && messages[one].is[1] === id,
  )
  return name === undefined || name === 'NAV-EOE' ? undefined : builders[name](now)
}

/** The two fields of a high-precision number. */
function fine<A extends string, B extends string>(
  [coarse, rest]: readonly [A, B],
  value: number,
  steps: number,
  ratio: number,
) {
  const [whole, left] = parts(value, steps, ratio)
  return { [coarse]: whole, [rest]: left } as { [K in A | B]: number }
}

/** The solution that knows nothing of the time mode, nor of corrections. */
function nav2Pvt(now: ReceiverEpoch): Uint8Array | undefined {
  if (!now.nav2) return undefined
  const { solution } = now
  const { position, hAcc_m, vAcc_m } = solution.own
  const { lat, lon, alt } = ecefToGeodetic(position)
  return write(messages['NAV2-PVT'], {
    ...pvtValues(now),
    fixType: solution.fixType > 0 ? 3 : 0,
    diffSoln: false,
    carrSoln: 0,
    lat,
    lon,
    height: alt,
    hMSL: alt - now.geoidSeparation_m,
    hAcc: hAcc_m,
    vAcc: vAcc_m,
    pDOP: solution.fixType > 0 ? 1.2 : 99.99,
    lastCorrectionAge: 0,
  })
}

function pvtValues({
  epoch,
  solution,
  geoidSeparation_m,
}: ReceiverEpoch): Values<(typeof messages)['NAV-PVT']['fields']> {
  const utc = new Date(Math.round(epoch.utc_ms))
  const { lat, lon, alt } = ecefToGeodetic(solution.position)
  const { resolved, fixType } = solution
  return {
    iTOW: epoch.tow_ms,
    year: utc.getUTCFullYear(),
    month: utc.getUTCMonth() + 1,
    day: utc.getUTCDate(),
    hour: utc.getUTCHours(),
    min: utc.getUTCMinutes(),
    sec: utc.getUTCSeconds(),
    nano: utc.getUTCMilliseconds() * 1e6,
    validDate: resolved,
    validTime: resolved,
    fullyResolved: resolved,
    confirmedAvai: true,
    confirmedDate: resolved,
    confirmedTime: resolved,
    tAcc: resolved ? 20 : 4e9,
    fixType,
    gnssFixOK: fixType > 0,
    diffSoln: solution.corrected,
    carrSoln: carrierCode[solution.carrier],
    numSV: solution.used.length,
    lat,
    lon,
    height: alt,
    hMSL: alt - geoidSeparation_m,
    hAcc: solution.hAcc_m,
    vAcc: solution.vAcc_m,
    sAcc: 0.05,
    headAcc: 180,
    pDOP: solution.pDOP,
    invalidLlh: fixType === 0,
    lastCorrectionAge: solution.corrected ? 2 : 0,
  }
}

function navSat({ epoch, solution }: ReceiverEpoch): Uint8Array {
  const tracks = new Map(epoch.tracks.map((track) => [track.sight.key, track]))
  const used = new Set(solution.used.map(({ sight }) => sight.key))
  return write(
    messages['NAV-SAT'],
    { iTOW: epoch.tow_ms, version: 1 },
    epoch.sky.map((sight) => {
      const track = tracks.get(sight.key)
      return {
        gnssId: gnss[sight.constellation.name].id,
        svId: sight.svId,
        cno: track?.cno_dbhz ?? 0,
        elev: sight.elevation_deg,
        azim: sight.azimuth_deg,
        prRes: solution.residuals.get(sight.key) ?? 0,
        qualityInd: track ? (track.lock_s > 1 ? 7 : 4) : 1,
        svUsed: used.has(sight.key),
        health: 1,
        orbitSource: 1,
        ephAvail: true,
        rtcmCorrUsed: solution.corrected && used.has(sight.key),
      }
    }),
  )
}

function navSig({ epoch, solution }: ReceiverEpoch): Uint8Array {
  const used = new Set(solution.used.map(({ sight }) => sight.key))
  return write(
    messages['NAV-SIG'],
    { iTOW: epoch.tow_ms },
    epoch.tracks.flatMap(({ sight, signals }) =>
      signals.map(({ cno_dbhz, lock_s }, i) => ({
        gnssId: gnss[sight.constellation.name].id,
        svId: sight.svId,
        sigId: gnss[sight.constellation.name].signals[i],
        cno: cno_dbhz,
        prRes: (solution.residuals.get(sight.key) ?? 0) * (i === 0 ? 1 : 0.6),
        qualityInd: lock_s > 1 ? 7 : 4,
        prUsed: used.has(sight.key),
        crUsed: used.has(sight.key) && solution.carrier !== 'none',
      })),
    ),
  )
}

/** Effect of interference on the input of a band: lower gain, more noise, a CW indication. */
function radioValues({ antenna, jam_db, watchesInterference, epoch }: ReceiverEpoch, band: Band) {
  const loss_db = jam_db[band]
  const isConnected = antenna === 'ok'
  const quiet = { agcCnt: isConnected ? 5200 : 7900, noisePerMS: isConnected ? 85 : 40 }
  return {
    // The maker's own names: at a warning the fix is still there, at a critical level it is not.
    jammingState: watchesInterference ? (loss_db > 15 ? 3 : loss_db > 3 ? 2 : 1) : 0,
    agcCnt: Math.max(500, quiet.agcCnt - loss_db * 120 + (epoch.tow_ms % 7)),
    noisePerMS: quiet.noisePerMS + loss_db * 3,
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
  return write(messages['MON-RF'], {}, [block('L1', 0), block('L2', 1)])
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
