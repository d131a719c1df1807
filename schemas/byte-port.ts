/** The byte stream to a device: the same interface for a real receiver and a simulated one. */

/** Callbacks of an open port. They are called from I/O, never from inside `open` or `write`. */
export interface PortSink {
  /** Received bytes; the array may be reused afterwards. */
  data(chunk: Uint8Array): void
  /**
   * The device is gone (EOF, EIO, ENXIO, closed by the peer). Called at most once per open, never after `close`.
   * @param end the end of a file was reached: do not open it again
   */
  closed(reason: string, end?: boolean): void
}

/** A byte stream to a device. It can be opened and closed any number of times, but is open only once at a time. */
export interface BytePort {
  /** The name from the option, for people. */
  readonly name: string
  /** Whether the line has a baud rate: others may be tried if only garbage arrives. */
  readonly hasBaud: boolean
  /** Whether this is a live device, not a recording: its time is the current time. */
  readonly live: boolean
  /** Rejects if the port cannot be opened now; the message has the reason. */
  open(baud: number, sink: PortSink): Promise<void>
  /** False: not accepted. */
  write(bytes: Uint8Array): boolean
  close(): Promise<void>
  /** Changes the baud rate of an open port. Only if `hasBaud`. */
  setBaud?(baud: number): Promise<void>
  /** While closed: whether opening can succeed. While open: whether the opened device is still there. Cheap. */
  present?(): boolean
}
