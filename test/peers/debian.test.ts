/** The Debian packages: what is in them, the same bytes twice, and their life on a Debian 13. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { childEnv, freeUdpPort, gateOnly, machineOnly, rtkBase, startStation } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { copyFor, debian13, debianPackages, inCopy, noMachine } from '../harness/peers/machine.js'
import { noPeer } from '../harness/peers/peers.js'

t.setTimeout(1_800_000)
const skip = noPeer('dpkg-deb')
const folder = mkdtempSync(join(tmpdir(), 'rtk-base-debs-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, { encoding: 'utf8', env: childEnv(), maxBuffer: 64 << 20 })

/** Builds packages; file by architecture. */
async function build(t: Test, out: string, ...more: string[]): Promise<Record<string, string>> {
  const built = await rtkBase(['build', 'zed-wifi', '--deb', '--out', out, ...more])
  t.match(built, { code: 0 }, built.stderr)
  const files = [...built.stdout.matchAll(/^(.*_(\w+)\.deb): /gm)]
  return Object.fromEntries(files.map(([, file, architecture]) => [architecture, file]))
}

interface Entry {
  mode: string
  owner: string
  path: string
}

function entriesOf(deb: string): Entry[] {
  const lines = run('dpkg-deb', '--contents', deb).stdout.trim().split('\n')
  return lines.map((line) => {
    const [mode = '', owner = '', , , , path = ''] = line.split(/ +/)
    return { mode, owner, path }
  })
}

function unpack(deb: string, to: string): string {
  mkdirSync(to)
  run('dpkg-deb', '--raw-extract', deb, to)
  return to
}

