import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { childEnv, gateOnly, ownPorts, rtkBase, startStation, until } from '../harness/index.js'

const folder = mkdtempSync(join(tmpdir(), 'rtk-base-build-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
t.setTimeout(900_000)

mkdirSync(join(folder, 'extra'))
writeFileSync(
  join(folder, 'extra', 'index.ts'),
  `import { definePlugin } from 'rtk-base/plugin'
   // Listens, fetches from itself, counts: what the runtime loads only for plugins that ask for it has to be in the bundle.
   export default definePlugin({ name: 'extra-plugin', version: '2.1.0', api: '^1.0.0',
     setup(ctx) {
       const state = { fetched: '', counter: ctx.metrics.counter({ name: 'extra_total', help: 'Extra.' }) }
       ctx.info.block('extra', () => ({ here: true, fetched: state.fetched }))
       return state
     },
     async start(ctx, _handoff, state) {
       const answer = 'HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok'
       const listener = ctx.net.listen({ name: 'extra', host: '127.0.0.1', port: 0 }, (client) => client.end(answer))
       void listener.opened
         .then(({ port }) => ctx.fetch('http://127.0.0.1:' + port))
         .then((response) => response.text())
         .then((text) => { state.fetched = text; state.counter.inc() }, (error) => { state.fetched = error.message })
     },
   })`,
)
const simulator = JSON.parse(readFileSync(join(process.cwd(), 'runtime', 'variants', 'simulator.json'), 'utf8'))
const variant = join(folder, 'roof.json')
// Named like a folder that lies where the device's service is started.
writeFileSync(
  variant,
  JSON.stringify({ ...simulator, name: 'test', serial: 'ROOF1', plugins: { ...simulator.plugins, './extra': {} } }),
)

t.test('build makes a folder that runs anywhere, without sources, npm or a compiler', { skip: gateOnly }, async (t) => {
  const out = join(folder, 'out')
  const here = process.cwd()
  process.chdir(folder)
  t.teardown(() => process.chdir(here))
  const built = await rtkBase(['build', variant, '--out', 'out'])
  process.chdir(here)
  t.match(built, { code: 0, stdout: /plugin extra-plugin 2\.1\.0 from \.\/extra/ })
  t.notOk(existsSync(join(out, 'node_modules', 'esbuild')))
  const elsewhere = join(folder, 'device')
  cpSync(out, elsewhere, { recursive: true })
  const { args } = await ownPorts()
  const station = await startStation(args, { entry: join(elsewhere, 'rtk-base.mjs') })
  t.teardown(() => station.end('SIGKILL'))
  const { version, sha256 } = JSON.parse(readFileSync(join(elsewhere, 'manifest.json'), 'utf8'))
  t.match(await station.info(), { esp: { serial: 'ROOF1', version, sha256 }, extra: { here: true } })
  await until(
    async () => (await station.info<{ extra: { fetched: string } }>()).extra.fetched === 'ok',
    'a fetch through a listener of the device',
  )
  await until(
    async () => (await station.info<{ gnss: { state: { status: string } } }>()).gnss.state.status === 'fixed',
    'fixed',
    60_000,
  )
  t.match(station.output(), `console    node ${join(elsewhere, 'rtk-base.mjs')} console`)
  t.match(await station.end(), { code: 0 })

  t.test('a Node that is too old is named', async (t) => {
    const command = ['--no-experimental-require-module', join(elsewhere, 'rtk-base.mjs'), 'plugins']
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env: childEnv() })
    t.match({ status, stderr }, { status: 1, stderr: /rtk-base needs Node 20\.19, 22\.12 or later/ })
  })

  t.test('a plugin whose bytes were changed is refused, the others run', async (t) => {
    appendFileSync(join(elsewhere, 'plugins', 'extra-plugin.cjs'), '// one more byte\n')
    const tampered = await startStation((await ownPorts()).args, { entry: join(elsewhere, 'rtk-base.mjs') })
    t.teardown(() => tampered.end('SIGKILL'))
    t.match(await (await fetch(`${tampered.url}/plugins`)).json(), [{ name: 'system', state: 'running' }])
    t.match(tampered.output(), /extra-plugin is failed: .*sha256/)
  })

  t.test('any other file that was changed is reported, and the station runs', async (t) => {
    const { files } = JSON.parse(readFileSync(join(elsewhere, 'manifest.json'), 'utf8')) as { files: object }
    const covered = Object.keys(files)
    t.ok(covered.some((path) => path.startsWith('node_modules') && path.endsWith('.node')))
    for (const path of ['rtk-base.mjs', 'package.json', 'runtime/variants/test.json'])
      t.ok(covered.includes(path), path)
    const reported = async (meanwhile = () => {}) => {
      const station = await startStation((await ownPorts()).args, { entry: join(elsewhere, 'rtk-base.mjs') })
      t.teardown(() => station.end('SIGKILL'))
      meanwhile()
      const entry = async () => {
        const { base } = await station.info<{ base: { state: { errors: { code: string; text: string }[] } } }>()
        return base.state.errors.find(({ code }) => code === 'image-damaged')?.text
      }
      await until(async () => (await entry()) !== undefined, 'the report')
      const text = await entry()
      await station.end()
      return text
    }
    for (const path of ['rtk-base.mjs', 'package.json']) appendFileSync(join(elsewhere, path), '\n')
    t.match(await reported(), /package\.json was changed.*rtk-base\.mjs was changed.*install the image again/)
    appendFileSync(join(elsewhere, 'manifest.json'), '}')
    t.match(await reported(), /manifest\.json: .*install the image again/)
    const gone = `${elsewhere}-gone`
    t.match(await reported(() => renameSync(elsewhere, gone)), /device no longer exists: install the image again/)
  })
})

