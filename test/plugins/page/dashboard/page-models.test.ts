/** What the pages of the guide, survey-in, network, timeline and update compute: without a browser. */
import t from 'tap'
import { endCause, causeOf as recordedCause } from '../../../../plugins/device/record/why/cause.js'
import { de } from '../../../../plugins/page/dashboard/ui/i18n/de.js'
import { en } from '../../../../plugins/page/dashboard/ui/i18n/en.js'
import { pages } from '../../../../plugins/page/dashboard/ui/i18n/en-pages.js'
import { pageOf, settingIn } from '../../../../plugins/page/dashboard/ui/model/error-pages.js'
import {
  changesOf,
  formOf,
  isWeak,
  noticesOf,
  toggled,
  wrongOf,
} from '../../../../plugins/page/dashboard/ui/model/gnss/output.js'
import { readPosition } from '../../../../plugins/page/dashboard/ui/model/gnss/position-text.js'
import { liveText } from '../../../../plugins/page/dashboard/ui/model/gnss/positions.js'
import { surveyOf } from '../../../../plugins/page/dashboard/ui/model/gnss/survey.js'
import { forecastOf, purposeOf, roughly } from '../../../../plugins/page/dashboard/ui/model/gnss/survey-forecast.js'
import { guideOf, positionLevel, stepState } from '../../../../plugins/page/dashboard/ui/model/guide.js'
import { logText } from '../../../../plugins/page/dashboard/ui/model/log-file.js'
import { isMoved, moveOf } from '../../../../plugins/page/dashboard/ui/model/moved.js'
import {
  isLastDayUsable,
  type RawFiles,
  rawDays,
  rinexLink,
  usableDays,
} from '../../../../plugins/page/dashboard/ui/model/raw-days.js'
import { findIn, pageText } from '../../../../plugins/page/dashboard/ui/model/search.js'
import { shareText } from '../../../../plugins/page/dashboard/ui/model/series.js'
import { mostFile, readSettings, settingsFile } from '../../../../plugins/page/dashboard/ui/model/settings-file.js'
import {
  bandsOf,
  causeOf,
  day_ms,
  detailOf,
  kindOfCause,
  kindShares,
  outagesOf,
  type Span,
  sumsOf,
} from '../../../../plugins/page/dashboard/ui/model/timeline.js'
import { markOf, updateOf } from '../../../../plugins/page/dashboard/ui/model/update.js'
import { moodOf, placeText } from '../../../../plugins/page/dashboard/ui/model/verdict.js'
import {
  isWifiPassword,
  joinable,
  mobileStrength,
  technologyOf,
  wifiStrength,
} from '../../../../plugins/page/dashboard/ui/model/wifi.js'
import type { Parameter } from '../../../../plugins/page/dashboard/ui/station/api.js'
import { PositionEstimator, plainModel } from '../../../../plugins/reference/survey-in/survey/estimator.js'

t.test('the mood: a wait is no fault', async (t) => {
  const of = (fitness: string, code: string) => moodOf({ base: { state: { verdict: { fitness, code } } } })
  t.equal(of('unfit', 'surveying'), 'waiting')
  t.equal(of('unfit', 'starting'), 'waiting')
  t.equal(of('unfit', 'moved'), 'unfit')
  t.equal(of('degraded', 'satellites'), 'degraded')
  t.equal(of('fit', 'ok'), 'fit')
  t.equal(moodOf(undefined), 'unknown')
})

