import type { Event, PluginContext } from 'rtk-base/plugin'
import type { Network } from 'rtk-base/services'

/** The implementation of the service `network`. */
export interface Backend extends Network {
  start(): Promise<void>
  stop(): Promise<void>
}

/** `onChange` of a service, emitted once per turn of the event loop. */
export class Changes {
  readonly on: Event<void>
  readonly #emit: () => void
  readonly #ended: AbortSignal
  #noted = false

  constructor({ event, signal }: Pick<PluginContext, 'event' | 'signal'>) {
    const source = event<void>()
    this.on = source.on
    this.#emit = () => source.emit()
    this.#ended = signal
  }

  note(): void {
    if (this.#noted) return
    this.#noted = true
    queueMicrotask(() => {
      this.#noted = false
      if (!this.#ended.aborted) this.#emit()
    })
  }
}
