/** The radio between access point and uplink, on machines with one, two and no radio. */
import t from 'tap'
import {
  channelOf,
  combinationsOf,
  interfaceOf,
  linkOf,
  regulatoryOf,
  ssidOf,
  stationsOf,
} from '../../../../plugins/network/radio/tools/parse.js'
import { airOf, FakeNetwork } from './fake-network.js'
import { wifiStation } from './rig.js'

const uplink = { 'sta-ssid': 'yard', 'sta-pswd': 'password' }

t.test('two radios: one is the access point, the other one the uplink', async (t) => {
  const fake = new FakeNetwork('wlan0', 'wlan1')
  fake.air = [airOf('yard')]
  const { pass, radio, field } = await wifiStation(t, { fake: fake.plugin(), changes: uplink })
  await pass(20)
  t.match(radio, { accessPoint: { name: 'wlan0', state: 'up' }, station: { name: 'wlan1', state: 'up' } })
  t.strictSame(
    fake.calls.filter((call) => !call.startsWith('scan')).toSorted((a, b) => a.localeCompare(b)),
    ['ap wlan0 rtk-base-TEST0001 6', 'join wlan1 yard'],
  )
  t.match(field('sta.ip4'), '192.168.8.50')
  fake.remove('wlan1')
  await pass(10)
  t.match(radio.station.state, /starting|failed|waiting|up/)
  await pass(120)
  t.match(radio.station, { name: 'wlan0' }, 'one radio is left: they take turns')
})

t.test('one radio that does both gets a second interface, on the channel of the uplink', async (t) => {
  const fake = new FakeNetwork('wlan0')
  fake.air = [airOf('yard', 3)]
  const { pass, radio, simRadio, change } = await wifiStation(t, { fake: fake.plugin() })
  simRadio.command('both 1')
  await pass(10)
  t.match(radio.accessPoint, { name: 'wlan0', state: 'up' })
  await change(uplink)
  await pass(2)
  t.match(simRadio.command(''), /added rtkap0/)
  fake.add('rtkap0')
  await pass(20)
  t.match(radio, { accessPoint: { name: 'rtkap0', state: 'up' }, station: { name: 'wlan0', state: 'up' } })
  t.match(fake.get('rtkap0')?.wifi, { mode: 'ap', channel: 3 }, 'one channel for both')
  fake.air = [airOf('yard', 9)]
  fake.lose('wlan0')
  await pass(20)
  t.match(fake.get('rtkap0')?.wifi, { mode: 'ap', channel: 9 }, 'it follows')
  fake.air = [airOf('yard', 44)]
  fake.lose('wlan0')
  await pass(20)
  t.match(radio, { accessPoint: { state: 'waiting' }, station: { state: 'up' } }, 'no access point at 5 GHz')
})

t.test('a second interface that does not come: they take turns', async (t) => {
  const fake = new FakeNetwork('wlan0')
  fake.air = [airOf('yard')]
  const { pass, radio, simRadio, station } = await wifiStation(t, { fake: fake.plugin(), changes: uplink })
  simRadio.command('both 2')
  await pass(40)
  t.match(radio, { accessPoint: { state: 'waiting' }, station: { state: 'up' } })
  t.match(station.lines.map(({ msg }) => msg).join('\n'), /cannot be access point and uplink at once/)
})

t.test('as an access point it searches for the uplink, and returns to it after two scans', async (t) => {
  const fake = new FakeNetwork('wlan0')
  const { pass, radio, holds } = await wifiStation(t, { fake: fake.plugin(), changes: uplink })
  await pass(90)
  t.match(radio.accessPoint.state, 'up', 'the uplink is away')
  fake.calls.length = 0
  await pass(130)
  t.ok(fake.calls.includes('scan wlan0'))
  t.notOk(fake.calls.includes('join wlan0 yard'), 'nothing is tried blindly')
  fake.air = [airOf('yard')]
  await pass(60)
  t.equal(radio.accessPoint.state, 'up', 'one scan is not enough')
  await pass(70)
  t.equal(radio.station.state, 'up')
  t.strictSame(holds, [])
})

