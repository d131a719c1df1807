/** The rules alone: the table of states, quiet hours, templates, words, and the return from storage. */
import fc from 'fast-check'
import t from 'tap'
import { hookTrouble, signatureOf } from '../../../../plugins/device/alerts/channels/hook.js'
import { waits } from '../../../../plugins/device/alerts/channels/outbox.js'
import { filled, templateTrouble } from '../../../../plugins/device/alerts/channels/template.js'
import { Batches } from '../../../../plugins/device/alerts/rules/batches.js'
import { Ledger } from '../../../../plugins/device/alerts/rules/ledger.js'
import { harmless, noticeOf } from '../../../../plugins/device/alerts/rules/notice.js'
import { clockTime, isQuiet, quietHoursOf } from '../../../../plugins/device/alerts/rules/quiet-hours.js'
import { isUndecided, type StationFacts, stationAlerts } from '../../../../plugins/device/alerts/sources/conditions.js'
import { moved, type StoredState } from '../../../../plugins/device/alerts/state.js'
import { hostTrouble } from '../../../../runtime/lib/link/target.js'
import { Undelivered } from '../../../../runtime/platform/fetch/deliver.js'
import { waitAfter_ms } from '../../../../runtime/platform/time/backoff.js'
import { alertKinds } from '../../../../schemas/services.js'
import { alert } from './alerts-rig.js'

const message = {
  ...({ id: 'i', t_s: 0, from: 'S', what: 'begin', kind: 'moved', severity: 'critical', group: '', count: 1 } as const),
  ...{ subject: 'a "quoted" {{text}}', text: 'one\ntwo', names: '' },
}

t.test('an alert is told once it holds, and its end once that holds', (t) => {
  const ledger = new Ledger({ hold_ms: 60, repeat_ms: 1_000, most: 10 })
  const one = alert('A', 'unfit')
  const at = (ms: number, ...alerts: (typeof one)[]) => ledger.step(alerts, ms, () => true).map(({ what }) => what)
  t.strictSame(at(0, one), [])
  t.strictSame(at(59, one), [])
  t.strictSame(at(60, one), ['begin'])
  t.strictSame(at(90, one), [])
  t.strictSame(at(100), [], 'it may come back')
  t.strictSame(at(159), [])
  t.strictSame(at(160), ['end'])
  t.strictSame(ledger.entries, [])
  t.end()
})

t.test('what flaps is told once, and counted', (t) => {
  const ledger = new Ledger({ hold_ms: 60, repeat_ms: 1e9, most: 10 })
  const one = alert('A', 'offline')
  const told: string[] = []
  for (let ms = 0; ms < 3_000; ms += 10)
    told.push(...ledger.step(ms % 40 < 20 ? [one] : [], ms, () => true).map(({ what }) => what))
  t.strictSame(told, ['begin'])
  t.ok((ledger.entries[0]?.flaps ?? 0) > 50)
  t.end()
})

t.test(
  'an end that is not known is none; a warning that becomes critical is told again; a critical one is repeated',
  (t) => {
    const ledger = new Ledger({ hold_ms: 60, repeat_ms: 1_000, most: 2 })
    const one = alert('A', 'certificate')
    const worse = { ...one, severity: 'critical' as const }
    ledger.step([one], 0, () => true)
    ledger.step([one], 60, () => true)
    for (let ms = 70; ms < 500; ms += 10)
      t.strictSame(
        ledger.step([], ms, () => false),
        [],
      )
    t.match(
      ledger.step([worse], 500, () => true),
      [{ what: 'worse' }],
    )
    t.strictSame(
      ledger.step([worse], 1_400, () => true),
      [],
    )
    t.match(
      ledger.step([worse], 1_500, () => true),
      [{ what: 'repeat' }],
    )
    t.ok(ledger.acknowledge('A certificate', { by: 'anna', t_s: 1 }))
    t.strictSame(
      ledger.step([worse], 9_000, () => true),
      [],
      'acknowledged',
    )
    t.notOk(ledger.acknowledge('B certificate', { by: 'anna', t_s: 1 }))
    ledger.step([worse, alert('B', 'x'), alert('C', 'x')], 9_100, () => true)
    t.equal(ledger.entries.length, 2, 'bounded')
    t.equal(ledger.ignored, 1)
    t.end()
  },
)

t.test('whatever sources report, begins and ends of an alert alternate', (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 90 })), { maxLength: 100 }), (steps) => {
      const ledger = new Ledger({ hold_ms: 60, repeat_ms: 1e9, most: 10 })
      let ms = 0
      const told = steps.flatMap(([isThere, wait_ms]) => {
        ms += wait_ms
        return ledger.step(isThere ? [alert('A', 'x')] : [], ms, () => true).map(({ what }) => what)
      })
      return told.every((what, at) => what === (at % 2 === 0 ? 'begin' : 'end'))
    }),
  )
  t.end()
})

