import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock, partOf, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Health, type Signs } from '../../../../plugins/device/ota/health.js'
import { endOf, ImageTrial } from '../../../../plugins/device/ota/image-trial.js'
import { type Pending, UpdateMemory } from '../../../../plugins/device/ota/memory.js'
import { DownloadPace, leastWindow_bytes, longest_ms } from '../../../../plugins/device/ota/pace.js'
import { checkImage } from '../../../../plugins/device/ota/policy.js'
import { StationSigns } from '../../../../plugins/device/ota/signs.js'
import { formatState, parseState } from '../../../../plugins/device/ota/slots/state.js'
import { generateKeys, readPrivateKey } from '../../../../runtime/lib/image/keys.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../../../runtime/plugin.js'
import { device, mqttLink, rtcmStream } from '../../../../schemas/services.js'
import { drive, pass } from '../../../harness/drive.js'
import type { MemoryStore } from '../../../harness/memory-store.js'
import { errorsOf } from '../../../harness/standing-errors.js'
import { bundleImage, maker, otaStation, type RigOptions, scratch } from './rig.js'

t.test('the health of a version on trial', async (t) => {
  const all: Signs = { control: true, rtcm: true, broker: true }
  const limits = { hold_ms: 60_000, limit_ms: 1_200_000 }
  /** Looks every 5 s. @returns the verdict and when it came, in seconds */
  const judged = (before: { rtcm: boolean; broker: boolean }, signs: (s: number) => Partial<Signs>) => {
    let s = 0
    const health = new Health(before, { ...limits, clock: { monotonic: () => s * 1000 } })
    for (; s <= 1_300; s += 5) {
      const verdict = health.look({ ...all, ...signs(s) })
      if (verdict.kind !== 'wait') return `${s} ${verdict.kind}${verdict.kind === 'bad' ? ` ${verdict.text}` : ''}`
    }
    return 'never'
  }
  const both = { rtcm: true, broker: true }
  const none = { rtcm: false, broker: false }
  t.equal(
    judged(both, () => ({})),
    '60 good',
    'everything at once',
  )
  t.equal(
    judged(both, (s) => ({ rtcm: s > 300 })),
    '365 good',
    'RTCM comes late',
  )
  t.equal(
    judged(both, (s) => ({ broker: s > 1_100 })),
    '1165 good',
    'in the last minute',
  )
  t.equal(
    judged(both, (s) => ({ rtcm: s % 15 === 0 })),
    '60 good',
    'one look without it decides nothing',
  )
  t.equal(
    judged(both, (s) => ({ rtcm: s < 40 || s > 70 })),
    '135 good',
    'a longer break begins again',
  )
  t.equal(
    judged(none, () => ({ rtcm: false, broker: false })),
    '60 good',
    'what was not there before is not asked for',
  )
  t.match(
    judged(both, () => ({ rtcm: false })),
    /^1200 bad no RTCM went out, though it did before the update \(within 20 min\)$/,
  )
  t.match(
    judged(both, () => ({ broker: false })),
    /^1200 bad the broker was not reached, though it was before/,
  )
  t.match(
    judged(none, () => ({ control: false })),
    /^1200 bad its HTTP server did not answer/,
  )
  t.match(
    judged(both, () => ({ rtcm: false, broker: false })),
    /no RTCM.*; the broker was not reached/,
  )
  t.match(
    judged({ rtcm: true, broker: false }, (s) => ({ rtcm: s % 50 < 20 })),
    /^1200 bad/,
    'a flow that keeps breaking',
  )
})

