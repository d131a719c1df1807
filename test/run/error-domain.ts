/**
 * Takes the place of the package `async-hook-domain` in the bundle of tap. The package notes every promise of the process, and its end by the
 * garbage collector, to know which test an uncaught error comes from: a tenth of the processor time of a test with stations.
 * The tests of a process run one after the other, so here an uncaught error belongs to the innermost running test.
 */
const running: Domain[] = []

/** Does nothing where somebody else listens: a station handles the errors of its plugins. */
function toInnermost(error: unknown, origin: string): void {
  const innermost = running.at(-1)
  const isHandled = process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0
  if (!innermost || isHandled) return
  // Node calls it right after the monitors, and then the process keeps running.
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
  innermost.onerror(error, origin)
}

export class Domain {
  readonly onerror: (error: unknown, origin: string) => void

  constructor(onerror: (error: unknown, origin: string) => void) {
    this.onerror = onerror
    if (running.push(this) === 1) process.on('uncaughtExceptionMonitor', toInnermost)
  }

  destroy(): void {
    const place = running.indexOf(this)
    if (place < 0) return
    running.splice(place, 1)
    if (running.length === 0) process.off('uncaughtExceptionMonitor', toInnermost)
  }
}
