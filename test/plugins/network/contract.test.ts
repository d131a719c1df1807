/** What the service `network` promises: the simulated machine and the client of NetworkManager are held to the same. */
import { sessionBus } from '@jellybrick/dbus-next'
import { BusConnection, type BusEvents, type BusSignal, type Call } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import type { NetworkInterface } from 'rtk-base/services'
import { gateOnly, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Daemon } from '../../../plugins/network/network/networkmanager/daemon.js'
import {
  interfaces,
  managerPath,
  objectManagerInterface,
  rootPath,
} from '../../../plugins/network/network/networkmanager/names.js'
import { noDbusMock } from '../../harness/peers/dbus.js'
import { mockedWorld, simulatedWorld, type World } from './worlds.js'

const home = { ssid: 'workshop', password: 'correct-horse' }
const point = { ssid: 'base', password: 'surveyor', channel: 6, address: '192.168.4.1/24' }

/** A network whose DHCP server never answers: an attempt to join it lasts until something ends it. */
const hall = { ssid: 'hall', password: '' }
function openHall({ happens }: World): void {
  happens('network hall open 1 -80')
  happens('dhcp hall off')
}

const worlds: Record<string, { make(t: Test): Promise<World>; skip: string | false }> = {
  'the simulated machine': { make: simulatedWorld, skip: false },
  'NetworkManager by D-Bus': { make: mockedWorld, skip: gateOnly || noDbusMock() },
}

