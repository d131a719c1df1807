import { BitWriter } from '../rtcm/bits.js'
import { encodeFrame } from '../rtcm/frame.js'
import type { Field } from '../rtcm/layout.js'
import { isSatellite } from './ephemeris.js'
import { ephemerisLayouts } from './layouts.js'
import { type NavigationMessage, navigationMessage, type Page } from './subframes/index.js'

/** The pages of a satellite that were received, of one issue. */
interface Slot {
  pages: Map<number, Page>
  since_s: number
}

/** All pages come within 30 s; those that are lost come again. Older ones are not combined with new ones. */
const longest_s = 90

/**
 * Combines the navigation pages that a u-blox receiver delivers (UBX-RXM-SFRBX) into ephemerides, in the form of the
 * RTCM message with the same content: 1019, 1020, 1042, 1044 or 1046. Only pages of one issue (GPS and QZSS IODE,
 * Galileo IODnav) or of one frame (GLONASS, BeiDou) that pass the checks of their message are combined. One slot per
 * satellite bounds the memory.
 */
export class SubframeAssembler {
  readonly #slots = new Map<string, Slot>()

  /**
   * @param frame whole verified UBX frame of any type
   * @param now_s any clock that runs forward
   * @returns an RTCM frame when the page completes an ephemeris, about every 30 s for each satellite
   */
  push(frame: Uint8Array, now_s: number): Uint8Array | undefined {
    const subframe = decodeSfrbx(frame)
    const message = subframe && navigationMessage(subframe.gnssId, subframe.satellite, subframe.sigId)
    if (!message || !isSatellite(message.constellation, subframe.satellite)) return undefined
    const page = message.read(subframe)
    if (!page) return undefined

    const id = `${message.constellation} ${subframe.satellite}`
    let slot = this.#slots.get(id)
    if (!slot || !belongs(page, slot, now_s)) {
      slot = { pages: new Map(), since_s: now_s }
      this.#slots.set(id, slot)
    }
    slot.pages.set(page.number, page)
    if (slot.pages.size < message.pages) return undefined
    this.#slots.delete(id)
    return rtcmFrame(message, subframe.satellite, subframe.freqId, slot.pages)
  }
}

function belongs(page: Page, { pages, since_s }: Slot, now_s: number): boolean {
  if (!(Math.abs(now_s - since_s) <= longest_s)) return false
  return [...pages.values()].every(
    ({ issue }) => issue === undefined || page.issue === undefined || issue === page.issue,
  )
}

/**
 * UBX-RXM-SFRBX: `gnssId svId sigId freqId numWords chn version reserved | u32 words` (F9 HPG 1.51 interface
 * description). freqId is the GLONASS frequency channel + 7, as in RTCM.
 */
function decodeSfrbx(frame: Uint8Array) {
  if (frame.length < 16 || frame[2] !== 0x02 || frame[3] !== 0x13) return undefined
  const payload = frame.subarray(6, -2)
  const [gnssId, satellite, sigId, freqId, count] = payload
  if (payload.length < 8 + 4 * count) return undefined
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length)
  const words = Array.from({ length: count }, (_, index) => view.getUint32(8 + 4 * index, true))
  return { gnssId, satellite, sigId, freqId, words }
}

const none = new Uint8Array(0)
const widthOf = (field: Field) => (field.kind === 'flag' ? 1 : 'bits' in field ? field.bits : 0)

/** Copies the bits of each field from its place in the pages; fields that the satellite does not send are 0. */
function rtcmFrame(
  { rtcm, places }: NavigationMessage,
  satellite: number,
  channel: number,
  pages: ReadonlyMap<number, Page>,
): Uint8Array {
  const writer = new BitWriter()
  writer.uint(rtcm, 12)
  for (const field of ephemerisLayouts[rtcm]) {
    const name = 'name' in field ? field.name : undefined
    const parts = name && places[name]
    if (name === 'satellite') writer.uint(satellite, widthOf(field))
    else if (name === 'channel') writer.uint(channel & 31, widthOf(field))
    else if (!parts) writer.uint(0, widthOf(field))
    else for (const [page, at, width] of parts) writer.copy(pages.get(page)?.bits ?? none, at, width)
  }
  return encodeFrame(writer.bytes())
}
