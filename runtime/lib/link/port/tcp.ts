import type { BytePort, PortSink } from '../../../../schemas/byte-port.js'
import { Intake } from '../../../platform/intake.js'
import type { NetworkPort, Socket } from '../../../platform/ports/network.js'
import { receiverRate } from '../../../platform/rates.js'
import type { Edges } from '../../../platform/time/edges.js'
import { whenCut } from '../outbound/acknowledgement.js'

const connect_ms = 5000
const maxQueued = 65_536

export type DialEdges = Edges & { readonly net: Pick<NetworkPort, 'dial'> }

/** A serial server on the network, e.g. ser2net: `tcp://host:port`. */
export class TcpPort implements BytePort {
  readonly name: string
  readonly hasBaud = false
  readonly live = true
  readonly #host: string
  readonly #port: number
  readonly #edges: DialEdges
  #socket: Socket | undefined

  /** @throws RangeError when the address has no host or port */
  constructor(url: string, edges: DialEdges) {
    const { hostname, port } = new URL(url)
    if (hostname === '' || port === '') throw new RangeError(`'${url}' must have the form tcp://host:port`)
    this.name = url
    this.#host = hostname.replace(/^\[|\]$/g, '')
    this.#port = Number(port)
    this.#edges = edges
  }

  async open(_baud: number, sink: PortSink): Promise<void> {
    const socket = this.#edges.net.dial({ host: this.#host, port: this.#port })
    socket.setNoDelay(true).setKeepAlive(true)
    this.#socket = socket
    let open = false
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#edges.timers.after(connect_ms, () => {
        socket.destroy(new Error('no answer'))
      })
      socket.once('connect', () => {
        void cancel()
        open = true
        resolve()
      })
      let reason = 'closed by the peer'
      socket.on('error', (error) => {
        reason = error.message
      })
      socket.on('close', () => {
        void cancel()
        if (!open) reject(new Error(reason))
        else if (this.#socket === socket) {
          this.#socket = undefined
          sink.closed(reason)
        }
      })
    })
    const intake = new Intake(socket, { rate: receiverRate })
    socket.on('data', (chunk) => {
      if (this.#socket === socket) intake.run(chunk.length, 1, () => sink.data(chunk))
    })
    socket.once('close', () => intake.close())
    const unwatch = whenCut(this.#edges, socket, (reason) => socket.destroy(new Error(reason)))
    socket.once('close', () => void unwatch())
  }

  write(bytes: Uint8Array): boolean {
    const socket = this.#socket
    if (!socket || socket.connecting || socket.writableLength > maxQueued) return false
    socket.write(bytes)
    return true
  }

  async close(): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
  }
}
