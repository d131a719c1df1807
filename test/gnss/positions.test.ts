/** The list of positions: names, what became of each, and what is kept of it. */
import t from 'tap'
import { Value } from 'typebox/value'
import type { Override } from '../../plugins/reference/survey-in/reference/override.js'
import {
  mostNamed,
  NamedPosition,
  PositionName,
  Positions,
  surveyedReference,
} from '../../plugins/reference/survey-in/reference/positions.js'
import type { Reference } from '../../plugins/reference/survey-in/reference/reference.js'
import { geodeticToEcef, roundEcef } from '../../runtime/lib/gnss/index.js'

const here = roundEcef(geodeticToEcef({ lat: 52, lon: 4, alt: 50 }))
const named = (name: string) => ({ name, ...here, acc: 0, corr: false, frame: '', epoch: '' })
const reference = (more: Partial<Reference> = {}): Reference => ({
  ...{ method: 'survey', arp: here, acc_m: 0.5, corr: false, t: 5, by: 'survey', samples: 30, elapsed_s: 29.7 },
  ...more,
})
const stored = (positions: Positions): unknown => JSON.parse(JSON.stringify(positions.entries))
const restored = (entries: unknown, most = 4) => {
  const positions = new Positions(most)
  positions.restore(entries)
  return positions
}
const eventsOf = (positions: Positions) =>
  positions.entries
    .flatMap(({ id: position, events }) => events.map(({ id, what, t: at_s }) => [id, what, at_s, position] as const))
    .toSorted(([a], [b]) => a - b)
const move = { east: 0.123_44, north: -0.5, up: 2 }

t.test('fifty have a name, each its own', async (t) => {
  const positions = new Positions(4)
  const save = (name: string, at_s = 0) => positions.save(named(name), at_s, 'http')
  for (let i = 1; i <= mostNamed; i++) t.equal(save(` ${99 - i} `, i).id, i)
  t.throws(() => save('one more'), { code: 'RTK_ERR_COMMAND_VALUE', message: /at most 50/ })
  positions.remove(7)
  t.throws(() => positions.find(7), { code: 'RTK_ERR_NOT_FOUND' })
  t.throws(() => save('98'), { message: /already called 98/ })
  t.throws(() => save('  '), { message: /needs a name/ })
  t.match(save('new', 5), { id: 51, provenance: 'entered', by: 'http', t: 5, frame: { epsg: 0, name: '' }, events: [] })
  t.match(positions.rename(51, 'newer '), { id: 51, name: 'newer', t: 5 })
  t.match(positions.rename(51, 'newer'), { name: 'newer' }, 'its own name is free')
  t.throws(() => positions.rename(51, '98'), { message: /already called 98/ })
  t.same(restored(stored(positions)).entries, positions.entries)
  t.match(
    new Positions(1).save({ ...named('a'), frame: ' igs20 ', epoch: '2026.5' }, 0, 'http').frame,
    { epsg: 9989, name: 'igs20', epoch: '2026.5' },
    'the code of the frame is known by any of its names',
  )
})

t.test('what is damaged is left out, and the rest is kept', async (t) => {
  const positions = new Positions(4)
  positions.save(named('a'), 1, 'http')
  positions.save({ ...named('b'), acc: 1 }, 1, 'http')
  const [a, b] = positions.entries
  t.same(restored([a, 'x', null, { ...b, x: 'far' }, { ...b, id: 0 }]).entries, [a])
  for (const none of [undefined, null, 'x', {}]) t.same(restored(none).entries, [])
})

t.test('what became of a position is noted once, and outlasts a restart', async (t) => {
  const positions = new Positions(4)
  t.equal(positions.used(reference(), 10, 7), true)
  t.equal(positions.used(reference(), 11, 7), false)
  t.equal(positions.used(reference(), 12, 8), true, 'another station ID')
  t.match(positions.entries, [{ provenance: 'surveyed', acc: 0.5, elapsed: 29, t: 5, stationId: 8 }])
  positions.moved(reference(), 12, 'phases', move)
  positions.moved(reference(), 13, 'phases')
  t.same(eventsOf(positions), [
    [1, 'used', 10, 1],
    [2, 'moved', 12, 1],
  ])
  t.match(positions.find(1).events[1], { offset: { east: 0.1234, north: -0.5, up: 2 }, evidence: 'phases' })
  const next = restored(stored(positions))
  next.moved(reference(), 14, 'phases')
  t.equal(eventsOf(next).length, 2, 'a move that stood before the restart')
  t.equal(next.used(reference(), 15, 8), false, 'trusted again')
  next.moved(reference(), 16, 'phases')
  next.confirmed(reference(), { t: 17, by: 'mqtt', offset: move, evidence: 'phases' } as Override)
  t.match(eventsOf(next), [{}, {}, [3, 'moved', 16], [4, 'confirmed', 17]], 'a new move after it was trusted')
  t.match(next.entries[0]?.events[3], { by: 'mqtt', offset: { east: 0.1234 }, evidence: 'phases' })
})

