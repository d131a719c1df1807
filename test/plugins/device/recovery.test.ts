/** The recovery ladder: which address an attempt takes, and what is done when no link comes through. */
import { createServer } from 'node:net'
import {
  cellularUplink,
  type Link,
  type Links,
  links as linksToken,
  metrics,
  type RecoveryStep,
  type Uplink,
} from 'rtk-base/services'
import { createTestStation, ManualClock, probe, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import { calm, decide, dueOf, type Facts, isCutOff, type State } from '../../../plugins/device/recovery/decide.js'
import recovery from '../../../plugins/device/recovery/index.js'
import {
  addressesFor,
  type DialState,
  failed,
  remembered,
  resolved,
  stepOf,
  succeeded,
  untried,
} from '../../../runtime/lib/link/outbound/dial-steps.js'
import { isAnswer, Outbound } from '../../../runtime/lib/link/outbound/outbound.js'
import { systemNetwork } from '../../../runtime/platform/ports/system-network.js'
import {
  type AnyPlugin,
  definePlugin,
  type HostAddress,
  type PluginContext,
  type Resolve,
  unavailable,
} from '../../../runtime/plugin.js'
import { LinksInfo } from '../../../schemas/info/links.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { startRig } from '../network/rig.js'

const minute = 60_000
const a6 = { address: '2001:db8::1', family: 6 } as const
const b6 = { address: '2001:db8::2', family: 6 } as const
const a4 = { address: '192.0.2.1', family: 4 } as const
const b4 = { address: '192.0.2.2', family: 4 } as const

t.test('the address of an attempt', async (t) => {
  const at = (failures: number, more: Partial<DialState> = {}): DialState => ({ ...untried, failures, ...more })
  const cases: [
    what: string,
    state: DialState,
    answer: Parameters<typeof addressesFor>[1],
    order: readonly unknown[],
  ][] = [
    ['the first: as the name resolves', at(0), [a6, a4], [a6, a4]],
    ['after a loss: the one that worked', at(0, { good: a4 }), [a6, b4, a4], [a4, a6, b4]],
    ['that the name has no more: as it resolves', at(0, { good: b4 }), [a6, a4], [a6, a4]],
    ['the second: as the name resolves now', at(1, { good: a4 }), [b4, a4], [b4, a4]],
    ['the third: the other family only', at(2, { failed: 6 }), [a6, b6, a4], [a4]],
    ['the third, after IPv4', at(2, { failed: 4 }), [a6, b6, a4], [a6, b6]],
    ['with one family: the next address', at(2, { failed: 4 }), [a4, b4], [b4, a4]],
    ['the fourth: as it resolves', at(3, { failed: 4 }), [a6, a4], [a6, a4]],
    ['the fifth, one family: the first again', at(4, { failed: 4 }), [a4, b4], [a4, b4]],
    ['a single address is always tried', at(2, { failed: 4 }), [a4], [a4]],
  ]
  for (const [what, state, answer, order] of cases) t.same(addressesFor(state, answer), order, what)
  t.same(
    [0, 1, 2, 3, 4].map((failures) => stepOf(at(failures))),
    ['reconnect', 'resolve', 'family', 'resolve', 'family'],
  )

  const known = resolved(untried, [a6, a4], 5)
  t.same(remembered(known, 5 + 23 * 60 * minute), [a6, a4], 'while no name server answers')
  t.equal(remembered(known, 5 + 25 * 60 * minute), undefined, 'not for good: the address may be somebody else’s')
  t.equal(failed(known, undefined).failed, 6, 'no connection was made: the family that came first')
  t.match(succeeded(failed(known, 6), a4), { failures: 0, good: a4, failed: undefined })
  t.match(succeeded(known, undefined), { good: undefined })
  t.ok(isAnswer(Object.assign(new Error(), { code: 'ECONNREFUSED' })))
  t.notOk(isAnswer(Object.assign(new Error(), { code: 'ETIMEDOUT' })))
})

t.test('a connection to a name: its addresses in the order of the ladder, its state in the list', async (t) => {
  let answer: HostAddress[] = [a4, b4]
  let broken: Error | null = null
  const names: Resolve = async () => {
    if (broken) throw broken
    return answer
  }
  let ctx: PluginContext | undefined
  const own = probe([], (found) => {
    ctx = found
  })
  const station = await createTestStation({ plugins: { recovery: recovery as AnyPlugin, probe: own } })
  t.teardown(() => station.stop())
  const out = new Outbound(ctx as PluginContext, 'test caster:1', 'caster:1', { names })
  out.start()
  const shown = () => (station.field('links.outputs') as Record<string, unknown>[])[0]
  const dialled = () => out.resolve('caster').catch((error: Error) => error.message)
  t.match(shown(), { name: 'test caster:1', state: 'idle' })
  t.same(await dialled(), [a4, b4])
  out.up({ localAddress: '127.0.0.1', remoteAddress: '192.0.2.2' })
  t.match(shown(), { state: 'up', reason: '', family: 4 })
  t.same(await dialled(), [b4, a4], 'the one that worked')
  await station.clock.advance(5_000)
  out.failed('no answer', 3_000)
  t.match(shown(), { state: 'down', reason: 'no answer', since: 0, attempts: 1, step: 'resolve', next: 3 })
  broken = new Error('getaddrinfo EAI_AGAIN caster')
  answer = []
  t.same(await dialled(), [a4, b4], 'what was known, while no name server answers')
  out.failed('wrong password', 60_000, { answered: true })
  t.match(shown(), { state: 'refused', step: 'family', attempts: 2 })
  await station.reload('recovery')
  t.match(shown(), { state: 'refused', attempts: 2 }, 'reported again to the next instance')
  out.retarget('other:1')
  t.match(shown(), { reason: '', attempts: 0 })
  t.equal(await dialled(), 'getaddrinfo EAI_AGAIN caster', 'what was known of another peer is of no use')
  out.idle('not wanted')
  t.match(shown(), { state: 'idle', reason: 'not wanted' })
  out.close()
  t.same(station.field('links.outputs'), [])

  const server = createServer((socket) => void socket.destroy()).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await until(() => server.listening, 'listening')
  answer = [{ address: '127.0.0.1', family: 4 }]
  broken = null
  const socket = systemNetwork.dial({
    ...{ host: 'caster', port: (server.address() as { port: number }).port },
    resolve: out.resolve,
  })
  t.teardown(() => socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  t.equal(socket.remoteAddress, '127.0.0.1', 'Node takes the addresses from it')
})

t.test('W4: an address that is set has no other address family, and no name to resolve', async (t) => {
  for (const peer of ['192.0.2.1:2101', '2001:db8::1:2101', '[2001:db8::1]:2101', 'caster:2101']) {
    let ctx: PluginContext | undefined
    const own = probe([], (found) => {
      ctx = found
    })
    const station = await createTestStation({ plugins: { recovery: recovery as AnyPlugin, probe: own } })
    t.teardown(() => station.stop())
    const out = new Outbound(ctx as PluginContext, `test ${peer}`, peer)
    out.start()
    const steps: unknown[] = []
    for (let failure = 0; failure < 3; failure++) {
      out.failed('no answer', 3_000)
      steps.push((station.field('links.outputs') as { step: string }[])[0]?.step)
    }
    const isName = peer === 'caster:2101'
    t.same(steps, isName ? ['resolve', 'family', 'resolve'] : ['reconnect', 'reconnect', 'reconnect'], peer)
    out.retarget('other.example:1')
    out.failed('no answer', 3_000)
    t.match((station.field('links.outputs') as object[])[0], { step: 'resolve' }, 'a name again')
    out.close()
  }
})

const link = (state: Link['state'], more: Partial<Link> = {}): Link => ({
  ...{
    name: 'mqtt-link',
    peer: 'broker:8883',
    state,
    local: false,
    since_ms: 0,
    reason: '',
    attempts: 0,
    step: 'reconnect',
  },
  ...{ family: 4, next_ms: 0 },
  ...more,
})
const uplink = (name: string, more: Partial<Uplink> = {}): Uplink => ({
  ...{ kind: 'eth', name, addresses: [], up: true, default: false, metric: 100, reach: 'unknown', text: '' },
  ...more,
})
const cellular = (more: Partial<Uplink> = {}) =>
  uplink('eth0', { kind: 'cellular', default: true, reach: 'local', ...more })
const facts = (more: Partial<Facts> = {}): Facts => ({
  ...{ now_ms: 10 * minute, links: [link('down')], isProven: () => true, uplinks: [cellular()], updating: false },
  ...{ modem: { connected: true, pending: [] }, restarts: 0 },
  limits: { wait_ms: 5 * minute, mayRestartModem: true, mostRestarts: 3 },
  ...more,
})
const since = (outage_ms: number, more: Partial<State> = {}): State => ({ ...calm, outage_ms, ...more })

t.test('what is done', async (t) => {
  const cases: [what: string, state: State, facts: Facts, step: string | undefined, text: RegExp][] = [
    ['a link that is up', calm, facts({ links: [link('up'), link('down')] }), undefined, /^$/],
    ['no link at all', calm, facts({ links: [] }), undefined, /^$/],
    ['one that never worked', calm, facts({ isProven: () => false }), undefined, /^$/],
    ['refused: it was reached', calm, facts({ links: [link('refused'), link('down')] }), undefined, /^$/],
    [
      'refused, though it never worked',
      calm,
      facts({ isProven: ({ state }) => state === 'down', links: [link('refused'), link('down')] }),
      undefined,
      /^$/,
    ],
    [
      'idle links do not count',
      since(0),
      facts({ links: [link('idle'), link('down')] }),
      'modem',
      /the modem restarts/,
    ],
    [
      'a peer in the own network says nothing',
      since(0),
      facts({ links: [link('up', { local: true }), link('down')] }),
      'modem',
      /restarts/,
    ],
    ['too early', since(6 * minute), facts(), undefined, /the next step follows in 1 min/],
    [
      'another uplink first',
      since(0),
      facts({ uplinks: [cellular(), uplink('wlan0', { kind: 'sta' })] }),
      'uplink',
      /wlan0 is tried/,
    ],
    [
      'one with a login page is none',
      since(0),
      facts({ uplinks: [cellular(), uplink('wlan0', { reach: 'portal' })] }),
      'modem',
      /restarts/,
    ],
    [
      'one that was tried is not tried again',
      since(0, { tried: ['wlan0', 'eth0'], steered: 'wlan0' }),
      facts({ uplinks: [uplink('wlan0', { default: true }), cellular({ default: false })] }),
      'back',
      /the usual uplink/,
    ],
    [
      'then the modem',
      since(0, { tried: ['wlan0', 'eth0'] }),
      facts({ uplinks: [cellular(), uplink('wlan0')] }),
      'modem',
      /restarts/,
    ],
    [
      'the internet is reached: the peers are at fault',
      since(0),
      facts({ uplinks: [cellular({ reach: 'internet' })] }),
      undefined,
      /the peers are at fault/,
    ],
    [
      'the modem is not the way',
      since(0),
      facts({ uplinks: [uplink('eth0', { default: true, reach: 'local' })] }),
      undefined,
      /not the way out/,
    ],
    [
      'no uplink is up, the cellular one neither',
      since(0),
      facts({ uplinks: [cellular({ default: false, up: false })] }),
      'modem',
      /restarts/,
    ],
    [
      'no plugin network, the modem has no connection',
      since(0),
      facts({ uplinks: undefined, modem: { connected: false, pending: [] } }),
      'modem',
      /restarts/,
    ],
    [
      'no plugin network, the modem is connected',
      since(0),
      facts({ uplinks: undefined }),
      undefined,
      /connected, so it is not/,
    ],
    ['no modem', since(0), facts({ modem: undefined }), undefined, /retry automatically/],
    [
      'not wanted',
      since(0),
      facts({ limits: { wait_ms: minute, mayRestartModem: false, mostRestarts: 3 } }),
      undefined,
      /recovery-modem is 0/,
    ],
    ['often enough today', since(0), facts({ restarts: 3 }), undefined, /3 times in 24 h/],
    ['it scans', since(0), facts({ modem: { connected: true, pending: ['scan'] } }), undefined, /busy \(scan\)/],
    ['an update', since(0), facts({ updating: true }), undefined, /an update is under way/],
    [
      'the second round waits twice as long',
      since(0, { lastStep_ms: minute, rounds: 1 }),
      facts(),
      undefined,
      /follows in 1 min/,
    ],
    ['a link that came up a moment ago', since(0), facts({ links: [link('up')] }), undefined, /a moment ago|next step/],
    [
      'back at once when the usual one reaches the internet',
      { ...calm, steered: 'wlan0' },
      facts({
        links: [link('up')],
        uplinks: [uplink('wlan0', { default: true }), cellular({ default: false, reach: 'internet' })],
      }),
      'back',
      /^$/,
    ],
    [
      'back in time',
      { ...calm, steered: 'wlan0', back: { at_ms: 11 * minute, wait_ms: minute } },
      facts({ links: [link('up')], uplinks: [uplink('wlan0', { default: true }), cellular({ default: false })] }),
      undefined,
      /wlan0 replaces the usual one/,
    ],
    [
      'back when it is due',
      { ...calm, steered: 'wlan0', back: { at_ms: 9 * minute, wait_ms: minute } },
      facts({ links: [link('up')], uplinks: [uplink('wlan0', { default: true }), cellular({ default: false })] }),
      'back',
      /^$/,
    ],
    [
      'the usual one is not there',
      { ...calm, steered: 'wlan0', back: { at_ms: 9 * minute, wait_ms: minute } },
      facts({ links: [link('up')], uplinks: [uplink('wlan0', { default: true })] }),
      undefined,
      /replaces the usual one/,
    ],
  ]
  for (const [what, state, given, step, text] of cases) {
    const made = decide(state, given)
    t.equal(made.step?.step, step, what)
    t.match(made.text, text, what)
  }
  t.equal(
    isCutOff([link('down'), link('down', { name: 'b' })], () => true),
    true,
  )
  t.equal(dueOf(since(0, { rounds: 20 }), facts().limits), 6 * 60 * minute, 'at most every 6 h')

  // Hysteresis: what comes up for half a minute ends no outage.
  let { state } = decide(calm, facts({ now_ms: 0 }))
  state = decide(state, facts({ now_ms: 30_000, links: [link('up')] })).state
  state = decide(state, facts({ now_ms: minute })).state
  t.equal(state.outage_ms, 0)
  state = decide(state, facts({ now_ms: 2 * minute, links: [link('up')] })).state
  state = decide(state, facts({ now_ms: 3 * minute, links: [link('up')] })).state
  t.equal(state.outage_ms, undefined)
})

/** A station whose links, modem and update are in the hands of the test. */
async function setUp(t: Test, { store = new MemoryStore(), clock = new ManualClock(), changes = {} } = {}) {
  const modem = { connected: true as boolean | undefined, pending: [] as string[], restarts: 0, refuses: '' }
  let service: Links | undefined
  const steps: RecoveryStep[] = []
  const around = definePlugin({
    name: 'around',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [linksToken],
    provides: [cellularUplink],
    setup(ctx) {
      ctx.services.provide(cellularUplink, Object.assign(modem, { onChange: ctx.event<void>().on }) as never)
      ctx.action({
        name: 'reboot-modem',
        summary: 'restarts it',
        run: () => {
          if (modem.refuses) throw unavailable(modem.refuses)
          modem.restarts += 1
          return 'the modem restarts'
        },
      })
    },
    start(ctx) {
      service = ctx.services.use(linksToken)
      ctx.on(service.onStep, (step) => steps.push(step))
    },
  }) as AnyPlugin
  const rig = await startRig(t, {
    clock,
    store,
    variant: { changes },
    options: {
      simulator: {
        ethernet: [{ name: 'eth0' }, { name: 'eth1', address: '10.0.0.5/8', gateway: '10.0.0.1' }],
        networks: [],
      },
    },
    plugins: { recovery: recovery as AnyPlugin, around },
  })
  await rig.clock.advance(10_000)
  const report = (state: Link['state'], name = 'mqtt-link') =>
    service?.report(link(state, { name, since_ms: rig.clock.monotonic() }))
  const shown = () => station.field('links') as LinksInfo
  const { station } = rig
  const reach = (name: string, is: string) => rig.sim.command(`reach ${name} ${is}`)
  const isDefault = () => rig.uplinks.list.find((one) => one.default)?.name
  return { ...rig, modem, steps, report, shown, reach, isDefault, store }
}

t.test('the way back is counted from each change, and a usual uplink that held is trusted again', (t) => {
  const ways = [uplink('eth0', { default: true, reach: 'none' }), uplink('eth1', { reach: 'unknown' })]
  const before: State = { ...calm, back: { at_ms: 30 * minute, wait_ms: 30 * minute } }
  const week = 7 * 24 * 60 * minute
  const calmed = decide(before, facts({ now_ms: week, links: [link('up')], uplinks: ways })).state
  t.equal(calmed.back, undefined, 'it held')
  const soon = decide(before, facts({ now_ms: 29 * minute, links: [link('up')], uplinks: ways })).state
  t.same(soon.back, before.back, 'it has not held for long enough')
  // The outage began before that, and lasted.
  const cut = { ...before, outage_ms: 20 * minute }
  const { state, step } = decide(cut, facts({ now_ms: 40 * minute, uplinks: ways }))
  t.match(step, { step: 'uplink', to: 'eth1' })
  t.same(state.back, { at_ms: 70 * minute, wait_ms: 30 * minute })
  t.end()
})

t.test('a station that is cut off tries the other uplink, and returns', async (t) => {
  const rig = await setUp(t)
  const { clock, report, shown, reach, isDefault, station, steps, modem } = rig
  report('up')
  report('up', 'ntrip-server caster')
  await clock.advance(20_000)
  t.equal(isDefault(), 'eth0')
  reach('eth0', 'local')
  report('down')
  await clock.advance(10 * minute)
  t.equal(isDefault(), 'eth0', 'one link comes through')
  report('down', 'ntrip-server caster')
  await clock.advance(4 * minute)
  t.equal(isDefault(), 'eth0', 'not at once')
  t.match(shown().recovery, { outage: 230, text: /no link is up for 4 min; the next step follows in 1 min/ })
  await clock.advance(1.5 * minute)
  t.equal(isDefault(), 'eth1')
  t.match(steps, [{ step: 'uplink', done: true, text: /eth1 gets the default route: .* through eth0/ }])
  t.match(shown().recovery, { uplink: 'eth1', steps: [{ step: 'uplink' }] })
  const { steps: listed } = shown().recovery as { steps: { t: number }[] }
  t.ok(Math.abs((listed[0]?.t ?? 0) - clock.now() / 1000) < 120, 'UTC seconds')
  t.ok(Value.Check(LinksInfo, shown()), JSON.stringify([...Value.Errors(LinksInfo, shown())]))
  report('up')
  await clock.advance(3 * minute)
  t.equal(shown().recovery.outage, 0)
  t.equal(isDefault(), 'eth1', 'as long as the other one is not known to be back')
  reach('eth0', 'internet')
  await clock.advance(minute)
  t.equal(isDefault(), 'eth0')
  t.match(steps[1], { step: 'back', done: true, text: /eth0 reaches the internet again/ })
  t.equal(modem.restarts, 0)
  t.match(
    station.lines.filter(({ plugin }) => plugin === 'recovery').map(({ msg }) => msg),
    [/^recovery: eth1 gets/, /^recovery: the default route/],
  )
  t.match(await rig.ctx.services.use(metrics).text(), /recovery_steps_total\{[^}]*step="back"[^}]*\} 1/)
})

