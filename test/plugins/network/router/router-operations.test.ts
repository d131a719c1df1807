/** The table of operations, against answers as they were recorded: every operation on every generation and transport. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  type Dialect,
  dialects,
  generationOf,
  versionIn,
} from '../../../../plugins/network/teltonika-router/operations/dialect.js'
import type { OperationName } from '../../../../plugins/network/teltonika-router/operations/operations.js'
import { Performer } from '../../../../plugins/network/teltonika-router/operations/performer.js'
import { table } from '../../../../plugins/network/teltonika-router/operations/table.js'
import type { Transport } from '../../../../plugins/network/teltonika-router/transport/call.js'
import { CertificatePin } from '../../../../plugins/network/teltonika-router/transport/certificate.js'
import { findTransport } from '../../../../plugins/network/teltonika-router/transport/find.js'
import { RtkError } from '../../../../runtime/errors.js'
import { packageRoot } from '../../../../runtime/platform/release.js'
import type { PluginContext } from '../../../../runtime/plugin.js'
import { createTestStation, probe } from '../../../harness/index.js'
import { FakeRouter, Status } from './fake-router.js'
import { operationsTable } from './operations-table.js'
import { current, legacy, rest } from './shapes.js'

const serial = { serial: '6000000001', macaddr: '00:1E:42:AA:BB:CC', hwbatch: '012' }
const scanned = [
  { plmn: '24602', name: 'LT BITE GSM', generation: '4G', status: 'current' },
  { plmn: '24601', name: 'OMNITEL LT', generation: '3G', status: 'available' },
  { plmn: '24603', name: 'TELE2', generation: '2G', status: 'forbidden' },
]
const registration = { network: 'home', operator: 'LT BITE GSM', plmn: 24602, technology: 'LTE', connected: true }
const sim = { state: 'ready', imsi: '246020000000001', iccid: '8937002000000000001' }
const apnWanted = { apn: 'fast', user: 'u', pswd: 'p', auth: 'pap' } as const
const unsupported = 'RTK_ERR_ROUTER_UNSUPPORTED'
const signal = { rssi_dbm: -57, rsrp_dbm: -105, rsrq_db: -20, sinr_db: -13 }

/** Operation → input, and on each column the answer, or the code of the error. */
const cases: { name: OperationName; input?: unknown; says: Record<Dialect, unknown> }[] = [
  { name: 'system', says: all({ uptime_s: 12_345, time_s: 1_763_700_000 }) },
  {
    name: 'version',
    says: { 'legacy/ubus': 'RUT9XX_R_00.06.09.5', '7/ubus': 'RUTX_R_00.07.04.5', '7/rest': 'RUTX_R_00.07.20' },
  },
  {
    name: 'board',
    says: {
      'legacy/ubus': { ...serial, hw: 'RUT95001XXXX', hwver: '0007' },
      '7/ubus': { ...serial, hw: 'RUTX1100XXXX', hwver: '0009' },
      '7/rest': { ...serial, hw: 'RUTX1100XXXX', hwver: '0009' },
    },
  },
  { name: 'deviceName', says: all('Roof') },
  { name: 'accessPoint', says: all({ bssid: '00:1E:42:AA:BB:CD', ssid: 'RUT_AABB', pswd: 'wifi;pass' }) },
  { name: 'reboot', says: all(true) },
  { name: 'factory', says: all(true) },
  {
    name: 'exec',
    input: { command: 'echo', params: ['x'] },
    says: { ...all({ code: 0, stdout: 'hello\n', stderr: '' }), '7/rest': unsupported },
  },
  {
    name: 'uciGet',
    input: { config: 'system', section: 'system', option: 'hostname' },
    says: { ...all('RUTX11'), '7/rest': unsupported },
  },
  {
    name: 'uciState',
    input: { config: 'system', section: 'system', option: 'hostname' },
    says: { ...all('RUTX11'), '7/rest': unsupported },
  },
  {
    name: 'uciSet',
    input: { config: 'system', section: 'system', values: { hostname: 'N' } },
    says: { ...all(true), '7/rest': unsupported },
  },
  { name: 'uciCommit', input: { config: 'system' }, says: { ...all(true), '7/rest': unsupported } },
  {
    name: 'modemIdentity',
    says: {
      'legacy/ubus': {
        imei: '860000000000009',
        model: 'EC25',
        manuf: 'Quectel',
        rev: 'EC25EFAR06A03M4G',
        operatorControl: true,
      },
      '7/ubus': {
        imei: '860000000000009',
        model: 'EG06',
        manuf: 'Quectel',
        rev: 'EG06ELAR04A04M4G',
        operatorControl: true,
      },
      '7/rest': {
        imei: '860000000000009',
        model: 'EG06',
        manuf: 'Quectel',
        rev: 'EG06ELAR04A04M4G',
        operatorControl: true,
      },
    },
  },
  {
    name: 'signal',
    says: {
      'legacy/ubus': { rssi_dbm: -57, rsrp_dbm: -88, rsrq_db: -9, sinr_db: 12.5 },
      '7/ubus': signal,
      '7/rest': signal,
    },
  },
  {
    name: 'registration',
    says: {
      'legacy/ubus': { ...registration, carrier: 'LT BITE GSM', cellId: '2C86309', packetService: 'attached' },
      '7/ubus': { ...registration, carrier: 'Bite', cellId: '46686985', packetService: 'attached' },
      '7/rest': { ...registration, carrier: 'Bite', cellId: '46686985', packetService: '' },
    },
  },
  { name: 'sim', says: all(sim) },
  { name: 'traffic', says: all({ sent: 1000, recvd: 2000 }) },
  { name: 'temperature', says: all({ celsius: 42.1 }) },
  { name: 'scanOperators', says: all(scanned) },
  { name: 'operatorSelection', says: { ...all({ plmn: '24603' }), 'legacy/ubus': { plmn: undefined } } },
  { name: 'selectOperator', input: { plmn: '24601' }, says: all(true) },
  { name: 'selectOperator', input: { plmn: undefined }, says: all(true) },
  { name: 'apn', says: all({ apn: 'internet', user: '', pswd: '', auth: 'none' }) },
  { name: 'setApn', input: apnWanted, says: all(true) },
  { name: 'rebootModem', says: all(true) },
  {
    name: 'pingReboot',
    says: { ...all({ enabled: false, host: '8.8.8.8', isList: true }), '7/rest': { enabled: false, host: '8.8.8.8' } },
  },
  { name: 'setPingReboot', input: { enabled: true, host: '1.1.1.1' }, says: all(true) },
  {
    name: 'ipBlock',
    says: {
      'legacy/ubus': { enabled: true, attempts: 10, clearedAtReboot: undefined },
      '7/ubus': { enabled: true, attempts: 10, clearedAtReboot: false },
      '7/rest': { enabled: true, attempts: 10, clearedAtReboot: false },
    },
  },
  { name: 'setIpBlock', input: { attempts: 20 }, says: all(true) },
  { name: 'modems', says: { ...all({ count: 1, used: 'Internal modem' }), 'legacy/ubus': unsupported } },
  { name: 'installFirmware', input: { url: 'http://h/fw.bin?a=%2F+b' }, says: { ...all(true), '7/rest': unsupported } },
]
function all<T>(value: T): Record<Dialect, T> {
  return { 'legacy/ubus': value, '7/ubus': value, '7/rest': value }
}

