import type { Connection, Inherited, Listener, PluginContext } from 'rtk-base/plugin'
import { localNetwork, rtcmStream } from 'rtk-base/services'
import { Value } from 'typebox/value'
import { Known, TcpOutput } from './output.js'

/** Connected clients get the stream; their input is read and dropped. */
export class Clients {
  readonly #ctx: PluginContext
  readonly #host: string
  readonly #most: number
  readonly #isLegacy: () => boolean
  readonly #connected = new Set<Connection>()
  #listener: Listener | undefined

  constructor(ctx: PluginContext, host: string, most: number, isLegacy: () => boolean) {
    this.#ctx = ctx
    this.#host = host
    this.#most = most
    this.#isLegacy = isLegacy
  }

  get port(): number {
    return this.#listener?.address?.port ?? 0
  }

  get connected(): number {
    return this.#listener?.connections ?? 0
  }

  async apply(port: number): Promise<void> {
    if (port === 0) {
      this.#listener?.close()
      this.#listener = undefined
    } else if (this.#listener) await this.#listener.move({ port })
    else {
      const limits = { maxConnections: this.#most, inherits: true }
      this.#listener = this.#ctx.net.listen(
        { name: 'clients', host: this.#host, port, setting: 'rtcm-tcp-port', ...limits },
        (client, inherited) => this.#serve(client, inherited),
      )
    }
  }

  /** Clients connect again, and get other messages. */
  restart(): void {
    for (const client of this.#connected) client.destroy()
  }

  #serve(client: Connection, inherited: Inherited | undefined): void {
    const { services } = this.#ctx
    if (!services.use(localNetwork).isLocal(client.remoteAddress)) {
      client.destroy()
      return
    }
    const peer = {
      name: '',
      ip: client.remoteAddress,
      unsent_bytes: () => client.bufferedAmount,
      write: (bytes: Uint8Array) => void client.write(bytes),
      stuck: () => client.destroy(),
    }
    const before = inherited?.state
    const output = new TcpOutput(
      this.#ctx,
      services.use(rtcmStream),
      peer,
      this.#isLegacy(),
      Value.Check(Known, before) ? before : undefined,
    )
    client.onDrain(() => output.drained())
    this.#connected.add(client)
    client.onClose(() => {
      this.#connected.delete(client)
      output.close()
    })
    client.inheritable(() => {
      output.close()
      return output.known
    })
  }
}