t.test('an image is taken by what was signed', async (t) => {
  const image = {
    ...{
      type: 'bundle',
      name: 'v1',
      version: '1.2.0',
      arch: 'any',
      hardware: ['hw'],
      files: [{ size: 60 }, { size: 40 }],
    },
  }
  const station = {
    ...{
      hardware: 'hw',
      variants: ['v1'],
      machine: 'linux-arm64',
      bundle: 'abc',
      running: '1.1.0',
      minVersion: '',
      largest_bytes: 100,
    },
  }
  const check = (more: object, of: object = {}) => {
    try {
      checkImage({ ...image, ...more } as never, { ...station, ...of })
      return 'taken'
    } catch (error) {
      return `${(error as { code: string }).code} ${(error as Error).message}`
    }
  }
  t.equal(check({}), 'taken')
  for (const [more, of, expected] of [
    [{ hardware: ['other'] }, {}, /^RTK_ERR_IMAGE .*for the hardware other, and this is hw/],
    [{ arch: 'linux-x64' }, {}, /for linux-x64, and this is linux-arm64/],
    [{ arch: 'linux-arm64' }, {}, /^taken$/],
    [{ name: 'v2' }, {}, /for the variant v2, and this is v1/],
    [{ name: 'v2', replaces: ['v1'] }, {}, /^taken$/],
    [{ name: 'p', type: 'plugin' }, {}, /^taken$/],
    [{ name: 'p', type: 'plugin', bundle: 'abc' }, {}, /^taken$/],
    [{ name: 'p', type: 'plugin', bundle: 'xyz' }, {}, /made for the bundle xyz/],
    [{}, { minVersion: '1.2.0' }, /^taken$/],
    [{}, { minVersion: '1.2.1' }, /no version before 1\.2\.1/],
    [{}, { minVersion: 'any' }, /^taken$/],
    [{}, { running: '1.2.0' }, /^taken$/],
    [{}, { running: '1.3.0' }, /the running version 1\.3\.0 is newer/],
    [{ downgrade: true }, { running: '1.3.0' }, /^taken$/],
    [{ downgrade: true }, { running: '1.3.0', minVersion: '1.3.0' }, /no version before/],
    [{}, { largest_bytes: 99 }, /^RTK_ERR_IMAGE_LARGE .*unpacks 100 bytes/],
  ] as const) {
    t.match(check(more, of), expected)
  }
})

t.test('a sign counts for 15 s, and health has to last to the millisecond', async (t) => {
  let now_ms = 1_000
  const limits = { clock: { monotonic: () => now_ms }, hold_ms: 60_000, limit_ms: 120_000, begun_ms: 1_000 }
  const health = new Health({ rtcm: true, broker: false }, limits)
  const look = (s: number, rtcm: boolean, broker = false, of = health) => {
    now_ms = s * 1000
    return of.look({ control: true, rtcm, broker })
  }
  t.same(look(1, false), { kind: 'wait', held_ms: 0 })
  t.same(look(2, true), { kind: 'wait', held_ms: 0 })
  t.same(look(17, false), { kind: 'wait', held_ms: 15_000 })
  t.same(look(17.001, false), { kind: 'wait', held_ms: 0 })
  t.same(look(20, true), { kind: 'wait', held_ms: 0 })
  look(35, true)
  look(50, true)
  look(65, true)
  t.same(look(79.999, true), { kind: 'wait', held_ms: 59_999 })
  t.same(look(80, true), { kind: 'good' })
  const late = new Health({ rtcm: false, broker: true }, limits)
  t.match(look(120.999, true, false, late), { kind: 'wait' })
  t.match(look(121, true, true, late), {
    kind: 'bad',
    text: 'it was not healthy for long enough (within 2 min)',
  })
})

