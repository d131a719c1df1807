/** What the procedure asks of others, where they run: limits, corrections, the time. */
import type { PluginContext } from 'rtk-base/plugin'
import { correctionStatus, device, type Receiver, receiverLimits } from 'rtk-base/services'
import type { CorrectionsNow } from './survey-run.js'

export interface StartLimits {
  accuracy_m: number
  maxDelta_m: number
  maxDeltaCorr_m: number
}

/** The defaults of the parameters, for a receiver's plugin that does not tell them. */
const usual: StartLimits = { accuracy_m: 5, maxDelta_m: 15, maxDeltaCorr_m: 0.5 }
/** Corrections are fresh up to this age. */
const fresh_s = 10

export class Surroundings {
  readonly #ctx: PluginContext

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  limits(): StartLimits {
    const limits = this.#ctx.services.find(receiverLimits)
    if (!limits) return usual
    return {
      accuracy_m: limits.initialAccuracy_m(),
      maxDelta_m: limits.initialMaxDelta_m(),
      maxDeltaCorr_m: limits.initialMaxDeltaCorr_m(),
    }
  }

  corrections(): CorrectionsNow | undefined {
    const status = this.#ctx.services.find(correctionStatus)
    if (!status) return undefined
    const { count, remote, distance_m } = status
    return { age_s: status.age_s(), count, remote, distance_m }
  }

  /** Whether a survey-in that starts now is a corrected one: fresh corrections are in, or `rtcmin=1`. */
  isCorrected(receiver: Receiver | undefined): boolean {
    const status = this.#ctx.services.find(correctionStatus)
    if (status) return status.forced || status.age_s() <= fresh_s
    // Corrections that reach the receiver by a port of its own show in its fix.
    const fix = receiver?.fix?.fix
    return fix === 'rtk-fixed' || fix === 'rtk-float'
  }

  now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  /** 0 while no time is known. */
  utc_s(): number {
    return Math.floor((this.#ctx.services.find(device)?.utc_ms() ?? 0) / 1000)
  }
}
