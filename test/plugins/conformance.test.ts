import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { describeHandle, leftOpen, noteRawHandles } from '../../runtime/kernel/instance/raw-handles.js'
import { encodeNmea } from '../../runtime/lib/gnss/index.js'
import type { AnyPlugin } from '../../runtime/plugin.js'
import { drive, during } from '../harness/drive.js'
import { createTestStation, few, freeTcpPort, freeUdpPort, ManualClock, sample, until } from '../harness/index.js'
import { type EventStream, openEvents } from '../harness/peers/event-stream.js'
import { noPeer } from '../harness/peers/peers.js'
import { shippedPlugin, shippedTogether } from '../harness/shipped.js'
import { faultsOf } from './metrics-format.js'

const root = process.cwd()
const variant = JSON.parse(readFileSync(join(root, 'runtime', 'variants', 'simulator.json'), 'utf8'))
const [names] = shippedTogether()
const token = 'an-operators-secret'
const viewerToken = 'a-viewers-secret'
const secret = 'hidden-wifi-secret'
t.teardown(noteRawHandles())
const clock = new ManualClock()
const mqtt = await freeTcpPort()
const plugins: Record<string, [AnyPlugin, Record<string, unknown>]> = {}
for (const name of names) {
  const definition = await shippedPlugin(name)
  const port = name === 'mqtt-broker' ? { port: mqtt } : {}
  plugins[name] = [definition, { ...variant.plugins[name], ...port }]
}
const passwords = { 'wap-pswd': secret, 'sta-pswd': secret }
const changes = { ...variant.changes, ...passwords, 'mqtt-port': mqtt, 'udp-port': await freeUdpPort() }
/** Every shipped plugin in one station. */
const station = await createTestStation({
  clock,
  plugins,
  variant: { ...variant, plugins: {}, http: { host: '127.0.0.1', port: 0, token, viewerToken }, changes },
})
t.teardown(() => station.stop())
const { port } = station.address
const bearer = { authorization: `Bearer ${token}` }

/** As bytes go over the wire: any host, any origin. */
async function ask(method: string, path: string, headers: OutgoingHttpHeaders) {
  const asked = request({ host: '127.0.0.1', port, agent: false, method, path, headers }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, headers: given } = answer
  // A stream has no end: its beginning says enough.
  if (given['content-type'] === 'text/event-stream') {
    const [first] = await once(answer, 'data')
    asked.destroy()
    return { status, headers: given, text: String(first) }
  }
  return { status, headers: given, text: await text(answer) }
}

t.test('every shipped plugin stands start, stop, start beside all the others, and leaves nothing behind', async (t) => {
  const open = () => openEvents(station.url, { headers: bearer })
  let page: EventStream = await open()
  t.teardown(() => page.close())
  const states = () => station.station.plugins().filter(({ state }) => state !== 'running')
  t.strictSame(states(), [], 'all run')
  const faults = () => station.lines.filter(({ level }) => level >= 50).map(({ plugin, msg }) => `${plugin}: ${msg}`)
  for (const name of few(4, names)) {
    await t.test(name, async (t) => {
      await station.reload(name)
      const told = page.of('document').length
      await clock.advance(1_100)
      const heard = () => page.of('document').length > told
      // The page comes back to its own plugin.
      await until(name === 'dashboard' ? page.isOver : () => page.isOver() || heard(), 'an open page hears of it')
      t.equal(page.isOver(), name === 'dashboard', 'an open page lives on')
      const commands = JSON.stringify(station.station.actions())
      const timers = clock.pending
      const reloads = sample(2, 8, 4)
      for (let i = 0; i < reloads; i++) {
        await station.reload(name)
        await clock.advance(100)
      }
      // What the last of them set in motion outside, e.g. an access point that starts, comes to rest.
      await clock.advance(5_000)
      t.strictSame(states(), [], 'all run')
      t.equal(JSON.stringify(station.station.actions()), commands)
      // Those of the others come and go with their connections.
      t.ok(clock.pending <= timers + 6, `${clock.pending} timers, ${timers} before`)
      t.strictSame(faults(), [])
      const left = () => leftOpen(name, 0).map(describeHandle)
      await until(() => left().length === 0, `everything that was left open: ${left()}`).catch(() => {})
      t.strictSame(left(), [], 'nothing is left open')
      if (page.isOver()) page = await open()
    })
  }
})

