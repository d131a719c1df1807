import { Prefixes } from 'rtk-base/link'
import type { NetworkPort, RemoteInfo } from 'rtk-base/plugin'

/** One interface on which is announced. */
export interface LinkAddress {
  readonly name: string
  /** IPv4 of the station there. */
  readonly address: string
  readonly prefix: number
  readonly ip6: readonly string[]
}

export interface LinkHandlers {
  received(bytes: Buffer, from: RemoteInfo): void
  failed(error: Error): void
}

/** Multicast on one interface. */
export interface MdnsLink {
  /** @param unicast to the asker; default: multicast */
  send(bytes: Uint8Array, to?: { address: string; port: number }): void
  /** Resolves when pending data is sent and the socket is closed. */
  close(): Promise<void>
}

export type OpenLink = (on: LinkAddress, handlers: LinkHandlers) => Promise<MdnsLink>

const group = '224.0.0.251'

/** @param port 5353, another one in tests */
export const udpLinks =
  (net: Pick<NetworkPort, 'datagram'>, port: number): OpenLink =>
  async ({ address, prefix }, { received, failed }) => {
    const socket = await net.datagram({ host: '0.0.0.0', port, shared: true })
    const local = new Prefixes([`${address}/${prefix}`])
    try {
      socket.addMembership(group, address)
      socket.setMulticastInterface(address)
      socket.setMulticastTTL(255)
      socket.setMulticastLoopback(true)
    } catch (error) {
      socket.close()
      throw error
    }
    socket.on('error', failed)
    // The system also delivers packets from other interfaces and from outside this link (RFC 6762, section 11). Whoever sends
    // from port 0 cannot be answered.
    socket.on('message', (bytes, from) => from.port > 0 && local.has(from.address) && received(bytes, from))
    const pending = new Set<Promise<void>>()
    return {
      send(bytes, to = { address: group, port }) {
        const sent = new Promise<void>((resolve) => {
          socket.send(bytes, to.port, to.address, (error) => {
            if (error) failed(error)
            resolve()
          })
        })
        pending.add(sent)
        void sent.finally(() => pending.delete(sent))
      },
      async close() {
        await Promise.all(pending)
        await new Promise<void>((resolve) => socket.close(() => resolve()))
      },
    }
  }
