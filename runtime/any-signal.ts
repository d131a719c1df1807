/**
 * One signal that aborts with the first of several. `release` lets go of them: the signal of a plugin lives as long as the
 * plugin, and would keep every call that ever listened to it. `AbortSignal.any` gives no such release, and Node 20 keeps an
 * entry for each of its signals for the life of the source, so the lint rules forbid it.
 */
export function anySignal(signals: readonly (AbortSignal | null | undefined)[]): {
  readonly signal: AbortSignal
  abort(reason: unknown): void
  release(): void
} {
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
