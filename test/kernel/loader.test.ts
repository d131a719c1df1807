import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import httpApi from '../../plugins/page/http-api/index.js'
import { hostTable } from '../../runtime/host-table.js'
import { bundle } from '../../runtime/loader/bundle.js'
import { shippedFolders, shippedSource } from '../../runtime/loader/source.js'
import { SourceWatcher } from '../../runtime/loader/watch.js'
import { createLogger } from '../../runtime/platform/log/log.js'
import { prebuild } from '../../runtime/tools/build/prebuild.js'
import { drive } from '../harness/drive.js'
import { createTestStation, gateOnly, ManualClock, sample, type TestStationOptions, until } from '../harness/index.js'

process.setSourceMapsEnabled(true)
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const helper = (version: number) => `export const answer = (): string => 'version ${version}'\n`

/** A third party's plugin in TypeScript, of three files, with one of everything a plugin can add. */
function files(version = 1): Record<string, string> {
  return {
    'index.ts': `
import { definePlugin } from 'rtk-base/plugin'
import { Type } from 'typebox'
import { wrapped } from './lib/wrap.js'
export default definePlugin({
  name: 'third-party', version: '1.0.0', api: '^1.0.0',
  options: Type.Object({ greeting: Type.String({ default: 'hello' }) }),
  setup(ctx, options) {
    const big = new Array(50_000).fill(${version})
    ;(globalThis as any)[Symbol.for('leak-probe')]?.push(new WeakRef(big))
    const key = ctx.config.define('third-key', Type.Integer({ minimum: 0 }), { default: 7 })
    ctx.info.block('third', () => ({ says: wrapped(), key: key.get(), greeting: options.greeting, big: big.length }))
    ctx.action({ name: 'third', summary: 'answers', run: () => wrapped() })
    ctx.http.route({ method: 'GET', url: '/third', handler: async () => ({ says: wrapped() }) })
    ctx.mqtt.on('third/{SN}', () => {})
    ctx.timers.every(1000, () => {})
  },
})
`,
    'lib/wrap.ts': `import { answer } from './nested/answer.js'\nexport const wrapped = (): string => answer()\n`,
    'lib/nested/answer.ts': helper(version),
  }
}

