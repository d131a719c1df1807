import { once } from 'node:events'
import { Agent, get as httpGet, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import Type from 'typebox'
import { RtkError } from '../../runtime/errors.js'
import { isLocalHost, isLocalPeer, ownPrefixes } from '../../runtime/gateway/http/access.js'
import { LocalNetwork } from '../../runtime/gateway/http/local-network.js'
import { Proxies } from '../../runtime/gateway/http/proxies.js'
import { HttpServer } from '../../runtime/gateway/http/server.js'
import { normalAddress, Prefixes } from '../../runtime/platform/address/address.js'
import { FairQueue } from '../../runtime/platform/fair-share/fair-queue.js'
import { currentOwner, runAs } from '../../runtime/platform/guard/owner.js'
import { systemClock } from '../../runtime/platform/ports/clock.js'
import { systemNetwork } from '../../runtime/platform/ports/system-network.js'
import { drive } from '../harness/drive.js'
import { ManualClock, until } from '../harness/manual-clock.js'
import { deferred, failures, get, owner, post, raw, says, serve, upgradeRequest } from './http-rig.js'
import { ownerOf } from './owner.js'

t.test('apps', async (t) => {
  t.test('a removed route is 404 while the request in flight on it completes', async (t) => {
    const entered = deferred()
    const go = deferred()
    const slow = get('/slow', async () => {
      entered.resolve(undefined)
      await go.promise
      return { word: 'old' }
    })
    const { ask, swap } = await serve(t, [owner('a', { routes: [slow] })])
    const answer = ask('/slow')
    await entered.promise
    await swap([owner('b', { routes: [get('/other', says('new'))] })])
    t.equal((await ask('/slow')).status, 404)
    t.same((await ask('/other')).json, { word: 'new' })
    go.resolve(undefined)
    t.same((await answer).json, { word: 'old' })
  })

  t.test('a streamed reply survives, and its app closes after it', async (t) => {
    const stream = new PassThrough()
    const closed = deferred()
    const plugin: FastifyPluginAsync = async (app) => {
      app.addHook('onClose', async () => void closed.resolve(undefined))
      app.get('/stream', (_request, reply) => reply.type('text/plain').send(stream))
    }
    const { ask, swap } = await serve(t, [owner('a', { plugins: [{ plugin, options: {} }] })])
    stream.write('first ')
    const answer = ask('/stream')
    await once(stream, 'resume')
    await swap([])
    stream.end('second')
    t.equal((await answer).text, 'first second')
    await closed.promise
  })

  t.test('a stream that its plugin left behind is cut off 30 s after the plugin went, others go on', async (t) => {
    const clock = new ManualClock()
    const streams = { a: new PassThrough(), b: new PassThrough() }
    const routes = (name: 'a' | 'b') => ({
      routes: [get(`/${name}`, (_request, reply) => reply.type('text/plain').send(streams[name]))],
    })
    const a = owner('a', routes('a'))
    const { ask, swap, gateway } = await serve(t, [a, owner('b', routes('b'))], { clock })
    for (const stream of Object.values(streams)) stream.write('first ')
    const [cut, kept] = [t.rejects(ask('/a')), ask('/b')]
    await Promise.all(Object.values(streams).map((stream) => once(stream, 'resume')))
    await swap([owner('b', routes('b'))])
    gateway.release(a.owner)
    await clock.advance(29_999)
    t.equal(streams.a.destroyed, false)
    await clock.advance(1)
    await cut
    streams.b.end('second')
    t.equal((await kept).text, 'first second')
  })

  t.test(
    'event streams, by send and by hijack: other reloads leave them alone, the end of their plugin ends them',
    async (t) => {
      const clock = new ManualClock()
      const sent = new PassThrough()
      let hijacked: { write(text: string): void } | undefined
      const a = owner('a', {
        routes: [
          get('/sent', (_request, reply) => reply.type('text/event-stream').send(sent)),
          get('/hijacked', (_request, reply) => {
            reply.hijack()
            reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
            hijacked = reply.raw
            reply.raw.write('data: 1\n\n')
          }),
        ],
      })
      const { port, swap, gateway } = await serve(t, [a, owner('b')], { clock })
      sent.write('data: 1\n\n')
      for (const path of ['/sent', '/hijacked']) {
        const request = httpGet({ host: '127.0.0.1', port, path, agent: false })
        const [response] = (await once(request, 'response')) as [IncomingMessage]
        t.equal(response.headers['content-type'], 'text/event-stream')
        let got = ''
        response.on('data', (chunk) => {
          got += chunk
        })
        response.on('error', () => {})
        const write = (text: string) => (path === '/sent' ? sent : hijacked)?.write(text)
        await until(() => got === 'data: 1\n\n', 'the first event')
        await swap([a])
        await clock.advance(120_000)
        write('data: 2\n\n')
        await until(() => got.endsWith('data: 2\n\n'), 'an event long after a swap')
        const ended = new Promise((resolve) => response.once('close', resolve))
        gateway.release(a.owner)
        await clock.advance(30_000)
        await ended
      }
    },
  )

  t.test(
    'any number may wait for the last answer, and nothing is left on the clock by a gateway that closed',
    async (t) => {
      const clock = new ManualClock()
      const stream = new PassThrough()
      const a = owner('a', { routes: [get('/stream', (_request, reply) => reply.type('text/plain').send(stream))] })
      const { ask, gateway } = await serve(t, [], { clock })
      const first = await gateway.stage([a])
      gateway.commit(first)
      stream.write('x')
      const answer = ask('/stream').catch(() => 'cut')
      await once(stream, 'resume')
      const idle = [first.idle(), first.idle()]
      gateway.commit(await gateway.stage([a]))
      t.equal(clock.pending, 1, 'the old app has a time limit')
      await gateway.close()
      t.equal(clock.pending, 0)
      t.equal(await answer, 'cut')
      await Promise.all(idle)
    },
  )

  t.test('a keep-alive connection goes to the new app', async (t) => {
    const { ask, swap } = await serve(t, [owner('a', { routes: [get('/word', says('one'))] })])
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    const first = await ask('/word', { agent })
    await swap([owner('a', { routes: [get('/word', says('two'))] })])
    const second = await ask('/word', { agent })
    t.same([first.json, second.json], [{ word: 'one' }, { word: 'two' }])
    t.equal(second.socket, first.socket)
  })

  t.test('a route of two plugins is refused with both names, and the old app keeps running', async (t) => {
    const { ask, gateway } = await serve(t, [owner('first', { routes: [get('/x/:id', says('old'))] })])
    const clash = (name: string, url: string) => owner(name, { routes: [get(url, says('new'))] })
    for (const url of ['/x/:id', '/x/:other'])
      await t.rejects(gateway.stage([clash('first', '/x/:id'), clash('second', url)]), {
        code: 'RTK_ERR_ROUTE_TAKEN',
        message: /GET \/x.*first and second/,
      })
    const viaPlugin: FastifyPluginAsync = async (app) => void app.get('/x/:id', says('new'))
    await t.rejects(
      gateway.stage([clash('first', '/x/:id'), owner('third', { plugins: [{ plugin: viaPlugin, options: {} }] })]),
      { code: 'RTK_ERR_ROUTE_TAKEN', message: /first and third/ },
    )
    t.same((await ask('/x/1')).json, { word: 'old' })
  })

  t.test('a GET and a HEAD of the same path may be written by one plugin', async (t) => {
    const head: RouteOptions = {
      method: 'HEAD',
      url: '/x',
      handler: async (_request, reply) => reply.header('x-by', 'hand').send(),
    }
    const { ask } = await serve(t, [owner('a', { routes: [head, get('/x', says('got'))] })])
    t.equal((await ask('/x', { method: 'HEAD' })).headers['x-by'], 'hand')
    t.same((await ask('/x')).json, { word: 'got' })
  })

  t.test('a HEAD ends the stream that a GET would send', async (t) => {
    const made: Readable[] = []
    const stream: RouteOptions = {
      method: 'GET',
      url: '/stream',
      handler: async (_request, reply) => {
        const endless = new Readable({ read() {} })
        made.push(endless)
        return reply.type('text/plain').send(endless)
      },
    }
    const { ask } = await serve(t, [owner('a', { routes: [stream] })])
    const { status, headers } = await ask('/stream', { method: 'HEAD' })
    t.match([status, headers['content-type']], [200, /^text\/plain/])
    t.match(
      made.map(({ destroyed }) => destroyed),
      [true],
    )
  })

  t.test(
    'a Fastify plugin that throws, hangs up late or is no plugin is refused by name, and the old app keeps running',
    async (t) => {
      const { ask, gateway } = await serve(t, [owner('a', { routes: [get('/word', says('old'))] })])
      const broken: Record<string, FastifyPluginAsync> = {
        throws: async () => {
          throw new Error('no such table')
        },
        'throws in a hook': async (app) => {
          app.addHook('onReady', async () => {
            throw new Error('not ready')
          })
        },
        'has an impossible route': async (app) => void app.get('no-slash', says('x')),
      }
      for (const [name, plugin] of Object.entries(broken))
        await t.rejects(
          gateway.stage([owner(name, { plugins: [{ plugin, options: {} }] })]),
          { code: 'RTK_ERR_ROUTES' },
          name,
        )
      await t.rejects(
        gateway.stage([owner('culprit', { plugins: [{ plugin: broken.throws as FastifyPluginAsync, options: {} }] })]),
        {
          message: /culprit.*no such table/,
        },
      )
      t.same((await ask('/word')).json, { word: 'old' })
    },
  )

  t.test('what one plugin decorates, hooks and handles stays its own', async (t) => {
    const deco =
      (word: string): FastifyPluginAsync =>
      async (app) => {
        app.decorate('word', word)
        app.addHook('onSend', async (_request, reply) => void reply.header(`x-${word}`, '1'))
        app.get(`/${word}`, async () => ({ word: (app as unknown as { word: string }).word }))
      }
    const { ask } = await serve(
      t,
      ['a', 'b'].map((name) => owner(name, { plugins: [{ plugin: deco(name), options: {} }] })),
    )
    const answer = await ask('/a')
    t.same(answer.json, { word: 'a' })
    t.same([answer.headers['x-a'], answer.headers['x-b']], ['1', undefined])
  })

  t.test('the same route records serve many apps', async (t) => {
    const schema = Object.freeze({ body: Type.Object({ n: Type.Integer() }) })
    const owners = [owner('a', { routes: [Object.freeze(post('/n', async (request) => request.body, { schema }))] })]
    const { ask, swap } = await serve(t, owners)
    for (let n = 0; n < 5; n++) {
      await swap(owners)
      t.same((await ask('/n', { method: 'POST', body: JSON.stringify({ n }) })).json, { n })
    }
  })

  t.test('a gated plugin answers 503 with Retry-After, others go on', async (t) => {
    let live = false
    const routes = [get('/gated', says('gated')), post('/gated', says('gated'))]
    const { ask } = await serve(t, [
      owner('gated', { routes, live: () => live }),
      owner('b', { routes: [get('/b', says('b'))] }),
    ])
    const answer = await ask('/gated')
    t.equal(answer.status, 503)
    t.equal(answer.headers['retry-after'], '1')
    t.match(answer.json, { error: 'RTK_ERR_UNAVAILABLE', message: /gated/, help: String })
    t.equal((await ask('/gated', { method: 'POST', body: 'x'.repeat(10_000) })).status, 503)
    t.equal((await ask('/b')).status, 200)
    live = true
    t.same((await ask('/gated')).json, { word: 'gated' })
  })

  t.test('handlers run attributed to their plugin', async (t) => {
    const who = async () => ({ who: currentOwner()?.name })
    const { ask } = await serve(t, [owner('mine', { routes: [get('/who', who), post('/who', who)] })])
    t.same((await ask('/who')).json, { who: 'mine' })
    t.same((await ask('/who', { method: 'POST', body: '{"a":1}' })).json, { who: 'mine' })
  })

  t.test('close lets the answer in flight end and closes the rest', async (t) => {
    const entered = deferred()
    const slow = get('/slow', async () => {
      entered.resolve(undefined)
      await new Promise((resolve) => setImmediate(resolve))
      return { word: 'done' }
    })
    const { ask, gateway, port } = await serve(t, [owner('a', { routes: [slow] })])
    const idle = connect(port, '127.0.0.1')
    await once(idle, 'connect')
    const answer = ask('/slow')
    await entered.promise
    await gateway.close()
    t.same((await answer).json, { word: 'done' })
    idle.destroy()
    await t.rejects(ask('/slow'), { code: 'ECONNREFUSED' })
  })

  t.test('an address that the machine does not have yet is tried again, and ends nothing', async (t) => {
    const clock = new ManualClock()
    const options = { host: '192.0.2.1', port: 0 }
    const gateway = new HttpServer(options, { log: pino(new PassThrough()), clock, sockets: systemNetwork })
    t.teardown(() => gateway.close())
    const opened: { host: string; port: number }[] = []
    t.equal(await gateway.listen((at) => opened.push(at)), 'address')
    await clock.advance(5_000)
    t.same(opened, [])
    options.host = '127.0.0.1'
    await drive(clock, () => opened.length === 1, 'the address', 5_000)
    t.equal(opened[0]?.host, '127.0.0.1')
  })

  t.test('an address in use is RTK_ERR_LISTEN that names it', async (t) => {
    const { port } = await serve(t, [])
    const second = new HttpServer(
      { host: '127.0.0.1', port },
      { log: pino({ level: 'silent' }), clock: systemClock, sockets: systemNetwork },
    )
    await t.rejects(second.listen(), { code: 'RTK_ERR_LISTEN', message: new RegExp(`127.0.0.1:${port}`) })
    await second.close()
  })
})

t.test('upgrades', async (t) => {
  t.test('nothing takes a websocket: 404, and the next request is answered', async (t) => {
    const { port, ask } = await serve(t, [owner('a', { routes: [get('/ok', says('ok'))] })])
    for (const path of ['/ok', '/nowhere'])
      t.match(await raw(port, upgradeRequest(path, { host: 'localhost' })), /^HTTP\/1.1 404 .*takes an upgrade/s, path)
    t.equal((await ask('/ok')).status, 200)
  })

  t.test('a protocol that nobody speaks is passed over, and the request behind it is answered', async (t) => {
    const { port } = await serve(t, [
      owner('a', {
        routes: [get('/ok', says('ok')), post('/echo', async ({ body }) => ({ body }))],
      }),
    ])
    const h2c = 'host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'
    const answer = await raw(
      port,
      `GET /ok HTTP/1.1\r\n${h2c}\r\nPOST /echo HTTP/1.1\r\n${h2c}content-type: application/json\r\ncontent-length: 5\r\n\r\n"abc"GET /ok HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
    )
    t.same(answer.match(/HTTP\/1.1 \d+|\{.*\}/g), [
      'HTTP/1.1 200',
      '{"word":"ok"}',
      'HTTP/1.1 200',
      '{"body":"abc"}',
      'HTTP/1.1 200',
      '{"word":"ok"}',
    ])
  })

  t.test('a connection that is reset while its upgrade is refused harms nobody', async (t) => {
    const { port, ask } = await serve(t, [owner('a', { routes: [get('/ok', says('ok'))] })])
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(upgradeRequest('/raw', { host: 'localhost' }))
    socket.resetAndDestroy()
    await once(socket, 'close')
    t.equal((await ask('/ok')).status, 200)
  })
})

t.test('access rules hold for every route of every plugin, and for upgrades', async (t) => {
  let changes = 0
  const thirdParty = owner('third-party', {
    routes: [
      get('/read', says('read')),
      post('/change', async () => {
        changes++
        return { result: 'ok' }
      }),
    ],
  })
  const { ask, port } = await serve(t, [thirdParty], { hosts: ['base.example.org'] })

  for (const host of ['evil.example', 'localhost.evil.example', 'a b', '127.0.0.1.evil.example:80', 'station.evil'])
    for (const [method, path] of [
      ['GET', '/read'],
      ['POST', '/change'],
      ['GET', '/no-such-route'],
    ] as const)
      t.match(
        await ask(path, { method, headers: { host } }),
        { status: 403, json: { error: 'RTK_ERR_FORBIDDEN_HOST', help: String } },
        `Host ${host}`,
      )
  for (const host of [
    '127.0.0.1',
    '[::1]:8080',
    'station',
    'localhost:1',
    'x.local',
    'x.lan.',
    'BASE.example.org',
    'station.example',
  ])
    t.equal((await ask('/read', { headers: { host } })).status, 200, `Host ${host}`)

  const foreign: Record<string, string>[] = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.2' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'cross-site' },
  ]
  for (const headers of foreign) {
    t.match(
      await ask('/change', { method: 'POST', headers, body: '{}' }),
      { status: 403, json: { error: 'RTK_ERR_FORBIDDEN_ORIGIN' } },
      JSON.stringify(headers),
    )
    t.match(
      await raw(port, upgradeRequest('/live', { host: '127.0.0.1', ...headers })),
      /^HTTP\/1.1 403 .*RTK_ERR_FORBIDDEN_ORIGIN/s,
      `upgrade ${JSON.stringify(headers)}`,
    )
    t.equal((await ask('/read', { headers })).status, 200, 'reading is open to all')
    const events = { accept: 'text/event-stream', ...headers }
    t.equal((await ask('/read', { headers: events })).status, 403, 'but an event stream holds a place')
  }
  t.equal(changes, 0)
  const own = { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' }
  t.equal((await ask('/change', { method: 'POST', headers: own })).status, 200)
  t.equal((await ask('/read', { headers: { ...own, accept: 'text/event-stream' } })).status, 200)
  t.equal((await ask('/read', { headers: { accept: 'text/event-stream' } })).status, 200)
  t.equal((await ask('/change', { method: 'POST' })).status, 200, 'a program sends neither')
  t.match(
    await raw(port, upgradeRequest('/live', { host: 'evil.example' })),
    /^HTTP\/1.1 403 .*RTK_ERR_FORBIDDEN_HOST/s,
  )
  t.match(await raw(port, upgradeRequest('/live', { host: `127.0.0.1:${port}`, ...own })), /^HTTP\/1.1 404/)
  t.match(
    await raw(port, 'GET /read HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n'),
    /^HTTP\/1.1 40[03]/,
  )
  t.match(
    await raw(port, 'GET http://evil.example/read HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'),
    /^HTTP\/1.1 403/,
  )
  t.match(await raw(port, 'GET /read HTTP/1.1\r\nconnection: close\r\n\r\n'), /^HTTP\/1.1 400/)
  t.match(await raw(port, 'GET /read HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n'), /^HTTP\/1.1 40[03]/)
  t.match(await raw(port, 'GET /read HTTP/1.0\r\n\r\n'), /^HTTP\/1.1 200/)

  t.test('peers', async (t) => {
    const none = new Prefixes([])
    const own = ownPrefixes({
      wan0: [
        { address: '203.0.113.7', netmask: '', family: 'IPv4', mac: '', internal: false, cidr: '203.0.113.7/28' },
        {
          address: '2001:db8:1::7',
          netmask: '',
          family: 'IPv6',
          mac: '',
          internal: false,
          cidr: '2001:db8:1::7/64',
          scopeid: 0,
        },
        { address: '198.51.100.1', netmask: '', family: 'IPv4', mac: '', internal: false, cidr: '198.51.100.1/0' },
        { address: '192.0.2.1', netmask: '', family: 'IPv4', mac: '', internal: false, cidr: null },
      ],
    })
    const here =
      '127.0.0.1 127.9.9.9 10.1.2.3 172.16.0.1 172.31.255.255 192.168.7.7 169.254.1.1 ::1 fe80::1%eth0 fd00::1 ::ffff:192.168.1.1 ::ffff:7f00:1 0:0:0:0:0:ffff:10.0.0.1'
    for (const peer of here.split(' ')) t.ok(isLocalPeer(peer, none), peer)
    const there =
      '8.8.8.8 172.15.255.255 172.32.0.1 192.169.0.1 11.0.0.1 100.64.0.1 2001:4860::1 fec0::1 ::ffff:8.8.8.8 ::ffff:808:808 ::127.0.0.1 64:ff9b::7f00:1 0.0.0.0 :: localhost x'
    for (const peer of [...there.split(' '), '']) t.notOk(isLocalPeer(peer, none), peer)
    for (const peer of ['203.0.113.1', '::ffff:203.0.113.15', '2001:db8:1::1234']) t.ok(isLocalPeer(peer, own), peer)
    for (const peer of ['203.0.113.16', '2001:db8:2::1', '192.0.2.1', '8.8.8.8']) t.notOk(isLocalPeer(peer, own), peer)
    t.equal(normalAddress('::FFFF:1.2.3.4%lo'), '1.2.3.4')
  })

  t.test('what strangers ask with is remembered, but not all of it', async (t) => {
    let looked = 0
    const own = Object.assign(new Prefixes([]), { has: () => ++looked === 0 })
    const ask = (from: number, to: number) => {
      for (let n = from; n < to; n++) isLocalPeer(`203.0.${113 + (n >> 8)}.${n & 255}`, own)
      return looked
    }
    t.equal(ask(0, 200), 200)
    t.equal(ask(0, 200), 200, 'who asks again is known')
    t.equal(ask(200, 1_000), 1_000)
    t.equal(ask(0, 200), 1_200, 'the first are forgotten')
  })

  t.test('hosts', async (t) => {
    for (const host of ['1.2.3.4', '[fe80::1]:80', 'router', 'x.home.arpa', 'x.internal'])
      t.ok(isLocalHost(host, []), host)
    for (const host of [
      'local.evil',
      'x.locals',
      '1.2.3',
      '0x7f.1',
      '[::1',
      'a@b',
      'a/b',
      ':80',
      '.',
      'x.local.evil',
      '..',
    ])
      t.notOk(isLocalHost(host, []), host)
  })
})

t.test('answers to errors are JSON', async (t) => {
  const logLines: string[] = []
  const body = Type.Object({ port: Type.Integer({ minimum: 1 }), name: Type.Optional(Type.String()) })
  const querystring = Type.Object({ n: Type.Integer() })
  const { ask } = await serve(
    t,
    [
      owner('culprit', {
        routes: [
          get('/coded', () => {
            throw new RtkError('RTK_ERR_NVS_OWNED', 'config is not yours')
          }),
          get('/copied', async () => {
            throw Object.assign(new Error('busy'), {
              name: 'RtkError',
              code: 'RTK_ERR_UNAVAILABLE',
              statusCode: 503,
              help: '',
            })
          }),
          get('/broken', async () => {
            throw new TypeError('secret detail')
          }),
          get('/text', async () => {
            throw 'a string'
          }),
          get('/teapot', async () => {
            throw Object.assign(new Error('short and stout'), { statusCode: 418 })
          }),
          get('/files/*', async () => ({})),
        ],
      }),
      owner('checked', {
        routes: [
          {
            method: 'GET',
            url: '/query',
            schema: { querystring },
            handler: async (request) => request.query as object,
          },
          post('/body', async (request) => request.body, { schema: { body } }),
          post('/any', async (request) => ({ body: request.body ?? null })),
          post('/small', async (request) => request.body, { bodyLimit: 10 }),
          post('/buffer', async (request) => ({ bytes: (request.body as Buffer).toString('hex') }), {
            config: { rawBody: 'buffer' },
          }),
          post('/stream', async (request) => ({ length: (await text(request.body as IncomingMessage)).length }), {
            config: { rawBody: 'stream' },
          }),
        ],
      }),
    ],
    { logLines },
  )
  const send = (path: string, value: string | Buffer, headers = {}) =>
    ask(path, { method: 'POST', body: value, headers })

  t.match(await ask('/coded'), {
    status: 403,
    json: { error: 'RTK_ERR_NVS_OWNED', message: 'config is not yours', help: /POST \/change/ },
  })
  t.match(await ask('/copied'), {
    status: 503,
    headers: { 'retry-after': '1', refresh: '2' },
    json: { error: 'RTK_ERR_UNAVAILABLE', message: 'busy' },
  })
  for (const path of ['/broken', '/text']) {
    const answer = await ask(path)
    t.match(answer, { status: 500, json: { error: 'RTK_ERR_INTERNAL', help: String } })
    t.notMatch(answer.text, /secret|string/)
  }
  t.match(logLines.join(''), /"plugin":"culprit".*secret detail|secret detail.*"plugin":"culprit"/s)
  t.match(await ask('/teapot'), { status: 418, json: { error: 'RTK_ERR_REQUEST', message: 'short and stout' } })
  t.match(await ask('/nowhere'), { status: 404, json: { error: 'RTK_ERR_NOT_FOUND', message: /\/nowhere/ } })
  t.match((await ask('/teapto?x=1')).json, { message: 'GET /teapto?x=1 is not here (did you mean "/teapot"?)' }, 'C10')
  for (const [path, method, methods] of [
    ['/teapot', 'POST', 'GET'],
    ['/query?n=7', 'PUT', 'GET'],
    ['/files/of/somebody?x=1', 'POST', 'GET'],
  ] as const)
    t.match(
      await ask(path, { method }),
      {
        status: 405,
        headers: { allow: methods },
        json: { error: 'RTK_ERR_METHOD', message: `takes ${methods}, not ${method}` },
      },
      'C10: another method',
    )
  t.match(await ask('/files', { method: 'POST' }), { status: 404 })
  t.match(await ask('/teapot/lid', { method: 'POST' }), { status: 404 })
  t.match(await ask('/%zz'), { status: 400, json: { error: 'RTK_ERR_REQUEST' } })

  t.same((await ask('/query?n=7')).json, { n: 7 }, 'a query is converted')
  t.match(await ask('/query?n=x'), { status: 400, json: { error: 'RTK_ERR_REQUEST', field: 'n' } })
  t.match(
    await send('/body', '{"port":"7"}'),
    { status: 400, json: { field: 'port', message: /body\.port/ } },
    'a body is not',
  )
  t.match(await send('/body', '{"name":"x"}'), { status: 400, json: { field: 'port' } })
  t.match(await send('/body', ''), { status: 400, json: { error: 'RTK_ERR_REQUEST' } })
  t.same((await send('/body', '{"port":1,"more":[1]}')).json, { port: 1, more: [1] }, 'nor is it stripped')

  for (const type of [
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data',
    'garbage',
    '',
    ';;',
    'application/json; charset=latin9',
  ])
    t.same((await send('/any', '{"a":1}', { 'content-type': type })).json, { body: { a: 1 } }, `content type '${type}'`)
  t.same((await send('/any', '{"a":1}')).json, { body: { a: 1 } }, 'none')
  t.same((await send('/any', '', { 'content-type': 'application/json' })).json, { body: null })
  t.match(await send('/any', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`), {
    status: 400,
    json: { error: 'RTK_ERR_REQUEST', message: /deeper than 64/ },
  })
  t.match(await send('/any', '{"a":'), { status: 400, json: { error: 'RTK_ERR_REQUEST', message: /not JSON/ } })
  const large = JSON.stringify('x'.repeat(70_000))
  t.match(await send('/any', large), { status: 413, json: { error: 'RTK_ERR_BODY_TOO_LARGE', message: /65536/ } })
  t.match(await send('/any', large, { 'transfer-encoding': 'chunked' }), { status: 413 })
  t.match(await send('/small', '"123456789"'), { status: 413, json: { message: /10 bytes/ } })
  t.same((await send('/buffer', Buffer.from([0, 255]))).json, { bytes: '00ff' })
  t.same((await send('/stream', Buffer.alloc(1_000_000))).json, { length: 1_000_000 })
})

t.test('hostile and slow input', async (t) => {
  const limits = {
    headersTimeout_ms: 150,
    bodyTimeout_ms: 200,
    idleTimeout_ms: 300,
    checkInterval_ms: 50,
    requestTimeout_ms: 5_000,
    maxHeaderSize: 4_096,
  }
  const any = post('/any', async (request) => ({ body: request.body ?? null }))
  const stream = post(
    '/stream',
    async (request) => ({ length: (await text(request.body as IncomingMessage)).length }),
    {
      config: { rawBody: 'stream' },
    },
  )
  const { port, ask, gateway } = await serve(t, [owner('a', { routes: [any, stream] })], { limits })
  const head = 'POST /any HTTP/1.1\r\nhost: localhost\r\n'

  t.test('slow: the server ends what does not arrive in time', async (t) => {
    const [nothing, header, body, streamed, unwanted, announced] = await Promise.all([
      raw(port, ''),
      raw(port, 'POST /any HTTP/1.1\r\nhost: local'),
      raw(port, `${head}content-length: 10\r\n\r\n{"a"`),
      raw(port, 'POST /stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc'),
      raw(port, 'POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc'),
      raw(port, `${head}content-length: 70000\r\n\r\n{"a"`),
    ])
    t.match(nothing, /^$|^HTTP\/1.1 408/)
    t.match(header, /^HTTP\/1.1 408 .*RTK_ERR_REQUEST_TIMEOUT/s)
    t.match(body, /^HTTP\/1.1 408 .*RTK_ERR_REQUEST_TIMEOUT.*200 ms/s)
    t.notMatch(streamed, /200 OK/)
    t.match(unwanted, /^HTTP\/1.1 40[48]/)
    t.match(announced, /^HTTP\/1.1 413 /, 'nobody waits for what is announced as too large')
  })

  t.test('a peer that does not read its answer is cut off, a quiet stream is not', async (t) => {
    const endless = get('/endless', (_request, reply) => {
      const out = new PassThrough()
      out.on('error', () => {})
      const pump = () => {
        while (!out.destroyed && out.write(Buffer.alloc(65_536)));
        if (!out.destroyed) out.once('drain', pump)
      }
      pump()
      return reply.send(out)
    })
    const out = new PassThrough()
    const quiet = get('/quiet', (_request, reply) => {
      out.write('begin ')
      return reply.type('text/plain').send(out)
    })
    const patient = { ...limits, headersTimeout_ms: 60_000, requestTimeout_ms: 60_000, idleTimeout_ms: 2_000 }
    const { port, ask, gateway } = await serve(t, [owner('a', { routes: [endless, quiet] })], { limits: patient })
    const answer = ask('/quiet')
    await until(() => out.readableFlowing, 'the quiet stream')
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n')
    socket.pause()
    await once(socket, 'connect')
    await until(() => gateway.connections === 2, 'both')
    await until(() => gateway.connections === 1, 'the end of the one that is not read')
    out.end('end')
    t.equal((await answer).text, 'begin end')
    socket.destroy()
  })

  t.test('malformed: 400 or 431, and the connection ends', async (t) => {
    const bad: Record<string, [string, RegExp]> = {
      'no HTTP': ['\x16\x03\x01 hello\r\n\r\n', /^HTTP\/1.1 400 .*RTK_ERR_REQUEST/s],
      'two lengths': [`${head}content-length: 5\r\ncontent-length: 6\r\n\r\n{"a":1}`, /^HTTP\/1.1 400/],
      'the same length twice': [`${head}content-length: 2\r\ncontent-length: 2\r\n\r\n{}`, /^HTTP\/1.1 400/],
      'length and chunks': [
        `${head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /`,
        /^HTTP\/1.1 400/,
      ],
      'a negative length': [`${head}content-length: -1\r\n\r\n`, /^HTTP\/1.1 400/],
      'a bad chunk': [`${head}transfer-encoding: chunked\r\n\r\nzz\r\n\r\n`, /^HTTP\/1.1 400/],
      'a folded header': [
        `${head}x: a\r\n b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
        /^HTTP\/1.1 (200|400)/,
      ],
      'a bare line feed': ['GET / HTTP/1.1\nhost: localhost\n\n', /^HTTP\/1.1 400/],
      'a null byte': ['GET /\0 HTTP/1.1\r\nhost: localhost\r\n\r\n', /^HTTP\/1.1 400/],
      'long headers': [
        `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(5_000)}\r\n\r\n`,
        /^HTTP\/1.1 431 .*RTK_ERR_REQUEST_HEADERS/s,
      ],
      'an unknown method': ['BREW / HTTP/1.1\r\nhost: localhost\r\n\r\n', /^HTTP\/1.1 400/],
      CONNECT: ['CONNECT evil.example:80 HTTP/1.1\r\nhost: localhost\r\n\r\n', /^$|^HTTP\/1.1 4/],
    }
    for (const [what, [bytes, expected]] of Object.entries(bad)) t.match(await raw(port, bytes), expected, what)
    t.same((await ask('/any', { method: 'POST', body: '[1]' })).json, { body: [1] }, 'the service goes on')
  })

  t.test('malformed behind answers under way: nothing is written into their middle', async (t) => {
    const entered = deferred()
    const half = get('/half', (_request, reply) => {
      const out = new PassThrough()
      out.write('begin ')
      return reply.type('text/plain').send(out)
    })
    const never = get('/never', async (request) => {
      entered.resolve(undefined)
      await once(request.socket, 'close')
    })
    const { port, gateway } = await serve(t, [])
    const live = await gateway.stage([owner('a', { routes: [half, never] })])
    gateway.commit(live)
    for (const isPipelined of [false, true]) {
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
      })
      socket.write('GET /half HTTP/1.1\r\nhost: localhost\r\n\r\n')
      while (!answer.includes('begin')) await once(socket, 'data')
      if (isPipelined) {
        socket.write('GET /never HTTP/1.1\r\nhost: localhost\r\n\r\n')
        await entered.promise
      }
      socket.write('\0 no HTTP\r\n\r\n')
      await once(socket, 'close')
      await until(() => live.inFlight === 0, 'no answer is under way any more')
      t.equal(answer.split('HTTP/1.1').length - 1, 1, `one answer: ${JSON.stringify(answer)}`)
    }
  })

  t.test('a body that is cut off by a reset harms nobody', async (t) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`${head}content-length: 100\r\n\r\n{"a":`)
    await once(gateway.server, 'request')
    socket.resetAndDestroy()
    t.equal((await ask('/any', { method: 'POST', body: '1' })).status, 200)
  })

  t.test('one address takes its own places alone, and never those of this machine', async (t) => {
    const clock = new ManualClock()
    const logLines: string[] = []
    const isLoopback = (address: string) => address === '127.0.0.1'
    const limits = { connections: 20, perAddress: 8, keptForLoopback: 4 }
    const served = await serve(t, [owner('a', { routes: [get('/x', says('x'))] })], {
      clock,
      logLines,
      isLoopback,
      limits,
    })
    const idle = async (localAddress: string, count: number) => {
      const sockets = Array.from({ length: count }, () =>
        connect({ port: served.port, host: '127.0.0.1', localAddress }),
      )
      let closed = 0
      for (const socket of sockets) socket.on('error', () => {}).on('close', () => closed++)
      t.teardown(() => {
        for (const socket of sockets) socket.destroy()
      })
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      /** Bounded: a connection that nobody refuses stays for long. */
      const closes = async (wanted: number, what: string) => {
        await until(() => closed >= wanted, what).catch(() => {})
        t.equal(closed, wanted, what)
      }
      return { closes, closed: () => closed }
    }
    const first = await idle('127.0.0.2', 50)
    await first.closes(42, 'all but 8 are refused')
    t.equal((await served.ask('/x', { localAddress: '127.0.0.3' })).status, 200, 'another address')
    const second = await idle('127.0.0.4', 8)
    t.equal((await served.ask('/x')).status, 200, 'this machine')
    t.equal(second.closed(), 0)
    const third = await idle('127.0.0.5', 1)
    await first.closes(43, 'the address with most of them makes room')
    t.equal(third.closed(), 0)
    const local = await idle('127.0.0.1', 4)
    t.equal(local.closed(), 0)
    const told = () => logLines.filter((line) => line.includes('refused'))
    t.equal(told().length, 1, told().join(''))
    t.match(told()[0], /1 HTTP connection\(s\) refused: 127.0.0.2 has 8/)
  })

  const queueOf = (queue: FairQueue) => {
    const served: string[] = []
    const ask = (address: string, name: string) => queue.take(address, () => void served.push(name)) as () => void
    return { served, ask }
  }

  t.test('a client that asks once a second is before strangers with many addresses', async (t) => {
    let now_ms = 0
    const { served, ask } = queueOf(new FairQueue({}, () => now_ms))
    for (let second = 0; second < 5; second++) {
      const end = ask('192.0.2.2', 'client')
      now_ms += 10
      end()
      now_ms += 990
      await new Promise((resolve) => setImmediate(resolve))
    }
    const first = ask('192.0.2.100', 'stranger')
    for (let n = 101; n < 150; n++) ask(`192.0.2.${n}`, 'stranger')
    ask('192.0.2.2', 'client again')
    now_ms += 10
    first()
    await until(() => served.length === 7, 'the next turn')
    t.equal(served[6], 'client again')
  })

  t.test('requests are answered in turns: the address that took least time lately is next', async (t) => {
    const { served, ask } = queueOf(new FairQueue({ longest_ms: 50 }))
    const flood = [1, 2, 3, 4].map((n) => ask('192.0.2.1', `flood ${n}`))
    t.same(served, ['flood 1'], 'nobody else waits: at once')
    const small = ask('192.0.2.2', 'small')
    flood[0]?.()
    await until(() => served.length === 2, 'the next turn')
    t.equal(served[1], 'small', 'before three of the other')
    // Its client has gone meanwhile.
    flood[1]?.()
    small()
    await until(() => served.length === 3, 'the next turn')
    t.equal(served[2], 'flood 3')
    await until(() => served.length === 4, 'an answer that waits for something else holds nobody up')
    t.equal(served[3], 'flood 4')
  })

  t.test('an answer that is out after its turn ends no other turn', async (t) => {
    const turnsEnd: (() => void)[] = []
    t.intercept(globalThis, 'setTimeout', { value: (end: () => void) => void turnsEnd.push(end) })
    const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const { served, ask } = queueOf(new FairQueue({ longest_ms: 50 }))
    const late = ask('192.0.2.1', 'late')
    for (const name of ['next', 'third']) ask('192.0.2.2', name)
    turnsEnd[0]?.()
    await turn()
    t.strictSame(served, ['late', 'next'])
    late()
    await turn()
    t.strictSame(served, ['late', 'next'], 'the next one has its whole turn')
    turnsEnd[1]?.()
    await turn()
    t.strictSame(served, ['late', 'next', 'third'])
  })

  t.test('an answer that is out in time leaves no timer that would end the next turn', async (t) => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const { ask } = queueOf(new FairQueue({ longest_ms: 50 }))
    const before = timers()
    const end = ask('192.0.2.1', 'one')
    t.equal(timers(), before + 1)
    end()
    t.equal(timers(), before)
  })

  t.test('what was pipelined behind an answer goes with its connection: it has no turn', async (t) => {
    const never = deferred()
    let asked = 0
    const held = get('/held', async () => {
      asked += 1
      await never.promise
    })
    const served = await serve(t, [owner('a', { routes: [held, get('/x', says('x'))] })], {
      isLoopback: (address) => address === '127.0.0.1',
    })
    t.teardown(() => never.resolve(undefined))
    const socket = connect({ port: served.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
    socket.on('error', () => {}).write('GET /held HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(60))
    await until(() => asked > 0, 'the first one has its turn')
    socket.destroy()
    t.equal((await served.ask('/x', { localAddress: '127.0.0.2' })).status, 200)
    t.ok(asked < 10, `${asked} handlers ran for a client that has gone`)
  })

  t.test('an address that asks without end gets 429 and the end of its connection; others do not wait', async (t) => {
    const answers: string[] = []
    let asked = 0
    const count = get('/count', async () => ++asked)
    const isLoopback = (address: string) => address === '127.0.0.1'
    const served = await serve(t, [owner('a', { routes: [count, get('/x', says('x'))] })], { isLoopback })
    const began_ms = performance.now()
    const flood = Array.from({ length: 4 }, () => {
      const socket = connect({ port: served.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      socket.on('error', () => {}).on('data', (bytes) => void answers.push(bytes.toString()))
      socket.write('GET /count HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(2_000))
      return socket
    })
    await until(() => asked >= 400, 'the burst')
    for (let n = 0; n < 20; n++) t.equal((await served.ask('/x')).status, 200)
    const own = await raw(
      served.port,
      `${'GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(600)}GET /x HTTP/1.0\r\n\r\n`,
    )
    t.equal(own.match(/HTTP\/1\.1 200/g)?.length, 601, 'programs of this machine speak for many')
    await until(() => flood.every(({ closed }) => closed), 'the connections of the flood end')
    const most = 400 + (performance.now() - began_ms) / 10
    t.ok(asked <= most, `${asked} answers`)
    t.match(answers.join(''), /HTTP\/1.1 429 .*retry-after: 1\r.*RTK_ERR_TOO_MANY_REQUESTS/s)
  })

  t.test('there is a cap on connections', async (t) => {
    const { port } = await serve(t, [], { limits: { connections: 2, keptForLoopback: 0 } })
    const open = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    for (const socket of open) socket.on('error', () => {})
    await Promise.all(open.map((socket) => once(socket, 'connect')))
    const refused = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => refused.destroy())
    await until(() => refused.closed, 'it is refused').catch(() => {})
    t.ok(refused.closed)
    for (const socket of open) socket.destroy()
  })
})

t.test('a handler that does not answer', async (t) => {
  const clock = new ManualClock()
  const never = deferred()
  t.teardown(() => never.resolve(undefined))
  const held = async () => {
    await never.promise
    return 'late'
  }
  const plugin: FastifyPluginAsync = async (app) => void app.get('/registered', held)
  const quiet = new PassThrough()
  const { ask, port } = await serve(
    t,
    [
      owner('slow', {
        routes: [
          get('/never', held),
          post('/never', held),
          { ...get('/patient', held), config: { timeout_ms: 300_000 } },
          { ...post('/text', held), config: { errors: 'text' } },
          get('/stream', (_request, reply) => reply.type('text/event-stream').send(quiet)),
        ],
      }),
      owner('registered', { plugins: [{ plugin, options: {} }] }),
    ],
    { clock, limits: { checkInterval_ms: 1 } },
  )
  /** Goes on until there is an answer, 5 s of the station's time a turn. */
  const timed = async <T>(answer: Promise<T>): Promise<{ answer: T; after_ms: number }> => {
    const started_ms = clock.monotonic()
    let result: { answer: T; after_ms: number } | undefined
    void answer.then((value) => {
      result = { answer: value, after_ms: clock.monotonic() - started_ms }
    })
    await drive(clock, () => result, 'an answer', 5_000)
    return result as unknown as { answer: T; after_ms: number }
  }

  t.test('costs its client 60 s and an answer that names plugin and route', async (t) => {
    const stream = ask('/stream')
    await once(quiet, 'resume')
    for (const [path, method, name] of [
      ['/never', 'GET', 'slow'],
      ['/never', 'POST', 'slow'],
      ['/registered', 'GET', 'registered'],
    ] as const) {
      const { answer, after_ms } = await timed(ask(path, { method, ...(method === 'POST' && { body: '{}' }) }))
      t.match(answer, {
        status: 504,
        json: {
          error: 'RTK_ERR_PLUGIN_TIMEOUT',
          message: `${name}: route ${method} ${path} gave no answer within 60 s`,
        },
      })
      t.ok(after_ms >= 60_000, `after ${after_ms} ms`)
      t.match(failures.at(-1), { owner: name, what: `route ${method} ${path}` })
    }
    const { answer } = await timed(ask('/text', { method: 'POST' }))
    t.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
    t.equal(answer.text, 'slow: route POST /text gave no answer within 60 s\n')
    quiet.end('data: 1\n\n')
    t.match(await stream, { status: 200, text: 'data: 1\n\n' }, 'a stream has no limit, however long it is quiet')
  })

  t.test('a route may ask for more time, and a body under way is not counted', async (t) => {
    const patient = ask('/patient')
    const socket = connect(port, '127.0.0.1')
    let got = ''
    socket.on('data', (chunk) => {
      got += chunk
    })
    socket.write('POST /never HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{')
    const { answer, after_ms } = await timed(patient)
    t.match(answer.json, { message: /300 s/ })
    t.ok(after_ms >= 300_000)
    t.match(got, /^$|RTK_ERR_REQUEST_TIMEOUT/, 'its body has a limit of its own')
    socket.destroy()
  })
})

t.test('a probe for the internet on an access point leads to the page, whatever its Host', async (t) => {
  const network = new LocalNetwork(systemClock)
  const { port } = await serve(t, [owner('page', { routes: [get('/', says('page'))] })], { network })
  const ask = (path: string, method = 'GET') =>
    raw(port, `${method} ${path} HTTP/1.1\r\nHost: connectivitycheck.example\r\nConnection: close\r\n\r\n`)
  t.match(await ask('/generate_204'), /^HTTP\/1\.1 403/, 'no access point: a foreign name')
  let addresses: string[] = []
  const end = network.redirectProbes(() => addresses)
  t.match(await ask('/generate_204'), /^HTTP\/1\.1 403/, 'it is not up')
  addresses = ['127.0.0.1']
  for (const path of [
    '/generate_204',
    '/hotspot-detect.html?x=1',
    '/connecttest.txt',
    '/ncsi.txt',
    '/canonical.html',
    '/success.txt',
  ])
    t.match(
      await ask(path),
      new RegExp(`^HTTP/1\\.1 302[\\s\\S]*location: http://127\\.0\\.0\\.1:${port}/\r`, 'i'),
      path,
    )
  for (const path of ['/', '/get-info', '/generate_204/x']) t.match(await ask(path), /^HTTP\/1\.1 403/, path)
  t.match(await ask('/generate_204', 'POST'), /^HTTP\/1\.1 403/)
  void end()
  t.match(await ask('/generate_204'), /^HTTP\/1\.1 403/, 'the plugin is gone')
  const failed: string[] = []
  const broken = () => {
    throw new Error('no interface')
  }
  runAs(ownerOf('wap', failed), () => network.redirectProbes(broken))
  t.match(await ask('/generate_204'), /^HTTP\/1\.1 403/, 'S3: a plugin that throws answers for itself')
  t.same(failed, ['wap addresses of the access point: no interface'])
})

t.test('named proxies speak for those whom they forward, nobody else does', async (t) => {
  const routes = [
    get('/who', async (request) => ({
      ip: request.ip,
      host: request.headers.host,
      by: request.headers['x-forwarded-proto'] ?? '',
    })),
    post('/change', says('changed')),
  ]
  const slow = deferred()
  t.teardown(() => slow.resolve(undefined))
  routes.push(get('/slow', () => slow.promise))
  const limits = { perAddress: 2 }
  const { ask } = await serve(t, [owner('one', { routes })], {
    ...{ proxies: ['127.0.0.0/30', '2001:db8::/32'], hosts: ['base.example.org'], limits, isLoopback: () => false },
  })
  const who = (forwarded: Record<string, string>, localAddress = '127.0.0.1') =>
    ask('/who', { headers: { host: 'localhost', ...forwarded }, localAddress })

  t.match((await who({ 'x-forwarded-for': '192.168.1.7' })).json, { ip: '192.168.1.7' })
  const chain = { 'x-forwarded-for': '10.0.0.1, 192.168.1.8 ,2001:db8::1, 127.0.0.2' }
  t.match((await who(chain)).json, { ip: '192.168.1.8' }, 'the last one that is no proxy: others may be invented')
  t.match((await who({})).json, { ip: '127.0.0.1' }, 'the proxy itself')
  t.match(await who({ 'x-forwarded-for': '192.168.1.7, 198.51.100.7' }), {
    ...{ status: 403, json: { error: 'RTK_ERR_FORBIDDEN_PEER' } },
  })
  for (const wrong of ['unknown', '192.168.1.7:80', '_hidden', '1.2.3', 'x'.repeat(9_000), 'a,'.repeat(4_000)])
    t.equal((await who({ 'x-forwarded-for': wrong })).status, 400, wrong.slice(0, 20))

  const stranger = {
    'x-forwarded-for': '192.168.1.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
  }
  t.match((await who(stranger, '127.0.0.9')).json, { ip: '127.0.0.9', host: 'localhost', by: '' }, 'no proxy')
  const page = { origin: 'https://base.example.org', host: 'localhost' }
  const change = (headers: Record<string, string>, localAddress = '127.0.0.1') =>
    ask('/change', { method: 'POST', headers: { ...page, ...headers }, localAddress })
  const called = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'base.example.org' }
  t.equal((await change(called)).status, 200, 'a page that the proxy shows')
  t.equal((await change({ ...called, origin: 'https://evil.example' })).status, 403)
  t.equal((await change(called, '127.0.0.9')).status, 403, 'said by no proxy')
  t.equal((await who({ 'x-forwarded-host': 'evil.example' })).status, 403, 'a name that is not ours')

  const held = [1, 2].map(() => ask('/slow', { headers: { 'x-forwarded-for': '192.168.1.9' } }))
  await until(async () => (await who({ 'x-forwarded-for': '192.168.1.9' })).status === 429, 'its places are taken')
  t.equal((await who({ 'x-forwarded-for': '192.168.1.10' })).status, 200, 'not those of another one behind the proxy')
  slow.resolve('done')
  await Promise.all(held)
  t.equal((await who({ 'x-forwarded-for': '192.168.1.9' })).status, 200)
  // On a slow machine what it may ask would grow as fast as it asks.
  const { now } = performance
  const now_ms = performance.now()
  performance.now = () => now_ms
  const answers = await Promise.all(Array.from({ length: 600 }, () => who({ 'x-forwarded-for': '192.168.1.11' })))
  performance.now = now
  t.ok(
    answers.some(({ status }) => status === 429),
    'it asks too often',
  )
  t.equal((await who({ 'x-forwarded-for': '192.168.1.12' })).status, 200)

  const plain = await serve(t, [owner('one', { routes: [routes[0], routes[1]] })])
  t.match((await plain.ask('/who', { headers: { host: 'localhost', ...stranger } })).json, {
    ...{ ip: '127.0.0.1', host: 'localhost', by: 'https' },
  })
  const own = { origin: 'https://localhost', host: 'localhost', 'x-forwarded-proto': 'https' }
  t.equal((await plain.ask('/change', { method: 'POST', headers: own })).status, 200, 'a proxy of this machine')
  t.throws(() => new Proxies(['10.0.0.0/33']), { code: 'RTK_ERR_VARIANT', message: /10\.0\.0\.0\/33/ })
  t.throws(() => new Proxies(['proxy.lan']), { code: 'RTK_ERR_VARIANT' })
})
