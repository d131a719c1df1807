/** Readers of RINEX files by the columns of the standard's tables (3.05: A2, A3, A5 to A14; 2.11: A1 to A3). Strict: what is not in its columns throws. */

export interface ReadSignal {
  value: number
  lli: number
}
export interface ReadEpoch {
  /** `2026 04 13 14 28 07.9990000`. */
  readonly time: string
  readonly flag: number
  /** Satellite → observation type → value. */
  readonly satellites: Map<string, Map<string, ReadSignal>>
  /** Of an event. */
  readonly lines: readonly string[]
}
export interface ReadObservations {
  readonly version: string
  readonly header: ReadonlyMap<string, readonly string[]>
  readonly types: ReadonlyMap<string, readonly string[]>
  /** GLONASS: frequency number by slot, bias by code in metres. */
  readonly slots: ReadonlyMap<number, number>
  readonly biases_m: ReadonlyMap<string, number>
  /** Corrections of phases by system and code, cycles; by the system alone: not known. */
  readonly shifts: ReadonlyMap<string, number | undefined>
  readonly epochs: readonly ReadEpoch[]
}

const known3 = new Set([
  ...['RINEX VERSION / TYPE', 'PGM / RUN BY / DATE', 'COMMENT', 'MARKER NAME', 'MARKER NUMBER', 'MARKER TYPE'],
  ...['OBSERVER / AGENCY', 'REC # / TYPE / VERS', 'ANT # / TYPE', 'APPROX POSITION XYZ', 'ANTENNA: DELTA H/E/N'],
  ...['SYS / # / OBS TYPES', 'SIGNAL STRENGTH UNIT', 'INTERVAL', 'TIME OF FIRST OBS', 'TIME OF LAST OBS'],
  ...['SYS / PHASE SHIFT', 'GLONASS SLOT / FRQ #', 'GLONASS COD/PHS/BIS', 'LEAP SECONDS', 'END OF HEADER'],
  ...['WAVELENGTH FACT L1/2', '# / TYPES OF OBSERV'],
])
const mandatory3 = [
  ...['RINEX VERSION / TYPE', 'PGM / RUN BY / DATE', 'MARKER NAME', 'OBSERVER / AGENCY', 'REC # / TYPE / VERS'],
  ...['ANT # / TYPE', 'APPROX POSITION XYZ', 'ANTENNA: DELTA H/E/N', 'TIME OF FIRST OBS', 'END OF HEADER'],
]

function readHeader(lines: string[]): Map<string, string[]> {
  const header = new Map<string, string[]>()
  for (;;) {
    const line = lines.shift()
    if (line === undefined) throw new Error('the header has no end')
    const label = line.slice(60).trim()
    if (!known3.has(label)) throw new Error(`unknown label '${label}'`)
    header.set(label, [...(header.get(label) ?? []), line.slice(0, 60)])
    if (label === 'END OF HEADER') return header
  }
}

function number(text: string, pattern: RegExp): number {
  if (!pattern.test(text)) throw new Error(`'${text}' is no number of ${pattern}`)
  return Number(text)
}

const f14 = /^ *-?\d+\.\d{3}$/
const indicator = (text = ' ') => (text.trim() === '' ? 0 : number(text, /^[0-9]$/))

function readValue(field: string): ReadSignal | undefined {
  const text = field.slice(0, 14)
  if (text.trim() === '') return undefined
  if (text.length !== 14) throw new Error(`'${field}' is cut off`)
  return { value: number(text, f14), lli: indicator(field[14]) }
}

export function readObservations(text: string): ReadObservations {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const version = lines[0]?.slice(0, 9).trim() ?? ''
  const header = readHeader(lines)
  for (const label of mandatory3) if (!header.has(label)) throw new Error(`no ${label}`)
  return version.startsWith('3') ? read3(version, header, lines) : read2(version, header, lines)
}

