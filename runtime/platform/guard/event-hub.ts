import type { Callback, Dispose, Event, ListenerOrder } from '../../../schemas/event.js'
import { guard, isGuarded } from './guard.js'
import { asRuntime, currentOwner, type Owner } from './owner.js'

/** An event, as its provider has it. The provider puts `on` into its service and keeps `emit` and `listeners` to itself. */
export interface EventSource<T> {
  readonly on: Event<T>
  /** Calls every listener: those that are to be first, then the others in the order of subscription. Never throws. */
  emit(value: T): void
  /** Number of listeners. Without listeners, the provider need not produce the value. */
  readonly listeners: number
}

/** An event of one plugin, or of the runtime. A listener belongs to the plugin that subscribed it. */
export class EventHub<T> implements EventSource<T> {
  readonly #what: string
  /** Replaced, never changed, so that a listener may come or go while others are called. */
  #listeners: readonly Callback<[T]>[] = []

  /** @param what names the event in a report of a listener that failed */
  constructor(what: string) {
    this.#what = what
  }

  get listeners(): number {
    return this.#listeners.length
  }

  readonly on: Event<T> = (fn, order) => {
    const owner = isGuarded(fn) ? undefined : currentOwner()
    const listener = owner ? guard(owner, this.#what, fn) : (value: T) => fn(value)
    this.#listeners = order === 'first' ? [listener, ...this.#listeners] : [...this.#listeners, listener]
    const leave = () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener)
    }
    const undo = owner?.own(this.#what, leave)
    return undo ? () => void undo() : leave
  }

  emit(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value)
      } catch (error) {
        // A listener of the runtime itself: an error that no plugin owns.
        asRuntime(() =>
          queueMicrotask(() => {
            throw error
          }),
        )
      }
    }
  }

  /** The emitter stops: no listener is called any more. */
  close(): void {
    this.#listeners = []
  }
}

/** Subscribes on behalf of `owner`, in whosever call this happens. */
export function listen<T>(owner: Owner, event: Event<T>, fn: Callback<[T]>, order?: ListenerOrder): Dispose {
  return owner.own('listener', event(guard(owner, 'listener', fn), order))
}
