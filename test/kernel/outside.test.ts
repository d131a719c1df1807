import { getEventListeners, once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createTestStation, fakeProcesses, ManualClock, type TestStationOptions, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { reEnrol } from '../../plugins/mqtt/mqtt-link/identity/est.js'
import { LinuxMachine } from '../../runtime/platform/ports/machine.js'
import { type AnyPlugin, definePlugin, type FetchOptions, type PluginContext } from '../../runtime/plugin.js'
import { createAuthority, openssl } from '../harness/peers/certificates.js'

/** A station with a plugin `worker`; `ctx()` is that of the version that runs. */
async function withWorker(t: Test, options: TestStationOptions = {}) {
  let context: PluginContext | undefined
  const worker = definePlugin({
    name: 'worker',
    version: '1.0.0',
    api: '^1.0.0',
    setup() {},
    start(ctx) {
      context = ctx
    },
  }) as AnyPlugin
  const station = await createTestStation({ ...options, plugins: { worker } })
  t.teardown(() => station.stop())
  return { station, ctx: () => context as PluginContext }
}

t.test('ctx.process', async (t) => {
  const node = process.execPath
  // The programs get the environment of the service: here with the hooks of the test runner, which cost seconds.
  delete process.env.NODE_OPTIONS
  const { station, ctx } = await withWorker(t)

  t.test('runs a program with arguments, never a shell', async (t) => {
    const script =
      'process.stdin.pipe(process.stdout); console.error(process.argv[1], process.env.EXTRA); process.exitCode = 3'
    const result = await ctx().process.execFile(node, ['-e', script, '$(id); `id`'], {
      input: 'through',
      env: { EXTRA: 'more' },
    })
    t.strictSame(result, { code: 3, signal: null, stdout: 'through', stderr: '$(id); `id` more\n' })
  })

  t.test('a program that is not there, or may not be run', async (t) => {
    const run = (file: string) => ctx().process.execFile(file, [])
    await t.rejects(run('no-such-program'), { code: 'RTK_ERR_PROCESS_NOT_FOUND', message: /no-such-program: no such/ })
    const file = join(mkdtempSync(join(tmpdir(), 'rtk-base-exec-')), 'no-program')
    t.teardown(() => rmSync(dirname(file), { recursive: true }))
    writeFileSync(file, '', { mode: 0o600 })
    await t.rejects(run(file), { code: 'RTK_ERR_PROCESS_NOT_FOUND', message: /may not run it/ })
  })

  t.test('one that takes too long is killed, also when it does not listen', async (t) => {
    const deaf = `process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)`
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-exec-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'pid')
    const running = ctx().process.execFile(node, [
      '-e',
      `require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); ${deaf}`,
    ])
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '', 'its start')
    const pid = Number(readFileSync(file, 'utf8'))
    const rejected = t.rejects(running, { code: 'RTK_ERR_PROCESS_TIMEOUT', message: /within 10 s/ })
    await station.clock.advance(10_000)
    await rejected
    await until(() => !isAlive(pid), 'its end')
  })

  t.test('one that writes without end is killed', async (t) => {
    const script = `const s = 'x'.repeat(65536); const w = () => process.stdout.write(s, w); w()`
    const run = ctx().process.execFile(node, ['-e', script], { maxOutput_bytes: 500_000 })
    await t.rejects(run, { code: 'RTK_ERR_PROCESS_OUTPUT', message: /more than 500000 bytes/ })
  })

  t.test('a plugin runs 16 at a time, 256 wait for their turn, further ones are refused', async (t) => {
    const [ends, most] = [[] as (() => void)[], { running: 0, seen: 0 }]
    const processes = {
      execFile: async () => {
        most.running++
        most.seen = Math.max(most.seen, most.running)
        await new Promise<void>((resolve) => ends.push(resolve))
        most.running--
        return { code: 0, signal: null, stdout: '', stderr: '' }
      },
    }
    const fake = await withWorker(t, { processes })
    const run = () => fake.ctx().process.execFile('true', [])
    const all = Array.from({ length: 16 + 256 }, run)
    await t.rejects(run(), { code: 'RTK_ERR_PROCESS_LIMIT', message: /worker: 16 programs run and 256 wait/ })
    await until(() => {
      for (const end of ends.splice(0)) end()
      return most.running === 0
    }, 'the end of all')
    await Promise.all(all)
    t.equal(most.seen, 16)
  })

  t.test('without file descriptors it is refused, and nothing is thrown', async (t) => {
    const port = new URL('../../runtime/platform/ports/processes.js', import.meta.url).href
    const script = `const { openSync, closeSync } = await import('node:fs')
      const { SystemProcesses } = await import(${JSON.stringify(port)})
      const processes = new SystemProcesses()
      await processes.execFile('true', [])
      const open = []
      try { for (;;) open.push(openSync('/dev/null')) } catch {}
      const error = await processes.execFile('true', []).catch((found) => found)
      for (const one of open) closeSync(one)
      console.log(error.code, error.message)`
    const { stdout, stderr } = await ctx().process.execFile('sh', [
      '-c',
      'ulimit -n 100; exec "$0" --input-type=module -e "$1"',
      node,
      script,
    ])
    t.match(stdout, /^RTK_ERR_PROCESS_NOT_FOUND true: .*too many files are open/, stderr)
  })

  t.test('it ends with the plugin, and with its caller', async (t) => {
    const forever = ['-e', 'setInterval(() => {}, 1000)']
    const caller = new AbortController()
    const given = ctx().process.execFile(node, forever, { signal: caller.signal })
    const givenUp = t.rejects(given, { code: 'RTK_ERR_ABORTED' })
    caller.abort()
    await givenUp
    const stopped = t.rejects(ctx().process.execFile(node, forever), { code: 'RTK_ERR_ABORTED' })
    await station.reload('worker')
    await stopped
  })

  t.test('tests answer for programs themselves, the machine goes the same way', async (t) => {
    const processes = fakeProcesses({
      nmcli: (args) => ({ stdout: args.join(' ') }),
      timedatectl: () => ({ stdout: 'yes\n' }),
      systemctl: (args) => (args[0] === 'poweroff' ? {} : { code: 1 }),
      date: () => ({ code: 1, stderr: 'date: cannot set date: Operation not permitted\n' }),
    })
    const fake = await withWorker(t, { processes })
    t.match(await fake.ctx().process.execFile('nmcli', ['-t', 'device']), { code: 0, stdout: '-t device' })
    await t.rejects(fake.ctx().process.execFile('ls', []), { code: 'RTK_ERR_PROCESS_NOT_FOUND' })
    const machine = new LinuxMachine(() => {}, processes)
    t.equal(await machine.isClockSynchronised(), true)
    await t.rejects(machine.setSystemTime(1_700_000_000_000), { message: /date failed with 1: .*not permitted/ })
    await machine.shutDown()
    t.strictSame(processes.calls, [
      ['nmcli', '-t', 'device'],
      ['ls'],
      ['timedatectl', 'show', '--property=NTPSynchronized', '--value'],
      ['date', '--utc', '--set=@1700000000.000'],
      ['systemctl', 'poweroff'],
    ])
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function serve(t: Test, server: Server, scheme = 'http'): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    ;(server as { closeAllConnections?: () => void }).closeAllConnections?.()
    server.close()
  })
  return `${scheme}://127.0.0.1:${(server.address() as { port: number }).port}`
}

