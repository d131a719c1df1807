import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { Variant } from '../../schemas/variant.js'
import { packageRoot } from '../build/release.js'
import { RtkError } from '../errors.js'
import { pointerNames, problemOf } from '../validate.js'

export interface VariantFile {
  variant: Variant
  /** Absolute path of the file. */
  file: string
  /** What it says, letter by letter. */
  text: string
  /** Its folder: relative plugin paths are resolved from here. */
  base: string
}

const variantFolder = () => join(packageRoot(), 'runtime', 'variants')

/** The variant that runs when none is named: a device folder names its own. */
function defaultVariant(): string {
  const { rtkBase } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    rtkBase?: { variant: string }
  }
  return rtkBase?.variant ?? 'simulator'
}

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
 * Reads a variant: a path, or the name of one that is shipped.
 * @throws RTK_ERR_VARIANT with file, line and field.
 */
export function readVariant(named?: string): VariantFile {
  const source = named ?? defaultVariant()
  const shipped = join(variantFolder(), `${source}.json`)
  // A folder of that name may lie anywhere: a service is started in `/`, and a variant may be called `opt`.
  const isOwn = named !== undefined && (!/^[a-z0-9-]+$/.test(named) || isFile(named))
  const file = isOwn ? resolve(source) : shipped
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    const names = readdirSync(variantFolder()).map((name) => name.replace(/\.json$/, ''))
    throw new RtkError('RTK_ERR_VARIANT', `${source}: cannot be read; shipped variants: ${names.join(', ')}`)
  }
  return { variant: parseVariant(text, file), file, text, base: dirname(file) }
}

/** An error that names its place in the variant, with file and line before it; every other one as it is. */
export function located(error: unknown, { file, text }: VariantFile): unknown {
  if (!(error instanceof RtkError) || !error.place) return error
  return new RtkError(error.code, `${file}:${lineOfField(parseTree(text), text, error.place)}: ${error.message}`)
}

/** @throws RTK_ERR_VARIANT with file, line and field. */
export function parseVariant(text: string, file: string): Variant {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: false, disallowComments: true })
  const [error] = errors
  if (error) {
    throw new RtkError('RTK_ERR_VARIANT', `${file}:${lineOf(text, error.offset)}: ${printParseErrorCode(error.error)}`)
  }
  const value: unknown = JSON.parse(text)
  const problem = problemOf(Variant, value)
  if (!problem) return value as Variant
  const path = pointerNames(problem.field)
  const line = lineOfField(root, text, path)
  throw new RtkError('RTK_ERR_VARIANT', `${file}:${line}: ${path.join('.') || 'variant'}: ${problem.message}`)
}
