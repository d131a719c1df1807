/** `KeptConnection`: the table in its file, on sockets in the hands of the test. */
import { Duplex } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import {
  BackoffRetry,
  type ConnectionEnd,
  KeptConnection,
  type KeptConnectionOptions,
} from '../../runtime/lib/link/index.js'
import type { PluginContext } from '../../runtime/plugin.js'
import { type Link, links, uplinks } from '../../schemas/services.js'
import { ManualClock } from '../harness/manual-clock.js'

class HeldSocket extends Duplex {
  readonly localAddress = '192.0.2.1'
  readonly remoteAddress = '192.0.2.2'
  readonly bytesWritten = 0
  setNoDelay() {}
  override _read() {}
  override _write(_bytes: Buffer, _encoding: string, done: () => void) {
    done()
  }
}

const waits = { first_ms: 10_000, longest_ms: 80_000, spread: [1, 1] } as const
const peer = { host: 'peer.example', port: 2101 }

function keep(options: Partial<KeptConnectionOptions<'closed' | 'final'>> = {}) {
  const clock = new ManualClock()
  const sockets: HeldSocket[] = []
  const seen = { link: undefined as Link | undefined, over: 0, states: [] as string[] }
  let networkUp = () => {}
  const every = (ms: number, fn: () => unknown) => {
    let cancel = () => {}
    const arm = () => {
      cancel = clock.timer(ms, () => {
        arm()
        fn()
      }) as () => void
    }
    arm()
    return () => cancel()
  }
  const ctx = {
    ...{ clock, log: { info() {}, warn() {} } },
    timers: { every, after: (ms: number, fn: () => void) => clock.timer(ms, fn) },
    services: {
      find: (token: unknown) =>
        token === links ? { report: (link: Link) => (seen.link = link), remove() {} } : undefined,
      watch: (token: unknown, follow: (found: unknown) => unknown) => {
        if (token === uplinks) follow({ onUp: 'up' })
        return () => {}
      },
    },
    on: (event: unknown, fn: () => void) => {
      if (event === 'up') networkUp = fn
      return () => {}
    },
    net: { resolve: async () => [], dial: () => sockets[sockets.push(new HeldSocket()) - 1] },
  } as unknown as PluginContext
  const retry = new BackoffRetry(clock, { waits, apart_ms: 5_000, lasting_ms: 60_000, after_ms: { final: 600_000 } })
  const connection: KeptConnection<'closed' | 'final'> = new KeptConnection<'closed' | 'final'>(ctx, {
    name: 'test',
    retry,
    open: () => ({
      connected: () => connection.accept(),
      closed: () => ({ cause: 'closed', text: 'closed', answered: true }),
      over: () => (seen.over += 1),
    }),
    changed: () => seen.states.push(connection.state),
    ...options,
  })
  const last = () => sockets.at(-1) as HeldSocket
  const shown = () => [connection.state, connection.text, connection.wait_ms]
  return { clock, connection, sockets, last, seen, shown, networkUp: () => networkUp() }
}
const failed: ConnectionEnd = { cause: 'network', text: 'failed', answered: false }

t.test('it is dialled at once, up when its owner accepts, and dialled again after growing waits', async (t) => {
  const { clock, connection, sockets, last, seen, shown } = keep()
  t.same(shown(), ['off', '', 0])
  connection.start(peer)
  t.same(shown(), ['connecting', '', 0])
  t.match(seen.link, { peer: 'peer.example:2101', name: 'test' })
  for (const [index, wait_ms] of [10_000, 20_000, 40_000, 80_000, 80_000].entries()) {
    last().destroy(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))
    await clock.advance(0)
    t.same(shown(), ['waiting', connection.lastEnd?.text, wait_ms])
    t.match(connection.lastEnd, { cause: 'refused', answered: true })
    t.match(seen.link, { state: 'refused', attempts: index + 1 })
    await clock.advance(wait_ms - 1)
    t.equal(sockets.length, index + 1)
    await clock.advance(1)
    t.equal(sockets.length, index + 2)
  }
  last().emit('connect')
  t.same(shown(), ['up', '', 0])
  t.match(seen.link, { state: 'up', attempts: 0 })
  await clock.advance(60_000)
  t.equal(connection.up_ms, 60_000)
  last().destroy()
  await clock.advance(0)
  t.same(shown(), ['waiting', 'closed', 10_000], 'it lasted: the waits begin again')
  t.equal(seen.over, sockets.length, 'the owner was told of each end')
  connection.stop()
  await clock.advance(600_000)
  t.same([connection.state, sockets.length, clock.pending], ['off', 6, 0])
})

t.test('a deadline ends with the acceptance, and a silence has its limit', async (t) => {
  for (const [accepts, heard, text, after_ms] of [
    [false, false, 'late', 10_000],
    [true, false, 'silent for 30 s', 31_000],
    [true, true, 'silent for 30 s', 56_000],
  ] as const) {
    const { clock, connection, last, shown } = keep({
      silence: { limit_ms: () => 30_000, text: (limit_ms) => `silent for ${limit_ms / 1_000} s` },
      open: () => ({
        connected: () => connection.deadline(10_000, () => connection.end({ ...failed, text: 'late' })),
        data: () => (accepts ? connection.accept() : undefined),
        closed: () => failed,
      }),
    })
    connection.start(peer)
    last().emit('connect')
    last().emit('data', Buffer.from('yes'))
    await clock.advance(25_000 < after_ms ? 25_000 : after_ms - 1)
    if (heard) connection.heard()
    await clock.advance(after_ms - clock.monotonic() - 1)
    t.equal(connection.state, accepts ? 'up' : 'connecting')
    await clock.advance(1)
    t.same(shown(), ['waiting', text, 10_000])
    connection.stop()
  }
})

