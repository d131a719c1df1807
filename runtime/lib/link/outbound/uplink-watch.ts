import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { type Uplinks, uplinks } from '../../../../schemas/services.js'
import { normalAddress, Prefixes } from '../../../platform/address/address.js'
import type { PluginContext } from '../../../plugin.js'

/** Changes of the uplinks, as the owner of a connection needs them. */
export interface UplinkEvents {
  /** An uplink appeared, or another uplink got the default route. */
  up(): void
  /** Something changed. */
  changed(): void
  /** An uplink went down: close sockets whose local address is one of these. */
  down(addresses: readonly string[], text: string): void
}

/**
 * Follows the uplinks of the station, if a plugin provides them, for the owner of a connection to an outside peer.
 */
export class UplinkWatch {
  readonly #ctx: PluginContext
  readonly #who: string

  /**
   * @param who the connection's name in its reports about the uplinks
   */
  constructor(ctx: PluginContext, who = ctx.name) {
    this.#ctx = ctx
    this.#who = who
  }

  /** From `start` on. */
  follow(events: UplinkEvents): () => void {
    const { services } = this.#ctx
    return services.watch(uplinks, (found) => {
      if (!found) return undefined
      const ends = [
        this.#ctx.on(found.onUp, () => events.up()),
        this.#ctx.on(found.onChange, () => events.changed()),
        this.#ctx.on(found.onDown, ({ name, addresses }) => events.down(addresses, `the uplink ${name} went down`)),
      ]
      return () => {
        for (const end of ends) void end()
      }
    })
  }

  /** Whether no interface has the local address of the socket any more. */
  isStranded(localAddress: string): boolean {
    return ownAddresses(normalAddress(localAddress)).length === 0
  }

  /**
   * The kind of uplink that a socket uses; undefined if no uplink has its local address. A peer in the local network
   * does not count as reached by `cellular`.
   */
  via({ localAddress, remoteAddress }: Ends): 'eth' | 'sta' | 'cellular' | undefined {
    const address = normalAddress(localAddress)
    const uplink = this.#uplinks?.list.find(({ addresses }) => addresses.includes(address))
    if (uplink?.kind !== 'cellular') return uplink?.kind
    return isLocal(normalAddress(remoteAddress), ownAddresses(address)) ? 'eth' : 'cellular'
  }

  /** The peer answered, which proves that the uplink reaches the internet, unless the peer is in a local network. */
  reached({ localAddress, remoteAddress }: Ends, text: string): void {
    if (localAddress === undefined || isLocal(normalAddress(remoteAddress), ownAddresses(normalAddress(localAddress))))
      return
    this.#uplinks?.report({ who: this.#who, localAddress, reached: true, text })
  }

  /** The peer was not reached. */
  failed(text: string, localAddress?: string): void {
    this.#uplinks?.report({ who: this.#who, ...(localAddress ? { localAddress } : {}), reached: false, text })
  }

  get #uplinks(): Uplinks | undefined {
    return this.#ctx.services.find(uplinks)
  }
}

export type OwnAddress = Pick<NetworkInterfaceInfo, 'address' | 'cidr' | 'internal'>

/** Both ends of a socket. */
export interface Ends {
  localAddress: string | undefined
  remoteAddress: string | undefined
}

/** Whether an address is in a network of one of these addresses, so that it is reached without the gateway. */
export const isLocal = (address: string, own: readonly OwnAddress[]): boolean =>
  new Prefixes(own.flatMap(({ cidr }) => cidr ?? [])).has(address)

/** The addresses of the interface with this address; empty if there is none. */
export const ownAddresses = (address: string): readonly OwnAddress[] =>
  Object.values(networkInterfaces()).find((all) => all?.some((own) => own.address === address)) ?? []
