/** Vectors that are computed in threads beside the one that asks. */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import { BaselineThreads } from '../../../plugins/fleet/fleet-net/threads/threads.js'
import { baseline, Recording } from '../../../runtime/lib/baseline/index.js'
import { gpsSeconds, unixToGps } from '../../../runtime/lib/gnss/index.js'
import { roughness, Streams } from '../../harness/baseline-streams.js'

const threadsOfNode = createRequire(import.meta.url)('node:worker_threads') as typeof import('node:worker_threads')

/** A multiple of 30 s of GPS time. */
const noon_ms = Date.UTC(2026, 5, 1, 12) - 18_000

function recorded(minutes: number) {
  const options = { seed: 3, from: { lat: 52, lon: 4.5, alt: 40 }, to: { lat: 52.1, lon: 4.5, alt: 60 } }
  const streams = new Streams({ ...options, roughness: roughness.calm })
  const recordings = { from: new Recording(), to: new Recording() }
  for (let n = 0; n < 2 * minutes; n++) {
    const now_ms = noon_ms + 30_000 * n
    const epoch = streams.epoch(now_ms, 30)
    for (const side of ['from', 'to'] as const)
      for (const frame of epoch[side])
        recordings[side].take(Buffer.from(frame), gpsSeconds(unixToGps(now_ms / 1_000, 18)))
  }
  const station = (side: 'from' | 'to') => ({ arp: streams.truth[side], ...recordings[side].taken })
  return [station('from'), station('to')] as const
}

const [from, to] = recorded(15)

t.test('what threads find is what the computation finds, for more vectors than there are threads', async (t) => {
  const threads = new BaselineThreads({ most: 2, ended: () => t.fail('a thread ended') })
  const expected = [baseline(from, to), baseline(to, from)]
  t.not(expected[0]?.status, 'none')
  const asked = Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? threads.solve(from, to) : threads.solve(to, from)))
  for (const [n, { found, took_s }] of (await Promise.all(asked)).entries()) {
    t.strictSame(found, expected[n % 2])
    t.ok(took_s > 0)
  }
  await threads.stop()
  await t.rejects(threads.solve(from, to), { message: 'stopped' })
})

t.test(
  'a thread that does not answer is replaced after a while, its vector computed again, and given up then',
  async (t) => {
    const ended: string[] = []
    const waits: { ms: number; fn: () => void }[] = []
    let rested = () => {}
    const threads = new BaselineThreads({
      ...{ most: 1, limit_s: 0.001, ended: (reason) => ended.push(reason) },
      after(ms, fn) {
        waits.push({ ms, fn })
        rested()
      },
    })
    const rests = () =>
      new Promise<void>((resolve) => {
        rested = resolve
      })
    let next = rests()
    const lost = threads.solve(from, to)
    const waiting = threads.solve(to, from)
    lost.catch(() => {})
    waiting.catch(() => {})
    await next
    t.equal(ended.length, 1)
    next = rests()
    waits[0]?.fn()
    await next
    await t.rejects(lost, { message: /its thread ended: a vector took longer/ })
    t.equal(ended.length, 2)
    t.ok((waits[1]?.ms ?? 0) > (waits[0]?.ms ?? 0), 'with longer waits')
    await threads.stop()
    await t.rejects(waiting, { message: 'stopped' })
  },
)

t.test('where no thread can be started, a vector is given up after its tries, and none is left behind', async (t) => {
  const { Worker } = threadsOfNode
  t.teardown(() => {
    threadsOfNode.Worker = Worker
    syncBuiltinESMExports()
  })
  threadsOfNode.Worker = class {
    constructor() {
      throw new Error('no room')
    }
  } as never
  syncBuiltinESMExports()
  const ended: string[] = []
  const waits: (() => void)[] = []
  const threads = new BaselineThreads({
    ...{ most: 1, ended: (reason) => ended.push(reason) },
    after: (_ms, fn) => waits.push(fn),
  })
  const lost = threads.solve(from, to)
  waits.shift()?.()
  await t.rejects(lost, { message: /no room/ })
  t.equal(ended.length, 2)
  threadsOfNode.Worker = Worker
  syncBuiltinESMExports()
  const found = threads.solve(from, to)
  waits.shift()?.()
  t.ok(await found)
  t.equal(ended.length, 2, 'the one before was not left in the queue')
  await threads.stop()
})

t.test('RTCM that cannot be used is an error of its vector alone', async (t) => {
  const threads = new BaselineThreads({ most: 1 })
  const broken = { ...from, arp: undefined as never }
  const [bad, good] = await Promise.allSettled([threads.solve(broken, to), threads.solve(from, to)])
  t.equal(bad.status, 'rejected')
  t.equal(good.status, 'fulfilled')
  await threads.stop()
})
