import { StaInfo } from 'rtk-base/schemas'
import type { ScannedNetwork } from 'rtk-base/services'
import t from 'tap'
import { Value } from 'typebox/value'
import { stationSettings } from '../../../../plugins/network/network/networkmanager/profiles.js'
import { isJoined } from '../../../../plugins/network/radio/roles.js'
import { scanList, scanText } from '../../../../plugins/network/sta/uplink.js'
import { until } from '../../../harness/index.js'
import { settled, wifiStation } from './rig.js'

const workshop = { 'sta-ssid': 'workshop', 'sta-pswd': 'correct horse' }
/** Without blanks: the language of the simulator is made of words. */
const air = { simulator: { networks: [{ ssid: 'workshop', password: 'correct-horse', channel: 6, rssi: -52 }] } }
const bssid = '02:00:5e:00:aa:01'

t.test('without a network there is no block; with one it is joined and shown', async (t) => {
  const { field, pass, change, errors, sim, radio, holds } = await wifiStation(t)
  await pass(10)
  t.equal(field('sta'), undefined)
  t.match(await change(workshop), { result: 'ok' })
  await pass(30)
  const block = field('sta')
  t.ok(Value.Check(StaInfo, block), JSON.stringify([...Value.Errors(StaInfo, block)]))
  t.strictSame(block, {
    mac: '02:00:5e:00:03:01',
    ssid: 'workshop',
    bssid,
    auth: 'wpa2-psk',
    ip4: '192.168.8.50',
    ip6: ['fe80::301'],
    inactive_time: 0,
    channel: 6,
    channel2: 0,
    bandwidth: 20,
    rssi: -52,
  })
  t.strictSame(errors(), {})
  t.match(radio.accessPoint, { state: 'waiting', text: /the uplink uses the radio/ })
  t.match(field('wap'), { enabled: true, bssid: '', tx_power: 0 }, 'one radio: the access point gave way')
  t.strictSame(holds, [])
  t.match(await change({ 'sta-ssid': 'guests', 'sta-pswd': '' }), { result: 'ok' })
  await pass(15)
  t.match(field('sta'), { ssid: 'guests', auth: 'open', channel: 11 })
  t.strictSame(holds, ['hold: another WiFi network is joined', 'release'], 'the link to the broker said goodbye before')
  t.match(await change({ 'sta-ssid': '' }), { result: 'ok' })
  await pass(10)
  t.equal(field('sta'), undefined)
  t.match(field('wap'), { bssid: '02:00:5e:00:03:01' }, 'the access point is back')
  t.match(sim.command(''), /192\.168\.4\.1/)
  for (const values of [{ 'sta-pswd': 'short' }, { 'sta-ssid': 'x'.repeat(33) }, { 'sta-ssid': 'ä'.repeat(17) }])
    t.match(await change(values), { result: 'failed' }, JSON.stringify(values))
})

t.test('a wrong password: said so, and the access point has the radio again', async (t) => {
  const { field, pass, change, errors, radio, sim } = await wifiStation(t, { network: air })
  await pass(10)
  await change({ 'sta-ssid': 'workshop', 'sta-pswd': 'wrong-horse' })
  await pass(30)
  t.match(errors(), { 'radio-join': /workshop is not joined: .*password.*; check sta-pswd/ })
  t.match(radio.accessPoint.state, 'up')
  t.match(radio.station, {
    state: 'waiting',
    text: /the password of the uplink is wrong: it is tried again in \d+ min/,
  })
  const { starts } = radio.accessPoint
  await pass(3_600)
  t.ok(radio.accessPoint.starts - starts <= 3, `${radio.accessPoint.starts - starts} tries in an hour`)
  t.match(field('wap.bssid'), '02:00:5e:00:03:01')
  sim.command('password workshop right-horse')
  await change({ 'sta-pswd': 'wrong-horse' })
  t.equal(radio.accessPoint.state, 'up', 'the same settings change nothing')
  await change({ 'sta-pswd': 'right-horse' })
  await pass(40)
  t.match(field('sta'), { bssid, ip4: '192.168.8.50' })
  t.strictSame(errors(), {})
})

t.test('an uplink that is lost: the access point after a minute, the uplink again when it is back', async (t) => {
  const { field, pass, radio, sim, station } = await wifiStation(t, {
    network: air,
    changes: { ...workshop, 'sta-pswd': 'correct-horse' },
    radio: { blind_s: 300 },
  })
  await pass(20)
  t.equal(field('sta.bssid'), bssid)
  sim.command('network-off workshop')
  await pass(50)
  t.not(radio.accessPoint.state, 'up', 'the window counts from the loss')
  await pass(25)
  t.equal(radio.accessPoint.state, 'up')
  t.match(field('sta'), { ssid: 'workshop', bssid: '', ip4: '', rssi: 0 })
  sim.command('network workshop correct-horse 6 -50')
  await pass(320)
  t.equal(radio.station.state, 'up')
  t.match(station.lines.map(({ msg }) => msg).join('\n'), /the driver cannot scan as an access point/)
})

