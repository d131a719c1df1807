/** NetworkManager without its bus: what its objects mean, what is stored in it, and what its refusals say. */
import { BusConnection, BusError, type BusEvents, BusLost, BusTimeout, type Call } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { networkFailureOf } from 'rtk-base/services'
import { ManualClock } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Activation } from '../../../plugins/network/network/networkmanager/activation.js'
import { interfaces as names, rootPath, service } from '../../../plugins/network/network/networkmanager/names.js'
import { NetworkManager } from '../../../plugins/network/network/networkmanager/network-manager.js'
import { ObjectModel } from '../../../plugins/network/network/networkmanager/object-model.js'
import {
  accessPointSettings,
  stationSettings,
  uuidOf,
  wiredSettings,
} from '../../../plugins/network/network/networkmanager/profiles.js'
import { refusal } from '../../../plugins/network/network/networkmanager/refusals.js'
import {
  channelOf,
  devicePath,
  interfacesOf,
  neighboursOf,
  scannedBy,
} from '../../../plugins/network/network/networkmanager/snapshot.js'

const at = (name: string) => `${rootPath}/Devices/${name}`

type Objects = Record<string, Record<string, Record<string, unknown>>>
function modelOf(objects: Objects): ObjectModel {
  const model = new ObjectModel()
  model.load(objects)
  return model
}

/** A wired port with two addresses and two default routes, and what else it may have. */
const wired = (device: object, rest: Objects = {}): Objects => ({
  [at('eth0')]: {
    [names.device]: {
      ...{ Interface: 'eth0', Driver: 'e1000', HwAddress: '02:00:00:00:00:0A', DeviceType: 1 },
      ...{ Ip4Config: '/4', Ip6Config: '/6', ActiveConnection: '/active', ...device },
    },
    [names.wired]: { Carrier: true },
  },
  '/active': { [names.active]: { Id: 'office' } },
  '/4': {
    [names.ip4]: {
      AddressData: [
        { address: '10.0.0.5', prefix: 8 },
        { address: '10.0.0.6', prefix: 16 },
      ],
      Gateway: '10.0.0.1',
      NameserverData: [{ address: '10.0.0.1' }, {}],
      RouteData: [
        { dest: '10.0.0.0', prefix: 0, metric: 1 },
        { dest: '0.0.0.0', prefix: 8, metric: 2 },
        { dest: '0.0.0.0', prefix: 0, metric: 200 },
        { dest: '0.0.0.0', prefix: 0, metric: 100 },
      ],
    },
  },
  '/6': { [names.ip6]: { AddressData: [{ address: '2001:db8::5', prefix: 64 }] } },
  ...rest,
})

const only = (objects: Objects, reason = 0) => interfacesOf(modelOf(objects), () => reason)[0]

t.test(
  'a port has addresses while it is up or goes down, a profile also while it comes up, a reason when it is neither',
  async (t) => {
    for (const [number, state, has, reason] of [
      [10, 'unmanaged', [0, ''], 'no cable, or the carrier was lost'],
      [20, 'unavailable', [0, ''], 'no cable, or the carrier was lost'],
      [30, 'disconnected', [0, ''], 'no cable, or the carrier was lost'],
      [40, 'connecting', [0, 'office'], ''],
      [90, 'connecting', [0, 'office'], ''],
      [100, 'connected', [2, 'office'], ''],
      [110, 'disconnecting', [2, 'office'], 'no cable, or the carrier was lost'],
      [120, 'failed', [0, ''], 'no cable, or the carrier was lost'],
      [77, 'unavailable', [0, ''], 'no cable, or the carrier was lost'],
    ] as const) {
      const found = only(wired({ State: number, StateReason: [number, 40] }))
      t.match(found, { state, reason }, String(number))
      t.same([found?.ip4.length, found?.profile], has, String(number))
    }
    t.match(
      only(wired({ State: 30, StateReason: [30, 0] }), 7)?.reason,
      /wrong password/,
      'the daemon forgets it, we do not',
    )
    t.equal(only(wired({ State: 30 }), 999)?.reason, 'reason 999 of the network daemon')
  },
)

