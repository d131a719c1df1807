import type { PluginContext } from 'rtk-base/plugin'
import {
  type Fleet,
  type FleetDatabase,
  type FleetQuery,
  fleet,
  fleetBroker,
  fleetDatabase,
  fleetJobs,
  fleetNet,
  fleetRovers,
  type JobEnd,
} from 'rtk-base/services'
import { EpochWatch } from './epochs.js'
import { Neighbourhood } from './neighbours.js'
import { type Action, isBusy, next, type Target, type View } from './steps.js'
import * as store from './store.js'

export const channel = 'fleet_rollout'
const tick_ms = 2_000
/** Stations need this long to return to a broker. */
const return_s = 60
const forget_ms = 3_600_000
/** Jobs of one station each: to tell it what the rollout wants, and to tell it to go back. */
const askJob = 'rollout-ask'
const backJob = 'rollout-back'
/** Stations that are told at the same time. */
const atOnce = 32
/** A station answers within a minute. */
const lease_s = 300
/** The order to go back is repeated for half an hour: the station may be restarting, or may still be loading the image. */
const backTries = 8
const backWaits = { first_ms: 15_000, longest_ms: 900_000 }
const keyOf = (id: number, serial: string) => `${id} ${serial}`

interface Live {
  readonly rollout: store.StoredRollout
  readonly targets: Map<string, Target>
}

type ChangeResult = Awaited<ReturnType<Fleet['change']>>

/** Carries rollouts out, on the instance that leads. All that it knows is in the database before it acts. */
export class Engine {
  readonly #ctx: PluginContext
  readonly #epochs: EpochWatch
  readonly #retention_days: number
  /** As stored; undefined: to be read. */
  #live: Live[] | undefined
  #isReady = false
  #isWorking = false
  /** The time of the current step, by the clock of the database: another instance continues with the stored times. UTC seconds. */
  #now_s = 0
  /** Since when the broker was away, and since when it is back, UTC seconds. */
  #deaf_s: number | undefined
  #heard_s: number | undefined

  /** @param retention_days after its end, in which a rollout is kept */
  constructor(ctx: PluginContext, retention_days: number) {
    this.#ctx = ctx
    this.#retention_days = retention_days
    this.#epochs = new EpochWatch(ctx)
  }

