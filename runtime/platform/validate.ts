/**
 * Validates values against schemas, describes mistakes and parses text. Everything that uses it is in a higher layer.
 */

import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { hostOf, isHostSchema } from './address/host-name.js'
import { isSecretName } from './log/redact.js'
import { didYouMean } from './nearest.js'

interface Problem {
  keyword: string
  /** Where the schema that failed is, in the schema as a whole: `#/properties/name`. */
  schemaPath: string
  instancePath: string
  message: string
  params: { allowedValue?: unknown; requiredProperties?: readonly string[] }
}

/** Compiling a schema takes as long as hundreds of checks, and options and variants are checked once. */
const compiledFrom = 8

interface Checker {
  uses: number
  check(value: unknown): boolean
}

const checkers = new WeakMap<object, Checker>()

function isValid(schema: TSchema, value: unknown): boolean {
  let checker = checkers.get(schema)
  if (!checker) {
    checker = { uses: 0, check: (given) => Value.Check(schema, given) }
    checkers.set(schema, checker)
  }
  if (++checker.uses === compiledFrom) {
    const compiled = Compile(schema)
    checker.check = (given) => compiled.Check(given)
  }
  return checker.check(value)
}

/** Something that is wrong with a value: field (JSON pointer) and reason. */
export interface FieldProblem {
  readonly field: string
  readonly message: string
}

/** The mistake in the deepest wrong field of `value`, or undefined. The levels above only repeat it. */
export function problemOf(schema: TSchema, value: unknown): FieldProblem | undefined {
  const depth = ({ field }: FieldProblem) => field.split('/').length
  return problemsOf(schema, value).reduce<FieldProblem | undefined>(
    (best, problem) => (best === undefined || depth(problem) > depth(best) ? problem : best),
    undefined,
  )
}

/** Everything that is wrong with `value`: one problem for each field. */
export function problemsOf(schema: TSchema, value: unknown): FieldProblem[] {
  if (isValid(schema, value)) return []
  const errors = (Value.Errors(schema, value) as unknown as Problem[])
    .flatMap(missingByName)
    .map((problem) => inWords(problem, schema))
  // `additionalProperties` is reported once more for the object as a whole.
  const own = errors.filter(({ keyword }) => keyword !== 'additionalProperties')
  const fields = [...new Set((own.length > 0 ? own : errors).map(({ instancePath }) => instancePath))]
  // The union's error replaces those of its members' fields.
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => `${instancePath}/`)
  const problems = fields
    .filter((field) => !unions.some((union) => field.startsWith(union)))
    .map((field) => ({ field, message: reasonOf(own.filter(({ instancePath }) => instancePath === field)) }))
  return problems.length > 0 ? problems : [{ field: '', message: 'is not allowed' }]
}

/** A field that is missing is reported of the object around it. */
function missingByName(problem: Problem): Problem[] {
  if (problem.keyword !== 'required') return [problem]
  return (problem.params.requiredProperties ?? []).map((name) => ({
    ...problem,
    keyword: 'missing',
    instancePath: `${problem.instancePath}/${pointerPart(name)}`,
    message: 'is missing',
  }))
}

/** Describes a pattern by the description of its schema: most people do not read regular expressions. */
function inWords(problem: Problem, schema: TSchema): Problem {
  if (problem.keyword !== 'pattern') return problem
  const names = pointerNames(problem.schemaPath)
  const failed = names.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], schema)
  const { description } = (failed ?? {}) as { description?: unknown }
  if (typeof description !== 'string') return problem
  // It continues a sentence; abbreviations stay unchanged.
  return { ...problem, message: `must be ${description.replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase())}` }
}

/** @param here what is wrong with one field */
function reasonOf(here: readonly Problem[]): string {
  const last = here.at(-1)
  if (!last) return 'is not allowed'
  if (last.keyword === 'anyOf') return `must be ${alternatives(here)}`
  // The validator's message for `additionalProperties: false`.
  return last.message === 'schema is false' ? unknownField : last.message
}

const unknownField = 'unknown field'

/** `postgres://fleet:secret@host/…`, also if it is misspelt. */
const login = /^([a-z][a-z\d+.-]*:\/\/)?[^@]*:.*@/i
const withoutLogin = (value: unknown): unknown => (typeof value === 'string' ? value.replace(login, '$1…@') : value)

/**
 * A problem of options or of a variant, for a person: with the value that is wrong unless it may be secret (the login of an address
 * always is), and with the name that was probably meant.
 * @param root the whole value
 */
