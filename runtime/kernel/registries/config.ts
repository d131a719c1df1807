import { AsyncLocalStorage } from 'node:async_hooks'
import { isDeepStrictEqual } from 'node:util'
import { Mutex } from 'async-mutex'
import type { Logger } from 'pino'
import type { ChangeResult } from '../../../schemas/services.js'
import { messageOf, RtkError } from '../../errors.js'
import { attempt } from '../../platform/guard/guard.js'
import type { Owner } from '../../platform/guard/owner.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { StandingErrors } from '../../platform/standing-errors.js'
import type { Store, StoreOps } from '../../platform/store/store.js'
import { deepest, isTooDeep, quote } from '../../platform/validate.js'
import type { Caller, ChangeSet, Source } from '../../plugin.js'
import type { SeriesHookPoint } from '../hook-point.js'
import type { Instance } from '../instance/instance.js'
import type { ActionRecord } from '../instance/registrations.js'
import type { Tables } from '../tables.js'
import { type Known, type Problem, planOf, unknownNames } from './change-plan.js'
import { ChangeTrial, type ValuesBefore } from './change-trial.js'
import { ConfigValues } from './config-values.js'

/** Set while a change is applied, including work that its owners' code begins meanwhile. */
const applying = new AsyncLocalStorage<{ over: boolean }>()

/** State that returns when a change is undone, besides its values. */
interface Undo {
  /** Plugins' own values before it. */
  readonly own: readonly StoreOps[]
  /** Undefined: the change is not on trial. */
  readonly trial: { readonly earlier: ValuesBefore | undefined } | undefined
}

const changeErrors = ['change-undone', 'change-not-undone', 'change-not-applied', 'change-rolled-back'] as const

export interface ConfigDeps {
  store: Store
  clock: Clock
  log: Logger
  /** So long a caller that a change may have cut off has to come again; 0: no such change is set back. */
  trial_s: number
  tables(): Tables
  onChange: SeriesHookPoint<[ChangeSet]>
  /** Runs the action that a parameter starts. */
  start(record: ActionRecord, source: Source): Promise<void>
  /** Something that a reader of the document may see has changed. */
  changed(): void
  /** Take what outlives the call, until a later change went well. */
  errors: Pick<StandingErrors, 'while'>
}

/**
 * Changes of parameters. One change is one transaction: validate all, store durably in one batch, apply by owner, roll
 * back what was stored and applied when an owner refuses.
 */
export class ConfigRegistry {
  readonly #deps: ConfigDeps
  readonly #transactions = new Mutex()
  readonly values: ConfigValues
  readonly trial: ChangeTrial

  constructor(deps: ConfigDeps) {
    this.#deps = deps
    this.values = new ConfigValues(deps)
    this.trial = new ChangeTrial({
      ...deps,
      window_s: deps.trial_s,
      parameter: (name) => deps.tables().parameters.get(name),
      over: () => void this.#trialOver(),
      betweenChanges: (work) => this.#transactions.runExclusive(work),
    })
  }

  async load(): Promise<void> {
    await this.values.load()
    await this.trial.load()
  }

  get #known(): Known {
    return { tables: this.#deps.tables(), effective: (name) => this.values.effective(name) }
  }

