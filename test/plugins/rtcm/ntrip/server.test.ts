import { getEventListeners } from 'node:events'
import { NtripServerInfo } from 'rtk-base/schemas'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import recovery from '../../../../plugins/device/recovery/index.js'
import ntripServer from '../../../../plugins/rtcm/ntrip-server/index.js'
import { type Probed, probe as probeCaster } from '../../../../plugins/rtcm/ntrip-server/probe.js'
import { Proof, type ProofDeps } from '../../../../plugins/rtcm/ntrip-server/proof.js'
import { CasterPush } from '../../../../plugins/rtcm/ntrip-server/push.js'
import {
  afterEnd,
  afterNetworkUp,
  fresh,
  type KeptWait,
  keptOf,
  type RetryState,
  restored,
  waitOf,
} from '../../../../plugins/rtcm/ntrip-server/retry.js'
import type { Target } from '../../../../plugins/rtcm/ntrip-server/target.js'
import { encodeRtcm } from '../../../../runtime/lib/gnss/index.js'
import { systemNetwork } from '../../../../runtime/platform/ports/system-network.js'
import { queuesIn } from '../../../../runtime/platform/ports/tcp-queues.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../../../runtime/plugin.js'
import {
  type Link,
  links,
  type Metrics,
  metrics,
  type RtcmStream,
  rtcmStream,
  type Uplink,
  uplinks,
} from '../../../../schemas/services.js'
import { drive, pass } from '../../../harness/drive.js'
import { arpFrame, few, gateOnly, ManualClock, probe, until } from '../../../harness/index.js'
import { MemoryStore } from '../../../harness/memory-store.js'
import { acknowledged, fakeCaster, here, largeEpoch, setUpStation, type Visit } from './rig.js'

type Shown = { state: string; text: string; next: number; sent: number; dropped: number; mount: string }

async function setUp(t: Test, store = new MemoryStore(), plugins: Record<string, AnyPlugin> = {}) {
  const rig = await setUpStation(t, {
    store,
    plugins: { 'ntrip-server': ntripServer as AnyPlugin, recovery: recovery as AnyPlugin, ...plugins },
  })
  const push = (...targets: object[]) => rig.change({ 'ntrip-server': targets })
  const shown = () => (rig.station.field('ntrip.server') as Shown[])[0] as Shown
  return { ...rig, push, shown }
}

/** What a push and its proof need of a station. The clock stands, so that every limit is met to the millisecond. */
/** @param flowLimit_s three intervals of the observations */
function surroundings({ utc_ms = 0, knowsUtc = false, flowLimit_s = 5 } = {}) {
  const clock = new ManualClock()
  const time = { version: '1', knowsUtc, utc_ms: () => utc_ms }
  const seen: { link: Link | undefined; looks: unknown[] } = { link: undefined, looks: [] }
  const services = {
    use: () => time,
    find: (token: unknown) =>
      token === links
        ? { report: (link: Link) => (seen.link = link), remove() {} }
        : token === rtcmStream
          ? { flowLimit_s }
          : undefined,
    watch: (token: unknown, follow: (found: unknown) => unknown) => {
      if (token === uplinks) follow({ onUp: 'onUp' })
      return () => {}
    },
  }
  let networkUp = () => {}
  const on = (event: unknown, fn: () => void) => {
    if (event === 'onUp') networkUp = fn
    return () => {}
  }
  const every = (ms: number, fn: () => unknown) => {
    let cancel = () => {}
    const arm = () => {
      cancel = clock.timer(ms, () => {
        arm()
        seen.looks.push(fn())
      }) as () => void
    }
    arm()
    return () => cancel()
  }
  const stop = new AbortController()
  const log = { info() {}, warn() {}, debug() {} }
  const timers = { every, after: (ms: number, fn: () => void) => clock.timer(ms, fn) }
  const ctx = { clock, timers, log, net: systemNetwork, services, on, signal: stop.signal } as unknown as PluginContext
  return { clock, time, seen, stop, ctx, networkUp: () => networkUp() }
}

/** A push to a simulated caster, without a station around it. */
async function pushTo(
  t: Test,
  answer: (visit: Visit, index: number) => void,
  {
    target = {},
    kept,
    ...time
  }: { target?: Partial<Target>; kept?: KeptWait; utc_ms?: number; knowsUtc?: boolean } = {},
) {
  const caster = await fakeCaster(t, answer)
  const { clock, time: known, seen, ctx, networkUp } = surroundings(time)
  const frame = { type: 1005, bytes: arpFrame(here), arrival_ms: 0 }
  const listed: { name: string; closed: boolean }[] = []
  const stream = {
    ...{ open: true, flows: false as boolean | undefined, reason: 'no base', reference: () => [frame] },
    list({ name }: { name: string }) {
      const one = { name, closed: false }
      listed.push(one)
      return {
        close: () => {
          one.closed = true
        },
      }
    },
  }
  const keeps: (KeptWait | undefined)[] = []
  const whole = { host: '127.0.0.1', port: caster.port, mount: 'ROOF', proof: 'off', ...target } as Target
  const push = new CasterPush(ctx, stream as unknown as RtcmStream, whole, kept, (wait) => keeps.push(wait))
  t.teardown(() => push.stop())
  let sequence = 0
  const rtcm = () => {
    stream.flows = stream.open
    push.frame(frame, ++sequence)
  }
  const epoch = (bytes: Uint8Array, type = 1077) =>
    push.epoch(
      { frames: [{ type, bytes, arrival_ms: 0 }], complete: true, time: 1, satellites: 1 } as never,
      ++sequence,
    )
  /** Real I/O, while the clock stands. */
  const is = (state: string) => until(() => push.block().state === state, state)
  const visit = (n: number) => until(() => caster.visits[n - 1]?.head.includes('SOURCE'), `visit ${n}`)
  /** Time passes, with RTCM. */
  const reach = (condition: (state: string) => boolean, what: string) => {
    const isReached = () => {
      rtcm()
      return condition(push.block().state)
    }
    return drive(clock, isReached, what)
  }
  return { caster, clock, known, seen, push, stream, listed, keeps, rtcm, epoch, is, visit, reach, networkUp }
}
const yes = ({ socket }: Visit) => void socket.write('ICY 200 OK\r\n\r\n')

