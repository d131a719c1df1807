import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver } from 'rtk-base/services'
import { BaseWatch } from './base-watch.js'

const look_ms = 1000

/** A receiver configured by somebody else: its status is shown, nothing is checked. */
export class ListenedReceiver {
  readonly #ctx: PluginContext
  readonly #receiver: Receiver
  readonly #changed: () => void
  readonly #base = new BaseWatch()
  #shown = ''

  /** @param changed called when the status changed */
  constructor(ctx: PluginContext, receiver: Receiver, changed: () => void) {
    this.#ctx = ctx
    this.#receiver = receiver
    this.#changed = changed
  }

  start(): void {
    const { on, timers } = this.#ctx
    on(this.#receiver.onRtcm, (frame) => {
      this.#base.heard(frame, undefined)
      this.#look()
    })
    on(this.#receiver.onState, () => this.#look())
    timers.every(look_ms, () => this.#look())
    this.#look()
  }

  get status(): string {
    const { link } = this.#receiver
    if (link !== 'up') return link
    return this.#base.flows(this.#ctx.clock.monotonic()) ? 'fixed' : 'acquire'
  }

  #look(): void {
    const { status } = this
    if (status === this.#shown) return
    this.#shown = status
    this.#changed()
  }
}