function write(folder: string, contents: Record<string, string>): void {
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** A folder outside the project. */
function elsewhere(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'third-party-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function station(t: Test, options: TestStationOptions = {}) {
  const made = await createTestStation({
    ...options,
    plugins: { 'http-api': httpApi },
  })
  t.teardown(() => made.stop())
  return made
}

t.test('a TypeScript plugin outside the project', async (t) => {
  const folder = elsewhere(t)
  write(folder, files())
  const running = await station(t)
  await running.load(folder)

  t.test('adds a parameter, a block, a command, a route and a topic', async (t) => {
    t.match(running.field('third'), { says: 'version 1', key: 7, greeting: 'hello' })
    t.match(await running.station.command('third', { source: 'plugin' }), { text: 'version 1' })
    t.strictSame((await running.request('/third')).json(), { says: 'version 1' })
    t.match(await running.station.change({ 'third-key': 8 }, { source: 'plugin' }), { result: 'ok', leftover: {} })
    t.equal(running.field('third.key'), 8)
  })

  t.test('an edit of its nested helper is seen on reload; settings stay', async (t) => {
    write(folder, { 'lib/nested/answer.ts': helper(2) })
    await running.reload('third-party')
    t.match(running.field('third'), { says: 'version 2', key: 8 })
    t.strictSame((await running.request('/third')).json(), { says: 'version 2' })
  })

  for (const [what, contents, code] of [
    ['a syntax error', { 'lib/wrap.ts': 'export const wrapped = (' }, 'RTK_ERR_PLUGIN_BUILD'],
    ['a missing file', { 'lib/wrap.ts': `export * from './gone.js'` }, 'RTK_ERR_PLUGIN_BUILD'],
    ['top-level await', { 'lib/wrap.ts': 'await null\nexport const wrapped = () => ""' }, 'RTK_ERR_PLUGIN_BUILD'],
    ['a throw while it is evaluated', { 'lib/wrap.ts': 'throw new Error("at load")' }, 'RTK_ERR_PLUGIN_BUILD'],
    ['no definePlugin', { 'index.ts': 'export default { name: "third-party" }' }, 'RTK_ERR_PLUGIN_INVALID'],
    ['another API range', { 'index.ts': files()['index.ts'].replace('^1.0.0', '^2.0.0') }, 'RTK_ERR_PLUGIN_API_RANGE'],
    ['another name', { 'index.ts': files()['index.ts'].replace(`'third-party'`, `'other'`) }, 'RTK_ERR_PLUGIN_INVALID'],
    [
      'a throwing setup',
      { 'index.ts': files()['index.ts'].replace('const big', 'throw new Error("no"); const big') },
      'RTK_ERR_PLUGIN_SETUP',
    ],
    [
      'a rejecting start',
      {
        'index.ts': files()['index.ts'].replace(
          'setup(ctx',
          'start: async () => { throw new Error("no") },\n  setup(ctx',
        ),
      },
      'RTK_ERR_RELOAD_FAILED',
    ],
  ] as [string, Record<string, string>, string][]) {
    t.test(`${what} leaves the old version serving`, async (t) => {
      write(folder, contents)
      const error = (await running.reload('third-party').catch((caught) => caught)) as Error & { code: string }
      t.equal(error.code, code, error.message)
      if (what === 'a syntax error') t.match(error.message, /wrap\.ts:1:\d+: Unexpected/)
      t.match(running.field('third'), { says: 'version 2', key: 8 })
      t.strictSame((await running.request('/third')).json(), { says: 'version 2' })
      write(folder, { ...files(), 'lib/nested/answer.ts': helper(2) })
    })
  }

  t.test('unload removes all of it', async (t) => {
    await running.unload('third-party')
    t.equal(running.field('third'), undefined)
    t.match(await running.station.command('third', { source: 'plugin' }), { status: 404 })
    t.equal((await running.request('/third')).status, 404)
    t.match(await running.station.change({ 'third-key': 9 }, { source: 'plugin' }), { leftover: { 'third-key': 9 } })
    t.strictSame(
      running.station.plugins().map(({ name }) => name),
      ['http-api'],
    )
  })

  t.test('a plugin that cannot be loaded leaves nothing behind', async (t) => {
    write(folder, { 'lib/wrap.ts': 'export const wrapped = (' })
    await t.rejects(running.load(folder), { code: 'RTK_ERR_PLUGIN_BUILD' })
    await t.rejects(running.load('./no/such/folder'), { code: 'RTK_ERR_PLUGIN_NOT_FOUND' })
    await t.rejects(running.load('no-such-package'), { code: 'RTK_ERR_PLUGIN_NOT_FOUND' })
    t.strictSame(
      running.station.plugins().map(({ name }) => name),
      ['http-api'],
    )
  })
})

const reloads = sample(10, 200, 60)
t.test(`${reloads} reloads leak neither code nor timers nor files`, async (t) => {
  const folder = elsewhere(t)
  write(folder, files())
  const probes: WeakRef<object>[] = []
  ;(globalThis as Record<symbol, unknown>)[Symbol.for('leak-probe')] = probes
  t.teardown(() => delete (globalThis as Record<symbol, unknown>)[Symbol.for('leak-probe')])
  const running = await station(t)
  await running.load(folder)
  const timers = running.clock.pending
  for (let i = 0; i < reloads; i++) {
    write(folder, { 'lib/nested/answer.ts': helper(i + 10) })
    await running.reload('third-party')
  }
  t.match(running.field('third'), { says: `version ${reloads + 9}` })
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
  }
  const alive = probes.filter((probe) => probe.deref() !== undefined).length
  t.ok(alive <= 2, `${alive} of ${probes.length} versions are alive`)
  t.equal(running.clock.pending, timers)
  t.equal(readdirSync(join(running.data, 'plugins')).length, 1)
})

