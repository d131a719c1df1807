import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { updateErrors } from 'rtk-base/services'

/** The signed head of an image has to be there by then. */
const head_ms = 10_000
/** The slowest link that an update is worth waiting for. */
const least_bytes_s = 512
const window_ms = 60_000
/** Minimum data in each window. */
export const leastWindow_bytes = (least_bytes_s * window_ms) / 1000
/** Names, handshakes, pauses between attempts. */
const spare_ms = 600_000

/** How long all of an image may take. */
export const longest_ms = (size_bytes: number): number => spare_ms + (size_bytes / least_bytes_s) * 1000

/** Ends a stream of an image that comes so slowly that it only holds up other updates. */
export class DownloadPace {
  readonly #ctx: PluginContext
  #isHeadThere: boolean

  /** @param hasHead of a source that the station has chosen itself, where the head has no time of its own */
  constructor(ctx: PluginContext, hasHead = true) {
    this.#ctx = ctx
    this.#isHeadThere = !hasHead
  }

  headIsThere(): void {
    this.#isHeadThere = true
  }

  /** @throws RTK_ERR_IMAGE_SLOW */
  async *watch(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { clock } = this.#ctx
    const pieces = source[Symbol.asyncIterator]()
    let since_ms = clock.monotonic()
    let bytes = 0
    try {
      for (;;) {
        const limit_ms = this.#isHeadThere ? window_ms : head_ms
        const next = await this.#within(pieces.next(), since_ms + limit_ms - clock.monotonic())
        if (next.done) return
        bytes += next.value.length
        const wasHead = !this.#isHeadThere
        const asked_ms = clock.monotonic()
        yield next.value
        // The time that the reader needed is not the sender's.
        since_ms += clock.monotonic() - asked_ms
        const isPayload = this.#isHeadThere
        if (isPayload && (wasHead || bytes >= leastWindow_bytes)) {
          since_ms = clock.monotonic()
          bytes = 0
        }
      }
    } finally {
      // Not awaited: where the next piece never comes, neither does the end.
      void pieces.return?.()
    }
  }

  async #within<T>(next: Promise<T>, left_ms: number): Promise<T> {
    const text = this.#isHeadThere
      ? `less than ${leastWindow_bytes} bytes came within ${window_ms / 1000} s`
      : `its signed head did not come within ${head_ms / 1000} s`
    let cancel: () => unknown = () => {}
    const late = new Promise<never>((_, reject) => {
      const end = () => reject(new RtkError(updateErrors.RTK_ERR_IMAGE_SLOW, text))
      cancel = this.#ctx.timers.after(Math.max(0, left_ms), end)
    })
    // The loser of the race is ignored.
    next.catch(() => {})
    return Promise.race([next, late]).finally(() => void cancel())
  }
}
