/** The link to the router: what a router and its network do to it, what people see of it, and what they can do. */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { RouterQueue, type TurnOptions } from '../../../../plugins/network/teltonika-router/link/queue.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../../../runtime/plugin.js'
import { completions, helpText, noPart } from '../../../../runtime/tools/cli/console.js'
import { RouterInfo } from '../../../../schemas/info/router.js'
import { cellularModem, cellularRouter, device } from '../../../../schemas/services.js'
import { textField } from '../../../../schemas/text-field.js'
import { during } from '../../../harness/drive.js'
import { freeTcpPort, gateOnly, ManualClock, sample, until } from '../../../harness/index.js'
import { MemoryStore } from '../../../harness/memory-store.js'
import { createAuthority } from '../../../harness/peers/certificates.js'
import { type Args, FakeRouter, Status } from './fake-router.js'
import { type Rig, startRig } from './rig.js'
import { current, legacy, rest } from './shapes.js'

const minute_ms = 60_000
const withPassword = { changes: { 'rtr-pswd': 'right' } }
const rpc = (object: string, method: string, args = {}) => JSON.stringify({ object, method, args })
const rut = (rig: Rig, body: string) => rig.station.request('/rut', { method: 'POST', body })

const kinds = {
  'legacy over ubus': () => new FakeRouter({ ubus: legacy().ubus }),
  '7.x over ubus': () => new FakeRouter({ ubus: current().ubus }),
  '7.x over REST': () => new FakeRouter({ rest: rest().rest }),
}

for (const [kind, make] of Object.entries(kinds)) {
  t.test(`${kind}: the block is complete, and the router is set up as specified`, async (t) => {
    const router = await make().listen(t)
    const rig = await startRig(t, { url: router.url, ...withPassword })
    await rig.reach('online')
    await rig.pass(minute_ms)
    const block = rig.station.field('router') as RouterInfo
    t.ok(Value.Check(RouterInfo, block), 'as the schema says')
    const empty = Object.entries(block).filter(([name, value]) => value === '' && name !== 'certificate')
    t.strictSame(empty, [], 'nothing is unknown')
    t.match(block, {
      serial: '6000000001',
      macaddr: '00:1E:42:AA:BB:CC',
      wap: { bssid: '00:1E:42:AA:BB:CD', ssid: 'RUT_AABB', pswd: 'wifi;pass' },
      'wap-ssid': 'RUT_AABB',
      plmn: 24602,
      signal: -57,
      connected: true,
      state: {
        link: 'online',
        error: '',
        generation: kind.startsWith('7') ? '7' : 'legacy',
        transport: kind.endsWith('REST') ? 'rest' : 'ubus',
      },
    })
    t.ok(block.state.uptime >= 12_345 && block.state.uptime < 12_500)
    const report = await rig.command('pull-vendor-data')
    t.equal(report.status, 200)
    t.match(report.text, /ipBlock: enabled=true attempts=20/)
    t.match(report.text, /pingReboot: enabled=true host=8\.8\.8\.8/)
  })
}

t.test('a router without a modem stays online', { skip: gateOnly }, async (t) => {
  const silent = legacy()
  silent.ubus['file.exec'] = (
    (exec) => (args: Args) =>
      args.command === 'gsmctl' ? { code: 1, stderr: 'no modem\n' } : exec(args)
  )(silent.ubus['file.exec'])
  const none = rest().rest
  none['GET /api/modems/status'] = []
  for (const router of [new FakeRouter({ rest: none }), new FakeRouter({ ubus: silent.ubus })]) {
    await router.listen(t)
    const rig = await startRig(t, { url: router.url, ...withPassword })
    await rig.reach('online')
    await rig.pass(3 * minute_ms, 5_000)
    t.equal(rig.link(), 'online')
    t.equal(router.logins.length, 1)
  }
})

t.test('a router that is still starting is not logged in to', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const starting = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'Object not found' } })
  let asked = 0
  router.fault = (_request, response) => {
    asked++
    response.writeHead(200, { 'content-type': 'application/json' }).end(starting)
    return true
  }
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.pass(5 * minute_ms, 5_000)
  t.ok(asked > 4)
  router.fault = undefined
  await rig.reach('online', 2 * minute_ms)
})

t.test(
  'a router that wants a new password first says so, and is found when it has one',
  { skip: gateOnly },
  async (t) => {
    const router = await new FakeRouter({ rest: rest().rest }).listen(t)
    for (const [code, says] of [
      [125, /never been changed/],
      [124, /has expired/],
    ] as const) {
      router.fault = (request, response) => {
        if (request.url !== '/api/login') return false
        const answer = { success: false, errors: [{ code, error: 'change it', source: 'general' }] }
        response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
        return true
      }
      const rig = await startRig(t, { url: router.url, ...withPassword })
      await rig.pass(10 * minute_ms, 5_000)
      t.equal(rig.link(), 'locked')
      t.match(rig.station.field('router.state.error'), says)
      router.fault = undefined
      await rig.reach('online', 2 * minute_ms)
    }
  },
)