t.test('clients of the access point keep the radio for a while', async (t) => {
  const fake = new FakeNetwork('wlan0')
  const { pass, radio, simRadio } = await wifiStation(t, { fake: fake.plugin(), changes: uplink })
  await pass(90)
  simRadio.command('client 02:00:5e:00:10:01 -50')
  fake.air = [airOf('yard')]
  await pass(400)
  t.match(radio.station, { state: 'waiting', text: /clients use the access point/ })
  await pass(300)
  t.equal(radio.station.state, 'up')
})

t.test('a driver that scans as an access point and hears nobody counts as one that cannot', async (t) => {
  const fake = new FakeNetwork('wlan0')
  fake.scansAsAp = 'empty'
  const { pass, radio, command } = await wifiStation(t, { fake: fake.plugin(), changes: uplink })
  await pass(150)
  t.match(await command('wifi-sta-scan'), { status: 503, text: /the scan found nothing: wlan0 \(driver fake\)/ })
  t.match(radio.station.text, /the driver cannot scan as an access point/)
  fake.air = [airOf('yard')]
  await pass(1_000)
  t.equal(radio.station.state, 'up', 'tried blindly')
})

t.test('profiles of others are left alone', async (t) => {
  const fake = new FakeNetwork('wlan0')
  fake.foreign('wlan0')
  const { pass } = await wifiStation(t, { fake: fake.plugin(), changes: { 'wap-en': 0 } })
  await pass(60)
  t.strictSame(fake.calls, [])
  t.equal(fake.get('wlan0')?.profile, 'home')
})

t.test('only the radio that the option names is used', async (t) => {
  const fake = new FakeNetwork('wlan0', 'wlan1')
  const { pass, radio } = await wifiStation(t, { fake: fake.plugin(), radio: { interface: 'wlan1' } })
  await pass(20)
  t.match(radio.accessPoint, { name: 'wlan1', state: 'up' })
  t.strictSame(fake.calls, ['ap wlan1 rtk-base-TEST0001 6'])
})

t.test('a change over the access point is set back unless its caller comes again', async (t) => {
  // Requests of the test reach the address of the access point.
  const { pass, station, field, errors, radio } = await wifiStation(t, { wap: { address: '127.0.0.1/24' } })
  await pass(15)
  const change = async (values: Record<string, unknown>) => {
    const { json } = await station.request('/change', { method: 'POST', body: JSON.stringify(values) })
    return json()
  }
  t.match(await change({ 'wap-ssid': 'typo' }), { result: 'ok' })
  await pass(20)
  t.equal(field('wap.ssid'), 'typo')
  await pass(90)
  t.equal(field('wap.ssid'), 'rtk-base-TEST0001', 'nobody came')
  t.match(JSON.stringify(errors()), /Access point: network name \(typo\) did not work.*the values before are back/)
  t.match(await change({ 'wap-ssid': 'meant', 'wap-pswd': 'better password' }), { result: 'ok' })
  await pass(20)
  t.equal(radio.accessPoint.state, 'up')
  t.equal((await station.request('/get-info')).status, 200)
  await pass(200)
  t.match(field('wap'), { ssid: 'meant', pwd: 'better password' }, 'somebody came')
})

