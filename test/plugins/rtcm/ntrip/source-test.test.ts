/** The caster for corrections over HTTP: shown without its password, changed, and tried before it is saved. */
import t, { type Test } from 'tap'
import ntripClient from '../../../../plugins/rtcm/ntrip-client/index.js'
import { encodeFrame } from '../../../../runtime/lib/gnss/index.js'
import type { AnyPlugin } from '../../../../runtime/plugin.js'
import { during } from '../../../harness/drive.js'
import { arpFrame, msmFrame } from '../../../harness/index.js'
import { fakeCaster, here, setUpStation, type Visit } from './rig.js'

async function setUp(t: Test) {
  const token = 'an-operators-secret'
  const rig = await setUpStation(t, {
    plugins: { 'ntrip-client': ntripClient as AnyPlugin },
    variant: { http: { host: '127.0.0.1', port: 0, token } },
  })
  rig.receiver.become({ fix: { ok: true, position: here } } as never)
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const { status, text } = await rig.station.request(path, init)
    return { status, text, json: JSON.parse(text) }
  }
  return { ...rig, ask, tried: async (source: object) => (await ask('POST', '/ntrip-client/test', { source })).json }
}

const table = (...rows: string[]) =>
  `SOURCETABLE 200 OK\r\nContent-Type: text/plain\r\n\r\n${rows.map((row) => `${row}\r\n`).join('')}ENDSOURCETABLE\r\n`
const row = (mount: string, lat: number, nmea = 0) =>
  `STR;${mount};Roof;RTCM 3.2;;2;GPS;none;NLD;${lat};4.00;${nmea};0;x;none;B;N;9600;none`
const north = { ...here, z: here.z + 5_000 }
const frames = Buffer.concat([arpFrame(north), msmFrame(1074, 1_000, false)])
/** Answers a request for the table with these rows, and one for a stream with these bytes. */
const answers = (rows: string[], stream: Buffer | string) => (visit: Visit) =>
  /^GET \/ /.test(visit.head)
    ? visit.socket.end(table(...rows))
    : visit.socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), Buffer.from(stream as string)]))

t.test('the nearest mountpoint that sends: its base, its distance; nothing is stored', async (t) => {
  const { ask, tried } = await setUp(t)
  const caster = await fakeCaster(t, answers([row('FAR', 40), row('NEAR', 52), row('SOUTH', 30)], frames))
  const answer = await tried({ host: '127.0.0.1', port: caster.port, user: 'me', password: 's3cret' })
  t.match(answer, { ok: true, code: 'ok', mount: 'NEAR', distance: 5_000, messages: [1005, 1074] })
  t.equal(caster.visits.length, 2)
  t.match(caster.visits[1]?.head, /^GET \/NEAR HTTP\/1.1[\s\S]*Authorization: Basic bWU6czNjcmV0/)
  t.same((await ask('GET', '/ntrip-client')).json, { source: { host: '', set: false } })
})

t.test('a mountpoint that asks for a position gets one', async (t) => {
  const { tried } = await setUp(t)
  const asked: string[] = []
  const caster = await fakeCaster(t, (visit) => {
    if (/^GET \/ /.test(visit.head)) return visit.socket.end(table(row('VRS', 52, 1)))
    visit.socket.write('ICY 200 OK\r\n\r\n')
    visit.socket.on('data', (bytes) => {
      asked.push(bytes.toString())
      visit.socket.write(frames)
    })
  })
  t.match(await tried({ host: '127.0.0.1', port: caster.port, mount: 'VRS' }), { ok: true, code: 'ok' })
  t.match(asked.join(''), /^\$GPGGA,\d{6}\.\d,/)
})

t.test('what can be wrong, by code', async (t) => {
  const { clock, receiver, tried } = await setUp(t)
  const far = { ...here, z: here.z + 300_000 }
  for (const [what, answer, source, expected] of [
    ['wrong login', () => 'HTTP/1.1 401 Unauthorized\r\n\r\n', { mount: 'NET' }, { ok: false, code: 'login' }],
    ['not allowed', () => 'HTTP/1.1 403 Forbidden\r\n\r\n', { mount: 'NET' }, { ok: false, code: 'forbidden' }],
    ['a login page', () => 'HTTP/1.1 302 Found\r\nLocation: x\r\n\r\n', { mount: 'NET' }, { ok: false, code: 'web' }],
    ['garbage', () => `${'x'.repeat(5_000)}\r\n\r\n`, {}, { ok: false, code: 'other' }],
    ['no such mountpoint', () => table(row('OTHER', 52)), { mount: 'NET' }, { ok: false, code: 'mount' }],
    ['an empty table', () => table(), {}, { ok: false, code: 'no-stream' }],
  ] as [string, () => string, object, object][]) {
    const caster = await fakeCaster(t, (visit) => void visit.socket.end(answer()))
    t.match(await tried({ host: '127.0.0.1', port: caster.port, ...source }), expected, what)
  }
  const distant = await fakeCaster(t, answers([], Buffer.concat([arpFrame(far), msmFrame(1074, 1_000, false)])))
  t.match(
    await tried({ host: '127.0.0.1', port: distant.port, mount: 'NET' }),
    { ok: true, code: 'far', distance: 300_000 },
    'too far',
  )
  const gps1004 = encodeFrame(Uint8Array.of(1004 >> 4, (1004 & 15) << 4, 0, 0, 0, 0, 0, 0))
  const old = await fakeCaster(t, answers([], Buffer.concat([arpFrame(north), gps1004])))
  const found = await tried({ host: '127.0.0.1', port: old.port, mount: 'NET' })
  t.match(found, { ok: true, code: 'ok', messages: [1004, 1005] }, 'observations of RTCM 3.0')
  for (const [code, stream] of [
    ['silent', ''],
    ['unplaced', msmFrame(1074, 1_000, false)],
  ] as const) {
    const caster = await fakeCaster(t, answers([], stream as Buffer))
    const answer = await during(clock, tried({ host: '127.0.0.1', port: caster.port, mount: 'NET' }), 'the answer')
    t.match(answer, { code, ok: code === 'unplaced', distance: -1 })
  }
  t.match(await tried({ host: '127.0.0.1', port: 1, mount: 'NET' }), { ok: false, code: 'refused' })
  receiver.become({ fix: { ok: false } } as never)
  t.match(await tried({ host: '127.0.0.1', port: 1 }), { ok: false, code: 'no-position' })
})