  /** Sets the variant's initial values. Returns what is wrong with them. */
  setInitial(values: Readonly<Record<string, unknown>>): Problem[] {
    const plan = planOf(values, this.#known)
    // Those of a plugin that is not there yet are kept: they are checked when they are asked for.
    for (const [name, value] of [...plan.values, ...Object.entries(plan.leftover)]) this.values.setInitial(name, value)
    return [
      ...plan.problems,
      ...[...Object.keys(plan.leftover), ...plan.actions.keys()].map((name) => ({
        name,
        message: 'is an unknown parameter',
      })),
    ]
  }

  /** Problems of values to be stored before anything is started: the command line's `--change`. */
  wrongPresets(values: Readonly<Record<string, unknown>>): Problem[] {
    const plan = planOf(values, this.#known)
    return [...plan.problems, ...unknownNames(plan.leftover, this.#known)]
  }

  /** Stores them. */
  async preset(values: Readonly<Record<string, unknown>>): Promise<void> {
    await this.values.write(planOf(values, this.#known).values, { atStart: true })
  }

  /**
   * Instances went live. Changes made after they were set up went to the previous instances, or to none: they are
   * applied to the new ones now. The change was answered already, so a refusal is reported.
   */
  published(instances: readonly Instance[]): void {
    const seen = new Map<Owner, number>(instances.map((instance) => [instance, instance.changesSeen]))
    const missed = [...this.#deps.tables().parameters.values()].filter(
      ({ owner, name }) => this.values.changedAt(name) > (seen.get(owner) ?? Number.POSITIVE_INFINITY),
    )
    if (missed.length === 0) return
    void this.#transactions.runExclusive(async () => {
      const values = new Map(missed.map((record) => [record.name, this.values.of(record)]))
      const problems = await this.#apply(values, new Map(), 'plugin', values)
      const text = problems.map(({ name, message }) => `${name} ${message}`).join('; ')
      if (text) this.#deps.errors.while('change-not-applied', { reason: text })
    })
  }

  /**
   * One change. Resolves with `{result, leftover}` when everything that does not end the caller's link was applied;
   * the rest follows after `answered`.
   * @throws RTK_ERR_CHANGE_BODY if `submitted` is not a JSON object; RTK_ERR_CHANGE_NESTED from within another change.
   */
  async change(submitted: unknown, caller: Caller, answered?: Promise<void>): Promise<ChangeResult> {
    if (isTooDeep(submitted)) {
      throw new RtkError('RTK_ERR_CHANGE_BODY', `the change is nested deeper than ${deepest} levels`)
    }
    if (typeof submitted !== 'object' || submitted === null || Array.isArray(submitted)) {
      throw new RtkError('RTK_ERR_CHANGE_BODY', `a change is a JSON object, not ${quote(submitted)}`)
    }
    if (applying.getStore()?.over === false) {
      throw new RtkError('RTK_ERR_CHANGE_NESTED', 'a change inside the applying of another one would wait for itself')
    }
    return this.#transactions.runExclusive(() => this.#change(submitted as Record<string, unknown>, caller, answered))
  }

  async #change(submitted: Record<string, unknown>, caller: Caller, answered?: Promise<void>): Promise<ChangeResult> {
    const { log } = this.#deps
    const { source } = caller
    const refused = (errors: Problem[]): ChangeResult => {
      log.warn({ source, errors }, 'change refused')
      return { result: 'failed', leftover: submitted, errors }
    }
    const plan = planOf(submitted, this.#known, source)
    // What a person types is checked; programs may send what only other versions know.
    const unknown = source === 'console' ? unknownNames(plan.leftover, this.#known) : []
    if (plan.problems.length + unknown.length > 0) return refused([...plan.problems, ...unknown])

    const before = new Map([...plan.values.keys()].map((name) => [name, this.values.stored(name)]))
    const effective = new Map([...plan.values.keys()].map((name) => [name, this.values.effective(name)]))
    const differing = new Map(
      [...before].filter(([name]) => !isDeepStrictEqual(plan.values.get(name), effective.get(name))),
    )
    const earlier = this.trial.before
    const tried = this.trial.concerns(differing, caller)
    const undo: Undo = { own: await this.values.asStored(plan.own), trial: tried && { earlier } }
    try {
      await this.values.write(plan.values, undefined, [...plan.own, ...(tried ? this.trial.writes(tried) : [])])
    } catch (error) {
      return refused([...plan.values.keys()].map((name) => ({ name, message: messageOf(error) })))
    }
    if (plan.values.size > 0) log.info({ source, parameters: [...plan.values.keys()] }, 'change stored')

    const later = new Map<string, unknown>()
    const now = new Map<string, unknown>()
    for (const [name, value] of plan.values) {
      const { endsLink, trial } = this.#deps.tables().parameters.get(name)?.options ?? {}
      ;(answered && (endsLink || trial) ? later : now).set(name, value)
    }
    if (tried) this.trial.begin(tried)
    const problems = await this.#apply(now, plan.actions, source, effective)
    if (problems.length > 0) {
      await this.#rollBack(before, now, effective, source, problems, undo)
      return refused(problems)
    }
    // A change that concerns nothing on trial does not give the trial more time.
    if (tried && later.size === 0) this.trial.applied()
    if (later.size > 0) {
      void answered
        ?.catch(() => {})
        .then(() => this.#transactions.runExclusive(() => this.#applyLater(later, before, effective, source, undo)))
    }
    if (now.size > 0) this.#settled()
    return { result: 'ok', leftover: plan.leftover, ...(plan.remarks.length > 0 && { errors: plan.remarks }) }
  }

  /** A change succeeded: earlier errors of changes are cleared. */
  #settled(): void {
    for (const code of changeErrors) this.#deps.errors.while(code, false)
  }

  /** Applies an already answered change; a refusal goes into `base.state.errors`, as its caller no longer waits. */
  async #applyLater(
    values: Map<string, unknown>,
    before: Map<string, unknown>,
    effective: Map<string, unknown>,
    source: Source,
    undo: Undo,
  ): Promise<void> {
    const problems = await this.#apply(values, new Map(), source, effective)
    if (problems.length === 0) {
      if (undo.trial) this.trial.applied()
      return this.#settled()
    }
    const mine = new Map([...before].filter(([name]) => values.has(name)))
    await this.#rollBack(mine, values, effective, source, problems, undo)
    const text = problems.map(({ name, message }) => `${name} ${message}`).join('; ')
    this.#deps.errors.while('change-undone', { reason: text })
  }

  /** Reverts the change on trial, at a person's request. False if there is none. */
  undoTrial(): Promise<boolean> {
    return this.#transactions.runExclusive(() => this.#setBack(this.trial.before))
  }

  /** No caller was seen since the change: the previous values return. */
  async #trialOver(): Promise<void> {
    await this.#transactions.runExclusive(async () => {
      const before = this.trial.expired
      // Confirmed, or joined by another change, a moment ago.
      if (before === undefined) return
      const { names, tried } = this.#inWords([...before.keys()])
      if (!(await this.#setBack(before))) return
      const { trial_s } = this.#deps
      this.#deps.errors.while('change-rolled-back', { names, tried, trial_s })
    })
  }

  /** Parameters by their titles, and the text that was tried, such as the name of a network; `''` without one. */
  #inWords(names: readonly string[]): { names: string; tried: string } {
    const records = names.flatMap((name) => this.#deps.tables().parameters.get(name) ?? [])
    // A password goes with the name of its network.
    const open = records.filter(({ options }) => !options.secret)
    const values = open.map((record) => this.values.of(record))
    return {
      names: (open.length > 0 ? open : records).map(({ name, options }) => options.title ?? name).join(', '),
      tried: values.filter((value) => typeof value === 'string' && value !== '').join(', '),
    }
  }

  async #setBack(before: ValuesBefore | undefined): Promise<boolean> {
    if (before === undefined) return false
    const effective = () => new Map([...before.keys()].map((name) => [name, this.values.effective(name)]))
    const tried = effective()
    try {
      await this.values.write(before, undefined, this.trial.writes(undefined))
    } catch (error) {
      this.trial.applied()
      this.#notUndone('the values before a change could not be stored', error)
      return false
    }
    this.trial.end()
    for (const { name, message } of await this.#apply(effective(), new Map(), 'plugin', tried, true)) {
      this.#notUndone(`${name} could not be set back`, message)
    }
    return true
  }

  #notUndone(what: string, cause: unknown): void {
    const reason = typeof cause === 'string' ? cause : messageOf(cause)
    this.#deps.errors.while('change-not-undone', { what, reason })
  }

  async #apply(
    values: ReadonlyMap<string, unknown>,
    actions: ReadonlyMap<string, unknown>,
    source: Source,
    before: ReadonlyMap<string, unknown>,
    back = false,
  ): Promise<Problem[]> {
    const transaction = { over: false }
    try {
      return await applying.run(transaction, () => this.#applyAll(values, actions, source, before, back))
    } finally {
      transaction.over = true
    }
  }

  /**
   * Every owner applies its values, then the actions run, then the onChange taps. Returns who refused: the first one
   * ends it, unless values are set `back`, where every owner is called.
   */
  async #applyAll(
    values: ReadonlyMap<string, unknown>,
    actions: ReadonlyMap<string, unknown>,
    source: Source,
    before: ReadonlyMap<string, unknown>,
    back: boolean,
  ): Promise<Problem[]> {
    const tables = this.#deps.tables()
    const problems: Problem[] = []
    const apply = async (owner: Owner, name: string, work: () => void | Promise<void>) => {
      // The successor of a stopping instance reads the stored value, or gets it when it goes live.
      if (owner.signal.aborted) return
      try {
        await attempt(owner, `change of ${name}`, work)
      } catch (error) {
        problems.push({ name, message: `refused by ${owner.name}: ${messageOf(error)}` })
      }
    }
    for (const [name, value] of values) {
      const record = tables.parameters.get(name)
      for (const listener of record?.listeners ?? []) {
        if (record) await apply(record.owner, name, () => listener(value, before.get(name)))
        if (problems.length > 0 && !back) return problems
      }
    }
    for (const { owner, names, fn } of tables.changes) {
      const changed = new Set(names.filter((name) => values.has(name)))
      if (changed.size === 0) continue
      const [first] = changed
      await apply(owner, first as string, () => fn(changed, source))
      if (problems.length > 0 && !back) return problems
    }
    for (const [name, value] of actions) {
      const record = tables.triggers.get(name)
      if (record && value === true) await apply(record.owner, name, () => this.#deps.start(record, source))
      if (problems.length > 0) return problems
    }
    const failures = await this.#deps.onChange.call({ source, values: new Map([...values, ...actions]) })
    this.#deps.changed()
    return [...problems, ...failures.map(({ plugin, error }) => ({ name: plugin, message: messageOf(error) }))]
  }

  async #rollBack(
    stored: ReadonlyMap<string, unknown>,
    applied: ReadonlyMap<string, unknown>,
    effective: ReadonlyMap<string, unknown>,
    source: Source,
    refusals: readonly Problem[],
    { own, trial }: Undo,
  ): Promise<void> {
    try {
      // Values on trial before this change stay on trial.
      await this.values.write(stored, undefined, [...own, ...(trial ? this.trial.writes(trial.earlier) : [])])
      if (trial) this.trial.end(trial.earlier)
    } catch (error) {
      // The stored value stays on trial: it is retried at the end of the trial.
      if (trial) this.trial.applied()
      this.#notUndone('a refused change could not be taken back', error)
      return
    }
    const back = new Map([...applied.keys()].reverse().map((name) => [name, effective.get(name)]))
    const problems = await this.#apply(back, new Map(), source, applied, true)
    for (const { name, message } of problems) {
      // An owner that refused the new value kept the old one: its second refusal adds nothing.
      if (refusals.some((refusal) => refusal.name === name)) continue
      this.#notUndone(`${name} could not be set back`, message)
    }
  }
}
