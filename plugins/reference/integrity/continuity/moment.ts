/** The last moment at which a base was trusted, and whether a receiver kept running since. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { sameEcef } from 'rtk-base/gnss'
import { EcefShape } from 'rtk-base/schemas'
import type { HeldTarget, Receiver, ReferencePosition } from 'rtk-base/services'
import { Type } from 'typebox'
import { Baselines, Seen } from '../code/movement.js'
import { clocksAgree_s, warm_s } from '../limits.js'

const count = Type.Number({ minimum: 0 })

/** Additional members are kept: the plugin that gave the reference may need them. */
export const Moment = Type.Object({
  reference: Type.Object({ arp: EcefShape, acc_m: count, corr: Type.Boolean() }),
  uid: Type.String(),
  who: Type.Optional(Type.String({ maxLength: 400 })),
  msss_ms: Type.Optional(count),
  t: Type.Number(),
  seen: Type.Optional(Seen),
  baselines: Baselines,
})

/** The last moment at which the base was trusted: one record for a reload, a restart and an outage. */
export interface TrustedMoment {
  reference: ReferencePosition
  /** Unique ID of the receiver. */
  uid: string
  /** The receiver, see `whoIs`; undefined: only its unique ID is known. */
  who?: string
  /** Milliseconds since the receiver's start, by its own clock; undefined: it does not report them. */
  msss_ms?: number
  /** UTC seconds at the same moment; 0 unknown. */
  t: number
  /** Where the antenna was when that was last known otherwise than by an echo of the base. */
  seen?: Seen
  baselines: Baselines
}

/** Maker, model and serial number of a receiver. */
export const whoIs = ({ identity: { maker, module, serial } }: Receiver) => JSON.stringify([maker, module, serial])

/** The moments differ in nothing but their times. */
export const sameButForTime = (a: TrustedMoment, b: TrustedMoment) =>
  isDeepStrictEqual({ ...a, msss_ms: 0, t: 0 }, { ...b, msss_ms: 0, t: 0 })

export function sameSeen(a: Seen | undefined, b: Seen | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameEcef(a.position, b.position))
}

/** A receiver may count its milliseconds in 32 bits: they start again at 0 after 49.7 days. */
const round_s = 2 ** 32 / 1000

/** Seconds since a trusted moment, by the clock of a receiver that kept running, and by UTC. */
export function elapsed(
  trusted: Pick<TrustedMoment, 'msss_ms' | 't'>,
  now: { msss_ms: number | undefined; t: number },
) {
  const went_s = ((now.msss_ms ?? Number.NaN) - (trusted.msss_ms ?? Number.NaN)) / 1000
  return { byReceiver_s: went_s < -clocksAgree_s ? went_s + round_s : went_s, byUtc_s: now.t - trusted.t }
}

/**
 * Whether the receiver kept running as the trusted base, so that ranges of some seconds replace the start-up check: the
 * same receiver, its clock did not go back, less than 10 min elapsed, and it holds the trusted reference.
 * @param target its configured position
 * @returns '' or the reason against it
 */
export function keptRunning(
  trusted: TrustedMoment,
  chosen: Pick<ReferencePosition, 'arp'>,
  now: { uid: string; msss_ms: number | undefined; t: number },
  target: HeldTarget,
): string {
  if (!sameEcef(trusted.reference.arp, chosen.arp)) return 'another reference is chosen'
  if (now.uid === '') return 'the receiver has no serial number: it may be another one'
  if (now.uid !== trusted.uid) return 'it is another receiver'
  if (now.msss_ms === undefined || trusted.msss_ms === undefined)
    return 'the receiver does not report how long it has been on'
  if (now.t === 0 || trusted.t === 0) return 'the time is not known'
  const { byReceiver_s, byUtc_s } = elapsed(trusted, now)
  if (Math.abs(byReceiver_s - byUtc_s) > clocksAgree_s) return 'the receiver was restarted'
  if (byUtc_s > warm_s) return `it was trusted ${Math.round(byUtc_s / 60)} min ago`
  return holdsOther(chosen, target)
}

/** @returns '' if the receiver holds this reference, otherwise a description of its position */
export function holdsOther(chosen: Pick<ReferencePosition, 'arp'>, target: HeldTarget): string {
  if (target?.mode !== 'fixed') return 'the receiver holds no reference position'
  return sameEcef(target.arp, chosen.arp) ? '' : 'the receiver holds another reference position'
}
