/** The parts of the kernel without a station: each at its limits. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, connect, createServer } from 'node:net'
import os, { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { isLocalPeer, refusal } from '../../runtime/gateway/http/access.js'
import { HttpConnection } from '../../runtime/gateway/http/http-connection.js'
import { LocalNetwork } from '../../runtime/gateway/http/local-network.js'
import { Passwords } from '../../runtime/gateway/login/passwords.js'
import { addressText, Door, type DoorEvents } from '../../runtime/gateway/net/door.js'
import { Listeners } from '../../runtime/gateway/net/index.js'
import { ChangeTrial } from '../../runtime/kernel/registries/change-trial.js'
import { Nvs } from '../../runtime/kernel/registries/nvs.js'
import { isLoopbackAddress, networkOf, normalAddress, Prefixes } from '../../runtime/platform/address/address.js'
import { checkedResolve, refusedAddress } from '../../runtime/platform/address/checked-resolve.js'
import { WrongTries } from '../../runtime/platform/fair-share/fair-share.js'
import { type PlaceLimits, Places } from '../../runtime/platform/fair-share/places.js'
import { disk, type FileSystem } from '../../runtime/platform/files/disk.js'
import { replaceFile, replaceFileSync, syncFolder } from '../../runtime/platform/files/durable-file.js'
import { readRecordSync } from '../../runtime/platform/files/plain-file.js'
import type { Owner } from '../../runtime/platform/guard/owner.js'
import { budgetsByNetwork } from '../../runtime/platform/intake.js'
import { type Clock, systemClock } from '../../runtime/platform/ports/clock.js'
import { serialOf } from '../../runtime/platform/ports/machine.js'
import { systemNetwork } from '../../runtime/platform/ports/system-network.js'
import { Generations } from '../../runtime/platform/store/generations.js'
import { decodeSnapshot, encodeSnapshot, recover, type SlotContent } from '../../runtime/platform/store/snapshot.js'
import { MemoryWatch } from '../../runtime/platform/supervision/memory.js'
import type { Caller, Connection, ListenOptions } from '../../runtime/plugin.js'
import { createTestStation, ManualClock, until } from '../harness/index.js'
import { MemoryStore } from '../harness/memory-store.js'
import { ownerOf } from './owner.js'

t.test('what is periodic shares its wake-ups, and what was cancelled keeps none', async (t) => {
  const tick = systemClock.tick as NonNullable<Clock['tick']>
  void tick(250, () => t.fail('it was cancelled'))()
  const grid_ms = 250
  const waits_ms = [20, 60, 130]
  for (let isBusy = true; isBusy; ) {
    const rung: number[] = []
    const called_ms = performance.now()
    const next_ms = grid_ms * Math.ceil(called_ms / grid_ms)
    const cancels: (() => unknown)[] = []
    const first = new Promise<number[]>((resolve) => {
      for (const wait_ms of waits_ms) {
        const fire = () => {
          // Between two timers, what waits in the queue of microtasks runs.
          if (rung.push(wait_ms) === 1) queueMicrotask(() => resolve([...rung]))
        }
        cancels.push(tick(next_ms + wait_ms - called_ms, fire))
      }
    })
    // Called so slowly, they belong to different intervals.
    isBusy = performance.now() - called_ms > grid_ms - 130
    if (isBusy) for (const cancel of cancels) cancel()
    else t.same(await first, waits_ms, 'by one timer')
  }
})

t.test('connections are counted by address, up and down', async (t) => {
  const clock = new ManualClock()
  const told: [number, string][] = []
  const places = new Places(clock, (refused, why) => told.push([refused, why]))
  const limits = { maxConnections: 3, maxPerAddress: 2 }
  const enter = (address: string) => places.enter(address, limits, () => {})
  const leave = enter('a')
  t.ok(leave && enter('a'))
  t.equal(enter('a'), undefined)
  t.ok(enter('b'))
  t.ok(enter('c'), 'the address with most makes room, which counts as refused')
  t.same([places.open, places.refused, told], [3, 2, [[1, 'a has 2']]])
  leave?.()
  t.equal(places.open, 2)
  const again = enter('a')
  t.ok(again)
  again?.()
  const one = new Places(clock, () => {})
  for (let i = 0; i < 3; i++) {
    const gone = one.enter('a', { maxConnections: 1, maxPerAddress: 1 }, () => {})
    t.ok(gone, 'who left is forgotten')
    gone?.()
  }
  // Whoever makes room is looked for among all addresses: each was asked about when it came, as strangers come by the thousand.
  let asked = 0
  const many = new Places(
    clock,
    () => {},
    () => ++asked === 0,
  )
  const few = { maxConnections: 3, maxPerAddress: 2, keptForLoopback: 1 }
  for (let i = 0; i < 500; i++) many.enter(`192.0.2.${i}`, few, () => {})?.()
  many.enter('a', few, () => {})
  many.enter('b', few, () => {})
  asked = 0
  t.equal(
    many.enter('c', few, () => {}),
    undefined,
  )
  t.equal(asked, 1, 'the new one alone')
  await clock.advance(59_999)
  for (let i = 0; i < 4; i++) enter('d')
  t.equal(told.length, 1)
  await clock.advance(1)
  enter('d')
  t.same(told.at(-1), [5, '3 are open'], 'told once a minute, with those since')
  t.same(
    [normalAddress('::ffff:192.0.2.1'), normalAddress('::ffff:1'), normalAddress('::1'), normalAddress(undefined)],
    [...['192.0.2.1', '::ffff:1', '::1', '']],
  )
})

t.test('an IPv6 client counts as its /64, any other address as itself', async (t) => {
  for (const [address, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '::1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::', '2001:db8:0:1::/64'],
    ['1::3:4:5:6:7:8', '1:0:3:4::/64'],
    ['::2:3:4:5:6:7', '0:0:2:3::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2::4:5:192.0.2.1', '1:2:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ] as const)
    t.equal(networkOf(address), network, address)
})

t.test('a stranger with many addresses locks nobody out', async (t) => {
  const limits = { maxConnections: 8, maxPerAddress: 4 }
  const full = (addressOf: (i: number) => string, isSilent: boolean) => {
    const gone: number[] = []
    const places = new Places(new ManualClock(), () => {})
    const enter = (i: number, address: string) =>
      places.enter(
        address,
        limits,
        () => gone.push(i),
        () => isSilent,
      )
    for (let i = 0; i < 8; i++) enter(i, addressOf(i))
    return { gone, enter: (address: string) => enter(-1, address) }
  }
  const inOneNetwork = (i: number) => `2001:db8::${i + 1}`
  t.test('of one /64: its oldest silent connection makes room, else its newest', async (t) => {
    for (const [isSilent, gone] of [
      [true, [0, 1]],
      [false, [7, 6]],
    ] as const) {
      const one = full(inOneNetwork, isSilent)
      t.ok(one.enter('192.0.2.1') && one.enter('2001:db8:0:1::1'))
      t.strictSame(one.gone, gone)
    }
  })
  t.test('a neighbour in the same /64 gets the place of the oldest silent one', async (t) => {
    const { gone, enter } = full(inOneNetwork, true)
    t.ok(enter('2001:db8::abcd') && enter('2001:db8::abce'))
    t.strictSame(gone, [0, 1])
  })
  t.test('of many networks: the oldest silent one makes room, and who has asked stays', async (t) => {
    const { gone, enter } = full((i) => `198.51.100.${i}`, true)
    t.ok(enter('192.0.2.1'))
    t.strictSame(gone, [0])
    t.notOk(enter('192.0.2.1'), 'it has to ask before it opens another one')
    t.notOk(full((i) => `198.51.100.${i}`, false).enter('192.0.2.1'))
  })
  t.test('wrong passwords and budgets count for the /64', async (t) => {
    const wrong = new WrongTries(
      () => 0,
      () => 1,
    )
    for (let i = 0; i < 5; i++) wrong.add(`2001:db8::${i}`)
    t.strictSame([wrong.count('2001:db8::ffff'), wrong.count('2001:db8:0:1::1')], [5, 0])
    const budgets = budgetsByNetwork({ bytes_s: 1, burst_bytes: 1 }, 0)
    t.equal(budgets.of('2001:db8::1', 0), budgets.of('2001:db8::2', 0))
  })
})

t.test('which addresses are local, to the last one of each prefix', async (t) => {
  const none = new Prefixes([])
  for (const [first, last, ...outside] of [
    ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
    ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
    ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
    ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
    ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
    ['::1', '::1', '::', '::2'],
    ['fe80::', 'febf:ffff::1', 'fe7f::1', 'fec0::'],
    ['fc00::', 'fdff:ffff::1', 'fbff::1', 'fe00::'],
  ] as const) {
    t.ok(isLocalPeer(first, none) && isLocalPeer(last, none), `${first} … ${last}`)
    for (const one of outside) t.notOk(isLocalPeer(one, none), one)
  }
  for (const [address, ...loopback] of [
    ['127.0.0.0', true],
    ['127.255.255.255', true],
    ['::1', true],
    ['126.255.255.255', false],
    ['128.0.0.0', false],
    ['::2', false],
  ] as const)
    t.same([isLoopbackAddress(address)], loopback, address)
  for (const [address, plain] of [
    ['::ffff:c0a8:0107', '192.168.1.7'],
    ['::FFFF:cb00:71fe', '203.0.113.254'],
    ['0:0:0:0:0:ffff:ff01:2fe', '255.1.2.254'],
    ['::ffff:10.0.0.2%eth0', '10.0.0.2'],
    ['FE80::1%eth0', 'fe80::1'],
    ['::ffff:0:10.0.0.2', '::ffff:0:a00:2'],
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['::ffff:999.0.0.1', '::ffff:999.0.0.1'],
  ] as const)
    t.equal(normalAddress(address), plain)
})

t.test('a prefix is written as one, and means what it says', async (t) => {
  for (const wrong of ['10.0.0.0/', '10.0.0.0/8/9', '10.0.0.0/33', '::ffff:10.0.0.0/24', '10.0.0/8', '', '/8'])
    t.throws(() => new Prefixes([wrong]), { message: /is neither an address nor a prefix/ }, wrong)
  const mapped = new Prefixes(['::ffff:10.0.0.1', '::ffff:192.168.0.0/112'])
  t.same(
    ['10.0.0.1', '10.0.0.2', '192.168.7.7', '::ffff:c0a8:0101', '192.169.0.1'].map((one) => mapped.has(one)),
    [true, false, true, true, false],
  )
})

t.test('S8: of several addresses the first that is refused is told', async (t) => {
  const asked: string[] = []
  const refuses = (address: string) => {
    asked.push(address)
    return address.startsWith('127.') || address === '::1' ? `${address} is not for you` : undefined
  }
  const error: unknown = await checkedResolve(systemNetwork.resolve, refuses)('localhost').catch((refused) => refused)
  t.match(error, { code: 'RTK_ERR_FETCH_TARGET' })
  t.equal(asked.length, 1, 'no other is asked about')
  t.equal(refusedAddress(new Error('fetch failed', { cause: error })), `${asked[0]} is not for you`)
  t.equal(refusedAddress(new Error('fetch failed')), undefined)
})

t.test('the prefixes of interfaces are asked for again after 10 s', async (t) => {
  const real = os.networkInterfaces
  t.teardown(() => {
    os.networkInterfaces = real
    syncBuiltinESMExports()
  })
  const at = (cidr: string | null, family: 'IPv4' | 'IPv6' = 'IPv4') => ({
    ...{ address: '', netmask: '', mac: '', internal: false, scopeid: 0 },
    ...({ cidr, family } as { cidr: string; family: 'IPv4' }),
  })
  let interfaces: NodeJS.Dict<ReturnType<typeof at>[]> = {}
  os.networkInterfaces = () => interfaces
  syncBuiltinESMExports()
  const clock = new ManualClock()
  await clock.advance(3_600_000)
  const network = new LocalNetwork(clock)
  const [here, there] = ['203.0.113.7', '198.51.100.7']
  interfaces = {
    wan: [at(`${here}/24`), at(null), at('0.0.0.0/0')],
    v6: [at('2001:db8:1::1/48', 'IPv6')],
    gone: undefined,
  }
  t.ok(network.isLocal(here) && network.isNeighbour('203.0.113.255'))
  t.ok(network.isNeighbour('2001:db8:1:2::1') && network.isNeighbour('::ffff:203.0.113.1'))
  for (const one of [there, '2001:db8:2::1', '10.0.0.1', 'x', '']) t.notOk(network.isNeighbour(one), one)
  t.ok(network.isLocal('10.0.0.1'))
  interfaces = { wan: [at(`${there}/1`)] }
  await clock.advance(10_000)
  t.ok(network.isLocal(here) && !network.isLocal(there), 'known for 10 s')
  await clock.advance(1)
  t.ok(network.isLocal(there), 'a prefix of one bit')
  t.notOk(network.isLocal('8.8.8.8'))
  interfaces = {}
  await clock.advance(10_001)
  t.notOk(network.isLocal(there), 'they are gone')
})

t.test('why a request is refused before anybody asks who it is from', async (t) => {
  const own = new Prefixes(['203.0.113.0/24'])
  const host = ['Host', 'station.lan']
  const events = { accept: 'text/html, text/event-stream' }
  const page = { host: 'station.lan', origin: 'http://station.lan' }
  const foreign = { host: 'station.lan', origin: 'http://evil.example' }
  for (const [what, request, rules, code] of [
    ['of the local network', {}, {}, ''],
    ['of an own prefix', { peer: '203.0.113.9' }, {}, ''],
    ['of the internet', { peer: '198.51.100.9' }, {}, 'PEER'],
    ['of the internet, with a login', { peer: '198.51.100.9' }, { login: true }, ''],
    ['with a foreign host and a login', { headers: { host: 'evil.example' } }, { login: true }, 'HOST'],
    ['with two hosts', { rawHeaders: ['host', 'station.lan', 'Date', 'x', 'HOST', 'evil.example'] }, {}, 'HOST'],
    ['with a date and a host', { rawHeaders: ['Date', 'x', ...host, 'Vary', 'host', 'Link', 'Host'] }, {}, ''],
    ['without a host', { rawHeaders: [], headers: {} }, {}, ''],
    ['with an absolute target', { url: 'http://evil.example/' }, {}, 'HOST'],
    ['about the server', { method: 'OPTIONS', url: '*' }, {}, ''],
    ['with a configured name', { headers: { host: 'Base.Example:80' } }, { names: ['x', 'BASE.example'] }, ''],
    ['with another name', { headers: { host: 'base.example' } }, { names: ['x'] }, 'HOST'],
    ['that changes, of a page', { method: 'POST', headers: page }, {}, ''],
    ['that changes, of a program', { method: 'DELETE' }, {}, ''],
    ['that changes, of another page', { method: 'POST', headers: foreign }, {}, 'ORIGIN'],
    ['that reads, of another page', { headers: foreign }, {}, ''],
    ['HEAD, of another page', { method: 'HEAD', headers: foreign }, {}, ''],
    ['OPTIONS, of another page', { method: 'OPTIONS', headers: foreign }, {}, ''],
    ['an upgrade of another page', { upgrade: true, headers: foreign }, {}, 'ORIGIN'],
    ['an upgrade of a page', { upgrade: true, headers: page }, {}, ''],
    ['an event stream of another page', { headers: { ...foreign, ...events } }, {}, 'ORIGIN'],
    ['an event stream of a page', { headers: { ...page, ...events } }, {}, ''],
  ] as const) {
    const whole = {
      method: 'GET',
      url: '/',
      peer: '10.0.0.2',
      upgrade: false,
      rawHeaders: host,
      headers: page,
      ...request,
    }
    const error = refusal(whole, { own, names: [], login: false, ...rules })
    t.equal(error?.code ?? '', code && `RTK_ERR_FORBIDDEN_${code}`, `a request ${what}`)
  }
})

t.test('answers about addresses are remembered, for 257 at a time', async (t) => {
  let looked = 0
  const own = Object.assign(new Prefixes([]), { has: () => ++looked === 0 })
  const ask = (from: number, to: number) => {
    for (let n = from; n < to; n++) isLocalPeer(`203.0.${113 + (n >> 8)}.${n & 255}`, own)
    return looked
  }
  t.equal(ask(0, 257), 257)
  t.equal(ask(0, 1), 258, 'then it begins anew')
  t.equal(ask(256, 257), 259)
  const other = Object.assign(new Prefixes([]), { has: () => ++looked === 0 })
  ask(0, 256)
  looked = 0
  for (let n = 0; n < 512; n++) isLocalPeer(`198.51.100.${n & 255}`, other)
  t.equal(looked, 256)
})

t.test('who makes room when all places are taken, and who is spared', async (t) => {
  /** Enters in this order; @returns who is in, and who gave way. */
  const run = (limits: PlaceLimits, ...names: string[]) => {
    const places = new Places(new ManualClock(), () => {})
    const gone: string[] = []
    const inside = new Set<string>()
    const leave = new Map<string, () => void>()
    for (const name of names) {
      const left = places.enter(name.replace(/ \d$/, ''), limits, () => {
        gone.push(name)
        inside.delete(name)
      })
      if (left) {
        inside.add(name)
        leave.set(name, left)
      }
    }
    t.equal(places.open, inside.size)
    return { places, gone, leave, inside: [...inside].join() }
  }
  const four = { maxConnections: 4, maxPerAddress: 3 }
  for (const [what, limits, names, inside, gone] of [
    ['the newest of three', four, 'a 1,a 2,a 3,b,c', 'a 1,a 2,b,c', 'a 3'],
    ['nobody for whom has as many then', four, 'a 1,a 2,b 1,b 2,a 3', 'a 1,a 2,b 1,b 2', ''],
    ['nobody for the second of an address with one', four, 'a 1,a 2,b 1,c,b 2', 'a 1,a 2,b 1,c', ''],
    ['the second of three for the second of another', four, 'a 1,a 2,a 3,b 1,b 2', 'a 1,a 2,b 1,b 2', 'a 3'],
    ['nobody where each has one', { maxConnections: 2, maxPerAddress: 2 }, 'a,b,c', 'a,b', ''],
    ['of equals the one that came first', four, 'a 1,a 2,b 1,b 2,c', 'a 1,b 1,b 2,c', 'a 2'],
    ['nobody below the limits', four, 'a 1,a 2,a 3', 'a 1,a 2,a 3', ''],
    ['nobody for a fourth of an address', four, 'a 1,a 2,a 3,a 4', 'a 1,a 2,a 3', ''],
    [
      'nobody: a place is kept for this machine',
      { ...four, keptForLoopback: 1 },
      'a,b,c,d,127.0.0.1',
      'a,b,c,127.0.0.1',
      '',
    ],
    [
      'a stranger, where programs of this machine have most',
      { ...four, keptForLoopback: 1 },
      '::1 1,::1 2,::1 3,::1 4',
      '::1 1,::1 2,::1 3,::1 4',
      '',
    ],
    ['no program of this machine', { ...four, keptForLoopback: 1 }, '::1 1,::1 2,::1 3,a', '::1 1,::1 2,::1 3', ''],
    ['a program where no place is kept', four, '::1 1,::1 2,::1 3,a,b', '::1 1,::1 2,a,b', '::1 3'],
    [
      'a stranger for a program',
      { ...four, keptForLoopback: 2 },
      'a 1,a 2,::1,127.0.0.1,127.0.0.2',
      'a 1,::1,127.0.0.1,127.0.0.2',
      'a 2',
    ],
  ] as const) {
    const found = run(limits, ...names.split(','))
    t.same([found.inside, found.gone.join()], [inside, gone], what)
  }
  const { places, leave } = run(four, 'a 1', 'a 2', 'a 3', 'b', 'c')
  leave.get('a 3')?.()
  t.equal(places.open, 4, 'who gave way is counted out already')
  leave.get('a 1')?.()
  leave.get('a 1')?.()
  t.equal(places.open, 3, 'nobody leaves twice')
  for (const [address, limits, at] of [
    ['a', { maxConnections: 3, maxPerAddress: 3 }, true],
    ['x', { maxConnections: 3, maxPerAddress: 3 }, false],
    ['a', { maxConnections: 4, maxPerAddress: 2 }, false],
    ['a', { maxConnections: 4, maxPerAddress: 1 }, true],
  ] as const)
    t.equal(places.isAtLimit(address, limits), at, `${address} ${JSON.stringify(limits)}`)
})

