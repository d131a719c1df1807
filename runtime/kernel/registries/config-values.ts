import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { ParameterEntry } from '../../../schemas/services.js'
import type { BatchOptions, Store, StoreOps } from '../../platform/store/store.js'
import { problemOf, quote } from '../../platform/validate.js'
import type { ParameterRecord } from '../instance/registrations.js'
import type { Tables } from '../tables.js'

/** The store's namespace of change parameters. */
export const configNamespace = 'config'

export interface ConfigValuesDeps {
  store: Store
  log: Logger
  tables(): Tables
  /** Something that a reader of the document may see has changed. */
  changed(): void
}

/**
 * The values of the change parameters: stored, else the variant's, else the default. They belong to the store, not to plugins, so no
 * reload loses one.
 */
export class ConfigValues {
  readonly #deps: ConfigValuesDeps
  readonly #stored = new Map<string, unknown>()
  /** Values of the variant. */
  readonly #initial = new Map<string, unknown>()
  readonly #rejected = new WeakSet<ParameterRecord>()
  #newest = 0
  /** Parameter → number of the change that touched it last. */
  readonly #changedAt = new Map<string, number>()

  constructor(deps: ConfigValuesDeps) {
    this.#deps = deps
  }

  async load(): Promise<void> {
    for (const [name, value] of Object.entries(await this.#deps.store.entries(configNamespace))) {
      this.#stored.set(name, value)
    }
  }

  setInitial(name: string, value: unknown): void {
    this.#initial.set(name, value)
  }

  /** The number of the newest change: an instance set up now has seen all changes up to it. */
  get newest(): number {
    return this.#newest
  }

  /** The number of the change that touched a parameter last; 0: none. */
  changedAt(name: string): number {
    return this.#changedAt.get(name) ?? 0
  }

  /**
   * The current value. If the schema no longer accepts a stored value, the value falls back to the default, with one
   * warning.
   */
  of(record: ParameterRecord): unknown {
    const { name, schema, options } = record
    for (const source of [this.#stored, this.#initial]) {
      if (!source.has(name)) continue
      const value = source.get(name)
      if (!problemOf(schema, value)) return value
      if (!this.#rejected.has(record)) {
        this.#rejected.add(record)
        const shown = options.secret ? '' : ` ${quote(value)}`
        this.#deps.log.warn({ parameter: name }, `stored value${shown} of ${name} is no longer allowed: not used`)
      }
    }
    return options.default
  }

  /** The current value of a parameter by its name; undefined: there is no such parameter. */
  effective(name: string): unknown {
    const record = this.#deps.tables().parameters.get(name)
    return record ? this.of(record) : undefined
  }

  /** As it is stored; undefined: not at all. */
  stored(name: string): unknown {
    return this.#stored.get(name)
  }

  /** Stored values that these writes replace. */
  asStored(ops: readonly StoreOps[]): Promise<StoreOps[]> {
    const { store } = this.#deps
    return Promise.all(
      ops.map(async ({ namespace, key }) => ({ namespace, key, value: await store.get(namespace, key) })),
    )
  }

  /** Every parameter of a plugin that runs, by name. */
  list(): ParameterEntry[] {
    return [...this.#deps.tables().parameters.values()]
      .filter(({ owner }) => owner.live)
      .map((record) => {
        const { name, owner, schema, options } = record
        const { default: preset, title = name, secret = false, endsLink = false, trial } = options
        const value = this.of(record)
        const shown = secret ? { set: !isDeepStrictEqual(value, preset) } : { default: preset, value }
        const rest = { secret, endsLink, onTrial: trial !== undefined }
        return { name, plugin: owner.name, title, schema: { ...schema }, ...shown, ...rest }
      })
      .sort((a, b) => a.name.localeCompare(b.name))
  }

  /** First durable, then live. `undefined` forgets a value. */
  async write(
    values: ReadonlyMap<string, unknown>,
    options?: BatchOptions,
    sameBatch: readonly StoreOps[] = [],
  ): Promise<void> {
    if (values.size === 0) return
    const ops = [...values].map(([key, value]) => ({ namespace: configNamespace, key, value }))
    await this.#deps.store.batch([...ops, ...sameBatch], options)
    this.#newest += 1
    for (const [name, value] of values) {
      this.#changedAt.set(name, this.#newest)
      if (value === undefined) this.#stored.delete(name)
      else this.#stored.set(name, value)
    }
    this.#deps.changed()
  }
}