t.test('an attempt to the millisecond', async (t) => {
  t.test('a caster has 10 s for its answer, and the next attempt follows after the wait that is shown', async (t) => {
    const { push, clock, rtcm, visit, seen, caster } = await pushTo(t, () => {})
    rtcm()
    push.start()
    await clock.advance(0)
    await visit(1)
    t.match(push.block(), { state: 'connecting', text: '', next: 0, ip: '127.0.0.1', since: 0 })
    await clock.advance(9_999)
    t.equal(push.block().state, 'connecting')
    await clock.advance(1)
    t.match(push.block(), { state: 'waiting', text: 'the caster did not answer in 10 s', ip: '' })
    t.match(seen.link, { state: 'down', name: `ntrip-server 127.0.0.1:${caster.port}/ROOF` })
    const wait_ms = (seen.link?.next_ms ?? 0) - clock.monotonic()
    t.ok(wait_ms >= 15_000 && wait_ms <= 18_000, `${wait_ms} ms`)
    t.equal(push.block().next, Math.ceil(wait_ms / 1_000))
    await clock.advance(wait_ms - 1)
    rtcm()
    t.equal(push.block().state, 'waiting')
    t.equal(push.block().next, 1)
    await clock.advance(1)
    await visit(2)
    t.equal(push.block().state, 'connecting')
  })

  t.test('RTCM has to flow, which is looked for each second', async (t) => {
    const { push, clock, rtcm, visit, stream, caster, seen } = await pushTo(t, () => {})
    stream.open = false
    push.start()
    await clock.advance(0)
    const begins = 'the push begins when RTCM goes out'
    t.match(push.block(), { state: 'waiting', text: `no corrections to send (no RTCM goes out: no base): ${begins}` })
    t.match(seen.link, { state: 'idle', reason: /no base/ })
    rtcm()
    await clock.advance(1_000)
    t.equal(push.block().state, 'waiting', 'nothing goes out while the gate is closed')
    await clock.advance(8_500)
    stream.open = true
    stream.flows = undefined
    await clock.advance(500)
    t.match(push.block(), { state: 'waiting', text: `no corrections to send (no observations come): ${begins}` })
    await clock.advance(500)
    rtcm()
    await clock.advance(499)
    t.equal(push.block().state, 'waiting')
    t.equal(caster.visits.length, 0)
    await clock.advance(1)
    await visit(1)
  })

  t.test('without RTCM it waits for its answer all the same, and ends after a yes', async (t) => {
    const { push, clock, rtcm, visit, stream, caster, is } = await pushTo(t, () => {})
    rtcm()
    push.start()
    await clock.advance(0)
    await visit(1)
    Object.assign(stream, { open: false, flows: false })
    await clock.advance(9_999)
    t.equal(push.block().state, 'connecting')
    yes(caster.visits[0] as Visit)
    await is('accepted')
    await clock.advance(1)
    t.match(push.block(), { state: 'waiting', text: /no base\): the push pauses until RTCM is sent again$/ })
  })

  for (const [what, answer, state, text, link, last] of [
    ['a refusal without a line end', 'ERROR - Bad Password', 'refused', /password/, 'refused', 'final'],
    ['a yes that was cut off is none', 'OK', 'waiting', /closed the connection without an answer/, 'down', undefined],
    ['nothing', '', 'waiting', /closed the connection without an answer/, 'down', undefined],
    ['an answer that never ends', 'x'.repeat(4_097), 'refused', /not from an NTRIP caster/, 'refused', 'other'],
    ['a long one', `${'x'.repeat(4_096)}`, 'refused', /^the caster refused: x{120}$/, 'refused', 'other'],
    ['a busy mountpoint', 'ERROR - Mount Point Taken\r\n\r\n', 'refused', /another base/, 'refused', 'taken'],
    ['W10: a login page', 'HTTP/1.1 302 x\r\n\r\n', 'waiting', /login page/, 'down', undefined],
    ['W10: closed after its yes', 'ICY 200 OK\r\n\r\n', 'refused', /closed the connection$/, 'refused', undefined],
  ] as const) {
    t.test(what, async (t) => {
      const { push, clock, rtcm, seen, keeps } = await pushTo(t, ({ socket }) => socket.end(answer))
      rtcm()
      push.start()
      await clock.advance(0)
      await until(() => push.block().next > 0, 'its end')
      t.match(push.block(), { state, text })
      t.equal(seen.link?.state, link)
      t.equal(keeps.at(-1)?.last, last, 'what is kept over a restart')
    })
  }

  t.test('W10: an address where nobody listens has refused, in every list', async (t) => {
    const { push, clock, rtcm, seen } = await pushTo(t, () => {}, { target: { port: 1 } })
    rtcm()
    push.start()
    await clock.advance(0)
    await until(() => push.block().next > 0, 'its end')
    t.match(push.block(), { state: 'refused', text: /refuses connections/ })
    t.equal(seen.link?.state, 'refused')
  })

  t.test('a network that comes up shortens a wait for the network alone', async (t) => {
    for (const [answer, shortened] of [
      ['', true],
      ['ERROR - Too many sources\r\n\r\n', false],
    ] as const) {
      const { push, caster, clock, rtcm, reach, networkUp } = await pushTo(t, ({ socket }) => socket.end(answer))
      push.start()
      for (let n = 1; n <= 3; n++) {
        await reach(() => caster.visits.length === n && push.block().next > 0, `the end of attempt ${n}`)
      }
      t.ok(push.block().next > 45, 'about a minute')
      await clock.advance(5_000)
      networkUp()
      if (shortened) t.ok(push.block().next <= 10, `${push.block().next} s`)
      else t.ok(push.block().next > 40, `${push.block().next} s`)
      await clock.advance(9_999)
      rtcm()
      await clock.advance(2_000)
      t.equal(push.block().state, shortened ? 'connecting' : 'refused')
    }
  })
})

t.test('a push that stands', async (t) => {
  /** Accepted, with an answer to each look. */
  async function accepted(t: Test, options: Parameters<typeof pushTo>[2] = {}, answer = yes) {
    const rig = await pushTo(t, answer, options)
    rig.rtcm()
    rig.push.start()
    await rig.clock.advance(0)
    await rig.is('accepted')
    /** One look, each 5 s. */
    const look = async () => {
      rig.rtcm()
      await rig.clock.advance(5_000)
      await Promise.all(rig.seen.looks)
    }
    return { ...rig, look }
  }

  t.test('is listed, timed, acknowledged, and leaves nothing behind', async (t) => {
    const { push, clock, look, is, listed, keeps, seen, caster } = await accepted(t)
    t.match(push.block(), { since: 0, ip: '127.0.0.1', sent: 1, dropped: 0, version: 1, tls: false, text: '' })
    t.same(listed, [{ name: `127.0.0.1:${caster.port}/ROOF`, closed: false }])
    t.same(keeps, [undefined])
    t.match(seen.link, { state: 'up', reason: '' })
    await clock.advance(1_999)
    t.equal(push.block().since, 1)
    await until(async () => {
      await look()
      return push.block().state === 'acknowledged'
    }, 'acknowledged')
    await is('acknowledged')
    push.stop()
    t.match(push.block(), { state: 'off', since: 0, ip: '' })
    t.same(listed, [{ name: `127.0.0.1:${caster.port}/ROOF`, closed: true }])
    await until(() => caster.visits[0]?.socket.destroyed, 'hung up')
    await clock.advance(0)
    t.equal(clock.pending, 0)
  })

  t.test('ends when RTCM no longer flows, which costs no longer wait', async (t) => {
    const { push, clock, listed, seen, rtcm, is, stream } = await accepted(t)
    stream.flows = undefined
    await clock.advance(9_999)
    t.equal(seen.link?.state, 'up', 'the gate has just opened again')
    stream.flows = false
    await clock.advance(1)
    t.equal(push.block().state, 'waiting')
    t.match(
      push.block().text,
      /^no corrections to send \(no observations come\): the push pauses until RTCM is sent again$/,
    )
    t.match(seen.link, { state: 'idle', reason: /no corrections/ })
    t.ok(push.block().next >= 15 && push.block().next <= 18, `${push.block().next} s`)
    t.equal(listed[0]?.closed, true)
    await clock.advance(19_000)
    t.equal(push.block().state, 'waiting')
    rtcm()
    await clock.advance(1_000)
    await is('accepted')
  })

  t.test('that a caster ends within 30 s is said to forward nothing: at the second and the third time', async (t) => {
    for (const [lasted_ms, texts] of [
      [29_999, [/^the caster closed the connection$/, /^accepted, not forwarded/, /another base may use/]],
      [30_000, Array(3).fill(/^the caster closed the connection$/)],
    ] as const) {
      const { push, clock, rtcm, caster, is, reach } = await pushTo(t, yes)
      push.start()
      for (const [n, text] of texts.entries()) {
        await reach((state) => state === 'accepted', 'accepted')
        for (let left_ms: number = lasted_ms; left_ms > 0; left_ms -= 4_000) {
          rtcm()
          await clock.advance(Math.min(4_000, left_ms))
        }
        caster.visits[n]?.socket.end()
        await is('refused')
        t.match(push.block().text, text, `${lasted_ms} ms`)
      }
    }
  })

  t.test('is proven after 5 min: then the first failure is one again', { skip: gateOnly }, async (t) => {
    for (const [looks, most_s] of [
      [61, 18],
      [59, 144],
    ] as const) {
      let isGood = false
      const rig = await pushTo(t, (visit) => (isGood ? yes(visit) : void visit.socket.end()))
      const { push, clock, rtcm, caster, is, reach } = rig
      push.start()
      await reach((state) => caster.visits.length === 3 && state === 'waiting', 'three failures')
      isGood = true
      await reach((state) => state === 'accepted', 'accepted')
      for (let n = 0; n < looks; n++) {
        rtcm()
        await clock.advance(5_000)
        await Promise.all(rig.seen.looks)
      }
      await is('acknowledged')
      caster.visits[3]?.socket.end()
      await is('refused')
      const { next } = push.block()
      t.ok(next <= most_s && next > 0.6 * most_s, `${looks * 5} s: ${next} s`)
    }
  })

  t.test('leaves whole epochs out where the caster reads too slowly, and says so for a minute', async (t) => {
    const rig = await accepted(t, {}, (visit) => {
      yes(visit)
      visit.socket.pause()
    })
    const { push, epoch, look, clock, caster } = rig
    const bytes = largeEpoch()
    for (let n = 0; n < 100_000 && push.block().dropped === 0; n++) epoch(bytes)
    t.equal(push.block().dropped, 1)
    const { sent } = push.block()
    epoch(bytes)
    t.match(push.block(), { dropped: 2, sent })
    caster.visits[0]?.socket.resume()
    await until(() => (caster.visits[0]?.body.length ?? 0) >= (sent - 1) * bytes.length, 'it reads again')
    while (clock.monotonic() < 55_000) await look()
    t.match(push.block(), { state: 'acknowledged', text: /^slow link: whole epochs are skipped$/ })
    await look()
    t.match(push.block(), { state: 'acknowledged', text: /^$/ }, 'for a minute')
    const { dropped } = push.block()
    epoch(bytes)
    t.match(push.block(), { dropped }, 'there is room again')
  })

  t.test('shows names at most as long as the document has room for', async (t) => {
    const target = { host: 'h'.repeat(70), mount: 'm'.repeat(40) }
    const { push } = await pushTo(t, () => {}, { target })
    t.match(push.block(), { host: 'h'.repeat(64), mount: 'm'.repeat(32), state: 'off', port: Number })
  })
})

