/** The logins of rovers over HTTP. */
import t, { type Test } from 'tap'
import ntripCaster from '../../../../plugins/rtcm/ntrip-caster/index.js'
import type { AnyPlugin } from '../../../../runtime/plugin.js'
import { until } from '../../../harness/index.js'
import { Client, setUpStation } from './rig.js'

const token = 'an-operators-secret'
const viewerToken = 'a-viewers-secret'

async function setUp(t: Test) {
  const rig = await setUpStation(t, {
    plugins: { 'ntrip-caster': [ntripCaster as AnyPlugin, { host: '127.0.0.1' }] },
    variant: { http: { host: '127.0.0.1', port: 0, token, viewerToken }, changes: { 'ntrip-caster-port': 0 } },
  })
  const ask = async (method: string, path = '', body?: unknown, secret = token) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const { status, text } = await rig.station.request(`/ntrip-caster/users${path}`, init)
    return { status, text, json: JSON.parse(text) }
  }
  await until(async () => (await ask('GET')).json.port > 0, 'the caster listens')
  const { port, mounts } = (await ask('GET')).json as { port: number; mounts: string[] }
  /** A rover of NTRIP 1, and the first line that it gets. */
  const rover = async (login?: string) => {
    const client = new Client(port)
    t.teardown(() => client.socket.destroy())
    const secret = login ? `Authorization: Basic ${Buffer.from(login).toString('base64')}\r\n` : ''
    client.socket.write(`GET /${mounts[0]} HTTP/1.0\r\nUser-Agent: NTRIP test\r\n${secret}\r\n`)
    const first = (await client.answer()).split('\r\n')[0] as string
    return { client, first }
  }
  return { ...rig, ask, rover }
}

t.test('logins are listed without passwords, set and deleted, and the list says who needs one', async (t) => {
  const { ask, change, rover, second, station } = await setUp(t)
  await second()
  t.match((await ask('GET')).json, { users: [], anonymous: { now: true, withLogins: false } })
  t.match((await rover()).first, 'ICY 200 OK')
  t.same((await ask('PUT', '/bob', { password: 'secret1' })).json, { name: 'bob', ended: 0, unknown: [] })
  const listed = await ask('GET')
  t.match(listed.json, { users: [{ name: 'bob', mounts: [], most: 4 }], anonymous: { now: false, withLogins: false } })
  t.notMatch(listed.text, /secret1|hash|salt/)
  t.notMatch((await rover()).first, '200', 'the first login locks anonymous rovers out')
  const bob = await rover('bob:secret1')
  t.match(bob.first, 'ICY 200 OK')
  t.match((await ask('PUT', '/bob', { password: 'secret2', mounts: ['LATER'], most: 2 })).json, {
    ended: 1,
    unknown: ['LATER'],
  })
  await until(() => bob.client.socket.closed, 'he logs in again')
  t.match((await ask('GET')).json.users, [{ name: 'bob', mounts: ['LATER'], most: 2 }])
  await change({ 'ntrip-caster-anonymous': 1 })
  t.match((await ask('GET')).json.anonymous, { now: true, withLogins: true })
  t.match((await rover()).first, 'ICY 200 OK')
  await change({ 'ntrip-caster-anonymous': 0 })
  t.same((await ask('DELETE', '/bob')).json, { name: 'bob', ended: 0 })
  t.match((await ask('GET')).json, { users: [], anonymous: { now: true } })
  t.equal((await ask('DELETE', '/bob')).status, 404)
  t.notMatch(JSON.stringify(station.lines), /secret1|secret2/)
})

/** A blank of each kind, and characters that are shown as nothing. */
const unseen = ['\u00a0', '\u00ad', '\u2009', '\u200b', '\u200d', '\u2060', '\u3000', '\u3164', '\ufe0f', '\ufeff']

t.test('N3: a character that nobody sees is refused with the reason, where people paste it', async (t) => {
  const { ask } = await setUp(t)
  for (const one of unseen) {
    const code = one.codePointAt(0)?.toString(16)
    for (const text of [`${one}secret1`, `secret1${one}`, `sec${one}ret1`]) {
      const refused = { status: 400, text: /invisible characters/ }
      t.match(await ask('PUT', '/bob', { password: text }), refused, `password, ${code}`)
      t.match(await ask('PUT', `/${encodeURIComponent(text)}`, { password: 'secret1' }), refused, `name, ${code}`)
    }
  }
  t.same((await ask('GET')).json.users, [])
  t.equal((await ask('PUT', `/${encodeURIComponent('測量')}`, { password: '密碼密碼😀' })).status, 200)
})

t.test('what is refused', async (t) => {
  const { ask } = await setUp(t)
  for (const [path, body] of [
    ['/bob', {}],
    ['/bob', { password: 'abc' }],
    ['/bob', { password: 'a'.repeat(65) }],
    ['/bob', { password: 'with space' }],
    ['/bob', { password: 'tab\tstop' }],
    ['/bob', { password: 12345 }],
    ['/bob', { password: 'secret1', most: 0 }],
    ['/bob', { password: 'secret1', most: 10_000 }],
    ['/bob', { password: 'secret1', mounts: ['a b'] }],
    ['/bob', { password: 'secret1', mounts: 'X' }],
    ['/bob', { password: 'secret1', extra: 1 }],
    ['/b%20b', { password: 'secret1' }],
    ['/b:b', { password: 'secret1' }],
    [`/${'b'.repeat(65)}`, { password: 'secret1' }],
    ['/..%2fbob', { password: 'secret1' }],
  ] as const)
    t.match((await ask('PUT', path, body)).status, /^40[04]$/, `${path} ${JSON.stringify(body).slice(0, 40)}`)
  t.same((await ask('GET')).json.users, [])
  for (const name of ['__proto__', 'constructor', 'hasOwnProperty']) {
    t.equal((await ask('DELETE', `/${name}`)).status, 404, name)
    t.equal((await ask('PUT', `/${name}`, { password: 'secret1' })).status, 200)
    t.match((await ask('GET')).json.users, [{ name }])
    t.equal((await ask('DELETE', `/${name}`)).status, 200)
  }
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PUT', '/bob', { password: 'secret1' }],
    ['DELETE', '/bob', undefined],
  ] as const)
    t.equal((await ask(method, path, body, viewerToken)).status, 403)
})
