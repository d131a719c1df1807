import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import system from '../../plugins/device/system/index.js'
import httpApi from '../../plugins/page/http-api/index.js'
import { keptLogin } from '../../runtime/gateway/login/kept-login.js'
import { createTestStation, gateOnly, ManualClock, until } from '../harness/index.js'
import { MemoryStore } from '../harness/memory-store.js'
import { get, owner, post, raw, says, serve, upgradeRequest } from './http-rig.js'

const token = 'an-operators-secret'
const first = 'correct horse battery'
const second = 'another-horse-battery'
const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

/** A gateway over a store, as after a restart, and what the page asks of it. */
async function station(t: Test, options: Parameters<typeof serve>[2] & { store?: MemoryStore } = {}) {
  const { store = new MemoryStore(), ...rest } = options
  const clock = new ManualClock()
  const owners = [owner('third-party', { routes: [get('/read', says('read')), post('/change', says('changed'))] })]
  const kept = await keptLogin(store)
  const served = await serve(t, owners, { ...rest, clock, kept })
  const send = async (path: string, body: unknown, headers: OutgoingHttpHeaders = {}) => {
    const answer = await served.ask(path, { method: 'POST', body: JSON.stringify(body), headers })
    return { ...answer, cookie: String(answer.headers['set-cookie']).split(';')[0] as string }
  }
  const set = (body: object, headers?: OutgoingHttpHeaders) => send('/password', body, headers)
  const logIn = (secret: string) => send('/session', { token: secret })
  const status = async (path: string, headers: OutgoingHttpHeaders = {}) =>
    (await served.ask(path, { method: path === '/change' ? 'POST' : 'GET', headers })).status
  return { ...served, clock, logIn, send, set, status, store }
}

t.test('the first password', async (t) => {
  const { ask, logIn, set, status, store } = await station(t)
  t.match((await ask('/session')).json, { login: false, passwords: { operator: false, viewer: false } })
  t.equal(await status('/change'), 200, 'everything is open before')
  t.same(await store.entries('protected.kernel'), {}, 'and nothing is stored for a login that is not there')

  const answer = await set({ role: 'operator', password: first })
  t.match(answer, {
    status: 200,
    json: { role: 'operator', login: true, passwords: { operator: true, viewer: false } },
  })
  t.match(answer.headers['set-cookie'], [/^rtk-base-session=[\w-]{43}; HttpOnly; SameSite=Strict/])
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(await status('/change', { cookie: answer.cookie }), 200, 'who set it stays logged in')
  t.equal(await status('/change'), 401, 'the others are locked out at once')
  t.equal(await status('/read'), 401)
  t.equal((await logIn('wrong password')).status, 401)
  const session = await logIn(first)
  t.match(session, { status: 200, json: { role: 'operator' } })
  t.equal(await status('/change', { cookie: session.cookie }), 200)
  t.notMatch(JSON.stringify(await store.entries('protected.kernel')), /horse/, 'hashed')

  const again = await station(t, { store })
  t.equal(await again.status('/read'), 401, 'after a restart too')
  t.equal(await again.status('/read', { cookie: session.cookie }), 200, 'with the sessions')
})

t.test('a bearer may be a password', async (t) => {
  const { port, set, status } = await station(t)
  const secret = 'bearer-of-12345'
  await set({ role: 'operator', password: secret })
  t.equal(await status('/change', bearer(secret)), 200)
  t.equal(await status('/change', bearer(`${secret}x`)), 401)
  const upgrade = (text: string) =>
    raw(port, upgradeRequest('/watch', { host: 'localhost', authorization: `Bearer ${text}` }))
  t.match(await upgrade('wrong-bearer'), /^HTTP\/1.1 401/)
  t.match(await upgrade(secret), /^HTTP\/1.1 404/, 'who may come is told that nothing is here')
})

