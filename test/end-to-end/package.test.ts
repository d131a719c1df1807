import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import t from 'tap'
import { gateOnly, ownPorts, readyBase, rtkBase, startStation, until } from '../harness/index.js'
import { pluginFolders } from '../harness/shipped.js'

t.setTimeout(900_000)
const folder = mkdtempSync(join(tmpdir(), 'rtk-base-package-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const project = process.cwd()
const installed = join(folder, 'node_modules', 'rtk-base')
const entry = join(installed, 'runtime', 'tools', 'build', 'bootstrap.mjs')
/** Without the loader that tap puts into every process below it: npm and the compiler do not bear it. */
const run = (command: string, args: string[], cwd = folder) =>
  execFileSync('env', ['-u', 'NODE_OPTIONS', command, ...args], { cwd, encoding: 'utf8' })

/** As npm would install it: the package unpacked, what it depends on beside it. */
t.before(() => {
  if (gateOnly) return
  run('npm', ['pack', '--silent', '--pack-destination', folder], project)
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  run('tar', ['xzf', tarball])
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(join(project, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(project, 'node_modules', name), join(folder, 'node_modules', name))
  renameSync(join(folder, 'package'), installed)
})

const gate = { skip: gateOnly }
t.test('it holds JavaScript and types, no sources and no tests', gate, (t) => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
  t.same(
    files.filter((file) => /\.(ts|map)$/.test(file) && !file.endsWith('.d.ts') && !file.startsWith('examples/')),
    [],
  )
  t.same(
    // An example shows how it is tested.
    files.filter((file) => /\.test\.|\/bench\//.test(file) && !file.startsWith('examples/')),
    [],
  )
  t.ok(files.includes('LICENSE'))
  t.ok(files.includes('plugins/reference/survey-in/README.md'))
  for (const name of ['document', 'change', 'variant']) t.ok(files.includes(`schemas/${name}.schema.json`), name)
  t.ok(files.includes('runtime/docs/images/status.png'))
  t.end()
})

t.test('a station runs from it with every shipped plugin, prebuilt', gate, async (t) => {
  const { args } = await ownPorts()
  const station = await startStation(args, { entry })
  t.teardown(() => station.end('SIGKILL'))
  const plugins = (await (await fetch(`${station.url}/plugins`)).json()) as { name: string; state: string }[]
  t.same(
    plugins.filter(({ state }) => state !== 'running'),
    [],
  )
  const running = plugins.map(({ name }) => name)
  t.same(
    [...pluginFolders().keys()].filter((name) => !running.includes(name)),
    [
      ...['fleet', 'fleet-caster', 'fleet-net', 'fleet-page', 'fleet-registry', 'fleet-rollout'],
      ...['gnss-auto', 'gnss-quectel', 'gnss-septentrio', 'gnss-unicore', 'home-assistant'],
      'ota-rauc',
      ...['simulated-fleet', 'simulated-lg290p', 'simulated-mosaic', 'simulated-um980'],
    ],
    'every one but a fleet, those which want a broker or an updater of their own, and the other receivers',
  )
  const { esp } = await station.info<{ esp: { version: string; sha256: string } }>()
  t.match(esp.sha256, /^[0-9a-f]{64}$/)
  t.match(await station.end(), { code: 0 })
})

/** Compiles only where the types of `rtk-base/contract` are those of the TypeBox schemas. */
const sameTypes = `import type * as contract from 'rtk-base/contract'
import type { ChangeAnswer, InfoDocument, PluginReport } from 'rtk-base/schemas'
function same<A extends B, B>(..._: [A, B] extends [B, A] ? [] : [never]): void {}
same<contract.InfoDocument, InfoDocument>()
same<contract.ChangeAnswer, ChangeAnswer>()
same<contract.PluginReport, PluginReport>()
export const part: contract.InfoDocumentPart = { gnss: { state: { satvis: 7 } } }
export const change: contract.Change = { 'udp-port': 2200 }
// @ts-expect-error a port is a number
export const wrong: contract.Change = { 'udp-port': 'no' }
`

t.test('a plugin of its own is written against its types, and a device folder is built with both', gate, async (t) => {
  run(process.execPath, [entry, 'new-plugin', 'roof-light'])
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { strict: true, module: 'nodenext', target: 'es2023', noEmit: true, types: ['node'] },
      include: ['roof-light/index.ts', 'all.ts', 'same.ts'],
    }),
  )
  const names = ['', '/plugin', '/services', '/schemas', '/contract', '/gnss', '/testing']
  writeFileSync(
    join(folder, 'all.ts'),
    names.map((name, n) => `export * as part${n} from 'rtk-base${name}'\n`).join(''),
  )
  writeFileSync(join(folder, 'same.ts'), sameTypes)
  t.equal(run(join(project, 'node_modules', '.bin', 'tsc'), ['-p', '.']), '')
  writeFileSync(
    join(folder, 'roof.json'),
    JSON.stringify({ name: 'roof', hardware: 'roof', plugins: { system: {}, 'http-api': {}, './roof-light': {} } }),
  )
  t.match(run(process.execPath, [entry, 'build', 'roof.json', '--out', 'device']), /3 plugins, sha256 [0-9a-f]{64}/)
  const station = await startStation([], { entry: join(folder, 'device', 'rtk-base.mjs') })
  t.teardown(() => station.end('SIGKILL'))
  t.match(await station.info(), { 'roof-light': { count: 0, limit: 10 } })
  const scan = await fetch(`${station.url}/system?mobile-scan`, { method: 'POST' })
  const answer = 'mobile-scan belongs to plugin modem, which this station does not run\n'
  t.match(
    [scan.status, await scan.text()],
    [404, answer],
    'a device knows the commands of plugins that it does not have',
  )
  t.match(await station.end(), { code: 0 })
})

