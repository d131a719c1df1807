/** The push of raw data: each hour arrives whole, is proved, and is sent once; whatever the server does, the station keeps trying politely. */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { definePlugin } from 'rtk-base/plugin'
import { cellularRouter } from 'rtk-base/services'
import { createTestStation, ManualClock, partOf, until } from 'rtk-base/testing'
import t from 'tap'
import { HourIndex } from '../../../../plugins/reference/raw/hour-files.js'
import raw from '../../../../plugins/reference/raw/index.js'
import { evidenceOf, urlTrouble } from '../../../../plugins/reference/raw/push-server.js'
import { createAuthority } from '../../../harness/peers/certificates.js'
import type { Definition } from '../survey-in-rig.js'
import { type Behaviour, FileServer, hour_ms, login, pushRig, scratch } from './push-rig.js'

const nameOf = (hour: number) => `TEST0001-20261120T${10 + hour}.rtcm3.gz`
const names = (hours: number) => Array.from({ length: hours }, (_, hour) => nameOf(hour))

t.test('a station that neither records nor pushes touches no disk', async (t) => {
  const data = scratch(t)
  const clock = new ManualClock()
  const station = await createTestStation({ clock, data, plugins: { raw: raw as unknown as Definition } })
  t.teardown(() => station.stop())
  for (let minute = 0; minute < 30; minute++) {
    await clock.advance(60_000)
    await new Promise((done) => setImmediate(done))
  }
  t.notOk(existsSync(join(data, 'files', 'raw')), 'not even a folder')
})

t.test('closed hours are pushed once, oldest first, one at a time, and proved', async (t) => {
  const server = await FileServer.make(t)
  const rig = await pushRig(t, { url: `${server.url}/` })
  await rig.waitFor(async () => (await rig.listed()).push?.waiting === 0, 'all are pushed')
  t.strictSame(server.puts, names(3))
  t.equal(server.mostBusy, 1)
  for (const { body, headers, method, name } of server.seen) {
    t.equal(headers.authorization, `Basic ${Buffer.from(login).toString('base64')}`)
    if (method !== 'PUT') continue
    t.strictSame(body, readFileSync(join(rig.folder, name.replace('TEST0001-', ''))))
    t.equal(headers['content-length'], `${body.length}`)
    t.equal(headers['content-digest'], `sha-256=:${createHash('sha256').update(body).digest('base64')}:`)
  }
  t.match(await rig.listed(), { push: { deleted: 0, trouble: '' }, files: [{ epochs: 3600, pushed: Number }] })
  t.notOk(
    rig.station.lines.some((line) => JSON.stringify(line).includes('correct-horse')),
    'the login is in no log',
  )
  t.notMatch(JSON.stringify(await rig.station.info()), 'correct-horse')

  t.test('also after a restart: nothing is sent again', async (t) => {
    await rig.station.stop()
    server.seen.length = 0
    const again = await pushRig(t, { url: server.url, data: rig.data })
    await again.clock.advance(hour_ms)
    t.strictSame(server.seen, [])
    t.match(await again.listed(), { push: { waiting: 0 }, files: [{ epochs: 3600, pushed: Number }] })
  })
})

const status =
  (method: string, code: number, headers = {}): Behaviour =>
  (seen, _request, response) => {
    if (seen.method !== method) return false
    response.writeHead(code, headers).end()
    return true
  }

interface Bad {
  readonly behave: Behaviour
  readonly trouble: RegExp
  /** Nothing may come before, ms. */
  readonly quiet_ms?: number
  /** The next hour is tried before it. */
  readonly isAside?: boolean
  /** The file is not sent to it at all. */
  readonly isEarly?: boolean
}

