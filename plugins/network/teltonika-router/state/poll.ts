import { type PluginContext, RtkError } from 'rtk-base/plugin'
import type { RouterLink } from '../link/router-link.js'
import type { OperationName } from '../operations/operations.js'
import type { FactOf, RouterFacts } from './facts.js'

/** How often something due is looked for. */
const tick_ms = 5_000
const minute_ms = 60_000

/** Readings and their maximum age. Values already read by the modem plugin are not read again. */
const ages_ms = {
  board: 60 * minute_ms,
  deviceName: 60 * minute_ms,
  system: minute_ms / 2,
  modem: 60 * minute_ms,
  sim: minute_ms,
  signal: minute_ms,
  registration: minute_ms,
  accessPoint: 10 * minute_ms,
  pingReboot: 10 * minute_ms,
  ipBlock: 60 * minute_ms,
} as const satisfies Partial<Record<FactOf, number>>
type Polled = keyof typeof ages_ms

/** A link without a single reading for so long is made anew. */
const barren_ms = 10 * minute_ms
/** A fact that this router does not have is asked for as seldom as that. */
const absent_ms = 10 * minute_ms

const operationOf = (name: Polled): OperationName => (name === 'modem' ? 'modemIdentity' : name)

/** Keeps the facts fresh while the router is online: one read at a time, and none during other calls. */
export class RouterPoll {
  readonly #link: RouterLink
  readonly #facts: RouterFacts
  readonly #ctx: Pick<PluginContext, 'timers' | 'clock'>
  readonly #retryAt_ms = new Map<Polled, number>()
  /** When a read last succeeded, or the link was not online. */
  #answered_ms = 0

  constructor(ctx: Pick<PluginContext, 'timers' | 'clock'>, link: RouterLink, facts: RouterFacts) {
    this.#ctx = ctx
    this.#link = link
    this.#facts = facts
  }

  start(): void {
    this.#ctx.timers.every(tick_ms, () => this.#round())
  }

  /** A different router may support what the previous one did not. */
  forget(): void {
    this.#retryAt_ms.clear()
  }

  async #round(): Promise<void> {
    const now_ms = this.#ctx.clock.monotonic()
    const isBarren = now_ms - this.#answered_ms >= barren_ms
    if (this.#link.state !== 'online' || isBarren) this.#answered_ms = now_ms
    if (this.#link.state === 'online' && isBarren)
      return this.#link.reconnect('nothing could be read for 10 min: the station logs in again')
    for (const name of Object.keys(ages_ms) as Polled[]) {
      if (this.#link.state !== 'online' || this.#link.queue.length > 0) return
      if (this.#facts.age_ms(name) < ages_ms[name]) continue
      if (this.#ctx.clock.monotonic() < (this.#retryAt_ms.get(name) ?? 0)) continue
      await this.#read(name)
    }
  }

  async #read(name: Polled): Promise<void> {
    try {
      const value = await this.#link.perform(operationOf(name), undefined as never)
      const before = this.#facts.get('board')?.macaddr
      this.#facts.set(name, value as never)
      this.#answered_ms = this.#ctx.clock.monotonic()
      const now = this.#facts.get('board')?.macaddr
      if (before && now && before !== now) this.#link.reconnect('another router answers in its place')
      this.#retryAt_ms.delete(name)
    } catch (error) {
      // The link logs failures and handles an absent or blocking router. The facts are kept.
      const unsupported = error instanceof RtkError && error.code === 'RTK_ERR_ROUTER_UNSUPPORTED'
      const wait_ms = unsupported ? absent_ms : ages_ms[name]
      this.#retryAt_ms.set(name, this.#ctx.clock.monotonic() + wait_ms)
    }
  }
}
