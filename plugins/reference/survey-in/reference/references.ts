/** The available references, the chosen one, and the history of those used. */
import { distance, type Enu } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { ReferenceStore } from '../reference-store.js'
import type { Surveyor } from '../survey/surveyor.js'
import { announcedReference, seenAt } from './datum.js'
import { ReferenceHistory } from './history.js'
import { agreement_m, manualPosition, type ReferenceSettings } from './manual-entry.js'
import type { Override } from './override.js'
import { type Reference, signatureOf } from './reference.js'
import { SavedPositions } from './saved.js'

/**
 * Effect of a change on the chosen reference. `restated`: the same position of the antenna in other words, e.g. rounded or in another
 * announced frame.
 */
export type ReferenceChange = 'none' | 'restated' | 'another'

export class References {
  readonly history: ReferenceHistory
  readonly saved = new SavedPositions()
  readonly #settings: ReferenceSettings
  readonly #surveyor: Pick<Surveyor, 'reference'>
  readonly #store: ReferenceStore
  readonly #utc_s: () => number
  #signature = ''
  #noted: Reference | undefined

  /** @param most entries of the history */
  constructor(
    settings: ReferenceSettings,
    surveyor: Pick<Surveyor, 'reference'>,
    store: ReferenceStore,
    most: number,
    utc_s: () => number,
  ) {
    this.history = new ReferenceHistory(most)
    this.#settings = settings
    this.#surveyor = surveyor
    this.#store = store
    this.#utc_s = utc_s
  }

  /** Restores the stored references. */
  async recall(): Promise<void> {
    this.history.restore(this.#store.get('ledger'))
    this.saved.restore(this.#store.get('saved'))
    await this.noteManual('plugin')
    this.noteChosen()
  }

  /** As announced; undefined until one group of coordinates is complete. */
  get manual(): Reference | undefined {
    const entered = this.#entered
    return entered && this.#announced(entered)
  }

  get #entered(): Reference | undefined {
    const entry = this.#settings.manual()
    const arp = manualPosition(entry)
    if (!arp) return undefined
    const { t = 0, by = 'plugin' } = this.#store.get('manual') ?? {}
    const { acc: acc_m, corr, datum, source } = entry
    return {
      ...{ method: 'manual' as const, arp, acc_m, corr, t, by, samples: 0, elapsed_s: 0 },
      ...(datum && { datum }),
      ...(source && { source }),
    }
  }

  get chosenMethod(): Reference['method'] {
    return this.#settings.chosen()
  }

  /** The chosen one, as announced; undefined while there is none. */
  get chosen(): Reference | undefined {
    const determined = this.#determined
    return determined && this.#announced(determined)
  }

  /** The chosen one as entered or surveyed. */
  get #determined(): Reference | undefined {
    return this.chosenMethod === 'manual' ? this.#entered : this.#surveyor.reference
  }

  #announced(reference: Reference): Reference {
    const wish = this.#settings.announced()
    const announced = announcedReference(reference, wish)
    const seen = seenAt(announced, wish, this.#utc_s())
    return seen ? { ...announced, seenAt: seen } : announced
  }

  /** Remembers when and by whom the manual reference was changed. @param by surface of the change */
  async noteManual(by: string): Promise<void> {
    const entry = JSON.stringify(this.#settings.manual())
    const before = this.#store.get('manual')
    const isSet = manualPosition(this.#settings.manual()) !== undefined
    if (before ? before.entry === entry : !isSet) return
    await this.#store.set('manual', { entry, t: this.#utc_s(), by })
  }

  /** Stores the current chosen reference. @returns how it differs from the stored one */
  noteChosen(): ReferenceChange {
    const [signature, noted] = [this.#signature, this.#noted]
    this.#signature = signatureOf(this.chosen)
    this.#noted = this.#determined
    if (this.#store.get('override') && !this.override) void this.#store.set('override', undefined)
    if (this.#signature === signature) return 'none'
    const now = this.#noted
    const isSame = noted?.method === now?.method && noted && now && distance(noted.arp, now.arp) <= agreement_m
    return isSame ? 'restated' : 'another'
  }

  /** The reference that `noteChosen` saw last. */
  get noted(): Reference | undefined {
    return this.#noted
  }

  /** @param since_s the place counts for references from before that time; a later survey-in has found the antenna there */
  isAt(arp: Ecef, since_s: number): boolean {
    const now = this.#determined
    return now !== undefined && distance(now.arp, arp) <= agreement_m && !(now.method === 'survey' && now.t > since_s)
  }

  /** A person's word about the chosen reference; undefined without one. */
  get override(): Override | undefined {
    const override = this.#store.get('override')
    return override?.reference === signatureOf(this.chosen) ? override : undefined
  }

  /** Durable when it resolves. */
  async confirm(reference: Reference, override: Override): Promise<void> {
    this.history.confirmed(reference, override)
    this.#keepHistory()
    await this.#store.set('override', override)
  }

  /** The start-up check compares with the reference alone again. Durable when it resolves. */
  async takeBack(): Promise<void> {
    await this.#store.set('override', undefined)
  }

  /** RTCM goes out for it. */
  used(reference: Reference): void {
    if (this.history.used(reference, this.#utc_s())) this.#keepHistory()
  }

  /** The antenna was found away from the chosen one. */
  moved(evidence: string, offset: Enu | undefined): void {
    const { chosen } = this
    if (chosen) this.history.moved(chosen, this.#utc_s(), evidence, offset)
    this.#keepHistory()
  }

  /** Changes the saved positions. Durable when it resolves. @throws RTK_ERR_NOT_FOUND, RTK_ERR_COMMAND_VALUE */
  async save<T>(change: (saved: SavedPositions, t: number) => T): Promise<T> {
    const result = change(this.saved, this.#utc_s())
    await this.#store.set('saved', this.saved.entries)
    return result
  }

  #keepHistory(): void {
    void this.#store.set('ledger', this.history.entries)
  }
}
