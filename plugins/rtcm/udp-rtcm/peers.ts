import { isIP, networkOf } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import type { RtcmStream, RtcmSubscription } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { UdpSocket } from './socket.js'

/** How long a datagram keeps its sender subscribed. */
const subscription_ms = 60_000
const look_ms = 1_000
const longestName = 32

export interface PeerLimits {
  readonly maxSubscribers: number
  readonly maxPerAddress: number
}

/** A peer, as handed over to the next instance. */
const PeerRecord = Type.Object({
  // Not a name: the socket would look it up.
  address: Type.Refine(Type.String(), (text) => isIP(text) !== 0),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  name: Type.String({ maxLength: longestName }),
  until_ms: Type.Number(),
})
export type PeerRecord = Static<typeof PeerRecord>
/** At most as many as the option `maxSubscribers` can be. */
export const PeerRecords = Type.Array(PeerRecord, { maxItems: 10_000 })

interface Peer extends PeerRecord {
  readonly subscription: RtcmSubscription
}

/** The printable part of a datagram, as a subscriber's name. */
function nameOf(datagram: Buffer): string {
  return datagram
    .subarray(0, 4 * longestName)
    .toString('utf8')
    .replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]|\uFFFD/gu, '')
    .trim()
    .slice(0, longestName)
}

/** Whether a datagram is meant as corrections for this station and not as a subscription. */
export function isRtcm(datagram: Buffer): boolean {
  return datagram.length >= 6 && datagram[0] === 0xd3 && (datagram[1] & 0xfc) === 0
}

/** The UDP subscribers: every peer that sent a datagram in the last 60 s. */
export class Peers {
  readonly #ctx: PluginContext
  readonly #stream: RtcmStream
  readonly #limits: PeerLimits
  readonly #socket: () => UdpSocket | undefined
  readonly #peers = new Map<string, Peer>()

  constructor(ctx: PluginContext, stream: RtcmStream, limits: PeerLimits, socket: () => UdpSocket | undefined) {
    this.#ctx = ctx
    this.#stream = stream
    this.#limits = limits
    this.#socket = socket
    ctx.timers.every(look_ms, () => this.#expire())
    ctx.defer(() => this.clear())
  }

  heard(address: string, port: number, datagram: Buffer): void {
    const peer = this.#peers.get(`${address} ${port}`)
    const name = nameOf(datagram)
    const until_ms = this.#ctx.clock.monotonic() + subscription_ms
    if (!peer) {
      this.#add({ address, port, name, until_ms })
      return
    }
    peer.until_ms = until_ms
    peer.name = name
    peer.subscription.rename(name)
    peer.subscription.touch()
  }

  resume(): void {
    for (const { subscription } of this.#peers.values()) subscription.resume()
  }

  clear(): void {
    for (const { subscription } of this.#peers.values()) subscription.close()
    this.#peers.clear()
  }

  records(): PeerRecord[] {
    return [...this.#peers.values()].map(({ address, port, name, until_ms }) => ({ address, port, name, until_ms }))
  }

  restore(records: readonly PeerRecord[]): void {
    for (const record of records) this.#add(record)
  }

  #add(record: PeerRecord): void {
    this.#makeRoom(record.address)
    const { address, port, name } = record
    const key = `${address} ${port}`
    const subscription = this.#stream.subscribe({
      via: 'udp',
      name,
      ip: address,
      // Without a socket (port taken, being moved) the frame is lost as any datagram may be.
      take: (frame) => this.#socket()?.send(frame.bytes, address, port) ?? true,
    })
    this.#peers.set(key, { ...record, subscription })
  }

  /**
   * Makes room for a new peer: within its address if that has its share, otherwise from the address or the IPv6 network with the most
   * places. The longest silent peer is removed. It only loses frames until it asks again.
   */
  #makeRoom(address: string): void {
    const { maxSubscribers, maxPerAddress } = this.#limits
    let crowd = this.#keysBy((one) => one).get(address) ?? []
    if (crowd.length < maxPerAddress) {
      if (this.#peers.size < maxSubscribers) return
      const byNetwork = this.#keysBy(networkOf)
      crowd = byNetwork.get(networkOf(address)) ?? []
      for (const keys of byNetwork.values()) if (keys.length > crowd.length) crowd = keys
      this.#ctx.log.warn(
        `${maxSubscribers} subscribers by UDP: the ones silent for longest make room (option maxSubscribers)`,
      )
    }
    const [stalest] = crowd.sort((one, other) => this.#until(one) - this.#until(other))
    if (stalest !== undefined) this.#remove(stalest)
  }

  #keysBy(groupOf: (address: string) => string): Map<string, string[]> {
    const groups = new Map<string, string[]>()
    for (const [key, { address }] of this.#peers) {
      const group = groupOf(address)
      groups.set(group, [...(groups.get(group) ?? []), key])
    }
    return groups
  }

  #until(key: string): number {
    return this.#peers.get(key)?.until_ms ?? 0
  }

  #remove(key: string): void {
    this.#peers.get(key)?.subscription.close()
    this.#peers.delete(key)
  }

  #expire(): void {
    const now_ms = this.#ctx.clock.monotonic()
    for (const [key, { until_ms }] of this.#peers) if (until_ms <= now_ms) this.#remove(key)
  }
}
