import {
  cellularUplink,
  correctionStatus,
  device,
  firmwareInstaller,
  type Link,
  links,
  type NetworkInterface,
  type RecoveryStep,
  receiver,
  reception,
  rtcmStream,
  station,
  type Uplink,
  uplinks,
} from 'rtk-base/services'
import { ManualClock } from 'rtk-base/testing'
import t from 'tap'
import { Minutes, shortened } from '../../../plugins/device/record/minutes.js'
import { momentOf } from '../../../plugins/device/record/moment.js'
import { calm, decide, dueOf, type Facts, isCutOff, type State } from '../../../plugins/device/recovery/decide.js'
import { RecoveryLadder } from '../../../plugins/device/recovery/ladder.js'
import { RecoveryMemory } from '../../../plugins/device/recovery/memory.js'
import { LinkTable } from '../../../plugins/device/recovery/table.js'
import { Findings } from '../../../plugins/network/network/uplinks/findings.js'
import { changesOf, uplinksOf } from '../../../plugins/network/network/uplinks/table.js'
import { SampleRing as Curves } from '../../../plugins/page/dashboard/history/ring.js'
import type { PluginContext } from '../../../runtime/plugin.js'
import { rangeOf, timeOf } from '../../../runtime/time.js'

const minute = 60_000
const link = (state: Link['state'], more: Partial<Link> = {}) =>
  ({ name: 'a', peer: 'p', state, local: false, ...more }) as Link
const uplink = (name: string, more: Partial<Uplink> = {}): Uplink => ({
  ...{ kind: 'eth', name, addresses: [], up: true, default: false, metric: 100, reach: 'unknown', text: '', ...more },
})
const facts = (now_ms: number, more: Partial<Facts> = {}): Facts => ({
  ...{ now_ms, links: [link('down' as Link['state'])], isProven: () => true, uplinks: undefined, modem: undefined },
  ...{ updating: false, restarts: 0, limits: { wait_ms: 5 * minute, mayRestartModem: true, mostRestarts: 3 } },
  ...more,
})

t.test('an outage needs every link that ever worked, and none that was answered', async (t) => {
  const down = 'down' as Link['state']
  const proven = ({ name }: Link) => name === 'a'
  t.equal(isCutOff([link(down)], proven), true)
  t.equal(isCutOff([link(down, { name: 'b' })], proven), false, 'what never worked may be a wrong name')
  t.equal(isCutOff([link(down, { local: true })], proven), false)
  t.equal(isCutOff([link('idle')], proven), false)
  t.equal(isCutOff([link(down), link('up', { name: 'b' })], proven), false)
  t.equal(isCutOff([link(down), link('refused', { name: 'b' })], proven), false)
  t.equal(isCutOff([link(down), link('up', { name: 'b', local: true })], proven), true)
})

t.test('a step is due after its wait, which doubles with each round, up to six hours', async (t) => {
  const { limits } = facts(0)
  t.equal(dueOf({ ...calm, outage_ms: 1000 }, limits), 1000 + 5 * minute)
  t.equal(dueOf({ ...calm, outage_ms: 1000, lastStep_ms: 7000, rounds: 2 }, limits), 7000 + 20 * minute)
  t.equal(dueOf({ ...calm, outage_ms: 0, rounds: 12 }, limits), 360 * minute)
  const modem = { connected: false, pending: [] }
  const begun = decide(calm, facts(1000, { modem }))
  t.match(begun, { state: { outage_ms: 1000 }, step: undefined })
  t.equal(decide(begun.state, facts(1000 + 5 * minute - 1, { modem })).step, undefined)
  const stepped = decide(begun.state, facts(1000 + 5 * minute, { modem }))
  t.match(stepped, {
    step: { step: 'modem', why: /modem is not connected/ },
    state: { rounds: 1, tried: [], lastStep_ms: 1000 + 5 * minute },
  })
  t.equal(decide(stepped.state, facts(1000 + 15 * minute - 1, { modem })).step, undefined, 'twice as long')
  t.match(decide(stepped.state, facts(1000 + 15 * minute, { modem })).step, { step: 'modem' })
})

