import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { childEnv, few, gateOnly, ownPorts, rtkBase, startStation, until } from '../harness/index.js'

/** A station with one plugin `crasher` in a folder of another name, and one that must not notice. */
async function station(t: Test, setup: string) {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-crash-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'somewhere', 'lib'), { recursive: true })
  writeFileSync(
    join(folder, 'somewhere', 'index.ts'),
    `import { definePlugin } from 'rtk-base/plugin'
     import { explode, onNextTick } from './lib/bomb.js'
     import { emitter } from './lib/emitter.js'
     export default definePlugin({ name: 'crasher', version: '1.0.0', api: '^1.0.0', setup (ctx) { ${setup} } })`,
  )
  writeFileSync(
    join(folder, 'somewhere', 'lib', 'bomb.ts'),
    `export const explode = () => { throw new Error('boom') }
     export const onNextTick = (fn: () => void) => { setTimeout(fn, 1) }`,
  )
  writeFileSync(
    join(folder, 'somewhere', 'lib', 'emitter.ts'),
    // An emitter of the process, fired by nobody's code: only the stack tells whose listener it was.
    'export const emitter: NodeJS.EventEmitter = process',
  )
  const variant = join(folder, 'variant.json')
  const plugins = { 'http-api': {}, './somewhere': {} }
  writeFileSync(
    variant,
    JSON.stringify({
      name: 'crash',
      hardware: 'crash',
      serial: 'CRASH1',
      simulator: true,
      http: { host: '127.0.0.1', port: 0 },
      plugins,
    }),
  )
  const running = await startStation([variant])
  t.teardown(() => running.end('SIGKILL'))
  const state = async () => {
    const list = (await (await fetch(`${running.url}/plugins`)).json()) as {
      name: string
      state: string
      reason: string
    }[]
    return list.find(({ name }) => name === 'crasher')
  }
  const command = (name: string) => fetch(`${running.url}/system?${name}`, { method: 'POST' })
  return { running, state, command }
}

for (const [what, setup] of [
  [
    'a timer of its own',
    "ctx.action({ name: 'crash', summary: '', run: () => { onNextTick(explode); return 'lit' } })",
  ],
  [
    'a promise that nobody waits for',
    "ctx.action({ name: 'crash', summary: '', run: () => { void Promise.reject(new Error('boom')); return 'lit' } })",
  ],
  [
    'a listener on somebody else’s emitter',
    "emitter.on('SIGUSR2', explode); ctx.defer(() => { emitter.off('SIGUSR2', explode) }); ctx.action({ name: 'crash', summary: '', run: () => 'lit' })",
  ],
] as [string, string][]) {
  const skip = what === 'a timer of its own' ? false : gateOnly
  t.test(`an uncaught error in ${what} stops that plugin alone, which is started again`, { skip }, async (t) => {
    const { running, state, command } = await station(t, setup)
    t.match(await state(), { state: 'running' })
    t.equal(await (await command('crash')).text(), 'lit\n')
    if (setup.includes('SIGUSR2')) running.child.kill('SIGUSR2')
    await until(async () => (await state())?.state === 'failed', 'the crash')
    t.match(await state(), { reason: 'boom' })
    t.equal((await fetch(`${running.url}/get-info`)).status, 200, 'the others go on')
    await until(async () => (await state())?.state === 'running', 'the restart')
    t.match(running.output(), /bomb\.ts|index\.ts/, 'the stack names the source')
  })
}

t.test(
  'an uncaught error of what a stopped instance left behind takes neither the next one nor the station down',
  { skip: gateOnly },
  async (t) => {
    const { running, state } = await station(
      t,
      "ctx.signal.addEventListener('abort', () => { setTimeout(() => onNextTick(explode), 1) })",
    )
    const told = () => running.output().split('was left open when the plugin stopped: boom').length - 1
    const plugins = (...args: string[]) => rtkBase(['plugins', ...args, '--data', running.data])
    t.match(await plugins('reload', 'crasher'), { code: 0 })
    await until(() => told() === 1, 'the error of the first instance')
    t.match(await state(), { state: 'running' })
    t.match(await plugins('unload', 'crasher'), { code: 0 })
    await until(() => told() === 2, 'the error of the second instance')
    t.match(await plugins('list'), { code: 0 })
  },
)

t.test(
  'an uncaught error that no plugin owns ends the process with 1 and a clear last line',
  { skip: gateOnly },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-crash-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const preload = join(folder, 'preload.cjs')
    writeFileSync(preload, `process.on('SIGUSR2', () => { throw new Error('nobody knows why') })`)
    const { args } = await ownPorts()
    const running = await startStation(args, { nodeOptions: ['--require', preload] })
    running.child.kill('SIGUSR2')
    await until(() => running.child.exitCode !== null, 'the end of the process')
    const { code, stdout } = await running.end()
    t.equal(code, 1)
    // Under load the end of the process itself, with the hooks of the test runner, is a block of the event loop.
    const lines = stdout
      .trim()
      .split('\n')
      .filter((line) => !line.includes('blocks the event loop'))
    t.match(lines.at(-1), /uncaught error that no plugin owns: nobody knows why/)
  },
)

