/** The references that there are, and which of them is chosen. */
import type { Memory } from '../memory.js'
import type { Surveyor } from '../survey/surveyor.js'
import { manualPosition, type ReferenceSettings } from './manual-entry.js'
import type { Reference } from './reference.js'

export class ReferenceChoice {
  readonly #settings: ReferenceSettings
  readonly #surveyor: Surveyor
  readonly #memory: Memory
  #signature = ''

  constructor(settings: ReferenceSettings, surveyor: Surveyor, memory: Memory) {
    this.#settings = settings
    this.#surveyor = surveyor
    this.#memory = memory
  }

  /** Undefined until one group of coordinates is complete. */
  get manual(): Reference | undefined {
    const entry = this.#settings.manual()
    const arp = manualPosition(entry)
    if (!arp) return undefined
    const { t = 0, by = 'plugin' } = this.#memory.get('manual') ?? {}
    const { acc: acc_m, corr, datum } = entry
    return { method: 'manual', arp, acc_m, corr, t, by, samples: 0, elapsed_s: 0, ...(datum && { datum }) }
  }

  get chosenMethod(): Reference['method'] {
    return this.#settings.chosen()
  }

  /** The chosen one; undefined while there is none. */
  get chosen(): Reference | undefined {
    return this.chosenMethod === 'manual' ? this.manual : this.#surveyor.reference
  }

  /** Remembers when and by whom the manual reference was changed. @param by surface of the change */
  async noteManual(by: string, t: number): Promise<void> {
    const entry = JSON.stringify(this.#settings.manual())
    const before = this.#memory.get('manual')
    const isSet = manualPosition(this.#settings.manual()) !== undefined
    if (before ? before.entry === entry : !isSet) return
    await this.#memory.set('manual', { entry, t, by })
  }

  /** Remembers the chosen reference as it is now. @returns whether it differs from the one remembered before */
  noteChosen(): boolean {
    const before = this.#signature
    this.#signature = signatureOf(this.chosen)
    return this.#signature !== before
  }
}

/** What distinguishes one chosen reference from another. */
function signatureOf(reference: Reference | undefined): string {
  if (!reference) return ''
  const { method, arp } = reference
  return JSON.stringify([method, arp.x, arp.y, arp.z])
}
