/**
 * RTCM 3 (RTCM 10403.3): the messages about the reference station. Observations are in `runtime/lib/gnss/rtcm/msm`, frames
 * in `runtime/lib/gnss/rtcm/frame`.
 */
import { BitReader, BitWriter } from './bits.js'
import { encodeFrame, messageNumber } from './frame.js'
import { flag, masked, readFields, reserved, signed, text, uint, unsigned, type Values, writeFields } from './layout.js'

export { crc24q } from '../crc24q.js'
export * from './frame.js'
export * from './msm.js'

/** Antenna reference point; x, y, z are ECEF metres, exact to 0.1 mm. */
const arp = [
  uint('stationId', 12),
  uint('itrfYear', 6),
  flag('gps'),
  flag('glonass'),
  flag('galileo'),
  /** The station is computed, not real. */
  flag('virtual'),
  signed('x', 38, 10_000),
  /** All receiver channels run on one oscillator. */
  flag('singleOscillator'),
  reserved(1),
  signed('y', 38, 10_000),
  uint('quarterCycle', 2),
  signed('z', 38, 10_000),
] as const

const antenna = [uint('stationId', 12), text('antennaDescriptor'), uint('antennaSetupId', 8)] as const

/** Message number → fields behind it. Numbers are those of RTCM 10403.3, the widths those of its data fields. */
const layouts = {
  1005: arp,
  1006: [...arp, unsigned('antennaHeight_m', 16, 10_000)],
  1007: antenna,
  1008: [...antenna, text('antennaSerial')],
  1033: [...antenna, text('antennaSerial'), text('receiverType'), text('receiverFirmware'), text('receiverSerial')],
  /** GLONASS code-phase biases, metres. `biasesAligned`: the observations are already corrected for them. */
  1230: [
    uint('stationId', 12),
    flag('biasesAligned'),
    reserved(3),
    masked('biases_m', ['l1ca', 'l1p', 'l2ca', 'l2p'], 16, 50),
  ],
} as const

type Layouts = typeof layouts
type MessageType = keyof Layouts

/** The message with a given number, e.g. `RtcmMessageOf<1005>`. */
export type RtcmMessageOf<T extends MessageType> = { type: T } & Values<Layouts[T]>
/** A decoded message about the reference station, distinguished by `type`. */
export type RtcmMessage = { [T in MessageType]: RtcmMessageOf<T> }[MessageType]

/** The frame's message; undefined if the number is not one of these messages, or if the frame is too short. */
export function decodeRtcm(frame: Uint8Array): RtcmMessage | undefined {
  const type = messageNumber(frame)
  if (!(type in layouts)) return undefined
  const reader = new BitReader(frame, 3, frame.length - 3)
  reader.uint(12)
  const values = readFields(reader, layouts[type as MessageType])
  return reader.overrun ? undefined : ({ type, ...values } as RtcmMessage)
}

/** @returns a whole frame. @throws RangeError when a value does not fit its field */
export function encodeRtcm(message: RtcmMessage): Uint8Array {
  const writer = new BitWriter()
  writer.uint(message.type, 12)
  writeFields(writer, layouts[message.type] as Layouts[1033], message as RtcmMessageOf<1033>)
  return encodeFrame(writer.bytes())
}
