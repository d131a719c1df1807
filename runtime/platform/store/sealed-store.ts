import { RtkError } from '../../errors.js'
import { type BatchOptions, isProtected, type Store, type StoreOps } from './store.js'

/**
 * The store of the service. A factory reset first seals it and then clears it, so that no pending write survives the
 * reset; protected data can still be written.
 */
export class SealableStore implements Store {
  readonly #store: Store
  #sealed = false

  constructor(store: Store) {
    this.#store = store
  }

  /** Durable when it resolves. @throws RTK_ERR_STORE_WRITE; then everything is unchanged. */
  async factory(): Promise<void> {
    this.#sealed = true
    try {
      await this.#store.clear(isProtected)
    } catch (error) {
      this.#sealed = false
      throw error
    }
  }

  async batch(ops: readonly StoreOps[], options?: BatchOptions): Promise<void> {
    if (this.#sealed && !ops.every(({ namespace }) => isProtected(namespace))) {
      throw new RtkError('RTK_ERR_STORE_WRITE', 'a factory reset is under way: nothing was changed')
    }
    await this.#store.batch(ops, options)
  }

  get(namespace: string, key: string): Promise<unknown> {
    return this.#store.get(namespace, key)
  }

  entries(namespace: string): Promise<Record<string, unknown>> {
    return this.#store.entries(namespace)
  }

  namespaces(): Promise<string[]> {
    return this.#store.namespaces()
  }

  clear(keep: (namespace: string, key: string) => boolean): Promise<void> {
    return this.#store.clear(keep)
  }

  keepCopy(): Promise<void> {
    return this.#store.keepCopy()
  }

  dropCopy(): Promise<void> {
    return this.#store.dropCopy()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  get troubles() {
    return this.#store.troubles
  }

  onTroubles(listener: () => void): void {
    this.#store.onTroubles(listener)
  }
}