const bad: Readonly<Record<string, Bad>> = {
  'refuses the login': {
    ...{ behave: status('HEAD', 401), trouble: /answered 401 to HEAD: check raw-push-login/ },
    ...{ quiet_ms: 800_000, isEarly: true },
  },
  'forbids it': { behave: status('PUT', 403), trouble: /403 to PUT: check raw-push-login/, quiet_ms: 800_000 },
  'has no folder': { behave: status('PUT', 404), trouble: /404 to PUT: check the folder/, quiet_ms: 800_000 },
  'knows no PUT': { behave: status('PUT', 405), trouble: /405 to PUT: it must allow PUT/, quiet_ms: 800_000 },
  'knows no HEAD': {
    ...{ behave: status('HEAD', 501), trouble: /501 to HEAD: it must allow HEAD/, isEarly: true, quiet_ms: 800_000 },
  },
  'takes no file of that size': { behave: status('PUT', 413), trouble: /413 to PUT: raise its limit/, isAside: true },
  fails: { behave: status('PUT', 500), trouble: /answered 500 to PUT$/ },
  'is busy for two hours': {
    behave: status('HEAD', 503, { 'retry-after': '7200' }),
    ...{ trouble: /503 to HEAD$/, quiet_ms: 7_190_000, isEarly: true },
  },
  'closes in the middle of its answer': {
    behave: ({ method }, request) => method === 'PUT' && request.socket.destroy().destroyed,
    trouble: /the server cut the connection off/,
  },
  'shows another length': {
    behave: ({ method }, _request, response) =>
      method === 'HEAD' && !!response.writeHead(200, { 'content-length': 7 }).end(),
    ...{ trouble: /has another one under its name/, isAside: true },
  },
  'shows no length': {
    behave: ({ method }, _request, response) =>
      method === 'HEAD' && !!response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(),
    ...{ trouble: /does not show the length of files/, quiet_ms: 800_000 },
  },
  'shows another digest': {
    behave({ body, method, name }, _request, response) {
      if (method === 'PUT') lengths.set(name, body.length)
      const headers = { 'content-length': lengths.get(name) ?? 0, 'repr-digest': `sha-256=:${'A'.repeat(43)}=:` }
      if (method === 'HEAD') response.writeHead(200, headers).end()
      return method === 'HEAD'
    },
    ...{ trouble: /has another one under its name/, isAside: true },
  },
  'answers 200 and stores nothing': {
    ...{ behave: status('PUT', 200), trouble: /took the file and does not have it/, isAside: true },
  },
}
const lengths = new Map<string, number>()

for (const [what, { behave, isAside, isEarly, quiet_ms = 10_000, trouble }] of Object.entries(bad)) {
  t.test(`a server that ${what}`, async (t) => {
    const server = await FileServer.make(t)
    server.behave = behave
    const rig = await pushRig(t, { hours: 2, url: server.url })
    await rig.waitFor(async () => (await rig.listed()).push?.trouble, 'an attempt fails')
    t.match((await rig.listed()).push, { trouble, waiting: 2 })
    if (isEarly) t.strictSame(server.puts, [], 'megabytes are not sent for nothing')
    const before = server.seen.length
    await rig.clock.advance(quiet_ms)
    t.equal(server.seen.length, before, 'it is left alone for a while')
    server.behave = () => false
    const next = () => server.seen.slice(before).find(({ method }) => method === 'PUT')
    await rig.waitFor(next, 'the next one')
    t.equal(next()?.name, nameOf(isAside ? 1 : 0))
    await rig.waitFor(async () => (await rig.listed()).push?.waiting === 0, 'all are pushed')
    t.strictSame([...server.files.keys()].sort(), names(2))
    t.equal(rig.station.device.errors().length, 0)
  })
}

t.test('a server that never answers, and one that closes while it is sent to', async (t) => {
  const server = await FileServer.make(t)
  let taken = 0
  server.begin = ({ method }) => method === 'HEAD' && ++taken > 0
  const rig = await pushRig(t, { url: server.url })
  await rig.waitFor(async () => (await rig.listed()).push?.trouble, 'it is given up', 1_000)
  t.match((await rig.listed()).push?.trouble, /no answer within 60 s/)
  t.ok(taken > 0)
  server.begin = (request) => request.method === 'PUT' && request.socket.destroy().destroyed
  await rig.waitFor(async () => /cut the connection/.test((await rig.listed()).push?.trouble ?? ''), 'it fails')
  server.begin = () => false
  await rig.waitFor(async () => (await rig.listed()).push?.waiting === 0, 'all are pushed')
})

t.test('an answer without end is not read', async (t) => {
  const server = await FileServer.make(t)
  let isOver = false
  let sent = 0
  server.behave = ({ body, method, name }, _request, response) => {
    if (method !== 'PUT') return false
    server.files.set(name, body)
    response.writeHead(200)
    const more = () => {
      if (!isOver && sent < 1e9) response.write(Buffer.alloc(65_536), more)
      sent += 65_536
    }
    response.once('close', () => {
      isOver = true
    })
    more()
    return true
  }
  const rig = await pushRig(t, { hours: 1, url: server.url })
  await rig.waitFor(async () => (await rig.listed()).push?.waiting === 0, 'it is pushed')
  await until(() => isOver, 'the station closes the connection')
  t.ok(sent < 50e6, `${sent} bytes`)
})