t.test('changing it', { skip: gateOnly }, async (t) => {
  await t.test('needs the present one, of the operator', async (t) => {
    const { clock, logIn, set, status } = await station(t)
    const { cookie } = await set({ role: 'operator', password: first })
    t.match(await set({ role: 'operator', password: second }, { cookie }), {
      status: 403,
      json: { error: 'RTK_ERR_OLD_PASSWORD', message: /missing/, help: /--reset/ },
    })
    t.match(await set({ role: 'operator', password: second, old: 'wrong' }, { cookie }), {
      status: 403,
      json: { error: 'RTK_ERR_OLD_PASSWORD', message: /wrong/ },
    })
    t.equal((await set({ role: 'operator', password: second, old: first })).status, 401, 'and a session')
    const viewer = await set({ role: 'viewer', password: 'only-looking-here', old: first }, { cookie })
    t.equal(viewer.status, 200)
    const looking = (await logIn('only-looking-here')).cookie
    t.match(
      await set({ role: 'viewer', password: 'looking-for-more', old: 'only-looking-here' }, { cookie: looking }),
      {
        status: 403,
        json: { error: 'RTK_ERR_FORBIDDEN_ROLE' },
      },
    )
    t.match(
      await set({ role: 'viewer', password: 'x-y-z-1-2-3', old: 'only-looking-here' }, { cookie: viewer.cookie }),
      {
        json: { error: 'RTK_ERR_OLD_PASSWORD' },
      },
    )
    t.equal(await status('/read', { cookie: looking }), 200, 'what was refused ended no session')
    for (let n = 0; n < 3; n++)
      await set({ role: 'operator', password: second, old: `wrong ${n}` }, { cookie: viewer.cookie })
    const blocked = await set({ role: 'operator', password: second, old: first }, { cookie: viewer.cookie })
    t.match(blocked, { status: 429, json: { error: 'RTK_ERR_TOO_MANY_TRIES' } }, 'wrong ones are tries')
    await clock.advance(60_000)
    t.equal((await set({ role: 'operator', password: second, old: first }, { cookie: viewer.cookie })).status, 200)
  })

  await t.test('ends every session but that of the caller', async (t) => {
    const { logIn, set, status } = await station(t)
    const { cookie } = await set({ role: 'operator', password: first })
    const other = (await logIn(first)).cookie
    await set({ role: 'viewer', password: 'only-looking-here', old: first }, { cookie })
    const operator = (await logIn(first)).cookie
    const viewer = (await logIn('only-looking-here')).cookie
    t.equal(await status('/read', { cookie: other }), 401)
    t.equal(await status('/change', bearer('only-looking-here')), 403)
    const changed = await set({ role: 'operator', password: second, old: first }, { cookie: operator })
    t.equal(changed.status, 200)
    for (const cookie of [operator, viewer]) t.equal(await status('/read', { cookie }), 401)
    t.equal(await status('/change', { cookie: changed.cookie }), 200)
    t.equal((await logIn(first)).status, 401)
    t.equal((await logIn('only-looking-here')).status, 200)
  })

  await t.test('takes a token of the variant for the old one', async (t) => {
    const { ask, logIn, set, status } = await station(t, { token, viewerToken: 'a-viewers-secret' })
    t.equal((await set({ role: 'operator', password: first })).status, 401)
    t.match(await set({ role: 'operator', password: first }, bearer(token)), {
      json: { error: 'RTK_ERR_OLD_PASSWORD' },
    })
    t.equal((await set({ role: 'operator', password: first, old: 'a-viewers-secret' }, bearer(token))).status, 403)
    t.equal((await set({ role: 'operator', password: first, old: token }, bearer(token))).status, 200)
    t.equal((await logIn(first)).status, 200)
    t.equal((await logIn(token)).status, 200, 'the token stays valid')
    for (const taken of [token, 'a-viewers-secret', first])
      t.match(await set({ role: 'viewer', password: taken, old: token }, bearer(token)), {
        status: 400,
        json: { error: 'RTK_ERR_PASSWORD', message: /already/ },
      })
    t.equal((await set({ role: 'operator', password: null, old: first }, bearer(token))).status, 200)
    t.match((await ask('/session', { headers: bearer(token) })).json, { login: true, passwords: { operator: false } })
    t.equal(await status('/change'), 401, 'the login of the variant stays')
  })
})