t.test('a list of ping hosts stays one, as the scripts of the router read nothing else', async (t) => {
  const shapes = current()
  const router = await new FakeRouter({ ubus: shapes.ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, changes: { ...withPassword.changes, 'mob-ping-host': '1.1.1.1' } })
  await rig.reach('online')
  await rig.pass(1_000)
  t.match(shapes.memory.files.ping_reboot?.cfg02f0a1, { enable: '1', host: ['1.1.1.1'] })
})

t.test('the ping host follows its parameter, and one that was changed while the router was away', async (t) => {
  const shapes = current()
  const router = await new FakeRouter({ ubus: shapes.ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, ...withPassword })
  const ping = () => shapes.memory.files.ping_reboot?.cfg02f0a1 as Record<string, unknown>
  await rig.reach('online')
  t.match(ping(), { enable: '1', host: ['8.8.8.8'] })
  await rig.station.station.change({ 'mob-ping-host': '1.1.1.1' }, { source: 'http' })
  await rig.pass(1_000)
  t.match(ping(), { enable: '1', host: ['1.1.1.1'] })
  await rig.command('reboot-router')
  t.equal(rig.link(), 'restarting')
  await rig.station.station.change({ 'mob-ping-host': '' }, { source: 'http' })
  await rig.reach('online')
  t.match(ping(), { enable: '0' })
  for (const bad of ['a b', '-c', '.x', 'x'.repeat(19), 5]) {
    const { result, errors } = await rig.station.station.change({ 'mob-ping-host': bad }, { source: 'http' })
    t.equal(result, 'failed')
    if (typeof bad === 'string' && bad.length < 19) t.match(errors?.[0]?.message, /must be a host name or IP address/)
  }
})

t.test('the IP block is set at the first login only', async (t) => {
  const shapes = current()
  const store = new MemoryStore()
  const router = await new FakeRouter({ ubus: shapes.ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, store, ...withPassword })
  const block = () => shapes.memory.files.ip_blockd?.ip_blockd as Record<string, unknown>
  await rig.reach('online')
  t.match(block(), { enabled: '1', max_attempt_count: '20', reboot_clear: '1' })
  block().max_attempt_count = '50'
  await rig.station.stop()
  const again = await startRig(t, { url: router.url, store, ...withPassword })
  await again.reach('online')
  t.match(block(), { max_attempt_count: '50' })
})

t.test('a router that is not there, goes, and comes back', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t, await freeTcpPort())
  const { port, url } = router
  await router.close()
  const rig = await startRig(t, { url, ...withPassword })
  await rig.pass(minute_ms)
  t.equal(rig.link(), 'searching')
  t.match(rig.station.field('router.state.error'), /refused/)
  t.equal((await rut(rig, rpc('system', 'info'))).status, 503)
  t.equal((await rig.command('reboot-router')).status, 503)
  await rig.pass(3 * minute_ms)
  t.match(
    rig.station.lines.map(({ code }) => code),
    ['router-offline'].concat() && /router-offline/,
  )
  await router.listen(t, port)
  await rig.reach('online')
  await router.close()
  await rig.pass(2 * minute_ms)
  t.equal(rig.link(), 'offline')
  t.equal(rig.station.field('router.serial'), '6000000001', 'what is known stays')
  t.equal(rig.station.field('router.state.uptime'), 0, 'what lives does not')
  await router.listen(t, port)
  await rig.reach('online')
  t.equal(await rig.metric('router_online'), 1)
})

for (const endedAs of ['error', 'status'] as const) {
  t.test(`N11: a session that ended, answered by ${endedAs}, costs one login; values go on`, async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    router.endedAs = endedAs
    const rig = await startRig(t, { url: router.url, ...withPassword })
    await rig.reach('online')
    await rig.pass(2 * minute_ms)
    for (const uptime of [77_000, 99_000]) {
      const before = router.logins.length
      router.expire()
      router.ubus = { ...router.ubus, 'system.info': { localtime: 1_763_800_000, uptime } }
      await rig.pass(2 * minute_ms)
      t.equal(router.logins.length, before + 1, 'one login')
      const state = rig.station.field('router.state') as RouterInfo['state']
      t.match(state, { link: 'online', error: '' })
      t.ok(state.uptime >= uptime && state.uptime < uptime + 121, 'the new value is shown')
      t.ok(state.age <= 65, 'it was read a moment ago')
    }
    const before = router.logins.length
    router.expire()
    t.match(await rut(rig, rpc('system', 'info')), { status: 200, text: /99000/ }, 'POST /rut is answered')
    t.equal(router.logins.length, before + 1)
    router.expire()
    const batch = `[${rpc('nothing', 'info')},${rpc('system', 'info')}]`
    t.match(await rut(rig, batch), { status: 200, text: /99000/ }, 'also beside an object that the router lacks')
    t.equal(router.logins.length, before + 2)
  })
}

