import { WapInfo } from 'rtk-base/schemas'
import { conformance } from 'rtk-base/testing'
import t from 'tap'
import { Value } from 'typebox/value'
import { RegulatoryDomain } from '../../../../plugins/network/wap/regulatory.js'
import { leasesOf } from '../../../../plugins/network/wap/stations.js'
import { wifiStation } from './rig.js'

const phone = '02:00:5e:00:10:01'
const gateway = '02:00:5e:00:10:02'

t.test('the access point comes up with the settings of this device', async (t) => {
  const { field, pass, errors, sim, station, simRadio } = await wifiStation(t)
  await pass(15)
  const block = field('wap')
  t.ok(Value.Check(WapInfo, block), JSON.stringify([...Value.Errors(WapInfo, block)]))
  t.match(block, {
    bssid: '02:00:5e:00:03:01',
    ssid: 'rtk-base-TEST0001',
    enabled: true,
    pwd: /^[a-zA-Z2-9]{12}$/,
    tx_power: 20,
    max_sta: 8,
    beacon: 100,
    bandwidth: 20,
    channel: 6,
    inactive_time: 300,
    reg: { cc: '00', max_chan: 11, max_txpwr: 20 },
    revgw: { mac: '', ip: '', dns: '' },
    sta: [],
  })
  t.match(sim.command(''), /wlan0 connected 192\.168\.4\.1\/24/)
  t.match(simRadio.command(''), /at most 8 clients/)
  t.strictSame(errors(), {})
  const password = field('wap.pwd')
  t.notOk(JSON.stringify(station.lines).includes(String(password)), 'the password is in no log line')
  t.match(station.station.plugins().find(({ name }) => name === 'wap')?.reason, /rtk-base-TEST0001 on wlan0/)
})

t.test('two devices have two passwords, a reload and a factory reset keep it', async (t) => {
  const [one, two] = [await wifiStation(t), await wifiStation(t)]
  await one.pass(10)
  t.not(one.field('wap.pwd'), two.field('wap.pwd'))
  const before = one.field('wap.pwd')
  await one.station.reload('wap')
  await one.pass(5)
  t.equal(one.field('wap.pwd'), before)
  const again = await wifiStation(t, { store: one.station.store })
  t.equal(again.field('wap.pwd'), before)
  t.match(await one.change({ 'wap-pswd': 'eight888' }), { result: 'ok' })
  t.equal(one.field('wap.pwd'), 'eight888')
  t.match(await one.change({ 'wap-pswd': '' }), { result: 'ok' })
  t.equal(one.field('wap.pwd'), before)
})

t.test('each parameter changes the network and reads back', async (t) => {
  const { field, pass, change, radio, simRadio, errors } = await wifiStation(t)
  await pass(15)
  for (const [values, expected, machine] of [
    [{ 'wap-ssid': 'field 7' }, { ssid: 'field 7' }, undefined],
    [{ 'wap-chan': 11 }, { channel: 11 }, undefined],
    [{ 'wap-pswd': 'another one' }, { pwd: 'another one' }, undefined],
    [{ 'wap-txpwr': 7 }, { tx_power: 7 }, /, 7 dBm/],
    [{ 'wap-max-sta': 3 }, { max_sta: 3 }, /at most 3 clients/],
    [{ 'wap-inactive-time': 60 }, { inactive_time: 60 }, undefined],
    [{ 'wifi-reg-cc': 'NL' }, { reg: { cc: 'NL', max_chan: 13, max_txpwr: 20 } }, /country NL/],
    [{ 'wap-chan': 13 }, { channel: 13 }, undefined],
    [{ 'wap-revgw-mac': gateway.toUpperCase() }, { revgw: { mac: gateway, ip: '' } }, undefined],
    [{ 'wap-revgw-mac': '' }, { revgw: { mac: '', ip: '' } }, undefined],
    [{ 'wap-en': 0 }, { enabled: false, tx_power: 0, sta: [] }, undefined],
    [{ 'wap-en': 1 }, { enabled: true, tx_power: 7, channel: 13, max_sta: 3 }, undefined],
  ] as const) {
    const { starts } = radio.accessPoint
    t.match(await change(values), { result: 'ok' }, JSON.stringify(values))
    await pass(3)
    t.match(field('wap'), expected, JSON.stringify(values))
    if (machine) t.match(simRadio.command(''), machine)
    t.ok(radio.accessPoint.starts - starts <= 1, `${radio.accessPoint.starts - starts} starts`)
  }
  t.strictSame(errors(), {})
  for (const values of [
    { 'wap-chan': 14 },
    { 'wap-chan': 0 },
    { 'wap-txpwr': 1 },
    { 'wap-txpwr': 21 },
    { 'wap-pswd': 'short' },
    { 'wap-ssid': '' },
    { 'wap-ssid': 'ä'.repeat(20) },
    { 'wap-revgw-mac': 'nonsense' },
    { 'wap-revgw-dns': '300.1.1.1' },
    { 'wifi-reg-cc': 'nl' },
  ])
    t.match(await change(values), { result: 'failed' }, JSON.stringify(values))
})