t.test('the bundle of a device has no simulator in it', { skip: gateOnly }, async (t) => {
  const out = join(folder, 'bare')
  // The variant with the most plugins.
  const built = await rtkBase(['build', 'zed-full', '--out', out])
  t.match(built, { code: 0, stdout: /as an earlier build made it/ }, 'nothing has changed since the first')
  const { plugins } = JSON.parse(readFileSync(join(out, 'runtime', 'variants', 'zed-full.json'), 'utf8'))
  t.same(
    Object.keys(plugins).filter((name) => name.startsWith('simulated-')),
    [],
  )
  const codeIn = (built: string) =>
    readdirSync(built, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(mjs|cjs|js)$/.test(file) && !file.startsWith('node_modules'))
      .map((file) => readFileSync(join(built, file), 'utf8'))
      .join('\n')
  const [device, desk] = [codeIn(out), codeIn(join(folder, 'out'))]
  t.match(device, 'port=simulator needs the plugin of a simulated receiver', 'what says that it is missing is there')
  // What only a simulator says: of the receiver, the machine (network, radio, LEDs), the router.
  const words = [
    'lose-lock',
    'EXT CORE 1.00 (simulated)',
    'sim-network=LINE controls',
    'sim-radio=LINE controls',
    'simulated:red:fault',
    'sim-router=LINE controls',
  ]
  for (const word of words) {
    t.notOk(device.includes(word), word)
    t.ok(desk.includes(word), `${word} is in the bundle of the simulator variant`)
  }
})

t.test('build says what it needs, and does not overwrite what it did not make', { skip: gateOnly }, async (t) => {
  t.match(await rtkBase(['build']), { code: 2, stderr: /build takes one variant/ })
  t.match(await rtkBase(['build', variant]), { code: 2, stderr: /--out DIR/ })
  for (const files of [['package.json'], ['package.json', 'manifest.json'], ['letter.txt']]) {
    const theirs = mkdtempSync(join(folder, 'theirs-'))
    for (const file of files) writeFileSync(join(theirs, file), '{}')
    t.match(await rtkBase(['build', variant, '--out', theirs]), { code: 2, stderr: /holds other files/ })
    t.strictSame(readdirSync(theirs).sort(), [...files].sort())
  }
  t.match(await rtkBase(['build', variant, '--out', variant]), { code: 2, stderr: /holds other files/ })

  t.test('but begins anew where a build of its own did not get to its end', async (t) => {
    const broken = join(folder, 'broken.json')
    writeFileSync(broken, JSON.stringify({ ...simulator, plugins: { system: {}, './not-there': {} } }))
    const out = join(folder, 'unfinished')
    t.match(await rtkBase(['build', broken, '--out', out]), { code: 1, stderr: /RTK_ERR_PLUGIN_NOT_FOUND/ })
    t.match(await rtkBase(['build', variant, '--out', out]), { code: 0 })
    t.ok(existsSync(join(out, 'rtk-base.mjs')))
  })
})