t.test('a link that is up for less than a minute ends no outage, and no step is taken meanwhile', async (t) => {
  const modem = { connected: false, pending: [] }
  const outage: State = { ...calm, outage_ms: 0, rounds: 1, lastStep_ms: 0 }
  const better = decide(outage, facts(10 * minute, { modem, links: [link('up')] }))
  t.match(better, {
    state: { outage_ms: 0, better_ms: 10 * minute },
    step: undefined,
    text: /one does since a moment ago/,
  })
  t.match(decide(better.state, facts(11 * minute - 1, { modem, links: [link('up')] })).state, { outage_ms: 0 })
  t.match(decide(better.state, facts(11 * minute, { modem, links: [link('up')] })), {
    state: { outage_ms: undefined, rounds: 0 },
    text: '',
  })
  t.match(decide(better.state, facts(11 * minute, { modem })).state, { better_ms: undefined, outage_ms: 0 })
})

t.test('the modem is restarted only where it is the way out, is allowed, and has nothing else to do', async (t) => {
  const due: State = { ...calm, outage_ms: 0 }
  const step = (more: Partial<Facts>) => decide(due, facts(5 * minute, more))
  const modem = { connected: false as boolean | undefined, pending: [] as string[] }
  const { limits } = facts(0)
  t.match(step({ modem }).step, { step: 'modem' })
  for (const [what, more, rounds] of [
    [/retry automatically/, {}, 1],
    [/the modem is connected, so/, { modem: { ...modem, connected: true } }, 1],
    [/the modem is connected, so/, { modem: { ...modem, connected: undefined } }, 1],
    [/recovery-modem is 0/, { modem, limits: { ...limits, mayRestartModem: false } }, 1],
    [/was done 3 times/, { modem, restarts: 3 }, 1],
    [/not the way out/, { modem, uplinks: [uplink('eth0', { default: true, reach: 'none' })] }, 1],
    [/an update is under way/, { modem, updating: true }, 0],
    [/it is busy \(scan\)/, { modem: { ...modem, pending: ['scan'] } }, 0],
  ] as const) {
    t.match(step(more as never), { step: undefined, text: what, state: { rounds } }, String(what))
  }
  t.match(step({ modem, restarts: 2 }).step, { step: 'modem' })
  const cellular = uplink('wwan', { kind: 'cellular' })
  t.match(step({ modem: { ...modem, connected: true }, uplinks: [{ ...cellular, default: true }] }).step, {
    step: 'modem',
    why: /the only way out/,
  })
  t.match(step({ modem, uplinks: [{ ...cellular, up: false }] }).step, { step: 'modem' }, 'where no other is up')
  t.match(step({ modem, uplinks: [uplink('eth0', { default: true, reach: 'internet' })] }), {
    step: undefined,
    text: /the peers are at fault/,
  })
})