t.test('a package for each machine', { skip: gateOnly || skip }, async (t) => {
  process.env.SOURCE_DATE_EPOCH = '1790000000'
  t.teardown(() => {
    delete process.env.SOURCE_DATE_EPOCH
  })
  const debs = await build(t, join(folder, 'first'))
  t.strictSame(Object.keys(debs), ['amd64', 'arm64', 'armhf'])

  t.test('is the same to the byte when it is built again, by somebody else elsewhere', async (t) => {
    const before = process.umask(0o077)
    t.teardown(() => process.umask(before))
    const again = await build(t, join(folder, 'again'))
    for (const [architecture, file] of Object.entries(debs)) {
      t.ok(readFileSync(file).equals(readFileSync(again[architecture] ?? '')), architecture)
    }
  })

  for (const [architecture, deb] of Object.entries(debs)) {
    t.test(`holds what it should: ${architecture}`, async (t) => {
      const tree = unpack(deb, join(folder, architecture))
      const read = (path: string) => readFileSync(join(tree, path), 'utf8')
      const entries = entriesOf(deb)
      t.strictSame([...new Set(entries.map(({ owner }) => owner))], ['root/root'])
      const kinds = [...new Set(entries.map(({ mode }) => mode))].sort()
      t.strictSame(kinds, ['-rw-r--r--', '-rwxr-xr-x', 'drwxr-xr-x'], 'no links, nothing that others may write')
      const programs = entries.filter(({ mode, path }) => mode === '-rwxr-xr-x' && !path.includes('/factory/'))
      const names = new Set(programs.map(({ path }) => basename(path)))
      t.strictSame(names, new Set(['ended', 'launch', 'notify-exec', 'prefer-factory']))
      const elsewhere = entries.filter(({ path }) => !/^\.\/(etc\/|usr\/|$)/.test(path))
      t.strictSame(elsewhere, [])

      const native = entries.filter(({ path }) => path.endsWith('.node')).map(({ path }) => path)
      const machine = { amd64: 'linux-x64', arm64: 'linux-arm64', armhf: 'linux-arm' }[architecture] ?? ''
      t.ok(native.length > 0)
      t.ok(
        native.every((path) => path.includes(`/prebuilds/${machine}/`) && !path.includes('musl')),
        native.join(' '),
      )

      t.match(read('DEBIAN/control'), new RegExp(`^Architecture: ${architecture}$`, 'm'))
      t.match(read('DEBIAN/control'), /^Depends: nodejs \(>= 20\.19\)/m)
      t.match(read('DEBIAN/control'), /^Recommends: polkitd, network-manager, wpasupplicant/m)
      t.equal(read('DEBIAN/conffiles'), '/etc/default/rtk-base\n')
      t.equal(spawnSync('md5sum', ['--quiet', '--strict', '-c', 'DEBIAN/md5sums'], { cwd: tree }).status, 0)
      const listed = read('DEBIAN/md5sums').trim().split('\n').length + 1
      t.equal(entries.filter(({ mode }) => mode.startsWith('-')).length, listed, 'every file has a digest')
      const factory = join(tree, 'usr', 'lib', 'rtk-base', 'factory')
      const whole = spawnSync('sha256sum', ['--quiet', '--strict', '-c', 'SHA256SUMS'], { cwd: factory })
      t.equal(whole.status, 0, String(whole.stderr))
      t.match(JSON.parse(read('usr/lib/rtk-base/factory/manifest.json')), { built: '2026-09-21T14:13:20.000Z' })
      for (const setting of [/^Environment=MALLOC_MMAP_THRESHOLD_=65536$/m, /^Environment=MALLOC_ARENA_MAX=2$/m])
        t.match(read('usr/lib/systemd/system/rtk-base.service'), setting)
      for (const name of ['leds.conf', 'radio.conf']) {
        t.ok(existsSync(join(tree, 'usr/lib/systemd/system/rtk-base.service.d', name)), name)
      }

      const bom = JSON.parse(read('usr/share/doc/rtk-base/sbom.cdx.json')) as {
        specVersion: string
        components: { name: string; version: string; purl: string }[]
      }
      const copyright = read('usr/share/doc/rtk-base/copyright')
      t.equal(bom.specVersion, '1.6')
      for (const name of ['fastify', 'mqtt', 'typebox', 'pino', '@serialport/bindings-cpp', 'serialport']) {
        const { version } = JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8'))
        t.ok(
          bom.components.some((one) => one.name === name && one.version === version),
          `${name} is in the bill of materials`,
        )
        t.ok(copyright.includes(`${name} ${version}\n`), `and its licence among the licences`)
      }
      t.notOk(bom.components.some(({ name }) => ['esbuild', 'tap', 'typescript'].includes(name)))
      t.match(copyright, /Permission is hereby granted, free of charge/)
      const workplace = [process.cwd(), tmpdir(), process.env.HOME ?? '/root/'].filter((path) => path.length > 4)
      for (const path of workplace) t.notOk(copyright.includes(path) || read('DEBIAN/control').includes(path))
    })
  }

  t.test(
    'passes lintian',
    { skip: run('which', 'lintian').status === 0 ? false : 'lintian is not installed' },
    async (t) => {
      for (const deb of Object.values(debs))
        t.equal(run('lintian', '--allow-root', '--fail-on', 'error,warning', deb).stdout, '')
    },
  )
})

t.test('a release: its version, its notes, and the key that it trusts', { skip: gateOnly || skip }, async (t) => {
  const at = (name: string) => join(folder, name)
  t.match(await rtkBase(['keys', at('release')]), { code: 0 })
  const long = 'the reference is kept '.repeat(6).trim()
  writeFileSync(at('notes'), `- RTCM comes back faster\n\n* ${long}\nplain\n`)
  const more = ['--target', 'linux-x64', '--release', '1.4.0-rc.1', '--sign', at('release.key'), '--notes', at('notes')]
  const { amd64 = '' } = await build(t, at('release'), ...more)
  t.equal(basename(amd64), 'rtk-base_1.4.0~rc.1_amd64.deb')
  const tree = unpack(amd64, at('release-tree'))
  const read = (path: string) => readFileSync(join(tree, path), 'utf8')
  t.match(read('DEBIAN/control'), /^Version: 1\.4\.0~rc\.1$/m)
  const factory = 'usr/lib/rtk-base/factory'
  t.match(JSON.parse(read(`${factory}/manifest.json`)), { version: '1.4.0-rc.1' })
  t.match(JSON.parse(read(`${factory}/runtime/variants/zed-wifi.json`)), {
    plugins: { ota: { keys: [readFileSync(at('release.pub'), 'utf8')] } },
  })
  const changelog = gunzipSync(readFileSync(join(tree, 'usr/share/doc/rtk-base/changelog.gz'))).toString()
  t.match(
    changelog,
    /^rtk-base \(1\.4\.0~rc\.1\) stable; urgency=medium\n\n {2}\* Release 1\.4\.0-rc\.1\.\n {2}\* RTCM comes back faster\n/,
  )
  t.match(changelog, /\n {2}\* the reference .*\n {4}.*kept\n {2}\* plain\n\n -- /)
  t.ok(changelog.split('\n').every((line) => line.length <= 80 || line.startsWith(' -- ')))
  if (run('which', 'lintian').status === 0)
    t.equal(run('lintian', '--allow-root', '--fail-on', 'error,warning', amd64).stdout, '')
})

