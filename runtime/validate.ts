/** Values against schemas: what is wrong with one, and how text becomes one. Below everything that uses it. */
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

interface Problem {
  keyword: string
  instancePath: string
  message: string
  params: { allowedValue?: unknown; requiredProperties?: readonly string[] }
}

interface Validator {
  Check(value: unknown): boolean
  Errors(value: unknown): Problem[]
  Convert(value: unknown): unknown
}

const compiled = new WeakMap<object, Validator>()

/** The compiled form of a schema, made at first use: compiling costs milliseconds on a small device. */
export function validatorOf(schema: TSchema): Validator {
  let validator = compiled.get(schema)
  if (!validator) {
    validator = Compile(schema) as unknown as Validator
    compiled.set(schema, validator)
  }
  return validator
}

/** What is wrong with `value`: field (JSON pointer) and reason, or undefined. */
export function problemOf(schema: TSchema, value: unknown): { field: string; message: string } | undefined {
  const validator = validatorOf(schema)
  if (validator.Check(value)) return undefined
  const errors = validator.Errors(value)
  // The deepest field is the one that its sender got wrong: the levels above it only repeat that.
  const depth = ({ instancePath }: Problem) => instancePath.split('/').length
  const field = errors.reduce((best, error) => (depth(error) > depth(best) ? error : best), errors[0])?.instancePath
  if (field === undefined) return { field: '', message: 'is not allowed' }
  const here = errors.filter(({ instancePath }) => instancePath === field)
  // Of several errors of one field the last one sums up.
  const last = here.at(-1) as Problem
  if (last.keyword === 'anyOf') return { field, message: `must be ${alternatives(here)}` }
  if (last.keyword === 'required') {
    const [missing = ''] = last.params.requiredProperties ?? []
    return { field: `${field}/${pointerPart(missing)}`, message: 'is missing' }
  }
  // How the validator says that `additionalProperties` is false.
  const message = last.message === 'schema is false' ? 'is no known field' : last.message
  return { field, message }
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
}

/** A 0/1 setting also takes true/false, a bool also 0/1; everything else stays what it is. */
export function relaxSwitch(schema: TSchema, value: unknown): unknown {
  const { type, minimum, maximum } = schema as Shape
  if (type === 'integer' && minimum === 0 && maximum === 1 && typeof value === 'boolean') return value ? 1 : 0
  if (type === 'boolean' && (value === 0 || value === 1)) return value === 1
  return value
}

/** No JSON that anyone sends on purpose is deeper; what recurses over one thousands of levels deep overflows its stack. */
export const deepest = 64

/** Whether JSON goes deeper than `deepest` levels. */
export function isTooDeep(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1))
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
    return values.find((value, index) => value !== undefined && validatorOf(anyOf[index]).Check(value))
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
