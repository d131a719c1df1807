import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { SimulatedRouter } from 'rtk-base/services'
import type { RouterOptions } from './options.js'
import type { SimulatedTeltonika } from './simulator/index.js'
import type { Credentials } from './transport/index.js'

/** The option `url` that asks for it. */
export const simulatorUrl = 'simulator'

/** The simulated router of `url: "simulator"`: its service and its command. With any other URL its service throws RTK_ERR_UNAVAILABLE. */
export class Simulation implements SimulatedRouter {
  readonly #ctx: Pick<PluginContext, 'clock' | 'timers'>
  readonly #options: RouterOptions
  #router: SimulatedTeltonika | undefined

  constructor(ctx: Pick<PluginContext, 'clock' | 'timers'>, options: RouterOptions) {
    this.#ctx = ctx
    this.#options = options
  }

  get wanted(): boolean {
    return this.#options.url === simulatorUrl
  }

  /** What its label says: a simulated router has no other way to make its password known. */
  get credentials(): Credentials {
    const { generation, credentials } = this.#options.simulator
    return { user: credentials.user || (generation === 'legacy' ? 'root' : 'admin'), pswd: credentials.pswd }
  }

  /** Resolves with its address. */
  async start(): Promise<string> {
    const { clock, timers } = this.#ctx
    // Its code is loaded where it is wanted.
    const { startSimulatedRouter } = await import('./simulator/index.js')
    this.#router = await startSimulatedRouter({
      ...this.#options.simulator,
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        after: (ms, fn) => timers.after(ms, fn),
      },
    })
    return this.#router.url
  }

  async stop(): Promise<void> {
    await this.#router?.close()
    this.#router = undefined
  }

  get url(): string {
    return this.#running.url
  }

  command(line: string): string {
    return this.#running.command(line)
  }

  describe(): string {
    return this.#running.describe()
  }

  get #running(): SimulatedTeltonika {
    if (this.#router) return this.#router
    throw unavailable(
      this.wanted
        ? 'the simulated router is not running yet'
        : 'the router is not simulated: its option url names a real one',
    )
  }
}
