import { asciiHost, OptionalHost } from 'rtk-base/link'
import type { ConfigKey, PluginContext } from 'rtk-base/plugin'
import { Type } from 'typebox'
import type { PingReboot } from './operations/operations.js'
import type { Credentials } from './transport/call.js'

/** A public resolver. */
const usualPingHost = '8.8.8.8'

/** The change parameters of the plugin. */
export class RouterParameters {
  readonly #user: ConfigKey<string>
  readonly #pswd: ConfigKey<string>
  readonly #pingHost: ConfigKey<string>

  /** @param changed what has to be done about a change */
  constructor(ctx: Pick<PluginContext, 'config'>, changed: { credentials(): void; pingHost(): void }) {
    const { config } = ctx
    this.#user = config.define('rtr-user', Type.String({ maxLength: 64, description: 'empty: admin, then root' }), {
      default: '',
      title: 'Router: user',
    })
    this.#pswd = config.define(
      'rtr-pswd',
      Type.String({ maxLength: 128, description: 'empty: the protected store, the lookup and the defaults are tried' }),
      { default: '', secret: true, title: 'Router: password' },
    )
    this.#pingHost = config.define(
      'mob-ping-host',
      {
        ...OptionalHost,
        // The router takes no longer ones.
        maxLength: 18,
        description:
          'a host name or IP address (the router restarts when this host does not answer), or empty (the router does not restart)',
      },
      { default: usualPingHost, title: 'Host that the router pings' },
    )
    config.onChange([this.#user.name, this.#pswd.name], () => changed.credentials())
    config.onChange([this.#pingHost.name], () => changed.pingHost())
  }

  /** `pswd` is empty if not set. */
  get override(): Credentials {
    return { user: this.#user.get(), pswd: this.#pswd.get() }
  }

  get pingReboot(): PingReboot {
    const host = asciiHost(this.#pingHost.get())
    return { enabled: host !== '', host }
  }
}
