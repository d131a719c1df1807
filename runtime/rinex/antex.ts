/** Antenna calibrations in ANTEX files (ANTEX 1.4, 15 September 2010, IGS; files of the IGS such as igs20.atx are versions 1.4). */

/** The mean phase centre relative to the antenna reference point, in millimetres. */
export interface PhaseCentre {
  readonly north_mm: number
  readonly east_mm: number
  readonly up_mm: number
}

export interface AntennaCalibration {
  /** The IGS code: the model in 16 columns, and the radome in 4. */
  readonly type: string
  /** Of the calibrated antenna; empty: of all of the type. */
  readonly serial: string
  /** `ROBOT`, `CHAMBER`, `FIELD`, `CONVERTED`, `COPIED`. */
  readonly method: string
  /** Relative calibrations hold only together with that of their reference antenna. */
  readonly isAbsolute: boolean
  /** By frequency code: `G01`, `G02`, `R01`, `E05`. */
  readonly centres: ReadonlyMap<string, PhaseCentre>
}

/** A line has 80 columns; bytes behind it are dropped. */
const longestLine = 256
/** Of a receiver antenna: seven systems with a few frequencies each. */
const mostCentres = 64
const labelColumn = 60
const latin1 = new TextDecoder('latin1')

/** The source as lines without their ends. Long ones are cut off, so that memory is bounded. */
async function* linesOf(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  let begun = ''
  for await (const bytes of source) {
    const [head = '', ...rest] = latin1.decode(bytes).split(/\r?\n|\r/)
    begun = (begun + head).slice(0, longestLine)
    for (const next of rest) {
      yield begun
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

/** What a line between the start and the end of an antenna says, by its label. */
const readers: ReadonlyMap<string, (open: Open, line: string) => void> = new Map(
  Object.entries<(open: Open, line: string) => void>({
    'TYPE / SERIAL NO': (open, line) => {
      open.type = line.slice(0, 20).trimEnd()
      open.serial = line.slice(20, 40).trim()
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

/**
 * The antennas of an ANTEX file, one after the other: a file of the IGS has 30 MB. Satellite antennas are among them: their serial is
 * that of a satellite. Phase centre variations are not read. An antenna whose lines contradict the format is left out.
 * @param source the bytes of the file
 */
export async function* readAntex(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<AntennaCalibration> {
  let isAbsolute = false
  let open: Open | undefined
  for await (const line of linesOf(source)) {
    const label = line.slice(labelColumn).trimEnd()
    if (label === 'PCV TYPE / REFANT') isAbsolute = line.startsWith('A')
    else if (label === 'START OF ANTENNA') open = { serial: '', method: '', centres: new Map(), isBad: false }
    else if (label === 'END OF ANTENNA') {
      const { centres, isBad, method, serial, type } = open ?? { centres: new Map(), isBad: true }
      if (type && !isBad && open?.frequency === undefined && centres.size > 0)
        yield { type, serial: serial ?? '', method: method ?? '', isAbsolute, centres }
      open = undefined
    } else if (open) readers.get(label)?.(open, line)
  }
}

/** Model and radome: in 16 and 4 columns, or separated. Without a radome it is `NONE`. */
function partsOf(igsCode: string): readonly [model: string, radome: string] {
  const typed = igsCode.trim().toUpperCase()
  if (typed.length === 20) return [typed.slice(0, 16).trimEnd(), typed.slice(16)]
  const [model = '', radome = 'NONE'] = typed.split(/\s+/)
  return [model, radome]
}

/**
 * The calibration of a receiver antenna: that of the single antenna if the file has it, else that of its type.
 * @param igsCode model and radome, `TRM57971.00     NONE`; a calibration with another radome does not count
 * @param serial of the antenna; empty: only that of the type
 * @returns undefined if the file does not have the antenna
 */
export async function findAntenna(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  igsCode: string,
  serial = '',
): Promise<AntennaCalibration | undefined> {
  const [model, radome] = partsOf(igsCode)
  let ofType: AntennaCalibration | undefined
  if (model === '') return undefined
  for await (const antenna of readAntex(source)) {
    const [ownModel, ownRadome] = partsOf(antenna.type)
    if (ownModel !== model || ownRadome !== radome) continue
    if (antenna.serial === '') ofType ??= antenna
    else if (serial !== '' && antenna.serial === serial.trim()) return antenna
  }
  return ofType
}
