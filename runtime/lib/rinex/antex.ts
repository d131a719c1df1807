/** Antenna calibrations in ANTEX files (ANTEX 1.4, 15 September 2010, IGS, the version of `igs20.atx`). */
import { antennaCode } from '../gnss/antenna-code.js'

/** The mean phase centre relative to the antenna reference point, in millimetres. */
export interface PhaseCentre {
  readonly north_mm: number
  readonly east_mm: number
  readonly up_mm: number
}

export interface AntennaCalibration {
  /** The IGS code: the model in 16 columns, and the radome in 4. */
  readonly type: string
  /** Serial number of the calibrated antenna; empty: the calibration is for every antenna of the type. */
  readonly serial: string
  /** `ROBOT`, `CHAMBER`, `FIELD`, `CONVERTED`, `COPIED`. */
  readonly method: string
  /** False: a relative calibration, which is valid only together with the calibration of its reference antenna. */
  readonly isAbsolute: boolean
  /** The antenna of a satellite, not of a receiver. */
  readonly isSatellite: boolean
  /** By frequency code: `G01`, `G02`, `R01`, `E05`. */
  readonly centres: ReadonlyMap<string, PhaseCentre>
}

/** Findings about a whole file, known after its last line. */
export interface AntexSummary {
  /** The first line is the one of ANTEX 1.x. */
  readonly isAntex: boolean
  /** The last antenna is complete. A file that was cut off between two antennas also counts as complete. */
  readonly isComplete: boolean
  /** Number of antennas that were left out because their lines contradict the format. */
  readonly leftOut: number
}

/** A line has 80 columns; bytes behind it are dropped. */
const longestLine = 256
/** The most phase centres of a receiver antenna: seven systems with a few frequencies each. */
const mostCentres = 64
const labelColumn = 60
const latin1 = new TextDecoder('latin1')

/**
 * The first line of the source, and each that has a label, without their ends. Long ones are cut off, so that memory is bounded. The others
 * cost nothing: millions of empty lines would hold up everything else.
 */
async function* linesOf(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  let begun = ''
  let isFirst = true
  for await (const bytes of source) {
    const [head = '', ...rest] = latin1.decode(bytes).split(/\r?\n|\r/)
    begun = (begun + head).slice(0, longestLine)
    for (const next of rest) {
      if (isFirst || begun.length > labelColumn) yield begun
      isFirst = false
      begun = next.slice(0, longestLine)
    }
  }
  if (begun) yield begun
}

/** Columns of an antenna that is being read. */
interface Open {
  type?: string
  serial: string
  method: string
  /** Columns that only satellites fill: satellite code and COSPAR ID. */
  satellite: string
  /** The frequency whose lines follow. */
  frequency?: string | undefined
  readonly centres: Map<string, PhaseCentre>
  isBad: boolean
}

const code = /^[GRECJSI]\d\d$/
const number = /^ *[-+]?(\d+\.?\d*|\.\d+) *$/

/** Three of F10.2. */
function centreOf(line: string): PhaseCentre | undefined {
  const fields = [line.slice(0, 10), line.slice(10, 20), line.slice(20, 30)]
  if (!fields.every((field) => number.test(field))) return undefined
  const [north_mm = 0, east_mm = 0, up_mm = 0] = fields.map(Number)
  // Those of satellites are the largest: a few metres.
  if (![north_mm, east_mm, up_mm].every((axis) => Math.abs(axis) < 10_000)) return undefined
  return { north_mm, east_mm, up_mm }
}

/** Readers of the lines between the start and the end of an antenna, by their labels. */
const readers: ReadonlyMap<string, (open: Open, line: string) => void> = new Map(
  Object.entries<(open: Open, line: string) => void>({
    'TYPE / SERIAL NO': (open, line) => {
      open.type = line.slice(0, 20).trimEnd()
      open.serial = line.slice(20, 40).trim()
      open.satellite = line.slice(40, labelColumn).trim()
    },
    'METH / BY / # / DATE': (open, line) => {
      open.method = line.slice(0, 20).trim()
    },
    'START OF FREQUENCY': (open, line) => {
      const frequency = line.slice(3, 6).replace(' ', '0')
      open.isBad ||= open.frequency !== undefined || !code.test(frequency) || open.centres.has(frequency)
      open.frequency = frequency
    },
    'NORTH / EAST / UP': (open, line) => {
      const centre = centreOf(line)
      // RMS values have the same label in blocks of their own.
      if (open.frequency === undefined) return
      if (centre && open.centres.size < mostCentres) open.centres.set(open.frequency, centre)
      else open.isBad = true
    },
    'END OF FREQUENCY': (open, line) => {
      open.isBad ||= line.slice(3, 6).replace(' ', '0') !== open.frequency || !open.centres.has(open.frequency ?? '')
      open.frequency = undefined
    },
  }),
)

/** A model and a radome fill the 20 columns of a receiver antenna. The serial of a satellite antenna is `G01`, and it has no method. */
const isOfSatellite = (type: string, { method, satellite, serial }: Open): boolean =>
  satellite !== '' || (method === '' && (code.test(serial) || type.length < 20))

const firstLine = /^ *1\.\d *[ MGRECJSI] *ANTEX VERSION \/ SYST *$/

/**
 * Reads the antennas of an ANTEX file one after the other, because a file of the IGS has 30 MB. Antennas of
 * satellites are included. Phase centre variations are not read. An antenna whose lines contradict the format is left
 * out.
 * @param source the bytes of the file
 * @returns after the last antenna: findings about the whole file
 */
export async function* readAntex(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<AntennaCalibration, AntexSummary> {
  let isAntex: boolean | undefined
  let isAbsolute = false
  let open: Open | undefined
  let leftOut = 0
  let last = ''
  for await (const line of linesOf(source)) {
    const label = line.slice(labelColumn).trimEnd()
    isAntex ??= firstLine.test(line)
    if (label !== '' && label !== 'COMMENT') last = label
    if (label === 'PCV TYPE / REFANT') isAbsolute = line.startsWith('A')
    else if (label === 'START OF ANTENNA') {
      // One before it has no end.
      if (open) leftOut += 1
      open = { serial: '', method: '', satellite: '', centres: new Map(), isBad: false }
    } else if (label === 'END OF ANTENNA') {
      if (open?.type && !open.isBad && open.frequency === undefined && open.centres.size > 0) {
        const { centres, method, serial, type } = open
        yield { type, serial, method, isAbsolute, isSatellite: isOfSatellite(type, open), centres }
      } else leftOut += 1
      open = undefined
    } else if (open) readers.get(label)?.(open, line)
  }
  return { isAntex: isAntex ?? false, isComplete: last === 'END OF ANTENNA', leftOut }
}

/**
 * Finds the calibration of a receiver antenna: the calibration of this single antenna if the file has it, otherwise
 * that of its type.
 * @param igsCode model and radome, e.g. `TRM57971.00     NONE`; a calibration with another radome does not count
 * @param serial serial number of the antenna; empty: only the calibration of the type counts
 * @returns undefined if the file does not have the antenna
 */
export async function findAntenna(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  igsCode: string,
  serial = '',
): Promise<AntennaCalibration | undefined> {
  const wanted = antennaCode(igsCode).toUpperCase()
  let ofType: AntennaCalibration | undefined
  if (wanted === '') return undefined
  for await (const antenna of readAntex(source)) {
    if (antennaCode(antenna.type).toUpperCase() !== wanted) continue
    if (antenna.serial === '') ofType ??= antenna
    else if (serial !== '' && antenna.serial === serial.trim()) return antenna
  }
  return ofType
}
