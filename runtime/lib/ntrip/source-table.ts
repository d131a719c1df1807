/**
 * Source tables: the mountpoints of a caster (rows STR, CAS, NET: RTCM 10410.0 appendix;
 * software.rtcm-ntrip.org/wiki/STR,
 * /CAS, /NET).
 */

export interface StreamRow {
  mount: string
  /** Town or name of the place. */
  identifier: string
  /** e.g. `RTCM 3.2`: clients exist that refuse another 3.x. */
  format: string
  /** e.g. `1005(1),1074(1),1230`: seconds in brackets where they are known. */
  details: string
  /** 0 no phases, 1 L1, 2 L1 and L2 or more. */
  carrier: number
  /** e.g. `GPS+GLO+GAL+BDS` */
  systems: string
  network: string
  /** ISO 3166, three letters. */
  country: string
  lat: number
  lon: number
  /** 1: the client has to send its position. */
  nmea: 0 | 1
  /** 0 single base, 1 network. */
  solution: 0 | 1
  generator: string
  /** `B` basic, `N` none. */
  authentication: string
  /** bit/s */
  bitrate: number
  misc: string
}

const clean = (text: string) => text.replace(/[;\r\n\t]/g, ' ').replace(/[^\x20-\x7e]/g, '?')

/** The caster itself. */
export interface CasterRow {
  /** The address that the client used. */
  host: string
  port: number
  identifier: string
  operator: string
  country: string
  lat: number
  lon: number
}

const lineOf = (...fields: (string | number)[]) => fields.map((field) => clean(String(field))).join(';')

/** A row for a caster that accepts GGA from every client and has no fallback caster. */
export function casterLine({ host, port, identifier, operator, country, lat, lon }: CasterRow): string {
  return lineOf('CAS', host, port, identifier, operator, 1, country, lat.toFixed(2), lon.toFixed(2), '0.0.0.0', 0, '')
}

/** @param identifier as in the field `network` of its streams */
export function networkLine(identifier: string, operator: string, authentication: string): string {
  return lineOf('NET', identifier, operator, authentication, 'N', 'none', 'none', 'none', '')
}

export function streamLine(row: StreamRow): string {
  const { mount, identifier, format, details, carrier, systems, network, country, lat, lon } = row
  const { nmea, solution, generator, authentication, bitrate, misc } = row
  const where = [country, lat.toFixed(2), lon.toFixed(2)]
  const compression = 'none'
  const fee = 'N'
  const origin = [nmea, solution, generator, compression, authentication, fee, Math.round(bitrate), misc]
  return lineOf('STR', mount, identifier, format, details, carrier, systems, network, ...where, ...origin)
}

/** The table as it is sent, with the line that ends it. */
export const tableText = (lines: readonly string[]): string => [...lines, 'ENDSOURCETABLE', ''].join('\r\n')

/** No row is as long: the rest of a line is left out. */
const longestLine = 4_096

/**
 * Reads the table of another caster from pieces of any size. Each row is read as soon as it is complete, so that a
 * large table does not block the event loop. Missing fields become empty or 0, other lines are skipped, and `;` in
 * the last field is kept.
 */
export class TableReader {
  readonly #row: (row: StreamRow) => void
  #line = ''
  /** Bytes received so far. */
  bytes = 0
  /** The end of the table was received. */
  over = false

  constructor(row: (row: StreamRow) => void) {
    this.#row = row
  }

  push(bytes: Buffer): void {
    this.bytes += bytes.length
    const [first = '', ...rest] = bytes.toString('latin1').split('\n')
    this.#add(first)
    for (const piece of rest) {
      this.end()
      this.#add(piece)
    }
  }

  /** The input has ended: the last line may lack its line end. */
  end(): void {
    const line = this.#line.trimEnd()
    this.#line = ''
    if (line.startsWith('ENDSOURCETABLE')) this.over = true
    const row = this.over ? undefined : rowOf(line)
    if (row) this.#row(row)
  }

  #add(piece: string): void {
    if (this.#line.length < longestLine) this.#line += piece.slice(0, longestLine)
  }
}

export function parseTable(text: string): StreamRow[] {
  const rows: StreamRow[] = []
  const reader = new TableReader((row) => rows.push(row))
  reader.push(Buffer.from(text, 'latin1'))
  reader.end()
  return rows
}

function rowOf(line: string): StreamRow | undefined {
  if (!line.startsWith('STR;')) return undefined
  const fields = line.split(';')
  const at = (index: number) => fields[index] ?? ''
  const number = (index: number) => {
    const value = Number.parseFloat(at(index))
    return Number.isFinite(value) ? value : 0
  }
  if (at(1) === '') return undefined
  return {
    mount: at(1),
    identifier: at(2),
    format: at(3),
    details: at(4),
    carrier: number(5),
    systems: at(6),
    network: at(7),
    country: at(8),
    lat: number(9),
    lon: number(10),
    nmea: at(11) === '1' ? 1 : 0,
    solution: at(12) === '1' ? 1 : 0,
    generator: at(13),
    authentication: at(15),
    bitrate: number(17),
    misc: fields.slice(18).join(';'),
  }
}

/**
 * The rows that match a filter (`GET /?STR;BASE*;…`): one value for each field. `*` is any text, `|` or, `!` not, and
 * `<`, `>`, `=` compare numbers. A value that cannot be read matches every row, because a caster may send more than
 * requested.
 */
export function filterLines(lines: readonly string[], query: string): readonly string[] {
  const wanted = query.split(';').map(decode)
  if (!/^(STR|CAS|NET)$/.test(wanted[0] ?? '')) return lines
  return lines.filter((line) => {
    const fields = line.split(';')
    return wanted.every((value, index) => value === '' || value.startsWith('~') || holds(value, fields[index] ?? ''))
  })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function holds(wanted: string, field: string): boolean {
  if (wanted.length > 256) return true
  return wanted.split('|').some((part) => {
    if (part.startsWith('!')) return !holds(part.slice(1), field)
    if (/^[<>=]/.test(part)) {
      const number = Number(field)
      const limit = Number(part.replace(/^[<>]?=?/, ''))
      if (!Number.isFinite(limit) || field === '') return true
      if (part.startsWith('<')) return part[1] === '=' ? number <= limit : number < limit
      if (part.startsWith('>')) return part[1] === '=' ? number >= limit : number > limit
      return number === limit
    }
    // By hand, as an expression of `*` alone can take for ever.
    return matches(part.split('*'), field)
  })
}

function matches([first = '', ...rest]: string[], field: string): boolean {
  if (rest.length === 0) return field === first
  if (!field.startsWith(first)) return false
  let at = first.length
  const last = rest.pop() ?? ''
  for (const part of rest) {
    const found = field.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return field.length - last.length >= at && field.endsWith(last)
}
