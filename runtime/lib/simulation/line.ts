/** The line between the service and a simulated receiver. It can be unplugged, and on a UART it has a baud rate. */
import type { BytePort, Edges, PortSink } from 'rtk-base/link'
import type { Connection, Dispose, PluginContext } from 'rtk-base/plugin'

/** How the operating system hands bytes over: not in frames. */
const chunkSize = 512
/** A USB device that restarts is away for a moment. */
const reenumerate_ms = 1200

/** The members of a simulated receiver that its line uses. */
export interface LineDevice {
  /** Present baud rate of the receiver; undefined: USB. */
  readonly baud: number | undefined
  /** Sets the function that takes the receiver's bytes; undefined: nobody listens. */
  connect(send: ((bytes: Uint8Array) => void) | undefined): void
  /** Bytes from the host. */
  input(bytes: Uint8Array): void
  powerOff(): void
  /** Starts again as after a power cut. */
  restart(): void
  /** Set by the line. The receiver calls it when it restarts unexpectedly. */
  onRestart?: (() => void) | undefined
}

/** The `BytePort` of a simulated receiver. */
export class ReceiverLine<D extends LineDevice = LineDevice> implements BytePort {
  readonly name = 'simulator'
  readonly live = true
  readonly hasBaud: boolean
  readonly device: D
  plugged: boolean = true
  /** At a rate above this, the host receives only garbage. 0: off. */
  deafAbove_baud = 0
  readonly #edges: Edges
  #sink: PortSink | undefined
  #baud = 0
  #returning: Dispose = () => {}
  readonly #onTheWay = new Set<Dispose>()

  constructor(device: D, edges: Edges) {
    this.#edges = edges
    this.device = device
    this.hasBaud = device.baud !== undefined
    device.onRestart = () => {
      if (!this.hasBaud) this.#reenumerate()
    }
  }

  present(): boolean {
    return this.plugged
  }

  get isOpen(): boolean {
    return this.#sink !== undefined
  }

  /** Present baud rate of the receiver; 0: USB. */
  get rate(): number {
    return this.device.baud ?? 0
  }

  /** Opens the line. A previous user is told that it is closed. */
  async open(baud: number, sink: PortSink): Promise<void> {
    if (!this.plugged) throw new Error('the simulated receiver is unplugged')
    this.#sink?.closed('another program opened the line of the simulated receiver')
    this.#baud = baud
    this.#sink = sink
    this.device.connect((bytes) => this.#deliver(bytes))
  }

  write(bytes: Uint8Array): boolean {
    if (!this.#sink) return false
    // An answer must not come while the question is still being asked.
    const arrives = this.#edges.timers.after(1, () => {
      this.#onTheWay.delete(arrives)
      if (this.#sink && this.#rightRate) this.device.input(bytes)
    })
    this.#onTheWay.add(arrives)
    return true
  }

  async setBaud(baud: number): Promise<void> {
    this.#baud = baud
  }

  async close(): Promise<void> {
    for (const arrives of this.#onTheWay) void arrives()
    this.#onTheWay.clear()
    this.#sink = undefined
    this.device.connect(undefined)
  }

  unplug(): void {
    void this.#returning()
    this.device.powerOff()
    this.#vanish()
  }

  /** Closes the port for good, when the plugin stops. */
  end(): void {
    this.device.powerOff()
    this.#vanish()
  }

  /** The device returns as after a power cut. */
  replug(): void {
    if (this.plugged) return
    void this.#returning()
    this.device.restart()
    this.plugged = true
  }

  /** A receiver with USB of its own vanishes for a moment when it restarts. */
  #reenumerate(): void {
    this.#vanish()
    this.#returning = this.#edges.timers.after(reenumerate_ms, () => {
      this.plugged = true
    })
  }

  #vanish(): void {
    if (!this.plugged) return
    this.plugged = false
    const sink = this.#sink
    void this.close()
    sink?.closed('ENXIO: the device vanished')
  }

  get #rightRate(): boolean {
    return this.device.baud === undefined || this.device.baud === this.#baud
  }

  #deliver(bytes: Uint8Array): void {
    const deaf = this.deafAbove_baud > 0 && this.#baud > this.deafAbove_baud
    const heard = this.#rightRate && !deaf ? bytes : bytes.map((byte) => (byte ^ 0xff) | 0x81)
    for (let at = 0; at < heard.length; at += chunkSize) this.#sink?.data(heard.subarray(at, at + chunkSize))
  }
}

/** The rate of a line that has none, as a serial server has it at its far end. */
const anyRate = 0

/** Connects a TCP client to the receiver's line. Refused while another client or the station uses the line. */
export async function serveLine({ log }: PluginContext, line: ReceiverLine, client: Connection): Promise<void> {
  if (line.isOpen) {
    log.warn('a program wants the simulated receiver, but its line is in use: it is not served')
    client.destroy()
    return
  }
  client.onData((bytes) => void line.write(bytes))
  client.onClose(() => void line.close())
  await line.open(line.rate || anyRate, {
    data: (bytes) => void client.write(Buffer.from(bytes)),
    closed: () => client.destroy(),
  })
}
