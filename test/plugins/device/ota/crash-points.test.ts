/** The process is killed, or the power cut, at every call that changes the disk: what starts next is the old or the new version, whole. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileSystem } from 'rtk-base/files'
import { readPublicKey, unpackImage } from 'rtk-base/image'
import { few, gateOnly, machineOnly, sample } from 'rtk-base/testing'
import t from 'tap'
import { Download } from '../../../../plugins/device/ota/download.js'
import { Slots } from '../../../../plugins/device/ota/slots/index.js'
import { Ext4Disk, noExt4 } from './ext4-disk.js'
import { Killed, MemoryDisk, type Survivors } from './memory-disk.js'
import { bundleFiles, imageOf, maker, scratch } from './rig.js'

t.setTimeout(900_000)
const place = scratch(t)
const keys = new Map([['maker', readPublicKey(maker.publicPem)]])
const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const versions: Record<string, Record<string, string>> = {
  old: { ...bundleFiles('1.0.0'), 'deep/er/old.txt': 'old' },
  new: {
    ...bundleFiles('2.0.0'),
    'deep/er/new.txt': 'new',
    'deep/more.txt': 'more',
    'empty.txt': '',
    'plugins/a.cjs': 'a',
  },
  factory: bundleFiles('0.9.0'),
}
const withSums = (files: Record<string, string>) => ({
  ...files,
  SHA256SUMS: Object.entries(files)
    .map(([path, text]) => `${digest(text)}  ./${path}\n`)
    .join(''),
})
const below = (folder: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))
const stateText = (good: string, trial = '', tries = 0, back = '') =>
  `good=${good}\ntrial=${trial}\ntries=${tries}\nback=${back}\n`

/** The launcher with what the Debian package has; in place of the service it says what it would start. */
const lib = join(place, 'lib')
for (const [path, text] of Object.entries(withSums(versions.factory as Record<string, string>))) {
  mkdirSync(join(lib, 'factory', path, '..'), { recursive: true })
  writeFileSync(join(lib, 'factory', path), text)
}
writeFileSync(join(lib, 'notify-exec'), '#!/bin/sh\necho "$RTK_BASE_SLOT:$RTK_TRIAL"\n')
chmodSync(join(lib, 'notify-exec'), 0o755)
const launch = join('runtime', 'tools', 'build', 'deb', 'files', 'launch')
const careless = join(place, 'careless')
writeFileSync(
  careless,
  readFileSync(launch, 'utf8').replace(/^whole\(\) \{.*\}$/m, 'whole() { [ -f "$(dir "$1")/rtk-base.mjs" ]; }'),
)

/** What the launcher starts, and which version lies there by its content, file by file. */
function started(root: string, launcher = launch): { slot: string; trial: string; version: string } {
  const { stdout } = spawnSync('sh', [launcher, root], { encoding: 'utf8', env: { ...process.env, RTK_BASE_LIB: lib } })
  const [slot = '', trial = ''] = stdout.trim().split(':')
  const folder = slot === 'f' ? join(lib, 'factory') : join(root, slot)
  const matches = (files: Record<string, string>) =>
    Object.entries(files).every(([path, text]) => {
      try {
        return readFileSync(join(folder, path), 'utf8') === text
      } catch {
        return false
      }
    })
  const [version = 'broken'] = Object.entries(versions).find(([, files]) => slot !== '' && matches(files)) ?? []
  return { slot, trial, version }
}

/** Reproducible. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_507) + 0x9e37_79b9) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

const kinds: Survivors[] = ['all', 'synced', 'some', ...new Array(sample(0, 5, 0)).fill('some')]
let image: Buffer

/** A station that runs the old version from slot a, with rests of an even older one in b. */
function before(options: ConstructorParameters<typeof MemoryDisk>[0], state = stateText('a', '', 0, 'b')): MemoryDisk {
  const disk = new MemoryDisk(options)
  disk.lay({
    'root/state': state,
    ...below('root/a', withSums(versions.old as Record<string, string>)),
    ...below('root/b', withSums(versions.factory as Record<string, string>)),
    'data/keep': '',
  })
  return disk
}