t.test('what is whose to read and to change', async (t) => {
  type Route = { security: { token?: string[] }[] }
  const { paths } = JSON.parse((await ask('GET', '/openapi.json', bearer)).text) as {
    paths: Record<string, Record<string, Route>>
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      role: security[0]?.token?.[0] ?? 'none',
    })),
  )
  t.ok(routes.length > 20, `${routes.length} routes`)
  const listed = (role: string, isReading: boolean) =>
    routes
      .filter((route) => route.role === role && (route.method === 'GET') === isReading)
      .map(({ method, path }) => `${method} ${path}`)
      .sort()
  t.strictSame(listed('none', true), ['GET /', 'GET /session', 'GET /ui/x'], 'what anybody may read, and no more')
  t.strictSame(listed('none', false), ['DELETE /session', 'POST /session'])
  // In a fleet its own roles decide, and an action may only read, so these ask by themselves.
  const asking = ['POST /actions/x', 'POST /alerts/test', 'POST /alerts/x/acknowledge']
  t.strictSame(listed('viewer', false), asking, 'a viewer changes nothing')

  const logIn = async (given: string) => {
    const body = JSON.stringify({ token: given })
    const answer = await fetch(`${station.url}/session`, { method: 'POST', body, headers: { connection: 'close' } })
    return String(answer.headers.get('set-cookie')).split(';')[0] as string
  }
  const [operator, viewer] = [await logIn(token), await logIn(viewerToken)]
  const before = JSON.stringify(station.station.parameters())
  const restarts = station.restarts()

  for (const { method, path, role } of routes) {
    const reads = method === 'GET'
    const route = `${method} ${path}`
    const isSession = path === '/session'
    for (const origin of ['http://evil.example', `http://127.0.0.1:${port === 9 ? 10 : 9}`, 'null']) {
      const answer = await ask(method, path, { cookie: operator, origin })
      if (!reads)
        t.match(
          answer,
          { status: 403, text: /RTK_ERR_FORBIDDEN_ORIGIN|not one of this station/ },
          `${route} from ${origin}`,
        )
      const given = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))
      t.strictSame(given, [], `${route}: no other origin may read it`)
    }
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example'])
      t.equal((await ask(method, path, { cookie: operator, host })).status, 403, `${route} as ${host}`)
    if (isSession) continue
    const nobody = await ask(method, path, {})
    t.match(nobody.status, role === 'none' ? /^(200|404)$/ : /^401$/, `${route} without a session`)
    t.notMatch(nobody.text, station.station.serial, `${route} says nothing of the station`)
    const asViewer = await ask(method, path, { cookie: viewer })
    if (role === 'operator' || asking.includes(route)) t.equal(asViewer.status, 403, `${route} by a viewer`)
    else t.ok(![401, 403].includes(asViewer.status), `${route} by a viewer`)
    t.notMatch(asViewer.text, secret, `${route} keeps secrets from a viewer`)
  }
  const preflight = { origin: 'http://evil.example', 'access-control-request-method': 'POST', cookie: operator }
  t.equal((await ask('OPTIONS', '/change', preflight)).headers['access-control-allow-origin'], undefined)
  t.equal(JSON.stringify(station.station.parameters()), before, 'nothing was changed')
  t.equal(station.restarts(), restarts, 'nothing was started again')

  const stream = async (cookie: string) => {
    const page = await openEvents(station.url, { headers: { cookie } })
    await until(() => page.of('document').length > 0, 'a document')
    page.close()
    return page
  }
  const [full, part] = [await stream(operator), await stream(viewer)]
  t.match([full.of('hello'), part.of('hello')], [[{ role: 'operator' }], [{ role: 'viewer' }]])
  t.ok(full.of('log').length > 0 && part.of('log').length === 0, 'a log is not for viewers')
  t.match(JSON.stringify(full.events), secret, 'an operator sees the password of the access point')
  t.notMatch(JSON.stringify(part.events), secret)
  const numbers = (events: unknown) => JSON.stringify(events).match(/"(sim-)?(imei|imsi|iccid)":"[^"]+"/g) ?? []
  t.ok(numbers(full.events).length >= 3, `an operator sees ${numbers(full.events).join()}`)
  t.same(numbers(part.events), [], 'the numbers of the modem and its SIM are not for viewers')
  const networks = (events: unknown) => JSON.stringify(events).match(/\\?"(wap-)?b?ssid\\?":\\?"[^"\\]+/g) ?? []
  t.ok(networks(full.events).length > 0)
  t.same(networks(part.events), [], 'S7: nor are the names of networks')
})