const noPause = async () => {}
const signalOff = new AbortController().signal

t.test('router operations', async (t) => {
  let ctx!: PluginContext
  const look = probe([], (given) => {
    ctx = given
  })
  const station = await createTestStation({ plugins: { probe: look } })
  t.teardown(() => station.stop())

  const connect = async (router: FakeRouter): Promise<Transport> => {
    const pin = new CertificatePin(ctx.store)
    const transport = await findTransport(ctx, router.url, pin, signalOff)
    await transport.login({ user: 'admin', pswd: 'right' }, signalOff)
    return transport
  }
  const made = {
    'legacy/ubus': () => new FakeRouter({ ubus: legacy().ubus }),
    '7/ubus': () => new FakeRouter({ ubus: current().ubus }),
    '7/rest': () => new FakeRouter({ rest: rest().rest }),
  } as const

  t.test('README.md has the table', (t) => {
    const readme = readFileSync(join(packageRoot(), 'plugins', 'network', 'teltonika-router', 'README.md'), 'utf8')
    const [, table] = /<!-- operations:[^\n]*-->\n([\s\S]*?)\n<!-- end of the operations -->/.exec(readme) ?? []
    t.equal(table, operationsTable())
    t.end()
  })

  t.test('every operation has a case', (t) => {
    const facts = ['modemId', 'simId', 'simSlot', 'mobileDevice', 'pingSection', 'ipBlockSection']
    const tested = new Set<string>([...cases.map(({ name }) => name), ...facts])
    t.strictSame(
      Object.keys(table).filter((name) => !tested.has(name)),
      [],
    )
    t.end()
  })

  for (const column of dialects) {
    t.test(column, async (t) => {
      const router = await made[column]().listen(t)
      const transport = await connect(router)
      t.equal(transport.kind, column.split('/')[1])
      for (const { name, input, says } of cases) {
        const renewed = () => transport.login({ user: 'admin', pswd: 'right' }, signalOff).then(() => {})
        const performer = new Performer(transport, column, renewed, noPause)
        const expected = says[column]
        const title = `${name}${input === undefined ? '' : ` ${JSON.stringify(input)}`}`
        try {
          t.strictSame(await performer.perform(name, input as never, signalOff), expected, title)
        } catch (error) {
          if (!(error instanceof RtkError) || typeof expected !== 'string') throw error
          t.equal(error.code, expected, title)
          t.match(error.message, name, 'the message names the operation')
          t.match(error.message, transport.kind, 'and the transport')
        }
      }
    })
  }

  t.test('what is written reads back', async (t) => {
    for (const column of dialects) {
      const router = await made[column]().listen(t)
      const performer = new Performer(await connect(router), column, async () => {}, noPause)
      const { signal } = new AbortController()
      await performer.perform('setApn', apnWanted, signal)
      t.strictSame(await performer.perform('apn', undefined, signal), apnWanted, `${column}: APN`)
      await performer.perform('setApn', { apn: '', user: '', pswd: '', auth: 'none' }, signal)
      t.equal((await performer.perform('apn', undefined, signal)).apn, '', `${column}: automatic APN`)
      await performer.perform('setPingReboot', { enabled: true, host: '9.9.9.9' }, signal)
      t.strictSame(
        await performer.perform('pingReboot', undefined, signal),
        { enabled: true, host: '9.9.9.9' },
        `${column}: ping`,
      )
      await performer.perform('setIpBlock', { attempts: 20 }, signal)
      t.match(
        await performer.perform('ipBlock', undefined, signal),
        { enabled: true, attempts: 20 },
        `${column}: block`,
      )
    }
  })

  t.test('what is written to 7.x over ubus has the names of the sources', async (t) => {
    const shapes = current()
    const router = await new FakeRouter({ ubus: shapes.ubus }).listen(t)
    const performer = new Performer(await connect(router), '7/ubus', async () => {}, noPause)
    await performer.perform('setApn', apnWanted, signalOff)
    await performer.perform('selectOperator', { plmn: '24601' }, signalOff)
    await performer.perform('setIpBlock', { attempts: 20 }, signalOff)
    await performer.perform('setPingReboot', { enabled: true, host: '1.1.1.1' }, signalOff)
    await performer.perform('rebootModem', undefined, signalOff)
    await performer.perform('installFirmware', { url: 'http://h/a?b=%2F+c;reboot' }, signalOff)
    t.strictSame(router.argsOf('gsm.modem0.set_operator_selection'), [
      { mode: 'manual', format: 'numeric', operator: '24601' },
    ])
    t.strictSame(shapes.memory.committed, [
      {
        config: 'network',
        section: 'mob1s1a1',
        values: { apn: 'fast', username: 'u', password: 'p', passw: 'p', auth: 'pap', auto_apn: '0' },
      },
      { config: 'simcard', section: '@sim[0]', values: { operator: 'manual', opernum: '24601' } },
      {
        config: 'ip_blockd',
        section: 'ip_blockd',
        values: { enabled: '1', max_attempt_count: '20', reboot_clear: '1' },
      },
      { config: 'ping_reboot', section: 'cfg02f0a1', values: { enable: '1', action: '1', host: '1.1.1.1' } },
    ])
    t.strictSame(router.argsOf('vuci.network.mobile.reboot_modem'), [{ modem: '3-1' }])
    const [{ params }] = router.argsOf('file.exec') as [{ params: string[] }]
    t.equal(params[3], 'http://h/a?b=%2F+c;reboot', 'a URL is an argument of the script, verbatim')
    t.notMatch(params[1], 'b=%2F', 'and no part of it')
  })

  t.test('a section that is missing is added', async (t) => {
    const shapes = current()
    delete shapes.memory.files.ping_reboot
    const ubus = {
      ...shapes.ubus,
      'uci.get': (args: Record<string, unknown>) =>
        args.config === 'ping_reboot' && !shapes.memory.files.ping_reboot
          ? { values: {} }
          : (shapes.memory.answers['uci.get'](args) as unknown),
    }
    const router = await new FakeRouter({ ubus }).listen(t)
    const performer = new Performer(await connect(router), '7/ubus', async () => {}, noPause)
    await performer.perform('setPingReboot', { enabled: true, host: '1.1.1.1' }, signalOff)
    t.strictSame(await performer.perform('pingReboot', undefined, signalOff), { enabled: true, host: '1.1.1.1' })
    await performer.perform('setPingReboot', { enabled: true, host: '9.9.9.9' }, signalOff)
    t.strictSame(await performer.perform('pingReboot', undefined, signalOff), { enabled: true, host: '9.9.9.9' })
    t.equal(router.argsOf('uci.add').length, 1, 'once')
  })

  t.test('what comes late after a start is used when it is there', async (t) => {
    const { ubus } = current()
    const late = Object.keys(ubus).filter((name) => /^(gsm|vuci\.network)/.test(name))
    const without = Object.fromEntries(Object.entries(ubus).filter(([name]) => !late.includes(name)))
    const router = await new FakeRouter({ ubus: without }).listen(t)
    const performer = new Performer(await connect(router), '7/ubus', async () => {}, noPause)
    const ask = (name: OperationName) => performer.perform(name, undefined as never, signalOff)
    for (const name of ['signal', 'temperature', 'modemIdentity'] as const)
      await t.rejects(ask(name), { code: unsupported }, name)
    router.ubus = ubus
    t.match(await ask('signal'), signal)
    t.strictSame(await ask('temperature'), { celsius: 42.1 })
    t.match(await ask('modemIdentity'), { imei: '860000000000009' })
  })

  t.test('a modem below 12.5 °C', async (t) => {
    for (const [value, celsius] of [
      [80, 8],
      [-105, -10.5],
    ]) {
      const { ubus } = current()
      ubus['gsm.modem0.get_temperature'] = { temperature_value: value }
      const answers = rest().rest
      answers['GET /api/modems/status'] = [{ id: '3-1', temperature: String(value) }]
      for (const [column, router] of [
        ['7/ubus', new FakeRouter({ ubus })],
        ['7/rest', new FakeRouter({ rest: answers })],
      ] as const) {
        const performer = new Performer(await connect(await router.listen(t)), column, async () => {}, noPause)
        t.strictSame(await performer.perform('temperature', undefined, signalOff), { celsius }, column)
      }
    }
  })

  t.test('a router without some objects is asked in another way', async (t) => {
    const shapes = current()
    const { ubus } = shapes
    for (const name of Object.keys(ubus)) if (/^(gsm|mnfinfo|mdcollect|vuci\.system|mctl)/.test(name)) delete ubus[name]
    Object.assign(ubus, {
      'vuci.network.mobile.get_all_modems': { modems: [{ id: '3-1', name: 'Internal', sim_count: 2, version: 'V1' }] },
      'vuci.network.mobile.mobile_info': {
        mobile: {
          signal: '-60',
          rsrp: '-100',
          rsrq: '-11',
          sinr: '5',
          imsi: '246020000000001',
          iccid: '8937',
          netstate: 'Registered (home)',
          operator: 'BITE',
          conntype: '4G (LTE)',
          cellid: '77',
        },
      },
      'vuci.network.mobile.mobile_status': { mobile: [{ simstate: 'SIM 1 inserted' }] },
      'vuci.network.mobile.modems_info': { modems: [{ imei: '860000000000009', modem: 'EG06', fw_version: 'V1' }] },
      'network.device.status': { up: true, statistics: { rx_bytes: 7, tx_bytes: 8 } },
    })
    const router = await new FakeRouter({ ubus }).listen(t)
    const performer = new Performer(await connect(router), '7/ubus', async () => {}, noPause)
    const ask = (name: OperationName) => performer.perform(name, undefined as never, signalOff)
    t.equal(await ask('version'), 'RUTX_R_00.07.04.5', 'version of /etc/version')
    t.match(await ask('modemIdentity'), { imei: '860000000000009', model: 'EG06' })
    t.match(await ask('signal'), { rssi_dbm: -60 })
    t.match(await ask('registration'), { network: 'home', operator: 'BITE', cellId: '77' })
    t.match(await ask('sim'), { state: 'ready', iccid: '8937' })
    t.strictSame(await ask('traffic'), { sent: 8, recvd: 7 })
    await t.rejects(ask('temperature'), { code: unsupported })
    const before = router.asked.length
    await ask('signal')
    t.equal(router.asked.length, before + 1, 'what is not there is not asked for again')
  })

  t.test('any field may be missing, and numbers may be text', async (t) => {
    const { ubus } = current()
    Object.assign(ubus, {
      'gsm.modem0.info': {},
      'gsm.modem0.get_signal_query': { rssi: '-71 dBm', rsrp: 'N/A', sinr: '', rsrq: null },
      'gsm.modem0.get_net_reg_stat_all': { status_id: '5' },
      'gsm.modem0.get_service_provider': { errno: 3, error: 'no' },
      'gsm.modem0.get_pin_state': { state_id: '10' },
      'gsm.modem0.get_iccid': new Status(5),
      'gsm.modem0.get_imsi': {},
      'gsm.modem0.get_temperature': {},
    })
    const router = await new FakeRouter({ ubus }).listen(t)
    const performer = new Performer(await connect(router), '7/ubus', async () => {}, noPause)
    const ask = (name: OperationName) => performer.perform(name, undefined as never, signalOff)
    t.match(await ask('modemIdentity'), { imei: '', model: '', operatorControl: false })
    t.strictSame(await ask('signal'), { rssi_dbm: -71, rsrp_dbm: undefined, rsrq_db: undefined, sinr_db: undefined })
    t.match(await ask('registration'), { network: 'roaming', operator: '', plmn: 24602 })
    t.strictSame(await ask('sim'), { state: 'absent', imsi: '', iccid: '' })
    t.strictSame(await ask('temperature'), { celsius: undefined })
  })

  t.test('the second SIM, while it is the one in use', async (t) => {
    const on7 = current()
    const [second, rest7, onLegacy] = [{ index: 1 }, rest(), legacy()]
    on7.ubus['gsm.modem0.get_sim_slot'] = () => second
    on7.ubus['network.interface.mob1s1a1.status'] = { up: false }
    on7.ubus['network.interface.mob1s2a1.status'] = { up: true, l3_device: 'wwan0' }
    const { network, simcard } = on7.memory.files
    if (network?.mob1s1a1) network.mob1s2a1 = { ...network.mob1s1a1, '.name': 'mob1s2a1', apn: 'second' }
    if (simcard) simcard.cfg09 = { '.type': 'sim', '.name': 'cfg09', '.index': 2, operator: 'auto' }
    if (onLegacy.memory.files.simcard) {
      onLegacy.memory.files.simcard.sim2 = { '.type': 'sim2', '.name': 'sim2', '.index': 3, apn: 'second' }
    }
    const { ubus } = onLegacy
    const exec = ubus['file.exec']
    ubus['file.exec'] = (args: Record<string, unknown>) =>
      String(args.params) === '-T' ? { code: 0, stdout: `${second.index}\n` } : exec(args)
    const modems = rest7.rest['GET /api/modems/status'] as Record<string, unknown>[]
    const status = modems[0] as Record<string, unknown>
    // The one that mob1… belongs to need not be the first.
    const other = { id: '1-1', name: 'External', imei: '1', active_sim: 1, primary: false }
    rest7.rest['GET /api/modems/status'] = () => [other, { ...status, primary: true, active_sim: second.index }]
    const apn2 = { id: 'mob1s2a1', apn: 'second', auth: 'none', username: '', password: '', auto_apn: '0' }
    const sim2 = { id: 'cfg09', modem: '3-1', position: '2', operator: 'auto', opernum: '' }
    rest7.rest['GET /api/interfaces/config/mob1s2a1'] = () => apn2
    rest7.rest['PUT /api/interfaces/config/mob1s2a1'] = (args: object) => Object.assign(apn2, args)
    const sims = [{ id: 'cfg05', modem: '1-1', position: '1' }, { ...rest7.sim, modem: '3-1', position: '1' }, sim2]
    rest7.rest['GET /api/sim_cards/config'] = () => sims
    rest7.rest['PUT /api/sim_cards/config/cfg09'] = (args: object) => Object.assign(sim2, args)
    for (const [column, router] of [
      ['legacy/ubus', new FakeRouter({ ubus })],
      ['7/ubus', new FakeRouter({ ubus: on7.ubus })],
      ['7/rest', new FakeRouter({ rest: rest7.rest })],
    ] as const) {
      await router.listen(t)
      const performer = new Performer(await connect(router), column, async () => {}, noPause)
      const ask = (name: OperationName) => performer.perform(name, undefined as never, signalOff)
      second.index = 1
      t.match(await ask('apn'), { apn: 'internet' }, `${column}: the first one`)
      if (column === '7/ubus') t.match(await ask('registration'), { connected: false })
      second.index = 2
      t.match(await ask('apn'), { apn: 'second' }, `${column}: the second one, after a change`)
      if (column === '7/ubus') t.match(await ask('registration'), { connected: true })
      await performer.perform('setApn', apnWanted, signalOff)
      t.strictSame(await ask('apn'), apnWanted, column)
      await performer.perform('selectOperator', { plmn: '24601' }, signalOff)
      if (column === '7/rest') {
        t.strictSame(await ask('modems'), { count: 2, used: 'Internal modem' })
        t.match(await ask('modemIdentity'), { imei: '860000000000009' })
        t.strictSame(await ask('operatorSelection'), { plmn: '24601' })
      }
      second.index = 1
      t.match(await ask('apn'), { apn: 'internet' }, `${column}: what is the first one's stays`)
    }
    t.match(sim2, { operator: 'manual', opernum: '24601' })
    t.match(simcard?.cfg01, { opernum: '24603' })
    t.match(
      on7.memory.committed.filter(({ config }) => config === 'simcard'),
      [{ section: '@sim[1]', values: { opernum: '24601' } }],
    )
    t.match(onLegacy.memory.files.simcard?.sim2, { apn: 'fast', numeric: '24601' })
  })

  t.test('gsmctl is run once for several values where it takes that', async (t) => {
    const router = await new FakeRouter({ ubus: legacy().ubus }).listen(t)
    const performer = new Performer(await connect(router), 'legacy/ubus', async () => {}, noPause)
    const runs = () => router.argsOf('file.exec').map(({ params }) => String(params))
    for (const name of ['signal', 'registration', 'sim', 'modemIdentity'] as const)
      await performer.perform(name, undefined, signalOff)
    t.strictSame(runs(), ['-qWMZ', '-goftCjP', '-zxJu', '-imwy'])

    const old = legacy()
    const exec = old.ubus['file.exec']
    old.ubus['file.exec'] = (args: Record<string, unknown>) =>
      String(args.params).length > 2 ? { code: 1, stdout: 'Usage: gsmctl\n' } : exec(args)
    const other = await new FakeRouter({ ubus: old.ubus }).listen(t)
    const second = new Performer(await connect(other), 'legacy/ubus', async () => {}, noPause)
    for (let n = 0; n < 3; n++) t.match(await second.perform('signal', undefined, signalOff), { rssi_dbm: -57 })
    const asked = other.argsOf('file.exec').map(({ params }) => String(params))
    t.equal(asked.filter((flags) => flags === '-qWMZ').length, 1, 'and is not asked to again where it does not')
  })

  t.test('empty lines keep their places among joined values', async (t) => {
    const { ubus } = legacy()
    ubus['file.exec'] = ({ params }: Record<string, unknown>) =>
      String(params) === '-qWMZ' ? { code: 0, stdout: '\nN/A\n-9\n12.5\n' } : { code: 1 }
    const router = await new FakeRouter({ ubus }).listen(t)
    const performer = new Performer(await connect(router), 'legacy/ubus', async () => {}, noPause)
    const expected = { rssi_dbm: undefined, rsrp_dbm: undefined, rsrq_db: -9, sinr_db: 12.5 }
    t.strictSame(await performer.perform('signal', undefined, signalOff), expected)
  })

  t.test('a session that expired is renewed, and everything is sent again once', async (t) => {
    const shapes = current()
    const router = await new FakeRouter({ ubus: shapes.ubus }).listen(t)
    const transport = await connect(router)
    let renewals = 0
    const performer = new Performer(
      transport,
      '7/ubus',
      async (signal) => {
        renewals++
        await transport.login({ user: 'admin', pswd: 'right' }, signal)
      },
      noPause,
    )
    // Between uci.set and uci.commit: what was set is lost with its session.
    let sets = 0
    shapes.ubus['uci.set'] = (args: Record<string, unknown>) => {
      if (++sets === 1) router.expire()
      return shapes.memory.answers['uci.set'](args)
    }
    await performer.perform('setApn', apnWanted, signalOff)
    t.equal(renewals, 1)
    t.strictSame(router.names().slice(-4), ['uci.set', 'uci.commit', 'uci.set', 'uci.commit'])
    t.equal(sets, 2, 'set again in the new session')
  })

  t.test('a right that is missing costs one login, then none', async (t) => {
    const { ubus } = current()
    ubus['gsm.modem0.get_temperature'] = new Status(-32_002)
    const router = await new FakeRouter({ ubus }).listen(t)
    const transport = await connect(router)
    const again = (signal: AbortSignal) => transport.login({ user: 'admin', pswd: 'right' }, signal).then(() => {})
    const performer = new Performer(transport, '7/ubus', again, noPause)
    for (let n = 0; n < 3; n++) {
      await t.rejects(performer.perform('temperature', undefined, signalOff), {
        code: 'RTK_ERR_ROUTER_REFUSED',
        message: /right/,
      })
    }
    t.equal(router.logins.length, 2)
  })

  t.test('a router that takes no batches is asked one by one', async (t) => {
    const router = new FakeRouter({ ubus: current().ubus })
    router.batches = false
    await router.listen(t)
    const performer = new Performer(await connect(router), '7/ubus', async () => {}, noPause)
    t.match(await performer.perform('registration', undefined, signalOff), { network: 'home' })
    t.match(await performer.perform('sim', undefined, signalOff), sim)
  })

  t.test('generations by the version string', (t) => {
    const of: Record<string, string | undefined> = {
      'RUT9XX_R_00.06.09.5': 'legacy',
      'RUT2XX_R_00.01.14.7': 'legacy',
      'RUTX_R_00.02.06': 'legacy',
      'RUT9_R_00.07.06.21': '7',
      'RUT36X_R_00.07.11.3': '7',
      'RUTX_T_DEV_00.07.01.585': '7',
      'RUTX_R_GPL_00.07.20': '7',
      'RUTM_R_00.09.01.1': '7',
      '21.02.0': undefined,
      '': undefined,
    }
    for (const [version, generation] of Object.entries(of)) t.equal(generationOf(version), generation, version)
    t.equal(versionIn({ a: [{ b: 'x' }], c: { d: 'firmware RUTX_R_00.07.04.5 of today' } }), 'RUTX_R_00.07.04.5')
    t.end()
  })
})
