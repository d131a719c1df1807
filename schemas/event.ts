/** Undoes what a registration did. Safe to call more than once. */
export type Dispose = () => void | Promise<void>

/** A callback; its result is ignored. If it returns a promise, a rejection counts as a fault of the plugin that passed the callback. */
// biome-ignore lint/suspicious/noExplicitAny: `() => socket.destroy()` is a fine callback, whatever it returns
export type Callback<A extends unknown[] = []> = (...args: A) => any

/**
 * An event of a provider: `ctx.on(receiver.onFix, fn)`. The listener belongs to the plugin that subscribed: its faults and
 * running time are attributed to that plugin, and it ends with that plugin.
 */
export type Event<T> = (fn: Callback<[value: T]>, order?: ListenerOrder) => () => void

/** Called before the others, whenever it subscribes: what they compute does not delay it. Default: in the order of subscription. */
export type ListenerOrder = 'first'
