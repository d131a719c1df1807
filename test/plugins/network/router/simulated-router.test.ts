/** The simulated router, spoken to by raw HTTP in the shapes of the wire: it is held against the protocol, not against the client. */
import type { X509Certificate } from 'node:crypto'
import { createServer } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import { firmwareScript } from '../../../../plugins/network/teltonika-router/operations/router-rows.js'
import { scanScript } from '../../../../plugins/network/teltonika-router/operations/sim-rows.js'
import { firmwareImage } from '../../../../plugins/simulated/simulated-router/device/identity.js'
import { RouterOptions } from '../../../../plugins/simulated/simulated-router/options.js'
import {
  type SimulatedRouterOptions,
  SimulatedTeltonika,
} from '../../../../plugins/simulated/simulated-router/router.js'
import { systemNetwork } from '../../../../runtime/platform/ports/system-network.js'
import { ManualClock, until } from '../../../harness/index.js'

const nobody = '0'.repeat(32)
const pswd = 'Ab3+cD5!'

interface Reply {
  id: unknown
  result?: [number, Record<string, never>?]
  error?: { code: number; message: string }
}
// biome-ignore lint/suspicious/noExplicitAny: answers are taken apart field by field
type Data = any

/** A router and what talks to it. */
async function simulate(t: Test, options: Partial<Omit<SimulatedRouterOptions, 'clock' | 'network'>> = {}) {
  const clock = new ManualClock()
  const port = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms: number, fn: () => void) => clock.timer(ms, fn),
  }
  const router = await SimulatedTeltonika.start({ ...options, clock: port, network: systemNetwork })
  t.teardown(() => router.close())
  const user = options.generation === 'legacy' ? 'root' : 'admin'
  const raw = (body: string, path = '/ubus', init: RequestInit = {}) =>
    fetch(router.url + path, { method: 'POST', body, ...init })
  const post = async (body: unknown): Promise<Data> => (await raw(JSON.stringify(body))).json()
  const envelope = (sid: string, object: string, method: string, args: unknown = {}, id: unknown = 1) => ({
    jsonrpc: '2.0',
    id,
    method: 'call',
    params: [sid, object, method, args],
  })
  const ask = (sid: string, object: string, method: string, args: unknown = {}): Promise<Reply> =>
    post(envelope(sid, object, method, args))
  const tryLogin = (password: string = pswd, username = user) => ask(nobody, 'session', 'login', { username, password })
  let sid = nobody
  const login = async () => {
    sid = (await tryLogin()).result?.[1]?.ubus_rpc_session ?? nobody
    return sid
  }
  /** A call in the last session; the data, or the status or code of the failure. */
  const call = async (object: string, method: string, args: unknown = {}): Promise<Data> => {
    const { result, error } = await ask(sid, object, method, args)
    if (error) return error.code
    return result?.[0] === 0 ? (result[1] ?? 'done') : result?.[0]
  }
  const exec = (command: string, ...params: string[]) => call('file', 'exec', { command, params })
  const shell = (line: string, ...params: string[]) => exec('/bin/sh', '-c', line, 'sh', ...params)
  /** A call that the router needs time for. */
  const during = async (running: Promise<Data>, seconds: number): Promise<Data> => {
    const before = clock.pending
    await until(() => clock.pending > before, 'the call to arrive')
    await clock.advance(seconds * 1000)
    return running
  }
  let token = ''
  const rest = async (method: string, path: string, data?: unknown): Promise<Data> => {
    const response = await fetch(`${router.url}/api/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      ...(data === undefined ? {} : { body: JSON.stringify(path === 'login' ? data : { data }) }),
    })
    return { status: response.status, ...((await response.json()) as object) }
  }
  const restLogin = async (password = pswd) => {
    const answer = await rest('POST', 'login', { username: 'admin', password })
    token = answer.data?.token ?? token
    return answer
  }
  const wait = (seconds: number) => clock.advance(seconds * 1000)
  /** Waits until a restart of so many seconds is over. */
  const back = async (seconds: number) => {
    await wait(seconds)
    await router.settled
  }
  const isRefused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(new URL(router.url).port), '127.0.0.1', () => socket.destroy())
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
      socket.on('close', () => resolve(false))
    })
  return {
    isRefused,
    clock,
    router,
    raw,
    post,
    envelope,
    ask,
    tryLogin,
    login,
    call,
    exec,
    shell,
    during,
    rest,
    restLogin,
    wait,
    back,
  }
}

t.test('the envelope', async (t) => {
  const { router, raw, post, envelope, ask, login, wait } = await simulate(t)
  const sid = await login()

  t.test('anything but a complete call is a parse error', async (t) => {
    const good = envelope(sid, 'system', 'info')
    const bad: [string, unknown][] = [
      ['no object', 'text'],
      ['no version', { ...good, jsonrpc: undefined }],
      ['another version', { ...good, jsonrpc: 2 }],
      ['no method', { ...good, method: undefined }],
      ['no params', { ...good, params: undefined }],
      ['params as object', { ...good, params: { sid } }],
      ['no arguments', { ...good, params: good.params.slice(0, 3) }],
      ['arguments as list', { ...good, params: [sid, 'system', 'info', []] }],
      ['arguments null', { ...good, params: [sid, 'system', 'info', null] }],
      ['a number as object', { ...good, params: [sid, 1, 'info', {}] }],
      ['null', null],
    ]
    for (const [what, body] of bad) {
      const answer = await post(body)
      t.strictSame(answer.error, { code: -32700, message: 'Parse error' }, what)
      t.notOk('result' in answer, what)
    }
    const response = await raw('{"jsonrpc":')
    t.equal(response.status, 200, 'broken JSON is answered with 200')
    t.equal(response.headers.get('content-type'), 'application/json')
    t.equal(((await response.json()) as Reply).error?.code, -32700)
  })

  t.test('a body of more than 65,536 bytes cannot be parsed', async (t) => {
    const sized = (size: number) => {
      const body = JSON.stringify(envelope(sid, 'system', 'info', { pad: '' }))
      return body.replace('"pad":""', `"pad":"${'x'.repeat(size - body.length)}"`)
    }
    const [fits, long] = await Promise.all([raw(sized(65_536)), raw(sized(65_537))])
    t.equal(((await fits.json()) as Reply).result?.[0], 0)
    t.equal(((await long.json()) as Reply).error?.code, -32700)
  })

  t.test('other RPC methods do not exist; the id comes back as it was', async (t) => {
    t.equal((await post({ jsonrpc: '2.0', id: 1, method: 'list', params: [sid, '*'] })).error.code, -32601)
    for (const id of [0, 'text', [1, { a: 2 }], null]) {
      t.strictSame((await post(envelope(sid, 'system', 'info', {}, id))).id, id)
    }
  })

  t.test('object, access, arguments, call: in that order', async (t) => {
    const code = async (from: string, object: string, method: string, args = {}) => {
      const { error, result } = await ask(from, object, method, args)
      return error?.code ?? result?.[0]
    }
    t.equal(await code(nobody, 'no.object', 'info'), -32000, 'before access')
    t.equal(await code(nobody, 'system', 'info'), -32002)
    t.equal(await code('f'.repeat(32), 'system', 'info'), -32002, 'an unknown session looks the same')
    t.equal(await code(nobody, 'system', 'no_method'), -32002)
    t.equal(await code(sid, 'system', 'no_method'), 3)
    t.equal(await code(sid, 'file', 'exec2', { command: 'true' }), 3)
    t.equal(await code(sid, 'system', 'info', { ubus_rpc_session: sid }), -32602)
    t.equal(await code(sid, 'system', 'constructor'), 3)
    t.equal(await code(sid, 'constructor', 'info'), -32000)
  })

  t.test('a batch is answered in its order', async (t) => {
    const answers = await post([
      envelope(sid, 'system', 'info', {}, 'a'),
      'nonsense',
      envelope(sid, 'no.object', 'x', {}, 'c'),
    ])
    t.match(answers, [
      { id: 'a', result: [0, {}] },
      { id: null, error: { code: -32700 } },
      { id: 'c', error: { code: -32000 } },
    ])
  })

  t.test('a session ends when it was not used for 300 s', async (t) => {
    const code = async (from: string) => (await ask(from, 'system', 'info')).error?.code
    const other = await login()
    for (let i = 0; i < 3; i++) {
      await wait(200)
      t.equal(await code(sid), undefined, 'each use starts the time again')
    }
    t.equal(await code(other), -32002)
    await wait(299)
    t.equal(await code(sid), undefined)
    await wait(300)
    t.equal(await code(sid), -32002)
  })

  t.test('only POST, and nothing else where nothing is', async (t) => {
    t.equal((await fetch(`${router.url}/ubus`)).status, 400)
    for (const path of ['/nothing', '/api/login', '/ubus/call/system']) {
      const response = await raw('{}', path)
      t.equal(response.status, 404, path)
      t.match(response.headers.get('content-type'), 'text/html')
    }
    router.command('ubus off')
    t.equal((await raw(JSON.stringify(envelope(nobody, 'session', 'login')))).status, 404)
    router.command('ubus on')
  })
})

t.test('session', async (t) => {
  const { ask, tryLogin, login, call, router, wait } = await simulate(t)
  t.match((await tryLogin()).result, [
    0,
    { ubus_rpc_session: /^[0-9a-f]{32}$/, timeout: 300, expires: 300, data: { username: 'admin' }, acls: { ubus: {} } },
  ])
  t.strictSame((await tryLogin('wrong')).result, [6])
  t.strictSame((await tryLogin(pswd, 'root')).result, [6])
  t.strictSame((await ask(nobody, 'session', 'login', { username: 'admin' })).result, [2])
  t.strictSame((await ask(nobody, 'session', 'login', { username: 'admin', password: 1 })).result, [2])
  t.strictSame(
    (await ask(nobody, 'session', 'access', { scope: 'ubus', object: 'uci', function: 'get' })).result?.[1],
    { access: false },
  )
  const sid = await login()
  t.strictSame(await call('session', 'access', { scope: 'ubus', object: 'uci', function: 'get' }), { access: true })
  t.equal(await call('session', 'destroy'), 'done')
  t.equal((await ask(sid, 'system', 'info')).error?.code, -32002)

  const forever = (await ask(nobody, 'session', 'login', { username: 'admin', password: pswd, timeout: 0 })).result?.[1]
  await wait(86_400)
  t.equal((await ask(forever?.ubus_rpc_session ?? '', 'system', 'info')).result?.[0], 0, 'timeout 0 does not end')
  router.command('password admin another')
  t.equal(
    (await ask(forever?.ubus_rpc_session ?? '', 'system', 'info')).result?.[0],
    0,
    'a new password ends no session',
  )
  t.strictSame((await tryLogin()).result, [6])
  t.strictSame((await tryLogin('another')).result?.[0], 0)
})

t.test('failed logins block', async (t) => {
  const fail = async (rig: Awaited<ReturnType<typeof simulate>>, times: number) => {
    for (let i = 0; i < times; i++) await rig.tryLogin(`wrong ${i}`)
  }

  t.test('at the tenth the right password is wrong too, for as long as the block lasts', async (t) => {
    const rig = await simulate(t, { firmware: 'RUTX_R_00.07.08' })
    await fail(rig, 9)
    t.equal((await rig.tryLogin()).result?.[0], 0, 'one below the limit')
    await fail(rig, 9)
    t.equal((await rig.tryLogin()).result?.[0], 0, 'a login that succeeds counts from 0 again')
    await fail(rig, 10)
    t.ok(rig.router.blocked)
    t.strictSame((await rig.tryLogin()).result, [6])
    await rig.wait(599)
    t.strictSame((await rig.tryLogin()).result, [6])
    await rig.wait(1)
    t.equal((await rig.tryLogin()).result?.[0], 0)
    t.equal(rig.router.describe().includes('blocked'), false)
  })

  t.test('a restart ends it where that is configured; REST and ubus count together', async (t) => {
    const rig = await simulate(t, { transports: ['ubus', 'rest'], reboot_s: 60 })
    await rig.login()
    const section = Object.keys((await rig.call('uci', 'get', { config: 'ip_blockd' })).values)[0]
    t.equal(section, 'ip_blockd')
    const values = { max_attempt_count: 20, reboot_clear: 1, enabled_time_based: false }
    t.equal(await rig.call('uci', 'set', { config: 'ip_blockd', section, values }), 'done')
    t.equal(await rig.call('uci', 'commit', { config: 'ip_blockd' }), 'done')
    await fail(rig, 10)
    for (let i = 0; i < 9; i++)
      t.match(await rig.restLogin('no'), { status: 401, success: false, errors: [{ code: 121 }] })
    t.notOk(rig.router.blocked)
    await rig.restLogin('no')
    t.ok(rig.router.blocked)
    t.match(await rig.restLogin(), { status: 401 })
    await rig.wait(100_000)
    t.ok(rig.router.blocked, 'not time-based')
    rig.router.command('reboot')
    await rig.back(60)
    t.notOk(rig.router.blocked)
    t.equal((await rig.tryLogin()).result?.[0], 0)
  })

  t.test('before 7.11 the section has no name', async (t) => {
    const rig = await simulate(t, { firmware: 'RUTX_R_00.07.06', loginLimit: 3 })
    await rig.login()
    const { values } = await rig.call('uci', 'get', { config: 'ip_blockd' })
    t.match(Object.values(values), [
      { '.anonymous': true, '.type': 'globals', max_attempt_count: '3', reboot_clear: '0' },
    ])
    await fail(rig, 3)
    t.ok(rig.router.blocked)
    rig.router.command('reboot 5')
    await rig.back(5)
    t.ok(rig.router.blocked, 'reboot_clear is 0')
  })

  t.test('the legacy one lasts until a person ends it', async (t) => {
    const rig = await simulate(t, { generation: 'legacy' })
    await fail(rig, 10)
    await rig.wait(86_400)
    t.strictSame((await rig.tryLogin()).result, [6])
    rig.router.command('unblock')
    t.equal((await rig.tryLogin()).result?.[0], 0)
  })
})

t.test('uci', async (t) => {
  const rig = await simulate(t)
  const { call, login, router, wait } = rig
  const first = await login()
  const apn = { config: 'network', section: 'mob1s1a1', option: 'apn' }

  t.test('reads configurations, sections, options and lists', async (t) => {
    t.match(await call('uci', 'get', { config: 'network', section: 'mob1s1a1' }), {
      values: {
        '.anonymous': false,
        '.type': 'interface',
        '.name': 'mob1s1a1',
        '.index': Number,
        proto: 'wwan',
        modem: '3-1',
      },
    })
    t.strictSame(await call('uci', 'get', apn), { value: '' })
    t.match(await call('uci', 'get', { config: 'uhttpd', section: 'main', option: 'listen_http' }), {
      value: ['0.0.0.0:80'],
    })
    t.match(await call('uci', 'get', { config: 'simcard', section: '@sim[0]' }), { values: { position: '1' } })
    t.match(await call('uci', 'get', { config: 'simcard', section: '@sim[-1]' }), { values: { position: '2' } })
    t.equal(Object.keys((await call('uci', 'get', { config: 'network', type: 'interface' })).values).length, 4)
    t.equal(Object.keys((await call('uci', 'get', { config: 'simcard', match: { position: 2 } })).values).length, 1)
    for (const missing of [{ config: 'no' }, { config: 'network', section: 'no' }, { ...apn, option: 'no' }]) {
      t.equal(await call('uci', 'get', missing), 4)
    }
    t.equal(await call('uci', 'get', {}), 2)
    t.ok((await call('uci', 'configs')).configs.includes('ping_reboot'))
  })

  t.test('what is set waits in the session, as text, until it is committed', async (t) => {
    const values = { apn: 'internet', metric: 7, deny_roaming: true, dns: ['9.9.9.9', 1] }
    t.equal(await call('uci', 'set', { config: 'network', section: 'mob1s1a1', values }), 'done')
    t.strictSame(await call('uci', 'get', apn), { value: 'internet' })
    t.match(await call('uci', 'changes', { config: 'network' }), { changes: [['set', 'mob1s1a1', 'apn', 'internet']] })
    t.equal(router.configured('network', 'mob1s1a1', 'apn'), '')
    await login()
    t.strictSame(await call('uci', 'get', apn), { value: '' }, 'another session does not see it')
    t.equal(await call('uci', 'commit', { config: 'network' }), 'done')
    t.equal(router.configured('network', 'mob1s1a1', 'apn'), '', 'nor can it commit it')
    await rig.ask(first, 'uci', 'commit', { config: 'network' })
    t.match((await call('uci', 'get', { config: 'network', section: 'mob1s1a1' })).values, {
      apn: 'internet',
      metric: '7',
      deny_roaming: '1',
      dns: ['9.9.9.9', '1'],
    })
    router.command('set network.mob1s1a1.deny_roaming 0')
  })

  t.test('pending changes end with their session, and with revert', async (t) => {
    await login()
    await call('uci', 'set', { config: 'network', section: 'mob1s1a1', values: { apn: 'lost' } })
    await wait(400)
    t.equal(await call('uci', 'commit', { config: 'network' }), -32002)
    await login()
    t.equal(await call('uci', 'commit', { config: 'network' }), 'done')
    await call('uci', 'set', { config: 'network', section: 'mob1s1a1', values: { apn: 'reverted' } })
    await call('uci', 'revert', { config: 'network' })
    await call('uci', 'commit', { config: 'network' })
    t.equal(router.configured('network', 'mob1s1a1', 'apn'), 'internet')
  })

  t.test('sections are added, renamed and deleted', async (t) => {
    const { section } = await call('uci', 'add', {
      config: 'ping_reboot',
      type: 'ping_reboot',
      values: { host: '1.1.1.1' },
    })
    t.match(section, /^cfg[0-9a-f]{6}$/)
    t.match(await call('uci', 'get', { config: 'ping_reboot', section: '@ping_reboot[1]' }), {
      values: { host: '1.1.1.1' },
    })
    t.equal(await call('uci', 'rename', { config: 'ping_reboot', section, name: 'mine' }), 'done')
    t.equal(await call('uci', 'delete', { config: 'ping_reboot', section: 'mine', option: 'host' }), 'done')
    t.match((await call('uci', 'get', { config: 'ping_reboot', section: 'mine' })).values, { '.anonymous': false })
    t.equal(await call('uci', 'delete', { config: 'ping_reboot', section: 'mine' }), 'done')
    t.equal(await call('uci', 'get', { config: 'ping_reboot', section: 'mine' }), 4)
    t.strictSame(await call('uci', 'apply', { rollback: false }), 'done')
  })

  t.test('rejects what is no value', async (t) => {
    for (const values of [{ apn: null }, { apn: { a: 1 } }, { apn: [['x']] }, { 'a b': '1' }, 'text', undefined]) {
      t.equal(await call('uci', 'set', { config: 'network', section: 'mob1s1a1', values }), 2)
    }
    t.equal(await call('uci', 'set', { config: 'network', section: 'nowhere', values: { a: '1' } }), 4)
    t.equal(await call('uci', 'set', { config: 'network', values: { a: '1' } }), 2)
  })
})

t.test('the objects of 7.x have the shapes of the reference', async (t) => {
  const { call, login, router, wait } = await simulate(t)
  await login()
  const { imei, serial, mac } = router.identity
  const shapes: [object: string, method: string, args: object, shape: unknown][] = [
    [
      'system',
      'info',
      {},
      { localtime: Number, uptime: 3600, load: [Number, Number, Number], memory: { total: Number } },
    ],
    ['system', 'board', {}, { kernel: '5.4.147', board_name: 'teltonika,rutx', release: { version: '21.02.0' } }],
    ['mnfinfo', 'get', {}, { mnfinfo: { mac, serial, name: String, hwver: String, batch: String, blver: String } }],
    ['gsm', 'info', {}, { mdm_stats: { num_modems: 1 } }],
    ['gsm.modem0', 'info', {}, { usb_id: '3-1', operator_scan: true, cache: { imei, imsi: '246031234567890' } }],
    ['gsm.modem0', 'get_signal_query', {}, { net_mode: 'LTE', rssi: -57, rsrp: Number, rsrq: Number, sinr: Number }],
    ['gsm.modem0', 'get_service_provider', {}, { plmn: 24603, full_name: 'Nordmobil', short_name: 'NORD' }],
    ['gsm.modem0', 'get_net_reg_stat', {}, { status_id: 1, status: 'Registered, home', act_id: 8, act: 'E-UTRAN' }],
    ['gsm.modem0', 'get_net_reg_stat_all', {}, { creg: { status_id: 1 }, cereg: { ci: String } }],
    ['gsm.modem0', 'get_network_info', {}, { net_mode: 'LTE', opernum: '24603' }],
    ['gsm.modem0', 'get_ps_att_state', {}, { state_id: 2, state: 'Attached' }],
    ['gsm.modem0', 'get_pin_state', {}, { state_id: 1, state: 'OK' }],
    ['gsm.modem0', 'get_iccid', {}, { iccid: '8937003123456789014' }],
    ['gsm.modem0', 'get_imsi', {}, { imsi: '246031234567890' }],
    ['gsm.modem0', 'get_firmware', {}, { firmware: String }],
    ['gsm.modem0', 'get_temperature', {}, { temperature_value: 385 }],
    ['gsm.modem0', 'get_sim_slot', {}, { index: 1 }],
    ['gsm.modem0', 'get_operator_selection', {}, { mode_id: 1, mode: 'auto' }],
    ['vuci.system', 'version', {}, { version: 'RUTX_R_00.07.06' }],
    ['vuci.network.mobile', 'get_all_modems', {}, { modems: [{ id: '3-1', sim_count: 2 }] }],
    ['vuci.network.mobile', 'mobile_info', { modem: '3-1' }, { mobile: { signal: '-57', imsi: '246031234567890' } }],
    ['vuci.network.mobile', 'mobile_status', {}, { mobile: [{ simstate: /^SIM 1/ }] }],
    ['mdcollect', 'get_raw_total', { modem: '3-1' }, { rx: Number, tx: Number }],
    ['network.interface.mob1s1a1', 'status', {}, { up: true, 'ipv4-address': [] }],
    ['network.interface.mob1s1a1_4', 'status', {}, { up: true, 'ipv4-address': [{ address: String, mask: 30 }] }],
    ['network.device', 'status', { name: 'br-lan' }, { macaddr: '00:1e:42:00:00:10', carrier: true }],
    ['network.wireless', 'status', {}, { radio0: { interfaces: [{ config: { mode: 'ap', key: String } }] } }],
    ['iwinfo', 'info', { device: 'wlan0' }, { ssid: String, bssid: /^(..:){5}..$/ }],
    ['file', 'read', { path: '/etc/version' }, { data: 'RUTX_R_00.07.06\n' }],
    ['file', 'exec', { command: 'cat', params: ['/etc/version'] }, { code: 0, stdout: 'RUTX_R_00.07.06\n' }],
    ['file', 'exec', { command: 'mnf_info', params: ['--sn'] }, { code: 0, stdout: `${serial}\n` }],
    ['file', 'exec', { command: 'gsmctl', params: ['-i'] }, { code: 0, stdout: `${imei}\n` }],
  ]
  for (const [object, method, args, shape] of shapes)
    t.match(await call(object, method, args), shape, `${object}.${method}`)
  t.equal(await call('network.interface.ppp', 'status'), -32000)
  const before = await call('mdcollect', 'get_raw_total')
  await wait(100)
  t.ok((await call('mdcollect', 'get_raw_total')).rx > before.rx)

  t.test('vuci objects went with 7.08', async (t) => {
    router.command('firmware RUTX_R_00.07.08')
    t.equal(await call('vuci.system', 'version'), -32000)
    router.command('firmware RUTX_R_00.07.06')
  })

  t.test('file.exec runs no shell, knows its programs, and says nothing of empty streams', async (t) => {
    const exec = (command: string, ...params: string[]) => call('file', 'exec', { command, params })
    t.equal(await exec('no-such-program'), 4)
    t.equal(await exec('constructor'), 4)
    t.equal(await call('file', 'exec', { command: 'cat', params: [1] }), 2)
    t.match(await exec('/bin/sh', '-c', 'echo $(id)'), { code: 2, stderr: /^sh: not simulated/ })
    t.match(await exec('cat', '/etc/shadow'), { code: 1, stderr: /No such file/ })
    t.strictSame(await exec('gsmctl', '-q'), { code: 0, stdout: 'RSSI: -57\nRSRP: -85\nRSRQ: -10\nSINR: 13\n' })
  })
})

t.test('legacy: root, gsmctl, no gsm objects', async (t) => {
  const { call, login, exec, shell, during, router, wait } = await simulate(t, { generation: 'legacy', select_s: 5 })
  await login()
  t.equal(router.firmware, 'RUT9XX_R_00.06.09.5')
  for (const object of ['gsm', 'gsm.modem0', 'mnfinfo', 'mctl', 'vuci.system', 'ip_block']) {
    t.equal(await call(object, 'info'), -32000, object)
  }
  const flags: [string, string | RegExp][] = [
    ['-i', `${router.identity.imei}\n`],
    ['-q', '-57\n'],
    ['-WZM', '-85\n13\n-10\n'],
    ['-X', 'N/A\n'],
    ['-g', 'registered (home)\n'],
    ['-o', 'Nordmobil\n'],
    ['-f', '24603\n'],
    ['-t', 'LTE\n'],
    ['-j', 'Connected\n'],
    ['-z', 'inserted\n'],
    ['-x', '246031234567890\n'],
    ['-J', '8937003123456789014\n'],
    ['-c', '385\n'],
    ['-C', /^\d+\n$/],
  ]
  for (const [flag, stdout] of flags) t.match(await exec('gsmctl', flag), { code: 0, stdout }, flag)
  t.match(await exec('gsmctl', '-e', 'wwan0'), { stdout: /^\d+\n$/ })
  t.match(await exec('gsmctl', '-@'), { code: 1, stderr: /Usage/ })
  t.match(await exec('mnf_info', 'sn'), { stdout: `${router.identity.serial}\n` })

  t.test('the configuration takes effect when the network is reloaded', async (t) => {
    const values = { apn: 'wrong', auto_apn: '0', mode: 'auto' }
    await call('uci', 'set', { config: 'simcard', section: 'sim1', values })
    await call('uci', 'commit', { config: 'simcard' })
    await wait(60)
    t.ok(router.connected, 'not by the commit')
    t.match(await exec('/etc/init.d/network', 'reload'), { code: 0 })
    await wait(60)
    t.notOk(router.connected)
    router.command('set simcard.sim1.apn internet')
    await call('network.interface.ppp', 'down')
    await call('network.interface.ppp', 'up')
    await wait(60)
    t.ok(router.connected)
  })

  t.test('a scan outlives the limit of file.exec: it needs the background', async (t) => {
    t.equal(await during(exec('gsmctl', '-A', 'AT+COPS=?'), 120), 7)
    await wait(100)
    t.strictSame(await shell(scanScript), { code: 0 })
    t.match(await exec('cat', '/tmp/rtk-base-scan'), { code: 1 })
    t.match(await exec('gsmctl', '-q'), { code: 1, stderr: /busy/ })
    await wait(200)
    const { stdout } = await exec('cat', '/tmp/rtk-base-scan')
    t.match(stdout, /^\+COPS: \(2,"Nordmobil","NORD","24603",7\),/)
    t.match(stdout, /OK\nrtk-base: done\n$/)
  })

  t.test('an operator is selected by AT command', async (t) => {
    t.match(await during(exec('gsmctl', '-A', 'AT+COPS=1,2,"24601"'), 5), { code: 0, stdout: 'OK\n' })
    await wait(30)
    t.match(await exec('gsmctl', '-A', 'AT+COPS?'), { stdout: '+COPS: 1,2,"24601",7\nOK\n' })
    t.match(await exec('gsmctl', '-g'), { stdout: 'registered (roaming)\n' })
    t.match(await exec('gsmctl', '-A', 'AT+COPS=1,2,"x"'), { code: 1, stdout: /CME ERROR/ })
  })
})

t.test('the modem', async (t) => {
  const options = { select_s: 10, register_s: 8, modemBoot_s: 20, sessionLife_s: 86_400 }

  t.test('a new APN restarts the mobile connection; a wrong one makes none', async (t) => {
    const { call, login, router, wait } = await simulate(t, options)
    await login()
    const setApn = async (values: object) => {
      await call('uci', 'set', { config: 'network', section: 'mob1s1a1', values })
      await call('uci', 'commit', { config: 'network' })
    }
    t.ok(router.connected)
    await setApn({ apn: 'internet', auto_apn: '0', auth: 'none' })
    t.notOk(router.connected, 'lost at once')
    t.match(await call('gsm.modem0', 'get_net_reg_stat'), { status_id: 2 })
    await wait(11)
    t.ok(router.connected)
    await setApn({ apn: 'wrong' })
    await wait(600)
    t.notOk(router.connected)
    t.match(await call('gsm.modem0', 'get_net_reg_stat'), { status_id: 1 }, 'registered nevertheless')
    t.match(await call('network.interface.mob1s1a1', 'status'), { up: false })
    t.equal(await call('network.interface.mob1s1a1_4', 'status'), -32000)
    await setApn({ auto_apn: '1' })
    await wait(11)
    t.ok(router.connected)
    router.command('swap 310410123456789 8901410321111851072 private user secret')
    await setApn({ apn: 'private', auto_apn: '0', auth: 'pap', username: 'user', password: 'no' })
    await wait(60)
    t.notOk(router.connected)
    await setApn({ password: 'secret' })
    await wait(11)
    t.ok(router.connected)
    t.notMatch(router.describe(), /secret/)
  })

  t.test('a scan takes 200 s without a connection, and lists every operator', async (t) => {
    const { call, login, router, wait } = await simulate(t, options)
    await login()
    const running = call('gsm.modem0', 'scan_operators')
    await until(() => router.describe().includes('scanning'), 'the scan')
    t.notOk(router.connected)
    t.match(await call('gsm.modem0', 'get_signal_query'), { errno: -16, error: String })
    t.match(await call('gsm.modem0', 'scan_operators'), { errno: -16 })
    await wait(199)
    t.notOk(router.connected)
    await wait(1)
    const { operators } = await running
    t.equal(operators.length, 8)
    t.match(operators[0], { oper_name: 'Nordmobil', oper_num: '24603', state_id: 2, state: 'Current', act: 'E-UTRAN' })
    t.match(operators[3], { oper_num: '24602', state: 'Forbidden', act: 'GSM' })
    t.match(operators[5], { oper_num: '00101' })
    await wait(11)
    t.ok(router.connected)
    router.command('operator-control off')
    t.match(await call('gsm.modem0', 'info'), { operator_scan: false })
    t.match(await call('gsm.modem0', 'scan_operators'), { errno: -95 })
  })

  t.test('an operator by hand: accepted, then registered, denied or never found', async (t) => {
    const { call, login, router, during, wait } = await simulate(t, options)
    await login()
    const select = (args: object) => during(call('gsm.modem0', 'set_operator_selection', args), 10)
    const registration = async () => (await call('gsm.modem0', 'get_net_reg_stat')).status_id
    t.match(await select({ mode: 'manual', format: 'numeric', operator: '24601' }), { status_id: 0 })
    t.equal(await registration(), 2)
    await wait(8)
    t.equal(await registration(), 5)
    t.match(await call('gsm.modem0', 'get_operator_selection'), { mode: 'manual', operator: '24601', format_id: 3 })
    await select({ mode: 'manual', operator: '24602' })
    await wait(60)
    t.equal(await registration(), 3, 'forbidden')
    t.notOk(router.connected)
    await select({ mode: 'manual', operator: '99999' })
    await wait(600)
    t.equal(await registration(), 2, 'searches for ever')
    await select({ mode: 'manual-auto', operator: '99999' })
    await wait(60)
    t.equal(await registration(), 1, 'falls back')
    await select({ mode: 'manual', operator: '24601' })
    router.command('set network.mob1s1a1.metric 9')
    await wait(60)
    t.equal(await registration(), 1, 'a reload of the mobile network forgets what was not configured')
    await call('uci', 'set', {
      config: 'simcard',
      section: '@sim[0]',
      values: { operator: 'manual', opernum: '24608' },
    })
    await call('uci', 'commit', { config: 'simcard' })
    await wait(60)
    t.match(await call('gsm.modem0', 'get_service_provider'), { plmn: 24608 })
    for (const args of [{}, { mode: 'by hand' }, { mode: 'manual' }, { mode: 'manual', operator: 'x' }]) {
      t.match(await call('gsm.modem0', 'set_operator_selection', args), { errno: -22 })
    }
  })

  t.test('SIM and signal', async (t) => {
    const { call, login, router, wait } = await simulate(t, options)
    await login()
    const states: [string, number][] = [
      ['absent', 10],
      ['pin', 4],
      ['puk', 5],
      ['error', 13],
    ]
    for (const [state, state_id] of states) {
      router.command(`sim ${state}`)
      t.match(await call('gsm.modem0', 'get_pin_state'), { state_id }, state)
      t.match(await call('gsm.modem0', 'get_imsi'), { errno: -19 }, state)
      t.match(await call('gsm.modem0', 'get_net_reg_stat'), { status_id: 0 }, state)
      t.notOk(router.connected)
    }
    router.command('swap 310410123456789 8901410321111851072')
    router.command('technology NR')
    await wait(20)
    t.match(await call('gsm.modem0', 'get_iccid'), { iccid: '8901410321111851072' })
    t.match(await call('gsm.modem0', 'get_service_provider'), { plmn: 310410, full_name: 'Far "West", Inc.' })
    t.match(await call('gsm.modem0', 'get_signal_query'), { net_mode: '5G-NSA' })
    router.command('signal -111')
    t.match(await call('gsm.modem0', 'get_signal_query'), { rssi: -111, sinr: -14 })
    router.command('signal off')
    t.match(await call('gsm.modem0', 'get_signal_query'), { errno: -61 })
    t.notOk(router.connected)
    router.command('temperature off')
    t.match(await call('gsm.modem0', 'get_temperature'), { errno: -95 })
  })

  t.test('restarts take the modem and its object away', async (t) => {
    const { call, login, exec, rest, restLogin, router, wait } = await simulate(t, {
      ...options,
      transports: ['ubus', 'rest'],
    })
    await login()
    await restLogin()
    t.equal(await call('mctl', 'reboot', { id: '9-9' }), 4)
    t.equal(await call('mctl', 'reboot', { id: '3-1' }), 'done')
    t.equal(await call('gsm.modem0', 'info'), -32000)
    t.match(await exec('gsmctl', '-q'), { code: 1 })
    t.match(await rest('GET', 'modems/status'), { data: [{ id: '3-1', offline: '1' }] })
    await wait(20)
    t.match(await call('gsm.modem0', 'get_net_reg_stat'), { status_id: 2 })
    await wait(11)
    t.ok(router.connected)
    t.match(await exec('gsmctl', '-Q'), { code: 0 })
    t.equal(await call('gsm.modem0', 'info'), -32000)
  })
})

t.test('REST', async (t) => {
  const rig = await simulate(t, { transports: ['rest'], select_s: 10 })
  const { rest, restLogin, router, raw, wait, during, back } = rig
  t.equal(router.firmware, 'RUTX_R_00.07.20')
  t.equal((await raw('{}')).status, 404, 'no /ubus')
  t.match(await rest('GET', 'unauthorized/status'), { status: 200, success: true })
  t.match(await rest('GET', 'modems/status'), { status: 403, success: false, errors: [{ code: 120 }] })
  t.match(await rest('POST', 'login', { username: 'admin' }), { status: 422, errors: [{ code: 122 }] })
  t.match(await restLogin('wrong'), { status: 401, errors: [{ code: 121 }] })
  t.match(await restLogin(), { status: 200, data: { username: 'admin', token: /^[0-9a-f]{32}$/, expires: 299 } })
  await wait(301)
  t.match(await rest('GET', 'modems/status'), { status: 401, errors: [{ code: 123 }] })
  await restLogin()

  t.test('shapes', async (t) => {
    const { serial, mac, imei } = router.identity
    const shapes: [path: string, shape: unknown][] = [
      ['session/status', { active: true }],
      [
        'system/device/usage/status',
        { uptime: '01h 05m 01s', uptime_seconds: 3901, localtime: Number, load: { min1: String } },
      ],
      [
        'system/device/status',
        { mnfinfo: { serial, mac }, static: { fw_version: 'RUTX_R_00.07.20' }, board: { modems: [{ id: '3-1' }] } },
      ],
      [
        'modems/status',
        [{ id: '3-1', imei, state: 'Connected', signal: -57, rsrp: '-85', netstate_id: 1, operator: 'Nordmobil' }],
      ],
      ['modems/status/3-1', { imsi: '246031234567890', temperature: 385, simstate: 'Inserted' }],
      ['interfaces/config/mob1s1a1', { id: 'mob1s1a1', apn: '', auto_apn: '1' }],
      ['modems/3-1/sim_cards/config', [{ id: '1' }, { id: '2' }]],
      ['modems/3-1/sim_cards/config/1', { id: '1', operator: 'auto' }],
      ['auto_reboot/ping_wget/config', [{ id: /^cfg/, enable: '0', host: ['8.8.8.8'] }]],
      ['access_control/security/config', { max_attempt_count: '10' }],
      ['wireless/interfaces/status', [{ bssid: String, ssid: String }]],
      ['wireless/interfaces/config', [{ key: String }]],
    ]
    for (const [path, data] of shapes) t.match(await rest('GET', path), { status: 200, success: true, data }, path)
    t.match(await rest('GET', 'modems/status/9-9'), { status: 404, success: false })
    t.match(await rest('GET', 'interfaces/config/nowhere'), { status: 404, errors: [{ code: 113 }] })
    t.match(await rest('GET', 'no/such/path'), { status: 501, errors: [{ code: 100 }] })
    t.match(await rest('GET', 'sim_cards/config/1'), { status: 501 }, 'moved below the modem')
  })

  t.test('writes are committed and take effect', async (t) => {
    const apn = { apn: 'wrong', auto_apn: false, auth: 'none' }
    t.match(await rest('PUT', 'interfaces/config/mob1s1a1', apn), {
      status: 200,
      data: { apn: 'wrong', auto_apn: '0' },
    })
    await wait(60)
    t.notOk(router.connected)
    await rest('PUT', 'interfaces/config/mob1s1a1', { apn: 'internet' })
    await wait(60)
    t.ok(router.connected)
    t.match(await rest('PUT', 'modems/3-1/sim_cards/config/1', { operator: 'manual', opernum: '24601' }), {
      status: 200,
    })
    await wait(60)
    t.match(await rest('GET', 'modems/status/3-1'), {
      data: { operator: 'Baltcell', netstate: 'Roaming', cell_info: [{ mcc: '246', mnc: '01' }] },
    })
    t.match(await rest('PUT', 'access_control/security/config', { max_attempt_count: 20, nonsense: 1 }), {
      status: 422,
      errors: [{ code: 103, source: 'nonsense' }],
    })
    t.match(await rest('PUT', 'access_control/security/config', { max_attempt_count: 20 }), { status: 200 })
    t.match(await rest('POST', 'auto_reboot/ping_wget/config', { host: ['1.1.1.1'], enable: 1 }), {
      data: { id: /^cfg/ },
    })
    t.match(await rest('PUT', 'interfaces/config/mob1s1a1', { apn: { a: 1 } }), { status: 422 })
  })

  t.test('a scan', async (t) => {
    const { data } = await during(rest('POST', 'modems/3-1/actions/scan_network'), 200)
    t.match(data[0], { net_access_type: '4G', status_code: Number, op_name: 'Nordmobil', num_name: '24603' })
    await restLogin()
    t.match(await rest('POST', 'modems/3-1/actions/reboot'), { status: 200 })
    t.match(await rest('POST', 'modems/3-1/actions/reboot'), { status: 422 }, 'it is away')
    await wait(60)
  })

  t.test('firmware is uploaded, verified and flashed', async (t) => {
    await restLogin()
    const token = (await restLogin()).data.token
    const upload = async (image: Buffer) => {
      const body = new FormData()
      body.set('file', new Blob([new Uint8Array(image)]), 'firmware.bin')
      body.set('keep_settings', '1')
      const headers = { authorization: `Bearer ${token}` }
      return (
        await fetch(`${router.url}/api/firmware/actions/upload_device_firmware`, { method: 'POST', headers, body })
      ).json()
    }
    t.match(await rest('POST', 'firmware/actions/upgrade', {}), { status: 422 }, 'nothing was uploaded')
    t.match(await upload(Buffer.from('no image')), { success: true })
    t.match(await rest('POST', 'firmware/actions/verify'), { data: { valid: '0' } })
    t.match(await upload(firmwareImage('RUT2M_R_00.07.24')), { success: true })
    t.match(await rest('POST', 'firmware/actions/verify'), { data: { valid: '0', error: /not supported/ } })
    t.match(await upload(firmwareImage('RUTX_R_00.07.24', 300_000)), { success: true })
    t.match(await rest('POST', 'firmware/actions/verify'), { data: { valid: '1' } })
    t.match(await rest('POST', 'firmware/actions/upgrade', { keep_settings: '1' }), { status: 200 })
    await wait(3)
    t.notOk(router.listening)
    await back(180)
    t.equal(router.firmware, 'RUTX_R_00.07.24')
    t.equal(router.configured('network', 'mob1s1a1', 'apn'), 'internet', 'settings are kept')
  })

  t.test('hostile requests', async (t) => {
    await restLogin()
    const post = (body: string, path = 'login') =>
      fetch(`${router.url}/api/${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    for (const body of ['', '[]', 'null', '{"username":', '"x"', '{"username":1,"password":{}}']) {
      t.equal((await post(body)).status, 422, body)
    }
    t.equal((await post('x'.repeat(70_000))).status, 413)
    t.equal((await post('{}', '../../etc/passwd')).status, 404)
    t.equal((await post('{}', 'constructor')).status, 403)
    const form = { method: 'POST', body: 'x', headers: { 'content-type': 'multipart/form-data; boundary=y' } }
    t.equal((await fetch(`${router.url}/api/firmware/actions/upload_device_firmware`, form)).status, 403)
    router.command('first-login on')
    t.match(await restLogin(), { status: 403, errors: [{ code: 125 }] })
  })
})

