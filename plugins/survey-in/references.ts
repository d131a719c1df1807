/** The references that there are, which of them is chosen, and the ledger of those that were used. */
import type { Memory } from './memory.js'
import type { Parameters } from './parameters.js'
import { manualPosition, type Reference } from './reference.js'
import type { Surveyor } from './surveyor.js'

export class References {
  readonly #parameters: Parameters
  readonly #surveyor: Surveyor
  readonly #memory: Memory

  constructor(parameters: Parameters, surveyor: Surveyor, memory: Memory) {
    this.#parameters = parameters
    this.#surveyor = surveyor
    this.#memory = memory
  }

  /** Undefined until one group of coordinates is complete. */
  get manual(): Reference | undefined {
    const entry = this.#parameters.manual()
    const arp = manualPosition(entry)
    if (!arp) return undefined
    const { t = 0, by = 'plugin' } = this.#memory.get('manual') ?? {}
    return { method: 'manual', arp, acc_m: entry.acc, corr: entry.corr, t, by, samples: 0, elapsed_s: 0 }
  }

  get chosenMethod(): Reference['method'] {
    return this.#parameters.chosen()
  }

  /** The one to go by; undefined while there is none. */
  get chosen(): Reference | undefined {
    return this.chosenMethod === 'manual' ? this.manual : this.#surveyor.reference
  }

  /** Remembers when and by whom the manual reference was changed. @param by surface of the change */
  async noteManual(by: string, t: number): Promise<void> {
    const entry = JSON.stringify(this.#parameters.manual())
    const before = this.#memory.get('manual')
    const isSet = manualPosition(this.#parameters.manual()) !== undefined
    if (before ? before.entry === entry : !isSet) return
    await this.#memory.set('manual', { entry, t, by })
  }
}

/** What makes a chosen reference another one. */
export function signature(reference: Reference | undefined): string {
  if (!reference) return ''
  const { method, arp, acc_m } = reference
  return JSON.stringify([method, arp.x, arp.y, arp.z, acc_m])
}
