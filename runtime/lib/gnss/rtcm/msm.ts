/**
 * RTCM 3 multiple signal messages 1071-1137 (RTCM 10403.3 §3.5.16): observations of one constellation at one epoch.
 * Everything that takes `frame` takes a whole verified frame.
 */
import { BitReader, BitWriter } from './bits.js'
import { encodeFrame } from './frame.js'
import { flag, readFields, reserved, uint, type Values, writeFields } from './layout.js'

/** By the tens digit of the message number: 107x is GPS, … 113x NavIC. */
const constellations = ['GPS', 'GLONASS', 'Galileo', 'SBAS', 'QZSS', 'BeiDou', 'NavIC'] as const
export type Constellation = (typeof constellations)[number]

const headerLayout = [
  uint('stationId', 12),
  /** As transmitted; see `msmEpochTime`. */
  uint('epochTime', 30),
  /** More MSMs follow for this epoch. */
  flag('multiple'),
  uint('iods', 3),
  reserved(7),
  uint('clockSteering', 2),
  uint('externalClock', 2),
  flag('smoothing'),
  uint('smoothingInterval', 3),
] as const

/** Speed of light, metres per millisecond: MSM counts ranges in light milliseconds. */
const lightMs_m = 299_792.458

interface Column {
  readonly bits: number
  readonly signed: boolean
  /** Counts per unit (ms, m/s, dB-Hz; 1 for indicators). */
  readonly per: number
}
const column = (bits: number, per = 1): Column => ({ bits, signed: false, per })
const signedColumn = (bits: number, per: number): Column => ({ bits, signed: true, per })

/** Satellite data, column by column (Tables 3.5-81, -82 and -83). The range is whole milliseconds plus 1/1024ths. */
const satellite = {
  wholeMs: column(8),
  info: column(4),
  fractionMs: column(10, 1024),
  rate: signedColumn(14, 1),
}
type SatelliteColumn = keyof typeof satellite

/** Signal data, column by column (Tables 3.5-84 to -90): the standard resolution of MSM1-5, the high one of MSM6 and 7. */
const standard = {
  pseudorange: signedColumn(15, 2 ** 24),
  phase: signedColumn(22, 2 ** 29),
  lock: column(4),
  halfCycle: column(1),
  cnr: column(6),
  rate: signedColumn(15, 10_000),
}
type SignalColumn = keyof typeof standard
const high: Record<SignalColumn, Column> = {
  ...standard,
  pseudorange: signedColumn(20, 2 ** 29),
  phase: signedColumn(24, 2 ** 31),
  lock: column(10),
  cnr: column(10, 16),
}

interface MsmKind {
  readonly satellite: readonly SatelliteColumn[]
  readonly signal: readonly SignalColumn[]
  readonly columns: Record<SignalColumn, Column>
}
const kind = (
  satellite: readonly SatelliteColumn[],
  columns: MsmKind['columns'],
  signal: readonly SignalColumn[],
): MsmKind => ({
  satellite,
  signal,
  columns,
})
const fraction = ['fractionMs'] as const
const range = ['wholeMs', 'fractionMs'] as const
const full = ['wholeMs', 'info', 'fractionMs', 'rate'] as const

/** MSM1 … MSM7. */
const kinds: readonly MsmKind[] = [
  kind(fraction, standard, ['pseudorange']),
  kind(fraction, standard, ['phase', 'lock', 'halfCycle']),
  kind(fraction, standard, ['pseudorange', 'phase', 'lock', 'halfCycle']),
  kind(range, standard, ['pseudorange', 'phase', 'lock', 'halfCycle', 'cnr']),
  kind(full, standard, ['pseudorange', 'phase', 'lock', 'halfCycle', 'cnr', 'rate']),
  kind(range, high, ['pseudorange', 'phase', 'lock', 'halfCycle', 'cnr']),
  kind(full, high, ['pseudorange', 'phase', 'lock', 'halfCycle', 'cnr', 'rate']),
]
const invalidWholeMs = 255

/** The header fields of an MSM. */
export type MsmHeader = { type: number } & Values<typeof headerLayout> & {
    /** Ascending satellite numbers (mask positions): GPS PRN, GLONASS slot, Galileo, BeiDou number, SBAS PRN − 119, QZSS J-number. */
    satellites: number[]
    /** Ascending signal numbers (mask positions): e.g. 2 is L1 C/A, G1 C/A, E1, B1I. */
    signals: number[]
    /** The [satellite, signal] pairs that are present, in wire order. */
    cells: [satellite: number, signal: number][]
  }

