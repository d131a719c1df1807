import { spawnSync } from 'node:child_process'
import { ModemInfo } from 'rtk-base/schemas'
import { conformance, gateOnly } from 'rtk-base/testing'
import t from 'tap'
import { Value } from 'typebox/value'
import { apnsOf } from '../../../../plugins/network/modem/apn/lookup.js'
import modem from '../../../../plugins/network/modem/index.js'
import { plmnDigits, shownOf } from '../../../../plugins/network/modem/operator/scan.js'
import { type FakeModem, lte, modemStation } from './fake-modem.js'

const unknown = {
  network: 'unknown',
  operator: '',
  carrier: '',
  data: '',
  connection_type: '',
  cell_id: '',
  rssi: 0,
  plmn: 0,
  temp: 0,
  temp_valid: false,
  pending: [],
}

t.test('the plugin stands what every plugin must stand', () => conformance(modem as never))

t.test('the block', async (t) => {
  t.test('every field of a modem that answers, and the rates of the calls', async (t) => {
    const { station, fake, pass, sample } = await modemStation(t)
    await pass(590)
    const block = station.field('modem')
    t.ok(Value.Check(ModemInfo, block), JSON.stringify([...Value.Errors(ModemInfo, block)]))
    t.match(block, {
      imei: '860000000000009',
      model: 'EC25',
      manuf: 'Quectel',
      rev: 'EC25EFAR06A01',
      support: { operator: true },
      state: {
        network: 'home',
        operator: 'Tele2 LT',
        carrier: 'Tele2',
        data: 'connected',
        connection_type: 'LTE',
        cell_id: '1A2B3C',
        rssi: -57,
        rsrp: -105,
        rsrq: -12,
        sinr: 13,
        plmn: 24603,
        temp: 42,
        temp_valid: true,
        pending: [],
      },
      cfg: { plmn: 0, ping_reboot: '8.8.8.8', apn: fake.settings.apn },
      sim: { imsi: '246030000000001', iccid: '8937003000000000017', state: 'ready' },
      stats: { sent: 1000, recvd: 2000 },
      scan: [],
    })
    t.equal(fake.most, 1, 'one call at a time')
    for (const [name, least, most] of [
      ['registration', 30, 45],
      ['signal', 30, 45],
      ['sim', 9, 12],
      ['traffic', 9, 12],
      ['temperature', 9, 12],
      ['modemIdentity', 1, 2],
      ['pingReboot', 2, 4],
    ] as const)
      t.ok(fake.count(name) >= least && fake.count(name) <= most, `${fake.count(name)} times ${name} in 10 min`)
    t.equal(await sample('rssi_dbm'), '-57')
    t.equal(await sample('temperature_celsius'), '41.5')
    t.equal(await sample('registered'), '1')
  })

  t.test('without a router it is there, unknown', async (t) => {
    const { station, command, change } = await modemStation(t, { bare: true })
    const block = station.field('modem')
    t.ok(Value.Check(ModemInfo, block), JSON.stringify([...Value.Errors(ModemInfo, block)]))
    t.match(block, { state: unknown, sim: { state: 'absent' }, imei: '' })
    t.match(await command('mobile-scan'), { status: 503, text: /no plugin of a cellular router runs/ })
    t.match(await change({ 'mobile-operator': 24601, 'mob-apn': 'x' }), { result: 'ok' })
  })

  t.test('a figure that is not known has no sample and no field', async (t) => {
    const { station, sample } = await modemStation(t, {
      before: (fake) => {
        fake.signals = { rssi_dbm: -90, rsrp_dbm: undefined, rsrq_db: Number.NaN, sinr_db: 0 }
        fake.temperature_c = undefined
        fake.registered = { ...fake.registered, connected: undefined, packetService: 'detached' }
      },
    })
    t.match(station.field('modem.state'), { rssi: -90, sinr: 0, temp: 0, temp_valid: false, data: 'disconnected' })
    t.notOk('rsrp' in (station.field('modem.state') as object))
    t.notOk('rsrq' in (station.field('modem.state') as object))
    t.same(
      [await sample('rsrp_dbm'), await sample('rsrq_db'), await sample('temperature_celsius')],
      [undefined, undefined, undefined],
    )
    t.equal(await sample('sinr_db'), '0')
  })

  t.test('a modem that hangs, or rejects, costs no one any time; the figures end, and come back', async (t) => {
    for (const fault of ['hangs', 'away'] as const) {
      const { station, fake, pass, sample, router } = await modemStation(t)
      fake[fault] = true
      await pass(600)
      t.match(station.field('modem.state'), { network: 'unknown', rssi: 0, data: '' }, fault)
      t.match(station.field('modem'), { imei: '860000000000009', sim: { state: 'ready' } })
      t.equal(await sample('registered'), undefined)
      const calls = fake.calls.length
      await pass(600)
      t.equal(fake.calls.length, calls, 'a router that is offline is asked nothing: its link looks for it')
      fake[fault] = false
      router.go('online')
      await pass(80)
      t.match(station.field('modem.state'), { network: 'home', rssi: -57 })
      t.ok(fake.most <= 1 || fault === 'hangs')
    }
  })

  t.test('what this router cannot do hides nothing else', async (t) => {
    const { station, fake, pass } = await modemStation(t, {
      before: (fake) => {
        fake.unsupported = ['modemIdentity', 'temperature', 'operatorSelection', 'pingReboot']
      },
    })
    await pass(3_600, 5)
    t.match(station.field('modem.state'), { network: 'home', rssi: -57, temp_valid: false })
    t.ok(fake.count('temperature') < 15, `${fake.count('temperature')} tries in an hour`)
  })

  t.test('a modem that comes later than its router is known within minutes', async (t) => {
    const { station, fake, pass } = await modemStation(t, {
      before: (fake) => {
        fake.unsupported = ['modemIdentity', 'apn', 'sim']
      },
    })
    await pass(120, 5)
    fake.unsupported = []
    await pass(150, 5)
    t.match(station.field('modem'), { imei: '860000000000009', sim: { state: 'ready' } })
    t.not(station.field('modem.cfg.apn'), '')
  })

  t.test('changes of technology and lost connections are counted', async (t) => {
    const { fake, pass, sample } = await modemStation(t)
    const become = async (change: Partial<FakeModem['registered']>) => {
      fake.registered = { ...fake.registered, ...change }
      await pass(40)
    }
    await become({ technology: '3G' })
    await become({ technology: '' })
    await become({ technology: '3G' })
    await become({ network: 'searching', connected: false })
    await become({ network: 'home', connected: true, technology: 'LTE' })
    t.equal(await sample('technology_changes_total'), '2')
    t.equal(await sample('reconnects_total'), '1')
  })

  t.test('24 h of signal, only where everything is asked for, over a reload too', { skip: gateOnly }, async (t) => {
    const { station, fake, clock, pass } = await modemStation(t)
    await pass(100_000, 25)
    const history = () => station.field('modem.history') as { t: number; rssi: number; rsrp: number }[]
    t.equal(history().length, 288)
    t.match(history().at(-1), { rssi: -57, rsrp: -105, rsrq: -12, sinr: 13 })
    t.ok(Math.abs(Number(history().at(-1)?.t) - clock.now() / 1000) <= 300)
    t.ok(JSON.stringify(history()).length < 20_000, `${JSON.stringify(history()).length} characters`)
    t.ok(JSON.stringify(station.station.document()).length < 65_536)
    t.notOk('history' in (station.station.document(0x7).modem as object))
    await station.reload('modem')
    t.equal(history().length, 288)
    fake.away = true
    await pass(43_200, 25)
    t.ok(history().length < 150, 'what is older than a day goes also while nothing is read')
  })
})

