/** The plugin eth on a simulated machine: its block, `eth-en`, and what undoes it. */
import type { EthInfo } from 'rtk-base/schemas'
import { conformance, ManualClock } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import system from '../../../plugins/device/system/index.js'
import { faultOf, fixedAddressOf } from '../../../plugins/network/eth/address.js'
import { maskOf } from '../../../plugins/network/eth/document.js'
import eth from '../../../plugins/network/eth/index.js'
import networkPlugin from '../../../plugins/network/network/index.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { EthInfo as Schema } from '../../../schemas/info/network.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { startRig } from './rig.js'

async function start(t: Test, more: Parameters<typeof startRig>[1] = {}) {
  const rig = await startRig(t, {
    ...more,
    plugins: { system: system as AnyPlugin, eth: eth as AnyPlugin, ...more.plugins },
  })
  await rig.clock.advance(1_000)
  const { station } = rig
  return {
    ...rig,
    block: () => station.field('eth') as EthInfo,
    set: (value: 0 | 1, address?: string) =>
      station.station.change({ 'eth-en': value }, { source: 'http', ...(address ? { address } : {}) }),
    errors: () => JSON.stringify(station.field('base.state.errors')),
    status: () => station.station.plugins().find(({ name }) => name === 'eth')?.reason,
  }
}

t.test('shows the port', async (t) => {
  const { block, sim, clock, station, status } = await start(t)
  t.ok(Value.Check(Schema, block()))
  t.strictSame(block(), {
    mac: '02:00:5e:00:01:01',
    enabled: true,
    cable: true,
    ip: '192.168.1.50',
    mask: '255.255.255.0',
    gw: '192.168.1.1',
    arp: ['02:00:5e:00:02:01'],
  })
  t.equal(status(), 'eth0 connected, 192.168.1.50')
  for (let n = 2; n < 100; n++)
    sim.command(`neighbour eth0 192.168.1.${n} 02:00:5e:00:09:${n.toString(16).padStart(2, '0')}`)
  sim.command('neighbour eth0 192.168.1.200 02:00:5e:00:09:02')
  await clock.advance(0)
  t.equal(block().arp.length, 64, 'each once, at most 64')
  sim.command('cable eth0 off')
  await clock.advance(0)
  t.match(block(), { enabled: true, cable: false, ip: '', mask: '', gw: '' })
  t.match(status(), /eth0 unavailable, no cable/)
  sim.command('remove eth0')
  await clock.advance(0)
  t.match(block(), { mac: '', enabled: false, cable: false, arp: [] })
  t.match(status(), /no Ethernet interface/)
  sim.command('insert eth0')
  sim.command('cable eth0 on')
  await clock.advance(1_000)
  t.match(block(), { mac: '02:00:5e:00:01:01', enabled: true, ip: '192.168.1.50' })
  sim.command('daemon off')
  await clock.advance(0)
  t.match(block(), { mac: '', enabled: false })
  t.match(status(), /not running/)
  t.strictSame(
    station.lines.filter(({ level }) => level >= 50),
    [],
  )
})

t.test('masks', async (t) => {
  t.strictSame([0, 1, 8, 22, 24, 31, 32].map(maskOf), [
    '0.0.0.0',
    '128.0.0.0',
    '255.0.0.0',
    '255.255.252.0',
    '255.255.255.0',
    '255.255.255.254',
    '255.255.255.255',
  ])
})

