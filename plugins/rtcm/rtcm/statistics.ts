import { roundTo } from 'rtk-base/gnss'
import type { RtcmFrame } from 'rtk-base/services'

/** A message counts as produced until it has been missing for this many of its intervals, at least `shortest_ms`. */
const missedIntervals = 5
const shortest_ms = 5_000
/** A message that has not come for this long is no longer listed. */
const forgotten_ms = 600_000
const mostTypes = 64
/** Weight of the newest interval in the mean. */
const weight = 0.2

interface Message {
  last_ms: number
  /** Size of the newest frame. */
  bytes: number
  /** Mean interval, 0 until a second one came. */
  interval_ms: number
}

/** The row of one message, for the document: seconds; interval and since only while it is being produced. */
export interface MessageRow {
  id: number
  interval?: number
  since?: number
  bytes: number
}

/** Which messages are produced, and how often: those of the receiver before the gate, those of the station as they go out. */
export class RtcmStatistics {
  received = 0
  readonly #messages = new Map<number, Message>()

  /** A frame of the receiver. */
  count(frame: RtcmFrame): void {
    this.received += 1
    this.note(frame)
  }

  /** Lists a message; one of the station itself was not received. */
  note({ type, bytes: { length: bytes }, arrival_ms }: RtcmFrame): void {
    const message = this.#messages.get(type)
    if (!message) {
      // A receiver has a few dozen types; random numbers that pass a CRC must not fill the list.
      if (this.#messages.size < mostTypes) this.#messages.set(type, { last_ms: arrival_ms, bytes, interval_ms: 0 })
      return
    }
    const interval_ms = arrival_ms - message.last_ms
    message.interval_ms += message.interval_ms === 0 ? interval_ms : (interval_ms - message.interval_ms) * weight
    message.last_ms = arrival_ms
    message.bytes = bytes
  }

  list(now_ms: number): MessageRow[] {
    const rows: MessageRow[] = []
    for (const [id, { last_ms, bytes, interval_ms }] of this.#messages) {
      const since_ms = now_ms - last_ms
      if (since_ms > forgotten_ms) this.#messages.delete(id)
      else if (since_ms > Math.max(shortest_ms, interval_ms * missedIntervals)) rows.push({ id, bytes })
      else rows.push({ id, interval: roundTo(interval_ms / 1000, 2), since: roundTo(since_ms / 1000, 2), bytes })
    }
    return rows.sort((a, b) => a.id - b.id)
  }
}