t.test('another uplink stands in, and is given back', async (t) => {
  const eth = uplink('eth0', { default: true })
  const wlan = uplink('wlan0')
  const due: State = { ...calm, outage_ms: 0 }
  const steered = decide(due, facts(5 * minute, { uplinks: [eth, wlan] }))
  t.match(steered, {
    step: { step: 'uplink', to: 'wlan0', why: /through eth0$/ },
    state: { steered: 'wlan0', tried: ['eth0'], back: { at_ms: 20 * minute, wait_ms: 15 * minute } },
  })
  for (const reach of ['none', 'portal'] as const) {
    t.match(decide(due, facts(5 * minute, { uplinks: [eth, { ...wlan, reach }] })).step, undefined, reach)
  }
  t.equal(decide(due, facts(5 * minute, { uplinks: [eth, { ...wlan, up: false }] })).step, undefined)
  const failed = decide(
    steered.state,
    facts(10 * minute, {
      uplinks: [
        { ...eth, default: false },
        { ...wlan, default: true },
      ],
    }),
  )
  t.match(failed, { step: { step: 'back', why: /through any uplink/ }, state: { steered: undefined, back: undefined } })
  const stands: State = { ...calm, steered: 'wlan0', back: { at_ms: 20 * minute, wait_ms: 15 * minute } }
  const well = (now_ms: number, other: Partial<Uplink>) =>
    decide(stands, facts(now_ms, { links: [link('up')], uplinks: [wlan, { ...eth, ...other }] }))
  t.match(well(10 * minute, {}), { step: undefined, text: /wlan0 replaces the usual one/ })
  t.match(well(10 * minute, { reach: 'internet' }).step, { step: 'back', why: /eth0 reaches the internet again/ })
  t.equal(well(20 * minute - 1, {}).step, undefined)
  t.match(well(20 * minute, {}), {
    step: { step: 'back', why: /long enough/ },
    state: { steered: undefined, back: { at_ms: 50 * minute, wait_ms: 30 * minute } },
  })
  t.equal(well(20 * minute, { up: false }).step, undefined, 'there is no other')
  const held = (now_ms: number) =>
    decide({ ...calm, back: { at_ms: 50 * minute, wait_ms: 1 } }, facts(now_ms, { links: [link('up')] })).state.back
  t.ok(held(50 * minute - 1))
  t.equal(held(50 * minute), undefined)
})

