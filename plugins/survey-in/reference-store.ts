/** What outlives the service: the survey-in, when the manual reference was entered, the ledger, and what integrity remembers of them. */
import type { PluginContext } from 'rtk-base/plugin'
import type { EvidenceMemory } from 'rtk-base/services'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { LedgerEntry } from './reference/ledger.js'
import { storedValues } from './stored-values.js'
import type { SurveyRecord } from './survey/surveyor.js'

export interface StoredValues {
  survey: SurveyRecord
  /** `entry` shows whether it is still the same one. */
  manual: { entry: string; t: number; by: string }
  /** These two are what integrity remembers: it knows what they mean, see `EvidenceMemory`. */
  trusted: unknown
  suspicion: unknown
  /** The error "reference moved by …", until the next change. */
  moved: string
  ledger: readonly LedgerEntry[]
}

const schemas: Readonly<Record<keyof StoredValues, TSchema>> = storedValues

export class ReferenceStore implements EvidenceMemory {
  readonly #ctx: PluginContext
  #values: Partial<StoredValues> = {}
  #writes: Promise<unknown> = Promise.resolve()
  /** What could not be stored, said once until it can. */
  readonly #unstored = new Set<keyof StoredValues>()

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
  #valid(stored: Readonly<Record<string, unknown>>): Partial<StoredValues> {
    const valid = Object.entries(schemas).filter(([name, schema]) => {
      if (stored[name] === undefined) return false
      if (Value.Check(schema, stored[name])) return true
      this.#ctx.log.error({ name }, `the stored value ${name} is damaged and is not used`)
      return false
    })
    return Object.fromEntries(valid.map(([name]) => [name, stored[name]]))
  }

  get<K extends keyof StoredValues>(name: K): StoredValues[K] | undefined {
    return this.#values[name]
  }

  /** Resolves when it is durable, or was reported not to be. */
  async set<K extends keyof StoredValues>(name: K, value: StoredValues[K] | undefined): Promise<void> {
    if (value === undefined && this.#values[name] === undefined) return
    this.#values[name] = value
    const written = this.#ctx.store.set(name, value).then(
      () => void this.#unstored.delete(name),
      (error: unknown) => this.#notStored(name, error),
    )
    this.#writes = Promise.all([this.#writes, written])
    await written
  }

  #notStored(name: keyof StoredValues, error: unknown): void {
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
