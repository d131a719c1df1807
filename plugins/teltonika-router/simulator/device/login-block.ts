/** Failed logins are counted by the address they come from; at the limit the address is blocked (ip_blockd, legacy logtrigger). */
export interface BlockSettings {
  enabled: boolean
  limit: number
  rebootClear: boolean
  /** Undefined: the block stays until it is lifted. */
  duration_ms: number | undefined
}

export class LoginBlock {
  readonly #settings: () => BlockSettings
  readonly #monotonic: () => number
  readonly #failed = new Map<string, { count: number; blockedAt_ms: number | undefined }>()

  constructor(settings: () => BlockSettings, monotonic: () => number) {
    this.#settings = settings
    this.#monotonic = monotonic
  }

  /** Of the address with the most. */
  get attempts(): number {
    return Math.max(0, ...[...this.#failed.values()].map(({ count }) => count))
  }

  get limit(): number {
    return this.#settings().limit
  }

  get blocked(): string[] {
    return [...this.#failed.keys()].filter((address) => this.blocks(address))
  }

  blocks(address: string): boolean {
    const { enabled, duration_ms } = this.#settings()
    const entry = this.#failed.get(address)
    if (!enabled || entry?.blockedAt_ms === undefined) return false
    if (duration_ms !== undefined && this.#monotonic() - entry.blockedAt_ms >= duration_ms) {
      this.#failed.delete(address)
      return false
    }
    return true
  }

  failed(address: string): void {
    const { enabled, limit } = this.#settings()
    if (!enabled || this.blocks(address)) return
    const count = (this.#failed.get(address)?.count ?? 0) + 1
    this.#failed.set(address, { count, blockedAt_ms: count >= limit ? this.#monotonic() : undefined })
  }

  block(address: string): void {
    this.#failed.set(address, { count: this.#settings().limit, blockedAt_ms: this.#monotonic() })
  }

  /** A login that succeeded, or a person. */
  unblock(address?: string): void {
    if (address === undefined) this.#failed.clear()
    else this.#failed.delete(address)
  }

  rebooted(): void {
    if (this.#settings().rebootClear) this.#failed.clear()
  }
}
