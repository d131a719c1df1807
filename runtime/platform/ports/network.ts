/**
 * Sockets. Whoever opens one does so through the `NetworkPort` that the runtime was given, so that a test can put a whole
 * station on a network in memory. Its sockets are those of Node, so nothing stands between a writer and the system.
 */
import type { RemoteInfo, Socket as UdpSocket } from 'node:dgram'
import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'

export { rootCertificates } from 'node:tls'
export type { RemoteInfo, Socket, TLSSocket }
/** A bound UDP socket: `dgram.Socket`. It sends to addresses only, never to names. */
export type DatagramSocket = UdpSocket

/** An address of a host. */
export interface HostAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** The addresses of a name, in the order in which they are to be tried. */
export type Resolve = (host: string) => Promise<readonly HostAddress[]>

export interface DialOptions {
  /** An address or a name. */
  host: string
  port: number
  /**
   * TLS with these options. `{}`: the certificate of the other end is checked for this host and against the public
   * authorities.
   */
  tls?: Pick<
    ConnectionOptions,
    'ALPNProtocols' | 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername' | 'session'
  >
  /** Selects the addresses of a name. Default: the network's own `resolve`. */
  resolve?: Resolve
}

export interface BindOptions {
  /** The address of one interface; `'0.0.0.0'` or `'::'` for all of them. */
  host: string
  /** 0: a free one. */
  port: number
  /** A client that has ended its side still gets what is written. Default: its connection is ended. */
  halfOpen?: boolean
}

export interface DatagramOptions {
  /** An address of this machine; its family is that of the socket. */
  host: string
  /** 0: a free one. */
  port: number
  /** Others may bind the same port, as multicast needs it. */
  shared?: boolean
}

/** An address at which connections are accepted. */
export interface Bound {
  readonly address: { readonly host: string; readonly port: number }
  /** Accepts no more. Its connections stay open. Resolves when the address is free. */
  close(): Promise<void>
}

export interface NetworkPort {
  /**
   * Begins to connect, to one address of the host after the other. The socket emits `connect`, or `secureConnect` with
   * TLS, or `error` with the cause as `code`. There is no time limit: the caller destroys the socket.
   * @throws when TLS rejects the certificate or the key
   */
  dial(options: DialOptions): Socket
  /**
   * Accepts TCP connections. Rejects with the system's error if the address cannot be had. Errors of a connection that
   * nobody listens to are dropped.
   */
  bind(options: BindOptions, connected: (socket: Socket) => void): Promise<Bound>
  /** A UDP socket. Rejects with the system's error if the address cannot be had. */
  datagram(options: DatagramOptions): Promise<DatagramSocket>
  resolve: Resolve
}