t.test('a wait that a caster asked for before a restart', async (t) => {
  const hour_ms = 3_600_000
  const kept: KeptWait = { failures: 1, taken: 0, last: 'final', rest_ms: 6 * hour_ms, since_utc_ms: 10 * hour_ms }
  for (const [what, utc_ms, knowsUtc, hours] of [
    ['is waited for in full while the time is not known', 15 * hour_ms, false, 6],
    ['is shortened by what has passed', 15 * hour_ms, true, 1],
    ['is over after its time', 17 * hour_ms, true, 0],
  ] as const) {
    t.test(what, async (t) => {
      const { push, known, clock, rtcm } = await pushTo(t, () => {}, { kept, utc_ms, knowsUtc })
      rtcm()
      push.start()
      t.equal(push.block().next, hours * 3_600)
      await clock.advance(1)
      t.equal(push.block().state, hours === 0 ? 'connecting' : 'waiting')
      known.knowsUtc = true
      rtcm()
      if (hours !== 6) return
      await clock.advance(999)
      t.equal(push.block().next, hour_ms / 1_000, 'the time became known')
    })
  }
})

t.test('a look at the caster from a rover’s side', async (t) => {
  const row = (mount: string) => `STR;${mount};Delft;RTCM 3.2;1005(1);2;GPS;NONE;NLD;52;4;0;0;x;none;B;N;1000;`
  const head = 'SOURCETABLE 200 OK\r\n\r\n'
  async function look(t: Test, answer: (visit: Visit) => void, mount: string, target: Partial<Target> = {}) {
    const caster = await fakeCaster(t, answer)
    const { ctx, clock, stop } = surroundings()
    const found: Probed[] = []
    const whole = { host: '127.0.0.1', port: caster.port, mount: 'ROOF', ...target } as Target
    const wanted = (bytes: Uint8Array) => bytes.length === arpFrame(here).length
    const done = probeCaster(ctx, { target: whole, mount, agent: 'rtk-base/1', wanted }).then(
      (one) => void found.push(one),
    )
    await until(() => found.length > 0 || caster.visits[0]?.head, 'it asks')
    return { caster, clock, stop, found, done }
  }
  for (const [what, answer, mount, expected] of [
    [
      'a table',
      `${head}${row('ROOF')}\r\n${row('X')}\r\nENDSOURCETABLE\r\n`,
      '',
      { kind: 'table', rows: [{ mount: 'ROOF' }] },
    ],
    ['a table of others', `${head}${row('X')}\r\nENDSOURCETABLE\r\n`, '', { kind: 'table', rows: [] }],
    ['in place of a stream', `${head}ENDSOURCETABLE\r\n`, 'ROOF', { kind: 'failed', text: /no mountpoint ROOF/ }],
    ['a refusal', 'HTTP/1.0 401 x\r\n\r\n', 'ROOF', { kind: 'failed', text: /user and password/ }],
    [
      'no chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
      'ROOF',
      { kind: 'failed', text: /begins with/ },
    ],
    [
      'the last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n',
      'ROOF',
      { kind: 'stream', found: false },
    ],
  ] as const) {
    t.test(`${what}, at once`, async (t) => {
      const { found, clock, stop, caster } = await look(t, ({ socket }) => void socket.write(answer), mount)
      await until(() => found.length > 0, 'an end')
      t.match(found, [expected])
      if (found[0]?.kind === 'table')
        t.equal(found[0].rows.length, expected.kind === 'table' ? expected.rows.length : -1)
      t.same([clock.pending, getEventListeners(stop.signal, 'abort').length], [0, 0])
      await until(() => caster.visits[0]?.socket.destroyed, 'hung up')
    })
  }
  for (const [what, answer, mount, expected] of [
    ['silence', '', '', { kind: 'failed', text: 'the caster did not answer in 10 s' }],
    ['a stream of something else', 'ICY 200 OK\r\n\r\n', 'ROOF', { kind: 'stream', found: false }],
    [
      'a table that goes on, with the row',
      `${head}${row('ROOF')}\r\n`,
      '',
      { kind: 'table', rows: [{ mount: 'ROOF' }] },
    ],
    [
      'one without the row, which may follow',
      `${head}${row('X')}\r\n`,
      '',
      { kind: 'failed', text: /did not end within 10 s/ },
    ],
  ] as const) {
    t.test(`${what}, after 10 s`, async (t) => {
      const { done, found, clock, caster } = await look(t, ({ socket }) => void socket.write(answer), mount)
      const arrived = () => until(() => caster.visits[0]?.socket.writableLength === 0, 'sent')
      await arrived()
      // It is read before the clock goes on.
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(9_999)
      t.same(found, [])
      await clock.advance(1)
      await until(() => found.length > 0, 'an end')
      await done
      t.match(found, [expected])
    })
  }
  t.test('asks as the target says: version, login, a login for rovers, none for the table', async (t) => {
    const basic = (login: string) => `Authorization: Basic ${Buffer.from(login).toString('base64')}`
    const login = { user: 'me', password: 'p' }
    const echo = { user: 'rover', password: 'q' }
    for (const [target, mount, first, authorization] of [
      [login, 'ROOF', 'GET /ROOF HTTP/1.0', basic('me:p')],
      [{ ...login, version: 2, echo }, 'ROOF', 'GET /ROOF HTTP/1.1', basic('rover:q')],
      [{ ...login, echo }, '', 'GET / HTTP/1.0', undefined],
    ] as const) {
      const { caster, stop, done, found } = await look(t, () => {}, mount, target)
      const lines = caster.visits[0]?.head.split('\r\n') ?? []
      t.equal(lines[0], first)
      t.equal(
        lines.find((line) => line.startsWith('Authorization')),
        authorization,
      )
      stop.abort()
      await done
      t.same(found, [{ kind: 'failed', code: 'network', text: 'the plugin is stopping' }])
    }
  })
})

