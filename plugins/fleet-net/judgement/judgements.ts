import { setImmediate } from 'node:timers/promises'
import { movementOf, type NetJudgement, type NetVector } from 'rtk-base/baseline'
import { distance } from 'rtk-base/gnss'
import type { EventSource, PluginContext } from 'rtk-base/plugin'
import {
  type Ecef,
  type FleetDatabase,
  type FleetJudgement,
  type FleetNet,
  type FleetStation,
  fleet,
  fleetDatabase,
} from 'rtk-base/services'
import * as store from '../store/store.js'
import { storeBases, storedBases } from './base-store.js'
import { mayHaveMoved, probableCause, withMovement } from './cause.js'
import { curveOf, storeDays } from './days.js'
import { referenceOf } from './reference.js'
import { type JudgedBase, judgeRegions } from './regions.js'
import { noCause, type StoredBase, stepped, unjudged } from './step.js'

export const channel = 'fleet_net'
const look_ms = 60_000
/** Vectors of this time are judged together. */
export const recent_s = 3 * 3_600
/** Vectors come one by one: those of this time are judged together. */
const least_s = 180
/** Without a new vector, judgements are made again after this time: vectors become too old. */
const again_s = 1_800
const tidy_s = 3_600
/** The announced position is still the one of a vector. */
const same_m = 0.001

export const isAnnounced = (station: FleetStation | undefined, arp: Ecef): boolean =>
  station?.arp !== undefined && distance(station.arp, arp) <= same_m

/** Vectors against the positions that are announced now. Those with others are left out. */
export function netVectors(
  vectors: readonly store.StoredVector[],
  stationOf: (serial: string) => FleetStation | undefined,
): { bases: JudgedBase[]; vectors: NetVector[] } {
  const bases = new Map<string, JudgedBase>()
  const found: NetVector[] = []
  for (const { one, other, oneArp, otherArp, measured, covariance } of vectors) {
    if (!isAnnounced(stationOf(one), oneArp) || !isAnnounced(stationOf(other), otherArp)) continue
    bases.set(one, { id: one, arp: oneArp })
    bases.set(other, { id: other, arp: otherArp })
    const offset = {
      x: measured.x - (otherArp.x - oneArp.x),
      y: measured.y - (otherArp.y - oneArp.y),
      z: measured.z - (otherArp.z - oneArp.z),
    }
    found.push({ from: one, to: other, offset, covariance })
  }
  return { bases: [...bases.values()], vectors: found }
}

/** The service `fleetNet`. The leading instance judges, every instance reads. */
export class Judgements implements FleetNet {
  readonly #ctx: PluginContext
  readonly #retention_days: number
  readonly #changed: EventSource<void>
  #bases: ReadonlyMap<string, StoredBase> = new Map()
  #isWorking = false
  /** Newest vector that was judged. */
  #newest = 0
  #judged_s = Number.NEGATIVE_INFINITY
  #tidied_s = Number.NEGATIVE_INFINITY

  constructor(ctx: PluginContext, retention_days: number) {
    this.#ctx = ctx
    this.#retention_days = retention_days
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
    for (const { state } of this.#bases.values()) counts[state] += 1
    return counts
  }

  /** Stations whose position is contradicted. */
  get contradicted(): Set<string> {
    return new Set([...this.#bases.values()].filter(({ state }) => state === 'contradicts').map(({ serial }) => serial))
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
      this.#bases = await storedBases(this.#database)
      this.#changed.emit()
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'the judgements of the net cannot be read: the last ones stay')
    }
  }

  async #look(): Promise<void> {
    if (this.#isWorking || !this.#database.connected || !this.#database.leads) return
    this.#isWorking = true
    try {
      const now_s = this.#ctx.clock.now() / 1_000
      const newest = await store.newestVector(this.#database)
      if (now_s - this.#judged_s < (newest === this.#newest ? again_s : least_s)) return
      if (newest > 0 && now_s - this.#tidied_s >= tidy_s) {
        await storeDays(this.#database, now_s, this.#retention_days)
        this.#tidied_s = now_s
      }
      await this.#judge(now_s)
      this.#newest = newest
      this.#judged_s = now_s
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'the net could not be judged: it is tried again in a minute')
    } finally {
      this.#isWorking = false
    }
  }

  async #judge(now_s: number): Promise<void> {
    const known = this.#ctx.services.use(fleet)
    const recent = await store.vectorsSince(this.#database, now_s - recent_s)
    const { bases, vectors } = netVectors(recent, (serial) => known.station(serial))
    const judged = await judgeRegions(bases, vectors, () => setImmediate())
    const before = await storedBases(this.#database)
    const sharing = new Map<string, { newest_s: number; neighbours: Set<string> }>()
    for (const { one, other, t_s } of recent)
      for (const [serial, neighbour] of [
        [one, other],
        [other, one],
      ] as const) {
        const found = sharing.get(serial) ?? { newest_s: 0, neighbours: new Set<string>() }
        found.newest_s = Math.max(found.newest_s, t_s)
        found.neighbours.add(neighbour)
        sharing.set(serial, found)
      }
    const wrong = new Set([...judged].filter(([, { state }]) => state === 'contradicts').map(([serial]) => serial))
    const stored: StoredBase[] = []
    for (const serial of new Set([...judged.keys(), ...before.keys()])) {
      const arp = known.station(serial)?.arp
      const last = before.get(serial)
      // Of a station that announces nothing, the last judgement stays until it does: the service does not tell it.
      if (!arp) continue
      const found = judged.get(serial) ?? unjudged
      const same = last && isAnnounced(known.station(serial), last.arp) ? last : undefined
      const { newest_s = 0, neighbours = new Set<string>() } = sharing.get(serial) ?? {}
      const cause = found.state === 'contradicts' ? await this.#cause(serial, arp, found, recent, wrong) : noCause
      const evidence = { serial, arp, now_s: Math.floor(now_s), newest_s, neighbours: [...neighbours], cause }
      stored.push(stepped(same, found, evidence))
    }
    await storeBases(this.#database, stored, now_s)
    for (const base of stored) this.#record(before.get(base.serial), base)
    await this.#database.notify(channel, '')
  }

  async #cause(
    serial: string,
    arp: Ecef,
    judgement: NetJudgement,
    recent: readonly store.StoredVector[],
    wrong: ReadonlySet<string>,
  ): Promise<FleetJudgement['cause']> {
    const reference = referenceOf(await this.#ctx.services.use(fleet).document(serial), arp)
    const now_ms = this.#ctx.clock.now()
    const facts = { serial, arp, judgement, vectors: recent, wrong, reference, now_ms }
    const found = probableCause(facts)
    if (!mayHaveMoved(found)) return found
    const except = new Set([...wrong].filter((id) => id !== serial))
    return withMovement(found, judgement.offset, movementOf(await curveOf(this.#database, serial, arp, except)))
  }

  #record(before: StoredBase | undefined, { serial, state, vectors, cause }: StoredBase): void {
    if (state === (before?.state ?? 'unknown')) return
    const text =
      state === 'contradicts'
        ? `contradicted by ${vectors} neighbours: ${cause.text}`
        : state === 'agrees'
          ? `confirmed by ${vectors} neighbours`
          : 'not known any more'
    this.#ctx.services.use(fleet).record({ serial, kind: 'position', text: text.slice(0, 300), by: '' })
  }
}