t.test('what iw writes', async (t) => {
  t.strictSame(
    interfaceOf(
      'Interface wlan0\n\tifindex 3\n\twdev 0x1\n\taddr B8:27:EB:00:00:01\n\tssid caf\\xc3\\xa9\n\ttype AP\n\twiphy 2\n\tchannel 6 (2437 MHz), width: 40 MHz, center1: 2447 MHz\n\ttxpower 31.00 dBm\n',
    ),
    {
      mac: 'b8:27:eb:00:00:01',
      type: 'AP',
      ssid: 'café',
      channel: 6,
      frequency_mhz: 2437,
      width_mhz: 40,
      centre_mhz: 2447,
      txPower_dbm: 31,
      phy: 'phy2',
    },
  )
  t.equal(interfaceOf('garbage'), undefined)
  t.equal(interfaceOf('\n'.repeat(500_000)), undefined, 'also where there is much of it')
  t.match(combinationsOf(`valid interface combinations:\n\t\t * ${'#{'.repeat(250_000)}`), { canBoth: false })
  t.match(
    stationsOf(
      'Station 02:00:5e:00:10:01 (on wlan0)\n\tinactive time:\t40 ms\n\tsignal:  \t-55 [-58, -57] dBm\n\tauthorized:\tno\nStation nonsense\n\tsignal: x\nStation 02:00:5e:00:10:02 (on wlan0)\n\tsignal avg:\t-71 dBm\n',
    ),
    [
      { mac: '02:00:5e:00:10:01', rssi_dbm: -55, inactive_ms: 40 },
      { mac: '02:00:5e:00:10:02', rssi_dbm: -71, inactive_ms: 0 },
    ],
  )
  t.equal(stationsOf('Station 02:00:5e:00:10:01 (on w)\n'.repeat(5_000)).length, 256)
  t.match(linkOf('Connected to aa:bb:cc:00:11:22 (on wlan0)\n\tSSID: a: b\n\tfreq: 5180\n\tsignal: -48 dBm\n'), {
    bssid: 'aa:bb:cc:00:11:22',
    ssid: 'a: b',
    frequency_mhz: 5180,
    rssi_dbm: -48,
  })
  t.equal(linkOf('Not connected.\n'), undefined)
  t.equal(ssidOf('\\x00\\xf0\\x9f\\x93\\xa1 \\x'), '\u0000📡 \\x')
  t.strictSame([2412, 2472, 2484, 5180, 1].map(channelOf), [1, 13, 14, 36, 0])
  const world =
    'global\ncountry 00: DFS-UNSET\n\t(2402 - 2472 @ 40), (N/A, 20), (N/A)\n\t(2457 - 2482 @ 20), (N/A, 20), (N/A), AUTO-BW, PASSIVE-SCAN\n\nphy#1 (self-managed)\ncountry US: DFS-FCC\n\t(2400 - 2483 @ 40), (6, 27), (N/A)\n'
  t.strictSame(regulatoryOf(world), { country: '00', maxChannel: 11, maxTxPower_dbm: 20 })
  t.strictSame(regulatoryOf(world, 'phy1'), { country: 'US', maxChannel: 13, maxTxPower_dbm: 27 })
  t.equal(regulatoryOf(''), undefined)
  const phy = (lines: string) => `\tvalid interface combinations:\n${lines}\tHT Capability overrides:\n\t\t * MCS: ff\n`
  t.strictSame(
    combinationsOf(
      phy('\t\t * #{ managed } <= 1, #{ AP, P2P-client, P2P-GO } <= 1,\n\t\t   total <= 2, #channels <= 1\n'),
    ),
    { canBoth: true, channels: 1 },
  )
  t.strictSame(
    combinationsOf(
      phy(
        '\t\t * #{ managed } <= 1, #{ P2P-device } <= 1, #{ P2P-client, P2P-GO } <= 1,\n\t\t   total <= 3, #channels <= 2\n\t\t * #{ managed } <= 1, #{ AP } <= 1, #{ P2P-client } <= 1, #{ P2P-device } <= 1,\n\t\t   total <= 4, #channels <= 1\n',
      ),
    ),
    { canBoth: true, channels: 1 },
  )
  t.strictSame(combinationsOf(phy('\t\t * #{ managed, AP } <= 1,\n\t\t   total <= 1, #channels <= 1\n')), {
    canBoth: false,
    channels: 0,
  })
  t.strictSame(combinationsOf('\tinterface combinations are not supported\n'), { canBoth: false, channels: 0 })
})