t.test('a redirect is not followed: the login is for one server', async (t) => {
  const [server, other] = [await FileServer.make(t), await FileServer.make(t)]
  for (const method of ['HEAD', 'PUT']) {
    server.behave = status(method, 307, { location: `${other.url}/x` })
    const rig = await pushRig(t, { hours: 1, url: server.url })
    await rig.waitFor(async () => (await rig.listed()).push?.trouble, 'it is refused')
    t.match((await rig.listed()).push?.trouble, /307 .*set raw-push-url to the address to which it redirects/)
    t.strictSame(other.seen, [])
    t.equal(other.connections, 0)
    await rig.station.stop()
  }
})

t.test('over TLS: a server of an own authority, and no other', async (t) => {
  const authority = createAuthority(scratch(t))
  const server = await FileServer.make(t, authority.issue('server', '/CN=localhost', 'subjectAltName=DNS:localhost'))
  const stranger = await pushRig(t, { hours: 1, url: server.url })
  await stranger.waitFor(async () => (await stranger.listed()).push?.trouble, 'it is refused')
  t.match((await stranger.listed()).push?.trouble, /certificate is not trusted/)
  t.strictSame(server.seen, [])
  const lost = await pushRig(t, { hours: 1, url: server.url, options: { push_ca: '/nowhere.pem' } })
  await lost.waitFor(async () => (await lost.listed()).push?.trouble, 'it is refused')
  t.match((await lost.listed()).push?.trouble, /ENOENT/)
  const rig = await pushRig(t, {
    ...{ hours: 1, url: server.url, options: { push_ca: authority.ca } },
    changes: { 'raw-push-login': 'token.of-the~station=' },
  })
  await rig.waitFor(async () => (await rig.listed()).push?.waiting === 0, 'it is pushed')
  t.equal(server.seen[0]?.headers.authorization, 'Bearer token.of-the~station=')
})

t.test('a station that stops in the middle', async (t) => {
  for (const digests of ['none', 'repr-digest', 'etag'] as const) {
    await t.test(`of a server that shows ${digests}`, async (t) => {
      const server = await FileServer.make(t)
      server.digests = digests
      let isHanging = false
      // It has the file, and its answer does not arrive.
      server.behave = ({ body, method, name }) => {
        if (method !== 'PUT') return false
        server.files.set(name, body)
        isHanging = true
        return true
      }
      const rig = await pushRig(t, { hours: 1, url: server.url })
      await rig.waitFor(() => isHanging, 'it is sent')
      await rig.station.stop()
      t.match(JSON.parse(readFileSync(join(rig.folder, '20261120T10.rtcm3.json'), 'utf8')), { pushed: undefined })
      server.behave = () => false
      const again = await pushRig(t, { hours: 1, url: server.url, data: rig.data })
      await again.waitFor(async () => (await again.listed()).push?.waiting === 0, 'it is proved')
      t.equal(server.puts.length, digests === 'none' ? 2 : 1, 'sent again only where the server cannot prove it')
      await again.station.stop()
    })
  }
  t.test('of a file, by a reload', async (t) => {
    const server = await FileServer.make(t)
    const rig = await pushRig(t, { hours: 1, url: server.url, options: { push_kbit_s: 16 } })
    let begun = 0
    server.begin = ({ method }) => {
      if (method === 'PUT') begun++
      return false
    }
    await rig.waitFor(() => begun > 0, 'it begins', 1_000)
    await rig.station.reload('raw')
    await rig.waitFor(async () => (await rig.listed()).push?.waiting === 0, 'it is pushed', 1_000)
    t.equal(begun, 2)
    t.equal(server.files.get(nameOf(0))?.length, readFileSync(join(rig.folder, '20261120T10.rtcm3.gz')).length)
    t.strictSame(readdirSync(rig.folder).sort(), ['20261120T10.rtcm3.gz', '20261120T10.rtcm3.json'])
  })
})