t.test('a push', async (t) => {
  t.test('by NTRIP 1: the request, the position first, whole epochs, acknowledged', async (t) => {
    const caster = await fakeCaster(t, ({ socket }) => socket.write('ICY 200 OK\r\n\r\n'))
    let figures: Metrics | undefined
    const look = probe([metrics], (ctx) => {
      figures = ctx.services.use(metrics)
    })
    const { push, shown, secondsUntil, station } = await setUp(t, undefined, { probe: look })
    const subscribers = () => station.field('gnss.rtcm.subscribers')
    t.match(await push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF', password: 's3cret' }), { result: 'ok' })
    t.strictSame(subscribers(), [], 'no caster takes the stream yet')
    await secondsUntil(() => shown().state === 'accepted', 'accepted')
    t.strictSame(subscribers(), [{ via: 'ntrip', name: `127.0.0.1:${caster.port}/ROOF`, seen: 0, ip: '127.0.0.1' }])
    t.match(caster.visits[0]?.head, /^SOURCE s3cret ROOF\r\nSource-Agent: NTRIP rtk-base\/.*\r\nSTR: $/)
    await secondsUntil(() => shown().state === 'acknowledged', 'acknowledged')
    await until(() => (caster.visits[0]?.types.length ?? 0) >= 4, 'the stream')
    t.equal(caster.visits[0]?.types[0], 1005)
    t.match(await figures?.text(), /^rtk_base_ntrip_server_acknowledged 1$/m)
    t.notMatch(JSON.stringify([station.lines, station.station.document()]), 's3cret')
    await push()
    await until(() => caster.visits[0]?.socket.destroyed === true, 'ended')
    t.strictSame(station.field('ntrip.server'), [])
    t.strictSame(subscribers(), [])
  })

  t.test('by NTRIP 2: POST with chunks; the answer byte by byte', async (t) => {
    const caster = await fakeCaster(t, ({ socket }) => {
      for (const byte of 'HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nContent-Type: gnss/data\r\n\r\n')
        socket.write(byte)
    })
    const { push, shown, secondsUntil } = await setUp(t)
    await push({
      host: '127.0.0.1',
      port: caster.port,
      mount: 'ROOF',
      user: 'me',
      password: 'x',
      version: 2,
      messages: [1084],
    })
    await secondsUntil(() => shown().state === 'acknowledged', 'acknowledged')
    t.match(
      caster.visits[0]?.head,
      /^POST \/ROOF HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nNtrip-Version: Ntrip\/2\.0\r\n(.*\r\n)*Authorization: Basic bWU6eA==\r\n/,
    )
    await until(() => (caster.visits[0]?.types.length ?? 0) >= 4, 'the stream')
    t.strictSame(new Set(caster.visits[0]?.types), new Set([1005, 1084]))
  })

  t.test('is not made before RTCM goes out, and ends 10 s after it stops', async (t) => {
    const caster = await fakeCaster(t, ({ socket }) => socket.write('OK\r\n'))
    const { push, shown, secondsUntil, receiver, clock, station } = await setUp(t)
    receiver.become({ mode: 'rover' })
    await push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF' })
    await clock.advance(60_000)
    t.match(shown(), { state: 'waiting', text: /no RTCM goes out/ })
    t.equal(caster.visits.length, 0)
    receiver.become({ mode: 'listening' })
    await secondsUntil(() => shown().state === 'acknowledged', 'acknowledged')
    await drive(clock, () => shown().state === 'waiting', 'ended', 5_000)
    t.match(shown().text, /^no corrections to send/)
    const outputs = [{ state: 'idle', reason: /^no corrections to send/ }]
    t.match(station.field('links.outputs'), outputs, 'no fault of the caster, nor of the network')
    await clock.advance(600_000)
    const pushes = () => caster.visits.filter(({ head }) => head.startsWith('SOURCE')).length
    t.equal(pushes(), 1)
    await secondsUntil(() => pushes() === 2, 'RTCM goes out again')
  })

  t.test('a network that comes up while an attempt hangs ends the wait behind it', { skip: gateOnly }, async (t) => {
    const caster = await fakeCaster(t, () => {})
    let comesUp = () => {}
    const ways = definePlugin({
      name: 'ways',
      version: '1.0.0',
      api: '^1.0.0',
      provides: [uplinks],
      setup(ctx) {
        const up = ctx.event<Uplink>()
        const none = ctx.event<Uplink>().on
        ctx.services.provide(uplinks, {
          list: [],
          onUp: up.on,
          onDown: none,
          onChange: ctx.event<void>().on,
          report: () => {},
        })
        comesUp = () => up.emit({ name: 'eth0' } as Uplink)
      },
    })
    const { push, secondsUntil } = await setUp(t, new MemoryStore(), { ways: ways as AnyPlugin })
    await push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF' })
    await secondsUntil(() => caster.visits.length === 5, 'the fifth attempt, behind which the wait is 5 min')
    comesUp()
    const waited_s = await secondsUntil(() => caster.visits.length === 6, 'the next')
    t.ok(waited_s >= 9 && waited_s <= 20, `${waited_s} s`)
  })

  t.test('is not called acknowledged, nor cut, before there was something to acknowledge', async (t) => {
    const caster = await fakeCaster(t, ({ socket }) => socket.write('ICY 200 OK\r\n\r\n'))
    const { push, shown, secondsUntil, receiver, clock } = await setUp(t)
    await push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF', messages: [1074] })
    const bias = encodeRtcm({ type: 1230, stationId: 0, biasesAligned: false, biases_m: { l1ca: 0 } })
    let seconds = 0
    const isMinute = () => {
      receiver.emit(bias)
      if (shown().state === 'accepted') seconds += 1
      return seconds >= 60
    }
    await drive(clock, isMinute, 'a minute without a position: nothing goes out')
    t.match(shown(), { state: 'accepted', sent: 0 })
    t.equal(caster.visits.length, 1)
    await secondsUntil(() => shown().state === 'acknowledged', 'then the position')
  })

  t.test('ends when the caster says that it bans, in two pieces too', async (t) => {
    const caster = await fakeCaster(t, ({ socket }) => {
      const words = ['your address is block', 'ed\r\n']
      socket.write('ICY 200 OK\r\n\r\n')
      socket.on('data', () => socket.write(words.shift() ?? ''))
    })
    const { push, shown, secondsUntil } = await setUp(t)
    await push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF' })
    await secondsUntil(() => shown().state === 'refused', 'refused')
    t.match(shown().text, /bans this address/)
  })

  t.test('several at once do not disturb each other', async (t) => {
    const good = await fakeCaster(t, ({ socket }) => socket.write('ICY 200 OK\r\n'))
    const silent = await fakeCaster(t, () => {})
    const { push, shown, secondsUntil, station } = await setUp(t)
    const target = (port: number, mount: string) => ({ host: '127.0.0.1', port, mount })
    await push(target(good.port, 'A'), target(silent.port, 'B'))
    await secondsUntil(() => shown().state === 'acknowledged', 'acknowledged')
    t.match(await push(target(1, 'A'), target(1, 'A')), { result: 'failed', errors: [{ message: /twice/ }] })
    t.match(await push({ host: 'http://x', mount: 'A' }), { result: 'failed', errors: [{ message: /without http/ }] })
    const mixed = await push({ ...target(1, 'A'), legacy: true, messages: [1077] })
    t.match(mixed, { result: 'failed', errors: [{ message: /127\.0\.0\.1:1\/A cannot send 1077 with legacy/ }] })
    const second = () => (station.field('ntrip.server') as Shown[])[1] as Shown
    await secondsUntil(() => /did not answer in 10 s/.test(second().text), 'the silent one')
    const visits = good.visits.length
    await push(target(good.port, 'A'))
    await secondsUntil(() => shown().state === 'acknowledged', 'an unchanged push keeps running')
    t.equal(good.visits.length, visits)
  })
})

t.test('N1: every yes of a caster is one, in any dialect', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
  for (const version of [1, 2] as const) {
    for (const answer of [
      'ICY 200 OK\r\n\r\n',
      'ICY 200 OK - welcome\r\n',
      'ICY 200 OK',
      'OK\r\n',
      'HTTP/1.0 200 OK\r\n\r\n',
      'HTTP/1.1 201 Created\r\nServer: x\r\n\r\n',
      `${interim}HTTP/1.1 200 OK\r\n\r\n`,
      `${interim}ICY 200 OK\r\n`,
    ]) {
      const caster = await fakeCaster(t, ({ socket }) => socket.write(answer))
      const { push, shown, secondsUntil, station } = await setUp(t)
      await push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF', version })
      await secondsUntil(
        () => ['accepted', 'acknowledged', 'proven', 'refused'].includes(shown().state),
        `${version}: ${JSON.stringify(answer)}: ${JSON.stringify(shown())}`,
      )
      t.not(shown().state, 'refused', `${version}: ${JSON.stringify(answer)}: ${shown().text}`)
      t.equal(caster.visits.length, 1)
      await station.stop()
    }
  }
})

