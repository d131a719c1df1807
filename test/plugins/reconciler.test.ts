/** `Reconciler`: a thing that differs is set right, with waits and a standing error. */
import fc from 'fast-check'
import t from 'tap'
import { Reconciler, type ReconcilerOptions, withStandingError } from '../../runtime/lib/link/index.js'
import type { PluginContext } from '../../runtime/plugin.js'
import { ManualClock } from '../harness/manual-clock.js'

const waits = { first_ms: 1_000, longest_ms: 8_000, spread: [1, 1] } as const

/** A lamp that others switch off, and a station that wants it on. */
function lamp(options: Partial<ReconcilerOptions<{ isOn: boolean }>> = {}) {
  const clock = new ManualClock()
  const standing = new Map<string, unknown>()
  const stop = new AbortController()
  const ctx = {
    clock,
    signal: stop.signal,
    timers: { after: (ms: number, fn: () => void) => clock.timer(ms, fn) },
    errors: {
      while: (code: string, values: unknown) => (values ? standing.set(code, values) : standing.delete(code)),
    },
  } as unknown as PluginContext
  const it = { lamp: { isOn: false } as { isOn: boolean } | undefined, refuses: '', applied: [] as number[] }
  const reconciler = new Reconciler<{ isOn: boolean }>(ctx, {
    code: 'lamp',
    values: (_state, retry_s) => ({ retry_s }),
    look: () => it.lamp,
    differs: ({ isOn }) => !isOn,
    apply: async (lamp) => {
      it.applied.push(clock.monotonic())
      if (it.refuses !== '') throw new Error(it.refuses)
      lamp.isOn = true
    },
    waits: () => waits,
    ...options,
  })
  return { clock, ctx, it, reconciler, standing, stop }
}

t.test('a failure stands as an error with its reason and the next attempt, until the thing is right', async (t) => {
  let restored = 0
  const { clock, it, reconciler, standing } = lamp({ restored: () => void restored++ })
  it.refuses = 'no current'
  await reconciler.reconcile()
  t.same(standing.get('lamp'), { retry_s: 1, reason: 'no current' })
  t.equal(reconciler.failure?.message, 'no current')
  await reconciler.reconcile()
  await clock.advance(31_000)
  t.same(it.applied, [0, 1_000, 3_000, 7_000, 15_000, 23_000, 31_000], 'a look while it waits changes nothing')
  t.same(standing.get('lamp'), { retry_s: 8, reason: 'no current' })
  it.refuses = ''
  await clock.advance(8_000)
  t.same([it.lamp?.isOn, standing.size, reconciler.failure, clock.pending], [true, 0, undefined, 0])
  if (it.lamp) it.lamp.isOn = false
  await reconciler.reconcile()
  t.equal(it.lamp?.isOn, true, 'at once: it was right')
  await reconciler.apply()
  t.equal(restored, 2, 'told of what was set right, not of what was entered')
})

t.test('what changes while something else is applied is set right, although nothing happens any more', async (t) => {
  let done = () => {}
  const { clock, it, reconciler } = lamp({
    apply: async (lamp) => {
      it.applied.push(clock.monotonic())
      if (it.applied.length > 1) lamp.isOn = true
      // The first one is answered before the lamp goes out for good.
      else
        await new Promise<void>((resolve) => {
          done = resolve
        })
    },
  })
  if (it.lamp) it.lamp.isOn = true
  const applied = reconciler.apply()
  if (it.lamp) it.lamp.isOn = false
  const looked = reconciler.reconcile()
  done()
  await Promise.all([applied, looked])
  await clock.advance(999)
  t.same(it.applied, [0], 'it may be on its way')
  await clock.advance(1)
  t.same([it.applied, it.lamp?.isOn, clock.pending], [[0, 1_000], true, 0])
})

t.test('others who undo it are not fought at full speed; left alone for long, it is set at once', async (t) => {
  const { clock, it, reconciler } = lamp({ lasting_ms: 60_000 })
  const undo = async () => {
    if (it.lamp) it.lamp.isOn = false
    await reconciler.reconcile()
  }
  await undo()
  for (const wait_ms of [1_000, 2_000, 4_000, 8_000, 8_000]) {
    const before = it.applied.length
    await undo()
    await clock.advance(wait_ms - 1)
    t.equal(it.applied.length, before)
    await clock.advance(1)
    t.equal(it.applied.length, before + 1)
  }
  await clock.advance(60_000)
  await undo()
  t.equal(it.applied.at(-1), clock.monotonic())
})

t.test('a machine that comes right by itself gets the time for it', async (t) => {
  const { clock, it, reconciler } = lamp({ isPatient: () => true })
  await reconciler.reconcile()
  await clock.advance(999)
  if (it.lamp) it.lamp.isOn = true
  await reconciler.reconcile()
  await clock.advance(60_000)
  t.same(it.applied, [])
  if (it.lamp) it.lamp.isOn = false
  await reconciler.reconcile()
  await clock.advance(1_000)
  t.same(it.applied, [61_999])
})

t.test(
  'what is not there waits for nothing; what was entered is applied at once, and its failure is thrown',
  async (t) => {
    const { clock, it, reconciler, standing } = lamp()
    it.refuses = 'no current'
    await reconciler.reconcile()
    const there = it.lamp
    it.lamp = undefined
    await reconciler.reconcile()
    t.equal(clock.pending, 0)
    await reconciler.apply()
    t.same(it.applied, [0])
    it.lamp = there
    await t.rejects(reconciler.apply(), { message: 'no current' })
    t.same([standing.size, clock.pending], [0, 0], 'its caller reports it')
    it.refuses = ''
    await reconciler.apply()
    t.equal(it.lamp?.isOn, true)
  },
)

t.test('an owner with other work is told when an attempt is due, and makes it', async (t) => {
  let due = 0
  const { clock, it, reconciler } = lamp({ due: () => void due++ })
  it.refuses = 'no current'
  await reconciler.reconcile()
  await clock.advance(10_000)
  t.same([due, it.applied], [1, [0]])
  await reconciler.reconcile()
  t.same(it.applied, [0, 10_000])
})

t.test('a plugin that stops is not told of the failures that it causes', async (t) => {
  const { ctx, it, reconciler, standing, stop } = lamp()
  it.refuses = 'stopped'
  stop.abort()
  await reconciler.reconcile()
  t.same([standing.size, reconciler.failure], [0, undefined])
  t.equal(await withStandingError(ctx, 'work', () => Promise.reject(new Error('no'))), false)
  t.equal(standing.size, 0)
})

t.test('whatever happens, attempts are never closer than the waits, and it is right in the end', async (t) => {
  const step = fc.constantFrom('undo', 'away', 'back', 'refuse', 'accept', 'look', 'pass')
  const run = async (steps: readonly string[]) => {
    const { clock, it, reconciler, standing } = lamp({ lasting_ms: 60_000 })
    const there = it.lamp
    for (const one of [...steps, 'back', 'accept', 'look']) {
      if (one === 'undo' && there) there.isOn = false
      if (one === 'away') it.lamp = undefined
      if (one === 'back') it.lamp = there
      if (one === 'refuse') it.refuses = 'no'
      if (one === 'accept') it.refuses = ''
      await reconciler.reconcile()
      await clock.advance(one === 'pass' ? 700 : 0)
    }
    await clock.advance(8_000)
    const gaps = it.applied.slice(1).map((at_ms, index) => at_ms - (it.applied[index] ?? 0))
    return there?.isOn === true && standing.size === 0 && clock.pending === 0 && gaps.every((gap) => gap >= 1_000)
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), run), { numRuns: 100 })
  t.pass()
})