t.test('the radio is taken out and put back, the daemon goes away: joined again', async (t) => {
  const { field, pass, sim, station, errors } = await wifiStation(t, { changes: { ...workshop, 'wap-en': 0 } })
  await pass(20)
  for (const [away, back] of [
    ['remove wlan0', 'insert wlan0'],
    ['daemon off', 'daemon on'],
    ['rfkill on', 'rfkill off'],
  ] as const) {
    sim.command(away)
    await pass(20)
    t.match(field('sta'), { bssid: '', ip4: '', ip6: [], rssi: 0 }, away)
    sim.command(back)
    await pass(60)
    t.match(field('sta'), { bssid, ip4: '192.168.8.50' }, back)
  }
  t.strictSame(errors(), {})
  t.strictSame(
    station.lines.filter(({ level }) => level >= 50).map(({ msg }) => msg),
    [],
  )
})

t.test('no DHCP server, and a network that is not there: tried again with growing waits', async (t) => {
  const { pass, sim, errors, station, field } = await wifiStation(t, { changes: { ...workshop, 'wap-en': 0 } })
  sim.command('dhcp workshop off')
  await pass(300)
  t.match(errors(), { 'radio-join': /workshop is not joined: .*; check sta-ssid/ })
  sim.command('dhcp workshop on')
  await pass(300)
  t.equal(field('sta.ip4'), '192.168.8.50')
  sim.command('network-off workshop')
  const tries = () =>
    station.lines.filter(({ msg }) => msg.startsWith('the WiFi network workshop is not joined')).length
  const before = tries()
  await pass(3_600)
  t.ok(tries() - before >= 8 && tries() - before <= 30, `${tries() - before} tries in an hour`)
})

t.test('wifi-sta-scan', async (t) => {
  const { pass, command, change, sim } = await wifiStation(t)
  await pass(10)
  t.match(await command('wifi-sta-scan'), {
    status: 503,
    text: /no scan: wlan0 \(driver simulated\) is the access point at present .* wap-en=0/,
  })
  await change({ 'wap-en': 0 })
  await pass(2)
  t.match(await command('wifi-sta-scan'), {
    status: 200,
    text: ' -52 dBm  channel 6    wpa2-psk  workshop\n -71 dBm  channel 11   open      guests',
  })
  sim.command('network-off workshop')
  sim.command('network-off guests')
  t.match(await command('wifi-sta-scan'), { status: 200, text: /no network is in reach/ })
  sim.command('remove wlan0')
  t.match(await command('wifi-sta-scan'), { status: 503, text: /no WiFi radio/ })
  t.match(await command('wifi-sta-scan=1'), { status: 400 })
})

t.test('POST /actions/wifi-sta-scan: the networks as a list', async (t) => {
  const { pass, change, sim, station } = await wifiStation(t)
  const scan = async () => {
    let found: { status: number; text: string } | undefined
    void station.request('/actions/wifi-sta-scan', { method: 'POST' }).then((answer) => {
      found = answer
    })
    // The scan takes some seconds of the clock.
    await until(
      async () => {
        if (!found) await pass(1)
        return found
      },
      'the scan',
      20_000,
    )
    const { status = 0, text = '' } = found ?? {}
    return { status, json: JSON.parse(text) }
  }
  await pass(10)
  t.match(await scan(), { status: 503, json: { error: 'RTK_ERR_UNAVAILABLE', message: /no scan: wlan0/ } })
  await change({ 'wap-en': 0 })
  await pass(2)
  t.match(await scan(), {
    status: 200,
    json: {
      value: [
        { ssid: 'workshop', channel: 6, signal_dbm: -52, auth: 'wpa2-psk', canJoin: true },
        { ssid: 'guests', channel: 11, signal_dbm: -71, auth: 'open', canJoin: true },
      ],
    },
  })
  sim.command('network-off workshop')
  sim.command('network-off guests')
  t.same((await scan()).json.value, [])
})

t.test('the list of networks for a program', async (t) => {
  const one = (ssid: string, auth: ScannedNetwork['auth'], rssi = -50): ScannedNetwork => ({
    ...{ ssid, bssid: '02:00:00:00:00:01', channel: 1, rssi, auth },
  })
  const joins = (ssid: string, auth: ScannedNetwork['auth']) => scanList([one(ssid, auth)])[0]?.canJoin
  t.same(
    (['open', 'wpa-psk', 'wpa2-psk', 'wpa3-sae'] as const).map((auth) => joins('a', auth)),
    [true, true, true, true],
  )
  t.same(
    (['wep', 'wpa-eap'] as const).map((auth) => joins('a', auth)),
    [false, false],
  )
  for (const ssid of ['', 'a\nb', 'a\u2028b', '\u0000', 'x'.repeat(33)])
    t.equal(joins(ssid, 'open'), false, encodeURIComponent(ssid))
  t.equal(scanList([one('<img src=x>', 'open')])[0]?.ssid, '<img src=x>', 'as it is: the page escapes')
  t.equal(scanList(Array.from({ length: 200 }, (_, n) => one(`n${n}`, 'open'))).length, 64)
  t.same(
    scanList([one('a', 'open', -80), one('a', 'open', -40)]).map(({ signal_dbm }) => signal_dbm),
    [-40],
  )
})

