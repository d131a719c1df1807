import { AsyncLocalStorage } from 'node:async_hooks'
import type { Dispose } from '../../../schemas/event.js'
import type { Clock } from '../ports/clock.js'
import { enter, leave, ownerSymbol } from '../supervision/activity.js'

/** Why a plugin is stopped: it is reloaded, it is removed, or the service ends. */
export type StopReason = 'reload' | 'remove' | 'shutdown'

/** The owner of running code and of what it registered: one life of a plugin. */
export interface Owner {
  readonly name: string
  /** The number by which the watchdog knows it. */
  readonly activity: number
  /** Measures the limits of its callbacks. */
  readonly clock: Clock
  /** The plugin has started and is not being stopped: what it registered is used. */
  readonly live: boolean
  /** Aborts first thing when it is stopped: from then on its callbacks are passed over. */
  readonly signal: AbortSignal
  /** A callback failed: reported as this owner's fault. */
  failed(error: unknown, what: string): void
  /** An uncaught error of something that it left behind when it was stopped. */
  leftBehind(error: unknown): void
  /** Owns an undo: it runs when the owner goes. */
  own(label: string, dispose: Dispose): Dispose
}

const current = new AsyncLocalStorage<Owner>()

/** Runs `fn` on behalf of a plugin: errors of the timers, promises and sockets that it creates are the plugin's. */
export function runAs<A extends unknown[], T>(owner: Owner, fn: (...args: A) => T, ...args: A): T {
  const before = enter(owner.activity)
  try {
    return current.run(owner, fn, ...args)
  } finally {
    leave(before)
  }
}

/** Runs `fn` without an owner: the handles it opens outlive the calling plugin. */
export function asRuntime<T>(fn: () => T): T {
  return current.run(undefined as unknown as Owner, fn)
}

/** The owner of the code that runs right now; undefined for the runtime itself. */
export function currentOwner(): Owner | undefined {
  return current.getStore()
}

// The watchdog asks a main thread that it has stopped: callbacks of sockets and timers enter no `runAs` of their own.
Object.assign(globalThis, { [Symbol.for(ownerSymbol)]: () => currentOwner()?.name ?? '' })
