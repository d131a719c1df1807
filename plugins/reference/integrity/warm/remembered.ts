/** Evidence that survives a restart of the service: the last trusted moment and a suspicion. Stored by the plugin that uses integrity. */

import type { PluginContext } from 'rtk-base/plugin'
import { EcefShape } from 'rtk-base/schemas'
import type { EvidenceMemory, EvidenceName, MoveSuspicion, MoveVector, ReferencePosition } from 'rtk-base/services'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { Baselines, Seen } from '../code/movement.js'

const number = Type.Number()
const count = Type.Number({ minimum: 0 })

/** Additional members are kept: the plugin that gave the reference may need them. */
const Moment = Type.Object({
  reference: Type.Object({ arp: EcefShape, acc_m: count, corr: Type.Boolean() }),
  uid: Type.String(),
  msss_ms: count,
  t: number,
  seen: Type.Optional(Seen),
  baselines: Baselines,
})
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

/** The last moment at which the base was trusted. */
export interface Trusted {
  reference: ReferencePosition
  /** Unique id of the receiver. */
  uid: string
  /** Its own clock, milliseconds since its start, and UTC seconds, at one moment. */
  msss_ms: number
  t: number
  /** Where the antenna was when that was last known otherwise than by an echo of the base. */
  seen?: Seen
  baselines: Baselines
}

type Suspicion = { evidence: string } & Partial<Omit<MoveSuspicion, 'text'>>

export class Remembered {
  readonly #log: Pick<PluginContext['log'], 'error'>
  #memory: EvidenceMemory | undefined
  #trusted: Trusted | undefined
  #suspicion: Suspicion | undefined

  constructor(log: Pick<PluginContext['log'], 'error'>) {
    this.#log = log
  }

  /** Damaged data is treated as never stored, except that a damaged suspicion still counts. */
  open(memory: EvidenceMemory): void {
    this.#memory = memory
    const [trusted, suspicion] = [memory.get('trusted') ?? undefined, memory.get('suspicion') ?? undefined]
    const isMoment = Value.Check(Moment, trusted)
    const isSuspected = Value.Check(Suspected, suspicion)
    if (trusted !== undefined && !isMoment) this.#damaged('trusted')
    if (suspicion !== undefined && !isSuspected) this.#damaged('suspicion')
    this.#trusted = isMoment ? (trusted as Trusted) : undefined
    const lost = suspicion === undefined ? undefined : { evidence: 'it was suspected before, the evidence is lost' }
    this.#suspicion = isSuspected ? (suspicion as Suspicion) : lost
  }

  #damaged(name: EvidenceName): void {
    this.#log.error({ name }, `the stored value ${name} is damaged and is not used`)
  }

  get trusted(): Trusted | undefined {
    return this.#trusted
  }

  /** Resolves when it is durable, or was reported not to be. */
  async trust(moment: Trusted): Promise<void> {
    this.#trusted = moment
    await this.#memory?.set('trusted', moment)
  }

  get suspicion(): MoveSuspicion | undefined {
    if (!this.#suspicion) return undefined
    const { evidence: text, size_m, move } = this.#suspicion
    return { text, size_m, ...(move && { move }) }
  }

  /** Effective at once. Resolves when it is stored, or when its failure was reported. */
  async suspect({ text, size_m, move }: MoveSuspicion): Promise<void> {
    this.#suspicion = { evidence: text, ...(size_m !== undefined && { size_m }), ...(move && { move }) }
    await this.#memory?.set('suspicion', this.#suspicion)
  }

  async settle(): Promise<void> {
    this.#suspicion = undefined
    await this.#memory?.set('suspicion', undefined)
  }
}