t.test('N11: a right that a login does not give costs one login, also beside others', async (t) => {
  for (const [name, refused] of [
    ['gsm.modem0.get_signal_query', new Status(6)],
    ['gsm.modem0.get_network_info', new Status(-32_002)],
    ['system.info', new Status(6)],
  ] as const) {
    const router = await new FakeRouter({ ubus: { ...current().ubus, [name]: refused } }).listen(t)
    const rig = await startRig(t, { url: router.url, ...withPassword })
    await rig.reach('online')
    await rig.pass(9 * minute_ms, 5_000)
    t.ok(
      router.asked.some((one) => one.name === name),
      `${name} is asked for`,
    )
    t.ok(router.logins.length <= 2, `${name}: ${router.logins.length} logins`)
    t.equal(rig.link(), 'online')
    await rig.station.stop()
  }
})

t.test('N11: a right that is given later is noticed within two hours, for one login an hour', async (t) => {
  const answers = current().ubus
  const refused = Object.fromEntries(Object.keys(answers).map((name) => [name, new Status(6)]))
  const isOfModem = (name: string) => name.startsWith('gsm.')
  const only = (keep: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(refused).filter(([name]) => keep(name)))
  const router = await new FakeRouter({ ubus: { ...answers, ...only(isOfModem) } }).listen(t)
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.reach('online')
  await rig.pass(20 * minute_ms, 5_000)
  t.equal(rig.station.field('router.signal'), 0)
  const before = router.logins.length
  await rig.pass(60 * minute_ms, 5_000)
  t.ok(router.logins.length <= before + 1, `${router.logins.length - before} logins in an hour`)
  router.ubus = answers
  await rig.pass(75 * minute_ms, 5_000)
  t.not(rig.station.field('router.signal'), 0, 'the signal is read')
  t.equal(rig.link(), 'online')
})

t.test(
  'N11: a router that answers nothing that is asked for is logged in to again, and not at once again',
  async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    const rig = await startRig(t, { url: router.url, ...withPassword })
    await rig.reach('online')
    await rig.pass(2 * minute_ms)
    const answers = router.ubus ?? {}
    router.ubus = Object.fromEntries(Object.keys(answers).map((name) => [name, new Status(6)]))
    await rig.pass(4 * minute_ms)
    const { age } = rig.station.field('router.state') as RouterInfo['state']
    t.ok(age > 180 && age < 360, `${age} s: the age of the values is shown`)
    await rig.pass(15 * minute_ms, 5_000)
    t.match(JSON.stringify(rig.station.lines), /nothing could be read for 10 min/)
    t.ok(router.logins.length < 8, `${router.logins.length} logins`)
    router.ubus = answers
    await rig.pass(12 * minute_ms, 5_000)
    t.match(rig.station.field('router.state'), { link: 'online' })
    t.ok((rig.station.field('router.state.age') as number) < 120, 'and its values are read again')
  },
)

t.test('a restart is a state of its own', { skip: gateOnly }, async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const { port } = router
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.reach('online')
  // It goes away before it answers.
  router.fault = (_request, response, body) => {
    if (!body.includes('rpc-sys')) return false
    response.destroy()
    return true
  }
  t.equal((await rig.command('reboot-router')).status, 200)
  t.equal(rig.link(), 'restarting')
  await router.close()
  router.expire()
  await rig.pass(90_000)
  t.equal(rig.link(), 'restarting')
  router.fault = undefined
  await router.listen(t, port)
  await rig.reach('online')
  t.equal((await rig.command('factory-router')).status, 200)
  await router.close()
  // One that does not come back is offline.
  await rig.reach('offline', 10 * minute_ms)
})

t.test('the error says whether it is silent or not to be understood', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.reach('online')
  const said = () => JSON.stringify(rig.ctx.services.find(device)?.errors())
  router.fault = (_request, response) => {
    response.end('<html>')
    return true
  }
  await rig.pass(6 * minute_ms, 5_000)
  t.match(said(), /router-offline.*the answer from the address of the router cannot be read/)
  t.notMatch(said(), /cable/)
  await router.close()
  await rig.pass(2 * minute_ms, 5_000)
  t.match(said(), /router-offline.*does not answer.*cable/)
})

