import type { PluginContext } from 'rtk-base/plugin'
import { type Receiver, type RtcmStream, rtcmStream } from 'rtk-base/services'

/** A receiver configured by somebody else: its status is shown, nothing is checked. */
export class ListenedReceiver {
  readonly #ctx: PluginContext
  readonly #receiver: Receiver
  readonly #changed: () => void
  readonly #stream: RtcmStream
  #shown = ''

  /** @param changed called when the status changed */
  constructor(ctx: PluginContext, receiver: Receiver, changed: () => void) {
    this.#ctx = ctx
    this.#receiver = receiver
    this.#changed = changed
    this.#stream = ctx.services.use(rtcmStream)
  }

  start(): void {
    const { on } = this.#ctx
    on(this.#stream.onFlow, () => this.#look())
    on(this.#receiver.onState, () => this.#look())
    this.#look()
  }

  get status(): string {
    const { link } = this.#receiver
    if (link !== 'up') return link
    return this.#stream.input.flows ? 'fixed' : 'acquire'
  }

  #look(): void {
    const { status } = this
    if (status === this.#shown) return
    this.#shown = status
    this.#changed()
  }
}