t.test('W3: the question about a move has its size, or says that nobody knows it', async (t) => {
  const of = (values: object | undefined, delta?: number, state = 'moved', chosen = 'survey', move?: object) =>
    moveOf({
      base: { state: { errors: [{ code: 'mqtt-link' }, { code: 'gnss-moved', ...(values && { values }) }] } },
      gnss: { pos: { delta }, state: { status: state, motion: { ...(move && { move }) } }, ref: { chosen } },
    })
  const words = { shape: 'level', level: '3.4 ± 0.5 cm', direction: 'east' }
  t.equal(
    of(words, 1.6, 'moved', 'survey', { size_m: 0.034 }).distance_m,
    0.034,
    'S1: the move, and not the noise of the position of now',
  )
  t.equal(of({ distance_m: 2.1 }, 1.6).distance_m, 2.1, 'positions found it elsewhere')
  t.equal(of(undefined, 1.6).distance_m, 1.6)
  t.equal(of(undefined, 0).distance_m, undefined, 'the document has 0 without a position')
  t.equal(moveOf({}).distance_m, undefined)
  t.match(of({ method: 'manual', height: true }), { isHeight: true }, 'W4: to confirm a wrong height would keep it')
  t.match(of({ returns: true }), { isHeight: false, returns: true, isSurveying: false, isEntered: false })
  t.match(of({}, 0, 'survey', 'manual'), { isSurveying: true, isEntered: true })
  const moves = ['gnss-moved', 'gnss-reference-moved', 'moved', 'gnss-survey', 'removed', undefined].map(isMoved)
  t.strictSame(moves, [true, true, true, false, false, false], 'W4: these are answered by buttons')
})

t.test('W4: what only the verdict says leads to the page of its advice, too', async (t) => {
  const pages = ['output', 'link', 'coarse', 'incomplete', 'slips', 'satellites', 'jamming', 'spoofing'].map(pageOf)
  t.strictSame(pages, ['links', 'links', 'survey', 'survey', 'sky', 'sky', 'sky', 'sky'])
  t.strictSame(
    [settingIn({ setting: 'udp-port' }), settingIn({ setting: 'ntrip-caster.tls.port' }), settingIn(undefined)],
    ['udp-port', undefined, undefined],
    'an option has no field on the page',
  )
  t.strictSame(['override-far', 'neighbours-far', 'updating'].map(pageOf), ['positions', 'positions', 'update'])
  t.strictSame(
    ['stopping', 'stopped', 'surveying', 'outputs'].flatMap((code) => pageOf(code) ?? []),
    [],
  )
})

t.test('W8: labels, units and help are searched', async (t) => {
  const pagesIn = (texts: Readonly<Record<string, string>>, sought: string) =>
    findIn(
      // Every page has other names.
      Object.keys(texts)
        .flatMap((key) => (key.startsWith('words.') ? [key.slice(6)] : []))
        .map((path) => ({
          title: texts[`page.${path}`] ?? '',
          words: texts[`words.${path}`] ?? '',
          text: pageText(path, texts),
          kind: 'page' as const,
          to: path,
        })),
      sought,
      texts['search.synonyms'],
    ).map(({ to }) => to)
  const english = { ...en, ...pages }
  t.strictSame(pagesIn(english, 'disk'), ['maintenance'])
  t.equal(pagesIn(english, 'rover limit')[0], 'rovers')
  t.ok(pagesIn(english, 'dB-Hz').includes('guide'), 'a unit in a text')
  t.ok(pagesIn(english, 'mountpoint').includes('links'), 'a label of a form')
  t.equal(pagesIn(english, 'sky')[0], 'sky', 'a title comes first')
  t.equal(pagesIn(de, 'Festplatte')[0], 'maintenance')
  t.equal(pagesIn(de, 'Rover Grenze')[0], 'rovers')
  t.strictSame(pagesIn(english, 'xyzzy'), [])

  const clients = {
    title: 'Access point: clients',
    words: 'wap-max-sta',
    text: 'maximum, dBm',
    kind: 'setting' as const,
  }
  const found = (sought: string) => findIn([{ ...clients, to: 'settings' }], sought, 'limit maximum; rover client')
  t.strictSame([found('rover limit').length, found('dbm').length, found('rover speed').length], [1, 1, 0])
})

t.test('the place is that of the reference, which rests; else that of the receiver', async (t) => {
  const pos = { t: 1, lat: -52.1, lon: 4.2 }
  const manual = { type: 'ecef', x: 6_378_137, y: 0, z: 0 }
  const of = (ref: object) => placeText({ gnss: { pos, ref, state: { status: 'acquire' } } })
  t.equal(of({ chosen: 'manual', manual }), '0.00000° N, 0.00000° E')
  t.equal(of({ chosen: 'manual', manual: { type: '' } }), '52.10000° S, 4.20000° E')
  t.equal(of({ chosen: 'survey', survey: { ...manual, state: 'running' } }), '52.10000° S, 4.20000° E', 'a mean')
  t.equal(placeText({ gnss: { pos: { t: 0 } } }), '')
})