t.test('the folder of bundles', { skip: gateOnly }, async (t) => {
  const folder = elsewhere(t)
  write(folder, files())
  const kept = (data: string) => readdirSync(join(data, 'plugins')).map((name) => join(data, 'plugins', name))

  t.test('whatever became of a bundle there, the code that runs is the one that was built', async (t) => {
    const data = elsewhere(t)
    const once = async () => {
      const running = await createTestStation({ sources: { [folder]: {} }, data })
      t.match(running.field('third'), { says: 'version 1' })
      await running.stop()
      return kept(data)
    }
    const [file = ''] = await once()
    const built = readFileSync(file, 'utf8')
    t.equal(createHash('sha256').update(built).digest('hex'), /-([0-9a-f]{64})\.cjs$/.exec(file)?.[1])
    for (const damaged of [built.slice(0, 300), '', built.replace('version 1', 'version X')]) {
      writeFileSync(file, damaged)
      t.same(await once(), [file])
      t.equal(readFileSync(file, 'utf8'), built, 'written again')
    }
  })

  t.test('is not needed: where it cannot be written, every plugin runs', async (t) => {
    const data = elsewhere(t)
    writeFileSync(join(data, 'plugins'), 'a file in its place')
    const running = await createTestStation({ sources: { [folder]: {} }, data })
    t.teardown(() => running.stop())
    t.match(running.field('third'), { says: 'version 1' })
  })

  t.test('holds nothing of a plugin that was unloaded', async (t) => {
    const running = await station(t)
    await running.load(folder)
    t.equal(kept(running.data).length, 1)
    await running.unload('third-party')
    await until(() => kept(running.data).length === 0, 'removed')
  })

  t.test('one of the variant that is loaded again by its path has the variant’s options', async (t) => {
    const running = await createTestStation({ sources: { [folder]: { greeting: 'moin' } }, data: elsewhere(t) })
    t.teardown(() => running.stop())
    t.match(running.field('third'), { greeting: 'moin' })
    for (const path of [folder, `${folder}/`, join(folder, '..', basename(folder)), `${folder}/./`]) {
      await running.unload('third-party')
      await running.load(path)
      t.match(running.field('third'), { greeting: 'moin' }, path)
    }
  })

  t.test('a plugin that is too large is refused with its size', async (t) => {
    const large = elsewhere(t)
    write(large, { ...files(), 'lib/nested/answer.ts': `export const answer = () => '${'x'.repeat(9 << 20)}'` })
    const running = await station(t)
    await t.rejects(running.load(large), { code: 'RTK_ERR_PLUGIN_SIZE', message: /9\.\d MiB of code, at most 8 MiB/ })
  })
})

t.test('a shipped plugin is found by its name, in a group or not; what lies inside of a plugin is none', (t) => {
  const file = 'export {}'
  const folder = t.testdir({
    clock: { 'index.ts': file, parts: { 'index.ts': file } },
    network: { network: { 'index.ts': file }, eth: { 'index.js': file }, 'README.md': '' },
  })
  t.strictSame(
    [...shippedFolders(folder)],
    [
      ['clock', join(folder, 'clock')],
      ['eth', join(folder, 'network', 'eth')],
      ['network', join(folder, 'network', 'network')],
    ],
  )
  for (const [name, path] of shippedFolders(folder)) t.ok(shippedSource(folder, name)?.startsWith(join(path, 'index.')))
  t.equal(shippedSource(folder, 'parts'), undefined, 'a package of this name is not hidden')
  t.equal(shippedSource(join(folder, 'nowhere'), 'clock'), undefined)
  t.end()
})

