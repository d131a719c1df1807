import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as acorn from 'acorn'
import { full } from 'acorn-walk'
import { transformSync } from 'esbuild'
import t from 'tap'
import system from '../../plugins/system/index.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { stationError } from '../../runtime/platform/standing-errors.js'
import { definePlugin } from '../../runtime/plugin.js'
import { createTestStation } from '../harness/index.js'

t.test('the values of an error are bounded, whatever a plugin gives', async (t) => {
  const valuesOf = (values: object) => stationError('x', values as never, {}, { 'error.x': 'x' }).values
  t.same(valuesOf({ distance_m: 0.59, by: 'http', held: true }), { distance_m: 0.59, by: 'http', held: true })
  for (const none of [
    {},
    { a: Number.NaN },
    { a: Number.POSITIVE_INFINITY },
    { a: null },
    { a: {} },
    { a: [1] },
    { A: 1 },
    { 'a b': 1 },
  ])
    t.equal(valuesOf(none), undefined, JSON.stringify(none))
  t.same(valuesOf({ a: 'x'.repeat(500) }), { a: 'x'.repeat(64) })
  t.equal(Object.keys(valuesOf(Object.fromEntries([...'abcdefghijkl'].map((name) => [name, 1]))) ?? {}).length, 8)
  const many = valuesOf(Object.fromEntries([...'abcdefgh'].map((name) => [name, 'y'.repeat(64)])))
  t.ok(JSON.stringify(many).length <= 240)
  t.equal(valuesOf({ [`a${'b'.repeat(30)}`]: 1 }), undefined)
  t.notOk('values' in stationError('x', {}, {}))
  t.same(valuesOf({ _advice: 'look', distance_m: 1 }), { distance_m: 1 }, 'one for the text alone is not sent')
})

t.test('the document has them beside the text', async (t) => {
  const raises = definePlugin({
    name: 'raises',
    version: '1.0.0',
    api: '^1.0.0',
    setup: () => undefined,
    start(ctx) {
      ctx.errors.raise('some-trouble', { text: 'it is 3 m away', advice: 'look', values: { distance_m: 3 } })
      ctx.errors.raise('other-trouble', 'only a text')
    },
  })
  const station = await createTestStation({ plugins: { raises, system } })
  t.teardown(() => station.stop())
  const errors = station.field('base.state.errors') as { code: string }[]
  t.match(
    errors.find(({ code }) => code === 'some-trouble'),
    { text: 'it is 3 m away; look', values: { distance_m: 3 } },
  )
  t.notOk('values' in (errors.find(({ code }) => code === 'other-trouble') ?? {}))
})

/** A text that is the same every time: a literal, or a choice of such. */
function isConstant(node: acorn.AnyNode): boolean {
  if (node.type === 'Literal') return true
  if (node.type === 'TemplateLiteral') return node.expressions.length === 0
  if (node.type === 'ConditionalExpression') return isConstant(node.consequent) && isConstant(node.alternate)
  return node.type === 'BinaryExpression' && isConstant(node.left) && isConstant(node.right)
}

/** Text and values of an object that describes a trouble. */
function partsOf(node: acorn.AnyNode): { text?: acorn.AnyNode; isTrouble: boolean; hasValues: boolean } {
  const properties = node.type === 'ObjectExpression' ? node.properties : []
  const names = new Map<string, acorn.AnyNode>()
  for (const one of properties)
    if (one.type === 'Property' && one.key.type === 'Identifier') names.set(one.key.name, one.value)
  const hasValues = names.has('values') || properties.some(({ type }) => type === 'SpreadElement')
  return { text: names.get('text'), isTrouble: names.has('advice') && !names.has('code'), hasValues }
}

/** Errors that have a text with a variable part, but no values. */
function withoutValues(source: string, file: string): string[] {
  const { code } = transformSync(source, { loader: 'ts', target: 'es2022' })
  const constants = new Set<string>()
  const found: string[] = []
  const tree = acorn.parse(code, { ecmaVersion: 2022, sourceType: 'module' })
  full(tree, (node) => {
    const { id, init } = node as acorn.VariableDeclarator
    if (node.type === 'ImportSpecifier') constants.add((node as acorn.ImportSpecifier).local.name)
    if (node.type === 'VariableDeclarator' && id.type === 'Identifier' && init && isConstant(init))
      constants.add(id.name)
  })
  const isVariable = (node: acorn.AnyNode) =>
    !isConstant(node) && !(node.type === 'Identifier' && constants.has(node.name))
  const note = (node: acorn.AnyNode) => found.push(`${file}: ${code.slice(node.start, node.end).replace(/\s+/g, ' ')}`)
  const lookAt = (node: acorn.AnyNode | undefined) => {
    if (!node) return
    if (node.type === 'TemplateLiteral' && isVariable(node)) note(node)
    const { text, hasValues } = partsOf(node)
    if (text && isVariable(text) && !hasValues) note(node)
  }
  full(tree, (any) => {
    const node = any as acorn.AnyNode
    if (node.type === 'ObjectExpression' && partsOf(node).isTrouble) lookAt(node)
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return
    const { property } = node.callee
    if (property.type === 'Identifier' && ['raise', 'trouble'].includes(property.name)) lookAt(node.arguments[1])
  })
  return [...new Set(found)]
}

t.test('every error with a variable text has values, so that a page can say it in another language', async (t) => {
  const root = packageRoot()
  // Notices of the command line get their values in the foundation.
  const files = ['plugins', 'runtime'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.d)\.ts$/.test(name) && !/(^|\/)(ui|cli)\//.test(name))
      .map((name) => join(folder, name)),
  )
  // Alerts have a text and an advice too, but are no errors.
  const isAlert = (file: string) => /^plugins\/(alerts\/|fleet-registry\/alerts\.ts$)/.test(file)
  const raising = files.filter(
    (file) => !isAlert(file) && /\.raise\(|\.trouble\(|\badvice\b/.test(readFileSync(join(root, file), 'utf8')),
  )
  t.ok(raising.length > 40)
  t.same(
    raising.flatMap((file) => withoutValues(readFileSync(join(root, file), 'utf8'), file)),
    [],
  )
  const wrong = ['e.raise("a", `x $Y`)', 'e.raise("a", { text: z })', 'f({ text: `x $Y`, advice: "" })']
  for (const one of wrong) t.equal(withoutValues(one.replace('$Y', `$${'{y}'}`), 'x').length, 1, one)
  t.same(withoutValues('const z = "x"; e.raise("a", { text: z }); e.raise("a", { text: y, values: { y } })', 'x'), [])
})