t.test('its addresses, its name servers and the least metric of its default routes are shown', async (t) => {
  t.match(only(wired({ State: 100 })), {
    ...{ name: 'eth0', kind: 'ethernet', mac: '02:00:00:00:00:0a', driver: 'e1000', carrier: true },
    ip4: [
      { address: '10.0.0.5', prefix: 8 },
      { address: '10.0.0.6', prefix: 16 },
    ],
    ip6: [{ address: '2001:db8::5', prefix: 64 }],
    ...{ gateway: '10.0.0.1', dns: ['10.0.0.1', ''], metric: 100, route6: undefined, wifi: undefined },
  })
  const route = { dest: '::', prefix: 0, metric: 1024 }
  const both = only(wired({ State: 100 }, { '/6': { [names.ip6]: { Gateway: 'fe80::1', RouteData: [route] } } }))
  t.same(both?.route6, { gateway: 'fe80::1', metric: 1024 })
})

t.test(
  'the reach is the result of a check, of IPv6 where that is the only way out, and unknown without a check',
  async (t) => {
    const route6 = { '/6': { [names.ip6]: { RouteData: [{ dest: '::', prefix: 0, metric: 1 }] } } }
    const reach = (isChecked: boolean, device: object, rest: Objects = {}) =>
      only(wired(device, { [rootPath]: { [names.root]: { ConnectivityCheckEnabled: isChecked } }, ...rest }))?.reach
    const seen = { State: 100, Ip4Connectivity: 2, Ip6Connectivity: 4 }
    t.same(
      [0, 1, 2, 3, 4, 5].map((Ip4Connectivity) => reach(true, { ...seen, Ip4Connectivity })),
      ['unknown', 'none', 'portal', 'local', 'internet', 'unknown'],
    )
    t.equal(reach(false, seen), 'unknown')
    t.equal(reach(true, { ...seen, State: 40 }), 'none')
    t.equal(reach(true, seen, route6), 'portal')
    t.equal(reach(true, seen, { ...route6, '/4': { [names.ip4]: {} } }), 'internet')
    t.equal(reach(true, seen, { '/4': { [names.ip4]: {} } }), 'portal', 'neither has a way out')
  },
)

t.test('ports and radios alone are interfaces; an unmanaged end of a container is none', async (t) => {
  const device = (Interface: string, more: object) => ({
    [names.device]: { Interface, State: 100, DeviceType: 1, ...more },
  })
  const model = modelOf({
    [at('z')]: { ...device('z0', {}), [names.wired]: {} },
    [at('bridge')]: device('br0', {}),
    [at('pair')]: { ...device('veth0', { DeviceType: 20, State: 10 }), [names.wired]: {} },
    [at('managed')]: { ...device('veth1', { DeviceType: 20, State: 30 }), [names.wired]: {} },
    [at('unmanaged')]: { ...device('eth9', { State: 10 }), [names.wired]: {} },
    [at('radio')]: { ...device('wlan0', {}), [names.wireless]: { HwAddress: '02:00:00:00:00:0B' } },
  })
  t.same(
    interfacesOf(model, () => 0).map(({ name }) => name),
    ['eth9', 'veth1', 'wlan0', 'z0'],
  )
  t.same([devicePath(model, 'wlan0'), devicePath(model, 'br0')], [at('radio'), undefined])
})

const radio = (device: object, wireless: object, points: Record<string, object> = {}): Objects => ({
  [at('wlan0')]: {
    [names.device]: { Interface: 'wlan0', DeviceType: 2, ...device },
    [names.wireless]: { ...wireless },
  },
  ...Object.fromEntries(Object.entries(points).map(([path, point]) => [path, { [names.accessPoint]: { ...point } }])),
})

t.test('a radio is a station or an access point while it is active, and says whether it can be one', async (t) => {
  const point = { '/a': { Ssid: Buffer.from('café'), HwAddress: 'AA:BB:CC:00:11:22', Frequency: 2437 } }
  const on = (State: number, Mode: number, WirelessCapabilities = 0) =>
    only(radio({ State }, { Mode, ActiveAccessPoint: '/a', WirelessCapabilities }, point))
  const network = { ssid: 'café', bssid: 'aa:bb:cc:00:11:22', channel: 6 }
  t.match(on(100, 2), { carrier: true, wifi: { mode: 'station', canBeAp: false, ...network } })
  t.match(on(50, 2), { carrier: true, wifi: { mode: 'station', ...network } })
  t.match(on(100, 3), { wifi: { mode: 'ap', ...network } })
  t.match(on(30, 3), { carrier: false, wifi: { mode: 'none', ssid: '', bssid: '', channel: 0 } })
  t.same(
    [0, 0x20, 0x40, 0xff].map((bits) => on(30, 2, bits)?.wifi?.canBeAp),
    [false, false, true, true],
  )
  t.same(
    [2407, 2411, 2412, 2472, 2484, 2485, 4999, 5000, 5180, 5895, 5900, 0].map(channelOf),
    [0, 0, 1, 13, 14, 0, 0, 0, 36, 179, 0, 0],
  )
})