t.test('ctx.fetch', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-fetch-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const seen: { url?: string; method?: string; authorization?: string; body: string }[] = []
  const answer: RequestListener = async (request, reply) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { url = '', method, headers } = request
    seen.push({ url, method, authorization: headers.authorization, body })
    if (url === '/slow') return
    if (url.startsWith('/drip')) return void reply.writeHead(url.startsWith('/drip/403') ? 403 : 200).write('.')
    if (url === '/large') return void reply.end('x'.repeat(100_000))
    if (url === '/endless') {
      const more = () => reply.write('x'.repeat(16_384), () => reply.destroyed || setImmediate(more))
      return void more()
    }
    if (url === '/bomb')
      return void reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(5e6)))
    if (url === '/broken') {
      reply.writeHead(200, { 'content-length': 100 }).write('half')
      return void setImmediate(() => reply.destroy())
    }
    const [, status, target] = /^\/to\/(\d+)\/(.*)/.exec(url) ?? []
    if (status) return void reply.writeHead(Number(status), { location: decodeURIComponent(target) }).end('moved')
    reply.end(JSON.stringify({ url, method, body }))
  }
  const base = await serve(t, createServer(answer))
  const other = await serve(t, createServer(answer))
  const clock = new ManualClock()
  const { station, ctx } = await withWorker(t, { clock })
  const fetchText = async (path: string, options?: FetchOptions) => {
    const response = await ctx().fetch(`${path.startsWith('http') ? '' : base}${path}`, options)
    return response.text()
  }

  t.test('a body that is cancelled before it is read leaves nothing behind', async (t) => {
    const listeners = () => getEventListeners(ctx().signal, 'abort').length
    const before = listeners()
    for (let i = 0; i < 3; i++) await (await ctx().fetch(`${base}/large`)).body?.cancel()
    t.equal(listeners(), before)
  })

  t.test('answers like fetch: status, headers, json, a stream', async (t) => {
    const response = await ctx().fetch(`${base}/hello?x=1`, { method: 'POST', body: 'data' })
    t.match(response, { status: 200, ok: true, url: `${base}/hello?x=1` })
    t.strictSame(await response.json(), { url: '/hello?x=1', method: 'POST', body: 'data' })
    const streamed = await ctx().fetch(`${base}/large`)
    let got = 0
    for await (const piece of streamed.body as unknown as AsyncIterable<Uint8Array>) got += piece.length
    t.equal(got, 100_000)
  })

  t.test('what is no http is refused, and no secret of an URL stands in a message', async (t) => {
    await t.rejects(ctx().fetch('file:///etc/passwd'), { code: 'RTK_ERR_FETCH_URL' })
    await t.rejects(ctx().fetch('nonsense'), { code: 'RTK_ERR_FETCH_URL' })
    const gone = await serve(
      t,
      createTcpServer((socket) => socket.destroy()),
    )
    const error = (await ctx()
      .fetch(`${gone.replace('//', '//user:secret@')}/path?token=secret`)
      .catch((reason: unknown) => reason)) as Error
    t.match(error, { code: 'RTK_ERR_FETCH_ANSWER', message: /\/path: the server cut the connection off/ })
    t.notMatch(error.message, 'secret')
    await fetchText(`${base.replace('//', '//us%40er:se%3Acret@')}/login`)
    t.equal(seen.at(-1)?.authorization, `Basic ${Buffer.from('us@er:se:cret').toString('base64')}`)
  })

  t.test('refused, unknown, silent', async (t) => {
    const closed = createTcpServer()
    const url = await serve(t, closed)
    await new Promise((resolve) => closed.close(resolve))
    await t.rejects(ctx().fetch(url), { code: 'RTK_ERR_FETCH_REFUSED', message: /nothing listens there/ })
    await t.rejects(ctx().fetch('http://no-such-host.invalid/'), { code: 'RTK_ERR_FETCH_UNREACHABLE' })
    await t.rejects(ctx().fetch(base.replace('http:', 'https:')), {
      code: 'RTK_ERR_FETCH_ANSWER',
      message: /: the server there does not speak https$/,
    })
    await t.rejects(ctx().fetch('http://127.0.0.1:6000/'), {
      code: 'RTK_ERR_FETCH_URL',
      message: /: port 6000 is not allowed for HTTP$/,
    })
    const count = seen.length
    const silent = t.rejects(fetchText('/slow', { timeout_ms: 5_000 }), {
      code: 'RTK_ERR_FETCH_TIMEOUT',
      message: /\/slow: no answer within 5 s/,
    })
    await until(() => seen.length > count, 'the request')
    await clock.advance(5_000)
    await silent
  })

  t.test('a server that drips its answer holds nothing longer than the whole exchange may take', async (t) => {
    const late = { code: 'RTK_ERR_FETCH_TIMEOUT', message: /: no whole answer within 20 s$/ }
    const refused = { why: 'refused', status: 403, message: 'it answered 403' }
    for (const [path, trouble] of [
      ['drip', late],
      ['drip/403', refused],
    ] as const) {
      let hasBegun = false
      const fetch: PluginContext['fetch'] = async (...request) => {
        const answer = await ctx().fetch(...request)
        hasBegun = true
        return answer
      }
      const enrolled = reEnrol(fetch, { url: `${base}/${path}` }, { cert: '', key: '' }, Buffer.from('request'))
      const given = t.rejects(enrolled, trouble)
      await until(() => hasBegun, 'the begin of the answer')
      await clock.advance(20_000)
      await given
    }
  })

  t.test('too large: by its length, while it comes, and after decompression', async (t) => {
    const tooLarge = {
      code: 'RTK_ERR_FETCH_TOO_LARGE',
      message: /^http:\/\/[^/]*\/\w+: the answer has more than 50000 bytes$/,
    }
    for (const path of ['/large', '/endless', '/bomb']) await t.rejects(fetchText(path, { maxBytes: 50_000 }), tooLarge)
    t.equal((await fetchText('/large', { maxBytes: 100_000 })).length, 100_000)
  })

  t.test('an answer that breaks off, and one that stops', async (t) => {
    await t.rejects(fetchText('/broken'), { code: 'RTK_ERR_FETCH_ANSWER', message: /cut the connection off/ })
    const answer = await ctx().fetch(`${base}/drip`, { timeout_ms: 5_000 })
    const pieces = (answer.body as ReadableStream<Uint8Array>).getReader()
    t.equal(Buffer.from((await pieces.read()).value ?? '').toString(), '.')
    // Nobody asks for the next piece: that is not the fault of the server.
    await clock.advance(6_000)
    const stopped = t.rejects(pieces.read(), {
      code: 'RTK_ERR_FETCH_TIMEOUT',
      message: /: the answer stopped in the middle$/,
    })
    await clock.advance(4_000)
    await clock.advance(1_000)
    await stopped
  })

  t.test('an answer with a status that HTTP does not have', async (t) => {
    await t.rejects(fetchText('/to/999/x'), {
      code: 'RTK_ERR_FETCH_ANSWER',
      message: /^http:\/\/[^/]*\/to\/999\/x: status 999 is not one of HTTP$/,
    })
  })

  t.test('S8: refused is the address that would be dialled, also of a name and behind a redirect', async (t) => {
    const refuses = (address: string) => (address === '127.0.0.2' ? undefined : 'is not for you')
    const refused = { code: 'RTK_ERR_FETCH_TARGET', message: /is not for you/ }
    const before = seen.length
    await t.rejects(fetchText('/x', { refuses }), refused, 'an address')
    await t.rejects(fetchText(`${base.replace('127.0.0.1', 'localhost')}/x`, { refuses }), refused, 'a name')
    t.equal(seen.length, before, 'nothing arrived')
    const elsewhere = encodeURIComponent('http://127.0.0.2:8099/x')
    const isBehind = (address: string) => (address === '127.0.0.2' ? 'is not for you' : undefined)
    await t.rejects(fetchText(`/to/302/${elsewhere}`, { redirects: 1, refuses: isBehind }), refused, 'a redirect')
    t.match(await fetchText('/x', { refuses: isBehind }), '"url":"/x"')
  })

  t.test('redirects: only as many as allowed, without secrets to others', async (t) => {
    const to = (target: string, status = 302) => `/to/${status}/${encodeURIComponent(target)}`
    const plain = await ctx().fetch(`${base}${to('/end')}`)
    t.match([plain.status, plain.headers.get('location'), await plain.text()], [302, '/end', 'moved'])
    t.match(await fetchText(to(to('/end')), { redirects: 2 }), '"url":"/end"')
    await t.rejects(fetchText(to(to('/end')), { redirects: 1 }), {
      code: 'RTK_ERR_FETCH_REDIRECT',
      message: /more than 1/,
    })
    const headers = { authorization: 'Bearer x' }
    await fetchText(to('/same'), { redirects: 1, headers })
    t.equal(seen.at(-1)?.authorization, 'Bearer x')
    await fetchText(to(`${other}/other`), { redirects: 1, headers })
    t.match(seen.at(-1), { url: '/other', authorization: undefined })
    for (const [status, method, body] of [
      [302, 'GET', ''],
      [303, 'GET', ''],
      [307, 'POST', 'data'],
    ] as const) {
      await fetchText(to('/next', status), { redirects: 1, method: 'POST', body: 'data' })
      t.match(seen.at(-1), { url: '/next', method, body }, `${status}`)
    }
    await t.rejects(fetchText(to('ftp://x/'), { redirects: 1 }), { code: 'RTK_ERR_FETCH_REDIRECT' })
    const login = await fetchText(to('ftp://bob:s3cret@x/y?key=s3cret'), { redirects: 1 }).catch(
      (error) => error.message,
    )
    t.match(login, /redirected to ftp:\/\/x\/y: /)
    t.notMatch(login.split('redirected to')[1], /s3cret/, 'a login in a redirect is nobody’s business')
  })

  t.test('certificates: of an own authority, beside the public ones, by fingerprint', async (t) => {
    const authority = createAuthority(folder)
    const read = (file: string) => readFileSync(file, 'utf8')
    const identity = authority.issue('router', '/CN=router', 'subjectAltName=IP:127.0.0.1\n')
    const stranger = authority.issue('stranger', '/CN=elsewhere', 'subjectAltName=DNS:elsewhere\n', -1)
    const secure = ({ cert, key }: { cert: string; key: string }) =>
      serve(t, createTlsServer({ cert: read(cert), key: read(key) }, answer), 'https')
    const [good, wrong] = [await secure(identity), await secure(stranger)]
    const ca = read(authority.ca)
    const untrusted = { code: 'RTK_ERR_FETCH_CERTIFICATE' }
    await t.rejects(fetchText(good), { ...untrusted, message: /not trusted/ })
    t.match(await fetchText(good, { ca }), '"url":"/"')
    t.match(await fetchText(good, { extraCa: [ca] }), '"url":"/"')
    await t.rejects(fetchText(wrong, { ca }), untrusted, 'ended, and of another name')
    const print = (file: string) =>
      openssl('x509', '-in', file, '-noout', '-fingerprint', '-sha256').toString().trim().split('=')[1]
    t.match(
      await fetchText(wrong, { fingerprint256: print(stranger.cert) }),
      '"url":"/"',
      'pinned: nothing else counts',
    )
    const before = seen.length
    await t.rejects(fetchText(good, { fingerprint256: print(stranger.cert) }), { ...untrusted, message: /expected is/ })
    t.equal(seen.length, before, 'no byte of the request was sent')
    await t.rejects(fetchText(wrong, { ca, fingerprint256: print(stranger.cert) }), untrusted, 'both have to fit')
    await t.rejects(fetchText('/x', { ca }), { code: 'RTK_ERR_FETCH_URL', message: /has to be https/ })
    const toPlain = `${good}/to/302/${encodeURIComponent(base)}`
    await t.rejects(fetchText(toPlain, { ca, redirects: 1 }), {
      code: 'RTK_ERR_FETCH_REDIRECT',
      message: /out of https/,
    })
  })

  t.test('it ends with the plugin, also in the middle of a body', async (t) => {
    const streaming = await ctx().fetch(`${base}/endless`, { maxBytes: Number.MAX_SAFE_INTEGER })
    const silent = t.rejects(fetchText('/slow'), { code: 'RTK_ERR_ABORTED' })
    const body = t.rejects(streaming.text(), { code: 'RTK_ERR_ABORTED' })
    await station.reload('worker')
    await silent
    await body
    t.match(await fetchText('/again'), '"url":"/again"', 'the next version fetches')
  })
})

