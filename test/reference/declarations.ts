/** The public declarations of the package, read from what the compiler emits: names, docstrings, signatures. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { packageRoot } from '../../runtime/platform/release.js'

export interface Declaration {
  readonly name: string
  /** The docstring, without its stars. */
  readonly doc: string
  /** The signature, or the whole interface with the docstrings of its members. */
  readonly text: string
}

/** What one file exports. */
export interface Module {
  /** Relative to the project, without its ending. */
  readonly path: string
  readonly doc: string
  readonly declarations: readonly Declaration[]
}

/** An entry of `exports` in package.json, with the modules that its exports come from. */
export interface Entry {
  readonly doc: string
  readonly modules: readonly Module[]
}

/** A statement of a declaration file, with the comment in front of it. */
interface Statement {
  readonly doc: string
  readonly text: string
}

const root = packageRoot()

/**
 * Emits the declarations of these files and reads them.
 * @param sources e.g. `runtime/plugin.ts`
 */
export function readEntries(sources: readonly string[]): Map<string, Entry> {
  const folder = mkdtempSync(join(root, 'build', 'declarations-'))
  try {
    emit(sources, folder)
    return new Map(sources.map((source) => [source, entryOf(folder, source.replace(/\.ts$/, ''))]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Without checks: those are the type checker's, and take most of the time. */
function emit(sources: readonly string[], folder: string): void {
  const project = join(folder, 'tsconfig.json')
  const compilerOptions = {
    rootDir: root,
    noEmit: false,
    emitDeclarationOnly: true,
    declaration: true,
    noCheck: true,
    // Of the parts of a page.
    jsx: 'react-jsx',
    jsxImportSource: 'preact',
    lib: ['es2023', 'dom', 'dom.iterable'],
    outDir: folder,
  }
  const files = sources.map((source) => join(root, source))
  writeFileSync(project, JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files }))
  // The hooks of the test runner break the compiler, and the runner adds them to every child.
  const tsc = ['-u', 'NODE_OPTIONS', join(root, 'node_modules', '.bin', 'tsc'), '--singleThreaded']
  const { signal, status, stdout, stderr } = spawnSync('/usr/bin/env', [...tsc, '-p', project], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`tsc: ${signal ?? status} ${stdout}${stderr}`)
}

function entryOf(folder: string, path: string): Entry {
  const modules = new Map<string, Map<string, Declaration>>()
  const { doc } = collect(folder, path, undefined, modules)
  return {
    doc,
    modules: [...modules]
      .filter(([, declarations]) => declarations.size > 0)
      .map(([module, declarations]) => ({
        path: module,
        doc: moduleDoc(module),
        declarations: [...declarations.values()],
      })),
  }
}

/** @param wanted names that are exported on; undefined: all of them */
function collect(
  folder: string,
  path: string,
  wanted: ReadonlySet<string> | undefined,
  modules: Map<string, Map<string, Declaration>>,
): { doc: string } {
  const own = modules.get(path) ?? new Map<string, Declaration>()
  modules.set(path, own)
  const doc = moduleDoc(path)
  for (const statement of statementsOf(readFileSync(join(folder, `${path}.d.ts`), 'utf8'))) {
    const { text } = statement
    const from = /^export (?:type )?(\*|\{[^}]*\})(?: as (\w+))? from '(\.[^']*)';$/.exec(text)
    if (from) {
      const [, names = '', namespace, file = ''] = from
      const target = relative('.', join(dirname(path), file.replace(/\.js$/, '')))
      if (namespace) own.set(namespace, { name: namespace, doc: moduleDoc(target), text: `namespace of ${target}.ts` })
      else collect(folder, target, names === '*' ? wanted : namesIn(names, wanted), modules)
      continue
    }
    const name = /^export (?:declare )?(?:abstract )?(?:const|function|class|interface|type|enum) (\w+)/.exec(text)?.[1]
    if (!name || (wanted && !wanted.has(name))) continue
    const before = own.get(name)
    const declaration = { name, doc: statement.doc === doc ? '' : statement.doc, text: signature(text) }
    // Overloads, and a value beside the type of the same name.
    own.set(name, before ? { ...before, text: `${before.text}\n${declaration.text}` } : declaration)
  }
  return { doc }
}

/** The names of `{ type A, B as C }` that are wanted. */
function namesIn(list: string, wanted: ReadonlySet<string> | undefined): Set<string> {
  const names = list
    .slice(1, -1)
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '')
  return new Set(names.filter((name) => !wanted || wanted.has(name)))
}

const begins = /^(export|import|declare|type|interface|const|class|function|abstract) ?/

/** The compiler indents whatever is inside of a statement, so one begins where a line is not indented. */
function statementsOf(file: string): Statement[] {
  const statements: Statement[] = []
  let comment: string[] = []
  let code: string[] = []
  const flush = () => {
    if (code.length > 0) statements.push({ doc: plainDoc(comment.join('\n')), text: code.join('\n').trim() })
    ;[comment, code] = [[], []]
  }
  let inComment = false
  const lines = file.split('\n')
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('/**')) {
      // The compiler does not indent the members of a union.
      const end = lines.findIndex((one, at) => at >= index && one.endsWith('*/'))
      if (/^ *\| /.test(lines[end + 1] ?? '')) {
        code.push(line)
        continue
      }
      flush()
      inComment = true
    }
    if (inComment) {
      comment.push(line)
      if (line.endsWith('*/')) inComment = false
      continue
    }
    if (begins.test(line) && code.length > 0) flush()
    code.push(line)
  }
  flush()
  return statements
}

/** The first comment of a source, where it speaks of the whole file: something else than a declaration follows it. */
function moduleDoc(path: string): string {
  const [, comment = '', rest = ''] = /^(\/\*\*[\s\S]*?\*\/)\n([\s\S]*)/.exec(sourceOf(path)) ?? []
  return /^(\n|import |export (\*|\{|type \{))/.test(rest) ? plainDoc(comment) : ''
}

const sourceOf = (path: string) =>
  readFileSync(join(root, existsSync(join(root, `${path}.ts`)) ? `${path}.ts` : `${path}.tsx`), 'utf8')

const plainDoc = (comment: string) =>
  comment
    .replace(/^\/\*\*\s?/, '')
    .replace(/\s*\*\/$/, '')
    .replaceAll(/^ ?\* ?/gm, '')
    .trim()

const signature = (text: string) =>
  text
    .replace(/^export (declare )?/, '')
    .replaceAll(/\bimport\("[^"]*"\)\./g, '')
    .replaceAll(/^ {4}(#private|private readonly \w+|private \w+);\n/gm, '')
    .replaceAll(/^ \| /gm, '    | ')
    .replaceAll(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2))
    .replace(/;$/, '')
