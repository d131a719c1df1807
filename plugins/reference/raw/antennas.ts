/**
 * The table of antennas: the receiver antennas of an ANTEX file, reduced to the heights of their phase centres. A file of the IGS has 30 MB,
 * its table 100 kB. It is read from the disk when it is needed.
 */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { disk, readPlain, replaceFile, syncFolder } from 'rtk-base/files'
import { antennaCode } from 'rtk-base/gnss'
import { badValue, RtkError } from 'rtk-base/plugin'
import { readAntex } from 'rtk-base/rinex'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'

type Source = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

const mebi = 1_048_576
const largestFile_bytes = 64 * mebi
/** 20,000 antennas. */
export const largestTable_bytes = 4 * mebi

export const AntennaFile = Type.Object({
  name: Type.String({ description: 'Name of the ANTEX file' }),
  t: Type.Integer({ description: 'UTC milliseconds: when it was uploaded' }),
  bytes: Type.Integer({ description: 'Size of the ANTEX file' }),
  count: Type.Integer({ description: 'Receiver antennas in the table' }),
  left_out: Type.Integer({ description: 'Antennas whose lines contradict the format' }),
})
export type AntennaFile = Static<typeof AntennaFile>

export const AntennaEntry = Type.Object({
  type: Type.String({ description: 'IGS code, 20 characters' }),
  serial: Type.Optional(Type.String({ description: 'Serial number of a single antenna. Without it: all of the type' })),
  up_mm: Type.Record(Type.String(), Type.Number(), {
    description:
      'The mean phase centre above the antenna reference point, millimetres, by frequency: `G01`, `G02`, `E05`',
  }),
})
export type AntennaEntry = Static<typeof AntennaEntry>

const Head = Type.Object({ ...AntennaFile.properties, sha256: Type.String() })

export interface Antennas {
  readonly file: AntennaFile
  readonly entries: readonly AntennaEntry[]
}

/** Case and the width of the gap do not count. */
const plain = (text: string) => text.trim().toUpperCase().replaceAll(/\s+/g, ' ')
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

export class AntennaTable {
  readonly #folder: () => string
  readonly #now_ms: () => number
  readonly #trouble: (text: string) => void
  /** The file as it was read last: reading 20,000 antennas takes a fifth of a second. */
  #kept: { readonly state: string; readonly found: Antennas | undefined } | undefined

  /** @param trouble is told why the table cannot be read */
  constructor(folder: () => string, now_ms: () => number, trouble: (text: string) => void) {
    this.#folder = folder
    this.#now_ms = now_ms
    this.#trouble = trouble
  }

  get #path(): string {
    return join(this.#folder(), 'table.jsonl')
  }

  /**
   * Replaces the table; it is durable then. A file that is refused leaves the former one.
   * @param source an ANTEX file
   * @throws RTK_ERR_COMMAND_VALUE with the reason, RTK_ERR_BODY_TOO_LARGE, or an error of the file system
   */
  async replace(source: Source, name: string): Promise<AntennaFile> {
    const { bytes, leftOut, lines } = await reduced(source)
    const body = lines.join('\n')
    const t = Math.floor(this.#now_ms())
    const file: AntennaFile = { name, t, bytes, count: lines.length, left_out: leftOut }
    await replaceFile(this.#path, `${JSON.stringify({ ...file, sha256: hashOf(body) })}\n${body}`)
    return file
  }

  async remove(): Promise<void> {
    await disk.rm(this.#path, { recursive: true, force: true })
    await syncFolder(dirname(this.#path))
  }

  /** Undefined: there is no table, or it cannot be read. */
  async read(): Promise<Antennas | undefined> {
    const file = await disk.lstat(this.#path).catch(() => undefined)
    const state = file ? `${file.ino} ${file.size} ${file.mtimeMs}` : ''
    if (this.#kept?.state !== state) this.#kept = { state, found: file && (await this.#readFile()) }
    return this.#kept.found
  }

  async #readFile(): Promise<Antennas | undefined> {
    let text: string
    try {
      text = (await readPlain(this.#path, largestTable_bytes + 4_096)).toString('utf8')
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') this.#trouble((error as Error).message)
      return undefined
    }
    const end = text.indexOf('\n')
    const body = text.slice(end + 1)
    try {
      const head = JSON.parse(text.slice(0, end)) as unknown
      if (!Value.Check(Head, head) || head.sha256 !== hashOf(body)) throw new Error('it is damaged')
      const { sha256: _own, ...file } = head
      return { file, entries: body.split('\n').map((line) => JSON.parse(line) as AntennaEntry) }
    } catch {
      this.#trouble('it is damaged')
      return undefined
    }
  }
}

/** The calibration of a single antenna if the table has it, else that of its type. */
export function antennaIn({ entries }: Antennas, typed: string, serial: string): AntennaEntry | undefined {
  const code = antennaCode(typed).toUpperCase()
  const ofType = entries.filter(({ type }) => type.toUpperCase() === code)
  return (
    ofType.find((one) => one.serial !== undefined && one.serial === serial.trim()) ??
    ofType.find((one) => one.serial === undefined)
  )
}

/** Antennas whose code contains the text, in the order of their codes. */
export function antennasWith({ entries }: Antennas, text: string, limit: number): AntennaEntry[] {
  const wanted = plain(text)
  return entries.filter(({ type }) => plain(type).includes(wanted)).slice(0, limit)
}

/** Reads an ANTEX file once. @returns the lines of the table, in order */
async function reduced(source: Source) {
  let bytes = 0
  async function* bounded() {
    for await (const part of source) {
      bytes += part.length
      if (bytes > largestFile_bytes)
        throw new RtkError('RTK_ERR_BODY_TOO_LARGE', `an ANTEX file may have at most ${largestFile_bytes / mebi} MiB`)
      yield part
    }
  }
  const found = new Map<string, string>()
  let isRelative = false
  let table_bytes = 0
  const reader = readAntex(bounded())
  let next = await reader.next()
  for (; !next.done; next = await reader.next()) {
    const { centres, isAbsolute, isSatellite, serial } = next.value
    // Some files leave the radome out.
    const type = antennaCode(next.value.type)
    if (isSatellite || type === '') continue
    isRelative ||= !isAbsolute
    const key = `${type}${serial}`
    if (!isAbsolute || found.has(key)) continue
    const up_mm = Object.fromEntries([...centres].map(([frequency, centre]) => [frequency, centre.up_mm]))
    const line = JSON.stringify({ type, ...(serial !== '' && { serial }), up_mm } satisfies AntennaEntry)
    table_bytes += line.length + 1
    if (table_bytes > largestTable_bytes) throw refused('it has too many antennas: upload a smaller one')
    found.set(key, line)
  }
  const { isAntex, isComplete, leftOut } = next.value
  if (!isAntex) throw refused('it is not ANTEX 1.x. The IGS has such files, for example igs20.atx')
  if (!isComplete) throw refused('it is cut off: its last antenna has no end. Download it again')
  if (found.size === 0 && isRelative)
    throw refused('its calibrations are relative: upload absolute ones, for example igs20.atx')
  if (found.size === 0) throw refused('it has no antenna of a receiver that can be read')
  return { bytes, leftOut, lines: [...found].sort(([p], [q]) => (p < q ? -1 : 1)).map(([, line]) => line) }
}

const refused = (reason: string) => badValue(`this file is not used, and the former table stays: ${reason}`)