/** One signal of one satellite. A field that the message kind lacks, or that is marked invalid, is undefined. */
export interface MsmObservation {
  satellite: number
  signal: number
  /** Metres; for MSM1-3 modulo one light millisecond. */
  pseudorange_m?: number
  /** Phase range, metres; for MSM2-3 modulo one light millisecond. */
  phase_m?: number
  /** Phase range rate, m/s. As transmitted: some u-blox F9 receivers send it with the wrong sign. */
  rate_mps?: number
  /** Lock time indicator, as transmitted. */
  lock?: number
  halfCycle?: boolean
  cnr_dbhz?: number
}

export interface Msm extends Omit<MsmHeader, 'satellites' | 'signals' | 'cells'> {
  observations: MsmObservation[]
  /**
   * MSM5 and 7: extended satellite information by satellite number. GLONASS: the frequency channel + 7; 15: unknown.
   */
  info?: Record<number, number>
}

export function isMsm(type: number): boolean {
  return type >= 1071 && type <= 1137 && type % 10 >= 1 && type % 10 <= 7
}

/** The constellation of an MSM number; undefined for other messages. */
export function constellationOf(type: number): Constellation | undefined {
  return isMsm(type) ? constellations[Math.floor(type / 10) - 107] : undefined
}

/** The message number of a constellation's MSM, e.g. `msmType('GPS', 4)` is 1074. */
export function msmType(constellation: Constellation, msm: 1 | 2 | 3 | 4 | 5 | 6 | 7): number {
  return 1070 + constellations.indexOf(constellation) * 10 + msm
}

/** The multiple-message bit of an MSM frame: more MSMs of this epoch follow. */
export function moreFollows(frame: Uint8Array): boolean {
  return (frame[9] & 2) !== 0
}

/**
 * Marks an MSM (or 1004, which has the bit in the same place) as the last one of its epoch: the multiple-message bit is
 * 0. A frame already marked is returned unchanged.
 */
export function asLast(frame: Uint8Array): Uint8Array {
  if (!moreFollows(frame)) return frame
  const payload = frame.slice(3, -3)
  payload[6] &= ~2
  return encodeFrame(payload)
}

/** The header of an MSM frame; undefined when it is not one, or too short. */
export function decodeMsmHeader(frame: Uint8Array): MsmHeader | undefined {
  return readHeader(frame)?.header
}

function readHeader(frame: Uint8Array): { header: MsmHeader; reader: BitReader } | undefined {
  const reader = new BitReader(frame, 3, frame.length - 3)
  const type = reader.uint(12)
  if (!isMsm(type)) return undefined
  const values = readFields(reader, headerLayout)
  const satellites = readMask(reader, 64)
  const signals = readMask(reader, 32)
  const cells: [number, number][] = []
  for (const satellite of satellites) {
    for (const signal of signals) if (reader.uint(1) === 1) cells.push([satellite, signal])
  }
  return reader.overrun ? undefined : { header: { type, ...values, satellites, signals, cells }, reader }
}

function readMask(reader: BitReader, bits: number): number[] {
  const numbers: number[] = []
  for (let number = 1; number <= bits; number++) if (reader.uint(1) === 1) numbers.push(number)
  return numbers
}

/** The observations of an MSM1-7 frame; undefined when it is not one, or too short. Bytes behind the last cell are padding. */
export function decodeMsm(frame: Uint8Array): Msm | undefined {
  const start = readHeader(frame)
  if (!start) return undefined
  const { header, reader } = start
  const { satellites, signals, cells, ...head } = header
  const layout = kinds[(header.type % 10) - 1]
  const ofSatellite = readColumns(reader, layout.satellite, satellite, satellites.length)
  const ofCell = readColumns(reader, layout.signal, layout.columns, cells.length)
  if (reader.overrun) return undefined

  // Assigned one by one: a base decodes thousands of cells a minute.
  const observations = cells.map(([number, signal], cell): MsmObservation => {
    const row = satellites.indexOf(number)
    const whole = ofSatellite.wholeMs?.[row] ?? 0
    const rough_ms = whole === invalidWholeMs ? undefined : whole + (ofSatellite.fractionMs?.[row] ?? 0)
    const pseudorange_ms = sum(rough_ms, ofCell.pseudorange?.[cell])
    const phase_ms = sum(rough_ms, ofCell.phase?.[cell])
    const rate_mps = sum(ofSatellite.rate?.[row], ofCell.rate?.[cell])
    const lock = ofCell.lock?.[cell]
    const half = ofCell.halfCycle?.[cell]
    const cnr_dbhz = ofCell.cnr?.[cell]
    const observation: MsmObservation = { satellite: number, signal }
    if (pseudorange_ms !== undefined) observation.pseudorange_m = pseudorange_ms * lightMs_m
    if (phase_ms !== undefined) observation.phase_m = phase_ms * lightMs_m
    // Whole metres per second and 0.0001ths: their sum as the nearest double of the decimal number.
    if (rate_mps !== undefined) observation.rate_mps = Math.round(rate_mps * 10_000) / 10_000
    if (lock !== undefined) observation.lock = lock
    if (half !== undefined) observation.halfCycle = half === 1
    if (cnr_dbhz) observation.cnr_dbhz = cnr_dbhz
    return observation
  })
  const info =
    ofSatellite.info && Object.fromEntries(satellites.map((number, row) => [number, ofSatellite.info?.[row] ?? 15]))
  return { ...head, observations, ...(info && { info }) }
}

