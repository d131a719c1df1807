/** The ways out: which there are, what came and went, what others found, and the link that follows them. */
import { definePlugin } from 'rtk-base/plugin'
import { cellularRouter, cellularUplink, type NetworkInterface, type Uplink } from 'rtk-base/services'
import { ManualClock, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import link from '../../../plugins/mqtt/mqtt-link/index.js'
import { interfaces as names } from '../../../plugins/network/network/networkmanager/names.js'
import { ObjectModel } from '../../../plugins/network/network/networkmanager/object-model.js'
import { interfacesOf } from '../../../plugins/network/network/networkmanager/snapshot.js'
import { changesOf, uplinksOf } from '../../../plugins/network/network/uplinks/table.js'
import { UplinkService } from '../../../plugins/network/network/uplinks/uplinks.js'
import type { AnyPlugin, EventSource, PluginContext } from '../../../runtime/plugin.js'
import { startBroker } from '../../harness/peers/brokers.js'
import { type Rig, startRig } from './rig.js'

const twoPorts = {
  options: {
    simulator: {
      ethernet: [{ name: 'eth0' }, { name: 'eth1', address: '10.0.0.5/8', gateway: '10.0.0.1' }],
      networks: [{ ssid: 'workshop', password: 'correct horse' }],
    },
  },
}

function recorded({ ctx, uplinks }: Rig) {
  const events: string[] = []
  ctx.on(uplinks.onUp, ({ name }) => events.push(`${name} up`))
  ctx.on(uplinks.onDown, ({ name, addresses }) => events.push(`${name} down ${addresses[0]}`))
  return () => events.splice(0)
}

t.test('the default route and its fail-over', async (t) => {
  const rig = await startRig(t, twoPorts)
  const { uplinks, network, sim, clock } = rig
  const happened = recorded(rig)
  const first = () => uplinks.list.find((one) => one.default)?.name
  await clock.advance(1_000)
  t.strictSame(happened(), ['eth0 up', 'eth1 up'])
  t.equal(first(), 'eth0')
  sim.command('cable eth0 off')
  await clock.advance(0)
  t.strictSame(happened(), ['eth0 down 192.168.1.50', 'eth1 up'], 'the other one has the default route now')
  t.equal(first(), 'eth1')
  t.match(uplinks.list, [
    { name: 'eth1' },
    { name: 'eth0', up: false, text: /unavailable: no cable/ },
    { name: 'wlan0' },
  ])
  sim.command('cable eth0 on')
  await clock.advance(1_000)
  t.strictSame(happened(), ['eth0 up'])
  t.equal(first(), 'eth0')
  sim.command('address eth0 192.168.1.77/24 192.168.1.1')
  sim.command('activate eth0')
  await clock.advance(1_000)
  t.strictSame(happened(), ['eth0 down 192.168.1.50', 'eth1 up', 'eth0 up'], 'another address is another way')
  const join = network.join('wlan0', { ssid: 'workshop', password: 'correct horse' })
  await clock.advance(5_000)
  await join
  t.strictSame(happened(), ['wlan0 up'])
  sim.command('address eth1 10.0.0.5/8')
  sim.command('activate eth1')
  await clock.advance(1_000)
  t.match(
    uplinks.list.find(({ name }) => name === 'eth1'),
    { up: false, default: false, text: 'eth1 has no gateway' },
  )
})

t.test('what others found', async (t) => {
  const rig = await startRig(t, twoPorts)
  const { uplinks, sim, clock } = rig
  const happened = recorded(rig)
  const reach = (index = 0) => [uplinks.list[index]?.reach, uplinks.list[index]?.text]
  sim.command('reach eth0 unknown')
  await clock.advance(1_000)
  happened()
  t.strictSame(reach(), ['unknown', ''])
  uplinks.report({ who: 'caster', reached: false, text: 'no answer' })
  t.strictSame(reach(), ['local', 'caster: no answer'])
  uplinks.report({ who: 'mqtt-link', localAddress: '::ffff:192.168.1.50', reached: true })
  t.strictSame(reach(), ['internet', 'mqtt-link: reached the other end'], 'one that was reached proves it')
  uplinks.report({ who: 'mqtt-link', localAddress: '10.0.0.5', reached: false })
  t.strictSame(reach(1), ['internet', 'mqtt-link: did not reach the other end'], 'the daemon found the internet there')
  uplinks.report({ who: 'stranger', localAddress: '203.0.113.9', reached: true })
  for (let n = 0; n < 100; n++) uplinks.report({ who: `reporter ${n}`, reached: false, text: 'x'.repeat(10_000) })
  t.ok(JSON.stringify(uplinks.list).length < 2_000, 'bounded')
  await clock.advance(660_000)
  t.strictSame(reach(), ['unknown', ''], 'after 10 min it says nothing')
  sim.command('reach eth0 portal')
  await clock.advance(0)
  t.match(reach(), ['portal', /log in/])
  uplinks.report({ who: 'mqtt-link', reached: true })
  t.match(reach(), ['internet', /mqtt-link/])
  t.strictSame(happened(), [])
})

t.test('through a cellular router', async (t) => {
  let connected: boolean | undefined
  let changed: EventSource<void> | undefined
  const router = definePlugin({
    name: 'router',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [cellularRouter, cellularUplink],
    setup(ctx) {
      changed = ctx.event<void>()
      const onState = ctx.event<void>().on
      ctx.services.provide(cellularRouter, {
        state: 'online',
        onState,
        macaddr: '00:1E:42:00:00:01',
        address: '192.168.1.1',
        reboot: async () => {},
      })
      ctx.services.provide(cellularUplink, {
        get connected() {
          return connected
        },
        onChange: changed.on,
      })
    },
  })
  const rig = await startRig(t, { ...twoPorts, plugins: { router: router as AnyPlugin } })
  const { uplinks, clock } = rig
  const happened = recorded(rig)
  const way = () => {
    const { kind, up, reach } = uplinks.list.find(({ name }) => name === 'eth0') as Uplink
    return { kind, up, reach }
  }
  const modem = (is: boolean | undefined) => {
    connected = is
    changed?.emit()
  }
  await clock.advance(1_000)
  t.match(way(), { kind: 'cellular', up: true }, 'nobody says that the modem is offline')
  t.equal(uplinks.list.find(({ name }) => name === 'eth1')?.kind, 'eth')
  happened()
  modem(true)
  t.strictSame(happened(), [])
  modem(false)
  t.match(way(), { kind: 'cellular', up: false, reach: 'none' })
  t.strictSame(happened(), ['eth0 down 192.168.1.50'])
  uplinks.report({ who: 'mqtt-link', localAddress: '192.168.1.50', reached: true })
  t.match(way(), { kind: 'eth', up: true, reach: 'internet' }, 'the router has another way out')
  modem(true)
  t.match(way(), { kind: 'cellular', up: true })
  modem(undefined)
  t.match(way(), { kind: 'cellular', up: true }, 'a modem that does not answer is no lost connection')
  t.strictSame(happened(), ['eth0 up'])
  await rig.station.unload('router')
  await clock.advance(30_000)
  t.match(way(), { kind: 'eth', up: true })
})

/** The service alone: the interfaces, the router and its modem are in the hands of the test. */
function serviceOf(steer?: (name: string | undefined) => Promise<void>) {
  const clock = new ManualClock()
  const lines: string[] = []
  const event = <T>() => {
    const listeners: ((value: T) => void)[] = []
    return { on: (fn: (value: T) => void) => void listeners.push(fn), emit: (v: T) => listeners.map((fn) => fn(v)) }
  }
  const changed = event<void>()
  const routerChanged = event<void>()
  const modemChanged = event<void>()
  const network = { ready: true, interfaces: [] as NetworkInterface[], onChange: changed.on, steer }
  const modem = { connected: undefined as boolean | undefined, onChange: modemChanged.on }
  const known = new Map<unknown, unknown>()
  const watchers: [unknown, (service: unknown) => unknown][] = []
  /** Undefined: the plugin that provided it is gone. */
  const provide = (token: unknown, service: unknown) => {
    if (service === undefined) known.delete(token)
    else known.set(token, service)
    for (const [watched, tell] of watchers) if (watched === token) tell(service)
  }
  const every = (ms: number, fn: () => void): unknown =>
    clock.timer(ms, () => {
      fn()
      every(ms, fn)
    })
  const watch = (token: unknown, tell: (service: unknown) => unknown) => {
    watchers.push([token, tell])
    tell(known.get(token))
  }
  const ctx = {
    ...{ clock, event, signal: new AbortController().signal, timers: { every } },
    on: (listen: (fn: () => void) => void, fn: () => void) => listen(fn),
    services: { find: (token: unknown) => known.get(token), watch },
    log: { info: (_facts: object, text: string) => lines.push(text) },
  } as unknown as PluginContext
  const service = new UplinkService(ctx, network as never)
  service.start()
  const interfaces = (...list: NetworkInterface[]) => {
    network.interfaces = list
    changed.emit()
  }
  const router = { address: '10.0.0.1', onState: routerChanged.on }
  const routers = { router, modem, routerChanged, modemChanged, provide }
  return { clock, lines, network, service, interfaces, ...routers }
}

const port = (name: string, more: Partial<NetworkInterface> = {}) =>
  ({
    ...{ name, kind: 'ethernet', state: 'connected', reason: '', ip4: [{ address: '10.0.0.2', prefix: 8 }], ip6: [] },
    ...{ gateway: '10.0.0.1', metric: 100, reach: 'unknown' },
    ...more,
  }) as unknown as NetworkInterface

t.test('why an uplink went down is in the log; who reloads gets told once', async (t) => {
  const { lines, service, interfaces } = serviceOf()
  let changes = 0
  service.onChange(() => {
    changes++
  })
  const seen = async (...list: NetworkInterface[]) => {
    lines.length = 0
    changes = 0
    interfaces(...list)
    await Promise.resolve()
    return [...lines, changes]
  }
  const other = port('eth1', { metric: 200 })
  t.same(await seen(port('eth0'), other), ['the uplink eth0 (eth) is up', 'the uplink eth1 (eth) is up', 1])
  t.same(await seen(port('eth0'), other), [0], 'nothing changed')
  t.same(await seen(other, port('eth0', { ip4: [{ address: '10.0.0.3', prefix: 8 }] })), [
    'the uplink eth0 (eth) is down: its address changed',
    'the uplink eth0 (eth) is up',
    1,
  ])
  t.same(await seen(other, port('eth0', { state: 'disconnected', reason: 'no cable' } as never)), [
    'the uplink eth0 (eth) is down: eth0 is disconnected: no cable',
    'the uplink eth1 (eth) is up',
    1,
  ])
  t.same(await seen(), ['the uplink eth1 (eth) is down: the interface is gone', 1])
})

t.test('the router and its modem are followed at once, as they come, change and go', async (t) => {
  const { clock, service, interfaces, router, modem, routerChanged, modemChanged, provide } = serviceOf()
  const way = () => `${service.list[0]?.kind} ${service.list[0]?.up ? 'up' : 'down'}`
  interfaces(port('eth0'))
  modem.connected = false
  provide(cellularRouter, router)
  t.equal(way(), 'eth up', 'without a modem it is any router')
  provide(cellularUplink, modem)
  t.equal(way(), 'cellular down')
  modem.connected = true
  modemChanged.emit()
  t.equal(way(), 'cellular up')
  router.address = '10.0.0.9'
  routerChanged.emit()
  t.equal(way(), 'eth up')
  router.address = '10.0.0.1'
  await clock.advance(29_999)
  t.equal(way(), 'eth up')
  await clock.advance(1)
  t.equal(way(), 'cellular up', 'every 30 s in any case')
  provide(cellularRouter, undefined)
  t.equal(way(), 'eth up')
  provide(cellularRouter, router)
  provide(cellularUplink, undefined)
  t.equal(way(), 'eth up')
})

t.test('what was found through the modem as it was is forgotten, what was found elsewhere is not', async (t) => {
  const { service, interfaces, router, modem, modemChanged, provide } = serviceOf()
  provide(cellularRouter, router)
  provide(cellularUplink, modem)
  modem.connected = true
  modemChanged.emit()
  interfaces(
    port('eth0'),
    port('eth1', { gateway: '10.0.0.7', ip4: [{ address: '10.0.0.5', prefix: 8 }], metric: 200 }),
  )
  const found = () => service.list.map(({ name, reach }) => `${name} ${reach}`)
  for (const localAddress of ['10.0.0.2', '10.0.0.5']) service.report({ who: 'x', localAddress, reached: true })
  t.same(found(), ['eth0 internet', 'eth1 internet'])
  modemChanged.emit()
  t.same(found(), ['eth0 internet', 'eth1 internet'], 'the modem is as it was')
  modem.connected = undefined
  modemChanged.emit()
  t.same(found(), ['eth0 unknown', 'eth1 internet'])
})

t.test('while the network daemon is away its last word stands, were it about a single interface', async (t) => {
  const { network, service, interfaces } = serviceOf()
  const names = () => service.list.map(({ name }) => name)
  network.ready = false
  interfaces(port('eth0'))
  t.same(names(), ['eth0'], 'what is known at the start is taken')
  interfaces()
  t.same(names(), ['eth0'])
  network.ready = true
  interfaces()
  t.same(names(), [])
})

t.test('the default route is given where the network can, and refused where it cannot', async (t) => {
  const asked: (string | undefined)[] = []
  const { service } = serviceOf(async (name) => void asked.push(name))
  await service.prefer('eth1')
  await service.prefer(undefined)
  t.same(asked, ['eth1', undefined])
  await t.rejects(serviceOf().service.prefer('eth1'), { code: 'RTK_ERR_UNAVAILABLE' })
})

t.test('a finding is told in 200 characters, with who found it', async (t) => {
  const { service, interfaces } = serviceOf()
  service.report({ who: 'x', reached: true })
  interfaces(port('eth0'))
  t.equal(service.list[0]?.text, '', 'what was found before there was an uplink is of none')
  service.report({ who: 'caster', reached: false, text: 'y'.repeat(300) })
  t.equal(service.list[0]?.text, `caster: ${'y'.repeat(192)}`)
})

const device = '/org/freedesktop/NetworkManager/Devices/1'
const manager = 'org.freedesktop.DBus.ObjectManager'

/** NetworkManager's objects of one Ethernet port. */
function modelOf(ip4: object, ip6: object): ObjectModel {
  const model = new ObjectModel()
  model.load({
    [device]: {
      [names.device]: { Interface: 'eth0', DeviceType: 1, State: 100, Ip4Config: '/ip4', Ip6Config: '/ip6' },
      [names.wired]: { Carrier: true },
    },
    '/ip4': { [names.ip4]: ip4 },
    '/ip6': { [names.ip6]: ip6 },
  })
  return model
}

t.test('a network with IPv6 alone is a way out; IPv4 that comes later ends nothing', async (t) => {
  const ways = (ip4: object) =>
    uplinksOf({
      interfaces: interfacesOf(
        modelOf(ip4, {
          AddressData: [{ address: '2001:db8::5', prefix: 64 }],
          Gateway: 'fe80::1',
          RouteData: [{ dest: '::', prefix: 0, metric: 100, 'next-hop': 'fe80::1' }],
        }),
        () => 0,
      ),
      router: undefined,
      findings: () => undefined,
    })
  const alone = ways({})
  t.match(alone, [{ name: 'eth0', up: true, default: true, metric: 100, addresses: ['2001:db8::5'] }])
  const both = ways({
    AddressData: [{ address: '192.168.1.50', prefix: 24 }],
    Gateway: '192.168.1.1',
    RouteData: [{ dest: '0.0.0.0', prefix: 0, metric: 100 }],
  })
  t.match(both, [{ up: true, addresses: ['192.168.1.50', '2001:db8::5'] }])
  t.match(changesOf(alone, both), { down: [], up: [{ name: 'eth0' }] })
  t.match(changesOf(both, alone), { down: [{ name: 'eth0' }], up: [{ name: 'eth0' }] })
})

t.test('a daemon that says what it should not: nothing of it is believed, and nothing fails', async (t) => {
  const model = modelOf({}, {})
  const before = JSON.stringify(interfacesOf(model, () => 0))
  const wrong = [undefined, 5, 'x', [], [5], {}, { [names.device]: 5 }]
  for (const first of [undefined, 5, device, names.device])
    for (const second of wrong)
      for (const member of ['InterfacesRemoved', 'InterfacesAdded'] as const) {
        if (first === device && second !== undefined && typeof second === 'object' && !Array.isArray(second)) continue
        model.apply({ sender: '', path: device, interface: manager, member, body: [first, second] })
      }
  for (const body of [[], [5], [names.device], [names.device, 5], [names.device, 'x']])
    model.apply({
      sender: '',
      path: device,
      interface: 'org.freedesktop.DBus.Properties',
      member: 'PropertiesChanged',
      body,
    })
  t.match(
    interfacesOf(model, () => 0),
    [{ name: 'eth0' }],
  )
  t.equal(JSON.parse(before)[0].name, 'eth0')
  for (const managed of wrong) t.doesNotThrow(() => model.load(managed))
})

/** The socket of the session has the address of a port: on loopback both are this machine. */
const onLoopback = (address: string) => ({
  options: {
    simulator: { ethernet: [{ name: 'eth0', address, gateway: '127.0.0.254' }], radio: false },
  },
})

async function startLink(t: Test, port: number, options: Parameters<typeof startRig>[1]) {
  const rig = await startRig(t, {
    ...options,
    plugins: {
      'mqtt-link': [link as AnyPlugin, { insecure: true }],
    },
    variant: { changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': port } },
  })
  const state = () => rig.station.field('mqtt.state') as { link: string; error: { cause: string; text: string } }
  return { ...rig, state }
}

t.test('the link to the broker', async (t) => {
  t.test(
    'a session over an uplink that went down is dropped at once, and made again when there is a way',
    async (t) => {
      const broker = await startBroker(t)
      const { state, sim, clock, station } = await startLink(t, broker.port, onLoopback('127.0.0.1/8'))
      await clock.advance(1_000)
      await until(() => state().link === 'up', 'up')
      t.equal(station.field('mqtt.via'), 'eth')
      sim.command('cable eth0 off')
      await Promise.resolve()
      await until(() => state().link !== 'up', 'down, without a step of the clock')
      t.match(state().error, { cause: 'unreachable', text: 'the uplink eth0 went down' })
      sim.command('cable eth0 on')
      await clock.advance(601)
      await until(() => state().link === 'up', 'up again')
    },
  )

  t.test('a session over another way is left alone', async (t) => {
    const broker = await startBroker(t)
    const { state, sim, clock, station } = await startLink(t, broker.port, onLoopback('127.0.0.77/8'))
    await clock.advance(1_000)
    await until(() => state().link === 'up', 'up')
    t.equal(station.field('mqtt.via'), '')
    const { length } = broker.connects
    sim.command('cable eth0 off')
    sim.command('cable eth0 on')
    await clock.advance(5_000)
    t.equal(state().link, 'up')
    t.equal(broker.connects.length, length)
  })

  t.test('an uplink that comes up ends the back-off', async (t) => {
    const { state, sim, clock, station } = await startLink(t, 1, onLoopback('127.0.0.1/8'))
    sim.command('cable eth0 off')
    const attempts = () => station.lines.filter(({ next }) => next === 'connecting').length
    const failed = () => until(() => state().link === 'down', 'a failed attempt')
    // Each round would pass by luck once in some hundred: the wait is up to 60 s by then.
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 10; n++) {
        await failed()
        await clock.advance(60_000)
      }
      await failed()
      const before = attempts()
      sim.command('cable eth0 on')
      await clock.advance(601)
      await until(() => attempts() > before, 'an attempt when the address is there')
      sim.command('cable eth0 off')
    }
  })
})
