/** The flight record: on disk, as it is read, what it says of a minute, and its replay on the simulated receiver. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  arpFrame,
  childEnv,
  createTestStation,
  fakeReceiver,
  gateOnly,
  ManualClock,
  msmFrame,
  sample,
  until,
} from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import { applied, between, entries, entryOf, lineOf, type StoredEntry } from '../../../plugins/device/record/history.js'
import record from '../../../plugins/device/record/index.js'
import { Minutes, shortened } from '../../../plugins/device/record/minutes.js'
import { momentOf } from '../../../plugins/device/record/moment.js'
import { RecordRing } from '../../../plugins/device/record/ring.js'
import { timeline, withoutSentences } from '../../../plugins/device/record/timeline.js'
import { answer } from '../../../plugins/device/record/why/answer.js'
import { find } from '../../../plugins/device/record/why/found.js'
import recovery from '../../../plugins/device/recovery/index.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import rtcm from '../../../plugins/rtcm/rtcm/index.js'
import { scriptOf } from '../../../plugins/simulated/simulated-receiver/replay/script.js'
import type { AnyPlugin, DataDir, PluginContext } from '../../../runtime/plugin.js'
import { rangeOf, timeOf } from '../../../runtime/time.js'
import { RecordEntry, type RecordMinute, type RecordValue } from '../../../schemas/index.js'
import { setUp as simulated } from '../receivers/simulator-rig.js'

const minute_ms = 60_000

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-record-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const ctxOf = (clock: ManualClock) =>
  ({
    clock,
    timers: { after: (ms: number, fn: () => void) => clock.timer(ms, fn) },
  }) as unknown as PluginContext

interface RingRig {
  ring: RecordRing
  /** What the disk says to more room; '' it has some. */
  disk: { full: string; stands?: Promise<void> }
  troubles: (string | undefined)[]
}

function ringIn(
  t: Test,
  path: string,
  clock = new ManualClock(),
  options: { segments?: number; bytes?: number } = {},
): RingRig {
  const disk: RingRig['disk'] = { full: '' }
  const troubles: (string | undefined)[] = []
  const dir: DataDir = {
    ...{ path, quota_bytes: 1e9, usage: async () => ({ bytes: 0, files: 0 }) },
    async ensureRoom() {
      await disk.stands
      if (disk.full) throw new Error(disk.full)
    },
  }
  const ring = new RecordRing(ctxOf(clock), {
    dir: () => dir,
    ...{ segments: options.segments ?? 4, segment_bytes: options.bytes ?? 4_096 },
    head: () => lineOf({ t: 0, up: 0, all: {} }),
    trouble: (error) => troubles.push(error?.message),
  })
  ring.start()
  t.teardown(() => ring.stop())
  return { ring, disk, troubles }
}

const note = (number: number): StoredEntry => ({ t: number, up: number, note: { what: 'n', text: `number ${number}` } })
async function storedIn(ring: RecordRing): Promise<StoredEntry[]> {
  const found: StoredEntry[] = []
  for await (const text of ring.read()) for (const line of text.split('\n')) found.push(...[entryOf(line) ?? []].flat())
  return found
}
const numbersOf = (stored: StoredEntry[]) => stored.flatMap((entry) => (entry.note ? [entry.t] : []))

