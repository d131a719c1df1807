/** The last moment at which the base was trusted. It is kept over restarts and compared with the current receiver. */
import { isDeepStrictEqual } from 'node:util'
import { sameEcef } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import { EcefShape } from 'rtk-base/schemas'
import type { HeldTarget, Judgement, Receiver, ReferencePosition } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { Baselines, Seen } from '../code/movement.js'
import { brief_ms, longestAway_s } from '../limits.js'
import { Heartbeat } from './heartbeat.js'
import type { Remembered, Trusted } from './remembered.js'
import type { ContinuityEvidence } from './verification.js'
import { holdsOther, warmStart } from './warm-start.js'

/** Receivers count the lock time up to about a minute. The stored moment must be newer to detect a break. */
const remember_ms = 30_000
/** Error of a time in whole seconds, plus an epoch. */
const second_ms = 1000

export interface Clocks {
  now_ms(): number
  /** 0 while no time is known. */
  utc_s(): number
}

/** The trusted base as this process heard it last: handed over on a reload. */
export const HeardBase = Type.Object({
  at_ms: Type.Number(),
  /** Maker, model and serial number. */
  who: Type.String(),
  arp: EcefShape,
})
export type HeardBase = Static<typeof HeardBase>

export class LastTrust {
  readonly #remembered: Remembered
  readonly #clocks: Clocks
  readonly #heartbeat: Heartbeat
  #rememberedAt_ms = Number.NEGATIVE_INFINITY
  /** Undefined before this process trusted a base. */
  heard: HeardBase | undefined

  constructor(remembered: Remembered, clocks: Clocks, dataDir: PluginContext['dataDir']) {
    this.#remembered = remembered
    this.#heartbeat = new Heartbeat(() => dataDir('trust', { volatile: true }))
    this.#clocks = clocks
  }