t.test('eth-en', async (t) => {
  t.test('takes the port down and brings it up', async (t) => {
    const { block, set, clock, network } = await start(t)
    t.match(await set(0), { result: 'ok' })
    await clock.advance(10)
    t.match(block(), { enabled: false, cable: true, ip: '', gw: '' })
    t.equal(network.interfaces[0]?.state, 'disconnected')
    t.match(await set(1), { result: 'ok' })
    await clock.advance(1_000)
    t.match(block(), { enabled: true, ip: '192.168.1.50' })
  })

  t.test('what brings the port up by itself is set back: at once, then less often', async (t) => {
    const { block, set, clock, sim, network } = await start(t)
    await set(0)
    await clock.advance(200_000)
    sim.command('activate eth0')
    await clock.advance(10)
    t.equal(network.interfaces[0]?.state, 'disconnected', 'at once')
    let lasted_s = 0
    for (let n = 0; n < 300; n++) {
      if (network.interfaces[0]?.profile === '') sim.command('activate eth0')
      else lasted_s++
      await clock.advance(1_000)
    }
    t.ok(lasted_s > 100, `a quarrel is not fought at full speed: up for ${lasted_s} of 300 s`)
    await clock.advance(100_000)
    t.match(block(), { enabled: false, ip: '' })
    sim.command('daemon off')
    sim.command('daemon on')
    await clock.advance(200_000)
    t.match(block(), { enabled: false, ip: '' }, 'the daemon activates everything at its start')
  })

  t.test('survives a restart of the station', async (t) => {
    const store = new MemoryStore()
    const first = await start(t, { store })
    await first.set(0)
    await first.station.stop()
    const { block, clock } = await start(t, { store, clock: new ManualClock() })
    await clock.advance(5_000)
    t.match(block(), { enabled: false, ip: '' })
  })

  t.test('refused by the daemon: the change fails with its reason, nothing is changed', async (t) => {
    const { block, set, sim, clock } = await start(t)
    sim.command('refuse this port is reserved')
    const answer = await set(0)
    t.match(answer, { result: 'failed', errors: [{ message: /this port is reserved/ }] })
    await clock.advance(10)
    t.match(block(), { enabled: true, ip: '192.168.1.50' })
  })

  t.test('a port that the daemon does not manage: the change fails, and nothing is claimed', async (t) => {
    const { block, set, sim, clock, status } = await start(t)
    sim.command('managed eth0 off')
    await clock.advance(10)
    t.match(await set(0), { result: 'failed', errors: [{ message: /not to manage the interface/ }] })
    t.equal(block().enabled, true)
    t.match(status(), /eth0 unmanaged/)
  })

  t.test('while the daemon is away it is stored, and done when the daemon is back', async (t) => {
    const { block, set, sim, clock } = await start(t)
    sim.command('daemon off')
    t.match(await set(0), { result: 'ok' })
    sim.command('daemon on')
    await clock.advance(5_000)
    t.match(block(), { enabled: false, mac: '02:00:5e:00:01:01', ip: '' })
  })

  t.test('a port that cannot be set back says so, until it can', async (t) => {
    const { set, sim, clock, errors } = await start(t)
    await set(0)
    await clock.advance(10)
    sim.command('refuse out of order')
    sim.command('activate eth0')
    await clock.advance(2_000)
    t.match(errors(), /eth0 could not be taken down.*out of order/)
    sim.command('refuse off')
    await clock.advance(120_000)
    t.notMatch(errors(), /could not be taken down/)
  })

  t.test('an operator who cuts himself off gets the port back after 90 s', async (t) => {
    const { block, set, clock } = await start(t)
    t.match(await set(0, '192.168.1.50'), { result: 'ok' })
    await clock.advance(5_000)
    t.match(block(), { enabled: false, ip: '' })
    await clock.advance(100_000)
    t.match(block(), { enabled: true, ip: '192.168.1.50' })
    t.match(await set(0, '192.168.4.1'), { result: 'ok' }, 'who comes another way is not cut off')
    await clock.advance(200_000)
    t.match(block(), { enabled: false, ip: '' })
  })
})

const home = { address: '192.168.1.20/24', gateway: '192.168.1.1', dns: '' }

