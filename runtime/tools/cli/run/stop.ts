import type { Logger } from '../../../platform/log/log.js'

/** A graceful stop must not take longer than this, even if a step hangs. */
const stopLimit_ms = 3_000
/** Nobody waits for the end of a run that begins again in this process, and nobody may be there to start another process. */
export const restartLimit_ms = 30_000

/** Aborts at the first signal that ends a service; a second one, or a stop that hangs, ends the process at once. */
export function stopOnSignal(log: Logger, handOverSignals: () => void): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(1)
      log.info({ signal }, 'stopping')
      endIfLate(log)
      stop.abort()
    })
  }
  // A parent that started it through a channel and has exited cannot end it any more.
  if (process.channel) {
    process.once('disconnect', () => process.emit('SIGTERM', 'SIGTERM'))
    // A start that fails must end: the channel alone keeps nothing.
    process.channel.unref()
  }
  handOverSignals()
  // Without a listener Node opens its debugger for every local user.
  process.on('SIGUSR1', () => {})
  return stop.signal
}

/** Ends the process when a stop takes too long. @returns the undo */
export function endIfLate(log: Logger, limit_ms = stopLimit_ms): () => void {
  const limit = setTimeout(() => {
    log.fatal(`not stopped after ${limit_ms / 1000} s: the process ends all the same`)
    process.exit(1)
  }, limit_ms)
  return () => clearTimeout(limit)
}

/** The end of a run: the stop of the service, or a restart. */
export function endOf(stop: AbortSignal): { readonly reached: Promise<void>; restart(): void } {
  let restart: () => void = () => {}
  const reached = new Promise<void>((resolveEnd) => {
    restart = resolveEnd
    if (stop.aborted) resolveEnd()
    stop.addEventListener('abort', () => resolveEnd(), { once: true })
  })
  return { reached, restart }
}
