/** Locates the antenna by rover positions and compares it with a reference: before a base is set up, and after a move. */
import { followsBase, isPosition, sigmasOf } from 'rtk-base/gnss'
import type { Event, EventSource, PluginContext } from 'rtk-base/plugin'
import {
  correctionStatus,
  type LivePosition,
  type MoveSuspicion,
  type MoveVector,
  type PositionComparison,
  procedureStatus,
  type ReceiverFix,
  type ReferencePosition,
} from 'rtk-base/services'
import { compare, type StartLimits } from './comparison.js'
import { back_s, doubt_s, explained, seenReturn, stale_ms } from './limits.js'
import { Positions } from './positions.js'

export interface PositionCheckDeps {
  /** A suspected move and its size in metres; undefined without a suspicion. */
  suspicion(): Omit<MoveSuspicion, 'text'> | undefined
  limits(): StartLimits
  geoidSeparation_m(): number | undefined
}

const axes = ['east_m', 'north_m', 'up_m'] as const

interface Found {
  live: LivePosition
  /** The position rests on corrections that nobody vouches for, and there is none without them. */
  unverified?: boolean
  /** The position by such corrections, which was left aside. */
  corrected?: LivePosition
}

export class PositionCheck {
  readonly #ctx: Pick<PluginContext, 'clock' | 'services'>
  readonly #deps: PositionCheckDeps
  readonly #window: Positions
  readonly #doubt: EventSource<PositionComparison | undefined>
  #newestAt_ms = Number.NEGATIVE_INFINITY
  #distrustsCorrections: boolean = false
  /** Positions since a doubt came up; undefined without one. */
  #long: Positions | undefined
  /** Since when nothing but unverified corrections contradicts the reference. */
  #unverifiedSince_ms: number | undefined
  /** Positions since they agreed with the reference again. */
  #agreeing: Positions | undefined
  /** The last comparison. */
  comparison: PositionComparison | undefined
  /** The last position that met the required accuracy. */
  live: LivePosition | undefined

  constructor(ctx: Pick<PluginContext, 'clock' | 'services' | 'event'>, deps: PositionCheckDeps, window_s: number) {
    this.#ctx = ctx
    this.#deps = deps
    this.#window = new Positions(window_s)
    this.#doubt = ctx.event()
  }

  /** The position is farther from the reference than the accuracies explain, so the check takes longer. Undefined once it is decided. */
  get onDoubt(): Event<PositionComparison | undefined> {
    return this.#doubt.on
  }

  /** The corrections are known to be wrong: positions with them do not count. */
  distrustCorrections(distrusted: boolean): void {
    this.#distrustsCorrections = distrusted
  }

  add(fix: ReceiverFix): void {
    if (!isPosition(fix)) return
    this.#newestAt_ms = this.#now_ms
    const counts = !followsBase(fix) || !this.#distrustsCorrections
    this.#window.add(fix, counts)
    this.#long?.add(fix, counts)
    this.#agreeing?.add(fix, counts)
  }

  /** A fix of the receiver's second solution. */
  addSecond(fix: ReceiverFix): void {
    this.#window.addSecond(fix)
    this.#long?.addSecond(fix)
    this.#agreeing?.addSecond(fix)
  }

  /** @param since_ms start of the positions to keep */
  forget(since_ms = Number.POSITIVE_INFINITY): void {
    this.#window.forget(since_ms)
    this.#agreeing = undefined
    this.#endDoubt()
  }

  /** The median of all positions, whatever its accuracy. */
  get newest(): LivePosition | undefined {
    return this.#find('newest')?.live
  }

