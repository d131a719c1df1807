import type { Socket } from 'node:net'
import { plainAddress } from './admission.js'

/** The other end of a connection, as its limits and its plugin see it. */
export interface Peer {
  readonly address: string
  readonly port: number
}

const peerKey = Symbol('peer')

/** A proxy speaks for this one. */
export function notePeer(socket: Socket, peer: Peer): void {
  ;(socket as { [peerKey]?: Peer })[peerKey] = peer
}

export const peerOf = (socket: Socket): Peer =>
  (socket as { [peerKey]?: Peer })[peerKey] ?? {
    address: plainAddress(socket.remoteAddress),
    port: socket.remotePort ?? 0,
  }