t.test(
  'an address that is taken is tried again after 1 s and then ever later, up to 30 s, give or take a fifth',
  async (t) => {
    const random = Math.random
    t.teardown(() => {
      Math.random = random
    })
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const clock = new ManualClock()
    const failed: [string, number][] = []
    const opened: unknown[] = []
    const events = {
      failed: (text: string, wait_ms: number) => failed.push([text, wait_ms]),
      opened: (address: unknown) => opened.push(address),
    } as unknown as DoorEvents
    Math.random = () => 0
    const door = new Door({ network: systemNetwork, clock }, { host: '127.0.0.1', port }, undefined, events)
    t.teardown(() => door.close())
    const waits = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]
    for (const [n, wait_ms] of waits.entries()) {
      const share = n % 2
      const spread_ms = wait_ms * (share === 0 ? 0.8 : 1.2)
      await until(() => failed.length === n + 1 && clock.pending === 1, 'it failed, and waits')
      t.same(failed.at(-1), ['another program or plugin uses it', spread_ms])
      await clock.advance(spread_ms - 1)
      t.equal(clock.pending, 1)
      if (n === waits.length - 1) other.close()
      Math.random = () => 1 - share
      await clock.advance(2)
    }
    await until(() => opened.length === 1, 'the address')
    t.same([opened, door.address, door.isSecure], [[{ host: '127.0.0.1', port }], { host: '127.0.0.1', port }, false])
    t.equal(failed.length, waits.length)
    door.close()
    t.equal(door.address, undefined)
    t.same([addressText({ host: '::1', port: 1 }), addressText({ host: 'a', port: 1 })], ['[::1]:1', 'a:1'])
  },
)

