import type { PluginContext } from 'rtk-base/plugin'
import type { ErrorValues } from 'rtk-base/services'
import type { RouterLink } from '../link/router-link.js'
import { type CertificatePin, confirmationOf, type Pin } from '../transport/certificate.js'

const look_ms = 10_000
/** A router restarts in two minutes: silence means something after this. */
const offline_ms = 3 * 60_000
/** While credentials are tried one after the other, locked is a state that passes. */
const locked_ms = 60_000

/** Shows in `base.state.errors` what a person has to do about the router. */
export class RouterTrouble {
  readonly #ctx: Pick<PluginContext, 'errors' | 'timers' | 'clock'>
  readonly #link: RouterLink
  readonly #pin: CertificatePin
  #since_ms: number
  #wasLocked = false

  constructor(ctx: Pick<PluginContext, 'errors' | 'timers' | 'clock'>, link: RouterLink, pin: CertificatePin) {
    this.#ctx = ctx
    this.#link = link
    this.#pin = pin
    this.#since_ms = ctx.clock.monotonic()
  }

  start(): void {
    this.#since_ms = this.#ctx.clock.monotonic()
    this.#ctx.timers.every(look_ms, () => this.report())
  }

  report(): void {
    const { errors, clock } = this.#ctx
    const { state, error, reason, isUnnoted, answersGarbage } = this.#link
    const now_ms = clock.monotonic()
    const isLocked = state === 'locked'
    if (state === 'online' || isLocked !== this.#wasLocked) this.#since_ms = now_ms
    this.#wasLocked = isLocked
    const lasted_ms = now_ms - this.#since_ms
    errors.while('router-certificate', state === 'certificate' && this.#otherCertificate())
    if (!isLocked || lasted_ms >= locked_ms) errors.while('router-login', isLocked && { reason, _unnoted: isUnnoted })
    const isSilent = ['searching', 'offline', 'restarting'].includes(state)
    if (!isSilent || lasted_ms >= offline_ms)
      errors.while('router-offline', isSilent && { unreadable: answersGarbage, reason: error })
  }

  #otherCertificate(): ErrorValues {
    const { pinned, waiting } = this.#pin
    const how = waiting
      ? `confirm it: ${confirmationOf(waiting)}`
      : 'router-certificate shows it, router-certificate=accept FINGERPRINT confirms it'
    const values = { shown: waiting?.fingerprint ?? '', wanted: pinned?.fingerprint ?? '' }
    return { ...values, _seen: seen(waiting), _how: how }
  }
}

/** @param waiting undefined until the router was looked at again: a call that failed shows only that it is another certificate */
function seen(waiting: Pin | undefined): string {
  if (!waiting) return 'shows another certificate'
  return waiting.fingerprint ? `shows ${waiting.fingerprint}` : 'answers without https'
}