t.test('the prebuilt form', async (t) => {
  const source = elsewhere(t)
  write(source, files())
  const { code } = await bundle(join(source, 'index.ts'), hostTable)
  const folder = elsewhere(t)
  const sha256 = createHash('sha256').update(code).digest('hex')
  const manifest = {
    plugins: [{ name: 'third-party', version: '1.0.0', api: '^1.0.0', file: 'third-party.cjs', sha256 }],
  }
  write(folder, { 'third-party.cjs': code, 'manifest.json': JSON.stringify(manifest) })

  t.test('is loaded by name when its digest is the manifest’s', async (t) => {
    const running = await createTestStation({ sources: { 'third-party': { greeting: 'moin' } }, builtIn: folder })
    t.teardown(() => running.stop())
    t.match(running.field('third'), { greeting: 'moin' })
    t.notOk(existsSync(join(running.data, 'plugins')), 'nothing is built')
  })

  t.test('is found through the package.json of a folder and of an npm package, and verified', async (t) => {
    const base = elsewhere(t)
    const lamp = join(base, 'node_modules', 'lamp')
    write(lamp, {
      'package.json': JSON.stringify({ name: 'lamp', main: 'dist/third-party.cjs' }),
      'dist/third-party.cjs': code,
      'dist/manifest.json': JSON.stringify(manifest),
    })
    for (const source of [
      'lamp',
      './node_modules/lamp',
      lamp,
      join(lamp, 'dist'),
      join(lamp, 'dist/third-party.cjs'),
    ]) {
      const running = await createTestStation({ sources: { [source]: {} }, base })
      t.match(running.field('third'), { says: 'version 1' }, source)
      t.notOk(existsSync(join(running.data, 'plugins')), 'nothing is built')
      await running.stop()
    }
    write(lamp, { 'index.ts': 'export default 1' })
    const running = await station(t)
    await t.rejects(running.load(lamp), { code: 'RTK_ERR_PLUGIN_INVALID' }, 'a folder with sources is taken as source')
    write(lamp, { 'dist/third-party.cjs': `${code}//` })
    await t.rejects(running.load(join(lamp, 'dist')), { code: 'RTK_ERR_PLUGIN_DIGEST' })
  })

  t.test('is refused when a byte of it was changed', async (t) => {
    write(folder, { 'third-party.cjs': code.replace('version 1', 'version X') })
    const running = await station(t)
    await t.rejects(running.load(folder), { code: 'RTK_ERR_PLUGIN_DIGEST', message: /its manifest lists/ })
  })
})

t.test('a host module is that of the host, however it is imported', async (t) => {
  const folder = elsewhere(t)
  write(folder, {
    'index.ts': `
import fp from 'fastify-plugin'
import pino from 'pino'
import { definePlugin, type PluginContext } from 'rtk-base/plugin'
import Type, { Type as named } from 'typebox'
import * as all from 'typebox'
import { logger, Type as required } from './required.cjs'
const seen = [fp, pino, logger].map((one) => typeof one).join()
const same = [named, all.Type, required].every(({ Object: one }) => one === Type.Object)
export default definePlugin({ name: 'third-party', version: '1.0.0', api: '^1.0.0',
  setup(ctx: PluginContext) { ctx.info.block('third', () => ({ seen, same })) } })
`,
    'required.cjs': `module.exports = { logger: require('pino'), Type: require('typebox').Type }`,
  })
  const running = await station(t)
  await running.load(folder)
  t.match(running.field('third'), { seen: 'function,function,function', same: true })
})