type Columns<K extends string> = Partial<Record<K, (number | undefined)[]>>

/** Reads each column for every row; the most negative value of a signed column means invalid. */
function readColumns<K extends string>(
  reader: BitReader,
  names: readonly K[],
  columns: Record<K, Column>,
  rows: number,
): Columns<K> {
  const read: Columns<K> = {}
  for (const name of names) {
    const { bits, signed, per } = columns[name]
    const values: (number | undefined)[] = []
    for (let row = 0; row < rows; row++) {
      const counts = signed ? reader.int(bits) : reader.uint(bits)
      values.push(signed && counts === -(2 ** (bits - 1)) ? undefined : counts / per)
    }
    read[name] = values
  }
  return read
}

const sum = (p: number | undefined, q: number | undefined) => (p === undefined || q === undefined ? undefined : p + q)

/** Fields that most stations leave zero. */
const plainHeader = { iods: 0, clockSteering: 0, externalClock: 0, smoothing: false, smoothingInterval: 0 }
/** An MSM for `encodeMsm`. Header fields with a usual value may be omitted. */
export type MsmToEncode = Omit<Msm, keyof typeof plainHeader> & Partial<Msm>

/** Options of `encodeMsm`. */
export interface MsmEncodeOptions {
  /** Like u-blox receivers: the payload has room for every satellite × signal pair, and the rest is zero. */
  padToGrid?: boolean
  /** Signal numbers that are in the mask even without an observation, as Unicore receivers send it. */
  signals?: readonly number[]
  /** `invalid`: a signal's range or rate that is too far from the common part of its satellite is sent as invalid. */
  outOfRange?: 'throw' | 'invalid'
}

/**
 * @returns a whole MSM1-7 frame of the message's `type`.
 * @throws RangeError when a value does not fit: above 64 satellite × signal pairs, a signal's range more than 290 m away
 * from the satellite's others (see `outOfRange`), a payload above 1023 bytes
 */
export function encodeMsm(given: MsmToEncode, options: MsmEncodeOptions = {}): Uint8Array {
  const msm: Msm = { ...plainHeader, ...given }
  if (!isMsm(msm.type)) throw new RangeError(`${msm.type} is not an MSM number`)
  const layout = kinds[(msm.type % 10) - 1]
  const satellites = ascending(msm.observations.map((observation) => observation.satellite))
  const observed = msm.observations.map((observation) => observation.signal)
  const signals = ascending([...observed, ...(options.signals ?? [])])
  const grid = satellites.length * signals.length
  if (grid > 64) throw new RangeError(`an MSM has at most 64 satellite × signal pairs, not ${grid}`)
  const cells = [...msm.observations].sort((p, q) => p.satellite - q.satellite || p.signal - q.signal)

  const writer = new BitWriter()
  writer.uint(msm.type, 12)
  writeFields(writer, headerLayout, msm)
  writeMask(writer, satellites, 64)
  writeMask(writer, signals, 32)
  const pairs = new Set(cells.map((cell) => cell.satellite * 64 + cell.signal))
  for (const satellite of satellites) {
    for (const signal of signals) writer.uint(pairs.has(satellite * 64 + signal) ? 1 : 0, 1)
  }

  const roughs = satellites.map((number) => roughOf(cells.filter((cell) => cell.satellite === number)))
  const rough = (cell: MsmObservation) => roughs[satellites.indexOf(cell.satellite)]
  writeColumns(
    writer,
    layout.satellite,
    satellite,
    {
      wholeMs: roughs.map(({ range_ms }) => (range_ms === undefined ? invalidWholeMs : Math.floor(range_ms))),
      info: satellites.map((number) => msm.info?.[number] ?? 15),
      fractionMs: roughs.map(({ range_ms = 0 }) => range_ms % 1),
      rate: roughs.map(({ rate_mps }) => rate_mps),
    },
    options,
  )
  const fine = (value_m: number | undefined, cell: MsmObservation) => {
    const { range_ms } = rough(cell)
    return value_m === undefined || range_ms === undefined ? undefined : value_m / lightMs_m - range_ms
  }
  writeColumns(
    writer,
    layout.signal,
    layout.columns,
    {
      pseudorange: cells.map((cell) => fine(cell.pseudorange_m, cell)),
      phase: cells.map((cell) => fine(cell.phase_m, cell)),
      lock: cells.map((cell) => cell.lock ?? 0),
      halfCycle: cells.map((cell) => (cell.halfCycle ? 1 : 0)),
      cnr: cells.map((cell) => cell.cnr_dbhz ?? 0),
      rate: cells.map((cell) =>
        cell.rate_mps !== undefined ? cell.rate_mps - (rough(cell).rate_mps ?? 0) : undefined,
      ),
    },
    options,
  )
  const perCell = layout.signal.reduce((bits, name) => bits + layout.columns[name].bits, 0)
  const unused = options.padToGrid ? (grid - cells.length) * perCell : 0
  return encodeFrame(writer.bytes(Math.ceil((writer.length + unused) / 8)))
}