t.test('of decisions about an address the last one counts, also while an earlier one is under way', async (t) => {
  const opened: unknown[] = []
  const events = { failed() {}, opened: (address: unknown) => opened.push(address) } as unknown as DoorEvents
  const anywhere = { host: '127.0.0.1', port: 0 }
  const newDoor = () => {
    const door = new Door({ network: systemNetwork, clock: new ManualClock() }, anywhere, undefined, events)
    t.teardown(() => door.close())
    return door
  }
  const closed = newDoor()
  const meanwhile = t.rejects(closed.move(anywhere), {
    code: 'RTK_ERR_NET_LISTEN',
    message: /closed or moved meanwhile/,
  })
  closed.close()
  await meanwhile
  // What is asked of the system later is answered later.
  const other = newDoor()
  await until(() => opened.length > 0, 'the other one')
  t.same([opened, closed.address], [[other.address], undefined], 'one that was moved and closed opens nothing')

  const moved = newDoor()
  const first = t.rejects(moved.move(anywhere), /closed or moved meanwhile/)
  await moved.move(anywhere)
  await first
  t.same(opened.slice(1), [moved.address], 'one that was moved twice opens once')
})

t.test('a listener: what is left of it without clients, and when quiet ones end', async (t) => {
  const listen = async (t: Test, options: Partial<ListenOptions> = {}) => {
    const clock = new ManualClock()
    const lines: string[] = []
    const say = (_: unknown, text: string) => void lines.push(text)
    const log = { debug: say, info: say, warn: say } as never
    const network = new Listeners({ log, clock, network: systemNetwork, isProxy: (address) => address === '127.0.0.2' })
    t.teardown(() => network.close())
    let release = () => {}
    const plugin: Owner = {
      ...ownerOf('caster'),
      own: (_, dispose) => {
        release = () => void dispose()
        return dispose
      },
    }
    const taken: Connection[] = []
    const whole = { name: 'rovers', host: '127.0.0.1', port: 0, ...options }
    const listener = network.listen(
      plugin,
      whole,
      (one) => void taken.push(one),
      () => {},
      true,
    )
    const { port } = await listener.opened
    const connected = async (more = {}) => {
      const socket = connect({ port, host: '127.0.0.1', ...more }).on('error', () => {})
      t.teardown(() => socket.destroy())
      await once(socket, 'connect')
      return socket
    }
    return { clock, lines, network, plugin, listener, taken, connected, release: () => release() }
  }

  t.test('no timer without a client', async (t) => {
    const { clock, taken, connected } = await listen(t)
    t.equal(clock.pending, 0)
    const clients = [await connected(), await connected()]
    await until(() => taken.length === 2, 'two')
    t.equal(clock.pending, 1, 'one for all of them')
    await clock.advance(5_000)
    t.equal(clock.pending, 1)
    clients[0]?.destroy()
    await until(() => taken.filter(({ closed }) => closed).length === 1, 'one is gone')
    t.equal(clock.pending, 1)
    clients[1]?.destroy()
    await until(() => taken.every(({ closed }) => closed), 'both are gone')
    t.equal(clock.pending, 0)
    await connected()
    await until(() => taken.length === 3, 'a third one')
    t.equal(clock.pending, 1)
  })

  t.test('who connects while its plugin is reloaded waits 5 s; a stop of the station ends all at once', async (t) => {
    const { clock, network, plugin, listener, taken, connected } = await listen(t)
    const first = await connected()
    await until(() => taken.length === 1, 'the first')
    network.leaving(ownerOf('caster'), 'reload')
    await connected()
    await until(() => taken.length === 2, 'another version of the plugin says nothing about this one')
    network.leaving(plugin, 'reload')
    await connected()
    await until(() => listener.connections === 3, 'the third one')
    await new Promise(setImmediate)
    t.equal(taken.length, 2)
    await clock.advance(4_999)
    t.equal(listener.connections, 3)
    await clock.advance(1)
    await until(() => listener.connections === 2, 'its patience is over')
    const ended = once(first, 'close')
    network.entered(plugin)
    network.leaving(plugin, 'shutdown')
    await ended
    await until(() => network.counts().length === 0, 'nothing is left')
  })

  t.test('its counts stay until its last client is gone', async (t) => {
    const counts = { plugin: 'caster', listener: 'rovers', refused: 0 }
    const empty = await listen(t)
    t.same(empty.network.counts(), [{ ...counts, open: 0 }])
    empty.release()
    t.same(empty.network.counts(), [])
    const { clock, network, listener, taken, connected, release } = await listen(t)
    // They do not end in their turn.
    for (let n = 0; n < 2; n++) await connected({ allowHalfOpen: true })
    await until(() => taken.length === 2, 'two')
    taken[0]?.destroy()
    await until(() => listener.connections === 1, 'one')
    release()
    t.same(network.counts(), [{ ...counts, open: 1 }])
    await clock.advance(4_999)
    t.same(network.counts(), [{ ...counts, open: 1 }])
    await clock.advance(1)
    await until(() => network.counts().length === 0, 'it is cut off')
    t.equal(clock.pending, 0)
  })

  t.test('a quiet one ends when its limit is seen to be over: every 5 s, or 4 times within it', async (t) => {
    for (const [idle_ms, first_ms] of [
      [10_000, 2_500],
      [20_000, 5_000],
      [40_000, 5_000],
    ] as const) {
      const { clock, taken, connected } = await listen(t, { idle_ms })
      const socket = await connected()
      const ended = once(socket, 'close')
      await until(() => taken.length === 1, 'a client')
      await clock.advance(first_ms + idle_ms - 1)
      t.notOk(taken[0]?.closed, `${idle_ms}`)
      await clock.advance(1)
      t.ok(taken[0]?.closed, `${idle_ms}`)
      await ended
    }
  })

  t.test('what a proxy does wrong is told once a minute, with what was left out', async (t) => {
    const { clock, lines, connected } = await listen(t)
    const wrong = async () => {
      const socket = await connected({ localAddress: '127.0.0.2' })
      socket.end('GET / HTTP/1.0\r\n\r\n')
      await once(socket, 'close')
    }
    lines.length = 0
    for (let n = 0; n < 3; n++) await wrong()
    await clock.advance(60_000)
    await wrong()
    const line =
      'listener rovers: a connection of the proxy 127.0.0.2 is refused: its connection does not begin with a PROXY header'
    t.same(lines, [line, `${line} (2 more like this)`])
  })
})

