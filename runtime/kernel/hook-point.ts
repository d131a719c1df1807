import { AsyncSeriesBailHook, AsyncSeriesHook, SyncHook } from 'tapable'
import { attempt, guard } from '../platform/guard/guard.js'
import type { Owner } from '../platform/guard/owner.js'

/** One tap of one plugin. */
export interface Tap {
  readonly owner: Owner
  readonly stage: number
  // biome-ignore lint/suspicious/noExplicitAny: the typed face is HookPort; here taps of every hook are kept alike
  readonly fn: (...args: any[]) => unknown
}

export interface TapFailure {
  plugin: string
  error: unknown
}

/**
 * A hook point over tapable. tapable has no untap, so the live taps are kept here and a new tapable hook is built
 * lazily after the set changed. A call under way keeps the old one. Every tap is wrapped: liveness, isolation,
 * attribution and, for asynchronous hooks, a time limit.
 */
abstract class HookPoint<H> {
  readonly name: string
  #taps: readonly Tap[] = []
  #built: H | undefined

  constructor(name: string) {
    this.name = name
  }

  /** Replaces the live taps; `taps` come in load order. */
  set(taps: readonly Tap[]): void {
    this.#taps = taps
    this.#built = undefined
  }

  protected get hook(): H {
    this.#built ??= this.build(this.#taps)
    return this.#built
  }

  protected abstract build(taps: readonly Tap[]): H
}

export class SyncHookPoint<A extends unknown[]> extends HookPoint<SyncHook<[A]>> {
  call(...args: A): void {
    this.hook.call(args)
  }

  protected build(taps: readonly Tap[]): SyncHook<[A]> {
    const hook = new SyncHook<[A]>(['args'])
    for (const tap of taps) {
      const guarded = guard(tap.owner, this.name, tap.fn)
      hook.tap({ name: tap.owner.name, stage: tap.stage }, (args) => {
        if (tap.owner.live) guarded(...args)
      })
    }
    return hook
  }
}

export class SeriesHookPoint<A extends unknown[]> extends HookPoint<AsyncSeriesHook<[A, TapFailure[]]>> {
  /** Runs every tap; failed taps are returned and reported. */
  async call(...args: A): Promise<TapFailure[]> {
    const failures: TapFailure[] = []
    await this.hook.promise(args, failures)
    return failures
  }

  protected build(taps: readonly Tap[]): AsyncSeriesHook<[A, TapFailure[]]> {
    const hook = new AsyncSeriesHook<[A, TapFailure[]]>(['args', 'failures'])
    for (const tap of taps) {
      hook.tapPromise({ name: tap.owner.name, stage: tap.stage }, async (args, failures) => {
        if (!tap.owner.live) return
        try {
          await attempt(tap.owner, this.name, () => tap.fn(...args))
        } catch (error) {
          failures.push({ plugin: tap.owner.name, error })
          tap.owner.failed(error, this.name)
        }
      })
    }
    return hook
  }
}

export class BailHookPoint<A extends unknown[], R> extends HookPoint<AsyncSeriesBailHook<[A], R>> {
  /** The first answer that is not undefined; a tap that fails has no answer. */
  async call(...args: A): Promise<R | undefined> {
    return this.hook.promise(args)
  }

  protected build(taps: readonly Tap[]): AsyncSeriesBailHook<[A], R> {
    const hook = new AsyncSeriesBailHook<[A], R>(['args'])
    for (const tap of taps) {
      hook.tapPromise({ name: tap.owner.name, stage: tap.stage }, async (args) => {
        if (!tap.owner.live) return undefined as R
        try {
          return (await attempt(tap.owner, this.name, () => tap.fn(...args))) as R
        } catch (error) {
          tap.owner.failed(error, this.name)
          return undefined as R
        }
      })
    }
    return hook
  }
}
