import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import * as promises from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { type Logger, pino } from 'pino'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import type { FileSystem } from '../../runtime/platform/files/disk.js'
import { replaceFile } from '../../runtime/platform/files/durable-file.js'
import {
  decodeSnapshot as decode,
  encodeSnapshot,
  recover,
  type SlotContent,
  type Snapshot,
} from '../../runtime/platform/store/snapshot.js'
import { openStore, type Store, type StoreOptions } from '../../runtime/platform/store/store.js'
import { definePlugin } from '../../runtime/plugin.js'
import { childEnv, createTestStation, gateOnly, ManualClock, sample, until } from '../harness/index.js'
import { MemoryStore } from '../harness/memory-store.js'
import { seeded } from '../harness/seeded.js'

t.setTimeout(900_000)

/** Of this version's layout. */
function decodeSnapshot(bytes: Uint8Array): Snapshot | undefined {
  const found = decode(bytes)
  return typeof found === 'object' ? found : undefined
}

const log: Logger = pino({ level: 'silent' })
const writer = fileURLToPath(new URL('../harness/children/store-writer.js', import.meta.url))

/** In CI nothing may be left out, so what is missing is a failure there. */
const unless = (able: boolean, reason: string) => (able || process.env.CI === 'true' ? {} : { skip: reason })

const snapshots = (folder: string) => ['snapshot-0', 'snapshot-1'].map((name) => join(folder, name)) as [string, string]
const codes = (store: Store) => store.troubles.map(({ code }) => code)
const setting = (value: unknown) => [{ namespace: 'config', key: 'n', value }]

async function filled(folder: string, count = 20): Promise<void> {
  const store = await openStore(folder, log)
  for (let n = 0; n < count; n++)
    await store.batch([{ namespace: 'config', key: `key-${n}`, value: { n, text: 'x'.repeat(100) } }])
  await store.close()
}