/** A trial of changes of `host`, which callers by HTTP reach through; `name` belongs to it, `colour` does not. */
function trialRig(store = new MemoryStore()) {
  const clock = new ManualClock()
  const events = { over: 0, changed: 0 }
  const live = ownerOf('net')
  const record = (trial: object | undefined) => ({
    owner: { ...live, live: true, run: (fn: () => unknown) => fn() },
    options: trial ? { trial } : {},
  })
  const records: Record<string, unknown> = {
    host: record({ reaches: ({ source, address }: Caller) => source === 'http' && address !== '10.0.0.9' }),
    name: record({ reaches: () => false }),
    broken: record({
      reaches: () => {
        throw new Error('x')
      },
    }),
    colour: record(undefined),
  }
  const trial = new ChangeTrial({
    ...{ store, clock, window_s: 60, log: { info() {}, warn() {} } as never },
    parameter: (name) => records[name] as never,
    over: () => events.over++,
    betweenChanges: (work) => work(),
    changed: () => events.changed++,
  })
  return { clock, events, trial, store }
}
const http = { source: 'http', address: '::ffff:10.0.0.2%eth0' } as Caller

t.test('a change that may cut its caller off', async (t) => {
  const values = (...names: string[]) => new Map(names.map((name) => [name, 'before']))
  t.test('is one that the caller comes through, with what belongs to it', async (t) => {
    const { trial } = trialRig()
    t.same([...(trial.concerns(values('host', 'name', 'colour'), http)?.keys() ?? [])], ['host', 'name'])
    t.equal(trial.concerns(values('name', 'colour', 'broken'), http), undefined)
    t.equal(trial.concerns(values('host'), { source: 'http', address: '10.0.0.9' } as Caller), undefined)
    t.equal(trial.concerns(values('host'), { source: 'plugin' } as Caller), undefined)
    trial.begin(new Map([['host', 'first']]))
    t.same(
      [...(trial.concerns(values('host'), http) ?? [])],
      [['host', 'first']],
      'the values before the first one return',
    )
    t.same(
      [...(trial.concerns(values('host', 'name'), { source: 'mqtt' } as Caller)?.keys() ?? [])],
      ['host', 'name'],
      'it joins, whoever it comes from',
    )
  })

  t.test('has its time from when it is in force, and no caller counts in the first two seconds', async (t) => {
    const { trial, clock, events } = trialRig()
    t.equal(trial.pending, undefined)
    trial.begin(values('host'))
    await clock.advance(100_000)
    t.match(trial.pending, { parameters: ['host'], left_s: 60 })
    trial.seen(http)
    t.ok(trial.pending, 'it is not in force yet')
    trial.applied()
    await clock.advance(1999)
    trial.seen(http)
    t.match(trial.pending, { left_s: 59 })
    await clock.advance(38_001)
    t.match(trial.pending, { left_s: 20 })
    trial.seen({ source: 'mqtt' } as Caller)
    await clock.advance(19_999)
    t.same([events.over, trial.expired], [0, undefined])
    await clock.advance(1)
    t.same([events.over, trial.expired, trial.pending?.left_s], [1, values('host'), 0])
  })

  t.test('is kept when its caller comes again, also over a restart', async (t) => {
    const { trial, clock, events, store } = trialRig()
    await store.batch(trial.writes(values('host')))
    const next = trialRig(store)
    await next.trial.load()
    next.trial.applied()
    t.match(next.trial.pending, { parameters: ['host'] })
    await next.clock.advance(2000)
    next.trial.seen(http)
    t.equal(next.trial.pending, undefined)
    await new Promise((resolve) => setImmediate(resolve))
    const last = trialRig(store)
    await last.trial.load()
    last.trial.applied()
    t.equal(last.trial.pending, undefined)
    await next.clock.advance(60_000)
    t.equal(next.events.over, 0)
    trial.begin(values('host'))
    trial.applied()
    await clock.advance(30_000)
    trial.end(values('name'))
    t.match(trial.pending, { parameters: ['name'], left_s: 60 }, 'what was on trial before has its time again')
    trial.end()
    t.equal(trial.pending, undefined)
    await clock.advance(100_000)
    t.equal(events.over, 0)
    t.equal(await trial.confirm(), false)
  })
})

