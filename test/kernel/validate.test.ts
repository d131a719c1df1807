/** What is said of a value that does not fit, and how the text of a command line becomes a value. */
import t from 'tap'
import { type TSchema, Type } from 'typebox'
import { didYouMean, nearest } from '../../runtime/platform/nearest.js'
import {
  explain,
  isTooDeep,
  parseBySchema,
  pointerNames,
  problemOf,
  problemsOf,
  quote,
  relaxed,
} from '../../runtime/platform/validate.js'

const strict = { additionalProperties: false }
const port = Type.Integer({ minimum: 1, maximum: 65_535 })

t.test('each wrong field is named once, with its reason', async (t) => {
  const letters = (description?: string) => Type.String({ pattern: '^[a-z]+$', ...(description && { description }) })
  for (const [schema, value, ...wanted] of [
    [port, 80],
    [port, 0, ['', 'must be >= 1']],
    [Type.Object({ a: port, b: port }, strict), { a: 0, b: 'x' }, ['/a', 'must be >= 1'], ['/b', 'must be integer']],
    [Type.Object({ a: port }, strict), { a: 1, bee: 2 }, ['/bee', 'unknown field']],
    [Type.Object({ a: port }, strict), { a: 0, bee: 2 }, ['/bee', 'unknown field'], ['/a', 'must be >= 1']],
    [Type.Object({ 'a/b~c': port, d: port }), {}, ['/a~1b~0c', 'is missing'], ['/d', 'is missing']],
    [Type.Object({ in: Type.Object({ a: port }) }), { in: {} }, ['/in/a', 'is missing']],
    [Type.Union([Type.Literal('a'), Type.Literal('b')]), 'c', ['', 'must be "a" or "b"']],
    [Type.Union([Type.Number({ maximum: 90 }), Type.Null()]), 91, ['', 'must be <= 90 or null']],
    [Type.Union([port, Type.Integer({ maximum: 9 })]), 'x', ['', 'must be integer']],
    [
      Type.Object({ p: Type.Union([Type.Object({ a: port }), Type.Null()]) }),
      { p: { a: 'x' } },
      ['/p', /^must be .*null/],
    ],
    [letters(), '1', ['', /must match pattern/]],
    [letters('A few letters'), '1', ['', 'must be a few letters']],
    [letters('IPv4 address'), '1', ['', 'must be IPv4 address']],
    [Type.Object({ deep: Type.Array(letters('Letters')) }), { deep: ['a', '1'] }, ['/deep/1', 'must be letters']],
  ] as [TSchema, unknown, ...[string, string | RegExp][]][]) {
    const found = problemsOf(schema, value).map(({ field, message }) => [field, message])
    t.match(found, wanted, JSON.stringify(value))
    t.equal(found.length, wanted.length, JSON.stringify(value))
  }
})

t.test('a schema that is used often gives the same answers', async (t) => {
  for (let use = 1; use <= 20; use++) {
    t.equal(problemOf(port, 80), undefined)
    t.match(problemOf(port, 0), { message: 'must be >= 1' })
  }
})

t.test('of several problems the deepest is the one that is told, the first of those', async (t) => {
  const schema = Type.Object({ a: port, in: Type.Object({ b: port, c: port }) })
  t.same(problemOf(schema, { a: 0, in: { b: 0, c: 'x' } }), { field: '/in/b', message: 'must be >= 1' })
  t.same(problemOf(schema, { a: 0, in: { b: 1, c: 2 } }), { field: '/a', message: 'must be >= 1' })
})

t.test(
  'an option that is wrong is shown with its value, unless that may be a secret, or is no single value',
  async (t) => {
    const schema = Type.Object({ http: Type.Object({ port, token: Type.String() }, strict) }, strict)
    const root = { http: { port: 0, token: 'abc', prot: 1 } }
    for (const [field, message, wanted] of [
      ['/http/port', 'must be >= 1', 'must be >= 1, not 0'],
      ['/http/token', 'is too short', 'is too short'],
      ['/http', 'must be something', 'must be something'],
      ['/http/host', 'is missing', 'is missing'],
      ['/nowhere/at/all', 'is missing', 'is missing'],
      ['', 'must be object', 'must be object'],
      ['/http/prot', 'unknown field', 'unknown field (did you mean "port"?)'],
      ['/htp', 'unknown field', 'unknown field (did you mean "http"?)'],
      ['/http/xyzzy', 'unknown field', 'unknown field'],
      ['/nowhere/at', 'unknown field', 'unknown field'],
    ])
      t.equal(explain({ field, message }, schema, root), wanted, field)
    t.equal(explain({ field: '', message: 'must be object' }, schema, 'text'), 'must be object')
    t.same([pointerNames(''), pointerNames('/a~1b/~0c')], [[], ['a/b', '~c']])
  },
)

