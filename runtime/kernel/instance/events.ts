import type { Clock } from '../../platform/ports/clock.js'
import { withLimit } from '../../platform/time/waits.js'
import type { Callback, Dispose, Event, EventSource } from '../../plugin.js'
import { currentOwner, type Owner, runAs } from './attribution.js'

/** A listener or a timer that returns a promise has so long. */
const callbackLimit_ms = 10_000

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}

/** Listeners that run on behalf of their plugin already. */
const owned = new WeakSet<Callback<never>>()

/**
 * `fn` on behalf of `owner`: skipped once the owner has stopped, isolated, and with its returned promise watched. The
 * wrapped function never throws; it returns the result of `fn`, or undefined if that failed.
 */
export function onBehalf<A extends unknown[], R>(
  owner: Owner,
  clock: Clock,
  what: string,
  fn: (...args: A) => R,
): (...args: A) => R | undefined {
  const failed = (error: unknown) => owner.failed(error, what)
  const call = (...args: A): R | undefined => {
    if (owner.ended) return undefined
    try {
      const result = runAs(owner, fn, ...args)
      if (isThenable(result)) withLimit(clock, callbackLimit_ms, owner.name, what, result).catch(failed)
      return result
    } catch (error) {
      failed(error)
      return undefined
    }
  }
  owned.add(call as Callback<never>)
  return call
}

/** An event of one plugin, or of the runtime. A listener belongs to the plugin that subscribed it. */
export class EventHub<T> implements EventSource<T> {
  readonly #clock: Clock
  readonly #what: string
  /** Replaced, never changed, so that a listener may come or go while others are called. */
  #listeners: readonly Callback<[T]>[] = []

  /** @param what names the event in a report of a listener that failed */
  constructor(clock: Clock, what: string) {
    this.#clock = clock
    this.#what = what
  }

  get listeners(): number {
    return this.#listeners.length
  }

  readonly on: Event<T> = (fn) => {
    const owner = owned.has(fn) ? undefined : currentOwner()
    const listener = owner ? onBehalf(owner, this.#clock, this.#what, fn) : (value: T) => fn(value)
    this.#listeners = [...this.#listeners, listener]
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
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  /** The emitter stops: no listener is called any more. */
  close(): void {
    this.#listeners = []
  }
}

/** Subscribes on behalf of `owner`, in whosever call this happens. */
export function listen<T>(owner: Owner, clock: Clock, event: Event<T>, fn: Callback<[T]>): Dispose {
  return owner.own('listener', event(onBehalf(owner, clock, 'listener', fn)))
}
