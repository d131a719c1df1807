/**
 * Keeps one thing of the machine as the station wants it: looks at it, applies what is wanted where it differs, and
 * waits between attempts. While `apply` fails, a standing error says why.
 */
import type { Mutex } from 'async-mutex'
import type { ErrorValues } from '../../../schemas/services.js'
import { type Waits, waitAfter_ms } from '../../platform/time/backoff.js'
import type { Dispose, PluginContext } from '../../plugin.js'

/** Runs work whose failure is a standing error with its reason, until it succeeds. @returns whether it did */
export async function withStandingError(
  { errors, signal }: Pick<PluginContext, 'errors' | 'signal'>,
  code: string,
  work: () => Promise<void>,
  values: ErrorValues = {},
): Promise<boolean> {
  try {
    await work()
    errors.while(code, false)
    return true
  } catch (error) {
    if (!signal.aborted) errors.while(code, { ...values, reason: (error as Error).message })
    return false
  }
}

export interface ReconcilerOptions<State> {
  /** The error that stands while `apply` fails. */
  readonly code: string
  /** @param retry_s time until the next attempt */
  values(state: State, retry_s: number): ErrorValues
  /** The thing as it is; undefined while there is none, or while its state is unknown. */
  look(): State | undefined
  /** The thing is not as it is wanted. */
  differs(state: State): boolean
  apply(state: State): Promise<void>
  /** The thing differed by itself and was set right. @param state as it was before */
  restored?(state: State): void
  /** Waits between attempts. */
  waits(): Waits
  /** When the thing was right for so long, the waits start again. Default: 0. */
  readonly lasting_ms?: number
  /** The machine usually comes right by itself: the first attempt follows after a wait, too. */
  isPatient?(): boolean
  /** Attempts take turns with other work on the same thing. */
  readonly turns?: Mutex
  /** A wait is over: the owner calls `reconcile` when its other work allows that. Default: `reconcile`. */
  due?(): void
}

export class Reconciler<State> {
  readonly #ctx: PluginContext
  readonly #options: ReconcilerOptions<State>
  /** In a row. */
  #attempts = 0
  #attempted_ms = Number.NEGATIVE_INFINITY
  /** The thing was right since the last attempt. */
  #wasRight = true
  #failure: Error | undefined
  #waiting: Dispose | undefined
  #isDue = false
  #running: Promise<void> | undefined

  constructor(ctx: PluginContext, options: ReconcilerOptions<State>) {
    this.#ctx = ctx
    this.#options = options
  }

  /** Why the last attempt failed; undefined after a success. */
  get failure(): Error | undefined {
    return this.#failure
  }

  get isApplying(): boolean {
    return this.#running !== undefined
  }

  /** Looks, and applies what is wanted where that is due. Resolves when no attempt is under way. */
  async reconcile(): Promise<void> {
    // The failure of `apply` is its caller's.
    if (this.#running) return this.#running.catch(() => {})
    const state = this.#options.look()
    const isRight = state !== undefined && !this.#options.differs(state)
    if (isRight) this.#succeeded()
    if (state === undefined || isRight) this.#cancel()
    else if (!this.#waiting) {
      if (!this.#isDue) this.#wait()
      if (this.#isDue) await this.#attempt()
    }
  }

  /** Something else is wanted: it is applied without a wait. Rejects with the failure, which the caller reports. */
  async apply(): Promise<void> {
    this.restart()
    const { apply, differs, look } = this.#options
    const state = look()
    if (state === undefined) return
    await this.#run(() => apply(state))
    // What changed meanwhile was not looked at, and may be the last that happens. It gets time to arrive at what was applied.
    const now = look()
    if (now !== undefined && differs(now) && !this.#waiting) this.#waitAgain()
  }

  /** Something else is wanted: the failure is forgotten, and the waits start again. */
  restart(): void {
    this.#cancel()
    this.#attempts = 0
    this.#attempted_ms = Number.NEGATIVE_INFINITY
    this.#succeeded()
  }

  /** Before an attempt: none where the thing was right for long. */
  #wait(): void {
    const { isPatient, lasting_ms = 0 } = this.#options
    const isNew = this.#wasRight && this.#ctx.clock.monotonic() - this.#attempted_ms >= lasting_ms
    if (isNew) this.#attempts = 0
    if (isNew && !isPatient?.()) this.#isDue = true
    else this.#waitAgain()
  }

  /** @returns the wait, milliseconds */
  #waitAgain(): number {
    const { waits, due = () => void this.reconcile() } = this.#options
    this.#cancel()
    const wait_ms = waitAfter_ms(++this.#attempts, waits())
    this.#waiting = this.#ctx.timers.after(wait_ms, () => {
      this.#waiting = undefined
      this.#isDue = true
      due()
    })
    return wait_ms
  }

  async #attempt(): Promise<void> {
    const { code, look, differs, apply, restored, values } = this.#options
    this.#cancel()
    await this.#run(async () => {
      const state = look()
      if (state === undefined || !differs(state)) return
      this.#attempted_ms = this.#ctx.clock.monotonic()
      this.#wasRight = false
      try {
        await apply(state)
        this.#failure = undefined
        this.#ctx.errors.while(code, false)
        restored?.(state)
      } catch (error) {
        if (this.#ctx.signal.aborted) return
        this.#failure = error as Error
        const retry_s = Math.round(this.#waitAgain() / 1000)
        this.#ctx.errors.while(code, { ...values(state, retry_s), reason: this.#failure.message })
      }
    })
    // The thing may have changed during the attempt.
    await this.reconcile()
  }

  #succeeded(): void {
    this.#wasRight = true
    this.#failure = undefined
    this.#ctx.errors.while(this.#options.code, false)
  }

  async #run(work: () => Promise<void>): Promise<void> {
    const { turns } = this.#options
    const running = (turns ? turns.runExclusive(work) : work()).finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    await running
  }

  #cancel(): void {
    void this.#waiting?.()
    this.#waiting = undefined
    this.#isDue = false
  }
}