t.test('no more notices an hour than the limit; the rest goes into one', (t) => {
  const batches = new Batches({ group_ms: 30, hourly: 3 })
  for (let n = 0; n < 43; n++) batches.add({ what: 'begin', alert: alert('A', `kind${n}`), flaps: 0 }, 0)
  t.equal(batches.due(30, false, ({ kind }) => kind).length, 3)
  t.strictSame(
    batches.due(599_000, false, () => ''),
    [],
  )
  const [rest, ...none] = batches.due(600_031, false, () => '')
  t.match(rest, { count: 40, subjects: ['kind3', 'kind4'] })
  t.strictSame(none, [])
  batches.add({ what: 'begin', alert: alert('A', 'next'), flaps: 0 }, 3_700_000)
  t.equal(batches.due(3_700_030, false, () => '').length, 1, 'an hour later')
  t.end()
})

t.test('quiet hours over midnight, in a time zone with summer time', (t) => {
  t.strictSame(quietHoursOf('7:05-22:00'), { from: 425, to: 1_320 })
  const night = quietHoursOf('22:00-06:30')
  t.strictSame(night, { from: 1_320, to: 390 })
  for (const [minute, quiet] of [
    [1_319, false],
    [1_320, true],
    [0, true],
    [389, true],
    [390, false],
  ] as const)
    t.equal(night && isQuiet(night, minute), quiet, `${minute}`)
  const day = quietHoursOf('7:05-22:00')
  for (const [minute, quiet] of [
    [424, false],
    [425, true],
    [1_319, true],
    [1_320, false],
  ] as const)
    t.equal(day && isQuiet(day, minute), quiet, `by day, ${minute}`)
  for (const text of ['', '22-6', '24:00-06:00', '22:00-06:60', 'x22:00-06:00'])
    t.equal(quietHoursOf(text), undefined, text)
  t.equal(clockTime(Date.UTC(2026, 6, 1, 12), 'Europe/Berlin'), '14:00')
  t.equal(clockTime(Date.UTC(2026, 0, 1, 23, 30), 'Europe/Berlin'), '00:30')
  t.end()
})

t.test('a template is filled once, and stays JSON whatever is put in', (t) => {
  t.equal(filled('{"a":"{{subject}}"}', 'json', message), '{"a":"a \\"quoted\\" {{text}}"}')
  t.equal(filled('{{ subject }}: {{text}} {{priority}}', 'text', message), 'a "quoted" {{text}}: one\ntwo 5')
  t.equal(templateTrouble('{"a":"{{subject}}"}', 'json'), undefined)
  t.match(templateTrouble('{"a":{{subject}}}', 'json'), /is not JSON/)
  t.match(templateTrouble('{{secret}}', 'text'), /unknown placeholder/)
  t.match(templateTrouble('{{constructor}}', 'text'), /unknown placeholder/)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (subject) => {
      const body = filled('{"a":"{{subject}}"}', 'json', { ...message, subject })
      return (JSON.parse(body) as { a: string }).a === subject
    }),
  )
  t.end()
})

t.test('names cannot break out of a line, a tag or a mention', (t) => {
  t.equal(harmless('a\r\nBcc: x@y\u2028<b>@everyone\u0000\u202e'), 'a Bcc: x＠y ‹b›＠everyone')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
      const line = harmless(text, 64)
      return !/[\p{Cc}\p{Cf}\p{Cs}<>@]/u.test(line) && [...line].length <= 64
    }),
  )
  t.end()
})

t.test('many stations in one notice: ten names, and how many more', (t) => {
  const batches = new Batches({ group_ms: 0, hourly: 10 })
  for (let n = 0; n < 12; n++) batches.add({ what: 'begin', alert: alert(`S${n}`, 'broker'), flaps: 0 }, 0)
  const [batch] = batches.due(0, false, () => '')
  if (!batch || !('listed' in batch)) return t.fail('no batch')
  const { names, subject, text } = noticeOf(batch, 'UTC')
  t.equal(subject, '12 stations of group north lost their broker since 02:13')
  t.equal(names.split(', ').length, 10)
  t.match(text, /and 2 more$/)
  t.end()
})

