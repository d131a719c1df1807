/** When the station sends messages of its own about its antenna. Pure; the time is that of the frames. */
import { isMsm, isReferencePoint, messageNumber, referencePoint } from 'rtk-base/gnss'
import type { Receiver, RtcmFrame } from 'rtk-base/services'
import { type Antenna, antennaMessages, withHeight } from './antenna.js'

/** Between two of the same message. */
export const interval_ms = 10_000
/** A frame that comes this much earlier counts as in time: receivers send at whole seconds, more or less. */
const play_ms = 500
/** A message that the receiver sent itself in this time is left to it. */
const ownedBy_ms = 300_000

export interface StationMessagesDeps {
  antenna(): Antenna
  identity(): Receiver['identity'] | undefined
}

export class StationMessages {
  readonly #deps: StationMessagesDeps
  /** When the receiver sent a 1008 and a 1033 of its own, by message number. */
  readonly #receiver_ms = new Map<number, number>()
  #sent_ms = Number.NEGATIVE_INFINITY

  constructor(deps: StationMessagesDeps) {
    this.#deps = deps
  }

  /** The frame to send for a receiver frame: a 1006 instead of a 1005 if a height is set. */
  outgoing(frame: RtcmFrame): RtcmFrame {
    if (frame.type === 1008 || frame.type === 1033) this.#receiver_ms.set(frame.type, frame.arrival_ms)
    return frame.type === 1005 ? withHeight(frame, this.#deps.antenna().height) : frame
  }

  /** Station messages are due with the next 1005 or 1006: the gate opens, or something else was entered. */
  restart(): void {
    this.#sent_ms = Number.NEGATIVE_INFINITY
  }

  /** @param position the 1005 or 1006 that has just gone out @returns what follows it, where it is time */
  after({ bytes, arrival_ms }: RtcmFrame): RtcmFrame[] {
    const identity = this.#deps.identity()
    const point = referencePoint(bytes)
    if (!identity || !point || arrival_ms - this.#sent_ms < interval_ms - play_ms) return []
    this.#sent_ms = arrival_ms
    return antennaMessages(this.#deps.antenna(), identity, point.stationId)
      .map((message) => ({ type: messageNumber(message), bytes: message, arrival_ms }))
      .filter(({ type }) => !this.#isOfReceiver(type, arrival_ms))
  }

  #isOfReceiver(type: number, now_ms: number): boolean {
    return now_ms - (this.#receiver_ms.get(type) ?? Number.NEGATIVE_INFINITY) < ownedBy_ms
  }
}

/** @returns seconds; undefined if unknown */
export function nominal_s(
  type: number,
  { intervals_s: receiver, output }: Pick<Receiver, 'intervals_s' | 'output'>,
): number | undefined {
  if (isMsm(type)) return receiver?.observations
  if (isReferencePoint(type)) return receiver?.reference
  if (type === 1008 || type === 1033) return Math.max(interval_ms / 1000, receiver?.reference ?? 0)
  return type === 1230 ? output?.biasInterval_s : undefined
}