t.test('every answer of a caster, in words, and how long the station stays away', async (t) => {
  const minutes = (least: number, most: number) => [least * 60, most * 60] as const
  for (const [answer, version, state, text, [least_s, most_s]] of [
    ['ERROR - Bad Password\r\n', 1, 'refused', /rejects the password/, minutes(4.7 * 60, 7.3 * 60)],
    ['ERROR - Mount Point Taken or Invalid\r\n', 1, 'refused', /in use, or not known/, [23, 37]],
    ['ERROR - Mount Point Taken\r\n', 1, 'refused', /another base/, [23, 37]],
    ['ERROR - Missing Mountpoint\r\n', 1, 'refused', /does not know the mountpoint/, minutes(4.7 * 60, 7.3 * 60)],
    ['ERROR - Too many sources\r\n', 1, 'refused', /Too many sources/, [15, 19]],
    ['ERROR - Your IP is banned for 2 hours\r\n', 1, 'refused', /banned/, minutes(4.7 * 60, 7.3 * 60)],
    [
      'ERROR - Bad Password\r\nask for another one\r\n',
      1,
      'refused',
      /rejects the password/,
      minutes(4.7 * 60, 7.3 * 60),
    ],
    ['HTTP/1.1 403 Forbidden\r\n\r\nYou are banned', 2, 'refused', /: You are banned$/, minutes(4.7 * 60, 7.3 * 60)],
    ['HTTP/1.1 503 Busy\r\nSet-Cookie: x=blocked\r\n\r\n', 2, 'refused', /refused: HTTP\/1.1 503/, [15, 19]],
    ['HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nblocked', 1, 'waiting', /login page/, [15, 19]],
    ['HTTP/1.1 401 Unauthorized\r\n\r\n', 1, 'refused', /user and password/, minutes(4.7 * 60, 7.3 * 60)],
    [
      'HTTP/1.0 401 Unauthorized\r\nServer: NtripCaster/0.1.5\r\nContent-Type: text/html\r\n\r\n<html><body>no</body></html>\r\n',
      2,
      'refused',
      /user and password/,
      minutes(4.7 * 60, 7.3 * 60),
    ],
    ['HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>OK\r\n', 1, 'waiting', /login page/, [15, 19]],
    ['HTTP/1.0 302 Found\r\nLocation: http://login/\r\n\r\n', 2, 'waiting', /login page/, [15, 19]],
    ['HTTP/1.1 404 Not Found\r\n\r\n', 2, 'refused', /does not know the mountpoint/, minutes(4.7 * 60, 7.3 * 60)],
    ['HTTP/1.1 409 Conflict\r\n\r\n', 2, 'refused', /another base/, [23, 37]],
    ['HTTP/1.1 503 Service Unavailable\r\n\r\n', 2, 'refused', /503/, [15, 19]],
    ['garbage\r\n\r\n', 1, 'refused', /garbage/, [15, 19]],
    ['', 1, 'waiting', /did not answer in 10 s|closed the connection without/, [15, 19]],
  ] as const) {
    await t.test(JSON.stringify(answer), async (t) => {
      const caster = await fakeCaster(t, ({ socket }) => {
        if (answer !== '') socket.write(answer)
        else socket.destroy()
      })
      const { push, shown, secondsUntil, station } = await setUp(t)
      await push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF', version })
      await secondsUntil(
        () => (shown().text !== '' && shown().state !== 'waiting' ? true : text.test(shown().text)),
        'an end',
      )
      await until(() => text.test(shown().text), shown().text)
      t.match(shown(), { state, text })
      const [output] = (station.field('links.outputs') ?? []) as { state: string }[]
      t.equal(output?.state, state === 'refused' ? 'refused' : 'down', 'W10: a login page is not the caster')
      t.ok(shown().next >= least_s - 1 && shown().next <= most_s, `${shown().next} s`)
      await station.clock.advance((least_s - 5) * 1_000)
      t.equal(caster.visits.length, 1, 'no second attempt')
    })
  }
})

const stream = (bytes: Uint8Array) => Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), bytes])

const hostAddress = (address: string) => ({ address, family: address.includes(':') ? 6 : 4 }) as const

/** The proof of a push, without the push. */
function proofAt(
  port: number,
  host: string,
  addresses: readonly string[],
  {
    proof: kind = 'echo',
    ...more
  }: Partial<ProofDeps> & { proof?: 'echo' | 'table'; utc_ms?: number; flowLimit_s?: number } = {},
) {
  const { clock, ctx } = surroundings(more)
  const moved: string[] = []
  const events = (text: string) => void moved.push(text)
  const deps = { random: () => 0.5, resolve: async () => addresses.map(hostAddress), ...more }
  return { clock, moved, proof: new Proof(ctx, { host, port, mount: 'ROOF', proof: kind }, events, deps) }
}