t.test('an image has 10 s for its head, then 512 B/s, without the time of who reads it', async (t) => {
  const clock = new ManualClock()
  const ctx = { clock, timers: { after: (ms: number, fn: () => void) => clock.timer(ms, fn) } } as never
  t.equal(longest_ms(512 * 60), 660_000)
  const run = (hasHead = true) => {
    const waiting: ((piece: IteratorResult<Uint8Array>) => void)[] = []
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<Uint8Array>>((resolve) => waiting.push(resolve)),
      }),
    }
    const pace = new DownloadPace(ctx, hasHead)
    const pieces = pace.watch(source)
    const send = async (bytes: number, after_ms = 0) => {
      const next = pieces.next()
      await clock.advance(after_ms)
      waiting.shift()?.({ value: new Uint8Array(bytes), done: false })
      return (await next).value?.length
    }
    const starve = async (ms: number) => {
      const next = pieces.next().then(
        () => 'more',
        (error: { code: string; message: string }) => `${error.code} ${error.message}`,
      )
      await clock.advance(ms)
      return Promise.race([next, new Promise((resolve) => setImmediate(resolve, 'waits'))])
    }
    return { pace, send, starve }
  }
  t.equal(await run(false).starve(59_999), 'waits', 'what the station fetches has no time for its head')
  const head = run()
  t.equal(await head.send(10), 10)
  await clock.advance(5000)
  t.equal(await head.starve(9999), 'waits', 'the time of the reader is not the sender’s')
  t.match(await run().starve(10_000), /^RTK_ERR_IMAGE_SLOW its signed head did not come within 10 s/)
  const slow = run(false)
  t.equal(await slow.send(leastWindow_bytes - 1), leastWindow_bytes - 1)
  t.match(await slow.starve(60_000), /^RTK_ERR_IMAGE_SLOW less than 30720 bytes came within 60 s/)
  const trickle = run(false)
  for (let n = 0; n < 3; n++) t.equal(await trickle.send(1, 19_000), 1)
  t.match(await trickle.starve(3_000), /^RTK_ERR_IMAGE_SLOW/, 'single bytes begin no window')
  const begun = run(false)
  t.equal(await begun.send(leastWindow_bytes, 30_000), leastWindow_bytes)
  t.equal(await begun.send(1, 59_000), 1)
  t.match(await begun.starve(1_000), /^RTK_ERR_IMAGE_SLOW/, 'a window that was filled is followed by a whole one')
  const payload = run()
  t.equal(await payload.send(10, 9_000), 10)
  payload.pace.headIsThere()
  t.equal(await payload.send(1, 0), 1)
  t.equal(await payload.send(1, 59_000), 1)
  t.match(await payload.starve(1_000), /^RTK_ERR_IMAGE_SLOW less than 30720 bytes came within 60 s/, 'the head is over')

  let returned = 0
  const finite = {
    async *[Symbol.asyncIterator]() {
      try {
        yield new Uint8Array(1)
        yield new Uint8Array(2)
      } finally {
        returned += 1
      }
    },
  }
  for await (const _ of new DownloadPace(ctx).watch(finite)) break
  t.equal(returned, 1, 'who reads no more ends the source')
  const sizes: number[] = []
  const armed = clock.pending
  for await (const piece of new DownloadPace(ctx).watch(finite)) sizes.push(piece.length)
  t.same([sizes, returned, clock.pending], [[1, 2], 2, armed])
})

t.test('what shows that a station does its work', async (t) => {
  const clock = new ManualClock()
  let told = () => {}
  const stream = {
    flows: false,
    onFlow(fn: () => void) {
      told = fn
    },
  }
  const flow = (flows: boolean) => {
    stream.flows = flows
    told()
  }
  const link = { up: true }
  const asked: unknown[] = []
  const http: { url: string } | undefined = { url: 'http://127.0.0.1:8080' }
  const state = { http: http as { url: string } | undefined, answer: async (): Promise<unknown> => ({}) }
  const ctx = {
    clock,
    on: (source: (fn: () => void) => void, fn: () => void) => source(fn),
    fetch: (url: string, options: object) => {
      asked.push([url, options])
      return state.answer()
    },
    services: {
      use: () => state,
      find: ({ id }: { id: string }) => (id === rtcmStream.id ? stream : link),
      watch: (_: unknown, fn: (stream: unknown) => void) => {
        fn(undefined)
        fn(stream)
      },
    },
  } as unknown as PluginContext
  const signs = new StationSigns(ctx)
  signs.watch()
  const answers = (status: number) => async () => ({ status, text: async () => '' })
  state.answer = answers(200)
  t.same(signs.before(), { rtcm: false, broker: true })
  t.same(await signs.now(), { rtcm: false, broker: true, control: true })
  t.same(asked, [['http://127.0.0.1:8080/get-info?0x01', { timeout_ms: 5_000 }]])
  flow(true)
  link.up = false
  t.match([await signs.now(), signs.before()], [{ rtcm: true }, { rtcm: true }])
  flow(false)
  for (const [at_ms, rtcm, before] of [
    [1, false, { rtcm: true, broker: true }],
    [59_999, false, { rtcm: true, broker: true }],
    [60_000, false, { rtcm: false, broker: false }],
  ] as const) {
    await clock.advance(at_ms - clock.monotonic())
    t.match(await signs.now(), { rtcm, broker: false }, `${at_ms} ms`)
    t.same(signs.before(), before, `${at_ms} ms`)
  }
  const broken = async () => ({ status: 200, text: () => Promise.reject(new Error('cut off')) })
  for (const [what, answer, control] of [
    ['a login that is asked for', answers(401), true],
    ['499', answers(499), true],
    ['500', answers(500), false],
    ['an answer that is cut off', broken, false],
    ['none', () => Promise.reject(new Error('refused')), false],
  ] as const) {
    state.answer = answer
    t.equal((await signs.now()).control, control, what)
  }
  state.answer = answers(200)
  state.http = undefined
  t.equal((await signs.now()).control, false, 'without an HTTP server')
})