t.test('on disk', async (t) => {
  t.test('the files are bounded, the oldest go, and a restart goes on in the newest', async (t) => {
    const path = folder(t)
    const { ring } = ringIn(t, path)
    for (let number = 0; number < 400; number++) {
      ring.append(lineOf(note(number)), false)
      await ring.idle()
    }
    const files = readdirSync(path).sort()
    t.equal(files.length, 4)
    for (const name of files) t.ok(statSync(join(path, name)).size < 4_096 + 200)
    t.equal(statSync(join(path, files[0] as string)).mode & 0o777, 0o600)
    const numbers = numbersOf(await storedIn(ring))
    t.equal(numbers.at(-1), 399)
    t.same(
      numbers,
      [...numbers.keys()].map((index) => (numbers[0] as number) + index),
      'none is missing',
    )
    await ring.stop()
    const again = ringIn(t, path).ring
    again.append(lineOf(note(400)), false)
    await again.idle()
    t.same(readdirSync(path).sort(), files, 'no further file')
    t.equal(numbersOf(await storedIn(again)).at(-1), 400)
  })

  t.test('a line that was torn, bytes that turned, foreign files: the rest stays', async (t) => {
    const path = folder(t)
    const { ring } = ringIn(t, path)
    for (const number of [1, 2, 3]) ring.append(lineOf(note(number)), true)
    await ring.stop()
    const file = join(path, readdirSync(path)[0] as string)
    const text = readFileSync(file, 'latin1')
    writeFileSync(file, text.replace('number 2', 'number 7').slice(0, -9), 'latin1')
    writeFileSync(join(path, 'notes.txt'), 'mine')
    const again = ringIn(t, path).ring
    again.append(lineOf(note(4)), true)
    await again.idle()
    t.same(numbersOf(await storedIn(again)), [1, 4], 'the torn one and the damaged one are left out')
    appendFileSync(file, Buffer.from([0, 255, 10, 10]))
    t.same(numbersOf(await storedIn(again)), [1, 4])
    t.equal(entryOf(''), undefined)
    t.equal(lineOf({ t: 0, up: 0, note: { what: '', text: 'x'.repeat(9_000) } }), '', 'what is too long is no line')
  })

  t.test('a folder, links and a huge file among its files are neither read nor written', async (t) => {
    const path = folder(t)
    const { ring } = ringIn(t, path)
    ring.append(lineOf(note(1)), true)
    await ring.stop()
    const outside = join(folder(t), 'outside')
    writeFileSync(outside, lineOf(note(7)))
    mkdirSync(join(path, '00000002.record'))
    symlinkSync('/dev/zero', join(path, '00000003.record'))
    writeFileSync(join(path, '00000004.record'), lineOf(note(8)))
    truncateSync(join(path, '00000004.record'), 2 ** 30)
    symlinkSync(outside, join(path, '99999999.record'))
    const { ring: again, troubles } = ringIn(t, path)
    again.append(lineOf(note(2)), true)
    await again.idle()
    t.same(troubles.filter(Boolean), [])
    t.same(numbersOf(await storedIn(again)), [1, 2])
    t.equal(readFileSync(outside, 'utf8'), lineOf(note(7)))
  })

  t.test('a disk that is full costs lines, counts them, and nothing else; its own room is used again', async (t) => {
    const path = folder(t)
    const clock = new ManualClock()
    const { ring, disk, troubles } = ringIn(t, path, clock)
    const fill = async (from: number, to: number) => {
      for (let number = from; number < to; number++) {
        ring.append(lineOf(note(number)), false)
        await ring.idle()
      }
    }
    await fill(0, 110)
    t.equal(readdirSync(path).length, 2)
    disk.full = 'ENOSPC: no space left on device'
    await fill(110, 300)
    t.equal(readdirSync(path).length, 1, 'no room for another: the oldest gave theirs')
    t.equal(troubles.at(-1), disk.full)
    const lost = ring.takeLost()
    t.ok(lost > 0, `${lost} lines`)
    t.equal(ring.takeLost(), 0)
    disk.full = ''
    await fill(300, 301)
    t.equal(ring.takeLost(), 1, 'it is not tried at once')
    await clock.advance(30_000)
    await fill(301, 310)
    t.equal(troubles.at(-1), undefined)
    t.equal(numbersOf(await storedIn(ring)).at(-1), 309)
    rmSync(path, { recursive: true })
    await fill(310, 500)
    t.match(troubles.at(-1), /ENOENT/, 'a folder that is gone')
    t.ok(ring.takeLost() > 0)
    mkdirSync(path)
  })

  t.test('lines that wait for a disk that stands still are bounded, what is dropped is counted', async (t) => {
    const path = folder(t)
    const { ring, disk } = ringIn(t, path, new ManualClock(), { bytes: 1e6 })
    let goOn = () => {}
    disk.stands = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const count = 20_000
    let bytes = 0
    for (let number = 0; number < count; number++) {
      const line = lineOf(note(number))
      bytes += line.length
      ring.append(line, number % 2 === 0)
    }
    const lost = ring.takeLost()
    t.ok(lost > 0 && lost < count, `${lost} of ${count} lines`)
    const kept = bytes * (1 - lost / count)
    t.ok(kept < 131_072 + 8_192, `${Math.round(kept)} bytes wait`)
    goOn()
    await ring.idle()
    const numbers = numbersOf(await storedIn(ring))
    t.equal(numbers.length, count - lost, 'whatever was not counted as lost is written')
    t.same(numbers, [...numbers.keys()], 'the oldest, in order')
    ring.append(lineOf(note(count)), true)
    await ring.idle()
    t.equal(numbersOf(await storedIn(ring)).at(-1), count)
    t.equal(ring.takeLost(), 0)
  })

  t.test('its bounds hold to the byte', async (t) => {
    const path = folder(t)
    const clock = new ManualClock()
    const line = (length: number) => `${'x'.repeat(length - 1)}\n`
    const head = lineOf({ t: 0, up: 0, all: {} }).length
    const sizes = (of = path) =>
      readdirSync(of).map((name) => [Number.parseInt(name, 10), statSync(join(of, name)).size])
    const put = async (ring: RecordRing, ...lengths: number[]) => {
      for (const length of lengths) ring.append(line(length), false)
      await ring.idle()
    }
    const options = { segments: 3, bytes: 1_000 }
    const { ring, disk, troubles } = ringIn(t, path, clock, options)
    await put(ring, 999)
    await put(ring, 1)
    t.same(sizes(), [[1, 1_000]], 'the first file of a start needs no head')
    await put(ring, 999 - head)
    await put(ring, 5)
    t.same(sizes()[1], [2, 1_004], 'one byte short of its size it takes a line more')
    await put(ring, 1)
    await put(ring, 1_000)
    await put(ring, 1)
    t.same(
      sizes(),
      [
        [2, 1_004],
        [3, head + 1_001],
        [4, head + 1],
      ],
      'three files are kept',
    )
    await ring.stop()
    const again = ringIn(t, path, clock, options).ring
    await put(again, 999 - head)
    t.same(sizes()[2], [4, 1_000], 'a restart goes on in a file that has room')
    await again.stop()
    const third = ringIn(t, path, clock, options).ring
    await put(third, 7)
    t.same(
      sizes(),
      [
        [3, head + 1_001],
        [4, 1_000],
        [5, 7],
      ],
      'and not in one that is full',
    )
    await third.stop()
    appendFileSync(join(path, '00000005.record'), 'torn')
    await put(ringIn(t, path, clock, options).ring, 2)
    t.same(sizes()[2], [5, 7 + 4 + 1 + 2], 'what was torn is a line of its own')

    const [small, waiting] = [folder(t), folder(t)]
    await put(ringIn(t, small, clock, { segments: 9, bytes: 1 }).ring, 2_048, 2_048, 2_048, 4_095, 2, 3)
    const portions = [4_096, 2_048 + 4_095, 5]
    t.same(
      sizes(small),
      portions.map((size, n) => [n + 1, n === 0 ? size : head + size]),
      'portions of 4 KiB or more',
    )
    const { ring: queue } = ringIn(t, waiting, clock, { bytes: 1e6 })
    for (const length of [131_072 - 100, 100, 1]) queue.append(line(length), false)
    t.equal(queue.takeLost(), 1, '128 KiB wait')
    await queue.idle()
    await put(queue, 131_072)
    t.equal(queue.takeLost(), 0, 'what is written waits no longer')
    t.same(sizes(waiting), [[1, 2 * 131_072]])

    const full = ringIn(t, folder(t), clock, options)
    full.disk.full = 'ENOSPC'
    await put(full.ring, 1)
    full.disk.full = ''
    await clock.advance(29_999)
    await put(full.ring, 1)
    t.same([full.ring.takeLost(), full.troubles.at(-1)], [2, 'ENOSPC'], 'it is left alone for 30 s')
    await clock.advance(1)
    await put(full.ring, 1)
    t.same([full.ring.takeLost(), full.troubles.at(-1)], [0, undefined])
    t.same([disk.full, troubles.filter(Boolean)], ['', []])

    const large = join(small, '00000001.record')
    const read = async () => {
      const lengths: number[] = []
      for await (const text of ringIn(t, small, clock).ring.read()) lengths.push(text.length)
      return lengths
    }
    truncateSync(large, 16_777_217)
    t.same(
      await read(),
      portions.slice(1).map((size) => head + size),
      'a file above 16 MiB is not read',
    )
    truncateSync(large, 16_777_216)
    t.equal((await read())[0], 16_777_216)
  })

  t.test('a disk that does not make lines durable is trouble', async (t) => {
    const path = folder(t)
    const clock = new ManualClock()
    const { ring, troubles } = ringIn(t, path, clock)
    const file = await open('/dev/null')
    const handles = Object.getPrototypeOf(file) as { datasync: () => Promise<void> }
    await file.close()
    const { datasync } = handles
    t.teardown(() => {
      handles.datasync = datasync
    })
    ring.append(lineOf(note(1)), true)
    await ring.idle()
    handles.datasync = async () => {
      throw new Error('EIO: i/o error, fdatasync')
    }
    await clock.advance(2_000)
    await until(() => troubles.at(-1) !== undefined, 'it is said')
    t.match(troubles.at(-1), /EIO/)
    handles.datasync = datasync
    await clock.advance(30_000)
    ring.append(lineOf(note(2)), true)
    await ring.idle()
    t.equal(troubles.at(-1), undefined)
    t.strictSame(numbersOf(await storedIn(ring)), [1, 2])
  })

  t.test(
    'counts of minutes are on the disk within 10 min, in few writes; with a change of state at once',
    async (t) => {
      const path = folder(t)
      const clock = new ManualClock()
      const { ring } = ringIn(t, path, clock, { bytes: 1e6 })
      const handle = await open('/dev/null')
      const handles = Object.getPrototypeOf(handle) as { datasync: () => Promise<void> }
      await handle.close()
      const { datasync } = handles
      t.teardown(() => {
        handles.datasync = datasync
      })
      let syncs = 0
      handles.datasync = function (this: unknown) {
        syncs += 1
        return datasync.call(this)
      }
      /** What a kill would leave at this moment: read by another process's ring. */
      const left = async () => numbersOf(await storedIn(ringIn(t, path).ring))
      /** A line each minute from now on. */
      const minutes = async (from: number, to: number) => {
        for (let number = from; number <= to; number++) {
          ring.append(lineOf(note(number)), false)
          await clock.advance(minute_ms)
        }
      }
      ring.append(lineOf(note(0)), true)
      await clock.advance(2_000)
      await until(() => syncs === 1, 'the state is durable')
      await minutes(1, 9)
      t.strictSame(await left(), [0], 'nine minutes wait in memory: a kill loses them')
      await minutes(10, 10)
      await until(() => syncs === 2, 'they are durable after ten')
      t.strictSame(await left(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      await minutes(11, 13)
      ring.append(lineOf(note(14)), true)
      await until(async () => (await left()).at(-1) === 14, 'a change of state is written at once')
      t.strictSame((await left()).slice(-4), [11, 12, 13, 14], 'with what waited, in its order')
      await clock.advance(2_000)
      await until(() => syncs === 3, 'and is durable soon')
      for (let number = 15; number < 15 + 60; number++) {
        await minutes(number, number)
        // The disk is real: it needs its time, which is none of the clock's.
        if ((number - 14) % 10 === 0) await ring.idle()
      }
      t.ok(syncs <= 3 + 6, `${syncs - 3} syncs in an hour`)
    },
  )

  t.test('kill -9 in the middle of writing, again and again: a whole record but for its last line', async (t) => {
    const path = join(folder(t), 'main')
    const file = join(process.cwd(), 'build', 'test', 'harness', 'children', 'record-writer.js')
    let from = 1
    for (let round = 0; round < sample(2, 25, 3); round++) {
      const child = spawn(process.execPath, [file, path, String(from)], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: childEnv(),
      })
      let text = ''
      child.stdout.on('data', (chunk) => {
        text += chunk
      })
      await until(() => text.split('\n').length > 4 + round * 3, 'some lines')
      child.kill('SIGKILL')
      await once(child, 'close')
      const said = Number(text.trim().split('\n').at(-1))
      const { ring } = ringIn(t, path, new ManualClock(), { segments: 8, bytes: 16_384 })
      const numbers = numbersOf(await storedIn(ring))
      await ring.stop()
      t.ok((numbers.at(-1) as number) >= said, `what was written before ${said} is there`)
      const holes = numbers.filter((number, index) => index > 0 && number !== (numbers[index - 1] as number) + 1)
      t.ok(holes.length <= round, `${holes.length} holes, one for each earlier kill at most`)
      from = (numbers.at(-1) as number) + 2
    }
  })

  t.test('a year of minutes takes no more room than a week', async (t) => {
    const path = folder(t)
    const clock = new ManualClock()
    const { ring } = ringIn(t, path, clock, { segments: 32, bytes: 131_072 })
    const days = sample(8, 365, 40)
    const minutes = Array.from({ length: 63 }, (_, index) =>
      shortened(counted({ used: 20 + (index % 9), visible: 30 + (index % 7) }), counted()),
    )
    const begin_ms = performance.now()
    for (let day = 0; day < days; day++) {
      for (let minute = 0; minute < 1_440; minute++) {
        const t = day * 86_400_000 + minute * minute_ms
        ring.append(lineOf({ t, up: t, min: minutes[minute % 63] }), false)
      }
      await ring.idle()
      await clock.advance(86_400_000)
    }
    const bytes = readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
    t.comment(`${days} days: ${(bytes / 1e6).toFixed(2)} MB, ${Math.round(performance.now() - begin_ms)} ms`)
    t.ok(bytes < 4.4e6)
    const stored = await storedIn(ring)
    t.equal(stored.at(-1)?.t, days * 86_400_000 - minute_ms)
    t.equal(ring.takeLost(), 0)
  })
})

function counted(more: Partial<RecordMinute> = {}): RecordMinute {
  return {
    ...{
      epochs: 60,
      gap: 1,
      interrupted: (more.gap ?? 1) >= 10,
      frames: { 1005: 60, 1074: 60 },
      rovers: 2,
      links: 1,
      fixes: 60,
      fix: 'time',
      used: 24,
    },
    ...{ visible: 34, acc: 0, pos: [3_924_693, 274_432, 5_001_927], jam: 'ok', corrections: 0 },
    ...more,
  }
}

async function* textsOf(stored: readonly StoredEntry[]) {
  yield stored.map(lineOf).join('')
}
async function all<T>(given: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const one of given) found.push(one)
  return found
}