t.test('a scan shows the networks of others, with the strongest protection that they offer', async (t) => {
  const [privacy, psk, eap, sae] = [0x1, 0x100, 0x200, 0x400]
  const cases = [
    [[0, 0, 0], 'open'],
    [[privacy, 0, 0], 'wep'],
    [[2, 0, 0], 'open'],
    [[privacy, psk, 0], 'wpa-psk'],
    [[privacy, psk, psk], 'wpa2-psk'],
    [[privacy, 0, psk | sae], 'wpa2-psk'],
    [[privacy, 0, sae], 'wpa3-sae'],
    [[privacy, sae, 0], 'wep'],
    [[0, 0x1, 0x1], 'open'],
    [[privacy, 0, eap | psk], 'wpa-eap'],
    [[privacy, eap, 0], 'wpa-eap'],
  ] as const
  const points = Object.fromEntries(
    cases.map(([[Flags, WpaFlags, RsnFlags], auth], index) => [
      `/p${index}`,
      {
        Ssid: Buffer.from(auth),
        HwAddress: `AA:00:00:00:00:${10 + index}`,
        Mode: 2,
        Frequency: 2412,
        Flags,
        WpaFlags,
        RsnFlags,
      },
    ]),
  )
  const strength = { HwAddress: 'aa:00:00:00:00:99', Ssid: Buffer.from(''), Mode: 2, Strength: 81 }
  const all: Record<string, object> = {
    ...points,
    '/strong': strength,
    '/own': { ...strength, Mode: 3 },
    '/nameless': { ...strength, HwAddress: '' },
  }
  const model = modelOf(radio({ State: 30 }, { AccessPoints: [...Object.keys(all), '/gone', 5] }, all))
  const found = scannedBy(model, at('wlan0'))
  t.same(
    found.slice(0, cases.length).map(({ auth }) => auth),
    cases.map(([, auth]) => auth),
  )
  t.match(found[10], { ssid: 'wpa-eap', bssid: 'aa:00:00:00:00:20', channel: 1, rssi: -100 })
  t.same(found.slice(cases.length), [{ ssid: '', bssid: 'aa:00:00:00:00:99', channel: 0, rssi: -51, auth: 'open' }])
})

t.test('neighbours are those of the interface whose hardware address is known', async (t) => {
  const text = `IP address       HW type     Flags       HW address            Mask     Device
192.168.4.7      0x1         0x2         02:00:5E:00:10:01     *        wlan0
192.168.4.8      0x1         0x0         00:00:00:00:00:00     *        wlan0
192.168.1.1      0x1         0x2         02:00:5e:00:10:02     *        eth0
192.168.4.9 wlan0
`
  t.same(neighboursOf(text, 'wlan0'), [{ address: '192.168.4.7', mac: '02:00:5e:00:10:01' }])
  t.same(neighboursOf('', 'wlan0'), [])
})

/** `signature:value` for each value of the bus inside. */
function written(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString()
  if (Array.isArray(value)) return value.map(written)
  if (typeof value !== 'object' || value === null) return value
  const { signature, value: inner } = value as { signature?: string; value?: unknown }
  if (typeof signature === 'string') return [signature, written(inner)]
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, written(one)]))
}

