/** Undoes what a registration did. Safe to call more than once. */
export type Dispose = () => void | Promise<void>

/** A callback whose result nobody needs. A promise is watched: a rejection is a fault of the plugin that gave the callback. */
// biome-ignore lint/suspicious/noExplicitAny: `() => socket.destroy()` is a fine callback, whatever it returns
export type Callback<A extends unknown[] = []> = (...args: A) => any

/**
 * Something that happens at a provider, for others to listen to: `ctx.on(receiver.onFix, fn)`. The listener runs on behalf of
 * the plugin that subscribed: its faults, its time and its end are those of that plugin.
 */
export type Event<T> = (fn: Callback<[value: T]>) => () => void
