/** What the page of a fleet computes, without a browser. */
import t from 'tap'
import { Value } from 'typebox/value'
import type { Acceptance } from '../../../plugins/fleet/fleet-net/acceptance/acceptances.js'
import type { Entry, StationRow } from '../../../plugins/fleet/fleet-page/ui/fleet/api.js'
import type { Day, Judgement, Net, Pair } from '../../../plugins/fleet/fleet-page/ui/fleet/net-api.js'
import { de } from '../../../plugins/fleet/fleet-page/ui/i18n/de.js'
import { en } from '../../../plugins/fleet/fleet-page/ui/i18n/en.js'
import {
  clustersOf,
  fittingView,
  marksOf,
  moved,
  within,
  zoomInto,
} from '../../../plugins/fleet/fleet-page/ui/model/clusters.js'
import { differencesOf } from '../../../plugins/fleet/fleet-page/ui/model/difference.js'
import { linesOf } from '../../../plugins/fleet/fleet-page/ui/model/entered.js'
import { countsOf, filtered, filterFrom, noFilter, queryOf } from '../../../plugins/fleet/fleet-page/ui/model/filter.js'
import { apart_m, drawnNet, placedNet } from '../../../plugins/fleet/fleet-page/ui/model/net.js'
import { hoursFrom, offsetCurves } from '../../../plugins/fleet/fleet-page/ui/model/offsets.js'
import {
  canary,
  type EnteredPlan,
  exampleOf,
  planFrom as planOf,
  wavesOf,
} from '../../../plugins/fleet/fleet-page/ui/model/plan.js'
import { gapsOf, spansOf, sumsOf, verdictIn } from '../../../plugins/fleet/fleet-page/ui/model/timeline.js'
import { PlanRequest } from '../../../plugins/fleet/fleet-rollout/plan.js'
import type { BaselineReason, NetCause, NetReason } from '../../../runtime/lib/baseline/index.js'

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
  t.strictSame(found({}), ['B', 'A', 'D', 'C'], 'W10: a station that is offline serves nobody, as one that is unfit')
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
  t.strictSame(
    ['fit', 'unfit: moved: 3 m', 'constructor'].map(verdictIn),
    [{ verdict: 'fit', cause: 'ok' }, { verdict: 'unfit', cause: 'moved: 3 m' }, undefined],
    'the record has words for them',
  )
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
  t.strictSame(linesOf('a=1\n\n b = x=y '), { a: '1', b: 'x=y' })
  t.equal(linesOf('a'), undefined)
  t.strictSame(wavesOf('1, 5%, region=north'), [{ count: 1 }, { percent: 5 }, { labels: { region: 'north' } }])
  t.equal(wavesOf('1, x'), undefined)
  const common = { plugin: 'p', secret: false, endsLink: false, onTrial: false }
  const known = [
    { ...common, name: 'a', title: 'A', schema: { type: 'integer' } },
    { ...common, name: 'b', title: 'B', schema: { anyOf: [{ type: 'null' }, { type: 'string' }] } },
  ]
  const planFrom = (entered: EnteredPlan) => planOf(entered, known)
  t.equal(planFrom(canary), 'name')
  const named = { ...canary, name: 'n' }
  t.equal(planFrom(named), 'change')
  t.equal(planFrom({ ...named, what: 'image', image: 'javascript:1', imageVersion: '1' }), 'image')
  t.equal(planFrom({ ...named, change: new Map([['a', '1']]), from: '02:00' }), 'window')
  t.match(planFrom({ ...named, change: new Map([['a', '1']]), group: 'north' }), {
    filter: { group: 'north' },
    what: { change: { a: 1 } },
    waves: [{ count: 1 }, { percent: 5 }],
    soak_s: 600,
    position: true,
  })
  t.equal(Object(planFrom({ ...named, change: new Map([['a', '1']]), position: false })).position, false)
  const plan = planFrom({ ...named, change: new Map([['a', '1']]), group: 'north', from: '02:00', to: '04:00' })
  t.ok(Value.Check(PlanRequest, plan), 'the rollout takes it')
  const back = planFrom({ ...named, change: new Map([['a', '1']]), back: new Map([['b', '']]) })
  t.strictSame(
    Object(back).what,
    { change: { a: 1 }, back: { b: null } },
    'an empty entry is none where there may be none',
  )
  const away = row('AWAY', { online: 'offline', group: 'north' })
  const north = row('NORTH', { group: 'north', labels: { roof: 'flat' } })
  t.equal(exampleOf({ ...canary, group: 'north' }, [row('A'), away, north]), north)
  t.equal(exampleOf({ ...canary, labels: 'roof=steep' }, [north]), undefined)
})

