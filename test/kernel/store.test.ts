import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ClassicLevel } from 'classic-level'
import fc from 'fast-check'
import { type Logger, pino } from 'pino'
import t from 'tap'
import { crc32c, scanLog } from '../../runtime/ports/leveldb-log.js'
import { MemoryStore } from '../../runtime/ports/memory-store.js'
import { openStore, type Store } from '../../runtime/ports/store.js'

const log: Logger = pino({ level: 'silent' })
const writer = fileURLToPath(new URL('../harness/children/store-writer.js', import.meta.url))

/** In CI nothing may be left out, so what is missing is a failure there. */
const unless = (able: boolean, reason: string) => (able || process.env.CI === 'true' ? {} : { skip: reason })

const files = (folder: string, pattern: RegExp) =>
  readdirSync(folder)
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name))

async function filled(folder: string, count = 20): Promise<void> {
  const store = await openStore(folder, log)
  for (let n = 0; n < count; n++)
    await store.batch([{ namespace: 'config', key: `key-${n}`, value: { n, text: 'x'.repeat(100) } }])
  await store.close()
}

const codes = (store: Store) => store.troubles.map(({ code }) => code)

t.test('every store', async (t) => {
  for (const kind of ['level', 'memory'] as const) {
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
      t.same(await store.namespaces(), ['a'], 'a namespace without entries is none')
    })

    t.test(`${kind}: clear keeps what it is told to`, async (t) => {
      const store = kind === 'memory' ? new MemoryStore() : await openStore(join(t.testdir(), 'store'), log)
      t.teardown(() => store.close())
      await store.batch(['x', 'y'].flatMap((namespace) => [1, 2].map((n) => ({ namespace, key: `k${n}`, value: n }))))
      await store.clear((namespace, key) => namespace === 'x' && key === 'k2')
      t.same(await store.entries('x'), { k2: 2 })
      t.same(await store.namespaces(), ['x'])
    })
  }

  t.test('memory: a failure that is switched on refuses everything and writes nothing', async (t) => {
    const store = new MemoryStore({ config: { port: 1 } })
    store.failure = 'disk full'
    await t.rejects(store.batch([{ namespace: 'config', key: 'port', value: 2 }]), { code: 'RTK_ERR_STORE_WRITE' })
    t.equal(await store.get('config', 'port'), 1)
  })
})