t.test('restart, factory reset, power', async (t) => {
  t.test('old releases answer and restart after 2 s; sessions, pending changes and /tmp are gone', async (t) => {
    const { call, login, router, wait, back, isRefused, tryLogin } = await simulate(t, { reboot_s: 60 })
    await login()
    await call('uci', 'set', { config: 'network', section: 'mob1s1a1', values: { apn: 'pending' } })
    await call('file', 'write', { path: '/tmp/x', data: 'x' })
    t.equal(await call('rpc-sys', 'reboot'), 'done')
    t.ok(router.listening)
    await wait(2)
    t.notOk(router.listening)
    t.match(router.describe(), /restarting/)
    t.ok(await isRefused())
    await back(60)
    const { url } = router
    t.equal(await call('system', 'info'), -32002)
    await login()
    t.match(await call('system', 'info'), { uptime: 0 })
    t.equal(await call('file', 'read', { path: '/tmp/x' }), 4)
    t.equal(await call('gsm.modem0', 'info'), -32000, 'the modem needs longer')
    await wait(20)
    t.match(await call('gsm.modem0', 'info'), { usb_id: '3-1' })
    await wait(20)
    t.ok(router.connected)
    t.equal(router.url, url)
    t.equal((await tryLogin()).result?.[0], 0)
  })

  t.test('new ones restart at once: the answer is lost, unless it is safe', async (t) => {
    const { call, login, router, back } = await simulate(t, { firmware: 'RUTX_R_00.07.20', reboot_s: 60 })
    await login()
    await t.rejects(call('rpc-sys', 'reboot'))
    t.notOk(router.listening)
    await back(60)
    await login()
    t.strictSame(await call('rpc-sys', 'reboot', { safe: true, args: ['-e'] }), { res: '0' })
  })

  t.test('factory reset forgets the configuration', async (t) => {
    const { call, login, router, wait, back } = await simulate(t)
    router.command('set network.mob1s1a1.apn mine')
    await login()
    t.equal(await call('rpc-sys', 'factory'), 'done')
    await wait(2)
    await back(180)
    t.equal(router.configured('network', 'mob1s1a1', 'apn'), '')
  })

  t.test('unplugged in the middle of a call; nothing is waited for afterwards', async (t) => {
    const { call, login, router, clock, back, tryLogin } = await simulate(t)
    await login()
    const idle = clock.pending
    t.equal(idle, 0, 'no timers while nobody asks')
    router.command('slow 60')
    const lost = t.rejects(call('system', 'info'))
    await until(() => clock.pending > 0, 'the call')
    router.command('unplug')
    await lost
    t.equal(clock.pending, 0)
    router.command('reboot')
    await back(1000)
    t.notOk(router.listening, 'without power nothing restarts')
    router.command('clear')
    router.command('replug')
    await back(90)
    t.equal((await tryLogin()).result?.[0], 0)
  })

  t.test('closed for good', async (t) => {
    const { router, clock, isRefused } = await simulate(t)
    await router.close()
    for (const line of ['replug', 'reboot', 'replace']) router.command(line)
    await clock.advance(1_000_000)
    t.ok(await isRefused())
    t.equal(clock.pending, 0)
  })

  t.test('the other generation installed', async (t) => {
    const { call, login, router } = await simulate(t, { generation: 'legacy' })
    await login()
    router.command('firmware RUTX_R_00.07.06')
    t.match(await call('uci', 'get', { config: 'network', section: 'mob1s1a1' }), { values: { proto: 'wwan' } })
    t.match(await call('gsm.modem0', 'info'), { usb_id: '3-1' })
  })

  t.test('the ping reboot strikes when the uplink is silent', async (t) => {
    const { call, login, router, wait, back } = await simulate(t)
    await login()
    router.command('uplink off')
    await wait(7200)
    t.ok(router.listening, 'it is off')
    await login()
    const values = { enable: '1', action: '1', host: '9.9.9.9', time: '5', retry: '2' }
    await call('uci', 'set', { config: 'ping_reboot', section: '@ping_reboot[0]', values })
    await call('uci', 'commit', { config: 'ping_reboot' })
    await wait(599)
    t.ok(router.listening)
    await wait(1)
    t.notOk(router.listening)
    await back(90)
    router.command('uplink on')
    await wait(7200)
    t.ok(router.listening)
  })

  t.test('firmware by URL: fetched, checked and flashed by the script of the station', async (t) => {
    const images: Record<string, Buffer> = {
      '/good.bin': firmwareImage('RUTX_R_00.07.08', 200_000),
      '/other.bin': firmwareImage('RUT9_R_00.07.08'),
      '/broken.bin': firmwareImage('RUTX_R_00.07.08').subarray(0, 1000),
    }
    const server = createServer((request, response) => {
      const image = images[request.url ?? '']
      if (request.url === '/moved.bin') response.writeHead(302, { location: '/good.bin' }).end()
      else if (image) response.end(image)
      else response.writeHead(404).end()
    }).listen(0, '127.0.0.1')
    await until(() => server.listening, 'the server')
    t.teardown(() => server.close())
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { login, shell, router, wait, back } = await simulate(t)
    await login()
    const flash = (url: string) => shell(firmwareScript, url)
    t.match(await flash(`${base}/missing.bin`), { code: 2, stderr: /404.*\nthe download failed/ })
    t.match(await flash('file:///etc/passwd'), { code: 2, stderr: /not an http/ })
    t.match(await flash(`${base}/other.bin`), { code: 3, stdout: /not supported/, stderr: /not for this router/ })
    t.match(await flash(`${base}/broken.bin`), { code: 3, stdout: /wrong digest/ })
    t.match(await flash(`${base}/moved.bin`), { code: 0 })
    await wait(3)
    t.ok(router.listening, 'the answer goes out first')
    await wait(3)
    t.notOk(router.listening)
    await back(180)
    t.equal(router.firmware, 'RUTX_R_00.07.08')
  })
})

