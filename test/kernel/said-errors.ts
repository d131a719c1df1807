/** The errors that sources raise, found without running them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as acorn from 'acorn'
import { full } from 'acorn-walk'
import { transformSync } from 'esbuild'

export interface RaisedError {
  /** `*` at its end: any name. */
  readonly code: string
  /** Names of its values; undefined: they come from elsewhere in the folder. */
  values: Set<string> | undefined
  hasAdvice: boolean
}

export interface Sources {
  readonly errors: ReadonlyMap<string, RaisedError>
  /** Names of all values. */
  readonly values: ReadonlySet<string>
  readonly text: string
}

/** Methods that raise the error of their first argument. */
const raising = new Set(['raise', 'trouble', 'report', 'during'])
const ofListener = ['reason', 'setting', 'retry_s']

export function sourcesIn(folder: string): Sources {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.ts$/.test(name) && !/(^|\/)ui\//.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const errors = new Map<string, RaisedError>()
  const values = new Set<string>()
  for (const file of files) readSource(file, errors, values)
  return { errors, values, text: files.join('\n') }
}

const nameOf = (node: acorn.AnyNode) =>
  node.type === 'Identifier' || node.type === 'PrivateIdentifier' ? node.name : ''

const memberOf = (object: acorn.AnyNode | undefined, name: string): acorn.AnyNode | undefined =>
  object?.type === 'ObjectExpression'
    ? object.properties.flatMap((one) => (one.type === 'Property' && nameOf(one.key) === name ? [one.value] : []))[0]
    : undefined

function readSource(source: string, errors: Map<string, RaisedError>, all: Set<string>): void {
  const { code } = transformSync(source, { loader: 'ts', target: 'es2022' })
  const tree = acorn.parse(code, { ecmaVersion: 2022, sourceType: 'module' })
  const nodes: acorn.AnyNode[] = []
  full(tree, (node) => void nodes.push(node as acorn.AnyNode))
  const given = new Map<string, acorn.AnyNode>()
  for (const node of nodes) if (node.type === 'VariableDeclarator' && node.init) given.set(nameOf(node.id), node.init)

  const codesOf = (node: acorn.AnyNode | undefined): string[] => {
    if (node?.type === 'Literal') return [String(node.value)]
    if (node?.type === 'TemplateLiteral') return [`${node.quasis[0]?.value.cooked}*`]
    if (node?.type === 'ArrowFunctionExpression') return codesOf(node.body)
    if (node?.type === 'CallExpression') return codesOf(given.get(nameOf(node.callee)))
    return node?.type === 'Identifier' && given.has(node.name) ? codesOf(given.get(node.name)) : []
  }
  /** Undefined: a part of it is a parameter. */
  const namesOf = (node: acorn.AnyNode | undefined): string[] | undefined => {
    if (node?.type === 'Identifier') return given.has(node.name) ? namesOf(given.get(node.name)) : undefined
    if (node?.type === 'LogicalExpression') return namesOf(node.right)
    if (node?.type !== 'ObjectExpression') return undefined
    const parts = node.properties.map((one) =>
      one.type === 'Property' ? [nameOf(one.key)] : namesOf(one.argument as acorn.AnyNode),
    )
    for (const part of parts) for (const name of part ?? []) all.add(name)
    return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? [])
  }
  const note = (found: string, values: readonly string[] | undefined, hasAdvice: boolean) => {
    if (!/^[a-z][a-z-]*\*?$/.test(found)) return
    const before = errors.get(found)
    if (!before) errors.set(found, { code: found, values: values && new Set(values), hasAdvice })
    else {
      before.hasAdvice ||= hasAdvice
      before.values = before.values && values && new Set([...before.values, ...values])
    }
  }
  for (const node of nodes) {
    namesOf(memberOf(node, 'values'))
    // The values of several errors come from one function.
    if (node.type === 'FunctionDeclaration' && /values/i.test(nameOf(node.id as acorn.AnyNode)))
      full(node.body, (one) => void namesOf(one as acorn.AnyNode))
    const notice = memberOf(node, 'text') && memberOf(node, 'code')
    if (notice) for (const found of codesOf(notice)) note(found, undefined, memberOf(node, 'advice') !== undefined)
    if (node.type !== 'CallExpression') continue
    const { arguments: args, callee } = node
    const called = callee.type === 'MemberExpression' ? nameOf(callee.property as acorn.AnyNode) : nameOf(callee)
    const [first, second] = args as acorn.AnyNode[]
    const name = memberOf(first, 'name')
    if (called === 'listen' && name?.type === 'Literal') note(`listen-${name.value}`, ofListener, true)
    if (!raising.has(called)) continue
    const values = called === 'during' ? [...(namesOf(args[3] as acorn.AnyNode) ?? []), 'reason'] : undefined
    for (const one of values ?? []) all.add(one)
    const hasAdvice = memberOf(second, 'advice') !== undefined
    for (const found of codesOf(first)) note(found, values ?? namesOf(memberOf(second, 'values')), hasAdvice)
  }
}
