/** The casters over HTTP: the list without passwords, its change, and the test of a caster before it is saved. */
import t, { type Test } from 'tap'
import ntripServer from '../../../../plugins/rtcm/ntrip-server/index.js'
import { completed, type Target } from '../../../../plugins/rtcm/ntrip-server/target.js'
import type { AnyPlugin } from '../../../../runtime/plugin.js'
import { during } from '../../../harness/drive.js'
import { until } from '../../../harness/index.js'
import { fakeCaster, setUpStation, type Visit } from './rig.js'

const token = 'an-operators-secret'
const viewerToken = 'a-viewers-secret'

async function setUp(t: Test) {
  const rig = await setUpStation(t, {
    plugins: { 'ntrip-server': ntripServer as AnyPlugin },
    variant: { http: { host: '127.0.0.1', port: 0, token, viewerToken } },
  })
  const ask = async (method: string, path: string, body?: unknown, secret = token) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const { status, text } = await rig.station.request(path, init)
    return { status, text, json: JSON.parse(text) }
  }
  const tried = (caster: object) => ask('POST', '/ntrip-server/test', { caster })
  return { ...rig, ask, tried }
}

const table = (...rows: string[]) =>
  `SOURCETABLE 200 OK\r\nContent-Type: text/plain\r\n\r\n${rows.map((row) => `${row}\r\n`).join('')}ENDSOURCETABLE\r\n`
const row = (mount: string, misc = 'none') =>
  `STR;${mount};Roof;RTCM 3.2;;2;GPS;none;NLD;52.00;4.00;0;0;x;none;B;N;9600;${misc}`

/** Answers pushes with one text and everything else with a source table. */
const answers = (push: string, rows: string[]) => (visit: Visit) =>
  visit.socket.end(/^(SOURCE|POST) /.test(visit.head) ? push : table(...rows))

t.test('a caster that takes the push: everything is ok, nothing is stored, no RTCM is sent', async (t) => {
  const { ask, tried, second } = await setUp(t)
  const caster = await fakeCaster(t, (visit) => {
    if (/^SOURCE /.test(visit.head)) visit.socket.write('ICY 200 OK\r\n\r\n')
    else visit.socket.end(table(row('ROOF')))
  })
  await second()
  const answer = await tried({ host: '127.0.0.1', port: caster.port, mount: 'ROOF', password: 's3cret' })
  t.match(answer, {
    status: 200,
    json: {
      ok: true,
      code: 'ok',
      text: /accepts the login; listed/,
      checks: { resolved: 'ok', connected: 'ok', tls: 'unknown', login: 'ok', mount: 'ok' },
    },
  })
  t.equal(caster.visits.length, 2)
  t.match(caster.visits[0]?.head, /^SOURCE s3cret ROOF/)
  await until(() => caster.visits[0]?.socket.closed, 'the mountpoint is free again')
  t.equal(caster.visits[0]?.body.length, 0)
  t.same((await ask('GET', '/ntrip-server')).json, { casters: [] })
})

t.test('what can be wrong, by code and check', async (t) => {
  const { tried } = await setUp(t)
  const cases: [what: string, push: string, rows: string[], target: object, expected: object][] = [
    [
      'password',
      'ERROR - Bad Password\r\n',
      [row('ROOF')],
      {},
      { ok: false, code: 'password', checks: { login: 'failed', mount: 'ok' } },
    ],
    [
      'user',
      'HTTP/1.1 401 Unauthorized\r\n\r\n',
      [row('ROOF')],
      { version: 2, user: 'me' },
      { code: 'login', checks: { login: 'failed' } },
    ],
    [
      'right to push',
      'HTTP/1.1 403 No\r\n\r\n',
      [],
      { version: 2 },
      { code: 'forbidden', checks: { login: 'failed', mount: 'failed' } },
    ],
    [
      'mountpoint',
      'ERROR - Mountpoint not found\r\n',
      [row('OTHER')],
      {},
      { code: 'mount', checks: { login: 'unknown', mount: 'failed' } },
    ],
    ['taken', 'ERROR - Already taken\r\n', [row('ROOF')], {}, { ok: false, code: 'taken' }],
    [
      'N1: in use or not known, and not in the table',
      'ERROR - Mount Point Taken or Invalid\r\n',
      [row('OTHER')],
      {},
      { ok: false, code: 'mount', advice: /check the name/ },
    ],
    ['ban', 'ERROR - your IP is banned\r\n', [row('ROOF')], {}, { code: 'banned', checks: { mount: 'unknown' } }],
    ['web', 'HTTP/1.1 302 Found\r\nLocation: http://portal/\r\n\r\n', [], {}, { code: 'web' }],
    [
      'not in the table',
      'ICY 200 OK\r\n\r\n',
      [row('OTHER')],
      {},
      { ok: true, code: 'not-listed', checks: { login: 'ok', mount: 'failed' } },
    ],
    [
      'sandbox',
      'ICY 200 OK\r\n\r\n',
      [row('ROOF', 'sandbox')],
      {},
      { ok: true, code: 'sandbox', checks: { mount: 'failed' } },
    ],
    ['no caster', 'SSH-2.0-OpenSSH\r\n\r\n', [], {}, { ok: false, code: 'other' }],
    [
      'silent end',
      '',
      [row('ROOF')],
      {},
      { ok: false, code: 'no-answer', checks: { connected: 'ok', mount: 'unknown' } },
    ],
    ['flood', 'x'.repeat(10_000), [], {}, { ok: false, code: 'no-answer' }],
  ]
  for (const [what, push, rows, target, expected] of cases) {
    const caster = await fakeCaster(t, answers(push, rows))
    const { status, json } = await tried({
      host: '127.0.0.1',
      port: caster.port,
      mount: 'ROOF',
      password: 'x',
      ...target,
    })
    t.match({ status, ...json }, { status: 200, advice: /^\S.{5}/, text: /^\S/, ...expected }, what)
    t.ok(caster.visits.length <= 2)
  }
})

