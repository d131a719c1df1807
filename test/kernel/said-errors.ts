/** The errors that sources raise and the texts in them, found without running them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as acorn from 'acorn'
import { full } from 'acorn-walk'
import { transformSync } from 'esbuild'

export interface RaisedError {
  /** `*` at its end: any name. */
  readonly code: string
  /** Names of its values; undefined: some come from elsewhere. */
  values: Set<string> | undefined
}

export interface Sources {
  readonly errors: ReadonlyMap<string, RaisedError>
  /** Every name in an object. */
  readonly names: ReadonlySet<string>
  /** Of every sentence. */
  readonly texts: readonly RegExp[]
  readonly code: string
}

/** Methods whose first arguments are the code and the values of a standing error. */
const raising = ['while', 'withStandingError']
/** The runtime also has those of the store, of its start and of plugins that do not run. */
export const raisingInRuntime = ['while', 'report', 'notice', 'stationError']
const ofListener = ['reason', 'setting', 'retry_s']

export function sourcesIn(folder: string, methods: readonly string[] = raising): Sources {
  const codes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.ts$/.test(name) && !/(^|\/)ui\//.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const nodes = codes.map((code) => {
    const own: acorn.AnyNode[] = []
    const { code: plain } = transformSync(code, { loader: 'ts', target: 'es2022' })
    const tree = acorn.parse(plain, { ecmaVersion: 2022, sourceType: 'module' })
    full(tree, (node) => void own.push(node as acorn.AnyNode))
    return own
  })
  const shared = nodes.flat().filter((node) => node.type === 'VariableDeclarator' && node.init?.type === 'Literal')
  const errors = new Map<string, RaisedError>()
  for (const own of nodes) errorsIn(own, shared as acorn.VariableDeclarator[], methods, errors)
  const names = nodes.flat().flatMap((node) => (node.type === 'Property' ? [nameOf(node.key)] : []))
  return { errors, names: new Set(names), texts: nodes.flat().flatMap(textsOf), code: codes.join('\n') }
}

const both = (one: string[] | undefined, other: string[] | undefined) => one && other && [...one, ...other]

const nameOf = (node: acorn.AnyNode) =>
  node.type === 'Identifier' || node.type === 'PrivateIdentifier' ? node.name : ''

const memberOf = (object: acorn.AnyNode | undefined, name: string): acorn.AnyNode | undefined =>
  object?.type === 'ObjectExpression'
    ? object.properties.flatMap((one) => (one.type === 'Property' && nameOf(one.key) === name ? [one.value] : []))[0]
    : undefined

/** Sentences, with `1` for every number and anything for what is put in. */
function textsOf(node: acorn.AnyNode): RegExp[] {
  const parts =
    node.type === 'TemplateLiteral'
      ? node.quasis.map(({ value }) => value.cooked ?? '')
      : [node.type === 'Literal' && typeof node.value === 'string' ? node.value : '']
  return parts
    .join('\0')
    .replaceAll(/\d+(\.\d+)?/g, '1')
    .split('; ')
    .filter((sentence) => /[a-z]{2}/.test(sentence))
    .map(
      (sentence) =>
        new RegExp(
          `^${sentence
            .replace(/\.$/, '')
            .replaceAll(/[^\w\s\0]/g, '\\$&')
            .replaceAll('\0', '.+')}\\.?$`,
          'is',
        ),
    )
}

function errorsIn(
  nodes: readonly acorn.AnyNode[],
  shared: readonly acorn.VariableDeclarator[],
  methods: readonly string[],
  errors: Map<string, RaisedError>,
): void {
  const own = nodes.filter((node) => node.type === 'VariableDeclarator')
  /** What a name stands for: the declaration before it. */
  const given = (use: acorn.AnyNode): acorn.AnyNode | undefined => {
    const named = [...shared, ...own].filter(({ id }) => nameOf(id) === nameOf(use))
    return (named.findLast(({ start }) => start < use.start) ?? named[0])?.init ?? undefined
  }
  const codesOf = (node: acorn.AnyNode | undefined): string[] => {
    if (node?.type === 'Literal') return [String(node.value)]
    if (node?.type === 'TemplateLiteral') return [`${node.quasis[0]?.value.cooked}*`]
    if (node?.type === 'ArrowFunctionExpression') return codesOf(node.body)
    if (node?.type === 'CallExpression') return codesOf(given(node.callee))
    return node?.type === 'Identifier' ? codesOf(given(node)) : []
  }
  /** Undefined: a part of it comes from elsewhere. */
  const namesOf = (node: acorn.AnyNode | undefined): string[] | undefined => {
    if (node?.type === 'Identifier') return namesOf(given(node))
    if (node?.type === 'LogicalExpression') return namesOf(node.right)
    if (node?.type === 'Literal') return []
    if (node?.type === 'ConditionalExpression') return both(namesOf(node.consequent), namesOf(node.alternate))
    if (node?.type !== 'ObjectExpression') return undefined
    const parts = node.properties.map((one) => (one.type === 'Property' ? [nameOf(one.key)] : namesOf(one.argument)))
    return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? [])
  }
  const note = (code: string, values: readonly string[] | undefined) => {
    if (!/^[a-z][a-z-]*\*?$/.test(code)) return
    const before = errors.get(code)
    if (!before) errors.set(code, { code, values: values && new Set(values) })
    else before.values = before.values && values && new Set([...before.values, ...values])
  }
  for (const node of nodes) {
    if (methods.includes('notice') && (memberOf(node, 'text') ?? memberOf(node, 'values')))
      for (const code of codesOf(memberOf(node, 'code'))) note(code, undefined)
    if (node.type === 'NewExpression' && nameOf(node.callee) === 'Reconciler') {
      const [, options] = node.arguments as acorn.AnyNode[]
      const values = memberOf(options, 'values')
      const names = values?.type === 'ArrowFunctionExpression' ? namesOf(values.body) : undefined
      for (const code of codesOf(memberOf(options, 'code'))) note(code, names && [...names, 'reason'])
    }
    if (node.type !== 'CallExpression') continue
    const { arguments: args, callee } = node
    const [first, second] = args as acorn.AnyNode[]
    const called = nameOf(callee.type === 'MemberExpression' ? (callee.property as acorn.AnyNode) : callee)
    const name = memberOf(first, 'name')
    if (called === 'listen' && name?.type === 'Literal') note(`listen-${name.value}`, ofListener)
    if (!methods.includes(called)) continue
    // The context comes first, the values last, and the reason by itself.
    const isWork = called === 'withStandingError'
    const [code, given] = isWork ? [second, args[3] as acorn.AnyNode] : [first, second]
    const names = isWork && !given ? [] : namesOf(given)
    for (const one of codesOf(code)) note(one, names && [...names, ...(isWork ? ['reason'] : [])])
  }
}