t.test('how long a survey-in still takes', async (t) => {
  const config = { mintime: 300, maxtime: 86_400, accuracy: 2 }
  const survey = { type: 'ecef', state: 'running', count: 600, elapsed: 600, acc: 4, corr: false, config }
  const of = (more: object) => {
    const found = surveyOf({ gnss: { ref: { survey: { ...survey, ...more } } } })
    if (!found) throw new Error('no survey-in')
    return found
  }
  const forecast = (more: object) => {
    const found = forecastOf(of(more))
    if (!found) throw new Error('no forecast')
    return found
  }
  t.equal(forecastOf(of({ state: 'complete' })), undefined)
  t.equal(forecastOf(of({ count: 0 })), undefined, 'nothing is known before the first position')

  const far = forecast({})
  t.ok(far.from_s > 0 && far.from_s < far.to_s, `a range: ${far.from_s} to ${far.to_s}`)
  t.equal(far.acc_m, 2, 'the accuracy at its end is that which is required')
  t.ok(forecast({ acc: 3 }).from_s < far.from_s, 'the nearer, the shorter')
  t.match(
    forecast({ acc: 1.9, elapsed: 100 }),
    { from_s: 200, to_s: 200 },
    'good enough: only the shortest time is left',
  )
  t.match(forecast({ acc: 1.9, elapsed: 400 }), { from_s: 0, to_s: 0 })
  t.equal(forecast({ config: { ...config, accuracy: 1 } }).from_s, Number.POSITIVE_INFINITY, 'never, by the bias')
  t.equal(forecast({ config: { ...config, maxtime: 700 } }).from_s, Number.POSITIVE_INFINITY, 'not in its longest time')
  t.match(forecast({ corr: true, acc_corr: 0.05, accuracy_corr_dyn: 0.03, acc: 1 }), { acc_m: 0.03 })

  t.test('it holds against the estimator of the station itself', async (t) => {
    const estimator = new PositionEstimator(plainModel)
    const here = { x: 3_925_404, y: 274_491, z: 5_002_842 }
    // Noise without a memory: the correlation time is the least of the model. The same every time.
    let seed = 1
    const noise = () => {
      seed = (seed * 16_807) % 2_147_483_647
      return (seed / 2_147_483_647 - 0.5) * 4
    }
    let said: ReturnType<typeof forecast> | undefined
    let end_s = 0
    for (let second = 1; second <= 40_000 && end_s === 0; second++) {
      estimator.add({ x: here.x + noise(), y: here.y + noise(), z: here.z + noise() }, 4, second)
      if (second === 900) said = forecast({ acc: estimator.accuracy_m(), elapsed: second, count: second })
      if (second % 60 === 0 && second > 900 && estimator.accuracy_m() <= 2) end_s = second
    }
    if (!said) throw new Error('no forecast')
    const left_s = end_s - 900
    t.ok(said.from_s <= left_s && left_s <= said.to_s, `${said.from_s} to ${said.to_s}, and it took ${left_s}`)
  })

  const about = (from_s: number, to_s: number) => roughly({ from_s, to_s, acc_m: 1 })
  t.strictSame(about(700, 1_500), { from_s: 600, to_s: 1_800 }, 'wider, never narrower')
  t.strictSame(about(200, 200), { from_s: 180, to_s: 300 }, 'never one exact number')
  t.strictSame(about(0, 0), { from_s: 0, to_s: 15 })
  t.strictSame(about(20_000, 50_000), { from_s: 14_400, to_s: 50_400 })
  t.equal(about(700, Number.POSITIVE_INFINITY).to_s, Number.POSITIVE_INFINITY)
  t.strictSame([0.02, 0.3, 2.5].map(purposeOf), ['map', 'near', 'own'])
})