function read3(version: string, header: Map<string, string[]>, lines: string[]): ReadObservations {
  const types = new Map<string, string[]>()
  let system = ''
  for (const line of header.get('SYS / # / OBS TYPES') ?? []) {
    if (line[0] !== ' ') {
      system = line[0] ?? ''
      types.set(system, [])
    }
    types.get(system)?.push(...(line.slice(6).match(/ [CLDS]\d[A-Z]/g) ?? []).map((type) => type.trim()))
  }
  for (const line of header.get('SYS / # / OBS TYPES') ?? []) {
    if (line[0] !== ' ' && Number(line.slice(3, 6)) !== types.get(line[0] ?? '')?.length)
      throw new Error(`count: ${line}`)
  }
  if (types.has('R')) for (const label of ofGlonass) if (!header.has(label)) throw new Error(`no ${label}`)
  const epochs: ReadEpoch[] = []
  while (lines.length > 0) {
    const head = lines.shift() ?? ''
    const match = /^> (\d{4} \d\d \d\d \d\d \d\d [ \d]\d\.\d{7}) {2}(\d)([ \d]{3})/.exec(head)
    if (!match) throw new Error(`'${head}' is no epoch`)
    const [, time = '', flag, count] = match
    const rows = lines.splice(0, Number(count))
    if (rows.length !== Number(count)) throw new Error('an epoch is cut off')
    const satellites = new Map<string, Map<string, ReadSignal>>()
    if (Number(flag) <= 1) {
      for (const row of rows) {
        const name = /^[GRECJSI]\d\d/.exec(row)?.[0]
        const own = types.get(row[0] ?? '')
        if (!name || !own) throw new Error(`'${row}' is no satellite`)
        if (satellites.has(name)) throw new Error(`${name} twice in ${time}`)
        const found = new Map<string, ReadSignal>()
        for (const [at, type] of own.entries()) {
          const value = readValue(row.slice(3 + at * 16, 19 + at * 16))
          if (value) found.set(type, value)
        }
        if (row.trimEnd().length > 3 + own.length * 16) throw new Error(`'${row}' is too long`)
        satellites.set(name, found)
      }
    }
    epochs.push({ time: time.replace(/ +(\d\.)/, ' 0$1'), flag: Number(flag), satellites, lines: rows })
  }
  return {
    version,
    header,
    types,
    slots: readSlots(header),
    biases_m: readBiases(header),
    shifts: readShifts(header, types),
    epochs,
  }
}

const ofGlonass = ['GLONASS SLOT / FRQ #', 'GLONASS COD/PHS/BIS']

/** I3, then eight a line of 1X,A1,I2.2,1X,I2. */
function readSlots(header: ReadonlyMap<string, readonly string[]>): Map<number, number> {
  const slots = new Map<number, number>()
  const lines = header.get('GLONASS SLOT / FRQ #') ?? []
  for (const text of lines.map((line) => line.slice(3).trimEnd())) {
    if (!/^( R\d\d [ -]\d){0,8}$/.test(text)) throw new Error(`'${text}' are no slots`)
    for (const [, slot, frequency] of text.matchAll(/ R(\d\d) ([ -]\d)/g)) slots.set(Number(slot), Number(frequency))
  }
  for (const [at, line] of lines.entries()) {
    if (at === 0 ? Number(line.slice(0, 3)) !== slots.size : line.slice(0, 3) !== '   ')
      throw new Error(`count: ${line}`)
  }
  if ([...slots.values()].some((frequency) => frequency < -7 || frequency > 6)) throw new Error('no frequency number')
  return slots
}

/** Four of 1X,A3,1X,F8.3, or blank. */
function readBiases(header: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const [text = ''] = (header.get('GLONASS COD/PHS/BIS') ?? []).map((line) => line.trimEnd())
  if (!/^( C[12][CP] [ \d-]{4}\.\d{3}){0,4}$/.test(text)) throw new Error(`'${text}' are no biases`)
  const entries = [...text.matchAll(/ (C[12][CP]) (.{8})/g)]
  return new Map(entries.map(([, code = '', bias]) => [code, Number(bias)]))
}