t.test('as it is read', async (t) => {
  const run = { version: '1', how: 'stopped', text: '', at_ms: 0 }
  t.test('what was written before the clock was right moves with its later steps, within its run', async (t) => {
    const stored: StoredEntry[] = [
      { t: 1_000, up: 0, run },
      { t: 2_000, up: 1_000, note: { what: 'a', text: '' } },
      { t: 102_500, up: 1_500, clock: { by_ms: 100_000 } },
      { t: 103_000, up: 2_000, note: { what: 'b', text: '' } },
      { t: 93_500, up: 2_500, clock: { by_ms: -10_000 } },
      { t: 94_000, up: 3_000, note: { what: 'c', text: '' } },
      { t: 5_000, up: 0, run },
      { t: 6_000, up: 1_000, note: { what: 'd', text: '' } },
    ]
    const read = await all(entries(() => textsOf(stored)))
    t.same(
      read.flatMap(({ note, t }) => (note ? [[note.what, t]] : [])),
      [
        ['a', 92_000],
        ['b', 93_000],
        ['c', 94_000],
        ['d', 6_000],
      ],
    )
  })

  t.test(
    'a minute is whole again; the first of the oldest file, which leaves out what is gone, is not made up',
    async (t) => {
      const stored: StoredEntry[] = [
        { t: 0, up: 0, min: { epochs: 7 } },
        { t: 60, up: 60, min: counted() },
        { t: 120, up: 120, min: { epochs: 59, used: 3 } },
      ]
      const read = await all(entries(() => textsOf(stored)))
      t.same(
        read.map(({ min }) => min),
        [counted(), counted({ epochs: 59, used: 3 })],
      )
      t.same(shortened(counted({ used: 3 }), counted()), { epochs: 60, used: 3 })
    },
  )

  t.test('from and to; the first entry says how everything was', async (t) => {
    const gate = (open: boolean) => ({ gate: { open, reason: '' } })
    const stored: StoredEntry[] = [
      { t: 1_000, up: 0, run },
      { t: 1_000, up: 0, set: { ...gate(false), receiver: { link: 'up' } } },
      { t: 5_000, up: 4_000, set: { ...gate(true), receiver: null } },
      { t: 9_000, up: 8_000, set: gate(false) },
    ]
    const cut = (from: number, to: number) =>
      all(
        between(
          entries(() => textsOf(stored)),
          from,
          to,
        ),
      )
    t.same(await cut(6_000, 9_500), [{ t: 6_000, up: 5_000, all: gate(true) }, stored[3]])
    t.same(await cut(6_000, 7_000), [{ t: 6_000, up: 5_000, all: gate(true) }], 'nothing changed then')
    t.equal((await cut(0, 1e12)).length, 4)
    t.same(await cut(1, 2), [])
    t.same(applied({ a: { b: 1 } }, { t: 0, up: 0, run }), {}, 'a run begins with nothing')
  })

  t.test('times', (t) => {
    const at = Date.UTC(2026, 10, 22, 2, 13)
    for (const text of [
      '2026-11-22T02:13',
      '2026-11-22 02:13',
      '2026-11-22T02:13:00Z',
      '2026-11-22T03:13+01:00',
      '2026-11-22T03:13:00+0100',
      String(at / 1000),
    ])
      t.equal(timeOf(text), at, text)
    t.equal(timeOf('2026-11-22'), Date.UTC(2026, 10, 22))
    for (const text of [
      '',
      'x',
      '02:13',
      '2026-02-30',
      '2026-13-01',
      '2026-11-22T25:00',
      '-5',
      '1e9',
      '99999999999',
      '2026-11-22T02:13:00X',
      'NaN',
    ])
      t.equal(timeOf(text), undefined, text)
    t.equal(momentOf('02:13', at + 5_000), at)
    t.equal(momentOf('02:13', at - 5_000), at - 86_400_000, 'yesterday')
    t.throws(() => momentOf('25:00', at), { code: 'RTK_ERR_COMMAND_VALUE', message: /'25:00' is not a time: e\.g\./ })
    t.same(
      rangeOf({ from: '2026-11-22T03:13 01:00', to: String(at / 1000 + 60) }),
      { from_ms: at, to_ms: at + minute_ms },
      'a plus sign in a query',
    )
    for (const [query, text] of [
      [{ from: 'x' }, /from='x' is not a time/],
      [{ to: ['1', '2'] }, /to is given more than once/],
      [{ from: '2', to: '1' }, /from \(1970-01-01T00:00:02Z\) is after to/],
      [{ since: '1' }, /may have from, to, not 'since'/],
    ] as const)
      t.throws(() => rangeOf(query), { code: 'RTK_ERR_RECORD_RANGE', statusCode: 422, message: text })
    t.end()
  })
})

// ── what it says of a minute ──────────────────────────────────────────────────────────────────────────────────────────

const noon = Date.UTC(2026, 10, 22, 2, 0)
/** 02:13, which all are asked about. */
const asked = noon + 13 * minute_ms
const at = (minutes: number, seconds = 0) => noon + minutes * minute_ms + seconds * 1000

const good: Record<string, RecordValue> = {
  gate: { open: true, reason: '' },
  procedure: { status: 'fixed' },
  receiver: { link: 'up', mode: 'fixed', fix: 'time' },
  antenna: { status: 'ok' },
  air: { jammed: false, spoofed: false },
  'link mqtt-link': { state: 'up', reason: '' },
  'uplink eth0': { kind: 'eth', up: true, default: true, reach: 'internet', text: '' },
}
type Part = Partial<RecordEntry> & { t: number }

/** A station that is well from 02:00 on, and what happened to it; minutes are counted until 02:20. */
function story(
  parts: readonly Part[],
  minutes: (minute: number) => Partial<RecordMinute> | undefined = () => ({}),
): RecordEntry[] {
  const up = (entry: Part): RecordEntry => ({ up: entry.t - noon, ...entry })
  const run = { version: '1', how: 'first', text: '', at_ms: 0 }
  const counts = Array.from({ length: 20 }, (_, index) => {
    const more = minutes(index)
    return more && up({ t: at(index + 1), min: counted(more) })
  })
  const told = [
    up({ t: noon, run }),
    up({ t: noon, set: good }),
    ...counts.flatMap((one) => one ?? []),
    ...parts.map(up),
  ]
  return told.sort((one, other) => one.t - other.t)
}
const silent =
  (from: number, to = 99) =>
  (minute: number) =>
    minute >= from && minute < to ? { epochs: 0, gap: 60 } : {}