t.test('an entered address', async (t) => {
  t.strictSame(fixedAddressOf({ ...home, address: '192.168.1.20', dns: '192.168.1.1, 9.9.9.9' }), {
    address: '192.168.1.20',
    prefix: 24,
    gateway: '192.168.1.1',
    dns: ['192.168.1.1', '9.9.9.9'],
  })
  t.equal(fixedAddressOf({ address: '', gateway: '', dns: '' }), undefined)
  const wlan0 = { name: 'wlan0', address: '192.168.4.1', prefix: 24 }
  const fine: Partial<typeof home>[] = [
    {},
    { gateway: '' },
    { address: '10.0.0.5/8', gateway: '10.200.0.1' },
    { address: '192.168.1.1/30', gateway: '192.168.1.2' },
    { address: '', gateway: '' },
    { dns: '8.8.8.8,9.9.9.9,1.1.1.1' },
  ]
  for (const one of fine) t.equal(faultOf({ ...home, ...one }, [wlan0]), undefined, JSON.stringify(one))
  const wrong: [Partial<typeof home>, RegExp][] = [
    [{ address: '192.168.1.300/24' }, /not an IPv4 address/],
    [{ address: '192.168.1/24' }, /not an IPv4 address/],
    [{ address: '192.168.1.20/31' }, /8 to 30/],
    [{ address: '192.168.1.20/7' }, /8 to 30/],
    [{ address: '127.0.0.5/8', gateway: '' }, /loopback/],
    [{ address: '224.0.0.5/24', gateway: '' }, /multicast/],
    [{ address: '0.0.0.5/24', gateway: '' }, /reserved/],
    [{ address: '255.1.1.5/24', gateway: '' }, /reserved/],
    [{ address: '192.168.1.0/24' }, /first address/],
    [{ address: '192.168.1.255/24' }, /last address/],
    [{ gateway: '192.168.2.1' }, /gateway 192\.168\.2\.1 is not in the network of 192\.168\.1\.20\/24/],
    [{ gateway: '192.168.1.20' }, /another address than the station/],
    [{ gateway: '192.168.1.255' }, /gateway .* last address/],
    [{ gateway: '192.168.1' }, /gateway .* not an IPv4/],
    [{ dns: '1.2.3' }, /DNS server 1\.2\.3 is not/],
    [{ dns: '127.0.0.1' }, /DNS server 127\.0\.0\.1 is the loopback/],
    [{ dns: '1.1.1.1,2.2.2.2,3.3.3.3,4.4.4.4' }, /at most 3/],
    [{ address: '' }, /need a fixed address/],
    [{ address: '192.168.4.20/24', gateway: '' }, /wlan0 is already in the network/],
    [{ address: '192.168.200.20/16', gateway: '' }, /wlan0 is already in the network/],
  ]
  for (const [one, text] of wrong) t.match(faultOf({ ...home, ...one }, [wlan0]), text, JSON.stringify(one))
})

