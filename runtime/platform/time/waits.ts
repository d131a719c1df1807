/** Ends a wait: by the first of several signals or by a time limit. */
import { RtkError } from '../../errors.js'
import type { Clock } from '../ports/clock.js'

/**
 * One signal that aborts with the first of several. Call `release` when the wait is over. Otherwise a long-lived
 * signal, such as that of the plugin, keeps every call in memory. For the same reason, do not use `AbortSignal.any`.
 */
export function anySignal(signals: readonly (AbortSignal | null | undefined)[]): {
  readonly signal: AbortSignal
  abort(reason: unknown): void
  release(): void
} {
  // Not `AbortSignal.any`: Node 20 keeps an entry for each of its signals for the life of the source.
  const controller = new AbortController()
  const given = signals.filter((signal) => signal instanceof AbortSignal)
  const release = () => {
    for (const signal of given) signal.removeEventListener('abort', onAbort)
  }
  const abort = (reason: unknown) => {
    release()
    controller.abort(reason)
  }
  function onAbort(this: AbortSignal) {
    abort(this.reason)
  }
  for (const signal of given) {
    if (controller.signal.aborted) break
    if (signal.aborted) abort(signal.reason)
    else signal.addEventListener('abort', onAbort)
  }
  return { signal: controller.signal, abort, release }
}

/** Waits for `work`, at most `limit_ms`. @throws RTK_ERR_PLUGIN_TIMEOUT naming the plugin and the phase. */
export function withLimit<T>(
  clock: Clock,
  limit_ms: number,
  plugin: string,
  phase: string,
  work: PromiseLike<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = clock.timer(limit_ms, () => {
      reject(new RtkError('RTK_ERR_PLUGIN_TIMEOUT', `${plugin}: ${phase} took longer than ${limit_ms / 1000} s`))
    })
    work.then(
      (value) => {
        void cancel()
        resolve(value)
      },
      (error) => {
        void cancel()
        reject(error)
      },
    )
  })
}