t.test('what is wrong before the login', async (t) => {
  const { tried } = await setUp(t)
  const target = { mount: 'ROOF', password: 'x' }
  const unknown = { login: 'unknown', mount: 'unknown' }
  t.match((await tried({ ...target, host: 'no-such-host.invalid' })).json, {
    ok: false,
    code: 'dns',
    checks: { resolved: 'failed', connected: 'unknown', ...unknown },
  })
  t.match((await tried({ ...target, host: '127.0.0.1', port: 9 })).json, {
    code: 'refused',
    checks: { resolved: 'ok', connected: 'failed', tls: 'unknown', ...unknown },
  })
  const plain = await fakeCaster(t, () => {})
  plain.visits.push = ((visit: Visit) => {
    visit.socket.end('plain text\r\n')
    return 1
  }) as never
  t.match((await tried({ ...target, host: '127.0.0.1', port: plain.port, tls: true })).json, {
    code: 'not-tls',
    checks: { connected: 'ok', tls: 'failed', ...unknown },
  })
})

t.test('a silent caster costs 15 s at most, and one test runs at a time', async (t) => {
  const { clock, tried } = await setUp(t)
  const caster = await fakeCaster(t, () => {})
  const target = { host: '127.0.0.1', port: caster.port, mount: 'ROOF', password: 'x' }
  const first = tried(target)
  await until(() => caster.visits.length === 1, 'the login')
  t.match(await tried(target), {
    status: 503,
    json: { error: 'RTK_ERR_UNAVAILABLE', message: /another caster is being tested/ },
  })
  const before_ms = clock.monotonic()
  t.match((await during(clock, first, 'the answer')).json, {
    ok: false,
    code: 'no-answer',
    checks: { connected: 'ok' },
  })
  const passed_s = (clock.monotonic() - before_ms) / 1_000
  t.ok(passed_s <= 15, `${passed_s} s`)
  const next = await fakeCaster(t, answers('ICY 200 OK\r\n\r\n', [row('ROOF')]))
  t.match((await tried({ ...target, port: next.port })).json, { ok: true }, 'the next one may run')
})

t.test('a push that stands is not disturbed by its own test', async (t) => {
  const { change, second, secondsUntil, station, tried } = await setUp(t)
  const caster = await fakeCaster(t, (visit) => {
    if (/^SOURCE /.test(visit.head)) visit.socket.write('ICY 200 OK\r\n\r\n')
    else visit.socket.end(table(row('ROOF')))
  })
  const target = { host: '127.0.0.1', port: caster.port, mount: 'ROOF', password: 's3cret' }
  await change({ 'ntrip-server': [target] })
  await second()
  await secondsUntil(
    () => /^ac/.test((station.field('ntrip.server') as { state: string }[])[0]?.state ?? ''),
    'accepted',
  )
  const { password: _kept, ...open } = target
  t.match((await tried(open)).json, { ok: true, code: 'ok', text: /pushes to this caster now/ })
  t.equal(caster.visits.filter(({ head }) => head.startsWith('SOURCE')).length, 1)
})

t.test('the list shows no password, and keeps those that are not sent', async (t) => {
  const { ask, station } = await setUp(t)
  const roof = { host: 'rtk2go.com', mount: 'ROOF', password: 'roof-pass', messages: [1005] }
  const own = {
    host: 'caster.lan',
    port: 2102,
    mount: 'OWN',
    user: 'me',
    password: 'own-pass',
    version: 2,
    proof: 'echo',
  }
  const echo = { echo: { user: 'rover', password: 'echo-pass' } }
  t.match((await ask('PUT', '/ntrip-server', { casters: [roof, { ...own, ...echo }] })).json, { result: 'ok' })
  const listed = await ask('GET', '/ntrip-server', undefined, viewerToken)
  t.notMatch(listed.text, /-pass/)
  const { password: _roof, ...openRoof } = roof
  const { password: _own, ...openOwn } = own
  t.same(listed.json, {
    casters: [
      { ...openRoof, set: true },
      { ...openOwn, set: true, echo: { user: 'rover', set: true } },
    ],
  })
  const before = JSON.stringify(await all(station))
  t.match(before, /roof-pass/)
  // One is switched off, the other one renamed: neither password was sent.
  const casters = [
    { ...openRoof, enabled: false },
    { ...openOwn, mount: 'NEW', echo: { user: 'rover' } },
  ]
  t.match((await ask('PUT', '/ntrip-server', { casters })).json, { result: 'ok' })
  t.match(JSON.stringify(await all(station)), /roof-pass.*own-pass.*echo-pass|own-pass/)
  t.match(station.field('ntrip.server'), [{ mount: 'NEW' }, { mount: 'ROOF', state: 'off' }])
  for (const [path, body] of [
    ['/ntrip-server', { casters }],
    ['/ntrip-server/test', { caster: roof }],
  ] as const)
    t.equal((await ask(path.endsWith('test') ? 'POST' : 'PUT', path, body, viewerToken)).status, 403)
})