t.test('options of a plugin are checked by its schema, wherever they come from', async (t) => {
  const folder = elsewhere(t)
  write(folder, files())
  const running = await station(t)
  await t.rejects(running.load(folder, { greting: 'x' }), {
    code: 'RTK_ERR_PLUGIN_OPTIONS',
    message: /no option greting \(did you mean "greeting"\?\); it takes greeting/,
  })
  await t.rejects(running.load(folder, { greeting: 5 }), {
    code: 'RTK_ERR_PLUGIN_OPTIONS',
    message: /third-party.greeting/,
  })
  const sets = new Map([['third-party', [{ path: 'greeting', text: '12345' }]]])
  const withSet = await createTestStation({ sources: { [folder]: {} }, sets })
  t.teardown(() => withSet.stop())
  t.match(withSet.field('third'), { greeting: '12345' })
  await t.rejects(
    createTestStation({ sources: { [folder]: {} }, sets: new Map([['third-party', [{ path: 'nope', text: '1' }]]]) }),
    {
      code: 'RTK_ERR_PLUGIN_OPTIONS',
    },
  )
  await t.rejects(createTestStation({ sets: new Map([['udp-rtcm', []]]) }), { code: 'RTK_ERR_USAGE' })
  for (const [database, shown = ''] of [
    ['postgress://fleet:geh@eim@db:5432/fleet', 'postgress://…@db:5432/fleet'],
    ['fleet:geheim@db', '…@db'],
    ['me@db', 'me@db'],
  ])
    t.match(
      await running.load('fleet', { database }).catch((error: Error) => error.message),
      new RegExp(`, not "${shown}"$`),
      'the login of an address is not shown',
    )
})

t.test(
  'a plugin that could not be loaded at the start is tried again and then runs, with the variant’s values',
  async (t) => {
    const folder = elsewhere(t)
    write(folder, { ...files(), 'lib/wrap.ts': 'export const wrapped = (' })
    const running = await createTestStation({ sources: { [folder]: {} }, variant: { changes: { 'third-key': 9 } } })
    t.teardown(() => running.stop())
    t.match(running.station.plugins(), [{ state: 'failed', reason: /wrap\.ts:1/ }])
    write(folder, files())
    await running.clock.advance(1_000)
    await until(() => running.station.plugins()[0].state === 'running', 'the second try')
    t.equal(running.station.plugins()[0].name, 'third-party')
    t.equal(running.field('third.key'), 9)
  },
)

/** A plugin of one file. */
const oneFile = (start: string) => ({
  'index.ts': `import { definePlugin } from 'rtk-base/plugin'
    export default definePlugin({ name: 'third-party', version: '1.0.0', api: '^1.0.0', setup() {}, start() { ${start} } })`,
})

t.test('nothing is left of a plugin that was to be added and cannot start', async (t) => {
  const folder = elsewhere(t)
  write(folder, oneFile(`throw new Error('no')`))
  const running = await station(t)
  await t.rejects(running.load(folder), { code: 'RTK_ERR_PLUGIN_START' })
  t.notOk(running.station.plugins().some(({ name }) => name === 'third-party'))
  write(folder, oneFile(''))
  t.match(await running.load(folder), { state: 'running' })
})

t.test('code that changed leaves quarantine at once: its count of failures begins anew', async (t) => {
  const folder = elsewhere(t)
  write(folder, oneFile(`throw new Error('first')`))
  const running = await createTestStation({ sources: { [folder]: {} } })
  t.teardown(() => running.stop())
  const [state, reason] = [() => running.station.plugins()[0].state, () => running.station.plugins()[0].reason]
  const tries = () => running.lines.filter(({ msg }) => msg.includes('retried in')).length
  for (const [index, after_ms] of [1_000, 5_000].entries()) {
    await until(() => tries() === index + 1, `failure ${index + 1}`)
    await running.clock.advance(after_ms)
  }
  await until(() => state() === 'quarantined', 'quarantine')
  await t.rejects(running.reload('third-party'))
  t.equal(state(), 'quarantined', 'the same code stays there')
  write(folder, oneFile(`throw new Error('second')`))
  await t.rejects(running.reload('third-party'))
  t.equal(state(), 'failed')
  t.match(reason(), /second/)
  write(folder, oneFile(''))
  t.match(await running.reload('third-party'), { state: 'running' })
})

