import type { TObject, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { RtkError, type RtkErrorCode, together } from '../errors.js'
import { didYouMean } from '../platform/nearest.js'
import { childSchema, explain, parseBySchema, pointerNames, problemsOf, quote } from '../platform/validate.js'

/** One `--set` of the command line, below a plugin or a section: dotted path and text. */
export interface SetOption {
  readonly path: string
  readonly text: string
}

/**
 * Puts the variant's options, the defaults and the command line's `--set` together and checks them.
 * @param place path of the options in the variant
 * @throws `code` for everything that is wrong, naming plugin and fields.
 */
export function resolveOptions(
  owner: string,
  schema: TSchema | undefined,
  given: Readonly<Record<string, unknown>>,
  sets: readonly SetOption[],
  place: readonly string[],
  code: RtkErrorCode = 'RTK_ERR_PLUGIN_OPTIONS',
): Record<string, unknown> {
  const mistakes: RtkError[] = []
  const options = structuredClone(given) as Record<string, unknown>
  for (const { path, text } of sets) {
    const mistake = setOption(owner, schema, options, { path, text }, code)
    if (mistake) mistakes.push(mistake)
  }
  const known = Object.keys((schema as TObject | undefined)?.properties ?? {})
  const isOpen = schema !== undefined && (schema as TObject).properties === undefined
  for (const name of isOpen ? [] : Object.keys(options).filter((one) => !known.includes(one))) {
    const takes = known.length > 0 ? `takes ${known.join(', ')}` : 'takes none'
    const text = `${owner} has no option ${name}${didYouMean(name, known)}; it ${takes}`
    mistakes.push(new RtkError(code, text, { place: [...place, name] }))
    delete options[name]
  }
  if (!schema) {
    if (mistakes.length > 0) throw together(mistakes)
    return options
  }
  const complete = Value.Default(schema, options) as Record<string, unknown>
  for (const problem of problemsOf(schema, complete)) {
    const names = pointerNames(problem.field)
    const field = names.join('.')
    const isSet = sets.some(({ path }) => field === path || field.startsWith(`${path}.`))
    const message = `${[owner, ...names].join('.')}: ${explain(problem, schema, complete)}`
    mistakes.push(new RtkError(code, message, isSet ? {} : { place: [...place, ...names] }))
  }
  if (mistakes.length > 0) throw together(mistakes)
  return complete
}

/** Sets one option of the command line. @returns what is wrong with it */
function setOption(
  owner: string,
  schema: TSchema | undefined,
  options: Record<string, unknown>,
  { path, text }: SetOption,
  code: RtkErrorCode,
): RtkError | undefined {
  const names = path.split('.')
  let target = options
  let at: TSchema | undefined = schema
  for (const [index, name] of names.entries()) {
    const known = Object.keys((at as TObject | undefined)?.properties ?? {})
    at = childSchema(at, name)
    if (!at) {
      const takes = known.length > 0 ? `it takes ${known.join(', ')}` : 'it takes none'
      const text = `${owner} has no option ${path}${didYouMean(name, known)}; ${takes}; parameters that can change at run time are set by --change`
      return new RtkError(code, text)
    }
    if (index < names.length - 1) {
      if (typeof target[name] !== 'object' || target[name] === null) target[name] = {}
      target = target[name] as Record<string, unknown>
    }
  }
  const value = parseBySchema(at as TSchema, text)
  if (value === undefined) {
    const [problem] = problemsOf(at as TSchema, text)
    return new RtkError(code, `${owner}.${path} ${problem?.message ?? 'is not allowed'}, not ${quote(text)}`)
  }
  target[names.at(-1) as string] = value
}
