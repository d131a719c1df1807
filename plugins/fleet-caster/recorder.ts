import type { PluginContext } from 'rtk-base/plugin'
import { fleet } from 'rtk-base/services'

/** The same trouble of the same station is recorded again after this long. */
const again_ms = 3_600_000
const mostKept = 10_000

/** Writes trouble with the RTCM of stations to the record of the fleet, each once in an hour: somebody may cause it at any rate. */
export class Recorder {
  readonly #ctx: PluginContext
  readonly #recorded = new Map<string, number>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  record(serial: string, kind: string, text: string): void {
    const now_ms = this.#ctx.clock.monotonic()
    const key = `${serial} ${kind}`
    if (now_ms - (this.#recorded.get(key) ?? Number.NEGATIVE_INFINITY) < again_ms) return
    this.#recorded.delete(key)
    this.#recorded.set(key, now_ms)
    if (this.#recorded.size > mostKept) this.#recorded.delete(this.#recorded.keys().next().value as string)
    this.#ctx.log.warn({ base: serial, kind }, `RTCM of a base is refused: ${text}`)
    this.#ctx.services.use(fleet).record({ serial, kind: 'caster', text, by: '' })
  }
}