t.test('every reason, cause and outcome of the net has its words', async (t) => {
  const reasons: Record<NetReason | Exclude<BaselineReason, 'ok'> | 'pending', true> = {
    ...{ confirmed: true, outvoted: true, pending: true, ambiguous: true, antennas: true, imprecise: true },
    ...{ 'no-vectors': true, 'too-few': true, 'no-majority': true, 'no-reference': true },
    ...{
      'too-little': true,
      'one-frequency': true,
      contradicts: true,
      'no-orbits': true,
      'not-fixed': true,
      'not-confirmed': true,
    },
  }
  const causes: Record<NetCause['kind'] | 'survey', true> = {
    ...{ swapped: true, far: true, frame: true, height: true, moved: true, survey: true, unexplained: true },
  }
  const outcomes: Record<Acceptance['outcome'], true> = {
    ...{ running: true, accepted: true, rejected: true, undecided: true, cancelled: true },
  }
  const named = { 'net.reason': reasons, 'net.cause': causes, 'acceptance.outcome': outcomes }
  for (const [kind, all] of Object.entries(named))
    for (const name of Object.keys(all)) {
      t.ok(`${kind}.${name}` in en, `${kind}.${name}`)
      t.ok(`${kind}.${name}` in de, `${kind}.${name} in German`)
    }
})

t.test('the net on the map: lines of the shown part, contradictions first', async (t) => {
  const judgement = (serial: string, state: Judgement['state']): Judgement => ({
    ...{ serial, state, reason: '', vectors: 3, since: 0, cause: { kind: '', text: '' } },
    ...{ offset: { east: 0, north: 0, up: 0 }, sigma: { east: 0, north: 0, up: 0 } },
  })
  const pair = (one: string, other: string, status: Pair['status'] = 'fixed'): Pair => ({
    ...{ one, other, status, reason: '', tried: 0 },
  })
  const net: Net = {
    stations: [judgement('A', 'agrees'), judgement('B', 'agrees'), judgement('C', 'contradicts')],
    pairs: [
      ...[pair('A', 'B'), pair('A', 'C', 'float'), pair('B', 'C', 'none'), pair('A', 'D'), pair('A', 'NOWHERE')],
      ...[pair('A', 'GONE'), pair('FAR1', 'FAR2')],
    ],
  }
  const rows = [
    ...[row('A', { lat: 50, lon: 5 }), row('B', { lat: 50.1, lon: 5 }), row('C', { lat: 50, lon: 5.1 })],
    ...[row('D', { lat: 50.1, lon: 5.1 }), row('NOWHERE')],
    ...[row('FAR1', { lat: -10, lon: 179.9 }), row('FAR2', { lat: -10, lon: -179.9 })],
  ]
  const placed = placedNet(net, rows)
  t.equal(placed.lines.length, 5, 'a pair without a place, or with a station that is not shown, has no line')
  t.strictSame([...placed.contradicted.keys()], ['C'])
  const size = { width: 600, height: 400 }
  const view = { lat: 50.05, lon: 5.05, zoom: 11 }
  const drawn = drawnNet(placed, view, size)
  t.strictSame(drawn.counts, { agrees: 1, contradicts: 1, none: 2 }, 'no vector, or not judged: neither good nor bad')
  t.match(drawn, { left: 0, contradicted: { length: 1 } })
  t.match(drawn.paths.agrees, /^M-\d+\.\d \d+\.\dL-\d+\.\d -\d+\.\d$/, 'pixels from the centre')
  const few = drawnNet(placed, view, size, 1)
  t.match([few.left, few.paths.agrees, few.paths.none], [3, '', ''])
  t.not(few.paths.contradicts, '', 'a contradiction is drawn first')
  const [x1 = 0, x2 = 0] = (
    drawnNet(placed, { lat: -10, lon: 179.9, zoom: 9 }, size).paths.none.match(/[ML]-?\d+/g) ?? []
  ).map((text) => Number(text.slice(1)))
  t.ok(Math.abs(x2 - x1) < 100 && x1 !== x2, 'across the date line the short way')
  t.ok(Math.abs((apart_m(rows[0], rows[1]) ?? 0) - 11_120) < 30)
  t.equal(apart_m(rows[0], rows[4]), undefined)
  t.equal(apart_m(rows[0], undefined), undefined)
  const clusters = clustersOf(rows)
  t.equal(drawnNet(placed, fittingView(clusters, size), size).left, 0)
})

t.test('daily offsets as curves, with gaps', async (t) => {
  const day = (n: number, up: number): Day => ({
    ...{ t: n * 86_400, offset: { east: 0.001, north: -0.002, up }, sigma: { east: 0.002, north: 0.002, up: 0.004 } },
  })
  const { sigmas, times, values } = offsetCurves([day(1, 0.001), day(2, 0.002), day(5, -0.1)])
  t.strictSame(
    times,
    [1, 2, 3, 5].map((n) => n * 86_400),
  )
  t.strictSame(values.up, [1, 2, null, -100], 'days without a vector are a gap')
  t.strictSame(
    [values.east, sigmas.up],
    [
      [1, 1, null, 1],
      [4, 4, 0, 4],
    ],
  )
  t.strictSame(['1', ' 71 ', '24'].map(hoursFrom), [1, 71, 24])
  t.strictSame(['0', '72', '1.5', '-3', '1e1', '', 'x'].map(hoursFrom), Array(7).fill(undefined))
})