t.test('--watch reloads what was edited, once it settles, and only when the code differs', async (t) => {
  const folder = elsewhere(t)
  write(folder, files())
  const running = await createTestStation({ sources: { [folder]: {} }, watch: true })
  t.teardown(() => running.stop())
  const settled = async () => {
    await running.clock.advance(100)
    return String((running.field('third') as { says: string } | undefined)?.says)
  }
  write(folder, { 'lib/nested/answer.ts': helper(5) })
  await until(async () => (await settled()) === 'version 5', 'the edit')
  write(folder, { 'lib/wrap.ts': 'export const wrapped = (' })
  await until(async () => {
    await settled()
    return running.lines.some(({ msg }) => msg.includes('not reloaded'))
  }, 'the bad edit')
  t.match(running.field('third'), { says: 'version 5' })
})

t.test('--watch reloads a plugin that could not be built at the start, once it is corrected', async (t) => {
  const folder = elsewhere(t)
  write(folder, { ...files(), 'lib/wrap.ts': `export { answer as wrapped } from './moved/answer.js'` })
  const running = await createTestStation({ sources: { [folder]: {} }, watch: true })
  t.teardown(() => running.stop())
  const state = () => running.station.plugins()[0].state
  for (const [index, after_ms] of [1_000, 5_000].entries()) {
    await until(() => running.lines.filter(({ msg }) => msg.includes('retried in')).length > index, 'a failure')
    await running.clock.advance(after_ms)
  }
  await until(() => state() === 'quarantined', 'quarantine: the next try is 5 min away')
  mkdirSync(join(folder, 'lib/moved'))
  await drive(
    running.clock,
    () => running.lines.some(({ msg }) => msg.includes('it does not run')),
    'the folder alone is not enough',
    100,
  )
  write(folder, { 'lib/moved/answer.ts': helper(6) })
  await drive(running.clock, () => state() === 'running', 'the missing file', 100)
  t.match(running.field('third'), { says: 'version 6' })
})

t.test('--watch sees the edits of a folder that was replaced as a whole', async (t) => {
  const folder = elsewhere(t)
  write(folder, files())
  const running = await createTestStation({ sources: { [folder]: {} }, watch: true })
  t.teardown(() => running.stop())
  const says = async (version: number) => {
    await running.clock.advance(100)
    return String((running.field('third') as { says: string } | undefined)?.says) === `version ${version}`
  }
  rmSync(folder, { recursive: true })
  await drive(
    running.clock,
    () => running.lines.some(({ msg }) => msg.includes('not reloaded')),
    'the folder is gone',
    100,
  )
  write(folder, files(7))
  await until(() => says(7), 'the new folder')
  write(folder, { 'lib/nested/answer.ts': helper(8) })
  await until(() => says(8), 'an edit in the new folder')
  t.match(running.station.plugins()[0], { state: 'running' })
})

t.test('--watch tells of what was saved while the reload before it was under way', async (t) => {
  const folder = elsewhere(t)
  write(folder, files())
  const source = join(folder, 'index.ts')
  const clock = new ManualClock()
  const changed: string[] = []
  const watcher = new SourceWatcher(clock, createLogger({ level: 'silent' }), (plugin) => changed.push(plugin))
  t.teardown(() => watcher.close())
  watcher.set('third-party', [source])
  write(folder, files(2))
  await until(() => clock.pending > 0, 'the system tells of the edit')
  watcher.set('third-party', [source])
  await clock.advance(100)
  t.same(changed, ['third-party'])
})

t.test('code that cannot be loaded at first and then has the name of another plugin displaces nobody', async (t) => {
  const [folder, other] = [elsewhere(t), elsewhere(t)]
  write(folder, files())
  write(other, { 'index.ts': 'export default' })
  const running = await createTestStation({ sources: { [folder]: {}, [other]: {} } })
  t.teardown(() => running.stop())
  write(other, oneFile(''))
  await t.rejects(running.reload(other), { code: 'RTK_ERR_ALREADY_LOADED' })
  t.match(running.station.plugins(), [
    { name: 'third-party', state: 'running' },
    { name: other, state: 'failed' },
  ])
})