t.test('the channels of the country', async (t) => {
  const { field, pass, change, errors, simRadio } = await wifiStation(t, { changes: { 'wifi-reg-cc': 'US' } })
  await pass(15)
  t.match(field('wap.reg'), { cc: 'US', max_chan: 11, max_txpwr: 30 })
  t.match(await change({ 'wap-chan': 13 }), {
    result: 'failed',
    errors: [{ message: /channel 13 is not allowed .* in country US: the highest one is 11/ }],
  })
  t.match(await change({ 'wap-chan': 13, 'wifi-reg-cc': 'DE' }), { result: 'ok' }, 'both together')
  await pass(3)
  t.match(field('wap'), { channel: 13, reg: { cc: 'DE' } })
  t.match(await change({ 'wifi-reg-cc': 'US' }), { result: 'failed' }, 'the channel would not be allowed any more')
  await pass(3)
  t.match(field('wap'), { channel: 13, reg: { cc: 'DE' } }, 'the country before is back')
  t.match(await change({ 'wifi-reg-cc': 'XX' }), { result: 'failed', errors: [{ message: /could not be applied/ }] })
  simRadio.command('missing iw on')
  t.match(await change({ 'wifi-reg-cc': 'NL' }), { result: 'failed', errors: [{ message: /apt install iw/ }] })
  t.match(errors(), {})
})

t.test('a stored channel that the country does not allow: the highest one that is', async (t) => {
  const { field, pass, errors } = await wifiStation(t, { changes: { 'wifi-reg-cc': 'US', 'wap-chan': 13 } })
  await pass(15)
  t.match(field('wap'), { channel: 11 })
  t.match(errors(), { 'wap-channel': /channel 13 is not allowed .* channel 11 is used: set wap-chan/ })
})

t.test('clients, their addresses, and those that are silent for too long', async (t) => {
  const { field, pass, simRadio, change } = await wifiStation(t, { changes: { 'wap-inactive-time': 60 } })
  await pass(5)
  simRadio.command(`client ${phone} -61 192.168.4.20`)
  simRadio.command(`client ${gateway} -48`)
  await pass(12)
  t.strictSame(field('wap.sta'), [
    { mac: gateway, ip: '', rssi: -48 },
    { mac: phone, ip: '192.168.4.20', rssi: -61 },
  ])
  simRadio.command('leases garbage')
  await pass(11)
  t.match(
    field('wap.sta'),
    [
      { mac: gateway, ip: '' },
      { mac: phone, ip: '' },
    ],
    'leases that cannot be read',
  )
  simRadio.command('leases written')
  simRadio.command(`silent ${phone}`)
  await pass(50)
  t.equal((field('wap.sta') as unknown[]).length, 2)
  await pass(25)
  t.match(field('wap.sta'), [{ mac: gateway }])
  t.match(simRadio.command(''), new RegExp(`clients ${gateway};`), 'it was removed from the driver')
  t.match(await change({ 'wap-inactive-time': 0 }), { result: 'ok' })
  simRadio.command(`silent ${gateway}`)
  await pass(300)
  t.match(field('wap.sta'), [{ mac: gateway }], '0: nobody is removed')
})

t.test('the three restarts differ', async (t) => {
  const { pass, command, radio, simRadio, field } = await wifiStation(t)
  await pass(15)
  const { starts } = radio.accessPoint
  t.match(await command('restart-wap-dhcps'), { status: 200, text: /clients and their addresses stay/ })
  t.match(simRadio.command(''), /dhcp reloads 1/)
  t.match(await command('restart-wap-fast'), { status: 200, text: /announced channel 6 .*: they stay/ })
  t.equal(radio.accessPoint.starts, starts, 'neither of them started it again')
  simRadio.command('announces off')
  t.match(await command('restart-wap-fast'), { status: 200, text: /clients were dropped .*wpa_supplicant.*FAIL.*iw/s })
  t.equal(radio.accessPoint.starts, starts + 1)
  t.match(await command('restart-wap'), { status: 200, text: /its clients are dropped/ })
  await pass(3)
  t.equal(radio.accessPoint.starts, starts + 2)
  t.match(field('wap'), { tx_power: 20, ssid: 'rtk-base-TEST0001' })
  t.match(await command('restart-wap=1'), { status: 400 })
  t.match(simRadio.command(''), /dhcp reloads 1/)
})

