/** UBX-MON, -SEC, -RXM, -ACK and -CFG-RST messages. CFG-VALSET, -VALGET and -VALDEL have a codec of their own: config.ts. */
import { bits, flag, int, readText, text } from './fields.js'
import { decode, encode, layout } from './layout.js'

export const monVer = layout({
  name: 'MON-VER',
  cls: 0x0a,
  id: 0x04,
  length: 40,
  fields: { swVersion: text(0, 30), hwVersion: text(30, 10) },
  group: { at: 40, size: 30, fields: { extension: text(0, 30) } },
})

/** Antenna bytes of older firmware; gone on the X20P. */
export const monHw = layout({
  name: 'MON-HW',
  cls: 0x0a,
  id: 0x09,
  length: 60,
  fields: {
    noisePerMs: int('u2', 16),
    agcCnt: int('u2', 18),
    antStatus: int('u1', 20),
    antPower: int('u1', 21),
    jammingState: bits('u1', 22, 2, 2),
    jamInd: int('u1', 45),
  },
})

export const monComms = layout({
  name: 'MON-COMMS',
  cls: 0x0a,
  id: 0x36,
  length: 8,
  fields: { version: int('u1', 0), nPorts: int('u1', 1), txErrors: int('u1', 2) },
  group: {
    at: 8,
    size: 40,
    count: 'nPorts',
    fields: {
      /** 0x0000 I2C, 0x0100 UART1, 0x0201 UART2 (0x0200 on the X20P), 0x0300 USB, 0x0400 SPI. */
      portId: int('u2', 0),
      txPending: int('u2', 2),
      txBytes: int('u4', 4),
      txUsage_pct: int('u1', 8),
      txPeakUsage_pct: int('u1', 9),
      rxPending: int('u2', 10),
      rxBytes: int('u4', 12),
      rxUsage_pct: int('u1', 16),
      rxPeakUsage_pct: int('u1', 17),
      overrunErrs: int('u2', 18),
      skipped: int('u4', 36),
    },
  },
})

export const monRf = layout({
  name: 'MON-RF',
  cls: 0x0a,
  id: 0x38,
  length: 4,
  fields: { version: int('u1', 0), nBlocks: int('u1', 1) },
  group: {
    at: 4,
    size: 24,
    minSize: 20, // HPS 1.30 sends 20-byte blocks
    count: 'nBlocks',
    fields: {
      blockId: int('u1', 0),
      /** 0 unknown, 1 ok, 2 warning, 3 critical. */
      jammingState: bits('u1', 1, 0, 2),
      antStatus: int('u1', 2),
      antPower: int('u1', 3),
      postStatus: int('u4', 4),
      noisePerMs: int('u2', 12),
      agcCnt: int('u2', 14),
      jamInd: int('u1', 16),
      ofsI: int('i1', 17),
      magI: int('u1', 18),
      ofsQ: int('i1', 19),
      magQ: int('u1', 20),
    },
  },
})

/** Which corrections arrived. Not on the X20P. */
export const rxmRtcm = layout({
  name: 'RXM-RTCM',
  cls: 0x02,
  id: 0x32,
  length: 8,
  fields: {
    version: int('u1', 0, { fallback: 2 }),
    crcFailed: flag('u1', 1, 0),
    /** 0 unknown (older firmware), 1 not used, 2 used. */
    msgUsed: bits('u1', 1, 1, 2),
    subType: int('u2', 2),
    refStation: int('u2', 4),
    msgType: int('u2', 6),
  },
})

/** The successor of RXM-RTCM; cannot be polled. */
export const rxmCor = layout({
  name: 'RXM-COR',
  cls: 0x02,
  id: 0x34,
  length: 12,
  fields: {
    version: int('u1', 0, { fallback: 1 }),
    ebno_db: int('u1', 1, { per: 8 }),
    /** 0 unknown, 1 RTCM3, 2 SPARTN. */
    protocol: bits('u4', 4, 0, 5),
    /** 1 error-free, 2 erroneous. */
    errStatus: bits('u4', 4, 5, 2),
    msgUsed: bits('u4', 4, 7, 2),
    /** RTCM: the station id. */
    correctionId: bits('u4', 4, 9, 16),
    msgTypeValid: flag('u4', 4, 25),
    msgSubTypeValid: flag('u4', 4, 26),
    msgType: int('u2', 8),
    msgSubType: int('u2', 10),
  },
})

