/** Provided by the plugin that records raw data. */
import { defineService } from '../token.js'

/** Recorded observations of a span of time. Times are UTC milliseconds. */
export interface RawData {
  /** Undefined: no observations. Takes minutes for a day. Rejects with RTK_ERR_UNAVAILABLE while another reads. */
  rinex(from_ms: number, to_ms: number, preset: string): Promise<RawRinex | undefined>
  /** Reasons why the positions of a span may differ, such as `moved`, oldest first. */
  notes(from_ms: number, to_ms: number): Promise<readonly { readonly t: number; readonly what: string }[]>
}

export interface RawRinex {
  /** Of the file, by the rules of RINEX. */
  readonly name: string
  /** Compressed with gzip. */
  readonly bytes: Uint8Array
  readonly epochs: number
  /** Epochs that are missing between the first and the last one. */
  readonly missing: number
  /** From the first to the last epoch, seconds. */
  readonly span_s: number
  /** The antenna reference point above the marker, as in its header, metres. */
  readonly antennaHeight_m: number
  /** The IGS code of the antenna in its header; '' unknown. */
  readonly antenna: string
  /** Whether the station has a calibration of this antenna; undefined: it has no table of antennas. */
  readonly isCalibrated?: boolean
}
export const rawData = defineService<RawData>('raw-data', { shape: { rinex: 'function', notes: 'function' } })