/** A1,1X,A3,1X,F8.5; without a number: not known. */
function readShifts(
  header: ReadonlyMap<string, readonly string[]>,
  types: ReadonlyMap<string, readonly string[]>,
): Map<string, number | undefined> {
  const shifts = new Map<string, number | undefined>()
  for (const line of header.get('SYS / PHASE SHIFT') ?? []) {
    const [, system = '', type, shift] = /^([GRECJSI])(?: (L\d[A-Z])(?: ([ -]\d\.\d{5}))?)?$/.exec(line.trimEnd()) ?? []
    if (!types.has(system) || (type && !types.get(system)?.includes(type))) throw new Error(`'${line}' is no shift`)
    shifts.set(system + (type ?? ''), shift === undefined ? undefined : Number(shift))
  }
  for (const [system, own] of types) {
    if (own.some((type) => type.startsWith('L')) && ![...shifts.keys()].some((id) => id.startsWith(system)))
      throw new Error(`no shift of ${system}`)
  }
  return shifts
}

function read2(version: string, header: Map<string, string[]>, lines: string[]): ReadObservations {
  const types = (header.get('# / TYPES OF OBSERV') ?? []).flatMap((line) => line.slice(6).match(/[CPLDS]\d/g) ?? [])
  const epochs: ReadEpoch[] = []
  while (lines.length > 0) {
    const head = lines.shift() ?? ''
    if (!/^ \d\d( [ \d]\d){4}[ \d]{3}\.\d{7} {2}\d[ \d]{3}/.test(head)) throw new Error(`'${head}' is no epoch`)
    const count = Number(head.slice(29, 32))
    const names: string[] = head.slice(32).match(/[GRES][ \d]\d/g) ?? []
    while (Number(head[28]) <= 1 && names.length < count)
      names.push(...((lines.shift() ?? '').slice(32).match(/[GRES][ \d]\d/g) ?? []))
    const satellites = new Map<string, Map<string, ReadSignal>>()
    if (Number(head[28]) > 1) lines.splice(0, count)
    for (const name of names) {
      const text = Array.from({ length: Math.ceil(types.length / 5) }, () => (lines.shift() ?? '').padEnd(80)).join('')
      const found = new Map<string, ReadSignal>()
      for (const [at, type] of types.entries()) {
        const value = readValue(text.slice(at * 16, at * 16 + 16))
        if (value) found.set(type, value)
      }
      satellites.set(name.replace(' ', '0'), found)
    }
    epochs.push({ time: head.slice(1, 26), flag: Number(head[28]), satellites, lines: [] })
  }
  const nothing = new Map()
  return { version, header, types: new Map([['', types]]), slots: nothing, biases_m: nothing, shifts: nothing, epochs }
}

/** Satellite and time of clock → the numbers of a record, in order. */
export function readNavigation(text: string): Map<string, number[][]> {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  while (lines.length > 0 && lines.shift()?.slice(60).trim() !== 'END OF HEADER');
  const records = new Map<string, number[][]>()
  while (lines.length > 0) {
    const head = lines.shift() ?? ''
    const name = /^[GRECJ]\d\d \d{4}( [ \d]\d){5}/.exec(head)?.[0]
    if (!name) throw new Error(`'${head}' is no record`)
    const numbers = fieldsOf(head.slice(23))
    while (lines[0]?.startsWith('    ')) numbers.push(...fieldsOf((lines.shift() ?? '').slice(4)))
    records.set(name, [...(records.get(name) ?? []), numbers])
  }
  return records
}

function fieldsOf(text: string): number[] {
  const fields = text.trimEnd().match(/.{19}/g) ?? []
  return fields.map((field) =>
    field.trim() === '' ? 0 : number(field.replace('D', 'E'), /^ *-?\d?\.\d{12}E[+-]\d\d$/),
  )
}