t.test('a file that cannot be read stops no other', async (t) => {
  const server = await FileServer.make(t)
  const rig = await pushRig(t, { hours: 2, url: server.url, options: { push_late_h: 20 } })
  symlinkSync('/nowhere', join(rig.folder, '20261120T08.rtcm3.gz'))
  mkdirSync(join(rig.folder, '20261120T09.rtcm3.gz'))
  await rig.waitFor(async () => (await rig.listed()).push?.waiting === 2, 'the others are pushed')
  t.strictSame(server.puts, names(2))
  t.match((await rig.listed()).push?.trouble, /nowhere|no such file|not a plain file/)
  await rig.waitFor(() => rig.station.device.errors().length > 0, 'it is an error')
  t.match(rig.station.device.errors(), [{ code: 'raw-not-pushed', why: /no such file|not a plain file/ }])
  rmSync(join(rig.folder, '20261120T08.rtcm3.gz'))
  rmdirSync(join(rig.folder, '20261120T09.rtcm3.gz'))
  await rig.waitFor(async () => (await rig.listed()).push?.trouble === '', 'it has gone')
  await rig.waitFor(() => rig.station.device.errors().length === 0, 'and the error too')
})

t.test('it sends no faster than it may', async (t) => {
  const server = await FileServer.make(t)
  const rig = await pushRig(t, { hours: 1, url: server.url, options: { push_kbit_s: 16 } })
  let began_ms = 0
  server.begin = ({ method }) => {
    if (method === 'PUT') began_ms = rig.clock.monotonic()
    return false
  }
  await rig.waitFor(() => server.puts.length > 0, 'it is sent', 1_000)
  const seconds = (rig.clock.monotonic() - began_ms) / 1_000
  // 28,800 bytes at 2,000 a second; the last portion waits for nobody.
  t.ok(seconds >= 6, `${seconds} s`)
})

t.test('hours that wait too long, or are deleted before, are errors of the station', async (t) => {
  const server = await FileServer.make(t)
  server.behave = status('HEAD', 500)
  const rig = await pushRig(t, { url: server.url, options: { push_late_h: 20, days: 2 } })
  const errors = () => rig.station.device.errors().map(({ code, why }) => `${code}: ${why}`)
  await rig.waitFor(async () => (await rig.listed()).push?.trouble, 'an attempt fails')
  t.strictSame(errors(), [], 'the oldest is 13 h old')
  await rig.waitFor(() => errors().length > 0, 'it is an error')
  t.match(errors(), [/raw-not-pushed: raw data is not pushed \(3 h\): .* answered 500 to HEAD/])
  await rig.waitFor(() => errors().length > 1, 'they are deleted')
  t.match(errors().join(), /raw-push-lost: raw data was deleted before it was pushed \([1-3] h\)/)
  server.behave = () => false
  await rig.waitFor(async () => (await rig.listed()).push?.waiting === 0, 'the rest is pushed or gone')
  const { push } = await rig.listed()
  t.equal((push?.deleted ?? 0) + server.files.size, 3, 'each is pushed or counted')
  await rig.waitFor(() => errors().length === 0, 'the errors end')
  t.match(await rig.station.station.change({ 'raw-push-en': 0 }, { source: 'http' }), { result: 'ok' })
  t.equal((await rig.listed()).push, undefined)
})

t.test('addresses and logins that are refused', async (t) => {
  const isLocal = (host: string) => /^(127\.|192\.168\.|::1$|localhost$)/.test(host)
  for (const url of [
    '',
    'https://files.example.org/raw',
    'http://192.168.1.9/raw',
    'http://[::1]:80/',
    'http://localhost/x',
  ])
    t.equal(urlTrouble(url, isLocal), undefined, url)
  for (const [url, text] of [
    ['files.example.org', /not a URL/],
    ['http://files.example.org/raw', /must begin with https/],
    ['http://203.0.113.9/raw', /must begin with https/],
    ['ftp://192.168.1.9/raw', /must begin with https/],
    ['https://me:secret@files.example.org/', /put it in raw-push-login/],
    ['https://files.example.org/?sig=secret', /has a query/],
    ['https://files.example.org/folder?', /has a query/],
    ['https://files.example.org/folder#', /has a query/],
    ['https://files.example.org/folder#top', /has a query/],
  ] as const)
    t.match(urlTrouble(url, isLocal), text, url)
  const rig = await pushRig(t, { url: 'http://127.0.0.1:9/raw' })
  const change = (values: object) => rig.station.station.change({ ...values }, { source: 'http' })
  for (const values of [
    { 'raw-push-url': 'http://files.example.org/raw' },
    { 'raw-push-url': '' },
    { 'raw-push-login': 'two words' },
    { 'raw-push-login': 'user:pass\r\nX: y' },
  ])
    t.not((await change(values)).result, 'ok', JSON.stringify(values))
})