t.test('a step of the guide is done, better, waiting or open', async (t) => {
  const states = (document: Record<string, unknown>, hasLogin = true) =>
    Object.fromEntries(guideOf({ document, satellites: [], hasLogin }).map((one) => [one.step, stepState(one)]))
  const survey = (state: string) => ({ type: 'ecef', state, acc: 2.5, x: 1, y: 2, z: 3 })
  const gnss = (status: string, state: string) => ({
    state: { status },
    ref: { chosen: 'survey', survey: survey(state) },
  })

  t.equal(states({}, false).access, 'open')
  t.equal(states({}).access, 'better', 'without a name')
  t.equal(states({ base: { name: 'Barn' } }).access, 'done')
  t.equal(states({ gnss: gnss('survey', 'running') }).position, 'waiting', 'a first survey-in is no fault')
  t.equal(states({ gnss: gnss('fixed', 'complete') }).position, 'better', '2.5 m: shifted on the map')
  t.equal(states({ gnss: gnss('moved', 'complete') }).position, 'open')
  t.equal(states({ udp: { enabled: true } }).outputs, 'better', 'nobody outside gets anything')
  t.equal(states({ udp: { enabled: true }, ntrip: { caster: { enabled: true, port: 2101 } } }).outputs, 'done')
})

t.test('settings to a file and back', async (t) => {
  const parameter = (name: string, value: unknown, preset: unknown, more: Partial<Parameter> = {}): Parameter => ({
    ...{ name, value, default: preset, plugin: 'x', title: name, schema: {} },
    ...{ secret: false, endsLink: false, onTrial: false, ...more },
  })
  const own = [
    parameter('udp-port', 2200, 2100),
    parameter('eth-en', 1, 1),
    parameter('lat', 52.1, null),
    parameter('list', [{ a: 1 }], []),
    parameter('sta-pswd', undefined, undefined, { secret: true, set: true }),
  ]
  const file = settingsFile(own, { version: '0.3.0', serial: 'SIM1', t: 1_700_000_000 })
  t.strictSame(file, {
    'rtk-base': '0.3.0',
    serial: 'SIM1',
    t: 1_700_000_000,
    changes: { 'udp-port': 2200, lat: 52.1, list: [{ a: 1 }] },
  })
  const read = (value: unknown, parameters = own) => {
    const found = readSettings(typeof value === 'string' ? value : JSON.stringify(value), parameters)
    return 'trouble' in found ? found.trouble : { ...found, changes: [...found.changes] }
  }
  t.match(read(file), { serial: 'SIM1', changes: [], unknown: [], secrets: [] }, 'the same station: nothing to change')
  const fresh = own.map((one) => ({ ...one, value: one.default }))
  t.strictSame(read(file, fresh), {
    ...{ serial: 'SIM1', unknown: [], secrets: [] },
    changes: Object.entries(file.changes),
  })
  const foreign = {
    'rtk-base': '9',
    serial: 7,
    changes: { 'sta-pswd': 'secret', later: 1, 'udp-port': 'x', 'eth-en': 1 },
  }
  t.strictSame(read(foreign), {
    serial: '',
    changes: [['udp-port', 'x']],
    unknown: [{ name: 'later', meant: '' }],
    secrets: ['sta-pswd'],
  })
  const hostile = ['', 'null', '[]', '{"rtk-base":1,"changes":{}}', '{"rtk-base":"1","changes":[]}', '{"rtk-base":"1"}']
  t.strictSame(
    hostile.map((text) => read(text)),
    hostile.map(() => 'unreadable'),
  )
  t.match(read('{"rtk-base":"1","changes":{"__proto__":{"udp-port":1}}}'), {
    changes: [],
    unknown: [{ name: '__proto__' }],
  })
  t.match(
    read('{"rtk-base":"1","changes":{"udp-prot":1}}'),
    { unknown: [{ name: 'udp-prot', meant: 'udp-port' }] },
    'C9: what was meant',
  )
  t.equal(read(`"${'x'.repeat(mostFile)}"`), 'tooLarge')
})

