/** Runs the procedure with a receiver: the observer finds events, the table maps them to actions, the actions are carried out. */
import { sameEcef } from 'rtk-base/gnss'
import type { MoveEvidence, ProcedureWish } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Reference } from '../reference/reference.js'
import { type ActionDeps, Actions, type Course } from './actions.js'
import { Observer, type ObserverDeps } from './observer.js'
import { ReportsSnapshot } from './reports.js'
import { type Event, isAbsent, isSettled, rowOf, type State, states, wishes } from './table.js'
import { checkedFirst } from './texts.js'

/** State handed over to the next instance on a reload. */
export const RunSnapshot = Type.Object({
  state: Type.Unsafe<State>(Type.Enum(Object.keys(states))),
  uid: Type.String(),
  target: Type.Optional(Reference),
  reports: ReportsSnapshot,
})
type RunSnapshot = Static<typeof RunSnapshot>

const tick_ms = 1000

export class Run implements Course {
  readonly #deps: ActionDeps & ObserverDeps
  readonly #actions: Actions
  readonly #observer: Observer
  /** Called when the status changed. */
  readonly #changed: () => void
  #state: State = 'offline'
  #asked: ProcedureWish | undefined

  constructor(deps: ActionDeps & ObserverDeps, changed: () => void) {
    this.#deps = deps
    this.#changed = changed
    this.#actions = new Actions(deps, this)
    this.#observer = new Observer(deps, this, this.#actions)
  }

  get state(): State {
    return this.#state
  }

  /** Wish of a person, until it is done or the receiver is lost. */
  get asked(): ProcedureWish | undefined {
    return this.#asked
  }

  /** Whole seconds in this state. */
  get since_s(): number {
    return Math.floor(this.#observer.since_ms / 1000)
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  start(before: RunSnapshot | undefined): void {
    const { ctx, integrity, judge } = this.#deps
    if (before) this.#resume(before)
    // The gate kept the verdict of the previous instance, which is not valid when the receiver was lost meanwhile.
    if (this.#state === 'offline') judge.hold(checkedFirst)
    if (this.#state !== 'fixed') integrity.leave()
    this.#observer.start()
    this.#deps.output.start((event) => this.dispatch(event))
    ctx.timers.every(tick_ms, () => this.#second())
    this.#observer.look()
    this.#showStatus()
  }

  async stop(reason: 'reload' | 'remove' | 'shutdown'): Promise<RunSnapshot> {
    const { base, integrity, judge, receiver, reports } = this.#deps
    const { target } = base
    await integrity.remember()
    if (reason !== 'reload') integrity.leave()
    this.#actions.cancel()
    judge.leave(reason)
    return {
      state: this.#state,
      uid: receiver.identity.serial,
      reports: reports.snapshot(),
      ...(target && { target }),
    }
  }

  /** Continues the state of the previous instance if the receiver was not affected. */
  #resume({ state, uid, target, reports }: RunSnapshot): void {
    const { base, ctx, integrity, receiver, references } = this.#deps
    if (receiver.link !== 'up' || !receiver.configured || uid !== receiver.identity.serial) return
    const { chosen } = references
    const isOurs = target !== undefined && chosen !== undefined && sameEcef(target.arp, chosen.arp)
    if (state === 'fixed' ? !isOurs || integrity.suspicion : state !== 'survey' && state !== 'moved') return
    this.#state = state
    this.#observer.begin(true)
    base.begin(ctx.clock.monotonic())
    this.#deps.reports.restore(reports)
    this.#changed()
    if (state !== 'fixed') return
    base.target = target
    const { stayed } = integrity
    if (stayed === true) this.#actions.trust()
    else this.#observer.heardEvidence(stayed ?? unwatched)
  }

  // ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  dispatch(what: Event): void {
    const row = rowOf(this.#state, what)
    // It is not trusted again before a suspicion that is being written was settled.
    if (row && what !== 'move suspected' && this.#actions.overrules(row[2])) {
      this.dispatch('move suspected')
      return
    }
    if (!row) return
    const from = this.#state
    const [, , to, actions] = row
    this.#asked = wishes[what] ?? this.#asked
    if (from === to && actions.length === 0) return
    if (isSettled(to) || isAbsent(to)) this.#asked = undefined
    this.#state = to
    this.#actions.cancel()
    if (from !== to) {
      this.#deps.ctx.log.info({ from, to, event: what }, `${from}: ${what} → ${to}`)
      this.#enter(from, to, what)
      this.#changed()
    }
    for (const action of actions) this.#actions.act(action, what)
    this.#showStatus()
  }

  #enter(from: State, to: State, why: Event): void {
    const { base, integrity, reports, surveyor } = this.#deps
    base.begin()
    this.#observer.begin(false, why)
    if (from === 'survey') surveyor.pause()
    if (isAbsent(to)) surveyor.plain.clear()
    if (to !== 'verify' && to !== 'fixed') integrity.leave()
    if (from === 'moved') reports.while('gnss-moved', undefined)
    if (isSettled(to) || isAbsent(to)) reports.while('gnss-initial', undefined)
    if (to === 'fixed' || (to === 'acquire' && base.difference === '')) reports.while('gnss-fault', undefined)
  }

  #second(): void {
    const { integrity, reports } = this.#deps
    this.#observer.second()
    reports.second(this.#state, integrity.needed_m, integrity.position?.acc_m)
    this.#showStatus()
  }

  #showStatus(): void {
    const { elapsed_s, count, acc_m, relative_m = acc_m } = this.#deps.surveyor.record
    const progress = `survey-in: ${Math.floor(elapsed_s)} s, ${count} epochs, ${relative_m.toFixed(3)} m`
    const { status } = states[this.#state]
    this.#deps.ctx.status(this.#state === 'survey' ? progress : this.#state === 'fixed' ? '' : status)
  }
}

/** The integrity monitor was replaced by one that did not watch the base. */
const unwatched: MoveEvidence = {
  moved: undefined,
  by: 'phases',
  text: 'the antenna was not monitored for some time',
  size_m: undefined,
}
