/** The blocks of an epoch. Layouts: Septentrio mosaic reference guide, "SBF blocks"; lengths and revisions as a mosaic-G5 was recorded. */
import type { Ecef } from 'rtk-base/services'
import {
  type Epoch,
  glonassChannel,
  type Model,
  type MsmRequest,
  msmObservations,
  type PvtSolution,
  type Track,
} from 'rtk-base/simulation'
import { gpsP2, signalsOf, svIdOf } from './sky.js'

export interface BlockInput {
  readonly epoch: Epoch
  readonly tracks: readonly Track[]
  readonly solution: PvtSolution
  readonly undulation_m: number
  /** Place of the receiver as a base. */
  readonly reference: Ecef | undefined
  /** The receiver determines its place. */
  readonly isSurveying: boolean
  readonly uptime_s: number
  readonly jam_db: Model['jam_db']
  readonly isSpoofed: boolean
  readonly hasAntennaCurrent: boolean
}

const missing = -2e10
const light_mps = 299_792_458
const leap_s = 18

class Writer {
  readonly #parts: Buffer[] = []

  u1(...values: number[]): this {
    this.#parts.push(Buffer.from(values.map((value) => value & 0xff)))
    return this
  }

  u2(...values: number[]): this {
    for (const value of values) this.#push(2, (buffer) => buffer.writeUInt16LE(value & 0xffff))
    return this
  }

  u4(...values: number[]): this {
    for (const value of values) this.#push(4, (buffer) => buffer.writeUInt32LE(value >>> 0))
    return this
  }

  f4(...values: number[]): this {
    for (const value of values) this.#push(4, (buffer) => buffer.writeFloatLE(value))
    return this
  }

  f8(...values: number[]): this {
    for (const value of values) this.#push(8, (buffer) => buffer.writeDoubleLE(value))
    return this
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }

  #push(size: number, write: (buffer: Buffer) => void): void {
    const buffer = Buffer.alloc(size)
    write(buffer)
    this.#parts.push(buffer)
  }
}
const body = () => new Writer()

/** CRC-16-CCITT, which begins with 0. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  }
  return crc & 0xffff
}

function block(id: number, revision: number, { week, tow_ms }: Pick<Epoch, 'week' | 'tow_ms'>, payload: Uint8Array) {
  const size = Math.ceil((14 + payload.length) / 4) * 4
  const bytes = Buffer.alloc(size)
  bytes.write('$@', 'latin1')
  bytes.writeUInt16LE(id | (revision << 13), 4)
  bytes.writeUInt16LE(size, 6)
  bytes.writeUInt32LE(tow_ms, 8)
  bytes.writeUInt16LE(week, 12)
  bytes.set(payload, 14)
  bytes.writeUInt16LE(crc16(bytes.subarray(4)), 2)
  return bytes
}

const writers: Readonly<Record<string, (input: BlockInput) => Buffer>> = {
  MeasEpoch: (input) => block(4027, 1, input.epoch, measured(input)),
  ReceiverStatus: ({ epoch, uptime_s, hasAntennaCurrent }) => {
    // Bit 1: the antenna draws current; the others as recorded.
    const state = 0x70 | (hasAntennaCurrent ? 0x02 : 0)
    const frontEnds = [0x05, 0x06, 0x03, 0x04]
    const payload = body().u1(22, 0).u4(uptime_s, state, 0).u1(frontEnds.length, 4, 22, 0x90)
    for (const id of frontEnds) payload.u1(id, 40, 100, 0)
    return block(4014, 1, epoch, payload.bytes)
  },
  ReceiverTime: ({ epoch, solution }) => {
    const at = new Date(epoch.utc_ms)
    const calendar = [at.getUTCFullYear() - 2000, at.getUTCMonth() + 1, at.getUTCDate()]
    const clock = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), leap_s, 0x07]
    const unknown = [-128, -128, -128, -128, -128, -128, -128, 0]
    return block(5914, 0, epoch, body().u1(...(solution.position ? [...calendar, ...clock] : unknown), 0, 0).bytes)
  },
  PVTCartesian: ({ epoch, solution: { position, used }, reference, isSurveying, undulation_m }) => {
    const place = position && (reference ?? position)
    const payload = body().u1(...(place ? [modeOf(reference !== undefined, isSurveying), 0] : [0, 3]))
    if (!place)
      payload.f8(missing, missing, missing).f4(missing, missing, missing, missing, missing).f8(missing).f4(missing)
    else {
      payload.f8(place.x, place.y, place.z).f4(undulation_m, 0, 0, 0, missing)
      payload.f8((epoch.clock_m / light_mps) * 1000).f4(0)
    }
    payload
      .u1(0, 19, place ? used.length : 255, 0)
      .u2(0xffff, 0xffff)
      .u4(0)
      .u1(0, 0)
      .u2(0, 0, 0xffff, 0xffff)
      .u1(0, 0)
    return block(4006, 3, epoch, payload.bytes)
  },
  PosCovCartesian: ({ epoch, solution: { position, sigma_m }, reference, isSurveying }) => {
    const isKnown = position !== undefined && reference === undefined
    const { east, north, up } = sigma_m
    // The same in each axis: the sum is what counts.
    const third = (east ** 2 + north ** 2 + up ** 2) / 3
    const own = isKnown ? [third, third, third] : [missing, missing, missing]
    const mode = position ? modeOf(reference !== undefined, isSurveying) : 0
    const others = [missing, missing, missing, missing, missing, missing]
    return block(
      5905,
      0,
      epoch,
      body()
        .u1(mode, position ? 0 : 3)
        .f4(...own, 10, ...others).bytes,
    )
  },
  ChannelStatus: ({ epoch, tracks, solution: { used } }) => {
    const payload = body().u1(tracks.length, 12, 8, 0, 0, 0)
    for (const [i, track] of tracks.entries()) {
      const { sight, signals } = track
      const id = svIdOf(sight)
      const isUsed = used.includes(track)
      payload.u1(id, frequencyNumber(track)).u2(id, Math.round(sight.azimuth_deg) % 360, 0)
      payload.u1(Math.round(sight.elevation_deg), 1, i + 1, 0)
      // Two bits a signal; 2: used in the position, 1: waiting.
      const states = signals.reduce((bits, _, at) => bits | ((isUsed ? 2 : 1) << (2 * at)), 0)
      payload.u1(0, 0).u2(3, states, 0)
    }
    return block(4013, 0, epoch, payload.bytes)
  },
  RFStatus: ({ epoch, jam_db, isSpoofed }) => {
    const bands = [
      [1_575_420_000, jam_db.L1],
      [1_227_600_000, jam_db.L2],
    ].filter(([, loss_db = 0]) => loss_db >= heard_db)
    const payload = body().u1(bands.length, 8, isSpoofed ? 1 : 0, 0, 0, 0)
    for (const [frequency_hz = 0, loss_db = 0] of bands)
      payload
        .u4(frequency_hz)
        .u2(1000)
        .u1(loss_db >= tooStrong_db ? 8 : 2, 0)
    return block(4092, 0, epoch, payload.bytes)
  },
  SatVisibility: ({ epoch }) => {
    const payload = body().u1(epoch.sky.length, 12)
    for (const sight of epoch.sky) {
      const id = svIdOf(sight)
      payload.u1(id, 0).u2(Math.round(sight.azimuth_deg * 100) % 36_000, Math.round(sight.elevation_deg * 100))
      payload.u1(1, 2).u2(id, 0)
    }
    return block(4012, 1, epoch, payload.bytes)
  },
}

/** Interference that it reports, and that it cannot suppress. */
const heard_db = 5
const tooStrong_db = 15

