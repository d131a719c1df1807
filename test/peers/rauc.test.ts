/** Updates by RAUC: with its own service, and with a scripted one for what fails. */
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gateOnly, partOf, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import otaRauc from '../../plugins/device/ota-rauc/index.js'
import { SimulatedMachine } from '../../runtime/platform/ports/machine.js'
import type { AnyPlugin } from '../../runtime/plugin.js'
import { definePlugin, type PluginContext } from '../../runtime/plugin.js'
import { rtcmStream } from '../../schemas/services.js'
import { busFor } from '../harness/peers/dbus.js'
import { FakeRauc } from '../harness/peers/fake-rauc.js'
import { noPeer } from '../harness/peers/peers.js'
import { noRauc, raucFor } from '../harness/peers/rauc.js'
import { bundleImage, imageOf, otaStation, type RigOptions } from '../plugins/device/ota/rig.js'

/** A stream of epochs that a test holds. */
function flow() {
  const edges = { epoch: () => {}, flows: false }
  const plugin = definePlugin({
    name: 'flow',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [rtcmStream],
    setup(ctx: PluginContext) {
      const epochs = ctx.event<never>()
      const states = ctx.event<never>()
      const flow = ctx.event<void>()
      edges.epoch = () => {
        edges.flows = true
        flow.emit()
        epochs.emit({} as never)
      }
      ctx.services.provide(
        rtcmStream,
        partOf(rtcmStream, {
          ...{
            open: true,
            reason: undefined,
            onEpoch: epochs.on as never,
            onState: states.on as never,
            onFlow: flow.on,
          },
          get flows() {
            return edges.flows
          },
        }),
      )
    },
  })
  return { edges, plugins: { flow: plugin as AnyPlugin } }
}

/** Files that this process has open. */
const openFiles = (pattern: RegExp) =>
  readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return ''
      }
    })
    .filter((path) => pattern.test(path))

/** A station whose updates RAUC installs. */
async function start(t: Test, bus: string, { ota = {}, ...options }: RigOptions = {}) {
  const { edges, plugins } = flow()
  const rig = await otaStation(t, {
    slots: undefined as never,
    bootId: 'first',
    ...options,
    plugins: { 'ota-rauc': [otaRauc as AnyPlugin, { bus }], ...plugins },
    ota,
  })
  const found = () => until(() => rig.station.field('esp.partition') !== '', 'the slot is known')
  const looks = () => rig.station.lines.filter(({ msg }) => /^looked at /.test(msg)).length
  /** Lets the given seconds pass, and checks every 5 s whether it is `over`. */
  const advance = async (s: number, over: () => boolean, each = () => {}) => {
    for (let passed = 0; passed < s && !over(); passed += 5) {
      each()
      const before = looks()
      await rig.station.clock.advance(5_000)
      await until(() => looks() > before || over(), 'a look')
    }
  }
  const logged = (pattern: RegExp) => rig.station.lines.some(({ msg }) => pattern.test(msg))
  return { ...rig, edges, found, advance, logged }
}