t.test('a signed build', { skip: gateOnly }, async (t) => {
  const place = mkdtempSync(join(folder, 'signed-'))
  const key = join(place, 'maker')
  t.match(await rtkBase(['keys', key]), { code: 0, stdout: /maker\.pub: key [0-9a-f]{16}\n/ })
  t.equal(statSync(`${key}.key`).mode & 0o777, 0o600)
  const before = readFileSync(`${key}.key`, 'utf8')
  t.match(await rtkBase(['keys', key]), { code: 2, stderr: /maker\.key exists, and a key is never overwritten/ })
  t.equal(readFileSync(`${key}.key`, 'utf8'), before)

  t.test('has an image beside its folder, for its machine alone, and trusts its signer', async (t) => {
    await rtkBase(['keys', join(place, 'next')])
    const own = join(place, 'own.json')
    const plugins = { system: {}, 'gnss-zed': {}, ota: { keys: ['next.pub'] } }
    writeFileSync(own, JSON.stringify({ name: 'own', hardware: 'zed-f9p', plugins }))
    const more = ['--replaces', 'old-roof', '--allow-downgrade']
    const args = ['--target', 'linux-arm64', '--release', '9.8.7', '--min-version', '9.0.0', ...more]
    const signed = ['--sign', `${key}.key`, '--new-key', join(place, 'next.pub')]
    const out = join(place, 'out')
    const built = await rtkBase(['build', own, '--out', out, ...args, ...signed])
    t.match(built, { code: 0, stdout: /out\.img: zed-f9p linux-arm64 9\.8\.7, signed by key/ })
    const prebuilds = join(out, 'node_modules', '@serialport', 'bindings-cpp', 'prebuilds')
    t.strictSame(readdirSync(prebuilds), ['linux-arm64'])
    t.notOk(readdirSync(join(prebuilds, 'linux-arm64')).some((name) => name.includes('musl')))
    const image = readFileSync(`${out}.img`)
    const manifest = JSON.parse(image.toString('utf8', 0, image.indexOf(10)))
    t.match(manifest, { type: 'bundle', name: 'own', version: '9.8.7', hardware: ['zed-f9p'], arch: 'linux-arm64' })
    t.match(manifest, { replaces: ['old-roof'], downgrade: true })
    t.match(manifest, { minVersion: '9.0.0', newKeys: [/BEGIN PUBLIC KEY/] })
    for (const name of ['manifest.json', 'LICENSES.txt']) {
      t.ok(
        manifest.files.some(({ path }: { path: string }) => path === name),
        name,
      )
    }
    const licences = readFileSync(join(out, 'LICENSES.txt'), 'utf8')
    for (const name of ['fastify', 'mqtt', 'typebox', 'pino', 'serialport']) {
      const { version } = JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8'))
      t.ok(licences.includes(`\n${name} ${version}\n`), name)
    }
    // A device has nothing of the fleet.
    t.notMatch(licences, /\n(pg|nodemailer|supercluster|@electric-sql\/pglite) /)
    t.match(licences, /^rtk-base\n/)
    t.match(licences, /Permission is hereby granted, free of charge/)
    t.notMatch(licences, '/usr/share/common-licenses', 'this is no Debian')
    t.equal(JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')).version, '9.8.7')
    const variant = JSON.parse(readFileSync(join(out, 'runtime', 'variants', 'own.json'), 'utf8'))
    t.strictSame(
      variant.plugins.ota.keys,
      ['next', 'maker'].map((name) => readFileSync(join(place, `${name}.pub`), 'utf8')),
    )
  })

  t.test('of one plugin is an image of its prebuilt form', async (t) => {
    const out = join(place, 'plugin')
    const args = ['build-plugin', join(folder, 'extra'), '--out', out, '--sign', `${key}.key`]
    t.match(await rtkBase(args), { code: 2, stderr: /--sign needs --hardware/ })
    t.match(await rtkBase([...args, '--hardware', 'zed-f9p']), { code: 0, stdout: /extra-plugin\.img: for zed-f9p/ })
    t.notOk(
      readdirSync(out).some((name) => name.endsWith('.img')),
      'not where it would be published',
    )
    const image = readFileSync(join(folder, 'extra-plugin.img'))
    const manifest = JSON.parse(image.toString('utf8', 0, image.indexOf(10)))
    t.match(manifest, { type: 'plugin', name: 'extra-plugin', version: '2.1.0', arch: 'any', downgrade: undefined })
    const more = ['--min-version', '2.0.0', '--allow-downgrade', '--image', join(place, 'own.img')]
    t.match(await rtkBase([...args, '--hardware', 'zed-f9p', ...more]), { code: 0, stdout: /own\.img: for zed-f9p/ })
    const own = readFileSync(join(place, 'own.img'))
    t.match(JSON.parse(own.toString('utf8', 0, own.indexOf(10))), { minVersion: '2.0.0', downgrade: true })
    t.match(await rtkBase(['build-plugin', join(folder, 'extra'), '--out', out, '--allow-downgrade']), {
      code: 2,
      stderr: /need --sign KEY/,
    })
    t.strictSame(
      manifest.files.map(({ path }: { path: string }) => path),
      ['extra-plugin.cjs', 'manifest.json'],
    )
    t.notOk(readdirSync(out).some((name) => name.startsWith('.')))
  })

  t.test('says what is wrong with its arguments', async (t) => {
    const wrong = async (args: string[], reason: RegExp) =>
      t.match(await rtkBase(['build', variant, '--out', join(place, 'x'), ...args]), { code: 2, stderr: reason })
    await wrong(['--target', 'win32-x64'], /--target takes linux-arm64, linux-x64, linux-arm/)
    await wrong(['--release', 'new'], /--release takes a version such as 1\.4\.0/)
    await wrong(['--min-version', '1.0.0'], /they need --sign KEY/)
    await wrong(['--replaces', 'x'], /they need --sign KEY/)
    await wrong(['--deb', '--min-version', '1.0.0'], /cannot be combined with --deb/)
    await wrong(['--sign', `${key}.pub`], /private key in PEM form/)
    await wrong(['--sign', join(place, 'none.key')], /cannot be read/)
  })
})