t.test('the position of now as text of the form', async (t) => {
  const pos = { x: 3_925_404.12, y: 274_491.34, z: 5_002_842.56, acc: 2.4, t: 1_700_000_000 }
  const document = (gps_fix: string, more = {}) => ({ gnss: { pos: { ...pos, ...more }, state: { gps_fix } } })
  const found = liveText(document('3d'))
  const read = readPosition(found?.text ?? '')
  t.equal(found?.acc_m, 2.4)
  if ('trouble' in read) return t.fail(read.trouble)
  for (const axis of ['x', 'y', 'z'] as const) t.ok(Math.abs(read.point[axis] - pos[axis]) < 0.002, axis)
  t.equal(liveText(document('time')), undefined, 'a base that holds its position only echoes its reference')
  t.equal(liveText(document('3d', { t: 0 })), undefined)
})

t.test('WiFi and mobile networks', async (t) => {
  const network = (ssid: string, signal_dbm: number, more = {}) => ({
    ssid,
    bssid: `${ssid}${signal_dbm}`,
    channel: 1,
    signal_dbm,
    auth: 'wpa2-psk',
    canJoin: true,
    ...more,
  })
  const found = [
    network('roof', -70),
    network('roof', -50),
    network('', -20),
    network('office', -30, { canJoin: false }),
    network('roof', -40, { auth: 'open' }),
  ]
  t.strictSame(
    joinable(found).map(({ ssid, signal_dbm, auth }) => [ssid, signal_dbm, auth]),
    [
      ['roof', -40, 'open'],
      ['roof', -50, 'wpa2-psk'],
      ['office', -30, 'wpa2-psk'],
    ],
    'one row a name and kind, what cannot be joined last, nothing without a name',
  )
  t.strictSame([-40, -60, -70, -90].map(wifiStrength), ['strong', 'good', 'weak', 'poor'])
  t.strictSame([-57, -75, -90, -110].map(mobileStrength), ['strong', 'good', 'weak', 'poor'])
  t.strictSame([258, 256, 4, 0].map(technologyOf), ['LTE', 'GSM', 'UMTS', ''])
  t.strictSame(
    ['1234567', '12345678', 'x'.repeat(63), 'x'.repeat(64), 'a'.repeat(64), 'längeres'].map(isWifiPassword),
    [false, true, true, false, true, false],
  )
})

