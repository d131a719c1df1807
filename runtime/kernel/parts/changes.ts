import type { Event } from '../../../schemas/event.js'
import { EventHub } from '../../platform/guard/event-hub.js'
import type { Clock } from '../../platform/ports/clock.js'

/** Listeners are called at most once in this time. */
const interval_ms = 100

/** Changes, told to those that show them: made before what changes and before what shows. */
export class Changes {
  /** `base.state.errors` may have changed. */
  readonly onErrors: Event<void>
  /** A plugin came, went, or has another state. */
  readonly onPlugins: Event<void>
  readonly #announceErrors: () => unknown
  readonly #announcePlugins: () => unknown
  #forgetDocument: () => void = () => {}

  constructor(clock: Clock) {
    const announced = (name: string) => {
      const hub = new EventHub<void>(`listener of the ${name}`)
      const emit = coalesced(clock, () => hub.emit())
      return { on: hub.on, announce: () => hub.listeners > 0 && emit() }
    }
    const errors = announced('errors')
    const plugins = announced('plugins')
    this.onErrors = errors.on
    this.onPlugins = plugins.on
    this.#announceErrors = errors.announce
    this.#announcePlugins = plugins.announce
  }

  /** @param forget drops what is kept of the document */
  heardBy(forget: () => void): void {
    this.#forgetDocument = forget
  }

  readonly document = (): void => this.#forgetDocument()

  readonly errors = (): void => {
    this.document()
    this.#announceErrors()
  }

  readonly plugins = (): void => {
    this.errors()
    this.#announcePlugins()
  }
}

/** Calls `fn` soon after the first of many calls. */
function coalesced(clock: Clock, fn: () => void): () => void {
  let last_ms = Number.NEGATIVE_INFINITY
  let pending = false
  return () => {
    if (pending) return
    pending = true
    clock.timer(Math.max(0, last_ms + interval_ms - clock.monotonic()), () => {
      pending = false
      last_ms = clock.monotonic()
      fn()
    })
  }
}
