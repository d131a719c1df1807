/** The available references, the chosen one, and the list of positions. */
import { distance, type Enu } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { Parameters } from '../parameters.js'
import type { ReferenceStore } from '../reference-store.js'
import type { Surveyor } from '../survey/surveyor.js'
import { announcedReference, seenAt } from './datum.js'
import { agreement_m, manualPosition } from './manual-entry.js'
import type { Override } from './override.js'
import { Positions } from './positions.js'
import { type Reference, signatureOf } from './reference.js'

/**
 * Effect of a change on the chosen reference. `restated`: the same position of the antenna in other words, e.g. rounded or in another
 * announced frame.
 */
export type ReferenceChange = 'none' | 'restated' | 'another'

export class References {
  readonly positions: Positions
  readonly #parameters: Pick<Parameters, 'manual' | 'announced' | 'chosen'>
  readonly #surveyor: Pick<Surveyor, 'reference'>
  readonly #store: ReferenceStore
  readonly utc_s: () => number
  #signature = ''
  #lastChosen: Reference | undefined

  /** @param mostEvents of the history */
  constructor(
    parameters: Pick<Parameters, 'manual' | 'announced' | 'chosen'>,
    surveyor: Pick<Surveyor, 'reference'>,
    store: ReferenceStore,
    mostEvents: number,
    utc_s: () => number,
  ) {
    this.positions = new Positions(mostEvents)
    this.#parameters = parameters
    this.#surveyor = surveyor
    this.#store = store
    this.utc_s = utc_s
  }

  /** Restores the stored references. */
  async recall(): Promise<void> {
    await this.noteManual('plugin')
    this.noteChosen()
  }

  /** As announced; undefined until one group of coordinates is complete. */
  get manual(): Reference | undefined {
    const entered = this.#entered
    return entered && this.#announced(entered)
  }

  get #entered(): Reference | undefined {
    const entry = this.#parameters.manual()
    const arp = manualPosition(entry)
    if (!arp) return undefined
    const { t = 0, by = 'plugin' } = this.#store.get('manual') ?? {}
    const { acc: acc_m, corr, datum, provenance, source } = entry
    return {
      ...{ method: 'manual' as const, arp, acc_m, corr, t, by, samples: 0, elapsed_s: 0 },
      ...(datum && { datum }),
      ...(provenance && { provenance }),
      ...(source && { source }),
    }
  }

  get chosenMethod(): Reference['method'] {
    return this.#parameters.chosen()
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
    const wish = this.#parameters.announced()
    const announced = announcedReference(reference, wish)
    const seen = seenAt(announced, wish, this.utc_s())
    return seen ? { ...announced, seenAt: seen } : announced
  }

  /** Remembers when and by whom the manual reference was changed. @param by surface of the change */
  async noteManual(by: string): Promise<void> {
    const entry = JSON.stringify(this.#parameters.manual())
    const before = this.#store.get('manual')
    const isSet = manualPosition(this.#parameters.manual()) !== undefined
    if (before ? before.entry === entry : !isSet) return
    await this.#store.set('manual', { entry, t: this.utc_s(), by })
  }

  /** Stores the current chosen reference. @returns how it differs from the stored one */
  noteChosen(): ReferenceChange {
    const [signature, lastChosen] = [this.#signature, this.#lastChosen]
    this.#signature = signatureOf(this.chosen)
    this.#lastChosen = this.#determined
    if (this.positions.choose(this.chosen)) void this.change(() => {})
    if (this.#store.get('override') && !this.override) void this.#store.set('override', undefined)
    if (this.#signature === signature) return 'none'
    const now = this.#lastChosen
    const isSame =
      lastChosen?.method === now?.method && lastChosen && now && distance(lastChosen.arp, now.arp) <= agreement_m
    return isSame ? 'restated' : 'another'
  }

  /** The reference that `noteChosen` saw last. */
  get lastChosen(): Reference | undefined {
    return this.#lastChosen
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
    await this.change((positions) => positions.confirmed(reference, override))
    await this.#store.set('override', override)
  }

  /** The start-up check compares with the reference alone again. Durable when it resolves. */
  async takeBack(): Promise<void> {
    await this.#store.set('override', undefined)
  }

  /** RTCM goes out for it. */
  used(reference: Reference, stationId: number): void {
    if (this.positions.used(reference, this.utc_s(), stationId)) void this.change(() => {})
  }

  /** The antenna was found away from the chosen one. */
  moved(evidence: string, offset: Enu | undefined): void {
    const { chosen } = this
    if (chosen) void this.change((positions, t) => positions.moved(chosen, t, evidence, offset))
  }

  /** Changes the list. Resolves when it is durable, or was reported not to be. */
  async change<T>(change: (positions: Positions, t: number) => T): Promise<T> {
    const result = change(this.positions, this.utc_s())
    await this.#store.set('positions', [...this.positions.entries])
    return result
  }

  /**
   * A person's change of the list. Durable when it resolves; else the list is as before.
   * @throws RTK_ERR_NOT_FOUND, RTK_ERR_COMMAND_VALUE, RTK_ERR_STORE_WRITE
   */
  async edit<T>(change: (positions: Positions, t: number) => T): Promise<T> {
    const before = this.positions.entries
    const result = change(this.positions, this.utc_s())
    const after = this.positions.entries
    const error = await this.#store.stored('positions', [...after])
    if (error === undefined) return result
    // What came meanwhile stays.
    if (this.positions.entries === after) this.positions.restore(before)
    throw error
  }
}
