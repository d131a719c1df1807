/** What the bench itself decides: which figures are faults, who comes from where, and that a broken part is seen. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { gateOnly } from '../harness/sample.js'
import { addressOf, clientNumbers } from './addresses.js'
import { atLeast, atMost, figure, lost, none, quantile } from './measurement.js'
import { shareOf, sliceOf } from './part.js'
import { parts } from './parts.js'
import { runPart } from './run-part.js'
import { faultsOf } from './smoke.js'

t.test('a figure is absurd ten times beyond what is expected, and a loss at once', (t) => {
  for (const [what, { ok, isAbsurd }, expected] of [
    ['within its budget', atMost('a', 0.9, 1, 'ms'), [true, false]],
    ['missed', atMost('a', 9, 1, 'ms'), [false, false]],
    ['far beyond', atMost('a', 11, 1, 'ms'), [false, true]],
    ['far beyond, but expected of a busy machine', atMost('a', 11, 1, 'ms', 10), [false, false]],
    ['not a number', atMost('a', Number.NaN, 1, 'ms'), [false, true]],
    ['enough', atLeast('a', 150, 150, 'MB/s'), [true, false]],
    ['too slow', atLeast('a', 20, 150, 'MB/s'), [false, false]],
    ['far too slow', atLeast('a', 14, 150, 'MB/s'), [false, true]],
    ['of no samples', atLeast('a', quantile([], 0.5), 150, 'MB/s'), [false, true]],
    ['of an unknown magnitude', figure('a', 1e9, ''), [undefined, false]],
    ['of a known magnitude', figure('a', 1_001, 'MB', 100), [undefined, true]],
    ['infinite', figure('a', Number.POSITIVE_INFINITY, ''), [undefined, true]],
    ['all came', lost('a', 100, 100), [true, false]],
    ['one is lost', lost('a', 100, 99), [false, true]],
    ['one came twice', lost('a', 100, 101), [false, true]],
    ['nothing was sent', lost('a', 0, 0), [false, true]],
    ['nothing wrong', none('a', 0), [true, false]],
    ['one wrong', none('a', 1), [false, true]],
  ] as const) {
    t.same([ok, isAbsurd], expected, what)
  }
  t.end()
})

t.test('the shares of a part are all of it, and each but once', (t) => {
  t.same(['2/8', '1/1', '0/8', '9/8', '2', '2/8x', ''].map(shareOf), [
    { number: 2, of: 8 },
    { number: 1, of: 1 },
    ...Array(5).fill(undefined),
  ])
  for (const [count, of] of [
    [1_700, 8],
    [300, 7],
    [3, 8],
  ]) {
    const slices = Array.from({ length: of }, (_, at) => sliceOf(count, { number: at + 1, of }))
    t.equal(slices[0][0], 0)
    t.equal(slices[of - 1][1], count)
    for (let at = 1; at < of; at++) t.equal(slices[at][0], slices[at - 1][1])
  }
  t.end()
})

t.test('each client has an address of its own in the loopback network, that of no server', (t) => {
  const first = clientNumbers(5_000)
  const next = clientNumbers(10_000)
  t.equal(next, first + 5_000)
  const addresses = Array.from({ length: 15_000 }, (_, n) => addressOf(first + n))
  t.equal(new Set(addresses).size, addresses.length)
  t.equal(
    addresses.find((one) => !/^127\.[1-9]\d?\.\d{1,3}\.\d{1,3}$/.test(one) || /\.(0|25[1-9])$/.test(one)),
    undefined,
  )
  t.end()
})

t.test('each part has two sizes of the same shape', async (t) => {
  for (const [name, { load }] of Object.entries(parts)) {
    const { full, smoke } = (await load()).sizes as Record<'full' | 'smoke', object>
    t.same(new Set(Object.keys(smoke)), new Set(Object.keys(full)), name)
  }
})

t.test('a part runs in a process of its own', async (t) => {
  const outcome = await runPart('apn', { size: 'smoke' })
  t.same(faultsOf(outcome), [])
  t.equal(outcome.measurements.length, 3)
})

t.test('a tree without what is measured cannot be compared', async (t) => {
  const outcome = await runPart('apn', { size: 'smoke', tree: mkdtempSync(join(tmpdir(), 'rtk-base-no-tree-')) })
  t.match(outcome, { skipped: 'it has no plugins/network/modem/apn/lookup.js', measurements: [], faults: [] })
})

t.test('a part that takes too long, or ends too early, is a fault', { skip: gateOnly }, async (t) => {
  const hung = await runPart('survey', { size: 'full', limit_ms: 500 })
  t.same(faultsOf(hung), ['not over after 0.5 s'])
  const tree = mkdtempSync(join(tmpdir(), 'rtk-base-no-tree-'))
  writeFileSync(join(tree, 'package.json'), JSON.stringify({ bin: { 'rtk-base': './nothing.mjs' } }))
  const crashed = await runPart('hostile', { size: 'smoke', tree })
  const [failure = '', ...printed] = faultsOf(crashed)
  t.match(failure, 'the station ended with 1 before it was up')
  t.match(printed.join('\n'), 'Cannot find module', 'what the station printed')
  t.notMatch([failure, ...printed].join(''), '\n')
})