t.test('removing it', { skip: gateOnly }, async (t) => {
  const { ask, logIn, set, status, store } = await station(t)
  const { cookie } = await set({ role: 'operator', password: first })
  await set({ role: 'viewer', password: 'only-looking-here', old: first }, { cookie })
  const now = (await logIn(first)).cookie
  const viewer = await set({ role: 'viewer', password: null, old: first }, { cookie: now })
  t.match(viewer, { status: 200, json: { role: 'operator', passwords: { operator: true, viewer: false } } })
  await set({ role: 'viewer', password: 'only-looking-here', old: first }, { cookie: viewer.cookie })
  const last = (await logIn(first)).cookie
  t.equal((await set({ role: 'operator', password: null }, { cookie: last })).status, 403)
  const gone = await set({ role: 'operator', password: null, old: first }, { cookie: last })
  t.match(gone, { status: 200, json: { login: false, expires: 0, passwords: { operator: false, viewer: false } } })
  t.match(gone.headers['set-cookie'], [/Max-Age=0$/])
  t.equal(await status('/change'), 200)
  t.equal((await ask('/session', { headers: { cookie: last } })).json?.role, 'operator')
  t.equal(await store.get('protected.kernel', 'passwords'), undefined)
})

t.test('what is refused', async (t) => {
  const { port, send, set, status } = await station(t)
  for (const body of [
    undefined,
    'text',
    [],
    {},
    { role: 'operator' },
    { role: 'root', password: first },
    { role: 'operator', password: '' },
    { role: 'operator', password: 'seven77' },
    { role: 'operator', password: 'x'.repeat(129) },
    { role: 'operator', password: 12345678 },
    { role: 'operator', password: ['12345678'] },
    { role: 'operator', password: first, old: '' },
    { role: 'operator', password: first, old: 'x'.repeat(513) },
    { role: 'operator', password: first, extra: true },
  ])
    t.equal((await set(body as object)).status, 400, JSON.stringify(body)?.slice(0, 60))
  t.match(await set({ role: 'viewer', password: first }), {
    status: 400,
    json: { error: 'RTK_ERR_PASSWORD', message: /operator first/ },
  })
  t.equal((await send('/password', { role: 'operator', password: 'x'.repeat(70_000) })).status, 413)
  t.equal((await set({ role: 'operator', password: first }, { origin: `http://127.0.0.1:${port + 1}` })).status, 403)
  t.equal((await set({ role: 'operator', password: first }, { host: 'evil.example' })).status, 403)
  t.equal(await status('/change'), 200, 'nothing was set')
  const dressed = 'Ünïcode ✓ 密码 👩‍🌾 "\\\u0000'
  const { cookie } = await set({ role: 'operator', password: dressed })
  t.equal((await send('/session', { token: dressed.normalize('NFD') })).status, 200, 'composed or not')
  t.equal(await status('/change', { cookie }), 200)
})

t.test('only the local network may use a password, as nobody chose to open the station to others', async (t) => {
  const strange = '198.51.100.7'
  const proxy = { headers: { 'x-forwarded-for': strange } }
  const { ask, set } = await station(t, { proxies: ['127.0.0.1'] })
  await set({ role: 'operator', password: first }, { 'x-forwarded-for': '127.0.0.2' })
  const headers = { ...proxy.headers, ...bearer(first) }
  t.match(await ask('/session', { headers }), { status: 403, json: { error: 'RTK_ERR_FORBIDDEN_PEER' } })
  t.equal((await station(t, { token, proxies: ['127.0.0.1'] }).then(({ ask }) => ask('/session', proxy))).status, 200)
})

t.test('guessing is limited, and costs one check at a time', { skip: gateOnly }, async (t) => {
  const { clock, logIn, set, status } = await station(t)
  const { cookie } = await set({ role: 'operator', password: first })
  const many = await Promise.all(Array.from({ length: 20 }, (_, n) => logIn(`wrong guess ${n}`)))
  t.equal(many.filter((answer) => answer.status === 401).length, 2, 'two of an address wait')
  t.equal(many.filter((answer) => answer.status === 429).length, 18)
  for (let n = 0; n < 3; n++) t.equal((await logIn(`wrong ${n}`)).status, 401)
  const used = process.cpuUsage()
  t.match(await logIn('wrong'), { status: 429, json: { error: 'RTK_ERR_TOO_MANY_TRIES' } })
  t.equal((await logIn(first)).status, 429)
  const { user } = process.cpuUsage(used)
  t.ok(user < 200_000, `nothing is derived for a blocked address (${user} µs)`)
  t.equal(await status('/read', { cookie }), 200, 'sessions are not held up')
  await clock.advance(60_000)
  t.equal((await logIn(first)).status, 200)
})