t.test('obstacles to making packages are named', { skip: skip || gateOnly }, async (t) => {
  const out = join(folder, 'none')
  const target = await rtkBase(['build', 'zed-f9p', '--deb', '--out', out, '--target', 'vax'])
  t.match(target, { code: 2, stderr: /--target takes linux-x64, linux-arm64, linux-arm, not "vax"/ })
  t.match(await rtkBase(['build', 'zed-f9p', '--deb']), { code: 2, stderr: /--out DIR/ })
  for (const [flag, value, reason] of [
    ['--release', 'soon', /--release takes a version/],
    ['--sign', join(folder, 'missing.key'), /missing\.key cannot be read/],
    ['--notes', join(folder, 'missing'), /missing cannot be read/],
    ['--min-version', '1.0.0', /--min-version/],
  ] as const) {
    t.match(await rtkBase(['build', 'zed-f9p', '--deb', '--out', out, flag, value]), { code: 2, stderr: reason }, flag)
  }
  const { PATH } = process.env
  process.env.PATH = folder
  const without = await rtkBase(['build', 'zed-f9p', '--deb', '--out', out])
  process.env.PATH = PATH
  t.match(without, { code: 1, stderr: /dpkg-deb is not installed here: apt-get install dpkg/ })
  process.env.SOURCE_DATE_EPOCH = 'soon'
  const time = await rtkBase(['build', 'zed-f9p', '--deb', '--out', out])
  delete process.env.SOURCE_DATE_EPOCH
  t.match(time, { code: 2, stderr: /SOURCE_DATE_EPOCH is "soon"/ })
})