const ascending = (numbers: number[]) => [...new Set(numbers)].sort((p, q) => p - q)

function writeMask(writer: BitWriter, numbers: number[], bits: number): void {
  const outside = numbers.find((number) => !(number >= 1 && number <= bits))
  if (outside !== undefined) throw new RangeError(`${outside} is outside of a mask of ${bits}`)
  for (let number = 1; number <= bits; number++) writer.uint(numbers.includes(number) ? 1 : 0, 1)
}

/** The part of a satellite's ranges and rates that its signals share, rounded as the satellite data need it. */
function roughOf(cells: MsmObservation[]): { range_ms: number | undefined; rate_mps: number | undefined } {
  const ranges = cells.flatMap((cell) => cell.pseudorange_m ?? cell.phase_m ?? [])
  const rates = cells.flatMap((cell) => cell.rate_mps ?? [])
  const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2
  return {
    range_ms: ranges.length > 0 ? Math.round((middle(ranges) / lightMs_m) * 1024) / 1024 : undefined,
    rate_mps: rates.length > 0 ? Math.round(middle(rates)) : undefined,
  }
}

function writeColumns<K extends string>(
  writer: BitWriter,
  names: readonly K[],
  columns: Record<K, Column>,
  values: Record<K, (number | undefined)[]>,
  { outOfRange = 'throw' }: MsmEncodeOptions,
): void {
  for (const name of names) {
    const { bits, signed, per } = columns[name]
    const invalid = -(2 ** (bits - 1))
    for (const value of values[name]) {
      const counts = value === undefined ? undefined : Math.round(value * per)
      if (!signed) writer.uint(counts ?? 0, bits)
      else if (outOfRange === 'invalid' && Math.abs(counts ?? 0) >= -invalid) writer.int(invalid, bits)
      else writer.int(counts ?? invalid, bits)
    }
  }
}

const week_ms = 604_800_000
const day_ms = 86_400_000
/** BeiDou time runs 14 s behind GPS time; GLONASS counts the Moscow day, UTC + 3 h. */
const beidouOffset_ms = 14_000
const moscowOffset_ms = 10_800_000
const glonassDay = 2 ** 27

/**
 * The 30-bit epoch time of an MSM: ms of the GPS week; for BeiDou, ms of its own week. For GLONASS: the day of the week
 * in the upper 3 bits (0 Sunday) and ms of the Moscow day below.
 * @param tow_ms GPS time of week, whole milliseconds
 * @param leap_s GPS − UTC, for GLONASS
 */
export function msmEpochTime(constellation: Constellation, tow_ms: number, leap_s: number): number {
  if (constellation === 'BeiDou') return modulo(tow_ms - beidouOffset_ms, week_ms)
  if (constellation !== 'GLONASS') return modulo(tow_ms, week_ms)
  const moscow_ms = modulo(tow_ms - leap_s * 1000 + moscowOffset_ms, week_ms)
  return Math.floor(moscow_ms / day_ms) * glonassDay + (moscow_ms % day_ms)
}

/** The inverse of `msmEpochTime`: GPS time of week, ms; undefined for GLONASS's unknown day 7. */
export function gpsTow_ms(constellation: Constellation, epochTime: number, leap_s: number): number | undefined {
  if (constellation === 'BeiDou') return modulo(epochTime + beidouOffset_ms, week_ms)
  if (constellation !== 'GLONASS') return epochTime
  const { day, ms } = splitGlonassTime(epochTime)
  return day === 7 ? undefined : modulo(day * day_ms + ms + leap_s * 1000 - moscowOffset_ms, week_ms)
}

/** Day of the week (0 Sunday, 7 unknown) and milliseconds of the Moscow day. */
export function splitGlonassTime(epochTime: number): { day: number; ms: number } {
  return { day: Math.floor(epochTime / glonassDay), ms: epochTime % glonassDay }
}

const modulo = (value: number, by: number) => ((value % by) + by) % by
