/** Stored state: the survey-in, the entry time of the manual reference, the reference history, and the evidence of integrity. */
import type { PluginContext } from 'rtk-base/plugin'
import type { AntennaMove, Ecef, ErrorValues, EvidenceMemory } from 'rtk-base/services'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { HistoryEntry } from './reference/history.js'
import type { Override } from './reference/override.js'
import type { SavedPosition } from './reference/saved.js'
import { storedValues } from './stored-values.js'
import type { SurveyRecord } from './survey/surveyor.js'

export interface StoredValues {
  survey: SurveyRecord
  /** `entry` shows whether it is still the same one. */
  manual: { entry: string; t: number; by: string }
  /** The evidence of integrity, opaque here, see `EvidenceMemory`. */
  trusted: unknown
  suspicion: unknown
  /** The error "reference moved by …" with the parts of its text, until the next change. */
  elsewhere: ErrorValues
  /** A person's override of the move evidence, until another reference is chosen. */
  override: Override
  /**
   * A reference that was given up for another one while a move away from it was suspected, and what was seen: the antenna is as far from
   * it as before when it is chosen again.
   */
  left: { arp: Ecef; t: number; evidence: string; distance_m?: number; move?: AntennaMove }
  /** A person confirmed this reference (`signatureOf`): it is checked with the next position. */
  confirmation: { reference: string; t: number; by: string }
  ledger: readonly HistoryEntry[]
  saved: readonly SavedPosition[]
}

const schemas: Readonly<Record<keyof StoredValues, TSchema>> = storedValues

export class ReferenceStore implements EvidenceMemory {
  readonly #ctx: PluginContext
  #values: Partial<StoredValues> = {}
  #writes: Promise<unknown> = Promise.resolve()
  /** Values that could not be stored, each reported once. */
  readonly #unstored = new Set<keyof StoredValues>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  async load(): Promise<void> {
    try {
      this.#values = this.#valid(await this.#ctx.store.entries())
    } catch (error) {
      this.#ctx.log.error({ err: error }, 'the stored reference data cannot be read; the reference is determined again')
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
    const text = `reference data (${name}) could not be stored and will be lost at the next restart (disk full?)`
    this.#ctx.log.error({ err: error, name }, text)
  }

  /** Resolves when everything that was set is durable. */
  async flush(): Promise<void> {
    await this.#writes
  }
}
