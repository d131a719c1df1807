import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { Variant } from '../../../schemas/variant.js'
import { kindOf, messageOf, RtkError } from '../../errors.js'
import { readRecordSync } from '../../platform/files/plain-file.js'
import { didYouMean } from '../../platform/nearest.js'
import { bundledVariant, packageRoot } from '../../platform/release.js'
import { explain, pointerNames, problemsOf, quote } from '../../platform/validate.js'

export interface VariantFile {
  variant: Variant
  /** Absolute path of the file. */
  file: string
  /** Exact text of the file, without a byte order mark. */
  text: string
  /** Folder of the file: relative plugin paths are resolved from here. */
  base: string
}

const variantFolder = () => join(packageRoot(), 'runtime', 'variants')

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** The line of the deepest field on the way to `path` that is there. */
function lineOfField(root: Node | undefined, text: string, path: readonly string[]): number {
  for (let length = path.length; root && length >= 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length))
    if (node) return lineOf(text, node.offset)
  }
  return 1
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/**
 * Reads a variant: a path, or the name of a shipped variant.
 * @throws RTK_ERR_VARIANT with file, line and field.
 */
export function readVariant(named?: string): VariantFile {
  const source = named ?? bundledVariant() ?? 'simulator'
  const shipped = join(variantFolder(), `${source}.json`)
  // A folder of that name may lie anywhere: a service is started in `/`, and a variant may be called `opt`.
  const isOwn = named !== undefined && (!/^[a-z0-9-]+$/.test(named) || isFile(named))
  const file = isOwn ? resolve(source) : shipped
  let text: string
  try {
    // Skips a byte order mark, which editors of Windows write.
    text = readRecordSync(file).replace(/^\ufeff/, '')
  } catch (error) {
    if (existsSync(file)) throw new RtkError('RTK_ERR_VARIANT', `${source}: cannot be read: ${messageOf(error)}`)
    const names = readdirSync(variantFolder()).map((name) => name.replace(/\.json$/, ''))
    const like = didYouMean(source, names)
    throw new RtkError('RTK_ERR_VARIANT', `${source}: cannot be read${like}; shipped variants: ${names.join(', ')}`)
  }
  return { variant: parseVariant(text, file), file, text, base: dirname(file) }
}

/**
 * Prefixes errors that have a place in the variant with file and line, and sorts them by line; others stay unchanged.
 */
export function located(
  error: unknown,
  { file, text }: VariantFile,
  isSet: (place: readonly string[]) => boolean,
): unknown {
  if (!(error instanceof RtkError)) return error
  const root = parseTree(text)
  const lines = (error.all ?? [error]).map((one) => {
    const line = one.place && !isSet(one.place) ? lineOfField(root, text, one.place) : 0
    return { line, text: line > 0 ? `${file}:${line}: ${one.message}` : one.message }
  })
  if (lines.every(({ line }) => line === 0)) return error
  lines.sort((one, other) => one.line - other.line)
  return new RtkError(kindOf(error), lines.map((one) => one.text).join('\n'))
}

/** The parser's errors in plain language. */
const syntaxErrors: Readonly<Record<string, string>> = {
  InvalidSymbol: 'invalid JSON value',
  InvalidNumberFormat: 'invalid number',
  PropertyNameExpected: 'a field name in double quotes is expected here',
  ValueExpected: 'a value is missing here',
  ColonExpected: 'a colon is missing before this',
  CommaExpected: 'a comma is missing before this',
  CloseBraceExpected: 'a closing brace } is missing',
  CloseBracketExpected: 'a closing bracket ] is missing',
  EndOfFileExpected: 'nothing may follow the end of the variant',
  InvalidCommentToken: 'comments are not allowed',
  UnexpectedEndOfComment: 'comments are not allowed',
  UnexpectedEndOfString: 'the closing double quote is missing',
  UnexpectedEndOfNumber: 'this number is not complete',
  InvalidUnicode: 'this \\u escape is not valid',
  InvalidEscapeCharacter: 'this \\ escape is not valid',
  InvalidCharacter: 'a control character must be escaped',
}

function syntaxError({ error, offset, length }: ParseError, text: string): string {
  const code = printParseErrorCode(error)
  const found = text.slice(offset, offset + length).trim()
  return `${syntaxErrors[code] ?? 'not valid JSON'}${found === '' ? '' : `: ${quote(found)}`}`
}

interface Mistake {
  line: number
  message: string
}

/** JSON.parse keeps the last of two fields with one name: the first would be dropped without a word. */
function repeatedFields(node: Node, text: string, path: readonly string[] = []): Mistake[] {
  if (node.type === 'array') {
    return (node.children ?? []).flatMap((item, index) => repeatedFields(item, text, [...path, String(index)]))
  }
  const seen = new Set<string>()
  return (node.children ?? []).flatMap(({ offset, children = [] }) => {
    const [key, value] = children
    const name: string = key.value
    const field = [...path, name]
    const message = `${field.join('.')} is given twice`
    const repeated = seen.has(name) ? [{ line: lineOf(text, offset), message }] : []
    seen.add(name)
    return [...repeated, ...repeatedFields(value, text, field)]
  })
}

/** @throws RTK_ERR_VARIANT with file, line and field of everything that is wrong. */
export function parseVariant(text: string, file: string): Variant {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: false, disallowComments: true })
  if (errors.length > 0) {
    // One mistake makes the parser stumble several times, on its line and to the end of the file: the first one counts.
    const [first] = errors
    throw new RtkError('RTK_ERR_VARIANT', `${file}:${lineOf(text, first.offset)}: ${syntaxError(first, text)}`)
  }
  const value: unknown = JSON.parse(text)
  const problems = problemsOf(Variant, value)
  const repeated = root ? repeatedFields(root, text) : []
  if (problems.length === 0 && repeated.length === 0) {
    const { $schema: _, ...variant } = value as Variant
    return variant
  }
  const wrong = problems.map((problem): Mistake => {
    const path = pointerNames(problem.field)
    const message = `${path.join('.') || 'variant'}: ${explain(problem, Variant, value)}`
    return { line: lineOfField(root, text, path), message }
  })
  const mistakes = [...repeated, ...wrong]
  mistakes.sort((one, other) => one.line - other.line)
  throw new RtkError('RTK_ERR_VARIANT', mistakes.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'))
}
