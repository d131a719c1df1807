/** Opens the gate for the base, and keeps what a warm start needs. */
import type { Receiver, RtcmJudge } from 'rtk-base/services'
import type { Memory } from '../memory.js'
import type { Ledger } from '../reference/ledger.js'
import type { Reference } from '../reference/reference.js'
import type { Surroundings } from '../surroundings.js'
import type { BaseWatch } from '../watch/base-watch.js'
import type { Seen } from '../watch/live-position.js'
import type { Baselines } from '../watch/movement.js'
import type { StartCheck } from '../watch/start-check.js'
import type { LastTrust } from './last-trust.js'

export interface BaseTrustDeps {
  receiver: Receiver
  judge: RtcmJudge
  base: BaseWatch
  check: StartCheck
  last: LastTrust
  ledger: Ledger
  memory: Memory
  surroundings: Surroundings
}

export class BaseTrust {
  readonly #deps: BaseTrustDeps

  constructor(deps: BaseTrustDeps) {
    this.#deps = deps
  }

  /** @param baselines of the watch before this one, on a reload */
  trust(baselines: Baselines = {}): void {
    const { base, check, judge, last, ledger, memory, receiver, surroundings } = this.#deps
    const { target } = base
    if (!target) return
    const seen = check.live
    base.trust(seen, { ...last.baselines(receiver, target, seen), ...baselines })
    judge.trust({ arp: target.arp, stationId: receiver.stationId })
    if (ledger.used(target, surroundings.utc_s())) void memory.set('ledger', ledger.entries)
    void this.remember(true)
  }

  /** The base that was trusted before is watched again, but not trusted yet. */
  watch(target: Reference): void {
    const { base, last, receiver } = this.#deps
    base.target = target
    this.place(last.seen)
    base.watch(last.seen, last.baselines(receiver, target, last.seen))
  }

  /** Sets where the antenna was when that was last known otherwise than by an echo of the base. */
  place(seen: Seen | undefined): void {
    this.#deps.check.live = seen && { ...seen, corrected: false }
  }

  /** Keeps the trusted moment, for a warm start. @param atOnce else twice a minute */
  async remember(atOnce: boolean): Promise<void> {
    const { base, check, last, receiver } = this.#deps
    const { target, movement } = base
    if (!target) return
    const seen = check.live && { position: check.live.position, acc_m: check.live.acc_m }
    const now = [receiver, target, seen, movement?.baselines ?? {}] as const
    if (atOnce) await last.remember(...now)
    else last.tick(...now)
  }
}
