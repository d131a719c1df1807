import type { Logger } from 'pino'
import { normalAddress } from '../../platform/address/address.js'
import { guard } from '../../platform/guard/guard.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { Store, StoreOps } from '../../platform/store/store.js'
import { Trial } from '../../platform/trial.js'
import type { Caller } from '../../plugin.js'
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
 * Commit confirmed: a change that may cut its caller off is kept if a caller returns through the changed interface or
 * confirms it. Otherwise it is reverted.
 */
export class ChangeTrial {
  readonly #deps: ChangeTrialDeps
  readonly #trial: Trial<ValuesBefore>

  constructor(deps: ChangeTrialDeps) {
    this.#deps = deps
    const { clock, window_s, over } = deps
    this.#trial = new Trial({ clock, window_ms: window_s * 1000, settle_ms, over })
  }

  async load(): Promise<void> {
    const stored = await this.#deps.store.get(namespace, key)
    if (isStored(stored)) this.#trial.begin(new Map(stored.map(({ name, value }) => [name, value])))
  }

  /** The values that return; undefined while nothing is on trial. */
  get before(): ValuesBefore | undefined {
    return this.#trial.before
  }

  /** The values that return because the window has passed and no caller was seen. */
  get expired(): ValuesBefore | undefined {
    return this.#trial.isOver ? this.#trial.before : undefined
  }

  /** The parameters on trial and the seconds left; undefined while there is none. */
  get pending(): { parameters: string[]; left_s: number } | undefined {
    const { before, left_ms } = this.#trial
    return before && { parameters: [...before.keys()], left_s: Math.ceil(left_ms / 1000) }
  }

  /**
   * Previous values of the provisional part of a change, for `writes`. Undefined if its caller does not connect through
   * anything that the change affects. A change during a trial joins it: the values before the first one return.
   * @param before the previous stored values that the change replaces
   */
  concerns(before: ValuesBefore, caller: Caller): ValuesBefore | undefined {
    if (this.#deps.window_s === 0 || caller.source === 'plugin') return undefined
    const risky = [...before].filter(([name]) => this.#reaches(name, caller))
    if (risky.length === 0 && ![...before.keys()].some((name) => this.before?.has(name))) return undefined
    // Values of the same change are reverted together: a network name without its password is useless.
    const together = [...before].filter(([name]) => this.#deps.parameter(name)?.options.trial !== undefined)
    return new Map([...together, ...(this.before ?? [])])
  }

  /** For the same batch as the change. @param before undefined: nothing is on trial any more */
  writes(before: ValuesBefore | undefined): StoreOps[] {
    return [{ namespace, key, value: before && [...before].map(([name, value]) => ({ name, value })) }]
  }

  /** The change is stored; `applied` follows when it is live. */
  begin(before: ValuesBefore): void {
    this.#trial.begin(before)
    this.#deps.changed()
  }

  /** The change is live. After a restart its trial begins again: for the callers the restart was a part of it. */
  applied(): void {
    if (this.before === undefined) return
    this.#trial.start()
    this.#deps.changed()
  }

  /** A caller reached the station. */
  seen(caller: Caller): void {
    if (![...(this.before?.keys() ?? [])].some((name) => this.#reaches(name, caller))) return
    if (this.#trial.look('good') === 'kept') void this.confirm()
  }

  /** Keeps the change. False: there was none on trial. */
  async confirm(): Promise<boolean> {
    const names = this.pending?.parameters
    if (names === undefined) return false
    this.end()
    this.#deps.log.info({ parameters: names }, 'the change is confirmed')
    await this.#deps.betweenChanges(async () => {
      // A change that was under way may have put something else on trial.
      if (this.before !== undefined) return
      await this.#deps.store
        .batch(this.writes(undefined))
        .catch((error) => this.#deps.log.warn({ err: error }, 'a confirmed change is on trial again after a restart'))
    })
    return true
  }

  /** @param earlier what was on trial before the change that was taken back */
  end(earlier?: ValuesBefore): void {
    this.#trial.end()
    if (earlier) {
      this.#trial.begin(earlier)
      this.#trial.start()
    }
    this.#deps.changed()
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

const isStored = (value: unknown): value is { name: string; value?: unknown }[] =>
  Array.isArray(value) && value.every((entry) => typeof entry?.name === 'string')