t.test('a fixed address', async (t) => {
  const fixed = { 'eth-address': '192.168.1.20/24', 'eth-gateway': '192.168.1.1' }
  const stored = ({ station }: Awaited<ReturnType<typeof start>>) =>
    Object.fromEntries(
      station.station
        .parameters()
        .filter(({ name }) => /^eth-(address|gateway|dns)$/.test(name))
        .map(({ name, value }) => [name, value]),
    )

  t.test('is used, and an empty one brings DHCP back', async (t) => {
    const rig = await start(t)
    const { block, clock, station } = rig
    const change = (values: Record<string, unknown>) => station.station.change(values, { source: 'http' })
    t.match(await change(fixed), { result: 'ok' })
    await clock.advance(1_000)
    t.match(block(), { ip: '192.168.1.20', mask: '255.255.255.0', gw: '192.168.1.1' })
    t.equal(stored(rig)['eth-dns'], '192.168.1.1', 'the router answers for names')
    t.match(await change({ 'eth-gateway': '192.168.1.254' }), { result: 'ok' })
    t.equal(stored(rig)['eth-dns'], '192.168.1.254', 'another router, another server')
    t.match(await change({ 'eth-dns': '9.9.9.9' }), { result: 'ok' })
    t.match(await change({ 'eth-gateway': '192.168.1.1' }), { result: 'ok' })
    t.equal(stored(rig)['eth-dns'], '9.9.9.9', 'an entered server stays')
    t.match(await change({ 'eth-gateway': '192.168.2.1' }), {
      result: 'failed',
      errors: [{ message: /not in the network/ }],
    })
    t.match(await change({ 'eth-address': '' }), { result: 'ok' })
    await clock.advance(1_000)
    t.match(block(), { ip: '192.168.1.50' })
    t.strictSame(stored(rig), { 'eth-address': '', 'eth-gateway': '', 'eth-dns': '' })
  })

  t.test('of another network cuts the caller off, who gets the old one back after 90 s', async (t) => {
    const { block, clock, station } = await start(t)
    const caller = { source: 'http', address: '192.168.1.50' } as const
    t.match(await station.station.change({ 'eth-address': '10.0.0.5' }, caller), { result: 'ok' })
    await clock.advance(5_000)
    t.match(block(), { ip: '10.0.0.5', mask: '255.255.255.0', gw: '' })
    await clock.advance(100_000)
    t.match(block(), { ip: '192.168.1.50' })
  })

  t.test('stays when the caller confirms it; from then on, who comes by it is cut off by another one', async (t) => {
    const { block, clock, station } = await start(t)
    const change = (address: string, from: string) =>
      station.station.change({ 'eth-address': address }, { source: 'http', address: from })
    t.match(await change('192.168.1.20', '192.168.1.50'), { result: 'ok' })
    await clock.advance(5_000)
    t.ok(await station.station.confirmChange())
    await clock.advance(100_000)
    t.match(block(), { ip: '192.168.1.20' })
    await change('192.168.1.21', '192.168.1.20')
    await clock.advance(5_000)
    t.match(block(), { ip: '192.168.1.21' })
    await clock.advance(100_000)
    t.match(block(), { ip: '192.168.1.20' })
    await change('192.168.1.22', '192.168.4.1')
    await clock.advance(200_000)
    t.match(block(), { ip: '192.168.1.22' }, 'who comes another way is not cut off')
  })

  t.test('refused by the daemon: the change fails, and nothing is changed', async (t) => {
    const rig = await start(t)
    rig.sim.command('refuse this port is reserved')
    const answer = await rig.station.station.change(fixed, { source: 'http' })
    t.match(answer, { result: 'failed', errors: [{ message: /this port is reserved/ }] })
    await rig.clock.advance(1_000)
    t.match(rig.block(), { ip: '192.168.1.50' })
    t.equal(stored(rig)['eth-address'], '')
  })

  t.test('is given again to a machine that lost it, and the station says if it cannot', async (t) => {
    const store = new MemoryStore()
    const first = await start(t, { store })
    await first.station.station.change(fixed, { source: 'http' })
    await first.station.stop()
    const { block, clock, sim, errors } = await start(t, { store, clock: new ManualClock() })
    await clock.advance(5_000)
    t.match(block(), { ip: '192.168.1.20' })
    sim.command('daemon off')
    sim.command('daemon on')
    sim.command('refuse out of order')
    await clock.advance(5_000)
    t.match(errors(), /eth0 could not be given its address \(.*out of order/)
    sim.command('refuse off')
    await clock.advance(120_000)
    t.notMatch(errors(), /could not be given/)
    t.match(block(), { ip: '192.168.1.20' })
  })
})

t.test('conformance', async (t) => {
  const plugins = {
    network: [networkPlugin as AnyPlugin, { backend: 'simulator' }] as [AnyPlugin, Record<string, unknown>],
  }
  await t.resolves(conformance(eth as never, {}, { plugins }))
  await t.resolves(conformance(networkPlugin as never, { backend: 'simulator' }))
  await t.resolves(conformance(networkPlugin as never, { bus: 'unix:path=/nonexistent/bus' }))
})
