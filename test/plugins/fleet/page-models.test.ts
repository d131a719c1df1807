/** What the page of a fleet computes, without a browser. */
import t from 'tap'
import type { Entry, StationRow } from '../../../plugins/fleet-page/ui/fleet/api.js'
import {
  clustersOf,
  fittingView,
  marksOf,
  moved,
  within,
  zoomInto,
} from '../../../plugins/fleet-page/ui/model/clusters.js'
import { differencesOf } from '../../../plugins/fleet-page/ui/model/difference.js'
import { enteredValue, isHarmless, linesOf } from '../../../plugins/fleet-page/ui/model/entered.js'
import { countsOf, filtered, filterFrom, noFilter, queryOf } from '../../../plugins/fleet-page/ui/model/filter.js'
import { canary, planFrom, wavesOf } from '../../../plugins/fleet-page/ui/model/plan.js'
import { gapsOf, spansOf, sumsOf } from '../../../plugins/fleet-page/ui/model/timeline.js'

const row = (serial: string, given: Partial<StationRow> = {}): StationRow => ({
  ...{ serial, name: '', group: '', labels: {}, online: 'online', verdict: 'fit', cause: 'ok', since: 0 },
  ...{ lat: 0, lon: 0, version: '1.0.0', rovers: 0, seen: 0 },
  ...given,
})

t.test('a list shows what fits, the worst first', async (t) => {
  const rows = [
    row('C'),
    row('B', { verdict: 'unfit', labels: { region: 'North' } }),
    row('A', { online: 'offline', name: 'Quay 2' }),
    row('D', { verdict: 'degraded', name: 'Quay 10', group: 'west' }),
  ]
  const found = (filter: object) => filtered(rows, { ...noFilter, ...filter }).map(({ serial }) => serial)
  t.strictSame(found({}), ['B', 'D', 'A', 'C'], 'of a station that is offline the verdict is unknown')
  t.strictSame(found({ sort: 'name' }), ['B', 'C', 'A', 'D'], 'numbers in names are numbers')
  t.strictSame(found({ sort: 'serial', isDown: true }), ['D', 'C', 'B', 'A'])
  t.strictSame(found({ text: 'quay 10' }), ['D'])
  t.strictSame(found({ text: 'north' }), ['B'], 'labels are searched')
  t.strictSame(found({ verdict: 'fit' }), ['C'])
  t.strictSame(found({ group: 'west', online: 'online' }), ['D'])
  t.match(countsOf(rows), { verdict: { fit: 1, unknown: 1, unfit: 1 }, online: { offline: 1 }, groups: ['west'] })
  const filter = { ...noFilter, text: 'a&b', verdict: 'unfit', isDown: true } as const
  t.strictSame(filterFrom(new URLSearchParams(queryOf(filter))), filter, 'the address keeps it')
  t.strictSame(filterFrom(new URLSearchParams('verdict=<img>&sort=x')), noFilter, 'what is not known is left out')
})

t.test('stations of a map: each is in one mark, and marks come apart', async (t) => {
  const rows = Array.from({ length: 500 }, (_, at) =>
    row(`S${at}`, { lat: 50 + (at % 25) / 10, lon: 5 + at / 100, verdict: at % 3 === 0 ? 'unfit' : 'fit' }),
  )
  rows.push(row('NOWHERE'), row('TWIN1', { lat: 10, lon: 10 }), row('TWIN2', { lat: 10, lon: 10 }))
  const size = { width: 600, height: 400 }
  const clusters = clustersOf(rows)
  t.equal(clusters.placed, 502, 'one has no place')
  const view = fittingView(clusters, size)
  const marks = marksOf(clusters, view, size)
  t.equal(
    marks.reduce((sum, { count }) => sum + count, 0),
    502,
    'all of them are seen',
  )
  for (const { x, y } of marks) t.ok(x >= 0 && x <= 600 && y >= 0 && y <= 400)
  const large = marks.find(({ count }) => count > 2)
  t.ok(large && (zoomInto(clusters, large)?.zoom ?? 0) > view.zoom)
  const twins = marks.find(({ count }) => count === 2)
  t.equal(twins && zoomInto(clusters, twins), undefined, 'two at one place never do')
  t.strictSame(twins && within(clusters, twins), ['TWIN1', 'TWIN2'])
  const back = moved(moved(view, 50, -30), -50, 30)
  t.ok(Math.abs(back.lat - view.lat) < 1e-9 && Math.abs(back.lon - view.lon) < 1e-9)
})