t.test('P1: an echo is waited for as long as three epochs take', async (t) => {
  for (const [flowLimit_s, after_s, state] of [
    [5, 9, 'proven'],
    [5, 11, 'failed'],
    [45, 44, 'proven'],
    [90, 89, 'proven'],
    [90, 91, 'failed'],
  ] as const) {
    const caster = await fakeCaster(t, ({ socket }) => void socket.write('ICY 200 OK\r\n\r\n'))
    const { clock, proof } = proofAt(caster.port, '127.0.0.1', [], { random: () => 0, flowLimit_s })
    const asked = () => caster.visits.find(({ head }) => head.startsWith('GET /ROOF'))
    proof.start('127.0.0.1')
    await clock.advance(180_000)
    const sent = arpFrame(here)
    proof.sent(sent)
    await until(asked, 'the echo is asked for')
    await pass(clock, after_s * 1_000)
    asked()?.socket.write(sent)
    await until(() => proof.state !== 'none', 'an answer')
    t.equal(proof.state, state, `${after_s} s after it, of ${flowLimit_s} s`)
    proof.stop()
  }
})

t.test('when a proof is looked for', async (t) => {
  /** Asks of a caster, as `s what`. @param until_s how long to look */
  async function asks(
    t: Test,
    until_s: number,
    host: string,
    options: Parameters<typeof proofAt>[3],
    from = '127.0.0.1',
  ) {
    let asked: string[] = []
    const caster = await fakeCaster(t, ({ head, socket }) => {
      asked.push(`${clock.monotonic() / 1_000} ${head.startsWith('GET / ') ? 'table' : 'echo'}`)
      socket.end(head.startsWith('GET / ') ? 'SOURCETABLE 200 OK\r\n\r\nENDSOURCETABLE\r\n' : 'ICY 200 OK\r\n\r\n')
    })
    const { clock, proof, moved } = proofAt(caster.port, host, ['192.0.2.7'], options)
    proof.start(from)
    await pass(clock, until_s * 1_000, 5_000)
    proof.stop()
    const all = asked
    asked = []
    await clock.advance(4_000_000)
    t.same([asked, clock.pending], [[], 0], 'not after its end')
    return { asked: all, moved }
  }
  for (const [random, kind, until_s, expected] of [
    [0, 'table', 700, ['60 table', '360 table', '660 table']],
    [1, 'table', 1_950, ['120 table', '1020 table', '1920 table']],
    [0, 'echo', 400, ['60 table', '180 echo', '360 table']],
    [1, 'echo', 400, ['120 table', '240 echo']],
  ] as const) {
    t.test(`${kind}, random ${random}`, async (t) => {
      t.same((await asks(t, until_s, '127.0.0.1', { random: () => random, proof: kind })).asked, expected)
    })
  }
  for (const [random, expected] of [
    [0, ['180 echo', '1980 echo']],
    [1, ['240 echo', '3840 echo']],
  ] as const) {
    t.test(`the echo again, random ${random}`, async (t) => {
      const { asked } = await asks(t, 3_850 - 1_860 * (1 - random), '127.0.0.1', { random: () => random })
      t.same(
        asked.filter((one) => one.endsWith('echo')),
        expected,
      )
    })
  }
  t.test('two looks at one caster are 25 s apart', async (t) => {
    // The first three waits, then the table’s next: it would be asked for at 615 s, and the name is looked up at 600 s.
    const randoms = [0, 1, 0, 0.425, 0, 0]
    const { asked } = await asks(t, 630, 'localhost', { random: () => randoms.shift() ?? 1 })
    t.same(asked, ['60 table', '240 echo', '625 table'])
  })
  t.test('a name is looked up each 10 min where the echo failed; an address never', async (t) => {
    for (const [host, from, answers, lookups, moves] of [
      ['localhost', '127.0.0.1', [[], ['192.0.2.7']], 2, 1],
      ['localhost', '::ffff:127.0.0.1', [['192.0.2.7', '127.0.0.1']], 2, 0],
      ['localhost', '127.0.0.1', [], 2, 0],
      ['127.0.0.1', '127.0.0.1', [], 0, 0],
    ] as const) {
      let count = 0
      const resolve = async () => {
        const answer = answers[Math.min(count++, answers.length - 1)]
        if (!answer) throw new Error('no DNS')
        return answer.map(hostAddress)
      }
      const { moved } = await asks(t, 1_205, host, { random: () => 0, resolve }, from)
      t.same([count, moved.length], [lookups, moves], `${host} ${from}`)
    }
  })

  t.test('what a rover gets is compared with what was sent in the last minute', async (t) => {
    const frame = (n: number) => arpFrame({ ...here, x: n })
    const frames = (count: number) => Buffer.concat(Array.from({ length: count }, (_, n) => frame(n)))
    const large = largeEpoch()
    for (const [what, sent, echoed, state, text] of [
      ['a minute old', [[60_000, frame(1)]], frame(1), 'proven', /^proven at 13:05 UTC, delay 60\.0 s/],
      ['older', [[60_001, frame(1)]], frame(1), 'failed', /^accepted, not forwarded/],
      [
        'sent again',
        [
          [59_000, frame(1)],
          [5_250, frame(1)],
        ],
        frame(1),
        'proven',
        /delay 5\.3 s/,
      ],
      ['a large one', [[0, Buffer.concat([large, frame(1)])]], large, 'proven', /delay 0\.0 s/],
      ['behind a large one', [[0, Buffer.concat([large, frame(1)])]], frame(1), 'proven', /delay 0\.0 s/],
      [
        'the first that came back counts',
        [
          [9_000, frame(1)],
          [2_000, frame(2)],
        ],
        frames(3),
        'proven',
        /delay 9\.0 s/,
      ],
      ['of 4096', [[0, frames(4_096)]], frame(0), 'proven', /^proven/],
      ['of one more', [[0, frames(4_097)]], frame(0), 'failed', /^accepted/],
    ] as const) {
      const caster = await fakeCaster(t, ({ head, socket }) => {
        const table = 'SOURCETABLE 200 OK\r\n\r\nENDSOURCETABLE\r\n'
        socket.end(head.startsWith('GET / ') ? table : stream(echoed))
      })
      const utc_ms = Date.UTC(2026, 5, 1, 13, 5)
      const { clock, proof } = proofAt(caster.port, '127.0.0.1', [], { random: () => 0, utc_ms })
      proof.start('127.0.0.1')
      await clock.advance(60_000)
      await until(() => /no row for ROOF/.test(proof.text), 'the table')
      for (const [age_ms, bytes] of sent) {
        await clock.advance(180_000 - age_ms - clock.monotonic())
        proof.sent(bytes)
      }
      await clock.advance(180_000 - clock.monotonic())
      await until(() => proof.state !== 'none', 'the echo')
      t.equal(proof.state, state, what)
      t.match(proof.text, text, what)
      proof.stop()
      t.same([proof.state, proof.text], ['none', ''])
    }
  })

  t.test('an answer for the connection before says nothing, and begins no turn of its own', async (t) => {
    const caster = await fakeCaster(t, () => {})
    const { clock, proof } = proofAt(caster.port, '127.0.0.1', [], { random: () => 0, proof: 'table' })
    proof.start('127.0.0.1')
    await clock.advance(60_000)
    await until(() => caster.visits[0]?.head, 'the first look')
    proof.start('127.0.0.1')
    caster.visits[0]?.socket.end('SOURCETABLE 200 OK\r\n\r\nENDSOURCETABLE\r\n')
    await until(() => caster.visits[0]?.socket.destroyed, 'it was read')
    await clock.advance(59_999)
    t.same([proof.text, caster.visits.length, clock.pending], ['', 1, 1])
    await clock.advance(1)
    await until(() => caster.visits.length === 2, 'the second look')
    proof.stop()
  })
})