/** Opens, hands over and closes. */
async function opened<T>(
  folder: string,
  use: (store: Store) => T | Promise<T>,
  options: StoreOptions = {},
): Promise<T> {
  const store = await openStore(folder, log, options)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** A file system that fails where `failing` names an error for a call and its path. */
function faulty(failing: (call: string, path: string) => string | undefined): FileSystem {
  const fail = (call: string, path: unknown) => {
    const code = failing(call, String(path))
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${call} '${String(path)}'`), { code })
  }
  return new Proxy(promises, {
    get: (target, call: keyof typeof promises) => {
      const real = target[call] as (...args: unknown[]) => Promise<unknown>
      return async (...args: unknown[]) => {
        fail(call, args[0])
        const result = await real(...args)
        if (call !== 'open') return result
        const handle = result as promises.FileHandle
        const { sync } = handle
        handle.sync = async () => {
          fail('sync', args[0])
          await sync.call(handle)
        }
        return handle
      }
    },
  }) as unknown as FileSystem
}

t.test('every store', async (t) => {
  for (const kind of ['files', 'memory'] as const) {
    t.test(`${kind}: keeps JSON values by namespace, and hands out copies`, async (t) => {
      const store = kind === 'memory' ? new MemoryStore() : await openStore(join(t.testdir(), 'store'), log)
      t.teardown(() => store.close())
      const value = { list: [1, 'two', null], nested: { ok: true } }
      await store.batch([
        { namespace: 'a', key: 'k', value },
        { namespace: 'a', key: '__proto__', value: 'an entry like any other' },
        { namespace: 'a\0k', key: '', value: 0 },
        { namespace: 'a', key: '\ud800', value: 'lone' },
        { namespace: 'a', key: '\ud801', value: 'alone' },
      ])
      value.list.push('changed later')
      t.same(await store.get('a', 'k'), { list: [1, 'two', null], nested: { ok: true } })
      t.equal(Object.getOwnPropertyDescriptor(await store.entries('a'), '__proto__')?.value, 'an entry like any other')
      t.equal(await store.get('a\0k', ''), 0)
      t.equal(await store.get('a', '\ud800'), 'lone')
      t.equal(await store.get('a', '\ud801'), 'alone')
      t.equal(await store.get('nowhere', 'k'), undefined)
      t.same(new Set(await store.namespaces()), new Set(['a', 'a\0k']))
      await store.batch([{ namespace: 'a\0k', key: '', value: undefined }])
      t.same(await store.namespaces(), ['a'], 'a namespace without entries does not exist')
    })

    t.test(`${kind}: a factory reset keeps what is protected, and nothing else is taken from then on`, async (t) => {
      const store = kind === 'memory' ? new MemoryStore() : await openStore(join(t.testdir(), 'store'), log)
      t.teardown(() => store.close())
      const all = ['x', 'protected.y']
      await store.batch(all.flatMap((namespace) => [1, 2].map((n) => ({ namespace, key: `k${n}`, value: n }))))
      await store.factory()
      t.same(await store.namespaces(), ['protected.y'])
      t.same(await store.entries('protected.y'), { k1: 1, k2: 2 })
      const write = (namespace: string) => store.batch([{ namespace, key: 'k', value: 3 }])
      await t.rejects(write('x'), { code: 'RTK_ERR_STORE_WRITE', message: /factory reset/ })
      await write('protected.y')
      t.same(await store.namespaces(), ['protected.y'])
    })
  }

  t.test('memory: its writes and copies are counted', async (t) => {
    const store = new MemoryStore()
    await store.batch(setting(1))
    await store.batch(setting(2))
    t.same([store.writes, store.copies], [2, 0])
    await store.keepCopy()
    await store.keepCopy()
    t.same([store.writes, store.copies], [4, 2])
    await store.dropCopy()
    t.same([store.copies, await store.namespaces()], [0, ['config']])
  })

  t.test('memory: a failure that is switched on refuses everything and writes nothing', async (t) => {
    const store = new MemoryStore({ config: { port: 1 } })
    store.failure = 'disk full'
    await t.rejects(store.batch([{ namespace: 'config', key: 'port', value: 2 }]), { code: 'RTK_ERR_STORE_WRITE' })
    t.equal(await store.get('config', 'port'), 1)
  })
})

t.test('survives being closed and opened, private to its user', async (t) => {
  const folder = join(t.testdir(), 'store')
  mkdirSync(folder, { mode: 0o777 })
  chmodSync(folder, 0o777)
  await filled(folder)
  const store = await openStore(folder, log)
  t.same(await store.get('config', 'key-19'), { n: 19, text: 'x'.repeat(100) })
  t.same(store.troubles, [])
  t.equal(statSync(folder).mode & 0o777, 0o700)
  for (const name of readdirSync(folder)) t.equal(statSync(join(folder, name)).mode & 0o077, 0, name)
  await store.close()
  await t.rejects(store.batch([{ namespace: 'a', key: 'b', value: 1 }]), { code: 'RTK_ERR_STORE_WRITE' })
  t.same(readdirSync(folder).sort(), ['.founded', 'snapshot-0', 'snapshot-1'], 'nothing else is left behind')
})

t.test('refuses a batch with one value that is no JSON as a whole', async (t) => {
  const store = await openStore(join(t.testdir(), 'store'), log)
  t.teardown(() => store.close())
  const bad = { namespace: 'a', key: 'function', value: () => {} }
  await t.rejects(store.batch([{ namespace: 'a', key: 'good', value: 1 }, bad]), {
    code: 'RTK_ERR_STORE_WRITE',
    message: /a\/function/,
  })
  t.same(await store.entries('a'), {})
})

t.test(
  'of many concurrent writes the last one wins, on disk too, and those that wait are written as one',
  async (t) => {
    const folder = join(t.testdir(), 'store')
    let writes = 0
    const fs = faulty((call) => {
      if (call === 'rename') writes++
      return undefined
    })
    await opened(
      folder,
      async (store) => {
        writes = 0
        await Promise.all(Array.from({ length: 50 }, (_, n) => store.batch([{ namespace: 'a', key: 'n', value: n }])))
        t.equal(writes, 2, 'the first one, and the 49 that came meanwhile')
      },
      { fs },
    )
    t.equal(await opened(folder, (store) => store.get('a', 'n')), 49)
  },
)

// ── damage ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The states that a store went through, by number, and the two files after it; `last` was answered last. */
async function history(folder: string): Promise<{ files: [Buffer, Buffer]; last: number }> {
  await opened(folder, async (store) => {
    await store.batch([...setting(0), { namespace: 'protected.kernel', key: 'serial', value: 'S1' }])
    for (const n of [1, 2, 3]) await store.batch(setting(n))
  })
  const [even, odd] = snapshots(folder)
  return { files: [readFileSync(even), readFileSync(odd)], last: 3 }
}

t.test('whatever single damage there is to a file', async (t) => {
  const folder = join(t.testdir(), 'store')
  const { files, last } = await history(folder)
  const numbers = files.map((bytes) => decodeSnapshot(bytes)?.number ?? 0)
  const newest = (numbers[0] as number) > (numbers[1] as number) ? 0 : 1
  const valueIn = (bytes: Buffer) => Number(decodeSnapshot(bytes)?.contents.get('config')?.get('n'))
  t.equal(valueIn(files[newest]), last)
  t.equal(valueIn(files[1 - newest] as Buffer), last - 1)

  /** Newest state, or the older whole one together with a report. */
  const holds = (slots: [SlotContent, SlotContent]) => {
    const { snapshot, loss } = recover(slots)
    const value = Number(snapshot.contents.get('config')?.get('n'))
    return loss === undefined ? value === last : loss === 'newest' && value >= last - 1 && value <= last
  }
  const withOne = (slot: number, content: SlotContent) =>
    [0, 1].map((one) => (one === slot ? content : files[one])) as [SlotContent, SlotContent]

  t.test('a flipped bit, any of them; a byte of any value; every length', async (t) => {
    let trials = 0
    const wrong: string[] = []
    for (const slot of [0, 1]) {
      const bytes = files[slot] as Buffer
      for (let at = 0; at < bytes.length; at++) {
        for (let bit = 0; bit < 8; bit++) {
          const flipped = Buffer.from(bytes)
          flipped[at] = (flipped[at] as number) ^ (1 << bit)
          trials++
          if (decodeSnapshot(flipped) !== undefined || !holds(withOne(slot, flipped)))
            wrong.push(`${slot}:${at}.${bit}`)
        }
        const cut = bytes.subarray(0, at)
        trials++
        if (decodeSnapshot(cut) !== undefined || !holds(withOne(slot, cut))) wrong.push(`${slot} cut at ${at}`)
      }
    }
    t.same(wrong, [])
    t.ok(trials > 3_000, `${trials} trials`)
  })

  t.test('bytes that are added, doubled, removed or zeroed anywhere', async () => {
    const edit = fc.record({
      slot: fc.constantFrom(0, 1),
      at: fc.nat(1_000),
      length: fc.integer({ min: 1, max: 600 }),
      kind: fc.constantFrom('zero', 'remove', 'double', 'insert'),
      noise: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    })
    fc.assert(
      fc.property(edit, ({ slot, at: anywhere, length, kind, noise }) => {
        const bytes = files[slot as 0 | 1]
        const at = anywhere % bytes.length
        const part = bytes.subarray(at, at + length)
        const middle = {
          zero: Buffer.alloc(part.length),
          remove: [],
          double: Buffer.concat([part, part]),
          insert: noise,
        }
        const rest = bytes.subarray(kind === 'insert' ? at : at + length)
        return holds(
          withOne(slot, Buffer.concat([bytes.subarray(0, at), Uint8Array.from(middle[kind as 'zero']), rest])),
        )
      }),
      { numRuns: sample(60, 2_000, 150) },
    )
  })

  t.test(
    'a file that is deleted, emptied, doubled over the other one, swapped, unreadable, or all garbage',
    async (t) => {
      const [even, odd] = files
      const cases: [SlotContent, SlotContent][] = [
        ...[0, 1].flatMap((slot) =>
          (['absent', 'unreadable', Buffer.alloc(0), Buffer.alloc(500), randomBytes(500)] as SlotContent[]).map(
            (content) => withOne(slot, content),
          ),
        ),
        [even, even],
        [odd, odd],
      ]
      for (const slots of cases) t.ok(holds(slots))
      t.equal(recover([odd, even]).loss, 'everything', 'swapped: neither is where it was written, and that is reported')
      t.equal(recover(['absent', 'absent']).loss, undefined, 'an empty folder is a first start')
      t.equal(recover(['absent', Buffer.from('x')]).loss, 'everything')
      const stale = encodeSnapshot({ number: 1, contents: new Map(), reports: [], settle: false })
      t.equal(recover([even, Buffer.from(stale)]).loss, 'newest', 'an old copy put back')
    },
  )

  t.test('opened for real: the report is in troubles, stays over restarts, and goes with a change', async (t) => {
    const damages: Record<string, (path: string) => void> = {
      'one bit': (path) => {
        const bytes = readFileSync(path)
        bytes[bytes.length - 20] = (bytes[bytes.length - 20] as number) ^ 1
        writeFileSync(path, bytes)
      },
      cut: (path) => truncateSync(path, statSync(path).size - 1),
      empty: (path) => truncateSync(path, 0),
      deleted: (path) => rmSync(path),
      'a copy of the other': (path) =>
        cpSync(
          path.replace(/\d$/, (slot) => String(1 - Number(slot))),
          path,
        ),
      'a folder': (path) => {
        rmSync(path)
        mkdirSync(path)
        writeFileSync(join(path, 'file'), '')
      },
    }
    for (const [what, damage] of Object.entries(damages)) {
      for (const slot of [newest, 1 - newest]) {
        const copy = join(t.testdir(), 'store')
        cpSync(folder, copy, { recursive: true })
        damage(snapshots(copy)[slot] as string)
        const expected = slot === newest ? last - 1 : last
        const read = async (store: Store) => ({ n: await store.get('config', 'n'), codes: codes(store) })
        t.same(await opened(copy, read), { n: expected, codes: ['store-damaged'] }, `${what} of ${slot}`)
        t.same(await opened(copy, read), { n: expected, codes: ['store-damaged'] }, 'still reported after a restart')
        await opened(copy, async (store) => {
          await store.batch([{ namespace: 'plugin.x', key: 'k', value: 1 }])
          t.same(codes(store), ['store-damaged'], 'a write of a plugin does not end it')
          await store.batch(setting(9))
          t.same(codes(store), [])
        })
        t.same(await opened(copy, read), { n: 9, codes: [] })
        t.equal(await opened(copy, (store) => store.get('protected.kernel', 'serial')), 'S1')
      }
    }
  })

  /** One write of which that step fails; what was answered, and what is there after the next start. */
  const interrupted = async (t: Test, step: number, ends: boolean) => {
    const copy = join(t.testdir(), 'store')
    cpSync(folder, copy, { recursive: true })
    let left = Number.POSITIVE_INFINITY
    const fs = faulty((call) => {
      if (!['rm', 'open', 'sync', 'rename'].includes(call)) return undefined
      left--
      return left === -1 || (ends && left < 0) ? 'EIO' : undefined
    })
    const write = async (store: Store) => {
      left = step
      return store.batch(setting(4)).then(
        () => true,
        () => false,
      )
    }
    const answered = await opened(copy, write, { fs })
    const read = async (store: Store) => ({ n: await store.get('config', 'n'), codes: codes(store) })
    return { answered, ...(await opened(copy, read)) }
  }

  t.test('the power is cut at any step of a write: the old state or the new one, and no report', async (t) => {
    let answers = ''
    for (let step = 0; step < 10; step++) {
      const { answered, n, codes } = await interrupted(t, step, true)
      answers += answered ? 'y' : 'n'
      t.same(codes, [])
      if (answered) t.equal(n, 4)
      else t.ok(n === 3 || n === 4, `step ${step}: ${n}`)
    }
    t.match(answers, /^n+y+$/)
  })

  t.test('any one step of a write fails: what was refused is not there after a restart', async (t) => {
    let answers = ''
    for (let step = 0; step < 10; step++) {
      const { answered, n, codes } = await interrupted(t, step, false)
      answers += answered ? 'y' : 'n'
      t.equal(n, answered ? 4 : 3, `step ${step}`)
      if (answered) t.same(codes, [])
    }
    t.match(answers, /^n+y+$/)
  })
})

t.test('several that replace one file at once do it one after the other', async (t) => {
  const file = join(t.testdir(), 'file')
  const texts = Array.from({ length: 200 }, (_, index) => `content ${index}`)
  const done = await Promise.allSettled(texts.map((text) => replaceFile(file, text)))
  t.strictSame([...new Set(done.map(({ status }) => status))], ['fulfilled'])
  t.equal(readFileSync(file, 'utf8'), 'content 199', 'the last one stands')
  await t.rejects(replaceFile(join(file, 'none', 'x'), 'a'))
  await replaceFile(file, 'c')
  t.equal(readFileSync(file, 'utf8'), 'c', 'one that fails keeps nobody from the next')
})

t.test('a newer layout is told apart from damage', { skip: gateOnly }, async (t) => {
  /** As a version with another layout writes it: the first three lines are those of every layout. */
  const newer = (number: number, body = 'whatever it likes\0\xff') => {
    const top = `rtk-base store 2\nnumber ${number}\n`
    return `${top}sha256 ${createHash('sha256').update(top).update(body).digest('hex')}\n${body}`
  }
  const update = async (folder: string, value: unknown) => {
    await opened(folder, async (store) => {
      await store.batch(setting(value))
      await store.keepCopy()
    })
  }
  const read = (folder: string) =>
    opened(folder, async (store) => ({
      value: await store.get('config', 'n'),
      codes: codes(store),
      text: store.troubles[0]?.text,
    }))

  t.test(
    'the settings from before the update are used, the error says of when, and what was not read is kept',
    async (t) => {
      const folder = t.testdir()
      await filled(folder)
      await update(folder, 'before')
      for (const [slot, file] of snapshots(folder).entries()) writeFileSync(file, newer(40 + slot))
      const first = await read(folder)
      t.match(first, { value: 'before', codes: ['store-newer'] })
      const [day] = new Date().toISOString().split('T')
      t.match(
        first.text,
        new RegExp(
          `those of ${day}T..:..Z are used, and every change since then is lost; check position, .*; the files are kept as .*newer-0 and .*newer-1\\.`,
        ),
      )
      for (const slot of [0, 1]) t.equal(readFileSync(join(folder, `newer-${slot}`), 'utf8'), newer(40 + slot))
      t.match(await read(folder), { value: 'before', codes: ['store-newer'] }, 'also at the next start, until a change')
      for (const file of snapshots(folder))
        t.match(readFileSync(file, 'utf8'), /^rtk-base store 1\n/, 'both files are ours again')
      await opened(folder, (store) => store.batch(setting('after')))
      t.match(await read(folder), { value: 'after', codes: [] })
    },
  )

  t.test('what this version wrote after the update was installed is newer than the copy', async (t) => {
    for (const changes of [1, 2]) {
      const folder = t.testdir()
      await filled(folder)
      await update(folder, 'before')
      for (let n = 0; n < changes; n++)
        await opened(folder, (store) => store.batch(setting(n === changes - 1 ? 'later' : n)))
      const [first, second] = snapshots(folder)
      const number = (file: string) => decodeSnapshot(readFileSync(file))?.number ?? 0
      const older = number(first) < number(second) ? first : second
      writeFileSync(older, newer(number(first) + 7))
      utimesSync(older === first ? second : first, 0, Date.UTC(2020, 0, 2, 3, 4) / 1_000)
      const found = await read(folder)
      t.match(found, { value: 'later', codes: ['store-newer'], text: /those of 2020-01-02T03:04Z are used/ })
    }
  })

  t.test('without a copy, or with one that is damaged or newer too, there are the defaults', async (t) => {
    for (const copy of [undefined, '', 'x', newer(3)]) {
      const folder = t.testdir()
      await filled(folder)
      if (copy !== undefined) writeFileSync(join(folder, 'before-update'), copy)
      for (const file of snapshots(folder)) writeFileSync(file, newer(9))
      const found = await read(folder)
      t.match(found, { value: undefined, codes: ['store-newer'] })
      t.match(found.text, /there are none from before, so defaults are used/)
    }
  })

  t.test(
    'the copy is used for nothing else, and goes when the new version stays, and with a factory reset',
    async (t) => {
      const folder = t.testdir()
      const copy = join(folder, 'before-update')
      await filled(folder)
      await update(folder, 'before')
      t.equal(statSync(copy).mode & 0o777, 0o600)
      await opened(folder, (store) => store.batch(setting('after')))
      t.match(await read(folder), { value: 'after', codes: [] })
      for (const file of snapshots(folder)) writeFileSync(file, 'damaged')
      t.match(await read(folder), { value: undefined, codes: ['store-reset'] }, 'damage does not bring it back')
      await opened(folder, (store) => store.dropCopy())
      t.notOk(existsSync(copy))
      writeFileSync(copy, newer(3))
      await opened(folder, (store) => store.dropCopy())
      t.ok(existsSync(copy), 'one of another layout is for the version that wrote it')
      await opened(folder, (store) => store.factory())
      t.notOk(existsSync(copy))
    },
  )

  t.test('a folder, a FIFO or a loop in the place of the copy is removed without a word', async (t) => {
    for (const put of [
      (copy: string) => mkdirSync(join(copy, 'x'), { recursive: true }),
      (copy: string) => execFileSync('mkfifo', [copy]),
      (copy: string) => symlinkSync(copy, copy),
    ]) {
      const folder = t.testdir()
      const copy = join(folder, 'before-update')
      await filled(folder)
      put(copy)
      await opened(folder, (store) => store.dropCopy())
      t.equal(lstatSync(copy, { throwIfNoEntry: false }), undefined)
    }
  })

  t.test('a flipped bit in the first line is damage', async (t) => {
    const folder = t.testdir()
    await filled(folder)
    const [file] = snapshots(folder)
    const whole = readFileSync(file)
    for (const digit of ['0', '2', '3', '9', '11']) {
      writeFileSync(file, whole.toString('latin1').replace('store 1', `store ${digit}`), 'latin1')
      t.match(await read(folder), { codes: ['store-damaged'] }, digit)
      writeFileSync(file, whole)
    }
  })
})

t.test('both files damaged: defaults, a report, and copies for whoever looks into it', async (t) => {
  const folder = join(t.testdir(), 'store')
  await history(folder)
  for (const path of snapshots(folder)) writeFileSync(path, readFileSync(path, 'utf8').replace('"n"', '"m"'))
  await opened(folder, async (store) => {
    t.same(codes(store), ['store-reset'])
    t.same(await store.namespaces(), [])
    t.match(readFileSync(join(folder, 'damaged-0'), 'utf8'), '"m"')
    t.match(store.troubles[0]?.text, /snapshot-0 is damaged, snapshot-1 is damaged.*damaged-0/)
  })
  await opened(folder, async (store) => {
    t.same(codes(store), ['store-reset'], 'still reported')
    await store.batch(setting(1))
    t.same(codes(store), [])
  })
})

t.test('what would make the store too large to be read again is refused before anything changes', async (t) => {
  const folder = join(t.testdir(), 'store')
  await opened(folder, async (store) => {
    await store.batch(setting(1))
    await store.batch([{ namespace: 'plugin.hoarder', key: 'a', value: 'x'.repeat(5 << 20) }])
    const large = store.batch([...setting(2), { namespace: 'plugin.hoarder', key: 'b', value: 'x'.repeat(5 << 20) }])
    const small = store.batch([{ namespace: 'plugin.x', key: 'k', value: 3 }])
    const message = /1048\d{4} bytes.*largest namespace is plugin\.hoarder/
    await t.rejects(large, { code: 'RTK_ERR_STORE_WRITE', message })
    await small
    t.equal(await store.get('config', 'n'), 1)
    t.same(codes(store), [], 'the disk is well')
  })
  await opened(folder, async (store) => {
    t.same(codes(store), [])
    t.equal(await store.get('plugin.x', 'k'), 3)
    await store.batch([{ namespace: 'plugin.hoarder', key: 'a', value: undefined }])
  })
})

t.test('the largest contents fit to the byte, with what stands between two entries', async (t) => {
  const around = '["n","a",""],\n'
  const fits = 'x'.repeat((8 << 20) - around.length)
  await opened(join(t.testdir(), 'store'), async (store) => {
    const tooMuch = store.batch([{ namespace: 'n', key: 'a', value: `${fits}x` }])
    await t.rejects(tooMuch, { code: 'RTK_ERR_STORE_WRITE' })
    await store.batch([{ namespace: 'n', key: 'a', value: fits }])
  })
})

t.test('a file that is too large to be read is kept, whatever there is beside it', async (t) => {
  for (const count of [1, 2]) {
    const folder = join(t.testdir(), 'store')
    await history(folder)
    for (const path of snapshots(folder).slice(0, count)) truncateSync(path, (64 << 20) + 1)
    await opened(folder, async (store) => {
      t.same(codes(store), [count === 1 ? 'store-damaged' : 'store-reset'])
      t.match(store.troubles[0]?.text, /kept as .*damaged-0/)
      await store.batch(setting(1))
      await store.batch(setting(2))
    })
    for (let n = 0; n < count; n++) t.equal(statSync(join(folder, `damaged-${n}`)).size, (64 << 20) + 1)
  }
})

t.test('both files deleted while the service is down are no first start', async (t) => {
  const folder = join(t.testdir(), 'store')
  await history(folder)
  for (const path of snapshots(folder)) rmSync(path)
  await opened(folder, (store) => t.same(codes(store), ['store-reset']))
})

t.test('the very first write is as safe as any other, also where the disk took none at the start', async (t) => {
  for (const slot of [0, 1] as const) {
    const folder = join(t.testdir(), 'store')
    let broken = true
    const fs = faulty((call) => (broken && call === 'open' ? 'ENOSPC' : undefined))
    const first = async (store: Store) => {
      broken = false
      await store.batch([{ namespace: 'a', key: 'b', value: 1 }])
    }
    await opened(folder, first, { fs })
    rmSync(snapshots(folder)[slot])
    const { value, reported } = await opened(folder, async (store) => ({
      value: await store.get('a', 'b'),
      reported: codes(store),
    }))
    t.same(reported, ['store-damaged'], `snapshot-${slot} deleted`)
    t.equal(value, slot === 0 ? 1 : undefined)
  }
})

t.test('a whole snapshot of something else is a damaged one', async (t) => {
  const body = '[1,2,3'
  const sha256 = createHash('sha256').update(`rtk-base store 1\nnumber 5\n${body}`).digest('hex')
  const bytes = Buffer.from(`rtk-base store 1\nnumber 5\nsha256 ${sha256}\n${body}`)
  t.equal(recover(['absent', bytes]).loss, 'everything')
})

t.test('never refuses to start, whatever is in the folder', async (t) => {
  const folder = join(t.testdir(), 'store')
  for (let round = 0; round < 10; round++) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const name of ['snapshot-0', 'snapshot-1', 'snapshot-new', '.in-use-1-abcd'])
      if (round !== 3) writeFileSync(join(folder, name), randomBytes(round * 300))
      else mkdirSync(join(folder, name))
    await opened(folder, async (store) => {
      t.same(codes(store), ['store-reset'])
      await store.batch(setting(round))
    })
    t.equal(await opened(folder, (store) => store.get('config', 'n')), round)
  }
})

t.test('files that are deleted or changed while the service runs', async (t) => {
  const damages: Record<string, (folder: string) => void> = {
    'the whole folder deleted': (folder) => rmSync(folder, { recursive: true }),
    'both files deleted': (folder) => snapshots(folder).forEach((path) => void rmSync(path)),
    'one file deleted': (folder) => rmSync(snapshots(folder)[0]),
    'one file edited': (folder) => writeFileSync(snapshots(folder)[1], 'x', { flag: 'a' }),
  }
  for (const [what, damage] of Object.entries(damages)) {
    for (const when of ['at the next write', 'by itself']) {
      t.test(`${what}: written again ${when}, and reported`, async (t) => {
        const folder = join(t.testdir(), 'store')
        const clock = new ManualClock()
        const store = await openStore(folder, log, { clock })
        t.teardown(() => store.close())
        await store.batch([...setting(1), { namespace: 'a', key: 'b', value: 2 }])
        let changes = 0
        store.onTroubles(() => changes++)
        damage(folder)
        if (when === 'by itself') {
          await clock.advance(30_000)
          await until(() => store.troubles.length > 0, 'the report')
        } else {
          await store.batch([...setting(3)])
        }
        t.same(codes(store), ['store-changed'])
        t.equal(changes, 1)
        await until(() => snapshots(folder).every((path) => existsSync(path)), 'both files')
        if (when === 'by itself') {
          await store.batch(setting(1))
          rmSync(snapshots(folder)[0])
          const isBack = () => clock.advance(30_000).then(() => existsSync(snapshots(folder)[0]))
          await until(isBack, 'a file that was deleted again')
        }
        await store.close()
        await opened(folder, async (again) => {
          t.same(codes(again), ['store-changed'], 'and nothing is damaged')
          t.equal(await again.get('config', 'n'), when === 'by itself' ? 1 : 3)
          t.equal(await again.get('a', 'b'), 2)
        })
      })
    }
  }
})

// ── what is told, and how often the disk is written ─────────────────────────────────────────────────────────────────

/** A log that keeps its lines, and a file system that counts the snapshots that are put in place. */
function told(failing: (call: string, path: string) => string | undefined = () => undefined) {
  const lines: string[] = []
  const note = (level: string) => (facts: unknown, text?: string) => lines.push(`${level} ${text ?? facts}`)
  const log = { error: note('error'), warn: note('warn'), info: note('info'), debug() {} } as unknown as Logger
  let writes = 0
  const fs = faulty((call, path) => {
    if (call === 'rename' && path.endsWith('snapshot-new')) writes++
    return failing(call, path)
  })
  const taken = () => [lines.splice(0).map((line) => line.slice(0, 60)), writes]
  return { log, fs, taken, clock: new ManualClock() }
}

t.test('a write is one file; what was touched is written twice; several that wait are one', async (t) => {
  const folder = join(t.testdir(), 'store')
  const { log, fs, taken, clock } = told()
  const store = await openStore(folder, log, { fs, clock })
  const written = async (act: () => unknown) => {
    const before = taken()[1] as number
    await act()
    return (taken()[1] as number) - before
  }
  t.same(taken(), [[], 4], 'the foundation, of two, and its mark, and the start')
  t.equal(await written(() => store.batch(setting(1))), 1)
  t.equal(await written(() => store.batch([])), 0)
  t.equal(await written(() => clock.advance(300_000)), 0, 'nothing is written while nothing changes')
  t.equal(await written(() => Promise.all([2, 3, 4, 5].map((n) => store.batch(setting(n))))), 2, 'all that wait')
  t.equal(await store.get('config', 'n'), 5)
  const secret = (value: number) => store.batch([{ namespace: 'protected.x', key: 'k', value }])
  const settled = async (act: () => unknown) => {
    const count = await written(act)
    return count + (await written(() => store.keepCopy()))
  }
  const usual = await settled(() => {})
  t.equal(await settled(() => secret(1)), usual + 1, 'a secret that replaces none')
  t.equal(await settled(() => secret(2)), usual + 2, 'one that replaces another')
  const touched = async () => {
    rmSync(snapshots(folder)[0])
    await store.batch(setting(6))
  }
  t.equal(await settled(touched), usual + 2, 'files that were touched')
  await store.batch(setting(7))
  await store.close()
  const again = async () => (await openStore(folder, log, { fs, clock })).close()
  t.equal(await written(again), 1, 'a start writes one')
  await t.rejects(store.batch([]), { code: 'RTK_ERR_STORE_WRITE' }, 'also an empty one, when it is closed')
})

t.test('a disk that takes no writes is told once, and again when it does', async (t) => {
  const folder = join(t.testdir(), 'store')
  let code: string | undefined
  const { log, fs, taken, clock } = told((call) => (call === 'open' ? code : undefined))
  const lines = () => taken()[0]
  const store = await openStore(folder, log, { fs, clock })
  t.teardown(() => store.close())
  let changes = 0
  store.onTroubles(() => changes++)
  const fails = () =>
    t.rejects(store.batch(setting(1)), { code: 'RTK_ERR_STORE_WRITE', message: /nothing was changed/ })
  code = 'ENOSPC'
  await fails()
  t.match(lines(), [/^error settings cannot be written \(ENOSPC/])
  await fails()
  t.same(lines(), [], 'the same again is no news')
  code = 'EIO'
  await fails()
  t.match(lines(), [/^error settings cannot be written \(EIO/])
  t.match(store.troubles, [
    { code: 'store-unwritable', text: /every change is refused until then; .* retries automatically/ },
  ])
  code = undefined
  const before = changes
  await clock.advance(29_999)
  t.equal(store.troubles.length, 1)
  await clock.advance(1)
  await until(() => store.troubles.length === 0, 'the next attempt')
  t.same([lines(), changes - before], [['info the store takes writes again'], 1])
  await store.batch(setting(1))
  t.equal(changes - before, 1, 'a write that succeeds is no change of the troubles')
})

t.test('a start says what it could not do, and names the files that it kept', async (t) => {
  const folder = join(t.testdir(), 'store')
  const start = async (failing?: Parameters<typeof told>[0]) => {
    const { log, fs, taken } = told(failing)
    const store = await openStore(folder, log, { fs })
    await store.close()
    return { lines: taken()[0], text: store.troubles[0]?.text ?? '' }
  }
  t.same((await start()).lines, [])
  const { lines } = await start((call, path) => (call === 'chmod' && /in-use/.test(path) ? 'ENOTSUP' : undefined))
  t.match(lines, [/^warn the store is not locked/])
  await history(folder)
  writeFileSync(snapshots(folder)[0], 'damaged')
  const damaged = await start()
  t.match(damaged.text, /snapshot-0 is damaged: .* those of the other copy, .*; check them\. This entry goes with/)
  await history(folder)
  truncateSync(snapshots(folder)[0], (64 << 20) + 1)
  t.match((await start()).text, /check them; the damaged files are kept as .*damaged-0\. This/)
})

// ── one service per folder ──────────────────────────────────────────────────────────────────────────────────────────

t.test('another process holds it: RTK_ERR_DATA_LOCKED, and nothing is touched', async (t) => {
  const folder = join(t.testdir(), 'store')
  const child = spawn(process.execPath, [writer, folder, '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: childEnv(),
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  await t.rejects(openStore(folder, log), {
    code: 'RTK_ERR_DATA_LOCKED',
    message: new RegExp(`${folder}.*${child.pid}`),
  })
  child.kill('SIGSTOP')
  await t.rejects(openStore(folder, log), { code: 'RTK_ERR_DATA_LOCKED' }, 'also while it does not get to run')
  child.kill('SIGKILL')
  await once(child, 'exit')
  await opened(folder, async (store) => {
    t.same(store.troubles, [])
    await t.rejects(openStore(folder, log), { code: 'RTK_ERR_DATA_LOCKED' }, 'nor twice in one process')
    rmSync(folder, { recursive: true })
    await store.batch(setting(1))
    await t.rejects(openStore(folder, log), { code: 'RTK_ERR_DATA_LOCKED' }, 'a deleted lock is taken again')
  })
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('.in-use')),
    [],
  )
})

t.test('of several that open at once at most one gets it', async (t) => {
  const folder = join(t.testdir(), 'store')
  for (let round = 0; round < 20; round++) {
    const all = await Promise.allSettled([1, 2, 3].map(() => openStore(folder, log)))
    const stores = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    t.ok(stores.length <= 1)
    for (const one of all) if (one.status === 'rejected') t.match(one.reason, { code: 'RTK_ERR_DATA_LOCKED' })
    for (const store of stores) await store.close()
  }
})

t.test('the lock works below a path that is too long for a socket', async (t) => {
  const folder = join(t.testdir(), 'deep'.repeat(40), 'store')
  await opened(folder, () => t.rejects(openStore(folder, log), { code: 'RTK_ERR_DATA_LOCKED' }))
})

t.test('a folder below a file is RTK_ERR_DATA_FOLDER', async (t) => {
  const folder = t.testdir({ file: '' })
  await t.rejects(openStore(join(folder, 'file', 'store'), log), { code: 'RTK_ERR_DATA_FOLDER', message: /ENOTDIR/ })
})

// ── disks that take no writes ───────────────────────────────────────────────────────────────────────────────────────

t.test('a disk that fails in any way at any step', { skip: gateOnly }, async (t) => {
  const calls = ['mkdir', 'readdir', 'open', 'sync', 'rename', 'chmod', 'rm', 'lstat', 'stat', 'readFile']
  const trial = async (t: Test, code: string, call: string, from: 'the start' | 'later') => {
    const folder = join(t.testdir(), 'store')
    await opened(folder, (store) => store.batch(setting(1)))
    let broken = from === 'the start'
    const clock = new ManualClock()
    const fs = faulty((one) => (broken && one === call ? code : undefined))
    const store = await openStore(folder, log, { fs, clock })
    const wasRead = call !== 'stat' && call !== 'readFile'
    let troubles: readonly unknown[] = []
    store.onTroubles(() => {
      troubles = store.troubles
    })
    broken = true
    let acknowledged: unknown = 1
    const results: string[] = []
    for (const value of [2, 3])
      await store.batch(setting(value)).then(
        () => {
          acknowledged = value
          results.push('ok')
        },
        (error) => results.push(error.code),
      )
    if (results[0] !== 'ok' || results[1] !== 'ok') {
      t.same(results, ['RTK_ERR_STORE_WRITE', 'RTK_ERR_STORE_WRITE'], 'every change is refused')
      t.ok(codes(store).some((one) => one === 'store-unwritable' || one === 'store-unreadable'))
    }
    if (wasRead || from === 'later') t.equal(await store.get('config', 'n'), acknowledged, 'reading goes on')
    broken = false
    await clock.advance(30_000)
    await until(() => !codes(store).includes('store-unwritable'), 'it writes again by itself')
    t.notOk(troubles.some((one) => (one as { code: string }).code === 'store-unwritable'))
    await store.batch([{ namespace: 'a', key: 'b', value: 1 }])
    await store.close()
    const read = (again: Store) => again.get('config', 'n')
    t.equal(await opened(folder, read), acknowledged, 'what was refused is not there, what was answered is')
  }
  for (const from of ['the start', 'later'] as const)
    for (const code of ['ENOSPC', 'EROFS', 'EMFILE', 'EIO'])
      for (const call of calls) {
        // Reading errors other than EMFILE are damage, which other tests look at.
        if (['stat', 'readFile'].includes(call) && code !== 'EMFILE') continue
        if (['EROFS', 'EIO'].includes(code) && call !== 'open' && call !== 'sync') continue
        await t.test(`${code} of ${call} from ${from} on`, (t) => trial(t, code, call, from))
      }
})

t.test('files that cannot be opened at the start are read later, and never taken for an empty store', async (t) => {
  const folder = join(t.testdir(), 'store')
  await filled(folder)
  let broken = true
  const fs = faulty((call) => (broken && call === 'readFile' ? 'EMFILE' : undefined))
  await opened(
    folder,
    async (store) => {
      t.same(codes(store), ['store-unreadable'])
      await t.rejects(store.batch(setting(1)), { code: 'RTK_ERR_STORE_WRITE' })
      broken = false
      await store.batch([{ namespace: 'a', key: 'b', value: 1 }])
      t.match(store.troubles, [{ code: 'store-unreadable', text: /restart the service/ }])
    },
    { fs },
  )
  await opened(folder, async (store) => {
    t.same(codes(store), [])
    t.equal(Object.keys(await store.entries('config')).length, 20)
    t.equal(await store.get('a', 'b'), 1)
  })
})

const root = process.getuid?.() === 0
t.test('a full disk', unless(root, 'mounting a small file system needs root'), async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'rtk-base-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', disk])
  t.teardown(() => {
    execFileSync('umount', ['-l', disk])
    rmdirSync(disk)
  })
  const ballast = join(disk, 'ballast')
  const fill = () => {
    for (const size of [65_536, 4_096])
      try {
        for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' })
      } catch {}
  }
  const folder = join(disk, 'store')

  t.test('refuses what it cannot make durable, keeps what it acknowledged, and recovers', async (t) => {
    const store = await openStore(folder, log)
    const acknowledged: Record<string, unknown> = {}
    const refused: string[] = []
    const write = async (key: string) => {
      const value = `${key} ${'x'.repeat(1_500)}`
      try {
        await store.batch([
          { namespace: 'a', key, value },
          { namespace: 'a', key: `${key}+`, value },
        ])
        acknowledged[key] = acknowledged[`${key}+`] = value
      } catch (error) {
        t.match(error, { code: 'RTK_ERR_STORE_WRITE' })
        refused.push(key)
      }
    }
    for (let n = 0; n < 5; n++) await write(`before ${n}`)
    fill()
    for (let n = 0; n < 10; n++) await write(`full ${n}`)
    t.ok(refused.length >= 5, 'the disk is really full')
    t.same(await store.entries('a'), acknowledged, 'reads go on')
    rmSync(ballast)
    for (let n = 0; n < 5; n++) await write(`after ${n}`)
    t.ok('after 4' in acknowledged, 'works again without a restart')
    t.same(await store.entries('a'), acknowledged)
    await store.close()
    await opened(folder, async (again) => {
      t.same(await again.entries('a'), acknowledged)
      t.same(again.troubles, [])
    })
  })

  t.test('starts on a full disk: reads, refuses writes, says so, and recovers by itself', async (t) => {
    rmSync(folder, { recursive: true, force: true })
    await filled(folder)
    fill()
    const store = await openStore(folder, log)
    t.equal(Object.keys(await store.entries('config')).length, 20)
    t.same(codes(store), ['store-unwritable'])
    await t.rejects(store.batch([{ namespace: 'a', key: 'b', value: 1 }]), { code: 'RTK_ERR_STORE_WRITE' })
    rmSync(ballast)
    await store.batch([{ namespace: 'a', key: 'b', value: 2 }])
    t.same(store.troubles, [])
    await store.close()
    await opened(folder, async (again) => {
      t.equal(Object.keys(await again.entries('config')).length, 20)
      t.same(await again.entries('a'), { b: 2 })
    })
  })

  t.test('starts for the first time on a full disk, and on a read-only one', async (t) => {
    rmSync(folder, { recursive: true, force: true })
    fill()
    await opened(folder, async (store) => {
      t.same(codes(store), ['store-unwritable'])
      rmSync(ballast)
      await store.batch(setting(1))
    })
    execFileSync('mount', ['-o', 'remount,ro', disk])
    await opened(folder, async (store) => {
      t.match(store.troubles, [{ code: 'store-unwritable', text: /EROFS/ }])
      t.equal(await store.get('config', 'n'), 1)
    })
    execFileSync('mount', ['-o', 'remount,rw', disk])
    await opened(folder, (store) => t.same(store.troubles, []))
  })
})

const strace = spawnSync('strace', ['-V']).status === 0
t.test(
  'an answer comes after the sync, the rename and the sync of the folder',
  unless(strace, 'strace is missing'),
  async (t) => {
    const folder = t.testdir()
    const trace = join(folder, 'trace')
    const calls = 'trace=write,pwrite64,fsync,rename,renameat,renameat2'
    const args = [
      '-f',
      '-y',
      '-s',
      '64',
      '-e',
      calls,
      '-o',
      trace,
      process.execPath,
      writer,
      join(folder, 'store'),
      '5',
    ]
    const child = spawn('strace', args, { stdio: 'ignore', env: childEnv() })
    t.same(await once(child, 'exit'), [0, null])
    const steps: Record<string, RegExp> = {
      w: /write\w*\(\d+<[^>]*snapshot-new>/,
      s: /fsync\(\d+<[^>]*snapshot-new>/,
      r: /rename\w*\(.*snapshot-new.*snapshot-[01]"/,
      f: /fsync\(\d+<[^>]*store>/,
      A: /write\(1<.*answered/,
    }
    const order = readFileSync(trace, 'utf8')
      .split('\n')
      .map((line) => Object.keys(steps).find((step) => (steps[step] as RegExp).test(line)) ?? '')
      .join('')
    t.match(order, /(w+srfA){5}/)
  },
)

for (const namespace of ['loop', 'protected.loop']) {
  t.test(`kill -9 at random moments, ${namespace}: all that was acknowledged is there, and nothing half`, async (t) => {
    const folder = join(t.testdir(), 'store')
    const args = [writer, folder, '0', '', namespace]
    const random = seeded(t)
    let answered = 0
    for (let round = 0; round < sample(2, 40, 4); round++) {
      const child: ChildProcess = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: childEnv(),
      })
      const stop = answered + 1 + Math.floor(random.uniform() * 60)
      for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
        const number = Number(/^answered (\d+)/.exec(line)?.[1] ?? 0)
        answered = Math.max(answered, number)
        if (number >= stop) child.kill('SIGKILL')
      }
      await opened(folder, async (store) => {
        const { a, b } = (await store.entries(namespace)) as { a: number; b: number }
        t.equal(a, b, 'both or none')
        t.ok(a >= answered, `${a} is stored, ${answered} was acknowledged`)
        t.same(store.troubles, [])
      })
    }
  })
}

t.test('a replaced secret', async (t) => {
  const secret = () => randomBytes(200).toString('base64')
  const holds = (folder: string, text: string) =>
    readdirSync(folder).some(
      (name) => statSync(join(folder, name)).isFile() && readFileSync(join(folder, name)).includes(text),
    )
  const write = (store: Store, namespace: string, value: unknown) => store.batch([{ namespace, key: 'key', value }])
  const protectedOne = 'protected.mqtt-link'

  t.test('stays in the files of an ordinary namespace, and in none of a protected one', async (t) => {
    const folder = join(t.testdir(), 'store')
    const [old, now, ordinary] = [secret(), secret(), secret()]
    await opened(folder, async (store) => {
      await write(store, protectedOne, old)
      t.ok(holds(folder, old), 'the files are looked at rightly')
      await write(store, 'config', ordinary)
      await write(store, 'config', 1)
      t.ok(holds(folder, ordinary))
      await write(store, protectedOne, now)
    })
    t.notOk(holds(folder, old))
    t.ok(holds(folder, now))
    await opened(folder, async (store) => {
      t.equal(await store.get(protectedOne, 'key'), now)
      t.equal(await store.get('config', 'key'), 1)
      t.same(store.troubles, [])
    })
  })

  t.test('whatever came before and between: writes, deletions, restarts', async (t) => {
    const base = t.testdir()
    let run = 0
    const step = fc.constantFrom('replace', 'delete', 'reopen', 'ordinary', 'clear')
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const folder = join(base, String(run++))
        let store = await openStore(folder, log)
        const gone: string[] = []
        let now: string | undefined
        const replace = async (value: string | undefined) => {
          await write(store, protectedOne, value)
          if (now !== undefined) gone.push(now)
          now = value
        }
        for (const what of steps) {
          if (what === 'replace') await replace(secret())
          if (what === 'delete') await replace(undefined)
          if (what === 'ordinary') await write(store, 'config', secret())
          if (what === 'clear') await store.factory()
          // A reset ends with a restart.
          if (what === 'reopen' || what === 'clear') {
            await store.close()
            store = await openStore(folder, log)
          }
        }
        const kept = await store.get(protectedOne, 'key')
        await store.close()
        return kept === now && gone.every((text) => !holds(folder, text)) && (now === undefined || holds(folder, now))
      }),
      { numRuns: sample(8, 25, 12) },
    )
  })

  t.test('is gone after the next start when the power was cut before it was overwritten', async (t) => {
    const folder = join(t.testdir(), 'store')
    const [old, now] = [secret(), secret()]
    let renames = Number.POSITIVE_INFINITY
    const fs = faulty((call) => (call === 'rename' && --renames < 0 ? 'EIO' : undefined))
    await opened(
      folder,
      async (store) => {
        await write(store, protectedOne, old)
        renames = 1
        await write(store, protectedOne, now)
      },
      { fs },
    )
    t.ok(holds(folder, old))
    await opened(folder, async (store) => t.equal(await store.get(protectedOne, 'key'), now))
    t.notOk(holds(folder, old))
  })
})

// ── the station on it ───────────────────────────────────────────────────────────────────────────────────────────────

/** A station with a parameter, on a store whose disk fails while `disk.error` names how. */
async function station(t: Test, options: Parameters<typeof createTestStation>[0] = {}) {
  const disk = { error: undefined as string | undefined }
  const fs = faulty((call) => (call === 'open' ? disk.error : undefined))
  const clock = new ManualClock()
  const store = await openStore(join(t.testdir(), 'store'), log, { clock, fs })
  const parameter = definePlugin({
    name: 'parameter',
    version: '1.0.0',
    api: '^1.0.0',
    setup: (ctx) => void ctx.config.define('site', Type.String(), { default: 'nowhere' }),
  })
  const start = async (more: typeof options = {}) => {
    const made = await createTestStation({ store, clock, plugins: { parameter }, ...options, ...more })
    t.teardown(() => made.stop())
    const change = (site: string) => made.station.change({ site }, { source: 'plugin' })
    return { ...made, change, codes: () => made.device.errors().map(({ code }) => code) }
  }
  return { disk, clock, store, start }
}

t.test('a disk that is full for a while: every change fails, an error entry says so and goes by itself', async (t) => {
  const { disk, clock, start } = await station(t)
  const { change, codes, device } = await start()
  t.match(await change('roof'), { result: 'ok' })
  t.same(codes(), [])
  disk.error = 'ENOSPC'
  t.match(await change('mast'), { result: 'failed' })
  t.match(device.errors(), [{ code: 'store-unwritable', text: /ENOSPC/, advice: /^free space on the disk of \// }])
  disk.error = undefined
  await clock.advance(30_000)
  await until(() => codes().length === 0, 'the entry goes')
  t.match(await change('mast'), { result: 'ok' })
})

t.test('--change does not end a report that nobody has seen', async (t) => {
  const { start } = await station(t, { changes: { site: 'roof' } })
  const folder = join(t.testdirName, 'damaged')
  await history(folder)
  for (const path of snapshots(folder)) rmSync(path)
  const { change, codes } = await start({ store: await openStore(folder, log) })
  t.same(codes(), ['store-reset'])
  t.match(await change('mast'), { result: 'ok' })
  t.same(codes(), [], 'a change after the start does')
})

t.test('--change on a disk that takes no writes is an error entry, not the end', async (t) => {
  const { clock, disk, start, store } = await station(t, { changes: { site: 'roof' } })
  disk.error = 'EROFS'
  const { codes, device, station: running } = await start()
  t.same(codes(), ['store-unwritable', 'change-not-stored'])
  t.match(device.errors()[0], { advice: /^make the disk of .* writable again/ })
  t.match(device.errors()[1], { advice: /as soon as the disk takes writes again/ })
  t.match(running.plugins(), [{ state: 'running' }])
  disk.error = undefined
  await clock.advance(30_000)
  await until(() => codes().length === 0, 'both entries go')
  t.equal(await store.get('config', 'site'), 'roof', 'it is made up for')
})

t.test('nothing that is written during factory survives it, and nothing is lost where it fails', async (t) => {
  const { disk, store, start } = await station(t)
  const { change, device, station: running } = await start()
  await change('roof')
  disk.error = 'ENOSPC'
  await t.rejects(device.factory(), { code: 'RTK_ERR_STORE_WRITE' })
  disk.error = undefined
  t.match(await change('mast'), { result: 'ok' }, 'changes are taken again')
  const secret = { namespace: 'protected.x', key: 'serial', value: 1 }
  const late = [1, 2, 3].map((n) => running.nvs.write('', { n }).catch((error: unknown) => error))
  const reset = device.factory()
  for (const n of [4, 5]) late.push(running.nvs.write('', { n }).catch((error: unknown) => error))
  await reset
  t.match((await Promise.all(late)).at(-1), { code: 'RTK_ERR_STORE_WRITE', message: /factory reset/ })
  await store.batch([secret])
  t.match(await change('cellar'), { result: 'failed' })
  t.same(await store.namespaces(), ['protected.x'])
})
