import type { Dispose, PluginContext } from 'rtk-base/plugin'

/** The kernel itself gives a peer up after a quarter of an hour only. */
const patience_ms = 30_000

/** Ends a connection whose peer takes nothing: it would keep its place for ever, and a push would never be made again. */
export class Patience {
  readonly #timers: PluginContext['timers']
  readonly #over: () => void
  #end: Dispose | undefined

  constructor(timers: PluginContext['timers'], over: () => void) {
    this.#timers = timers
    this.#over = over
  }

  /** More waits than is sent ahead. */
  begins(): void {
    this.#end ??= this.#timers.after(patience_ms, this.#over)
  }

  /** The peer takes again, or is gone. */
  ends(): void {
    void this.#end?.()
    this.#end = undefined
  }
}