t.test('proof of delivery', async (t) => {
  const row = (mount: string, place = 'Delft') =>
    `STR;${mount};${place};RTCM 3.2;1005(1);2;GPS;NONE;NLD;52;4;0;0;x;none;B;N;1000;`
  const table = (...rows: string[]) => ['SOURCETABLE 200 OK', '', ...rows, 'ENDSOURCETABLE', ''].join('\r\n')

  /** A caster that takes the push of ROOF, and answers rovers as it is told to. */
  async function forwarding(t: Test, rover: (visit: Visit, pushed: Buffer) => void, offered = table(row('ROOF'))) {
    const caster = await fakeCaster(t, (visit) => {
      if (visit.head.startsWith('GET / ')) visit.socket.end(offered)
      else if (visit.head.startsWith('GET /ROOF')) rover(visit, caster.visits[0]?.body ?? Buffer.alloc(0))
      else visit.socket.write('ICY 200 OK\r\n')
    })
    const rig = await setUp(t)
    const target = { host: '127.0.0.1', port: caster.port, mount: 'ROOF', password: 's3cret' }
    /** Minutes of positions. */
    const minutesUntil = async (condition: () => boolean, what: string) => {
      const position = arpFrame(here)
      let steps = 0
      const isOver = async () => {
        if (++steps % 10 === 0) await acknowledged()
        if (condition()) return true
        rig.receiver.emit(position)
        return false
      }
      return (await drive(rig.clock, isOver, what, 2_000)) / 1_000
    }
    const asked = (what: string) => caster.visits.filter(({ head }) => head.startsWith(what))
    return { ...rig, caster, target, asked, minutesUntil }
  }
  t.test(
    'the own mountpoint echoes what was sent: proven; where it does not any more: acknowledged',
    { skip: gateOnly },
    async (t) => {
      let forwards = true
      const { push, target, shown, minutesUntil, asked } = await forwarding(t, ({ socket }, pushed) =>
        socket.write(stream(forwards ? pushed : arpFrame({ ...here, x: 1 }))),
      )
      await push({ ...target, proof: 'echo', echo: { user: 'me', password: 'rover' } })
      await minutesUntil(() => shown().state === 'proven', 'proven')
      t.match(shown().text, /^proven at \d\d:\d\d UTC, delay \d+\.\d s; listed in the caster’s source table$/)
      t.strictSame(Value.Errors(NtripServerInfo, [shown()]), [])
      const basic = Buffer.from('me:rover').toString('base64')
      t.match(
        asked('GET /ROOF')[0]?.head,
        new RegExp(`^GET /ROOF HTTP/1\\.0\\r\\n(.*\\r\\n)*Authorization: Basic ${basic}`),
      )
      t.notMatch(asked('GET / ')[0]?.head, 'Authorization')
      forwards = false
      const seconds = await minutesUntil(() => shown().state === 'acknowledged', 'not any more')
      t.ok(seconds >= 1_790 && seconds <= 3_640, `looked at again after ${seconds} s`)
      t.match(shown().text, /^accepted, not forwarded/)
      t.equal(asked('SOURCE').length, 1, 'the push continues')
      const tables = asked('GET / ').length
      t.ok(tables >= 2 && tables <= 13, `${tables} looks at the table`)
    },
  )

  for (const [what, rover, offered, state, text] of few(2, [
    ['the table has no row', undefined, table(row('OTHER')), 'acknowledged', /no row for ROOF/],
    ['a sandbox', undefined, table(row('ROOF', 'Sandbox')), 'acknowledged', /in its sandbox/],
    ['the table is there', undefined, table(row('ROOF')), 'acknowledged', /^listed/],
    [
      'a login that rovers need',
      'HTTP/1.0 401 Unauthorized\r\n\r\n',
      table(),
      'acknowledged',
      /not proven: .*user and password/,
    ],
    ['no such mountpoint for rovers', table(), table(), 'acknowledged', /not proven: .*no mountpoint ROOF/],
    ['silence', 'ICY 200 OK\r\n\r\n', table(), 'acknowledged', /accepted, not forwarded/],
  ] as const)) {
    t.test(what, async (t) => {
      const answer = ({ socket }: Visit) => void socket.write(rover ?? '')
      const { push, target, shown, minutesUntil, asked } = await forwarding(t, answer, offered)
      await push({ ...target, proof: rover === undefined ? 'table' : 'echo' })
      await minutesUntil(() => text.test(shown().text) && shown().state === state, `${state} with its text`)
      t.equal(asked('SOURCE').length, 1, 'the push continues')
      t.equal(asked('GET /ROOF').length, rover === undefined ? 0 : 1)
    })
  }

  t.test('is not looked for where that is switched off', { skip: gateOnly }, async (t) => {
    const { push, target, shown, minutesUntil, caster, second } = await forwarding(t, () => {})
    await push({ ...target, proof: 'off' })
    await minutesUntil(() => shown().state === 'acknowledged', 'acknowledged')
    for (let n = 0; n < 1_000; n++) await second()
    t.equal(caster.visits.length, 1)
  })

  t.test(
    'a name that leads elsewhere now ends a push that is not forwarded, and no other',
    { skip: gateOnly },
    async (t) => {
      for (const [forwards, addresses, moves] of [
        [false, ['192.0.2.7'], true],
        [false, ['192.0.2.7', '127.0.0.1'], false],
        [true, ['192.0.2.7'], false],
        [false, [], false],
      ] as const) {
        const frame = arpFrame(here)
        const caster = await fakeCaster(t, ({ socket }) =>
          socket.write(stream(forwards ? frame : arpFrame({ ...here, x: 1 }))),
        )
        const { clock, moved, proof } = proofAt(caster.port, 'localhost', addresses)
        proof.start('127.0.0.1')
        const isOver = () => {
          proof.sent(frame)
          return clock.monotonic() > 630_000 && proof.state !== 'none' && moved.length >= (moves ? 1 : 0)
        }
        await drive(clock, isOver, 'ten minutes', 4_000)
        t.strictSame(
          moved,
          moves ? ['address changed: localhost leads to 192.0.2.7 now'] : [],
          `${forwards} ${addresses}`,
        )
        proof.stop()
      }
    },
  )

  t.test(
    'a frame of the last minute proves, an older one does not, nor one for an earlier connection',
    { skip: gateOnly },
    async (t) => {
      const [frame, other] = [arpFrame(here), arpFrame({ ...here, x: 1 })]
      for (const [what, age_s, isRestarted, state] of [
        ['new', 5, false, 'proven'],
        ['a minute old', 61, false, 'failed'],
        ['for the connection before', 5, true, 'none'],
      ] as const) {
        const caster = await fakeCaster(t, () => {})
        const asked = () => caster.visits.find(({ head }) => head.startsWith('GET /ROOF'))
        const { clock, proof } = proofAt(caster.port, '127.0.0.1', [])
        proof.start('127.0.0.1')
        // The first look comes after 210 s.
        await clock.advance(210_000 - 1_000 * age_s)
        const sent_ms = clock.monotonic()
        proof.sent(frame)
        await drive(clock, asked, 'the echo is asked for', 100)
        if (isRestarted) {
          proof.start('127.0.0.1')
          proof.sent(frame)
        }
        asked()?.socket.end(stream(Buffer.concat([other, frame, other])))
        await until(() => asked()?.socket.destroyed, 'it was read')
        await new Promise((resolve) => setImmediate(resolve))
        t.equal(proof.state, state, what)
        if (state === 'proven') {
          t.match(proof.text, /^proven at an unknown time, delay/, 'the station has no time')
          const delay_s = Number(/delay (\d+\.\d) s/.exec(proof.text)?.[1])
          t.ok(delay_s <= (clock.monotonic() - sent_ms) / 1000 + 0.1, proof.text)
        }
        proof.stop()
      }
    },
  )
})