async function all({ store }: { store: { namespaces(): Promise<string[]>; entries(name: string): Promise<unknown> } }) {
  return Promise.all((await store.namespaces()).map((name) => store.entries(name)))
}

t.test('a stored password goes to no other host', async (t) => {
  const stored: Target[] = [
    { host: 'a.example', mount: 'ONE', password: 'p1' },
    { host: 'a.example', mount: 'TWO', password: 'p2' },
    { host: 'b.example', mount: 'ONE', password: 'p3', echo: { user: 'r', password: 'p4' } },
  ]
  const kept = (sent: object) => completed(sent as never, stored)
  t.equal(kept({ host: 'a.example', mount: 'TWO' }).password, 'p2')
  t.equal(kept({ host: 'a.example', mount: 'TWO', password: 'new' }).password, 'new')
  t.equal(kept({ host: 'a.example', mount: 'THREE' }).password, undefined, 'which of the two is not known')
  t.equal(kept({ host: 'b.example', mount: 'THREE' }).password, 'p3')
  t.equal(kept({ host: 'c.example', mount: 'ONE' }).password, undefined)
  t.equal(kept({ host: 'b.example', port: 99, mount: 'ONE' }).password, undefined)
  t.same(kept({ host: 'b.example', mount: 'ONE', echo: { user: 'r' } }).echo, { user: 'r', password: 'p4' })
  t.same(kept({ host: 'b.example', mount: 'ONE', echo: { user: 'other' } }).echo, { user: 'other', password: '' })
  t.equal(kept({ host: 'B.Example', mount: 'ONE' }).password, 'p3', 'a host is the same in any letters')
  stored.push({ host: 't.example', mount: 'ONE', password: 'p5', tls: true, echo: { user: 'r', password: 'p6' } })
  t.equal(kept({ host: 't.example', mount: 'TWO', tls: true }).password, 'p5')
  const plain = kept({ host: 't.example', mount: 'ONE', echo: { user: 'r' } })
  t.equal(plain.password, undefined, 'S5: what was entered for TLS does not go out in plain text')
  t.same(plain.echo, { user: 'r', password: '' })
})

t.test('hostile requests', async (t) => {
  const { ask, tried } = await setUp(t)
  for (const caster of [
    {},
    { host: 'a b', mount: 'X' },
    { host: '127.0.0.1', mount: 'X\r\nEvil: 1' },
    { host: '127.0.0.1', mount: 'X', password: 'a\r\nb' },
    { host: 'x'.repeat(300), mount: 'X' },
    { host: '127.0.0.1', port: 0, mount: 'X' },
    { host: '127.0.0.1', mount: 'X', extra: 1 },
    'text',
    null,
  ])
    t.equal((await tried(caster as object)).status, 400, JSON.stringify(caster))
  const one = { host: 'a.lan', mount: 'X', password: 'x' }
  t.equal((await ask('PUT', '/ntrip-server', { casters: Array.from({ length: 9 }, () => one) })).status, 400)
  t.match((await ask('PUT', '/ntrip-server', { casters: [one, one] })).json, {
    result: 'failed',
    errors: [{ message: /twice/ }],
  })
  t.equal((await ask('PUT', '/ntrip-server', [])).status, 400)
})

t.test('N2: a test takes a host as it is pasted, as the setting does, or says where the port goes', async (t) => {
  const { ask, tried } = await setUp(t)
  const caster = await fakeCaster(t, answers('ICY 200 OK\r\n\r\n', [row('ROOF')]))
  const login = { port: caster.port, mount: 'ROOF', password: 's3cret' }
  for (const host of [' 127.0.0.1\n', '\ufeff127.0.0.1'])
    t.match(await tried({ host, ...login }), { status: 200 }, host)
  t.equal(caster.visits.length, 4, 'it was reached')
  t.match(await ask('PUT', '/ntrip-server', { casters: [{ host: '[::1] ', ...login }] }), { json: { result: 'ok' } })
  t.match((await ask('GET', '/ntrip-server')).json, { casters: [{ host: '::1' }] })
  for (const host of ['127.0.0.1:2101', 'http://caster.example.org', '10.0.0'])
    t.match(await tried({ host, ...login }), { status: 400, text: /the port has a field of its own/ }, host)
})
