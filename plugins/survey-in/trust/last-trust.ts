/** The last moment at which the base was trusted: remembered over restarts, and compared with the receiver that is there now. */
import { isDeepStrictEqual } from 'node:util'
import { sameEcef } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver } from 'rtk-base/services'
import type { Memory } from '../memory.js'
import type { HeldTarget } from '../procedure/receiver-setup.js'
import type { Reference } from '../reference/reference.js'
import type { Surroundings } from '../surroundings.js'
import type { Seen } from '../watch/live-position.js'
import type { Baselines } from '../watch/movement.js'
import type { Suspicion } from '../watch/suspicion.js'
import { Heartbeat } from './heartbeat.js'
import { type Trusted, warmStart } from './warm-start.js'

/** A lock time that receivers count up to no more than a minute shows no break for as long: it has to be newer than that. */
const remember_ms = 30_000
/** A receiver or a link that was away for longer may have come back with its antenna elsewhere. */
const longestAway_s = 5
const brief_ms = 3_000
/** What a time in whole seconds may be off by, and an epoch. */
const second_ms = 1000

export class LastTrust {
  readonly #memory: Memory
  readonly #surroundings: Surroundings
  readonly #suspicion: Pick<Suspicion, 'stands'>
  readonly #heartbeat: Heartbeat
  #rememberedAt_ms = Number.NEGATIVE_INFINITY
  /** When the trusted base was heard last, by this process; undefined before it trusted one. */
  heardAt_ms: number | undefined

  constructor(
    memory: Memory,
    surroundings: Surroundings,
    suspicion: Pick<Suspicion, 'stands'>,
    dataDir: PluginContext['dataDir'],
  ) {
    this.#memory = memory
    this.#heartbeat = new Heartbeat(() => dataDir('trust', { volatile: true }))
    this.#suspicion = suspicion
    this.#surroundings = surroundings
  }

  /** What the settings have, with the newest moment: that is in a file of its own. */
  get #trusted(): Trusted | undefined {
    const stored = this.#memory.get('trusted')
    if (!stored) return undefined
    const beat = this.#heartbeat.read()
    return beat?.uid === stored.uid && beat.t > stored.t ? { ...stored, msss_ms: beat.msss_ms, t: beat.t } : stored
  }

  /** Why it is not even worth asking the receiver; '' when it is. */
  againstAsking(surveyAsked: boolean): string {
    if (surveyAsked) return 'a survey-in was asked for or interrupted'
    if (this.#suspicion.stands) return 'the antenna may have moved'
    if (!this.#trusted) return 'nothing was trusted before'
    const away_s = (this.#surroundings.now_ms() - (this.heardAt_ms ?? Number.POSITIVE_INFINITY)) / 1000
    return away_s > longestAway_s ? `the receiver was away for ${Math.round(away_s)} s` : ''
  }

  /** @param held what was read from the receiver @returns '' when it went on as the trusted base, else why not */
  against(receiver: Receiver, chosen: Reference | undefined, held: HeldTarget): string {
    const trusted = this.#trusted
    if (!trusted || !chosen) return 'there is no reference'
    const now = { uid: receiver.identity.serial, msss_ms: receiver.sinceReset_ms, t: this.#surroundings.utc_s() }
    return warmStart(trusted, chosen, now, held)
  }

  /** Whether a record is there that may make a start warm. */
  get isThere(): boolean {
    return this.#trusted !== undefined
  }

  /** Where the antenna was when that was last known otherwise than by an echo. */
  get seen(): Seen | undefined {
    return this.#trusted?.seen
  }

  /** It was heard by this process a moment ago: less than the pause after which a phase watch knows nothing. */
  get isBrief(): boolean {
    return this.#surroundings.now_ms() - (this.heardAt_ms ?? Number.NEGATIVE_INFINITY) <= brief_ms
  }

  /** Milliseconds since the last trusted moment: heard by this process, or remembered by the one before it. */
  get age_ms(): number {
    if (this.heardAt_ms !== undefined) return this.#surroundings.now_ms() - this.heardAt_ms + second_ms
    const t = this.#trusted?.t ?? 0
    return (this.#surroundings.utc_s() - t) * second_ms + second_ms
  }

  /** What the watch before saw of this very base in its first 10 min, when nothing was checked again since. */
  baselines(receiver: Receiver, target: Reference, seen: Seen | undefined): Baselines {
    const trusted = this.#trusted
    const isSame = trusted?.uid === receiver.identity.serial && sameEcef(trusted.reference.arp, target.arp)
    return isSame && sameSeen(seen, trusted.seen) ? trusted.baselines : {}
  }

  /** Called every second while the base is trusted: remembers it twice a minute, and in the settings what has changed. */
  tick(...now: Parameters<LastTrust['remember']>): void {
    this.heardAt_ms = this.#surroundings.now_ms()
    if (this.heardAt_ms - this.#rememberedAt_ms < remember_ms) return
    const trusted = this.#momentOf(...now)
    if (!trusted) return
    const stored = this.#memory.get('trusted')
    if (!stored || !sameButForTime(stored, trusted)) void this.#memory.set('trusted', trusted)
    const { uid, msss_ms, t } = trusted
    void this.#heartbeat.write({ uid, msss_ms, t })
  }

  /** Resolves when the moment is durable. */
  async remember(
    receiver: Receiver,
    reference: Reference,
    seen: Seen | undefined,
    baselines: Baselines,
  ): Promise<void> {
    this.heardAt_ms = this.#surroundings.now_ms()
    const trusted = this.#momentOf(receiver, reference, seen, baselines)
    if (trusted) await this.#memory.set('trusted', trusted)
  }

  /** Undefined where the receiver does not report how long it has been on. */
  #momentOf(
    receiver: Receiver,
    reference: Reference,
    seen: Seen | undefined,
    baselines: Baselines,
  ): Trusted | undefined {
    this.#rememberedAt_ms = this.#surroundings.now_ms()
    const msss_ms = receiver.sinceReset_ms
    if (msss_ms === undefined) return undefined
    const t = this.#surroundings.utc_s()
    return { reference, uid: receiver.identity.serial, msss_ms, t, baselines, ...(seen && { seen }) }
  }
}

const sameButForTime = (a: Trusted, b: Trusted) =>
  isDeepStrictEqual({ ...a, msss_ms: 0, t: 0 }, { ...b, msss_ms: 0, t: 0 })

function sameSeen(a: Seen | undefined, b: Seen | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameEcef(a.position, b.position))
}
