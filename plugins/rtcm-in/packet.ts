import { crc24q, messageNumber } from 'rtk-base/gnss'

export interface CorrectionFrame {
  /** Message number. */
  type: number
  /** From the 0xD3 to the last CRC byte; a view into the packet. */
  bytes: Uint8Array
}

/** The frames of a packet that consists of whole, right RTCM 3 frames and nothing else; undefined for any other. */
export function framesOf(packet: Uint8Array): CorrectionFrame[] | undefined {
  const frames: CorrectionFrame[] = []
  for (let at = 0; at < packet.length; ) {
    if (packet.length - at < 6 || packet[at] !== 0xd3 || (packet[at + 1] & 0xfc) !== 0) return undefined
    const end = at + 6 + ((packet[at + 1] << 8) | packet[at + 2])
    if (end > packet.length || crc24q(packet, at, end) !== 0) return undefined
    const bytes = packet.subarray(at, end)
    frames.push({ type: messageNumber(bytes), bytes })
    at = end
  }
  return frames.length > 0 ? frames : undefined
}
