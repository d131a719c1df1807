import type { PluginContext } from 'rtk-base/plugin'
import { type MqttLink, type Uplinks, uplinks } from 'rtk-base/services'
import type { Failure } from '../failure.js'
import { type Ends, isLocal, ownAddresses, plain } from '../session/index.js'

/** What the link learns from the uplinks. */
export interface WayEvents {
  /** A way out appeared, or another one has the default route. */
  up(): void
  /** Something changed. */
  changed(): void
  /** A way out is gone: whose socket has one of these addresses waits for nothing. */
  down(addresses: readonly string[], text: string): void
}

/** Failures that say something about the way to the broker; the others come from a broker that was reached. */
const causes: ReadonlySet<Failure['cause']> = new Set(['dns', 'unreachable', 'timeout', 'ping'])

/** The uplinks of the station, where a plugin provides them. */
export class Ways {
  readonly #ctx: PluginContext

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  follow(events: WayEvents): void {
    const { services } = this.#ctx
    services.watch(uplinks, (ways) => {
      if (!ways) return undefined
      const ends = [
        this.#ctx.on(ways.onUp, () => events.up()),
        this.#ctx.on(ways.onChange, () => events.changed()),
        this.#ctx.on(ways.onDown, ({ name, addresses }) => events.down(addresses, `the uplink ${name} went down`)),
      ]
      return () => {
        for (const end of ends) void end()
      }
    })
  }

  /** No interface has the address of the socket any more. */
  isStranded(localAddress: string): boolean {
    return ownAddresses(plain(localAddress)).length === 0
  }

  /** `mqtt.via` of a socket; undefined where no uplink has its address. A broker next door is not reached through the modem. */
  via({ localAddress, remoteAddress }: Ends): MqttLink['via'] | undefined {
    const address = plain(localAddress)
    const uplink = this.#ways?.list.find(({ addresses }) => addresses.includes(address))
    if (uplink?.kind !== 'cellular') return uplink?.kind
    return isLocal(plain(remoteAddress), ownAddresses(address)) ? 'eth' : 'cellular'
  }

  /** The broker answered: that proves the way to the internet, unless the broker is in a local network. */
  reached({ localAddress, remoteAddress }: Ends): void {
    if (localAddress === undefined || isLocal(plain(remoteAddress), ownAddresses(plain(localAddress)))) return
    this.#ways?.report({ who: 'mqtt-link', localAddress, reached: true, text: 'the broker answers' })
  }

  failed({ cause, text }: Failure, localAddress?: string): void {
    if (!causes.has(cause)) return
    this.#ways?.report({ who: 'mqtt-link', ...(localAddress ? { localAddress } : {}), reached: false, text })
  }

  get #ways(): Uplinks | undefined {
    return this.#ctx.services.find(uplinks)
  }
}