t.test('/nvs is bounded to the byte, and what is overwritten counts once', async (t) => {
  const store = new MemoryStore()
  const nvs = new Nvs({ store, isShown: (name) => name === 'shown', isPlugin: (name) => name === 'log' })
  const block = (count: number, bytes = 3998) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i % 100).padStart(2, '0'), 'x'.repeat(bytes)]))
  t.equal(await nvs.write('a', block(32)), 32)
  t.equal(await nvs.write('b', block(32)), 32)
  t.equal(await nvs.write('b', block(32)), 32, 'the same again')
  await nvs.write(
    'c',
    Object.fromEntries(Array.from({ length: 36 }, (_, i) => [`${String(i).padStart(2, '0')}`, 'x'.repeat(168)])),
  )
  const used = 64 * 4000 + 36 * 170
  const left = 256 * 1024 - used
  await t.rejects(nvs.write('c', { zz: 'x'.repeat(left - 1) }), { code: 'RTK_ERR_NVS_LIMIT' })
  t.equal(await nvs.write('c', { zz: 'x'.repeat(left - 2) }), 1, 'exactly')
  await t.rejects(nvs.write('c', { zy: 1 }), { code: 'RTK_ERR_NVS_LIMIT' })
  t.match(await nvs.read('b'), { '00': /^x{3998}$/ })
  for (const [name, values, code] of [
    ['a', { ['x'.repeat(65)]: 1 }, 'RTK_ERR_NVS_VALUE'],
    ['a', { '\n': 1 }, 'RTK_ERR_NVS_VALUE'],
    ['a', { k: 'x'.repeat(4001) }, 'RTK_ERR_NVS_VALUE'],
    ['a', { k: Number.NaN }, 'RTK_ERR_NVS_VALUE'],
    ['a', { k: true }, 'RTK_ERR_NVS_VALUE'],
    ['a', { namespace: 1 }, 'RTK_ERR_NVS_VALUE'],
    ['a', [1], 'RTK_ERR_NVS_VALUE'],
    ['a', null, 'RTK_ERR_NVS_VALUE'],
    ['a b', {}, 'RTK_ERR_NVS_VALUE'],
    ['x'.repeat(65), {}, 'RTK_ERR_NVS_VALUE'],
    ['log', {}, 'RTK_ERR_NVS_OWNED'],
    ['config', {}, 'RTK_ERR_NVS_OWNED'],
    ['protected', {}, 'RTK_ERR_NVS_PROTECTED'],
  ] as const) {
    await t.rejects(nvs.write(name, values), { code }, `${name} ${JSON.stringify(values)?.slice(0, 30)}`)
  }
  const fresh = new MemoryStore()
  const other = new Nvs({ store: fresh, isShown: (name) => name === 'shown', isPlugin: () => false })
  t.equal(await other.write('', { k: 'x'.repeat(4000) }), 1)
  await fresh.batch([
    { namespace: 'config', key: 'shown', value: 1 },
    { namespace: 'config', key: 'hidden', value: 1 },
    { namespace: 'plugin.kept', key: 'a', value: 1 },
    { namespace: 'plugin.kept', key: 'b', value: {} },
  ])
  t.same(await other.namespaces(), ['config', 'kept', 'user'])
  t.same([await other.read('config'), await other.read('kept')], [{ shown: 1 }, { a: 1 }])
  await t.rejects(other.write('kept', {}), { code: 'RTK_ERR_NVS_OWNED' })
  for (let i = 0; i < 63; i++) await other.write(`n${i}`, { a: 1 })
  await t.rejects(other.write('n63', { a: 1 }), { code: 'RTK_ERR_NVS_LIMIT' })
  t.equal(await other.write('n62', { a: 2 }), 1)
})

