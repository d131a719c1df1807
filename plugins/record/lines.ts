import { crc32 } from 'node:zlib'
import type { RecordEntry, RecordMinute } from 'rtk-base/schemas'

/** An entry as it stands in a file: what is as in the minute before is left out of a minute. */
export type StoredEntry = Omit<RecordEntry, 'min'> & { readonly min?: Partial<RecordMinute> }

const longest = 8_192

const sumOf = (json: string): string => crc32(json).toString(16).padStart(8, '0')

/** `crc32 json`: one line. What is too long for a line is left out. */
export function lineOf(entry: StoredEntry): string {
  const json = JSON.stringify(entry)
  return json.length > longest ? '' : `${sumOf(json)} ${json}\n`
}

/** The entry of a line; undefined when it is torn or damaged. */
export function entryOf(line: string): StoredEntry | undefined {
  const json = line.slice(9)
  if (line[8] !== ' ' || line.slice(0, 8) !== sumOf(json)) return undefined
  try {
    return JSON.parse(json) as StoredEntry
  } catch {
    return undefined
  }
}
