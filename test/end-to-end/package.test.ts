import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ownPorts, startStation } from '../harness/index.js'

t.setTimeout(120_000)
const folder = mkdtempSync(join(tmpdir(), 'rtk-base-package-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const project = process.cwd()
const installed = join(folder, 'node_modules', 'rtk-base')
const entry = join(installed, 'runtime', 'build', 'bootstrap.mjs')
/** Without the loader that tap puts into every process below it: npm and the compiler do not bear it. */
const run = (command: string, args: string[], cwd = folder) =>
  execFileSync('env', ['-u', 'NODE_OPTIONS', command, ...args], { cwd, encoding: 'utf8' })

/** As npm would install it: the package unpacked, what it depends on beside it. */
t.before(() => {
  run('npm', ['pack', '--silent', '--pack-destination', folder], project)
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  run('tar', ['xzf', tarball])
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(join(project, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(project, 'node_modules', name), join(folder, 'node_modules', name))
  renameSync(join(folder, 'package'), installed)
})

t.test('it holds JavaScript and types, no sources and no tests', (t) => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
  t.same(
    files.filter((file) => /\.(ts|map)$/.test(file) && !file.endsWith('.d.ts')),
    [],
  )
  t.same(
    files.filter((file) => /\.test\.|\/bench\//.test(file)),
    [],
  )
  t.ok(files.includes('LICENSE'))
  t.ok(files.includes('plugins/survey-in/README.md'))
  t.end()
})

t.test('a station runs from it with every shipped plugin, prebuilt', async (t) => {
  const { args } = await ownPorts()
  const station = await startStation(args, { entry })
  t.teardown(() => station.end('SIGKILL'))
  const plugins = (await (await fetch(`${station.url}/plugins`)).json()) as { name: string; state: string }[]
  t.same(
    plugins.filter(({ state }) => state !== 'running'),
    [],
  )
  t.equal(plugins.length, readdirSync(join(project, 'plugins')).length)
  const { esp } = await station.info<{ esp: { version: string; sha256: string } }>()
  t.match(esp.sha256, /^[0-9a-f]{64}$/)
  t.match(await station.end(), { code: 0 })
})

t.test('a plugin of its own is written against its types, and a device folder is built with both', async (t) => {
  run(process.execPath, [entry, 'new-plugin', 'roof-light'])
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { strict: true, module: 'nodenext', target: 'es2023', noEmit: true, types: ['node'] },
      include: ['roof-light/index.ts', 'all.ts'],
    }),
  )
  const names = ['', '/plugin', '/services', '/schemas', '/gnss', '/testing']
  writeFileSync(
    join(folder, 'all.ts'),
    names.map((name, n) => `export * as part${n} from 'rtk-base${name}'\n`).join(''),
  )
  t.equal(run(join(project, 'node_modules', '.bin', 'tsc'), ['-p', '.']), '')
  writeFileSync(
    join(folder, 'roof.json'),
    JSON.stringify({ name: 'roof', hardware: 'roof', plugins: { system: {}, 'http-api': {}, './roof-light': {} } }),
  )
  t.match(run(process.execPath, [entry, 'build', 'roof.json', '--out', 'device']), /3 plugins, sha256 [0-9a-f]{64}/)
  const station = await startStation([], { entry: join(folder, 'device', 'rtk-base.mjs') })
  t.teardown(() => station.end('SIGKILL'))
  t.match(await station.info(), { 'roof-light': { count: 0, limit: 10 } })
  t.match(await station.end(), { code: 0 })
})