/** A disk takes its time. */
class SlowStore extends MemoryStore {
  override async batch(ops: Parameters<MemoryStore['batch']>[0]): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 30))
    await super.batch(ops)
  }
}

t.test('the waits', async (t) => {
  const minute = 60_000
  let state: RetryState = { ...fresh, tried_ms: 0 }
  const waits: number[] = []
  for (let n = 0; n < 9; n++) {
    state = afterEnd(state, 'network', 0, 0.5)
    waits.push(waitOf(state, 0) / 1000)
  }
  t.strictSame(waits, [15, 30, 60, 120, 240, 480, 900, 900, 900])
  for (const random of [0, 0.25, 1]) {
    const wait_s = waitOf(afterEnd({ ...fresh, failures: 3 }, 'network', 0, random), 0) / 1000
    t.ok(wait_s >= 96 && wait_s < 144.01, `${wait_s} s with jitter`)
  }
  t.equal(waitOf(afterEnd(fresh, 'network', 0, 0), 0), 15_000, 'never below 15 s')
  let taken: RetryState = fresh
  const after: number[] = []
  for (let n = 0; n < 7; n++) {
    taken = afterEnd(taken, 'taken', 0, 0.5)
    after.push(waitOf(taken, 0) / 1000)
  }
  t.strictSame(after, [30, 30, 30, 30, 30, 480, 900], 'five times, then the ladder')

  const network = { ...afterEnd({ ...fresh, failures: 6 }, 'network', 0, 0.5), tried_ms: 0 }
  t.equal(waitOf(afterNetworkUp(network), minute), 0, 'a network that came up ends a wait for the network')
  t.equal(waitOf(afterNetworkUp(network), 5_000), 10_000, 'but 15 s lie between two attempts')
  const idle = afterEnd({ ...fresh, failures: 1 }, 'idle', 0, 0.5)
  t.match(idle, { failures: 1 }, 'a push that the station itself ended is no failure')
  t.equal(waitOf(idle, 0), 30_000)
  t.equal(waitOf(afterNetworkUp(idle), 0), 30_000)
  const refused = afterEnd(fresh, 'final', 0, 0.5)
  t.equal(waitOf(afterNetworkUp(refused), minute), 6 * 60 * minute - minute, 'never one that a caster asked for')

  t.test('of a power cut: what a caster asked for alone, as a rest', (t) => {
    const hour = 60 * minute
    const utc = Date.UTC(2026, 5, 1)
    const kept = keptOf(refused, hour, utc)
    t.match(kept, { last: 'final', rest_ms: 5 * hour, since_utc_ms: utc })
    for (const end of ['network', 'closed', 'idle', 'web'] as const)
      t.equal(keptOf(afterEnd(fresh, end, 0, 0.5), 0, utc), undefined, end)
    for (const [name, now_utc, rest] of [
      ['no clock', 0, 5 * hour],
      ['a clock of 2000', Date.UTC(2000, 0), 5 * hour],
      ['two hours later', utc + 2 * hour, 3 * hour],
      ['a year later', utc + 365 * 24 * hour, 0],
    ] as const)
      t.equal(waitOf(restored(kept as KeptWait, 7_000, now_utc), 7_000), rest, name)
    t.equal(
      waitOf(restored({ ...(kept as KeptWait), rest_ms: 1e15 }, 0, 0), 0),
      7.2 * hour,
      'never longer than the longest',
    )
    t.end()
  })

  t.test('end when the time is known, after a power cut without a clock', async (t) => {
    let answer = 'ERROR - Bad Password\r\n'
    const caster = await fakeCaster(t, ({ socket }) => socket.write(answer))
    const store = new MemoryStore()
    const target = { host: '127.0.0.1', port: caster.port, mount: 'ROOF', password: 'wrong' }
    const first = await setUp(t, store)
    await first.push(target)
    await first.secondsUntil(() => first.shown().state === 'refused', 'refused')
    await first.station.stop()
    answer = 'ICY 200 OK\r\n\r\n'
    const again = await setUp(t, store)
    for (let n = 0; n < 60; n++) await again.second()
    t.ok(again.shown().next > 3_600, 'the time is not known: the whole rest')
    const known_ms = first.clock.now() + 12 * 3_600_000
    // A receiver's first time counts when it has gone on for 10 s.
    for (let n = 0; n <= 11; n++) {
      again.station.device.setUtc(known_ms + n * 1000)
      await again.second()
    }
    await again.secondsUntil(() => again.shown().state === 'acknowledged', 'pushed')
  })

  t.test('for the own network alone end with the service', async (t) => {
    const caster = await fakeCaster(t, ({ socket }) => socket.end())
    const store = new MemoryStore()
    const first = await setUp(t, store)
    await first.push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF' })
    await first.secondsUntil(() => caster.visits.length === 4, 'four attempts')
    await first.station.stop()
    t.strictSame((await store.get('ntrip-server', 'retries')) ?? {}, {}, 'nothing is written for them')
    const again = await setUp(t, store)
    await again.secondsUntil(() => caster.visits.length === 5, 'at once')
    t.ok(again.clock.monotonic() < 15_000)
  })

  t.test('survive a restart of the service, and end with other settings', async (t) => {
    const caster = await fakeCaster(t, ({ socket }) => socket.write('ERROR - Bad Password\r\n'))
    const store = new SlowStore()
    const target = { host: '127.0.0.1', port: caster.port, mount: 'ROOF', password: 'wrong' }
    const first = await setUp(t, store)
    await first.push(target)
    await first.secondsUntil(() => first.shown().state === 'refused', 'refused')
    await first.station.stop()
    const again = await setUp(t, store)
    for (let n = 0; n < 60; n++) await again.second()
    t.equal(caster.visits.length, 1, 'no attempt after the restart')
    t.ok(again.shown().next > 3_600)
    await again.push({ ...target, password: 'right' })
    await again.secondsUntil(() => caster.visits.length === 2, 'tried with the other password')
  })

  t.test('a caster that closes soon after its yes is said to forward nothing', async (t) => {
    const endings: [how: string, answer: (visit: Visit) => void][] = [
      ['in order', ({ socket }) => socket.end('ICY 200 OK\r\n\r\n')],
      [
        'by a reset, as it leaves the stream unread',
        ({ socket }) => {
          socket.write('ICY 200 OK\r\n\r\n')
          socket.on('data', () => socket.resetAndDestroy())
        },
      ],
    ]
    for (const [how, answer] of endings) {
      const caster = await fakeCaster(t, answer)
      const { push, shown, secondsUntil, station } = await setUp(t)
      await push({ host: '127.0.0.1', port: caster.port, mount: 'ROOF' })
      await secondsUntil(() => /accepted, not forwarded/.test(shown().text), `${how}: the second time`)
      await secondsUntil(() => /another base may use/.test(shown().text), `${how}: the third time`)
      t.equal(caster.visits.length, 3)
      t.match(station.field('links.outputs'), [{ state: 'refused' }], 'the caster was reached')
      await station.stop()
    }
  })
})

t.test('what the kernel has not got acknowledged', (t) => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1
   1: 0100007F:C350 0100007F:0835 01 00000A1F:00000000 01:00000018 00000003     0        0 2`
  const other = `   2: 0000000000000000FFFF00000100007F:C350 0000000000000000FFFF00000100007F:0835 01 00000001:00000000`
  const queue = (localPort: number, ...tables: string[]) => queuesIn(tables)({ localPort, remotePort: 2_101 })
  t.strictSame([queue(50_000, table), queue(50_000, other, table), queue(50_000, other)], [0xa1f, 0xa1f, 1])
  t.strictSame([queue(50_001, table), queue(50_000, '')], [undefined, undefined])
  t.end()
})
