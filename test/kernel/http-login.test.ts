import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import httpApi from '../../plugins/page/http-api/index.js'
import { isForeignOrigin } from '../../runtime/gateway/http/origin.js'
import { keptLogin } from '../../runtime/gateway/login/kept-login.js'
import { Login } from '../../runtime/gateway/login/login.js'
import { definePlugin } from '../../runtime/plugin.js'
import { accounts } from '../../schemas/services.js'
import type { Variant } from '../../schemas/variant.js'
import { createTestStation, ManualClock, until } from '../harness/index.js'
import { MemoryStore } from '../harness/memory-store.js'
import { get, owner, post, raw, says, serve, upgradeRequest } from './http-rig.js'

const token = 'an-operators-secret'
const viewerToken = 'a-viewers-secret'
const none = { operator: false, viewer: false }
const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

t.test('which origins are this station', async (t) => {
  const own: [host: string, origin: string][] = [
    ['station.lan', 'http://station.lan'],
    ['Station.LAN', 'http://station.lan'],
    ['station.lan.', 'http://station.lan'],
    ['station.lan:80', 'http://station.lan'],
    ['192.168.1.1:8080', 'http://192.168.1.1:8080'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['[fd00::1]', 'http://[fd00::1]'],
  ]
  for (const [host, origin] of own) t.notOk(isForeignOrigin({ host, origin }), `${origin} at ${host}`)

  const foreign: [host: string, origin: string][] = [
    ['station.lan', 'http://station.lan.evil.example'],
    ['station.lan', 'http://station.lan:8080'],
    ['station.lan:8080', 'http://station.lan'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8081'],
    ['127.0.0.1:8080', 'http://127.0.0.2:8080'],
    // Not as a browser writes it: nobody knows what is meant.
    ['127.0.0.1', 'http://evil.example@127.0.0.1'],
    ['127.0.0.1', 'http://127.0.0.1@evil.example'],
    ['127.0.0.1', 'http://2130706433'],
    ['127.0.0.1', 'http://0x7f.1'],
    ['127.0.0.1', 'http://127.1'],
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['127.0.0.1', 'http://127.0.0.1/'],
    ['127.0.0.1', 'http://127.0.0.1/path'],
    ['127.0.0.1', 'http://127.0.0.1?x'],
    ['127.0.0.1', 'HTTP://127.0.0.1'],
    ['127.0.0.1', 'http:127.0.0.1'],
    ['127.0.0.1', ' http://127.0.0.1'],
    ['127.0.0.1', 'http://127.0.0.1, http://127.0.0.1'],
    ['station.lan', 'http://STATION.lan'],
    ['[::1]', 'http://[0:0:0:0:0:0:0:1]'],
    ['127.0.0.1', 'ws://127.0.0.1'],
    ['127.0.0.1', 'file://'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', 'null'],
    ['127.0.0.1', ''],
    // A page of the https port of this host.
    ['station.lan', 'https://station.lan'],
    ['station.lan:443', 'https://station.lan'],
    ['', 'http://station.lan'],
    ['a b', 'http://station.lan'],
  ]
  for (const [host, origin] of foreign) t.ok(isForeignOrigin({ host, origin }), `${origin} at ${host}`)
  t.ok(isForeignOrigin({ origin: 'http://station.lan' }), 'no Host')
  t.notOk(isForeignOrigin({ host: 'station.lan' }), 'programs send no Origin')

  const proxied = { host: 'station.lan', 'x-forwarded-proto': 'https' }
  t.notOk(isForeignOrigin({ ...proxied, origin: 'https://station.lan' }), 'behind a proxy that speaks https')
  t.ok(isForeignOrigin({ ...proxied, origin: 'http://station.lan' }))
  t.ok(isForeignOrigin({ ...proxied, origin: 'https://station.lan:8443' }))

  for (const [site, foreign] of [
    ['same-origin', false],
    ['none', false],
    ['same-site', true],
    ['cross-site', true],
    ['', true],
  ] as const)
    t.equal(isForeignOrigin({ host: 'station.lan', 'sec-fetch-site': site }), foreign, `Sec-Fetch-Site: ${site}`)
})

t.test('a page on another port of this host changes nothing', async (t) => {
  let changes = 0
  const change = post('/change', async () => ({ changes: ++changes }))
  const { ask, port } = await serve(t, [owner('a', { routes: [change] })])
  const other = port === 65_535 ? port - 1 : port + 1
  for (const origin of [
    `http://127.0.0.1:${other}`,
    'http://127.0.0.1',
    `http://evil.example@127.0.0.1:${port}`,
    'null',
  ]) {
    t.match(await ask('/change', { method: 'POST', headers: { origin } }), {
      status: 403,
      json: { error: 'RTK_ERR_FORBIDDEN_ORIGIN' },
    })
    const upgrade = upgradeRequest('/live', { host: `127.0.0.1:${port}`, origin })
    t.match(await raw(port, upgrade), /^HTTP\/1.1 403/, `upgrade from ${origin}`)
  }
  t.match(await ask('/change', { method: 'POST', headers: { 'sec-fetch-site': 'same-site' } }), { status: 403 })
  t.equal(changes, 0)
  t.equal((await ask('/change', { method: 'POST', headers: { origin: `http://127.0.0.1:${port}` } })).status, 200)
})

/** A gateway with routes of every kind, and what a caller with these headers may do there. */
async function guarded(t: Test, options: Parameters<typeof serve>[2]) {
  const served = await serve(
    t,
    [
      owner('third-party', {
        routes: [
          get('/', says('page')),
          get('/read', async (request) => ({ role: request.role })),
          { ...get('/secret', says('secret')), config: { role: 'operator' } },
          post('/change', says('changed')),
          { ...post('/question', says('answered')), config: { role: 'viewer' } },
          { ...get('/ui/*', async (request) => ({ role: request.role })), config: { public: true } },
        ],
        plugins: [{ plugin: async (app) => void app.post('/registered', says('changed')), options: {} }],
      }),
    ],
    options,
  )
  const requests: [string, string][] = [
    ['GET', '/read'],
    ['HEAD', '/read'],
    ['GET', '/secret'],
    ['POST', '/change'],
    ['POST', '/question'],
    ['POST', '/registered'],
    ['GET', '/ui/a.js'],
    ['GET', '/nowhere'],
  ]
  const allowed = async (headers: OutgoingHttpHeaders) => {
    const statuses: Record<string, number | undefined> = {}
    for (const [method, path] of requests) {
      statuses[`${method} ${path}`] = (await served.ask(path, { method, headers })).status
    }
    const lines = { host: 'localhost', ...(headers as Record<string, string>) }
    const answer = await raw(served.port, upgradeRequest('/none', lines))
    statuses.upgrade = Number(answer.split(' ')[1])
    return statuses
  }
  return { ...served, allowed }
}

const everything = {
  'GET /read': 200,
  'HEAD /read': 200,
  'GET /secret': 200,
  'POST /change': 200,
  'POST /question': 200,
  'POST /registered': 200,
  'GET /ui/a.js': 200,
  'GET /nowhere': 404,
  upgrade: 404,
}
const reading = {
  ...everything,
  'GET /secret': 403,
  'POST /change': 403,
  'POST /registered': 403,
  upgrade: 403,
}
const nothing = {
  ...Object.fromEntries(Object.keys(everything).map((request) => [request, 401])),
  'GET /ui/a.js': 200,
}

t.test('the login by itself', async (t) => {
  const make = async (store = new MemoryStore(), clock = new ManualClock()) => {
    const login = new Login({ token, viewerToken, open: 'read' }, clock, await keptLogin(store))
    const enter = async (secret = token) => (await login.begin(secret, '10.0.0.1')).cookie.split(';')[0] as string
    const role = (headers: IncomingHttpHeaders, peer = '10.0.0.1', local = true) =>
      login.roleOf({ headers, peer, local })
    const kept = async () => Object.keys(await store.entries('protected.sessions')).length
    return { clock, kept, enter, login, role, store }
  }
  const forged = (n: number) => `rtk-base-session=${String(n).padStart(43, 'A')}`

  t.test('a bearer token is before a cookie, and a cookie before where somebody is', async (t) => {
    const { enter, login, role } = await make()
    const cookie = await enter()
    t.equal(role({ ...bearer(viewerToken), cookie }), 'viewer')
    t.equal(role({ cookie }, '198.51.100.1', false), 'operator')
    t.same([role({}), role({}, '198.51.100.1', false)], ['viewer', 'none'])
    for (const [headers, local, still] of [
      [bearer(token), false, ['none', 'viewer', 'operator']],
      [bearer('whatever'), true, ['none']],
      [{ cookie }, false, ['none', 'viewer', 'operator']],
      [{ cookie: await enter(viewerToken) }, false, ['none', 'viewer']],
      [{}, true, ['none', 'viewer']],
      [{}, false, ['none']],
    ] as const)
      t.same(
        (['none', 'viewer', 'operator'] as const).filter((one) => login.allowsStill(one, { headers, local })),
        still,
        `${JSON.stringify(headers)} ${local}`,
      )
  })

  t.test('64 sessions are kept, until they expire; a login is a write, a request is none', async (t) => {
    const { clock, kept, enter, role, store } = await make()
    const cookies: string[] = []
    for (let n = 0; n < 65; n++) cookies.push(await enter())
    t.same([await kept(), store.writes], [64, 65])
    t.same([role({ cookie: cookies[0] }), role({ cookie: cookies[1] })], ['viewer', 'operator'], 'the oldest gives way')
    t.equal(store.writes, 65)
    t.notMatch(JSON.stringify(await store.entries('protected.sessions')), cookies[1].split('=')[1])
    const next = await make(store, clock)
    t.equal(next.role({ cookie: cookies[64] }), 'operator', 'over a restart too')
    await clock.advance(43_200_000)
    await next.enter()
    t.equal(await kept(), 1, 'they have expired')
  })

  t.test('a cookie that is no session of this station ends none', async (t) => {
    const { enter, kept, login, store } = await make()
    await enter()
    const before = store.writes
    for (const cookie of [forged(0), 'a=b', '']) await login.end({ cookie })
    await login.end({})
    t.same([await kept(), store.writes], [1, before])
  })

  t.test('what is stored of sessions counts as far as it can be read', async (t) => {
    const store = new MemoryStore()
    const whole = { role: 'viewer', expires_ms: 1 }
    const stored = { a: whole, b: { ...whole, role: 'root' }, c: null, d: { role: 'viewer' }, e: 'x', f: [], g: 7 }
    await store.batch(
      Object.entries(stored).map(([key, value]) => ({ namespace: 'protected.sessions', key, value: value as never })),
    )
    t.same([...(await keptLogin(store)).sessions], [['a', whole]])
  })

  t.test('wrong cookies are tries, but not one that was counted', async (t) => {
    const { enter, login, role } = await make()
    const cookie = await enter()
    await login.end({ cookie })
    for (let n = 0; n < 9; n++) t.equal(role({ cookie }), 'viewer', 'one that is over counts once')
    for (let n = 0; n < 4; n++) t.equal(role({ cookie: forged(n) }, '::ffff:10.0.0.1'), 'viewer')
    t.throws(() => role({ cookie: forged(5) }), { code: 'RTK_ERR_TOO_MANY_TRIES' })
    t.equal(role({ cookie: forged(0) }), 'viewer', 'it was counted')
    t.equal(role({}), 'viewer', 'who sends none is not held up')
    await t.rejects(login.begin(token, '10.0.0.1'), { code: 'RTK_ERR_TOO_MANY_TRIES' })
    t.throws(() => role(bearer(token)), { code: 'RTK_ERR_TOO_MANY_TRIES' })
    t.equal(role({ cookie: forged(5) }, '10.0.0.2'), 'viewer', 'another peer')
    for (let n = 6; n < 258; n++) role({ cookie: forged(n) }, `10.0.1.${n}`)
    t.throws(() => role({ cookie: forged(999) }), { code: 'RTK_ERR_TOO_MANY_TRIES' })
    t.throws(() => role({ cookie: forged(0) }), { code: 'RTK_ERR_TOO_MANY_TRIES' }, 'of 256 the oldest gives way')
    t.equal(role({ cookie: forged(1) }), 'viewer')
  })
})

t.test('who may do what', async (t) => {
  t.test('without a token everybody on the local network may do everything', async (t) => {
    const { allowed, ask } = await guarded(t, {})
    t.same(await allowed({}), everything)
    t.same(await allowed(bearer('anything')), everything)
    t.same((await ask('/read')).json, { role: 'operator' })
    t.same((await ask('/session')).json, { role: 'operator', login: false, expires: 0, passwords: none })
    const answer = await ask('/session', { method: 'POST', body: JSON.stringify({ token }) })
    t.match(answer, { status: 200, json: { role: 'operator', login: false } })
    t.equal(answer.headers['set-cookie'], undefined)
  })

  t.test('with tokens: an operator everything, a viewer reads, others see what is public', async (t) => {
    const { allowed, ask } = await guarded(t, { token, viewerToken })
    t.same(await allowed(bearer(token)), everything)
    t.same(await allowed(bearer(viewerToken)), reading)
    t.same(await allowed({}), nothing)
    t.same((await ask('/ui/x')).json, { role: 'none' })
    t.match(await ask('/read'), {
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      json: { error: 'RTK_ERR_UNAUTHORIZED', help: /POST \/session/ },
    })
    const stranger = await ask('/raed')
    t.equal(stranger.status, 401)
    t.notMatch(stranger.text, '/read', 'C10: a stranger is told no path')
    t.match(await ask('/raed', { headers: bearer(viewerToken) }), {
      status: 404,
      json: { message: 'GET /raed is not here (did you mean "/read"?)' },
    })
    const refused = await ask('/change', { method: 'POST', headers: bearer(viewerToken) })
    t.match(refused, { status: 403, json: { error: 'RTK_ERR_FORBIDDEN_ROLE' } })
    t.same((await ask('/session')).json, { role: 'none', login: true, expires: 0, passwords: none })
    t.equal((await ask(`/read?token=${token}`)).status, 401, 'a token in a URL is no token')
    for (const authorization of ['Bearer', 'Bearer ', token, `Basic ${token}`, `Bearer ${token} x`, `Bearer ${token}x`])
      t.equal((await ask('/read', { headers: { authorization } })).status, 401, authorization)
  })

  t.test('reading, or everything, may be left open to the local network', async (t) => {
    const read = await guarded(t, { token, open: 'read' })
    t.same(await read.allowed({}), reading)
    t.same(await read.allowed(bearer(token)), everything)
    t.equal((await read.ask('/read', { headers: bearer('wrong') })).status, 401, 'a wrong token is told so')
    const all = await guarded(t, { token, open: 'all' })
    t.same(await all.allowed({}), everything)
  })

  t.test('a section that would not mean what it says is refused', async (t) => {
    for (const [options, message] of [
      [{ viewerToken }, /http\.viewerToken needs http\.token/],
      [{ open: 'read' }, /http\.open needs http\.token/],
      [{ token, viewerToken: token }, /http\.viewerToken must not equal/],
    ] as const)
      await t.rejects(serve(t, [], options), { code: 'RTK_ERR_VARIANT', message })
  })
})

t.test('/session', async (t) => {
  const clock = new ManualClock()
  const login = (ask: Awaited<ReturnType<typeof serve>>['ask'], secret: unknown, headers = {}) =>
    ask('/session', { method: 'POST', body: JSON.stringify({ token: secret }), headers })
  const cookieOf = (answer: { headers: { 'set-cookie'?: string[] } }) =>
    String(answer.headers['set-cookie']).split(';')[0] as string

  const store = new MemoryStore()

  t.test('a cookie stands for the token: after a restart too, until it expires or the token changes', async (t) => {
    const { ask, allowed } = await guarded(t, { token, viewerToken, clock, kept: await keptLogin(store) })
    const answer = await login(ask, token)
    const expires = Math.floor(clock.now() / 1_000) + 43_200
    t.match(answer, { status: 200, json: { role: 'operator', login: true, expires } })
    t.equal(answer.headers['cache-control'], 'no-store')
    t.match(
      answer.headers['set-cookie'],
      [/^rtk-base-session=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/],
      'neither Secure nor Domain',
    )
    t.notMatch(JSON.stringify(answer.headers), token)
    const cookie = cookieOf(answer)
    t.same(await allowed({ cookie }), everything)
    t.same(await allowed({ cookie: `a=b; rtk-base-session=of.another.station; ${cookie};c=d` }), everything)
    const viewer = cookieOf(await login(ask, viewerToken))
    t.same(await allowed({ cookie: viewer }), reading)
    t.match((await ask('/session', { headers: { cookie: viewer } })).json, { role: 'viewer', expires })

    const again = await guarded(t, { token, viewerToken, clock, kept: await keptLogin(store) })
    t.same(await again.allowed({ cookie }), everything, 'after a restart')
    const changed = await guarded(t, { token: `${token}-2`, viewerToken, clock, kept: await keptLogin(store) })
    t.same(await changed.allowed({ cookie }), nothing, 'after the token changed')
    t.same(await changed.allowed({ cookie: viewer }), nothing, 'of all roles')
    const alone = await guarded(t, { token, clock, kept: await keptLogin(store) })
    t.same(await alone.allowed({ cookie: viewer }), nothing, 'after the viewer’s token went')

    await clock.advance(43_199_000)
    t.equal((await ask('/read', { headers: { cookie } })).status, 200)
    await clock.advance(1_000)
    t.equal((await ask('/read', { headers: { cookie } })).status, 401, 'after 12 hours')
  })

  t.test('each wrong cookie is a try, and does not hide a right one', async (t) => {
    const { ask } = await guarded(t, { token, clock, kept: await keptLogin(store) })
    const cookie = cookieOf(await login(ask, token))
    const forged = (n: number) => `rtk-base-session=${String(n).padStart(43, 'A')}`
    const session = async (cookie: string) => ask('/session', { headers: { cookie } })
    t.match((await session(forged(0))).json, { role: 'none' })
    t.match((await session(`${forged(0)}; ${cookie}`)).json, { role: 'operator' })
    for (let i = 0; i < 20; i++) t.equal((await session(forged(0))).status, 200, 'repeated: no new try')
    for (let i = 1; i < 5; i++) t.equal((await session(forged(i))).status, 200)
    t.equal((await session(forged(5))).status, 429)
    t.equal((await login(ask, token)).status, 429)
    t.match((await session(cookie)).json, { role: 'operator' }, 'who is logged in goes on')
    await clock.advance(60_000)
    t.equal((await login(ask, token)).status, 200)
  })

  t.test('a cookie whose expiry is further away than a session lasts is refused', async (t) => {
    const ahead = new ManualClock()
    await ahead.advance(1_000)
    const { ask } = await guarded(t, { token, clock: ahead, kept: await keptLogin(store) })
    const cookie = cookieOf(await login(ask, token))
    const behind = await guarded(t, { token, clock: new ManualClock(), kept: await keptLogin(store) })
    t.equal((await behind.ask('/read', { headers: { cookie } })).status, 401)
    t.equal((await ask('/read', { headers: { cookie } })).status, 200)
  })

  t.test(
    'the store keeps sessions until they are logged out; a station whose store takes no writes still lets people in and out',
    async (t) => {
      const variant = { http: { host: '127.0.0.1', port: 0, token } }
      const store = new MemoryStore()
      const run = async (
        given: MemoryStore,
        use: (station: Awaited<ReturnType<typeof createTestStation>>) => unknown,
      ) => {
        const station = await createTestStation({ plugins: { 'http-api': httpApi }, variant, store: given })
        await use(station)
        await station.stop()
      }
      const enter = async (station: Awaited<ReturnType<typeof createTestStation>>) => {
        const headers = { 'content-type': 'application/json' }
        const answer = await station.request('/session', { method: 'POST', headers, body: JSON.stringify({ token }) })
        return String(answer.headers.get('set-cookie')).split(';')[0] as string
      }
      const leave = (station: Awaited<ReturnType<typeof createTestStation>>, cookie: string) =>
        station.request('/session', { method: 'DELETE', headers: { cookie } })
      let cookie = ''
      await run(store, async (station) => {
        cookie = await enter(station)
      })
      t.notMatch(JSON.stringify(await store.entries('protected.sessions')), cookie.split('=').at(-1))
      await run(store, async (station) =>
        t.equal((await station.request('/get-info', { headers: { cookie } })).status, 200, 'after a restart'),
      )
      await run(store, async (station) => {
        t.equal((await leave(station, cookie)).status, 200)
      })
      t.same(await store.entries('protected.sessions'), {})
      await run(store, async (station) =>
        t.equal((await station.request('/get-info', { headers: { cookie } })).status, 401, 'logged out before'),
      )
      const full = new MemoryStore()
      full.failure = 'disk full'
      await run(full, async (station) => {
        t.equal((await station.request('/get-info', { headers: { cookie } })).status, 401)
        cookie = await enter(station)
        t.equal((await station.request('/get-info', { headers: { cookie } })).status, 200)
        const answer = await leave(station, cookie)
        t.equal(answer.status, 503, 'a restart would not know')
        t.match(answer.headers.get('set-cookie'), 'Max-Age=0')
        t.equal((await station.request('/get-info', { headers: { cookie } })).status, 401)
      })
    },
  )

  t.test('a cookie that somebody changed is worth nothing', async (t) => {
    const { ask } = await guarded(t, { token, viewerToken, clock })
    const id = cookieOf(await login(ask, viewerToken)).split('=')[1] as string
    for (const value of [
      `${id}A`,
      id.slice(1),
      `${id.slice(1)}A`,
      `operator.${id}`,
      'A'.repeat(43),
      '',
      'x'.repeat(8_000),
    ])
      t.equal(
        (await ask('/read', { headers: { cookie: `rtk-base-session=${value}` } })).status,
        401,
        value.slice(0, 60),
      )
  })

  t.test('logging out ends the session, not only the cookie', async (t) => {
    const { ask } = await guarded(t, { token, clock })
    const cookie = cookieOf(await login(ask, token))
    const other = cookieOf(await login(ask, token))
    const answer = await ask('/session', { method: 'DELETE', headers: { cookie } })
    t.match(answer, { status: 200, json: { role: 'none', login: true, expires: 0 } })
    t.match(answer.headers['set-cookie'], [/^rtk-base-session=; HttpOnly; SameSite=Strict; Path=\/; Max-Age=0$/])
    t.equal((await ask('/read', { headers: { cookie } })).status, 401)
    t.equal(
      (await ask('/read', { headers: { cookie: other } })).status,
      200,
      'another session of the same moment goes on',
    )
  })

  t.test('a page of another site or port can neither log in nor out', async (t) => {
    const { ask, port } = await guarded(t, { token, clock })
    const origin = `http://127.0.0.1:${port + 1}`
    t.equal((await login(ask, token, { origin })).status, 403)
    t.equal((await ask('/session', { method: 'DELETE', headers: { origin } })).status, 403)
    t.equal((await login(ask, token, { origin: `http://127.0.0.1:${port}` })).status, 200)
  })

  t.test('five wrong tokens within a minute, however they are sent: then a peer waits', async (t) => {
    const { ask } = await guarded(t, { token, viewerToken, clock })
    const cookie = cookieOf(await login(ask, token))
    for (let i = 0; i < 3; i++) t.equal((await login(ask, `wrong ${i}`)).status, 401)
    for (let i = 0; i < 2; i++) t.equal((await ask('/read', { headers: bearer(`wrong-${i}`) })).status, 401)
    t.match(await login(ask, token), {
      status: 429,
      headers: { 'retry-after': '60' },
      json: { error: 'RTK_ERR_TOO_MANY_TRIES', message: /127\.0\.0\.1/, help: String },
    })
    t.match(await ask('/read', { headers: bearer(token) }), { status: 429, headers: { 'retry-after': '60' } })
    t.equal((await ask('/read', { headers: { cookie } })).status, 200, 'who is logged in goes on')
    await clock.advance(59_999)
    t.equal((await login(ask, token)).status, 429)
    await clock.advance(1)
    t.equal((await login(ask, token)).status, 200)
  })

  t.test('what a session reads ends with it; what anybody may read, and what changes something, goes on', async (t) => {
    const clock = new ManualClock()
    const streams = new Map<string, PassThrough>()
    const stream = (name: string) => async () => {
      const made = new PassThrough()
      streams.set(name, made)
      made.write('first')
      return made
    }
    const routes = [get('/events', stream('events')), post('/work', stream('work'))]
    const owners = () => [owner('page', { routes })]
    const limits = { checkInterval_ms: 10 }
    const over = async (
      served: Awaited<ReturnType<typeof serve>>,
      headers: OutgoingHttpHeaders,
      method = 'GET',
      path = '/events',
    ) => {
      const asked = request({ host: '127.0.0.1', port: served.port, agent: false, method, path, headers }).end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      const gone = { isOver: false }
      answer
        .on('error', () => {})
        .on('close', () => {
          gone.isOver = true
        })
      answer.resume()
      t.teardown(() => asked.destroy())
      t.equal(answer.statusCode, 200)
      return gone
    }
    const closed = await serve(t, owners(), { token, viewerToken, clock, limits })
    const cookie = cookieOf(await login(closed.ask, token))
    const later = cookieOf(await login(closed.ask, viewerToken))
    const reading = await over(closed, { cookie })
    const viewing = await over(closed, { cookie: later })
    const working = await over(closed, { cookie }, 'POST', '/work')
    const program = await over(closed, bearer(token))
    await closed.ask('/session', { method: 'DELETE', headers: { cookie } })
    await until(() => reading.isOver, 'its streams end')
    t.notOk(viewing.isOver || program.isOver || working.isOver)
    await clock.advance(43_201_000)
    await until(() => viewing.isOver, 'after 12 hours the other one')
    t.notOk(program.isOver || working.isOver)

    const open = await serve(t, owners(), { token, viewerToken, clock, limits, open: 'read' })
    const anybody = await over(open, {})
    const operator = cookieOf(await login(open.ask, token))
    const viewer = cookieOf(await login(open.ask, viewerToken))
    const [more, same] = [await over(open, { cookie: operator }), await over(open, { cookie: viewer })]
    for (const cookie of [operator, viewer]) await open.ask('/session', { method: 'DELETE', headers: { cookie } })
    await until(() => more.isOver, 'it read what an operator may')
    t.notOk(anybody.isOver || same.isOver)
  })

  t.test('a body that is no token is 400 and no try', async (t) => {
    const { ask } = await guarded(t, { token, clock })
    for (const wrong of [undefined, '', 7, null, ['x'], { a: 1 }, 'x'.repeat(513)])
      t.equal((await login(ask, wrong)).status, 400)
    t.equal((await ask('/session', { method: 'POST', body: 'token' })).status, 400)
    t.equal((await login(ask, token)).status, 200)
  })

  t.test('no plugin can take the path, whatever the method', async (t) => {
    const { gateway } = await serve(t, [])
    const handler = says('mine')
    const message = /\/session belongs to both the runtime and grabby/
    for (const method of ['GET', 'POST', 'PUT', 'HEAD'])
      for (const parts of [
        { routes: [{ method, url: '/session', handler }] },
        { routes: [{ method, url: '/session', handler, constraints: { host: 'a.local' } }] },
        {
          plugins: [
            {
              plugin: async (app: { route(o: object): unknown }) =>
                void app.route({ method, url: '/session', handler }),
              options: {},
            },
          ],
        },
      ])
        await t.rejects(gateway.stage([owner('grabby', parts as never)]), { code: 'RTK_ERR_ROUTE_TAKEN', message })
  })
})

t.test('a viewer of the station', async (t) => {
  let reads = 0
  const wap = definePlugin({
    name: 'wap',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      ctx.info.block('wap', () => ({ ssid: 'base', pwd: 'wifi secret', reads: ++reads }))
      ctx.info.block('router', {
        static: () => ({ wap: { pswd: 'router secret' }, users: [{ name: 'a', 'admin-pswd': 'deep secret' }] }),
      })
    },
  })
  const station = await createTestStation({
    plugins: { 'http-api': httpApi, wap },
    variant: { http: { host: '127.0.0.1', port: 0, token, viewerToken } },
  })
  t.teardown(() => station.stop())
  const as = async (secret: string, path: string) => {
    const { status, text } = await station.request(path, { headers: bearer(secret) })
    return { status, json: JSON.parse(text) }
  }

  t.test('gets the document with empty passwords, an operator to the letter', async (t) => {
    const full = (await as(token, '/get-info')).json
    t.match(full, { wap: { pwd: 'wifi secret' }, router: { wap: { pswd: 'router secret' } } })
    for (const path of ['/get-info', '/heart-beat', '/get-base-info', '/get-info?0xff']) {
      const { json } = await as(viewerToken, path)
      t.notMatch(JSON.stringify(json), /secret/, path)
      t.match(json, {
        wap: { ssid: '', pwd: '' },
        router: { wap: { pswd: '' }, users: [{ name: 'a', 'admin-pswd': '' }] },
      })
    }
    const before = (await as(viewerToken, '/get-info?2')).json.wap.reads
    await station.clock.advance(1_000)
    t.not((await as(viewerToken, '/get-info?2')).json.wap.reads, before, 'and sees it change')
    t.match((await as(token, '/get-info')).json, { wap: { pwd: 'wifi secret' } })
  })

  t.test('cannot change, command, read or write /nvs', async (t) => {
    for (const [method, path] of [
      ['POST', '/change'],
      ['POST', '/system?reboot'],
      ['GET', '/nvs'],
      ['GET', '/nvs?namespace=user'],
      ['POST', '/nvs'],
    ] as const) {
      const answer = await station.request(path, { method, headers: bearer(viewerToken) })
      t.equal(answer.status, 403, `${method} ${path}`)
      const type = path.startsWith('/system') ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
      t.equal(answer.headers.get('content-type'), type)
    }
    t.equal((await as(viewerToken, '/plugins')).status, 200)
    t.equal((await as(token, '/nvs')).status, 200)
  })
})

t.test('S2: nobody is let in where the code of the plugin that knew the people cannot be loaded', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-people-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'people.ts')
  const people = (rest: string) => `import { definePlugin } from 'rtk-base/plugin'
    import { accounts } from 'rtk-base/services'
    const none = { isOn: true, isKnown: true, find() {}, roleOf() {}, session() {}, ...{ async readSession() {} } }
    export default definePlugin({ name: 'people', version: '1.0.0', api: '^1.0.0', provides: [accounts],
      setup: (ctx) => ctx.services.provide(accounts, { ...none, async beginSession() {}, async endSession() {} }) })
    ${rest}`
  const store = new MemoryStore()
  const statuses = async (sources: Variant['plugins']) => {
    const station = await createTestStation({ store, plugins: { 'http-api': httpApi }, sources })
    t.teardown(() => station.stop())
    const [method, headers] = ['POST', { 'content-type': 'application/json' }]
    const body = JSON.stringify({ role: 'viewer', password: 'of a stranger' })
    const password = await station.request('/password', { method, headers, body })
    const found = [(await station.request('/get-info')).status, password.status]
    await station.stop()
    return found
  }
  for (const [rest, expected] of [
    ['', [401, 401]],
    ["throw new Error('damaged')", [503, 503]],
    ['const one = ', [503, 503]],
  ] as const) {
    writeFileSync(file, people(rest))
    t.strictSame(await statuses({ [file]: {} }), expected, rest)
  }
  t.strictSame(await statuses({}), [200, 400], 'the variant does not have it any more')
  writeFileSync(file, people(''))
  t.strictSame(await statuses({ [file]: {} }), [401, 401])
})