t.test('the timeline of a day', async (t) => {
  const hour = 3_600_000
  const spans: Span[] = [
    { from: -2 * hour, to: 2 * hour, cause: 'unknown' },
    { from: 2 * hour, to: 4 * hour, cause: 'procedure-acquire' },
    { from: 4 * hour, to: 5 * hour, cause: 'sent' },
    { from: 5 * hour, to: 8 * hour, cause: 'sent' },
    { from: 8 * hour, to: 9 * hour, cause: 'antenna-open', values: { since: 1 } },
    { from: 9 * hour, to: 10 * hour, cause: 'gate-closed', values: { reason: 'no fix' } },
    { from: 10 * hour, to: 20 * hour, cause: 'sent' },
    { from: 20 * hour, to: 30 * hour, cause: 'power-cut' },
  ]
  const bands = bandsOf(spans, 0, 24 * hour)
  t.equal(bands.length, 7, 'two that touch and are the same are one')
  t.match(bands[0], { x: 0, width: 2 / 24 }, 'cut to the axis')
  t.equal(bands.reduce((sum, { width }) => sum + width, 0).toFixed(9), '1.000000000', 'the whole axis')
  const outages = outagesOf(bands, 24 * hour)
  t.match(
    outages.map(({ from, to, kind, isPresent }) => [from / hour, to / hour, kind, isPresent]),
    [
      [20, 24, 'broken', true],
      [8, 10, 'broken', false],
      [2, 4, 'planned', false],
    ],
    'newest first; neighbours are one outage, which begins where something is known',
  )
  t.strictSame(
    outages[1]?.bands.map(({ span }) => span.cause),
    ['antenna-open', 'gate-closed'],
  )
  t.strictSame(
    outages[2]?.bands.map(({ span }) => span.cause),
    ['procedure-acquire'],
    'what nobody knows is not a cause',
  )
  t.match(sumsOf(bands, outages), {
    sent_ms: 14 * hour,
    missing_ms: 8 * hour,
    unknown_ms: 2 * hour,
    longest_ms: 4 * hour,
  })
  const shares = kindShares(bands)
  t.strictSame(
    shares.map(([kind]) => kind),
    ['good', 'planned', 'limited', 'broken', 'unknown'],
    'W1: shares of the axis, in the order of the legend',
  )
  t.equal(
    shares.reduce((sum, [, percent]) => sum + percent, 0),
    100,
    'W1: they add up',
  )
  const brief = bandsOf(
    [
      { from: 0, to: 5, cause: 'jammed' },
      { from: 5, to: day_ms, cause: 'sent' },
    ],
    0,
    day_ms,
  )
  t.strictSame(
    kindShares(brief).map(([kind, percent]) => [kind, shareText(percent)]),
    [
      ['good', '100 %'],
      ['broken', '< 1 %'],
    ],
    'W1: what lasted milliseconds is not 0 %, and what did not occur is left out',
  )
  t.strictSame(outagesOf(bandsOf([{ from: 0, to: 9, cause: 'unknown' }], 0, 9), 9), [], 'no record is no outage')
  t.strictSame(bandsOf([], 0, 9), [])
  const restart = bandsOf(
    [
      { from: 0, to: 400, cause: 'service-stopped' },
      { from: 400, to: 900, cause: 'procedure-identify' },
      { from: 900, to: 60_000, cause: 'survey' },
      { from: 60_000, to: 60_100, cause: 'jammed' },
    ],
    0,
    100_000,
  )
  t.match(outagesOf(restart, 100_000), [{ kind: 'planned', bands: { length: 1 } }], 'what lasted, not what passed by')

  // What the record of the station finds has a sentence of its own on the page.
  const gate = { open: false, reason: 'x' }
  const situations = ['identify', 'configure', 'acquire', 'initial', 'survey', 'moved', 'fault'].map((status) => ({
    gate,
    procedure: { status },
  }))
  const more = [
    { gate },
    { gate: { open: true } },
    {},
    { gate, receiver: { link: 'offline' } },
    { gate, air: { jammed: true } },
  ]
  const found = [...situations, ...more].map((situation) => recordedCause(situation as never).cause)
  const ends = ['stopped', 'killed', 'failed', 'blocked', 'power', 'unknown'].map(endCause)
  t.strictSame(
    [...found, ...ends].filter((cause) => causeOf(cause) === undefined),
    [],
  )
  t.equal(causeOf('gate-closed'), 'gate-closed')
  t.equal(causeOf('constructor'), undefined, 'nothing of the language')
  t.strictSame(['sent', 'survey', 'antenna-open', 'new-thing', 'unknown'].map(kindOfCause), [
    'good',
    'planned',
    'broken',
    'broken',
    'unknown',
  ])
  t.equal(detailOf({ from: 0, to: 1, cause: 'gate-closed', values: { reason: 'x'.repeat(999) } }).length, 300)
  t.equal(detailOf({ from: 0, to: 1, cause: 'gate-closed', values: { reason: 3 } }), '')
  t.equal(
    detailOf({ from: 0, to: 1, cause: 'power-cut', values: { text: 'no clean end' } }),
    '',
    'its sentence says it',
  )
  t.equal(detailOf({ from: 0, to: 1, cause: 'plugin', values: { plugin: 'rtcm', reason: 'no port' } }), 'rtcm: no port')
})

t.test('where an update is', async (t) => {
  const document = (state: string, base: string, errors: object[] = []) => ({
    base: { update: { state, failed: errors.length > 0, progress: 40 }, state: { base, errors } },
  })
  t.match(updateOf(undefined), { step: undefined, failure: undefined })
  t.equal(updateOf(document('idle', 'ready')).step, undefined)
  t.match(updateOf(document('verifying', 'updating')), { step: 'verify', percent: 40 })
  t.equal(updateOf(document('verifying', 'ready')).step, 'trial', 'the new version runs')
  t.strictSame(
    [markOf('transfer', 'install'), markOf('install', 'install'), markOf('trial', 'install')],
    ['done', 'now', 'next'],
  )
  const values = { version: '1.4.0', cause: 'no RTCM', runs: '1.3.0' }
  const back = { code: 'update-failed', text: 'in any words', t: 1, values }
  t.match(updateOf(document('failed', 'ready', [back])), { step: undefined, isTakenBack: true, failure: back })
  const refused = { code: 'update-failed', text: 'the signature is not valid', t: 1 }
  t.match(updateOf(document('failed', 'ready', [refused])), { isTakenBack: false, failure: refused })
})

