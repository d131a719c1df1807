/** The byte stream to a device: the edge behind which a real receiver and a simulated one stand alike. */

/** What an open port reports. Calls come from I/O, never from inside `open` or `write`. */
export interface PortSink {
  /** Bytes as they came; the array may be reused afterwards. */
  data(chunk: Uint8Array): void
  /**
   * The device is gone (EOF, EIO, ENXIO, closed by the peer). Called at most once per open, never after `close`.
   * @param end a file came to its end: there is nothing to open again
   */
  closed(reason: string, end?: boolean): void
}

/** A byte stream to a device. Opened and closed any number of times, one opening at a time. */
export interface BytePort {
  /** As the option names it, for people. */
  readonly name: string
  /** Whether the line has a rate: another one may be tried when nothing makes sense. */
  readonly hasBaud: boolean
  /** Whether this is a live device and not a recording: its time is the time of now. */
  readonly live: boolean
  /** Rejects when it cannot be opened now; the message says why. */
  open(baud: number, sink: PortSink): Promise<void>
  /** False: not accepted. */
  write(bytes: Uint8Array): boolean
  close(): Promise<void>
  /** Goes on at another rate while it is open; only where the line has a rate. */
  setBaud?(baud: number): Promise<void>
  /** While closed: whether opening it can work. While open: whether the device is still the one that was opened. Cheap. */
  present?(): boolean
}
