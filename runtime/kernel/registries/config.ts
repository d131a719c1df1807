import { AsyncLocalStorage } from 'node:async_hooks'
import { isDeepStrictEqual } from 'node:util'
import { Mutex } from 'async-mutex'
import type { Logger } from 'pino'
import { Type } from 'typebox'
import type { ChangeResult, ParameterEntry, Trouble } from '../../../schemas/services.js'
import { messageOf, RtkError } from '../../errors.js'
import { attempt } from '../../platform/guard/guard.js'
import { type Owner, runAs } from '../../platform/guard/owner.js'
import { didYouMean } from '../../platform/nearest.js'
import type { Clock } from '../../platform/ports/clock.js'
import { type BatchOptions, pluginNamespace, type Store, type StoreOps } from '../../platform/store/store.js'
import {
  deepest,
  type FieldProblem,
  isTooDeep,
  pointerNames,
  problemOf,
  quote,
  relaxed,
} from '../../platform/validate.js'
import type { Caller, ChangeSet, RuleCheck, Source } from '../../plugin.js'
import type { SeriesHookPoint } from '../hook-point.js'
import type { Instance } from '../instance/instance.js'
import type { ActionRecord, ParameterRecord, RuleRecord } from '../instance/registrations.js'
import type { Tables } from '../tables.js'
import { ChangeTrial, type ValuesBefore } from './change-trial.js'

/** The store's namespace of change parameters. */
export const configNamespace = 'config'

const mostExplained = 16
/** Of a parameter that starts an action. */
const triggerSchema = Type.Boolean()
/** So often the rules are asked again after one of them has set something. */
const mostRounds = 8

interface Problem {
  name: string
  message: string
}

/** Set while a change is applied, including work that its owners' code begins meanwhile. */
const applying = new AsyncLocalStorage<{ over: boolean }>()

/** A change that was validated and sorted, before anything was touched. */
interface Plan {
  /** New values of parameters, in the order submitted. */
  readonly values: Map<string, unknown>
  readonly actions: Map<string, unknown>
  readonly leftover: Record<string, unknown>
  readonly problems: Problem[]
  /** Plugins' own values that are stored in the same batch. */
  readonly own: StoreOps[]
  /** What the caller should know of a change that is taken. */
  readonly remarks: Problem[]
}

/** What returns when a change is undone, besides its values. */
interface Undo {
  /** Plugins' own values before it. */
  readonly own: readonly StoreOps[]
  /** Undefined: the change is not on trial. */
  readonly trial: { readonly earlier: ValuesBefore | undefined } | undefined
}

export const changeTroubles = [
  'change-undone',
  'change-not-undone',
  'change-not-applied',
  'change-rolled-back',
] as const
export type ChangeTrouble = (typeof changeTroubles)[number]

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
  /** Trouble that outlives the call, for `base.state.errors`, until a later change went well. */
  trouble(code: ChangeTrouble, trouble: string | Trouble): void
  settled(code: ChangeTrouble): void
}

/** Host and port of a URL, else the value itself. */
const peerOf = (value: unknown): string => {
  const text = String(value ?? '')
  return text.includes('://') && URL.canParse(text) ? new URL(text).origin : text
}

/** The problem, with the field of the value it concerns. */
const inside = ({ field, message }: FieldProblem) =>
  field === '' ? message : `${pointerNames(field).join('.')} ${message}`

/**
 * The change parameters and their values. One change is one transaction: validate all, store durably in one batch, apply
 * by owner, roll back what was stored and applied when an owner refuses. Values belong to the store, not to plugins, so
 * no reload loses one.
 */
export class ConfigRegistry {
  readonly #deps: ConfigDeps
  readonly #stored = new Map<string, unknown>()
  /** Initial values of the variant: between what is stored and the default. */
  readonly #initial = new Map<string, unknown>()
  readonly #transactions = new Mutex()
  readonly #rejected = new WeakSet<ParameterRecord>()
  /** Counts changes. */
  #newest = 0
  /** Parameter → number of the change that touched it last. */
  readonly #changedAt = new Map<string, number>()
  readonly trial: ChangeTrial

  constructor(deps: ConfigDeps) {
    this.#deps = deps
    this.trial = new ChangeTrial({
      ...deps,
      window_s: deps.trial_s,
      parameter: (name) => deps.tables().parameters.get(name),
      over: () => void this.#trialOver(),
      betweenChanges: (work) => this.#transactions.runExclusive(work),
    })
  }

