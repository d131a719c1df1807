/** UBX-NAV messages of the ZED-F9P (HPG 1.1x-1.5x). Offsets and scales as in the interface description of that firmware. */
import { bits, flag, highPrecision, int } from './fields.js'
import { layout } from './layout.js'

const NAV = 0x01

/** GPS time of week in ms; the same in all messages of one epoch. */
const iTOW = (at: number) => int('u4', at)

export const navStatus = layout({
  name: 'NAV-STATUS',
  cls: NAV,
  id: 0x03,
  length: 16,
  fields: {
    iTOW_ms: iTOW(0),
    /** As NAV-PVT.fixType. */
    gpsFix: int('u1', 4),
    gpsFixOk: flag('u1', 5, 0),
    diffSoln: flag('u1', 5, 1),
    wknSet: flag('u1', 5, 2),
    towSet: flag('u1', 5, 3),
    /** 0 unknown or off, 1 none, 2 indicated, 3 indicated in several ways. */
    spoofDetState: bits('u1', 7, 3, 2),
    carrSoln: bits('u1', 7, 6, 2),
    /** Start to first fix. */
    ttff_ms: int('u4', 8),
    /** Since start or reset. */
    msss_ms: int('u4', 12),
  },
})

export const navPvt = layout({
  name: 'NAV-PVT',
  cls: NAV,
  id: 0x07,
  length: 92,
  minLength: 84, // protocol 14 ends here
  fields: {
    iTOW_ms: iTOW(0),
    year: int('u2', 4),
    month: int('u1', 6),
    day: int('u1', 7),
    hour: int('u1', 8),
    min: int('u1', 9),
    sec: int('u1', 10),
    validDate: flag('u1', 11, 0),
    validTime: flag('u1', 11, 1),
    fullyResolved: flag('u1', 11, 2),
    tAcc_ns: int('u4', 12),
    /** May be negative: the second was rounded up then. */
    nano_ns: int('i4', 16),
    /** 0 none, 1 dead reckoning, 2 2D, 3 3D, 4 GNSS + dead reckoning, 5 time only (a base in fixed mode). */
    fixType: int('u1', 20),
    gnssFixOK: flag('u1', 21, 0),
    diffSoln: flag('u1', 21, 1),
    /** 0 none, 1 float, 2 fixed. */
    carrSoln: bits('u1', 21, 6, 2),
    confirmedAvai: flag('u1', 22, 5),
    confirmedDate: flag('u1', 22, 6),
    confirmedTime: flag('u1', 22, 7),
    numSV: int('u1', 23),
    lon_deg: int('i4', 24, { per: 1e7 }),
    lat_deg: int('i4', 28, { per: 1e7 }),
    height_m: int('i4', 32, { per: 1e3 }),
    hMSL_m: int('i4', 36, { per: 1e3 }),
    hAcc_m: int('u4', 40, { per: 1e3 }),
    vAcc_m: int('u4', 44, { per: 1e3 }),
    velN_mps: int('i4', 48, { per: 1e3 }),
    velE_mps: int('i4', 52, { per: 1e3 }),
    velD_mps: int('i4', 56, { per: 1e3 }),
    gSpeed_mps: int('i4', 60, { per: 1e3 }),
    headMot_deg: int('i4', 64, { per: 1e5 }),
    sAcc_mps: int('u4', 68, { per: 1e3 }),
    headAcc_deg: int('u4', 72, { per: 1e5 }),
    /** Saturates at 99.99, which it is in fixed mode. */
    pDOP: int('u2', 76, { per: 100 }),
    invalidLlh: flag('u1', 78, 0),
    /** A class, not seconds: 0 none, 1 < 1 s, 2 < 2 s, 3 < 5 s, 4 < 10 s … 12 ≥ 120 s. */
    lastCorrectionAge: bits('u2', 78, 1, 4),
  },
})

/** Second solution, which does not use the time mode's reference. HPG 1.30 and later, not on the X20P. */
export const nav2Pvt = layout({ ...navPvt, name: 'NAV2-PVT', cls: 0x29 })

export const navHpPosEcef = layout({
  name: 'NAV-HPPOSECEF',
  cls: NAV,
  id: 0x13,
  length: 28,
  fields: {
    version: int('u1', 0),
    iTOW_ms: iTOW(4),
    x_m: highPrecision(8, 20, 1e4, 100),
    y_m: highPrecision(12, 21, 1e4, 100),
    z_m: highPrecision(16, 22, 1e4, 100),
    invalidEcef: flag('u1', 23, 0),
    /** 3D, 1 sigma. */
    pAcc_m: int('u4', 24, { per: 1e4 }),
  },
})

