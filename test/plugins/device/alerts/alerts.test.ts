/** Notices of a real station to webhooks and a mail server that are slow, refuse, hang and fail. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { signatureOf } from '../../../../plugins/device/alerts/channels/hook.js'
import { packageRoot } from '../../../../runtime/platform/release.js'
import { type AnyPlugin, definePlugin } from '../../../../runtime/plugin.js'
import { cellularRouter } from '../../../../schemas/services.js'
import { ManualClock, partOf } from '../../../harness/index.js'
import { createAuthority } from '../../../harness/peers/certificates.js'
import { shippedPlugin } from '../../../harness/shipped.js'
import { alert, alertsRig, HookServer, hooksTo, MailServer, scratch, soon } from './alerts-rig.js'

interface Notices {
  channels: { name: string; trouble: string }[]
  notices: {
    subject: string
    what: string
    channels: Record<string, { state: string; tries: number; reason: string }>
  }[]
}
const mailTo = ({ port }: MailServer, more = {}) => ({
  ...{ 'alerts-mail-host': '127.0.0.1', 'alerts-mail-port': port, 'alerts-mail-tls': 'none' },
  ...{ 'alerts-mail-from': 'base@example.org', 'alerts-mail-to': ['ops@example.org'] },
  ...more,
})

t.test('an alert that holds is told, signed, and its end too; a short one is not', async (t) => {
  const hook = await HookServer.make(t)
  const { report, seconds, json, station } = await alertsRig(t, { changes: hooksTo(hook) })
  report(alert('S1', 'unfit'))
  await seconds(40)
  report()
  await seconds(200)
  t.equal(hook.posted.length, 0, 'it did not hold')
  report(alert('S1', 'unfit'))
  await seconds(95)
  await soon(() => hook.posted.length === 1, 'a notice')
  t.strictSame(hook.subjects, ['Roof S1 (S1) sends no corrections since 02:13'])
  const [{ body, headers } = { body: '', headers: {} as never }] = hook.posted
  t.match(JSON.parse(body), { what: 'begin', kind: 'unfit', severity: 'warning', count: 1, from: 'TEST0001' })
  t.equal(
    headers['x-rtk-base-signature'],
    signatureOf('the-hook-secret', String(headers['x-rtk-base-timestamp']), body),
  )
  t.match(await json('GET', '/alerts'), [{ key: 'S1 unfit', state: 'active', since: 1795227180 }])
  report()
  await seconds(120)
  await soon(() => hook.posted.length === 2, 'the all-clear')
  t.equal(hook.subjects[1], 'Roof S1 (S1) sends corrections again')
  t.strictSame(await json('GET', '/alerts'), [])
  const { notices } = await json<Notices>('GET', '/alerts/notices')
  t.match(notices, [{ what: 'end', channels: { hook1: { state: 'delivered' } } }, { what: 'begin' }])
  // The address of a webhook is often its whole secret.
  const shown = [station.lines, await json('GET', '/parameters'), await station.info()]
  t.notMatch(JSON.stringify(shown), /the-hook-secret|127\.0\.0\.1:\d+\/hook/)
})

t.test('P12: what waits to be told is withdrawn or rewritten when the alert changes', async (t) => {
  const hook = await HookServer.make(t)
  const { report, seconds } = await alertsRig(t, { changes: hooksTo(hook) })
  const move = alert('S1', 'moved', { severity: 'critical' })
  // After its start a station waits with all-clears.
  await seconds(200)
  report(move)
  await seconds(70)
  report()
  await seconds(300)
  t.strictSame(hook.subjects, [], 'confirmed while the notice waited: neither a move nor an all-clear is told')
  report(move)
  await seconds(70)
  report({ ...move, text: 'by 3 cm' })
  await seconds(30)
  await soon(() => hook.posted.length === 1, 'the move')
  t.match(JSON.parse(hook.posted[0]?.body ?? '{}'), { subject: /has moved/, text: /by 3 cm/ }, 'the newest text')
  report()
  await seconds(70)
  report(move)
  await seconds(300)
  t.equal(hook.posted.length, 1, 'it moved again while the all-clear waited: it is still moved')
  report()
  await seconds(120)
  await soon(() => hook.posted.length === 2, 'the all-clear')
  t.match(hook.subjects[1], /is at its position again/)
})

t.test('P12: what waits for a channel that was away arrives in its order: the last notice is what is so', async (t) => {
  const hook = await HookServer.make(t)
  let isAway = true
  const taken: string[] = []
  hook.behave = ({ body }, response) => {
    if (!isAway) taken.push((JSON.parse(body) as { subject: string }).subject)
    response.writeHead(isAway ? 503 : 204).end()
    return true
  }
  const { report, seconds, json } = await alertsRig(t, { changes: hooksTo(hook) })
  // The server may know of an attempt before the station knows the answer, from which the next wait counts.
  const tried = async () => (await json<Notices>('GET', '/alerts/notices')).notices.at(-1)?.channels.hook1?.tries
  await seconds(200)
  const move = alert('S1', 'moved', { severity: 'critical' })
  report(move)
  // Each failure doubles the wait: after the fourth the next attempt is minutes away.
  for (const [before, wait_s] of [95, 40, 75, 150].entries()) {
    await seconds(wait_s)
    await soon(async () => (await tried()) === before + 1, 'another attempt')
  }
  report()
  await seconds(80)
  isAway = false
  await seconds(35)
  await soon(() => taken.length > 0, 'the first')
  await seconds(300)
  await soon(() => taken.length === 2, 'both')
  t.match(taken, [/has moved/, /is at its position again/])
})

t.test('P12: every device variant tells alerts', (t) => {
  const folder = join(packageRoot(), 'runtime', 'variants')
  for (const name of readdirSync(folder)) {
    const { plugins } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { plugins: object }
    t.ok('alerts' in plugins, name)
  }
  t.end()
})

t.test('stations that are lost together go into one notice, by group', async (t) => {
  const hook = await HookServer.make(t)
  const { report, seconds } = await alertsRig(t, { changes: hooksTo(hook) })
  const north = Array.from({ length: 12 }, (_, n) => alert(`N${n}`, 'offline'))
  report(...north.slice(0, 5))
  await seconds(10)
  report(...north, alert('X', 'offline', { group: 'south' }))
  await seconds(100)
  await soon(() => hook.posted.length === 2, 'two notices')
  t.strictSame(hook.subjects, [
    '12 stations of group north are offline since 02:13',
    'Roof X (X) is offline since 02:13',
  ])
})

t.test('in quiet hours warnings wait, critical alerts do not', async (t) => {
  const hook = await HookServer.make(t)
  const changes = { ...hooksTo(hook), 'alerts-quiet': '22:00-01:00' }
  const { report, seconds } = await alertsRig(t, { changes })
  report(alert('S1', 'unfit'), alert('S2', 'moved', { severity: 'critical' }))
  await seconds(100)
  await soon(() => hook.posted.length === 1, 'the critical one')
  t.match(hook.subjects, [/has moved/])
  await seconds(3_400)
  t.equal(hook.posted.length, 1)
  await seconds(150)
  await soon(() => hook.posted.length === 2, 'the warning, after one o’clock')
  t.match(hook.subjects[1], /sends no corrections/)
})

t.test('a restart repeats nothing, and forgets nothing', async (t) => {
  const hook = await HookServer.make(t)
  const data = scratch(t)
  const clock = new ManualClock()
  const critical = alert('S1', 'moved', { severity: 'critical' })
  const first = await alertsRig(t, { data, clock, changes: hooksTo(hook) })
  first.report(critical)
  await first.seconds(95)
  await soon(() => hook.posted.length === 1, 'a notice')
  hook.behave = (_posted, response) => {
    response.writeHead(500).end()
    return true
  }
  first.report(critical, alert('S2', 'unfit'))
  await first.seconds(95)
  await soon(() => hook.posted.length >= 2, 'an attempt that fails')
  await first.station.stop()
  const file = join(data, 'files', 'alerts', 'main', 'alerts.json')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.notMatch(readFileSync(file, 'utf8'), /the-hook-secret|127\.0\.0\.1/)

  hook.behave = () => false
  hook.posted.length = 0
  const again = await alertsRig(t, { data, clock, changes: hooksTo(hook), reported: [critical, alert('S2', 'unfit')] })
  await soon(() => hook.posted.length === 1, 'what was not delivered')
  await again.seconds(300)
  t.match(hook.subjects, [/S2\) sends no corrections/])
  await again.seconds(600)
  t.equal(hook.posted.length, 1)
  again.report(critical)
  await again.seconds(120)
  await soon(() => hook.posted.length === 2, 'the all-clear of an alert of the run before')
  t.match(hook.subjects[1], /S2\) sends corrections again/)
  await again.seconds(24 * 3_600)
  await soon(() => hook.posted.length === 3, 'the critical one again after a day')
  t.match(hook.subjects[2], /^still: Roof S1 \(S1\) has moved/)
  t.match(await again.json('POST', `/alerts/${encodeURIComponent('S1 moved')}/acknowledge`), { ok: true })
  t.match(await again.json('GET', '/alerts'), [{ acknowledged: { by: 'operator' } }])
  await again.seconds(25 * 3_600)
  t.equal(hook.posted.length, 3, 'somebody knows of it')
  t.equal((await again.station.request('/alerts/none/acknowledge', { method: 'POST' })).status, 404)
})

t.test('a damaged file of the state stops nothing', async (t) => {
  const hook = await HookServer.make(t)
  const data = scratch(t)
  mkdirSync(join(data, 'files', 'alerts', 'main'), { recursive: true })
  writeFileSync(join(data, 'files', 'alerts', 'main', 'alerts.json'), '{"version":1,')
  const { report, seconds, station } = await alertsRig(t, { data, changes: hooksTo(hook) })
  t.match(
    station.lines.map(({ msg }) => msg),
    ['the stored alerts cannot be read: alerts that hold are told again'],
  )
  report(alert('S1', 'unfit'))
  await seconds(95)
  await soon(() => hook.posted.length === 1, 'a notice')
})

t.test('a webhook that fails is tried again, is an error, and blocks no other', async (t) => {
  const [bad, good] = [await HookServer.make(t), await HookServer.make(t)]
  let answers = 0
  bad.behave = ({ body }, response) => {
    // The station without a receiver has an alert of its own.
    if (!body.includes('S1') || ++answers > 3) return false
    response.writeHead(500).end('internal: the-hook-secret')
    return true
  }
  const { report, seconds, json, station } = await alertsRig(t, {
    changes: hooksTo(bad, good),
    plugins: { system: await shippedPlugin('system') },
  })
  const errors = () => station.field('base.state.errors') as { code: string; text: string }[]
  report(alert('S1', 'unfit'))
  await seconds(95)
  await soon(() => good.posted.length === 1 && bad.posted.length === 1, 'both were asked')
  const ofS1 = async () =>
    (await json<Notices>('GET', '/alerts/notices')).notices.find(({ subject }) => /S1/.test(subject))
  const state = async () => (await ofS1())?.channels.hook1
  await soon(async () => (await state())?.tries === 1, 'the answer is known')
  t.match(await state(), { state: 'waiting', reason: 'it answered 500' })
  await seconds(40)
  await soon(async () => (await state())?.tries === 2, 'the second attempt')
  t.match(
    errors().filter(({ code }) => code === 'alerts-not-sent'),
    [{ text: /hook1: it answered 500/ }],
  )
  await seconds(90)
  await soon(async () => (await state())?.tries === 3, 'the third attempt')
  await seconds(150)
  await soon(async () => (await state())?.state === 'delivered', 'delivered')
  t.strictSame(
    errors().filter(({ code }) => code === 'alerts-not-sent'),
    [],
  )
  const ids = bad.posted.filter(({ body }) => body.includes('S1')).map(({ headers }) => headers['x-rtk-base-notice'])
  t.equal(ids.length, 4)
  t.equal(new Set(ids).size, 1, 'one notice, by its id')
  t.equal(good.posted.filter(({ body }) => body.includes('S1')).length, 1)
})

t.test('a webhook that hangs, resets or redirects', async (t) => {
  const hook = await HookServer.make(t)
  const { seconds, json, clock, station, change } = await alertsRig(t, { changes: hooksTo(hook) })
  type Answers = { channel: string; accepted: boolean; reason: string }[]
  hook.behave = () => true
  const hung = json<Answers>('POST', '/alerts/test')
  await soon(() => hook.posted.length === 1, 'it was asked')
  t.equal((await station.request('/alerts/test', { method: 'POST' })).status, 503, 'one test at a time')
  await seconds(25)
  t.match(await hung, [{ channel: 'hook1', accepted: false, reason: /127\.0\.0\.1:\d+: no answer within 20 s/ }])
  hook.behave = (_posted, response) => !!response.destroy()
  t.match(await json('POST', '/alerts/test'), [{ accepted: false, reason: /cut the connection off/ }])
  hook.behave = (_posted, response) => !!response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  t.match(await json('POST', '/alerts/test'), [{ accepted: false, reason: /it answered 302/ }])
  hook.behave = (_posted, response) => !!response.writeHead(200).end('x'.repeat(3_000_000))
  t.match(await json('POST', '/alerts/test'), [{ accepted: true, reason: '' }])
  await change({ 'alerts-hooks': [{ name: 'gone', url: 'http://127.0.0.1:1/bot123:the-token/send' }] })
  const answers = await json<Answers>('POST', '/alerts/test')
  t.match(answers, [{ channel: 'gone', accepted: false, reason: /^127\.0\.0\.1:1: / }], 'the address has a token')
  t.notMatch(JSON.stringify([answers, station.lines]), /the-token/)
  t.ok(clock.now() > 0)
})

t.test('bodies by template, for chat services', async (t) => {
  const hook = await HookServer.make(t)
  const { report, seconds } = await alertsRig(t, {
    changes: {
      'alerts-hooks': [
        { name: 'slack', url: hook.url, body: '{"text":"{{subject}}\\n{{text}}"}' },
        { ...{ name: 'ntfy', url: hook.url, body: '{{subject}}', type: 'text' }, headers: 'Priority: 4 | Tags: rtk' },
        { name: 'night', url: hook.url, least: 'critical' },
        { name: 'off', url: hook.url, enabled: false },
      ],
    },
  })
  report(alert('S1', 'moved', { name: '"}\n{{names}}<!channel>\u0000', text: 'a "b" \\ {{id}}', group: '' }))
  await seconds(95)
  await soon(() => hook.posted.length === 2, 'two of four')
  const slack = hook.posted.find(({ headers }) => headers['content-type'] === 'application/json')
  const ntfy = hook.posted.find(({ headers }) => headers.priority === '4')
  t.match(JSON.parse(slack?.body ?? ''), {
    text: /^"} {{names}}‹!channel› \(S1\) has moved since 02:13\n[\s\S]*a "b" \\ {{id}}/,
  })
  t.match(ntfy, {
    headers: { 'content-type': 'text/plain; charset=utf-8', tags: 'rtk' },
    body: '"} {{names}}‹!channel› (S1) has moved since 02:13',
  })
  t.equal(ntfy?.headers['x-rtk-base-signature'], undefined, 'without a secret')
})

t.test('mail: login, one line of subject whatever a name has, no recipient more', async (t) => {
  const server = await MailServer.make(t)
  const login = { 'alerts-mail-user': 'roof', 'alerts-mail-password': 'correct-horse-mail' }
  const { report, seconds, json, station } = await alertsRig(t, { changes: mailTo(server, login) })
  report(alert('S1', 'moved', { severity: 'critical', name: 'x\r\nBcc: evil@example.org\r\n\r\n<script>' }))
  await seconds(95)
  await soon(() => server.mails.length === 1, 'a mail')
  const [mail] = server.mails
  t.strictSame(mail?.to, ['<ops@example.org>'])
  const [head = ''] = mail?.data.split('\r\n\r\n') ?? []
  const fields = head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => line.split(':')[0])
  t.notOk(fields.includes('Bcc'))
  t.equal(fields.filter((name) => name === 'Subject').length, 1)
  t.match(head, /Auto-Submitted: auto-generated/)
  t.match(head, /Message-ID: <[0-9a-f-]{36}@127\.0\.0\.1>/)
  const plain = server.commands.find((line) => line.startsWith('AUTH PLAIN')) ?? ''
  t.equal(Buffer.from(plain.split(' ')[2] ?? '', 'base64').toString(), '\0roof\0correct-horse-mail')
  t.match((await json<Notices>('GET', '/alerts/notices')).channels, [{ name: 'mail', trouble: '' }])
  const shown = [
    station.lines,
    await json('GET', '/parameters'),
    await station.info(),
    await json('GET', '/alerts/notices'),
  ]
  t.notMatch(JSON.stringify(shown), /correct-horse-mail/)
})

t.test('a mail server that refuses, hangs, closes, or offers no TLS', async (t) => {
  const server = await MailServer.make(t)
  const login = { 'alerts-mail-user': 'roof', 'alerts-mail-password': 'correct-horse-mail' }
  const { seconds, json, change, station } = await alertsRig(t, { changes: mailTo(server, login) })
  const test = () => json<{ accepted: boolean; reason: string }[]>('POST', '/alerts/test')
  const cases: [begin: string, answer: string, reason: RegExp][] = [
    ['AUTH', '535 wrong: correct-horse-mail', /rejects user and password/],
    ['RCPT', '550 no such user correct-horse-mail', /it answered 550/],
    ['MAIL', '451 later', /it answered 451/],
    ['DATA', '554 spam', /it answered 554/],
    ['EHLO', 'close', /closed the connection|ECONN|not accepted/],
    ['GREETING', '554 go away\r\n', /it answered 554/],
    ['GREETING', 'close', /closed the connection|not accepted/],
  ]
  for (const [begin, answer, reason] of cases) {
    server.behave = (line) => (line.startsWith(begin) ? answer : undefined)
    t.match(await test(), [{ accepted: false, reason }], `${answer} to ${begin}`)
  }
  for (const begin of ['GREETING', 'EHLO', 'DATA']) {
    server.behave = (line) => (line.startsWith(begin) ? 'hang' : undefined)
    await soon(() => server.sockets.size === 0, 'no connection of before')
    const before = server.commands.length
    const hung = test()
    await soon(
      () =>
        server.sockets.size > 0 &&
        (begin === 'GREETING' || server.commands.slice(before).some((line) => line.startsWith(begin))),
      begin,
    )
    await seconds(65)
    t.match(await hung, [{ accepted: false, reason: /no acceptance within 60 s/ }], `hangs at ${begin}`)
    await soon(() => server.sockets.size === 0, 'the connection ends')
  }
  server.behave = () => undefined
  t.match(await test(), [{ accepted: true }])
  await change({ 'alerts-mail-tls': 'starttls' })
  t.match(await test(), [{ accepted: false, reason: /does not offer TLS/ }], 'no login in plain text')
  await change({ 'alerts-mail-password': 'correct-horse-mail' })
  await change({ 'alerts-mail-tls': 'none' })
  const before = server.commands.length
  await test()
  const login64 = Buffer.from('\0roof\0correct-horse-mail').toString('base64')
  t.notOk(
    server.commands.slice(before).some((line) => line.includes(login64)),
    'S5: what was entered for TLS is not sent in plain',
  )
  await change({ 'alerts-mail-tls': 'none', 'alerts-mail-port': 1 })
  t.match(await test(), [{ accepted: false, reason: /refused/ }])
  t.notMatch(JSON.stringify([station.lines, server.commands.slice(-3)]), /correct-horse-mail/)
})

t.test('mail over STARTTLS, with an authority of the operator', async (t) => {
  const authority = createAuthority(join(scratch(t), 'ca'))
  const server = await MailServer.make(t, authority.issue('mail', '/CN=localhost', 'subjectAltName=DNS:localhost\n'))
  const changes = mailTo(server, { 'alerts-mail-host': 'localhost', 'alerts-mail-tls': 'starttls' })
  const trusting = await alertsRig(t, { changes, options: { ca: authority.ca } })
  t.match(await trusting.json('POST', '/alerts/test'), [{ channel: 'mail', accepted: true }])
  t.equal(server.mails.length, 1)
  const other = await alertsRig(t, { changes })
  t.match(await other.json('POST', '/alerts/test'), [{ accepted: false, reason: /certificate is not trusted/ }])
})

t.test('S8: addresses of the local network are only for a variant that allows them', async (t) => {
  const hook = await HookServer.make(t)
  const { change } = await alertsRig(t, { options: { privateTargets: false } })
  const settings = (url: string) => change({ 'alerts-hooks': [{ name: 'hook1', url }] })
  for (const url of [hook.url, `http://localhost:${hook.port}/x`])
    t.match(JSON.stringify(await settings(url)), /privateTargets/)
})

t.test('S8: a webhook to this station is named so, whatever address its router has', async (t) => {
  const router = definePlugin({
    name: 'router',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [cellularRouter],
    setup: (ctx) => ctx.services.provide(cellularRouter, partOf(cellularRouter, { address: '127.0.0.1' })),
  }) as AnyPlugin
  const { change } = await alertsRig(t, { options: { privateTargets: false }, plugins: { router } })
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', '0.0.0.0']) {
    const answer = JSON.stringify(await change({ 'alerts-hooks': [{ name: 'desk', url: `https://${host}/x` }] }))
    t.match(answer, /desk leads to this station itself, which alerts\.privateTargets of the variant/, host)
  }
})

t.test('a test without a channel says that none is set up, and what to set', async (t) => {
  const { station } = await alertsRig(t)
  const { status, text } = await station.request('/alerts/test', { method: 'POST' })
  t.equal(status, 409)
  t.match(text, /no channel is set up: set alerts-mail-host, .* for e-mails, or alerts-hooks for webhooks/)
  t.notMatch(text, /again later/)
})

t.test('W10: an alert that began before anybody was to hear of it is told once there is a channel', async (t) => {
  const hook = await HookServer.make(t)
  const { change, report, seconds, json } = await alertsRig(t)
  await seconds(200)
  const [past, lasting] = [alert('S1', 'unfit'), alert('S2', 'moved', { severity: 'critical' })]
  report(past, lasting)
  await seconds(200)
  report(lasting)
  await seconds(200)
  t.match(await change(hooksTo(hook)), { result: 'ok' })
  await seconds(60)
  await soon(() => hook.posted.length === 1, 'the one that lasts')
  t.match(JSON.parse(hook.posted[0]?.body ?? '{}'), { what: 'begin', kind: 'moved', count: 1 })
  await seconds(3_000)
  t.equal(hook.posted.length, 1, 'once, and nothing of the one that passed')
  report()
  await seconds(200)
  await soon(() => hook.posted.length === 2, 'its end')
  t.match((await json<Notices>('GET', '/alerts/notices')).notices[0], { what: 'end' })
})

t.test('settings that would leak or never work are refused', async (t) => {
  const { change } = await alertsRig(t)
  const mail = { 'alerts-mail-host': 'mail.example.org', 'alerts-mail-from': 'a@b.org', 'alerts-mail-to': ['c@d.org'] }
  t.match(await change(mail), { result: 'ok' })
  for (const bad of [
    { 'alerts-mail-tls': 'none' },
    { 'alerts-mail-from': '' },
    { 'alerts-mail-to': [] },
    { 'alerts-mail-to': ['a@b.org, c@d.org'] },
    { 'alerts-mail-to': ['a@b.org\r\nBcc: x@y.org'] },
    { 'alerts-mail-from': 'A <a@b.org>' },
    { 'alerts-mail-host': 'mail.example.org\r\nx' },
    // S8
    { ...mail, 'alerts-mail-host': '169.254.169.254' },
    { 'alerts-quiet': '22-6' },
    { 'alerts-quiet': '7:0-22:00' },
    { 'alerts-zone': 'Europe/Nowhere' },
    { 'alerts-hooks': [{ name: 'a', url: 'http://example.org/' }] },
    { 'alerts-hooks': [{ name: 'mail', url: 'https://example.org/' }] },
    {
      'alerts-hooks': [
        { name: 'a', url: 'https://a.test' },
        { name: 'a', url: 'https://b.test' },
      ],
    },
    { 'alerts-hooks': [{ name: 'a', url: 'https://a.test', body: '{' }] },
    { 'alerts-hooks': Array.from({ length: 9 }, (_, n) => ({ name: `h${n}`, url: 'https://a.test' })) },
  ])
    t.match(await change(bad), { result: 'failed' }, JSON.stringify(bad).slice(0, 80))
  t.match(await change({ 'alerts-zone': 'Europe/Berlin', 'alerts-quiet': '22:00-06:30' }), { result: 'ok' })
  t.match(await change({ 'alerts-quiet': '7:00-22:00' }), { result: 'ok' }, 'hours as people write them')
  for (const bad of [{ 'alerts-mail-to': ['ada'] }, { 'alerts-mail-from': 'ada' }]) {
    const { errors } = (await change(bad)) as { errors?: { message: string }[] }
    t.match(
      errors,
      [{ message: /must be an e-mail address, for example ada@example\.org/ }],
      'W6: not as an expression',
    )
  }
})