t.test('the list of networks', async (t) => {
  const one = (ssid: string, rssi: number, auth: ScannedNetwork['auth'] = 'open'): ScannedNetwork => ({
    ssid,
    bssid: '',
    channel: 1,
    rssi,
    auth,
  })
  const lines = scanText([
    one('a', -80),
    one('b', -40),
    one('a', -60),
    one('', -70),
    one('', -71),
    one('x\u001b[2J', -90),
    one('y\u2028-30 dBm\u2029\u0085\u202e', -95),
  ])
  t.strictSame(
    lines.split('\n').map((line) => line.slice(0, 4).trim()),
    ['-40', '-60', '-70', '-71', '-90', '-95'],
  )
  t.match(lines, 'x·[2J')
  t.match(lines, 'y·-30 dBm···')
  t.equal(scanText(Array.from({ length: 500 }, (_, i) => one(`n${i}`, -i))).split('\n').length, 64)
})

t.test('reads of the driver that fail are reported once and end', async (t) => {
  const { pass, simRadio, field, errors } = await wifiStation(t, { changes: workshop })
  await pass(20)
  for (const line of ['missing iw on', 'says iw garbage', 'fails iw command failed: No such device (-19)']) {
    simRadio.command(line)
    await pass(15)
    t.match(errors(), { 'sta-facts': /signal and width of the WiFi uplink are not known/ }, line)
    t.match(field('sta'), { bssid, ip4: '192.168.8.50', rssi: 0 }, 'what the daemon says is shown')
    simRadio.command('missing iw off')
    simRadio.command('fails iw off')
    await pass(15)
    t.notOk(errors()['sta-facts'])
  }
})

t.test('a reload of any of the plugins leaves the uplink and the access point alone', async (t) => {
  for (const changes of [workshop, {}]) {
    const { pass, station, sim } = await wifiStation(t, { changes })
    await pass(20)
    const before = sim.command('')
    for (const name of ['sta', 'wap', 'radio']) {
      await station.reload(name)
      await pass(15)
      t.equal(sim.command(''), before, name)
    }
    t.strictSame(station.lines.filter(({ msg }) => /joined|the radio changes/.test(msg)).length <= 2, true)
  }
})

t.test('a plugin that is unloaded takes its side back', async (t) => {
  const { pass, station, sim } = await wifiStation(t, { changes: workshop })
  await pass(20)
  await station.unload('sta')
  await pass(10)
  t.match(sim.command(''), /192\.168\.4\.1/, 'the access point has the radio')
  await station.unload('wap')
  await pass(10)
  t.match(sim.command(''), /wlan0 disconnected/)
})

t.test('a caller that comes over IPv6 is put on trial too', async (t) => {
  const { pass, station, field } = await wifiStation(t, {
    network: air,
    changes: { ...workshop, 'sta-pswd': 'correct-horse' },
  })
  await pass(20)
  const answered = Promise.resolve()
  const values = { 'sta-pswd': 'another-horse' }
  const done = station.station.change(values, { source: 'http', address: 'fe80::0301%wlan0', answered })
  await pass(1)
  await done
  await settled(() => field('base.state.trial') !== undefined, 'it is on trial')
  await pass(110)
  t.match(field('sta'), { bssid, ip4: '192.168.8.50' }, 'and is set back')
  const [error] = field('base.state.errors') as { text: string }[]
  t.match(error?.text, /^WiFi: password did not work: nobody reached/, 'a password is not told')
})

t.test('a network with IPv6 alone is joined; a link-local address is not enough', async (t) => {
  const one = (address: string) =>
    ({ state: 'connected', ip4: [], ip6: [{ address, prefix: 64 }], wifi: { mode: 'station', ssid: 'x' } }) as never
  t.ok(isJoined(one('2001:db8::5'), 'x'))
  t.ok(isJoined(one('fd00::5'), 'x'))
  t.notOk(isJoined(one('fe80::5'), 'x'))
})

t.test('a network that hides its name is called by it; no other is', async (t) => {
  const profile = { ssid: 'cellar', password: 'long-enough' }
  t.match(stationSettings('wlan0', { ...profile, hidden: true })['802-11-wireless'], { hidden: { value: true } })
  t.notOk('hidden' in (stationSettings('wlan0', profile)['802-11-wireless'] ?? {}))
})