t.test('a restart of the modem is durable before it is made, and counts for 24 h of any clock', async (t) => {
  const kept: unknown[] = []
  const state = { fails: false, held: undefined as (() => void) | undefined }
  const store = {
    get: async () => kept.at(-1),
    async batch({ recovery }: { recovery: object }) {
      if (state.fails) throw new Error('full')
      await new Promise<void>((resolve) => {
        if (state.held === undefined) resolve()
        else state.held = resolve
      })
      kept.push(structuredClone(recovery))
    },
  }
  const ctx = { store, log: { debug() {} } } as unknown as PluginContext
  const memory = new RecoveryMemory(ctx)
  state.held = () => {}
  let done = false
  const counting = memory.countRestart(1000).then(() => {
    done = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(done, false, 'not before it is stored')
  state.held()
  state.held = undefined
  await counting
  t.match(kept.at(-1), { restarts: [1000] })
  const day_ms = 24 * 60 * minute
  t.same([memory.restarts(1000 + day_ms - 1), memory.restarts(1000 + day_ms)], [1, 0])
  await memory.countRestart(5 * day_ms)
  t.equal(memory.restarts(2 * day_ms), 1, 'a clock that was set back')
  t.equal(memory.restarts(3 * day_ms - 1), 1)
  t.equal(memory.restarts(3 * day_ms), 0, 'counts it as made then')
  state.fails = true
  await t.rejects(memory.countRestart(0), /full/)
  t.equal(memory.restarts(0), 0, 'one that could not be counted is not made')
  state.fails = false
  void memory.steer('wlan0')
  memory.prove('a')
  for (let i = 0; i < 64; i++) memory.prove(`n${i}`)
  t.same([memory.isProven('a'), memory.isProven('n0'), memory.isProven('n63')], [false, true, true], '64 at most')
  memory.prove('a')
  await memory.countRestart(7)
  const next = new RecoveryMemory(ctx)
  await next.load()
  t.same([next.steered, next.isProven('a'), next.restarts(8)], ['wlan0', true, 1])
})

t.test('a success that was found beats a newer failure, for ten minutes', async (t) => {
  const clock = new ManualClock()
  const findings = new Findings(() => clock.monotonic())
  t.equal(findings.of('eth0'), undefined)
  findings.note('eth0', 'a', true, 'yes')
  await clock.advance(1000)
  findings.note('eth0', 'b', false, 'no')
  t.match(findings.of('eth0'), { reached: true, text: 'yes' })
  findings.note('eth0', 'a', false, 'not any more')
  t.match(findings.of('eth0'), { reached: false, text: 'not any more' }, 'the newest of each')
  await clock.advance(599_999)
  t.match(findings.of('eth0'), { reached: false })
  await clock.advance(1)
  t.equal(findings.of('eth0'), undefined)
  findings.note('eth0', 'a', true, 'yes')
  for (let i = 0; i < 15; i++) findings.note('eth0', `n${i}`, false, 'no')
  t.match(findings.of('eth0'), { reached: true })
  findings.note('eth0', 'n15', false, 'no')
  t.match(findings.of('eth0'), { reached: false }, '16 reporters')
  findings.forget('eth0')
  t.equal(findings.of('eth0'), undefined)
})

t.test('the uplinks are those with a route, the one with the lowest metric first', async (t) => {
  const face = (name: string, more: Partial<NetworkInterface> = {}) =>
    ({
      name,
      kind: 'ethernet',
      state: 'connected',
      reason: '',
      ip4: [{ address: '10.0.0.2', prefix: 24 }],
      ip6: [],
      gateway: '10.0.0.1',
      metric: 100,
      reach: 'unknown',
      ...more,
    }) as unknown as NetworkInterface
  const table = (
    interfaces: NetworkInterface[],
    router?: { address: string; connected: boolean | undefined },
    reached?: boolean,
  ) => uplinksOf({ interfaces, router, findings: () => (reached === undefined ? undefined : { reached, text: 'x' }) })
  t.match(table([face('b', { metric: 200 }), face('a')]), [
    { name: 'a', default: true, up: true },
    { name: 'b', default: false },
  ])
  t.match(
    table([
      face('six', { ip4: [], gateway: '', ip6: [{ address: 'fd::1' }] as never, route6: { metric: 1 } as never }),
      face('a', { metric: 900 }),
    ]),
    [
      { name: 'a', default: true },
      { name: 'six', metric: 100 },
    ],
  )
  t.same(table([face('ap', { wifi: { mode: 'ap' } as never })]), [])
  t.match(table([face('a', { gateway: '' })]), [{ up: false, default: false, text: 'a has no gateway', reach: 'none' }])
  t.match(table([face('a', { metric: undefined as never })]), [{ up: false, text: 'a has no default route' }])
  t.match(table([face('a', { state: 'disconnecting' as never })]), [{ up: true }])
  t.match(table([face('a', { state: 'disconnected' as never, reason: 'cable' })]), [
    { up: false, text: 'a is disconnected: cable' },
  ])
  const router = { address: '10.0.0.1', connected: false as boolean | undefined }
  t.match(table([face('a')], { ...router, connected: true }), [{ kind: 'cellular', up: true }])
  t.match(table([face('a')], router), [{ kind: 'cellular', up: false, text: /no data connection/ }])
  t.match(table([face('a')], router, true), [{ kind: 'eth', up: true, reach: 'internet' }])
  t.match(table([face('a', { kind: 'wifi' as never })]), [{ kind: 'sta' }])
  t.match(table([face('a')], undefined, false), [{ reach: 'local' }])
  t.match(table([face('a', { reach: 'internet' as never })], undefined, false), [{ reach: 'internet' }])
  const up = uplink('a', { addresses: ['10.0.0.2', 'fd::1'], default: true })
  const changes = (before: Uplink[], now: Uplink[]) => {
    const { down, up } = changesOf(before, now)
    return [down.map(({ name }) => name), up.map(({ name }) => name)]
  }
  t.same(changes([up], [up]), [[], []])
  t.same(changes([up], [{ ...up, addresses: ['10.0.0.2', 'fd::2'] }]), [[], []])
  t.same(changes([up], [{ ...up, addresses: ['10.0.0.3'] }]), [['a'], ['a']])
  t.same(changes([up], [{ ...up, up: false }]), [['a'], []])
  t.same(changes([{ ...up, default: false }], [up]), [[], ['a']])
  t.same(changes([up], [{ ...up, default: false }]), [[], []])
  t.same(changes([{ ...up, addresses: ['fd::1'] }], [up]), [[], ['a']])
})

t.test('curves are a ring: means of whole steps that end now, and what overflows is the largest', async (t) => {
  const ring = new Curves(
    [
      { name: 'a', unit: '', resolution: 0.1 },
      { name: 'b', unit: '', resolution: 1 },
    ],
    5,
  )
  const a = (step = 1) => ring.series(['a'], step).a
  ring.add([1.04, undefined])
  ring.add([2.06, Number.NaN])
  t.same([a(), ring.series(['a', 'b', 'c'], 1).b, ring.length], [[1, 2.1], [null, null], 2])
  ring.add([3, 7])
  t.same(a(2), [1, 2.55], 'the first step is not whole')
  for (const value of [4, 5, 6]) ring.add([value, value])
  t.same([a(), ring.length], [[2.1, 3, 4, 5, 6], 5], 'the oldest goes')
  ring.add([1e9, -1e9])
  ring.add([-1e9, 1e9])
  t.same(
    [a()?.slice(-2), ring.series(['b'], 1).b?.slice(-2)],
    [
      [3276.7, -3276.7],
      [-32_767, 32_767],
    ],
  )
  const other = new Curves(
    [
      { name: 'b', unit: '', resolution: 1 },
      { name: 'c', unit: '', resolution: 1 },
    ],
    9,
  )
  other.add([42, 43])
  t.equal(other.loadBefore(ring.save(), 2), true)
  t.same(other.series(['b', 'c'], 1), {
    b: [4, 5, 6, -32_767, 32_767, null, null, 42].slice(0),
    c: [null, null, null, null, null, null, null, 43],
  })
  t.equal(new Curves([{ name: 'a', unit: '', resolution: 1 }], 4).load(ring.save()), false, 'more than it holds')
  t.equal(new Curves([{ name: 'a', unit: '', resolution: 1 }], 5).load(ring.save()), true)
  t.equal(ring.load(Buffer.from('no')), false)
  t.equal(ring.load(ring.save().subarray(0, -1)), false)
  t.equal(ring.length, 5, 'it is as it was')
  ring.skip(100)
  t.same(a(), [null, null, null, null, null])
})

t.test('times as people write them', async (t) => {
  const at = Date.UTC(2026, 10, 22, 2, 13)
  for (const text of [
    '2026-11-22T02:13',
    '2026-11-22 02:13:00Z',
    '2026-11-22T03:13+01:00',
    String(at / 1000),
    `${at / 1000}.000`,
  ]) {
    t.equal(timeOf(text), at, text)
  }
  t.equal(timeOf('2026-11-22'), Date.UTC(2026, 10, 22))
  for (const bad of ['2026-02-30', '2026-13-01', '26-11-22', 'x', '2026-11-22T25:00', '7258118400', '123456789012'])
    t.equal(timeOf(bad), undefined, bad)
  t.equal(timeOf('7258118399'), 7_258_118_399_000)
  t.equal(momentOf('02:13', at), at)
  t.equal(momentOf('02:14', at), at - 86_400_000 + 60_000, 'the last time that it was that late')
  t.throws(() => momentOf('24:00', at))
  t.match(rangeOf({}), { from_ms: 0, to_ms: Date.UTC(2200, 0, 1) })
  t.match(rangeOf({ from: '2026-11-22T03:13 01:00' }), { from_ms: at }, 'a plus sign is a blank in a query')
  t.match(rangeOf({ from: String(at / 1000), to: String(at / 1000) }), { from_ms: at, to_ms: at })
  for (const bad of [{ from: '2', to: '1' }, { since: '1' }, { from: ['1', '2'] }, { to: 'x' }])
    t.throws(() => rangeOf(bad), { code: 'RTK_ERR_RECORD_RANGE' })
  const one = { epochs: 60, gap: 1, frames: { 1074: 60 } } as never
  t.same(shortened(one, undefined), one)
  t.same(shortened(one, structuredClone(one)), { epochs: 60 })
  t.same(shortened({ epochs: 60, gap: 2, frames: { 1074: 60 } } as never, one), { epochs: 60, gap: 2 })
})

t.test('32 links are known at most, and those that are known go on', async (t) => {
  const event = () => ({ on: () => () => {}, emit: () => {} })
  const table = new LinkTable({ event } as unknown as PluginContext)
  for (let n = 0; n < 40; n++) table.report(link('up' as Link['state'], { name: `link ${n}` }))
  t.equal(table.list.length, 32)
  table.report(link('down' as Link['state'], { name: 'link 5' }))
  t.equal(table.list.find(({ name }) => name === 'link 5')?.state, 'down')
  table.remove('link 5')
  table.report(link('up' as Link['state'], { name: 'link 39' }))
  t.equal(table.list.at(-1)?.name, 'link 39')
})

/** The ladder alone, on a manual clock: what is around it is in the hands of the test. */
async function conductorOf({ kept = undefined as unknown, services = [] as [unknown, unknown][] } = {}) {
  const clock = new ManualClock()
  const said: string[] = []
  const counted: string[] = []
  const commands: string[] = []
  const steps: RecoveryStep[] = []
  const around = { utc_ms: 0, answer: { status: 200, text: '' }, stored: kept as { steered?: string } | undefined }
  const known = new Map<unknown, unknown>([
    [device, { utc_ms: () => around.utc_ms, onTrial: false }],
    [
      station,
      {
        command: async (name: string) => {
          commands.push(name)
          return around.answer
        },
      },
    ],
    [cellularUplink, { connected: false }],
    ...services,
  ])
  const find = (token: unknown) => known.get(token)
  const every = (ms: number, look: () => unknown): unknown =>
    clock.timer(ms, () => {
      void look()
      every(ms, look)
    })
  const store = {
    get: async () => kept,
    batch: async ({ recovery }: { recovery: object }) => {
      around.stored = structuredClone(recovery)
    },
  }
  const ctx = {
    ...{ clock, store, services: { find, use: find }, timers: { every } },
    ...{ log: { warn() {}, debug() {} }, status: (text: string) => said.push(text) },
    metrics: { counter: () => ({ inc: (_by: number, { step }: { step: string }) => counted.push(step) }) },
    event: () => ({ on: () => () => {}, emit: (step?: RecoveryStep) => step && steps.push(step) }),
  } as unknown as PluginContext
  const table = new LinkTable(ctx)
  const ladder = new RecoveryLadder(ctx, table, new RecoveryMemory(ctx), () => facts(0).limits)
  await ladder.start()
  /** One link was up, and is not any more; the outage begins 10 s later, and lasts for so long then. */
  const cutOff = async (ms: number) => {
    table.report(link('up'))
    await clock.advance(10_000)
    table.report(link('down'))
    await clock.advance(10_000 + ms)
  }
  return { clock, said, counted, commands, steps, around, known, table, ladder, cutOff }
}

t.test('a modem is restarted for links that worked, to the peer that they worked with, and for no other', async (t) => {
  for (const [what, links, restarts] of [
    ['worked', [link('up')], 1],
    ['never worked', [link('connecting' as Link['state'])], 0],
    ['worked with another peer', [link('up', { peer: 'q' })], 0],
    ['worked, by another name', [link('up', { name: 'b' })], 0],
  ] as const) {
    const { clock, table, commands } = await conductorOf()
    for (const one of links) table.report(one)
    await clock.advance(10_000)
    for (const { name } of links) table.remove(name)
    table.report(link('down'))
    await clock.advance(10_000 + 5 * minute)
    t.equal(commands.length, restarts, what)
  }
})

t.test('an update under way keeps the modem on; one that is over, failed or on trial does not', async (t) => {
  for (const [state, onTrial, restarts] of [
    ['idle', false, 1],
    ['failed', false, 1],
    ['installing', false, 0],
    ['installing', true, 1],
    ['idle', true, 1],
  ] as const) {
    const services = [
      [firmwareInstaller, { state }],
      [device, { utc_ms: () => 0, onTrial }],
    ] as [unknown, unknown][]
    const { commands, cutOff } = await conductorOf({ services })
    await cutOff(5 * minute)
    t.equal(commands.length, restarts, `${state}, ${onTrial ? 'on trial' : 'not on trial'}`)
  }
})

t.test('the outage is shown by the second, with its steps by the best clock', async (t) => {
  const { clock, said, counted, commands, steps, around, table, ladder, cutOff } = await conductorOf()
  t.same(ladder.block, { outage: 0, text: '', uplink: '', restarts: 0, steps: [] })
  await cutOff(5 * minute - 1)
  t.match(ladder.block, { outage: 299, text: /the next step follows in 1 min/, steps: [] })
  t.equal(said.at(-1), ladder.block.text)
  t.same(commands, [])
  around.utc_ms = 1_700_000_000_900
  await clock.advance(1)
  t.same([commands, counted], [['reboot-modem'], ['modem']])
  t.match(ladder.block, {
    outage: 300,
    restarts: 1,
    steps: [{ t: 1_700_000_000, step: 'modem', done: true, text: /^the modem restarts: no link/ }],
  })
  t.match(steps, [{ t_ms: 1_700_000_000_900, done: true }])
  around.answer = { status: 503, text: `the router is offline${'!'.repeat(300)}` }
  around.utc_ms = 0
  await clock.advance(10 * minute)
  t.same([commands.length, counted.length], [2, 1], 'only what was done is counted')
  const [, failed] = ladder.block.steps
  t.match(failed, { done: false, text: /^the modem restarts, as .* that failed: the router is offline!/ })
  t.equal(failed?.text.length, 180)
  t.equal(failed?.t, Math.floor(clock.now() / 1000), 'of the system, while no receiver tells the time')
  table.report(link('up'))
  await clock.advance(minute)
  t.not(said.at(-1), 'the links come through')
  await clock.advance(10_000)
  t.equal(said.at(-1), 'the links come through')
  t.match(ladder.block, { outage: 0, text: '' })
})

t.test('an uplink is told to the store before it gets the default route, and forgotten when that fails', async (t) => {
  const list = [uplink('eth0', { default: true }), uplink('wlan0')]
  const asked: unknown[] = []
  const ways = {
    list,
    fails: false,
    prefer: async (name: string | undefined) => {
      asked.push([name, rig.around.stored?.steered])
      if (ways.fails) throw new Error('refused')
    },
  }
  let rig = await conductorOf({ services: [[uplinks, ways]] })
  await rig.cutOff(5 * minute)
  t.same(asked, [['wlan0', 'wlan0']])
  t.match(rig.ladder.block, {
    uplink: 'wlan0',
    steps: [{ step: 'uplink', text: /^wlan0 gets the default route: / }],
  })
  await rig.ladder.stop()
  t.same(asked.at(-1), [undefined, 'wlan0'], 'whoever takes the plugin out gets the network back')
  t.equal(rig.around.stored?.steered, '')

  asked.length = 0
  ways.fails = true
  rig = await conductorOf({ services: [[uplinks, ways]] })
  await rig.cutOff(5 * minute)
  t.match(rig.ladder.block, { uplink: '', steps: [{ done: false, text: /that failed: refused/ }] })
  t.equal(rig.around.stored?.steered, '')
  t.same(rig.counted, [])
  await rig.ladder.stop()
  t.equal(asked.length, 1, 'nothing is to be given back')

  rig = await conductorOf({ services: [[uplinks, { list }]] })
  await rig.cutOff(5 * minute)
  t.match(rig.ladder.block.steps, [{ done: false, text: /no plugin of this station can change the default route/ }])

  const kept = { proven: ['a p'], restarts: [], steered: 'wlan0' }
  rig = await conductorOf({ kept, services: [[uplinks, { ...ways, list: [] }]] })
  t.equal(rig.ladder.block.uplink, 'wlan0', 'a service that starts again knows which one stands in')
})

t.test('while a step is taken no other is, and the last four are shown', async (t) => {
  const held: (() => void)[] = []
  const command = () => new Promise((resolve) => held.push(() => resolve({ status: 200, text: '' })))
  const { clock, ladder, cutOff } = await conductorOf({ services: [[station, { command }]] })
  await cutOff(5 * minute)
  await clock.advance(60 * minute)
  t.equal(held.length, 1)
  held[0]?.()
  await clock.advance(10_000)
  t.equal(held.length, 2, 'the next one follows')
  t.equal(ladder.block.steps.length, 1)
  const { clock: later, ladder: often, cutOff: cut, around } = await conductorOf()
  await cut(5 * minute)
  around.answer = { status: 503, text: 'later' }
  await later.advance(7 * 24 * 60 * minute)
  t.equal(often.block.steps.length, 4)
})

t.test('a minute of the record has what came in it, and how things are at its end', async (t) => {
  const clock = new ManualClock()
  const known = new Map<unknown, unknown>()
  const find = (token: unknown) => known.get(token)
  const minutes = new Minutes({ clock, services: { find } } as unknown as PluginContext)
  const empty = {
    ...{ epochs: 0, gap: 0, frames: {}, rovers: 0, links: 0, fixes: 0, fix: 'none', used: 0, visible: 0, acc: 0 },
    ...{ pos: [], jam: 'unknown', corrections: 0, interrupted: false },
  }
  t.same(minutes.take(), empty)
  await clock.advance(2_040)
  minutes.epoch({} as never)
  await clock.advance(1_000)
  minutes.epoch({} as never)
  for (const type of [1005, 1074, 1074]) minutes.frame(type)
  minutes.fix({} as never)
  const fix = { fix: '3d', ok: true, position: { x: 1.006, y: 2.004, z: -3.006 }, acc_m: 1.26 }
  known.set(receiver, { fix })
  known.set(reception, { satellitesUsed: 20, satellitesVisible: 30, jamming: 'ok' })
  known.set(rtcmStream, { rovers: 5, flowLimit_s: 5 })
  known.set(correctionStatus, { count: 7 })
  known.set(links, { list: [{ state: 'up' }, { state: 'down' }, { state: 'up' }] })
  const full = {
    ...{ epochs: 2, gap: 2, frames: { 1005: 1, 1074: 2 }, rovers: 5, links: 2, fixes: 1, fix: '3d', used: 20 },
    ...{ visible: 30, acc: 1.26, pos: [1.01, 2, -3.01], jam: 'ok', corrections: 7, interrupted: true },
  }
  t.same(minutes.take(), full)
  await clock.advance(60_040)
  known.set(correctionStatus, { count: 9 })
  known.set(receiver, { fix: { ...fix, ok: false } })
  known.delete(rtcmStream)
  const next = { epochs: 0, gap: 60, frames: {}, rovers: 0, fixes: 0, acc: 0, pos: [], corrections: 2 }
  t.same(minutes.take(), { ...full, ...next }, 'what is counted begins anew; a position that is not ok is none')
  known.set(correctionStatus, { count: 1 })
  t.equal(minutes.take().corrections, 0, 'a count that began anew is no loss')
  minutes.epoch({} as never)
  await clock.advance(3 * 86_400_000)
  t.equal(minutes.take().gap, 86_400, 'a day at most')
})