t.test('a trial, look by look', async (t) => {
  const good = { control: true, rtcm: false, broker: false }
  /** @param fails what fails the next time that it is done */
  function begin(pending: object | undefined, begun_ms?: number) {
    const clock = new ManualClock()
    const done: string[] = []
    const fails = new Set<string>()
    const state = { signs: good, pending, looks: 0 }
    const extended: number[] = []
    const progress: number[] = []
    const act = (name: string) => async () => {
      done.push(name)
      if (fails.delete(name)) throw new Error(`${name} failed`)
    }
    const memory = {
      pending: async () => state.pending,
      confirm: async () => {
        await act('floor')()
        state.pending = undefined
      },
      note: (text: string) => act(`note ${text}`)(),
    }
    const station = {
      version: '2.0.0',
      extendStart: (ms: number) => extended.push(ms),
      confirmed: () => done.push('ready'),
    }
    const signs = { now: async () => [state.signs, state.looks++][0] }
    const installer = { confirm: act('confirm'), giveUp: act('giveUp'), restart: act('restart') }
    const every = (ms: number, fn: () => void) => {
      clock.timer(ms, () => {
        every(ms, fn)
        fn()
      })
    }
    const log = { warn() {}, debug() {}, info() {}, error() {} }
    const timers = { every, after: (ms: number, fn: () => void) => clock.timer(ms, fn) }
    const ctx = { clock, log, timers, services: { use: (token: unknown) => (token === device ? station : undefined) } }
    const limits = { hold_ms: 60_000, limit_ms: 120_000, progress: (percent: number) => progress.push(percent) }
    const trial = new ImageTrial(
      ctx as never,
      { installer: () => installer, memory, signs, ...limits } as never,
      begun_ms,
    )
    return { clock, done, fails, state, extended, progress, trial }
  }

  t.test('is confirmed after its time, once, and its floor is stored', async (t) => {
    const { clock, done, state, extended, progress, trial } = begin({ before: { rtcm: false, broker: false } })
    await trial.start()
    await clock.advance(4_999)
    t.equal(state.looks, 0)
    await clock.advance(60_000)
    t.same([done, trial.over, state.looks], [[], false, 12])
    t.same(progress, [0, 8, 16, 25, 33, 41, 50, 58, 66, 75, 83, 91])
    await clock.advance(1)
    t.same([done, trial.over, progress.at(-1)], [['confirm', 'ready', 'floor'], true, 100])
    t.same([new Set(extended), trial.begun_ms], [new Set([120_000]), 0])
    await clock.advance(300_000)
    t.same([done.length, state.looks, extended.length], [3, 13, 13], 'then nobody looks any more')
  })

  t.test('that cannot be confirmed is tried again; a floor that cannot be stored a minute later', async (t) => {
    const { clock, done, fails, trial } = begin({ before: { rtcm: false, broker: false } })
    await trial.start()
    fails.add('confirm').add('floor')
    await clock.advance(65_000)
    t.same([done, trial.over], [['confirm'], false])
    await clock.advance(5_000)
    t.same([done, trial.over], [['confirm', 'confirm', 'ready', 'floor'], true])
    await clock.advance(59_999)
    t.equal(done.length, 4)
    await clock.advance(1)
    t.equal(done.at(-1), 'floor')
    await clock.advance(120_000)
    t.equal(done.length, 5)
  })

  t.test('that an operator gives up is given up once, and not confirmed meanwhile', async (t) => {
    const { clock, done, trial } = begin({ before: { rtcm: false, broker: false } })
    await trial.start()
    await clock.advance(64_800)
    void trial.giveUp('asked for', 500)
    t.equal(trial.over, true, 'nobody can ask for it again')
    void trial.giveUp('asked for again', 500)
    await clock.advance(499)
    t.same(done, [], 'the answer goes out first; the look in between confirms nothing')
    await clock.advance(60_000)
    t.same(done, ['note asked for', 'giveUp', 'restart'])
  })

  t.test('that fails notes why, gives up and restarts, whatever of it fails', async (t) => {
    for (const [begun_ms, at_ms] of [
      [undefined, 120_000],
      [-60_000, 60_000],
    ] as const) {
      const { clock, done, fails, state, trial } = begin({ before: { rtcm: true, broker: false } }, begun_ms)
      const note = 'note no RTCM went out, though it did before the update (within 2 min)'
      fails.add(note).add('giveUp').add('restart')
      await trial.start()
      await clock.advance(at_ms - 1)
      t.same(done, [])
      await clock.advance(1)
      t.same([done, trial.over], [[note, 'giveUp', 'restart'], true])
      const { looks } = state
      await clock.advance(60_000)
      t.same([done.length, state.looks], [3, looks])
    }
  })

  t.test('without an update that is known asks for the HTTP server alone, and stores no floor', async (t) => {
    const { clock, done, trial } = begin(undefined)
    await trial.start()
    await clock.advance(65_000)
    t.same(done, ['confirm', 'ready'])
    await clock.advance(120_000)
    t.equal(done.length, 2)
  })
})