t.test('profiles are stored under an id of their own, always the same', async (t) => {
  const own = (kind: string, name: string, type: string) => ({
    id: ['s', `rtk-base-${kind}-${name}`],
    uuid: ['s', uuidOf(`rtk-base-${kind}-${name}`)],
    type: ['s', type],
    'interface-name': ['s', name],
    autoconnect: ['b', true],
  })
  const auto = { method: ['s', 'auto'] }
  t.same(written(wiredSettings('eth0')), { connection: own('eth', 'eth0', '802-3-ethernet'), ipv4: auto, ipv6: auto })
  const joined = stationSettings('wlan0', { ssid: 'yard', password: 'password', hidden: true })
  t.same(written(joined), {
    connection: own('sta', 'wlan0', '802-11-wireless'),
    '802-11-wireless': { ssid: ['ay', 'yard'], mode: ['s', 'infrastructure'], hidden: ['b', true] },
    '802-11-wireless-security': { 'key-mgmt': ['s', 'wpa-psk'], psk: ['s', 'password'] },
    ipv4: auto,
    ipv6: auto,
  })
  t.match(written(stationSettings('wlan0', { ssid: 'yard', password: '' })), {
    '802-11-wireless': { hidden: undefined },
    '802-11-wireless-security': undefined,
  })
  const point = { ssid: 'base', password: 'password', channel: 6, address: '192.168.4.1/25' }
  t.same(written(accessPointSettings('wlan0', point)), {
    connection: own('ap', 'wlan0', '802-11-wireless'),
    '802-11-wireless': { ssid: ['ay', 'base'], mode: ['s', 'ap'], band: ['s', 'bg'], channel: ['u', 6] },
    '802-11-wireless-security': {
      'key-mgmt': ['s', 'wpa-psk'],
      psk: ['s', 'password'],
      proto: ['as', ['rsn']],
      pairwise: ['as', ['ccmp']],
      group: ['as', ['ccmp']],
      pmf: ['i', 1],
    },
    ipv4: {
      method: ['s', 'shared'],
      'address-data': ['aa{sv}', [{ address: ['s', '192.168.4.1'], prefix: ['u', 25] }]],
    },
    ipv6: { method: ['s', 'disabled'] },
  })
  t.match(written(accessPointSettings('wlan0', { ...point, password: '', address: '10.1.1.1' })), {
    '802-11-wireless-security': undefined,
    ipv4: { 'address-data': ['aa{sv}', [{ prefix: ['u', 24] }]] },
  })
  // A station that was updated finds the profile of the version before.
  t.equal(uuidOf('rtk-base-sta-wlan0'), 'e85a2567-d937-8de5-82d3-87a779b980db')
  t.match(uuidOf('x'), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

t.test('a refusal says what was refused, why, and what a person can do', async (t) => {
  const dbus = (name: string) => `org.freedesktop.DBus.Error.${name}`
  for (const [error, code, message, failure] of [
    [new BusError(`${service}.PermissionDenied`, 'no'), 'RTK_ERR_NETWORK', /^x: no \(.*polkit.*\)$/, 'not allowed'],
    [new BusError(`${service}.Device.PermissionDenied`, 'no'), 'RTK_ERR_NETWORK', /polkit/, 'not allowed'],
    [new BusError(dbus('AccessDenied'), 'no'), 'RTK_ERR_NETWORK', /polkit/, 'not allowed'],
    [new BusError(`${service}.UnknownDevice`, 'no'), 'RTK_ERR_NETWORK', /^x: no$/, 'no interface'],
    [new BusError(`${service}.Device.NotActive`, 'no'), 'RTK_ERR_NETWORK', /^x: no$/, 'superseded'],
    [new BusError('else', 'y'.repeat(400)), 'RTK_ERR_NETWORK', /^x: y{300}$/, 'other'],
    [new BusTimeout('in 4 s'), 'RTK_ERR_NETWORK', /^x: NetworkManager did not answer \(in 4 s\)$/, 'timeout'],
    [new BusLost('gone'), 'RTK_ERR_UNAVAILABLE', /^x: the connection to NetworkManager was lost/, undefined],
    ...['ServiceUnknown', 'NameHasNoOwner', 'NoReply', 'Disconnected'].map(
      (name) =>
        [
          new BusError(dbus(name), 'no'),
          'RTK_ERR_UNAVAILABLE',
          /^x: NetworkManager is not running/,
          undefined,
        ] as const,
    ),
  ] as const) {
    const told = refusal('x', error)
    t.match(told, { code, message }, String(message))
    if (failure) t.equal(networkFailureOf(told), failure)
  }
  const own = new Error('ours')
  t.equal(refusal('x', own), own, 'any other error stays itself')
})

t.test('an activation ends with its connection, with the reason of its device, or in its time', async (t) => {
  const active = '/active/1'
  const withState = (State: number) => modelOf({ [active]: { [names.active]: { State } } })
  const begun = () => {
    const clock = new ManualClock()
    const activation = new Activation('wlan0', 60_000, (ms, fn) => clock.timer(ms, fn))
    let outcome = 'under way'
    activation.done.then(
      () => (outcome = 'connected'),
      (error) => (outcome = error.message),
    )
    const now = async () => {
      await new Promise(setImmediate)
      return outcome
    }
    return { activation, clock, now }
  }
  const early = begun()
  early.activation.objectsChanged(withState(4), 7)
  t.equal(await early.now(), 'under way', 'of an object that is not its own')
  for (const [state, wanted] of [
    [1, 'under way'],
    [2, 'connected'],
    [3, 'under way'],
    [4, /^wlan0: wrong password/],
  ] as const) {
    const { activation, now, clock } = begun()
    activation.accepted(active)
    activation.objectsChanged(withState(state), 7)
    t.match(await now(), wanted, String(state))
    t.equal(clock.pending, wanted === 'under way' ? 1 : 0, 'its limit ends with it')
  }
  const { activation, now } = begun()
  activation.accepted(active)
  activation.objectsChanged(modelOf({}), 53)
  t.equal(await now(), 'under way', 'the daemon does not show it yet')
  activation.objectsChanged(withState(1), 53)
  activation.objectsChanged(modelOf({}), 53)
  t.match(await now(), /^wlan0: no network of this name/, 'it came and went')
  const gone = withState(1)
  gone.apply({
    ...{ sender: '', path: '/', interface: 'org.freedesktop.DBus.ObjectManager', member: 'InterfacesRemoved' },
    body: [active, [names.active]],
  })
  const late = begun()
  late.activation.accepted(active)
  late.activation.objectsChanged(gone, 0)
  t.equal(await late.now(), 'wlan0: the connection was not established', 'it went before it was looked at')
  const slow = begun()
  await slow.clock.advance(59_999)
  t.equal(await slow.now(), 'under way')
  await slow.clock.advance(1)
  t.equal(await slow.now(), 'wlan0: not connected within 60 s')
})

t.test('objects follow the signals; of those that were removed the newest hundred are known', async (t) => {
  const model = modelOf({ '/a': { [names.active]: { State: 1 }, other: { x: 1 } }, '/b': { other: {} } })
  t.same([model.has('/a'), model.has('/b'), model.hasInterface('/a', 'other')], [true, false, false])
  const signal = (path: string, name: string, member: string, body: unknown[]) =>
    model.apply({ sender: '', path, interface: name, member, body })
  const changed = (path: string, name: string, values: object) =>
    signal(path, 'org.freedesktop.DBus.Properties', 'PropertiesChanged', [name, values, []])
  t.equal(changed('/a', names.active, { Id: 'x' }), true)
  t.same(model.of('/a', names.active), { State: 1, Id: 'x' })
  t.same([changed('/a', 'other', {}), changed('/b', names.active, {})], [false, false])
  const managed = (member: string, path: string, what: unknown) =>
    signal('/', 'org.freedesktop.DBus.ObjectManager', member, [path, what])
  t.equal(managed('InterfacesAdded', '/a', { [names.ip4]: { Gateway: 'g' }, other: {} }), true)
  t.equal(managed('InterfacesAdded', '/c', { other: {} }), false)
  t.same(model.paths(names.ip4), ['/a'])
  t.equal(managed('InterfacesRemoved', '/a', [names.ip4]), true)
  t.same([model.has('/a'), model.wasRemoved('/a'), model.hasInterface('/a', names.ip4)], [true, false, false])
  t.equal(managed('InterfacesRemoved', '/a', [names.active]), true)
  t.same([model.has('/a'), model.wasRemoved('/a')], [false, true])
  t.equal(managed('InterfacesRemoved', '/a', [names.active]), false)
  for (let n = 0; n < 100; n++) {
    managed('InterfacesAdded', `/n${n}`, { [names.active]: {} })
    managed('InterfacesRemoved', `/n${n}`, [names.active])
    if (n < 99) t.ok(model.wasRemoved('/a'))
  }
  t.same([model.wasRemoved('/a'), model.wasRemoved('/n0'), model.wasRemoved('/n99')], [false, true, true])
})

/** The client of a daemon whose answers a test writes, by the name of the call; what is not in them is answered with nothing. */
async function scripted(t: Test, objects: Objects, answers: Record<string, (call: Call) => unknown> = {}) {
  const clock = new ManualClock()
  const calls: [member: string, body: unknown][] = []
  const programs: string[] = []
  let signal: BusEvents['signal'] = () => {}
  const bus = {
    match: async () => {},
    ownerOf: async () => ':1.1',
    close() {},
    async call(call: Call) {
      call.answered?.()
      if (call.member === 'GetManagedObjects') return [objects]
      calls.push([call.member, written(call.body)])
      return [answers[call.member]?.(call)]
    },
    callRaw: (call: Call) => bus.call(call),
  }
  t.intercept(BusConnection, 'open', {
    value: async (_address: string, events: BusEvents) => {
      signal = events.signal
      return bus
    },
  })
  const timers = { after: (ms: number, fn: () => void) => clock.timer(ms, fn) }
  const event = () => ({ on: () => () => {}, emit() {} })
  const execFile = async (file: string, args: string[], options: object) => {
    programs.push(`${file} ${args.join(' ')} ${JSON.stringify(options)}`)
    return { code: args[2] === 'eth9' ? 4 : 0, stderr: ' no such device\n' }
  }
  const ctx = {
    ...{
      log: { info() {}, warn: (text: string) => t.comment(text) },
      clock,
      timers,
      event,
      signal: new AbortController().signal,
    },
    process: { execFile },
  } as unknown as PluginContext
  const network = new NetworkManager(ctx, 'unix:path=/nowhere')
  await network.start()
  await clock.advance(0)
  const from = { sender: ':1.1' }
  const changes = async (path: string, name: string, values: object) => {
    signal({
      ...from,
      path,
      interface: 'org.freedesktop.DBus.Properties',
      member: 'PropertiesChanged',
      body: [name, values],
    })
    await new Promise(setImmediate)
  }
  const settles = async (work: Promise<unknown>) => {
    let outcome: unknown = 'under way'
    work.then(
      (value) => {
        outcome = value ?? 'done'
      },
      ({ message }: Error) => {
        outcome = message
      },
    )
    await new Promise(setImmediate)
    return () => outcome
  }
  const says = async (whole: Parameters<typeof signal>[0]) => {
    signal(whole)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  }
  return { network, clock, calls, programs, changes, says, settles }
}

t.test('a scan ends with what it found when the daemon says so, else after 15 s with what is known', async (t) => {
  const points = { '/a': { Ssid: Buffer.from('yard'), HwAddress: 'AA:00:00:00:00:01', Mode: 2 } }
  const { network, clock, changes, settles, calls } = await scripted(
    t,
    radio({ State: 30 }, { LastScan: 5, AccessPoints: [] }, points),
  )
  const scan = await settles(network.scan('wlan0'))
  t.same(calls, [['RequestScan', [{}]]])
  await changes(at('wlan0'), names.wireless, { AccessPoints: ['/a'] })
  t.equal(scan(), 'under way')
  await changes(at('wlan0'), names.wireless, { LastScan: 6 })
  t.match(scan(), [{ ssid: 'yard' }])
  const late = await settles(network.scan('wlan0'))
  await clock.advance(14_999)
  t.equal(late(), 'under way')
  await clock.advance(1)
  t.match(late(), [{ ssid: 'yard' }])
  t.equal(clock.pending, 0)
})

t.test(
  'what is stored stays on disk and starts nothing by itself; a join has 60 s, then the old profile returns',
  async (t) => {
    const old = { connection: { id: 'old' } }
    const { network, clock, settles, calls } = await scripted(t, radio({ State: 30 }, {}), {
      GetConnectionByUuid: () => '/settings/1',
      GetSettings: () => old,
      ActivateConnection: () => '/active/1',
    })
    const join = await settles(network.join('wlan0', { ssid: 'yard', password: '' }))
    await clock.advance(59_999)
    t.equal(join(), 'under way')
    await clock.advance(1)
    t.equal(join(), 'wlan0: not connected within 60 s')
    const [onDisk, notActivated] = [0x1, 0x20]
    const flags = onDisk | notActivated
    t.match(calls, [
      ['GetConnectionByUuid', [uuidOf('rtk-base-sta-wlan0')]],
      ['GetSettings', []],
      ['Update2', [{ '802-11-wireless': { ssid: ['ay', 'yard'] } }, flags, {}]],
      ['ActivateConnection', ['/settings/1', at('wlan0'), '/']],
      ['Set', [names.device, 'Autoconnect', ['b', true]]],
      ['Update2', [old, flags, {}]],
    ])
    t.equal(calls.length, 6)
  },
)

t.test('a profile that was not there is added, and deleted again where it does not come up', async (t) => {
  const { network, settles, calls, clock } = await scripted(t, radio({ State: 30 }, {}), {
    GetConnectionByUuid: () => {
      throw new BusError(`${service}.Settings.InvalidConnection`, 'no such')
    },
    AddConnection2: () => '/settings/7',
    ActivateConnection: () => {
      throw new BusError('else', 'out of order')
    },
  })
  const start = await settles(
    network.startAccessPoint('wlan0', { ssid: 'base', password: '', channel: 1, address: '10.0.0.1/24' }),
  )
  await clock.advance(0)
  t.equal(start(), 'wlan0: it was not set up: out of order')
  t.match(calls, [
    ['GetConnectionByUuid', [uuidOf('rtk-base-ap-wlan0')]],
    ['AddConnection2', [{ '802-11-wireless': { mode: ['s', 'ap'] } }, 0x21, {}]],
    ['ActivateConnection', ['/settings/7', at('wlan0'), '/']],
    ['Delete', []],
  ])
})

t.test(
  'a port is enabled with its own profile where the daemon has none, and stays enabled where it cannot be ended',
  async (t) => {
    const port = (device: object) =>
      scripted(t, wired(device), { ActivateConnection: () => '/active/2', GetConnectionByUuid: () => '/settings/1' })
    const known = await port({ State: 30, AvailableConnections: ['/settings/4'] })
    await known.network.setEnabled('eth0', true)
    t.same(known.calls, [
      ['GetConnectionByUuid', [uuidOf('rtk-base-eth-eth0')]],
      ['GetSettings', []],
      ['Set', [names.device, 'Autoconnect', ['b', true]]],
      ['ActivateConnection', ['/', at('eth0'), '/']],
    ])
    const fixed = await scripted(t, wired({ State: 30, AvailableConnections: ['/settings/4'] }), {
      ActivateConnection: () => '/active/2',
      GetConnectionByUuid: () => '/settings/1',
      GetSettings: () => ({ ipv4: { method: 'manual' } }),
    })
    await fixed.network.setEnabled('eth0', true)
    t.same(fixed.calls.at(-1), ['ActivateConnection', ['/settings/1', at('eth0'), '/']], 'a fixed address comes first')
    const unknown = await port({ State: 120, AvailableConnections: [] })
    await unknown.network.setEnabled('eth0', true)
    t.same(unknown.calls.at(-1), ['ActivateConnection', ['/settings/1', at('eth0'), '/']])
    for (const State of [20, 50, 100]) {
      const { network, calls } = await port({ State })
      await network.setEnabled('eth0', true)
      t.same(
        calls.map(([member]) => member),
        ['Set'],
        'the daemon brings it up itself',
      )
    }
    const refused = () => {
      throw new BusError('else', 'out of order')
    }
    const busy = await scripted(t, wired({ State: 100, Autoconnect: true }), { Disconnect: refused })
    await t.rejects(busy.network.setEnabled('eth0', false), { message: 'eth0: it was not disabled: out of order' })
    t.same(busy.calls, [
      ['Set', [names.device, 'Autoconnect', ['b', false]]],
      ['Disconnect', []],
      ['Set', [names.device, 'Autoconnect', ['b', true]]],
    ])
    for (const device of [
      { ActiveConnection: '/', Autoconnect: false },
      { ActiveConnection: 5, Autoconnect: false },
    ]) {
      const { network, calls } = await scripted(t, wired({ State: 30, ...device }))
      await network.setEnabled('eth0', false)
      t.same(calls, [], 'it is off already')
    }
    const foreign = await port({ State: 10 })
    await t.rejects(foreign.network.setEnabled('eth0', false), { message: /configured not to manage/ })
  },
)

t.test('a fixed address is stored, and taken at once by a port that has a cable and is not switched off', async (t) => {
  const address = { address: '10.0.0.9', prefix: 24, gateway: '10.0.0.1', dns: [] }
  const stored = { method: 'manual', gateway: '10.0.0.1', 'address-data': [{ address: '10.0.0.9', prefix: 24 }] }
  const own = { ActiveConnection: '/own' }
  const active = { '/own': { [names.active]: { Id: 'rtk-base-eth-eth0' } } }
  for (const [what, device, ipv4, written, activated] of [
    ['in use', { State: 100 }, {}, true, true],
    ['without a connection', { State: 30 }, {}, true, true],
    ['without a cable', { State: 20 }, {}, true, false],
    ['not managed', { State: 10 }, {}, false, false],
    ['unknown', { State: 7 }, {}, true, false],
    ['switched off', { State: 30, Autoconnect: false }, {}, true, false],
    ['as it is already', { State: 100, ...own }, stored, false, false],
    ['stored, of a port that is switched off', { State: 30, Autoconnect: false }, stored, false, false],
    ['stored, while another profile is active', { State: 100 }, stored, true, true],
    ['stored with another gateway', { State: 100, ...own }, { ...stored, gateway: '10.0.0.2' }, true, true],
  ] as const) {
    const { network, calls } = await scripted(t, wired(device, active), {
      GetConnectionByUuid: () => '/settings/1',
      GetSettings: () => ({ ipv4 }),
      ActivateConnection: () => '/own',
    })
    const done = network.setAddress('eth0', address)
    done.catch(() => {})
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    const made = calls.map(([member]) => member)
    t.same([made.includes('Update2'), made.includes('ActivateConnection')], [written, activated], what)
    if (activated) t.same(calls.at(-1)?.[1], ['/settings/1', at('eth0'), '/'], what)
  }
})

t.test('without a fixed address the port goes back to the profile of the machine, or to DHCP', async (t) => {
  const active = { '/own': { [names.active]: { Id: 'rtk-base-eth-eth0', State: 2 } } }
  const own = { State: 100, ActiveConnection: '/own', AvailableConnections: ['/settings/1'] }
  const both = { ...own, AvailableConnections: ['/settings/1', '/settings/4'] }
  const [dhcp, go, deleted] = ['Update2', 'ActivateConnection', 'Delete']
  for (const [what, device, method, expected, profile] of [
    ['to that of the machine', both, 'manual', [go, deleted], '/settings/4'],
    ['to DHCP', own, 'manual', [dhcp, go], '/settings/1'],
    ['another one is active', { ...both, ActiveConnection: '/active' }, 'manual', [deleted], undefined],
    ['without a cable', { ...both, State: 20 }, 'manual', [deleted], undefined],
    ['without a cable, to DHCP', { ...own, State: 20 }, 'manual', [dhcp], undefined],
    ['there was none', both, 'auto', [], undefined],
  ] as const) {
    const { network, calls } = await scripted(t, wired(device, active), {
      GetConnectionByUuid: () => '/settings/1',
      GetSettings: () => ({ ipv4: { method } }),
      ActivateConnection: () => '/own',
    })
    await network.setAddress('eth0', undefined)
    const made = calls.map(([member]) => member)
    t.same(
      made.filter((member) => [dhcp, go, deleted].includes(member)),
      expected,
      what,
    )
    const [, body] = calls.find(([member]) => member === go) ?? []
    t.same(body, profile && [profile, at('eth0'), '/'], what)
  }
})

t.test('a fixed address that does not come up is taken back', async (t) => {
  const before = { ipv4: { method: 'auto' } }
  const { network, calls } = await scripted(t, wired({ State: 30 }), {
    GetConnectionByUuid: () => '/settings/1',
    GetSettings: () => before,
    ActivateConnection: () => {
      throw new BusError('else', 'out of order')
    },
  })
  const address = { address: '10.0.0.9', prefix: 24, gateway: '', dns: [] }
  await t.rejects(network.setAddress('eth0', address), { message: /its address was not set: out of order/ })
  const updates = calls.filter(([member]) => member === 'Update2').map(([, body]) => (body as unknown[])[0])
  t.equal(updates.length, 2)
  t.same(updates[1], before)
})

t.test('its daemon is followed by the name on the bus, and by nothing else', async (t) => {
  const { network, says, changes } = await scripted(t, wired({ State: 100 }))
  t.equal(network.ready, true)
  const owner = (name: string, now: unknown, sender = 'org.freedesktop.DBus', member = 'NameOwnerChanged') =>
    says({
      sender,
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      member,
      body: [name, ':1.1', now],
    })
  await owner('org.freedesktop.ModemManager1', '')
  await owner(service, '', ':1.7')
  await owner(service, '', 'org.freedesktop.DBus', 'NameLost')
  await owner(service, undefined)
  const state = () => network.interfaces.map((one) => one.state)
  t.same([network.ready, state()], [true, ['connected']], 'another name, another sender, another signal, no owner')
  await changes(at('eth0'), names.device, { State: 30 })
  t.same(state(), ['disconnected'], 'it is still the one that is heard')
  await owner(service, '')
  t.same([network.ready, network.interfaces], [false, []])
  t.match(network.failure, /not running/)
  await owner(service, ':1.9')
  t.same([network.ready, network.failure], [true, ''])
})

t.test('the default route goes to one interface: the one before, also of an earlier life, gives it back', async (t) => {
  const first = { dest: '0.0.0.0', prefix: 0, metric: 1 }
  const rest = { '/4': { [names.ip4]: { RouteData: [first] } } }
  const { network, programs } = await scripted(t, wired({ State: 100 }, rest))
  const env = JSON.stringify({ env: { DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/nowhere' } })
  const given = (name: string) => `nmcli device modify ${name} ipv4.route-metric 1 ipv6.route-metric 1 ${env}`
  const back = (name: string) => `nmcli device reapply ${name} ${env}`
  await network.steer('wlan0')
  t.same(programs.splice(0), [back('eth0'), given('wlan0')])
  await network.steer('eth0')
  t.same(programs.splice(0), [back('wlan0'), given('eth0')])
  await network.steer(undefined)
  t.same(programs.splice(0), [back('eth0')])
  await t.rejects(network.steer('eth9'), { message: 'eth9: it was not given the default route: no such device' })
})