t.test('assets', async (t) => {
  const folder = elsewhere(t)
  // Each is an entry point of its own in what esbuild reports; from the eighth on they come before the program itself.
  const lazy = Array.from({ length: 10 }, (_, i) => `lazy${i}`)
  const noise = Array.from({ length: 300 }, (_, i) => (i * 7_919) % 256)
  write(folder, {
    'index.ts': `
import { definePlugin } from 'rtk-base/plugin'
import about from './about.md'
import page from './page.html'
import table from './table.json' with { type: 'json' }
import raw from './table.json?bytes'
import ui from './ui/main.tsx?client'
import double from './double.js?thread'
import { Worker } from 'node:worker_threads'
export default definePlugin({
  name: 'pages', version: '1.0.0', api: '^1.0.0',
  setup(ctx) {
    ctx.info.block('pages', () => ({ about, page, size: raw.length, table }))
    const files = new Map(ui.files.map((file) => [file.name, file]))
    ctx.http.route({ method: 'GET', url: '/double', handler: () => new Promise((resolve) => {
      const thread = new Worker(new URL(double))
      thread.once('message', (answer) => void thread.terminate().then(() => resolve({ answer })))
      thread.postMessage(21)
    }) })
    ctx.http.route({ method: 'GET', url: '/ui', handler: async () => ({
      entry: ui.entry, styles: ui.styles, files: ui.files.map(({ name, type, gzip, bytes, immutable }) =>
        ({ name, type, immutable, gzip: gzip?.length ?? 0, size: bytes.length })) }) })
    ctx.http.route({ method: 'GET', url: '/ui/:name', handler: async (request, reply) => {
      const file = files.get(request.params.name)
      return reply.type(file.type).header('content-encoding', 'gzip').send(file.gzip)
    } })
  },
})
`,
    'about.md': '# About\n',
    'double.ts': `import { parentPort } from 'node:worker_threads'\nimport { times } from './times.js'
parentPort.on('message', (value: number) => parentPort.postMessage(times(2, value)))\n`,
    'times.ts': 'export const times = (one: number, other: number) => one * other\n',
    'page.html': '<p>page</p>',
    'table.json': '{"a": 1}',
    'ui/tsconfig.json': '{"compilerOptions": {"jsx": "react-jsx", "jsxImportSource": "./tiny"}}',
    'ui/main.tsx': `import './look.css'\nimport { text } from './parts/text.js'
document.body.append(<p>{text}</p> as any)\nvoid import('./parts/later.js')
${lazy.map((name) => `void import('./parts/${name}.js')`).join('\n')}\n`,
    'ui/tiny/jsx-runtime.ts': `export const jsx = (name: string, props: object) => name + JSON.stringify(props)\n`,
    'ui/parts/text.ts': `export const text = ${JSON.stringify(`text of the page ${noise.join(' ')}`)}\n`,
    'ui/parts/later.ts': `import picture from './dot.png'\nexport const later = picture\n`,
    ...Object.fromEntries(lazy.map((name) => [`ui/parts/${name}.ts`, `export const ${name} = '${name}'\n`])),
    'ui/parts/dot.png': String.fromCharCode(...noise.slice(0, 40)),
    'ui/look.css': 'body { color: red }\n',
  })
  const check = async (t: Test, running: Awaited<ReturnType<typeof station>>) => {
    t.match(running.field('pages'), { about: '# About\n', page: '<p>page</p>', size: 8, table: { a: 1 } })
    t.same((await running.request('/double')).json(), { answer: 42 })
    type Ui = {
      entry: string
      styles: string[]
      files: { name: string; type: string; gzip: number; size: number; immutable: boolean }[]
    }
    const ui = (await running.request('/ui')).json() as Ui
    t.match(ui.entry, /^main-[A-Z0-9]{8}\.js$/)
    t.match(ui.styles, [/^main-[A-Z0-9]{8}\.css$/])
    t.same(
      new Set(ui.files.map(({ name }) => name.replace(/-\w+/, ''))),
      new Set(['dot.png', 'later.js', 'main.css', 'main.js', ...lazy.map((name) => `${name}.js`)]),
    )
    const main = ui.files.find(({ name }) => name === ui.entry)
    t.match(main, { type: 'text/javascript; charset=utf-8', immutable: true })
    t.ok(main && main.gzip > 0 && main.gzip < main.size, 'compressed once, at the build')
    t.equal(ui.files.find(({ name }) => name.endsWith('.png'))?.gzip, 0, 'where it does not help: not')
    t.match((await running.request(`/ui/${ui.entry}`)).text, /text of the page 0 239/)
  }

  t.test('are the same in source form', async (t) => {
    const running = await station(t)
    await running.load(folder)
    await check(t, running)
  })

  t.test('and in prebuilt form', async (t) => {
    const out = elsewhere(t)
    await prebuild([folder], { base: folder, folder: out }, () => {})
    const running = await createTestStation({ plugins: { 'http-api': httpApi }, sources: { [out]: {} } })
    t.teardown(() => running.stop())
    await check(t, running)
  })

  t.test('are watched, deep down as well', async (t) => {
    const { inputs } = await bundle(join(folder, 'index.ts'), hostTable)
    for (const file of ['about.md', 'table.json', 'ui/main.tsx', 'ui/parts/dot.png', 'ui/look.css'])
      t.ok(inputs.includes(join(folder, file)), file)
  })

  t.test('a mistake in the browser program is named with its file and line', async (t) => {
    write(folder, { 'ui/parts/later.ts': 'export const later = (' })
    await t.rejects(bundle(join(folder, 'index.ts'), hostTable), {
      message: /ui\/parts\/later\.ts:1:\d+: Unexpected end of file/,
    })
    write(folder, { 'ui/main.tsx': `import './gone.js'` })
    await t.rejects(bundle(join(folder, 'index.ts'), hostTable), { message: /ui\/main\.tsx:1:\d+: Could not resolve/ })
  })
})