t.test('the keys that are trusted: of the options, of files, of updates', async (t) => {
  const [one, two, three] = [generateKeys(), generateKeys(), generateKeys()]
  const file = join(scratch(t), 'two.pub')
  writeFileSync(file, two.publicPem)
  const raised: string[] = []
  const keysOf = async (given: string[], stored?: unknown) => {
    const errors = errorsOf('ota', (text) => raised.push(text))
    const store = { protected: { get: async (name: string) => (name === 'newKeys' ? stored : undefined) } }
    return (await new UpdateMemory({ errors, store } as unknown as PluginContext, given).keys()).size
  }
  for (const [given, stored, count, told] of [
    [[one.publicPem, file], [three.publicPem], 3, /^$/],
    [[one.publicPem], [one.publicPem], 1, /^$/],
    [[], 'no list', 0, /^$/],
    [
      ['/none.pub', one.publicPem],
      [],
      1,
      /^\/none\.pub: ENOENT.*images signed with it are refused: correct ota\.keys$/,
    ],
    [['-----BEGIN x'], undefined, 0, /^a key: /],
  ] as const) {
    t.equal(await keysOf([...given], stored), count)
    t.match(raised.at(-1), told)
  }
})

t.test('what outlives an update: its starts, the floors of plugins, keys and the floor of bundles', async (t) => {
  const kept = new Map<string, unknown>()
  const batch = async (values: object) => {
    for (const [key, value] of Object.entries(values)) kept.set(key, value)
  }
  const store = {
    protected: {
      get: async (key: string) => kept.get(key),
      set: async (key: string, value: unknown) => void kept.set(key, value),
      batch,
    },
  }
  const memory = new UpdateMemory({ store } as unknown as PluginContext, [])
  t.equal(await memory.started(), 1, 'without an update nothing is kept')
  t.equal(await memory.pending(), undefined)
  const before = { rtcm: true, broker: false }
  await memory.begin({ version: '2.0.0', minVersion: '1.5.0', newKeys: ['k1'] }, { from: '1.0.0', slot: 'a', before })
  t.same([await memory.started(), await memory.started(), await memory.started()], [1, 2, 3])
  await memory.installed()
  await memory.note('it crashed')
  t.match(await memory.pending(), { starts: 3, installed: true, verdict: 'it crashed', slot: 'a', before })

  t.equal(await memory.minVersion(), '')
  await memory.confirm((await memory.pending()) as Pending)
  t.same([await memory.pending(), await memory.minVersion(), kept.get('newKeys')], [undefined, '1.5.0', ['k1']])
  const confirmed = async (minVersion: string, newKeys: string[]) => {
    await memory.begin({ version: '3.0.0', minVersion, newKeys }, { from: '2.0.0', slot: 'b', before })
    await memory.confirm((await memory.pending()) as Pending)
    return [await memory.minVersion(), kept.get('newKeys')]
  }
  t.same(await confirmed('1.4.0', ['k1', 'k2']), ['1.5.0', ['k1', 'k2']], 'a floor never falls, a key stands once')
  const many = Array.from({ length: 8 }, (_, n) => `new${n}`)
  t.same(await confirmed('1.6.0', many), ['1.6.0', many], 'the last eight keys')

  await memory.begin({ version: '4.0.0' }, { from: '3.0.0', slot: 'a', before })
  t.same(await memory.pending(), { version: '4.0.0', from: '3.0.0', slot: 'a', before })
  await memory.end({ cause: 'it crashed' })
  t.same([await memory.pending(), await memory.failed()], [undefined, { cause: 'it crashed' }])
  await memory.begin({ version: '4.0.1' }, { from: '3.0.0', slot: 'a', before })
  t.equal(await memory.failed(), undefined, 'the next one has not failed')
  await memory.end({ cause: 'it crashed' })
  await memory.confirm({ version: '4.0.1', from: '3.0.0', slot: 'a', before })
  t.same([await memory.failed(), await memory.minVersion()], [undefined, '1.6.0'])
  kept.set('pending', { version: 4 }).set('failed', 1).set('pluginFloors', ['1.0.0'])
  t.same(
    [await memory.pending(), await memory.failed(), await memory.pluginFloor('0')],
    [undefined, undefined, ''],
    'garbage',
  )

  const floorOf = async (name: string, minVersion?: string) => {
    await memory.raisePluginFloor({ name, ...(minVersion && { minVersion }) })
    return memory.pluginFloor(name)
  }
  t.equal(await floorOf('a'), '')
  t.equal(await floorOf('a', '1.2.0'), '1.2.0')
  t.equal(await floorOf('a', '1.1.9'), '1.2.0', 'it never falls')
  t.equal(await floorOf('a', '1.2.0'), '1.2.0')
  t.equal(await floorOf('a', '1.10.0'), '1.10.0')
  t.equal(await floorOf('b', '0.1.0'), '0.1.0', 'each its own')
  t.equal(await memory.pluginFloor('a'), '1.10.0')
})