t.test('https', async (t) => {
  /** Without checking: the fingerprint, the status and the text. */
  const secure = (url: string, body = '{}') =>
    new Promise<{ status: number; text: string; fingerprint256: string }>((resolve, reject) => {
      const request = httpsRequest(
        `${url}/ubus`,
        { method: 'POST', rejectUnauthorized: false, agent: false },
        (response) => {
          const peer = (response.socket as TLSSocket).getPeerX509Certificate() as X509Certificate
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => {
            text += chunk
          })
          response.on('end', () => {
            const fingerprint256 = peer.fingerprint256.replaceAll(':', '').toLowerCase()
            resolve({ status: response.statusCode ?? 0, text, fingerprint256 })
          })
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  const { router, raw, back } = await simulate(t, { https: true })

  t.test('plain HTTP answers 307 to the self-signed server', async (t) => {
    const response = await raw('{}', '/ubus?x=1', { redirect: 'manual' })
    t.equal(response.status, 307)
    t.equal(response.headers.get('location'), `${router.httpsUrl}/ubus?x=1`)
    const { status, text, fingerprint256 } = await secure(router.httpsUrl)
    t.equal(status, 200)
    t.match(text, /-32700/)
    t.equal(fingerprint256, router.fingerprint256)
    await t.rejects(fetch(`${router.httpsUrl}/ubus`), { cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } })
  })

  t.test('a new certificate, and another router', async (t) => {
    const before = router.fingerprint256
    const { mac } = router.identity
    router.command('certificate')
    t.not(router.fingerprint256, before)
    t.equal((await secure(router.httpsUrl)).fingerprint256, router.fingerprint256)
    t.equal(router.identity.mac, mac)
    const second = router.fingerprint256
    router.command('replace another')
    await back(0)
    t.not(router.fingerprint256, second)
    t.not(router.identity.mac, mac)
    t.equal((await secure(router.httpsUrl)).fingerprint256, router.fingerprint256)
  })

  t.test('without the redirect both answer', async (t) => {
    const { raw } = await simulate(t, { https: true, redirect: false })
    t.equal((await raw('{}')).status, 200)
  })
})

t.test('faults of the answers', async (t) => {
  const rig = await simulate(t, { transports: ['ubus', 'rest'] })
  const { router, raw, envelope, login, call, wait, clock } = rig
  const sid = await login()
  const info = () => raw(JSON.stringify(envelope(sid, 'gsm.modem0', 'get_signal_query')))

  t.test('garbage of every kind', async (t) => {
    const text = async (kind: string) => {
      router.command(`garbage ${kind} 1`)
      return (await info()).text()
    }
    await t.rejects(text('reset'))
    await t.rejects(text('cut'))
    t.throws(() => JSON.parse(''))
    for (const kind of ['json', 'html', 'empty', 'binary']) {
      const answer = await text(kind)
      t.throws(() => JSON.parse(answer), kind)
    }
    t.ok((await text('huge')).length > 8_000_000)
    t.match(await text('deep'), /^\[{20000}\]/)
    t.match(JSON.parse(await text('strings')), { result: [0, { rssi: '-57', net_mode: 'LTE' }] })
    t.match(JSON.parse(await text('wrong')), { result: [0, { rssi: null, net_mode: { value: 'LTE' } }] })
    t.match(JSON.parse(await text('id')), { id: 999_999 })
    t.match(await (await info()).json(), { result: [0, { rssi: -57 }] }, 'only as often as told')
  })

  t.test('limited to some calls', async (t) => {
    router.command('garbage html gsm.modem0')
    t.match(await call('system', 'info'), { uptime: Number })
    await t.rejects(call('gsm.modem0', 'info'))
    router.command('http 503 2 system')
    t.equal((await raw(JSON.stringify(envelope(sid, 'system', 'info')))).status, 503)
    t.match(router.describe(), /garbage html of gsm.modem0, http 503 ×1 of system/)
    router.command('clear')
    t.match(await call('gsm.modem0', 'info'), { usb_id: '3-1' })
  })

  t.test('slow answers come late; after 600 s the web server gives up', async (t) => {
    router.command('slow 60 gsm')
    let answered = false
    const running = call('gsm.modem0', 'get_signal_query').then((data) => {
      answered = true
      return data
    })
    await until(() => clock.pending >= 2, 'the call')
    await wait(59)
    t.notOk(answered)
    await wait(1)
    t.match(await running, { rssi: -57 })
    router.command('slow 700')
    t.equal(await rig.during(call('system', 'info'), 600), -32003)
    router.command('clear')
    await wait(100)
    await login()
  })

  t.test('rights, missing objects and failures', async (t) => {
    router.command('deny uci.set')
    t.equal(await call('uci', 'set', { config: 'network', section: 'lan', values: {} }), -32002)
    router.command('missing gsm.modem0')
    t.equal(await call('gsm.modem0', 'info'), -32000)
    router.command('missing gsm.modem0 off')
    router.command('fail gsm.modem0.info status 7')
    t.equal(await call('gsm.modem0', 'info'), 7)
    router.command('fail gsm.modem0.info errno -110 Timed out')
    t.strictSame(await call('gsm.modem0', 'info'), { errno: -110, error: 'Timed out' })
    router.command('clear')
  })

  t.test('it sees what is asked, without arguments, and how many logins at once', async (t) => {
    router.command('slow 1')
    const both = Promise.all([rig.tryLogin(), rig.tryLogin()])
    await until(() => router.logins.most === 2, 'both logins')
    await wait(1)
    await both
    router.command('clear')
    t.equal(router.mostRequests, 2)
    t.match(router.seen.at(-1), { call: 'session.login', status: 0 })
    t.notMatch(JSON.stringify(router.seen), pswd)
  })
})

t.test('hostile connections leave it well', async (t) => {
  const { router, tryLogin, raw } = await simulate(t)
  const port = Number(new URL(router.url).port)
  const send = (bytes: string | Buffer) =>
    new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
      socket.on('error', () => {})
      socket.on('close', () => resolve())
      socket.on('data', () => socket.destroy())
    })
  await send(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1]))
  await send('GET / HTTP/9.9\r\n\r\n')
  await send(`POST /ubus HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`)
  // It ends in the middle of its body.
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('POST /ubus HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{', () => socket.destroy())
  })
  await until(() => socket.destroyed, 'the end')
  for (const body of ['['.repeat(30_000), '{"jsonrpc":"2.0","__proto__":{"method":"call"}}', '[[],[[]]]', '\u0000']) {
    t.ok(await (await raw(body)).json(), 'answered')
  }
  t.equal((await tryLogin()).result?.[0], 0)
})

