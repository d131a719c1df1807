/** What the pages compute, and what the station tells them: without a browser. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import type { NetworkInterfaceInfo } from 'node:os'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createGunzip, gzipSync } from 'node:zlib'
import { createTestStation, ManualClock, partOf, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { pageAddresses, qrLines, qrPath } from '../../../../plugins/page/dashboard/address/page-addresses.js'
import { EventClient } from '../../../../plugins/page/dashboard/events/event-client.js'
import {
  type Evidence as FigureEvidence,
  figures,
  readFigures,
} from '../../../../plugins/page/dashboard/history/figures.js'
import { FigureRecorder } from '../../../../plugins/page/dashboard/history/recorder.js'
import { SampleRing } from '../../../../plugins/page/dashboard/history/ring.js'
import { Shading } from '../../../../plugins/page/dashboard/history/shading.js'
import { surveyFactsOf } from '../../../../plugins/page/dashboard/history/survey-curve.js'
import { pages } from '../../../../plugins/page/dashboard/ui/i18n/en-pages.js'
import { geoLink, lengthText, roundBelow } from '../../../../plugins/page/dashboard/ui/model/gnss/geodesy.js'
import { readPosition } from '../../../../plugins/page/dashboard/ui/model/gnss/position-text.js'
import {
  antennaOf,
  changeOf,
  historyRows,
  namedPositions,
  type Position,
  previewOf,
  referenceOf,
  savedOf,
} from '../../../../plugins/page/dashboard/ui/model/gnss/positions.js'
import {
  edgesOf,
  lastTime,
  layout,
  transitionsOf,
  waysOut,
} from '../../../../plugins/page/dashboard/ui/model/gnss/procedure.js'
import {
  bandOf,
  barsOf,
  cellPath,
  dotRadius,
  nameOf,
  project,
  shadeOf,
} from '../../../../plugins/page/dashboard/ui/model/gnss/sky.js'
import { percentOf, scatterOf, surveyOf } from '../../../../plugins/page/dashboard/ui/model/gnss/survey.js'
import { type GuideEvidence, guideOf, meanCno, networksOf } from '../../../../plugins/page/dashboard/ui/model/guide.js'
import {
  csvOf,
  emptySide,
  type MapPoint,
  namedOf,
  referenceMapOf,
  type StationMap,
} from '../../../../plugins/page/dashboard/ui/model/map.js'
import {
  coverage_s,
  percentsOf,
  segmentsOf,
  sharesOf,
  timesOf,
} from '../../../../plugins/page/dashboard/ui/model/series.js'
import { api } from '../../../../plugins/page/dashboard/ui/station/api.js'
import { states, table } from '../../../../plugins/reference/survey-in/procedure/table.js'
import { distance, ecefToGeodetic, geodeticToEcef, offsetEnu } from '../../../../runtime/lib/gnss/index.js'
import { linearAxis, logAxis, timeAxis } from '../../../../runtime/lib/page/ui/model/axis.js'
import { extentOf, thinned } from '../../../../runtime/lib/page/ui/model/curves.js'
import { boundsOf, choiceText, fieldOf, inputFrom, wrongOf } from '../../../../runtime/lib/page/ui/model/form.js'
import { tilesOf } from '../../../../runtime/lib/page/ui/model/tiles.js'
import { chainOf, firstBroken } from '../../../../runtime/lib/page/ui/station/chain.js'
import { certificateOf, fixOf, type Rover, toneOf } from '../../../../runtime/lib/page/ui/station/links.js'
import { outputsOf } from '../../../../runtime/lib/page/ui/station/outputs.js'
import {
  goesOut,
  kindOf,
  messagesOf,
  msmOf,
  rateOf,
  stationIdOf,
} from '../../../../runtime/lib/page/ui/station/rtcm.js'
import { isNew } from '../../../../runtime/lib/page/ui/station/set-up.js'
import { Host, OptionalHost } from '../../../../runtime/platform/address/host.js'
import { packageRoot } from '../../../../runtime/platform/release.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../../../runtime/plugin.js'
import {
  device,
  procedureStatus,
  type RtcmEpoch,
  receiver,
  rtcmStream,
  station as stationService,
} from '../../../../schemas/services.js'
import { type EventStream, openEvents } from '../../../harness/peers/event-stream.js'
import { shippedPlugin } from '../../../harness/shipped.js'

const home = { lat: 52, lon: 4, alt: 50 }
const here = geodeticToEcef(home)

t.test('scales are round', async (t) => {
  t.equal(geoLink(here), 'geo:52.00000000,4.00000000')
  t.strictSame([0.037, 0.2, 1, 4.9, 5, 99, 0, -1, Number.NaN].map(roundBelow), [0.02, 0.2, 1, 2, 5, 50, 0, 0, 0])
  t.strictSame([0.002, 0.05, 1, 20, 5_000].map(lengthText), ['2 mm', '5 cm', '1 m', '20 m', '5 km'])
})

t.test('the survey-in', async (t) => {
  const config = { mintime: 300, maxtime: 86_400, accuracy: 2 }
  const survey = { type: 'ecef', ...here, state: 'running', count: 150, elapsed: 150, acc: 4, corr: false, config }
  const of = (more: object) => {
    const found = surveyOf({ gnss: { ref: { survey: { ...survey, ...more } } } })
    if (!found) throw new Error('no survey-in')
    return found
  }
  t.equal(surveyOf({}), undefined)
  t.equal(surveyOf(undefined), undefined)
  t.match(of({}), { timeShare: 0.5, accuracyShare: 0.25, isOutOfReach: false, acc_m: 4, target_m: 2 })
  t.equal(percentOf(of({})), 25, 'what is farther away counts')
  t.equal(percentOf(of({ acc: 1.5, elapsed: 400 })), 99, 'it is not over')
  t.equal(percentOf(of({ state: 'complete' })), 100)
  t.equal(of({ config: { ...config, accuracy: 1 } }).isOutOfReach, true)
  const corrected = of({ corr: true, acc: 1.2, acc_corr: 0.02, accuracy_corr_dyn: 0.04 })
  t.match(corrected, { acc_m: 0.02, stated_m: 1.2, target_m: 0.04, accuracyShare: 1, isOutOfReach: false })
  t.match(of({ type: '', count: 0 }), { mean: undefined, acc_m: undefined, accuracyShare: 0 })
  const away = offsetEnu(here, { east: 3, north: -1, up: 9 })
  const scatter = scatterOf([{ t: 1, now: away, mean: here, acc: 1 }], here, 1)
  t.ok(Math.abs(scatter.reach_m - 3.3) < 1e-6, 'the farthest point fits in, its height does not matter')
})

t.test('a survey-in without a position of now has no point of its curve', async (t) => {
  const survey = { state: 'running', elapsed: 110, count: 110, acc: 2, ...here }
  const nowhere = { x: 0, y: 0, z: 0 }
  t.equal(surveyFactsOf({ gnss: { ref: { survey }, pos: { ...nowhere, t: 0 } } }), undefined)
  t.equal(surveyFactsOf({}), undefined)
  t.match(surveyFactsOf({ gnss: { ref: { survey }, pos: { ...here, t: 1 } } }), { elapsed: 110, now: here, mean: here })
})

t.test('the sky', async (t) => {
  const near = (found: { x: number; y: number }, x: number, y: number) =>
    t.ok(Math.hypot(found.x - x, found.y - y) < 1e-9, `${x} ${y}`)
  near(project(0, 0, 100), 0, -100)
  near(project(90, 0, 100), 100, 0)
  near(project(180, 45, 100), 0, 50)
  near(project(270, 90, 100), 0, 0)
  t.ok(dotRadius(50) ** 2 > 1.9 * dotRadius(30) ** 2, 'the area grows')
  t.equal(dotRadius(0), dotRadius(20))
  t.equal(cellPath(0, 0, 10, 90), 'M0.0 -90.0A90.0 90.0 0 0 1 15.6 -88.6L13.9 -78.8A80.0 80.0 0 0 0 0.0 -80.0Z')
  t.strictSame([0, 20, 30, 40, 45].map(shadeOf), [0, 1, 2, 3, 4])
  t.strictSame(['L1', 'E1', 'B1I', 'L2', 'E5b', 'B2I', 'B3I', 'E6', 'L5', 'E5a', 'B2a', 'X9'].map(bandOf), [
    'L1',
    'L1',
    'L1',
    'L2',
    'L2',
    'L2',
    'L6',
    'L6',
    'L5',
    'L5',
    'L5',
    undefined,
  ])
  const satellite = { sys: 'galileo', id: 3, az: 1, el: 2, cno: 40, used: true }
  t.equal(nameOf({ ...satellite, signals: [] }), 'E03')
  const signals = [
    { name: 'E1', cno: 40, used: true },
    { name: 'E5b', cno: 38, used: false },
  ]
  t.match(barsOf([{ ...satellite, signals }]), [
    ['L1', [{ name: 'E03', sys: 'galileo', cno: 40, used: true }]],
    ['L2', [{ name: 'E03', cno: 38, used: false }]],
  ])
})

t.test('W6: a station ID is no quantity, and has no separators', async (t) => {
  t.equal(stationIdOf({ gnss: { config: { station: { id: 2362 } } } }), '2362')
  t.equal(stationIdOf({ gnss: { config: { station: { id: 0 } } } }), '0')
  t.equal(stationIdOf({}), '')
})

t.test('RTCM: late and stopped messages are marked', async (t) => {
  const msgs = [
    { id: 1005, interval: 1, since: 0.4, nominal: 1, bytes: 25 },
    { id: 1074, interval: 1, since: 4, nominal: 1, bytes: 300 },
    { id: 1084, interval: 5, since: 1, nominal: 1, bytes: 200 },
    { id: 1124, bytes: 100 },
    { id: 1230, interval: 10, since: 9, bytes: 14 },
    { id: 1033, interval: 0, since: 2 },
  ]
  const rows = messagesOf({ gnss: { rtcm: { msgs } } })
  t.strictSame(
    rows.map(({ state }) => state),
    ['good', 'late', 'late', 'stopped', 'good', 'good'],
  )
  t.equal(Math.round(rateOf(rows)), 25 + 300 + 40 + 1)
  t.strictSame(messagesOf({}), [])
  const during = (base: string, fitness: string) => goesOut({ base: { state: { base, verdict: { fitness } } } })
  t.strictSame(
    [during('ready', 'fit'), during('updating', 'degraded'), during('updating', 'unfit'), during('degraded', 'unfit')],
    [true, true, false, false],
  )
  t.strictSame([1077, 1124, 1005].map(msmOf), ['GPS MSM7', 'BeiDou MSM4', ''])
  t.strictSame([1006, 1008, 1230, 1074, 1004, 1012, 1020, 4072].map(kindOf), [
    'reference',
    'antenna',
    'biases',
    'observations',
    'observations',
    'observations',
    'ephemeris',
    'other',
  ])
})

t.test('links', async (t) => {
  t.strictSame(['up', 'proven', 'refused', 'idle', 'new in a later version'].map(toneOf), [
    'good',
    'good',
    'broken',
    'idle',
    'warning',
  ])
  const rover = { lat: 52, lon: 4, quality: 4 } as Rover
  t.equal(fixOf(rover), 'fixed')
  t.equal(fixOf({ ...rover, quality: 9 }), 'single')
  t.equal(fixOf({ ...rover, lat: 0, lon: 0 }), 'silent')
  const day = 86_400
  const cert = (from: number, until: number, time: number) =>
    certificateOf({ gnss: { state: { time } }, mqtt: { state: { cert: { from, until, serial: 'a' } } } })
  t.equal(certificateOf({}), undefined)
  t.match(cert(day, 361 * day, 100 * day), { days: 261, tone: 'good' })
  t.match(cert(day, 361 * day, 310 * day), { days: 51, tone: 'warning' }, 'as the station itself warns')
  t.match(cert(day, 361 * day, 362 * day), { days: -1, tone: 'broken' })
  t.match(cert(day, 361 * day, 0), { days: undefined, tone: 'idle' }, 'no time, no judgement')
})

t.test('the procedure', async (t) => {
  const rows = table.map(({ from, on, to }) => ({ from, on, to }))
  const list = Object.entries(states).map(([name, { status, waits }]) => ({ name, status, waits }))
  const { boxes } = layout(list.map(({ name }) => name))
  const places = boxes.map(({ x, y }) => `${x} ${y}`)
  t.equal(new Set(places).size, list.length, 'every state has a place of its own')
  t.ok(boxes.every(({ y }) => y < 500) && layout(['fixed', 'brand-new']).boxes.length === 2)
  t.ok(edgesOf(rows).every(({ from, to }) => from !== 'any' && from !== to))
  t.match(
    edgesOf(rows).find(({ from, to }) => from === 'accept' && to === 'base'),
    { events: ['wrong 1005', 'no 1005', 'output changed'] },
  )
  const out = waysOut({ state: 'identify', since: 0, states: list, table: rows }, 'identify')
  t.ok(
    out.some(({ on, to }) => on === 'port gone' && to === 'offline'),
    'those of every state too',
  )
  t.notOk(
    out.some(({ on }) => on === 'receiver restarted'),
    'its own row counts, which goes nowhere',
  )
  const lines = [
    '{"t":1,"run":{"version":"1"}}',
    '{"t":2,"set":{"procedure":{"status":"acquire"},"gate":{"open":false,"reason":"no fix","reason_code":"gate.fix"}}}',
    'half a li',
    '{"t":3,"set":{"link x":null,"gate":{"open":true,"reason":""}}}',
    '{"t":4,"min":{"epochs":60}}',
    '',
  ].join('\n')
  t.strictSame(transitionsOf(lines, 3), [
    { t: 3, what: 'gate', text: '' },
    { t: 2, what: 'gate', text: 'no fix', values: { open: false, reason: 'no fix', reason_code: 'gate.fix' } },
    { t: 2, what: 'procedure', text: 'acquire' },
  ])
})

t.test('a time of day is the last one that was', async (t) => {
  const now = new Date(2026, 10, 22, 12, 0).getTime()
  t.equal(lastTime('11:59', now), `${new Date(2026, 10, 22, 11, 59).toISOString().slice(0, 16)}Z`)
  t.equal(lastTime('12:01', now), `${new Date(2026, 10, 21, 12, 1).toISOString().slice(0, 16)}Z`)
  t.strictSame(
    ['', '25:00', 'noon'].map((text) => lastTime(text, now)),
    [undefined, undefined, undefined],
  )
})

t.test('positions', async (t) => {
  const survey = { type: 'ecef', state: 'complete', ...here }
  const document = {
    gnss: {
      state: { gps_fix: '3d' },
      ref: { chosen: 'survey', survey },
      pos: { ...offsetEnu(here, { east: 2, north: 0, up: 0 }), t: 1 },
    },
  }
  t.match(referenceOf(document), { method: 'survey', ...here })
  t.equal(referenceOf({ gnss: { ref: { chosen: 'manual', manual: { type: '' } } } }), undefined)
  t.equal(referenceOf(undefined), undefined)
  const surveying = { gnss: { ref: { chosen: 'survey', survey: { ...survey, state: 'running' } } } }
  t.equal(referenceOf(surveying), undefined, 'W2: the mean of a survey-in that runs is no reference')
  const entry = (id: number, east: number, what: Position['events'][number]['what'] = 'used') =>
    ({
      ...{ id, provenance: 'surveyed', ...offsetEnu(here, { east, north: 0, up: 0 }) },
      events: [{ id, what, t: id, by: 'survey' }],
    }) as unknown as Position
  const names = ['', 'b', 'a'].map((name) => ({ ...entry(1, 0), name }))
  t.match(namedPositions(names), [{ name: 'a' }, { name: 'b' }])
  t.equal(namedPositions(names).length, 2)
  const rows = historyRows([entry(1, 30), entry(2, 0), entry(3, 0, 'moved')], referenceOf(document))
  t.match(
    rows.map(({ event, isPresent, away_m }) => [event.id, isPresent, Math.round(away_m ?? -1)]),
    [
      [3, false, 0],
      [2, true, 0],
      [1, false, 30],
    ],
  )
  const label = ({ event }: { event: { id: number } }) => `No. ${event.id}`
  const map = referenceMapOf(
    historyRows([entry(1, 30), entry(4, 30), entry(5, -3), entry(2, 0)], referenceOf(document)),
    referenceOf(document),
    label,
  )
  t.match(
    map?.points.map(({ name, kind, east }) => [name, kind, Math.round(east)]),
    [
      ['No. 5', 'history', -3],
      ['No. 4', 'history', 30],
    ],
    'each earlier place once',
  )
  t.equal(map?.radius_m, 50)
  const at = (north: number) => ({ ...(map?.points[0] as MapPoint), north })
  t.same([emptySide([at(3)]), emptySide([at(-3)]), emptySide([])], [1, -1, 1], 'lengths of rings keep off the points')
  t.match(csvOf(map as StationMap, 'base').split('\r\n')[1], /^"base",base,/)
  t.match(csvOf(map as StationMap, 'base'), /"No. 5",history,/)
  t.equal(referenceMapOf(historyRows([entry(2, 0)], referenceOf(document)), referenceOf(document), label), undefined)
  t.equal(referenceMapOf(rows, undefined, label), undefined)
  const close = (map?.points ?? []).map((one, index) => ({ ...one, east: index / 100 }))
  t.same([...namedOf(close, 1)], [close[0]?.key], 'names that would overlap are left out')
  const read = readPosition('52 4 50')
  if ('trouble' in read) throw new Error(read.trouble)
  const { point } = read
  t.ok(distance(point, here) < 1e-6)
  const { fromReference, fromLive, away_m } = previewOf(point, document)
  t.ok(Math.abs(fromReference?.east ?? 9) < 1e-6 && Math.abs((fromLive?.east ?? 0) + 2) < 1e-4)
  t.equal(Math.round(away_m ?? 0), 2)
  t.match(previewOf(point, {}), { fromReference: undefined, fromLive: undefined, away_m: undefined })
  const fixed = { gnss: { ...document.gnss, state: { gps_fix: 'time' } } }
  t.match(previewOf(point, fixed), { fromLive: undefined }, 'the position of a base is an echo')
  t.ok((previewOf(point, fixed).away_m ?? 9) < 1e-6)
  const gone = { gnss: { ...document.gnss, state: { gps_fix: 'none' } } }
  t.match(previewOf(point, gone), { fromLive: undefined }, 'the position of a receiver that is away is not of now')
  const sent = {
    read,
    of: 'arp',
    height_m: 0,
    acc_m: 0.02,
    frame: ' ETRF2000 ',
    epoch: '',
    isCorrected: false,
    isChosen: true,
  } as const
  const change = changeOf(sent)
  t.match(change, {
    'gnss-ref-manual-lat': 52,
    'gnss-ref-manual-alt': 50,
    'gnss-ref-manual-x': null,
    'gnss-ref-manual-acc': 0.02,
    'gnss-ref-manual-point': 'arp',
    'gnss-ref-frame': 'ETRF2000',
    'gnss-ref-chosen': 'manual',
  })
  t.notOk('gnss-ref-chosen' in changeOf({ ...sent, isChosen: false }))
  t.notOk('gnss-ref-manual-offset' in change)
  t.match(changeOf({ ...sent, of: 'phase-centre', height_m: 0.07 }), {
    'gnss-ref-manual-alt': 50,
    'gnss-ref-manual-offset': 0.07,
  })
  t.match(
    changeOf({ ...sent, of: 'marker', height_m: 1.5 }),
    { 'gnss-ref-manual-alt': 51.5, 'gnss-ref-manual-point': 'arp' },
    'the antenna stands above its marker',
  )
  const centre = antennaOf({ read, of: 'phase-centre', height_m: 0.07 })
  t.ok(Math.abs(distance(centre, point) - 0.07) < 1e-6, 'the preview lowers a phase centre as the station does')
  const kept = savedOf(' North ', { ...sent, of: 'marker', height_m: 1.5 })
  t.match(kept, { name: 'North', acc: 0.02, corr: false, frame: 'ETRF2000', epoch: '' })
  t.ok(Math.abs(ecefToGeodetic(kept).alt - 51.5) < 1e-3, 'the antenna is kept, and not its marker')
  t.strictSame(Object.keys(kept), ['name', 'x', 'y', 'z', 'acc', 'corr', 'frame', 'epoch'])
  t.match(changeOf({ ...sent, read: { kind: 'ecef', point } }), {
    'gnss-ref-manual-x': Number(point.x.toFixed(4)),
    'gnss-ref-manual-lat': null,
  })
})

t.test('a position is read in every notation that people have it in', async (t) => {
  const place = { lat: 52.1234567, lon: 4.1234567, alt: 49.28 }
  const west = { ...place, lon: -place.lon }
  const { x, y, z } = geodeticToEcef(place)
  const gga = (body: string) =>
    `$${body}*${[...body]
      .reduce((all, one) => all ^ one.charCodeAt(0), 0)
      .toString(16)
      .padStart(2, '0')}`
  const good: readonly (readonly [string, typeof place])[] = [
    ['52.1234567 4.1234567 49.28', place],
    ['52,1234567 4,1234567 49,28', place],
    ['52,1234567; 4,1234567; 49,28', place],
    ['52.1234567, -4.1234567, 49.28', west],
    ['lat 52.1234567 lon 4.1234567 height 49.28 m', place],
    [`52°07'24.44412"N 4°07'24.44412"E 49.28 m`, place],
    ['52° 7′ 24,44412″ N, 4° 7′ 24,44412″ W, 49,28', west],
    [`N 52° 7.407402' W 4° 7.407402' 49.28`, west],
    ['-0 30 0 4 0 0 10', { lat: -0.5, lon: 4, alt: 10 }],
    [`${x} ${y} ${z}`, place],
    [`X=${x} Y=${y} Z=${z}`, place],
    [gga('GNGGA,120000.00,5207.407402,N,00407.407402,W,4,12,0.6,4.10,M,45.18,M,,'), west],
  ]
  for (const [text, wanted] of good) {
    const read = readPosition(text)
    if ('trouble' in read) throw new Error(`${text}: ${read.trouble}`)
    t.ok(distance(read.point, geodeticToEcef(wanted)) < 0.001, text)
  }
  const sum = ['X', 'Y', 'Z']
    .map((axis, at) => `POS   ${axis} IGS20 26:300:43200 0.0 ${[x, y, z][at]} 0.1 0.0196 1.0`)
    .join('\r\n')
  const csrs = readPosition(`HDR whatever\n${sum}`)
  t.match(csrs, { kind: 'csrs', frame: 'IGS20' })
  t.ok('acc_m' in csrs && Math.abs((csrs.acc_m ?? 0) - 0.01 * Math.sqrt(3)) < 1e-6, '95 % of each axis as 1 sigma')
  const bad: readonly (readonly [string, string])[] = [
    ['', 'empty'],
    ['52.1 4.1', 'height'],
    ['52 7 24.4 N 4 7 24.4 E', 'height'],
    ['here', 'unreadable'],
    ['1 2 3 4 5 6 7 8 9', 'unreadable'],
    ['91 4 50', 'range'],
    ['52 60 0 4 0 0 10', 'range'],
    ['52.1O 4.1 10', 'unreadable'],
    ['$GNGGA,120000.00,5207.4,N,00407.4,E,4,12,0.6,4.10,M,45.18,M,,*00', 'checksum'],
    ['$GNGGA,120000.00,,,,,0,00,99.9,,M,,M,,', 'noFix'],
    ['$GNGGA,120000.00,5207.4,N,00407.4,E,4,12,0.6,4.10,M,,M,,', 'height'],
    ['1 '.repeat(20_000), 'tooLong'],
  ]
  for (const [text, trouble] of bad) t.match(readPosition(text), { trouble }, text.slice(0, 60))
})

t.test('tiles lie under the drawing where Web Mercator has them', async (t) => {
  const template = 'https://tiles.example/{z}/{x}/{y}.png'
  t.strictSame(tilesOf('', { lat: 52, lon: 4 }, 200, 1), [])
  t.strictSame(tilesOf(template, { lat: 89, lon: 4 }, 200, 1), [])
  // 165 units are 5 km: a tile of zoom 12 is 6.02 km wide at 52°, 199 units; https://tile.openstreetmap.org/12/2093/1352.png has this place.
  const tiles = tilesOf(template, { lat: 52, lon: 4 }, 200, 165 / 5_000)
  const under = tiles.find(({ x, y, size }) => x <= 0 && x + size > 0 && y <= 0 && y + size > 0)
  t.equal(under?.url, 'https://tiles.example/12/2093/1352.png')
  t.ok(Math.abs((under?.size ?? 0) - 198.8) < 0.5, String(under?.size))
  t.ok(tiles.length <= 16 && tiles.every(({ x, y, size }) => x + size > -200 && x < 200 && y + size > -200 && y < 200))
  const near = tilesOf(template, { lat: 52, lon: 4 }, 200, 165 / 20)
  t.match(near[0]?.url, /[/]19[/]/, 'no deeper than servers have')
  t.match(
    tilesOf(template, { lat: 0, lon: 179.99 }, 200, 165 / 5_000)
      .map(({ url }) => url)
      .join(' '),
    /[/]0[/]/,
    'over the date line',
  )
})

t.test('axes of a plot', async (t) => {
  const hour = 3_600
  const day = timeAxis(1_800_000_123, 1_800_000_123 + 24 * hour, 6, 5.5 * hour)
  t.equal(day.step, 6 * hour)
  t.ok(day.marks.length >= 4)
  for (const mark of day.marks) t.equal((mark + 5.5 * hour) % (6 * hour), 0, 'at full hours of the reader')
  t.strictSame([day.at(1_800_000_123), day.at(1_800_000_123 + 24 * hour)], [0, 1])
  t.strictSame(timeAxis(0, 45, 6, 0).marks, [0, 10, 20, 30, 40], 'a survey that has just begun')
  t.equal(timeAxis(0, 5 * 24 * hour, 4, 0).step, 48 * hour)
  t.strictSame(timeAxis(7, 7, 4, 0).at(7), 0, 'a single time')

  const satellites = linearAxis({ low: 11, high: 29 }, 6, 0)
  t.strictSame(satellites.marks, [0, 10, 20, 30])
  t.equal(satellites.at(0), 0, 'no room below a bound that nothing passes')
  const signal = linearAxis({ low: -97, high: -88.5 }, 6)
  t.strictSame(signal.marks, [-96, -94, -92, -90, -88])
  t.ok(signal.at(-97) > 0 && signal.at(-88.5) < 1)
  t.ok(linearAxis({ low: -3, high: 70 }, 6, 0, 64).at(-3) > 0, 'beyond both bounds')
  const flat = linearAxis({ low: 40, high: 40 }, 6)
  t.ok(flat.marks.includes(40) && flat.at(40) > 0 && flat.at(40) < 1, 'one value')
  t.ok(Number.isFinite(linearAxis({ low: 0, high: 0 }, 6).at(0)))

  const accuracy = logAxis({ low: 0.03, high: 4 })
  t.strictSame(accuracy.marks, [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5])
  t.ok(accuracy.at(0.03) > 0 && accuracy.at(4) < 1)
  t.ok(logAxis({ low: 0.7, high: 0.8 }).marks.length > 0)
})

t.test('curves of the day', async (t) => {
  const series = { t: 1_000, interval_s: 60, units: {}, figures: { a: [1, null, 3] } }
  t.strictSame(timesOf(series), [880, 940, 1_000])
  t.strictSame(thinned(3, 25), [0, 1, 2])
  const rows = thinned(720, 25)
  t.match([rows.length, rows[0], rows.at(-1)], [25, 0, 719])
  t.strictSame(extentOf([null, 2, 5, 4, null]), { least: 2, most: 5, last: undefined })
  t.match(extentOf([2, 5, 4]), { last: 4 })
  t.equal(extentOf([null]), undefined)
  t.match(segmentsOf([2, 2, 1.5, 0, null]), [
    { fitness: 'fit', from: 0, length: 2 },
    { fitness: 'degraded', from: 2, length: 1 },
    { fitness: 'unfit', length: 1 },
    { fitness: 'unknown', from: 4 },
  ])
  t.strictSame(sharesOf([2, 2, 2, 0, null]), [
    ['fit', 75],
    ['unfit', 25],
  ])
  const shares = sharesOf([2, 2, 2, 2, 2, 0, 0, 0])
  t.equal(
    shares.reduce((sum, [, share]) => sum + Math.round(share), 0),
    100,
    `W1: they add up: ${shares}`,
  )
  t.strictSame(percentsOf([1, 1, 1]).toSorted(), [33, 33, 34], 'W1: each is rounded, and all are 100')
  t.strictSame(percentsOf([0, 0]), [0, 0])
  const covered = (length: number, interval_s: number) =>
    coverage_s({ t: 0, interval_s, units: {}, figures: { fitness: Array.from({ length }, () => 2) } })
  t.strictSame([covered(0, 10), covered(4, 10), covered(800, 120)], [0, 30, 86_400], 'W1: what the axis shows')
})

t.test('the chain says nothing of what comes after its first broken link', async (t) => {
  const state = { status: 'fixed', satuse: 0, antenna: { status: 'open' }, rf: { jamming: 'ok' } }
  const chain = chainOf({ gnss: { state } })
  t.equal(firstBroken(chain), 'antenna')
  t.equal(firstBroken(chainOf({})), 'reference', 'without a document there is no reference')

  const of = (document: object, link: string) => chainOf({ ...document }).find((one) => one.link === link)
  const gnss = (more: object, ref: object = {}) => ({ gnss: { state: { ...state, ...more }, ref } })
  t.match(of(gnss({ satuse: 30 }), 'antenna'), { state: 'warning', facts: ['open', '30 sat'] }, 'behind a splitter')
  const mute = gnss({ satuse: 30, antenna: { status: 'unknown' } })
  t.match(of(mute, 'antenna'), { state: 'unknown', facts: ['unknown', '30 sat'] }, 'nobody says that it is ok')
  const offline = gnss({ status: 'offline' })
  t.match(of(offline, 'antenna'), { state: 'unknown', facts: [] }, 'of an absent receiver nothing is known')
  t.equal(firstBroken(chainOf(offline)), 'receiver')
  const spoofed = gnss({ satuse: 30, antenna: { status: 'ok' }, rf: { jamming: 'ok', spoofing: 'indicated' } })
  t.match(of(spoofed, 'antenna'), { state: 'warning', facts: ['ok', '30 sat', 'spoofing indicated'] })

  const reference = (status: string, survey: object) => of(gnss({ status }, { chosen: 'survey', survey }), 'reference')
  const there = { type: 'ecef', acc: 1.2 }
  t.match(reference('fixed', { ...there, state: 'complete' }), { state: 'good', facts: ['survey', '±1.2 m'] })
  t.match(reference('fixed', { ...there, state: 'aborted' }), { state: 'good', facts: ['survey'] }, 'not its accuracy')
  t.match(reference('acquire', { type: '', state: 'none' }), { state: 'warning' }, 'a survey-in follows')
  t.match(reference('initial', { ...there, state: 'incomplete' }), { state: 'broken' }, 'it waits for a person')

  const running = { ...there, state: 'running' }
  t.match(
    reference('survey', running),
    { state: 'warning', facts: ['surveying'] },
    'W2: no reference while a survey-in runs',
  )
  t.strictSame(reference('survey', running)?.facts.length, 1, 'W2: and no accuracy of one')
  t.strictSame(reference('acquire', { type: '', state: 'none' })?.facts, ['starting'], 'W2: it comes by itself')
  t.strictSame(reference('initial', { ...there, state: 'incomplete' })?.facts, ['none'], 'W2: a person has to act')
  t.strictSame(reference('moved', { ...there, state: 'complete' })?.facts, ['survey', '±1.2 m'], 'W2: left behind')

  const gate = (status: string, base: string, fitness: string) =>
    of({ ...gnss({ status }), base: { state: { base, verdict: { fitness } } } }, 'gate')?.state
  t.strictSame(
    [gate('fixed', 'updating', 'degraded'), gate('survey', 'updating', 'unfit'), gate('moved', 'updating', 'unfit')],
    ['good', 'warning', 'broken'],
    'an update hides nothing',
  )

  const input = { name: 'ntrip-client c/BASE', state: 'down' }
  const outputs = (udp: boolean, ...list: { name: string; state: string }[]) => {
    const server = list.filter(({ name }) => name.startsWith('ntrip-server'))
    return of({ udp: { enabled: udp }, ntrip: { server }, links: { outputs: list } }, 'outputs')
  }
  t.match(outputs(true, input), { state: 'good', facts: ['1/1'] }, 'corrections that come in are no output')
  const refused = { name: 'ntrip-server c/ROOF', state: 'refused' }
  t.match(outputs(true, input, refused), { state: 'warning', facts: ['1/2'] }, 'rovers in the local network are served')
  t.match(outputs(false, refused), { state: 'broken', facts: ['0/1'] })
  t.match(of({ udp: { enabled: false } }, 'outputs'), { state: 'warning', facts: ['0'] }, 'nothing is switched on')
})

t.test('the guide says what is missing by the state of the station alone', async (t) => {
  const missing = (document: GuideEvidence['document'], more: Partial<GuideEvidence> = {}) =>
    Object.fromEntries(
      guideOf({ document, satellites: [], hasLogin: undefined, ...more }).map((one) => [one.step, one.missing]),
    )
  const receiver = { status: 'survey', satuse: 20, gps_fix: '3d', antenna: { status: 'ok' } }
  const survey = { type: 'ecef', state: 'running', ...here }
  const station = (state: object, ref: object = { chosen: 'survey', survey }) => ({ gnss: { state, ref } })

  t.strictSame(missing({}), {
    access: [],
    antenna: ['receiver'],
    position: ['reference'],
    outputs: ['output'],
    network: [],
  })
  t.strictSame(missing(station({ ...receiver, status: 'offline' })).antenna, ['receiver'])
  t.strictSame(missing(station({ ...receiver, antenna: { status: 'open' }, satuse: 0, gps_fix: 'none' })).antenna, [
    'antennaOpen',
    'satellites',
    'fix',
  ])
  t.strictSame(missing(station(receiver)), {
    access: [],
    antenna: [],
    position: ['surveying'],
    outputs: ['output'],
    network: [],
  })
  t.strictSame(missing(station({ ...receiver, antenna: { status: 'open' } })).antenna, [], 'behind a splitter')
  const surveyed = { chosen: 'survey', survey: { type: 'ecef', state: 'complete', ...here } }
  t.strictSame(missing(station({ ...receiver, gps_fix: 'time' }, surveyed)).position, [])
  t.strictSame(missing(station({ ...receiver, status: 'moved' }, surveyed)).position, ['moved'])
  const failed = { chosen: 'survey', survey: { ...survey, state: 'incomplete', allow_use: 0 } }
  t.strictSame(missing(station({ ...receiver, status: 'initial' }, failed)).position, ['reference'])
  t.strictSame(missing(station({ ...receiver, status: 'fixed' }, failed)).position, [], 'back at the one before')
  const none = { chosen: 'survey', survey: { type: '', state: 'none' } }
  t.strictSame(
    missing(station({ ...receiver, status: 'acquire' }, none)).position,
    ['starting'],
    'it surveys by itself',
  )
  t.strictSame(missing(station({ ...receiver, status: 'acquire' }, { ...none, chosen: 'manual' })).position, [
    'reference',
  ])
  const allowed = { chosen: 'survey', survey: { ...survey, state: 'incomplete', allow_use: 1 } }
  t.strictSame(missing(station({ ...receiver, status: 'initial' }, allowed)).position, [])

  t.strictSame(
    outputsOf({
      udp: { enabled: false },
      ntrip: { caster: { enabled: true, port: 2101 }, server: [{ state: 'refused' }] },
      mqtt: { host: '', state: { link: 'down' } },
      rtcm_tcp: { port: 0, push: [{ state: 'waiting' }, { state: 'connected' }] },
      rtcm_serial: { state: 'waiting' },
    }).map(({ output, state }) => [output, state]),
    [
      ['udp', 'off'],
      ['caster', 'on'],
      ['server', 'down'],
      ['mqtt', 'off'],
      ['tcp', 'on'],
      ['serial', 'down'],
    ],
  )
  const unopened = { udp: { enabled: true }, base: { state: { errors: [{ code: 'udp', text: '', t: 1 }] } } }
  t.strictSame(outputsOf(unopened), [{ output: 'udp', state: 'down' }], 'its port is not there')
  t.strictSame(missing({ udp: { enabled: true } }).outputs, [])
  t.strictSame(missing({ udp: { enabled: true }, ntrip: { server: [{ state: 'waiting' }] } }).outputs, ['outputDown'])
  t.strictSame(missing({ eth: { ip: '' }, sta: { ip4: '', ssid: 'roof' } }).network, ['address'])
  t.match(networksOf({ eth: { ip: '' }, wap: { enabled: true, ssid: 'base' } }), [
    { network: 'eth', isUp: false },
    { network: 'wap', isUp: true, text: 'base' },
  ])

  const weak = { sys: 'gps', id: 1, az: 1, el: 2, cno: 30, used: true, signals: [] }
  t.equal(meanCno([weak, { ...weak, cno: 40 }, { ...weak, cno: 10, used: false }]), 35)
  t.equal(meanCno([]), undefined)
  const advice = (hasLogin: boolean | undefined) =>
    guideOf({ document: {}, satellites: [weak], hasLogin }).flatMap((one) => one.advice)
  t.strictSame(
    [advice(undefined), advice(true)],
    [
      ['name', 'weak'],
      ['name', 'weak'],
    ],
  )
  t.strictSame(missing({}, { hasLogin: false }).access, ['password'], 'the password comes first')
})

t.test('settings and commands as a person enters them', async (t) => {
  const port = { type: 'integer', minimum: 1, maximum: 65_535 }
  t.strictSame(boundsOf(fieldOf(port)), { least: 1, most: 65_535 })
  t.equal(boundsOf(fieldOf({ type: 'integer', minimum: 0, maximum: 1 })), undefined, 'a switch')
  t.equal(boundsOf(fieldOf({ type: 'number', minimum: 0 })), undefined)
  const point = fieldOf({ anyOf: [{ const: 'arp', title: 'antenna reference point' }, { const: 'marker' }] })
  t.strictSame(
    ['arp', 'marker'].map((value) => choiceText(point, value)),
    ['antenna reference point', 'marker'],
    'a choice in words, and its value without any',
  )
  const mask = { anyOf: [{ type: 'integer', minimum: 0, maximum: 60 }, { type: 'null' }] }
  for (const [schema, text, wanted] of [
    [mask, '95', { name: 'between', values: { least: 0, most: 60 } }],
    [mask, '-1', { name: 'between', values: { least: 0, most: 60 } }],
    [mask, '7.5', { name: 'whole', values: {} }],
    [mask, '1o', { name: 'number', values: {} }],
    [mask, '', undefined],
    [mask, ' 15 ', undefined],
    [port, '', { name: 'number', values: {} }],
    [{ type: 'number', minimum: 0 }, '-0,1', { name: 'least', values: { least: 0 } }],
    [{ type: 'number', maximum: 5 }, '5,1', { name: 'most', values: { most: 5 } }],
    [{ type: 'number' }, '5,1', undefined],
    [{ type: 'string', maxLength: 3 }, 'abcd', { name: 'longest', values: { longest: 3 } }],
    [{ type: 'string', pattern: '^x$' }, 'y', undefined],
    [Host, ' [2001:db8::7]\n', undefined],
    [Host, 'caster.example.org:2101', { name: 'host', values: {} }],
    [Host, '', { name: 'host', values: {} }],
    [OptionalHost, '', undefined],
    [OptionalHost, '10.0.0', { name: 'host', values: {} }],
  ] as const)
    t.strictSame(wrongOf(fieldOf(schema), text), wanted, `W6: ${text} is judged at its field`)
  const input = { properties: { id: { type: 'integer' }, at: { type: 'string' } }, required: ['id'] }
  t.strictSame(inputFrom(input, { id: '7', at: '' }), { id: 7 }, 'an empty field that may be left out is')
  t.strictSame(inputFrom(input, {}), { id: '' }, 'the station says what is missing')
})

t.test('a station is new until it has a reference, or somebody gets corrections', async (t) => {
  const ref = { chosen: 'survey', survey: { type: '' }, manual: { type: '' } }
  t.equal(isNew({}), false, 'nothing is known of a station without the procedure')
  t.equal(isNew({ gnss: { ref } }), true)
  t.equal(isNew({ gnss: { ref: { ...ref, survey: { type: 'ecef', state: 'running' } } } }), true)
  t.equal(isNew({ gnss: { ref: { ...ref, survey: { type: 'ecef', state: 'complete' } } } }), false)
  t.equal(isNew({ gnss: { ref: { ...ref, chosen: 'manual', manual: { type: 'ecef' } } } }), false)
  t.equal(isNew({ gnss: { ref, rtcm: { subscribers: [{ via: 'udp' }] } } }), false)
})

t.test('the address that others reach', async (t) => {
  const one = (address: string, more: object = {}) => {
    const family = address.includes(':') ? 'IPv6' : 'IPv4'
    return {
      address,
      family,
      internal: false,
      netmask: '',
      mac: '',
      cidr: null,
      scopeid: 0,
      ...more,
    } as NetworkInterfaceInfo
  }
  const interfaces = {
    lo: [one('127.0.0.1', { internal: true }), one('::1', { internal: true })],
    docker0: [one('172.17.0.1')],
    usb0: [one('169.254.7.7')],
    eth0: [one('192.168.1.20'), one('fe80::1'), one('fd00::20')],
    wlan0: [one('192.168.4.1')],
  }
  const urls = (host: string, port = 8080, of: Parameters<typeof pageAddresses>[1] = interfaces) =>
    pageAddresses({ host, port, url: 'http://127.0.0.1' }, of).map(({ url }) => url)
  t.strictSame(urls('0.0.0.0'), ['http://192.168.1.20:8080/', 'http://192.168.4.1:8080/', 'http://169.254.7.7:8080/'])
  t.strictSame(urls('::', 80)[0], 'http://192.168.1.20/')
  t.strictSame(urls('192.168.4.1'), ['http://192.168.4.1:8080/'])
  t.strictSame(urls('::', 80, { eth0: [one('fe80::1'), one('fd00::20')] }), ['http://[fd00::20]/'])
  t.strictSame(urls('0.0.0.0', 80, { eth0: [one('fd00::20')] }), [], 'nobody listens there')
  t.strictSame([...urls('127.0.0.1'), ...urls('::1'), ...urls('localhost')], [], 'only this machine reaches it')
  t.strictSame(pageAddresses(undefined, interfaces), [])
})

t.test('the QR code of an address', async (t) => {
  const text = 'http://192.168.4.1:8080/'
  const { size, path } = qrPath(text)
  t.match(path, /^(M[\d L]+Z)+$/)
  const colours = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g')
  const lines = qrLines(text)
    .split('\n')
    .map((line) => line.replaceAll(colours, ''))
  t.equal(lines.length, Math.ceil((size + 4) / 2))
  t.ok(lines.every((line) => line.length === size + 4))
  // A finder pattern: ISO/IEC 18004, 6.3.3. Its first two rows in one line of characters.
  t.equal(lines[1]?.slice(0, 10), '  █▀▀▀▀▀█ ')
  t.equal(lines[1]?.slice(-10), ' █▀▀▀▀▀█  ')
})

t.test('the ring of the day', async (t) => {
  const nobody: FigureEvidence = {
    fitness: undefined,
    reception: undefined,
    isUp: true,
    satellites: undefined,
    document: {},
    rtcm: { bytes: 0, epochs: 0, elapsed_s: 10 },
  }
  const values = (document: Record<string, unknown>, more: Partial<FigureEvidence> = {}) => {
    const read = readFigures({ ...nobody, document, ...more })
    return Object.fromEntries(figures.map(({ name }, at) => [name, read[at]]))
  }
  const signal = { rssi: -60, rsrp: -90, rsrq: -11, sinr: 0 }
  t.match(values({ modem: { state: signal }, sta: { rssi: -55 } }), {
    'mobile-rssi': -60,
    'mobile-rsrp': -90,
    'mobile-rsrq': -11,
    'mobile-sinr': 0,
    'wifi-rssi': -55,
  })
  const unknown = values({ modem: { state: { rssi: 0 } }, sta: { rssi: 0 } })
  t.strictSame(
    [unknown['mobile-rssi'], unknown['mobile-rsrp'], unknown['wifi-rssi']],
    [undefined, undefined, undefined],
  )

  t.strictSame([unknown.fitness, values({}, { fitness: 'unfit' }).fitness], [undefined, 0])
  const gnss = { state: { motion: { sway: 0, satellites: 20 } }, pos: { delta: 0 } }
  const reception = { satellitesUsed: 0, satellitesVisible: 12, slips: 0 }
  const names = ['satellites-used', 'slips', 'sway', 'distance'] as const
  const seen = (of: object, more: Partial<FigureEvidence>) => {
    const found = values({ gnss: of }, more)
    return names.map((name) => found[name])
  }
  t.strictSame(seen(gnss, { reception }), [0, 0, 0, undefined], 'a distance of 0 is none')
  const still = { state: { motion: { sway: 0, satellites: 0 } }, pos: { delta: 0 } }
  t.strictSame(seen(still, { reception: { ...reception, satellitesVisible: 0 } }), [0, undefined, undefined, undefined])
  t.strictSame(seen(gnss, { isUp: false }), [undefined, undefined, undefined, undefined], 'a gap while it is away')
  const signalOf = (name: string, cno_dbhz: number, used: boolean) => ({
    signal: name,
    cno_dbhz,
    used,
    residual_m: 0,
    locked: used,
  })
  const satellite = {
    constellation: 'gps' as const,
    satellite: 3,
    azimuth_deg: 15,
    elevation_deg: 45,
    cno_dbhz: 46,
    locked: true,
    used: true,
    signals: [signalOf('L1', 46, true), signalOf('L1', 20, false), signalOf('L2', 40, true)],
  }
  const satellites = { tow_ms: 0, arrival_ms: 0, hasSignals: true, satellites: [satellite] }
  const read = readFigures({ ...nobody, satellites })
  t.strictSame(
    ['cno-l1', 'cno-l2'].map((name) => read[figures.findIndex((figure) => figure.name === name)]),
    [46, 40],
    'of the signals in use',
  )
  const shading = new Shading()
  const hidden = { ...satellite, satellite: 4, azimuth_deg: 200, cno_dbhz: 0 }
  for (let n = 0; n < 30; n++) shading.add([satellite, hidden])
  for (let n = 0; n < 30; n++) shading.add([{ ...satellite, cno_dbhz: 0 }, hidden])
  t.strictSame(
    shading.cells(),
    [
      { az: 10, el: 40, cno: 46 },
      { az: 200, el: 40, cno: 0 },
    ],
    'an antenna that is off is no shade',
  )

  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, unit: '', resolution: 0.1 }))
  const before = new SampleRing([a, b], 8)
  for (let n = 0; n < 8; n++) before.add([n, -n])
  const saved = before.save()
  const after = new SampleRing([c, b], 8)
  t.ok(after.load(saved), 'of a version that recorded other figures')
  t.strictSame(after.series(['a', 'b', 'c'], 1), {
    b: [-0, -1, -2, -3, -4, -5, -6, -7].map((value) => value + 0),
    c: Array(8).fill(null),
  })
  const now = new SampleRing([b], 12)
  for (let n = 100; n < 103; n++) now.add([n])
  t.ok(now.loadBefore(saved, 4), 'of a run before, when the time was learnt later')
  t.strictSame(now.series(['b'], 1), { b: [-3, -4, -5, -6, -7, null, null, null, null, 100, 101, 102] })
  t.notOk(now.loadBefore(saved.subarray(0, -1), 0))
  t.equal(now.length, 12)
  t.notOk(after.load(saved.subarray(0, -1)))
  t.notOk(after.load(Buffer.alloc(64)), 'as an earlier version saved it')
  t.notOk(after.load(Buffer.alloc(0)))
  t.notOk(new SampleRing([b], 4).load(saved), 'longer than it can hold')
  t.equal(after.series(['b'], 1).b?.length, 8, 'what is refused changes nothing')
})

t.test('the curves of the day outlast a restart of a machine without a clock', async (t) => {
  const data = t.testdir()
  const start = async (utc_ms: number) => {
    const clock = new ManualClock(utc_ms)
    const station = await createTestStation({ data, clock, plugins: { dashboard: await shippedPlugin('dashboard') } })
    t.teardown(() => station.stop())
    const samples = async () => {
      const { figures } = (await station.request('/history?figures=rovers&step=1')).json() as {
        figures: { rovers: [] }
      }
      return figures.rovers.length
    }
    return { clock, station, samples }
  }
  const noon = Date.UTC(2026, 10, 22, 12)
  const before = await start(noon)
  await before.clock.advance(120_000)
  t.equal(await before.samples(), 12)
  await before.station.stop()

  const restarted = await start(Date.UTC(2000, 0))
  await restarted.clock.advance(60_000)
  t.equal(await restarted.samples(), 6, 'it does not know when they were')
  await restarted.station.reload('dashboard')
  // A receiver's first time counts when it has gone on for 10 s.
  for (let second = 0; second <= 10; second++) {
    restarted.station.device.setUtc(noon + 290_000 + second * 1000)
    await restarted.clock.advance(second < 10 ? 1000 : 10_000)
  }
  t.equal(await restarted.samples(), 32, '12 of before, 19 without a sample: a reload forgot 6 of them; one of now')
})

t.test('the recorder of the day', async (t) => {
  const noon = Date.UTC(2026, 10, 22, 12)
  const record = async (t: Test, { data = t.testdir(), utc_ms = noon } = {}) => {
    const parts = { emit: (_bytes: number[]) => {}, recorder: undefined as unknown as FigureRecorder }
    const plugin = definePlugin({
      name: 'curves',
      version: '1.0.0',
      api: '^1.0.0',
      needs: [stationService, device],
      provides: [rtcmStream, receiver],
      setup(ctx: PluginContext) {
        const epochs = ctx.event<RtcmEpoch>()
        parts.emit = (bytes) =>
          epochs.emit({ frames: bytes.map((length) => ({ bytes: Buffer.alloc(length) })) } as never)
        ctx.services.provide(rtcmStream, partOf(rtcmStream, { onEpoch: epochs.on }))
        ctx.services.provide(receiver, partOf(receiver, { satellites: { satellites: [sky] } } as never))
        parts.recorder = new FigureRecorder(ctx)
      },
      start: () => parts.recorder.start(),
      stop: () => parts.recorder.save(),
    })
    const clock = new ManualClock(utc_ms)
    const station = await createTestStation({ data, clock, plugins: { curves: plugin as AnyPlugin } })
    t.teardown(() => station.stop())
    const file = join(data, 'files', 'curves', 'history', 'day.gz')
    const warnings = () =>
      station.lines.filter(({ level, msg }) => level >= 40 && /curves/.test(msg)).map(({ msg }) => msg)
    const rates = () => parts.recorder.series(['rtcm-rate'], 1).figures['rtcm-rate'] ?? []
    return { clock, station, file, parts, warnings, rates, series: parts.recorder.series.bind(parts.recorder) }
  }
  const sky = { azimuth_deg: 15, elevation_deg: 45, cno_dbhz: 40, signals: [] }

  t.test('takes a sample every 10 s, of what went out since the last one', async (t) => {
    const { clock, parts, series, warnings } = await record(t)
    await clock.advance(5_000)
    parts.emit([100, 50])
    await clock.advance(4_999)
    t.same(series(['epochs'], 1).figures, { epochs: [] })
    await clock.advance(1)
    parts.emit([70])
    parts.emit([30])
    await clock.advance(10_000)
    await clock.advance(10_000)
    const { t: at, interval_s, units, figures: found } = series(['epochs', 'rtcm-rate'], 1)
    t.same([at, interval_s, units.epochs], [noon / 1_000 + 30, 10, '1/s'])
    t.same(found, { epochs: [0.1, 0.2, 0], 'rtcm-rate': [15, 10, 0] })
    t.match(series(['epochs'], 2), { interval_s: 20, figures: { epochs: [0.1, 0.1] } })
    t.same(
      Object.keys(series([], 1).figures),
      figures.map(({ name }) => name),
      'without names all of them',
    )
    for (let n = 3; n < 29; n++) await clock.advance(10_000)
    t.same(parts.recorder.shading.cells(), [])
    await clock.advance(10_000)
    t.same(parts.recorder.shading.cells(), [{ az: 10, el: 40, cno: 40 }])
    t.same(warnings(), [])
  })

  t.test('saves once an hour: each time wears flash', async (t) => {
    const { clock, station, file } = await record(t)
    // Replaced at each save: another file by the same name.
    const saves = new Set<string>()
    const look = () => {
      const found = statSync(file, { throwIfNoEntry: false, bigint: true })
      if (found) saves.add(`${found.ino} ${found.mtimeNs}`)
      return saves.size
    }
    await clock.advance(3_599_999)
    t.equal(look(), 0)
    await clock.advance(1)
    await until(() => look() === 1, 'the first save')
    await clock.advance(3_599_999)
    t.equal(look(), 1)
    // The hour runs from the end of the first save, which may still have been under way when the clock was set forward.
    await until(async () => {
      await clock.advance(1_000)
      return look() === 2
    }, 'the second save')
    await station.stop()
    t.equal(look(), 3)
  })

  t.test('goes on with what was saved within a day, after a gap that is whole samples', async (t) => {
    for (const [what, away_s, gap] of [
      ['at once', 0, 0],
      ['4 s', 4, 0],
      ['5 s', 5, 1],
      ['100 s', 100, 10],
      ['a day', 86_400, 8_640],
      ['more than a day', 86_401, undefined],
      ['a clock that was set back', -1, undefined],
    ] as const) {
      const data = t.testdir()
      const before = await record(t, { data })
      before.parts.emit([100])
      await before.clock.advance(10_000)
      await before.station.stop()
      const { clock, parts, rates, warnings } = await record(t, { data, utc_ms: noon + 10_000 + 1_000 * away_s })
      parts.emit([200])
      await clock.advance(10_000)
      const all = gap === undefined ? [20] : [10, ...Array(gap).fill(null), 20].slice(-8_640)
      t.same(rates(), all, what)
      t.same(parts.recorder.shading.cells(2), [{ az: 10, el: 40, cno: 40 }], 'directions have no time')
      t.same(warnings(), [])
    }
  })

  t.test('waits for the time before it joins two runs, and saves nothing until then', async (t) => {
    const data = t.testdir()
    const before = await record(t, { data })
    before.parts.emit([100])
    await before.clock.advance(10_000)
    await before.station.stop()
    const saved = readFileSync(before.file)
    const { clock, station, parts, rates } = await record(t, { data, utc_ms: Date.UTC(2000, 0) })
    parts.emit([200])
    await clock.advance(10_000)
    t.same([rates(), parts.recorder.series([], 1).t], [[20], 0])
    await parts.recorder.save()
    t.same(readFileSync(before.file), saved)
    for (let second = 0; second <= 10; second++) {
      station.device.setUtc(noon + 41_000 + second * 1_000)
      if (second < 10) await clock.advance(1_000)
    }
    parts.emit([300])
    await clock.advance(10_000)
    const at = rates()
    t.same([at[0], at.slice(-3), at.length], [10, [20, 0, 30], 6 + 1], 'one, three without a sample, and three of now')
    await parts.recorder.save()
    t.notSame(readFileSync(before.file), saved)
  })

  t.test('what it cannot read or write costs the curves alone, and is told', async (t) => {
    const data = t.testdir({ files: { curves: { history: { 'day.gz': 'no gzip' } } } })
    const damaged = await record(t, { data })
    t.same(damaged.warnings(), ['the curves of the day could not be read'])
    await damaged.parts.recorder.save()
    await damaged.station.stop()
    t.same((await record(t, { data })).warnings(), [], 'it is replaced')
    for (const put of [
      (file: string) => execFileSync('mkfifo', [file]),
      (file: string) => {
        writeFileSync(file, '')
        truncateSync(file, 1 << 30)
      },
    ]) {
      rmSync(damaged.file)
      put(damaged.file)
      const trapped = await record(t, { data })
      t.same(trapped.warnings(), ['the curves of the day could not be read'])
      await trapped.station.stop()
    }
    const never = await record(t, { utc_ms: Date.UTC(2000, 0) })
    await never.clock.advance(10_000)
    await never.station.stop()
    t.ok(statSync(never.file).size > 0)
    const { file, parts, warnings } = await record(t)
    rmSync(dirname(file), { recursive: true })
    writeFileSync(dirname(file), '')
    await parts.recorder.save()
    t.same(warnings(), ['the curves of the day could not be saved'])
  })
})

t.test('the station tells its pages', async (t) => {
  const epoch = (used: number) =>
    ({ satellites: Array.from({ length: used }, (_, n) => ({ satellite: n, signals: [], used: true })) }) as never
  const facts = { status: 'fixed', builds: 0, survey: {} as object, satellites: epoch(1) as unknown }
  const fake = definePlugin({
    name: 'fake',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [receiver, procedureStatus],
    setup(ctx) {
      const service = {
        get satellites() {
          return facts.satellites
        },
      }
      ctx.services.provide(receiver, partOf(receiver, service as never))
      const procedure = {
        get status() {
          return facts.status
        },
      }
      ctx.services.provide(procedureStatus, procedure as never)
      ctx.info.block('gnss', () => {
        facts.builds += 1
        return { pos: { ...here, t: 1 }, ref: { survey: facts.survey } }
      })
    },
  })
  const station = await createTestStation({
    plugins: { fake: fake as AnyPlugin, dashboard: await shippedPlugin('dashboard') },
  })
  t.teardown(() => station.stop())
  const { clock } = station

  await t.test('nobody looks, nothing is read for them, but a survey-in is', async (t) => {
    await clock.advance(5_000)
    facts.builds = 0
    await clock.advance(60_000)
    t.ok(facts.builds <= 6, `${facts.builds} documents in a minute: those of the curves of the day`)
    facts.status = 'survey'
    for (let elapsed = 1; elapsed <= 5; elapsed++) {
      facts.survey = { type: 'ecef', state: 'running', elapsed, count: elapsed, acc: 9 - elapsed, ...here }
      await clock.advance(1_000)
    }
    facts.status = 'fixed'
    const late = await openEvents(station.url, { query: '?want=survey' })
    t.teardown(() => late.close())
    await until(() => late.of('curve').length === 1, 'the curve')
    t.match(
      late.of('curve')[0],
      [1, 2, 3, 4, 5].map((t) => ({ t, acc: 9 - t })),
      'who opens late sees all of it',
    )
  })

  await t.test('a page that opens takes nothing from the others', async (t) => {
    const one = await openEvents(station.url, { query: '?want=satellites', headers: { 'accept-encoding': 'identity' } })
    const used = (page: EventStream) => page.of('satellites').map((list) => (list as unknown[]).length)
    await clock.advance(1_000)
    await until(() => used(one).length > 0, 'the first epoch')
    facts.satellites = epoch(2)
    const two = await openEvents(station.url, { query: '?want=satellites' })
    await until(() => used(two).at(-1) === 2, 'a page begins with the newest epoch')
    await clock.advance(1_000)
    await until(() => used(one).at(-1) === 2, 'the other one gets it too')
    const told = used(one).length
    await clock.advance(3_000)
    t.equal(used(one).length, told, 'what did not change is not repeated')
    facts.satellites = undefined
    await clock.advance(1_000)
    await until(() => used(one).at(-1) === 0 && used(two).at(-1) === 0, 'and that the receiver is gone')
    for (const page of [one, two]) page.close()
    t.match([one.status, two.status], [200, 200])
  })

  await t.test('a figure that is none is not an empty curve', async (t) => {
    const ask = (query: string) => fetch(`${station.url}/history${query}`)
    const refused = await ask('?figures=cno-l1,nonsense')
    t.equal(refused.status, 400)
    t.match(await refused.text(), /figures=<some of fitness,/)
    const { figures } = (await (await ask('?figures=cno-l1')).json()) as { figures: object }
    t.same(Object.keys(figures), ['cno-l1'])
  })

  await t.test('the page shows something after 45 kB', async (t) => {
    const loaded = new Map<string, number>()
    const load = async (path: string): Promise<void> => {
      if (loaded.has(path)) return
      const text = await (await fetch(`${station.url}${path}`)).text()
      loaded.set(path, gzipSync(text).length)
      const needed = [...text.matchAll(/(?:(?:from|import) ?"\.|(?:src|href)="\/ui)\/([\w.-]+)"/g)]
      for (const [, name] of needed) await load(`/ui/${name}`)
    }
    await load('/')
    const bytes = [...loaded.values()].reduce((sum, one) => sum + one, 0)
    const preloaded = [
      ...(await (await fetch(`${station.url}/`)).text()).matchAll(/modulepreload" href="\/ui\/([\w.-]+)"/g),
    ]
    const scripts = [...loaded.keys()].filter((path) => path.endsWith('.js'))
    t.equal(preloaded.length, scripts.length - 1, 'all that the entry needs is asked for at once')
    t.ok(loaded.size > 3 && bytes < 45_000, `${bytes} bytes of ${[...loaded.keys()].join(' ')}`)
    t.comment(`first load: ${bytes} bytes of gzip`)
    const codeOf = async (path: string) => (await fetch(`${station.url}${path}`)).text()
    const first = await Promise.all(scripts.map(codeOf))
    // The cards of the first page come after it, without the texts of the other pages.
    const [cards] = first.flatMap((one) => one.match(/overview-cards-\w+\.js/) ?? [])
    await load(`/ui/${cards}`)
    const code = await Promise.all([...loaded.keys()].filter((path) => path.endsWith('.js')).map(codeOf))
    const begins = code.flatMap((one) => [...one.matchAll(/`([\w-]+\.(?:[\w-]+\.)*)\$\{/g)].map(([, begin]) => begin))
    const isNeeded = (key: string) =>
      code.some((one) => one.includes(`"${key}"`)) || begins.some((begin = '') => key.startsWith(begin))
    t.same(Object.keys(pages).filter(isNeeded), [], 'W1: no text that comes with a later page')
  })

  await t.test('texts of the plugins in German, as long as they are new', async (t) => {
    const url = `${station.url}/texts/de`
    const answer = await fetch(url)
    t.match([answer.status, answer.headers.get('content-encoding')], [200, 'gzip'])
    const texts = (await answer.json()) as Record<string, string>
    t.match(texts['error.change-not-stored'], /\w/)
    t.same(await (await fetch(url, { headers: { 'accept-encoding': 'identity' } })).json(), texts)
    const etag = answer.headers.get('etag') ?? ''
    t.equal((await fetch(url, { headers: { 'if-none-match': etag } })).status, 304)
    t.equal((await fetch(`${station.url}/texts/xx`)).status, 404)
  })

  await t.test('so many pages, and no more of one address', async (t) => {
    const open = (n: number) => openEvents(station.url, { localAddress: `127.0.0.${n}`, query: '?want=document' })
    const pages: EventStream[] = []
    t.teardown(() => {
      for (const page of pages) page.close()
    })
    for (let n = 0; n < 5; n++)
      t.equal((await fetch(`${station.url}/events`, { method: 'HEAD' })).status, 200, 'a HEAD takes no place')
    for (let n = 0; n < 16; n++) pages.push(await open(2 + Math.floor(n / 4)))
    t.ok(pages.every(({ status }) => status === 200))
    t.match([(await open(2)).status, (await open(9)).status], [503, 503])
    pages.shift()?.close()
    await until(async () => {
      const next = await open(2)
      pages.push(next)
      return next.status === 200
    }, 'a place is free again')
  })
})

t.test('a page that takes nothing holds nothing up, and nothing piles up for it', async (t) => {
  for (const compressed of [true, false]) {
    const client = new EventClient(compressed)
    const document = (n: number) => JSON.stringify({ n, text: randomBytes(4_000).toString('hex') })
    for (let n = 0; n < 2_000; n++) {
      client.send({ name: 'document', data: document(n) })
      client.send({ name: 'log', data: String(n), isLine: true })
      if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    const { readableLength, writableLength } = client.stream as Duplex
    t.ok(readableLength + writableLength < 200_000, `${readableLength + writableLength} bytes wait`)
    const plain = compressed ? client.stream.pipe(createGunzip()) : client.stream
    let text = ''
    plain.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    await until(() => text.includes('"n":1999') && text.includes('event: log\ndata: 1999\n'), 'the newest of each')
    t.match(text, /event: dropped\ndata: \d/, 'and how many lines it missed')
    const documents = text.split('event: document').length
    t.ok(documents < 60, `${documents} documents of 2000`)
  }
})

t.test('a page gets the lines of before when it opens, whatever was logged', async (t) => {
  let log: PluginContext['log'] | undefined
  const writer = definePlugin({
    name: 'writer',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      log = ctx.log
    },
  })
  const station = await createTestStation({
    plugins: { writer: writer as AnyPlugin, dashboard: await shippedPlugin('dashboard') },
  })
  t.teardown(() => station.stop())
  const hostile = 'a\r\ndata: {"forged":1}\n\nevent: hello\n\u2028\u0000\u001b[31m<img src=x onerror=alert(1)>'
  log?.warn(hostile)
  log?.warn({ msg: { not: 'a text' } })
  log?.warn('x'.repeat(1_000_000))
  for (let n = 0; n < 490; n++) {
    // Ten lines of a kind a minute.
    if (n % 10 === 0) await station.clock.advance(60_000)
    log?.info(`line ${n} ${'.'.repeat(100)}`)
  }
  const page = await openEvents(station.url, { query: '?want=log' })
  t.teardown(() => page.close())
  const texts = () =>
    (page.of('log') as { msg: unknown; plugin: string }[]).flatMap((l) => (l.plugin === 'writer' ? [l.msg] : []))
  await until(() => String(texts().at(-1)).startsWith('line 489'), 'the newest line')
  t.equal(texts().length, 493, 'none is left out')
  t.strictSame(texts().slice(0, 3), [hostile, '{"not":"a text"}', `${'x'.repeat(2_000)}…`])
  t.strictSame(page.of('dropped'), [])
  t.match([...new Set(page.events.map(({ name }) => name))], ['hello', 'log'], 'no line makes an event of its own')
})

t.test('what a page knows already costs next to nothing', async (t) => {
  const client = new EventClient(true)
  let bytes = 0
  let text = ''
  client.stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  client.stream.pipe(createGunzip().setEncoding('utf8')).on('data', (chunk) => {
    text += chunk
  })
  const [document, satellites] = [randomBytes(6_000).toString('hex'), randomBytes(6_000).toString('hex')]
  const second = async (n: number) => {
    client.send({ name: 'document', data: document })
    client.send({ name: 'satellites', data: `${satellites} ${n}` })
    await until(() => text.endsWith(` ${n}\n\n`), 'they are there')
  }
  await second(0)
  const first = bytes
  for (let n = 1; n <= 5; n++) await second(n)
  t.ok(bytes - first < first / 5, `${bytes - first} bytes for five seconds, ${first} for the first`)
  client.end()
})

t.test('a class of a page is defined in one style sheet: another one would change it unseen', async (t) => {
  for (const page of ['page/dashboard', 'fleet/fleet-page']) await t.test(page, async (t) => oneOwner(t, page))
})

function oneOwner(t: Test, page: string): void {
  const folders = [
    join(packageRoot(), 'plugins', page, 'ui', 'styles'),
    join(packageRoot(), 'runtime', 'lib', 'page', 'ui', 'styles'),
  ]
  const sheets = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.css'))
      .map((name) => join(folder, name)),
  )
  const owners = new Map<string, Set<string>>()
  for (const sheet of sheets) {
    const text = readFileSync(sheet, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
    for (const [, selectors = ''] of text.matchAll(/([^{};]+)\{/g))
      for (const selector of selectors.split(',')) {
        // What a rule is about stands last; what stands before it only says where.
        const subject =
          selector
            .trim()
            .split(/[\s>+~]+/)
            .at(-1) ?? ''
        for (const [, name = ''] of subject.matchAll(/\.([\w-]+)/g))
          owners.set(name, (owners.get(name) ?? new Set()).add(sheet))
      }
  }
  t.ok(sheets.length > 1 && owners.size > 50, `${owners.size} classes in ${sheets.join(', ')}`)
  const shared = [...owners].flatMap(([name, of]) => (of.size > 1 ? [`${name}: ${[...of].join(', ')}`] : []))
  t.strictSame(shared, [])
}

t.test('W12: what a person asked for is sent though the page is closed at this moment', async (t) => {
  const asked: { path: string; keepalive: boolean | undefined }[] = []
  const capture = t.intercept(globalThis, 'fetch', {
    value: async (path: string, { keepalive }: RequestInit = {}) => {
      asked.push({ path, keepalive })
      return new Response('{}')
    },
  })
  await api.act('confirm-position')
  await api.change({ 'station-name': 'Roof' })
  await api.post('/positions')
  await api.parameters()
  // More than the standard allows in all requests that outlive their page: a browser refuses it.
  await api.change({ text: 'x'.repeat(65_536) })
  capture.restore()
  t.strictSame(asked, [
    { path: '/actions/confirm-position', keepalive: true },
    { path: '/change', keepalive: true },
    { path: '/positions', keepalive: true },
    { path: '/parameters', keepalive: false },
    { path: '/change', keepalive: false },
  ])
})