for (const [name, { make, skip }] of Object.entries(worlds)) {
  t.test(name, { skip }, async (t) => {
    const world = await make(t)
    const { network, uplinks } = world
    const find = (name: string): NetworkInterface | undefined => network.interfaces.find((one) => one.name === name)
    const is = (name: string, state: string) => world.reach(() => find(name)?.state === state, `${name} is ${state}`)
    const events: string[] = []
    world.ctx.on(uplinks.onUp, ({ name }) => events.push(`${name} up`))
    world.ctx.on(uplinks.onDown, ({ name }) => events.push(`${name} down`))
    const happened = () => events.splice(0)
    await is('eth0', 'connected')

    t.test('shows its interfaces', async (t) => {
      t.match(network, { ready: true, failure: '' })
      t.match(find('eth0'), {
        kind: 'ethernet',
        mac: /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/,
        carrier: true,
        reason: '',
        ip4: [{ address: '192.168.1.50', prefix: 24 }],
        gateway: '192.168.1.1',
        metric: 100,
        profile: 'Wired connection 1',
        reach: 'internet',
      })
      t.match(find('wlan0'), {
        kind: 'wifi',
        state: 'disconnected',
        ip4: [],
        gateway: '',
        metric: undefined,
        wifi: { mode: 'none', canBeAp: true, ssid: '', channel: 0 },
      })
      t.match(uplinks.list, [
        { kind: 'eth', name: 'eth0', up: true, default: true, addresses: ['192.168.1.50'], reach: 'internet' },
        { kind: 'sta', name: 'wlan0', up: false, default: false, reach: 'none' },
      ])
      happened()
    })

    t.test('disables and enables a port, and shows that the daemon brought it up by itself', async (t) => {
      await world.during(network.setEnabled('eth0', false))
      await is('eth0', 'disconnected')
      t.match(find('eth0'), {
        ip4: [],
        gateway: '',
        metric: undefined,
        profile: '',
        carrier: true,
        reason: /on request/,
      })
      await world.during(network.setEnabled('eth0', false))
      world.happens('activate eth0')
      await is('eth0', 'connected')
      await world.during(network.setEnabled('eth0', false))
      await is('eth0', 'disconnected')
      await world.during(network.setEnabled('eth0', true))
      await is('eth0', 'connected')
      t.strictSame(happened(), ['eth0 down', 'eth0 up', 'eth0 down', 'eth0 up'])
    })

    t.test('a cable is pulled and plugged in', async (t) => {
      world.happens('cable eth0 off')
      await is('eth0', 'unavailable')
      t.match(find('eth0'), { carrier: false, ip4: [], reason: /no cable/ })
      await world.during(network.setEnabled('eth0', true))
      world.happens('cable eth0 on')
      await is('eth0', 'connected')
      t.strictSame(happened(), ['eth0 down', 'eth0 up'])
    })

    t.test('gives a port a fixed address, and what it had before', async (t) => {
      const fixed = { address: '192.168.1.20', prefix: 24, gateway: '192.168.1.1', dns: ['192.168.1.1', '9.9.9.9'] }
      const set = (address: typeof fixed | undefined) =>
        world.during(Promise.resolve(network.setAddress?.('eth0', address)))
      const has = (address: string) =>
        world.reach(() => find('eth0')?.ip4[0]?.address === address && find('eth0')?.reach === 'internet', address)
      await set(fixed)
      await has('192.168.1.20')
      t.match(find('eth0'), {
        state: 'connected',
        ip4: [{ address: '192.168.1.20', prefix: 24 }],
        gateway: '192.168.1.1',
        profile: 'rtk-base-eth-eth0',
      })
      t.strictSame(happened(), ['eth0 down', 'eth0 up'])
      await set({ ...fixed })
      t.strictSame(happened(), [], 'the same again changes nothing')
      world.happens('cable eth0 off')
      await is('eth0', 'unavailable')
      world.happens('cable eth0 on')
      await has('192.168.1.20')
      await world.during(network.setEnabled('eth0', false))
      await is('eth0', 'disconnected')
      await set({ ...fixed, address: '192.168.1.21' })
      t.equal(find('eth0')?.state, 'disconnected', 'a port that is disabled stays down')
      await world.during(network.setEnabled('eth0', true))
      await has('192.168.1.21')
      await set(undefined)
      await has('192.168.1.50')
      t.equal(find('eth0')?.profile, 'Wired connection 1')
      happened()
      await set(undefined)
      t.strictSame(happened(), [])
      await t.rejects(world.during(Promise.resolve(network.setAddress?.('wlan0', fixed))), {
        cause: { failure: 'no interface' },
      })
    })

    t.test('scans', async (t) => {
      const found = await world.during(network.scan('wlan0'))
      t.match(
        found.sort((a, b) => b.rssi - a.rssi),
        [
          { ssid: 'workshop', channel: 6, rssi: -52, auth: 'wpa2-psk', bssid: /^02:/ },
          { ssid: 'guests', channel: 11, rssi: -70, auth: 'open' },
        ],
      )
      world.happens('network shed open 11 -85')
      const again = await world.during(network.scan('wlan0'))
      t.ok(
        again.some(({ ssid }) => ssid === 'shed'),
        'the answer is what this scan found, not what was known before',
      )
      const given = new AbortController()
      const scan = network.scan('wlan0', given.signal)
      scan.catch(() => {})
      given.abort(new Error('nobody waits'))
      await t.rejects(world.during(scan), { message: 'nobody waits' })
    })

    t.test('joins a network, and says why it did not', async (t) => {
      await world.during(network.join('wlan0', home))
      t.match(find('wlan0'), {
        state: 'connected',
        ip4: [{ address: '192.168.8.50', prefix: 24 }],
        gateway: '192.168.8.1',
        metric: 600,
        wifi: { mode: 'station', ssid: 'workshop', channel: 6 },
      })
      t.match(uplinks.list, [
        { name: 'eth0', default: true },
        { name: 'wlan0', up: true, default: false },
      ])
      const wrong = world.during(network.join('wlan0', { ...home, password: 'battery-staple' }))
      await t.rejects(wrong, {
        code: 'RTK_ERR_NETWORK',
        message: /wrong password/,
        cause: { failure: 'wrong password' },
      })
      await world.reach(() => /wrong password/.test(find('wlan0')?.reason ?? ''), 'the reason is shown')
      const nowhere = world.during(network.join('wlan0', { ssid: 'nowhere', password: '' }))
      await t.rejects(nowhere, { code: 'RTK_ERR_NETWORK', cause: { failure: 'not found' } })
      world.happens('dhcp guests off')
      const silent = world.during(network.join('wlan0', { ssid: 'guests', password: '' }))
      await t.rejects(silent, { message: /no DHCP server/, cause: { failure: 'no address' } })
      world.happens('dhcp guests on')
      await world.during(network.join('wlan0', { ssid: 'guests', password: '' }))
      t.equal(find('wlan0')?.wifi?.ssid, 'guests')
      t.strictSame(happened(), ['wlan0 up', 'wlan0 down', 'wlan0 up'])
    })

    t.test('is an access point, which is no way out', async (t) => {
      await world.during(network.startAccessPoint('wlan0', point))
      t.match(find('wlan0'), {
        state: 'connected',
        ip4: [{ address: '192.168.4.1', prefix: 24 }],
        gateway: '',
        wifi: { mode: 'ap', ssid: 'base', channel: 6 },
      })
      t.strictSame(
        uplinks.list.map(({ name }) => name),
        ['eth0'],
      )
      await t.rejects(world.during(network.scan('wlan0')), { code: 'RTK_ERR_NETWORK' })
      await world.during(network.disconnect('wlan0'))
      await is('wlan0', 'disconnected')
      t.strictSame(happened(), ['wlan0 down'])
    })

    t.test('the newest call wins', async (t) => {
      openHall(world)
      const first = network.join('wlan0', hall)
      first.catch(() => {})
      await is('wlan0', 'connecting')
      await world.during(network.startAccessPoint('wlan0', point))
      await t.rejects(first, { code: 'RTK_ERR_NETWORK', cause: { failure: 'superseded' } })
      t.equal(find('wlan0')?.wifi?.mode, 'ap')
      await world.during(network.disconnect('wlan0'))
      await is('wlan0', 'disconnected')
    })

    t.test('a refused call has the reason of the daemon, and changes nothing', async (t) => {
      const before = JSON.stringify(network.interfaces)
      world.happens('refuse the policy of this machine forbids it')
      const refused = { code: 'RTK_ERR_NETWORK', message: /policy of this machine/, cause: { failure: 'not allowed' } }
      await t.rejects(world.during(network.setEnabled('eth0', false)), refused)
      await t.rejects(world.during(network.join('wlan0', home)), refused)
      await t.rejects(world.during(network.startAccessPoint('wlan0', point)), refused)
      await t.rejects(world.during(network.scan('wlan0')), refused)
      world.happens('refuse off')
      t.equal(JSON.stringify(network.interfaces), before)
      await t.rejects(network.setEnabled('eth7', true), { code: 'RTK_ERR_NETWORK', cause: { failure: 'no interface' } })
      await t.rejects(network.scan('eth0'), { cause: { failure: 'no interface' } })
      await t.rejects(network.setEnabled('wlan0', true), { cause: { failure: 'no interface' } })
    })

    t.test('a daemon that does not answer: the call ends in its time', async (t) => {
      world.silent(true)
      const call = network.setEnabled('eth0', false)
      call.catch(() => {})
      await world.clock.advance(4_000)
      const late = { code: 'RTK_ERR_NETWORK', message: /within 4 s/, cause: { failure: 'timeout' } }
      await t.rejects(call, late)
      world.silent(false)
      await world.during(network.setEnabled('eth0', true))
      await is('eth0', 'connected')
      happened()
    })

    t.test('an interface is removed and comes back', async (t) => {
      world.happens('remove eth0')
      await world.reach(() => find('eth0') === undefined, 'it is gone')
      t.strictSame(happened(), ['eth0 down'])
      world.happens('insert eth0')
      await is('eth0', 'connected')
      t.strictSame(happened(), ['eth0 up'])
      const join = network.join('wlan0', hall)
      join.catch(() => {})
      await is('wlan0', 'connecting')
      world.happens('remove wlan0')
      await t.rejects(world.during(join), { code: 'RTK_ERR_NETWORK', cause: { failure: 'no interface' } })
      world.happens('insert wlan0')
      await is('wlan0', 'disconnected')
    })

    t.test('a login page in the way', async (t) => {
      world.happens('reach eth0 portal')
      await world.reach(() => uplinks.list[0]?.reach === 'portal', 'it is seen')
      t.match(uplinks.list[0], { up: true, text: /log in/ })
      world.happens('reach eth0 internet')
      await world.reach(() => uplinks.list[0]?.reach === 'internet', 'it is seen')
      t.strictSame(happened(), [])
    })

    t.test('the daemon goes and comes back', async (t) => {
      await world.daemon(false)
      await world.reach(() => !network.ready, 'it is noticed')
      t.match(network, { ready: false, failure: /not running/, interfaces: [] })
      t.equal(uplinks.list[0]?.up, true, 'the routes of the kernel stand')
      await t.rejects(network.setEnabled('eth0', false), { code: 'RTK_ERR_UNAVAILABLE' })
      await t.rejects(network.scan('wlan0'), { code: 'RTK_ERR_UNAVAILABLE' })
      await world.daemon(true)
      await world.reach(() => network.ready && find('eth0')?.state === 'connected', 'its state is known again')
      t.equal(network.failure, '')
    })

    t.test('no fault', async (t) => {
      const faults = world.station.lines.filter(({ level }) => level >= 50).map(({ msg }) => msg)
      t.strictSame(faults, [])
    })
  })
}

