import type { PluginContext } from 'rtk-base/plugin'

/** Time, as the plugin's context gives it. */
export type Edges = Pick<PluginContext, 'clock' | 'timers'>

/** What a port tells while it is open. Calls come from I/O, never from inside `open` or `write`. */
export interface PortSink {
  /** Bytes as they came; the array may be reused afterwards. */
  data(chunk: Uint8Array): void
  /**
   * The device is gone (EOF, EIO, ENXIO, closed by the peer). Called at most once per open, never after `close`.
   * @param end a file came to its end: there is nothing to open again
   */
  closed(reason: string, end?: boolean): void
}

/** A byte stream to a receiver. Opened and closed any number of times, one opening at a time. */
export interface ReceiverPort {
  /** As the option `port` names it, for people. */
  readonly name: string
  /** Whether the line has a rate: another one may be tried when no frame makes sense. */
  readonly hasBaud: boolean
  /** Whether this is a live receiver: its time is the time of now. */
  readonly live: boolean
  /** @throws when it can't be opened now; the message says why */
  open(baud: number, sink: PortSink): Promise<void>
  /** False: not taken. */
  write(bytes: Uint8Array): boolean
  close(): Promise<void>
  /** Goes on at another rate while it is open; there where the line has one. */
  setBaud?(baud: number): Promise<void>
  /** Cheap look whether an open can work, while it is closed; whether the device is still the one opened, while open. */
  present?(): boolean
}