t.test('ctx.dataDir', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'rtk-base-files-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  const { station, ctx } = await withWorker(t, { data })

  t.test('a folder of the plugin alone, for its user alone', async (t) => {
    const { path } = ctx().dataDir()
    t.equal(path, join(data, 'files', 'worker', 'main'))
    for (const folder of [path, join(data, 'files'), join(data, 'files', 'worker')]) {
      t.equal(statSync(folder).mode & 0o777, 0o700)
    }
    for (const name of ['..', '../x', 'a/b', '.protected', '', 'A']) t.throws(() => ctx().dataDir(name), /kebab-case/)
    t.strictSame(await ctx().dataDir().usage(), { bytes: 0, files: 0 })
  })

  t.test('the quota counts everything below, and follows no link', async (t) => {
    const dir = ctx().dataDir('recordings', { quota_bytes: 1_000 })
    mkdirSync(join(dir.path, 'day'))
    writeFileSync(join(dir.path, 'day', 'a'), Buffer.alloc(600))
    symlinkSync('/usr', join(dir.path, 'link'))
    const { bytes, files } = await dir.usage()
    t.ok(bytes >= 600 && bytes < 700)
    t.equal(files, 2)
    await dir.ensureRoom(300)
    await t.rejects(dir.ensureRoom(500), { code: 'RTK_ERR_DATA_QUOTA', message: /quota of 1000/ })
    const vast = ctx().dataDir('vast', { quota_bytes: Number.MAX_SAFE_INTEGER })
    await t.rejects(vast.ensureRoom(1e15), { code: 'RTK_ERR_DATA_QUOTA', message: /do not fit on the disk/ })
  })

  t.test('it stays over a reload, a factory reset removes all but what is protected', async (t) => {
    const [open, kept] = [ctx().dataDir('open').path, ctx().dataDir('kept', { protected: true }).path]
    for (const path of [open, kept]) writeFileSync(join(path, 'file'), 'x')
    await station.reload('worker')
    t.strictSame(await ctx().dataDir('open').usage(), { bytes: 1, files: 1 })
    await station.device.factory()
    t.notOk(existsSync(open))
    t.ok(existsSync(join(kept, 'file')))
  })
})