const closed = (reason: string) => ({ gate: { open: false, reason } })

const situations: [what: string, entries: RecordEntry[], said: (RegExp | undefined)[]][] = [
  [
    'corrections flowed',
    story([]),
    [
      /^RTCM went out at 2026-11-22T02:13Z: 60 epochs to 2 rovers and 1 of 1 link; the longest gap had 1 s\.$/,
      undefined,
    ],
  ],
  [
    'the antenna was open',
    story(
      [
        { t: at(10, 3), set: { antenna: { status: 'open' }, receiver: { link: 'up', mode: 'rover', fix: 'none' } } },
        {
          t: at(10, 9),
          set: {
            ...closed('the signals were lost'),
            procedure: { status: 'acquire' },
            'error antenna-open': { text: 'the antenna is open: check its cable' },
          },
        },
      ],
      (minute) => (minute >= 11 ? { epochs: 0, gap: 60, fix: 'none', visible: 0, used: 0 } : {}),
    ),
    [
      /^No RTCM went out at 2026-11-22T02:13Z\.$/,
      /^The gate was closed from 2026-11-22T02:10:09Z: the signals were lost\.$/,
      /^The procedure was at acquire from 2026-11-22T02:10:09Z: it waited for a 3D fix/,
      /^The antenna was open \(not connected\) from 2026-11-22T02:10:03Z\.$/,
      /^The receiver had no position: 0 satellites received, 0 used\.$/,
      /^Error antenna-open: the antenna is open: check its cable\.$/,
    ],
  ],
  [
    'the receiver was unplugged',
    story(
      [
        {
          t: at(12),
          set: {
            receiver: { link: 'offline', mode: 'unknown', fix: 'none' },
            procedure: { status: 'offline' },
            ...closed('no receiver'),
          },
        },
      ],
      silent(12),
    ),
    [
      /^No RTCM/,
      /gate was closed .*: no receiver/,
      /procedure was at offline/,
      /receiver was not there \(no port.*\) from 2026-11-22T02:12:00Z/,
    ],
  ],
  [
    'the receiver was silent',
    story([{ t: at(12), set: { receiver: { link: 'stalled', mode: 'unknown', fix: 'none' } } }], silent(12)),
    [/^No RTCM/, /receiver was silent from/],
  ],
  [
    'interference',
    story(
      [{ t: at(12), set: { air: { jammed: true, spoofed: false }, ...closed('the signals were lost') } }],
      silent(12),
    ),
    [/^No RTCM/, /gate was closed/, /Interference was too strong for the receiver from/],
  ],
  [
    'spoofing',
    story([{ t: at(12), set: { air: { jammed: false, spoofed: true }, ...closed('held') } }], silent(12)),
    [/^No RTCM/, /gate/, /reported spoofing/],
  ],
  [
    'a survey-in that somebody started',
    story(
      [
        { t: at(11), note: { what: 'command', text: 'start-survey-in (mqtt)' } },
        { t: at(11, 1), set: { procedure: { status: 'survey' }, ...closed('a survey-in runs') } },
      ],
      silent(11),
    ),
    [
      /^No RTCM/,
      /gate was closed .*: a survey-in runs/,
      /was at survey.*: a survey-in ran/,
      /02:11:00Z a command came: start-survey-in \(mqtt\)\.$/,
    ],
  ],
  [
    'a corrected survey-in without corrections',
    story(
      [
        {
          t: at(11),
          set: {
            procedure: { status: 'survey' },
            corrections: { wanted: true, input: 'auto', come: false, remote: '', km: 0 },
            ...closed('a survey-in runs'),
          },
        },
      ],
      silent(11),
    ),
    [/^No RTCM/, /gate/, /survey/, /Corrections were wanted, and none came/],
  ],
  [
    'the antenna was moved',
    story(
      [
        {
          t: at(5),
          set: {
            procedure: { status: 'moved' },
            'error gnss-reference-moved': { text: 'reference moved by E 30 m' },
            ...closed('the antenna was moved'),
          },
        },
      ],
      silent(5),
    ),
    [
      /^No RTCM/,
      /gate was closed from 2026-11-22T02:05:00Z/,
      /was at moved.*an operator had to decide/,
      /^Error gnss-reference-moved: reference moved by E 30 m\.$/,
    ],
  ],
  [
    'a setting was changed',
    story(
      [
        { t: at(12, 58), note: { what: 'change', text: 'gnss-ref-chosen (http)' } },
        { t: at(12, 58), set: { procedure: { status: 'configure' }, ...closed('the reference is not verified yet') } },
      ],
      silent(13, 14),
    ),
    [/^No RTCM/, /gate/, /configure/, /02:12:58Z settings were changed: gnss-ref-chosen \(http\)/],
  ],
  [
    'an interruption of half a minute',
    story(
      [
        { t: at(13, 10), set: closed('the reference is not verified yet') },
        { t: at(13, 40), set: { gate: { open: true, reason: '' } } },
      ],
      (minute) => (minute === 13 ? { epochs: 30, gap: 30 } : {}),
    ),
    [/with an interruption of 30 s: 30 epochs, to 2 rovers/, /gate was closed at 2026-11-22T02:13:10Z/],
  ],
  [
    'a plugin did not run',
    story(
      [
        {
          t: at(12),
          set: { 'plugin rtcm': { state: 'failed', reason: 'boom' }, ...closed('the plugin rtcm does not run') },
        },
      ],
      silent(12),
    ),
    [/^No RTCM/, /gate was closed .*rtcm does not run/, /plugin rtcm was failed: boom/],
  ],
  [
    'no observations',
    story([], silent(12)),
    [/^No RTCM/, /gate was open and the receiver answered, but it sent no observations/],
  ],
  [
    'the service was killed, and started again later',
    [
      ...story([]).filter(({ t }) => t < at(12, 30)),
      {
        t: at(16),
        up: 0,
        run: {
          version: '1',
          how: 'killed',
          text: 'the process was killed (SIGKILL, or the system was out of memory)',
          at_ms: 0,
        },
      },
      { t: at(17), up: minute_ms, min: counted() },
    ],
    [
      /^No RTCM went out at 2026-11-22T02:13Z: the service did not run from 2026-11-22T02:12:00Z; it started again at 2026-11-22T02:16:00Z\.$/,
      /^The run before ended: the process was killed \(SIGKILL/,
    ],
  ],
  [
    'a power cut, the start in that minute',
    [
      ...story([]).filter(({ t }) => t < at(12, 30)),
      {
        t: at(13, 20),
        up: 0,
        run: { version: '1', how: 'power', text: 'the machine restarted: a power cut', at_ms: 0 },
      },
      { t: at(13, 21), up: 1, set: closed('no receiver') },
      { t: at(14, 20), up: 2, min: counted({ epochs: 0, gap: 60 }) },
    ],
    [
      /^No RTCM went out|^The gate was closed/,
      /The service started at 2026-11-22T02:13:20Z/,
      /The run before ended: the machine restarted: a power cut/,
    ],
  ],
  [
    'it was stopped and did not come back',
    [...story([]).filter(({ t }) => t < at(12, 30)), { t: at(12, 40), up: 0, stop: 'shutdown' }],
    [/the service was stopped at 2026-11-22T02:12:40Z \(shutdown\)/],
  ],
  [
    'the record ends',
    story([]).filter(({ t }) => t < at(12, 30)),
    [/^The record ends at 2026-11-22T02:12:00Z: the service did not run/],
  ],
  [
    'the record begins later',
    story([]).filter(({ t }) => t > at(15)),
    [/^Nothing is known of 2026-11-22T02:13Z: the record begins at 2026-11-22T02:16:00Z\.$/],
  ],
  ['an empty record', [], [/^The record is empty/]],
  [
    'a hole: the disk was full',
    [...story([], (minute) => (minute < 12 || minute > 14 ? {} : undefined)), { t: at(14, 30), up: 0, lost: 200 }],
    [/^Nothing was recorded at/, /200 lines of the record could not be written then/],
  ],
  [
    'RTCM was made, and no link was up',
    story(
      [
        {
          t: at(9),
          set: {
            'uplink eth0': {
              kind: 'cellular',
              up: false,
              default: false,
              reach: 'none',
              text: 'the modem of the router has no data connection',
            },
            modem: { connected: false, pending: '' },
          },
        },
        { t: at(9, 5), set: { 'link mqtt-link': { state: 'down', reason: 'the broker answered no ping for 20 s' } } },
        { t: at(12), note: { what: 'recovery', text: 'the modem restarts: no link comes through for 3 min' } },
      ],
      (minute) => (minute >= 9 ? { rovers: 0, links: 0 } : {}),
    ),
    [
      /^RTCM was made at .* \(60 epochs\), but no client got it: no link was up\.$/,
      /^No uplink was up\.$/,
      /^The uplink eth0 was down from 2026-11-22T02:09:00Z: the modem of the router has no data connection\.$/,
      /^The modem had no data connection from/,
      /02:12:00Z recovery: the modem restarts/,
      /^Mqtt-link was down from 2026-11-22T02:09:05Z: the broker answered no ping for 20 s\.$/,
    ],
  ],
  [
    'one of two outputs was refused',
    story([
      {
        t: at(3),
        set: {
          'link ntrip-server rtk2go.com:2101/X': {
            state: 'refused',
            reason: 'the caster does not accept the password',
          },
        },
      },
    ]),
    [
      /60 epochs to 2 rovers and 1 of 2 links/,
      /^Ntrip-server rtk2go\.com:2101\/X was refused from 2026-11-22T02:03:00Z: the caster does not accept the password\.$/,
    ],
  ],
  [
    'an output came back in that minute',
    story([
      { t: at(12), set: { 'link mqtt-link': { state: 'down', reason: 'timeout' } } },
      { t: at(13, 30), set: { 'link mqtt-link': { state: 'up', reason: '' } } },
    ]),
    [/60 epochs/, /^Mqtt-link was down for a part of the minute/],
  ],
  [
    'the gate opened again in that minute: since when it was closed',
    story(
      [
        { t: at(5, 10), set: { gate: { open: false, reason: 'the antenna moved' } } },
        { t: at(13, 30), set: { gate: { open: true, reason: '' } } },
      ],
      (minute) => (minute === 13 ? { epochs: 30, gap: 30 } : {}),
    ),
    [/interruption of 30 s/, /^The gate was closed from 2026-11-22T02:05:10Z: the antenna moved\.$/],
  ],
  [
    'several things in one minute: what lasted longest, and what it began with',
    story(
      [
        {
          t: at(13, 5),
          set: {
            ...closed('the receiver is gone'),
            receiver: { link: 'offline', mode: 'unknown', fix: 'none' },
            procedure: { status: 'offline' },
          },
        },
        {
          t: at(13, 6),
          set: { receiver: { link: 'up', mode: 'rover', fix: 'none' }, procedure: { status: 'identify' } },
        },
        { t: at(13, 8), set: { ...closed('the reference is not verified yet'), procedure: { status: 'configure' } } },
        { t: at(13, 12), set: { procedure: { status: 'initial' } } },
        { t: at(13, 55), set: { procedure: { status: 'fixed' }, gate: { open: true, reason: '' } } },
      ],
      (minute) => (minute === 13 ? { epochs: 10, gap: 50 } : {}),
    ),
    [
      /interruption of 50 s/,
      /^The gate was closed at 2026-11-22T02:13:05Z: the receiver is gone; after that: the reference is not verified yet\.$/,
      /^The procedure was at initial at 2026-11-22T02:13:12Z: .*; in the same minute: offline \(1 s\), identify \(2 s\), configure \(4 s\)\.$/,
      /^The receiver was not there .* at 2026-11-22T02:13:05Z\.$/,
    ],
  ],
  [
    'the gate is closed for another reason by now',
    story(
      [
        { t: at(5, 10), set: closed('the antenna was moved') },
        { t: at(9), set: closed('a survey-in runs') },
      ],
      silent(5),
    ),
    [
      /^No RTCM/,
      /^The gate was closed from 2026-11-22T02:05:10Z: the antenna was moved; after that: a survey-in runs\.$/,
    ],
  ],
  [
    'W7: the service restarted, and most plugins had not started yet',
    story(
      [
        { t: at(13, 5), stop: 'shutdown' },
        { t: at(13, 20), run: { version: '1', how: 'stopped', text: 'it was stopped', at_ms: at(13, 5) } },
        {
          t: at(13, 20),
          set: {
            ...Object.fromEntries(
              ['eth', 'log', 'modem', 'mqtt-link', 'ota'].map((name) => [
                `plugin ${name}`,
                { state: 'stopped', reason: '' },
              ]),
            ),
            'plugin radio': { state: 'starting', reason: '' },
            'plugin sta': { state: 'stopping', reason: 'shutdown' },
            ...closed('the reference is checked first'),
            procedure: { status: 'initial' },
          },
        },
      ],
      silent(13, 14),
    ),
    [/^No RTCM/, /service started/, /run before ended/, /gate was closed/, /procedure was at initial/, undefined],
  ],
  [
    'W7: plugins that wait for one that failed',
    story(
      [
        {
          t: at(13),
          set: {
            'plugin gnss': { state: 'waiting', reason: 'needs the service receiver' },
            'plugin rtcm': { state: 'waiting', reason: 'needs the service receiver' },
            'plugin survey-in': { state: 'waiting', reason: 'needs the service receiver' },
            'plugin gnss-zed': { state: 'failed', reason: 'boom' },
            ...closed('the plugin rtcm does not run'),
          },
        },
      ],
      silent(13),
    ),
    [
      /^No RTCM/,
      /gate was closed/,
      /plugin gnss-zed was failed: boom/,
      /^The plugins gnss, rtcm, survey-in were waiting: needs the service receiver\.$/,
      undefined,
    ],
  ],
  [
    'a plugin that was repaired in that minute',
    story(
      [
        {
          t: at(12),
          set: { 'plugin rtcm': { state: 'failed', reason: 'boom' }, ...closed('the plugin rtcm does not run') },
        },
        { t: at(13, 40), set: { 'plugin rtcm': null, gate: { open: true, reason: '' } } },
      ],
      (minute) => (minute === 13 ? { epochs: 20, gap: 40 } : {}),
    ),
    [/interruption of 40 s/, /gate was closed/, /^The plugin rtcm was failed: boom\.$/],
  ],
  [
    'an output that was not wanted is no fault',
    story([{ t: at(3), set: { 'link ntrip-client': { state: 'idle', reason: '' } } }]),
    [/1 of 1 link/, undefined],
  ],
  [
    'the clock was set later',
    story([{ t: at(20), clock: { by_ms: 7_200_000 } }]),
    [/^RTCM went out/, /clock of the station was set by 7200 s/],
  ],
]

t.test('why no RTCM went out', async (t) => {
  for (const [what, told, said] of situations)
    await t.test(what, async (t) => {
      const sentences = answer(await find(told, asked), at(30))
      for (const [index, pattern] of said.entries()) {
        if (pattern) t.match(sentences.join('\n'), new RegExp(pattern.source, 'm'), `${pattern}`)
        else t.equal(sentences.length, index, sentences.join('\n'))
      }
      if (said[0]) t.match(sentences[0], said[0], 'comes first')
      t.ok(
        sentences.every((sentence) => /^[A-Z0-9].*\.$/.test(sentence)),
        'sentences',
      )
    })
})

t.test('W7: a gate that is open again is explained, too', async (t) => {
  const told = story([
    { t: at(13, 10), set: closed('the antenna seems to have moved') },
    { t: at(13, 28), set: { gate: { open: true, reason: '' } } },
  ]).filter(({ t }) => t < at(13, 30))
  for (const [now_ms, why] of [
    [at(13, 31), 'the minute is not over yet'],
    [at(14, 9), 'its count is not written yet'],
  ] as const) {
    const [head, ...causes] = answer(await find(told, asked), now_ms)
    t.equal(head, `The gate was closed for a part of 2026-11-22T02:13Z (${why}).`)
    t.equal(causes[0], 'The gate was closed at 2026-11-22T02:13:10Z: the antenna seems to have moved.')
  }
  const open = answer(
    await find(
      story([]).filter(({ t }) => t < at(13, 30)),
      asked,
    ),
    at(13, 31),
  )
  t.strictSame(open, ['The gate was open at 2026-11-22T02:13Z (the minute is not over yet).'])
})

/** What the explanation of a minute says when the timeline has this cause for most of it. */
const saidOf: Record<string, RegExp> = {
  sent: /^RTCM went out at [^ ]+: |^The gate was open/,
  interrupted: /with an interruption of/,
  'no-client': /no client got it/,
  'no-observations': /it sent no observations|The record has no reason/,
  'receiver-gone': /The receiver was not there/,
  'receiver-silent': /The receiver was silent/,
  moved: /The procedure was at moved/,
  'antenna-open': /The antenna was open/,
  'antenna-short': /The antenna was short-circuited/,
  jammed: /Interference was too strong/,
  spoofed: /reported spoofing/,
  survey: /The procedure was at survey/,
  plugin: /The plugin [\w-]+ was/,
  'gate-closed': /The gate was closed/,
  'service-stopped': /the service (was stopped|did not run)/,
  'service-killed': /the service did not run/,
  'service-failed': /the service did not run/,
  'service-blocked': /the service did not run/,
  'power-cut': /the service (did not run|started)/i,
  unknown: /Nothing (is known|was recorded)|The record (ends|begins|is empty)/,
}
const spansOf = (told: readonly RecordEntry[], from: number, to: number) =>
  timeline(told, { from_ms: from, to_ms: to }, at(30))

t.test('the timeline', async (t) => {
  t.test('S7: viewers get times and causes, and no sentences of plugins', async (t) => {
    const values = { plugin: 'radio', state: 'failed', reason: 'the network farm refuses' }
    t.strictSame(withoutSentences({ from: 1, to: 2, cause: 'plugin', values }), {
      ...{ from: 1, to: 2, cause: 'plugin' },
      values: { plugin: 'radio', state: 'failed' },
    })
  })
  for (const [what, told] of situations)
    await t.test(`agrees with the explanation: ${what}`, async (t) => {
      const spans = await spansOf(told, asked, asked + minute_ms)
      const sentences = answer(await find(told, asked), at(30)).join('\n')
      const longest = spans.reduce((one, other) => (other.to - other.from > one.to - one.from ? other : one))
      const { cause } = longest
      const pattern = cause.startsWith('procedure-') ? new RegExp(`was at ${cause.slice(10)}`) : saidOf[cause]
      if (!pattern) throw new Error(`no pattern for ${cause}`)
      t.match(sentences, new RegExp(pattern.source, 'm'), `${cause}: ${JSON.stringify(spans)}`)
      t.equal(spans[0]?.from, asked)
      t.equal(spans.at(-1)?.to, asked + minute_ms)
      for (const [index, span] of spans.slice(1).entries()) t.equal(span.from, spans[index]?.to, 'contiguous')
    })

  await t.test('has one band for each cause of a night', async (t) => {
    const open = { antenna: { status: 'open' }, ...closed('no fix'), procedure: { status: 'acquire' } }
    const told = story(
      [
        { t: at(5, 10), set: open },
        { t: at(7, 10), set: good },
        { t: at(9), stop: 'shutdown' },
        { t: at(9, 30), run: { version: '1', how: 'stopped', text: 'it was stopped', at_ms: at(9) } },
        { t: at(9, 30), set: good },
      ],
      (minute) => (minute >= 5 && minute < 7 ? { epochs: 10, gap: 50 } : minute === 12 ? { epochs: 0, gap: 60 } : {}),
    )
    const spans = await spansOf(told, noon, at(20))
    t.match(
      spans.map(({ cause, from }) => [cause, (from - noon) / 1000]),
      [
        ['sent', 0],
        ['antenna-open', 310],
        ['sent', 430],
        ['service-stopped', 540],
        ['sent', 570],
        ['no-observations', 720],
        ['sent', 780],
      ],
    )
    t.match(spans[0], { values: { epochs: Number, rovers: 2 } })
    t.match(spans[1], { values: { reason: 'no fix' } })
    t.same(await spansOf(told, at(6), at(6, 30)), [
      { from: at(6), to: at(6, 30), cause: 'antenna-open', values: { reason: 'no fix' } },
    ])
    t.match(await spansOf(told, noon - minute_ms, noon), [{ cause: 'unknown' }], 'before the record')
    t.match(await spansOf([], noon, at(1)), [{ from: noon, to: at(1), cause: 'unknown', values: {} }])
    t.same(await spansOf(told, noon, noon), [])
  })

  await t.test('is bounded, whatever flaps', async (t) => {
    const parts = Array.from({ length: 20_000 }, (_, n) => ({
      t: noon + 1 + n * 50,
      set: n % 2 === 0 ? closed(`reason ${'abc'[n % 3]}`) : { gate: { open: true, reason: '' } },
    }))
    const spans = await spansOf(
      story(parts, () => undefined),
      noon,
      at(17),
    )
    t.ok(spans.length <= 500 && spans.length > 10, `${spans.length}`)
    t.equal(spans[0]?.from, noon)
    t.equal(spans.at(-1)?.to, at(17))
    t.ok(spans.every((span, index) => index === 0 || span.from === spans[index - 1]?.to))
  })
})

// ── the real station ──────────────────────────────────────────────────────────────────────────────────────────────────

async function station(t: Test, options: { simulator?: object; plugins?: object } = {}) {
  const rig = await simulated(t, {
    ...options,
    plugins: {
      record: record as AnyPlugin,
      recovery: recovery as AnyPlugin,
      'http-api': httpApi as AnyPlugin,
      ...options.plugins,
    },
  })
  const why = async (arg = '') => (await rig.command(`why-no-rtcm${arg}`)).text
  const read = async (query = '') => {
    const { text, status } = await rig.station.request(`/record${query}`)
    return {
      status,
      entries:
        status === 200
          ? text
              .trim()
              .split('\n')
              .filter(Boolean)
              .map((line) => JSON.parse(line) as RecordEntry)
          : [],
      text,
    }
  }
  return { ...rig, why, read }
}

t.test('a station that is watched', { skip: gateOnly }, async (t) => {
  const rig = await station(t)
  const { clock, command, why, read } = rig
  await rig.until(() => rig.field('state.status') === 'fixed', 120)
  // Whole minutes of the day, for times as a person writes them.
  await clock.advance(minute_ms - (clock.now() % minute_ms))
  await clock.advance(3 * minute_ms)
  const minute = (back: number) => new Date(clock.now() - back * minute_ms).toISOString().slice(11, 16)
  t.match(await why(`=${minute(2)}`), /^RTCM went out at .*: 60 epochs to 1 rover and 0 of 0 links/)
  await clock.advance(10_000)
  await command('sim=antenna open')
  await clock.advance(2.5 * minute_ms)
  const text = await why(`=${minute(0)}`)
  t.match(text, /^The gate was closed at/)
  t.match(text, /antenna was open \(not connected\) from 2026-11-21T00:\d\d:\d\dZ\./)
  t.match(text, /a command came: sim=antenna open \(console\)/)
  t.equal(await why(), text, 'alone: now')
  await command('sim=antenna ok')
  await rig.until(() => rig.field('state.status') === 'fixed', 120)
  await clock.advance(2 * minute_ms)
  t.match(await why(`=${minute(4)}`), /^No RTCM went out[\s\S]*The antenna was open/)

  const asked = async (query = '') => {
    const { status, text } = await rig.station.request(`/record/timeline${query}`)
    return { status, ...(JSON.parse(text) as { spans: { from: number; to: number; cause: string }[] }) }
  }
  const { spans } = await asked()
  t.equal((spans.at(-1)?.to ?? 0) - (spans[0]?.from ?? 0), 86_400_000, 'the last 24 hours')
  t.match([spans[0]?.cause, spans.at(-1)?.cause], ['unknown', 'sent'])
  t.ok(['survey', 'antenna-open'].every((cause) => spans.some((span) => span.cause === cause)))
  const [open] = spans.filter(({ cause }) => cause === 'antenna-open')
  t.ok(open && open.to - open.from > 120_000)
  t.equal((await asked(`?from=${Math.floor(clock.now() / 1000) + 60}`)).spans.length, 0, 'the future is empty')
  for (const query of ['?from=x', '?from=2&to=1', '?until=1', '?from=1&from=2'])
    t.equal((await asked(query)).status, 422, query)

  const { entries } = await read()
  for (const entry of entries) t.ok(Value.Check(RecordEntry, entry), JSON.stringify(entry))
  t.match(
    entries.find(({ run }) => run),
    { run: { how: 'unknown' } },
  )
  const antenna = entries.flatMap(({ set }) => (set?.antenna ? [set.antenna.status] : []))
  t.same(antenna.slice(-3), ['ok', 'open', 'ok'])
  const minutes = entries.flatMap(({ min }) => min ?? [])
  t.match(
    minutes.find(({ epochs }) => epochs === 60),
    { frames: { 1005: 60 }, fixes: 60, rovers: 1, fix: 'time' },
  )
  t.ok(minutes.some(({ epochs, visible }) => epochs === 0 && visible === 0))
  const statuses = entries.flatMap(({ set }) => (set?.procedure ? [set.procedure.status] : []))
  t.ok(
    ['acquire', 'survey', 'fixed'].every((status) => statuses.includes(status)),
    statuses.join(' '),
  )

  const from = Math.floor(clock.now() / 1000) - 60
  const part = (await read(`?from=${from}`)).entries
  t.match(part[0], { t: from * 1000, all: { gate: { open: true } } })
  t.ok(part.length < entries.length && part.every(({ t }) => t >= from * 1000))
  for (const query of ['?from=x', '?from=2&to=1', '?until=1', '?from=1&from=2']) {
    const { status, text } = await read(query)
    t.equal(status, 422, query)
    t.match(text, /RTK_ERR_RECORD_RANGE/)
  }
  t.match(await command('why-no-rtcm=soon'), { status: 400, text: /'soon' is not a time/ })
  t.match(await command('why-no-rtcm=2030-01-01'), { status: 400, text: /in the future/ })
  const many = await Promise.all(Array.from({ length: 4 }, () => command('why-no-rtcm')))
  t.same(many.map(({ status }) => status).sort(), [200, 200, 503, 503], 'each reads the whole record: two at once')

  await rig.change({ 'gnss-initial-accuracy': 7, 'mqtt-host': 'unknown here' })
  await rig.station.reload('rtcm')
  await rig.station.reload('record')
  await clock.advance(2_000)
  const notes = (await read()).entries.flatMap(({ note }) => (note ? [`${note.what} ${note.text}`] : []))
  t.ok(notes.includes('change gnss-initial-accuracy (http)'), notes.join('; '))
  t.ok(notes.some((one) => /^reload rtcm/.test(one)))
  const warnings = () => rig.station.lines.filter(({ msg }) => /a subscriber failed/.test(String(msg)))
  t.strictSame(warnings(), [], 'a reload is no failure of a subscriber')
  t.same((await read()).entries.flatMap(({ run }) => run ?? []).length, 1, 'a reload is no start')
  await rig.station.unload('record')
  t.equal((await rig.station.request('/record')).status, 404)
})

type Spans = readonly { readonly from: number; readonly to: number; readonly cause: string }[]

/** A station that streams whatever an imitated receiver sends, with the record beside it. */
async function streaming(t: Test, clock: ManualClock) {
  const receiver = fakeReceiver(() => clock.monotonic())
  const plugins = {
    ...{ 'fake-receiver': receiver.definition, rtcm: rtcm as AnyPlugin, record: record as AnyPlugin },
    'http-api': httpApi as AnyPlugin,
  }
  const made = await createTestStation({ clock, plugins })
  t.teardown(made.stop)
  receiver.become({ mode: 'listening' })
  receiver.emit(arpFrame({ x: 3_925_405, y: 274_491, z: 5_002_842 }))
  const rig = {
    ...made,
    epochs: 0,
    /** An epoch each second. */
    async seconds(count: number) {
      for (let second = 0; second < count; second++) {
        await clock.advance(1_000)
        receiver.emit(msmFrame(1074, rig.epochs * 1_000, false))
        rig.epochs += 1
      }
    },
  }
  return rig
}

t.test('the clock of a station is set: the minutes before count by the new one', async (t) => {
  const receiver = fakeReceiver(() => clock.monotonic())
  const clock = new ManualClock(Date.UTC(2026, 10, 22))
  const plugins = { 'fake-receiver': receiver.definition, rtcm: rtcm as AnyPlugin, record: record as AnyPlugin }
  const { station, lines, stop, request } = await createTestStation({ clock, plugins })
  t.teardown(stop)
  receiver.become({ mode: 'listening' })
  receiver.emit(arpFrame({ x: 3_925_405, y: 274_491, z: 5_002_842 }))
  for (let second = 0; second < 300; second++) {
    receiver.emit(msmFrame(1074, second * 1_000, false))
    await clock.advance(1_000)
  }
  clock.stepUtc(3_600_000)
  await clock.advance(2_000)
  const { text } = await request('/record')
  t.match(JSON.parse(text.trim().split('\n').at(-1) as string), { clock: { by_ms: 3_600_000 } })
  const answered = await station.command('why-no-rtcm=01:02', { source: 'http' })
  t.match(answered.text, /^RTCM went out at 2026-11-22T01:02Z: 60 epochs/)
  clock.stepUtc(-7_200_000)
  await clock.advance(2_000)
  t.match((await station.command('why-no-rtcm=2026-11-21T23:02', { source: 'http' })).text, /^RTCM went out/)
  t.same(
    lines.filter(({ level }) => level >= 50),
    [],
  )
})

t.test('W1: the answer of a minute and the timeline agree, whenever the service started', async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 10, 22, 0, 0, 30))
  const rig = await streaming(t, clock)
  // RTCM pauses from 00:02:40 to 00:02:48, and from 00:05:10 to 00:05:18.
  await rig.seconds(130)
  await clock.advance(8_000)
  await rig.seconds(142)
  await clock.advance(8_000)
  await rig.seconds(132)
  const { spans } = JSON.parse((await rig.request('/record/timeline')).text) as { spans: Spans }
  const causeAt = (at_ms: number) => spans.find(({ from, to }) => from <= at_ms && at_ms < to)?.cause
  for (let minute = 1; minute <= 6; minute++) {
    const at_ms = Date.UTC(2026, 10, 22, 0, minute)
    const isInterrupted = minute === 2 || minute === 5
    const { text } = await rig.station.command(`why-no-rtcm=00:0${minute}`, { source: 'http' })
    t.match(text, isInterrupted ? /with an interruption of [89] s/ : /^RTCM went out at [^ ]+: 60 epochs/, text)
    for (const second of [0, 15, 30, 45, 59])
      t.equal(causeAt(at_ms + second * 1_000), isInterrupted ? 'interrupted' : 'sent', `00:0${minute}:${second}`)
  }
  const text = (await rig.station.command('why-no-rtcm=00:00', { source: 'http' })).text
  t.match(text, /: (29|30) epochs/, 'the minute of the start has what there was of it')
})