t.test('it is made while it is wanted', async (t) => {
  let wanted: true | string = 'nothing to send'
  const { clock, connection, sockets, last, shown, seen } = keep({ wanted: () => wanted })
  connection.start(peer)
  t.same(shown(), ['idle', 'nothing to send', 0])
  t.match(seen.link, { state: 'idle', reason: 'nothing to send' })
  await clock.advance(600_500)
  wanted = true
  await clock.advance(500)
  t.equal(connection.state, 'connecting')
  wanted = 'nothing any more'
  await clock.advance(5_000)
  t.equal(connection.state, 'connecting', 'an attempt is not cut off')
  last().emit('connect')
  await clock.advance(1_000)
  t.same(shown(), ['idle', 'nothing any more', 0])
  t.ok(last().destroyed)
  wanted = true
  await clock.advance(1_000)
  t.equal(sockets.length, 2)
  last().emit('connect')
  wanted = ''
  await clock.advance(1_000)
  wanted = true
  await clock.advance(3_999)
  t.equal(sockets.length, 2, 'two attempts are 5 s apart')
  await clock.advance(1)
  t.equal(sockets.length, 3)
  connection.stop()
})

t.test('a network that comes up ends a wait, but not one that the peer asked for', async (t) => {
  for (const [cause, wait_ms] of [
    ['network', 0],
    ['final', 590_000],
    ['flood', 590_000],
  ] as const) {
    const { clock, connection, networkUp, sockets } = keep()
    connection.start(peer)
    for (let n = 0; n < 3; n++) {
      connection.end(failed)
      await clock.advance(connection.wait_ms)
    }
    connection.end({ cause, text: '', answered: false })
    await clock.advance(10_000)
    networkUp()
    t.equal(connection.wait_ms, wait_ms, cause)
    t.equal(sockets.length, wait_ms === 0 ? 5 : 4)
    connection.stop()
  }
  const { clock, connection, networkUp } = keep()
  connection.start(peer)
  await clock.advance(4_000)
  networkUp()
  connection.end(failed)
  t.equal(connection.wait_ms, 1_000, 'one that came up during the attempt, which may hang on the other route')
  connection.stop()
})

t.test('another peer is dialled at once; none is off; a redial keeps the waits', async (t) => {
  const { clock, connection, sockets, shown, seen, last } = keep()
  connection.retarget(peer)
  await clock.advance(60_000)
  t.equal(sockets.length, 0, 'a plugin that is not started connects to nobody')
  connection.start(undefined)
  await clock.advance(60_000)
  t.same([...shown(), sockets.length], ['off', '', 0, 0])
  connection.retarget(peer)
  connection.end(failed)
  connection.retarget({ ...peer, port: 1 })
  t.same([connection.state, sockets.length, seen.link?.peer], ['connecting', 2, 'peer.example:1'])
  connection.redial()
  t.same([connection.state, sockets.length, sockets[1]?.destroyed], ['connecting', 3, true])
  connection.end(failed)
  t.same(shown(), ['waiting', 'failed', 10_000])
  connection.retarget(undefined)
  t.same(shown(), ['off', '', 0])
  await clock.advance(600_000)
  t.equal(sockets.length, 3)
  t.ok(last().destroyed)
  connection.stop()
})

t.test('whatever happens, there is at most one connection, and after a stop none and no timer', async (t) => {
  const step = fc.constantFrom('connect', 'close', 'error', 'end', 'network', 'redial', 'retarget', 'pass', 'unwanted')
  const run = async (steps: readonly string[]) => {
    let wanted: true | string = true
    const { clock, connection, sockets, last, networkUp, seen } = keep({ wanted: () => wanted })
    connection.start(peer)
    for (const one of steps) {
      if (one === 'connect' && connection.state === 'connecting') last().emit('connect')
      if (one === 'close') last().destroy()
      if (one === 'error') last().destroy(new Error('reset'))
      if (one === 'end') connection.end(failed)
      if (one === 'network') networkUp()
      if (one === 'redial' && connection.state === 'connecting') connection.redial()
      if (one === 'retarget') connection.retarget(peer)
      if (one === 'unwanted') wanted = wanted === true ? 'not now' : true
      await clock.advance(one === 'pass' ? 90_000 : 0)
      const open = sockets.filter(({ destroyed }) => !destroyed)
      const hasOne = connection.state === 'connecting' || connection.state === 'up'
      if (open.length !== (hasOne ? 1 : 0)) return false
      if (!hasOne && connection.state === 'waiting' && connection.wait_ms === 0) return false
    }
    connection.stop()
    await clock.advance(0)
    return clock.pending === 0 && last().destroyed && seen.over === sockets.length
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), run), { numRuns: 60 })
  t.pass()
})
