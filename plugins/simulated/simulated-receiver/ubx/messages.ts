/**
 * The messages that the simulated receiver sends, as tables: u-blox F9 HPG 1.32 interface description, chapter UBX protocol, names of the
 * fields as there. They are written for themselves: the driver (`gnss-zed`) has its own, and a test holds one against the other.
 */
import type { Message } from './wire.js'

const pvt = [
  ['iTOW', 0, 'U4'],
  ['year', 4, 'U2'],
  ['month', 6, 'U1'],
  ['day', 7, 'U1'],
  ['hour', 8, 'U1'],
  ['min', 9, 'U1'],
  ['sec', 10, 'U1'],
  ['validDate', 11, 'X1', 0],
  ['validTime', 11, 'X1', 1],
  ['fullyResolved', 11, 'X1', 2],
  ['tAcc', 12, 'U4'],
  ['nano', 16, 'I4'],
  ['fixType', 20, 'U1'],
  ['gnssFixOK', 21, 'X1', 0],
  ['diffSoln', 21, 'X1', 1],
  ['carrSoln', 21, 'X1', 6],
  ['confirmedAvai', 22, 'X1', 5],
  ['confirmedDate', 22, 'X1', 6],
  ['confirmedTime', 22, 'X1', 7],
  ['numSV', 23, 'U1'],
  ['lon', 24, 'I4', 1e7],
  ['lat', 28, 'I4', 1e7],
  ['height', 32, 'I4', 1e3],
  ['hMSL', 36, 'I4', 1e3],
  ['hAcc', 40, 'U4', 1e3],
  ['vAcc', 44, 'U4', 1e3],
  ['sAcc', 68, 'U4', 1e3],
  ['headAcc', 72, 'U4', 1e5],
  ['pDOP', 76, 'U2', 100],
  ['invalidLlh', 78, 'X2', 0],
  ['lastCorrectionAge', 78, 'X2', 1],
] as const

const ack = [
  ['clsID', 0, 'U1'],
  ['msgID', 1, 'U1'],
] as const

