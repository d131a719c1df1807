/** Stored state of the reference, which a disk or a person may have damaged. Additional members are ignored. */
import type { PluginContext } from 'rtk-base/plugin'
import { EcefShape, ErrorValuesShape } from 'rtk-base/schemas'
import type { EvidenceMemory } from 'rtk-base/services'
import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { Move, Override } from './reference/override.js'
import type { Position } from './reference/positions.js'
import { SurveyRecord } from './survey/surveyor.js'

const text = Type.String()
const utc_s = Type.Number()

const shapes = {
  survey: SurveyRecord,
  /** `entry` shows whether it is still the same one. */
  manual: Type.Object({ entry: text, t: utc_s, by: text }),
  /** The evidence of integrity, opaque here, see `EvidenceMemory`. */
  trusted: Type.Unknown(),
  suspicion: Type.Unknown(),
  /** The error "reference moved by …" with the parts of its text, until the next change. */
  elsewhere: ErrorValuesShape,
  /** A person's override of the move evidence, until another reference is chosen. */
  override: Override,
  /**
   * A reference that was given up for another one while a move away from it was suspected, and what was seen: the antenna is as far from
   * it as before when it is chosen again.
   */
  abandoned: Type.Object({
    arp: EcefShape,
    t: utc_s,
    evidence: text,
    distance_m: Type.Optional(Type.Number({ minimum: 0 })),
    move: Type.Optional(Move),
  }),
  /** A person confirmed this reference (`signatureOf`): it is checked with the next position. */
  confirmation: Type.Object({ reference: text, t: utc_s, by: text }),
  /** Checked one by one: a damaged entry does not cost the others. */
  positions: Type.Array(Type.Unsafe<Position>(Type.Unknown())),
}
type Shapes = typeof shapes
type Name = keyof Shapes
type Values = { [N in Name]: Static<Shapes[N]> }

export class ReferenceStore implements EvidenceMemory {
  readonly #ctx: PluginContext
  #values: Partial<Values> = {}
  #writes: Promise<unknown> = Promise.resolve()
  /** Values that could not be stored, each reported once. */
  readonly #unstored = new Set<Name>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** What is damaged counts as never stored. */
  async load(): Promise<void> {
    try {
      const stored: Readonly<Record<string, unknown>> = await this.#ctx.store.entries()
      const names = Object.keys(shapes).filter((name) => this.#isSound(name as Name, stored[name]))
      this.#values = Object.fromEntries(names.map((name) => [name, stored[name]]))
    } catch (error) {
      this.#ctx.log.error({ err: error }, 'the stored reference data cannot be read; the reference is determined again')
    }
  }

  #isSound(name: Name, value: unknown): boolean {
    if (value === undefined) return false
    const isSound = Value.Check(shapes[name] as TSchema, value)
    if (!isSound) this.#ctx.log.error({ name }, `the stored value ${name} is damaged and is not used`)
    return isSound
  }

  get<N extends Name>(name: N): Values[N] | undefined {
    return this.#values[name]
  }

  /** Resolves when it is durable, or was reported not to be. */
  async set<N extends Name>(name: N, value: Values[N] | undefined): Promise<void> {
    await this.stored(name, value)
  }

  /** Like `set`. @returns why it is not durable */
  async stored<N extends Name>(name: N, value: Values[N] | undefined): Promise<unknown> {
    if (value === undefined && this.#values[name] === undefined) return undefined
    this.#values[name] = value
    const written = this.#ctx.store.set(name, value).then(
      () => void this.#unstored.delete(name),
      (error: unknown) => {
        this.#notStored(name, error)
        return error
      },
    )
    this.#writes = Promise.all([this.#writes, written])
    return written
  }

  #notStored(name: Name, error: unknown): void {
    if (this.#unstored.has(name)) return
    this.#unstored.add(name)
    const message = `reference data (${name}) could not be stored and will be lost at the next restart (disk full?)`
    this.#ctx.log.error({ err: error, name }, message)
  }

  /** Resolves when everything that was set is durable. */
  async flush(): Promise<void> {
    await this.#writes
  }
}
