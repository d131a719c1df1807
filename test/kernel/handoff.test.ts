/** What a previous version handed over is read through a schema. */
import t from 'tap'
import { type Static, Type } from 'typebox'
import { CheckedHandoff } from '../../runtime/kernel/instance/handoff.js'
import { definePlugin, type Handoff } from '../../runtime/plugin.js'
import { createTestStation } from '../harness/index.js'

const Position = Type.Object({ east_m: Type.Number(), name: Type.String({ maxLength: 8 }) })

function handoffOf(values: Record<string, unknown>) {
  const lines: string[] = []
  const log = { info: (fields: object, text: string) => void lines.push(JSON.stringify(fields) + text) }
  return { handoff: new CheckedHandoff(new Map(Object.entries(values)), log as never), lines }
}

t.test('S13: a value that fits is handed on, with its type', (t) => {
  const given = { east_m: 1.5, name: 'base', more: 'of another version' }
  const { handoff, lines } = handoffOf({ position: given, nothing: undefined })
  const position: Static<typeof Position> | undefined = handoff.get('position', Position)
  t.strictSame(position, given)
  t.not(position, given, 'it is a copy')
  t.equal(handoff.get('other', Position), undefined)
  t.equal(handoff.get('nothing', Position), undefined)
  t.strictSame(
    ['position', 'nothing', 'other'].map((name) => handoff.has(name)),
    [true, true, false],
  )
  t.strictSame(lines, [], 'what is not there is nothing to be told')
  t.end()
})

t.test('S13: a value of another shape is none, and the log says so once, without the value', (t) => {
  const secret = 'a-password-of-someone'
  for (const value of [
    null,
    secret,
    5,
    [],
    {},
    { east_m: Number.NaN, name: '' },
    { east_m: -Infinity, name: '' },
    { east_m: 1, name: secret },
  ]) {
    const { handoff, lines } = handoffOf({ position: value })
    t.equal(handoff.get('position', Position), undefined)
    t.equal(handoff.get('position', Position), undefined)
    t.equal(handoff.has('position'), true)
    t.strictSame(lines, [
      '{"name":"position"}the handoff position does not fit this version: the plugin starts without it',
    ])
  }
  t.end()
})

t.test('S13: who gives no schema gets nothing: a plugin that was built before there was one', (t) => {
  const { handoff, lines } = handoffOf({ position: { east_m: 1, name: '' } })
  const asBefore = handoff as unknown as ReadonlyMap<string, unknown>
  t.equal(asBefore.get('position'), undefined)
  t.equal(lines.length, 1)
  t.end()
})

t.test('S13: the version that starts again after a failed reload gets its own values, unchanged', async (t) => {
  const List = Type.Array(Type.Integer())
  const handed: unknown[] = []
  const version = (start: (handoff: Handoff) => void) =>
    definePlugin({
      ...{ name: 'keeper', version: '1.0.0', api: '^1.0.0', setup: () => {} },
      start: (_ctx, handoff) => start(handoff),
      stop: () => [['list', [1, 2]]],
    })
  const old = version((handoff) => void handed.push(handoff.get('list', List)))
  const station = await createTestStation({ plugins: { keeper: old } })
  t.teardown(() => station.stop())
  station.define(
    'keeper',
    version((handoff) => {
      t.equal(handoff.get('list', Type.String()), undefined)
      handoff.get('list', List)?.push(3)
      throw new Error('it cannot run')
    }),
  )
  await t.rejects(station.reload('keeper'), { code: 'RTK_ERR_RELOAD_FAILED' })
  t.strictSame(handed, [undefined, [1, 2]])
  const line = station.lines.find(({ msg }) => msg.startsWith('the handoff'))
  t.match(line, { plugin: 'keeper', name: 'list', level: 30 })
})