t.test('by its own service', { skip: noRauc() || gateOnly }, async (t) => {
  const rauc = await raucFor(t)
  const old = await start(t, rauc.address)
  await old.found()
  t.equal(old.station.field('esp.partition'), 'A')

  t.test('what RAUC does not accept is refused with its reason', async (t) => {
    const bundle = rauc.bundle('2.0.0', 'new ')
    const flipped = Buffer.from(bundle)
    flipped[2_000] = (flipped[2_000] ?? 0) ^ 1
    for (const [what, body, reason] of [
      ['a flipped bit', flipped, /RAUC refused the bundle: .*signature verification failed/],
      ['a truncated one', bundle.subarray(0, -500), /RAUC refused the bundle: ./],
      ['another system', rauc.bundle('2.0.0', 'new ', { compatible: 'other' }), /refused the bundle: .*'other'/],
      ['nonsense', Buffer.alloc(10_000, 'nonsense'), /RAUC refused the bundle: ./],
      ['nothing', Buffer.alloc(0), /the upload is empty/],
      ['an image for slots', await bundleImage(t, '2.0.0'), /updated by RAUC: send a RAUC bundle/],
    ] as const) {
      const answer = await old.post(body)
      t.match(answer, { status: 422, text: reason }, `${what}: ${answer.text}`)
      t.match(old.update(), { state: 'failed', failed: true })
    }
    t.match(await old.post(Buffer.alloc(70 * 1_048_576)), { status: 413, text: /larger than the 67108864 bytes/ })
    t.equal(rauc.boot(), 'A good good')
    t.notOk(rauc.content('B').includes('new'), 'no slot was written')
    t.equal(await old.store.get('protected.ota', 'pending'), undefined)
  })

  t.test('a single plugin is updated by this station itself', async (t) => {
    const image = await imageOf(t, { 'index.mjs': '' }, { type: 'plugin', name: 'nobody', version: '2.0.0' })
    t.match(await old.post(image), { status: 404, text: /nobody/ })
  })

  t.test('a bundle is written to the other slot, and the machine restarts into it', async (t) => {
    old.edges.epoch()
    const body = rauc.bundle('2.0.0', 'new ')
    const { status, text } = await old.post(body)
    t.equal(status, 200, text)
    t.strictSame(JSON.parse(text), { result: 'ok', version: '2.0.0' })
    t.match(rauc.content('B'), /^(new )+$/)
    t.match(rauc.content('A'), /^(old )+$/)
    t.equal(rauc.boot(), 'B good good')
    t.match(old.update(), { state: 'rebooting', failed: false, progress: 100 })
    t.equal(old.station.restarts(), 0, 'the answer goes out first')
    await old.station.clock.advance(1_000)
    t.equal(old.station.restarts(), 1)
    await old.station.stop()
  })
  const { store } = old

  t.test('a service that was only started again restarts the machine', async (t) => {
    const rig = await start(t, rauc.address, { store })
    await rig.found()
    await until(() => rig.update().state === 'rebooting', 'the restart')
    await rig.station.clock.advance(1_000)
    t.equal(rig.station.restarts(), 1)
    await rig.station.stop()
  })

  t.test('the new version gives itself up when RTCM does not come back', async (t) => {
    await rauc.restart('B')
    const rig = await start(t, rauc.address, { store, bootId: 'second', version: '2.0.0', ota: { trial_min: 1 } })
    await rig.found()
    await until(() => rig.update().state === 'verifying', 'the trial')
    t.equal(rig.station.field('esp.partition'), 'B')
    t.not(rig.station.field('base.state.base'), 'updating', 'it does its work')
    t.match(await rig.post(Buffer.from('hsqs')), { status: 409, text: /2\.0\.0 is on trial/ })
    await rig.advance(90, () => rig.station.restarts() > 0)
    await until(() => rig.station.restarts() === 1, 'the restart')
    t.equal(rauc.boot(), 'A good bad')
    await rig.station.stop()
  })

  t.test('the version before reports that, and is marked as good', async (t) => {
    await rauc.restart('A')
    const rig = await start(t, rauc.address, { store, bootId: 'third' })
    await until(() => rig.update().failed, 'the report')
    t.match(rig.reasons(), /update to 2\.0\.0 was given up: no RTCM went out.*; 1\.0\.0 runs again/)
    await rig.advance(90, () => rig.logged(/RAUC: marked slot rootfs\.0 as good/))
    t.equal(rauc.boot(), 'A good bad')

    t.test('a bundle behind a URL', async (t) => {
      const body = rauc.bundle('3.0.0', 'more')
      const server = createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1')
      t.teardown(() => server.close())
      await until(() => server.listening, 'the server listens')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.raucb`
      await rig.station.stop()
      const next = await start(t, rauc.address, { store, bootId: 'third' })
      await next.found()
      t.match(await next.command(`firmware=${url}`), { status: 200 })
      await until(() => next.update().state === 'rebooting', 'it is installed')
      t.match(rauc.content('B'), /^(more)+$/)
      t.equal(next.reasons(), '')
      t.strictSame(openFiles(/\/ota\/incoming\//), [], 'what was fetched is not held open')
      await next.station.stop()
    })
  })

  t.test('a healthy one is marked as good and stays', async (t) => {
    await rauc.restart('B')
    const rig = await start(t, rauc.address, { store, bootId: 'fourth', version: '3.0.0' })
    await until(() => rig.update().state === 'verifying', 'the trial')
    await rig.advance(90, () => rig.update().state === 'idle', rig.edges.epoch)
    t.match(rig.update(), { state: 'idle', failed: false, progress: 100 })
    await until(() => rig.logged(/RAUC: marked slot rootfs\.1 as good/), 'the mark')
    await until(async () => (await store.get('protected.ota', 'pending')) === undefined, 'it is over')
    t.equal(rauc.boot(), 'B good good')
    await rig.station.stop()
  })

  t.test('one that the boot loader did not get to run is reported', async (t) => {
    const rig = await start(t, rauc.address, { store, bootId: 'fourth', version: '3.0.0' })
    await rig.found()
    t.match(await rig.post(rauc.bundle('4.0.0', 'last')), { status: 200 })
    await rig.station.stop()
    await rauc.restart('B')
    const after = await start(t, rauc.address, { store, bootId: 'fifth', version: '3.0.0' })
    await until(() => after.update().failed, 'the report')
    t.match(after.reasons(), /update to 4\.0\.0 was given up: it did not come up.*; 3\.0\.0 runs again/)
  })
})

t.test('by a service that fails', { skip: noPeer('dbus-daemon') || gateOnly }, async (t) => {
  const world = async (t: Test, options: RigOptions = {}) => {
    const { address } = await busFor(t)
    const fake = new FakeRauc(t, address)
    await fake.start()
    const rig = await start(t, address, options)
    await rig.found()
    const installs = () => fake.calls.filter((call) => call.startsWith('InstallBundle')).length
    /** Posts a bundle, and lets the service do something while it installs. */
    const during = async (fn: () => unknown) => {
      const before = installs()
      const answer = rig.post(Buffer.from('hsqs'))
      await until(() => installs() > before, 'it installs')
      await fn()
      return answer
    }
    return { address, fake, rig, during }
  }

  t.test('progress, and an error while it writes: 503 with the reason, another attempt is possible', async (t) => {
    const { fake, rig, during } = await world(t)
    const answer = await during(async () => {
      t.match(rig.update(), { state: 'installing', progress: 0 })
      fake.progress(40, 'Checking bundle done.')
      fake.progress(80, 'Updating slots')
      await until(() => rig.update().progress === 80, 'the progress')
      fake.lastError = 'Failed updating slot rootfs.1: No space left on device'
      fake.progress(100, 'Installing failed.')
      fake.completed(1)
    })
    t.match(answer, { status: 503, text: /RAUC could not install 2\.0\.0: .*No space left on device/ })
    t.match(rig.update(), { state: 'failed', failed: true })
    t.equal(await rig.store.get('protected.ota', 'pending'), undefined)
    t.match(await during(() => fake.completed(0)), { status: 200 })
  })

  t.test('it ends in the middle: reported, and what was installed all the same is on trial', async (t) => {
    const { address, fake, rig, during } = await world(t)
    t.match(await during(() => fake.stop()), { status: 503, text: /RAUC ended while it installed; `rauc status`/ })
    await rig.station.stop()
    fake.booted = 'B'
    await fake.start()
    const next = await start(t, address, { store: rig.store, bootId: 'second', version: '2.0.0' })
    await until(() => next.update().state === 'verifying', 'the trial')
  })

  t.test('it reports nothing any more', async (t) => {
    const { fake, rig, during } = await world(t)
    const silent = async () => {
      fake.progress(20, 'Checking bundle')
      await until(() => rig.update().progress === 20, 'the progress')
      // What was reported may reach the station a moment later: its patience begins then.
      for (let minute = 0; minute < 30; minute++) {
        await rig.station.clock.advance(60_000)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    t.match(await during(silent), {
      status: 503,
      text: /reported nothing for 10 min/,
    })
  })

  t.test('it refuses', async (t) => {
    const { fake, rig } = await world(t)
    for (const [kind, text, status, reason] of [
      [
        'org.freedesktop.DBus.Error.AccessDenied',
        'no',
        503,
        /may not be called by this user .*policy of the system bus/,
      ],
      ['org.gtk.GDBus.UnmappedGError', 'already processing a different method', 409, /RAUC is busy/],
      ['org.gtk.GDBus.UnmappedGError', 'strange', 503, /RAUC refused: strange/],
    ] as const) {
      fake.refuses.InstallBundle = [kind, text]
      t.match(await rig.post(Buffer.from('hsqs')), { status, text: reason })
      t.equal(await rig.store.get('protected.ota', 'pending'), undefined)
    }
    fake.refuses = {}
    fake.operation = 'installing'
    t.match(await rig.post(Buffer.from('hsqs')), { status: 409, text: /RAUC is busy/ })
  })

  t.test('it is not there: updates are refused with the reason; it is found when it comes', async (t) => {
    const { address } = await busFor(t)
    const rig = await start(t, address)
    const raised = () =>
      (rig.station.field('base.state.errors') as { code: string; text: string }[]).find(
        ({ code }) => code === 'update-rauc',
      )?.text ?? ''
    await until(() => raised() !== '', 'the reason')
    t.match(raised(), /RAUC is not running .*journalctl -u rauc/)
    t.match(await rig.post(Buffer.from('hsqs')), { status: 503, text: /RAUC is not running/ })
    const fake = new FakeRauc(t, address)
    await fake.start()
    await until(async () => {
      await rig.station.clock.advance(1_000)
      return raised() === ''
    }, 'it is found')
    t.equal(rig.station.field('esp.partition'), 'A')
  })

  t.test('a reload of either plugin while it installs: the installation is followed to its end', async (t) => {
    for (const plugin of ['ota', 'ota-rauc']) {
      const { fake, rig, during } = await world(t)
      const text = new RegExp(`the plugin ${plugin} was stopped while RAUC installed`)
      t.match(await during(() => rig.station.reload(plugin)), { status: 503, text })
      await until(() => {
        fake.progress(70, 'Updating slots')
        return rig.update().progress === 70
      }, 'it is followed')
      fake.completed(0)
      await until(() => rig.update().state === 'rebooting', 'the restart')
    }
  })

  t.test(
    'a reload of either plugin before it installs: nothing is installed, another attempt is possible',
    async (t) => {
      for (const plugin of ['ota', 'ota-rauc']) {
        const { fake, rig, during } = await world(t)
        const held: (() => void)[] = []
        fake.held = held
        const answer = rig.post(Buffer.from('hsqs'))
        await until(() => held.length > 0, 'it looks at the bundle')
        await rig.station.reload(plugin)
        fake.held = undefined
        for (const go of held) go()
        t.match(await answer, { status: 503, text: new RegExp(`the plugin ${plugin} was stopped`) })
        t.notOk(fake.calls.some((call) => call.startsWith('InstallBundle')))
        t.equal(await rig.store.get('protected.ota', 'pending'), undefined)
        await rig.found()
        t.match(await during(() => fake.completed(0)), { status: 200 })
      }
    },
  )

  t.test('a reload of the installer during a trial: one trial, which the new installer confirms', async (t) => {
    const { address, fake, rig, during } = await world(t)
    t.match(await during(() => fake.completed(0)), { status: 200 })
    await rig.station.stop()
    fake.booted = 'B'
    const next = await start(t, address, { store: rig.store, bootId: 'second', version: '2.0.0' })
    await until(() => next.update().state === 'verifying', 'the trial')
    await next.station.reload('ota-rauc')
    await next.found()
    await next.advance(90, () => next.update().state === 'idle')
    await until(() => next.logged(/RAUC: marked booted as good/), 'the mark')
    t.equal(next.station.lines.filter(({ msg }) => / is on trial: it is kept when /.test(msg)).length, 1)
    t.equal(next.station.restarts(), 0)
  })

  t.test('a version that ends again and again on trial is given up', async (t) => {
    const { address, fake, rig, during } = await world(t)
    t.match(await during(() => fake.completed(0)), { status: 200 })
    await rig.station.stop()
    fake.booted = 'B'
    for (let starts = 1; starts <= 4; starts++) {
      const next = await start(t, address, { store: rig.store, bootId: 'second', version: '2.0.0' })
      await until(() => next.update().state === 'verifying', 'the trial')
      if (starts < 4) t.equal(next.station.restarts(), 0)
      else await until(() => next.station.restarts() === 1, 'the restart')
      await next.station.stop()
    }
    t.strictSame(
      fake.calls.filter((call) => call.startsWith('Mark')),
      ['Mark active other', 'Mark bad booted'],
    )
  })

  t.test('a mark that fails is tried again', async (t) => {
    const { fake, rig } = await world(t)
    fake.refuses.Mark = ['org.gtk.GDBus.UnmappedGError', 'the boot loader is locked']
    const failed = () => rig.logged(/could not be marked as good: RAUC refused: the boot loader is locked/)
    await rig.advance(90, failed)
    t.ok(failed())
    fake.refuses = {}
    const marked = () => rig.logged(/RAUC: marked booted as good/)
    await rig.advance(30, marked)
    t.ok(marked())
  })

  t.test('a machine that cannot be restarted is reported', async (t) => {
    const machine = new SimulatedMachine(() => {})
    machine.reboot = () => Promise.reject(new Error('systemctl failed with 1: interactive authentication required'))
    const { fake, rig, during } = await world(t, { machine })
    t.match(await during(() => fake.completed(0)), { status: 200 })
    await rig.station.clock.advance(1_000)
    await until(() => rig.update().failed, 'the report')
    t.match(rig.reasons(), /not started: .*interactive authentication required; restart the machine/)
  })
})