t.test('garbage and slow answers', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.reach('online')
  const garbage = ['', '<html>', '{"jsonrpc"', '[]', 'null', '{"jsonrpc":"2.0","id":1,"result":"x"}', '\u0000\u0001']
  let count = 0
  router.fault = (_request, response) => {
    response.end(garbage[count++ % garbage.length])
    return true
  }
  await rig.pass(4 * minute_ms)
  t.ok(count > 3)
  t.match(rig.link(), /offline|locked/)
  router.fault = undefined
  await rig.reach('online', 10 * minute_ms)

  router.fault = () => true
  const answer = rut(rig, rpc('system', 'board'))
  await until(() => router.inFlight === 1, 'it was asked')
  t.equal((await rig.station.request('/get-info')).status, 200, 'the document does not wait for it')
  t.equal(router.inFlight, 1, 'it is still being asked')
  t.equal((await during(rig.clock, answer, 'an answer')).status, 504)
  router.fault = undefined
  await rig.reach('online', 10 * minute_ms)
  t.strictSame(
    rig.station.lines.filter(({ level }) => level >= 50),
    [],
  )
})

t.test('clients that ask without a pause do not keep the station from reading', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, changes: { 'rtr-pswd': 'right' } })
  await rig.reach('online')
  router.fault = async (_request, _response, body) => {
    if (!body.includes('"info"')) return false
    await new Promise<void>((resolve) => {
      rig.clock.timer(1_000, resolve)
    })
    return false
  }
  let isAsking = true
  const ask = async () => {
    while (isAsking) await rig.station.request('/rut', { method: 'POST', body: '{"object":"system","method":"info"}' })
  }
  const clients = [ask(), ask()]
  await rig.pass(11 * 60_000, 500)
  t.ok(Number(rig.station.field('router.state.age')) < 360, `read ${rig.station.field('router.state.age')} s ago`)
  t.equal(router.logins.length, 1, 'the link is not made anew')
  isAsking = false
  await rig.pass(5_000, 500)
  await Promise.all(clients)
})

t.test('POST /rut', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.reach('online')
  const full = { jsonrpc: '2.0', id: 'mine', method: 'call', params: ['x', 'mnfinfo', 'get', {}] }
  t.match((await rut(rig, JSON.stringify(full))).json(), {
    jsonrpc: '2.0',
    id: 'mine',
    result: [0, { mnfinfo: { serial: '6000000001' } }],
  })
  const short = { jsonrpc: '2.0', id: 2, method: 'call', params: ['mnfinfo', 'get', {}] }
  t.match(
    (await rut(rig, JSON.stringify(short))).json(),
    { id: 2, result: [0, { mnfinfo: { serial: '6000000001' } }] },
    'without a place for the session',
  )
  const login = { ...short, params: ['session', 'login', { username: 'admin', password: 'x' }] }
  t.equal((await rut(rig, JSON.stringify(login))).status, 400, 'a login is the matter of the station in this form too')
  t.match((await rut(rig, rpc('gsm.modem0', 'get_iccid'))).json(), { id: 1, result: [0, { iccid: /^89/ }] })
  const batch = (await rut(rig, JSON.stringify([full, { ...full, id: 7, params: ['', 'nothing', 'get', {}] }]))).json()
  t.match(
    batch,
    [
      { id: 'mine', result: [0] },
      { id: 7, error: { code: -32_000 } },
    ],
    'failures of the router are answers',
  )
  for (const body of ['', 'x', '[]', '5', '{}', '{"object":"a"}', rpc('session', 'login')]) {
    t.equal((await rut(rig, body)).status, 400, body)
  }
  router.fault = (_request, response) => {
    response.end('<html>')
    return true
  }
  t.equal((await rut(rig, rpc('system', 'info'))).status, 502)
  router.fault = (_request, response) => {
    response.destroy()
    return true
  }
  t.equal((await rut(rig, rpc('system', 'info'))).status, 503)
  router.fault = undefined
  const [line, ...more] = rig.station.lines.filter(({ msg }) => String(msg).startsWith('answered with 502'))
  t.match(line, { level: 40, code: 'RTK_ERR_ROUTER_ANSWER', plugin: 'teltonika-router' })
  t.equal(more.length, 0)
  t.notMatch(JSON.stringify(rig.station.lines), /a route failed|at .*\.[jt]s:\d/, 'one line, without a stack')

  const restOnly = await new FakeRouter({ rest: rest().rest }).listen(t)
  const other = await startRig(t, { url: restOnly.url, ...withPassword })
  await other.reach('online')
  const answer = await rut(other, rpc('system', 'info'))
  t.equal(answer.status, 503)
  t.match(answer.json(), { error: 'RTK_ERR_ROUTER_UNSUPPORTED', message: /JSON-RPC/ })
})

