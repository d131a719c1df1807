import type { PluginContext } from 'rtk-base/plugin'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

const Kept = Type.Object({
  proven: Type.Array(Type.String()),
  restarts: Type.Array(Type.Number()),
  steered: Type.String(),
})
const day_ms = 24 * 3_600_000
const mostProven = 64

/** State that survives a restart of the service: working links, modem restarts, the replacement uplink. */
export class RecoveryMemory {
  readonly #ctx: PluginContext
  #proven: string[] = []
  #restarts: number[] = []
  #steered = ''
  #writing: Promise<void> = Promise.resolve()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  async load(): Promise<void> {
    const kept = await this.#ctx.store.get('recovery')
    if (!Value.Check(Kept, kept)) return
    this.#proven = kept.proven
    this.#restarts = kept.restarts
    this.#steered = kept.steered
  }

  get steered(): string {
    return this.#steered
  }

  isProven(name: string): boolean {
    return this.#proven.includes(name)
  }

  prove(name: string): void {
    if (this.isProven(name)) return
    this.#proven = [...this.#proven, name].slice(-mostProven)
    void this.#keep().catch(() => {})
  }

  /** Durable when it resolves, unless the disk takes no writes: a station without a link cannot wait for that. */
  async steer(name: string): Promise<void> {
    if (name === this.#steered) return
    this.#steered = name
    await this.#keep().catch(() => {})
  }

  /** In the last 24 h. Of a clock that was set back, those of the future count as if they were made now. */
  restarts(now_ms: number): number {
    this.#restarts = this.#restarts.map((at_ms) => Math.min(at_ms, now_ms)).filter((at_ms) => now_ms - at_ms < day_ms)
    return this.#restarts.length
  }

  /** Durable once resolved. @throws RTK_ERR_STORE_WRITE: the modem must then not be restarted, because the restart would not be counted */
  async countRestart(now_ms: number): Promise<void> {
    this.#restarts.push(now_ms)
    await this.#keep().catch((error) => {
      this.#restarts.pop()
      throw error
    })
  }

  #keep(): Promise<void> {
    const recovery = { proven: this.#proven, restarts: this.#restarts, steered: this.#steered }
    const written = this.#writing.then(() => this.#ctx.store.batch({ recovery }))
    this.#writing = written.catch((error) => this.#ctx.log.debug({ err: error }, 'recovery could not be stored'))
    return written
  }
}