  /**
   * The position to compare with `reference`. Where a base that nobody vouches for puts the antenna is no evidence by itself: then the
   * positions without its corrections count, where there are any.
   */
  #find(by: 'window' | 'newest', reference?: ReferencePosition, positions = this.#window): Found | undefined {
    const now_ms = this.#now_ms
    const all = positions.all(now_ms, by)
    const source = reference?.source ?? ''
    const isRelative = reference?.corr === true && source === ''
    if (isRelative || this.#isVouchedFor || !positions.follow(now_ms)) return all && { live: all }
    const isSameBase = reference?.corr === true && hostOf(source) === hostOf(this.#correctionSource)
    const plain = positions.plain(now_ms, by)
    // Those that come are waited for.
    if (!plain && positions.plain(now_ms, 'newest')) return undefined
    if (!plain) return all && { live: all, unverified: !isSameBase }
    if (!all || (isSameBase && this.#agree(plain, all))) return { live: all ?? plain }
    return { live: plain, corrected: all }
  }

  #agree(one: LivePosition, other: LivePosition): boolean {
    return this.compare(one, { arp: other.position, acc_m: other.acc_m, corr: false }).agrees === true
  }

  /** Compares it, and says what part corrections have that nobody vouches for. */
  #weigh({ live, unverified, corrected }: Found, reference: ReferencePosition): PositionComparison {
    const comparison = this.compare(live, reference)
    if (unverified && comparison.agrees !== true) {
      const source = this.#correctionSource
      const whose = source ? `the corrections of ${source}` : 'corrections that come by a port of the receiver'
      return {
        ...comparison,
        unverified: true,
        mistakenHeight: false,
        hint: `; this position rests on ${whose}, and that of their base may be wrong`,
      }
    }
    if (!corrected || this.#agree(live, corrected)) return comparison
    const contradicted = this.compare(corrected, reference)
    return contradicted.agrees === true ? comparison : { ...comparison, contradicted }
  }

  /** @returns undefined while there is no good position, or it is in doubt */
  locate(reference: ReferencePosition | undefined): Pick<PositionComparison, 'agrees'> | undefined {
    // Callers that no longer ask about the reference are not delayed by a doubt.
    if (!reference) this.#endDoubt()
    const found = this.#find('window', reference, this.#long ?? this.#window)
    const live = found?.live
    if (!live || live.acc_m > this.#deps.limits().accuracy_m) return undefined
    this.live = live
    if (!reference) return { agrees: undefined }
    this.comparison = this.#weigh(found, reference)
    if (this.#deps.suspicion()) return this.comparison
    const { agrees } = this.comparison
    if (this.comparison.unverified && this.#awaitsOthers(this.comparison)) return undefined
    if (agrees === undefined && !this.#long && !this.comparison.unverified) {
      this.#long = new Positions(doubt_s)
      this.#doubt.emit(this.comparison)
      return undefined
    }
    this.#endDoubt()
    return { agrees: agrees === true }
  }

  /** Positions without corrections are awaited for as long as a doubt is averaged. */
  #awaitsOthers(comparison: PositionComparison): boolean {
    const now_ms = this.#now_ms
    if (this.#unverifiedSince_ms === undefined) {
      this.#unverifiedSince_ms = now_ms
      this.#doubt.emit(comparison)
    }
    return now_ms - this.#unverifiedSince_ms < doubt_s * 1000
  }

  #endDoubt(): void {
    if (!this.#long && this.#unverifiedSince_ms === undefined) return
    this.#long = undefined
    this.#unverifiedSince_ms = undefined
    this.#doubt.emit(undefined)
  }

  /**
   * Called every second.
   * @returns true once positions agreed for 10 min, and those of 10 min together show the return. false: the antenna is elsewhere.
   *   undefined: positions cannot tell (yet)
   */
  isBack(reference: ReferencePosition): boolean | undefined {
    const live = this.#find('window', reference)?.live
    const comparison = live && this.compare(live, reference)
    this.comparison = comparison ?? this.comparison
    if (comparison?.agrees !== true || !this.canSeeReturn) {
      this.#agreeing = undefined
      return comparison?.agrees === false ? false : undefined
    }
    this.live = live
    this.#agreeing ??= new Positions(back_s)
    const all = this.#find('window', reference, this.#agreeing)?.live
    return (all && this.#showsReturn(all, reference)) || undefined
  }

  /** The antenna was elsewhere: what the accuracies merely explain is no return. By one sigma it must be within the least limits. */
  #showsReturn(live: LivePosition, reference: ReferencePosition): boolean {
    const { agrees, offset } = this.compare(live, reference)
    const { level, up } = explained
    const tells = ({ share, least_m }: typeof level | typeof up, away_m: number) =>
      away_m + share * live.acc_m <= least_m
    return agrees === true && tells(level, Math.hypot(offset.east, offset.north)) && tells(up, Math.abs(offset.up))
  }

  /** Whether positions are accurate enough to show the return from the suspected move. */
  get canSeeReturn(): boolean {
    const least_m = seenReturn * (this.comparison?.limits_m[0] ?? explained.level.least_m)
    const { size_m = Number.POSITIVE_INFINITY, move } = this.#deps.suspicion() ?? {}
    // Back by most of the way: the positions agree, and the phases know better.
    const isNearby = move?.vector && !move.isLeast && move.size_m <= least_m && !isZero(move.vector)
    return size_m > least_m && !isNearby
  }

  /** Distance of the newest position, metres; undefined: there is none, or it is too old. */
  distance_m(reference: ReferencePosition): number | undefined {
    if (this.#now_ms - this.#newestAt_ms > stale_ms) return undefined
    const newest = this.#find('newest', reference)?.live
    return newest && this.compare(newest, reference).distance_m
  }

  isAt(place: ReferencePosition, by: 'window' | 'newest'): boolean | undefined {
    const found = this.#find(by, place)
    if (!found) return undefined
    const { agrees, unverified } = this.#weigh(found, place)
    return agrees === true || (unverified ? undefined : false)
  }

  compare(live: LivePosition, reference: ReferencePosition): PositionComparison {
    return compare(live, reference, this.#deps.limits(), this.#deps.geoidSeparation_m())
  }

  /** Compares a position from elsewhere and stores the comparison as the last one. */
  judge(live: LivePosition, reference: ReferencePosition): PositionComparison {
    this.comparison = this.compare(live, reference)
    return this.comparison
  }

  get #now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  /** The source of the corrections; '' unknown. */
  get #correctionSource(): string {
    return this.#ctx.services.find(correctionStatus)?.remote ?? ''
  }

  /** A person vouches for the position of that base. */
  get #isVouchedFor(): boolean {
    const source = this.#correctionSource
    const trusted = this.#ctx.services.find(procedureStatus)?.trustedSources ?? []
    return source !== '' && (trusted.includes(source) || trusted.includes(hostOf(source)))
  }
}

/** By three standard deviations. */
function isZero(vector: MoveVector): boolean {
  const sigmas = sigmasOf(vector)
  return axes.every((axis) => Math.abs(vector[axis]) <= 3 * sigmas[axis])
}

/** A source without its port. */
const hostOf = (source: string) => source.replace(/:\d+$/, '')