t.test('the subject of one alert says that it comes and goes, of an end or of several nothing of the kind', (t) => {
  for (const [what, flaps, count, isSaid] of [
    ['begin', 0, 1, false],
    ['begin', 3, 1, true],
    ['end', 3, 1, false],
    ['begin', 3, 2, false],
  ] as const) {
    const batches = new Batches({ group_ms: 0, hourly: 10 })
    for (let n = 0; n < count; n++) batches.add({ what, alert: alert(`S${n}`, 'broker'), flaps }, 0)
    const [batch] = batches.due(0, false, () => '')
    const { subject } = noticeOf(batch as never, 'UTC')
    t.equal(/, comes and goes$/.test(subject), isSaid, subject)
  }
  t.end()
})

t.test('P12: every kind of alert has its texts', (t) => {
  for (const kind of alertKinds)
    for (const what of ['begin', 'end'] as const)
      for (const count of [1, 2]) {
        const batches = new Batches({ group_ms: 0, hourly: 10 })
        for (let n = 0; n < count; n++) batches.add({ what, alert: alert(`S${n}`, kind), flaps: 0 }, 0)
        const [batch] = batches.due(0, false, () => '')
        const { subject } = noticeOf(batch as never, 'UTC')
        t.match(subject, / (is|are|has|have|sends?|lost|could|needs?|announces?) /, subject)
        t.notMatch(subject, /all clear/)
      }
  t.end()
})

t.test('S8: the station sends nothing to its router or a link-local address', async (t) => {
  const reach = { isLocal: () => false, isRouter: (address: string) => address === '192.168.1.1' }
  for (const [address, trouble] of [
    ['192.168.1.1', /router/],
    ['::ffff:192.168.1.1', /router/],
    ['fe80::1%eth0', /link-local/],
    ['192.168.1.2', undefined],
  ] as const) {
    const found = hostTrouble(address, reach)
    if (trouble) t.match(found, trouble, address)
    else t.equal(found, undefined, address)
  }
})

t.test('addresses, headers and bodies of webhooks', (t) => {
  const isLocal = (host: string) => host === 'localhost' || /^(192\.168|169\.254)\./.test(host)
  const isRouter = (address: string) => address === '192.168.1.1'
  const trouble = (more: object, allowsPrivate = true) =>
    hookTrouble(
      { name: 'a', url: 'https://a.test/x', ...more },
      { isLocal, isRouter, ...(!allowsPrivate && { neededOption: 'o' }) },
    )
  for (const [host, allowed, otherwise] of [
    ['192.168.1.2', undefined, /local network/],
    ['192.168.1.1', /router/, /router/],
    ['169.254.169.254', /link-local/, /link-local/],
    ['[fe80::1]', /link-local/, /link-local/],
    ['[::ffff:169.254.1.1]', /link-local/, /link-local/],
    ['[::ffff:192.168.1.1]', /router/, /router/],
    ['0.0.0.0', undefined, /this station itself/],
    ['[::]', undefined, /this station itself/],
    ['[::1]', undefined, /this station itself/],
    ['a.test', undefined, undefined],
  ] as const)
    for (const [isAllowed, expected] of [
      [true, allowed],
      [false, otherwise],
    ] as const) {
      const found = trouble({ url: `https://${host}/x` }, isAllowed)
      if (expected) t.match(found, expected, `S8: ${host}`)
      else t.equal(found, undefined, `S8: ${host}`)
    }
  t.equal(trouble({}), undefined)
  t.equal(trouble({ url: 'http://192.168.1.2/x' }), undefined)
  t.equal(trouble({ url: 'http://localhost:1/x' }), undefined)
  for (const url of [
    'http://a.test',
    'ftp://a.test',
    'file:///etc/passwd',
    'x',
    'https://a:b@c.test',
    'http://192.168.1.2.evil.test',
  ])
    t.ok(trouble({ url }) || url.includes('evil'), url)
  t.equal(trouble({ headers: 'Title: RTK | Authorization: Bearer abc' }), undefined)
  for (const headers of [
    'x',
    ': y',
    'a b: c',
    'Content-Type: x',
    'X-RTK-Base-Signature: y',
    'a: \u00e4',
    'a: b\r\nc: d',
  ])
    t.ok(trouble({ headers }), headers)
  t.match(trouble({ body: '{{nothing}}' }), /unknown placeholder/)
  // openssl dgst -sha256 -hmac key <<< of "1.{}"
  t.match(signatureOf('key', '1', '{}'), /^sha256=[0-9a-f]{64}$/)
  t.not(signatureOf('key', '1', '{}'), signatureOf('key', '2', '{}'))
  t.end()
})

t.test('waits double to an hour, are longer after a refusal, and as long as the receiver asks', (t) => {
  const wait = (tries: number, kind: 'later' | 'refused' = 'later', wait_ms = 0) =>
    waitAfter_ms(tries, { ...waits, random: () => 0.5 }, new Undelivered(kind, 'it answered', { wait_ms }).wait_ms)
  t.strictSame(
    [1, 2, 3, 8, 50].map((tries) => wait(tries)),
    [30_000, 60_000, 120_000, 3_600_000, 3_600_000],
  )
  t.equal(wait(1, 'refused'), 990_000)
  t.equal(wait(1, 'later', 120_000), 132_000)
  t.end()
})