t.test('W1: the clock is set in the middle of a minute: no epoch is lost or counted twice', async (t) => {
  for (const by_ms of [-50_000, -20_000, -7_000, 7_000, 20_000, 50_000, 3_600_000 + 13_000]) {
    const clock = new ManualClock(Date.UTC(2026, 10, 22, 5, 0, 10))
    const rig = await streaming(t, clock)
    await rig.seconds(200)
    clock.stepUtc(by_ms)
    await rig.seconds(200)
    await rig.seconds((minute_ms - (clock.now() % minute_ms)) / 1_000 - 1)
    await clock.advance(1_000)
    const lines = (await rig.request('/record')).text.trim().split('\n')
    const read = lines.map((line) => JSON.parse(line) as RecordEntry)
    const begin_ms = read[0]?.t ?? 0
    let epochs = 0
    for (let at_ms = Math.floor(begin_ms / minute_ms) * minute_ms; at_ms < clock.now(); at_ms += minute_ms) {
      const { minute } = await find(read, at_ms)
      t.ok(minute || at_ms < begin_ms, `${by_ms}: ${new Date(at_ms).toISOString()} has a count`)
      epochs += minute?.epochs ?? 0
    }
    t.equal(epochs, rig.epochs, `${by_ms}: each epoch is in one minute`)
  }
})