t.test('S2: while the plugin that knows the people does not run, nobody is let in', async (t) => {
  const starts: (() => void)[] = []
  let fails = false
  const people = definePlugin({
    ...{ name: 'people', version: '1.0.0', api: '^1.0.0', provides: [accounts] },
    setup(ctx) {
      const bob = { user: 'bob', role: 'operator' as const }
      ctx.services.provide(accounts, {
        isOn: true,
        isKnown: true,
        find: (key) => (key === 'key-of-bob' ? bob : undefined),
        roleOf: () => 'operator',
        session: () => undefined,
        readSession: async () => {},
        beginSession: async () => {},
        endSession: async () => {},
      })
    },
    async start() {
      if (fails) throw new Error('the table is damaged')
      await new Promise<void>((resolve) => starts.push(resolve))
    },
  })
  const starting = createTestStation({ plugins: { 'http-api': httpApi, people } })
  await until(() => starts.length === 1, 'the plugin starts')
  starts[0]?.()
  const station = await starting
  t.teardown(() => station.stop())
  const json = { 'content-type': 'application/json' }
  const post = (path: string, body: unknown) =>
    station.request(path, { method: 'POST', headers: json, body: JSON.stringify(body) })
  const answers = async () => [
    (await station.request('/get-info')).status,
    (await station.request('/get-info', { headers: bearer('key-of-bob') })).status,
    (await post('/password', { role: 'operator', password: 'of a stranger' })).status,
    (await post('/change', { 'udp-port': 1 })).status,
  ]
  t.match(await answers(), [401, 200, 401, 401])

  const reloading = station.reload('people')
  await until(() => starts.length === 2, 'it starts again')
  t.strictSame(await answers(), [503, 503, 503, 503], 'in its reload')
  starts[1]?.()
  await reloading

  fails = true
  await station.reload('people').catch(() => {})
  t.strictSame(await answers(), [503, 503, 503, 503], 'after a failed start')
})
