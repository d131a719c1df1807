/** Routers, and others in the network, that mean harm. */
import t from 'tap'
import { loginLimits } from '../../../../plugins/network/teltonika-router/credentials/limits.js'
import { parsedJson } from '../../../../plugins/network/teltonika-router/transport/json.js'
import { cellularModem } from '../../../../schemas/services.js'
import { MemoryStore } from '../../../harness/memory-store.js'
import { gateOnly } from '../../../harness/sample.js'
import { FakeRouter } from './fake-router.js'
import { startRig } from './rig.js'
import { current, rest } from './shapes.js'

const minute_ms = 60_000
const defaults = ['1', '2', '3', '4', '5'].map((n) => ({ user: 'admin', pswd: `default-${n}` }))
const failures = (router: FakeRouter) => router.logins.filter(({ ok }) => !ok).length

t.test('a login that is cut off counts: the router may have counted it', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  let cut = 0
  router.fault = (request, _response, body) => {
    if (!body.includes('"login","') && !/"method":"call".*"login",\{/.test(body)) return false
    if (body.includes('"access"')) return false
    cut++
    request.socket.destroy()
    return true
  }
  const rig = await startRig(t, { url: router.url, options: { defaults } })
  await rig.pass(25 * minute_ms, 5_000)
  t.ok(cut > 0 && cut <= loginLimits.automatic.most, `${cut} logins were cut off`)
})

t.test('a MAC address that changes to and fro wins no login', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const neighbours: Record<string, string> = {}
  const store = new MemoryStore()
  const given = { url: router.url, options: { defaults }, neighbours, store }
  let rig = await startRig(t, given)
  for (let n = 0; n < 120; n++) {
    neighbours['127.0.0.1'] = n % 2 === 0 ? '00:1e:42:00:00:01' : '00:1e:42:00:00:02'
    await rig.pass(15_000, 5_000)
    if (n === 60) {
      await rig.station.stop()
      rig = await startRig(t, { ...given, clock: rig.clock })
    }
  }
  t.ok(failures(router) <= loginLimits.automatic.most, `${failures(router)} failed logins in 30 min`)
})

t.test('MAC addresses that are new each time win no login', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const neighbours: Record<string, string> = {}
  const rig = await startRig(t, { url: router.url, options: { defaults }, neighbours })
  for (let n = 0; n < 100; n++) {
    neighbours['127.0.0.1'] = `00:1e:42:00:00:${n.toString(16).padStart(2, '0')}`
    await rig.pass(15_000, 5_000)
  }
  t.ok(failures(router) <= loginLimits.automatic.most, `${failures(router)} failed logins in 25 min`)
})

t.test('a router that accepts a password and then rejects it gets no row of logins', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const push = router.logins.push.bind(router.logins)
  router.logins.push = (...logins) => {
    router.users = { admin: 'changed' }
    // The session of the login ends at once.
    setImmediate(() => router.expire())
    return push(...logins)
  }
  router.fault = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return false
  }
  const rig = await startRig(t, { url: router.url, changes: { 'rtr-pswd': 'right' } })
  await rig.pass(3_000)
  t.equal(failures(router), 1, 'one renewal, and no other login')
  t.not(rig.link(), 'online')
})

const poison = { toString: 1, valueOf: 2 }
t.test('objects in the place of numbers and texts are answers that cannot be read', { skip: gateOnly }, async (t) => {
  const ubus = Object.fromEntries(
    Object.keys(current().ubus ?? {}).map((name) => [
      name,
      () => ({
        errno: poison,
        code: poison,
        values: { a: { '.index': poison, enable: poison }, b: { '.index': poison } },
      }),
    ]),
  )
  const router = await new FakeRouter({ ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, changes: { 'rtr-pswd': 'right' } })
  await rig.reach('online')
  await rig.pass(2 * minute_ms)
  t.not((await rig.command('pull-vendor-data')).status, 500)
  t.notMatch(JSON.stringify(rig.station.lines), /primitive|TypeError/)
  router.fault = (_request, response) => {
    const text = {
      jsonrpc: '2.0',
      error: { code: poison, message: poison },
      success: false,
      errors: [{ code: poison, error: poison }],
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(text))
    return true
  }
  await rig.pass(5 * minute_ms, 5_000)
  t.notMatch(JSON.stringify(rig.station.lines), /primitive|TypeError/)

  const other = await new FakeRouter({ rest: rest().rest }).listen(t)
  other.fault = (request, response) => {
    if (request.url === '/ubus' || request.url === '/api/unauthorized/status') return false
    response.writeHead(200).end(JSON.stringify({ success: false, errors: [{ code: poison, error: poison }] }))
    return true
  }
  const second = await startRig(t, { url: other.url, changes: { 'rtr-pswd': 'right' } })
  await second.pass(minute_ms, 5_000)
  t.notMatch(JSON.stringify(second.station.lines), /primitive|TypeError/)
})

t.test('the right password works on a disk that takes no writes', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const store = new MemoryStore()
  const rig = await startRig(t, { url: router.url, store, options: { defaults: [{ user: 'admin', pswd: 'right' }] } })
  await rig.reach('online')
  store.batch = async () => {
    throw new Error('the disk is full')
  }
  router.expire()
  await rig.pass(minute_ms)
  t.equal(rig.link(), 'online', String(rig.station.field('router.state.error')))
  await router.close()
  await rig.pass(minute_ms)
  await router.listen(t, router.port)
  await rig.reach('online', 3 * minute_ms)
})

