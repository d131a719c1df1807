import type { PluginContext } from 'rtk-base/plugin'
import type { Failure } from '../failure.js'
import type { Identity } from './certificate.js'
import type { IdentityStore } from './identity-store.js'

/**
 * The identity for an attempt: the renewed one until it fails, then alternating with the old one until one of them connects. That
 * identity is kept.
 */
export class IdentityChoice {
  readonly #ctx: PluginContext
  readonly #identities: IdentityStore
  /** The present attempt uses the renewed identity, which has not connected yet. */
  #onTrial = false
  /** Why the renewed identity failed: the old one is next. */
  #trialFailure: Failure | undefined

  constructor(ctx: PluginContext, identities: IdentityStore) {
    this.#ctx = ctx
    this.#identities = identities
  }

  /** An attempt begins; it may end before it needs an identity. */
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

  /** The attempt failed. True: the old identity, which is known to work, is tried at once. */
  failed(failure: Failure): boolean {
    const trial = this.#onTrial
    this.#onTrial = false
    // When the old identity fails as well, the renewed one was not the cause: it is next again.
    this.#trialFailure = trial ? failure : undefined
    if (trial) this.#ctx.log.warn({ cause: failure.cause }, `the renewed certificate did not connect: ${failure.text}`)
    return trial
  }

  /** The broker accepted the attempt: the other identity is removed. Never rejects. */
  async connected({ info }: Identity): Promise<void> {
    const [trial, failure] = [this.#onTrial, this.#trialFailure]
    this.#onTrial = false
    this.#trialFailure = undefined
    try {
      if (trial) {
        await this.#identities.accept()
        this.#ctx.errors.while('mqtt-renew', false)
        this.#ctx.log.info({ serial: info.serial }, 'the renewed certificate is in use')
      } else if (failure !== undefined) {
        await this.#identities.reject()
        this.#ctx.errors.while('mqtt-renew', { stage: 'refused', reason: failure.text })
      }
    } catch (error) {
      // Both stay in the store until the next connect.
      this.#ctx.errors.while('mqtt-renew', { stage: 'store', reason: (error as Error).message })
    }
  }
}
