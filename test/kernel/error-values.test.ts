import t from 'tap'
import system from '../../plugins/device/system/index.js'
import { stationError } from '../../runtime/platform/standing-errors.js'
import { type AnyPlugin, definePlugin } from '../../runtime/plugin.js'
import { createTestStation, ManualClock, probe } from '../harness/index.js'

const codes = Array.from({ length: 10_000 }, (_, n) => `code-${n}`)

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

t.test('a value that the text shows does not choose the text', async (t) => {
  const texts = {
    'error.join': '{ssid} is not joined',
    'error.join.password': '{ssid} is not joined: wrong password',
    'error.join.advice': 'look whether it is in reach',
    'error.join.advice.password': 'enter the password again',
  }
  const parts = (ssid: string, cause: string) => {
    const { why, advice } = stationError('join', { ssid, cause }, {}, texts)
    return [why, advice]
  }
  t.same(parts('cafe', 'password'), ['cafe is not joined: wrong password', 'enter the password again'])
  for (const ssid of ['password', 'advice'])
    t.same(parts(ssid, 'away'), [`${ssid} is not joined`, 'look whether it is in reach'])
})

t.test('the document has them beside the text', async (t) => {
  const raises = definePlugin({
    name: 'raises',
    version: '1.0.0',
    api: '^1.0.0',
    texts: {
      en: JSON.stringify({
        'error.some-trouble': 'it is {distance_m} m away',
        'error.some-trouble.advice': 'look',
        'error.other-trouble': 'only a text',
      }),
    },
    setup: () => undefined,
    start(ctx) {
      ctx.errors.while('some-trouble', { distance_m: 3 })
      ctx.errors.while('other-trouble', true)
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

t.test('an error without a text shows its code and values, and the log says so once', async (t) => {
  const raises = probe([], ({ errors }) => {
    for (const distance_m of [3, 4]) errors.while('silent-trouble', { distance_m })
  })
  const station = await createTestStation({ plugins: { raises, system } })
  t.teardown(() => station.stop())
  t.match(station.device.errors(), [{ text: 'silent-trouble, distance_m 4', advice: '', values: { distance_m: 4 } }])
  t.equal(station.lines.filter(({ msg }) => msg.includes('has no text for the error silent-trouble')).length, 1)
})

t.test('of too many errors, the document keeps what silences the station, and a plugin has a limit', async (t) => {
  const clock = new ManualClock()
  const texts = codes.slice(0, 100).map((code) => [`error.${code}`, 'x'])
  const many = definePlugin({
    name: 'many',
    version: '1.0.0',
    api: '^1.0.0',
    texts: {
      en: JSON.stringify({ 'error.silent': 'nothing goes out', ...Object.fromEntries(texts) }),
    },
    setup(ctx) {
      ctx.errors.while('silent', true, { severity: 'silences', t: 1 })
      for (const code of codes) ctx.errors.while(code, true)
    },
  })
  const station = await createTestStation({ clock, plugins: { many: many as AnyPlugin, system: system as AnyPlugin } })
  t.teardown(() => station.stop())
  const shown = station.field('base.state.errors') as { code: string }[]
  t.equal(shown.length, 32)
  t.equal(shown[0]?.code, 'silent')
  const last = shown.at(-1)?.code
  t.equal(last, codes[62], 'the 64th of the plugin, with the first one')
})
