import type { TObject, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { RtkError, type RtkErrorCode } from '../errors.js'
import { parseBySchema, pointerNames, problemOf, quote } from '../validate.js'

/** One `--set` of the command line, below a plugin or a section: dotted path and text. */
export interface SetOption {
  readonly path: string
  readonly text: string
}

function childSchema(schema: TSchema | undefined, name: string): TSchema | undefined {
  return (schema as TObject | undefined)?.properties?.[name]
}

/**
 * Puts the variant's options, the defaults and the command line's `--set` together and checks them.
 * @param place where the options stand in the variant
 * @throws `code`, naming plugin and field.
 */
export function resolveOptions(
  owner: string,
  schema: TSchema | undefined,
  given: Readonly<Record<string, unknown>>,
  sets: readonly SetOption[],
  place: readonly string[],
  code: RtkErrorCode = 'RTK_ERR_PLUGIN_OPTIONS',
): Record<string, unknown> {
  const options = structuredClone(given) as Record<string, unknown>
  for (const { path, text } of sets) {
    const names = path.split('.')
    let target = options
    let at: TSchema | undefined = schema
    for (const [index, name] of names.entries()) {
      at = childSchema(at, name)
      if (!at) throw new RtkError(code, `${owner} has no option ${path}`)
      if (index < names.length - 1) {
        if (typeof target[name] !== 'object' || target[name] === null) target[name] = {}
        target = target[name] as Record<string, unknown>
      }
    }
    const value = parseBySchema(at as TSchema, text)
    if (value === undefined) throw new RtkError(code, `${owner}.${path}: ${quote(text)} is not of the right type`)
    target[names.at(-1) as string] = value
  }
  if (!schema) {
    const unknown = Object.keys(options)[0]
    if (unknown !== undefined) {
      throw new RtkError(code, `${owner} has no option ${unknown}; it takes none`, { place: [...place, unknown] })
    }
    return options
  }
  const known = (schema as TObject).properties
  const unknown = known && Object.keys(options).find((name) => !(name in known))
  if (unknown !== undefined) {
    const takes = Object.keys(known).join(', ')
    throw new RtkError(code, `${owner} has no option ${unknown}; it takes ${takes}`, { place: [...place, unknown] })
  }
  const complete = Value.Default(schema, options) as Record<string, unknown>
  const problem = problemOf(schema, complete)
  if (problem) {
    const names = pointerNames(problem.field)
    const field = names.join('.')
    const isSet = sets.some(({ path }) => field === path || field.startsWith(`${path}.`))
    const message = `${[owner, ...names].join('.')}: ${problem.message}`
    throw new RtkError(code, message, isSet ? {} : { place: [...place, ...names] })
  }
  return complete
}
