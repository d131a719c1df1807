/** A store without a disk, for tests: same rules, and a failure that a test can switch on. */
import { RtkError } from '../../runtime/errors.js'
import { type Contents, copyOf, setText, tooLarge } from '../../runtime/platform/store/snapshot.js'
import {
  isProtected,
  refuseUnprotected,
  type Store,
  type StoreOps,
  type StoreTrouble,
} from '../../runtime/platform/store/store.js'

export class MemoryStore implements Store {
  readonly troubles: StoreTrouble[] = []
  /** While set, every write fails with RTK_ERR_STORE_WRITE and this reason; nothing is written. */
  failure: string | undefined
  /** Batches that became durable. */
  writes = 0
  #contents: Contents = new Map()
  #sealed = false

  /** @param initial namespace → key → value */
  constructor(initial: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {}) {
    for (const [namespace, entries] of Object.entries(initial))
      for (const [key, value] of Object.entries(entries)) setText(this.#contents, namespace, key, JSON.stringify(value))
  }

  async get(namespace: string, key: string): Promise<unknown> {
    const json = this.#contents.get(namespace)?.get(key)
    return json === undefined ? undefined : JSON.parse(json)
  }

  async entries(namespace: string): Promise<Record<string, unknown>> {
    return Object.fromEntries([...(this.#contents.get(namespace) ?? [])].map(([key, json]) => [key, JSON.parse(json)]))
  }

  async namespaces(): Promise<string[]> {
    return [...this.#contents.keys()]
  }

  async batch(ops: readonly StoreOps[]): Promise<void> {
    if (this.#sealed) refuseUnprotected(ops)
    if (this.failure !== undefined)
      throw new RtkError('RTK_ERR_STORE_WRITE', `the store could not be written: ${this.failure}`)
    // Encoded before the first write: one value that is not JSON refuses the whole batch.
    const texts = ops.map(({ value }) => JSON.stringify(value))
    const draft = copyOf(this.#contents)
    for (const [index, { namespace, key }] of ops.entries()) setText(draft, namespace, key, texts[index])
    const problem = tooLarge(this.#contents, draft)
    if (problem) throw problem
    this.#contents = draft
    this.writes++
  }

  async factory(): Promise<void> {
    const all = [...this.#contents].filter(([namespace]) => !isProtected(namespace))
    await this.batch(
      all.flatMap(([namespace, entries]) => [...entries.keys()].map((key) => ({ namespace, key, value: undefined }))),
    )
    this.#sealed = true
  }

  /** Whether the state was kept for the version before. */
  copies = 0

  async keepCopy(): Promise<void> {
    await this.batch([])
    this.copies++
  }

  async dropCopy(): Promise<void> {
    this.copies = 0
  }

  async close(): Promise<void> {}

  onTroubles(): void {}
}
