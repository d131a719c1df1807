/** The other end of a connection: of its socket, or as given by the proxy in front of it. */
import type { Socket } from 'node:net'
import { isIPv4, isIPv6 } from 'node:net'
import { addressOf, normalAddress } from '../../platform/address/address.js'

/** The other end of a connection, as its limits and its plugin see it. */
export interface Peer {
  readonly address: string
  readonly port: number
}

const peerKey = Symbol('peer')

/** A proxy speaks for this peer. */
export function notePeer(socket: Socket, peer: Peer): void {
  ;(socket as { [peerKey]?: Peer })[peerKey] = peer
}

export const peerOf = (socket: Socket): Peer =>
  (socket as { [peerKey]?: Peer })[peerKey] ?? {
    address: normalAddress(socket.remoteAddress),
    port: socket.remotePort ?? 0,
  }

// ── The PROXY protocol, versions 1 and 2: what a TCP proxy says of its client before the first byte of that ─────────────────────
// https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, sections 2.1 and 2.2

/** Longest header of version 1, with its line end. */
const longestLine = 107
const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const head_bytes = 16
/**
 * Addresses of Unix sockets are the longest in the protocol: a longer header has extensions, which are ignored here.
 */
const longestHeader = 232

/** A whole header; without a peer the proxy speaks for itself, e.g. as a health check. */
interface ProxyHeader {
  readonly length: number
  readonly peer?: Peer
}

/** @returns `more`: it is not complete yet; `wrong`: it is none */
export function readProxyHeader(bytes: Buffer): ProxyHeader | 'more' | 'wrong' {
  const isBinary = bytes.subarray(0, signature.length).equals(signature.subarray(0, bytes.length))
  return isBinary ? readBinary(bytes) : readLine(bytes)
}

function readLine(bytes: Buffer): ProxyHeader | 'more' | 'wrong' {
  const text = bytes.subarray(0, longestLine).toString('latin1')
  const end = text.indexOf('\r\n')
  const start = 'PROXY '
  if (!text.startsWith(start.slice(0, text.length))) return 'wrong'
  if (end < 0) return bytes.length < longestLine ? 'more' : 'wrong'
  const [, kind, address = '', own = '', port = '', ownPort = '', ...more] = text.slice(0, end).split(' ')
  const length = end + 2
  if (kind === 'UNKNOWN') return { length }
  const isAddress = kind === 'TCP4' ? isIPv4 : kind === 'TCP6' ? isIPv6 : () => false
  const isWhole = isAddress(address) && isAddress(own) && isPort(port) && isPort(ownPort) && more.length === 0
  return isWhole ? { length, peer: { address: normalAddress(address), port: Number(port) } } : 'wrong'
}

const isPort = (text: string) => /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535

function readBinary(bytes: Buffer): ProxyHeader | 'more' | 'wrong' {
  if (bytes.length < head_bytes) return 'more'
  const [command, family] = [bytes.readUInt8(12), bytes.readUInt8(13)]
  const length = head_bytes + bytes.readUInt16BE(14)
  if (length > longestHeader || (command !== 0x20 && command !== 0x21)) return 'wrong'
  if (bytes.length < length) return 'more'
  // LOCAL: its addresses are meaningless.
  if (command === 0x20) return { length }
  const size = family === 0x11 ? 4 : family === 0x21 ? 16 : 0
  if (size === 0 || length < head_bytes + 2 * size + 4) return 'wrong'
  const source = bytes.subarray(head_bytes, head_bytes + size)
  const port = bytes.readUInt16BE(head_bytes + 2 * size)
  return { length, peer: { address: addressOf(source), port } }
}