t.test('certificates', async (t) => {
  const authority = createAuthority(mkdtempSync(join(tmpdir(), 'rtk-base-router-')))
  const issued = (name: string) => {
    const { key, cert } = authority.issue(name, `/CN=${name}`, 'subjectAltName=DNS:router\n')
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  }
  const [first, second] = [issued('first'), issued('second')]
  /** Plain HTTP that redirects to https, as routers do; passwords that came in over plain HTTP are noted. */
  const redirecting = async (t: Test, to: () => string) => {
    const plain = new FakeRouter({ ubus: {} })
    plain.fault = (request, response, body) => {
      if (body.includes('password')) leaked.push(body)
      response.writeHead(307, { location: `${to()}${request.url}` }).end()
      return true
    }
    return plain.listen(t)
  }
  const leaked: string[] = []

  t.test(
    'one that was seen for a while does not wait for a person once the pinned one is back',
    { skip: gateOnly },
    async (t) => {
      let secure = await new FakeRouter({ ubus: current().ubus, tls: first }).listen(t)
      const { port } = secure
      const rig = await startRig(t, { url: secure.url, ...withPassword })
      await rig.reach('online')
      await secure.close()
      secure = await new FakeRouter({ ubus: current().ubus, tls: second }).listen(t, port)
      await rig.reach('certificate', 5 * minute_ms)
      await rig.pass(5_000)
      t.match((await rig.command('router-certificate')).text, 'shows now')
      await secure.close()
      secure = await new FakeRouter({ ubus: current().ubus, tls: first }).listen(t, port)
      await rig.reach('online', 5 * minute_ms)
      t.notMatch((await rig.command('router-certificate')).text, 'shows now')
      t.equal((await rig.command('router-certificate=accept')).status, 503, 'the one of somebody else is not pinned')
    },
  )

  t.test('the one that is seen first is pinned, another one waits for a person', async (t) => {
    let secure = await new FakeRouter({ ubus: current().ubus, tls: first }).listen(t)
    const { port } = secure
    const plain = await redirecting(t, () => secure.url)
    const rig = await startRig(t, { url: plain.url, ...withPassword })
    await rig.reach('online')
    const pinned = String(rig.station.field('router.certificate'))
    t.match(pinned, /^[0-9a-f]{64}$/)
    t.match((await rig.command('router-certificate')).text, pinned)
    t.equal((await rig.command('router-certificate=accept')).status, 503, 'there is nothing to confirm')

    await secure.close()
    secure = await new FakeRouter({ ubus: current().ubus, tls: second }).listen(t, port)
    await rig.reach('certificate', 5 * minute_ms)
    t.equal(secure.logins.length, 0, 'no password goes to it')
    t.notMatch(
      rig.station.lines.map(({ msg }) => msg).join('\n'),
      /answers without https/,
      'it has another certificate, which is not the same as none',
    )
    t.match(rig.station.lines.map(({ msg }) => msg).join('\n'), /router-certificate=accept/)
    t.equal((await rut(rig, rpc('system', 'info'))).status, 503)
    await rig.pass(3 * minute_ms)
    t.equal(rig.link(), 'certificate', 'it does not pass by itself')
    const shown = (await rig.command('router-certificate')).text
    const [, fingerprint = ''] = /shows now: \S+ ([0-9a-f]{64})/.exec(shown) ?? []
    const off = (fingerprint.startsWith('0') ? '1' : '0') + fingerprint.slice(1)
    for (const bad of [
      'yes',
      'acceptance',
      'accept',
      'accept http',
      `accept ${off}`,
      `accept ${fingerprint.slice(0, 7)}`,
    ]) {
      const { status, text } = await rig.command(`router-certificate=${bad}`)
      t.equal(status, 400, bad)
      if (/^accept( |$)/.test(bad)) t.match(text, fingerprint, 'it shows what there is to confirm')
    }
    t.equal(rig.link(), 'certificate', 'and nothing was confirmed')
    for (const answer of [await rig.command('reboot-router'), (await rut(rig, rpc('system', 'info'))).json()])
      t.match(JSON.stringify(answer), `router-certificate=accept ${fingerprint.slice(0, 16)}`, 'they say what to do')
    const colons = fingerprint
      .slice(0, 8)
      .toUpperCase()
      .replace(/..(?=.)/g, '$&:')
    t.equal((await rig.command(`router-certificate=accept ${colons}`)).status, 200, 'its begin, as others write it')
    await rig.reach('online', 1_000)
    t.equal(rig.station.field('router.certificate'), fingerprint, 'the one that was shown')

    await secure.close()
    secure = await new FakeRouter({ ubus: current().ubus, tls: second }).listen(t, port)
    await rig.reach('online', 5 * minute_ms)
    t.strictSame(leaked, [], 'no password over plain HTTP')
  })

  t.test('a pin outlasts a restart of the station, and belongs to its address', { skip: gateOnly }, async (t) => {
    let secure = await new FakeRouter({ ubus: current().ubus, tls: first }).listen(t)
    const { port, url } = secure
    const store = new MemoryStore()
    const rig = await startRig(t, { url, store, ...withPassword })
    await rig.reach('online')
    await rig.station.stop()
    await secure.close()
    secure = await new FakeRouter({ ubus: current().ubus, tls: second }).listen(t, port)
    const again = await startRig(t, { url, store, ...withPassword })
    await again.reach('certificate')
    t.equal(secure.logins.length, 0)
    await again.station.stop()
    const elsewhere = await new FakeRouter({ ubus: current().ubus, tls: second }).listen(t)
    const other = await startRig(t, { url: elsewhere.url, store, ...withPassword })
    await other.reach('online')
  })

  t.test('https that is gone is no reason to send the password in the clear', { skip: gateOnly }, async (t) => {
    const secure = await new FakeRouter({ ubus: current().ubus, tls: first }).listen(t)
    const plain = await redirecting(t, () => secure.url)
    const rig = await startRig(t, { url: plain.url, ...withPassword })
    await rig.reach('online')
    await secure.close()
    plain.fault = undefined
    plain.ubus = current().ubus
    await rig.reach('certificate', 5 * minute_ms)
    t.strictSame(plain.logins, [])
    t.equal((await rig.command('router-certificate=accept')).status, 400)
    t.equal((await rig.command('router-certificate=accept http')).status, 200)
    await rig.reach('online')
  })

  t.test('a redirect to another host is not followed', async (t) => {
    const plain = await redirecting(t, () => 'https://192.0.2.1')
    const rig = await startRig(t, { url: plain.url, ...withPassword })
    await rig.pass(20_000)
    t.match(rig.station.field('router.state.error'), /same host/)
  })
})