/** A folder for the two files of a store. */
function folder(t: Test) {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-parts-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

t.test(
  'a file of a store that is too large is none; a newer one leads to the state before the update, with its time',
  async (t) => {
    const path = folder(t)
    const sizes = { bytes: 0 }
    const generations = new Generations(path, {
      ...disk,
      stat: (async (file: string) => {
        const stats = await disk.stat(file)
        return sizes.bytes === 0 ? stats : Object.assign(stats, { size: sizes.bytes })
      }) as never,
    })
    await generations.makeFolder()
    const state = (number: number) => ({
      ...{ number, reports: [], settle: false },
      contents: new Map([['n', new Map([['k', String(number)]])]]),
    })
    t.match(await generations.read(), { founded: false, kept: [], asOf: '' })
    await generations.write(state(1))
    t.equal((await generations.read()).founded, false)
    await generations.write(state(2))
    t.match(await generations.read(), { founded: true, snapshot: { number: 2 } })
    t.equal(await generations.wereTouched(), false)
    sizes.bytes = 64 << 20
    t.match(await generations.read(), { snapshot: { number: 2 } }, '64 MiB are read')
    sizes.bytes = (64 << 20) + 1
    t.match(await generations.read(), { loss: 'everything', kept: { length: 2 } })
    t.equal(await generations.wereTouched(), false, 'what was moved away is known')
  },
)

t.test('a state of a newer layout leads to the one before the update, with its time', async (t) => {
  const path = folder(t)
  const generations = new Generations(path, disk)
  await generations.makeFolder()
  const state = (number: number) => ({
    ...{ number, reports: [], settle: false },
    contents: new Map([['n', new Map([['k', String(number)]])]]),
  })
  await generations.write(state(1))
  await generations.write(state(2))
  await generations.keepCopy(state(2))
  const written = new Date('2026-11-20T10:30:40Z')
  // As a version with another layout writes it: the first three lines are those of every layout.
  const top = 'rtk-base store 2\nnumber 9\n'
  const sum = createHash('sha256').update(top).update('else').digest('hex')
  for (const name of ['snapshot-0', 'snapshot-1']) writeFileSync(join(path, name), `${top}sha256 ${sum}\nelse`)
  utimesSync(join(path, 'before-update'), written, written)
  t.match(await generations.read(), { loss: 'newer', snapshot: { number: 2 }, asOf: '2026-11-20T10:30Z' })
  await generations.dropCopy(true)
  const earlier = new Date('2026-11-19T08:05:10Z')
  for (const [number, name, other] of [
    [2, 'snapshot-0', 'snapshot-1'],
    [1, 'snapshot-1', 'snapshot-0'],
  ] as const) {
    await generations.write(state(number))
    utimesSync(join(path, name), earlier, earlier)
    writeFileSync(join(path, other), `${top}sha256 ${sum}\nelse`)
    t.match(await generations.read(), { loss: 'newer', snapshot: { number }, asOf: '2026-11-19T08:05Z' }, name)
  }
})

t.test(
  'of passwords two of one network and sixteen in all wait; what was right is known until it changes',
  async (t) => {
    const passwords = new Passwords({})
    const gates: (() => void)[] = []
    const wait = (address: string) => passwords.inTurn(address, () => new Promise<void>((done) => gates.push(done)))
    const refused = { code: 'RTK_ERR_TOO_MANY_REQUESTS' }
    const waiting: Promise<void>[] = []
    for (let n = 0; n < 8; n++) {
      for (let i = 0; i < 2; i++) waiting.push(wait(`192.0.2.${n}`))
      await t.rejects(wait(`192.0.2.${n}`), refused, 'a third one')
    }
    await t.rejects(wait('192.0.2.99'), refused, 'a seventeenth one')
    for (let left = waiting.length; left > 0; left--) {
      await until(() => gates.length > 0, 'its turn')
      t.equal(gates.length, 1, 'one at a time')
      gates.shift()?.()
      await new Promise(setImmediate)
    }
    await Promise.all(waiting)
    const next = async () => {
      await until(() => gates.length > 0, 'its turn')
      gates.shift()?.()
      await new Promise(setImmediate)
    }
    const pair = [wait('192.0.2.1'), wait('192.0.2.1')]
    await next()
    const third = wait('192.0.2.1')
    await t.rejects(wait('192.0.2.1'), refused, 'of those before it one waits still')
    await next()
    await next()
    await Promise.all([...pair, third])

    t.same([passwords.has('operator'), passwords.has('viewer'), passwords.state], [false, false, ' '])
    t.equal(await passwords.roleOf('first'), undefined)
    const hashes = await passwords.changed('viewer', 'first')
    t.equal(passwords.has('viewer'), false, 'not before it is used')
    passwords.use(hashes)
    t.same([passwords.knows('first'), passwords.has('viewer'), passwords.has('operator')], [undefined, true, false])
    t.same(
      [await passwords.roleOf('first'), passwords.knows('first'), passwords.knows('other')],
      ['viewer', 'viewer', undefined],
    )
    const both = await passwords.changed('operator', 'second')
    t.same([both.viewer, typeof both.operator], [hashes.viewer, 'string'])
    passwords.use(both)
    t.equal(passwords.knows('first'), 'viewer', 'a password that was not changed is still known')
    t.same([await passwords.roleOf('second'), await passwords.roleOf('third')], ['operator', undefined])
    t.same(await passwords.changed('operator', undefined), { viewer: hashes.viewer })
    t.match(passwords.state, /^\S+ \S+$/)
    passwords.use(await passwords.changed('viewer', 'first'))
    t.equal(passwords.knows('first'), undefined, 'the same password with another salt is checked again')
    passwords.use({})
    t.equal(passwords.knows('second'), undefined, 'nor is one that was removed')
  },
)

t.test('what a connection is ended for: standing still in the middle of something', async (t) => {
  const open = { req: { complete: true }, closed: false }
  const receiving = { req: { complete: false }, closed: false }
  const done = { req: { complete: true }, closed: true }
  for (const [what, answers, unsent, isEnded] of [
    ['nothing was ever asked', [], 0, true],
    ['a request that is not all there', [receiving], 0, true],
    ['the next request that is not all there', [done, receiving], 0, true],
    ['a handler that thinks, or a quiet stream', [open], 0, false],
    ['a peer that does not read its answer', [open], 10, true],
    ['an answer that is out, and no further request', [done], 0, true],
    ['a request that waits for the answer before it', [open, open], 0, false],
    ['a peer that does not read the answer before it', [open, open], 10, true],
  ] as [string, unknown[], number, boolean][]) {
    const socket = fakeSocket(unsent)
    const connection = new HttpConnection(socket as never)
    for (const answer of answers) connection.begin(answer as never)
    for (const now_ms of [1_000, 30_000, 60_999]) connection.look(now_ms, 60_000)
    t.equal(socket.isEnded, false, `${what}: not before its time`)
    connection.look(61_000, 60_000)
    t.equal(socket.isEnded, isEnded, what)
  }
  const socket = fakeSocket(900)
  const slow = new HttpConnection(socket as never)
  slow.begin(open as never)
  for (let times = 1; times < 10; times++) {
    socket.writableLength -= 1
    slow.look(times * 59_000, 60_000)
  }
  t.equal(socket.isEnded, false, 'a peer that reads slowly stays')
})

function fakeSocket(writableLength: number) {
  const socket = { bytesRead: 100, bytesWritten: 1_000, writableLength, isEnded: false, destroy }
  function destroy() {
    socket.isEnded = true
  }
  return socket
}

t.test('what a burst leaves is given back half a minute later, also while another one lasts', async (t) => {
  const mb = 1e6
  const state = { rss: 100 * mb, collected: [] as number[], held: 0 }
  const watch = new MemoryWatch(0, {
    usage: () => ({ rss: state.rss, heapUsed: 0, external: 0 }),
    collect: () => {
      state.collected.push(second)
      state.rss = Math.max(state.held, 100 * mb)
    },
    ownerOf: () => '',
    exhausted: () => t.fail('no limit is set'),
  })
  let second = 0
  const pass = (seconds: number, rss_mb?: number) => {
    if (rss_mb !== undefined) state.rss = rss_mb * mb
    for (const end = second + seconds; second < end; second++) watch.look()
  }
  pass(10)
  pass(29, 116)
  t.same(state.collected, [])
  pass(1)
  t.same(state.collected, [39])
  pass(60, 114)
  t.same(state.collected, [39], 'what is little more is no burst')

  state.held = 150 * mb
  pass(900, 150)
  const waits = state.collected.slice(1).map((at, n) => at - (state.collected[n] ?? 0))
  t.same(waits.slice(1, 14), [...Array(9).fill(30), 30, 45, 68, 102], 'what is needed is collected ever more seldom')
  pass(20_000, 150)
  const [before = 0, last = 0] = state.collected.slice(-2)
  t.equal(last - before, 3_600, 'but once an hour')
  state.held = 0
  pass(3_600, 150)
  t.equal(state.rss, 100 * mb, 'and given back when it is not needed any more')
  const done = state.collected.length
  pass(30, 150)
  t.equal(state.collected.length, done + 1, 'soon again then')
})

t.test('C4: what was used before the plugins were there is no measure of a burst', (t) => {
  const state = { rss: 50e6, collected: 0 }
  const watch = new MemoryWatch(0, {
    usage: () => ({ rss: state.rss, heapUsed: 0, external: 0 }),
    collect: () => void state.collected++,
    ownerOf: () => '',
    exhausted: () => t.fail('no limit is set'),
  })
  watch.look()
  state.rss = 110e6
  watch.settled()
  for (let second = 0; second < 3_600; second++) watch.look()
  t.equal(state.collected, 0)
  t.end()
})

t.test('wrong tries count for as long as they are kept; the oldest of 1,024 networks makes room', async (t) => {
  const clock = new ManualClock()
  const now_ms = () => clock.monotonic()
  const addTo = (tries: WrongTries, peer: string, count: number) => {
    for (let n = 0; n < count; n++) tries.add(peer)
  }
  const minute = new WrongTries(now_ms, (count) => (count === 1 ? 60_000 : undefined))
  addTo(minute, 'a', 4)
  await clock.advance(59_999)
  addTo(minute, 'a', 1)
  t.same([minute.count('a'), minute.count('b')], [5, 0])
  await clock.advance(1)
  t.equal(minute.count('a'), 0, 'the minute of the first one')
  addTo(minute, 'a', 4)
  t.equal(minute.count('a'), 4, 'a new minute counts anew')

  const row = new WrongTries(now_ms, (count) => (count < 20 ? 60_000 : 600_000))
  addTo(row, 'a', 18)
  await clock.advance(59_999)
  addTo(row, 'a', 1)
  await clock.advance(59_999)
  t.equal(row.count('a'), 19, 'each within a minute of the one before')
  addTo(row, 'a', 1)
  await clock.advance(599_999)
  t.equal(row.count('a'), 20)
  await clock.advance(1)
  t.equal(row.count('a'), 0)
  addTo(row, 'a', 6)
  row.forget('a')
  t.equal(row.count('a'), 0)

  addTo(minute, 'first', 5)
  addTo(minute, 'second', 1)
  for (let n = 0; n < 1_022; n++) minute.add(`stranger ${n}`)
  t.same([minute.count('first'), minute.count('second')], [5, 1], '1,024 are known, those that expired make room')
  minute.add('one more')
  t.same([minute.count('first'), minute.count('second')], [0, 1], 'the oldest goes')
  await clock.advance(60_000)
  addTo(minute, 'second', 2)
  for (let n = 0; n < 1_023; n++) minute.add(`stranger ${n}`)
  t.equal(minute.count('second'), 2, 'its minute before the last does not make it the oldest')
})

t.test('whom a full table does not know shares one account, once nobody in it is idle', (t) => {
  const budgets = budgetsByNetwork({ bytes_s: 1_000, burst_bytes: 1_000 }, 0)
  for (let n = 0; n < 1_024; n++) budgets.of(`192.0.${n >> 8}.${n & 255}`, 0).charge(1_000, 1, 0)
  t.equal(budgets.of('198.51.100.1', 0), budgets.of('198.51.100.2', 0))
  t.equal(budgets.of('192.0.0.1', 0), budgets.find('192.0.0.1'))
  t.not(budgets.of('198.51.100.1', 1_000), budgets.of('198.51.100.2', 1_000), 'the others were quiet')
  t.end()
})

/** The real file system, with a list of what was asked of it; a call fails with the code that `failing` names. */
function watched(failing: (call: string) => string | undefined = () => undefined) {
  const calls: string[] = []
  const note = (name: string, path: string) => {
    const call = `${name} ${basename(path)}`
    calls.push(call)
    const code = failing(call)
    if (code) throw Object.assign(new Error(code), { code })
  }
  const fs = new Proxy<FileSystem>(disk, {
    get: (real, name: keyof FileSystem) => {
      const ask = real[name] as (...args: unknown[]) => Promise<unknown>
      return async (path: string, ...rest: unknown[]) => {
        note(name, path)
        const found = await ask(path, ...rest)
        if (name !== 'open') return found
        const handle = found as { sync(): Promise<void>; close(): Promise<void> }
        const { sync, close } = handle
        const then = (what: string, act: () => Promise<void>) => async () => {
          await act.call(handle)
          note(what, path)
        }
        return Object.assign(handle, { sync: then('sync', sync), close: then('close', close) })
      }
    },
  })
  return { fs, calls }
}

t.test('a record of the start is a file of at most 1 MiB', async (t) => {
  const folder = t.testdir()
  const record = join(folder, 'record')
  writeFileSync(record, 'x'.repeat(1 << 20))
  t.equal(readRecordSync(record).length, 1 << 20)
  writeFileSync(record, 'x', { flag: 'a' })
  t.throws(() => readRecordSync(record), /is not a file of at most 1 MiB/)
  t.throws(() => readRecordSync(folder), /is not a file/)
  t.throws(() => readRecordSync(join(folder, 'none')), { code: 'ENOENT' })
})

t.test('a file is put in place whole, private and at once, whatever lies beside it', async (t) => {
  const folder = t.testdir()
  const path = join(folder, 'file')
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (const [text, aside] of [['one'], ['two'], ['three', join(folder, 'aside')]] as const) {
    mkdirSync(aside ?? `${path}.new`)
    writeFileSync(join(aside ?? `${path}.new`, 'in the way'), '')
    replaceFileSync(path, text, aside)
    t.equal(readFileSync(path, 'utf8'), text)
    t.same(readdirSync(folder), ['file'])
  }
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.throws(() => replaceFileSync(join(folder, 'none', 'file'), ''), { code: 'ENOENT' })
  t.equal(open(), before, 'nothing is left open')
})

t.test('a file is synced before it is renamed, and its folder after that', async (t) => {
  const folder = t.testdir()
  const path = join(folder, 'file')
  const place = basename(folder)
  const { fs, calls } = watched()
  await replaceFile(path, 'one', { fs })
  t.same(calls, [
    ...['rm file.new', 'open file.new', 'sync file.new', 'close file.new', 'rename file.new'],
    ...[`open ${place}`, `sync ${place}`, `close ${place}`],
  ])
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.same(readdirSync(folder), ['file'])
  mkdirSync(join(folder, 'taken', 'inside'), { recursive: true })
  await replaceFile(join(folder, 'taken'), 'two')
  t.equal(readFileSync(join(folder, 'taken'), 'utf8'), 'two', 'also in place of a folder')
  for (const [fails, code, stands] of [
    ['open file.new', 'ENOSPC', 'one'],
    ['sync file.new', 'ENOSPC', 'one'],
    ['close file.new', 'EIO', 'one'],
    ['rename file.new', 'EIO', 'one'],
    [`sync ${place}`, 'EIO', undefined],
    [`open ${place}`, 'EMFILE', undefined],
  ] as const) {
    writeFileSync(path, 'one')
    const { fs } = watched((call) => (call === fails ? code : undefined))
    await t.rejects(replaceFile(path, 'other', { fs }), { code }, fails)
    t.equal(existsSync(path) ? readFileSync(path, 'utf8') : undefined, stands, fails)
    t.notOk(existsSync(`${path}.new`), 'nothing is left beside it')
  }
  await t.rejects(replaceFile(path, 'x', { fs: watched((call) => (call === 'rename file.new' ? 'EPERM' : '')).fs }))
})

t.test('a file system that cannot sync a folder is no failure; one that fails to is', async (t) => {
  const folder = t.testdir()
  for (const [code, fails] of [
    ...(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'] as const).map((code) => [code, false] as const),
    ...(['EIO', 'ENOSPC'] as const).map((code) => [code, true] as const),
  ]) {
    const { fs, calls } = watched((call) => (call.startsWith('sync') ? code : undefined))
    const synced = syncFolder(folder, fs)
    await (fails ? t.rejects(synced, { code }) : t.resolves(synced, code))
    t.match(calls.at(-1), /^close/, 'it is closed in any case')
  }
})

t.test('those that replace one file wait for each other; those of other files do not', async (t) => {
  const folder = t.testdir()
  const held: (() => void)[] = []
  const order: string[] = []
  const fs = {
    ...disk,
    rename: async (from: string, to: string) => {
      order.push(readFileSync(from, 'utf8'))
      if (basename(to) === 'a') await new Promise<void>((resolve) => held.push(resolve))
      await disk.rename(from, to)
    },
  } as FileSystem
  const put = (name: string, text: string) => replaceFile(join(folder, name), text, { fs })
  const writes = [put('a', 'first'), put('a', 'second')]
  await put('b', 'other')
  await until(() => held.length === 1, 'the first')
  writes.push(put('a', 'third'))
  for (const n of [0, 1, 2, 3]) {
    await until(() => held.length > n, 'its turn')
    t.equal(held.length, n + 1, 'one at a time')
    held[n]?.()
    await writes[n]
    if (n === 0) writes.push(put('a', 'fourth'))
  }
  t.same(
    order.filter((text) => text !== 'other'),
    ['first', 'second', 'third', 'fourth'],
  )
})

const state = (number: number, value: unknown = number) => ({
  ...{ number, reports: [], settle: false },
  contents: new Map([['config', new Map([['n', JSON.stringify(value)]])]]),
})

t.test('the folder of a store: private, durable, and 64 MiB are the largest file', async (t) => {
  const parent = t.testdir()
  const folder = join(parent, 'data', 'store')
  const { fs, calls } = watched()
  const files = new Generations(folder, fs)
  await files.makeFolder()
  t.equal(statSync(folder).mode & 0o777, 0o700)
  t.ok(calls.includes(`sync ${basename(parent)}`), 'where the first folder was made')
  calls.length = 0
  await files.makeFolder()
  t.same(calls, ['mkdir store'])
  await files.write(state(1))
  t.notOk(existsSync(join(folder, '.founded')))
  await files.write(state(2))
  t.ok(existsSync(join(folder, '.founded')))
  rmSync(join(folder, '.founded'))
  await files.write(state(3))
  t.notOk(existsSync(join(folder, '.founded')), 'once')
  const found = await files.read()
  t.match(found, { snapshot: { number: 3 }, loss: undefined, founded: false, kept: [], asOf: '' })
  truncateSync(join(folder, 'snapshot-0'), 64 << 20)
  t.match(await files.read(), { loss: 'newest', finding: 'snapshot-0 is damaged', kept: [] })
  truncateSync(join(folder, 'snapshot-0'), (64 << 20) + 1)
  t.match(await files.read(), { finding: 'snapshot-0 cannot be read', kept: [join(folder, 'damaged-0')] })
  t.match(await files.read(), { finding: 'snapshot-0 is missing', kept: [] }, 'it was moved away')
})

t.test('files that another program touched are known, until they are accepted', async (t) => {
  const folder = t.testdir()
  const files = new Generations(folder, disk)
  await files.read()
  t.equal(await files.wereTouched(), false)
  for (const number of [1, 2, 3]) {
    await files.write(state(number))
    t.equal(await files.wereTouched(), false, 'its own writes are none')
  }
  const touches: [string, (path: string) => void][] = [
    ['longer', (path) => writeFileSync(path, 'x', { flag: 'a' })],
    ['of another time', (path) => utimesSync(path, 1, 1)],
    ['gone', (path) => rmSync(path)],
  ]
  for (const [what, touch] of touches)
    for (const slot of [0, 1]) {
      touch(join(folder, `snapshot-${slot}`))
      t.equal(await files.wereTouched(), true, `${slot} is ${what}`)
      await files.acceptState()
      t.equal(await files.wereTouched(), false)
    }
})

t.test('the copy from before an update is removed durably, and a failure to is told', async (t) => {
  const folder = t.testdir()
  const { fs, calls } = watched()
  const files = new Generations(folder, fs)
  const copy = join(folder, 'before-update')
  await files.dropCopy()
  t.same(calls, ['stat before-update'], 'there is none')
  await files.keepCopy(state(7, 'kept'))
  t.match(decodeSnapshot(readFileSync(copy)), { number: 7 })
  calls.length = 0
  await files.dropCopy()
  t.notOk(existsSync(copy))
  t.same(calls.slice(2, 5), ['rm before-update', `open ${basename(folder)}`, `sync ${basename(folder)}`])
  mkdirSync(copy)
  const fails = new Generations(folder, watched((call) => (call === 'rm before-update' ? 'EPERM' : undefined)).fs)
  await t.rejects(fails.dropCopy(), { code: 'EPERM' })
})

t.test('damaged files are kept where nothing else is left, and only those are named that could be', async (t) => {
  for (const [what, fails, kept] of [
    ['both', '', ['damaged-0', 'damaged-1']],
    ['one cannot be copied', 'copyFile snapshot-0', ['damaged-1']],
  ] as const) {
    const folder = t.testdir()
    const files = new Generations(folder, watched((call) => (call === fails ? 'ENOSPC' : undefined)).fs)
    for (const slot of [0, 1]) writeFileSync(join(folder, `snapshot-${slot}`), 'damaged')
    mkdirSync(join(folder, 'damaged-1', 'of an earlier time'), { recursive: true })
    const found = await files.read()
    t.same([found.loss, found.kept], ['everything', kept.map((name) => join(folder, name))], what)
    rmSync(join(folder, 'snapshot-0'))
    rmSync(join(folder, 'damaged-0'), { force: true })
    t.same((await files.read()).kept, [join(folder, 'damaged-1')], 'not what is missing')
  }
  for (const code of ['EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']) {
    const files = new Generations(t.testdir(), watched((call) => (call === 'stat snapshot-1' ? code : undefined)).fs)
    await t.rejects(files.read(), { code }, 'that passes, or the operator has to mend it')
  }
})

t.test('which generation a start takes, and what may be lost', async (t) => {
  const of = (number: number) => Buffer.from(encodeSnapshot(state(number)))
  const bad = Buffer.from('x')
  const cases: [what: string, slots: [SlotContent, SlotContent], number: number, loss: unknown, finding: string][] = [
    ['the first start', ['absent', 'absent'], 0, undefined, 'snapshot-0 is missing, snapshot-1 is missing'],
    ['both are whole', [of(4), of(5)], 5, undefined, ''],
    ['both are whole, the even one is newer', [of(6), of(5)], 6, undefined, ''],
    ['one is two writes old', [of(4), of(7)], 7, 'newest', 'snapshot-0 is of an earlier time'],
    ['one is missing', ['absent', of(5)], 5, 'newest', 'snapshot-0 is missing'],
    ['the power was cut in the foundation', ['absent', of(1)], 1, undefined, 'snapshot-0 is missing'],
    ['the second one was damaged', [bad, of(1)], 1, 'newest', 'snapshot-0 is damaged'],
    ['a third one is alone', ['absent', of(3)], 3, 'newest', 'snapshot-0 is missing'],
    ['the even one is alone', [of(2), 'absent'], 2, 'newest', 'snapshot-1 is missing'],
    ['one cannot be read', ['unreadable', of(5)], 5, 'newest', 'snapshot-0 cannot be read'],
    ['one is in the place of the other', [of(4), of(4)], 4, 'newest', 'snapshot-1 is a copy of the other one'],
    [
      'one is damaged, the other missing',
      [bad, 'absent'],
      0,
      'everything',
      'snapshot-0 is damaged, snapshot-1 is missing',
    ],
  ]
  for (const [what, slots, number, loss, finding] of cases) {
    const found = recover(slots)
    t.same([found.snapshot.number, found.loss, found.finding], [number, loss, finding], what)
  }
  for (const settle of [true, false]) {
    const reports = [{ code: 'a', text: 'b' }]
    t.match(decodeSnapshot(Buffer.from(encodeSnapshot({ ...state(9), settle, reports }))), {
      settle,
      reports,
      number: 9,
    })
  }
})

t.test('S10: no machine makes its station a namesake of the fleet', async (t) => {
  t.equal(serialOf('10000000a1b2c3d4', 'id'), '10000000a1b2c3d4')
  t.equal(serialOf('Fleet 1', 'id'), 'Fleet1')
  t.match(serialOf('fleet', 'id'), /^[0-9A-F]{12}$/, 'the name of the fleet at its broker')
  t.equal(serialOf('fl.eet', 'id'), serialOf('', 'id'), 'as if there was none')
  const store = new MemoryStore()
  await store.batch([{ namespace: 'protected.kernel', key: 'serial', value: 'fleet' }])
  const station = await createTestStation({ store, variant: { serial: '' } })
  t.teardown(() => station.stop())
  t.match(station.station.serial, /^(?!fleet$)[\w-]+$/, 'nor one that was stored')
  t.equal(await store.get('protected.kernel', 'serial'), station.station.serial)
})