t.test('W1: an interruption is in the timeline, though the clock ran some milliseconds slow', async (t) => {
  const told = story([], (minute) => (minute === 4 || minute === 5 ? { gap: 12, interrupted: true } : {})).map(
    (entry) => (entry.min && entry.t === at(6) ? { ...entry, t: at(6) - 2 } : entry),
  )
  const spans = await spansOf(told, noon, at(20))
  t.match(
    spans.map(({ cause, from, to }) => [cause, from, to]),
    [
      ['sent', noon, at(4)],
      ['interrupted', at(4), at(6) - 2],
      ['sent', at(6) - 2, at(20)],
    ],
  )
})

t.test('a minute is counted whatever is missing, and what nobody says is unknown', (t) => {
  const ctx = { clock: new ManualClock(), services: { find: () => undefined } }
  const nothing = { fix: 'none', used: 0, visible: 0, acc: 0, pos: [], jam: 'unknown', rovers: 0, links: 0 }
  t.match(new Minutes(ctx as unknown as PluginContext).take(), nothing)
  t.end()
})

t.test('a minute has its longest gap between epochs, that at its end too', async (t) => {
  const clock = new ManualClock()
  const ctx = { clock, services: { find: () => undefined } }
  const minutes = new Minutes(ctx as unknown as PluginContext)
  for (const ms of [1_000, 7_000, 2_000]) {
    await clock.advance(ms)
    minutes.epoch({} as never)
  }
  await clock.advance(3_000)
  t.match(minutes.take(), { epochs: 3, gap: 7 })
  await clock.advance(5_000)
  t.match(minutes.take(), { epochs: 0, gap: 8 }, 'it goes on over the end of the minute')
})