/** 1: stand-alone, 3: a place that is known; bit 6: it is being determined. */
const modeOf = (isFixed: boolean, isSurveying: boolean) => (isFixed ? 3 : 1) | (isSurveying ? 0x40 : 0)

function frequencyNumber({ sight }: Track): number {
  return sight.constellation.name === 'GLONASS' ? glonassChannel(sight.svId) + 8 : 0
}

/** The first signal of each satellite in full, the others as differences to it. */
function measured({ epoch, tracks }: BlockInput): Uint8Array {
  const payload = body().u1(tracks.length, 20, 12, 0x45, 0, 0)
  for (const [channel, track] of tracks.entries()) {
    const [first, ...others] = msmObservations(track, epoch, true)
    const types = signalsOf(track.sight)
    const range_mm = Math.round((first.pseudorange_m ?? 0) * 1000)
    const info = frequencyNumber(track) << 3
    const phase = cyclesBeside(first, track, 0)
    payload.u1(channel + 1, types[0].type, svIdOf(track.sight), Math.floor(range_mm / 2 ** 32)).u4(range_mm)
    payload
      .u4(Math.round(doppler_hz(track, 0) * 10_000))
      .u2(phase)
      .u1(phase >> 16, cn0Of(types[0].type, first.cnr_dbhz))
    payload.u2(Math.min(65_534, Math.floor(track.lock_s))).u1(info, others.length)
    for (const [i, other] of others.entries()) {
      const at = i + 1
      const offset_mm = Math.round((other.pseudorange_m ?? 0) * 1000) - range_mm
      const { frequency_hz } = types[at]
      const scaled_hz = (doppler_hz(track, 0) * frequency_hz) / types[0].frequency_hz
      const dopplerOffset = Math.round((doppler_hz(track, at) - scaled_hz) * 10_000)
      const beside = cyclesBeside(other, track, at)
      payload.u1(
        types[at].type,
        Math.min(254, Math.floor(track.signals[at].lock_s)),
        cn0Of(types[at].type, other.cnr_dbhz),
      )
      payload.u1(((offset_mm >> 16) & 0x07) | (((dopplerOffset >> 16) & 0x1f) << 3), beside >> 16, info)
      payload.u2(offset_mm, beside, dopplerOffset)
    }
  }
  return payload.bytes
}

type Observation = ReturnType<NonNullable<MsmRequest['cells']>>[number]

const wavelength_m = ({ sight }: Track, at: number) => light_mps / signalsOf(sight)[at].frequency_hz
const doppler_hz = (track: Track, at: number) => -track.sight.rate_mps / wavelength_m(track, at)

/** The phase less the pseudorange, thousandths of a cycle. */
function cyclesBeside({ pseudorange_m = 0, phase_m = 0 }: Observation, track: Track, at: number): number {
  const thousandths = Math.round(((phase_m - pseudorange_m) / wavelength_m(track, at)) * 1000)
  return Math.max(-(2 ** 23), Math.min(2 ** 23 - 1, thousandths))
}

const cn0Of = (type: number, cnr_dbhz = 0) => Math.round((cnr_dbhz - (type === gpsP2 ? 0 : 10)) * 4)

/** In the order of the receiver. @param wanted their names */
export function blocks(input: BlockInput, wanted: readonly string[]): Buffer[] {
  return Object.entries(writers).flatMap(([name, write]) => (wanted.includes(name) ? [write(input)] : []))
}