t.test('an uplink that stood in is given back after a restart of the service, and when the plugin goes', async (t) => {
  const first = await setUp(t)
  first.report('up')
  await first.clock.advance(20_000)
  first.reach('eth0', 'none')
  first.report('down')
  await first.clock.advance(6 * minute)
  t.equal(first.isDefault(), 'eth1')
  t.match(await first.store.entries('plugin.recovery'), { recovery: { steered: 'eth1' } })
  await first.station.reload('recovery')
  t.equal(first.isDefault(), 'eth1', 'a reload leaves it')
  await first.station.unload('recovery')
  t.equal(first.isDefault(), 'eth0')
})

t.test(
  'the modem is restarted when nothing else helps: a few times a day, counted over restarts of the service',
  async (t) => {
    const store = new MemoryStore()
    const clock = new ManualClock()
    const cut = async (rig: Awaited<ReturnType<typeof setUp>>) => {
      rig.sim.command('cable eth0 off')
      rig.sim.command('cable eth1 off')
      rig.modem.connected = false
    }
    const changes = { 'recovery-modem-max': 2 }
    const first = await setUp(t, { store, clock, changes })
    await first.station.unload('network')
    first.report('up')
    await clock.advance(20_000)
    await cut(first)
    first.report('down')
    first.modem.pending = ['scan']
    await clock.advance(20 * minute)
    t.equal(first.modem.restarts, 0, 'not while it scans')
    t.match(first.shown().recovery.text, /not restarted: it is busy \(scan\)/)
    first.modem.pending = []
    await clock.advance(minute)
    t.equal(first.modem.restarts, 1)
    t.match(first.steps, [{ step: 'modem', done: true, text: /the modem restarts: .* not connected/ }])
    await first.station.stop()
    // What was proven and counted holds for the next run.
    const second = await setUp(t, { store, clock, changes })
    await second.station.unload('network')
    await cut(second)
    second.report('down')
    await clock.advance(6 * minute)
    t.equal(second.modem.restarts, 1)
    await clock.advance(20 * 60 * minute)
    t.equal(second.modem.restarts, 1, 'twice in 24 h')
    t.match(second.shown().recovery, { restarts: 2, text: /2 times in 24 h/ })
    await clock.advance(12 * 60 * minute)
    t.ok(second.modem.restarts > 1, 'the next day')
    t.ok(second.modem.restarts <= 3)
  },
)

t.test('what refuses is counted and shown, and an own fault never restarts anything', async (t) => {
  const { clock, report, modem, station, steps, shown } = await setUp(t)
  await station.unload('network')
  modem.connected = false
  report('up')
  await clock.advance(20_000)
  report('refused')
  await clock.advance(60 * minute)
  t.equal(modem.restarts, 0, 'a ban, a wrong password')
  report('down')
  modem.refuses = 'the router is offline'
  await clock.advance(6 * minute)
  t.match(steps, [{ step: 'modem', done: false, text: /that failed: .*the router is offline/ }])
  t.equal(shown().recovery.restarts, 1, 'counted before it is tried')
  await station.station.change({ 'recovery-modem': 0 }, { source: 'http' })
  modem.refuses = ''
  await clock.advance(60 * minute)
  t.equal(modem.restarts, 0)
})

t.test('the list of links is bounded', async (t) => {
  const { report, shown } = await setUp(t)
  for (let i = 0; i < 100; i++) report('down', `ntrip-server ${i}`)
  t.equal(shown().outputs.length, 12)
})
