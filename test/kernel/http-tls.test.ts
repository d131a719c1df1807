/** The page by HTTPS, with a certificate of the variant's `http` section. */
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { CertificateFiles } from '../../runtime/platform/files/certificate-files.js'
import { createTestStation, ManualClock, until } from '../harness/index.js'
import { createAuthority } from '../harness/peers/certificates.js'
import { get, owner, post, raw, says, serve } from './http-rig.js'

const token = 'an-operators-secret'

function certificates(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-https-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const authority = createAuthority(folder)
  const tls = { cert: join(folder, 'live.pem'), key: join(folder, 'live.key') }
  const install = (name: string, days?: number) => {
    const issued = authority.issue(name, `/CN=${name}`, 'subjectAltName=IP:127.0.0.1\n', days)
    copyFileSync(issued.cert, tls.cert)
    copyFileSync(issued.key, tls.key)
  }
  install('first')
  const ca = readFileSync(authority.ca)
  const asks =
    (port: number) =>
    async (path: string, options: RequestOptions & { body?: string } = {}) => {
      const asked = request({ host: '127.0.0.1', port, path, ca, agent: false, ...options })
      const subject = once(asked, 'socket').then(async ([socket]) => {
        await once(socket, 'secureConnect')
        return socket.getPeerCertificate().subject.CN as string
      })
      asked.end(options.body)
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      return {
        status: response.statusCode,
        headers: response.headers,
        text: await text(response),
        subject: await subject,
      }
    }
  return { tls, install, asks }
}

t.test('with a certificate the page comes by HTTPS alone, and its cookie only goes that way', async (t) => {
  const { tls, asks } = certificates(t)
  const routes = [get('/x', says('x')), post('/change', says('changed'))]
  const { port, gateway } = await serve(t, [owner('a', { routes })], { tls, token, open: 'all' })
  const ask = asks(port)
  t.match(await ask('/x'), { status: 200, text: '{"word":"x"}' })
  const login = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) }
  t.match((await ask('/session', login)).headers['set-cookie'], [/^rtk-base-session=.*; Secure; SameSite=Strict/])
  for (const [scheme, status] of [
    ['https', 200],
    ['http', 403],
  ] as const) {
    const headers = { origin: `${scheme}://127.0.0.1:${port}` }
    t.equal((await ask('/change', { method: 'POST', headers })).status, status, `a page by ${scheme}`)
  }
  t.equal(await raw(port, 'GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n'), '', 'plain HTTP gets no answer')
  t.equal(gateway.connections, 0)
})

t.test('a renewed certificate is served within a minute', async (t) => {
  const { tls, install, asks } = certificates(t)
  const clock = new ManualClock()
  const { port, gateway } = await serve(t, [owner('a', { routes: [get('/x', says('x'))] })], { tls, clock })
  const ask = asks(port)
  t.equal((await ask('/x')).subject, 'first')
  const before = gateway.fingerprint256
  install('second')
  await clock.advance(60_000)
  t.equal((await ask('/x')).subject, 'second')
  t.not(gateway.fingerprint256, before)
  rmSync(tls.key)
  await clock.advance(60_000)
  t.equal((await ask('/x')).subject, 'second', 'it stays in use')
})

t.test('a certificate that is none keeps no station down, and the page comes with one that is', async (t) => {
  const { tls, install, asks } = certificates(t)
  for (const spoil of [() => writeFileSync(tls.cert, 'none'), () => rmSync(tls.cert)]) {
    spoil()
    const station = await createTestStation({ variant: { http: { host: '127.0.0.1', port: 0, tls } } as never })
    t.teardown(() => station.stop())
    const codes = () => station.device.errors().map(({ code }) => code)
    t.same(codes(), ['http-certificate'])
    install('third')
    await until(async () => {
      await station.clock.advance(1_000)
      return codes().length === 0
    }, 'the page')
    t.equal((await asks(station.device.http?.port ?? 0)('/')).subject, 'third')
  }
})

t.test('a certificate that is about to expire is reported until it is renewed', async (t) => {
  const { tls, install } = certificates(t)
  const day_ms = 86_400_000
  for (const [days, left, isReported] of [
    [400, 31, false],
    [400, 29, true],
    // Of a short one the last quarter.
    [8, 3, false],
    [8, 1, true],
  ] as const) {
    install('soon', days)
    const files = new CertificateFiles(tls)
    files.read()
    const at_ms = Date.now() + (days - left) * day_ms
    const trouble = files.look(at_ms, () => t.fail('it did not change'))
    t.equal(trouble?.expired, isReported ? false : undefined, `${left} of ${days} days`)
    t.equal(
      files.look(0, () => {}),
      undefined,
      'without a clock nobody knows',
    )
  }
  install('ended', -1)
  const station = await createTestStation({
    clock: new ManualClock(Date.now()),
    variant: { http: { host: '127.0.0.1', port: 0, tls } } as never,
  })
  t.teardown(() => station.stop())
  const report = () => station.device.errors().map(({ code, text }) => `${code}: ${text}`)
  await station.clock.advance(60_000)
  t.match(report(), [
    /^http-certificate-renewal: the certificate for HTTPS expired on [\d-]{10}, .*: renew .*live\.pem$/,
  ])
  writeFileSync(tls.cert, 'none')
  await station.clock.advance(120_000)
  t.match(report(), [
    /^http-certificate-renewal: the certificate for HTTPS cannot be read: .*previous one stays in use$/,
  ])
  install('good')
  await station.clock.advance(60_000)
  t.same(report(), [])
})

t.test('who only begins a handshake is cut off in 10 s of the clock', async (t) => {
  const { tls } = certificates(t)
  const clock = new ManualClock()
  const { port } = await serve(t, [], { tls, clock })
  let isOver = false
  const silent = raw(port, '\x16').then(() => {
    isOver = true
  })
  await until(async () => {
    await clock.advance(1_000)
    return isOver
  }, 'the end of its time')
  await silent
})