t.test('two survey-ins are two positions; the same coordinates entered again are one', async (t) => {
  const positions = new Positions(20)
  const entered = (more: Partial<Reference> = {}) => reference({ method: 'manual', by: 'http', ...more })
  const datum = { frame: 'ETRF2000', epoch: '2010.0' }
  for (const [of, isNew] of [
    [reference(), true],
    [reference({ t: 6 }), true],
    [reference({ t: 6, corr: true }), true],
    [entered(), true],
    [entered({ t: 7 }), false],
    [entered({ datum }), true],
    [entered({ datum, source: 'report 17' }), true],
    [entered({ datum, source: 'report 17', provenance: 'ppp' }), true],
    [entered({ datum, source: 'report 17', provenance: 'ppp', acc_m: 0.4 }), true],
  ] as const) {
    t.equal(positions.used(of, 10, 0), isNew, JSON.stringify(of))
    t.equal(positions.of(of), positions.entries.at(-1))
  }
  t.same(
    positions.entries.map(({ provenance }) => provenance),
    ['surveyed', 'surveyed', 'rtk-averaged', 'entered', 'entered', 'entered', 'ppp', 'ppp'],
  )
  t.match(positions.entries[4], { frame: { epsg: 7931, name: 'ETRF2000', epoch: '2010.0' } })
  t.match(surveyedReference(positions.find(3)), reference({ t: 6, corr: true, elapsed_s: 29 }), 'and the way back')
  t.equal(positions.used(reference(), 11, 0), true)
  t.same(eventsOf(positions).at(-1), [9, 'used', 11, 1], 'an earlier one is used again')
})

t.test('a saved position gets what becomes of it; without its name it stays while it has events', async (t) => {
  const positions = new Positions(2)
  positions.save(named('North'), 1, 'http')
  positions.used(reference({ method: 'manual', acc_m: 0 }), 10, 0)
  t.match(positions.entries, [{ id: 1, name: 'North', events: [{ what: 'used', t: 10 }] }])
  positions.remove(1)
  t.match(positions.entries, [{ id: 1, name: '' }])
  t.match(positions.save(named('South'), 2, 'http'), { id: 1, name: 'South' }, 'the same position')
  positions.remove(1)
  for (const at_s of [6, 7]) positions.used(reference({ t: at_s }), at_s, 0)
  t.same(eventsOf(positions), [
    [2, 'used', 6, 2],
    [3, 'used', 7, 3],
  ])
  t.equal(positions.entries.length, 2, 'its only event was the oldest')
})

t.test('the chosen reference is an entry, also before it was used', async (t) => {
  const positions = new Positions(4)
  t.equal(positions.choose(reference()), true)
  t.match(positions.entries, [{ id: 1, events: [] }])
  t.equal(positions.choose(reference()), false)
  positions.used(reference(), 10, 0)
  t.match([positions.active, positions.entries], [1, [{ id: 1, events: [{ what: 'used' }] }]])
  const manual = reference({ method: 'manual' })
  for (const x of [1, 2, 3]) t.equal(positions.choose({ ...manual, arp: { ...here, x } }), true)
  t.match([positions.active, positions.entries], [4, [{ id: 1 }, { x: 3 }]], 'what was only typed leaves nothing')
  t.equal(positions.choose(undefined), true)
  t.match([positions.active, positions.entries], [0, [{ id: 1 }]])
})

t.test('what is a position, and what a name', async (t) => {
  const text = (length: number) => 'x'.repeat(length)
  for (const [more, isTaken] of [
    [{}, true],
    [{ name: text(1) }, true],
    [{ name: text(63) }, true],
    [{ name: text(64) }, false],
    [{ name: '' }, false],
    [{ name: 'a\u0007' }, false],
    [{ x: -7e6, y: 7e6 }, true],
    [{ x: 7_000_001 }, false],
    [{ z: -7_000_001 }, false],
    [{ frame: text(32), epoch: text(32) }, true],
    [{ frame: text(33) }, false],
    [{ epoch: text(33) }, false],
    [{ acc: 100_000 }, true],
    [{ acc: 100_001 }, false],
    [{ acc: -0.1 }, false],
    [{ extra: 1 }, false],
  ] as const)
    t.equal(Value.Check(NamedPosition, { ...named('a'), ...more }), isTaken, JSON.stringify(more))
  t.same(
    [{ name: 'a' }, { name: 'a', x: 1 }, { name: text(64) }].map((sent) => Value.Check(PositionName, sent)),
    [true, false, false],
  )
})
