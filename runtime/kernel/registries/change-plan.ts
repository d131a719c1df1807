import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { messageOf } from '../../errors.js'
import { type Owner, runAs } from '../../platform/guard/owner.js'
import { didYouMean } from '../../platform/nearest.js'
import { pluginNamespace, type StoreOps } from '../../platform/store/store.js'
import { type FieldProblem, pointerNames, problemOf, quote, relaxed } from '../../platform/validate.js'
import type { RuleCheck, Source } from '../../plugin.js'
import type { RuleRecord } from '../instance/registrations.js'
import type { Tables } from '../tables.js'

const mostExplained = 16
/** The schema of a parameter that starts an action. */
const triggerSchema = Type.Boolean()
/** So often the rules are asked again after one of them has set something. */
const mostRounds = 8

export interface Problem {
  name: string
  message: string
}

/** A change that was validated and sorted, before anything was touched. */
export interface Plan {
  /** New values of parameters, in the order submitted. */
  readonly values: Map<string, unknown>
  readonly actions: Map<string, unknown>
  readonly leftover: Record<string, unknown>
  readonly problems: Problem[]
  /** Plugins' own values that are stored in the same batch. */
  readonly own: StoreOps[]
  /** Remarks for the caller on a change that is taken. */
  readonly remarks: Problem[]
}

/** State that a change is checked against. */
export interface Known {
  readonly tables: Tables
  /** The current value of a parameter. */
  effective(name: string): unknown
}

/** Host and port of a URL, else the value itself. */
const peerOf = (value: unknown): string => {
  const text = String(value ?? '')
  return text.includes('://') && URL.canParse(text) ? new URL(text).origin : text
}

/** The problem, with the field of the value it concerns. */
const inside = ({ field, message }: FieldProblem) =>
  field === '' ? message : `${pointerNames(field).join('.')} ${message}`

/** Sorts and validates without touching anything. */
export function planOf(submitted: Readonly<Record<string, unknown>>, known: Known, source: Source = 'plugin'): Plan {
  const { parameters, triggers } = known.tables
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
  const remarks = [...unknownNames(leftover, known), ...forgetSecrets(values, known)]
  return { values, actions: wanted, leftover, remarks, ...obey(values, known, source) }
}

/** Names that belong to no plugin. Of thousands, the first ones are explained. */
export function unknownNames(leftover: Readonly<Record<string, unknown>>, { tables }: Known): Problem[] {
  const all = [...tables.parameters.keys(), ...tables.triggers.keys()]
  const names = Object.keys(leftover).slice(0, mostExplained)
  return names.map((name) => ({ name, message: `is an unknown parameter${didYouMean(name, all)}` }))
}

/** Secrets that were entered for a peer which these values replace. */
function forgetSecrets(values: Map<string, unknown>, { tables, effective }: Known): Problem[] {
  const forgotten: Problem[] = []
  for (const { name, options } of tables.parameters.values()) {
    const { boundTo = [], default: none } = options
    if (values.has(name) || isDeepStrictEqual(effective(name), none)) continue
    const isOther = (key: string) => {
      const before = peerOf(effective(key))
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
function obey(values: Map<string, unknown>, known: Known, source: Source): Pick<Plan, 'problems' | 'own'> {
  const changed: ReadonlySet<string> = new Set(values.keys())
  const get = (name: string) => (values.has(name) ? values.get(name) : known.effective(name))
  for (let round = 0; round < mostRounds; round++) {
    const problems: Problem[] = []
    const own: StoreOps[] = []
    let isSettled = true
    for (const rule of known.tables.rules) {
      const concerned = rule.names.find((name) => values.has(name))
      if (concerned === undefined) continue
      const found = verdictOf(rule, get, changed, source)
      if (typeof found === 'string') {
        problems.push({ name: concerned, message: found })
        continue
      }
      for (const [name, value] of Object.entries(found?.set ?? {})) {
        const problem = unsettable(rule.owner, name, value, known)
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
function unsettable(owner: Owner, name: string, value: unknown, { tables }: Known): string | undefined {
  const record = tables.parameters.get(name)
  if (record?.owner !== owner) return `refused by ${owner.name}: its rule sets ${name}, which is not its parameter`
  const problem = problemOf(record.schema, value)
  return problem && `refused by ${owner.name}: its rule sets ${name}, which ${inside(problem)}`
}

/** A rule that throws refuses: its verdict is unknown. */
function verdictOf({ owner, check }: RuleRecord, ...given: Parameters<RuleCheck>): ReturnType<RuleCheck> {
  try {
    return runAs(owner, check, ...given) || undefined
  } catch (error) {
    return `refused by ${owner.name}: its rule failed: ${messageOf(error)}`
  }
}
