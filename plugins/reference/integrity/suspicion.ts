/** The suspicion that the antenna moved. It survives a restart: the plugin that uses integrity stores it. */
import type { PluginContext } from 'rtk-base/plugin'
import type { EvidenceMemory, EvidenceName, MoveSuspicion, MoveVector } from 'rtk-base/services'
import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'

const number = Type.Number()
const count = Type.Number({ minimum: 0 })

export const Vector = Type.Object({
  east_m: number,
  north_m: number,
  up_m: number,
  covariance: Type.Unsafe<MoveVector['covariance']>(Type.Tuple([count, number, number, count, number, count])),
})
export const Measured = Type.Object({
  by: Type.Union([Type.Literal('phases'), Type.Literal('code')]),
  t: number,
  size_m: count,
  isLeast: Type.Boolean(),
  moves: Type.Integer({ minimum: 1 }),
  vector: Type.Optional(Vector),
})
const Suspected = Type.Object({
  evidence: Type.String(),
  size_m: Type.Optional(count),
  move: Type.Optional(Measured),
})
type Suspected = Static<typeof Suspected>

/** A stored value; `isDamaged`: a value is there that does not match the schema. */
export function storedValue<const S extends TSchema>(
  memory: EvidenceMemory,
  name: EvidenceName,
  schema: S,
  log: Pick<PluginContext['log'], 'error'>,
): { value?: Static<S>; isDamaged: boolean } {
  const value = memory.get(name) ?? undefined
  if (value === undefined) return { isDamaged: false }
  if (Value.Check(schema, value)) return { value, isDamaged: false }
  log.error({ name }, `the stored value ${name} is damaged and is not used`)
  return { isDamaged: true }
}

export class Suspicion {
  readonly #log: Pick<PluginContext['log'], 'error'>
  #memory: EvidenceMemory | undefined
  #present: Suspected | undefined

  constructor(log: Pick<PluginContext['log'], 'error'>) {
    this.#log = log
  }

  /** A damaged suspicion still counts. */
  open(memory: EvidenceMemory): void {
    this.#memory = memory
    const { value, isDamaged } = storedValue(memory, 'suspicion', Suspected, this.#log)
    this.#present = isDamaged ? { evidence: 'it was suspected before, the evidence is lost' } : value
  }

  /** Undefined: no move is suspected. */
  get present(): MoveSuspicion | undefined {
    if (!this.#present) return undefined
    const { evidence: text, size_m, move } = this.#present
    return { text, size_m, ...(move && { move }) }
  }

  /** Effective at once. Resolves when it is stored, or when its failure was reported. */
  async raise({ text, size_m, move }: MoveSuspicion): Promise<void> {
    this.#present = { evidence: text, ...(size_m !== undefined && { size_m }), ...(move && { move }) }
    await this.#memory?.set('suspicion', this.#present)
  }

  async settle(): Promise<void> {
    this.#present = undefined
    await this.#memory?.set('suspicion', undefined)
  }
}