t.test('the language', async (t) => {
  const { router } = await simulate(t, { transports: ['ubus', 'rest'], https: true })
  const help = router.command('help')
  for (const line of help.split('\n')) t.match(line, /^sim-router [a-z-]+ .* {2}\S/)
  const lines = [
    'reboot 5',
    'unplug',
    'replug',
    'replace Xy9!',
    'certificate',
    'password admin S3cret,word',
    'expire',
    'block',
    'unblock',
    'first-login on',
    'firmware RUTX_R_00.07.08',
    'ubus off',
    'rest,off',
    'set network.mob1s1a1.apn internet',
    'set simcard.@sim[0].operator manual',
    'time 3600',
    'sim pin',
    'swap 310410123456789 8901410321111851072 internet',
    'signal -105',
    'technology WCDMA',
    'temperature 71.5',
    'forbid 24601',
    'operator-control off',
    'auto-apn off',
    'uplink off',
    'reboot-modem',
    'slow 60 gsm',
    'garbage json 3',
    'http 502',
    'fail system.info status 9',
    'missing gsm.modem0',
    'deny uci',
    'clear',
  ]
  for (const line of lines) {
    const said = router.command(line)
    t.notMatch(said, /\n/, line)
    t.notMatch(said, /S3cret|Xy9!/, line)
  }
  const told = new Set(lines.map((line) => line.split(/[ ,]/)[0]))
  const known = help.split('\n').map((line) => line.split(' ')[1] ?? '')
  t.strictSame([...told].sort(), known.sort(), 'each of the controls is tried here')
  t.match(router.describe(), /RUTX_R_00\.07\.08/)
  const bad = [
    'fly',
    'constructor',
    'sim',
    'sim gone',
    'signal',
    'signal x',
    'reboot -1',
    'garbage xml',
    'fail x y',
    'set a b',
    'forbid x',
  ]
  for (const line of bad) t.throws(() => router.command(line), { code: 'RTK_ERR_COMMAND_VALUE' }, line)
})