t.test('why an activation failed is known while its device is there, and no longer', async (t) => {
  const device = (index: number) => `${rootPath}/Devices/${index}`
  const named = { [interfaces.device]: { State: 30 } }
  const paths = Array.from({ length: 200 }, (_, index) => device(index))
  let signal: (signal: BusSignal) => void = () => {}
  t.intercept(BusConnection, 'open', {
    value: async (_address: string, events: BusEvents) => {
      signal = events.signal
      return {
        match: async () => {},
        ownerOf: async () => ':1.1',
        close() {},
        call: async ({ answered }: Call) => {
          answered?.()
          return [Object.fromEntries(paths.map((path) => [path, named]))]
        },
      }
    },
  })
  const ctx = { log: console, timers: { after: () => () => {} }, signal: new AbortController().signal }
  const daemon = new Daemon(ctx as unknown as PluginContext, 'unix:path=/nowhere', { changed() {} })
  await daemon.start()
  const from = { sender: ':1.1' }
  const changed = (path: string, ...body: number[]) =>
    signal({ ...from, path, interface: interfaces.device, member: 'StateChanged', body })
  const removed = (path: string) =>
    signal({
      ...from,
      path: managerPath,
      interface: objectManagerInterface,
      member: 'InterfacesRemoved',
      body: [path, [interfaces.device]],
    })
  const [noSecrets, isFailed, isActive] = [7, 120, 100]
  const known = () => paths.filter((path) => daemon.lastReason(path) !== 0).length
  for (const path of paths) {
    changed(path, isFailed, 50, noSecrets)
    if (path !== paths[0]) removed(path)
  }
  changed(device(0), 30, isFailed, 0)
  t.equal(known(), 1, 'one that was pulled out comes back by another path')
  t.equal(daemon.lastReason(device(0)), noSecrets, 'it stays after the failed state is left')
  changed(device(0), isActive, 90, 0)
  t.equal(known(), 0)
})

