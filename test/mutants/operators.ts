/** The small changes of code that a test should notice, made from its syntax tree. */
import * as acorn from 'acorn'
import { full } from 'acorn-walk'

/** One change of a text: what stands from `start` to `end` becomes `text`. */
export interface Mutation {
  readonly operator: string
  readonly start: number
  readonly end: number
  readonly text: string
}

type Change = Omit<Mutation, 'operator'>
type Operator = (node: acorn.AnyNode, code: string) => Change[]

/** Puts another operator between the two sides of a binary or logical expression. */
function between(table: Record<string, string[]>): Operator {
  return (node, code) => {
    if (node.type !== 'BinaryExpression' && node.type !== 'LogicalExpression') return []
    if (isText(node.left) || isText(node.right)) return []
    const { left, right, operator } = node
    const gap = code.slice(left.end, right.start)
    return (table[operator] ?? []).map((other) => ({
      start: left.end,
      end: right.start,
      text: gap.replace(operator, other),
    }))
  }
}

/** A sum with a text in it joins texts: its result is a message. */
const isText = (node: acorn.AnyNode): boolean =>
  node.type === 'TemplateLiteral' ||
  (node.type === 'Literal' && typeof node.value === 'string') ||
  (node.type === 'BinaryExpression' && (isText(node.left) || isText(node.right)))

const replace = (node: acorn.AnyNode, text: string): Change => ({ start: node.start, end: node.end, text })

const operators: Record<string, Operator> = {
  boundary: between({ '<': ['<='], '<=': ['<'], '>': ['>='], '>=': ['>'] }),
  comparison: between({ '<': ['>='], '<=': ['>'], '>': ['<='], '>=': ['<'], '===': ['!=='], '!==': ['==='] }),
  arithmetic: between({ '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['*'], '&': ['|'], '|': ['&'] }),
  logic: between({ '&&': ['||'], '||': ['&&'], '??': ['&&'] }),
  'negated condition': (node, code) => {
    if (node.type !== 'IfStatement' && node.type !== 'ConditionalExpression' && node.type !== 'WhileStatement')
      return []
    return [replace(node.test, `!(${code.slice(node.test.start, node.test.end)})`)]
  },
  'removed not': (node, code) =>
    node.type === 'UnaryExpression' && (node.operator === '!' || node.operator === '-')
      ? [replace(node, `(${code.slice(node.argument.start, node.argument.end)})`)]
      : [],
  'removed statement': (node) => {
    if (node.type !== 'ExpressionStatement') return []
    const { expression } = node
    const inner = expression.type === 'AwaitExpression' ? expression.argument : expression
    if (inner.type === 'CallExpression' && inner.callee.type === 'Super') return []
    const acts = ['CallExpression', 'AssignmentExpression', 'UpdateExpression', 'ChainExpression'].includes(inner.type)
    return acts ? [replace(node, ';')] : []
  },
  constant: (node) => {
    if (node.type !== 'Literal') return []
    if (typeof node.value === 'boolean') return [replace(node, String(!node.value))]
    if (typeof node.value !== 'number') return []
    // One more than many, such as a limit in milliseconds, is no other behaviour.
    const others = [...(node.value < 1000 ? [node.value + 1] : []), ...(node.value === 0 ? [] : [node.value * 10])]
    return others.map((other) => replace(node, String(other)))
  },
  assignment: (node, code) => {
    const table: Record<string, string> = { '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=' }
    if (node.type !== 'AssignmentExpression' || !table[node.operator] || isText(node.right)) return []
    const gap = code.slice(node.left.end, node.right.start)
    const text = gap.replace(node.operator, table[node.operator] as string)
    return [{ start: node.left.end, end: node.right.start, text }]
  },
  step: (node, code) =>
    node.type === 'UpdateExpression'
      ? [replace(node, code.slice(node.start, node.end).replace(node.operator, node.operator === '++' ? '--' : '++'))]
      : [],
  'early return': (node) => {
    if (node.type !== 'FunctionExpression' && node.type !== 'FunctionDeclaration') return []
    const at = node.body.start + 1
    return node.body.body.length > 1 ? [{ start: at, end: at, text: ' return;' }] : []
  },
}

/** Lines for people: what stands in them decides nothing. */
const isReport = (node: acorn.AnyNode): boolean => {
  if (node.type === 'ThrowStatement' || node.type === 'ImportDeclaration') return true
  // The transpiler writes undefined so.
  if (node.type === 'UnaryExpression' && node.operator === 'void') return true
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false
  const { property, object } = node.callee
  if (property.type === 'PrivateIdentifier') return property.name === 'log'
  const method = property.type === 'Identifier' ? property.name : ''
  const owner = object.type === 'MemberExpression' ? object.property : object
  const name = owner.type === 'Identifier' || owner.type === 'PrivateIdentifier' ? owner.name : ''
  return ['debug', 'info', 'warn', 'error', 'trace'].includes(method) && /log/i.test(name)
}

/**
 * Every change that the operators make of a module, by place. A constructor never returns early: it would not construct. What moves a loop
 * on stays.
 */
export function mutationsOf(code: string): Mutation[] {
  const tree = acorn.parse(code, { ecmaVersion: 'latest', sourceType: 'module' })
  const silent: acorn.Node[] = []
  const constructors = new Set<acorn.Node>()
  full(tree, (node) => {
    const any = node as acorn.AnyNode
    // A loop that never ends is noticed by a time limit alone, whatever the tests are.
    if (any.type === 'ForStatement' && any.update) silent.push(any.update)
    if (any.type === 'WhileStatement' && any.body.type === 'ExpressionStatement') silent.push(any.body)
    if (any.type === 'MethodDefinition' && any.kind === 'constructor') constructors.add(any.value)
    if (isReport(any) || (any.type === 'ExpressionStatement' && isReport(any.expression))) silent.push(any)
  })
  const found: Mutation[] = []
  full(tree, (node) => {
    if (constructors.has(node) || silent.some(({ start, end }) => node.start >= start && node.end <= end)) return
    for (const [operator, changes] of Object.entries(operators)) {
      for (const change of changes(node as acorn.AnyNode, code)) found.push({ operator, ...change })
    }
  })
  return found.sort((a, b) => a.start - b.start || a.end - b.end || (a.operator < b.operator ? -1 : 1))
}

export const mutate = (code: string, { start, end, text }: Mutation): string =>
  code.slice(0, start) + text + code.slice(end)