t.test('the names that were probably meant: three, the nearest first, and none by chance', async (t) => {
  for (const [name, known, wanted] of [
    ['rebot', ['reboots', 'reboot', 'robot', 'rebut', 'rebat'], ['reboot', 'robot', 'rebut']],
    ['reb', ['reboot', 'web'], ['reboot', 'web']],
    ['re', ['reboot'], []],
    ['prot', ['host', 'port'], ['port']],
    ['port', ['host', 'options', 'ports'], ['ports']],
    ['leXXl', ['level'], ['level']],
    ['leXXX', ['level'], []],
    ['abcdefghWXYZ', ['abcdefghijkl'], ['abcdefghijkl']],
    ['abcdefgVWXYZ', ['abcdefghijkl'], []],
  ] as const)
    t.same(nearest(name, known), wanted, name)
  t.same([didYouMean('prot', ['port']), didYouMean('xyzzy', ['port'])], [' (did you mean "port"?)', ''])
})

t.test('a switch is 0 and 1 or false and true; what is not one stays as it is', async (t) => {
  const number = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum })
  for (const [schema, value, wanted] of [
    [number(0, 1), true, 1],
    [number(0, 1), false, 0],
    [number(0, 1), 1, 1],
    [number(0, 2), true, true],
    [number(1, 1), true, true],
    [Type.Number({ minimum: 0, maximum: 1 }), true, true],
    [Type.Boolean(), 1, true],
    [Type.Boolean(), 0, false],
    [Type.Boolean(), 2, 2],
    [Type.Boolean(), '1', '1'],
    [Type.String(), 1, 1],
  ] as [TSchema, unknown, unknown][])
    t.equal(relaxed(schema, value), wanted, `${JSON.stringify(schema)} ${JSON.stringify(value)}`)
})

t.test('64 levels are not too deep, 65 are, wherever they are', async (t) => {
  const nested = (levels: number, around: (inner: unknown) => unknown) => {
    let value: unknown = 1
    for (let level = 0; level < levels; level++) value = around(value)
    return value
  }
  for (const around of [
    (inner: unknown) => [inner],
    (inner: unknown) => ({ a: inner }),
    (inner: unknown) => [1, null, inner],
    (inner: unknown) => ({ a: 1, b: null, c: inner }),
  ])
    t.same(
      [64, 65].map((levels) => isTooDeep(nested(levels, around))),
      [false, true],
    )
})

t.test('a value of a command line is read by its schema', async (t) => {
  for (const [schema, ...cases] of [
    [Type.Boolean(), ['true', true], ['1', true], ['false', false], ['0', false], ['yes', undefined], ['', undefined]],
    [Type.Integer(), ['12', 12], ['-1', -1], ['0x10', 16], [' ', undefined], ['x', undefined], ['1e999', undefined]],
    [Type.Number(), ['0.5', 0.5], ['Infinity', undefined]],
    [Type.String(), ['12345678', '12345678'], ['true', 'true'], ['', '']],
    [Type.Array(Type.Number()), ['[1,2]', [1, 2]], ['[', undefined]],
    [{ const: 'auto' }, ['auto', 'auto'], ['"auto"', 'auto'], ['manual', undefined]],
    [Type.Union([Type.Literal('auto'), Type.Integer({ maximum: 9 })]), ['auto', 'auto'], ['9', 9], ['10', undefined]],
    [Type.Union([Type.Boolean(), Type.String()]), ['1', true], ['no', 'no']],
  ] as [TSchema, ...[string, unknown][]][])
    for (const [text, value] of cases) t.same(parseBySchema(schema, text), value, `${JSON.stringify(schema)}: ${text}`)
})

t.test('a value in a message is quoted whole up to 60 characters', async (t) => {
  t.equal(quote('x'.repeat(58)).length, 60)
  t.equal(quote('x'.repeat(59)), `"${'x'.repeat(56)}…`)
  t.equal(quote(undefined), 'undefined')
})
