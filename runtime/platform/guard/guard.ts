/** Running foreign code: on behalf of its owner, isolated from the others, and within a limit. */
import { withLimit } from '../time/waits.js'
import { type Owner, runAs } from './owner.js'

/** For a callback that returns a promise: somebody waits for it. */
export const callbackLimit_ms = 10_000

export interface GuardOptions {
  /** The limit of a returned promise; `Infinity` where nobody waits for it. Default: `callbackLimit_ms`. */
  readonly limit_ms?: number
  /** Told of a failure after the owner: what depended on the call ends. */
  readonly failed?: () => void
  /** Called while its owner is being stopped, too: an undo, or a timer that `stop` waits for. */
  readonly whileStopping?: boolean
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}

/** Functions that are guarded already. */
const guarded = new WeakSet<object>()
export const isGuarded = (fn: object): boolean => guarded.has(fn)

/**
 * `fn` for others to call: on behalf of `owner`, passed over once that is being stopped, its returned promise watched. A failure is
 * reported as the owner's.
 * @param what names the call in that report
 * @returns never throws; returns the result of `fn`, undefined if that failed. A promise is passed on as it is: who awaits it handles its
 *   rejection, too
 */
export function guard<A extends unknown[], R>(
  owner: Owner,
  what: string,
  fn: (...args: A) => R,
  { limit_ms = callbackLimit_ms, failed, whileStopping = false }: GuardOptions = {},
): (...args: A) => R | undefined {
  const fail = (error: unknown) => {
    owner.failed(error, what)
    failed?.()
  }
  const call = (...args: A): R | undefined => {
    if (owner.signal.aborted && !whileStopping) return undefined
    try {
      const result = runAs(owner, fn, ...args)
      if (isThenable(result)) within(owner, what, result, limit_ms).catch(fail)
      return result
    } catch (error) {
      fail(error)
      return undefined
    }
  }
  guarded.add(call)
  return call
}

/**
 * Runs `fn` on behalf of `owner` for a caller that needs its result, or the reason why there is none.
 * @throws what `fn` throws; RTK_ERR_PLUGIN_TIMEOUT after `limit_ms`
 */
export function attempt<T>(
  owner: Owner,
  what: string,
  fn: () => T | PromiseLike<T>,
  limit_ms = callbackLimit_ms,
): Promise<T> {
  try {
    const result = runAs(owner, fn)
    return isThenable(result) ? within(owner, what, result, limit_ms) : Promise.resolve(result)
  } catch (error) {
    return Promise.reject(error)
  }
}

function within<T>(owner: Owner, what: string, work: PromiseLike<T>, limit_ms: number): Promise<T> {
  return limit_ms === Number.POSITIVE_INFINITY
    ? Promise.resolve(work)
    : withLimit(owner.clock, limit_ms, owner.name, what, work)
}