  get #fleet(): Fleet {
    return this.#ctx.services.use(fleet)
  }

  get #database(): FleetDatabase {
    return this.#ctx.services.use(fleetDatabase)
  }

  start(): void {
    const forget = () => {
      this.#live = undefined
    }
    void this.#database.migrate('fleet-rollout', store.tables).then(() => {
      this.#isReady = true
    })
    this.#ctx.defer(this.#database.listen(channel, forget))
    this.#ctx.on(this.#database.onLeads, forget)
    this.#ctx.timers.every(tick_ms, () => this.tick())
    this.#ctx.timers.every(forget_ms, () => this.#forget())
    this.#ctx.defer(() => this.#epochs.stop())
    const jobs = this.#ctx.services.use(fleetJobs)
    // The leading instance knows which stations other rollouts change.
    const mayBegin = () => this.#isReady && this.#database.leads && this.#live !== undefined
    const kind = { atOnce, lease_s, mayBegin }
    // Whoever does not answer is asked again by the rollout, after a minute.
    this.#ctx.defer(jobs.work(askJob, { ...kind, tries: 1, run: ({ key }, end) => this.#ask(key, end) }))
    this.#ctx.defer(
      jobs.work(backJob, { ...kind, tries: backTries, waits: backWaits, run: ({ key }, end) => this.#back(key, end) }),
    )
  }

  async tick(): Promise<void> {
    if (!this.#isReady || this.#isWorking || !this.#database.connected) return
    this.#isWorking = true
    try {
      this.#now_s = Math.floor(await this.#database.now_s())
      if (!this.#database.leads) {
        this.#live = undefined
        this.#deaf_s = undefined
        this.#epochs.stop()
        return
      }
      this.#live ??= await this.#read()
      if (await this.#isDeaf(this.#live)) return
      for (const live of this.#live) await this.#step(live, this.#live)
      this.#epochs.watch(busyIn(this.#live))
    } catch (error) {
      // What is stored is read again: it may have been written or not.
      this.#live = undefined
      this.#ctx.log.warn({ err: error }, 'a step of a rollout could not be stored: it is tried again')
    } finally {
      this.#isWorking = false
    }
  }

  async #forget(): Promise<void> {
    if (!this.#isReady || !this.#database.leads) return
    try {
      await store.forget(this.#database, this.#retention_days)
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'old rollouts are deleted in an hour')
    }
  }

  /** Without the broker every station looks silent: until it is back, and a minute longer, no time counts. */
  async #isDeaf(all: readonly Live[]): Promise<boolean> {
    const now_s = this.#now_s
    if (!this.#ctx.services.use(fleetBroker).connected) {
      this.#deaf_s ??= now_s
      this.#heard_s = undefined
      return true
    }
    if (this.#deaf_s === undefined) return false
    this.#heard_s ??= now_s
    if (now_s - this.#heard_s < return_s) return true
    const by_s = now_s - this.#deaf_s
    for (const { rollout, targets } of all) {
      const later = [...targets.values()]
        .filter(({ state }) => isBusy({ state }) || state === 'done')
        .map((before) => ({
          before,
          now: { ...before, since_s: before.since_s + by_s, asked_s: before.asked_s + by_s, well_s: 0 },
        }))
      if (!(await store.storeTargets(this.#database.query, rollout.id, later))) throw new Error('a target was changed')
      for (const { now } of later) targets.set(now.serial, now)
    }
    this.#deaf_s = undefined
    this.#heard_s = undefined
    return false
  }

  async #read(): Promise<Live[]> {
    const found = await store.liveRollouts(this.#database)
    const all: Live[] = []
    for (const rollout of found.reverse()) {
      const targets = await store.targetsOf(this.#database, rollout.id)
      all.push({ rollout, targets: new Map(targets.map((target) => [target.serial, target])) })
    }
    return all
  }

  async #step({ rollout, targets }: Live, all: readonly Live[]): Promise<void> {
    const actions = next(rollout, [...targets.values()], this.#view(rollout.id, all))
    if (actions.length === 0) return
    const steps = new Map<string, { before: Target; now: Target }>()
    for (const action of actions) {
      if (action.do !== 'target') continue
      const before = targets.get(action.target.serial)
      if (before) steps.set(before.serial, { before, now: action.target })
    }
    await this.#database.transaction(async (query) => {
      for (const action of actions) {
        if (action.do === 'wave')
          await query('update fleet_rollout set wave = $2 where id = $1 and wave = $2 - 1', [rollout.id, action.wave])
        if (action.do === 'end')
          await store.setState({ query }, rollout.id, [rollout.state], action.state, action.reason)
      }
      if (!(await store.storeTargets(query, rollout.id, [...steps.values()])))
        throw new Error('another instance carries this rollout out')
      for (const [kind, name] of [
        ['ask', askJob],
        ['back', backJob],
      ] as const) {
        const told = actions.flatMap((action) => (action.do === kind ? [action.target.serial] : []))
        await this.#put(name, rollout.id, told, query)
      }
    })
    for (const { now } of steps.values()) targets.set(now.serial, now)
    const isEnd = actions.some((action) => action.do === 'wave' || action.do === 'end')
    if (isEnd) this.#live = undefined
    for (const action of actions) this.#act(rollout, action)
  }

  #view(id: number, all: readonly Live[]): View {
    const { clock, services } = this.#ctx
    let near: Neighbourhood | undefined
    // Of the station's own outputs, and of the fleet's caster.
    const rovers = (serial: string) =>
      (this.#fleet.station(serial)?.rovers ?? 0) + (services.find(fleetRovers)?.on(serial) ?? 0)
    return {
      rovers,
      now_s: this.#now_s,
      stationsNow_s: Math.floor(clock.now() / 1_000),
      station: (serial) => this.#fleet.station(serial),
      judgement: (serial) => services.find(fleetNet)?.judgement(serial),
      neighbours: (station, apart_km) => {
        near ??= new Neighbourhood(this.#fleet.stations())
        return near.of(station, apart_km)
      },
      epochs: (serial) => this.#epochs.count(serial, this.#fleet.station(serial)?.rtcm.rate_s ?? 1),
      elsewhere: all
        .filter(({ rollout }) => rollout.id !== id)
        .flatMap(({ targets }) => [...targets.values()].filter(isBusy))
        .map(({ serial }) => this.#fleet.station(serial))
        .filter((station) => station !== undefined),
    }
  }

  // ── what is done after it was stored ──────────────────────────────────────────────────────────────────────────────

  #act(rollout: store.StoredRollout, action: Action): void {
    const { plan, id } = rollout
    const by = `rollout ${id}`
    if (action.do === 'end')
      this.#fleet.record({
        serial: '',
        kind: 'rollout',
        text: `${plan.name} ${action.state}: ${action.reason || 'all stations'}`,
        by,
      })
    else if (action.do === 'target') {
      const { serial, state, reason } = action.target
      // The document tells rovers and errors as they are now.
      if (state === 'measuring' || state === 'proving') this.#fleet.ask(serial)
      if (['asked', 'done', 'failed', 'undone'].includes(state))
        this.#fleet.record({ serial, kind: 'rollout', text: `${plan.name}: ${state}${reason && `, ${reason}`}`, by })
    }
  }

  // ── jobs ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #put(kind: string, id: number, serials: readonly string[], query: FleetQuery): Promise<void> {
    if (serials.length === 0) return
    const jobs = serials.map((serial) => ({ key: keyOf(id, serial) }))
    await this.#ctx.services.use(fleetJobs).put(kind, jobs, query)
  }

  /** @returns undefined: there is no such rollout or target any more */
  async #targetOf(key: string): Promise<{ rollout: store.StoredRollout; target: Target } | undefined> {
    const [id, serial = ''] = key.split(' ')
    const rollout = await store.rollout(this.#database, Number(id))
    const target = await store.targetOf(this.#database, Number(id), serial)
    return rollout && target && { rollout, target }
  }

  async #ask(key: string, end: JobEnd): Promise<void> {
    const found = await this.#targetOf(key)
    if (found?.target.state !== 'asked') return void (await end())
    const { id, plan } = found.rollout
    const { serial } = found.target
    const by = `rollout ${id}`
    try {
      if ('image' in plan.what) {
        await this.#fleet.command(serial, `firmware=${plan.what.image}`, by)
        await end()
      } else await this.#answered(id, serial, await this.#fleet.change(serial, plan.what.change, by), end)
    } catch (error) {
      this.#ctx.log.info({ serial, rollout: id, err: error }, 'a station of a rollout did not answer')
    }
  }

  /** The answer is stored with the end of the job: a station is not told again because the database was away. */
  async #answered(id: number, serial: string, answer: ChangeResult, end: JobEnd): Promise<void> {
    const { result, errors = [], leftover } = answer
    const unknown = Object.keys(leftover)
    const isChanged = result === 'ok'
    const trouble = !isChanged
      ? `the station refuses the change: ${errors.map(({ message }) => message).join('; ') || result}`
      : unknown.length > 0
        ? `the station does not know ${unknown.join(', ')}`
        : ''
    let stored: Target | undefined
    await end(undefined, async (query) => {
      stored = undefined
      const before = await store.targetOf({ query }, id, serial)
      if (before?.state !== 'asked') return
      const now: Target = {
        ...before,
        state: trouble ? 'failed' : 'proving',
        // Without a change there is nothing to go back to.
        ...(!isChanged && { before: undefined }),
        reason: [...trouble].slice(0, 300).join(''),
        since_s: this.#now_s,
      }
      if (!(await store.storeTargets(query, id, [{ before, now }]))) return
      if (trouble && isChanged) await this.#put(backJob, id, [serial], query)
      stored = now
    })
    if (!stored) return
    if (!this.#database.leads) await this.#database.notify(channel, String(id))
    this.#live?.find(({ rollout }) => rollout.id === id)?.targets.set(serial, stored)
    this.#fleet.ask(serial)
  }

  /** Best effort: a station that cannot be reached is as its own trial leaves it. One that has gone back already is told nothing new. */
  async #back(key: string, end: JobEnd): Promise<void> {
    const found = await this.#targetOf(key)
    // Meanwhile another rollout may change it, maybe to the same version.
    const isTaken = found && busyIn(this.#live).has(found.target.serial)
    if (!found || isTaken || (found.target.state !== 'failed' && found.target.state !== 'undone'))
      return void (await end())
    const { id, plan } = found.rollout
    const { serial } = found.target
    const by = `rollout ${id}`
    try {
      if ('image' in plan.what) {
        // Not yet, as far as is known: it may have it in a minute, and is only on trial then.
        if (this.#fleet.station(serial)?.version !== plan.what.version) throw new Error('it does not have the image')
        await this.#fleet.command(serial, 'ota-revert', by)
      } else if (plan.what.back) await this.#fleet.change(serial, plan.what.back, by)
    } catch (error) {
      this.#ctx.log.debug({ serial, rollout: id, err: error }, 'a station is told to go back later')
      return
    }
    await end()
  }
}

const busyIn = (all: readonly Live[] | undefined): Set<string> =>
  new Set((all ?? []).flatMap(({ targets }) => [...targets.values()].filter(isBusy).map(({ serial }) => serial)))
