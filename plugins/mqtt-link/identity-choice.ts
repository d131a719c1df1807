import type { PluginContext } from 'rtk-base/plugin'
import type { Failure } from './failure.js'
import type { Identities, Identity } from './identity.js'

/**
 * Which identity an attempt uses: the renewed one until it has failed, then the old one, in turn until one of the two
 * connects. That one stays.
 */
export class IdentityChoice {
  readonly #ctx: PluginContext
  readonly #identities: Identities
  /** The attempt under way uses the renewed one, which has not connected yet. */
  #onTrial = false
  /** Why the renewed one failed: the old one is next. */
  #trialFailure: Failure | undefined

  constructor(ctx: PluginContext, identities: Identities) {
    this.#ctx = ctx
    this.#identities = identities
  }

  /** An attempt begins, which may end before it needs an identity. */
  begin(): void {
    this.#onTrial = false
  }

  /** Rejects with a text that names the file. */
  async next(): Promise<Identity> {
    const candidate = this.#trialFailure === undefined ? await this.#identities.candidate() : undefined
    const identity = candidate ?? (await this.#identities.current())
    this.#onTrial = candidate !== undefined
    return identity
  }

  /** The attempt failed; true: the old identity, which is known to work, is to be tried at once. */
  failed(failure: Failure): boolean {
    const trial = this.#onTrial
    this.#onTrial = false
    // When the old one fails as well, it was not the renewed one's fault: that one is next again.
    this.#trialFailure = trial ? failure : undefined
    if (trial) this.#ctx.log.warn({ cause: failure.cause }, `the renewed certificate did not connect: ${failure.text}`)
    return trial
  }

  /** The broker accepted the attempt: the other identity goes. Never rejects. */
  async connected({ info }: Identity): Promise<void> {
    const [trial, failure] = [this.#onTrial, this.#trialFailure]
    this.#onTrial = false
    this.#trialFailure = undefined
    try {
      if (trial) {
        await this.#identities.accept()
        this.#ctx.errors.clear('mqtt-renew')
        this.#ctx.log.info({ serial: info.serial }, 'the renewed certificate is in use')
      } else if (failure !== undefined) {
        await this.#identities.reject()
        const text = `the renewed certificate was not accepted (${failure.text}): the old one goes on`
        this.#ctx.errors.raise('mqtt-renew', `${text}; it is renewed again by itself, or by mqtt-renew`)
      }
    } catch (error) {
      // Both stay in the store: the next connect settles it.
      this.#ctx.errors.raise('mqtt-renew', `the identity could not be stored: ${(error as Error).message}`)
    }
  }
}