t.test('stored times become those of the next run; a clock set back lets no time pass', (t) => {
  const state: StoredState = {
    ...{ version: 1, monotonic_ms: 1_000, utc_ms: 50_000, notices: [] },
    entries: [{ alert: alert('S', 'x'), state: 'active', at_ms: 900, flaps: 0, told_ms: 950 }],
    batches: { batches: [], sent_ms: [990] },
  }
  t.match(moved(state, 5, 60_000), { entries: [{ at_ms: -10_095, told_ms: -10_045 }], batches: { sent_ms: [-10_005] } })
  const untouched = { entries: [{ at_ms: -95, told_ms: -45 }] }
  for (const utc_ms of [0, 40_000]) t.match(moved(state, 5, utc_ms), untouched)
  t.match(moved({ ...state, utc_ms: 0 }, 5, 60_000), untouched, 'it was stored without a clock')
  t.end()
})

t.test('the alerts of a station, from its services', (t) => {
  const day_s = 86_400
  const verdict = (fitness: 'fit' | 'degraded' | 'unfit', code: string, for_s = 9_999) => ({
    ...{ fitness, code, for_s, why: 'because', advice: 'do it', since: 5 },
  })
  const link = { isWanted: true, down_s: 0, reason: '', certificateUntil_s: 0 }
  const fit: StationFacts = {
    ...{ serial: 'S', name: 'Roof', utc_s: 100 * day_s, verdict: verdict('fit', 'ok'), link, errors: [] },
    disk: { free: 9e9, size: 1e10 },
  }
  const kinds = (facts: Partial<StationFacts>) =>
    stationAlerts({ ...fit, ...facts }).map(({ kind, severity }) => `${kind} ${severity}`)
  const error = (code: string) => ({ code, text: 'w; a', why: 'w', advice: 'a', severity: 'degrades' as const, t: 1 })
  const until = (days: number) => ({ link: { ...link, certificateUntil_s: fit.utc_s + days * day_s } })
  t.strictSame(kinds({}), [])
  t.strictSame(
    kinds({ verdict: undefined, link: undefined, errors: undefined, disk: undefined }),
    [],
    'nothing is known',
  )
  t.strictSame(kinds({ verdict: verdict('unfit', 'moved', 0) }), ['moved critical'])
  t.strictSame(kinds({ verdict: verdict('unfit', 'antenna', 0) }), ['unfit warning'])
  t.strictSame(kinds({ verdict: verdict('unfit', 'starting', 300) }), [], 'a start takes a while')
  t.strictSame(kinds({ verdict: verdict('unfit', 'starting', 700) }), ['unfit warning'])
  t.strictSame(kinds({ verdict: verdict('degraded', 'jamming', 500) }), [])
  t.strictSame(kinds({ verdict: verdict('degraded', 'jamming', 600) }), ['degraded warning'])
  t.strictSame(kinds({ verdict: verdict('degraded', 'link') }), [], 'told by the link')
  t.strictSame(kinds({ link: { ...link, down_s: 600 } }), ['broker warning'])
  t.strictSame(kinds({ link: { ...link, down_s: 600, isWanted: false } }), [])
  t.strictSame(kinds({ errors: [error('update-failed')] }), ['update-failed warning'])
  t.strictSame(kinds({ errors: [error('raw-not-written')] }), ['disk warning'])
  t.strictSame(kinds({ disk: { free: 1e8, size: 1e10 } }), ['disk warning'])
  t.strictSame(kinds(until(15)), [])
  t.strictSame(kinds(until(13)), ['certificate warning'])
  t.strictSame(kinds(until(2)), ['certificate critical'])
  t.strictSame(kinds(until(-2)), ['certificate critical'])
  t.strictSame(kinds({ ...until(2), utc_s: 0 }), [], 'without a clock')
  const open = (facts: Partial<StationFacts>, kind: string) => isUndecided({ ...fit, ...facts }, kind)
  t.notOk(open({}, 'moved'))
  t.ok(open({ verdict: verdict('unfit', 'starting', 1) }, 'moved'), 'a start is no all-clear')
  t.ok(open({ verdict: verdict('degraded', 'slips', 1) }, 'degraded'))
  t.notOk(open({ verdict: verdict('degraded', 'slips', 1) }, 'unfit'))
  t.ok(open({ link: { ...link, down_s: 5 } }, 'broker'))
  t.end()
})