export const navHpPosLlh = layout({
  name: 'NAV-HPPOSLLH',
  cls: NAV,
  id: 0x14,
  length: 36,
  fields: {
    version: int('u1', 0),
    invalidLlh: flag('u1', 3, 0),
    iTOW_ms: iTOW(4),
    lon_deg: highPrecision(8, 24, 1e9, 100),
    lat_deg: highPrecision(12, 25, 1e9, 100),
    height_m: highPrecision(16, 26, 1e4, 10),
    hMSL_m: highPrecision(20, 27, 1e4, 10),
    hAcc_m: int('u4', 28, { per: 1e4 }),
    vAcc_m: int('u4', 32, { per: 1e4 }),
  },
})

export const navTimeGps = layout({
  name: 'NAV-TIMEGPS',
  cls: NAV,
  id: 0x20,
  length: 16,
  fields: {
    iTOW_ms: iTOW(0),
    fTOW_ns: int('i4', 4),
    /** Full week number. */
    week: int('i2', 8),
    leapS: int('i1', 10),
    towValid: flag('u1', 11, 0),
    weekValid: flag('u1', 11, 1),
    leapSValid: flag('u1', 11, 2),
    tAcc_ns: int('u4', 12),
  },
})

export const navTimeLs = layout({
  name: 'NAV-TIMELS',
  cls: NAV,
  id: 0x26,
  length: 24,
  fields: {
    iTOW_ms: iTOW(0),
    version: int('u1', 4),
    srcOfCurrLs: int('u1', 8),
    currLs: int('i1', 9),
    srcOfLsChange: int('u1', 10),
    lsChange: int('i1', 11),
    timeToLsEvent_s: int('i4', 12),
    dateOfLsGpsWn: int('u2', 16),
    dateOfLsGpsDn: int('u2', 18),
    validCurrLs: flag('u1', 23, 0),
    validTimeToLsEvent: flag('u1', 23, 1),
  },
})

export const navSat = layout({
  name: 'NAV-SAT',
  cls: NAV,
  id: 0x35,
  length: 8,
  fields: { iTOW_ms: iTOW(0), version: int('u1', 4, { fallback: 1 }), numSvs: int('u1', 5) },
  group: {
    at: 8,
    size: 12,
    count: 'numSvs',
    fields: {
      /** 0 GPS, 1 SBAS, 2 Galileo, 3 BeiDou, 5 QZSS, 6 GLONASS, 7 NavIC. */
      gnssId: int('u1', 0),
      svId: int('u1', 1),
      cno_dbhz: int('u1', 2),
      elev_deg: int('i1', 3),
      azim_deg: int('i2', 4),
      /** Pseudorange residual. */
      prRes_m: int('i2', 6, { per: 10 }),
      /** 0 no signal, 1 searching, 2 acquired, 3 unusable, 4 code locked, 5-7 code and carrier locked. */
      quality: bits('u4', 8, 0, 3),
      used: flag('u4', 8, 3),
      /** 0 unknown, 1 healthy, 2 unhealthy. */
      health: bits('u4', 8, 4, 2),
      diffCorr: flag('u4', 8, 6),
      /** 0 none, 1 ephemeris, 2 almanac, 3 AssistNow offline, 4 AssistNow autonomous. */
      orbitSource: bits('u4', 8, 8, 3),
      ephAvail: flag('u4', 8, 11),
      sbasCorrUsed: flag('u4', 8, 16),
      rtcmCorrUsed: flag('u4', 8, 17),
    },
  },
})

export const navSvin = layout({
  name: 'NAV-SVIN',
  cls: NAV,
  id: 0x3b,
  length: 40,
  fields: {
    version: int('u1', 0),
    iTOW_ms: iTOW(4),
    dur_s: int('u4', 8),
    x_m: highPrecision(12, 24, 1e4, 100),
    y_m: highPrecision(16, 25, 1e4, 100),
    z_m: highPrecision(20, 26, 1e4, 100),
    /** 94868.3264 before any survey. */
    meanAcc_m: int('u4', 28, { per: 1e4 }),
    obs: int('u4', 32),
    valid: flag('u1', 36, 0),
    active: flag('u1', 37, 0),
  },
})

export const navSig = layout({
  name: 'NAV-SIG',
  cls: NAV,
  id: 0x43,
  length: 8,
  fields: { iTOW_ms: iTOW(0), version: int('u1', 4), numSigs: int('u1', 5) },
  group: {
    at: 8,
    size: 16,
    count: 'numSigs',
    fields: {
      gnssId: int('u1', 0),
      svId: int('u1', 1),
      sigId: int('u1', 2),
      freqId: int('u1', 3),
      prRes_m: int('i2', 4, { per: 10 }),
      cno_dbhz: int('u1', 6),
      quality: int('u1', 7),
      /** 0 none, 1 SBAS, 2 BeiDou, 3 RTCM2, 4 RTCM3 observations, 5 RTCM3 state space, 6 QZSS SLAS, 7 SPARTN. */
      corrSource: int('u1', 8),
      prUsed: flag('u2', 10, 3),
      crUsed: flag('u2', 10, 4),
    },
  },
})

/** The last message of a navigation epoch. */
export const navEoe = layout({ name: 'NAV-EOE', cls: NAV, id: 0x61, length: 4, fields: { iTOW_ms: iTOW(0) } })
