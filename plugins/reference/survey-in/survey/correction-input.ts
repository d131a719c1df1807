/** The corrections that come in, where a plugin accepts them: how fresh, from whom, and whether a survey-in goes by them. */
import type { PluginContext } from 'rtk-base/plugin'
import { correctionStatus, type Receiver, receiverSettings } from 'rtk-base/services'
import type { CorrectionsNow } from './survey-run.js'

/** Corrections are fresh up to this age, or up to the receiver's own limit where that is lower. */
const freshest_s = 10

export class CorrectionInput {
  readonly #ctx: PluginContext
  readonly #trustedSources: readonly string[]

  constructor(ctx: PluginContext, trustedSources: readonly string[]) {
    this.#ctx = ctx
    this.#trustedSources = trustedSources
  }

  now(): CorrectionsNow | undefined {
    const status = this.#ctx.services.find(correctionStatus)
    if (!status) return undefined
    const { count, remote, distance_m } = status
    return { age_s: status.age_s(), oldest_s: this.#oldest_s(), count, remote, distance_m, trust: this.#trust(remote) }
  }

  #trust(remote: string): CorrectionsNow['trust'] {
    const names = [remote, remote.replace(/:\d+$/, '')]
    if (this.#trustedSources.some((source) => names.includes(source))) return 'trusted'
    return this.#trustedSources.length > 0 ? 'rejected' : 'unknown'
  }

  /** Whether a survey-in that starts now is a corrected one: fresh corrections are in, or `rtcmin=1`. */
  isCorrected(receiver: Receiver | undefined): boolean {
    const status = this.#ctx.services.find(correctionStatus)
    if (status?.input === 'off') return false
    if (status) return status.forced || status.age_s() <= this.#oldest_s()
    // Corrections that reach the receiver by a port of its own show in its fix.
    const fix = receiver?.fix?.fix
    return fix === 'rtk-fixed' || fix === 'rtk-float'
  }

  #oldest_s(): number {
    const limit_s = this.#ctx.services.find(receiverSettings)?.correctionMaxAge_s
    return Math.min(freshest_s, limit_s ?? freshest_s)
  }
}