/** A server that breaks off once and can go on. */
const etag = '"x"'
function serving(): typeof fetch {
  let answers = 0
  return (async (_url: unknown, { headers }: { headers: Record<string, string> }) => {
    const start = headers['if-range'] === etag ? Number(/\d+/.exec(headers.range ?? '')?.[0] ?? 0) : 0
    answers++
    const pieces = async function* () {
      for (let at = start; at < image.length; at += 1_000) {
        if (answers === 1 && at > image.length / 2)
          throw Object.assign(new Error('cut'), { code: 'RTK_ERR_FETCH_ANSWER' })
        yield image.subarray(at, at + 1_000)
      }
    }
    const range: Record<string, string> =
      start > 0 ? { 'content-range': `bytes ${start}-${image.length - 1}/${image.length}` } : {}
    const head: Record<string, string> = { etag, 'content-length': String(image.length - start), ...range }
    return { status: start > 0 ? 206 : 200, headers: new Headers(head), body: pieces() }
  }) as unknown as typeof fetch
}

const downloadOn = (disk: MemoryDisk) =>
  new Download({ fetch: serving() as never, folder: 'data/incoming', ca: '', fs: disk.fs })
const attempt = { largest_bytes: 1_000_000, signal: new AbortController().signal, progress: () => {} }

async function fetched(disk: MemoryDisk): Promise<Download> {
  const download = downloadOn(disk)
  const url = new URL('https://example.org/image')
  await download.attempt(url, attempt).catch((error) => {
    if (error instanceof Killed) throw error
    return download.attempt(url, attempt)
  })
  return download
}

const slotsOn = (disk: MemoryDisk, running = 'a') =>
  new Slots({ root: 'root', running, restart() {}, fs: disk.fs, free: async () => 1e9 })

/** As plugins/device/ota/updates.ts does it. */
const update = async (disk: MemoryDisk, running = 'a'): Promise<void> =>
  install(await fetched(disk), slotsOn(disk, running), disk.fs, () => disk.bytes('data/incoming/image'))

async function install(download: Download, slots: Slots, fs: FileSystem, bytes: () => Uint8Array): Promise<void> {
  try {
    const source = async function* () {
      yield bytes()
    }
    const manifest = await unpackImage(source(), {
      keys,
      largest_bytes: 1_000_000,
      fs,
      accept: async (found) => (await slots.prepare(found)).folder,
    })
    await slots.commit(manifest)
  } catch (error) {
    await slots.abandon().catch(() => {})
    throw error
  } finally {
    await download.discard()
  }
}

async function survives(disk: MemoryDisk, step: (disk: MemoryDisk) => Promise<void>): Promise<boolean> {
  return step(disk).then(
    () => true,
    (error) => {
      if (!(error instanceof Killed)) throw error
      return false
    },
  )
}

async function callsOf(make: () => MemoryDisk, step: (disk: MemoryDisk) => Promise<void>): Promise<number> {
  const disk = make()
  await step(disk)
  return disk.calls
}

let point = 0
function onDisk(disk: MemoryDisk): string {
  const folder = join(place, `point-${point++}`)
  disk.writeTo(folder)
  return join(folder, 'root')
}
const clean = (root: string) => rmSync(join(root, '..'), { recursive: true, force: true })

/** Points spread over all calls, each with every kind of survivors. */
function* points(calls: number, wanted: number): Generator<{ at: number; survivors: Survivors; random: () => number }> {
  const all = calls * kinds.length
  const step = Math.max(1, all / wanted)
  for (let index = 0; index < all; index += step) {
    const number = Math.floor(index)
    yield {
      at: 1 + (number % calls),
      survivors: kinds[Math.floor(number / calls)] as Survivors,
      random: randomOf(number),
    }
  }
}

