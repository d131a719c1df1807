import type { Logger } from 'pino'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { Handoff } from '../../plugin.js'

/** The values that an instance handed over when it stopped, by name. */
export type HandoffValues = ReadonlyMap<string, unknown>

/** The handoff values of the previous version, for the `start` of the next one. */
export class CheckedHandoff implements Handoff {
  readonly #values: HandoffValues
  readonly #log: Pick<Logger, 'info'>
  /** Names whose value did not fit: one log line each. */
  readonly #unfit = new Set<string>()

  /** @param log of the instance that starts */
  constructor(values: HandoffValues, log: Pick<Logger, 'info'>) {
    this.#values = values
    this.#log = log
  }

  get<S extends TSchema>(name: string, schema: S): Static<S> | undefined {
    const value = this.#values.get(name)
    if (value === undefined) return undefined
    // A copy: if this version cannot start, the previous version gets its own values back, unchanged.
    if (fits(schema, value)) return structuredClone(value)
    if (!this.#unfit.has(name)) {
      this.#unfit.add(name)
      // Not the value: it may have secrets.
      this.#log.info({ name }, `the handoff ${name} does not fit this version: the plugin starts without it`)
    }
    return undefined
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }
}

/** Plain JavaScript may pass no schema: unchecked it gets nothing. */
function fits<S extends TSchema>(schema: S | undefined, value: unknown): value is Static<S> {
  return schema !== undefined && Value.Check(schema, value)
}
