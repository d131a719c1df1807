import type { Logger } from 'pino'
import { normalAddress } from '../../platform/address/address.js'
import { guard } from '../../platform/guard/guard.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { Store, StoreOps } from '../../platform/store/store.js'
import type { Caller, Dispose } from '../../plugin.js'
import type { ParameterRecord } from '../instance/registrations.js'

/** The store's namespace for the kernel's own data. */
const namespace = 'runtime'
const key = 'trial'

/** A request that was under way while the change was applied proves nothing. */
const settle_ms = 2_000

/** Stored values before a change; a name without a value had the default. */
export type ValuesBefore = ReadonlyMap<string, unknown>

export interface ChangeTrialDeps {
  store: Store
  clock: Clock
  log: Logger
  /** 0: no change is ever on trial. */
  window_s: number
  parameter(name: string): ParameterRecord | undefined
  /** No caller was seen in time. */
  over(): void
  /** Runs work between two changes. */
  betweenChanges(work: () => Promise<void>): Promise<void>
  /** A trial began or ended. */
  changed(): void
}

/**
 * A change that may cut its caller off is on trial: it is kept if a caller returns through the changed interface or
 * confirms it. Otherwise it is reverted. The previous values are stored in the same batch as the change, so a crash or
 * a power cut cannot leave a station with a change that cannot be confirmed.
 */
export class ChangeTrial {
  readonly #deps: ChangeTrialDeps
  #before: ValuesBefore | undefined
  /** Monotonic time from which on a caller counts, and at which the trial ends; undefined until the change is applied. */
  #from_ms: number | undefined
  #until_ms: number | undefined
  #isOver = false
  #cancel: Dispose = () => {}

  constructor(deps: ChangeTrialDeps) {
    this.#deps = deps
  }

  async load(): Promise<void> {
    const kept = await this.#deps.store.get(namespace, key)
    if (isKept(kept)) this.#before = new Map(kept.map(({ name, value }) => [name, value]))
  }

  /** A trial that a restart interrupted begins again: for the callers the restart was a part of the change. */
  resume(): void {
    if (this.#before !== undefined) this.applied()
  }

  /** The values that return; undefined while nothing is on trial. */
  get before(): ValuesBefore | undefined {
    return this.#before
  }

  /**
   * The window has passed and no caller was seen. A timer and the clock do not agree to the millisecond: the timer
   * decides.
   */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The parameters on trial and the seconds left; undefined while there is none. */
  get pending(): { parameters: string[]; left_s: number } | undefined {
    if (this.#before === undefined) return undefined
    const left_ms = (this.#until_ms ?? Number.POSITIVE_INFINITY) - this.#deps.clock.monotonic()
    return {
      parameters: [...this.#before.keys()],
      left_s: Math.ceil(Math.min(this.#deps.window_s, Math.max(0, left_ms / 1000))),
    }
  }

  /**
   * Previous values of the provisional part of a change, for `pledge`. Undefined if its caller does not connect through
   * anything that the change affects. A change during a trial joins it: the values before the first one return.
   * @param before the previous stored values that the change replaces
   */
  concerns(before: ValuesBefore, caller: Caller): ValuesBefore | undefined {
    if (this.#deps.window_s === 0 || caller.source === 'plugin') return undefined
    const risky = [...before].filter(([name]) => this.#reaches(name, caller))
    if (risky.length === 0 && ![...before.keys()].some((name) => this.#before?.has(name))) return undefined
    // Values of the same change are reverted together: a network name without its password is useless.
    const together = [...before].filter(([name]) => this.#deps.parameter(name)?.options.trial !== undefined)
    return new Map([...together, ...(this.#before ?? [])])
  }

  /** The write that belongs in the same batch as the change. @param before undefined: nothing is on trial any more */
  pledge(before: ValuesBefore | undefined): StoreOps[] {
    return [{ namespace, key, value: before && [...before].map(([name, value]) => ({ name, value })) }]
  }

  /** The change is stored; `applied` follows when it is live. */
  begin(before: ValuesBefore): void {
    void this.#cancel()
    this.#before = before
    this.#isOver = false
    this.#from_ms = undefined
    this.#until_ms = undefined
    this.#deps.changed()
  }

  applied(): void {
    const { clock, window_s } = this.#deps
    if (this.#before === undefined) return
    this.#from_ms = clock.monotonic() + settle_ms
    this.#until_ms = clock.monotonic() + window_s * 1000
    this.#isOver = false
    void this.#cancel()
    this.#cancel = clock.timer(window_s * 1000, () => {
      this.#isOver = true
      this.#deps.over()
    })
    this.#deps.changed()
  }

  /** A caller reached the station. */
  seen(caller: Caller): void {
    if (this.#before === undefined || this.#deps.clock.monotonic() < (this.#from_ms ?? Number.POSITIVE_INFINITY)) return
    if ([...this.#before.keys()].some((name) => this.#reaches(name, caller))) void this.confirm()
  }

  /** Keeps the change. False: there was none on trial. */
  async confirm(): Promise<boolean> {
    const names = this.pending?.parameters
    if (names === undefined) return false
    this.end()
    this.#deps.log.info({ parameters: names }, 'the change is confirmed')
    await this.#deps.betweenChanges(async () => {
      // A change that was under way may have put something else on trial.
      if (this.#before !== undefined) return
      await this.#deps.store
        .batch(this.pledge(undefined))
        .catch((error) => this.#deps.log.warn({ err: error }, 'a confirmed change is on trial again after a restart'))
    })
    return true
  }

  /** @param earlier what was on trial before the change that was taken back */
  end(earlier?: ValuesBefore): void {
    void this.#cancel()
    this.#isOver = false
    this.#before = earlier
    if (earlier) this.applied()
    else this.#deps.changed()
  }

  #reaches(name: string, caller: Caller): boolean {
    const record = this.#deps.parameter(name)
    const { trial } = record?.options ?? {}
    if (record === undefined || trial === undefined || !record.owner.live) return false
    return guard(record.owner, `whether ${name} cuts its caller off`, () => trial.reaches(plain(caller)))() ?? false
  }
}

/** As interfaces have it: without the form of IPv4 on a socket of IPv6, and without the interface behind a link-local address. */
const plain = ({ source, address }: Caller): Caller =>
  address === undefined ? { source } : { source, address: normalAddress(address) }

const isKept = (value: unknown): value is { name: string; value?: unknown }[] =>
  Array.isArray(value) && value.every((entry) => typeof entry?.name === 'string')