t.test('the bus itself', { skip: gateOnly || noDbusMock() }, async (t) => {
  const world = await mockedWorld(t)
  const { network, bus } = world
  const isUp = () => network.interfaces.some(({ name, state }) => name === 'eth0' && state === 'connected')
  await world.reach(isUp, 'eth0 is connected')

  t.test(
    'dies and comes back: the state is built again, and calls in between say why they cannot be done',
    async (t) => {
      openHall(world)
      const call = network.join('wlan0', hall)
      call.catch(() => {})
      await world.reach(() => network.interfaces.some(({ state }) => state === 'connecting'), 'it is under way')
      await bus.daemon.stop('SIGKILL')
      await t.rejects(world.during(call), { code: 'RTK_ERR_UNAVAILABLE' })
      await world.reach(() => !network.ready, 'it is noticed')
      t.match(network, { failure: /bus .* cannot be reached: .*; retrying automatically/, interfaces: [] })
      await t.rejects(network.setEnabled('eth0', false), { code: 'RTK_ERR_UNAVAILABLE' })
      const timers = world.clock.pending
      await world.clock.advance(120_000)
      await until(() => world.clock.pending <= timers + 1, 'one attempt at a time')
      bus.daemon.start()
      await bus.up()
      await world.daemon(true)
      await world.reach(isUp, 'its state is known again')
      t.equal(network.failure, '')
    },
  )

  t.test(
    'a daemon that only answers with errors: said so, asked again less and less often, used when it does',
    async (t) => {
      await world.daemon(false)
      await world.reach(() => !network.ready, 'it is gone')
      const impostor = sessionBus({ busAddress: bus.address })
      let asked = 0
      impostor.addMethodHandler(({ member }) => {
        if (member === 'GetManagedObjects') asked++
        return false
      })
      await impostor.requestName('org.freedesktop.NetworkManager', 0)
      await world.reach(() => /does not report its state/.test(network.failure), 'the failure is shown')
      const begun_ms = world.clock.monotonic()
      await world.reach(() => asked >= 4, 'it is asked again')
      t.ok(world.clock.monotonic() - begun_ms > 1_500, 'not at once')
      t.match(network, { ready: false, interfaces: [] })
      await t.rejects(network.scan('wlan0'), { code: 'RTK_ERR_UNAVAILABLE', message: /does not report/ })
      impostor.disconnect()
      await world.reach(() => /not running/.test(network.failure), 'it is gone')
      await world.daemon(true)
      await world.reach(isUp, 'its state is known again')
    },
  )

  t.test('a profile that did not come up is set back, with its password', async (t) => {
    const stored = () => world.asked('Stored')
    await world.during(network.join('wlan0', home))
    const before = stored()
    t.match(before, /workshop.*correct-horse/)
    for (const wrong of [
      { ...home, password: 'battery-staple' },
      { ssid: 'nowhere', password: '' },
    ])
      await t.rejects(world.during(network.join('wlan0', wrong)), { code: 'RTK_ERR_NETWORK' })
    t.equal(stored(), before)
    world.happens('break ActivateConnection')
    await t.rejects(world.during(network.startAccessPoint('wlan0', point)), { message: /out of order/ })
    t.equal(stored(), before, 'a new profile is deleted again')
    world.happens('break Disconnect')
    await t.rejects(world.during(network.setEnabled('eth0', false)), { message: /out of order/ })
    world.happens('break nothing')
    t.equal(world.asked('MayConnect'), 'eth0 wlan0')
  })

  t.test('three calls in a row without an answer are a dead connection: it is made anew', async (t) => {
    await world.reach(() => network.ready, 'it answers')
    world.silent(true)
    const begun = () => /cannot be reached: 3 calls in a row were not answered/.test(network.failure)
    for (const [call, isLost] of [
      [1, false],
      [2, false],
      [3, true],
    ] as const) {
      const asked = network.scan('wlan0')
      asked.catch(() => {})
      await world.clock.advance(4_000)
      await t.rejects(asked, { message: /NetworkManager/ }, `call ${call}`)
      t.equal(begun(), isLost, `after call ${call}`)
    }
    world.silent(false)
    await world.reach(isUp, 'its state is known again')
  })

  t.test('nothing of a password is in the log', async (t) => {
    t.notMatch(JSON.stringify(world.station.lines), /correct-horse|battery-staple|surveyor/)
    t.strictSame(
      world.station.lines.filter(({ level }) => level >= 50),
      [],
    )
  })
})
