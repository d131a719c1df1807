/** Every snippet of the guides: commands run, programs type-check and conform, variants are accepted. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import type { PluginDefinition } from 'rtk-base/plugin'
import {
  childEnv,
  conformance,
  fakeReceiver,
  freeUdpPort,
  gateOnly,
  ManualClock,
  ownPorts,
  rtkBaseAll,
  startStation,
  until,
} from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { resolveOptions } from '../../runtime/kernel/options.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { parseVariant } from '../../runtime/tools/cli/variant-file.js'
import { shippedPlugin } from '../harness/shipped.js'

t.setTimeout(600_000)
const root = packageRoot()
const docs = join('runtime', 'docs')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const guides = [
  ...readdirSync(join(root, docs))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(docs, name)),
  // Last: it breaks the antenna.
  'README.md',
]

const exampleGuides = readdirSync(join(root, 'examples')).map((name) => join('examples', name, 'README.md'))

/** The code blocks of a page that are of this language. */
function blocks(page: string, language: string): string[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, of]) => of === language)
    .map(([, , code = '']) => code)
}

/** A folder inside of the project, where `rtk-base/…` is found. */
function scratch(t: Test): string {
  const folder = mkdtempSync(join(root, 'build', 'snippets-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

// ── commands ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a command may print: `…` stands for anything. */
const pattern = (shown: string) =>
  new RegExp(
    `^${shown
      .trim()
      .split('…')
      .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('[^]*?')}$`,
  )

t.test('what a guide shows of a command is what it prints, on a simulator', { skip: gateOnly }, async (t) => {
  const station = await startStation([...(await ownPorts()).args, '--set', 'udp-rtcm.host=127.0.0.1'])
  t.teardown(() => station.end())
  type Info = { udp: { port: number }; base: { state: { verdict: { fitness: string } } } }
  const isFit = async () => (await station.info<Info>()).base.state.verdict.fitness === 'fit'
  await until(isFit, 'the end of the survey-in')
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-snippets-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(station.data, join(folder, 'data'))
  symlinkSync(join(root, 'examples'), join(folder, 'examples'))
  const elsewhere = mkdtempSync(join(tmpdir(), 'rtk-base-snippets-'))
  t.teardown(() => rmSync(elsewhere, { recursive: true, force: true }))
  const command = `'${process.execPath}' '${join(root, 'runtime', 'tools', 'build', 'bootstrap.mjs')}' `
  const other = await freeUdpPort()

  const run = async (line: string) => {
    const { udp } = await station.info<Info>()
    const own = line
      .replaceAll('npm run -s rtk-base -- ', 'rtk-base ')
      .replaceAll(/(^|\| )rtk-base /g, `$1${command}`)
      .replaceAll('http://127.0.0.1:8080', station.url)
      .replaceAll('127.0.0.1:2102', `127.0.0.1:${udp.port}`)
      .replaceAll('2200', String(other))
    // A second station beside this one would find the data folder in use.
    const cwd = line.startsWith('rtk-base run') ? elsewhere : folder
    const child = spawn('sh', ['-c', own], { cwd, env: childEnv(), stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
      })
    await once(child, 'close')
    // Not the log: what a slow disk makes the watchdog say is no part of the answer.
    return output.replaceAll(/^\{"level":.*\n/gm, '')
  }
  for (const guide of guides)
    for (const block of blocks(read(guide), 'console'))
      for (const [, line = '', shown = ''] of block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
        // The help texts are generated.
        if (!line.endsWith('--help')) t.match((await run(line)).trim(), pattern(shown), `${guide}: ${line}`)
      }
})

t.test('the other commands of a guide are written right', async (t) => {
  const commands = ['run', 'plugins', 'console', 'report', 'build', 'build-plugin', 'new-plugin', 'keys', 'allow-port']
  const answers = await rtkBaseAll(commands.map((name) => [name, '--help']))
  const help = new Map(commands.map((name, n) => [name, answers[n]?.stdout ?? '']))
  for (const guide of [...guides, ...exampleGuides])
    for (const block of blocks(read(guide), 'sh')) {
      t.equal(spawnSync('sh', ['-n'], { input: block, encoding: 'utf8' }).stderr, '', `${guide}:\n${block}`)
      for (const [, called, start, rest = ''] of block
        .replaceAll('\\\n', ' ')
        .matchAll(/^.*?(?:(?<!-u )rtk-base(?: --|\.mjs)? ([a-z-]+)|(npm start) --)([^|&#\n]*)/gm)) {
        const known = help.get(start ? 'run' : called) ?? ''
        t.ok(known, `${guide}: ${called} is a command`)
        for (const [flag] of rest.matchAll(/--[a-z-]+/g))
          t.match(known, flag, `${guide}: ${flag} of ${called ?? start}`)
      }
    }
})

t.test('every variant of a guide is accepted, and every shipped plugin in it takes its options', async (t) => {
  const variants = [...guides, ...exampleGuides].flatMap((guide) =>
    blocks(read(guide), 'json').map((json) => ({ guide, json })),
  )
  t.ok(variants.length >= 2)
  for (const { guide, json } of variants) {
    const { plugins } = parseVariant(json, guide)
    for (const [name, options] of Object.entries(plugins)) {
      if (/^[./]/.test(name)) continue
      const { options: schema } = (await shippedPlugin(name)) as unknown as PluginDefinition
      t.doesNotThrow(() => resolveOptions(name, schema, options, [], ['plugins', name]), name)
    }
  }
})

// ── programs ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What the examples of a guide stand in, when they are not whole modules. */
const inSetup = (name: string, code: string) => `import { disk } from 'rtk-base/files'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { badValue, defineErrors, definePlugin, deliver, RtkError, Undelivered, unavailable } from 'rtk-base/plugin'
import { logs, rtcmStream } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import { Type } from 'typebox'
export default definePlugin({ name: '${name}', version: '1.0.0', api: '^1.0.0', setup(ctx) {
void [disk, badValue, join, logs, PassThrough, rtcmStream, Type, unavailable, null as ServerResponse | null]
${code}} })
`

t.test('every program of a guide type-checks, and runs and conforms in a station', { skip: gateOnly }, async (t) => {
  const folder = scratch(t)
  const examples = guides.flatMap((guide) => blocks(read(guide), 'ts').map((code) => ({ guide, code })))
  t.ok(examples.length >= 20)
  mkdirSync(join(folder, 'ui'))
  writeFileSync(join(folder, 'ui', 'main.ts'), 'document.title = "lamp"\n')
  for (const [n, { code }] of examples.entries()) {
    const whole = /^import /.test(code) ? code : inSetup(`example-${n}`, code)
    writeFileSync(join(folder, `example-${n}.ts`), whole)
  }
  const project = JSON.parse(read('tsconfig.json'))
  const paths = Object.fromEntries(
    Object.entries(project.compilerOptions.paths as Record<string, string[]>).map(([id, [path = '']]) => [
      id,
      [join(root, path)],
    ]),
  )
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { ...project.compilerOptions, rootDir: root, paths },
      include: ['*.ts', join(root, 'runtime', 'client.d.ts')],
    }),
  )
  const types = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder], {
    encoding: 'utf8',
    env: childEnv(),
  })
  t.equal(types.stdout, '')
  const clock = new ManualClock()
  const receiver = fakeReceiver(() => clock.monotonic())
  for (const [n, { guide }] of examples.entries()) {
    const plugins = { 'fake-receiver': receiver.definition }
    const file = join(folder, `example-${n}.ts`)
    await t.resolves(conformance(file, {}, { clock, plugins, sources: { rtcm: {} } }), `${guide}, program ${n}`)
  }
})

t.test('every example of test/harness/README.md runs, in the folder of a plugin', { skip: gateOnly }, async (t) => {
  const folder = scratch(t)
  const examples = blocks(read('test/harness/README.md'), 'ts')
  t.ok(examples.length >= 5)
  for (const [n, code] of examples.entries()) {
    const file = join(folder, `example-${n}.mjs`)
    writeFileSync(file, transformSync(code, { loader: 'ts', format: 'esm' }).code)
    const child = spawn(process.execPath, [file], { cwd: join(root, 'examples', 'hello-plugin'), env: childEnv() })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
      })
    const [status] = (await once(child, 'close')) as [number | null]
    t.equal(status, 0, output)
  }
})