t.test('the state file is read as the launcher reads it', async (t) => {
  const nothing = { good: '', trial: '', tries: 9, back: '', previous: '' }
  for (const [text, expected] of [
    ['', nothing],
    ['good=a\ntrial=b\ntries=2\nback=\n', { ...nothing, good: 'a', trial: 'b', tries: 2 }],
    ['good=f\nback=a\n', { ...nothing, good: 'f', back: 'a' }],
    ['good=a\nback=f\nprevious=f\n', { ...nothing, good: 'a', back: 'f', previous: 'f' }],
    ['good=z\ntrial=f\ntries=10\nback=c\nrm -rf /\n', nothing],
    ['good=a\ngood=b\ngood=x\n', { ...nothing, good: 'b' }],
    ['good=a extra\n good=b\n', nothing],
  ] as const) {
    t.strictSame(parseState(text), expected, JSON.stringify(text))
  }
  const state = { good: 'f', trial: 'a', tries: 1, back: 'b', previous: '' } as const
  t.strictSame(parseState(formatState(state)), state)
  t.strictSame(parseState(formatState({ ...state, previous: 'a' })), { ...state, previous: 'a' })
})

/** A broker link and a stream of epochs that a test holds. */
function surroundings() {
  const edges = { up: true, flows: false, epoch: () => {} }
  const plugin = definePlugin({
    name: 'edges',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [mqttLink, rtcmStream],
    setup(ctx: PluginContext) {
      const epochs = ctx.event<never>()
      const states = ctx.event<never>()
      const flow = ctx.event<void>()
      edges.epoch = () => {
        edges.flows = true
        flow.emit()
        epochs.emit({} as never)
      }
      ctx.services.provide(
        rtcmStream,
        partOf(rtcmStream, {
          ...{
            open: true,
            reason: undefined,
            onEpoch: epochs.on as never,
            onState: states.on as never,
            onFlow: flow.on,
          },
          get flows() {
            return edges.flows
          },
        }),
      )
      ctx.services.provide(mqttLink, {
        get up() {
          return edges.up
        },
      } as never)
    },
  })
  return { edges, plugins: { edges: plugin as AnyPlugin } }
}

/** Installs an image of 2.0.0 and returns what the next start finds. */
async function installed(
  t: Test,
  {
    before = async () => {},
    ...options
  }: RigOptions & { before?: (edges: ReturnType<typeof surroundings>['edges']) => Promise<void>; facts?: object } = {},
) {
  const { edges, plugins } = surroundings()
  const rig = await otaStation(t, { ...options, plugins })
  await before(edges)
  t.match(await rig.post(await bundleImage(t, '2.0.0', options.facts)), { status: 200 })
  await rig.station.stop()
  return { root: rig.root, store: rig.store }
}

/** Lets the seconds pass, or fewer if the trial ends. Each request to the version on trial ends before the next second. */
async function advance(rig: Awaited<ReturnType<typeof otaStation>>, s: number, each: () => void = () => {}) {
  const isOver = () => rig.station.restarts() > 0 || rig.ready() > 0
  for (let left_s = s; left_s > 0 && !isOver(); left_s--) {
    each()
    await pass(rig.station.clock, 1_000)
  }
}

