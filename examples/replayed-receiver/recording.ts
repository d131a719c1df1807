/** The recording of a base, and the script with the identity and faults of its receiver. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  constellationOf,
  decodeMsm,
  decodeRtcm,
  encodeMsm,
  Framer,
  isMsm,
  knownLeap_s,
  moreFollows,
  msmEpochTime,
  type RtcmMessageOf,
  unixToGps,
} from 'rtk-base/gnss'
import type { ReceiverCapabilities, ReceiverIdentity, Satellite } from 'rtk-base/services'

export const faults = ['offline', 'silent', 'deaf', 'wrong-1005', 'short', 'open', 'jammed', 'spoofed'] as const
export type Fault = (typeof faults)[number]

/** receiver.json, read, with the recording that it names. */
export interface Recording {
  identity: ReceiverIdentity
  can: ReceiverCapabilities
  sky: (Pick<Satellite, 'constellation' | 'satellite'> & { azimuth_deg: number; elevation_deg: number })[]
  /** Seconds since the start of the plugin. */
  faults: { fault: Fault; from_s: number; to_s: number }[]
  /** The MSM of each epoch. */
  epochs: Uint8Array[][]
  reference: RtcmMessageOf<1005>
}

/** Rejects with the reason. */
export async function readRecording(path: string): Promise<Recording> {
  const { rtcm, can, ...script } = JSON.parse(await readFile(path, 'utf8'))
  const epochs: Uint8Array[][] = [[]]
  let reference: RtcmMessageOf<1005> | undefined
  const framer = new Framer({
    onFrame(frame) {
      if (frame.kind !== 'rtcm') return
      const message = decodeRtcm(frame.bytes)
      if (message?.type === 1005) reference = message
      if (!isMsm(frame.type)) return
      epochs.at(-1)?.push(frame.bytes)
      if (!moreFollows(frame.bytes)) epochs.push([])
    },
  })
  framer.push(await readFile(join(dirname(path), rtcm)), 0)
  epochs.pop()
  if (!reference || epochs.length === 0) throw new Error(`${rtcm} has no 1005, or no whole epoch`)
  return { ...script, can: { ...can, reports: new Set(can.reports) }, epochs, reference }
}

/** A recorded MSM as it would be sent now, with another station ID. */
export function retimed(frame: Uint8Array, utc_s: number, stationId: number): Uint8Array {
  const msm = decodeMsm(frame)
  const constellation = msm && constellationOf(msm.type)
  if (!constellation) return frame
  const { tow_s } = unixToGps(utc_s, knownLeap_s)
  return encodeMsm({ ...msm, stationId, epochTime: msmEpochTime(constellation, tow_s * 1000, knownLeap_s) })
}
