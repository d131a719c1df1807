/** Types of `ctx.net`. */
import type { Socket } from 'node:net'
import type { Callback } from '../../schemas/event.js'
import type { Rate } from '../link/intake.js'

export interface ListenTls {
  /** PEM: the certificate and its chain. */
  cert: string
  /** PEM: the private key. */
  key: string
  /** PEM: authorities for trusted client certificates. */
  ca?: string | string[]
  /** Asks clients for a certificate and refuses it unless `ca` vouches for it. */
  requestCert?: boolean
}

export interface ListenOptions {
  /**
   * Kebab-case; the next version of the plugin that listens under this name gets the socket and its waiting
   * connections.
   */
  name: string
  /** The address of one interface; `'0.0.0.0'` or `'::'` for all of them. */
  host: string
  /** 0: a free port, see `Listener.address`. */
  port: number
  /** The parameter or the option that sets the port, e.g. `ntrip-caster-port`: named in the error if the port is unavailable. */
  setting?: string
  /** A function is asked when the listener opens, and again by `Listener.renew()`. */
  tls?: ListenTls | (() => ListenTls)
  /** Limit of connections in all; default: 256. More are refused and counted. */
  maxConnections?: number
  /** Limit of connections from one address; default: 16. */
  maxPerAddress?: number
  /** A connection with more unsent bytes than this is cut off at the next write; default: 1 MiB. */
  maxBuffered_bytes?: number
  /** Receive limit of one connection; default: 128 KiB/s. A faster connection is read slowly, and ended after 30 s. */
  rate?: Rate
  /** A connection without traffic in either direction for this long is closed. Default: never. */
  idle_ms?: number
  /** This version takes over the connections that the previous version hands over, see `Connection.handOver`. */
  handover?: boolean
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** State that the previous version handed over with a connection. */
export interface HandedOver {
  /** A clone; another version may have made it, so its shape has to be checked. */
  readonly state: unknown
}

/**
 * Takes a connection. Reading begins when the handler has returned, or its promise is resolved. Bytes without an `onData` are
 * dropped. If the handler fails, the connection is cut off.
 */
export type ConnectionHandler = Callback<[connection: Connection, handed: HandedOver | undefined]>

/** One client. Its callbacks run on behalf of the plugin that has it; after a handover this object is dead. */
export interface Connection {
  /** Without the `::ffff:` of an IPv4 address. */
  readonly remoteAddress: string
  readonly remotePort: number
  /** For details of TLS, e.g. the client's certificate. Listeners on it are not attributed: use `onData` and `onClose`. */
  readonly socket: Socket
  /** Bytes that were written and that the system has not accepted yet. */
  readonly bufferedAmount: number
  /** Ended, cut off, or given to the next version. */
  readonly closed: boolean
  /** False if the bytes wait in memory: continue at `onDrain`. Does nothing once the connection is closed. */
  write(data: string | Uint8Array): boolean
  /** Sends what is written, then ends the connection. */
  end(data?: string | Uint8Array): void
  /** Cuts the connection off. */
  destroy(): void
  /** Stops reading until `resume`. */
  pause(): void
  resume(): void
  /** If the handler fails, this connection is cut off. */
  onData(fn: Callback<[bytes: Buffer]>): void
  onDrain(fn: Callback): void
  /** Called once; not when the connection is handed over or ends with the plugin. */
  onClose(fn: Callback<[error: Error | undefined]>): void
  /**
   * Whether the other end has acknowledged nothing for 10 s although data waits. Use this to give the place of a dead
   * connection to a client that returns: the system reports such a connection only after a quarter of an hour.
   */
  isCut(): Promise<boolean>
  /**
   * Gives this connection to the next version of the plugin: `state` is called when the plugin is reloaded, before its
   * `stop`, and its result (plain data, cloned) goes with the connection. From then on nothing is read or written here.
   */
  handOver(state: () => unknown): void
}

export interface Listener {
  /** Undefined until the address has been opened. */
  readonly address: ListenAddress | undefined
  /** Resolves when the address has been opened for the first time. Never rejects. */
  readonly opened: Promise<ListenAddress>
  /** Open connections, including those about to be given to `onConnection`. */
  readonly connections: number
  /** How many were refused by the limits since the listener was opened. */
  readonly refused: number
  /**
   * Listens at another address; connections stay. The new address is opened before the old one is given up.
   * @throws RTK_ERR_NET_LISTEN if it cannot be opened: the old address stays open then
   */
  move(to: { host?: string; port?: number }): Promise<void>
  /** Asks the `tls` function again; connections from now on get that certificate. @throws RTK_ERR_NET_LISTEN */
  renew(): void
  /** Ends every connection and gives the address up. */
  close(): void
}
