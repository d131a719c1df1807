import type { PluginContext } from 'rtk-base/plugin'
import {
  type Fleet,
  type FleetDatabase,
  fleet,
  fleetBroker,
  fleetDatabase,
  fleetNet,
  fleetRovers,
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
/** Retries of an order to go back: the station may be restarting, or may still be loading the image. */
const backAgain_ms = [15_000, 60_000, 180_000, 600_000, 900_000]

interface Live {
  readonly rollout: store.StoredRollout
  readonly targets: Map<string, Target>
}

/** The answer of a station to a change. */
interface Answer {
  readonly id: number
  readonly target: Target
  /** Why it is not as wanted; `''`: it is. */
  readonly trouble: string
  /** Something was changed, at least the parameters that the station knows. */
  readonly isChanged: boolean
}

/** Carries rollouts out, on the instance that leads. All that it knows is in the database before it acts. */
export class Engine {
  readonly #ctx: PluginContext
  readonly #epochs: EpochWatch
  readonly #retention_days: number
  /** As stored; undefined: to be read. */
  #live: Live[] | undefined
  /** Answers to changes, until they are stored: a station is not told again because the database was away. */
  readonly #answers = new Map<string, Answer>()
  #isReady = false
  #isWorking = false
  #hasLed = false
  /** Of the present step, by the clock of the database: another instance goes on with the times that are stored. UTC seconds. */
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
  }

  async tick(): Promise<void> {
    if (!this.#isReady || this.#isWorking || !this.#database.connected) return
    this.#isWorking = true
    try {
      this.#now_s = Math.floor(await this.#database.now_s())
      await this.#storeAnswers()
      if (!this.#database.leads) {
        this.#live = undefined
        this.#deaf_s = undefined
        this.#hasLed = false
        this.#epochs.stop()
        return
      }
      this.#live ??= await this.#read()
      if (!this.#hasLed) await this.#resumeBack()
      this.#hasLed = true
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
    })
    for (const { now } of steps.values()) targets.set(now.serial, now)
    const isEnd = actions.some((action) => action.do === 'wave' || action.do === 'end')
    if (isEnd) this.#live = undefined
    for (const action of actions) this.#act(rollout, action)
  }

  #view(id: number, all: readonly Live[]): View {
    const { services } = this.#ctx
    let near: Neighbourhood | undefined
    // Of the station's own outputs, and of the fleet's caster.
    const rovers = (serial: string) =>
      (this.#fleet.station(serial)?.rovers ?? 0) + (services.find(fleetRovers)?.on(serial) ?? 0)
    return {
      rovers,
      now_s: this.#now_s,
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
    if (action.do === 'ask') void this.#ask(rollout, action.target)
    else if (action.do === 'back') void this.#back(rollout, action.target)
    else if (action.do === 'end')
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

  async #ask({ id, plan: { what } }: store.StoredRollout, target: Target): Promise<void> {
    const { serial } = target
    const by = `rollout ${id}`
    try {
      if ('image' in what) {
        await this.#fleet.command(serial, `firmware=${what.image}`, by)
        return
      }
      const { result, errors = [], leftover } = await this.#fleet.change(serial, what.change, by)
      const unknown = Object.keys(leftover)
      const trouble =
        result !== 'ok'
          ? `the station refuses the change: ${errors.map(({ message }) => message).join('; ') || result}`
          : unknown.length > 0
            ? `the station does not know ${unknown.join(', ')}`
            : ''
      this.#answers.set(`${id} ${serial}`, { id, target, trouble, isChanged: result === 'ok' })
    } catch (error) {
      // It is told again after a minute.
      this.#ctx.log.info({ serial, rollout: id, err: error }, 'a station of a rollout did not answer')
    }
  }

  /** Answers to changes, also if another instance leads meanwhile: the next step begins from what is stored. */
  async #storeAnswers(): Promise<void> {
    for (const [key, answer] of this.#answers) {
      await this.#answered(answer)
      this.#answers.delete(key)
    }
  }

  async #answered({ id, target, trouble, isChanged }: Answer): Promise<void> {
    const now: Target = {
      ...target,
      state: trouble ? 'failed' : 'proving',
      // Without a change there is nothing to go back to.
      ...(!isChanged && { before: undefined }),
      reason: [...trouble].slice(0, 300).join(''),
      since_s: this.#now_s,
    }
    const isStored = await store.storeTargets(this.#database.query, id, [{ before: target, now }])
    if (!isStored) return
    if (!this.#database.leads) await this.#database.notify(channel, String(id))
    this.#live?.find(({ rollout }) => rollout.id === id)?.targets.set(now.serial, now)
    this.#fleet.ask(now.serial)
    if (trouble && isChanged) await this.#backAgain(id, now.serial, 0)
  }

  /** Best effort: a station that cannot be reached is as its own trial leaves it. */
  async #back({ id, plan: { what } }: store.StoredRollout, { serial }: Target, attempt = 0): Promise<void> {
    const by = `rollout ${id}`
    try {
      if ('image' in what) {
        // Not yet, as far as is known: it may have it in a minute, and is only on trial then.
        if (this.#fleet.station(serial)?.version !== what.version) throw new Error('it does not have the image')
        await this.#fleet.command(serial, 'ota-revert', by)
      } else if (what.back) await this.#fleet.change(serial, what.back, by)
    } catch {
      this.#backLater(id, serial, attempt)
    }
  }

  #backLater(id: number, serial: string, attempt: number): void {
    const wait_ms = backAgain_ms[attempt]
    if (wait_ms !== undefined) this.#ctx.timers.after(wait_ms, () => this.#backAgain(id, serial, attempt + 1))
  }

  /** The instance that led before may have ended before it told them; those that have gone back already are told nothing new. */
  async #resumeBack(): Promise<void> {
    const since_s = (this.#ctx.clock.now() - backAgain_ms.reduce((sum, wait_ms) => sum + wait_ms, 0)) / 1_000
    const [first_ms = 0] = backAgain_ms
    const sent = await store.sentBack(this.#database, Math.floor(since_s))
    // One after the other: there may be thousands.
    this.#ctx.timers.after(first_ms, async () => {
      for (const { id, serial } of sent) await this.#backAgain(id, serial, 1)
    })
  }

  async #backAgain(id: number, serial: string, attempt: number): Promise<void> {
    try {
      const rollout = await store.rollout(this.#database, id)
      const target = await store.targetOf(this.#database, id, serial)
      // Meanwhile another rollout may change it, maybe to the same version.
      const isTaken = busyIn(this.#live).has(serial)
      if (rollout && target && !isTaken && (target.state === 'failed' || target.state === 'undone'))
        await this.#back(rollout, target, attempt)
    } catch (error) {
      this.#ctx.log.debug(
        { serial, rollout: id, err: error },
        'a station is told to go back later: the database is away',
      )
      this.#backLater(id, serial, attempt)
    }
  }
}

const busyIn = (all: readonly Live[] | undefined): Set<string> =>
  new Set((all ?? []).flatMap(({ targets }) => [...targets.values()].filter(isBusy).map(({ serial }) => serial)))
