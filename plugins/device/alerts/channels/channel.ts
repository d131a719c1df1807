import type { NoticeContent } from '../rules/notice.js'

/** A notice as channels send it. */
export interface Message extends NoticeContent {
  /** Every attempt has the same ID, so that a receiver can tell a repetition. */
  readonly id: string
  /** UTC seconds; 0 unknown. */
  readonly t_s: number
  /** Serial number of the station (or of the fleet) that sends it. */
  readonly from: string
}

export interface Channel {
  /** Unique among the channels. */
  readonly name: string
  /**
   * Resolves when the receiver has accepted it.
   * @throws Undelivered with a reason without secrets
   */
  send(message: Message, signal: AbortSignal): Promise<void>
}
