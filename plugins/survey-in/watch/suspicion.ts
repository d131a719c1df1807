import type { Memory } from '../memory.js'

/** Why the antenna is suspected to have moved. Durable until it is settled: a restart must not forget it. */
export class Suspicion {
  readonly #memory: Memory
  /** What was found last, for people; stays after the suspicion is settled. */
  evidence = ''

  constructor(memory: Memory) {
    this.#memory = memory
  }

  get stands(): boolean {
    return this.#memory.get('suspicion') !== undefined
  }

  /** Resolves when it is durable, or was reported not to be. */
  raise(evidence: string, size_m?: number): Promise<void> {
    this.evidence = evidence
    return this.#memory.set('suspicion', { evidence, ...(size_m !== undefined && { size_m }) })
  }

  /** How far the antenna moved, metres, where that was measured. */
  get size_m(): number | undefined {
    return this.#memory.get('suspicion')?.size_m
  }

  /** Takes over the evidence that was found before a restart. */
  recall(): void {
    this.evidence = this.#memory.get('suspicion')?.evidence ?? ''
  }

  settle(): Promise<void> {
    return this.#memory.set('suspicion', undefined)
  }
}