t.test('JSON that is deep, broad or long is no answer, and does not hold the station up', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, changes: { 'rtr-pswd': 'right' } })
  await rig.reach('online')
  await rig.pass(minute_ms, 5_000)
  const head = '{"jsonrpc":"2.0","id":1,"result":[0,'
  const mib = 1_000_000
  const answers = {
    deep: `${head}${'['.repeat(mib / 2)}${']'.repeat(mib / 2)}]}`,
    broad: `${head}[${'{},'.repeat(mib / 3 - 100)}{}]]}`,
    'deep objects': `${head}${'{"a":'.repeat(mib / 6)}1${'}'.repeat(mib / 6)}]}`,
    'long text': `${head}{"data":"${'[{,'.repeat(mib / 3 - 100)}"}]}`,
  }
  const rut = () => rig.station.request('/rut', { method: 'POST', body: '{"object":"system","method":"info"}' })
  for (const [name, text] of Object.entries(answers)) {
    router.fault = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      return true
    }
    const { status } = await rut()
    t.equal(status, name === 'long text' ? 200 : 502, `${name} to /rut`)
    const modem = rig.ctx.services.find(cellularModem)
    await t.rejects(modem?.read('signal') as Promise<unknown>, { code: /^RTK_ERR_ROUTER_/ }, name)
    router.fault = undefined
    await rig.reach('online', 5 * minute_ms)
  }
  for (const text of Object.values(answers)) {
    const began = process.cpuUsage()
    parsedJson(text)
    // Of the processor, whatever else the machine does meanwhile.
    const took_ms = process.cpuUsage(began).user / 1_000
    t.ok(took_ms < 250, `${Math.round(took_ms)} ms`)
  }
  t.strictSame(parsedJson('{"a":"\\\\","b":["\\"[",{"c":1}]}'), { a: '\\', b: ['"[', { c: 1 }] }, 'escapes')
  for (const bad of ['{"a', '"', '', '{"a":"\\"}']) t.equal(parsedJson(bad), undefined, bad)
})

t.test('a password or session that a router writes into its errors goes nowhere', { skip: gateOnly }, async (t) => {
  const [pswd, apnPswd] = ['s3cret-of-admin', 's3cret-of-apn']
  const ubus = current()
  const restful = rest()
  for (const router of [new FakeRouter({ ubus: ubus.ubus }), new FakeRouter({ rest: restful.rest })]) {
    router.users = { admin: pswd }
    await router.listen(t)
    let session = ''
    const secrets = () => `${'x'.repeat(80)}${pswd} ${session} ${apnPswd}`
    const rig = await startRig(t, { url: router.url, changes: { 'rtr-pswd': pswd } })
    await rig.reach('online')
    await rig.pass(minute_ms, 5_000)
    router.fault = (request, response, body) => {
      session = /"params":\["([0-9a-f]{32})/.exec(body)?.[1] ?? String(request.headers.authorization).slice(7)
      if (body.includes('"uci","set"') || request.method === 'PUT') {
        const errors = [{ code: 103, error: `bad value ${secrets()}`, source: 'x' }]
        const error = { code: -32_600, message: `bad value ${secrets()}` }
        const answer = request.url === '/ubus' ? { jsonrpc: '2.0', id: 1, error } : { success: false, errors }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
        return true
      }
      if (!body.includes('get_signal')) return false
      const result = [0, { errno: 5, error: secrets() }]
      response.end(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result }))
      return true
    }
    const modem = rig.ctx.services.find(cellularModem)
    const said: string[] = []
    const failed = (work?: Promise<unknown>) => work?.catch((error: Error) => said.push(error.message))
    await failed(modem?.read('signal'))
    await failed(modem?.setApn({ apn: 'a', user: 'u', pswd: apnPswd, auth: 'pap' }))
    t.ok(said.length > 0 && session.length > 20)
    said.push((await rig.command('pull-vendor-data')).text)
    await rig.station.station.change({ 'mob-ping-host': '9.9.9.9' }, { source: 'http' })
    await rig.pass(3 * minute_ms, 5_000)
    said.push(JSON.stringify(rig.station.lines), String(rig.station.field('router.state.error')))
    said.push(JSON.stringify(rig.station.field('base.state.errors')))
    for (const text of said) for (const secret of [pswd, apnPswd, session]) t.notMatch(text, secret)
    // What is cut off may end within a secret.
    for (const text of said) t.notMatch(text, pswd.slice(0, 10))
  }
})

t.test('long names and control characters of a router do not reach log and console', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  router.fault = (_request, response, body) => {
    if (!body.includes('"login",{')) return false
    response.writeHead(200).end(JSON.stringify({ jsonrpc: '2.0', [`\u001b[2J${'x'.repeat(100_000)}`]: 1 }))
    return true
  }
  const rig = await startRig(t, { url: router.url, changes: { 'rtr-pswd': 'right' } })
  await rig.pass(20_000)
  const text = String(rig.station.field('router.state.error'))
  t.match(text, 'session.login')
  t.ok(text.length < 2_000, `${text.length} characters`)
  t.notMatch(text, '\u001b')
})
