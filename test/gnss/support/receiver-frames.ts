/** Frames of Unicore's OBSVM and Septentrio's MeasEpoch, written by the tables of the manuals, independently of the decoders. */

/** Reflected CRC-32 that begins at 0 and is not inverted (Unicore N4 Reference Commands Manual, "CRC"). */
export function unicoreCrc(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return crc >>> 0
}

/** CRC-16 CCITT that begins at 0 (PolaRx5 reference guide, §4.1.1). */
export function sbfCrc(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  }
  return crc & 0xffff
}

export interface ObsvmRow {
  readonly system: number
  readonly signal: number
  readonly prn: number
  readonly channel?: number
  readonly range_m?: number
  readonly adr_cycles?: number
  readonly doppler_hz?: number
  readonly cno_dbhz?: number
  readonly lock_s?: number
  /** Of the tracking status: 1 phase lock, 2 parity known, 4 code lock. Default: all. */
  readonly flags?: number
  readonly l2c?: boolean
}

export interface UnicoreTime {
  readonly week?: number
  readonly tow_ms?: number
  /** 0 GPS, 1 BeiDou. */
  readonly reference?: number
  /** 160: fine. */
  readonly status?: number
}

/** @param count what the message says, if not the truth */
export function obsvm(rows: readonly ObsvmRow[], time: UnicoreTime = {}, count = rows.length): Buffer {
  const { week = 2419, tow_ms = 522_205_000, reference = 0, status = 160 } = time
  const body = Buffer.alloc(4 + 40 * rows.length)
  body.writeUInt32LE(count, 0)
  for (const [index, row] of rows.entries()) {
    const {
      adr_cycles = -1e8,
      channel = 0,
      cno_dbhz = 45,
      doppler_hz = 100,
      flags = 7,
      lock_s = 100,
      range_m = 2e7,
    } = row
    const at = 4 + 40 * index
    body.writeUInt16LE(channel, at)
    body.writeUInt16LE(row.prn, at + 2)
    body.writeDoubleLE(range_m, at + 4)
    body.writeDoubleLE(adr_cycles, at + 12)
    body.writeFloatLE(doppler_hz, at + 24)
    body.writeUInt16LE(Math.round(cno_dbhz * 100), at + 28)
    body.writeFloatLE(lock_s, at + 32)
    const status = (row.signal << 21) + (row.system << 16) + (flags << 10) + (row.l2c ? 1 << 26 : 0)
    body.writeUInt32LE(status >>> 0, at + 36)
  }
  const header = Buffer.from([0xaa, 0x44, 0xb5, 97, 12, 0, 0, 0, reference, status, ...new Array(14).fill(0)])
  header.writeUInt16LE(body.length, 6)
  header.writeUInt16LE(week, 10)
  header.writeUInt32LE(tow_ms, 12)
  const whole = Buffer.concat([header, body, Buffer.alloc(4)])
  whole.writeUInt32LE(unicoreCrc(whole.subarray(0, -4)), whole.length - 4)
  return whole
}

/** A further signal of a satellite, as the differences that the block has. Numbers are of the table's units. */
export interface SbfOther {
  readonly signal: number
  readonly antenna?: number
  readonly lock?: number
  readonly cno?: number
  readonly info?: number
  /** In 1 mm, from −4 · 65536. */
  readonly code?: number
  /** In 0.001 cycles. */
  readonly carrier?: number
  /** In 0.1 mHz, from −16 · 65536. */
  readonly doppler?: number
}
/** The first signal of a satellite. */
export interface SbfFirst extends SbfOther {
  readonly id: number
  readonly others?: readonly SbfOther[]
}

export interface SbfEpoch {
  readonly week?: number
  readonly tow_ms?: number
  /** CommonFlags. */
  readonly flags?: number
  /** What the block says, if not the truth. */
  readonly count?: number
  readonly size?: number
  readonly revision?: number
}

const typeOf = (signal: number, antenna = 0) => (antenna << 5) | Math.min(31, signal)
/** Signals from 32 on stand in the information. */
const infoOf = ({ info = 0, signal }: SbfOther) => (signal > 31 ? ((signal - 32) << 3) | (info & 7) : info)
const low = (value: number) => value & 0xffff
const high = (value: number) => Math.floor(value / 65_536)

export function measEpoch(satellites: readonly SbfFirst[], epoch: SbfEpoch = {}): Buffer {
  const { count = satellites.length, flags = 0, revision = 1, size = 20, tow_ms = 141_548_000, week = 2426 } = epoch
  const parts = satellites.flatMap((first) => [firstBytes(first), ...(first.others ?? []).map(otherBytes)])
  const unpadded = Buffer.concat([Buffer.from([count, size, 12, flags, 0, 0]), ...parts])
  const whole = Buffer.alloc(Math.ceil((14 + unpadded.length) / 4) * 4)
  whole.write('$@', 'latin1')
  whole.writeUInt16LE(4027 | (revision << 13), 4)
  whole.writeUInt16LE(whole.length, 6)
  whole.writeUInt32LE(tow_ms, 8)
  whole.writeUInt16LE(week, 12)
  whole.set(unpadded, 14)
  whole.writeUInt16LE(sbfCrc(whole.subarray(4)), 2)
  return whole
}

function firstBytes(first: SbfFirst): Buffer {
  const { antenna, carrier = 0, cno = 140, code = 2e10, doppler = 1e6, id, lock = 100, others = [], signal } = first
  const bytes = Buffer.alloc(20)
  bytes.set([7, typeOf(signal, antenna), id, Math.floor(code / 2 ** 32)])
  bytes.writeUInt32LE(code % 2 ** 32, 4)
  bytes.writeInt32LE(doppler, 8)
  bytes.writeUInt16LE(low(carrier), 12)
  bytes.writeInt8(high(carrier), 14)
  bytes.writeUInt8(cno, 15)
  bytes.writeUInt16LE(lock, 16)
  bytes.set([infoOf(first), others.length], 18)
  return bytes
}

function otherBytes(other: SbfOther): Buffer {
  const { antenna, carrier = 0, cno = 140, code = 0, doppler = 0, lock = 100, signal } = other
  const bytes = Buffer.alloc(12)
  bytes.set([typeOf(signal, antenna), lock, cno, (high(code) & 7) | ((high(doppler) & 31) << 3)])
  bytes.writeInt8(high(carrier), 4)
  bytes.writeUInt8(infoOf(other), 5)
  bytes.writeUInt16LE(low(code), 6)
  bytes.writeUInt16LE(low(carrier), 8)
  bytes.writeUInt16LE(low(doppler), 10)
  return bytes
}
