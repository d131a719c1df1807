import type { Ecef } from '../../schemas/services.js'
import { sameEcef } from './geodesy.js'
import { decodeRtcm } from './rtcm.js'
import { messageNumber, stationId } from './rtcm-frame.js'

/** What a base announces in 1005 or 1006. */
export interface ReferencePoint {
  stationId: number
  arp: Ecef
}

const announces = (type: number) => type === 1005 || type === 1006

/** The station ID and the antenna reference point of a 1005 or 1006; undefined for any other frame. */
export function referencePoint(frame: Uint8Array): ReferencePoint | undefined {
  if (!announces(messageNumber(frame))) return undefined
  const message = decodeRtcm(frame)
  if (message?.type !== 1005 && message?.type !== 1006) return undefined
  const { x, y, z } = message
  return { stationId: message.stationId, arp: { x, y, z } }
}

/**
 * Holds an RTCM frame of the own receiver against the reference that it must announce: another station ID in any message, or
 * another position in 1005 or 1006.
 * @param wanted without a station ID only the position counts
 * @returns what differs, as a sentence for people; undefined when the frame agrees or says nothing about the reference
 */
export function referenceDifference(
  frame: Uint8Array,
  wanted: { arp: Ecef; stationId?: number | undefined },
): string | undefined {
  const type = messageNumber(frame)
  const id = wanted.stationId === undefined ? undefined : stationId(frame)
  if (id !== undefined && id !== wanted.stationId) {
    return `the receiver sends station ID ${id} in ${type}, not ${wanted.stationId}`
  }
  if (!announces(type)) return undefined
  const point = referencePoint(frame)
  if (!point) return `the receiver sends a ${type} that cannot be read`
  if (sameEcef(point.arp, wanted.arp)) return undefined
  return `the receiver sends ${inMetres(point.arp)} as its position in ${type}, not the reference ${inMetres(wanted.arp)}`
}

const inMetres = ({ x, y, z }: Ecef) => [x, y, z].map((metres) => metres.toFixed(4)).join(' ')
