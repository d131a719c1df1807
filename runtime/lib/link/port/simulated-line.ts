import type { BytePort, PortSink } from '../../../../schemas/byte-port.js'
import { simulatedReceiver } from '../../../../schemas/services/simulator.js'
import type { PluginContext } from '../../../plugin.js'

/** Text of the error if `port=simulator` finds no simulated receiver. */
export const noSimulator = 'port=simulator needs the plugin of a simulated receiver, which this variant does not have'

/** The port for `port=simulator`: the line of the simulated receiver, while its plugin is running. */
export class SimulatedLine implements BytePort {
  readonly name = 'simulator'
  readonly live = true
  readonly #services: PluginContext['services']
  #open: BytePort | undefined

  constructor({ services }: Pick<PluginContext, 'services'>) {
    this.#services = services
  }

  get hasBaud(): boolean {
    return this.#line?.hasBaud ?? false
  }

  present(): boolean {
    // The simulator that was opened may have been replaced.
    if (this.#open && this.#open !== this.#line) return false
    // Without a simulator opening is still tried: the failure has the reason.
    return this.#line?.present?.() ?? true
  }

  async open(baud: number, sink: PortSink): Promise<void> {
    const line = this.#line
    if (!line) throw new Error(noSimulator)
    await line.open(baud, sink)
    this.#open = line
  }

  write(bytes: Uint8Array): boolean {
    return this.#open?.write(bytes) ?? false
  }

  async setBaud(baud: number): Promise<void> {
    await this.#open?.setBaud?.(baud)
  }

  async close(): Promise<void> {
    const line = this.#open
    this.#open = undefined
    await line?.close()
  }

  get #line(): BytePort | undefined {
    return this.#services.find(simulatedReceiver)?.port
  }
}