t.test('commands', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const changes: unknown[] = []
  const wlan = definePlugin({
    name: 'wlan',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      const ssid = ctx.config.define('sta-ssid', Type.String(), { default: '' })
      const pswd = ctx.config.define('sta-pswd', Type.String(), { default: '', secret: true })
      ctx.config.onChange(['sta-ssid'], () => void changes.push([ssid.get(), pswd.get()]))
    },
  })
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.reach('online')

  t.test('pairing hands the access point to the uplink, where there is one', async (t) => {
    t.match(await rig.command('pair-vendor-repeater'), { status: 503, text: /plugin sta/ })
    const other = await startRig(t, { url: router.url, ...withPassword, plugins: { wlan: wlan as AnyPlugin } })
    await other.reach('online')
    t.match(await other.command('pair-teltonika-repeater'), { status: 200, text: /RUT_AABB/ })
    t.strictSame(changes, [['RUT_AABB', 'wifi;pass']])
  })

  t.test('the console group', async (t) => {
    await rig.pass(minute_ms)
    const entry = rig.station.station.actions().find(({ name }) => name === 'teltonika')
    t.strictSame(textField(entry?.input ?? {})?.words, [
      'info',
      'set_user',
      'set_pswd',
      'scan',
      'select',
      'reboot',
      'reboot-modem',
    ])
    t.strictSame(completions('teltonika re', rig.station.station.actions()), [
      'teltonika reboot',
      'teltonika reboot-modem',
    ])
    t.strictSame(completions('telt', rig.station.station.actions()), ['teltonika'])
    t.strictSame(completions('help telt', rig.station.station.actions()), ['help teltonika'])
    const commands = rig.station.station.actions()
    const lines = helpText(commands, 'teltonika')?.split('\n') ?? []
    t.equal(lines.length, 2, 'help of the group is of it alone')
    t.match(lines.join(), /^teltonika {2}.*set_pswd PASSWORD.*info \| set_user/)
    t.equal(helpText(commands, 'telt'), undefined)
    t.ok((helpText(commands) ?? '').split('\n').length > commands.length)
    const parts = { modem: { state: { rssi: -57 } }, mqtt: {} }
    t.equal(noPart(parts, 'moden.state'), 'no part moden.state (did you mean "modem"?)', 'C10: what was meant')
    t.equal(noPart(parts, 'modem.stat.x'), 'no part modem.stat.x (did you mean "state"?)')
    t.equal(noPart(parts, 'modem.state.temperature'), 'no part modem.state.temperature; modem.state has rssi')
    t.equal(noPart(parts, 'mqtt.x'), 'no part mqtt.x; mqtt has no parts')
    t.match((await rig.command('teltonika=info')).text, /online[\s\S]*6000000001[\s\S]*EG06/)
    t.equal((await rig.command('teltonika=set_user root')).status, 200)
    t.equal((await rig.command('teltonika=set_user admin')).status, 200)
    t.equal((await rig.command('teltonika=set_pswd right')).status, 200)
    t.equal((await rig.command('teltonika=set_pswd other words --protected')).status, 200)
    t.strictSame(rig.station.field('router.default'), { user: 'admin', pswd: 'other words' })
    t.match(await rig.command('teltonika=scan'), { status: 503, text: /plugin modem/ })
    t.match(await rig.command('teltonika=select 24603'), { status: 503, text: /plugin modem/ })
    for (const bad of ['', '=', '=select x', '=set_pswd', '=dance', '=set_user a b'])
      t.equal((await rig.command(`teltonika${bad}`)).status, 400, bad)
    await rig.reach('online')
    t.equal((await rig.command('teltonika=reboot')).status, 200)
    await rig.reach('online')
  })

  t.test('a value that makes no sense', async (t) => {
    for (const line of ['reboot-router=1', 'pull-vendor-data=x', 'get-router-qr=x'])
      t.equal((await rig.command(line)).status, 400)
  })

  t.test('services', async (t) => {
    const modem = rig.ctx.services.find(cellularModem)
    const found = rig.ctx.services.find(cellularRouter)
    t.match(found, { state: 'online', macaddr: '00:1E:42:AA:BB:CC', address: '127.0.0.1' })
    t.match(await modem?.read('modemIdentity'), { imei: '860000000000009' })
    t.match(await modem?.read('signal'), { rssi_dbm: -57 })
    t.match(await modem?.read('registration'), { network: 'home' })
    t.match(await modem?.read('sim'), { state: 'ready' })
    t.strictSame(await modem?.read('traffic'), { sent: 1000, recvd: 2000 })
    t.equal((await modem?.read('temperature'))?.celsius, 42.1)
    t.equal((await modem?.scanOperators())?.length, 3)
    t.equal((await modem?.read('operatorSelection'))?.plmn, '24603')
    await modem?.selectOperator(undefined)
    await modem?.setApn({ apn: 'a', user: '', pswd: '', auth: 'none' })
    t.match(await modem?.read('apn'), { apn: 'a' })
    t.match(await modem?.read('pingReboot'), { enabled: true, host: '8.8.8.8' })
    await modem?.reboot()
    const gone = AbortSignal.abort()
    await t.rejects(modem?.read('signal', gone) as Promise<unknown>, { code: 'RTK_ERR_ABORTED' })
  })
})