const noDebian = machineOnly || noMachine() || noPeer('debootstrap')
t.test('the life of the package on a Debian 13', { skip: noDebian }, async (t) => {
  const debian = debian13(t)
  const [deb = ''] = Object.values(await build(t, join(folder, 'debian'), '--target', 'linux-x64'))
  // Of who runs the test: it must not become that of the copy.
  const umask = process.umask(0o077)
  const root = copyFor(t, debian)
  process.umask(umask)
  const sh = (script: string) => inCopy(root, 'sh', '-c', script)
  copyFileSync(deb, join(root, 'old.deb'))
  // The same one again, as a later release.
  const later = unpack(deb, join(folder, 'later'))
  for (const file of ['DEBIAN/control', 'usr/lib/rtk-base/factory/manifest.json']) {
    const text = readFileSync(join(later, file), 'utf8')
    writeFileSync(join(later, file), text.replace(/^( *"?version"?: "?)\d+\.\d+\.\d+/im, '$199.0.0'))
  }
  run('dpkg-deb', '--root-owner-group', '--build', later, join(root, 'new.deb'))
  const home = '/var/lib/rtk-base'
  const state = () => sh(`cat ${home}/state`).stdout

  t.test('install', async (t) => {
    const done = sh('dpkg -i /old.deb')
    t.equal(done.code, 0, done.stderr)
    t.match(sh('id rtk-base').stdout, /rtk-base.*dialout/)
    t.match(sh(`stat -c '%U %G %a' ${home}`).stdout, 'rtk-base rtk-base 700')
    t.equal(sh('systemctl is-enabled rtk-base').stdout, 'enabled\n')
    t.equal(sh('dpkg --verify rtk-base').stdout, '')
    t.match(sh('systemd-analyze verify rtk-base.service 2>&1').stdout.replaceAll(/.*(?:man page|\/proc).*\n/g, ''), '')
    const version = sh('runuser -u rtk-base -- node /usr/lib/rtk-base/factory/rtk-base.mjs --version')
    t.match(version, { code: 0, stdout: /^\d+\.\d+\.\d+\n$/ }, 'Debian’s own Node runs it')
  })

  t.test('again, with settings that were changed', async (t) => {
    sh('echo RTK_BASE_OPTIONS=\\"--log debug\\" >/etc/default/rtk-base')
    t.equal(sh('dpkg -i --force-confold /old.deb').code, 0)
    t.match(sh('cat /etc/default/rtk-base').stdout, '--log debug')
  })

  t.test('upgrade: the slot of the package runs when it is newer than the good one', async (t) => {
    const slot = (version: string) =>
      sh(`mkdir -p ${home}/a && printf '{\\n  "version": "${version}"\\n}\\n' >${home}/a/manifest.json &&
        printf 'good=a\\ntrial=b\\ntries=1\\nback=\\n' >${home}/state && chown -R rtk-base: ${home}`)
    slot('100.0.0')
    t.equal(sh('dpkg -i /new.deb').code, 0)
    t.equal(state(), 'good=a\ntrial=b\ntries=1\nback=\n', 'an update over the air was newer')
    for (const older of ['98.9.9', '99.0.0-rc.1', 'nonsense', '']) {
      slot(older)
      t.equal(sh('dpkg -i /new.deb').code, 0)
      t.equal(state(), 'good=f\ntrial=\ntries=0\nback=\nprevious=a\n', `than ${older}`)
    }
    slot('99.0.0')
    sh('dpkg -i /new.deb')
    t.match(state(), /^good=a/, 'the same version')
    t.match(sh(`stat -c %U ${home}/state`).stdout, 'rtk-base')
    slot('1.0.0')
    sh(`ln -s /etc/hostname ${home}/state.new`)
    const name = sh('cat /etc/hostname').stdout
    sh('dpkg -i /new.deb')
    t.equal(sh('cat /etc/hostname').stdout, name, 'root follows no link of the service')
  })

  t.test('remove keeps the settings, purge takes them', async (t) => {
    t.equal(sh('dpkg -r rtk-base').code, 0)
    t.equal(sh('ls -d /usr/lib/rtk-base').stdout, '')
    t.equal(sh(`ls -d ${home} /etc/default/rtk-base | wc -l`).stdout.trim(), '2')
    const purged = sh('dpkg -P rtk-base')
    t.equal(purged.code, 0, purged.stderr)
    t.equal(sh(`find / -xdev -path /proc -prune -o -name '*rtk-base*' -print`).stdout, '')
  })
})

const noEmulation = machineOnly || skip || noPeer('debootstrap') || noPeer('qemu-aarch64-static')
t.test('the arm64 package runs on the Node of Debian for arm64', { skip: noEmulation }, async (t) => {
  const system = join(folder, 'arm64-system')
  const packages = debianPackages(t, 'arm64', ['nodejs'])
  mkdirSync(system)
  for (const file of packages) run('dpkg-deb', '--extract', file, system)
  const { arm64 = '' } = await build(t, join(folder, 'arm64-package'), '--target', 'linux-arm64')
  const tree = unpack(arm64, join(folder, 'arm64-tree'))
  const begin = performance.now()
  const station = await startStation(
    // An emulated processor is slower than any that is sold.
    ['--change', `udp-port=${await freeUdpPort()}`, '--set', 'http.host=127.0.0.1', '--set', 'watchdog.limit_s=3600'],
    {
      execPath: 'qemu-aarch64-static',
      nodeOptions: ['-L', system, join(system, 'usr', 'bin', 'node')],
      entry: join(tree, 'usr', 'lib', 'rtk-base', 'factory', 'rtk-base.mjs'),
    },
  )
  t.teardown(() => station.end('SIGKILL'))
  t.comment(`up after ${Math.round((performance.now() - begin) / 1000)} s`)
  t.match(await station.info(), { esp: { hardware: 'zed-f9p' }, gnss: { state: { status: 'offline' } } })
  t.notMatch(station.output(), /is failed/)
})