t.test('mobile-scan', async (t) => {
  t.test('answers at once; q goes out first; six results', async (t) => {
    const { station, fake, link, pass, command, sample } = await modemStation(t, {
      before: (fake) => {
        fake.found = Array.from({ length: 20 }, (_, n) => ({ ...lte[0], plmn: `2460${n % 10}`, name: `op ${n}` }))
      },
    })
    t.match(await command('mobile-scan'), { status: 200, text: /started/ })
    t.same(station.field('modem.state.pending'), ['scan'])
    t.same(link.held, [], 'the answer goes out before')
    t.match(await command('mobile-scan'), { status: 503, text: /running already/ })
    await pass(2)
    t.same(link.held, ['the modem scans for operators'])
    t.match(await command('reboot-modem'), { status: 503, text: /scans/ })
    const calls = fake.calls.length
    await pass(190)
    t.equal(fake.calls.length, calls, 'nothing is asked meanwhile')
    t.equal(station.field('modem.state.network'), 'unknown', 'old figures are not shown as new ones')
    t.equal(link.released, 0)
    await pass(20)
    t.equal(link.released, 1)
    t.same(station.field('modem.state.pending'), [])
    t.equal(station.field('modem.state.network'), 'home')
    const scan = station.field('modem.scan') as { plmn: number; act: number }[]
    t.equal(scan.length, 6)
    t.equal(new Set(scan.map(({ plmn }) => plmn)).size, 6)
    t.ok(scan.every(({ act }) => act === 258))
    await station.reload('modem')
    t.equal((station.field('modem.scan') as []).length, 6)
    t.equal(await sample('scans_total{result="ok"}'), '1')
  })

  t.test('the link stays where the broker is reached another way', async (t) => {
    const { link, pass, command } = await modemStation(t)
    link.via = 'eth'
    await command('mobile-scan')
    await pass(210)
    t.same(link.held, [])
  })

  t.test('cannot be done now: 503 with the reason', async (t) => {
    const { fake, router, pass, command } = await modemStation(t, {
      before: (fake) => {
        fake.id = { ...fake.id, operatorControl: false }
      },
    })
    t.match(await command('mobile-scan'), { status: 503, text: /cannot list/ })
    router.state = 'restarting'
    t.match(await command('mobile-scan'), { status: 503, text: /the router is restarting/ })
    t.match(await command('reboot-modem'), { status: 503, text: /the router is restarting/ })
    router.state = 'online'
    fake.away = true
    await pass(60)
    t.match(await command('mobile-scan'), { status: 503, text: /the router is offline/ })
  })

  t.test('one that is cut says so, and frees the link', async (t) => {
    const { station, fake, link, pass, command, errors } = await modemStation(t)
    await command('mobile-scan')
    await pass(50)
    fake.away = true
    await pass(160)
    t.match(errors()['modem-scan'], /cut \(RTK_ERR_ROUTER_OFFLINE: the router does not answer\): run mobile-scan again/)
    t.same([link.released, station.field('modem.state.pending')], [1, []])
    fake.away = false
    await pass(130)
    t.match(await command('mobile-scan'), { status: 200 })
    t.notOk(errors()['modem-scan'])
    await pass(50)
    await station.reload('modem')
    t.match(errors()['modem-scan'], /cut \(RTK_ERR_ABORTED: the plugin modem was reloaded\)/)
    t.same([link.released, station.field('modem.state.pending')], [2, []])
    await pass(30)
    t.match(await command('mobile-scan'), { status: 200 })
    await pass(50)
    await station.reload('fake-router')
    await pass(5)
    t.match(errors()['modem-scan'], /cut \(RTK_ERR_ABORTED/)
    t.same(station.field('modem.state.pending'), [])
  })

  t.test('which six are shown', (t) => {
    const of = (plmn: string, generation: (typeof lte)[0]['generation'], status: (typeof lte)[0]['status']) => ({
      plmn,
      name: plmn,
      generation,
      status,
    })
    t.same(
      shownOf([
        of('24601', '2G', 'forbidden'),
        of('24602', '2G', 'available'),
        of('24602', '4G', 'available'),
        of('24603', '3G', 'current'),
        of('24603', '5G', 'current'),
        of('garbage', '4G', 'current'),
      ]),
      [
        { plmn: 24603, name: '24603', act: 4 },
        { plmn: 24602, name: '24602', act: 258 },
        { plmn: 24601, name: '24601', act: 256 },
        { plmn: 24602, name: '24602', act: 256 },
      ],
    )
    t.end()
  })
})

t.test('reboot-modem', async (t) => {
  const { station, fake, link, pass, command, errors } = await modemStation(t)
  t.match(await command('reboot-modem'), { status: 200 })
  await pass(5)
  t.equal(fake.reboots, 1)
  t.same([link.held.length, link.released, station.field('modem.state.pending')], [1, 0, ['reboot']])
  const calls = fake.calls.length
  await pass(20)
  t.equal(fake.calls.length, calls, 'nothing is read of a modem that starts')
  await pass(20)
  t.same([link.released, station.field('modem.state.pending')], [1, []])
  await command('reboot-modem')
  await pass(5)
  await station.reload('modem')
  t.equal(link.released, 2, 'a reload frees the link')
  fake.unsupported = ['rebootModem']
  await pass(10)
  await command('reboot-modem')
  await pass(5)
  t.match(errors()['modem-reboot'], /RTK_ERR_ROUTER_UNSUPPORTED: no rebootModem/)
})

t.test('mobile-operator', async (t) => {
  const registeredWith = (fake: FakeModem, plmn: number) => {
    fake.registered = { ...fake.registered, plmn }
  }

  t.test('is selected, shown and kept; 0 is automatic', async (t) => {
    const { station, fake, link, pass, change } = await modemStation(t)
    registeredWith(fake, 24601)
    t.match(await change({ 'mobile-operator': 24601 }), { result: 'ok' })
    t.same(station.field('modem.state.pending'), ['operator'])
    await pass(20)
    t.same(fake.selections, ['24601'])
    t.equal(station.field('modem.cfg.plmn'), 24601)
    t.same([link.held, link.released], [['the modem selects an operator'], 1])
    await pass(2_000, 5)
    t.same(fake.selections, ['24601'], 'once')
    fake.selected = undefined
    await pass(400, 5)
    t.same(fake.selections, ['24601', '24601'], 'again where something else took it away')
    await change({ 'mobile-operator': 0 })
    await pass(20)
    t.same(fake.selections.at(-1), undefined)
    t.equal(station.field('modem.cfg.plmn'), 0)
  })

  t.test('a router that is away fails no change; it is selected when it is back', async (t) => {
    const { station, fake, router, pass, change } = await modemStation(t)
    fake.away = true
    router.go('offline')
    await pass(60)
    t.match(await change({ 'mobile-operator': 24603, 'mob-apn': 'later' }), { result: 'ok' })
    await pass(600, 5)
    t.same(fake.selections, [])
    fake.away = false
    router.go('online')
    await pass(30)
    t.same(fake.selections, ['24603'])
    t.equal(station.field('modem.cfg.apn'), 'later')
  })

  t.test('with which the modem does not register is given up, and that is said until the next change', async (t) => {
    const { station, fake, pass, change, errors } = await modemStation(t)
    fake.registered = { ...fake.registered, network: 'searching', plmn: 0, connected: false }
    await change({ 'mobile-operator': 24602 })
    await pass(240)
    t.same(fake.selections, ['24602'])
    await pass(120)
    t.same(fake.selections, ['24602', undefined])
    const text = /did not register with operator 24602 for 5 min: the selection is automatic again/
    t.match(errors()['modem-operator'], text)
    t.equal(station.field('modem.cfg.plmn'), 0)
    await station.reload('modem')
    await pass(600, 5)
    t.match(errors()['modem-operator'], text)
    t.same(fake.selections, ['24602', undefined], 'and not tried again')
    await change({ 'mobile-operator': 24602 })
    t.notOk(errors()['modem-operator'])
    await pass(20)
    t.same(fake.selections.at(-1), '24602', 'by the next change it is')
  })

  t.test(
    'time without a SIM or without a router is not counted; one that was reached may stay away for longer',
    async (t) => {
      const { fake, pass, change } = await modemStation(t)
      await change({ 'mobile-operator': 24603 })
      await pass(60)
      fake.registered = { ...fake.registered, network: 'searching', plmn: 0 }
      await pass(1_200, 5)
      t.same(fake.selections, ['24603'], 'a network that fails for 20 min')
      fake.away = true
      await pass(3_600, 5)
      fake.away = false
      fake.card = { state: 'absent', imsi: '', iccid: '' }
      await pass(3_600, 5)
      t.same(fake.selections, ['24603'])
      fake.card = { state: 'ready', imsi: '246030000000001', iccid: '8937003000000000017' }
      await pass(1_200, 5)
      t.same(fake.selections, ['24603', undefined], 'half an hour in all')
    },
  )

  t.test('that the modem refuses is tried again, then given up', async (t) => {
    const { fake, pass, change, errors } = await modemStation(t)
    fake.refusal = Object.assign(new Error('operator not allowed'), { code: 'RTK_ERR_ROUTER_REFUSED' })
    await change({ 'mobile-operator': 24699 })
    await pass(900)
    t.ok(fake.selections.length >= 2 && fake.selections.length <= 8, `${fake.selections.length} tries`)
    t.match(errors()['modem-operator'], /24699/)
  })

  t.test('of a modem without operator control is an error that says so', async (t) => {
    const { fake, pass, change, errors } = await modemStation(t, {
      before: (fake) => {
        fake.id = { ...fake.id, operatorControl: false }
      },
    })
    await change({ 'mobile-operator': 24601 })
    await pass(10)
    t.same(fake.selections, [])
    t.match(errors()['modem-operator'], /does not let an operator be selected/)
    await change({ 'mobile-operator': 0 })
    t.notOk(errors()['modem-operator'])
  })

  t.test('numbers without their leading zeros', async (t) => {
    for (const [plmn, known, digits] of [
      [24603, [], '24603'],
      [310260, [], '310260'],
      [101, [], '00101'],
      [1001, ['001001'], '001001'],
      [101, ['24603', '00101'], '00101'],
    ] as const)
      t.equal(plmnDigits(plmn, known), digits)
    const { change } = await modemStation(t)
    for (const wrong of [7, -1, 1_000_000, 1.5, '24601x'])
      t.match(await change({ 'mobile-operator': wrong }), { result: 'failed' }, `${wrong}`)
  })
})

t.test('the APN', async (t) => {
  const tele2 = { apn: 'internet.tele2.lt', user: '', pswd: '', auth: 'none' }
  const offline = { network: 'home', connected: false } as const
  const fresh = (fake: FakeModem) => {
    fake.settings = { apn: '', user: '', pswd: '', auth: 'none' }
  }

  t.test('of a SIM that is seen for the first time comes from the table, once', async (t) => {
    const { station, fake, link, pass } = await modemStation(t, { before: fresh })
    await pass(20)
    t.match(fake.written, [tele2])
    t.match(station.field('modem.cfg'), {
      apn: tele2.apn,
      apn_choice: { from: 'table', carrier: 'TELE2 GPRS', alternatives: [] },
    })
    t.same(link.held, ['the mobile connection restarts with another APN'])
    await pass(1_200, 5)
    t.equal(fake.written.length, 1)
    fake.settings = { ...tele2, apn: 'by.hand', auth: 'none' }
    await pass(1_200, 5)
    t.equal(fake.written.length, 1, 'what a person sets on the router stays')
    const second = await modemStation(t, { store: station.store })
    await second.pass(600, 5)
    t.same(second.fake.written, [], 'a restart does not choose again')
  })

  t.test('that the router has already is not written', async (t) => {
    const { station, fake, pass } = await modemStation(t, {
      before: (fake) => {
        fake.settings = { apn: tele2.apn, user: '', pswd: '', auth: 'pap' }
      },
    })
    await pass(600, 5)
    t.same(fake.written, [])
    t.equal(station.field('modem.cfg.apn_choice.from'), 'table')
  })

  t.test('of the user wins, and without it the table counts again', async (t) => {
    const { station, fake, pass, change } = await modemStation(t)
    await change({ 'mob-apn': 'my.apn', 'mob-user': 'me', 'mob-pswd': 'geheim' })
    t.same(station.field('modem.state.pending'), ['apn'])
    await pass(20)
    t.match(fake.settings, { apn: 'my.apn', user: 'me', pswd: 'geheim', auth: 'pap' })
    t.match(station.field('modem.cfg'), { apn: 'my.apn', user: 'me', pswd: 'geheim', apn_choice: { from: 'user' } })
    t.notOk(
      station.lines.some((line) => JSON.stringify(line).includes('geheim')),
      'no password in the log',
    )
    t.notOk(JSON.stringify(await station.station.nvs.read('config')).includes('geheim'))
    fake.settings = { apn: '', user: '', pswd: '', auth: 'none' }
    await pass(400, 5)
    t.equal(fake.settings.apn, 'my.apn', 'it is kept')
    await change({ 'mob-apn': '' })
    await pass(20)
    t.match(fake.settings, tele2)
    t.equal(station.field('modem.cfg.apn_choice.from'), 'table')
    for (const wrong of ['two words', 'x'.repeat(101), 5])
      t.match(await change({ 'mob-apn': wrong }), { result: 'failed' })
  })

  t.test('a router that shows no password is not written to again and again', async (t) => {
    const { fake, pass, change } = await modemStation(t)
    await pass(20)
    const before = fake.written.length
    const { apn } = fake
    fake.apn = async () => ({ ...(await apn()), pswd: '' })
    await change({ 'mob-apn': 'my.apn', 'mob-user': 'me', 'mob-pswd': 'one' })
    await pass(3_600, 5)
    t.equal(fake.written.length - before, 1)
    await change({ 'mob-pswd': 'two' })
    await pass(60)
    t.equal(fake.written.at(-1)?.pswd, 'two', 'another password is written')
  })

  t.test('a router that keeps nothing is reported, and written to seldom', async (t) => {
    const { fake, pass, change, errors } = await modemStation(t)
    fake.apn = async () => ({ apn: 'stubborn', user: '', pswd: '', auth: 'none' })
    fake.registered = { ...fake.registered, connected: undefined }
    const before = fake.written.length
    await change({ 'mob-apn': 'my.apn' })
    await pass(20)
    t.match(errors()['modem-apn'], /does not keep the APN my.apn/)
    await pass(3_600, 5)
    t.ok(fake.written.length - before <= 8, `${fake.written.length - before} writes in an hour`)
  })

  t.test('of an operator with several: a connection that stands is not given up for a guess', async (t) => {
    const { station, fake, pass } = await modemStation(t, {
      before: (fake) => {
        fake.card = { state: 'ready', imsi: '262010000000001', iccid: '8949010000000000015' }
      },
    })
    await pass(600, 5)
    t.same(fake.written, [])
    const choice = station.field('modem.cfg.apn_choice') as { from: string; alternatives: { apn: string }[] }
    t.equal(choice.from, 'router')
    t.ok(choice.alternatives.length > 1 && choice.alternatives.length <= 8)
  })

  t.test(
    'of an operator with several: without a connection one after the other is tried, then the first state returns',
    async (t) => {
      const { fake, pass, errors, station } = await modemStation(t, {
        before: (fake) => {
          fake.card = { state: 'ready', imsi: '262010000000001', iccid: '8949010000000000015' }
          fake.registered = { ...fake.registered, ...offline, plmn: 26201 }
          fake.settings = { apn: 'as.it.was', user: '', pswd: '', auth: 'none' }
        },
      })
      const expected = apnsOf({ imsi: '262010000000001', iccid: '' }).map(({ apn }) => apn)
      t.ok(expected.length > 2)
      await pass(240 * (expected.length + 2), 5)
      t.same(
        fake.written.map(({ apn }) => apn),
        [...expected, 'as.it.was'],
      )
      t.match(errors()['modem-apn'], /no data connection .*set mob-apn/)
      const writes = fake.written.length
      await station.reload('modem')
      await pass(3_600, 5)
      t.equal(fake.written.length, writes, 'and no more')
      fake.registered = { ...fake.registered, connected: true }
      await pass(30)
      t.notOk(errors()['modem-apn'])
    },
  )

  t.test('the one that connects stays, over an outage too', async (t) => {
    const { fake, pass } = await modemStation(t, {
      before: (fake) => {
        fake.card = { state: 'ready', imsi: '262010000000001', iccid: '8949010000000000015' }
        fake.registered = { ...fake.registered, ...offline, plmn: 26201 }
      },
    })
    await pass(300, 5)
    const { length } = fake.written
    t.equal(length, 2)
    fake.registered = { ...fake.registered, connected: true }
    await pass(60)
    fake.registered = { ...fake.registered, connected: false }
    await pass(3_600, 5)
    t.equal(fake.written.length, length)
  })

  t.test('the SIM of the other slot has settings of its own', async (t) => {
    const { fake, pass } = await modemStation(t)
    await pass(120)
    t.same(fake.written, [], 'the first slot has the right ones')
    fake.card = { state: 'ready', imsi: '246030000000002', iccid: '8937003000000000025' }
    fake.settings = { apn: '', user: '', pswd: '', auth: 'none' }
    await pass(80)
    t.equal(
      fake.written.at(-1)?.apn,
      'internet.tele2.lt',
      'what was read of the first slot is not taken for those of the second',
    )
  })

  t.test('another SIM, an unknown one, none', async (t) => {
    const { station, fake, pass, errors } = await modemStation(t, { before: fresh })
    await pass(20)
    t.equal(fake.settings.apn, tele2.apn)
    fake.card = { state: 'absent', imsi: '', iccid: '' }
    await pass(120)
    t.match(station.field('modem.sim'), { state: 'absent', imsi: '' })
    fake.card = { state: 'pin', imsi: '', iccid: '8937002000000000016' }
    await pass(120)
    t.equal(fake.written.length, 1, 'a SIM that wants its PIN is not looked up')
    t.match(errors()['modem-sim'], /asks for its PIN: set it in the router.*no mobile connection/)
    fake.card = { ...fake.card, state: 'puk' }
    await pass(120)
    t.match(errors()['modem-sim'], /PUK/)
    fake.card = { state: 'ready', imsi: '246020000000001', iccid: '8937002000000000016' }
    fake.registered = { ...fake.registered, plmn: 24602 }
    await pass(120)
    t.equal(fake.settings.apn, apnsOf({ imsi: '246020000000001', iccid: '' })[0]?.apn)
    t.equal(errors()['modem-sim'], undefined, 'over with the cause')
    fake.card = { state: 'ready', imsi: '999990000000001', iccid: '8999999000000000011' }
    fake.registered = { ...fake.registered, network: 'roaming' }
    await pass(120)
    t.match(fake.settings, { apn: '' }, 'the APN of the SIM before is not its APN: the router chooses')
    t.match(station.field('modem.cfg.apn_choice'), { from: 'router', carrier: '', alternatives: [] })
    fake.registered = { ...fake.registered, connected: false }
    await pass(300, 5)
    t.match(errors()['modem-apn'], /not in the table of APNs: set mob-apn/)
  })

  t.test('of the SIM before is not kept for the connection that the SIM before had', async (t) => {
    const { fake, pass } = await modemStation(t, { before: fresh })
    await pass(20)
    t.equal(fake.settings.apn, tele2.apn)
    const swap = () => {
      fake.card = { state: 'ready', imsi: '262010000000001', iccid: '8949010000000000015' }
      fake.registered = { ...fake.registered, network: 'roaming', connected: false }
    }
    // After the registration was read, before the SIM is.
    const { sim } = fake
    fake.sim = () => {
      fake.sim = sim
      swap()
      return sim()
    }
    await pass(120)
    t.equal(fake.settings.apn, apnsOf({ imsi: '262010000000001', iccid: '' })[0]?.apn)
  })

  t.test('of an unknown SIM is left as the router has it', async (t) => {
    const { fake, pass } = await modemStation(t, {
      before: (fake) => {
        fake.card = { state: 'ready', imsi: '999990000000001', iccid: '' }
        fake.settings = { apn: 'private.apn', user: '', pswd: '', auth: 'none' }
      },
    })
    await pass(600, 5)
    t.same(fake.written, [])
  })

  t.test('of the option carriers goes before the table', async (t) => {
    const { fake, pass } = await modemStation(t, {
      options: {
        carriers: { 24603: { apn: 'shorter' }, 893700300: { apn: 'fleet.apn', user: 'f', pswd: 'p', auth: 'chap' } },
      },
    })
    await pass(20)
    t.match(fake.written, [{ apn: 'fleet.apn', user: 'f', pswd: 'p', auth: 'chap' }])
  })
})

t.test('the table', async (t) => {
  const first = (imsi: string, iccid = '', homePlmn?: string) =>
    apnsOf({ imsi, iccid, ...(homePlmn !== undefined && { homePlmn }) })[0]?.apn

  t.test('is looked up by MCC and an MNC of three digits, then of two, or by the home network', async (t) => {
    t.equal(first('246031234567890'), 'internet.tele2.lt')
    t.equal(first('310260123456789'), first('310260123456789', '', '310260'))
    t.notOk(first('246031234567890', '', '246031'), 'a home network with a longer MNC that the table does not have')
    t.ok(first('246031234567890', '', '24603'))
    t.notOk(first('999991234567890'))
    t.notOk(first(''))
    t.equal(first('', '89 01 260 1234567890F'), first('310260123456789'), 'by the ICCID where the IMSI cannot be read')
    t.notOk(first('', '8999999000000000011'))
    t.same(apnsOf({ imsi: '__proto__', iccid: 'constructor' }), [])
  })

  t.test('has the main operator of a network before those that use it', (t) => {
    const main = {
      '20801': 'Orange',
      '20810': 'SFR',
      '21405': 'Movistar (Telefónica)',
      '21406': 'Vodafone',
      '22210': 'Vodafone',
      '22801': 'Swisscom',
      '23201': 'A1/Telekom Austria',
      '23410': 'O2',
      '23415': 'Vodafone',
      '24001': 'Telia',
      '24202': 'Netcom',
      '26201': 'T-Mobile(Telekom)',
      '26202': 'Vodafone',
      '26207': 'O2',
      '310260': 'T-Mobile',
      '50502': 'Optus',
    }
    for (const [plmn, carrier] of Object.entries(main))
      t.equal(apnsOf({ imsi: `${plmn}000000000`, iccid: '' })[0]?.carrier, carrier, plmn)
    t.end()
  })

  t.test('is made from serviceproviders.xml', async (t) => {
    const { generate } = (await import(`${process.cwd()}/plugins/network/modem/apn/generate.mjs`)) as {
      generate(xml: string, source: string): string
    }
    const xml = `<?xml version="1.0"?>
<!-- <country> in a comment -->
<serviceproviders format="2.0">
<country code="xx"><name>X</name>
  <provider><name>Virtual</name><gsm><network-id mcc="999" mnc="01"/><gid1 value="AB"/><apn value="virtual"><usage type="internet"/></apn></gsm></provider>
  <provider><name>A &amp; B</name><gsm>
    <network-id mcc="299" mnc="01"/><network-id mcc="299" mnc='002'/>
    <apn value="mms"><usage type="mms"/></apn>
    <apn value="untyped"/>
    <apn value="prepaid"><plan type="prepaid"/><usage type="internet"/><username>u</username><password>&#x41;&lt;</password></apn>
    <apn value="postpaid"><plan type="postpaid"/><usage type="internet"/><authentication method="chap"/><username>v</username></apn>
  </gsm></provider>
  <provider primary="true"><name>Main</name><gsm><network-id mcc="299" mnc="01"/>
    <apn value="main"><usage type="internet"/></apn><apn value="PREPAID"><usage type="internet"/><username>u</username><password>A&lt;</password></apn></gsm></provider>
  <provider><name>Cheap</name><gsm><network-id mcc="299" mnc="04"/><apn value="cheap"><usage type="internet"/></apn></gsm></provider>
  <provider><name>Cheaper</name><gsm><network-id mcc="299" mnc="04"/><apn value="net.large.example"><usage type="internet"/></apn></gsm></provider>
  <provider><name>Wide</name><gsm><network-id mcc="299" mnc="04"/><network-id mcc="299" mnc="05"/><apn value="wide"><usage type="internet"/></apn></gsm></provider>
  <provider><name>Large</name><gsm><network-id mcc="299" mnc="04"/><apn value="large"><usage type="internet"/></apn></gsm></provider>
  <provider><name>No data</name><gsm><network-id mcc="299" mnc="03"/><apn value="m"><usage type="mms"/></apn></gsm></provider>
</country></serviceproviders>`
    const { source, settings, networks } = JSON.parse(generate(xml, 'a test')) as {
      source: string
      settings: string[][]
      networks: Record<string, number[]>
    }
    t.equal(source, 'a test')
    const of = (plmn: string) => networks[plmn]?.map((index) => settings[index]?.[0])
    t.same(of('29901'), ['main', 'PREPAID', 'postpaid', 'untyped'])
    t.same(of('299002'), ['postpaid', 'prepaid', 'untyped'])
    t.same(
      of('29904'),
      ['large', 'wide', 'cheap', 'net.large.example'],
      'named by another one, then the one with more networks',
    )
    t.equal(Object.keys(networks).length, 5, 'without those that have no APN for data')
    t.same(
      settings.find(([apn]) => apn === 'postpaid'),
      ['postpaid', 'A & B', 'v', '', 'chap'],
    )
    t.same(
      settings.find(([apn]) => apn === 'prepaid'),
      ['prepaid', 'A & B', 'u', 'A<'],
    )
    for (const wrong of ['<a>', '<a></b>', '<serviceproviders format="3.0"/>', 'x < y', '<a b="&nonsense;"/>'])
      t.throws(() => generate(wrong, ''), wrong)
    const usage = spawnSync(process.execPath, ['plugins/network/modem/apn/generate.mjs'], { encoding: 'utf8' })
    t.match(usage, { status: 2, stderr: /SERVICEPROVIDERS.XML/ })
  })
})