export const messages = {
  'NAV-STATUS': {
    is: [0x01, 0x03],
    size: 16,
    fields: [
      ['iTOW', 0, 'U4'],
      ['gpsFix', 4, 'U1'],
      ['gpsFixOk', 5, 'X1', 0],
      ['diffSoln', 5, 'X1', 1],
      ['wknSet', 5, 'X1', 2],
      ['towSet', 5, 'X1', 3],
      ['spoofDetState', 7, 'X1', 3],
      ['carrSoln', 7, 'X1', 6],
      ['ttff', 8, 'U4'],
      ['msss', 12, 'U4'],
    ],
  },
  'NAV-PVT': { is: [0x01, 0x07], size: 92, fields: pvt },
  'NAV2-PVT': { is: [0x29, 0x07], size: 92, fields: pvt },
  'NAV-HPPOSECEF': {
    is: [0x01, 0x13],
    size: 28,
    fields: [
      ['iTOW', 4, 'U4'],
      ['ecefX', 8, 'I4'],
      ['ecefY', 12, 'I4'],
      ['ecefZ', 16, 'I4'],
      ['ecefXHp', 20, 'I1'],
      ['ecefYHp', 21, 'I1'],
      ['ecefZHp', 22, 'I1'],
      ['invalidEcef', 23, 'X1', 0],
      ['pAcc', 24, 'U4', 1e4],
    ],
  },
  'NAV-HPPOSLLH': {
    is: [0x01, 0x14],
    size: 36,
    fields: [
      ['invalidLlh', 3, 'X1', 0],
      ['iTOW', 4, 'U4'],
      ['lon', 8, 'I4'],
      ['lat', 12, 'I4'],
      ['height', 16, 'I4'],
      ['hMSL', 20, 'I4'],
      ['lonHp', 24, 'I1'],
      ['latHp', 25, 'I1'],
      ['heightHp', 26, 'I1'],
      ['hMSLHp', 27, 'I1'],
      ['hAcc', 28, 'U4', 1e4],
      ['vAcc', 32, 'U4', 1e4],
    ],
  },
  'NAV-TIMEGPS': {
    is: [0x01, 0x20],
    size: 16,
    fields: [
      ['iTOW', 0, 'U4'],
      ['week', 8, 'I2'],
      ['leapS', 10, 'I1'],
      ['towValid', 11, 'X1', 0],
      ['weekValid', 11, 'X1', 1],
      ['leapSValid', 11, 'X1', 2],
      ['tAcc', 12, 'U4'],
    ],
  },
  'NAV-TIMELS': {
    is: [0x01, 0x26],
    size: 24,
    fields: [
      ['iTOW', 0, 'U4'],
      ['currLs', 9, 'I1'],
      ['validCurrLs', 23, 'X1', 0],
    ],
  },
  'NAV-SAT': {
    is: [0x01, 0x35],
    size: 8,
    fields: [
      ['iTOW', 0, 'U4'],
      ['version', 4, 'U1'],
    ],
    blocks: {
      size: 12,
      countAt: 5,
      fields: [
        ['gnssId', 0, 'U1'],
        ['svId', 1, 'U1'],
        ['cno', 2, 'U1'],
        ['elev', 3, 'I1'],
        ['azim', 4, 'I2'],
        ['prRes', 6, 'I2', 10],
        ['qualityInd', 8, 'X4', 0],
        ['svUsed', 8, 'X4', 3],
        ['health', 8, 'X4', 4],
        ['orbitSource', 8, 'X4', 8],
        ['ephAvail', 8, 'X4', 11],
        ['rtcmCorrUsed', 8, 'X4', 17],
      ],
    },
  },
  'NAV-SVIN': {
    is: [0x01, 0x3b],
    size: 40,
    fields: [
      ['iTOW', 4, 'U4'],
      ['dur', 8, 'U4'],
      ['meanX', 12, 'I4'],
      ['meanY', 16, 'I4'],
      ['meanZ', 20, 'I4'],
      ['meanXHP', 24, 'I1'],
      ['meanYHP', 25, 'I1'],
      ['meanZHP', 26, 'I1'],
      ['meanAcc', 28, 'U4', 1e4],
      ['obs', 32, 'U4'],
      ['valid', 36, 'U1'],
      ['active', 37, 'U1'],
    ],
  },
  'NAV-SIG': {
    is: [0x01, 0x43],
    size: 8,
    fields: [['iTOW', 0, 'U4']],
    blocks: {
      size: 16,
      countAt: 5,
      fields: [
        ['gnssId', 0, 'U1'],
        ['svId', 1, 'U1'],
        ['sigId', 2, 'U1'],
        ['prRes', 4, 'I2', 10],
        ['cno', 6, 'U1'],
        ['qualityInd', 7, 'U1'],
        ['prUsed', 10, 'X2', 3],
        ['crUsed', 10, 'X2', 4],
      ],
    },
  },
  'NAV-EOE': { is: [0x01, 0x61], size: 4, fields: [['iTOW', 0, 'U4']] },
  'RXM-RTCM': {
    is: [0x02, 0x32],
    size: 8,
    fields: [
      ['version', 0, 'U1'],
      ['msgUsed', 1, 'X1', 1],
      ['refStation', 4, 'U2'],
      ['msgType', 6, 'U2'],
    ],
  },
  // The X20P has this one instead.
  'RXM-COR': {
    is: [0x02, 0x34],
    size: 12,
    fields: [
      ['version', 0, 'U1'],
      ['protocol', 4, 'X4', 0],
      ['errStatus', 4, 'X4', 5],
      ['msgUsed', 4, 'X4', 7],
      ['correctionId', 4, 'X4', 9],
      ['msgTypeValid', 4, 'X4', 25],
      ['msgType', 8, 'U2'],
    ],
  },
  'ACK-NAK': { is: [0x05, 0x00], size: 2, fields: ack },
  'ACK-ACK': { is: [0x05, 0x01], size: 2, fields: ack },
  'MON-HW': {
    is: [0x0a, 0x09],
    size: 60,
    fields: [
      ['noisePerMS', 16, 'U2'],
      ['agcCnt', 18, 'U2'],
      ['aStatus', 20, 'U1'],
      ['aPower', 21, 'U1'],
      ['jammingState', 22, 'X1', 2],
      ['jamInd', 45, 'U1'],
    ],
  },
  'MON-COMMS': {
    is: [0x0a, 0x36],
    size: 8,
    fields: [],
    blocks: {
      size: 40,
      countAt: 1,
      fields: [
        ['portId', 0, 'U2'],
        ['txBytes', 4, 'U4'],
        ['rxBytes', 12, 'U4'],
      ],
    },
  },
  'MON-RF': {
    is: [0x0a, 0x38],
    size: 4,
    fields: [],
    blocks: {
      size: 24,
      countAt: 1,
      fields: [
        ['blockId', 0, 'U1'],
        ['jammingState', 1, 'X1', 0],
        ['antStatus', 2, 'U1'],
        ['antPower', 3, 'U1'],
        ['noisePerMS', 12, 'U2'],
        ['agcCnt', 14, 'U2'],
        ['jamInd', 16, 'U1'],
        ['ofsI', 17, 'I1'],
        ['magI', 18, 'U1'],
        ['ofsQ', 19, 'I1'],
        ['magQ', 20, 'U1'],
      ],
    },
  },
} as const satisfies Record<string, Message>
export type MessageName = keyof typeof messages

/** MON-VER: 30 bytes of software, 10 of hardware, 30 for each extension. */
export const monVer = [0x0a, 0x04] as const
export function monVerPayload(software: string, hardware: string, extensions: readonly string[]): Uint8Array {
  const padded = (text: string, size: number) => Buffer.from(text.padEnd(size, '\0'), 'latin1')
  return Buffer.concat([padded(software, 30), padded(hardware, 10), ...extensions.map((text) => padded(text, 30))])
}

/** SEC-UNIQID, version 1: five bytes from byte 4 on. */
export const secUniqId = [0x27, 0x03] as const
export const uniqIdPayload = (id: string): Uint8Array =>
  Buffer.concat([Uint8Array.of(1, 0, 0, 0), Buffer.from(id, 'hex')])

/** INF-WARNING: text. */
export const infWarning = [0x04, 0x01] as const