t.test('a panel and a page are written against the types of its parts', gate, (t) => {
  const example = join(folder, 'epoch-meter')
  cpSync(join(installed, 'examples', 'third-party-plugin'), example, { recursive: true })
  writeFileSync(join(example, 'css.d.ts'), "declare module '*.css'\n")
  const compilerOptions = {
    ...{ strict: true, noEmit: true, module: 'esnext', moduleResolution: 'bundler', target: 'es2022', types: [] },
    ...{ jsx: 'react-jsx', jsxImportSource: 'preact', lib: ['es2022', 'dom', 'dom.iterable'] },
  }
  writeFileSync(join(example, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['ui', 'css.d.ts'] }))
  t.equal(run(join(project, 'node_modules', '.bin', 'tsc'), ['-p', '.'], example), '')
  t.match(run(process.execPath, [entry, 'build-plugin', '.'], example), /epoch-meter/)
  t.end()
})

t.test('the plugin of a receiver is begun with it, and an example of one stands the same test', gate, (t) => {
  const bin = (name: string) => join(project, 'node_modules', '.bin', name)
  run(process.execPath, [entry, 'new-plugin', 'roof-receiver', '--receiver'])
  const plugin = join(folder, 'roof-receiver')
  t.equal(run(bin('tsc'), ['-p', '.'], plugin), '')
  const bundle = ['--bundle', '--packages=external', '--platform=node', '--format=esm', '--outfile=build/index.test.js']
  run(bin('esbuild'), ['test/index.test.ts', ...bundle, '--log-level=warning'], plugin)
  t.match(run(process.execPath, ['--test', 'build/index.test.js'], plugin), /pass 2\n/)
  const script = join(folder, 'replayed.mjs')
  const example = join(installed, 'examples', 'replayed-receiver')
  writeFileSync(
    script,
    `import { readFileSync, writeFileSync } from 'node:fs'
import { receiverConformance } from 'rtk-base/testing'
const script = JSON.parse(readFileSync(${JSON.stringify(join(example, 'receiver.json'))}, 'utf8'))
writeFileSync('receiver.json', JSON.stringify({ ...script, rtcm: ${JSON.stringify(join('node_modules', 'rtk-base', 'examples', 'replayed-receiver', 'base.rtcm3'))}, faults: [] }))
let station
const replay = (word) => station.station.command('replay=' + word, { source: 'plugin' })
const during = (fault) => (on) => replay(on ? fault : 'well')
await receiverConformance(${JSON.stringify(example)}, {
  begin: (begun) => { station = begun },
  connect: () => replay('well'),
  disconnect: () => replay('offline'),
  silence: during('silent'),
  restart: () => replay('restart'),
  refuse: during('deaf'),
  wrongReference: during('wrong-1005'),
  antenna: (status) => replay(status === 'ok' ? 'well' : status),
  jam: during('jammed'),
  spoof: during('spoofed'),
}, { options: { script: 'receiver.json' } })
console.log('it stands it')
`,
  )
  t.equal(run(process.execPath, [script]), 'it stands it\n')
  t.end()
})

