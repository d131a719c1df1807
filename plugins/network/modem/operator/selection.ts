import type { ConfigKey, PluginContext, Source } from 'rtk-base/plugin'
import { station } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { type Access, reasonOf } from '../access.js'
import { knownNetworks } from '../apn/lookup.js'
import type { Jobs } from '../jobs.js'
import type { Readings } from '../state/readings.js'
import { plmnDigits } from './scan.js'

/** Retry delay after a rejection by the modem. */
const retry_ms = 60_000
/** How long an operator that was never reached may take, and how long one may stay away that was. */
const firstLimit_ms = 300_000
const laterLimit_ms = 1_800_000
/** Maximum counted time between two readings: longer gaps mean an absent or busy modem. */
const longestGap_ms = 60_000
const stored = 'operator-failed'
/** An operator with which the modem did not register. */
const GivenUp = Type.Object({ plmn: Type.Integer(), waited_min: Type.Integer() })
const valuesOf = (givenUp: Static<typeof GivenUp>) => ({ cause: 'not registered', ...givenUp })

export interface SelectionDeps {
  access: Access
  jobs: Jobs
  readings: Readings
  /** Networks of the last scan, in written form. */
  scanned(): Iterable<string>
}

/**
 * Keeps the modem on the operator of `mobile-operator`, or on automatic selection. An operator with which it does not register is
 * given up: the station would be cut off.
 */
export class OperatorSelection {
  readonly #ctx: PluginContext
  readonly #key: ConfigKey<number>
  readonly #deps: SelectionDeps
  /** The modem was registered with the operator since it was set. */
  #reached = false
  #away_ms = 0
  #seen_ms: number | undefined
  #next_ms = Number.NEGATIVE_INFINITY
  /** An operator that was given up, and could not be taken out of the settings. */
  #givenUp = 0
  #givingUp = false

  constructor(ctx: PluginContext, key: ConfigKey<number>, deps: SelectionDeps) {
    this.#ctx = ctx
    this.#key = key
    this.#deps = deps
  }

  /** 0: automatic. */
  get #wanted(): number {
    const plmn = this.#key.get()
    return plmn === this.#givenUp ? 0 : plmn
  }

  get reached(): boolean {
    return this.#reached
  }

  async start(reached: boolean): Promise<void> {
    this.#reached = reached
    const givenUp = await this.#ctx.store.get(stored)
    if (Value.Check(GivenUp, givenUp)) this.#ctx.errors.while('modem-operator', valuesOf(givenUp))
  }

  /** `mobile-operator` was changed. */
  async onChange(source: Source): Promise<void> {
    if (source === 'plugin' && this.#givingUp) return
    this.#givenUp = 0
    this.#reached = false
    this.#away_ms = 0
    this.#next_ms = Number.NEGATIVE_INFINITY
    this.#ctx.errors.while('modem-operator', false)
    await this.#ctx.store.batch({ [stored]: undefined })
    this.settle()
  }

  /** The modem's own setting was read. */
  settle(): void {
    const { access, jobs, readings } = this.#deps
    const wanted = this.#wanted
    const now = readings.get('operatorSelection')
    if (access.absence !== '' || jobs.has('operator') || this.#ctx.clock.monotonic() < this.#next_ms) return
    if (readings.get('modemIdentity')?.operatorControl === false) {
      if (wanted !== 0) this.#ctx.errors.while('modem-operator', { cause: 'unsupported' })
      return
    }
    // An unreadable selection counts as correct, unless an operator is wanted.
    if (Number(now?.plmn ?? 0) === wanted && (now !== undefined || wanted === 0)) return
    jobs.begin('operator', 'the modem selects an operator', () => this.#select())
  }

  /** The registration was read. */
  observe(): void {
    const { readings } = this.#deps
    const { network, plmn = 0 } = readings.get('registration') ?? {}
    const wanted = this.#wanted
    const now_ms = this.#ctx.clock.monotonic()
    const since_ms = this.#seen_ms === undefined ? 0 : Math.min(longestGap_ms, now_ms - this.#seen_ms)
    this.#seen_ms = now_ms
    // Without a SIM no operator can be reached.
    if (wanted === 0 || readings.get('sim')?.state !== 'ready') return
    const registered = network === 'home' || network === 'roaming'
    if (registered && plmn === wanted) {
      this.#reached = true
      this.#away_ms = 0
      return
    }
    // Registered, but the modem does not report the network.
    if (registered && plmn === 0) return
    this.#away_ms += since_ms
    if (this.#away_ms >= (this.#reached ? laterLimit_ms : firstLimit_ms)) void this.#giveUp(wanted)
  }

  async #select(): Promise<void> {
    const { access, scanned } = this.#deps
    const wanted = this.#wanted
    const plmn = wanted === 0 ? undefined : plmnDigits(wanted, [...scanned(), ...knownNetworks()])
    try {
      await access.modem.selectOperator(plmn, this.#ctx.signal)
      this.#ctx.log.info({ operator: plmn ?? 'automatic' }, 'the modem accepted the selection of the operator')
    } catch (error) {
      this.#next_ms = this.#ctx.clock.monotonic() + retry_ms
      this.#ctx.log.warn(
        { operator: plmn ?? 'automatic' },
        `the operator could not be selected, it is tried again: ${reasonOf(error)}`,
      )
    }
    // The time that the selection took is not the operator's.
    this.#seen_ms = undefined
    // Another value may have been set meanwhile.
    if (this.#wanted !== wanted) this.#ctx.timers.after(0, () => this.settle())
  }

  async #giveUp(plmn: number): Promise<void> {
    const givenUp = { plmn, waited_min: Math.round(this.#away_ms / 60_000) }
    this.#away_ms = 0
    this.#reached = false
    this.#givenUp = plmn
    this.#givingUp = true
    this.#ctx.errors.while('modem-operator', valuesOf(givenUp))
    try {
      await this.#ctx.store.set(stored, givenUp)
      const { result, errors } = await this.#ctx.services
        .use(station)
        .change({ [this.#key.name]: 0 }, { source: 'plugin' })
      if (result === 'failed') throw new Error(errors?.[0]?.message)
    } catch (error) {
      this.#ctx.errors.while('modem-operator', { ...valuesOf(givenUp), reason: reasonOf(error) })
    } finally {
      this.#givingUp = false
    }
    this.#next_ms = Number.NEGATIVE_INFINITY
    this.settle()
  }
}