  /** The stored evidence with the newest moment, which has its own file. */
  get #trusted(): Trusted | undefined {
    const stored = this.#remembered.trusted
    if (!stored) return undefined
    const beat = this.#heartbeat.read()
    return beat?.uid === stored.uid && beat.t > stored.t ? { ...stored, msss_ms: beat.msss_ms, t: beat.t } : stored
  }

  /** Whether a start is warm and why not, before and after reading the receiver's configured position. */
  judge(receiver: Receiver, reference: ReferencePosition | undefined, held: HeldTarget | 'not asked'): Judgement {
    const why = this.#why(receiver, reference, held)
    if (why) return { answer: false, why }
    return held === 'not asked'
      ? { answer: undefined, why: 'the configured position was not read from the receiver yet' }
      : { answer: true, why }
  }

  #why(receiver: Receiver, reference: ReferencePosition | undefined, held: HeldTarget | 'not asked'): string {
    if (this.#remembered.suspicion) return 'the antenna may have moved'
    if (reference && this.#isBrief(receiver, reference)) return held === 'not asked' ? '' : holdsOther(reference, held)
    return this.#againstAsking || (held === 'not asked' ? '' : this.#against(receiver, reference, held))
  }

  /** Why reading the receiver is pointless; '' otherwise. */
  get #againstAsking(): string {
    if (!this.#trusted) return 'nothing was trusted before'
    const away_s = this.#away_ms / 1000
    return away_s > longestAway_s ? `the receiver was away for ${Math.round(away_s)} s` : ''
  }

  /** The same receiver with the same reference was heard by this process a moment ago. */
  #isBrief(receiver: Receiver, { arp }: ReferencePosition): boolean {
    const { heard } = this
    return heard?.who === whoIs(receiver) && sameEcef(heard.arp, arp) && this.#away_ms <= brief_ms
  }

  /** The evidence that can prove continuity of a receiver that holds the reference. */
  continuity(receiver: Receiver, reference: ReferencePosition): ContinuityEvidence {
    const { arp, acc_m } = reference
    const againstRanges = this.#againstAsking || this.#against(receiver, reference, { mode: 'fixed', arp, acc_m })
    return { byPhases: this.#isBrief(receiver, reference), againstRanges }
  }

  #against(receiver: Receiver, reference: ReferencePosition | undefined, held: HeldTarget): string {
    const trusted = this.#trusted
    if (!trusted || !reference) return 'there is no reference'
    const now = { uid: receiver.identity.serial, msss_ms: receiver.sinceReset_ms, t: this.#clocks.utc_s() }
    return warmStart(trusted, reference, now, held)
  }

  /** -Infinity before this process has trusted a base. */
  get #away_ms(): number {
    return this.#clocks.now_ms() - (this.heard?.at_ms ?? Number.POSITIVE_INFINITY)
  }

  /** The last antenna position that was not an echo of the reference. */
  get seen(): Seen | undefined {
    return this.#trusted?.seen
  }

  /** Milliseconds since the last trusted moment: heard by this process, or remembered by the one before it. */
  get age_ms(): number {
    if (this.heard) return this.#away_ms + second_ms
    const t = this.#trusted?.t ?? 0
    return (this.#clocks.utc_s() - t) * second_ms + second_ms
  }

  /** Baselines of the previous watch of this base from its first 10 min, unless it was checked again since. */
  baselines(receiver: Receiver, { arp }: ReferencePosition, seen: Seen | undefined): Baselines {
    const trusted = this.#trusted
    const isSame = trusted?.uid === receiver.identity.serial && sameEcef(trusted.reference.arp, arp)
    return isSame && sameSeen(seen, trusted.seen) ? trusted.baselines : {}
  }

  /** Called every second while the base is trusted: stores the moment twice a minute, and changes in the settings. */
  tick(...now: Parameters<LastTrust['remember']>): void {
    const [receiver, reference] = now
    if (this.#hears(receiver, reference) - this.#rememberedAt_ms < remember_ms) return
    const trusted = this.#momentOf(...now)
    if (!trusted) return
    const stored = this.#remembered.trusted
    if (!stored || !sameButForTime(stored, trusted)) void this.#remembered.trust(trusted)
    const { uid, msss_ms, t } = trusted
    void this.#heartbeat.write({ uid, msss_ms, t })
  }

  /** Resolves when the moment is durable. */
  async remember(
    receiver: Receiver,
    reference: ReferencePosition,
    seen: Seen | undefined,
    baselines: Baselines,
  ): Promise<void> {
    this.#hears(receiver, reference)
    const trusted = this.#momentOf(receiver, reference, seen, baselines)
    if (trusted) await this.#remembered.trust(trusted)
  }

  /** @returns when */
  #hears(receiver: Receiver, { arp }: ReferencePosition): number {
    const at_ms = this.#clocks.now_ms()
    this.heard = { at_ms, who: whoIs(receiver), arp }
    return at_ms
  }

  /** Undefined if the receiver does not report its uptime. */
  #momentOf(
    receiver: Receiver,
    reference: ReferencePosition,
    seen: Seen | undefined,
    baselines: Baselines,
  ): Trusted | undefined {
    this.#rememberedAt_ms = this.#clocks.now_ms()
    const msss_ms = receiver.sinceReset_ms
    if (msss_ms === undefined) return undefined
    const t = this.#clocks.utc_s()
    return { reference, uid: receiver.identity.serial, msss_ms, t, baselines, ...(seen && { seen }) }
  }
}

/** Maker, model and serial number. */
export const whoIs = ({ identity: { maker, module, serial } }: Receiver) => JSON.stringify([maker, module, serial])

const sameButForTime = (a: Trusted, b: Trusted) =>
  isDeepStrictEqual({ ...a, msss_ms: 0, t: 0 }, { ...b, msss_ms: 0, t: 0 })

function sameSeen(a: Seen | undefined, b: Seen | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameEcef(a.position, b.position))
}