t.test('the days of a station, from its record', async (t) => {
  const entry = (at: number, kind: string, text: string): Entry => ({ t: at, serial: 'A', kind, text, by: '' })
  const spans = spansOf(
    [
      entry(50, 'online', 'online'),
      entry(60, 'verdict', 'fit'),
      entry(200, 'verdict', 'unfit: moved: 3 m'),
      entry(300, 'online', 'offline'),
      entry(400, 'online', 'online'),
      entry(400, 'verdict', 'unfit: starting'),
      entry(450, 'verdict', 'degraded: jamming'),
      entry(460, 'version', '2'),
    ],
    100,
    500,
    undefined,
  )
  t.strictSame(
    spans.map(({ from, to, kind, cause }) => [from, to, kind, cause]),
    [
      [100, 200, 'good', 'ok'],
      [200, 300, 'broken', 'moved: 3 m'],
      [300, 400, 'broken', 'offline'],
      [400, 450, 'planned', 'starting'],
      [450, 500, 'limited', 'jamming'],
    ],
  )
  t.strictSame(
    gapsOf(spans).map(({ cause }) => cause),
    ['starting', 'offline', 'moved: 3 m'],
  )
  t.match(sumsOf(spans), { good: 100, broken: 200, planned: 50, limited: 50, unknown: 0 })
  t.match(spansOf([entry(400, 'verdict', 'fit')], 100, 500, undefined)[0], { to: 400, kind: 'unknown' }, 'no evidence')
  t.match(spansOf([entry(150, 'verdict', 'constructor')], 100, 500, undefined), [{ kind: 'unknown', to: 500 }])
})

t.test('what changed between two documents', async (t) => {
  const before = { base: { name: 'A' }, esp: { uptime: 1 }, gnss: { config: { rate: 1 } } }
  const now = { base: { name: 'B' }, esp: { uptime: 2 }, gnss: { config: { rate: 1, gate: [1] } } }
  t.strictSame(differencesOf(before, now, false), [
    { path: 'base.name', before: '"A"', now: '"B"' },
    { path: 'gnss.config.gate', before: undefined, now: '[1]' },
  ])
  t.equal(differencesOf(before, now, true).length, 3)
})

t.test('what people enter', async (t) => {
  t.strictSame(['1', '-2.5', 'true', 'null', 'abc', '{"a":1}', '1abc', ''].map(enteredValue), [
    ...[1, -2.5, true, null, 'abc', { a: 1 }, '1abc', ''],
  ])
  t.strictSame(linesOf('a=1\n\n b = x=y '), { a: '1', b: 'x=y' })
  t.equal(linesOf('a'), undefined)
  t.strictSame(wavesOf('1, 5%, region=north'), [{ count: 1 }, { percent: 5 }, { labels: { region: 'north' } }])
  t.equal(wavesOf('1, x'), undefined)
  t.strictSame(['log=d', 'reboot', 'logout', 'firmware=http://x'].map(isHarmless), [true, false, false, false])
  t.equal(planFrom(canary), 'name')
  const named = { ...canary, name: 'n' }
  t.equal(planFrom(named), 'change')
  t.equal(planFrom({ ...named, what: 'image', image: 'javascript:1', imageVersion: '1' }), 'image')
  t.equal(planFrom({ ...named, change: 'a=1', from: '02:00' }), 'window')
  t.match(planFrom({ ...named, change: 'a=1', group: 'north' }), {
    filter: { group: 'north' },
    what: { change: { a: 1 } },
    waves: [{ count: 1 }, { percent: 5 }],
    soak_s: 600,
  })
})