t.test('POST /update-firmware', async (t) => {
  const post = (rig: Rig, target: string, body: string) =>
    rig.station.request(`/update-firmware${target}`, { method: 'POST', body })
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.reach('online')
  t.match((await post(rig, '?esp32s3', 'x'.repeat(200_000))).json(), {
    error: 'RTK_ERR_UPDATE_UNKNOWN',
    message: /plugin ota/,
  })
  for (const [target, body] of [
    ['', 'x'],
    ['?zed', 'x'],
    ['?rut', 'no url'],
    ['?rut', ''],
    ['?rut', 'ftp://h/x'],
    ['?rut', `http://h/${'x'.repeat(5_000)}`],
  ] as const) {
    t.ok([400, 413].includes((await post(rig, target, body)).status), `${target} ${body.slice(0, 20)}`)
  }
  const url = 'http://host/fw.bin?sig=%2F+x'
  t.match((await rig.station.request('/firmware?rut', { method: 'POST', body: `${url}\n` })).json(), { result: 'ok' })
  const [{ params }] = router.argsOf('file.exec').slice(-1) as [{ params: string[] }]
  t.equal(params.at(-1), url)
  t.equal(rig.link(), 'restarting')
  t.equal((await post(rig, '?rut', url)).status, 503, 'while it restarts')

  t.test('over REST the station fetches the image and uploads it', async (t) => {
    const shapes = rest()
    let uploaded = ''
    shapes.rest['POST /api/firmware/actions/upload_device_firmware'] = ({ raw }: { raw: string }) => {
      uploaded = raw
      return {}
    }
    const images = new FakeRouter({ ubus: {} })
    let hold: (() => void) | undefined
    let piece: (() => void) | undefined
    images.fault = async (request, response) => {
      piece = () => response.write('IMAGE-')
      if (request.url === '/held') await new Promise<void>((resolve) => (hold = resolve))
      response.end('IMAGE-BYTES')
      return true
    }
    await images.listen(t)
    const other = await new FakeRouter({ rest: shapes.rest }).listen(t)
    const rig = await startRig(t, { url: other.url, ...withPassword })
    await rig.reach('online')
    const running = post(rig, '?rut', `${images.url}/held`)
    await until(() => hold, 'it is fetched')
    const [first, second] = await Promise.all([post(rig, '?rut', `${images.url}/x`), post(rig, '?rut', images.url)])
    t.strictSame([first.status, second.status], [409, 409])
    // A slow download goes on as long as something comes.
    const folder = join(rig.station.data, 'files', 'teltonika-router', 'firmware')
    const size = () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    for (let n = 0; n < 5; n++) {
      piece?.()
      await until(() => size() === 6 * (n + 1), 'the piece is stored')
      await rig.pass(50_000, 5_000)
    }
    hold?.()
    t.match((await running).json(), { result: 'ok' })
    t.match(uploaded, /name="file"[\s\S]*(IMAGE-){5}IMAGE-BYTES/)
    t.strictSame(readdirSync(folder), [], 'the image does not stay')
    t.strictSame(other.names().slice(-3), [
      'POST /api/firmware/actions/upload_device_firmware',
      'POST /api/firmware/actions/verify',
      'POST /api/firmware/actions/upgrade',
    ])
  })
})

