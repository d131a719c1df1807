import { type EventSource, type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import type { UpdateStateName } from 'rtk-base/schemas'
import type { GivenUp } from './memory.js'

const errorCode = 'update-failed'

/** The update that is under way, or the last one: `base.update`, its error, and its end by a person. */
export class Progress {
  readonly #ctx: PluginContext
  readonly #changed: () => void
  readonly #event: EventSource<void>
  #state: UpdateStateName = 'idle'
  #percent = 0
  #isFailed = false
  #isRunning = false
  #cancel: AbortController | undefined

  /** @param changed called when `fields` changed */
  constructor(ctx: PluginContext, changed: () => void) {
    this.#ctx = ctx
    this.#changed = changed
    this.#event = ctx.event<void>()
  }

  get state(): UpdateStateName {
    return this.#state
  }

  get onState() {
    return this.#event.on
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** `base.update` */
  get fields(): { state: UpdateStateName; failed: boolean; progress: number } {
    return { state: this.#state, failed: this.#isFailed, progress: this.#percent }
  }

  /** The running version or its trial changed. */
  look(): void {
    this.#event.emit()
  }

  begin(state: UpdateStateName): void {
    this.#cancel = new AbortController()
    this.#isRunning = true
    this.#isFailed = false
    this.#ctx.errors.while(errorCode, false)
    this.show(state, 0)
  }

  show(state: UpdateStateName, percent: number): void {
    if (state === this.#state && percent === this.#percent) return
    const isOther = state !== this.#state
    this.#state = state
    this.#percent = percent
    this.#changed()
    if (isOther) this.#event.emit()
  }

  /** The service ends with this update: no other one begins. */
  restarts(): void {
    this.#isRunning = true
    this.show('rebooting', 100)
  }

  /** The next update may begin. */
  release(): void {
    this.#isRunning = false
  }

  succeed(): void {
    this.release()
    this.#cancel = undefined
    this.show('idle', 100)
  }

  /** The update that was tried failed; the running version is unchanged. */
  fail(error: unknown): void {
    this.#cancel = undefined
    // Node's word for a request whose sender went away.
    const isCut = (error as Error).message === 'aborted'
    const text = `the update failed: ${isCut ? 'the sender broke off, send the image again' : (error as Error).message}`
    this.#ctx.log.warn({ err: error }, `${text}; the running version is unchanged`)
    this.showFailure(text)
  }

  /** An update ran and was given up: the version before it runs. */
  showGivenUp({ cause, versions }: GivenUp): void {
    this.#isFailed = true
    this.show('failed', 0)
    this.#ctx.errors.while(
      errorCode,
      versions ? { version: versions.tried, runs: versions.runs, cause } : { _unrecorded: true, cause },
    )
    this.#ctx.log.error({ cause, ...versions }, 'the update was given up, and the version before it runs again')
  }

  /** @param isStuck only a restart of the machine helps */
  showFailure(reason: string, isStuck = false): void {
    this.#isFailed = true
    this.show('failed', 0)
    this.#ctx.errors.while(errorCode, { reason, _stuck: isStuck })
  }

  /** Ends the download or the upload under way. @throws RTK_ERR_UNAVAILABLE when there is none, or it is installed already */
  cancel(): void {
    if (!this.#cancel || this.#state === 'rebooting') throw unavailable('no update is under way that can be cancelled')
    this.#cancel.abort()
  }

  /** Aborts with the plugin, and when a person cancels the update. */
  get endSignal(): AbortSignal {
    const { signal } = this.#ctx
    const cancel = this.#cancel as AbortController
    if (signal.aborted) cancel.abort()
    signal.addEventListener('abort', () => cancel.abort(), { once: true, signal: cancel.signal })
    return cancel.signal
  }

  /** @throws RTK_ERR_ABORTED */
  throwIfCancelled(): void {
    if (this.#cancel?.signal.aborted) throw new RtkError('RTK_ERR_ABORTED', 'it was cancelled')
  }

  /** @throws RTK_ERR_UNAVAILABLE, RTK_ERR_ABORTED */
  throwIfStopped(): void {
    if (this.#ctx.signal.aborted) throw unavailable('the plugin ota was stopped: send the image again')
    this.throwIfCancelled()
  }

  /** A leftover after this plugin's end would write in parallel with its successor. */
  async *whileRunning(image: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of image) {
      this.throwIfStopped()
      yield piece
    }
  }
}
