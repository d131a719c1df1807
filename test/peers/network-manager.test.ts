/** The station on a machine of its own: a real NetworkManager, two Ethernet ports, a broker behind both. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gateOnly, startStation, until, withSimulatedReceiver } from 'rtk-base/testing'
import t from 'tap'
import { ControlClient } from '../../runtime/tools/control/client.js'
import type { EthInfo, MqttInfo } from '../../schemas/index.js'
import { Peer } from '../harness/peers/dbus.js'
import { beyond, networkNamespaceFor, noNetworkManager } from '../harness/peers/network-namespace.js'
import { noPeer } from '../harness/peers/peers.js'
import { startRig } from '../plugins/network/rig.js'

const skip = gateOnly || noNetworkManager() || noPeer('mosquitto')
const failOver_ms = 3_000

interface Document {
  eth: EthInfo
  mqtt: MqttInfo
  base: { state: { errors: { code: string; text: string }[] } }
}

t.test('a station with two Ethernet ports', skip ? { skip } : {}, async (t) => {
  const net = await networkNamespaceFor(t)
  const config = join(net.folder, 'mosquitto.conf')
  writeFileSync(
    config,
    ['user root', `listener 1883 ${beyond}`, 'allow_anonymous true', 'persistence false', ''].join('\n'),
  )
  const [ip = '', ...lan] = net.lanPrefix
  new Peer(t, () => spawn(ip, [...lan, 'mosquitto', '-c', config], { stdio: 'ignore' }))
  const data = t.testdir()
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-variant-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [, ...box] = net.boxPrefix
  const start = (...more: string[]) =>
    startStation(
      [
        withSimulatedReceiver('zed-ethernet', folder),
        ...['http.host=127.0.0.1', `network.bus=${net.bus}`, 'mqtt-link.insecure=true'].flatMap((one) => [
          '--set',
          one,
        ]),
        ...more,
      ],
      { execPath: ip, nodeOptions: [...box, process.execPath], data },
    )
  const station = await start('--change', `mqtt-host=${beyond}`, '--change', 'mqtt-port=1883')
  t.teardown(() => station.end('SIGKILL'))
  let control = await ControlClient.open(data)
  t.teardown(() => control.close())
  const document = () => control.call<Document>('document')
  const change = (values: Record<string, unknown>) => control.call<{ result: string }>('change', { values })
  const eth = async () => (await document()).eth
  const sessions = async () => (await document()).mqtt
  const isUp = async () => (await sessions()).state.link === 'up'
  await until(isUp, 'the link is up', 60_000)

  t.test('shows the port as it is', async (t) => {
    const mac = net.box('cat', '/sys/class/net/eth0/address').trim()
    const gateway = net.lan('cat', '/sys/class/net/lan0/address').trim()
    t.match(await eth(), {
      mac,
      enabled: true,
      cable: true,
      ip: '10.77.0.2',
      mask: '255.255.255.0',
      gw: '10.77.0.1',
      arp: [gateway],
    })
    t.equal((await sessions()).via, 'eth')
  })

  const tcp = (address: string) => net.box('ss', '-Htn', 'state', 'established').includes(`${address}:`)

  t.test('a cable is pulled: the link goes on over the other port', async (t) => {
    t.ok(tcp('10.77.0.2'))
    const before_ms = performance.now()
    net.cable(0, false)
    await until(async () => (await isUp()) && tcp('10.77.1.2') && !tcp('10.77.0.2'), 'the link is up again')
    const took_ms = performance.now() - before_ms
    t.comment(`fail-over after a pulled cable: ${Math.round(took_ms)} ms`)
    t.ok(took_ms < failOver_ms, `${Math.round(took_ms)} ms`)
    t.match(await eth(), { enabled: true, cable: false, ip: '', mask: '', gw: '' })
    net.cable(0, true)
    await until(async () => (await eth()).ip === '10.77.0.2', 'the port has its address again')
    t.ok(tcp('10.77.1.2'), 'a session that is up stays')
  })

  t.test('eth-en 0 takes the port down, also over a restart of NetworkManager; 1 brings it back', async (t) => {
    t.match(await change({ 'eth-en': 0 }), { result: 'ok' })
    await until(async () => (await eth()).ip === '', 'the port is down')
    t.notMatch(net.box('ip', 'route'), /eth0/)
    t.match(await eth(), { enabled: false, cable: true, gw: '' })
    net.nmcli('--wait', '0', 'connection', 'up', 'wired0')
    await until(() => /eth0 came up although eth-en is 0/.test(station.output()), 'it is set back', 60_000)
    await until(async () => (await eth()).ip === '' && !net.box('ip', 'route').includes('eth0'), 'it is down')
    t.match(await eth(), { enabled: false })
    await net.manager.stop()
    await until(async () => (await eth()).mac === '', 'nothing is known without it')
    net.manager.start()
    const journal = () => station.output()
    await until(() => journal().match(/eth0 came up although eth-en is 0/g)?.length === 2, 'it is set back', 60_000)
    await until(() => !net.box('ip', 'route').includes('eth0'), 'it is down')
    // NetworkManager takes its other port up anew when it starts: a session may be made again.
    await until(isUp, 'the link is up over the other port')
    t.match(await change({ 'eth-en': 1 }), { result: 'ok' })
    await until(async () => (await eth()).ip === '10.77.0.2', 'the port is up')
    t.match(net.box('ip', 'route'), /default via 10\.77\.0\.1 dev eth0/)
  })

  t.test(
    'a fixed address is used, also after a restart of NetworkManager; then what the machine had before',
    async (t) => {
      const fixed = { 'eth-address': '10.77.0.20/24', 'eth-gateway': '10.77.0.1', 'eth-dns': '10.77.0.1,9.9.9.9' }
      t.match(await change(fixed), { result: 'ok' })
      await until(async () => (await eth()).ip === '10.77.0.20', 'it is used', 60_000)
      t.match(await eth(), { mask: '255.255.255.0', gw: '10.77.0.1' })
      t.match(net.nmcli('-g', 'IP4.DNS', 'device', 'show', 'eth0').trim(), /^10\.77\.0\.1 \| 9\.9\.9\.9$/)
      t.match(net.box('ip', 'route'), /default via 10\.77\.0\.1 dev eth0/)
      await net.manager.stop()
      await until(async () => (await eth()).mac === '', 'nothing is known without it')
      net.manager.start()
      await until(async () => (await eth()).ip === '10.77.0.20', 'it is used again', 60_000)
      t.match(await change({ 'eth-address': '' }), { result: 'ok' })
      await until(async () => (await eth()).ip === '10.77.0.2', 'the profile of the machine is used', 60_000)
      t.notMatch(net.nmcli('-g', 'NAME', 'connection', 'show'), /rtk-base-eth/)
      await until(isUp, 'the link is up', 60_000)
    },
  )

  t.test('the port that carries the session is disabled: the link goes on at once', async (t) => {
    net.cable(1, false)
    await until(async () => (await isUp()) && tcp('10.77.0.2') && !tcp('10.77.1.2'), 'it goes by eth0')
    net.cable(1, true)
    await until(() => net.box('ip', 'route').includes('dev eth1'), 'eth1 is back')
    const before_ms = performance.now()
    t.match(await change({ 'eth-en': 0 }), { result: 'ok' })
    await until(async () => (await isUp()) && tcp('10.77.1.2'), 'the link is up again')
    const took_ms = performance.now() - before_ms
    t.comment(`fail-over after eth-en 0: ${Math.round(took_ms)} ms`)
    t.ok(took_ms < failOver_ms, `${Math.round(took_ms)} ms`)
  })

  t.test('eth-en 0 survives a restart of the station', async (t) => {
    control.close()
    await station.end('SIGTERM')
    net.nmcli('--wait', '0', 'connection', 'up', 'wired0')
    const again = await start()
    t.teardown(() => again.end('SIGKILL'))
    control = await ControlClient.open(data)
    await until(() => /eth0 came up although eth-en is 0/.test(again.output()), 'it is set back', 60_000)
    await until(async () => (await eth()).ip === '' && !net.box('ip', 'route').includes('eth0'), 'it is down')
    t.match(await eth(), { enabled: false })
  })
})

t.test('an uplink is given the default route, and gives it back', skip ? { skip } : {}, async (t) => {
  const net = await networkNamespaceFor(t)
  const { network, uplinks } = await startRig(t, { options: { backend: 'networkmanager', bus: net.bus } })
  const routes = () => net.box('ip', 'route', 'show', 'default')
  await until(() => network.ready && uplinks.list.filter(({ up }) => up).length === 2, 'both are up', 60_000)
  t.match(routes(), /^default via 10\.77\.0\.1 dev eth0 [^\n]*metric 100/)
  await uplinks.prefer?.('eth1')
  await until(
    () => /^default via 10\.77\.1\.1 dev eth1 [^\n]*metric 1 *\n/.test(routes()),
    `eth1 comes first: ${routes()}`,
  )
  await until(() => uplinks.list.find((one) => one.default)?.name === 'eth1', 'it is shown')
  t.notMatch(net.nmcli('-g', 'ipv4.route-metric', 'connection', 'show', 'wired1'), /^1$/m, 'nothing is stored')
  await uplinks.prefer?.(undefined)
  await until(() => /eth1 [^\n]*metric 101/.test(routes()), `as it was: ${routes()}`)
  await until(() => uplinks.list.find((one) => one.default)?.name === 'eth0', 'it is shown')
  await t.rejects(Promise.resolve(uplinks.prefer?.('eth9')), { code: 'RTK_ERR_NETWORK', message: /eth9/ })
})