t.test('S1: the record has the last number of a text, once a minute', async (t) => {
  const rig = await station(t)
  await rig.until(() => rig.field('state.status') === 'fixed', 120)
  await rig.seconds(60)
  for (let move = 0; move < 3; move++) {
    rig.simulated.move(1, 0, 0)
    await rig.seconds(10)
  }
  await rig.seconds(60)
  const [{ text }] = rig.station.device.errors().filter(({ code }) => code === 'gnss-moved')
  t.match(text, 'in 3 moves')
  const texts = (await rig.read()).entries.flatMap(({ set }) => set?.['error gnss-moved']?.text ?? [])
  t.equal(texts.at(-1), text)
  t.ok(texts.length <= 4, `${texts.length} lines for three moves`)
})

t.test('what flaps does not fill the record', async (t) => {
  const rig = await station(t)
  await rig.until(() => rig.field('state.status') === 'fixed', 120)
  for (let round = 0; round < 40; round++) {
    await rig.command(`sim=antenna ${round % 2 ? 'ok' : 'open'}`)
    await rig.clock.advance(1_000)
  }
  await rig.clock.advance(70_000)
  const { entries } = await rig.read()
  const changes = entries.filter(({ set }) => set?.antenna).length
  t.ok(changes <= 27, `${changes} lines for 40 changes`)
  t.ok(entries.some(({ note }) => note?.what === 'flapping' && /^antenna/.test(note.text)))
  t.match(
    entries.findLast(({ set }) => set?.antenna)?.set?.antenna,
    { status: 'ok' },
    'how it is in the end is written',
  )
})

