import { inSteps, movementOf, type NetJudgement, type Steps } from 'rtk-base/baseline'
import type { EventSource, PluginContext } from 'rtk-base/plugin'
import {
  type Ecef,
  type FleetDatabase,
  type FleetJudgement,
  type FleetNet,
  fleet,
  fleetDatabase,
} from 'rtk-base/services'
import type { Settings } from '../options.js'
import * as store from '../store/store.js'
import { storeBases, storedBases } from './base-store.js'
import { type Cause, type CauseFacts, mayHaveMoved, probableCause, rangedOf, withMovement } from './cause.js'
import { curveOf, deleteOld, storeDays } from './days.js'
import { opposing } from './opposing.js'
import { referenceOf } from './reference.js'
import { judgeRegions } from './regions.js'
import { noCause, type StoredBase, stepped, unjudged } from './step.js'
import { announcedVectors, byStation, isAnnounced, netVectors, pause } from './vectors.js'

export const channel = 'fleet_net'
const look_ms = 60_000
/** Vectors of this time are judged together. */
export const recent_s = 3 * 3_600
/** Vectors come one by one: those of this time are judged together. */
const least_s = 180
/** Without a new vector, judgements are made again after this time: vectors become too old. */
const again_s = 1_800
const tidy_s = 3_600
/** The facts of one judgement of all stations. */
interface Facts {
  readonly judged: ReadonlyMap<string, NetJudgement>
  /** The positions that were judged. */
  readonly arps: ReadonlyMap<string, Ecef>
  /** Stations that are contradicted by these vectors. */
  readonly wrong: ReadonlySet<string>
  readonly before: ReadonlyMap<string, StoredBase>
  readonly ofBase: ReadonlyMap<string, readonly store.StoredVector[]>
  readonly causes: ReadonlyMap<string, Cause>
  readonly now_s: number
}

/** The service `fleetNet`. The leading instance judges, every instance reads. */
export class Judgements implements FleetNet {
  readonly #ctx: PluginContext
  readonly #settings: Pick<Settings, 'retention_days' | 'window_min'>
  readonly #changed: EventSource<void>
  #bases: ReadonlyMap<string, StoredBase> = new Map()
  #isWorking = false
  /** Newest vector that was judged. */
  #newest = 0
  /** Monotonic. */
  #judged_s = Number.NEGATIVE_INFINITY
  #tidied_s = Number.NEGATIVE_INFINITY
  /** Begin of the last complete day whose medians are stored, UTC seconds. */
  #complete_s = 0

  constructor(ctx: PluginContext, settings: Pick<Settings, 'retention_days' | 'window_min'>) {
    this.#ctx = ctx
    this.#settings = settings
    this.#changed = ctx.event()
  }

  get onChange(): FleetNet['onChange'] {
    return this.#changed.on
  }

  judgement(serial: string): FleetJudgement | undefined {
    return this.base(serial)
  }

