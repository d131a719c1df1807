/** Sets the receiver's mode and reads its configuration. Results for a finished step are dropped. */
import { pause } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver, ReceiverOutput, ReceiverTarget } from 'rtk-base/services'

const attempts = 3
const retry_ms = 2000
/** A receiver that is away for longer than this has not only restarted. */
const restart_ms = 120_000

export type HeldTarget = Awaited<ReturnType<Receiver['readTarget']>>

export class ReceiverSetup {
  readonly #ctx: PluginContext
  readonly #receiver: Receiver
  readonly #output: { readonly wanted: ReceiverOutput | undefined }
  #job = 0
  /** The job whose configuration is on its way to the receiver, and since when. */
  #pending: { job: number; since_ms: number } | undefined
  /** Why it was rejected last, for people. */
  trouble = ''

  /** @param output read at each configuration */
  constructor(ctx: PluginContext, receiver: Receiver, output: { readonly wanted: ReceiverOutput | undefined }) {
    this.#output = output
    this.#ctx = ctx
    this.#receiver = receiver
  }

  /** The receiver may be away now: it restarts to take its configuration. */
  get mayRestart(): boolean {
    if (this.#pending?.job !== this.#job || this.#receiver.can?.restarts !== true) return false
    return this.#ctx.clock.monotonic() - this.#pending.since_ms < restart_ms
  }

  /** The step is over: pending results are dropped. */
  cancel(): void {
    this.#job++
  }

  /** Retries a few times. @param then whether the receiver accepted it; not called after the step is over */
  async configure(target: ReceiverTarget, then: (held: boolean) => void): Promise<void> {
    const job = ++this.#job
    for (let attempt = 1; attempt <= attempts; attempt++) {
      this.#pending = { job, since_ms: this.#ctx.clock.monotonic() }
      const held = await this.#attempt(target)
      if (job !== this.#job) return
      this.#pending = undefined
      if (held) {
        then(true)
        return
      }
      const next = attempt < attempts ? 'it is tried again' : 'the procedure decides what follows'
      this.#ctx.log.warn(
        { attempt, mode: target.mode },
        `the receiver could not be configured: ${this.trouble}; ${next}`,
      )
      await pause(this.#ctx.timers, retry_ms)
      if (job !== this.#job) return
    }
    then(false)
  }

  /** Verifies a base in use. @param refused called even after the step is over */
  async confirm(target: ReceiverTarget, refused: () => void): Promise<void> {
    if (!(await this.#attempt(target))) refused()
  }

  /** @param then not called after the step is over */
  async read(then: (held: HeldTarget) => void): Promise<void> {
    const job = ++this.#job
    const held = await this.#receiver.readTarget().catch(() => undefined)
    if (job === this.#job) then(held)
  }

  async #attempt(target: ReceiverTarget): Promise<boolean> {
    try {
      const { wanted } = this.#output
      await this.#receiver.configure(wanted ? { ...target, output: wanted } : target)
      return true
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error)
      return false
    }
  }
}
