import { RtkError } from '../../errors.js'
import type { RuntimeOptions } from '../runtime-options.js'

/** Stops a running or starting service: in reverse order of the start. */
export class Shutdown {
  readonly #stopping = new AbortController()
  readonly #steps: (() => unknown)[] = []
  readonly #supervisor: RuntimeOptions['supervisor']
  #stopped: Promise<void> | undefined

  constructor({ signal, supervisor }: RuntimeOptions) {
    this.#supervisor = supervisor
    const abort = () => this.#stopping.abort()
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    this.add(() => signal?.removeEventListener('abort', abort))
  }

  /** Aborts when the stop begins. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Registers undo steps. */
  add(...steps: (() => unknown)[]): void {
    this.#steps.push(...steps)
  }

  /** @throws RTK_ERR_STOPPED */
  unlessStopped(): void {
    if (this.signal.aborted) throw new RtkError('RTK_ERR_STOPPED', 'the service was stopped while it started')
  }

  stop(): Promise<void> {
    this.#stopping.abort()
    this.#stopped ??= this.#undo()
    return this.#stopped
  }

  async #undo(): Promise<void> {
    this.#supervisor?.stopping()
    for (const step of this.#steps.reverse()) await step()
  }
}
