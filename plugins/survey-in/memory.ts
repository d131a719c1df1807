/** What outlives the service: the survey-in, when the manual reference was entered, the last trusted moment, the ledger. */
import type { PluginContext } from 'rtk-base/plugin'
import { Value } from 'typebox/value'
import type { LedgerEntry } from './reference/ledger.js'
import { storedValues } from './stored-values.js'
import type { SurveyRecord } from './survey/surveyor.js'
import type { Trusted } from './trust/warm-start.js'

/** What is remembered of a suspicion. */
export interface Suspected {
  evidence: string
  /** How far the antenna moved, metres, where that was measured: an agreement has to be able to tell so much. */
  size_m?: number
}

export interface Memories {
  survey: SurveyRecord
  /** `entry` shows whether it is still the same one. */
  manual: { entry: string; t: number; by: string }
  trusted: Trusted
  /** Why the antenna is suspected to have moved, until that is settled. */
  suspicion: Suspected
  /** The error "reference moved by …", until the next change. */
  moved: string
  ledger: readonly LedgerEntry[]
}

export class Memory {
  readonly #ctx: PluginContext
  #values: Partial<Memories> = {}
  #writes: Promise<unknown> = Promise.resolve()
  /** What could not be stored, said once until it can. */
  readonly #unstored = new Set<keyof Memories>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  async load(): Promise<void> {
    try {
      this.#values = this.#valid(await this.#ctx.store.entries())
    } catch (error) {
      this.#ctx.log.error({ err: error }, 'what was stored of the reference cannot be read; it is determined again')
    }
  }

  /** Without what is damaged: that is as if it had never been stored. */
  #valid(stored: Readonly<Record<string, unknown>>): Partial<Memories> {
    const valid = Object.entries(storedValues).filter(([name, schema]) => {
      if (stored[name] === undefined) return false
      if (Value.Check(schema, stored[name])) return true
      this.#ctx.log.error({ name }, `the stored value ${name} is damaged and is not used`)
      return false
    })
    const values: Partial<Memories> = Object.fromEntries(valid.map(([name]) => [name, stored[name]]))
    // Whatever it said: the antenna was suspected to have moved.
    if (stored.suspicion != null) values.suspicion ??= { evidence: 'it was suspected before, the evidence is lost' }
    return values
  }

  get<K extends keyof Memories>(name: K): Memories[K] | undefined {
    return this.#values[name]
  }

  /** Resolves when it is durable, or was reported not to be. */
  async set<K extends keyof Memories>(name: K, value: Memories[K] | undefined): Promise<void> {
    if (value === undefined && this.#values[name] === undefined) return
    this.#values[name] = value
    const written = this.#ctx.store.set(name, value).then(
      () => void this.#unstored.delete(name),
      (error: unknown) => this.#notStored(name, error),
    )
    this.#writes = Promise.all([this.#writes, written])
    await written
  }

  #notStored(name: keyof Memories, error: unknown): void {
    if (this.#unstored.has(name)) return
    this.#unstored.add(name)
    const text = `what is known of the reference (${name}) could not be stored: it is lost at the next restart of the service (disk full?)`
    this.#ctx.log.error({ err: error, name }, text)
  }

  /** Resolves when everything that was set is durable. */
  async flush(): Promise<void> {
    await this.#writes
  }
}
