import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { rtkBase, startStation, until } from '../harness/index.js'

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
  ['a timer of its own', "ctx.commands.add('crash', '', () => { onNextTick(explode); return 'lit' })"],
  [
    'a promise that nobody waits for',
    "ctx.commands.add('crash', '', () => { void Promise.reject(new Error('boom')); return 'lit' })",
  ],
  [
    'a listener on somebody else’s emitter',
    "emitter.on('SIGUSR2', explode); ctx.defer(() => { emitter.off('SIGUSR2', explode) }); ctx.commands.add('crash', '', () => 'lit')",
  ],
] as [string, string][]) {
  t.test(`an uncaught error in ${what} stops that plugin alone, which is started again`, async (t) => {
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

t.test('an uncaught error that no plugin owns ends the process with 1 and a clear last line', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-crash-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const preload = join(folder, 'preload.cjs')
  writeFileSync(preload, `process.on('SIGUSR2', () => { throw new Error('nobody knows why') })`)
  const running = await startStation(['--set', 'mqtt-broker.port=0'], { nodeOptions: ['--require', preload] })
  running.child.kill('SIGUSR2')
  await until(() => running.child.exitCode !== null, 'the end of the process')
  const { code, stdout } = await running.end()
  t.equal(code, 1)
  t.match(stdout.trim().split('\n').at(-1), /uncaught error that no plugin owns: nobody knows why/)
})
