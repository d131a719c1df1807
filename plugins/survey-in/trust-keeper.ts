/** Remembers the last moment at which the base was trusted, and tells whether a receiver is still that base. */
import { sameEcef } from 'rtk-base/gnss'
import type { Ecef, Receiver } from 'rtk-base/services'
import type { Memory } from './memory.js'
import type { Baselines } from './movement.js'
import type { HeldTarget } from './receiver-setup.js'
import type { Reference } from './reference.js'
import type { Surroundings } from './surroundings.js'
import { warmStart } from './trusted.js'

const remember_ms = 60_000

export class TrustKeeper {
  readonly #memory: Memory
  readonly #surroundings: Surroundings
  #rememberedAt_ms = 0

  constructor(memory: Memory, surroundings: Surroundings) {
    this.#memory = memory
    this.#surroundings = surroundings
  }

  /** Why it is not even worth asking the receiver; '' when it is. */
  againstAsking(surveyAsked: boolean): string {
    if (surveyAsked) return 'a survey-in was asked for'
    if (this.#memory.get('suspicion') !== undefined) return 'the antenna may have moved'
    return this.#memory.get('trusted') ? '' : 'nothing was trusted before'
  }

  /** @param held what was read from the receiver @returns '' when it went on as the trusted base, else why not */
  against(receiver: Receiver, chosen: Reference | undefined, held: HeldTarget): string {
    const trusted = this.#memory.get('trusted')
    if (!trusted || !chosen) return 'there is no reference'
    const now = { uid: receiver.identity.serial, msss_ms: receiver.sinceReset_ms, t: this.#surroundings.utc_s() }
    return warmStart(trusted, chosen, now, held)
  }

  /** Whether a record is there that may make a start warm. */
  get isThere(): boolean {
    return this.#memory.get('trusted') !== undefined
  }

  /** Where the antenna was when that was last known otherwise than by an echo. */
  get live(): Ecef | undefined {
    return this.#memory.get('trusted')?.live
  }

  /** What the watch before saw of this very base in its first 10 min, when nothing was checked anew since. */
  baselines(receiver: Receiver, target: Reference, live: Ecef | undefined): Baselines {
    const trusted = this.#memory.get('trusted')
    const isSame = trusted?.uid === receiver.identity.serial && sameEcef(trusted.reference.arp, target.arp)
    return isSame && live === trusted?.live ? trusted.baselines : {}
  }

  /** Called every second while the base is trusted. */
  tick(...now: Parameters<TrustKeeper['remember']>): void {
    if (this.#surroundings.now_ms() - this.#rememberedAt_ms >= remember_ms) void this.remember(...now)
  }

  async remember(
    receiver: Receiver,
    reference: Reference,
    live: Ecef | undefined,
    baselines: Baselines,
  ): Promise<void> {
    this.#rememberedAt_ms = this.#surroundings.now_ms()
    const msss_ms = receiver.sinceReset_ms
    if (msss_ms === undefined) return
    const uid = receiver.identity.serial
    const t = this.#surroundings.utc_s()
    await this.#memory.set('trusted', { reference, uid, msss_ms, t, baselines, ...(live && { live }) })
  }
}
