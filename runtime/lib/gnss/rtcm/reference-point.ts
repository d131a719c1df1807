import type { Ecef, ErrorValues } from '../../../../schemas/services.js'
import { toTenthMm } from '../geodesy.js'
import { messageNumber, stationId } from './frame.js'
import { decodeRtcm } from './messages.js'

/** The content of a base's 1005 or 1006. */
export interface ReferencePoint {
  stationId: number
  arp: Ecef
}

/** Whether a message has the position of the base. */
export const isReferencePoint = (type: number): boolean => type === 1005 || type === 1006
/** Messages about the base itself: what a rover needs before it can use observations. */
export const referenceTypes: readonly number[] = [1005, 1006, 1008, 1033, 1230]

/** The station ID and the antenna reference point of a 1005 or 1006; undefined for any other frame. */
export function referencePoint(frame: Uint8Array): ReferencePoint | undefined {
  if (!isReferencePoint(messageNumber(frame))) return undefined
  const message = decodeRtcm(frame)
  if (message?.type !== 1005 && message?.type !== 1006) return undefined
  const { x, y, z } = message
  return { stationId: message.stationId, arp: { x, y, z } }
}

/**
 * Tolerance between the position in a 1005 and the reference given to the receiver. A ZED-F9P truncates the position
 * to 0.1 mm, and other receivers may round it when they convert units.
 */
const announcedTolerance_m = 0.001

/** Whether a position that a receiver announces is the reference `q`, to 1 mm in space. */
export function sameReference(p: Ecef, q: Ecef): boolean {
  const apart_tenthMm = Math.hypot(
    toTenthMm(p.x) - toTenthMm(q.x),
    toTenthMm(p.y) - toTenthMm(q.y),
    toTenthMm(p.z) - toTenthMm(q.z),
  )
  return apart_tenthMm <= toTenthMm(announcedTolerance_m)
}

/**
 * How a frame differs from the reference: another station ID, another position, or a 1005 or 1006 that cannot be decoded. The
 * plugins have a text for each kind. The values are strings: numbers of messages and stations are no quantities.
 */
export interface ReferenceDifference {
  readonly kind: 'station-id' | 'position' | 'unreadable'
  readonly values: ErrorValues
}

/**
 * Compares an RTCM frame of the station's receiver with the reference that the receiver must announce. Differences
 * are another station ID (in any message), and a position in 1005 or 1006 that is more than 1 mm away.
 * @param wanted without a station ID only the position counts
 * @returns the difference; undefined if the frame agrees or has no reference
 */
export function referenceDifference(
  frame: Uint8Array,
  wanted: { arp: Ecef; stationId?: number | undefined },
): ReferenceDifference | undefined {
  const type = messageNumber(frame)
  const message = String(type)
  const id = wanted.stationId === undefined ? undefined : stationId(frame)
  if (id !== undefined && id !== wanted.stationId) {
    return { kind: 'station-id', values: { message, sent: String(id), wanted: String(wanted.stationId) } }
  }
  if (!isReferencePoint(type)) return undefined
  const point = referencePoint(frame)
  if (!point) return { kind: 'unreadable', values: { message } }
  if (sameReference(point.arp, wanted.arp)) return undefined
  return { kind: 'position', values: { message, sent: inMetres(point.arp), wanted: inMetres(wanted.arp) } }
}

const inMetres = ({ x, y, z }: Ecef) => [x, y, z].map((metres) => metres.toFixed(4)).join(' ')
