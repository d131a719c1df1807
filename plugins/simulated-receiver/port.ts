import type { BytePort, Edges, PortSink } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
import type { ReceiverOptions } from './options.js'
import { SimulatedZed } from './receiver.js'

/** How the operating system hands bytes over: not in frames. */
const chunkSize = 512
/** A USB device that restarts is away for a moment. */
const reenumerate_ms = 1200

/** The wire between the service and the simulated receiver: it can be pulled out, and on a UART it has a rate. */
export class SimulatedPort implements BytePort {
  readonly name = 'simulator'
  readonly live = true
  readonly hasBaud: boolean
  readonly zed: SimulatedZed
  plugged: boolean = true
  /** The host hears only garbage above this rate; 0: it hears all. */
  deafAbove_baud = 0
  readonly #edges: Edges
  #sink: PortSink | undefined
  #baud = 0
  #returning: Dispose = () => {}
  readonly #onTheWay = new Set<Dispose>()

  constructor(options: ReceiverOptions, edges: Edges) {
    this.#edges = edges
    this.zed = new SimulatedZed(options, edges)
    this.hasBaud = this.zed.baud !== undefined
    this.zed.onRestart = () => {
      if (this.hasBaud) return
      this.#vanish()
      this.#returning = this.#edges.timers.after(reenumerate_ms, () => {
        this.plugged = true
      })
    }
  }

  present(): boolean {
    return this.plugged
  }

  get isOpen(): boolean {
    return this.#sink !== undefined
  }

  /** The rate at which the receiver talks now; 0 where its line has none. */
  get rate(): number {
    return this.zed.baud ?? 0
  }

  /** Whoever had it open before hears that it is closed. */
  async open(baud: number, sink: PortSink): Promise<void> {
    if (!this.plugged) throw new Error('the simulated receiver is unplugged')
    this.#sink?.closed('another program opened the line of the simulated receiver')
    this.#baud = baud
    this.#sink = sink
    this.zed.connect((bytes) => this.#deliver(bytes))
  }

  write(bytes: Uint8Array): boolean {
    if (!this.#sink) return false
    // An answer must not come while the question is still being asked.
    const arrives = this.#edges.timers.after(1, () => {
      this.#onTheWay.delete(arrives)
      if (this.#sink && this.#rightRate) this.zed.input(bytes)
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
    this.zed.connect(undefined)
  }

  unplug(): void {
    void this.#returning()
    this.zed.powerOff()
    this.#vanish()
  }

  /** Ends this port; another may replace it. */
  end(): void {
    this.zed.powerOff()
    this.#vanish()
  }

  /** Back, as after a power cut. */
  replug(): void {
    if (this.plugged) return
    void this.#returning()
    this.zed.restart()
    this.plugged = true
  }

  #vanish(): void {
    if (!this.plugged) return
    this.plugged = false
    const sink = this.#sink
    void this.close()
    sink?.closed('ENXIO: the device vanished')
  }

  get #rightRate(): boolean {
    return this.zed.baud === undefined || this.zed.baud === this.#baud
  }

  #deliver(bytes: Uint8Array): void {
    const deaf = this.deafAbove_baud > 0 && this.#baud > this.deafAbove_baud
    const heard = this.#rightRate && !deaf ? bytes : bytes.map((byte) => (byte ^ 0xff) | 0x81)
    for (let at = 0; at < heard.length; at += chunkSize) this.#sink?.data(heard.subarray(at, at + chunkSize))
  }
}
