/** The receivers that can be told apart: what shows them, and a question that each of them answers and the others ignore. */
import { encodeNmea, type Frame, sbf, septentrioReply, unicoreLine, unicoreLog } from 'rtk-base/gnss'

export interface Family {
  readonly maker: string
  /** The plugin that drives it. */
  readonly plugin: string
  /** The question asks for the version, and changes nothing. */
  readonly question: Uint8Array
  /** Whether only a receiver of this family sends such a frame. */
  shows(frame: Frame): boolean
}

const line = (text: string) => new TextEncoder().encode(`${text}\r\n`)
const isOf =
  (...kinds: readonly string[]) =>
  (frame: Frame) =>
    frame.kind === 'other' && kinds.includes(frame.framing)

export const families: readonly Family[] = [
  {
    maker: 'u-blox',
    plugin: 'gnss-zed',
    // The poll of UBX-MON-VER.
    question: Uint8Array.of(0xb5, 0x62, 0x0a, 0x04, 0x00, 0x00, 0x0e, 0x34),
    shows: ({ kind }) => kind === 'ubx',
  },
  {
    maker: 'Unicore',
    plugin: 'gnss-unicore',
    question: line('VERSIONA'),
    shows: isOf(unicoreLine.kind, unicoreLog.kind),
  },
  {
    maker: 'Quectel',
    plugin: 'gnss-quectel',
    question: encodeNmea('PQTMVERNO'),
    shows: ({ kind, bytes }) => kind === 'nmea' && new TextDecoder('latin1').decode(bytes.subarray(1, 5)) === 'PQTM',
  },
  {
    maker: 'Septentrio',
    plugin: 'gnss-septentrio',
    // Ten S make the port take commands, whatever it took before.
    question: line('SSSSSSSSSS\r\ngetReceiverCapabilities'),
    shows: isOf(sbf.kind, septentrioReply.kind),
  },
]
export const framings = [unicoreLine, unicoreLog, sbf, septentrioReply]

/** Rates of receivers as they leave the factory or are found in the field, the usual ones first; a USB port takes any. */
export const bauds = [115_200, 460_800, 38_400, 921_600, 230_400, 9_600] as const
