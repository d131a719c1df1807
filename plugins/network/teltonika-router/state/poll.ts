import type { PluginContext } from 'rtk-base/plugin'
import type { ModemFact, ModemSim } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import type { CallOptions, RouterLink } from '../link/router-link.js'
import type { Output } from '../operations/operations.js'
import { type FactOf, modemFacts, type RouterFacts } from './facts.js'

/** How often something due is looked for. */
const tick_ms = 5_000
const minute_ms = 60_000

/** Readings in their order, and their greatest age; without one a fact is read for who follows it. */
const ages_ms = {
  board: 60 * minute_ms,
  deviceName: 60 * minute_ms,
  system: minute_ms / 2,
  modemIdentity: 60 * minute_ms,
  registration: minute_ms,
  signal: minute_ms,
  apn: undefined,
  sim: minute_ms,
  operatorSelection: undefined,
  traffic: undefined,
  temperature: undefined,
  pingReboot: 10 * minute_ms,
  accessPoint: 10 * minute_ms,
  ipBlock: 60 * minute_ms,
} as const satisfies Partial<Record<FactOf, number | undefined>>
export type Polled = keyof typeof ages_ms
const polled = Object.keys(ages_ms) as Polled[]

/** After so long without a reading, more than a scan takes, reads take their turn among other calls, which may never end. */
const starved_ms = 4 * minute_ms
/** A link without a single reading for so long is made anew. */
const barren_ms = 10 * minute_ms
/** A fact that cannot be read is asked for as seldom as that in the end. */
const absent_ms = 10 * minute_ms
/** The modem starts later than its router. */
const modemRetry_ms = 30_000
/** A modem that restarts is not asked anything for so long. */
const modemBoot_ms = 30_000
/** Facts that belong to the SIM in use. */
const ofSim = ['registration', 'apn', 'operatorSelection'] as const

const isOfModem = (name: Polled) => (modemFacts as readonly Polled[]).includes(name)

/** A router as far as it is polled. */
export interface PolledRouter {
  readonly state: RouterLink['state']
  /** Once it is online. */
  readonly link: Pick<RouterLink, 'perform' | 'reconnect'> & { readonly queue: { readonly length: number } }
}

/** Keeps the facts fresh while the router is online: one read at a time, and none during other calls, unless these go on for minutes. */
export class RouterPoll {
  readonly #router: PolledRouter
  readonly #facts: RouterFacts
  readonly #ctx: Pick<PluginContext, 'timers' | 'clock' | 'signal'>
  readonly #followed = new Set<Readonly<Partial<Record<FactOf, number>>>>()
  /** Due whatever their age. */
  readonly #due = new Set<FactOf>()
  readonly #failed = new Map<Polled, { readonly backoff: Backoff; again_ms: number }>()
  #isRunning = false
  #wasOnline = false
  #modemStarted_ms = Number.NEGATIVE_INFINITY
  /** When a read last succeeded, or the link was not online. */
  #answered_ms = 0

  constructor(ctx: Pick<PluginContext, 'timers' | 'clock' | 'signal'>, router: PolledRouter, facts: RouterFacts) {
    this.#ctx = ctx
    this.#router = router
    this.#facts = facts
  }

  start(): void {
    this.#ctx.timers.every(tick_ms, () => this.#round())
  }

  /** Reads these at least so often. @returns undo */
  follow(every_ms: Readonly<Partial<Record<ModemFact, number>>>): () => void {
    this.#followed.add(every_ms)
    this.#ctx.timers.after(0, () => this.#round())
    return () => this.#followed.delete(every_ms)
  }

  /** Reads these as soon as nothing else is asked. */
  soon(names: readonly Polled[]): void {
    for (const name of names) {
      this.#due.add(name)
      this.#failed.delete(name)
    }
    this.#ctx.timers.after(0, () => this.#round())
  }

  /** The link came or went: a router that was away may have changed, a different one may support what the previous one did not. */
  stateChanged(): void {
    const isOnline = this.#router.state === 'online'
    if (isOnline && !this.#wasOnline) {
      this.#failed.clear()
      this.soon(modemFacts.filter((name) => [...this.#followed].some((every_ms) => every_ms[name] !== undefined)))
    }
    this.#wasOnline = isOnline
  }

  /** The modem was told to restart. */
  modemRestarts(): void {
    this.#modemStarted_ms = this.#ctx.clock.monotonic() + modemBoot_ms
  }

  /** Reads one now, whatever its age. @throws RTK_ERR_ROUTER_…, RTK_ERR_ABORTED, RTK_ERR_UNAVAILABLE */
  async read<K extends Polled>(name: K, options: CallOptions = {}): Promise<Output<K>> {
    const value: Output<K> = await this.#router.link.perform(name, undefined as never, options)
    const simBefore = this.#facts.get('sim')
    this.#due.delete(name)
    this.#failed.delete(name)
    if (name === 'sim' && simBefore && idOf(simBefore) !== idOf(value as ModemSim)) {
      this.#facts.clear(ofSim)
      this.soon(ofSim.filter((one) => this.#every_ms(one) !== undefined))
    }
    this.#facts.set(name, value)
    return value
  }

  #every_ms(name: Polled): number | undefined {
    const all_ms = [ages_ms[name], ...[...this.#followed].map((one) => one[name])]
    const known_ms = all_ms.filter((one) => one !== undefined)
    return known_ms.length === 0 ? undefined : Math.min(...known_ms)
  }

  async #round(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      const now_ms = this.#ctx.clock.monotonic()
      const isBarren = now_ms - this.#answered_ms >= barren_ms
      if (this.#router.state !== 'online' || isBarren) this.#answered_ms = now_ms
      if (this.#router.state === 'online' && isBarren)
        return this.#router.link.reconnect('nothing could be read for 10 min: the station logs in again')
      const isStarved = now_ms - this.#answered_ms >= starved_ms
      for (const name of polled) {
        if (this.#router.state !== 'online' || this.#ctx.signal.aborted) return
        if (this.#router.link.queue.length > 0 && !isStarved) return
        if (this.#isDue(name)) await this.#poll(name)
      }
    } finally {
      this.#isRunning = false
    }
  }

  #isDue(name: Polled): boolean {
    const now_ms = this.#ctx.clock.monotonic()
    if (isOfModem(name) && now_ms < this.#modemStarted_ms) return false
    if (now_ms < (this.#failed.get(name)?.again_ms ?? 0)) return false
    const every_ms = this.#every_ms(name)
    // The tick at that time comes a little early or late.
    return this.#due.has(name) || (every_ms !== undefined && this.#facts.age_ms(name) >= every_ms - tick_ms / 2)
  }

  async #poll(name: Polled): Promise<void> {
    try {
      const before = this.#facts.get('board')?.macaddr
      await this.read(name)
      this.#answered_ms = this.#ctx.clock.monotonic()
      const now = this.#facts.get('board')?.macaddr
      if (before && now && before !== now) this.#router.link.reconnect('another router answers in its place')
    } catch {
      // The link logs failures and handles an absent or blocking router. The facts are kept.
      const first_ms = isOfModem(name) ? modemRetry_ms : Math.min(this.#every_ms(name) ?? absent_ms, absent_ms)
      const backoff = this.#failed.get(name)?.backoff ?? new Backoff({ first_ms, longest_ms: absent_ms })
      this.#due.delete(name)
      this.#failed.set(name, { backoff, again_ms: this.#ctx.clock.monotonic() + backoff.next() })
    }
  }
}

/** The ICCID, or the IMSI where that cannot be read. */
const idOf = ({ iccid, imsi }: ModemSim) => (iccid === '' ? imsi : iccid)
