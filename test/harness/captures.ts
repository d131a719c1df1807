/** Receiver captures with oracle values. They are not part of the project: tests that need them skip without. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(process.env.RTK_BASE_CAPTURES ?? '../shared/captures')
const suffix = '.expected.json'

export interface OracleCounts {
  UBX: number
  RTCM3: number
  NMEA: number
}

/** The values of one decoded message by field name; `offset` is where its frame stands in the capture. */
export type OracleValues = Record<string, unknown> & { offset: number }

/** What two independent programs found in a capture. */
export interface Oracle {
  capture: string
  framing: {
    bytes: { total: number; in_frames: OracleCounts; garbage: number }
    frames: OracleCounts
    /** By protocol, then by message name: `01-07 NAV-PVT`, `1005`, `4072.1`, `GNGGA`. */
    messages: Record<keyof OracleCounts, Record<string, number>>
    bad_checksum: OracleCounts
  }
  /** By message, e.g. `RTCM-1005`. */
  values: Record<string, { count: number; first: OracleValues; last: OracleValues }>
}

export interface Capture {
  name: string
  bytes: Uint8Array
  oracle: Oracle
}

/** A reason to skip, for tap's `skip` option; false when the captures are there. */
export const noCaptures: string | false = existsSync(folder)
  ? false
  : `no captures in ${folder}: set RTK_BASE_CAPTURES to the folder that holds them`

/** Reads every capture that has oracle values; an empty list when there are none. */
export function captures(): Capture[] {
  if (noCaptures) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith(suffix))
    .map((file) => {
      const name = file.slice(0, -suffix.length)
      return {
        name,
        bytes: Uint8Array.from(readFileSync(join(folder, name))),
        oracle: JSON.parse(readFileSync(join(folder, file), 'utf8')) as Oracle,
      }
    })
}

/** One capture's bytes by file name; undefined when it is not there. */
export function capture(name: string): Uint8Array | undefined {
  const path = join(folder, name)
  return existsSync(path) ? Uint8Array.from(readFileSync(path)) : undefined
}