t.test('survives being closed and opened, private to its user', async (t) => {
  const folder = join(t.testdir(), 'store')
  await filled(folder)
  const store = await openStore(folder, log)
  t.same(await store.get('config', 'key-19'), { n: 19, text: 'x'.repeat(100) })
  t.same(store.troubles, [])
  t.equal(statSync(folder).mode & 0o777, 0o700)
  for (const file of files(folder, /./)) t.equal(statSync(file).mode & 0o077, 0, file)
  await store.close()
  await t.rejects(store.batch([{ namespace: 'a', key: 'b', value: 1 }]), { code: 'RTK_ERR_STORE_WRITE' })
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

t.test('writes are serialised: the last of many concurrent ones wins, on disk too', async (t) => {
  const folder = join(t.testdir(), 'store')
  const store = await openStore(folder, log)
  await Promise.all(Array.from({ length: 50 }, (_, n) => store.batch([{ namespace: 'a', key: 'n', value: n }])))
  await store.close()
  const again = await openStore(folder, log)
  t.equal(await again.get('a', 'n'), 49)
  await again.close()
})

t.test('damage', async (t) => {
  const damages: Record<string, (folder: string) => void> = {
    'CURRENT is missing': (folder) => rmSync(join(folder, 'CURRENT')),
    'CURRENT is empty': (folder) => truncateSync(join(folder, 'CURRENT'), 0),
    'CURRENT is garbage': (folder) => writeFileSync(join(folder, 'CURRENT'), randomBytes(16)),
    'CURRENT names a file that is not there': (folder) => writeFileSync(join(folder, 'CURRENT'), 'MANIFEST-000099\n'),
    'MANIFEST is missing': (folder) => files(folder, /^MANIFEST/).forEach((file) => void rmSync(file)),
    'MANIFEST is empty': (folder) => files(folder, /^MANIFEST/).forEach((file) => void truncateSync(file, 0)),
    'MANIFEST is cut': (folder) =>
      files(folder, /^MANIFEST/).forEach((file) => void truncateSync(file, statSync(file).size - 5)),
    'MANIFEST is garbage': (folder) =>
      files(folder, /^MANIFEST/).forEach((file) => void writeFileSync(file, randomBytes(200))),
  }
  for (const [what, damage] of Object.entries(damages)) {
    for (const where of ['in its log', 'in its tables']) {
      t.test(`${what}, data ${where}: repaired without losing an entry, and says so`, async (t) => {
        const folder = join(t.testdir(), 'store')
        await filled(folder)
        if (where === 'in its tables') await (await openStore(folder, log)).close()
        damage(folder)
        const store = await openStore(folder, log)
        t.equal(Object.keys(await store.entries('config')).length, 20)
        t.same(codes(store), ['store-repaired'])
        t.match(store.troubles[0]?.text, /store\.broken-1/)
        t.ok(existsSync(`${folder}.broken-1`))
        await store.batch([{ namespace: 'config', key: 'after', value: 1 }])
        await store.close()
        const again = await openStore(folder, log)
        t.same(again.troubles, [], 'once')
        t.equal(await again.get('config', 'after'), 1)
        await again.close()
      })
    }
  }

  t.test('one damaged byte in the log costs one batch, not the block it is in', async (t) => {
    const folder = join(t.testdir(), 'store')
    await filled(folder, 600)
    const path = files(folder, /\.log$/).at(-1) as string
    const bytes = readFileSync(path)
    const at = bytes.indexOf('key-300"')
    bytes[at + 20] = (bytes[at + 20] as number) ^ 0xff
    writeFileSync(path, bytes)
    const store = await openStore(folder, log)
    t.equal(Object.keys(await store.entries('config')).length, 599)
    t.equal(await store.get('config', 'key-300'), undefined)
    t.same(codes(store), ['store-damaged'])
    await store.close()
    const again = await openStore(folder, log)
    t.equal(Object.keys(await again.entries('config')).length, 599)
    t.same(again.troubles, [])
    await again.close()
  })

  t.test('saved batches never come back over newer ones', async (t) => {
    const folder = join(t.testdir(), 'store')
    const store = await openStore(folder, log)
    for (let n = 0; n < 10; n++) await store.batch([{ namespace: 'a', key: 'n', value: `value ${n}` }])
    await store.batch([{ namespace: 'a', key: 'n', value: undefined }])
    await store.batch([{ namespace: 'a', key: 'm', value: 'new' }])
    await store.close()
    const path = files(folder, /\.log$/).at(-1) as string
    const bytes = readFileSync(path)
    bytes.write('Value', bytes.indexOf('value 3'))
    writeFileSync(path, bytes)
    const again = await openStore(folder, log)
    t.same(await again.entries('a'), { m: 'new' })
    await again.close()
  })

  t.test('a log that was cut in the middle of a write loses that write only, and that is no trouble', async (t) => {
    const folder = join(t.testdir(), 'store')
    await filled(folder)
    const path = files(folder, /\.log$/).at(-1) as string
    truncateSync(path, statSync(path).size - 30)
    const store = await openStore(folder, log)
    t.equal(Object.keys(await store.entries('config')).length, 19)
    t.same(store.troubles, [])
    await store.close()
  })

  t.test('a log that is all garbage loses its writes and says so; what is in tables stays', async (t) => {
    const folder = join(t.testdir(), 'store')
    await filled(folder)
    const store = await openStore(folder, log)
    await store.batch([{ namespace: 'config', key: 'late', value: 1 }])
    await store.close()
    for (const path of files(folder, /\.log$/)) writeFileSync(path, Buffer.alloc(5_000, 0xa5))
    const again = await openStore(folder, log)
    t.equal(Object.keys(await again.entries('config')).length, 20)
    t.same(codes(again), ['store-damaged'])
    await again.close()
  })

  t.test('a damaged table: what can be read stays, no wrong value comes out, and it says so', async (t) => {
    for (let round = 0; round < 30; round++) {
      const folder = join(t.testdir(), 'store')
      await filled(folder)
      await (await openStore(folder, log)).close()
      const path = files(folder, /\.ldb$/)[0] as string
      const bytes = readFileSync(path)
      const at = Math.floor((round / 30) * bytes.length)
      bytes[at] = (bytes[at] as number) ^ 0x10
      writeFileSync(path, bytes)
      const store = await openStore(folder, log)
      const entries = await store.entries('config')
      for (const [key, value] of Object.entries(entries))
        t.same(value, { n: Number(key.slice(4)), text: 'x'.repeat(100) }, `byte ${at}`)
      if (Object.keys(entries).length < 20) t.not(store.troubles.length, 0, `byte ${at}: lost without a word`)
      await store.batch([{ namespace: 'config', key: 'after', value: 1 }])
      await store.close()
    }
  })

  t.test('never refuses to start, whatever is in the folder, and keeps at most three old ones', async (t) => {
    const folder = join(t.testdir(), 'store')
    for (let round = 0; round < 5; round++) {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder)
      for (const name of ['CURRENT', 'MANIFEST-000001', '000003.log', '000005.ldb'])
        writeFileSync(join(folder, name), randomBytes(3_000))
      if (round === 4) {
        rmSync(join(folder, 'CURRENT'))
        mkdirSync(join(folder, 'CURRENT'))
      }
      const store = await openStore(folder, log)
      t.ok(store.troubles.length > 0)
      await store.batch([{ namespace: 'a', key: 'b', value: round }])
      await store.close()
    }
    t.same(
      readdirSync(join(folder, '..')).filter((name) => name.includes('broken')),
      ['store.broken-3', 'store.broken-4', 'store.broken-5'],
    )
  })
})

t.test('another process holds it: RTK_ERR_DATA_LOCKED, and nothing is touched, damaged or not', async (t) => {
  const folder = join(t.testdir(), 'store')
  const child = spawn(process.execPath, [writer, folder, '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  await t.rejects(openStore(folder, log), { code: 'RTK_ERR_DATA_LOCKED', message: new RegExp(folder) })
  const current = readFileSync(join(folder, 'CURRENT'))
  rmSync(join(folder, 'CURRENT'))
  await t.rejects(openStore(folder, log), { code: 'RTK_ERR_DATA_LOCKED' })
  writeFileSync(join(folder, 'CURRENT'), current)
  t.notOk(existsSync(`${folder}.broken-1`))
  child.kill('SIGKILL')
  await once(child, 'exit')
  const store = await openStore(folder, log)
  t.same(store.troubles, [])
  await t.rejects(openStore(folder, log), { code: 'RTK_ERR_DATA_LOCKED' }, 'nor twice in one process')
  await store.close()
})

t.test('a folder that cannot be made is RTK_ERR_DATA_FOLDER', async (t) => {
  const folder = t.testdir({ file: '' })
  await t.rejects(openStore(join(folder, 'file', 'store'), log), { code: 'RTK_ERR_DATA_FOLDER' })
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
    const again = await openStore(folder, log)
    t.same(await again.entries('a'), acknowledged)
    t.same(again.troubles, [])
    await again.close()
  })

  t.test('what was refused does not come back when the process is gone before it could recover', async (t) => {
    rmSync(folder, { recursive: true, force: true })
    for (let round = 0; round < 8; round++) {
      const store = await openStore(folder, log)
      const before = await store.entries('a')
      // Partly filled to a different degree each time, so that the refused batch is cut at different places.
      fill()
      truncateSync(ballast, Math.max(0, statSync(ballast).size - round * 4_096))
      const acknowledged = { ...before }
      for (let n = 0; n < 40; n++)
        await store.batch([{ namespace: 'a', key: `k${n % 7}`, value: `${round}/${n} ${'y'.repeat(900)}` }]).then(
          () => {
            acknowledged[`k${n % 7}`] = `${round}/${n} ${'y'.repeat(900)}`
          },
          () => {},
        )
      await store.close()
      rmSync(ballast)
      const again = await openStore(folder, log)
      t.same(await again.entries('a'), acknowledged, `round ${round}`)
      t.same(again.troubles, [])
      await again.close()
    }
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
    const again = await openStore(folder, log)
    t.equal(Object.keys(await again.entries('config')).length, 20)
    t.same(await again.entries('a'), { b: 2 })
    await again.close()
  })
})

const strace = spawnSync('strace', ['-V']).status === 0
t.test('the log is on the disk before the answer is written', unless(strace, 'strace is missing'), async (t) => {
  const folder = t.testdir()
  const trace = join(folder, 'trace')
  const calls = 'trace=write,writev,pwrite64,fdatasync,fsync,openat'
  const args = ['-f', '-y', '-s', '64', '-e', calls, '-o', trace, process.execPath, writer, join(folder, 'store'), '5']
  const child = spawn('strace', args, { stdio: 'ignore' })
  t.same(await once(child, 'exit'), [0, null])
  const lines = readFileSync(trace, 'utf8').split('\n')
  let synced = false
  let written = false
  let answers = 0
  for (const line of lines) {
    if (/write\w*\(\d+<[^>]*\.log>/.test(line)) {
      written = true
      synced = false
    } else if (/f(data)?sync\(\d+<[^>]*\.log>/.test(line)) {
      synced = written
    } else if (/write\(1<.*answered/.test(line)) {
      answers++
      t.ok(written && synced, `answer ${answers} came after the write and its sync`)
      written = false
    }
  }
  t.equal(answers, 5)
})

t.test('a sync that fails after the write went through', unless(strace, 'strace is missing'), async (t) => {
  for (const [what, ...more] of [['the process is gone at once', 'leave'], ['the process goes on']]) {
    t.test(`${what}: what was refused is not there, what was acknowledged is`, async (t) => {
      const folder = join(t.testdir(), 'store')
      await filled(folder, 1)
      // Once, and late enough to hit the log of a batch and not a file of the opening.
      const inject = ['-f', '-o', '/dev/null', '-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO:when=9']
      // strace counts per thread.
      const env = { ...process.env, UV_THREADPOOL_SIZE: '1' }
      const args = [...inject, process.execPath, writer, folder, '12', ...more]
      const child = spawnSync('strace', args, { encoding: 'utf8', env })
      const numbers = (word: string) =>
        [...child.stdout.matchAll(new RegExp(`${word} (\\d+)`, 'g'))].map(([, n]) => Number(n))
      const [refused, answered] = [numbers('refused'), numbers('answered')]
      t.equal(refused.length, 1, child.stdout + child.stderr)
      const store = await openStore(folder, log)
      const { a, b } = (await store.entries('loop')) as { a: number; b: number }
      t.equal(a, b)
      t.equal(a, answered.at(-1))
      t.same(store.troubles, [])
      await store.close()
    })
  }
})

for (const namespace of ['loop', 'protected.loop']) {
  t.test(`kill -9 at random moments, ${namespace}: all that was acknowledged is there, and nothing half`, async (t) => {
    const folder = join(t.testdir(), 'store')
    const args = [writer, folder, '0', '', namespace]
    let answered = 0
    for (let round = 0; round < 8; round++) {
      const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const stop = answered + 1 + Math.floor(Math.random() * 60)
      for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
        const number = Number(/^answered (\d+)/.exec(line)?.[1] ?? 0)
        answered = Math.max(answered, number)
        if (number >= stop) child.kill('SIGKILL')
      }
      const store = await openStore(folder, log)
      const { a, b } = (await store.entries(namespace)) as { a: number; b: number }
      t.equal(a, b, 'both or none')
      t.ok(a >= answered, `${a} is stored, ${answered} was acknowledged`)
      t.same(store.troubles, [])
      await store.close()
    }
  })
}

t.test('a replaced secret', async (t) => {
  const secret = () => randomBytes(200).toString('base64')
  const holds = (folder: string, text: string) => files(folder, /./).some((file) => readFileSync(file).includes(text))
  const write = (store: Store, namespace: string, value: unknown) => store.batch([{ namespace, key: 'key', value }])
  const protectedOne = 'protected.mqtt-link'

  t.test('stays in the files of an ordinary namespace, and in none of a protected one', async (t) => {
    const folder = join(t.testdir(), 'store')
    const store = await openStore(folder, log)
    const [old, now, ordinary] = [secret(), secret(), secret()]
    await write(store, protectedOne, old)
    t.ok(holds(folder, old), 'the files are looked at rightly')
    await write(store, 'config', ordinary)
    await write(store, 'config', 1)
    t.ok(holds(folder, ordinary))
    await write(store, protectedOne, now)
    await store.close()
    t.notOk(holds(folder, old))
    t.ok(holds(folder, now))
    const again = await openStore(folder, log)
    t.equal(await again.get(protectedOne, 'key'), now)
    t.equal(await again.get('config', 'key'), 1)
    t.same(again.troubles, [])
    await again.close()
  })

  t.test('whatever came before and between: writes, deletions, restarts', async (t) => {
    const base = t.testdir()
    let run = 0
    const step = fc.constantFrom('replace', 'delete', 'reopen', 'ordinary', 'large')
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
          if (what === 'large') await write(store, 'zone', 'x'.repeat(50_000))
          if (what === 'reopen') {
            await store.close()
            store = await openStore(folder, log)
          }
        }
        const kept = await store.get(protectedOne, 'key')
        await store.close()
        return kept === now && gone.every((text) => !holds(folder, text)) && (now === undefined || holds(folder, now))
      }),
      { numRuns: 25 },
    )
  })

  t.test('is taken along by the next one when it could not be taken out', async (t) => {
    const folder = join(t.testdir(), 'store')
    const store = await openStore(folder, log)
    const [first, second, third] = [secret(), secret(), secret()]
    const { compactRange } = ClassicLevel.prototype
    await write(store, protectedOne, first)
    ClassicLevel.prototype.compactRange = () => Promise.reject(new Error('no room'))
    await t.resolves(write(store, protectedOne, second), 'the write does not fail')
    await write(store, 'config', 'behind it')
    ClassicLevel.prototype.compactRange = compactRange
    t.ok(holds(folder, first))
    await write(store, protectedOne, third)
    await store.close()
    t.notOk(holds(folder, first))
    t.notOk(holds(folder, second))
  })
})

t.test('LevelDB logs', async (t) => {
  t.equal(crc32c(Buffer.from('123456789')), 0xe3069283, 'the check value of CRC-32C')
  t.test('no bytes whatever make the reader fail or run away', async () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        const scan = scanLog(bytes)
        return scan.tailBytes + scan.damagedBytes <= bytes.length
      }),
    )
  })
  t.test('records that span blocks are read as LevelDB wrote them', async (t) => {
    const folder = join(t.testdir(), 'store')
    const store = await openStore(folder, log)
    for (let n = 0; n < 12; n++) await store.batch([{ namespace: 'a', key: `${n}`, value: 'z'.repeat(n * 9_999) }])
    const scan = scanLog(readFileSync(files(folder, /\.log$/).at(-1) as string))
    t.equal(scan.records.length, 12)
    t.equal(scan.damagedBytes + scan.tailBytes, 0)
    await store.close()
  })
})