t.test('an example of it taps the four hook points, and each has its effect', gate, async (t) => {
  const ports = await ownPorts()
  const station = await startStation([...ports.args, ...readyBase], { entry })
  t.teardown(() => station.end('SIGKILL'))
  const post = async (path: string, body = '') =>
    (await fetch(`${station.url}${path}`, { method: 'POST', body, signal: AbortSignal.timeout(30_000) })).text()
  const change = async (values: object) => t.match(await post('/change', JSON.stringify(values)), /"ok"/)
  const mqtt = await connectAsync({ port: ports.mqtt, host: '127.0.0.1' })
  t.teardown(() => mqtt.endAsync(true))
  const sessions: { epochs: number; reconnect: boolean }[] = []
  mqtt.on('message', (_topic, payload) => void sessions.push(JSON.parse(payload.toString())))
  await mqtt.subscribeAsync('base/SIM00001/epoch-meter')
  const example = join(installed, 'examples', 'third-party-plugin')
  t.match(await rtkBase(['plugins', 'load', example, '--data', station.data]), { code: 0 })
  type Info = {
    'epoch-meter': { epochs: number; poor: number }
    gnss: { rtcm?: { stat?: { recvd: number; poor?: number } }; ref: { survey: { state: string } } }
  }
  const info = () => station.info<Info>()
  const epochs = async () => (await info())['epoch-meter'].epochs

  // A change of its own is none of the reference: the epochs stay.
  await until(async () => (await epochs()) >= 3, 'three epochs')
  await change({ 'epoch-meter-min-satellites': 200 })
  t.ok((await epochs()) >= 3)
  await until(async () => (await info())['epoch-meter'].poor > 0, 'a poor epoch')
  const stat = (await info()).gnss.rtcm?.stat
  t.match(stat, { recvd: Number, poor: Number }, 'onInfoBuild: beside the counts of another plugin')
  t.ok((stat?.poor ?? 0) > 0)
  const fixed = (await (await fetch(`${station.url}/get-info?1`)).json()) as Partial<Info>
  t.equal(fixed.gnss?.rtcm?.stat, undefined, 'onInfoBuild: not where nobody asked for it')

  t.match(
    await post('/system?start-survey-in'),
    /^survey-in not started: the newest epoch/,
    'onSystemCommand: its answer',
  )
  t.not((await info()).gnss.ref.survey.state, 'running', 'onSystemCommand: the owner was not asked')
  t.match(await post('/system?epoch-meter-reset'), /all counts are 0/, 'onSystemCommand: others are let through')

  await until(async () => (await epochs()) >= 3, 'three epochs more')
  await change({ 'gnss-ref-chosen': 'survey' })
  t.ok((await epochs()) < 3, 'onChange: a change of the reference counts anew')
  const { stdout } = await rtkBase(['plugins', 'list', '--data', station.data])
  t.match(stdout, /^epoch-meter .*counters reset: http changed the reference/m, 'onChange: it knows by whom')

  t.strictSame(sessions, [], 'it was loaded into a session that was up')
  await change({ 'mqtt-en': false })
  await change({ 'mqtt-en': true })
  await until(() => sessions.length > 0, 'the totals over MQTT')
  t.match(sessions, [{ epochs: Number, reconnect: true }], 'onMqttConnect: one for the new session')
  await change({ 'epoch-meter-min-satellites': 0 })
  await until(async () => (await epochs()) >= 1, 'an epoch that is not poor')
  t.notMatch(await post('/system?start-survey-in'), /not started/, 'onSystemCommand: the owner answers again')
})

t.test('every link of its pages leads to a file of the package, or to the web', gate, (t) => {
  for (const page of readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.md'),
  )) {
    if (page.includes('node_modules')) continue
    for (const [, target] of readFileSync(join(installed, page), 'utf8').matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
      if (!/^[a-z]+:/.test(target)) t.ok(existsSync(join(installed, page, '..', target)), `${page}: ${target}`)
    }
  }
  t.end()
})

