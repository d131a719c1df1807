/** Types of `ctx.net`. */
import type { Socket } from 'node:net'
import type { Callback } from '../../../schemas/event.js'
import type { Rate } from '../../platform/intake.js'

export interface ListenTls {
  /** PEM: the certificate and its chain. */
  cert: string
  /** PEM: the private key. */
  key: string
  /** PEM: CAs of trusted client certificates. */
  ca?: string | string[]
  /** True: requests a certificate from clients, and refuses clients whose certificate no CA in `ca` has issued. */
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
  /** A function is called when the listener opens, and again by `Listener.renew()`. */
  tls?: ListenTls | (() => ListenTls)
  /** Limit of open connections, total; default: 256. Further connections are refused and counted. */
  maxConnections?: number
  /** Limit of connections from one address; default: 16. */
  maxPerAddress?: number
  /** A connection with more unsent bytes than this is cut off at the next write; default: 1 MiB. */
  maxBuffered_bytes?: number
  /** Receive limit of one connection; default: 128 KiB/s. A faster connection is read slowly, and ended after 30 s. */
  rate?: Rate
  /** A connection without traffic in either direction for this long is closed. Default: never. */
  idle_ms?: number
  /**
   * True: this version inherits the connections of the previous version, see `Connection.inheritable`.
   */
  inherits?: boolean
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** State of a connection of the previous version. */
export interface Inherited {
  /** A clone. Check its shape, because another version may have made it. */
  readonly state: unknown
}

/**
 * Takes a connection. Reading begins when the handler has returned, or its promise is resolved. Bytes without an `onData` are
 * dropped. If the handler fails, the connection is cut off.
 */
export type ConnectionHandler = Callback<[connection: Connection, inherited: Inherited | undefined]>

/**
 * The connection of one client. Its callbacks run on behalf of the plugin that listens. Once the next version has inherited it, this object
 * can no longer be used.
 */
export interface Connection {
  /** Without the `::ffff:` of an IPv4 address. */
  readonly remoteAddress: string
  readonly remotePort: number
  /**
   * For details of TLS, e.g. the client's certificate. To listen, use `onData` and `onClose` instead, whose errors
   * count as the plugin's.
   */
  readonly socket: Socket
  /** Bytes that were written but not yet accepted by the operating system. */
  readonly bufferedAmount: number
  /** Ended, cut off, or given to the next version. */
  readonly closed: boolean
  /** Returns false if bytes wait in memory: continue after `onDrain`. Does nothing once the connection is closed. */
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
  /** Called once; not when the next version inherits the connection, or when it ends with the plugin. */
  onClose(fn: Callback<[error: Error | undefined]>): void
  /**
   * Whether the other end has acknowledged nothing for 10 s although data waits. Use it to close a dead connection
   * when its client reconnects, because the system reports a dead connection only after a quarter of an hour.
   */
  isCut(): Promise<boolean>
  /**
   * Gives this connection to the next version of the plugin: `state` is called when the plugin is reloaded, before its
   * `stop`, and the new version gets a clone of its result (plain data). After that, nothing is read or written here.
   */
  inheritable(state: () => unknown): void
}

export interface Listener {
  /** Undefined until the address has been opened. */
  readonly address: ListenAddress | undefined
  /** Resolves when the address has been opened for the first time. Never rejects. */
  readonly opened: Promise<ListenAddress>
  /** Open connections, including those about to be given to `onConnection`. */
  readonly connections: number
  /** Number of connections that were refused because of the limits since the listener was opened. */
  readonly refused: number
  /**
   * Moves to another address, without closing connections. The new address is opened before the old one is closed.
   * @throws RTK_ERR_NET_LISTEN if it cannot be opened: the old address stays open then
   */
  move(to: { host?: string; port?: number }): Promise<void>
  /** Calls the `tls` function again. New connections get its certificate. @throws RTK_ERR_NET_LISTEN */
  renew(): void
  /** Closes every connection and the address. */
  close(): void
}
