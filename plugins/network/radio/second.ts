import type { PluginContext } from 'rtk-base/plugin'
import { addedInterface } from './roles.js'
import type { Tools } from './tools/tools.js'

/** The daemon has to show the added interface within this time. */
const appears_ms = 15_000
/** Retry delay after a failure. */
const again_ms = 3_600_000

/** The second interface of a radio with a driver for simultaneous access point and station. */
export class Second {
  readonly #ctx: PluginContext
  readonly #tools: Tools
  readonly #known = new Map<string, { possible: boolean; channels: number; at_ms: number }>()
  #addedAt_ms: number | undefined
  #channels = 1

  constructor(ctx: PluginContext, tools: Tools) {
    this.#ctx = ctx
    this.#tools = tools
  }

  /** On how many channels at once. */
  get channels(): number {
    return this.#channels
  }

  async isPossible(name: string): Promise<boolean> {
    const now_ms = this.#ctx.clock.monotonic()
    const known = this.#known.get(name)
    if (known && (known.possible || now_ms - known.at_ms < again_ms)) {
      const isLate = this.#addedAt_ms !== undefined && now_ms - this.#addedAt_ms > appears_ms
      if (known.possible && isLate) this.#giveUp(name, 'the network daemon does not show it')
      return this.#known.get(name)?.possible ?? false
    }
    const combinations = await this.#tools.combinations(name).catch((error: unknown) => {
      this.#ctx.log.info(
        { err: error },
        `whether ${name} can be access point and uplink at once is not known: it takes turns`,
      )
      return { canBoth: false, channels: 1 }
    })
    this.#channels = Math.max(1, combinations.channels)
    this.#known.set(name, { possible: combinations.canBoth, channels: combinations.channels, at_ms: now_ms })
    return combinations.canBoth
  }

  async add(name: string): Promise<void> {
    if (this.#addedAt_ms !== undefined) return
    this.#addedAt_ms = this.#ctx.clock.monotonic()
    try {
      await this.#tools.addAccessPointInterface(name, addedInterface)
    } catch (error) {
      this.#giveUp(name, (error as Error).message)
    }
  }

  /** The daemon shows it. */
  appeared(): void {
    this.#addedAt_ms = undefined
  }

  async remove(): Promise<void> {
    await this.#tools.removeInterface(addedInterface).catch(() => {})
  }

  #giveUp(name: string, reason: string): void {
    this.#addedAt_ms = undefined
    this.#known.set(name, { possible: false, channels: 1, at_ms: this.#ctx.clock.monotonic() })
    this.#ctx.log.warn(
      `${name} cannot be access point and uplink at once (${reason}): it takes turns, tried again in 1 h`,
    )
  }
}