/** A variant file with plugins given as the code of their definition's parts. */
function variantOf(t: Test, plugins: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-signals-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, parts] of Object.entries(plugins)) {
    mkdirSync(join(folder, name))
    const head = `name: '${name}', version: '1.0.0', api: '^1.0.0'`
    const code = `import { definePlugin } from 'rtk-base/plugin'\nexport default definePlugin({ ${head}, ${parts} })\n`
    writeFileSync(join(folder, name, 'index.ts'), code)
  }
  const file = join(folder, 'variant.json')
  const keys = ['http-api', ...Object.keys(plugins).map((name) => `./${name}`)]
  const http = { host: '127.0.0.1', port: 0 }
  const variant = { name: 'signals', hardware: 'test', serial: 'SIGNAL1', http }
  writeFileSync(file, JSON.stringify({ ...variant, plugins: Object.fromEntries(keys.map((key) => [key, {}])) }))
  return file
}

t.test('a signal during the start ends it at once, whatever hangs', { skip: gateOnly }, async (t) => {
  const hangs = 'setup () {}, async start () { await new Promise(() => {}) }'
  const file = variantOf(t, { 'first-slow': hangs, 'second-slow': hangs })
  const data = mkdtempSync(join(tmpdir(), 'rtk-base-signals-data-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  const bootstrap = join(packageRoot(), 'runtime/tools/build/bootstrap.mjs')
  const child = spawn(process.execPath, [bootstrap, 'run', file, '--data', data], { env: childEnv() })
  t.teardown(() => void child.kill('SIGKILL'))
  // The listening socket is there before the first plugin starts; its lock in the data folder comes before that.
  await until(() => existsSync(join(data, 'plugins')) && readdirSync(join(data, 'plugins')).length > 1, 'the plugins')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  t.equal(code, 0)
  // However busy the machine is: had it waited for a start, the limit of 10 s would be reported.
  t.notMatch(output, /took longer than/)
})

t.test('a signal while the command line is still being loaded ends it with 0', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-early-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [bootstrap, main] = ['runtime/tools/build/bootstrap.mjs', 'build/runtime/tools/cli/main.js'].map((file) =>
    join(folder, file),
  )
  for (const file of [bootstrap, main]) mkdirSync(dirname(file), { recursive: true })
  copyFileSync(join(packageRoot(), 'runtime/tools/build/bootstrap.mjs'), bootstrap)
  // A command line that is never done loading.
  const slow =
    "console.log('loading')\nsetInterval(() => {}, 1000)\nawait new Promise(() => {})\nexport const main = 0\n"
  writeFileSync(main, slow)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) {
    const child = spawn(process.execPath, [bootstrap, 'run'], { stdio: ['ignore', 'pipe', 'inherit'], env: childEnv() })
    t.teardown(() => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    await once(child.stdout, 'data')
    child.kill(signal)
    t.strictSame(await ended, [0, null], signal)
  }
})

for (const signal of few(1, ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const)) {
  t.test(`${signal} is a graceful stop`, async (t) => {
    const goodbye = "setup () {}, stop () { console.log('goodbye') }"
    const running = await startStation([variantOf(t, { polite: goodbye })])
    const { code, stdout } = await running.end(signal)
    t.equal(code, 0)
    t.match(stdout, /goodbye/)
  })
}

t.test('SIGUSR1 opens no debugger', async (t) => {
  const running = await startStation([variantOf(t, {})])
  t.teardown(() => running.end('SIGKILL'))
  running.child.kill('SIGUSR1')
  t.equal((await fetch(`${running.url}/get-info`)).status, 200)
  t.notMatch(running.output(), /Debugger listening/)
})

t.test('the console shows a document of any size', { skip: gateOnly }, async (t) => {
  const large = "setup (ctx) { ctx.info.block('large', () => ({ text: 'x'.repeat(300_000) })) }"
  const running = await startStation([variantOf(t, { large })])
  t.teardown(() => running.end('SIGKILL'))
  const { code, stdout } = await rtkBase(['console', '--data', running.data], 'info large\n')
  t.equal(code, 0)
  t.ok(stdout.length > 300_000)
})

t.test(
  'after kill -9 the saved log has everything up to the last save, and the reason of the end',
  { skip: gateOnly },
  async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'rtk-base-log-'))
    t.teardown(() => rmSync(data, { recursive: true, force: true }))
    const start = async () => startStation((await ownPorts()).args, { data })
    const first = await start()
    await fetch(`${first.url}/system?log=d`, { method: 'POST' })
    await fetch(`${first.url}/system?logsavenvs`, { method: 'POST' })
    await first.end('SIGKILL')
    const saved = async (url: string) => (await fetch(`${url}/get-log-saved`)).text()
    const second = await start()
    t.match(await saved(second.url), /there was no previous run/)
    await fetch(`${second.url}/system?logsavenvs`, { method: 'POST' })
    t.match(await saved(second.url), /ERROR log: the run before ended: the process was killed \(SIGKILL/)
    type Entry = { run?: { how: string }; set?: Record<string, unknown> }
    const entries = (await (await fetch(`${second.url}/record`)).text())
      .trim()
      .split('\n')
      .map((line): Entry => JSON.parse(line))
    t.same(
      entries.flatMap(({ run }) => run?.how ?? []),
      ['first', 'killed'],
      'the flight record goes on',
    )
    t.ok(
      entries.findIndex(({ set }) => set?.gate) < entries.findLastIndex(({ run }) => run),
      'with what the first run wrote',
    )
    const { code } = await second.end()
    const third = await start()
    t.teardown(() => third.end())
    t.match(await saved(third.url), /stopping/, 'the last lines of a graceful stop are saved')
    await fetch(`${third.url}/system?logsavenvs`, { method: 'POST' })
    // A busy machine may need more than the 3 s that a stop has.
    const end = code === 0 ? /INFO {2}log: .* ended: the service was stopped/ : /ERROR log: .* ended with exit code 1/
    t.match(await saved(third.url), end)
  },
)