  async load(): Promise<void> {
    for (const [name, value] of Object.entries(await this.#deps.store.entries(configNamespace))) {
      this.#stored.set(name, value)
    }
    await this.trial.load()
  }

  /**
   * The current value. If the schema no longer accepts a stored value, the value falls back to the default, with one
   * warning.
   */
  value(record: ParameterRecord): unknown {
    const { name, schema, options } = record
    for (const source of [this.#stored, this.#initial]) {
      if (!source.has(name)) continue
      const value = source.get(name)
      if (!problemOf(schema, value)) return value
      if (!this.#rejected.has(record)) {
        this.#rejected.add(record)
        const shown = options.secret ? '' : ` ${quote(value)}`
        this.#deps.log.warn({ parameter: name }, `stored value${shown} of ${name} is no longer allowed: not used`)
      }
    }
    return options.default
  }

  /** Every parameter of a plugin that runs, by name. */
  list(): ParameterEntry[] {
    return [...this.#deps.tables().parameters.values()]
      .filter(({ owner }) => owner.live)
      .map((record) => {
        const { name, owner, schema, options } = record
        const { default: preset, title = name, secret = false, endsLink = false, trial } = options
        const value = this.value(record)
        const shown = secret ? { set: !isDeepStrictEqual(value, preset) } : { default: preset, value }
        const rest = { secret, endsLink, onTrial: trial !== undefined }
        return { name, plugin: owner.name, title, schema: { ...schema }, ...shown, ...rest }
      })
      .sort((a, b) => a.name.localeCompare(b.name))
  }

  /** Sets the variant's initial values. Returns what is wrong with them. */
  setInitial(values: Readonly<Record<string, unknown>>): Problem[] {
    const plan = this.#plan(values)
    // Those of a plugin that is not there yet are kept: they are checked when they are asked for.
    for (const [name, value] of [...plan.values, ...Object.entries(plan.leftover)]) this.#initial.set(name, value)
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
    const plan = this.#plan(values)
    return [...plan.problems, ...this.#unknown(plan.leftover)]
  }

  /** Stores them. */
  async preset(values: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#store(this.#plan(values).values, { atStart: true })
  }

  /** The number of the newest change: an instance set up now has seen all changes up to it. */
  get newest(): number {
    return this.#newest
  }

  /**
   * Instances went live. Changes made after they were set up went to the previous instances, or to none: they are
   * applied to the new ones now. The change was answered already, so a refusal is reported.
   */
  published(instances: readonly Instance[]): void {
    const seen = new Map<Owner, number>(instances.map((instance) => [instance, instance.changesSeen]))
    const missed = [...this.#deps.tables().parameters.values()].filter(
      ({ owner, name }) => (this.#changedAt.get(name) ?? 0) > (seen.get(owner) ?? Number.POSITIVE_INFINITY),
    )
    if (missed.length === 0) return
    void this.#transactions.runExclusive(async () => {
      const values = new Map(missed.map((record) => [record.name, this.value(record)]))
      const problems = await this.#apply(values, new Map(), 'plugin', values)
      const text = problems.map(({ name, message }) => `${name} ${message}`).join('; ')
      if (text)
        this.#deps.trouble('change-not-applied', {
          text: `a change during a reload is stored, but not live: ${text}`,
          values: { reason: text },
        })
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
    const plan = this.#plan(submitted, source)
    // What a person types is checked; programs may send what only other versions know.
    const unknown = source === 'console' ? this.#unknown(plan.leftover) : []
    if (plan.problems.length + unknown.length > 0) return refused([...plan.problems, ...unknown])

    const before = new Map([...plan.values.keys()].map((name) => [name, this.#stored.get(name)]))
    const effective = new Map([...plan.values.keys()].map((name) => [name, this.#effective(name)]))
    const differing = new Map(
      [...before].filter(([name]) => !isDeepStrictEqual(plan.values.get(name), effective.get(name))),
    )
    const earlier = this.trial.before
    const tried = this.trial.concerns(differing, caller)
    const undo: Undo = { own: await this.#asStored(plan.own), trial: tried && { earlier } }
    try {
      await this.#store(plan.values, undefined, [...plan.own, ...(tried ? this.trial.writes(tried) : [])])
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
    for (const code of changeTroubles) this.#deps.settled(code)
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
    this.#deps.trouble('change-undone', { text: `a change was undone: ${text}`, values: { reason: text } })
  }

  /** Reverts the change on trial, at a person's request. False if there is none. */
  undoTrial(): Promise<boolean> {
    return this.#transactions.runExclusive(() => this.#setBack(this.trial.before))
  }

  /** No caller was seen since the change: the previous values return. */
  async #trialOver(): Promise<void> {
    await this.#transactions.runExclusive(async () => {
      const { before, isOver } = this.trial
      // Confirmed, or joined by another change, a moment ago.
      if (before === undefined || !isOver) return
      const { names, tried } = this.#inWords([...before.keys()])
      if (!(await this.#setBack(before))) return
      const { trial_s } = this.#deps
      const what = tried === '' ? names : `${names} (${tried})`
      const text = `${what} did not work: nobody reached the station through it within ${trial_s} s, the values before are back`
      const advice = 'try it again, and choose Keep on the page in time (command confirm-change)'
      this.#deps.trouble('change-rolled-back', { text, advice, values: { names, tried, trial_s } })
    })
  }

  /** Parameters by their titles, and the text that was tried, such as the name of a network; `''` without one. */
  #inWords(names: readonly string[]): { names: string; tried: string } {
    const records = names.flatMap((name) => this.#deps.tables().parameters.get(name) ?? [])
    // A password goes with the name of its network.
    const open = records.filter(({ options }) => !options.secret)
    const values = open.map((record) => this.value(record))
    return {
      names: (open.length > 0 ? open : records).map(({ name, options }) => options.title ?? name).join(', '),
      tried: values.filter((value) => typeof value === 'string' && value !== '').join(', '),
    }
  }

  async #setBack(before: ValuesBefore | undefined): Promise<boolean> {
    if (before === undefined) return false
    const effective = () => new Map([...before.keys()].map((name) => [name, this.#effective(name)]))
    const tried = effective()
    try {
      await this.#store(before, undefined, this.trial.writes(undefined))
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
    this.#deps.trouble('change-not-undone', { text: `${what}: ${reason}`, values: { what, reason } })
  }

  /** Sorts and validates without touching anything. */
  #plan(submitted: Readonly<Record<string, unknown>>, source: Source = 'plugin'): Plan {
    const { parameters, triggers, rules } = this.#deps.tables()
    const values = new Map<string, unknown>()
    const wanted = new Map<string, unknown>()
    const problems: Problem[] = []
    const isKnown = (name: string) => Object.hasOwn(submitted, name)
    // A copy of thousands of foreign names costs milliseconds.
    const concerns = [...parameters.keys(), ...triggers.keys()].some(isKnown)
    const leftover: Record<string, unknown> = concerns ? { ...submitted } : submitted
    for (const name of concerns ? Object.keys(submitted) : []) {
      const record = parameters.get(name)
      if (!record && !triggers.has(name)) continue
      const raw = submitted[name]
      delete leftover[name]
      const { schema = triggerSchema, options } = record ?? {}
      const value = relaxed(schema, raw)
      const problem =
        typeof value === 'number' && !Number.isFinite(value)
          ? { field: '', message: 'must be finite' }
          : problemOf(schema, value)
      if (problem) problems.push({ name, message: `${inside(problem)}${options?.secret ? '' : `, not ${quote(raw)}`}` })
      else (record ? values : wanted).set(name, value)
    }
    if (problems.length > 0) return { values, actions: wanted, leftover, problems, own: [], remarks: [] }
    const remarks = [...this.#unknown(leftover), ...this.#forgetSecrets(values)]
    return { values, actions: wanted, leftover, remarks, ...this.#obey(rules, values, source) }
  }

  /** Names that belong to no plugin. Of thousands, the first ones are explained. */
  #unknown(leftover: Readonly<Record<string, unknown>>): Problem[] {
    const { parameters, triggers } = this.#deps.tables()
    const known = [...parameters.keys(), ...triggers.keys()]
    const names = Object.keys(leftover).slice(0, mostExplained)
    return names.map((name) => ({ name, message: `is an unknown parameter${didYouMean(name, known)}` }))
  }

  /** Secrets that were entered for a peer which these values replace. */
  #forgetSecrets(values: Map<string, unknown>): Problem[] {
    const forgotten: Problem[] = []
    for (const { name, options } of this.#deps.tables().parameters.values()) {
      const { boundTo = [], default: none } = options
      if (values.has(name) || isDeepStrictEqual(this.#effective(name), none)) continue
      const isOther = (key: string) => {
        const before = peerOf(this.#effective(key))
        return values.has(key) && before !== '' && before !== peerOf(values.get(key))
      }
      const replaced = boundTo.find(isOther)
      if (replaced === undefined) continue
      values.set(name, none)
      forgotten.push({ name, message: `was removed: it was entered for another ${replaced}. Enter it again` })
    }
    return forgotten
  }

  /** Asks the rules, again while one of them sets something: each of them sees what is stored in the end. */
  #obey(rules: readonly RuleRecord[], values: Map<string, unknown>, source: Source): Pick<Plan, 'problems' | 'own'> {
    const changed: ReadonlySet<string> = new Set(values.keys())
    const get = (name: string) => (values.has(name) ? values.get(name) : this.#effective(name))
    for (let round = 0; round < mostRounds; round++) {
      const problems: Problem[] = []
      const own: StoreOps[] = []
      let isSettled = true
      for (const rule of rules) {
        const concerned = rule.names.find((name) => values.has(name))
        if (concerned === undefined) continue
        const found = this.#check(rule, get, changed, source)
        if (typeof found === 'string') {
          problems.push({ name: concerned, message: found })
          continue
        }
        for (const [name, value] of Object.entries(found?.set ?? {})) {
          const problem = this.#unsettable(rule.owner, name, value)
          if (problem) problems.push({ name: concerned, message: problem })
          else if (!isDeepStrictEqual(get(name), value)) {
            values.set(name, value)
            isSettled = false
          }
        }
        const namespace = pluginNamespace(rule.owner.name)
        for (const [key, value] of Object.entries(found?.store ?? {})) own.push({ namespace, key, value })
      }
      if (isSettled || problems.length > 0) return { problems, own }
    }
    const [name = ''] = changed
    return { problems: [{ name, message: 'the rules of the plugins contradict each other' }], own: [] }
  }

  /** Why a rule may not set this value; undefined: it may. */
  #unsettable(owner: Owner, name: string, value: unknown): string | undefined {
    const record = this.#deps.tables().parameters.get(name)
    if (record?.owner !== owner) return `refused by ${owner.name}: its rule sets ${name}, which is not its parameter`
    const problem = problemOf(record.schema, value)
    return problem && `refused by ${owner.name}: its rule sets ${name}, which ${inside(problem)}`
  }

  /** A rule that throws refuses: its verdict is unknown. */
  #check({ owner, check }: RuleRecord, ...given: Parameters<RuleCheck>): ReturnType<RuleCheck> {
    try {
      return runAs(owner, check, ...given) || undefined
    } catch (error) {
      return `refused by ${owner.name}: its rule failed: ${messageOf(error)}`
    }
  }

  #effective(name: string): unknown {
    const record = this.#deps.tables().parameters.get(name)
    return record ? this.value(record) : undefined
  }

  #asStored(ops: readonly StoreOps[]): Promise<StoreOps[]> {
    const { store } = this.#deps
    return Promise.all(
      ops.map(async ({ namespace, key }) => ({ namespace, key, value: await store.get(namespace, key) })),
    )
  }

  /** First durable, then live. `undefined` forgets a value. */
  async #store(
    values: ReadonlyMap<string, unknown>,
    options?: BatchOptions,
    sameBatch: readonly StoreOps[] = [],
  ): Promise<void> {
    if (values.size === 0) return
    const ops = [...values].map(([key, value]) => ({ namespace: configNamespace, key, value }))
    await this.#deps.store.batch([...ops, ...sameBatch], options)
    this.#newest += 1
    for (const [name, value] of values) {
      this.#changedAt.set(name, this.#newest)
      if (value === undefined) this.#stored.delete(name)
      else this.#stored.set(name, value)
    }
    this.#deps.changed()
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
      await this.#store(stored, undefined, [...own, ...(trial ? this.trial.writes(trial.earlier) : [])])
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