t.test('restarts of an access point that is not up say why', async (t) => {
  const { pass, command, sim } = await wifiStation(t)
  await pass(10)
  sim.command('remove wlan0')
  await pass(2)
  for (const name of ['restart-wap', 'restart-wap-fast', 'restart-wap-dhcps'])
    t.match(await command(name), { status: 503, text: /absent.*no WiFi radio/ }, name)
})

t.test('a client that gives the internet', async (t) => {
  const { pass, simRadio, field, errors, change, holds, sim } = await wifiStation(t, {
    changes: { 'wap-revgw-mac': gateway },
  })
  await pass(35)
  t.match(errors(), { 'wap-revgw': /is not joined to the access point/ })
  simRadio.command(`client ${gateway} -48 192.168.4.30`)
  await pass(11)
  t.match(
    simRadio.command(''),
    /routes default via 192\.168\.4\.30 dev wlan0 metric 700 proto 219; dns wlan0 192\.168\.4\.30;/,
  )
  t.match(field('wap.revgw'), { mac: gateway, ip: '192.168.4.30', dns: '192.168.4.30' })
  t.strictSame(errors(), {})
  t.strictSame(holds, ['networkUp'], 'the link to the broker tries at once')
  t.match(await change({ 'wap-revgw-dns': '9.9.9.9' }), { result: 'ok' })
  await pass(2)
  t.match(field('wap.revgw'), { dns: '9.9.9.9' })
  t.match(simRadio.command(''), /dns wlan0 9\.9\.9\.9;/)
  simRadio.command(`client ${gateway} -48 192.168.4.31`)
  await pass(11)
  t.match(simRadio.command(''), /default via 192\.168\.4\.31/, 'another address')
  simRadio.command(`client-off ${gateway}`)
  await pass(22)
  t.match(simRadio.command(''), /routes none; dns none/)
  t.match(field('wap.revgw'), { mac: gateway, ip: '', dns: '' })
  simRadio.command(`client ${gateway} -48 192.168.4.31`)
  simRadio.command('missing resolvectl on')
  await pass(11)
  t.match(errors(), { 'wap-revgw': /the route through it is set, but its DNS server 9\.9\.9\.9 cannot be/ })
  t.match(simRadio.command(''), /routes default via 192\.168\.4\.31/)
  simRadio.command('fails ip RTNETLINK answers: Operation not permitted')
  t.match(await change({ 'wap-revgw-mac': '' }), { result: 'ok' })
  simRadio.command('fails ip off')
  sim.command('remove wlan0')
  await pass(3)
  t.match(field('wap.revgw'), { mac: '', ip: '' })
})

t.test('what the machine cannot do is reported, and the block shows what is true', async (t) => {
  const { pass, simRadio, field, errors, change, station } = await wifiStation(t)
  await pass(15)
  simRadio.command('missing iw on')
  simRadio.command('missing busctl on')
  t.match(await change({ 'wap-txpwr': 5, 'wap-max-sta': 4 }), { result: 'ok' })
  await pass(12)
  t.match(errors(), {
    'wap-txpwr': /5 dBm could not be applied: iw: no such program .*apt install iw/,
    'wap-max-sta': /at most 4 clients are not enforced: busctl/,
    'wap-stations': /apt install iw/,
  })
  t.match(field('wap'), { max_sta: 0, sta: [], ssid: 'rtk-base-TEST0001' })
  simRadio.command('missing iw off')
  simRadio.command('missing busctl off')
  for (const [line, text] of [
    ['says iw %$ÿ garbage\u0000', /cannot be read/],
    ['fails iw command failed: Operation not supported (-95)', /this driver cannot do it/],
    ['slow iw 60', /did not end within 5 s/],
  ] as const) {
    simRadio.command(line)
    await pass(45)
    t.match(errors()['wap-stations'], text, line)
    simRadio.command('slow iw 0')
    simRadio.command('fails iw off')
  }
  await pass(25)
  t.match(field('wap'), { max_sta: 8, tx_power: 5 }, 'the limit counts from the next start, the power was tried again')
  t.strictSame(Object.keys(errors()), ['wap-max-sta'])
  t.strictSame(
    station.lines.filter(({ level }) => level >= 50).map(({ msg }) => msg),
    [],
  )
})