t.test('what was open before the password ends with it', { skip: gateOnly }, async (t) => {
  const streams: PassThrough[] = []
  const events = get('/events', async () => {
    const made = new PassThrough()
    made.write('first')
    streams.push(made)
    return made
  })
  const served = await serve(t, [owner('page', { routes: [events] })], { limits: { checkInterval_ms: 10 } })
  const asked = request({ host: '127.0.0.1', port: served.port, agent: false, path: '/events' }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  let isOver = false
  answer
    .on('error', () => {})
    .on('close', () => {
      isOver = true
    })
    .resume()
  t.teardown(() => asked.destroy())
  const body = JSON.stringify({ role: 'operator', password: first })
  t.equal((await served.ask('/password', { method: 'POST', body })).status, 200)
  await until(() => isOver, 'a stranger reads no longer')
})

t.test('a damaged entry opens nothing', { skip: gateOnly }, async (t) => {
  for (const value of [
    { operator: 'no dot' },
    7,
    { root: 'a.b' },
    null,
    'x',
    {},
    [],
    { operator: 7 },
    { viewer: 'a.b' },
  ]) {
    const store = new MemoryStore()
    await store.batch([{ namespace: 'protected.kernel', key: 'passwords', value }])
    const { status, logIn } = await station(t, { store })
    t.equal(await status('/change'), 401, JSON.stringify(value))
    t.equal((await logIn('undefined')).status, 401)
  }
})

t.test('a store that takes no writes sets no password', async (t) => {
  const store = new MemoryStore()
  const { set, status } = await station(t, { store })
  store.failure = 'disk full'
  t.match(await set({ role: 'operator', password: first }), { status: 503, json: { error: 'RTK_ERR_STORE_WRITE' } })
  t.equal(await status('/change'), 200, 'a password that a restart forgets would only lock people out until then')
})

t.test('of the station', { skip: gateOnly }, async (t) => {
  const store = new MemoryStore()
  const run = () => createTestStation({ plugins: { 'http-api': httpApi, system }, store })
  const send = async (station: Awaited<ReturnType<typeof run>>, path: string, body?: object, cookie = '') => {
    const headers = { 'content-type': 'application/json', cookie }
    const { status, headers: given } = await station.request(path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return { status, cookie: String(given.get('set-cookie')).split(';')[0] as string }
  }
  const read = async (station: Awaited<ReturnType<typeof run>>) => (await station.request('/get-info')).status
  let station = await run()
  const { cookie } = await send(station, '/password', { role: 'operator', password: first })
  t.equal(await read(station), 401)
  const told = [
    JSON.stringify(station.lines),
    (await station.request('/get-info', { headers: { cookie } })).text,
    (await station.request('/nvs', { headers: { cookie } })).text,
    (await station.request('/nvs?namespace=protected.kernel', { headers: { cookie } })).text,
  ].join()
  t.notMatch(told, /horse/)
  t.match(told, /the password of the operator was set/)
  const { operator } = (await store.get('protected.kernel', 'passwords')) as { operator: string }
  t.notMatch(told, operator)
  await station.stop()

  station = await run()
  t.equal(await read(station), 401, 'after a restart')
  const { cookie: session } = await send(station, '/session', { token: first })
  const again = await send(station, '/password', { role: 'operator', password: second, old: first }, session)
  await send(station, '/system?factory', undefined, again.cookie)
  await until(async () => (await store.get('protected.kernel', 'passwords')) === undefined, 'a factory reset clears it')
  await station.stop()
  station = await run()
  t.equal(await read(station), 200)
  await send(station, '/password', { role: 'operator', password: first })
  t.ok(await station.resetPasswords())
  t.notOk(await station.resetPasswords())
  t.equal(await read(station), 200)
  await station.stop()
})
