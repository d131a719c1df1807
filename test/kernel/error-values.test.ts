import t from 'tap'
import system from '../../plugins/system/index.js'
import { definePlugin } from '../../runtime/plugin.js'
import { stationError } from '../../runtime/station-error.js'
import { createTestStation } from '../harness/index.js'

t.test('the values of an error are bounded, whatever a plugin gives', async (t) => {
  const valuesOf = (values: object) => stationError('x', { text: 'x', values: values as never }, 0).values
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
  t.notOk('values' in stationError('x', 'only a text', 0))
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