t.test('crash points', { skip: process.platform === 'linux' ? gateOnly : 'the launcher needs Linux' }, async (t) => {
  image = await imageOf(t, versions.new as Record<string, string>)

  await t.test(
    'an update that is killed anywhere leaves the old or the new version, and can be sent again',
    async (t) => {
      const calls = await callsOf(() => before({}), update)
      const seen: Record<string, number> = {}
      for (const { at, survivors, random } of points(calls, sample(45, 100_000, 60))) {
        const disk = before({ killAt: at })
        t.notOk(await survives(disk, update))
        const found = disk.after(survivors, random)
        const root = onDisk(found)
        const first = started(root)
        const key = `${first.version} from ${first.slot}${first.trial && ' on trial'}`
        seen[key] = (seen[key] ?? 0) + 1
        const isOld = first.version === 'old' && first.slot === 'a' && first.trial === ''
        const isNew = first.version === 'new' && first.slot === 'b' && first.trial === 'b'
        if (!isOld && !isNew) t.fail(`killed at ${at} of ${calls}, ${survivors}: ${key}, ${readdirSync(root)}`)
        clean(root)
        // Only where the old version runs: the new one is on trial and takes none.
        if (isOld && at % 7 === 0) {
          await survives(found, (again) => update(again))
          const next = onDisk(found)
          t.strictSame(started(next), { slot: 'b', trial: 'b', version: 'new' }, `again after ${at}`)
          clean(next)
        }
      }
      // What was answered is durable: nothing that was not synced is needed.
      for (const survivors of kinds) {
        const disk = before({})
        await update(disk)
        const root = onDisk(disk.after(survivors, randomOf(7)))
        t.strictSame(
          started(root),
          { slot: 'b', trial: 'b', version: 'new' },
          `power cut after the answer, ${survivors}`,
        )
        clean(root)
      }
      t.comment(`${calls} calls: ${JSON.stringify(seen)}`)
      t.ok(Object.keys(seen).length === 2, 'both outcomes were seen')
      t.ok(point >= sample(45, 200, 60), `${point} points`)
    },
  )

  await t.test('a start of the trial, its confirmation and its end are whole or not done', async (t) => {
    const onTrial = (options: { killAt?: number }) => {
      const disk = new MemoryDisk(options)
      disk.lay({
        'root/state': stateText('a', 'b', 1),
        ...below('root/a', withSums(versions.old as Record<string, string>)),
        ...below('root/b', withSums(versions.new as Record<string, string>)),
      })
      return disk
    }
    const steps: [string, (disk: MemoryDisk) => Promise<void>, allowed: string[]][] = [
      ['confirm', (disk) => slotsOn(disk, 'b').confirm(), ['b:b new', 'b: new']],
      ['giveUp', (disk) => slotsOn(disk, 'b').giveUp(), ['b:b new', 'a: old']],
    ]
    for (const [name, step, allowed] of steps) {
      const calls = await callsOf(() => onTrial({}), step)
      const seen = new Set<string>()
      for (const { at, survivors, random } of points(calls, sample(30, 100, 50))) {
        const disk = onTrial({ killAt: at })
        await survives(disk, step)
        const root = onDisk(disk.after(survivors, random))
        const { slot, trial, version } = started(root)
        seen.add(`${slot}:${trial} ${version}`)
        clean(root)
      }
      t.strictSame(
        [...seen].sort((one, other) => one.localeCompare(other)),
        [...allowed].sort((one, other) => one.localeCompare(other)),
        name,
      )
    }
  })

  await t.test(
    'a trial that never confirms is started three times, then the old version, whose report stands in the state',
    async (t) => {
      const disk = before({})
      await update(disk)
      const root = onDisk(disk)
      const starts = Array.from({ length: 5 }, () => started(root))
      t.strictSame(
        starts.map(({ slot, trial, version }) => `${slot}:${trial} ${version}`),
        ['b:b new', 'b:b new', 'b:b new', 'a: old', 'a: old'],
      )
      t.equal(readFileSync(join(root, 'state'), 'utf8'), stateText('a', '', 0, 'b'))
      t.equal(statSync(join(root, 'state')).mode & 0o777, 0o644, 'for the start script of any user')
      t.equal(await new Slots({ root, running: 'a', restart() {} }).givenUp(), 'b')
    },
  )

  const noStrace = spawnSync('strace', ['-V']).status === 0 ? false : 'needs strace'
  await t.test(
    'the launcher itself, killed at each of its calls, starts no more than three trials',
    { skip: noStrace },
    async (t) => {
      const disk = before({})
      await update(disk)
      let points = 0
      for (const call of few(2, ['fsync', 'renameat2', 'write', 'execve', 'openat', 'rename', 'close'])) {
        for (let when = 1; when <= sample(1, 60, 3); when++) {
          const root = onDisk(disk)
          const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${when}`]
          const args = ['-f', '-qq', '-o', '/dev/null', ...inject, 'sh', launch, root]
          const { stdout } = spawnSync('strace', args, { encoding: 'utf8', env: { ...process.env, RTK_BASE_LIB: lib } })
          const trials = /:b/.test(stdout) ? 1 : 0
          const then = Array.from({ length: 4 }, () => started(root)).map(
            ({ slot, trial, version }) => `${slot}:${trial} ${version}`,
          )
          const text = `${call} ${when}: ${[stdout.trim(), ...then].join(', ')}`
          const all = trials + then.filter((one) => one === 'b:b new').length
          if (all > 3 || then.at(-1) !== 'a: old' || then.some((one) => one !== 'b:b new' && one !== 'a: old'))
            t.fail(text)
          points++
          clean(root)
        }
      }
      t.comment(`${points} points`)
      t.ok(points > 1)
    },
  )

  await t.test('a download that is killed anywhere never leaves an image that is taken for another', async (t) => {
    const fresh = () => before({})
    const calls = await callsOf(fresh, async (disk) => void (await fetched(disk)))
    let resumed = 0
    for (const { at, survivors, random } of points(calls, sample(25, 100_000, 40))) {
      const disk = before({ killAt: at })
      await survives(disk, async (one) => void (await fetched(one)))
      const found = disk.after(survivors, random)
      const left = (() => {
        try {
          return found.bytes('data/incoming/image').length
        } catch {
          return 0
        }
      })()
      if (left > 0) resumed++
      // What a power cut has spoiled is refused by its signature, thrown away, and fetched anew.
      for (let round = 0; round < 2; round++) {
        const whole = await update(found).then(
          () => true,
          () => false,
        )
        if (whole) break
        t.equal(round, 0, `${at} ${survivors}`)
      }
      const root = onDisk(found)
      t.equal(started(root).version, 'new', `killed at ${at}, ${survivors}`)
      clean(root)
    }
    t.ok(resumed > 3, `${resumed} had a part to go on with`)
  })

  await t.test('on a real file system', { skip: machineOnly || noExt4() }, async (t) => {
    const onTrial = { slot: 'b', trial: 'b', version: 'new' }
    const files = {
      'root/state': stateText('a', '', 0, 'b'),
      ...below('root/a', withSums(versions.old as Record<string, string>)),
      ...below('root/b', withSums(versions.factory as Record<string, string>)),
    }
    /** An update whose power is cut before each of its calls. @param look at what is found then */
    const cutEverywhere = async (look: (disk: Ext4Disk) => void, syncs?: (path: string) => boolean) => {
      const disk = Ext4Disk.make(t, files)
      const at = (name: string) => join(disk.folder, name)
      const cut = () => {
        const found = disk.cut()
        try {
          look(found)
        } finally {
          found.remove()
        }
      }
      const fs = disk.fs(cut, syncs)
      const deps = { fetch: serving() as never, folder: at('incoming'), ca: '', fs }
      const download = new Download(deps)
      const url = new URL('https://example.org/image')
      await download.attempt(url, attempt).catch(() => download.attempt(url, attempt))
      const slots = (running: string) =>
        new Slots({ root: at('root'), running, restart() {}, fs, free: async () => 1e9 })
      await install(download, slots('a'), fs, () => readFileSync(at('incoming/image')))
      cut()
      t.match(started(at('root')), onTrial)
      cut()
      await slots('b').confirm()
      cut()
      t.match(started(at('root')), { slot: 'b', trial: '', version: 'new' })
    }

    await t.test('a power cut anywhere leaves the old or the new version, whole', async (t) => {
      const seen: Record<string, number> = {}
      let counted = 0
      await cutEverywhere((disk) => {
        const root = join(disk.folder, 'root')
        const { slot, trial, version } = started(root)
        const key = `${version} from ${slot}${trial && ' on trial'}`
        seen[key] = (seen[key] ?? 0) + 1
        if (trial === '') return
        // Again, now that the launcher has counted: it did so durably before it started the slot.
        const next = disk.cut()
        if (/^tries=[1-3]$/m.test(readFileSync(join(next.folder, 'root', 'state'), 'utf8'))) counted++
        next.remove()
      })
      t.comment(JSON.stringify(seen))
      t.strictSame(Object.keys(seen), ['old from a', 'new from b on trial', 'new from b'])
      t.equal(counted, seen['new from b on trial'])
    })

    await t.test(
      'the control: with files that are not synced, the launcher’s check finds what is broken',
      async (t) => {
        const outcome = { points: 0, checked: 0, careless: 0 }
        const syncs = (path: string) => path.endsWith('state.new')
        const look = (disk: Ext4Disk) => {
          outcome.points++
          const other = disk.cut()
          if (started(join(disk.folder, 'root')).version === 'broken') outcome.checked++
          if (started(join(other.folder, 'root'), careless).version === 'broken') outcome.careless++
          other.remove()
        }
        await cutEverywhere(look, syncs)
        t.comment(JSON.stringify(outcome))
        t.ok(outcome.careless >= 3, `${outcome.careless} of ${outcome.points} are broken without the check`)
        t.equal(outcome.checked, 0)
      },
    )
  })

  await t.test(
    'the control: without syncs and with a launcher that looks at nothing, the same points break stations',
    async (t) => {
      const calls = await callsOf(() => before({}), update)
      const outcome = { checked: 0, careless: 0, points: 0 }
      for (let seed = 0; seed < sample(20, 600, 30); seed++) {
        // At the end of the update and shortly before it: the state may name what is not on the disk.
        const disk = before({ killAt: calls + 1 - (seed % 4), syncs: false })
        await survives(disk, update)
        const root = onDisk(disk.after('some', randomOf(seed)))
        const copy = join(root, '..', 'copy')
        cpSync(root, copy, { recursive: true })
        outcome.points++
        if (started(root).version === 'broken') outcome.checked++
        if (started(copy, careless).version === 'broken') outcome.careless++
        clean(root)
      }
      t.comment(JSON.stringify(outcome))
      t.ok(outcome.careless >= 3, `${outcome.careless} of ${outcome.points} are broken without the check`)
      t.equal(outcome.checked, 0, 'the check of the launcher alone starts nothing that is broken')
    },
  )
})

t.test('a disk that gets full during a download is given back', async (t) => {
  image = await imageOf(t, versions.new as Record<string, string>)
  const disk = new MemoryDisk()
  const fs: FileSystem = {
    ...disk.fs,
    open: async (path, flags, mode) => {
      const file = await disk.fs.open(path, flags, mode)
      const writeFile = async (bytes: Uint8Array) => {
        await file.writeFile(bytes.subarray(0, 100))
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
      }
      return String(path).endsWith('/image')
        ? ({ writeFile, sync: () => file.sync(), close: () => file.close() } as unknown as typeof file)
        : file
    },
  }
  const deps = { fetch: serving() as never, folder: 'data/incoming', ca: '', fs }
  await t.rejects(new Download(deps).attempt(new URL('https://example.org/image'), attempt), {
    code: 'RTK_ERR_STORE_WRITE',
    message: /does not fit on the disk/,
  })
  await t.rejects(disk.fs.stat('data/incoming/image'), 'the part is gone')
})