t.test(
  'S7: no answer tells a viewer who and where rovers are, the names of networks, and the numbers of the SIM',
  async (t) => {
    const casterPort = await freeTcpPort()
    const change = (values: object) =>
      during(clock, station.station.change(values, { source: 'console' }), 'the change')
    // The network is in reach, and refuses the password: an error names it.
    const wanted = { 'wap-ssid': 'planted-network', 'sta-ssid': 'workshop', 'ntrip-caster-port': casterPort }
    t.match(await change(wanted), { result: 'ok' })
    await station.station.command('ntrip-user=planted-rover:planted-password', { source: 'console' })
    const text = () => JSON.stringify(station.station.document())
    await drive(clock, () => text().includes('radio-join'), 'the error of the network')

    const { mounts } = JSON.parse((await ask('GET', '/ntrip-caster/users', bearer)).text) as { mounts: string[] }
    const rover = connect({ port: casterPort, host: '127.0.0.1', localAddress: '127.0.0.77' }).on('error', () => {})
    t.teardown(() => rover.destroy())
    const login = Buffer.from('planted-rover:planted-password').toString('base64')
    rover.write(
      `GET /${mounts[0]} HTTP/1.1\r\nHost: x\r\nNtrip-Version: Ntrip/2.0\r\nUser-Agent: NTRIP planted-agent\r\nAuthorization: Basic ${login}\r\n\r\n`,
    )
    rover.write(encodeNmea('GPGGA,120001.00,4859.2592,N,01107.4074,E,4,12,0.8,5.0,M,44.6,M,1.0,0001'))
    // The simulated router has the others.
    const planted = [
      ...['planted-network', 'workshop', 'planted-rover', 'planted-agent', '127.0.0.77', '48.987', '11.123'],
      ...['860000000000017', '8937003123456789014', '246031234567890', 'RUTX_0010'],
    ]
    const missing = () => planted.filter((one) => !text().includes(one))
    await drive(
      clock,
      () => missing().length === 0,
      () => `an operator sees ${missing()}`,
    )

    const asViewer = { authorization: `Bearer ${viewerToken}` }
    const { paths } = JSON.parse((await ask('GET', '/openapi.json', asViewer)).text) as { paths: object }
    const reads = Object.entries(paths).filter(([, methods]) => 'get' in methods)
    t.ok(reads.length > 20)
    for (const [path] of reads) {
      const { status, text } = await ask('GET', path.replaceAll(/\{\w+\}/g, 'x'), asViewer)
      const told = status === 200 ? planted.filter((one) => text.includes(one)) : []
      t.strictSame(told, [], `GET ${path}`)
    }
    const page = await openEvents(station.url, { headers: asViewer })
    await until(() => page.of('document').length > 0, 'a document')
    page.close()
    t.strictSame(
      planted.filter((one) => JSON.stringify(page.events).includes(one)),
      [],
      'nor the events',
    )
  },
)

t.test('the page and its files come with what keeps others out', async (t) => {
  const page = await ask('GET', '/', {})
  const policy = String(page.headers['content-security-policy']).split('; ')
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ])
    t.ok(policy.includes(rule), rule)
  t.notMatch(policy.join(), /unsafe|https?:|\*|upgrade-insecure/)
  t.match(page.headers, { 'cache-control': 'no-cache', 'permissions-policy': /geolocation=\(\)/ })
  t.equal(page.headers['strict-transport-security'], undefined, 'there is no https on the access point')
  t.notMatch(page.text, /<script(?![^>]*src=)|<style|\son\w+=|style=/, 'no code and no style in the page itself')
  const files = [...page.text.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)].map(([, file = '']) => file)
  t.ok(files.length >= 2)
  for (const path of ['/', ...files]) {
    const { status, headers } = await ask('GET', path, {})
    t.match(
      { status, ...headers },
      { status: 200, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
    )
  }
  for (const path of ['/ui/../package.json', '/ui/%2e%2e%2fpackage.json', '/ui/', '/ui/x.js'])
    t.ok([401, 404].includes((await ask('GET', path, {})).status), path)
})

t.test('/metrics keeps the rules of the ecosystem', async (t) => {
  const { text, headers } = await ask('GET', '/metrics', bearer)
  t.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  t.ok(text.split('\n').filter((line) => line.startsWith('# TYPE')).length > 30)
  t.strictSame(faultsOf(text), [])
  t.test('of promtool itself', { skip: noPeer('promtool') }, async (t) => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    t.strictSame([status, stdout, stderr], [0, '', ''])
  })
  const wrong = [
    '# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n',
    '# HELP a A.\n# TYPE a counter\na 1\n',
    '# TYPE a gauge\na 1\n',
    'a 1\n',
    '# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1\n',
    '# HELP a A.\n# TYPE a gauge\na 1\na 2\n',
    '# HELP a A.\n# TYPE a gauge\na{x="1"} 1\na{x="1"} 2\n',
    '# HELP a A.\n# TYPE a gauge\na{x="1} 1\n',
    '# HELP a A.\n# TYPE a gauge\na{xY="1"} 1\n',
    '# HELP a A.\n# TYPE a gauge\na one\n',
    '# HELP a_count A.\n# TYPE a_count gauge\na_count 1\n',
    '# HELP a_gauge A.\n# TYPE a_gauge gauge\na_gauge 1\n',
    '# HELP a A.\n# TYPE a gauge\na 1',
  ]
  for (const text of wrong) t.not(faultsOf(text).length, 0, JSON.stringify(text))
})