t.test('the log as a file has one dated line each', async (t) => {
  t.equal(
    logText([{ level: 40, time: 0, plugin: 'rtcm', msg: 'late\nagain' }]),
    '1970-01-01T00:00:00.000Z WARN  rtcm: late ⏎ again\n',
  )
})

t.test('the choice of satellites and messages', async (t) => {
  const now = {
    constellations: ['glonass', 'gps', 'galileo', 'beidou'],
    msm: 4,
    observationInterval_s: 1,
    referenceInterval_s: 1,
  }
  const before = formOf({ model: 'ZED-F9P', can: [], intervals: [1, 2, 5], now })
  t.match(before, { constellations: 'gps galileo beidou glonass', msm: '4', elevationMask_deg: '', biasInterval_s: '' })
  t.strictSame(changesOf(before, before), {})
  t.strictSame(noticesOf(before, before), [])

  t.test('changes only what was entered, in the types of the parameters', async (t) => {
    const form = { ...toggled(before, 'glonass'), msm: '7', elevationMask_deg: ' 15 ', referenceInterval_s: '' }
    t.strictSame(changesOf(before, form), {
      'gnss-constellations': ['gps', 'galileo', 'beidou'],
      'gnss-elevation-mask': 15,
      'gnss-msm': 7,
      'gnss-reference-interval': null,
    })
    t.strictSame(
      changesOf(before, { ...before, elevationMask_deg: 'x' }),
      { 'gnss-elevation-mask': 'x' },
      'the station says so',
    )
    t.strictSame(toggled(toggled(before, 'glonass'), 'glonass'), before)
  })

  t.test('says what it costs', async (t) => {
    t.strictSame(noticesOf(before, { ...before, msm: '7' }), ['output.cost.messages'])
    t.strictSame(noticesOf(before, { ...before, observationInterval_s: '15' }), ['output.cost.rarer'])
    t.strictSame(noticesOf(before, toggled(before, 'glonass')), ['output.cost.constellations'])
  })

  t.test('warns of a weaker movement check without Galileo and BeiDou, however many are left', async (t) => {
    const weak = toggled(toggled(before, 'galileo'), 'beidou')
    t.strictSame(noticesOf(before, weak), ['output.cost.constellations', 'output.weak'])
    t.equal(isWeak(toggled(weak, 'glonass')), true)
    t.equal(isWeak({ ...before, constellations: 'galileo' }), false)
    t.equal(isWeak({ ...before, constellations: '' }), false, 'not known')
  })

  t.test('cannot be GLONASS alone', async (t) => {
    t.equal(wrongOf(before, { ...before, constellations: 'glonass' }), 'output.wrong.constellations')
    t.equal(wrongOf(before, { ...before, constellations: '' }), 'output.wrong.constellations')
    t.equal(wrongOf(before, { ...before, constellations: 'beidou glonass' }), '')
    const unknown = { ...before, constellations: '' }
    t.equal(wrongOf(unknown, unknown), '', 'where they are not known, the rest can be saved')
  })
})

t.test('raw data by day: hours, remarks, and the links of a service', async (t) => {
  const day_s = Date.UTC(2026, 10, 26) / 1000
  const files = [0, 1, 23, 24].map((hour) => ({ from: day_s + hour * 3_600, bytes: 1_000, epochs: 3_600, interval: 1 }))
  const notes = [
    { t: (day_s + 7_000) * 1000, what: 'moved' },
    { t: (day_s + 8_000) * 1000, what: 'moved' },
  ]
  const days = rawDays({ recording: true, notes, files: [...files, { from: day_s + 90_000, bytes: 5 }] })
  t.strictSame(days, [
    { day: '2026-11-27', from_s: day_s + 86_400, hours: 1, bytes: 1_005, notes: [] },
    { day: '2026-11-26', from_s: day_s, hours: 3, bytes: 3_000, notes: ['moved'] },
  ])
  const [, moved] = days
  if (!moved) return t.fail('no day')
  t.equal(rinexLink(moved, 'csrs-ppp'), `/rinex?preset=csrs-ppp&from=${day_s}&to=${day_s + 86_400}`)
  t.match(rinexLink(moved, 'full', 'navigation'), /&kind=navigation$/)
})

