/** How files are read that somebody else may have put there. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { Type } from 'typebox'
import { failureText } from '../../runtime/lib/link/outbound/dial.js'
import { readPlain, readPlainSync } from '../../runtime/platform/files/plain-file.js'
import { StateFile } from '../../runtime/platform/files/state-file.js'
import { filesBelow, packageRoot } from '../../runtime/platform/release.js'
import { checkReadable } from '../../runtime/tools/cli/run/data-folder.js'

t.test('only plain files of a limited size are read', async (t) => {
  const folder = t.testdir({ small: 'text', large: '12345' })
  const at = (name: string) => join(folder, name)
  execFileSync('mkfifo', [at('fifo')])
  mkdirSync(at('folder'))
  symlinkSync('/dev/zero', at('device'))
  symlinkSync(at('loop'), at('loop'))
  symlinkSync(at('small'), at('link'))
  writeFileSync(at('huge'), '')
  truncateSync(at('huge'), 2 ** 40)
  for (const name of ['small', 'link']) {
    t.equal((await readPlain(at(name), 4)).toString(), 'text')
    t.equal(readPlainSync(at(name), 4).toString(), 'text')
  }
  for (const name of ['large', 'fifo', 'folder', 'device', 'huge', 'loop', 'none']) {
    const error = { loop: { code: 'ELOOP' }, none: { code: 'ENOENT' } }[name] ?? /is not a file of at most/
    await t.rejects(readPlain(at(name), 4), error, name)
    t.throws(() => readPlainSync(at(name), 4), error, name)
  }
})

t.test('a record in a file of its own', async (t) => {
  const Shape = Type.Object({ count: Type.Integer() })
  const folder = t.testdir({ garbled: '{', other: '{"count":"1"}', large: `{"count":${' '.repeat(64)}1}` })
  const file = (name: string) => new StateFile(Shape, join(folder, name), { largest_bytes: 64 })

  t.test('is private, whole, and read as it was written', async (t) => {
    t.same([await file('new').read(), file('new').readSync()], [{}, {}], 'a missing file is no damage')
    await Promise.all([1, 2, 3].map((count) => file('new').write({ count })))
    t.same(await file('new').read(), { value: { count: 3 } })
    file('new').writeSync({ count: 4 })
    t.same(file('new').readSync(), { value: { count: 4 } })
    t.equal(statSync(join(folder, 'new')).mode & 0o777, 0o600)
    await file('new').remove()
    t.same(await file('new').read(), {})
  })

  t.test('that cannot be used says why, and throws nothing', async (t) => {
    mkdirSync(join(folder, 'folder'))
    symlinkSync('/dev/zero', join(folder, 'device'))
    const reasons = {
      ...{
        garbled: /JSON/,
        other: /does not match the format/,
        large: /at most/,
        folder: /at most/,
        device: /at most/,
      },
      'garbled/below': /ENOTDIR/,
    }
    for (const [name, reason] of Object.entries(reasons)) {
      for (const { value, damage = '' } of [await file(name).read(), file(name).readSync()]) {
        t.equal(value, undefined)
        t.match(damage, reason, name)
      }
    }
    const usual = new StateFile(Shape, join(folder, 'usual'))
    for (const [bytes, isRead] of [
      [1 << 20, true],
      [(1 << 20) + 1, false],
    ] as const) {
      writeFileSync(usual.path, '{"count":1}'.padEnd(bytes))
      t.equal((await usual.read()).value !== undefined, isRead, `${bytes} bytes without another limit`)
    }
    await file('other').write({ count: 1 })
    t.same(await file('other').read(), { value: { count: 1 } }, 'the next write repairs it')
  })

  t.test('is not written where there is no room', async (t) => {
    const room = async (bytes: number) => {
      throw new Error(`${bytes} bytes are too many`)
    }
    const full = new StateFile(Shape, join(folder, 'full'), { room })
    await t.rejects(full.write({ count: 1 }), /^11 bytes are/)
    t.same(await full.read(), {})
  })
})

t.test('a snapshot that is a loop is damage, and the data folder is used', async (t) => {
  const data = t.testdir({ store: { 'snapshot-0': '' } })
  symlinkSync('snapshot-1', join(data, 'store', 'snapshot-1'))
  t.doesNotThrow(() => checkReadable(data))
  const looped = t.testdir()
  symlinkSync('store', join(looped, 'store'))
  t.throws(() => checkReadable(looped), { code: 'ELOOP' }, 'a store that is one cannot be used')
})

t.test('an error of TLS is told without the marks of OpenSSL', async (t) => {
  const marks =
    '803C6A5AC37F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/record.c:354:\n'
  t.equal(
    failureText(Object.assign(new Error(`write EPROTO ${marks}`), { code: 'EPROTO' }), 'caster.example'),
    'caster.example does not speak TLS at this port: wrong version number',
  )
})

/** Files that may read in another way, and why. */
const allowed: Readonly<Record<string, string>> = {
  'runtime/platform/files/plain-file.ts': 'the one place',
  'runtime/platform/ports/machine.ts': '/sys and /etc',
  'runtime/kernel/report/facts.ts': '/proc and /sys',
  'runtime/platform/ports/tcp-queues.ts': '/proc',
  'runtime/platform/release.ts': 'the package and its manifest',
  'runtime/platform/installed-files.ts': 'every file of the package',
  'runtime/loader/catalogue.ts': 'the list of shipped plugins',
  'runtime/platform/guard/exit.ts': '/proc',
  'runtime/platform/supervision/thread.ts': '/proc, and the bundle that runs',
  'runtime/tools/cli/allow-port.ts': '/proc',
  'plugins/device/leds/led.ts': '/sys',
  'plugins/reference/raw/hour-files.ts': 'hours of the archive, plain files of any size, in pieces',
  'runtime/tools/cli/rinex.ts': 'files that the caller names, in pieces',
  'plugins/device/system/machine.ts': '/sys',
  'runtime/lib/image/pack.ts': 'packs an image on the machine of its author',
  'runtime/loader/ready.ts': 'sources of a checkout',
  'runtime/loader/assets.ts': 'sources of a plugin',
  'runtime/loader/texts.ts': 'sources of a plugin',
  'runtime/tools/cli/main.ts': 'the version of the package',
  'runtime/tools/cli/report.ts': 'the file that it has just written',
  'plugins/device/ota/updates.ts': 'the file that it has just written',
  'plugins/network/teltonika-router/firmware.ts': 'the file that it has just written',
}

t.test('nothing else reads a file of the station', async (t) => {
  const root = packageRoot()
  const raw =
    /(?<![.#\w])(?:readFile|readFileSync|createReadStream|openAsBlob)\(|\b(?:fs|disk)\.(?:readFile|readFileSync|createReadStream|openAsBlob)\(/
  const sources = ['runtime', 'plugins']
    .flatMap((folder) => [...filesBelow(join(root, folder))])
    .map((file) => relative(root, file))
    .filter((file) => file.endsWith('.ts'))
  const found = sources.filter(
    (file) =>
      !/^runtime\/tools\/(cli\/)?build\/|^plugins\/simulated\/|node_modules/.test(file) &&
      raw.test(readFileSync(join(root, file), 'utf8')),
  )
  t.ok(sources.length > 400)
  t.strictSame(new Set(found), new Set(Object.keys(allowed)), 'use readPlain or readRecord of rtk-base/files')
})
