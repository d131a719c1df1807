import type { Memory } from '../memory.js'
import type { Suspect } from './evidence/index.js'

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
  raise({ text, size_m }: Suspect): Promise<void> {
    this.evidence = text
    return this.#memory.set('suspicion', { evidence: text, size_m })
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