t.test('the radio is taken out and put back; the daemon goes away and comes back', async (t) => {
  const { pass, sim, field, errors, station } = await wifiStation(t, { changes: { 'wap-txpwr': 9 } })
  await pass(15)
  const reason = () => station.station.plugins().find(({ name }) => name === 'wap')?.reason
  for (const [away, back, text] of [
    ['remove wlan0', 'insert wlan0', /absent: this machine has no WiFi radio/],
    ['daemon off', 'daemon on', /absent: the simulated network daemon is not running/],
    ['managed wlan0 off', 'managed wlan0 on', /absent: this machine has no WiFi radio/],
  ] as const) {
    sim.command(away)
    await pass(20)
    t.match(reason(), text, away)
    t.match(field('wap'), { enabled: true, bssid: '', tx_power: 0, sta: [] }, away)
    sim.command(back)
    await pass(20)
    t.match(field('wap'), { bssid: '02:00:5e:00:03:01', tx_power: 9, channel: 6 }, back)
    t.match(reason(), /rtk-base-TEST0001 on wlan0/)
  }
  t.strictSame(errors(), {})
})

t.test('a daemon that refuses makes the change failed, with its reason, and nothing is half applied', async (t) => {
  const { pass, sim, change, field, errors } = await wifiStation(t)
  await pass(15)
  sim.command('refuse not authorized by polkit')
  t.match(await change({ 'wap-ssid': 'other' }), {
    result: 'failed',
    errors: [{ name: 'wap-ssid', message: /not authorized by polkit/ }],
  })
  t.match(errors(), { 'radio-ap': /not authorized by polkit; it is tried again in \d+ s/ })
  sim.command('refuse off')
  await pass(30)
  t.match(field('wap'), { ssid: 'rtk-base-TEST0001' })
  t.strictSame(errors(), {})
  sim.command('slow 120')
  t.match(await change({ 'wap-ssid': 'late' }), {
    result: 'failed',
    errors: [{ message: /the network daemon did not answer within 4 s/ }],
  })
  sim.command('slow off')
  await pass(60)
  t.match(field('wap'), { ssid: 'rtk-base-TEST0001', bssid: '02:00:5e:00:03:01' })
  t.strictSame(errors(), {})
  sim.command('slow 3')
  t.match(await change({ 'wap-ssid': 'slow' }), { result: 'ok' })
  await pass(10)
  t.match(field('wap'), { ssid: 'slow', bssid: '02:00:5e:00:03:01' })
})

t.test('a radio without access point mode says so', async (t) => {
  const { pass, station, command } = await wifiStation(t, { network: { simulator: { canBeAp: false } } })
  await pass(10)
  t.match(station.station.plugins().find(({ name }) => name === 'wap')?.reason, /wlan0 has no access point mode/)
  t.match(await command('restart-wap'), { status: 503 })
})

t.test('lease files', async (t) => {
  t.strictSame(
    [
      ...leasesOf(
        `1764000000 02:00:5E:00:10:01 192.168.4.20 phone 01:02\r\n0 ${gateway} 192.168.4.21 * *\nx y z\n\n1 2 3`,
      ),
    ],
    [
      [phone, '192.168.4.20'],
      [gateway, '192.168.4.21'],
    ],
  )
  t.equal(leasesOf(`1 ${phone} 1.2.3.4\n`.repeat(5)).size, 1)
})

t.test('the plugins stand what every plugin must stand', { skip: false }, async () => {
  const network = (await import('../../../../plugins/network/network/index.js')).default as never
  const radio = (await import('../../../../plugins/network/radio/index.js')).default as never
  const wap = (await import('../../../../plugins/network/wap/index.js')).default as never
  const sta = (await import('../../../../plugins/network/sta/index.js')).default as never
  const simulated = { network: [network, { backend: 'simulator' }] as [never, Record<string, unknown>] }
  const both = { ...simulated, radio: [radio, { backend: 'simulator' }] as [never, Record<string, unknown>] }
  await conformance(radio, { backend: 'simulator' }, { plugins: simulated })
  await conformance(wap, {}, { plugins: both })
  await conformance(sta, {}, { plugins: both })
})

t.test('a radio with rules of its own does not take those of another country: the change says so', async (t) => {
  const rules = (country: string) => ({ country, maxChannel: 11, maxTxPower_dbm: 20 })
  const apply = (own: string) => {
    const key = (value: unknown) => ({ name: 'x', get: () => value })
    const parameters = { country: key('NL'), channel: key(6) } as never
    const ctx = { config: { rule: () => {} }, log: { info: () => {} } } as never
    const tools = {
      interface: async () => ({ phy: 'phy0' }),
      setCountry: async () => {},
      regulatory: async () => rules(own),
    }
    const radio = { accessPoint: { name: 'wlan0' }, tools } as never
    return new RegulatoryDomain(ctx, parameters).apply(radio)
  }
  await t.rejects(apply('US'), { message: /keeps the rules of country US/ })
  await t.resolves(apply('99'), 'a driver that does not name its country')
})