t.test('replay', async (t) => {
  t.test('what the states of a record become', (t) => {
    const [x, y, z] = counted().pos as [number, number, number]
    const entries = story(
      [
        { t: at(1), set: { antenna: { status: 'open' } } },
        { t: at(2), set: { antenna: { status: 'ok' }, receiver: { link: 'offline', mode: 'unknown', fix: 'none' } } },
        { t: at(3), set: { receiver: { link: 'stalled', mode: 'unknown', fix: 'none' } } },
        { t: at(4), set: { receiver: { link: 'up', mode: 'rover', fix: '3d' } } },
        { t: at(5), set: { air: { jammed: true, spoofed: true } } },
        { t: at(6), set: { air: { jammed: false, spoofed: false } } },
        { t: at(7), set: { corrections: { wanted: true, input: 'auto', come: true, remote: 'x', km: 12 } } },
        { t: at(8), set: { corrections: { wanted: true, input: 'auto', come: false, remote: 'x', km: 12 } } },
        { t: at(15), set: { procedure: { status: 'moved' } } },
        { t: at(16), set: { procedure: { status: 'fixed' } } },
      ],
      (minute) => {
        if (minute === 9) return { visible: 6 }
        if (minute === 11) return { pos: [x, y, z + 40], acc: 1 }
        if (minute === 13) return { pos: [x, y, z + 2], acc: 1 }
        return minute === 17 ? { jam: 'warning' } : {}
      },
    )
    const steps = scriptOf(entries).map(({ after_ms, command }) => `${after_ms / minute_ms} ${command}`)
    t.same(
      steps.filter((step) => !/ move /.test(step)),
      [
        ...['1 antenna open', '2 unplug', '2 antenna ok', '3 replug', '3 silence on', '4 silence off'],
        ...['5 jam 30', '5 spoof 2', '6 jam off', '6 spoof off', '7 corrections 12000', '8 corrections off'],
        ...['10 satellites 6', '11 satellites off', '18 jam 10', '19 jam off'],
      ],
    )
    const moves = steps.filter((step) => / move /.test(step))
    t.match(moves, [
      /^12 move \S+ 24\.\d+ 31\.\d+$/,
      /^13 move \S+ -24\.\d+ -31\.\d+$/,
      '15 move 0.1 0 0',
      '16 move -0.1 0 0',
    ])
    t.same(scriptOf([]), [])
    t.end()
  })

  t.test('the same transitions of the procedure at the same times', { skip: gateOnly }, async (t) => {
    const first = await station(t)
    await first.until(() => first.field('state.status') === 'fixed', 120)
    await first.clock.advance(2 * minute_ms)
    const from_ms = first.clock.now()
    await first.clock.advance(30_000)
    await first.command('sim=antenna open')
    await first.clock.advance(minute_ms)
    await first.command('sim=antenna ok')
    await first.clock.advance(2 * minute_ms)
    await first.command('sim=unplug')
    await first.clock.advance(20_000)
    await first.command('sim=replug')
    await first.clock.advance(2 * minute_ms)
    const query = `?from=${from_ms / 1000}`
    const { text } = await first.read(query)
    const file = join(folder(t), 'night.jsonl')
    writeFileSync(file, text)

    const second = await station(t, { simulator: { record: file, recordDelay_s: 120 } })
    const begin_ms = second.clock.now() + 120_000
    await second.seconds(120 + (first.clock.now() - from_ms) / 1000)
    const transitions = async (rig: typeof first, since_ms: number) => {
      const { entries } = await rig.read(`?from=${Math.floor(since_ms / 1000)}`)
      return entries.flatMap(({ t, set }) =>
        set?.procedure ? [{ status: String(set.procedure.status), after_s: (t - since_ms) / 1000 }] : [],
      )
    }
    const was = await transitions(first, from_ms)
    const is = await transitions(second, begin_ms)
    for (const list of [was, is])
      t.comment(list.map(({ status, after_s }) => `${status} ${Math.round(after_s)}`).join(', '))
    t.ok(was.length >= 6, `${was.length} transitions`)
    t.same(
      is.map(({ status }) => status),
      was.map(({ status }) => status),
    )
    for (const [index, { status, after_s }] of was.entries())
      t.ok(Math.abs(after_s - (is[index]?.after_s ?? 0)) < 15, `${status} at ${after_s} s and ${is[index]?.after_s} s`)
    t.ok(second.station.lines.some(({ msg }) => msg === 'the record: antenna open'))
    await second.station.reload('gnss-zed')
    t.equal(second.station.lines.filter(({ msg }) => msg === 'the record: antenna open').length, 1, 'a reload goes on')
  })

  t.test('a file that is none is an error entry', async (t) => {
    const path = folder(t)
    writeFileSync(join(path, 'a'), 'no record\n')
    for (const [file, text] of [
      ['missing', /ENOENT/],
      ['a', /its first line is not a line of a flight record/],
    ] as const) {
      const rig = await station(t, { simulator: { record: join(path, file) } })
      await rig.clock.advance(1_000)
      await until(() => rig.station.lines.some(({ msg }) => text.test(msg)), 'the error')
    }
  })
})
