import type { ConfigKey, PluginContext } from 'rtk-base/plugin'
import { embeddedBroker } from 'rtk-base/services'
import { type Broker, sameBroker } from './settings.js'

/** Default of `mqtt-port`: MQTT over TLS. */
export const tlsPort = 8_883

/**
 * Which broker the link uses: the one of `mqtt-host` and `mqtt-port`. While no host is set, it is the embedded broker, where the
 * variant has one: at the port on which it listens, or at `mqtt-port` where that is not the default.
 */
export class BrokerChoice {
  readonly #ctx: PluginContext
  readonly #host: ConfigKey<string>
  readonly #port: ConfigKey<number>
  /** As `current` was when it was looked at last. */
  #last: Broker = { host: '', port: 0 }

  constructor(ctx: PluginContext, host: ConfigKey<string>, port: ConfigKey<number>) {
    this.#ctx = ctx
    this.#host = host
    this.#port = port
  }

  /** The configured parameters. */
  get parameters(): Broker {
    return { host: this.#host.get(), port: this.#port.get() }
  }

  get current(): Broker {
    const { host, port } = this.parameters
    const address = host === '' ? this.#ctx.services.find(embeddedBroker)?.address : undefined
    if (address === undefined) return { host, port }
    return { host: address.host, port: port === tlsPort ? address.port : port }
  }

  /** Calls `changed` when the embedded broker starts to listen, stops, or moves to another port. From `start` on. */
  watch(changed: () => void): void {
    this.#last = this.current
    const look = () => {
      const { current } = this
      const moved = !sameBroker(current, this.#last)
      this.#last = current
      if (moved) changed()
    }
    this.#ctx.services.watch(embeddedBroker, (broker) => {
      look()
      return broker && this.#ctx.on(broker.onAddress, look)
    })
  }

  /** The parameters were changed and applied. */
  settled(): void {
    this.#last = this.current
  }
}
