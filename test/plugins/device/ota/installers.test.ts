/** Versions that another plugin installs: the service `bundle-installer`, as a third party may provide it. */
import { readFileSync } from 'node:fs'
import { until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { type AnyPlugin, definePlugin } from '../../../../runtime/plugin.js'
import { bundleInstaller } from '../../../../schemas/services.js'
import { MemoryStore } from '../../../harness/memory-store.js'
import { bundleImage, otaStation, type RigOptions } from './rig.js'

/** A machine with two systems, and the program that writes them. */
function machine() {
  const state = { running: 'left', calls: [] as string[], loads: 0, isReady: true, files: [] as string[] }
  const call = (name: string) => async () => void state.calls.push(name)
  const plugin = definePlugin({
    name: 'two-systems',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [bundleInstaller],
    setup(ctx) {
      const load = ++state.loads
      ctx.services.provide(bundleInstaller, {
        title: 'TwoSystems',
        running: state.running,
        partition: `the ${state.running} one`,
        ready: () => (state.isReady ? Promise.resolve() : new Promise<void>(() => {})),
        async install(file, { begin, progress }) {
          state.files.push(readFileSync(file, 'utf8'))
          await begin({ version: '2.0.0', slot: 'right' })
          progress(50)
          return {}
        },
        follow: async () => undefined,
        confirm: call(`confirm ${load}`),
        giveUp: call('give up'),
        restart: call('restart'),
      })
    },
  })
  return { state, plugins: { 'two-systems': plugin as AnyPlugin } }
}

async function start(t: Test, options: RigOptions = {}, { state, plugins } = machine()) {
  const rig = await otaStation(t, { bootId: 'first', ...options, plugins })
  const looks = () => rig.station.lines.filter(({ msg }) => /^looked at /.test(msg)).length
  /** Lets the given seconds pass, and checks every 5 s whether it is `over`. */
  const pass = async (s: number, over: () => boolean) => {
    for (let passed = 0; passed < s && !over(); passed += 5) {
      const before = looks()
      await rig.station.clock.advance(5_000)
      await until(() => looks() > before || over(), 'a look')
    }
    await until(over, 'the end')
  }
  return { ...rig, state, pass }
}

t.test('takes bundles on a machine with slots too, and refuses images for slots by its title', async (t) => {
  const { post, update, state, station, files, command } = await start(t)
  t.equal(station.field('esp.partition'), 'the left one')
  const refused = await post(await bundleImage(t, '2.0.0'))
  t.match(refused, { status: 422, text: /this station is updated by TwoSystems: send a TwoSystems bundle/ })
  t.match(await station.request('/check-update', { method: 'POST' }), { status: 503, text: /of a TwoSystems bundle/ })
  t.match(await command('ota-revert'), { status: 503 })
  const { status, text } = await post('a whole system')
  t.equal(status, 200, text)
  t.same([state.files, files('b')], [['a whole system'], undefined])
  t.match(update(), { state: 'rebooting', progress: 100 })
  await station.clock.advance(1_000)
  t.ok(state.calls.includes('restart'))
})

t.test('an update that it has installed is on trial after the restart of the machine, once', async (t) => {
  for (const healthy of [true, false]) {
    const store = new MemoryStore()
    const first = await start(t, { store })
    t.match(await first.post('a whole system'), { status: 200 })
    await first.station.stop()
    const world = machine()
    Object.assign(world.state, { running: 'right' })
    const ota = healthy ? { healthy_s: 20 } : { trial_min: 1, healthy_s: 3_600 }
    const next = await start(t, { store, bootId: 'second', version: '2.0.0', ota }, world)
    await until(() => next.update().state === 'verifying', 'the trial')
    t.match(await next.post('another'), { status: 409, text: /2\.0\.0 is on trial/ })
    // A new version of the installer confirms what an older one installed.
    await next.station.reload('two-systems')
    const begun = next.station.lines.filter(({ msg }) => / is on trial: it is kept when /.test(msg))
    t.equal(begun.length, 1)
    await next.pass(120, () => world.state.calls.some((name) => /confirm|restart/.test(name)))
    t.same(world.state.calls, healthy ? ['confirm 2'] : ['give up', 'restart'])
    const pending = () => store.get('protected.ota', 'pending')
    if (healthy) await until(async () => (await pending()) === undefined, 'it is over')
    else t.match(await pending(), { verdict: /it was not healthy for long enough/ })
  }
})

t.test('while it does not know the running system, nothing is decided about the last update', async (t) => {
  const store = new MemoryStore()
  const first = await start(t, { store })
  t.match(await first.post('a whole system'), { status: 200 })
  await first.station.stop()
  const world = machine()
  Object.assign(world.state, { isReady: false })
  const next = await start(t, { store, bootId: 'second' }, world)
  await next.station.clock.advance(60_000)
  t.same([next.update().failed, world.state.calls], [false, []])
  Object.assign(world.state, { isReady: true })
  await next.station.reload('two-systems')
  await until(() => next.update().failed, 'the report')
  t.match(next.reasons(), /update to 2\.0\.0 was given up: it did not come up.*; 1\.0\.0 runs again/)
})