t.test('the queue', async (t) => {
  const clock = new ManualClock()
  const queue = new RouterQueue((ms, fn) => clock.timer(ms, fn))
  const enter = async <T>(label: string, work: () => Promise<T>, options?: TurnOptions): Promise<T> => {
    const release = await queue.acquire(label, options)
    return work().finally(release)
  }
  let release: () => void = () => {}
  const first = enter('scan', () => new Promise<void>((resolve) => (release = resolve)))
  const order: number[] = []
  const rest = [1, 2, 3].map((n) => enter(`call ${n}`, async () => void order.push(n)))
  const impatient = enter('reboot', async () => {}, { patience_ms: 5_000 })
  const gone = new AbortController()
  const aborted = enter('info', async () => {}, { signal: gone.signal })
  gone.abort()
  await t.rejects(aborted, { code: 'RTK_ERR_ABORTED' })
  const late = t.rejects(impatient, { code: 'RTK_ERR_ROUTER_TIMEOUT', message: /busy with scan/ })
  await clock.advance(5_000)
  await late
  const many = Array.from({ length: 60 }, () =>
    enter('more', async () => {}).catch((error: { code: string }) => error.code),
  )
  t.ok(queue.length <= 33, 'bounded')
  release()
  await first
  await Promise.all(rest)
  t.strictSame(order, [1, 2, 3])
  t.equal((await Promise.all(many)).filter((code) => code === 'RTK_ERR_UNAVAILABLE').length, 60 - 32 + 3)
  t.equal(queue.length, 0)
})

t.test('a password that is set while the queue is full changes nothing for a router that is online', async (t) => {
  const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
  const rig = await startRig(t, { url: router.url, ...withPassword })
  await rig.reach('online')
  await rig.pass(minute_ms)
  const modem = (rig.ctx as PluginContext).services.find(cellularModem)
  const calls = Array.from({ length: 60 }, () => modem?.read('signal'))
  const ended = Promise.allSettled(calls)
  await rig.station.station.change({ 'rtr-pswd': 'right', 'rtr-user': 'admin' }, { source: 'http' })
  const results = await ended
  t.ok(
    results.some(({ status }) => status === 'rejected'),
    'the queue was full',
  )
  await rig.pass(5_000)
  t.equal(rig.link(), 'online')
  t.notMatch(rig.station.lines.map(({ msg }) => msg).join('\n'), /router offline/)
})

t.test(
  'a soak with faults: nothing grows, nothing is left unhandled, and it recovers',
  { skip: gateOnly },
  async (t) => {
    const router = await new FakeRouter({ ubus: current().ubus }).listen(t)
    const rig = await startRig(t, { url: router.url, ...withPassword })
    await rig.reach('online')
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    t.teardown(() => process.off('unhandledRejection', note))
    let seed = 7
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return seed / 2 ** 31
    }
    router.fault = (_request, response) => {
      const kind = random()
      if (kind < 0.02) response.destroy()
      else if (kind < 0.03) response.end('garbage')
      else if (kind < 0.04) response.end('['.repeat(100_000))
      else if (kind < 0.05) response.writeHead(500).end()
      else {
        if (kind < 0.06) router.expire()
        return false
      }
      return true
    }
    const modem = (rig.ctx as PluginContext).services.find(cellularModem)
    const calls = [
      () => modem?.read('signal'),
      () => modem?.read('registration'),
      () => modem?.read('sim'),
      () => modem?.read('apn'),
      () => rut(rig, rpc('system', 'info')),
    ]
    let [done, failed, most] = [0, 0, 0]
    for (const total = sample(150, 10_000, 300); done < total; ) {
      // At first, and now and then, more than may wait.
      const length = done === 0 || random() < 0.1 ? 48 : 8
      const burst = Array.from({ length }, () => calls[Math.floor(random() * calls.length)]?.())
      most = Math.max(most, await rig.metric('router_queue_length'))
      for (const { status } of await Promise.allSettled(burst)) failed += status === 'rejected' ? 1 : 0
      done += burst.length
      if (rig.link() !== 'online') await rig.pass(2_000)
    }
    router.fault = undefined
    await rig.reach('online', 10 * minute_ms)
    t.ok(failed > 0 && failed < done, `${failed} of ${done} calls failed`)
    t.ok(most > 8 && most <= 34, `at most ${most} waited`)
    t.equal(router.mostInFlight, 1)
    t.equal(await rig.metric('router_queue_length'), 0)
    t.strictSame(unhandled, [])
    t.ok(rig.clock.pending < 60, `${rig.clock.pending} timers`)
  },
)
