/** The last moment at which the base was trusted: remembered over restarts, and compared with the receiver that is there now. */
import { sameEcef } from 'rtk-base/gnss'
import type { Ecef, Receiver } from 'rtk-base/services'
import type { Memory } from '../memory.js'
import type { HeldTarget } from '../procedure/receiver-setup.js'
import type { Reference } from '../reference/reference.js'
import type { Surroundings } from '../surroundings.js'
import type { Baselines } from '../watch/movement.js'
import type { Suspicion } from '../watch/suspicion.js'
import { warmStart } from './warm-start.js'

const remember_ms = 60_000

export class LastTrust {
  readonly #memory: Memory
  readonly #surroundings: Surroundings
  readonly #suspicion: Pick<Suspicion, 'stands'>
  #rememberedAt_ms = 0

  constructor(memory: Memory, surroundings: Surroundings, suspicion: Pick<Suspicion, 'stands'>) {
    this.#memory = memory
    this.#suspicion = suspicion
    this.#surroundings = surroundings
  }

  /** Why it is not even worth asking the receiver; '' when it is. */
  againstAsking(surveyAsked: boolean): string {
    if (surveyAsked) return 'a survey-in was asked for'
    if (this.#suspicion.stands) return 'the antenna may have moved'
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

  /** What the watch before saw of this very base in its first 10 min, when nothing was checked again since. */
  baselines(receiver: Receiver, target: Reference, live: Ecef | undefined): Baselines {
    const trusted = this.#memory.get('trusted')
    const isSame = trusted?.uid === receiver.identity.serial && sameEcef(trusted.reference.arp, target.arp)
    return isSame && live === trusted?.live ? trusted.baselines : {}
  }

  /** Called every second while the base is trusted: remembers it once a minute. */
  tick(...now: Parameters<LastTrust['remember']>): void {
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
