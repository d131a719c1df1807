/** Try it, keep it if it proves itself, else go back. */
import { ManualClock } from 'rtk-base/testing'
import t from 'tap'
import { type Evidence, Trial, type TrialOptions } from '../../runtime/platform/trial.js'

/** Looks every second. @returns how it ended, and when: in seconds since its start */
async function ends(options: Omit<TrialOptions, 'clock'>, evidence: (s: number) => Evidence) {
  const clock = new ManualClock()
  const trial = new Trial<string>({ ...options, clock })
  trial.begin('before')
  trial.start()
  for (let s = 0; s <= 200; s++) {
    const outcome = trial.look(evidence(s))
    if (outcome !== 'waiting') return `${outcome} ${s}`
    await clock.advance(1_000)
  }
  return 'never'
}

t.test('a trial ends by its evidence', async (t) => {
  const window_ms = 60_000
  const cases: [options: Omit<TrialOptions, 'clock'>, evidence: (s: number) => Evidence, end: string][] = [
    [{ window_ms }, () => 'good', 'kept 0'],
    [{ window_ms }, () => 'unknown', 'over 60'],
    [{ window_ms }, () => 'bad', 'over 0'],
    [{ window_ms, settle_ms: 2_000 }, () => 'good', 'kept 2'],
    [{ window_ms, settle_ms: 2_000 }, () => 'bad', 'over 2'],
    [{ window_ms, hold_ms: 10_000 }, (s) => (s === 5 ? 'unknown' : 'good'), 'kept 16'],
    [{ window_ms, hold_ms: 10_000 }, (s) => (s % 10 === 5 ? 'unknown' : 'good'), 'over 60'],
    [{ window_ms, hold_ms: 10_000 }, (s) => (s < 50 ? 'unknown' : 'good'), 'kept 60'],
    [{ hold_ms: 10_000 }, (s) => (s < 150 ? 'unknown' : 'good'), 'kept 160'],
    [{ hold_ms: 10_000 }, (s) => (s < 150 ? 'unknown' : 'bad'), 'over 150'],
    [{ hold_ms: 10_000 }, () => 'unknown', 'never'],
  ]
  for (const [options, evidence, end] of cases) t.equal(await ends(options, evidence), end, JSON.stringify(options))
})

t.test('a trial knows what returns, and how much of its window is left', async (t) => {
  const clock = new ManualClock()
  let over = 0
  const trial = new Trial<string>({ clock, window_ms: 60_000, over: () => over++ })
  t.same([trial.before, trial.look('good')], [undefined, 'waiting'], 'nothing is on trial')
  trial.begin('before')
  await clock.advance(100_000)
  t.same([trial.before, trial.left_ms, trial.look('good')], ['before', 60_000, 'waiting'], 'it is not live yet')
  trial.start()
  await clock.advance(40_000)
  t.equal(trial.left_ms, 20_000)
  trial.begin('before')
  trial.start()
  await clock.advance(59_999)
  t.same([over, trial.isOver], [0, false], 'another one has all of the window')
  await clock.advance(1)
  t.same([over, trial.isOver, trial.left_ms, trial.look('unknown')], [1, true, 0, 'over'])
  trial.end()
  t.same([trial.before, trial.isOver], [undefined, false])
  trial.begin('before')
  trial.start(clock.monotonic() - 50_000)
  await clock.advance(9_999)
  t.equal(over, 1)
  await clock.advance(1)
  t.equal(over, 2, 'a part of the window may have passed already')
  trial.start()
  trial.end()
  await clock.advance(100_000)
  t.equal(over, 2)
})

t.test('a trial without a window waits for its evidence alone', (t) => {
  const timers: number[] = []
  const timer = (delay_ms: number) => {
    timers.push(delay_ms)
    return () => {}
  }
  const trial = new Trial<string>({ clock: { monotonic: () => 0, timer }, over: () => t.fail('it ends by itself') })
  trial.begin('before')
  trial.start()
  t.strictSame(timers, [])
  t.equal(trial.left_ms, Number.POSITIVE_INFINITY)
  t.end()
})
