/** Provided by the plugin that records raw data. */
import { defineService } from '../token.js'

/** Recorded observations of a span of time. Times are UTC milliseconds. */
export interface RawData {
  /** Undefined: no observations. Takes minutes for a day. `preset` is a name of `rinexPresets`. Rejects with RTK_ERR_UNAVAILABLE while another call reads. */
  rinex(from_ms: number, to_ms: number, preset: string): Promise<RawRinex | undefined>
  /** Reasons why the positions of a span may differ, such as `moved`, oldest first. */
  notes(from_ms: number, to_ms: number): Promise<readonly { readonly t: number; readonly what: string }[]>
}

export interface RawRinex {
  /** File name, by the naming rules of RINEX. */
  readonly name: string
  /** Compressed with gzip. */
  readonly bytes: Uint8Array
  readonly epochs: number
  /** Number of missing epochs between the first and the last epoch. */
  readonly missing: number
  /** From the first to the last epoch, seconds. */
  readonly span_s: number
  /** Height of the antenna reference point above the marker, as in the file's header, metres. */
  readonly antennaHeight_m: number
  /** IGS code of the antenna in the file's header; '' unknown. */
  readonly antenna: string
  /** Whether the station has a calibration of this antenna; undefined: it has no table of antennas. */
  readonly isCalibrated?: boolean
}
export const rawData = defineService<RawData>('raw-data', { shape: { rinex: 'function', notes: 'function' } })