t.test('an error in setup or start names file and line, in source and in prebuilt form', async (t) => {
  process.setSourceMapsEnabled(true)
  t.teardown(() => process.setSourceMapsEnabled(false))
  const running = await station(t)
  for (const [failed, code] of [
    ['setup threw', 'setup() { throw new Error("no luck") }'],
    ['start failed', 'setup() {}, async start() { await null; throw new Error("no luck") }'],
  ]) {
    const folder = elsewhere(t)
    const head = `import { definePlugin } from 'rtk-base/plugin'\nexport default definePlugin({\n`
    write(folder, { 'index.ts': `${head}  name: 'unlucky', version: '1.0.0', api: '^1.0.0',\n  ${code},\n})\n` })
    const out = elsewhere(t)
    await prebuild([folder], { base: folder, folder: out }, () => {})
    const at = (place: string) => ({ message: new RegExp(`${failed}: no luck \\(at ${place}:\\d+\\)`) })
    await t.rejects(running.load(folder), at(`${folder}/index\\.ts:4`))
    await t.rejects(running.load(out), at(`${out}/unlucky\\.cjs:\\d+`))
  }
})

t.test(
  'esbuild does not stay in memory once everything is built',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const folder = elsewhere(t)
    write(folder, files())
    const running = await station(t)
    await running.load(folder)
    const children = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
          return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('esbuild')
        } catch {
          return false
        }
      })
    t.ok(children().length > 0)
    await until(() => children().length === 0, 'the end of esbuild')
    write(folder, { 'lib/nested/answer.ts': helper(5) })
    await running.reload('third-party')
    t.match(running.field('third'), { says: 'version 5' }, 'and comes back for the next build')
  },
)
