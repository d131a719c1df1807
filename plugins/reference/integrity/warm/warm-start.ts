/** Whether a receiver is still the very base that was trusted last. Pure. */
import { sameEcef } from 'rtk-base/gnss'
import type { HeldTarget, ReferencePosition } from 'rtk-base/services'
import { clocksAgree_s, warm_s } from '../limits.js'
import type { Trusted } from './remembered.js'

/** A receiver may count its milliseconds in 32 bits: they start again at 0 after 49.7 days. */
const round_s = 2 ** 32 / 1000

/**
 * Whether the receiver kept running as the trusted base, so that evidence of seconds replaces the start-up check: the
 * same receiver, its clock did not go back, less than 10 min elapsed, and it holds the trusted reference.
 * @param target its configured position
 * @returns '' or the reason against it
 */
export function warmStart(
  trusted: Trusted,
  chosen: Pick<ReferencePosition, 'arp'>,
  now: { uid: string; msss_ms: number | undefined; t: number },
  target: HeldTarget,
): string {
  if (!sameEcef(trusted.reference.arp, chosen.arp)) return 'another reference is chosen'
  if (now.uid === '') return 'the receiver has no serial number: it may be another one'
  if (now.uid !== trusted.uid) return 'it is another receiver'
  if (now.msss_ms === undefined) return 'the receiver does not report how long it has been on'
  if (now.t === 0 || trusted.t === 0) return 'the time is not known'
  const went_s = (now.msss_ms - trusted.msss_ms) / 1000
  const byReceiver_s = went_s < -clocksAgree_s ? went_s + round_s : went_s
  const byUtc_s = now.t - trusted.t
  if (Math.abs(byReceiver_s - byUtc_s) > clocksAgree_s) return 'the receiver was restarted'
  if (byUtc_s > warm_s) return `it was trusted ${Math.round(byUtc_s / 60)} min ago`
  return holdsOther(chosen, target)
}

/** @returns '' if the receiver holds this reference, otherwise a description of its position */
export function holdsOther(chosen: Pick<ReferencePosition, 'arp'>, target: HeldTarget): string {
  if (target?.mode !== 'fixed') return 'the receiver holds no reference position'
  return sameEcef(target.arp, chosen.arp) ? '' : 'the receiver holds another reference position'
}
