import { pause } from 'rtk-base/link'
import { type PluginContext, Undelivered } from 'rtk-base/plugin'
import { waitAfter_ms } from 'rtk-base/time'
import type { Download } from './download.js'
import { DownloadPace, leastWindow_bytes, longest_ms } from './pace.js'
import type { Progress } from './progress.js'

/** Attempts without a byte more. */
const mostRetries = 7
const waits = { first_ms: 2_000, longest_ms: 60_000 }
const hopeless = /^RTK_ERR_(FETCH_(URL|CERTIFICATE|REDIRECT|TOO_LARGE)|IMAGE_LARGE|ABORTED|DATA_|STORE_)/

/**
 * Downloads an image, and resumes after a failure that may pass.
 * @throws the failure that ended it; RTK_ERR_ABORTED when a person cancelled it
 */
export async function fetchImage(
  ctx: PluginContext,
  progress: Progress,
  download: Download,
  url: URL,
  largest_bytes: number,
): Promise<void> {
  const { log, clock, timers } = ctx
  const signal = progress.endSignal
  const begun_ms = clock.monotonic()
  let received = 0
  let size = largest_bytes
  for (let failures = 0; ; ) {
    const before = received
    try {
      await download.attempt(url, {
        largest_bytes,
        signal,
        paced: (pieces) => new DownloadPace(ctx, false).watch(pieces),
        progress: (bytes, total) => {
          received = bytes
          if (total > 0) size = total
          progress.show('downloading', total > 0 ? Math.min(100, Math.floor((100 * bytes) / total)) : 0)
        },
      })
      return
    } catch (error) {
      const { code = '', message } = error as { code?: string; message: string }
      progress.throwIfCancelled()
      const isRefused = error instanceof Undelivered && error.why === 'refused'
      if (signal.aborted || hopeless.test(code) || isRefused) throw error
      if (clock.monotonic() - begun_ms > longest_ms(size)) throw error
      // Trickling data is not progress.
      failures = received - before >= leastWindow_bytes ? 1 : failures + 1
      if (failures > mostRetries) throw error
      const pause_ms = waitAfter_ms(failures, waits, error instanceof Undelivered ? error.wait_ms : 0)
      log.warn({ err: error }, `the download stopped: ${message}; it resumes in ${Math.round(pause_ms / 1000)} s`)
      await pause(timers, pause_ms)
      progress.throwIfCancelled()
    }
  }
}