t.test('P1: a base with rare observations is waited for as long as its row says', async (t) => {
  const { clock, tried } = await setUp(t)
  const rare = row('NET', 52).replace('RTCM 3.2;;', 'RTCM 3.2;1005(10),1074(30);')
  const caster = await fakeCaster(t, ({ head, socket }) => {
    if (/^GET \/ /.test(head)) return void socket.end(table(rare))
    socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), arpFrame(north)]))
    clock.timer(29_000, () => void socket.write(msmFrame(1074, 1_000, false)))
  })
  const answer = await during(clock, tried({ host: '127.0.0.1', port: caster.port, mount: 'NET' }), 'the answer')
  t.match(answer, { ok: true, code: 'ok', messages: [1005, 1074] })
})

t.test('N8: a web server is named as one, and as no caster', async (t) => {
  const { tried } = await setUp(t)
  const page = (status: string, type = 'text/html') => `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n\r\n<html>`
  const missing = page('404 Not Found')
  for (const [what, first, then, source] of [
    ['its page', page('200 OK'), missing, {}],
    ['its page, and no such file', page('200 OK'), missing, { mount: 'NET' }],
    ['nothing at either place', missing, missing, { mount: 'NET' }],
    ['no start page', missing, missing, {}],
    ['JSON', page('200 OK', 'application/json'), missing, { mount: 'NET' }],
    ['a redirect', 'HTTP/1.1 301 Moved\r\nLocation: https://x/\r\n\r\n', missing, { mount: 'NET' }],
  ] as const) {
    const caster = await fakeCaster(t, ({ head, socket }) => void socket.end(/^GET \/ /.test(head) ? first : then))
    t.match(
      await tried({ host: '127.0.0.1', port: caster.port, ...source }),
      { ok: false, code: 'web', text: /^a web server answers, not a caster: check host and port/ },
      what,
    )
  }
  const shy = await fakeCaster(t, ({ head, socket }) =>
    /^GET \/ /.test(head)
      ? socket.end(missing)
      : socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), frames])),
  )
  t.match(await tried({ host: '127.0.0.1', port: shy.port, mount: 'NET' }), { ok: true }, 'a table may be hidden')
  const wrong = await fakeCaster(
    t,
    ({ head, socket }) => void socket.end(/^GET \/ /.test(head) ? table(row('NET', 52)) : missing),
  )
  t.match(await tried({ host: '127.0.0.1', port: wrong.port, mount: 'NET' }), { code: 'mount' }, 'a caster has a table')
})

t.test('a stored password stays, is never shown, and goes to no other host', async (t) => {
  const { ask, tried } = await setUp(t)
  const caster = await fakeCaster(t, answers([], frames))
  const source = { host: '127.0.0.1', port: caster.port, mount: 'NET', user: 'me' }
  t.match(await ask('PUT', '/ntrip-client', { source: { ...source, password: 's3cret' } }), { status: 200 })
  t.match(await ask('PUT', '/ntrip-client', { source: { ...source, mount: 'NET2' } }), { status: 200 })
  const shown = await ask('GET', '/ntrip-client')
  t.same(shown.json, { source: { ...source, mount: 'NET2', set: true } })
  await tried({ ...source, mount: 'NET3' })
  t.match(caster.visits.at(-1)?.head, /Authorization: Basic bWU6czNjcmV0/)
  const other = await fakeCaster(t, answers([], frames))
  await tried({ ...source, port: other.port })
  t.notMatch(other.visits.map(({ head }) => head).join(''), /bWU6czNjcmV0/)
  t.match(await ask('PUT', '/ntrip-client', { source: { host: 'http://x' } }), { status: 400 })
  await ask('PUT', '/ntrip-client', { source: { ...source, password: 's3cret', tls: true } })
  await tried(source)
  t.notMatch(caster.visits.at(-1)?.head, /bWU6czNjcmV0/, 'S5: what was entered for TLS does not go out in plain text')
})