  base(serial: string): StoredBase | undefined {
    const found = this.#bases.get(serial)
    return found && isAnnounced(this.#ctx.services.use(fleet).station(serial), found.arp) ? found : undefined
  }

  get counts(): Record<FleetJudgement['state'], number> {
    const counts = { agrees: 0, contradicts: 0, unknown: 0 }
    for (const { state } of this.#known()) counts[state] += 1
    return counts
  }

  /** Stations whose position is contradicted. */
  get contradicted(): Set<string> {
    return new Set([...this.#known()].filter(({ state }) => state === 'contradicts').map(({ serial }) => serial))
  }

  /** Judgements of positions that are announced now: those of stations that were removed are still stored. */
  *#known(): Generator<StoredBase> {
    for (const serial of this.#bases.keys()) {
      const base = this.base(serial)
      if (base) yield base
    }
  }

  /** The tables are there. */
  start(): void {
    this.#ctx.defer(this.#database.listen(channel, () => this.#read()))
    this.#ctx.timers.every(look_ms, () => this.#look())
    void this.#read()
  }

  get #database(): FleetDatabase {
    return this.#ctx.services.use(fleetDatabase)
  }

  async #read(): Promise<void> {
    if (!this.#database.connected) return
    try {
      this.#bases = await storedBases(this.#database, pause)
      this.#changed.emit()
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'the judgements of the net cannot be read: the last ones stay')
    }
  }

  async #look(): Promise<void> {
    if (this.#isWorking || !this.#database.connected || !this.#database.leads) return
    this.#isWorking = true
    try {
      const now_s = await this.#database.now_s()
      // The clock may be set: intervals are of the monotonic one.
      const elapsed_s = this.#ctx.clock.monotonic() / 1_000
      const newest = await store.newestVector(this.#database)
      if (elapsed_s - this.#judged_s < (newest === this.#newest ? again_s : least_s)) return
      if (newest > 0 && elapsed_s - this.#tidied_s >= tidy_s) {
        this.#complete_s = await storeDays(this.#database, now_s, this.#complete_s, pause)
        await deleteOld(this.#database, this.#settings.retention_days)
        this.#tidied_s = elapsed_s
      }
      await this.#judge(now_s)
      this.#newest = newest
      this.#judged_s = elapsed_s
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'the net could not be judged: it is tried again in a minute')
    } finally {
      this.#isWorking = false
    }
  }

  async #judge(now_s: number): Promise<void> {
    const known = this.#ctx.services.use(fleet)
    const recent = await store.vectorsSince(this.#database, { since_s: now_s - recent_s }, pause)
    const announced = await inSteps(
      announcedVectors(recent, (serial) => known.station(serial)),
      pause,
    )
    const { bases, vectors } = await inSteps(netVectors(announced), pause)
    const judged = await judgeRegions(bases, vectors, pause)
    const before = await storedBases(this.#database, pause)
    const ofBase = await inSteps(byStation(announced), pause)
    const wrong = new Set([...judged].filter(([, { state }]) => state === 'contradicts').map(([serial]) => serial))
    const causes = await this.#causes(judged, wrong, recent)
    const arps = new Map(bases.map(({ id, arp }) => [id, arp]))
    const facts = { judged, arps, wrong, before, ofBase, causes, now_s }
    const stored = await inSteps(this.#stepped(facts), pause)
    await storeBases(this.#database, stored, now_s, async (some) => {
      for (const base of some) this.#record(before.get(base.serial), base)
      await this.#database.notify(channel, '')
    })
  }

  *#stepped({ judged, arps, wrong, before, ofBase, causes, now_s }: Facts): Steps<StoredBase[]> {
    const known = this.#ctx.services.use(fleet)
    const window_s = 60 * this.#settings.window_min
    const stored: StoredBase[] = []
    for (const serial of new Set([...judged.keys(), ...before.keys()])) {
      yield
      const arp = known.station(serial)?.arp
      const last = before.get(serial)
      // Of a station that announces nothing, the last judgement stays until it does: the service does not tell it.
      if (!arp) continue
      // It announced another position during the judgement: the next one is of that.
      if (!isAnnounced(known.station(serial), arps.get(serial) ?? arp)) continue
      const found = judged.get(serial) ?? unjudged
      const same = last && isAnnounced(known.station(serial), last.arp) ? last : undefined
      const own = ofBase.get(serial) ?? []
      const middle = own[(own.length - 1) >> 1]
      const neighbours = new Set(own.map(({ one, other }) => (one === serial ? other : one)))
      const opposing_s = wrong.has(serial) ? opposing({ serial, arp, offset: found.offset }, own, wrong) : []
      const evidence = {
        ...{ serial, arp, now_s: Math.floor(now_s), neighbours: [...neighbours], opposing_s },
        ...{ newest_s: own.at(-1)?.t_s ?? 0, window_s: middle ? Math.floor(middle.t_s - window_s) : 0 },
        ...{ cause: causes.get(serial) ?? noCause, length_s: window_s },
      }
      stored.push(stepped(same, found, evidence))
    }
    return stored
  }

  /** The causes of the contradicted stations. */
  async #causes(
    judged: ReadonlyMap<string, NetJudgement>,
    wrong: ReadonlySet<string>,
    recent: readonly store.StoredVector[],
  ): Promise<Map<string, Cause>> {
    const causes = new Map<string, Cause>()
    if (wrong.size === 0) return causes
    const ranged = await inSteps(rangedOf(recent), pause)
    for (const serial of wrong) {
      const arp = this.#ctx.services.use(fleet).station(serial)?.arp
      const judgement = judged.get(serial)
      if (arp && judgement) causes.set(serial, await this.#cause({ serial, arp, judgement, ranged, wrong }))
      await pause()
    }
    return causes
  }

  async #cause(contradicted: Omit<CauseFacts, 'reference' | 'now_ms'>): Promise<Cause> {
    const { serial, arp, judgement, wrong } = contradicted
    const reference = referenceOf(await this.#ctx.services.use(fleet).document(serial), arp)
    const now_ms = this.#ctx.clock.now()
    const found = probableCause({ ...contradicted, reference, now_ms })
    if (!mayHaveMoved(found)) return found
    const except = new Set([...wrong].filter((id) => id !== serial))
    const curve = await curveOf(this.#database, serial, { arp, except })
    return withMovement(found, judgement.offset, movementOf(curve))
  }

  #record(before: StoredBase | undefined, { serial, state, reason, vectors, cause }: StoredBase): void {
    if (state === (before?.state ?? 'unknown')) return
    const text =
      state === 'contradicts'
        ? `contradicted by ${vectors} neighbours: ${cause.text}`
        : state === 'agrees'
          ? `confirmed by ${vectors} neighbours`
          : reason === 'pending'
            ? 'contradicted by one window: the next one decides'
            : 'not known any more'
    this.#ctx.services.use(fleet).record({ serial, kind: 'position', text: text.slice(0, 300), by: '' })
  }
}