export function explain({ field, message }: FieldProblem, schema: TSchema, root: unknown): string {
  const names = pointerNames(field)
  const name = names.at(-1) ?? ''
  if (message === unknownField) {
    const parent = names.slice(0, -1).reduce<unknown>((at, step) => childSchema(at as TSchema, step), schema)
    return `${message}${didYouMean(name, Object.keys((parent as TObject | undefined)?.properties ?? {}))}`
  }
  const value = names.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], root)
  const isShown = names.length > 0 && value !== undefined && typeof value !== 'object' && !isSecretName(name)
  return isShown ? `${message}, not ${quote(withoutLogin(value))}` : message
}

/** The schema of a property, if it has one. */
export function childSchema(schema: TSchema | undefined, name: string): TSchema | undefined {
  return (schema as TObject | undefined)?.properties?.[name]
}

/** A union reports what each of its schemas wants: `"manual" or "survey"`, `<= 90 or null`. */
function alternatives(problems: readonly Problem[]): string {
  const wanted = problems
    .filter(({ keyword }) => keyword !== 'anyOf')
    .map(({ keyword, params, message }) =>
      keyword === 'const' ? JSON.stringify(params.allowedValue) : message.replace(/^must be /, ''),
    )
  return [...new Set(wanted)].join(' or ')
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The names that a JSON pointer goes through. */
export function pointerNames(pointer: string): string[] {
  const [, ...names] = pointer.split('/')
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

interface Shape {
  type?: string
  minimum?: number
  maximum?: number
  anyOf?: TSchema[]
  items?: TSchema
  properties?: Record<string, TSchema>
}

/**
 * A value as a person may write it: hosts are cleaned wherever they are in it, a 0/1 setting also takes true/false, a bool also 0/1.
 * Everything else stays what it is.
 */
export const relaxed = (schema: TSchema, value: unknown): unknown => cleaned(schema, value, relaxedSwitch)

/** A value with its hosts cleaned, and everything else as it is: bodies of requests come from programs, too. */
export const withCleanHosts = (schema: TSchema, value: unknown): unknown =>
  cleaned(schema, value, (_schema, one) => one)

function cleaned(schema: TSchema, value: unknown, plain: (schema: TSchema, value: unknown) => unknown): unknown {
  const { items, properties, anyOf = [] } = schema as Shape
  if (typeof value === 'string' && isHostSchema(schema)) return hostOf(value)
  if (Array.isArray(value) && items) return value.map((one) => cleaned(items, one, plain))
  if (typeof value === 'object' && value !== null && properties) {
    const entries = Object.entries(value)
    return Object.fromEntries(
      entries.map(([name, one]) => {
        const field = Object.hasOwn(properties, name) ? properties[name] : undefined
        return [name, field && typeof one !== 'boolean' && typeof one !== 'number' ? cleaned(field, one, plain) : one]
      }),
    )
  }
  const isPlain = typeof value !== 'boolean' && typeof value !== 'number'
  return isPlain ? anyOf.reduce((now, one) => cleaned(one, now, plain), value) : plain(schema, value)
}

function relaxedSwitch(schema: TSchema, value: unknown): unknown {
  const { type, minimum, maximum } = schema as Shape
  if (type === 'integer' && minimum === 0 && maximum === 1 && typeof value === 'boolean') return value ? 1 : 0
  if (type === 'boolean' && (value === 0 || value === 1)) return value === 1
  return value
}

/** JSON nested deeper is never intended; recursing over thousands of levels overflows the stack. */
export const deepest = 64

/** Whether JSON goes deeper than `deepest` levels. In loops: a body of thousands of keys takes half as long. */
export function isTooDeep(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const inner of value) if (isTooDeep(inner, levels - 1)) return true
    return false
  }
  for (const name in value) if (isTooDeep((value as Record<string, unknown>)[name], levels - 1)) return true
  return false
}

/** A value as an error message quotes it. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

/**
 * Reads a value from a command line by its own schema, so that `12345678` stays a text where a text is wanted.
 * Returns undefined when the text cannot be of that type.
 */
export function parseBySchema(schema: TSchema, text: string): unknown {
  const { type, anyOf } = schema as Shape
  if (anyOf) {
    const values = anyOf.map((option) => parseBySchema(option, text))
    return values.find((value, index) => value !== undefined && isValid(anyOf[index], value))
  }
  switch (type) {
    case 'string':
      return text
    case 'integer':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined
    case 'boolean':
      return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined
    default:
      try {
        return JSON.parse(text)
      } catch {
        const literal = (schema as { const?: unknown }).const
        return literal === text ? text : undefined
      }
  }
}