t.test('a third party writes a plugin with nothing but the package and its documentation', gate, async (t) => {
  const author = mkdtempSync(join(tmpdir(), 'rtk-base-author-'))
  t.teardown(() => rmSync(author, { recursive: true, force: true }))
  const guide = readFileSync(join(installed, 'runtime', 'docs', 'publishing.md'), 'utf8')
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  cpSync(join(folder, tarball), join(author, tarball))
  /** A command of the guide, in a shell. */
  const step = (command: string, cwd = author) => {
    t.ok(guide.includes(`\n${command}\n`), `publishing.md has: ${command}`)
    const env = {
      ...process.env,
      NODE_OPTIONS: '',
      npm_config_prefer_offline: 'true',
      npm_config_engine_strict: 'true',
    }
    const { status, stdout, stderr } = spawnSync('env', ['-u', 'NODE_OPTIONS', 'sh', '-c', command], {
      cwd,
      env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${command}: ended with ${status}\n${stdout}${stderr}`)
    return stdout + stderr
  }
  const plugin = join(author, 'roof-light')

  // Strictly: no package below wants another Node than this one promises to run on.
  step('npm init -y')
  t.notMatch(step('npm install ./rtk-base-0.2.0.tgz esbuild'), /EBADENGINE/)
  t.match(step('npx rtk-base new-plugin roof-light'), /roof-light\n/)
  step('npm install', plugin)
  t.equal(step('npx tsc', plugin).replaceAll(/^npm warn.*\n/gm, ''), '')
  t.match(step('npm test', plugin), /pass 2\n/)

  const entry = join(author, 'node_modules', 'rtk-base', 'runtime', 'tools', 'build', 'bootstrap.mjs')
  const simulator = await startStation((await ownPorts()).args, { entry, data: join(author, 'data') })
  t.teardown(() => simulator.end('SIGKILL'))
  t.match(step('npx rtk-base plugins load ./roof-light'), /^roof-light +running/m)
  t.match(await simulator.info(), { 'roof-light': { count: 0, limit: 10 } })
  const source = join(plugin, 'index.ts')
  const good = readFileSync(source, 'utf8')
  writeFileSync(source, good.replace('let count = 0', "throw new Error('no light')"))
  const broken = await rtkBase(['plugins', 'reload', 'roof-light', '--data', simulator.data])
  t.match(broken, { code: 1, stderr: /roof-light: setup threw: no light \(at .*roof-light\/index\.ts:16:\d+\)/ })
  writeFileSync(source, good)
  t.match(await simulator.end(), { code: 0 })

  t.match(step('npx rtk-base build-plugin roof-light'), /roof-light\/dist\/roof-light\.cjs: roof-light 0\.1\.0, sha256/)
  writeFileSync(join(author, 'roof.json'), '{"name":"roof","hardware":"roof","plugins":{"system":{},"http-api":{}}}')
  step('npx rtk-base build roof.json --out device')
  // On another machine: no npm, no esbuild.
  const machine = mkdtempSync(join(tmpdir(), 'rtk-base-machine-'))
  t.teardown(() => rmSync(machine, { recursive: true, force: true }))
  renameSync(join(author, 'device'), join(machine, 'device'))
  cpSync(join(plugin, 'dist'), join(machine, 'roof-light'), { recursive: true })
  const plugins = { system: {}, 'http-api': {}, './roof-light': {} }
  writeFileSync(join(machine, 'roof.json'), JSON.stringify({ name: 'roof', hardware: 'roof', plugins }))
  const device = await startStation([join(machine, 'roof.json')], { entry: join(machine, 'device', 'rtk-base.mjs') })
  t.teardown(() => device.end('SIGKILL'))
  t.match(await device.info(), { 'roof-light': { count: 0, limit: 10 } })
  t.match(await device.end(), { code: 0 })

  t.test('and publishes it: another project names the package in its variant', async (t) => {
    step('npm pack', plugin)
    const other = mkdtempSync(join(tmpdir(), 'rtk-base-other-'))
    t.teardown(() => rmSync(other, { recursive: true, force: true }))
    run('tar', ['xzf', join(plugin, 'roof-light-0.1.0.tgz')], other)
    mkdirSync(join(other, 'node_modules'))
    renameSync(join(other, 'package'), join(other, 'node_modules', 'roof-light'))
    t.notOk(existsSync(join(other, 'node_modules', 'roof-light', 'index.ts')), 'it has no sources')
    const named = { name: 'roof', hardware: 'roof', plugins: { system: {}, 'http-api': {}, 'roof-light': {} } }
    writeFileSync(join(other, 'roof.json'), JSON.stringify(named))
    const station = await startStation([join(other, 'roof.json')], { entry: join(machine, 'device', 'rtk-base.mjs') })
    t.teardown(() => station.end('SIGKILL'))
    t.match(await station.info(), { 'roof-light': { count: 0, limit: 10 } })
  })
})