t.test('a new version', async (t) => {
  const flowing = async ({ epoch }: { epoch(): void }) => epoch()

  t.test('is confirmed when RTCM flows, the broker is connected and HTTP answers; only then it is ready', async (t) => {
    const { root, store } = await installed(t, { before: flowing, facts: { minVersion: '1.5.0' } })
    const { edges, plugins } = surroundings()
    edges.up = false
    const rig = await otaStation(t, { root, store, running: 'b', onTrial: true, version: '2.0.0', plugins })
    t.equal(rig.ready(), 0)
    t.match(rig.update(), { state: 'verifying', failed: false })
    t.not(rig.station.field('base.state.base'), 'updating', 'it does its work')
    t.match(await rig.post(await bundleImage(t, '3.0.0')), { status: 409, text: /2\.0\.0 is on trial/ })
    await advance(rig, 6, edges.epoch)
    t.ok(
      rig.extended.length > 0 && rig.extended.every((ms) => ms >= 60_000),
      'the supervisor waits as long as it is looked at',
    )
    await advance(rig, 100, edges.epoch)
    t.equal(rig.ready(), 0, 'the broker is missing')
    t.match(store, { copies: 1 }, 'the settings of the version before are kept')
    t.equal(rig.state(), 'good=a trial=b tries=0 back=')
    edges.up = true
    await advance(rig, 70, edges.epoch)
    await until(async () => rig.ready() === 1, 'the confirmation')
    t.equal(rig.state(), 'good=b trial= tries=0 back= previous=a')
    t.match(store, { copies: 0 }, 'and not any longer')
    const asked = rig.extended.length
    await rig.station.clock.advance(30_000)
    t.equal(rig.extended.length, asked, 'nor does the supervisor wait')
    t.match(rig.update(), { state: 'idle', failed: false, progress: 100 })
    await until(async () => (await (store as MemoryStore).get('protected.ota', 'minVersion')) === '1.5.0', 'the floor')
    t.match(await rig.post(await bundleImage(t, '1.4.9')), { status: 422, text: /takes no version before 1\.5\.0/ })
    const older = { downgrade: true } as const
    t.match(await rig.post(await bundleImage(t, '1.4.9', older)), { status: 422 }, 'whatever the image says')
    t.match(await rig.post(await bundleImage(t, '1.5.0')), {
      status: 422,
      text: /the running version 2\.0\.0 is newer, and the image does not allow/,
    })
    t.match(await rig.post(await bundleImage(t, '1.5.0', older)), { status: 200 }, 'an older one above the floor')
  })

  t.test('gives itself up when RTCM does not come back, and the version before reports that', async (t) => {
    const { root, store } = await installed(t, {
      before: flowing,
      facts: { minVersion: '2.0.0', newKeys: [generateKeys().publicPem] },
    })
    const { plugins } = surroundings()
    const rig = await otaStation(t, {
      root,
      store,
      running: 'b',
      onTrial: true,
      version: '2.0.0',
      plugins,
      ota: { trial_min: 3 },
    })
    await advance(rig, 175)
    t.equal(rig.station.restarts(), 0)
    await advance(rig, 15)
    await until(async () => rig.station.restarts() === 1, 'the restart')
    t.equal(rig.ready(), 0)
    t.equal(rig.state(), 'good=a trial= tries=0 back=b')
    await rig.station.stop()
    for (const start of ['first', 'second']) {
      const old = await otaStation(t, { root, store })
      t.match(old.update(), { state: 'failed', failed: true, progress: 0 }, start)
      t.match(
        old.reasons(),
        /update to 2\.0\.0 was given up: no RTCM went out, though it did before the update.*; 1\.0\.0 runs again/,
      )
      t.equal(old.state(), 'good=a trial= tries=0 back=')
      t.match(
        await old.post(await bundleImage(t, '1.0.0', { hardware: ['x'] })),
        { status: 422 },
        'neither floor nor key was raised',
      )
      if (start === 'second') {
        t.match(await old.post(await bundleImage(t, '1.0.0')), { status: 200 })
        t.equal(old.reasons(), '', 'until the next update')
      }
      await old.station.stop()
    }
  })

  t.test('that crashed, hung or was never ready is reported by the version before', async (t) => {
    const { root, store } = await installed(t)
    writeFileSync(join(root, 'state'), 'good=a\ntrial=\ntries=0\nback=b\n')
    const rig = await otaStation(t, { root, store })
    t.match(rig.reasons(), /update to 2\.0\.0 was given up: it did not come up/)
    const pending = { version: '2.0.0', from: '1.0.0', slot: 'b', before: { rtcm: false, broker: false } }
    const end = { at_ms: 0, stack: [] as string[] }
    const failed = { ...end, how: 'failed' as const, text: 'the process ended with exit code 3' }
    t.strictSame(endOf(pending, failed, true), {
      cause: 'it did not stay up: the process ended with exit code 3',
      versions: { tried: '2.0.0', runs: '1.0.0' },
    })
    const blocked = { ...end, how: 'blocked' as const, text: 'blocked', stack: ['  at loop (x.ts:3)'] }
    t.match(endOf(pending, blocked, true), { cause: /blocked \(at loop \(x\.ts:3\)\)/ })
    t.strictSame(Object.keys(endOf(undefined, undefined, true)), ['cause'], 'nothing is recorded of it')
  })

  t.test('that was not installed to its end is not reported as one that was tried', async (t) => {
    const { root, store } = await installed(t)
    writeFileSync(join(root, 'state'), 'good=a\ntrial=\ntries=0\nback=\n')
    const rig = await otaStation(t, { root, store })
    t.match(rig.reasons(), /ended before all of it was installed: send it again; 1\.0\.0 runs again/)
  })

  t.test('whose trial the launcher could not end on a disk that takes no writes is reported too', async (t) => {
    const { root, store } = await installed(t)
    writeFileSync(join(root, 'state'), 'good=a\ntrial=b\ntries=3\nback=\n')
    t.match((await otaStation(t, { root, store })).reasons(), /it did not come up/)
  })

  t.test('that was confirmed just before the power went gets its floor and its keys at the next start', async (t) => {
    const next = generateKeys()
    const { root, store } = await installed(t, { facts: { minVersion: '1.9.0', newKeys: [next.publicPem] } })
    writeFileSync(join(root, 'state'), 'good=b\ntrial=\ntries=0\nback=\n')
    const rig = await otaStation(t, { root, store, running: 'b', version: '2.0.0' })
    t.equal(rig.reasons(), '')
    t.match(await rig.post(await bundleImage(t, '1.8.0')), { status: 422, text: /before 1\.9\.0/ })
    t.match(
      await rig.post(await bundleImage(t, '2.0.0', {}, readPrivateKey(next.privatePem))),
      { status: 200 },
      'signed by the new key',
    )
    await rig.station.stop()
    const factory = await otaStation(t, {
      root,
      store,
      running: 'b',
      version: '2.0.0',
      ota: { keys: [maker.publicPem] },
    })
    await factory.command('factory')
    t.match(
      await factory.post(await bundleImage(t, '1.8.0')),
      { status: 422, text: /before 1\.9\.0/ },
      'a factory reset keeps the floor',
    )
  })

  t.test('that cannot be confirmed, as the disk takes no writes, is tried again', async (t) => {
    const root = join(scratch(t), 'missing')
    const rig = await otaStation(t, { root, running: 'b', onTrial: true, ota: { healthy_s: 10 } })
    const tries = () => rig.station.lines.filter(({ msg }) => /cannot be confirmed yet: ENOENT/.test(msg)).length
    await drive(rig.station.clock, () => tries() >= 2 || rig.ready() > 0, 'two tries')
    t.ok(tries() >= 2, `${tries()} tries`)
    t.equal(rig.ready(), 0)
  })

  t.test('keeps its time over a reload of the plugin', async (t) => {
    const rig = await otaStation(t, { running: 'b', onTrial: true, ota: { trial_min: 2, healthy_s: 3_600 } })
    for (let i = 0; i < 5; i++) {
      await advance(rig, 20)
      await rig.station.reload('ota')
    }
    await advance(rig, 30)
    await until(async () => rig.station.restarts() === 1, 'the end')
    t.equal(rig.state(), 'good= trial= tries=0 back=b')
  })

  t.test('that never had slots is on trial nowhere', async (t) => {
    const rig = await otaStation(t, { slots: undefined as never })
    t.equal(rig.ready(), 1)
    t.equal(rig.station.device.onTrial, false)
    rig.station.device.confirmed()
    t.equal(rig.ready(), 1, 'confirming what is not on trial does nothing')
  })
})