t.test('days that give a position are long enough, and without a move', (t) => {
  const day_s = Date.UTC(2026, 10, 26) / 1000
  const hours = (from_h: number, count: number) =>
    Array.from({ length: count }, (_, hour) => ({
      ...{ from: day_s + (from_h + hour) * 3_600, bytes: 1_000, epochs: 3_600, interval: 1 },
    }))
  const at = (hour: number, what: string) => ({ t: (day_s + hour * 3_600) * 1000, what })
  const usable = (files: RawFiles['files'], ...notes: RawFiles['notes'][number][]) =>
    usableDays({ recording: true, files, notes }).map(({ day }) => day)
  t.strictSame(usable(hours(0, 4)), ['2026-11-26'])
  t.strictSame(usable(hours(0, 3)), [], 'three hours are too short')
  t.strictSame(usable(hours(22, 4)), [], 'two hours of each of two days')
  t.strictSame(usable([...hours(0, 3), { from: day_s + 20_000, bytes: 1e9 }]), [], 'an hour that is not counted yet')
  for (const what of ['moved', 'antenna-open', 'antenna-short'])
    t.strictSame(usable(hours(0, 24), at(3, what)), [], what)
  t.strictSame(usable(hours(0, 24), at(3, 'receiver-restarted')), ['2026-11-26'])
  t.strictSame(usable(hours(0, 28), at(25, 'moved')), ['2026-11-26'], 'a move of the next day')
  t.strictSame(usable(hours(0, 48)), ['2026-11-27', '2026-11-26'], 'the newest first')

  const now_s = day_s + 30 * 3_600
  const last = (files: RawFiles['files'], ...notes: RawFiles['notes'][number][]) =>
    isLastDayUsable({ recording: true, files, notes }, now_s)
  t.ok(last(hours(22, 4)), 'also across midnight')
  t.notOk(last(hours(0, 6)), 'those are of yesterday')
  t.notOk(last(hours(22, 4), at(23, 'moved')))
  t.ok(last(hours(22, 4), at(2, 'moved')), 'the move was before')
  t.notOk(last([]))
  t.end()
})

t.test('how well the reference is known', (t) => {
  const level = (of: object, chosen = 'manual') =>
    positionLevel({ gnss: { state: { status: 'fixed' }, ref: { chosen, [chosen]: { type: 'ecef', ...of } } } })
  t.equal(level({ acc: 2.5, frame: 'ETRF2000' }), 'metres')
  t.equal(level({ acc: 0.101, frame: 'ETRF2000' }), 'metres')
  t.equal(level({ acc: 0.1, frame: 'ETRF2000' }), 'absolute')
  t.equal(level({ acc: 0.02, frame: '' }), 'relative', 'in a frame that nobody named')
  t.equal(level({ acc: 0.02 }), 'relative')
  t.equal(level({ acc: 0, frame: 'ETRF2000' }), 'unrated')
  t.equal(level({ frame: 'ETRF2000' }), 'unrated')
  const survey = { state: 'complete', acc: 0.02 }
  t.equal(level({ ...survey, frame: '' }, 'survey'), 'relative')
  t.equal(level({ ...survey, frame: 'ETRF2000' }, 'survey'), 'absolute')
  t.equal(level({ ...survey, state: 'incomplete', frame: 'ETRF2000' }, 'survey'), 'unrated', 'it is not used')
  t.equal(positionLevel({}), 'unrated')
  const other = { chosen: 'manual', manual: { acc: 2, frame: '' }, survey: { ...survey, frame: 'ETRF2000' } }
  t.equal(positionLevel({ gnss: { ref: other } }), 'metres', 'the chosen one counts')
  t.end()
})