const ackFields = { clsId: int('u1', 0), msgId: int('u1', 1) }
export const ackNak = layout({ name: 'ACK-NAK', cls: 0x05, id: 0x00, length: 2, fields: ackFields })
export const ackAck = layout({ name: 'ACK-ACK', cls: 0x05, id: 0x01, length: 2, fields: ackFields })

export const cfgRst = layout({
  name: 'CFG-RST',
  cls: 0x06,
  id: 0x04,
  length: 4,
  fields: {
    /** 0x0000 hot, 0x0001 warm, 0xFFFF cold. */
    navBbrMask: int('u2', 0),
    /** 0 hardware at once, 1 controlled software, 2 GNSS part only, 4 hardware after shutdown, 8 GNSS stop, 9 GNSS start. */
    resetMode: int('u1', 2),
  },
})

const SEC_UNIQID = { name: 'SEC-UNIQID', cls: 0x27, id: 0x03 } as const
const uniqIdHeader = layout({ ...SEC_UNIQID, length: 9, fields: { version: int('u1', 0) } })

/** The unique chip id: 5 bytes in version 1 (F9, M9), 6 in version 2. */
export const secUniqId = {
  ...SEC_UNIQID,
  layout: uniqIdHeader,
  decode(payload: Uint8Array): { version: number; id: string } | undefined {
    const header = decode(uniqIdHeader, payload)
    if (!header) return undefined
    const end = header.version === 1 ? 9 : header.version === 2 ? 10 : payload.length
    if (payload.length < end) return undefined
    return { version: header.version, id: Buffer.from(payload.subarray(4, end)).toString('hex').toUpperCase() }
  },
  encode(version: 1 | 2, id: string): Uint8Array {
    const bytes = Buffer.from(id, 'hex')
    const payload = new Uint8Array(4 + (version === 1 ? 5 : 6))
    payload.set(encode(uniqIdHeader, { version }).subarray(0, 4))
    payload.set(bytes.subarray(0, payload.length - 4), 4)
    return payload
  },
}

const infNames = ['error', 'warning', 'notice', 'test', 'debug'] as const
export const INF_CLASS = 0x04

/** UBX-INF-*: text for a person. */
export function decodeInf(
  id: number,
  payload: Uint8Array,
): { level: (typeof infNames)[number]; text: string } | undefined {
  const level = infNames[id]
  if (!level) return undefined
  return { level, text: readText(new DataView(payload.buffer, payload.byteOffset), 0, payload.length) }
}

export interface Identity {
  /** `ZED-F9P`; '' if the firmware does not report it. */
  module: string
  /** `HPG 1.32` */
  firmware: string
  hardware: string
  software: string
  /** `27.31` */
  protocol: string
  /** `GPS`, `GLO`, `GAL`, `BDS`, `SBAS`, `QZSS`, `NAVIC`, as far as it lists them. */
  constellations: readonly string[]
}

/** An extension such as `GPS;GLO;GAL;BDS`. */
const constellationList = /^(GPS|GLO|GAL|BDS|SBAS|QZSS|IMES|NAVIC)(;[A-Z]+)*$/

/** Reads MON-VER. The extensions come as `FWVER=HPG 1.32`, on old firmware as `PROTVER 14.00`. */
export function decodeIdentity(payload: Uint8Array): Identity | undefined {
  const version = decode(monVer, payload)
  if (!version) return undefined
  const find = (prefix: string): string => {
    for (const { extension } of version.blocks) {
      if (extension.startsWith(prefix))
        return extension
          .slice(prefix.length)
          .replace(/^[= ]+/, '')
          .trim()
    }
    return ''
  }
  const firmware = find('FWVER')
  const protocol = find('PROTVER')
  // The X20P names no module: it is recognised by its protocol and firmware line.
  const x20 = Number.parseFloat(protocol) >= 50 && firmware.startsWith('HPG 2.')
  return {
    module: find('MOD') || (x20 ? 'ZED-X20P' : ''),
    firmware,
    hardware: version.hwVersion.trim(),
    software: version.swVersion.trim(),
    protocol,
    constellations: version.blocks
      .map(({ extension }) => extension.trim())
      .filter((extension) => constellationList.test(extension))
      .flatMap((extension) => extension.split(';')),
  }
}