t.test('options', async (t) => {
  const defaults = Value.Default(RouterOptions, {})
  t.ok(Value.Check(RouterOptions, defaults))
  t.match(defaults, { generation: '7', scan_s: 200, sim: { state: 'ready' }, loginLimit: 10 })
  const clock = new ManualClock()
  const port = { now: () => 0, monotonic: () => 0, after: (ms: number, fn: () => void) => clock.timer(ms, fn) }
  const start = (options: object) => SimulatedTeltonika.start({ ...options, clock: port, network: systemNetwork })
  for (const options of [
    { generation: 'legacy', transports: ['rest'] },
    { generation: 'legacy', firmware: 'RUTX_R_00.07.06' },
    { firmware: 'nonsense' },
    { unit: 0 },
    { nonsense: true },
  ]) {
    await t.rejects(start(options), { code: 'RTK_ERR_COMMAND_VALUE' })
  }
  const legacy = await simulate(t, { generation: 'legacy', transports: ['ubus', 'rest'] })
  t.equal((await legacy.raw('{}', '/api/login')).status, 404)
  const first = await simulate(t, { unit: 1 })
  const second = await simulate(t, { unit: 2 })
  t.not(first.router.identity.mac, second.router.identity.mac)
  t.equal(first.router.identity.imei, '860000000000017')
})
