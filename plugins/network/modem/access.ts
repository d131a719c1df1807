import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type CellularModem, cellularModem, cellularRouter } from 'rtk-base/services'

/** The modem of the router's plugin, which may come and go. */
export class Access {
  readonly #ctx: Pick<PluginContext, 'services'>

  constructor(ctx: Pick<PluginContext, 'services'>) {
    this.#ctx = ctx
  }

  /** Why the modem cannot be reached; empty while it can. */
  get absence(): string {
    const { services } = this.#ctx
    if (!services.find(cellularModem)) return 'no plugin of a cellular router runs'
    const router = services.find(cellularRouter)
    return router && router.state !== 'online' ? `the router is ${router.state}` : ''
  }

  /** Also while the router is away; undefined without a plugin of a router. */
  get source(): CellularModem | undefined {
    return this.#ctx.services.find(cellularModem)
  }

  /** @throws RTK_ERR_UNAVAILABLE */
  get modem(): CellularModem {
    const { source } = this
    if (!source) throw new RtkError('RTK_ERR_UNAVAILABLE', this.absence)
    return source
  }
}

/** Code and message of an error, in one line. */
export function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const text = typeof message === 'string' ? message : String(error)
  return typeof code === 'string' ? `${code}: ${text}` : text
}