t.test('S8: raw data goes to servers of the local network, never to the router or a link-local address', async (t) => {
  const router = definePlugin({
    name: 'router',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [cellularRouter],
    setup: (ctx) => ctx.services.provide(cellularRouter, partOf(cellularRouter, { address: '192.168.1.1' })),
  }) as Definition
  const rig = await pushRig(t, { url: 'http://192.168.1.1:8099/raw', plugins: { router } })
  await rig.waitFor(async () => (await rig.listed()).push?.trouble, 'an attempt')
  t.equal((await rig.listed()).push?.trouble, 'raw-push-url has the address of the router', 'the variant may name it')
  for (const [url, message] of [
    ['https://192.168.1.1/raw', /router/],
    ['http://[::ffff:192.168.1.1]/raw', /router/],
    ['http://169.254.169.254/raw', /link-local/],
    ['http://[::ffff:a9fe:1]/raw', /link-local/],
    ['https://[fe80::1]/raw', /link-local/],
  ] as const) {
    const answer = await rig.station.station.change({ 'raw-push-url': url }, { source: 'http' })
    t.match(answer, { result: 'failed', errors: [{ message }] }, url)
  }
  const answer = await rig.station.station.change({ 'raw-push-url': 'http://192.168.1.2/raw' }, { source: 'http' })
  t.match(answer, { result: 'ok' })
})

t.test('evidence of an answer', async (t) => {
  const body = Buffer.from('observations')
  const sha256 = createHash('sha256').update(body).digest('base64')
  const md5 = createHash('md5').update(body).digest('hex')
  const other = `${'A'.repeat(43)}=`
  const length = { 'content-length': '12' }
  for (const [headers, evidence] of [
    [{}, 'unknown'],
    [{ 'content-length': 'many' }, 'unknown'],
    [{ 'content-length': '11' }, 'other'],
    [length, 'length'],
    [{ ...length, 'repr-digest': `sha-512=:${other}:, sha-256=:${sha256}:` }, 'same'],
    [{ ...length, 'content-digest': `sha-256=:${sha256}:` }, 'same'],
    [{ ...length, 'repr-digest': `sha-256=:${other}:` }, 'other'],
    [{ ...length, 'repr-digest': 'sha-256=broken' }, 'length'],
    [{ ...length, etag: `"${md5.toUpperCase()}"` }, 'same'],
    [{ ...length, etag: `W/"${md5}"` }, 'length'],
    [{ ...length, etag: `"${'0'.repeat(32)}"` }, 'length'],
    [{ 'content-length': '11', etag: `"${md5}"` }, 'other'],
  ] as const)
    t.equal(evidenceOf(new Headers(headers), { bytes: 12, sha256, md5 }), evidence, JSON.stringify(headers))
})

t.test('whatever is beside a file, it is pushed once, and its contents are kept', async (t) => {
  const path = scratch(t)
  const index = new HourIndex()
  const add = (hour: number, aside?: string) => {
    writeFileSync(join(path, `20261120T${hour}.rtcm3.gz`), 'x')
    if (aside !== undefined) writeFileSync(join(path, `20261120T${hour}.rtcm3.json`), aside)
  }
  const contents = { epochs: 3_600, interval_s: 1, missing: 0, gap_s: 1 }
  for (const [at, aside] of [
    undefined,
    '',
    '[1]',
    'null',
    '{"pushed":"yes"}',
    '{"pushed":-1}',
    `{"pushed":5${' '.repeat(5_000)}}`,
    JSON.stringify({ ...contents, epochs: -1 }),
    JSON.stringify(contents),
  ].entries())
    add(10 + at, aside)
  mkdirSync(join(path, '20261120T19.rtcm3.json'))
  add(19)
  const listed = await index.list(path)
  t.equal(listed.length, 10)
  for (const { name, pushed } of listed) t.equal(pushed, undefined, name)
  t.strictSame(
    listed.flatMap((hour) => hour.contents ?? []),
    [contents],
  )
  for (const { name } of listed) t.ok(await index.markPushed(path, name, 5), name)
  t.notOk(await index.markPushed(path, '20261120T23.rtcm3.gz', 5), 'a file that has gone')
  for (const one of [index, new HourIndex()]) {
    const again = await one.list(path)
    t.ok(again.every(({ pushed }) => pushed === 5))
    t.strictSame(
      again.flatMap((hour) => hour.contents ?? []),
      [contents],
    )
  }
  const other = scratch(t)
  writeFileSync(join(other, '20261120T10.rtcm3.gz'), 'longer')
  t.match(await index.list(other), [{ bytes: 6, pushed: undefined }], 'another disk is mounted')
})
