/** The plugin eth on a simulated machine: its block, `eth-en`, and what undoes it. */
import type { EthInfo } from 'rtk-base/schemas'
import { conformance, ManualClock } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import { maskOf } from '../../../plugins/eth/document.js'
import eth from '../../../plugins/eth/index.js'
import networkPlugin from '../../../plugins/network/index.js'
import system from '../../../plugins/system/index.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { MemoryStore } from '../../../runtime/ports/store/memory-store.js'
import { EthInfo as Schema } from '../../../schemas/info/network.js'
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
    await clock.advance(60_000)
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

t.test('conformance', async (t) => {
  const plugins = {
    network: [networkPlugin as AnyPlugin, { backend: 'simulator' }] as [AnyPlugin, Record<string, unknown>],
  }
  await t.resolves(conformance(eth as never, {}, { plugins }))
  await t.resolves(conformance(networkPlugin as never, { backend: 'simulator' }))
  await t.resolves(conformance(networkPlugin as never, { bus: 'unix:path=/nonexistent/bus' }))
})
