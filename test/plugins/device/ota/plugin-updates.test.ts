import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gateOnly, ManualClock, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { type PluginUpdatesDeps, UpdatedPlugins } from '../../../../runtime/loader/plugin-updates.js'
import { type PluginUpdates, pluginUpdates } from '../../../../schemas/services.js'
import { drive, settled } from '../../../harness/drive.js'
import { FailingDisk } from '../../../harness/failing-disk.js'
import { probe } from '../../../harness/probe.js'
import { imageOf, otaStation, type RigOptions, scratch } from './rig.js'

/** The prebuilt form of a plugin that shows its version. */
function plugin(version: string, { setup = '', start = '', options = '' } = {}): Record<string, string> {
  const code = `const { definePlugin } = globalThis[Symbol.for('rtk-base.host')]('rtk-base/plugin')
module.exports = definePlugin({ name: 'mast', version: '${version}', api: '^1.0.0', ${options}
  setup(ctx) { ${setup}; ctx.info.block('mast', () => ({ version: '${version}' })) },
  start(ctx) { ${start} } })\n`
  const sha256 = createHash('sha256').update(code).digest('hex')
  const entry = { name: 'mast', version, api: '^1.0.0', file: 'mast.cjs', sha256 }
  return { 'mast.cjs': code, 'manifest.json': JSON.stringify({ plugins: [entry] }) }
}

const image = (t: Test, version: string, options: object = {}, facts: object = {}) =>
  imageOf(t, plugin(version, options), { type: 'plugin', name: 'mast', version, ...facts })

/** A station with the plugin mast 1.0.0 of its bundle. */
async function setUp(
  t: Test,
  options: RigOptions & { place?: string; mast?: Record<string, unknown>; bundled?: Record<string, string> } = {},
) {
  const place = options.place ?? scratch(t)
  const source = join(place, 'mast')
  mkdirSync(source, { recursive: true })
  for (const [name, text] of Object.entries(options.bundled ?? plugin('1.0.0'))) writeFileSync(join(source, name), text)
  const data = options.data ?? join(place, 'data')
  mkdirSync(data, { recursive: true })
  const rig = await otaStation(t, { ...options, data, sources: { [source]: options.mast ?? {} } })
  const running = () => rig.station.field('mast.version')
  const folders = () => readdirSync(join(data, 'plugin-updates')).filter((name) => name !== 'index.json').length
  const tries = () =>
    Object.values<{ tries: number }>(
      JSON.parse(readFileSync(join(data, 'plugin-updates', 'index.json'), 'utf8')).updates,
    ).map(({ tries }) => tries)
  return { ...rig, place, data, running, folders, tries, again: () => setUp(t, { ...options, place, data }) }
}

t.test('an update of one plugin', async (t) => {
  t.test('is in force at once, without a restart, and over restarts', async (t) => {
    const rig = await setUp(t)
    t.equal(rig.running(), '1.0.0')
    const { status, json } = await rig.post(await image(t, '1.1.0'))
    t.equal(status, 200)
    t.strictSame(json(), { result: 'ok', version: '1.1.0' })
    t.equal(rig.running(), '1.1.0')
    t.match(rig.update(), { state: 'idle', failed: false })
    await rig.station.clock.advance(70_000)
    t.equal(rig.station.restarts(), 0)
    t.equal(rig.state(), '', 'no slot was touched')
    await until(async () => rig.station.lines.some(({ msg }) => msg === 'the update is confirmed'), 'the confirmation')
    await rig.station.stop()
    for (let start = 0; start < 5; start++) {
      const next = await rig.again()
      t.equal(next.running(), '1.1.0')
      await next.station.stop()
    }
  })

  t.test('C1: that is being unpacked while another one is confirmed stays whole', async (t) => {
    const place = scratch(t)
    const found: { updates?: PluginUpdates } = {}
    const ears = probe([pluginUpdates], (ctx) => {
      found.updates = ctx.services.use(pluginUpdates)
    })
    const rig = await setUp(t, { place, plugins: { probe: ears } })
    t.match(await rig.post(await image(t, '1.1.0')), { status: 200 })
    const folder = (await found.updates?.prepare('mast')) as string
    await rig.station.clock.advance(70_000)
    await until(async () => rig.station.lines.some(({ msg }) => msg === 'the update is confirmed'), 'the confirmation')
    await settled()
    for (const [name, text] of Object.entries(plugin('1.2.0'))) writeFileSync(join(folder, name), text)
    t.match(await found.updates?.install('mast', folder), { version: '1.2.0' })
    t.equal(rig.running(), '1.2.0')
  })

  t.test('C1: that is installed while the former one of another plugin is deleted stays whole', async (t) => {
    const folder = scratch(t)
    const update = { name: 'mast', version: '1.1.0', folder: 'mast-900', tries: 1, confirmed: false }
    writeFileSync(join(folder, 'index.json'), JSON.stringify({ bundle: 'one', updates: { mast: update }, failed: {} }))
    const clock = new ManualClock()
    let isConfirmed: () => void = () => {}
    const confirmed = new Promise<void>((resolve) => {
      isConfirmed = resolve
    })
    const deps = {
      ...{ folder, bundle: 'one', onTrial: false, clock, errors: { while() {} } },
      log: { ...console, info: () => isConfirmed() },
      plugins: () => ({
        report: () => [{ name: 'mast', state: 'running' }],
        sourceOf: (name: string) => name,
        reload: async () => {},
      }),
    }
    const updates = new UpdatedPlugins(deps as unknown as PluginUpdatesDeps)
    await updates.begin()
    const place = await updates.prepare('pole')
    // What the confirmation deletes takes a while.
    for (let n = 0; n < 200; n++) mkdirSync(join(folder, `former-${n}`, 'parts'), { recursive: true })
    mkdirSync(join(folder, 'zenith-1'))
    const files = plugin('2.0.0')
    const manifest = files['manifest.json']?.replaceAll('mast', 'pole') ?? ''
    writeFileSync(join(place, 'manifest.json'), manifest)
    const ticks = clock.advance(70_000)
    await confirmed
    await updates.install('pole', place)
    await ticks
    // They are deleted in the order of their names.
    await until(async () => !readdirSync(folder).includes('zenith-1'), 'the former ones deleted')
    updates.close()
    t.ok(readdirSync(folder).includes(basename(place)), 'the new one is there')
  })

  t.test('C1: that is refused while the version before is on trial leaves that one, and its trial', async (t) => {
    const rig = await setUp(t)
    t.match(await rig.post(await image(t, '1.1.0')), { status: 200 })
    const bad = await image(t, '1.2.0', { setup: 'throw new Error("no mast")' })
    t.match((await rig.post(bad)).text, /no mast/)
    t.equal(rig.running(), '1.1.0')
    t.match(rig.reasons(), /mast 1\.2\.0 was given up: .*no mast.*; 1\.1\.0 runs again/)
    await rig.station.clock.advance(70_000)
    await until(async () => rig.station.lines.some(({ msg }) => msg === 'the update is confirmed'), 'the confirmation')
    await rig.station.stop()
    const next = await rig.again()
    t.equal(next.running(), '1.1.0', 'after a restart, too')
  })

  t.test('C1: the first one that is killed while it is unpacked is no lost list', async (t) => {
    const found: { updates?: PluginUpdates } = {}
    const ears = probe([pluginUpdates], (ctx) => {
      found.updates = ctx.services.use(pluginUpdates)
    })
    const rig = await setUp(t, { plugins: { probe: ears } })
    await found.updates?.prepare('mast')
    await rig.station.stop()
    const next = await rig.again()
    t.equal(next.reasons(), '')
  })

  t.test('that cannot start is refused, and the version before goes on', async (t) => {
    const rig = await setUp(t)
    for (const bad of [{ setup: 'throw new Error("no mast")' }, { start: 'throw new Error("no mast")' }]) {
      t.match((await rig.post(await image(t, '1.1.0', bad))).text, /no mast/)
      t.equal(rig.running(), '1.0.0')
      t.match(rig.update(), { state: 'failed', failed: true })
      t.match(rig.reasons(), /mast 1\.1\.0 was given up: .*no mast.*; the one of the bundle runs again/)
    }
    t.match(await rig.post(await image(t, '1.2.0')), { status: 200 })
    t.equal(rig.reasons(), '', 'until the next one')
    t.equal(rig.folders(), 1)
  })

  t.test(
    'that fails in its first minute is given up, and the confirmed update before it comes back',
    { skip: gateOnly },
    async (t) => {
      const rig = await setUp(t)
      await rig.post(await image(t, '1.1.0'))
      await rig.station.clock.advance(70_000)
      await until(
        async () => rig.station.lines.some(({ msg }) => msg === 'the update is confirmed'),
        'the confirmation',
      )
      t.match(
        await rig.post(await image(t, '1.2.0', { start: 'ctx.timers.after(5000, () => { throw new Error("late") })' })),
        { status: 200 },
      )
      t.equal(rig.running(), '1.2.0')
      await rig.station.clock.advance(4_000)
      rig.station.station.plugins()
      await rig.station.clock.advance(2_000)
      // One that throws in a timer keeps running; one that fails does not.
      t.equal(rig.running(), '1.2.0')
      t.match(await rig.post(await image(t, '1.3.0')), { status: 200 })
      t.equal(rig.running(), '1.3.0')
      await rig.station.stop()
      // Its code does not load any more.
      const index = JSON.parse(readFileSync(join(rig.data, 'plugin-updates', 'index.json'), 'utf8'))
      const [update] = Object.values<{ folder: string; former: { version: string } }>(index.updates)
      t.equal(update?.former.version, '1.1.0', 'what never proved itself is not worth going back to')
      writeFileSync(join(rig.data, 'plugin-updates', update?.folder ?? '', 'mast.cjs'), 'damaged')
      const next = await rig.again()
      await drive(next.station.clock, () => next.running() === '1.1.0', 'the version before')
      t.match(next.reasons(), /mast 1\.3\.0 was given up: .*sha256.*; 1\.1\.0 runs again/)
    },
  )

  t.test(
    'is counted before it is loaded: one that ends the process is given up after three starts',
    { skip: gateOnly },
    async (t) => {
      const rig = await setUp(t)
      await rig.post(await image(t, '1.1.0'))
      t.strictSame(rig.tries(), [1])
      await rig.station.stop()
      for (const tries of [2, 3]) {
        const next = await rig.again()
        t.equal(next.running(), '1.1.0')
        t.strictSame(next.tries(), [tries])
        await next.station.stop()
      }
      const last = await rig.again()
      t.equal(last.running(), '1.0.0')
      t.match(last.reasons(), /mast 1\.1\.0 was given up: it was started 3 times and never ran for 60 s/)
      await last.station.stop()
      const after = await rig.again()
      t.equal(after.running(), '1.0.0')
      t.match(after.reasons(), /mast 1\.1\.0 was given up/, 'until its next update')
    },
  )

  t.test(
    'belongs to its bundle: another one drops it, one that is only on trial does not',
    { skip: gateOnly },
    async (t) => {
      const rig = await setUp(t)
      await rig.post(await image(t, '1.1.0'))
      await rig.station.stop()
      const trial = await setUp(t, { place: rig.place, data: rig.data, version: '2.0.0', onTrial: true })
      t.equal(trial.running(), '1.0.0')
      await trial.station.stop()
      const back = await rig.again()
      t.equal(back.running(), '1.1.0')
      await back.station.stop()
      const other = await setUp(t, { place: rig.place, data: rig.data, version: '2.0.0' })
      t.equal(other.running(), '1.0.0')
      t.equal(other.folders(), 0)
      await other.station.stop()
      const old = await rig.again()
      t.equal(old.running(), '1.0.0')
    },
  )

  t.test('is refused for another bundle, for a plugin that is not here, with another plugin in it', async (t) => {
    const rig = await setUp(t)
    const sha256 = rig.station.device.sha256
    t.match(await rig.post(await image(t, '1.1.0', {}, { bundle: 'f'.repeat(64) })), {
      status: 422,
      text: /made for the bundle ffffffffffff…/,
    })
    t.match(await rig.post(await image(t, '1.1.0', {}, { bundle: sha256 })), { status: 200 })
    t.match(await rig.post(await image(t, '1.1.0', {}, { name: 'pole' })), {
      status: 404,
      text: /this station has no plugin pole/,
    })
    t.match(await rig.post(await imageOf(t, { 'x.cjs': '' }, { type: 'plugin', name: 'mast' })), {
      status: 422,
      text: /lacks the prebuilt form/,
    })
    t.match(await rig.post(await image(t, '1.1.0', {}, { hardware: ['x'] })), { status: 422 })
    t.equal(rig.folders(), 1)
    const older =
      /mast 1\.0\.9 is refused: the running version 1\.1\.0 is newer, and the image does not allow a downgrade/
    t.match(await rig.post(await image(t, '1.0.9')), { status: 422, text: older })
    const floor = { downgrade: true, minVersion: '1.0.8' }
    t.match(await rig.post(await image(t, '1.0.9', {}, floor)), { status: 200 })
    t.equal(rig.running(), '1.0.9')
    t.match(await rig.post(await image(t, '1.0.7', {}, floor)), { status: 422, text: /no version before 1\.0\.8/ })
    t.match(await rig.post(await image(t, '1.1.0')), { status: 200 })
  })

  t.test(
    'an index that was damaged, or that cannot be written, costs the update and nothing else',
    { skip: gateOnly },
    async (t) => {
      const rig = await setUp(t)
      await rig.post(await image(t, '1.1.0'))
      await rig.station.stop()
      const index = join(rig.data, 'plugin-updates', 'index.json')
      writeFileSync(index, readFileSync(index, 'utf8').slice(0, -3))
      const next = await rig.again()
      t.equal(next.running(), '1.0.0')
      t.match(await next.post(await image(t, '1.2.0')), { status: 200 })
      t.equal(next.running(), '1.2.0')
      t.equal(next.folders(), 1)
    },
  )

  /** A station with one confirmed update, or two of which the second one is confirmed too. */
  async function confirmed(t: Test, versions: readonly string[], options: object = {}) {
    const rig = await setUp(t)
    for (const [index, version] of versions.entries()) {
      t.match(await rig.post(await image(t, version, index === versions.length - 1 ? options : {})), { status: 200 })
      await rig.station.clock.advance(70_000)
      const isSaid = () => rig.station.lines.filter(({ msg }) => msg === 'the update is confirmed').length > index
      await until(async () => isSaid(), 'the confirmation')
    }
    await rig.station.stop()
    const index = JSON.parse(readFileSync(join(rig.data, 'plugin-updates', 'index.json'), 'utf8'))
    const [{ folder }] = Object.values<{ folder: string }>(index.updates) as [{ folder: string }]
    return { ...rig, folder: join(rig.data, 'plugin-updates', folder) }
  }

  t.test(
    'that was confirmed is given up when it cannot be loaded any more: the bundle’s own version runs',
    { skip: gateOnly },
    async (t) => {
      const flip = (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('mast', 'mass'))
      const damages: [name: string, reason: RegExp, damage: (folder: string) => void][] = [
        ['no folder', /no plugin at/, (folder) => rmSync(folder, { recursive: true })],
        ['no manifest', /no plugin at/, (folder) => rmSync(join(folder, 'manifest.json'))],
        ['no code', /ENOENT/, (folder) => rmSync(join(folder, 'mast.cjs'))],
        ['one byte of the code', /sha256/, (folder) => flip(join(folder, 'mast.cjs'))],
        ['an empty manifest', /manifest\.json/, (folder) => writeFileSync(join(folder, 'manifest.json'), '')],
        [
          'a manifest of something else',
          /./,
          (folder) => writeFileSync(join(folder, 'manifest.json'), '{"plugins":7}'),
        ],
        [
          'another plugin',
          /its code is the plugin mass/,
          (folder) => {
            const code = readFileSync(join(folder, 'mast.cjs'), 'utf8').replace("name: 'mast'", "name: 'mass'")
            const sha256 = createHash('sha256').update(code).digest('hex')
            writeFileSync(join(folder, 'mast.cjs'), code)
            const entry = { name: 'mast', version: '1.1.0', api: '^1.0.0', file: 'mast.cjs', sha256 }
            writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ plugins: [entry] }))
          },
        ],
      ]
      for (const [name, reason, damage] of damages) {
        const rig = await confirmed(t, ['1.1.0'])
        damage(rig.folder)
        const next = await rig.again()
        t.equal(next.running(), '1.0.0', name)
        t.match(next.reasons(), /^mast 1\.1\.0 was given up: .*; the one of the bundle runs again$/s, name)
        t.match(next.reasons(), reason, name)
        await next.station.stop()
        const after = await rig.again()
        t.equal(after.running(), '1.0.0', `${name}: it is not tried again`)
        t.match(after.reasons(), /was given up/, 'and still reported')
        t.match(await after.post(await image(t, '1.2.0')), { status: 200 })
        t.equal(after.reasons(), '', 'until its next update')
        await after.station.stop()
      }
    },
  )

  t.test(
    'that cannot be loaded goes back to the confirmed one before, then to the bundle’s',
    { skip: gateOnly },
    async (t) => {
      const rig = await confirmed(t, ['1.1.0'])
      const running = await rig.again()
      await running.post(await image(t, '1.2.0'))
      await running.station.stop()
      const folders = readdirSync(join(rig.data, 'plugin-updates')).filter((name) => name !== 'index.json')
      t.equal(folders.length, 2)
      for (const folder of folders) writeFileSync(join(rig.data, 'plugin-updates', folder, 'mast.cjs'), 'damaged')
      const next = await rig.again()
      t.equal(next.running(), '1.0.0')
      t.match(next.reasons(), /mast 1\.1\.0 was given up: .*; the one of the bundle runs again/)
    },
  )

  t.test(
    'that does not take the variant’s options is given up; a mistake in the variant stays one',
    { skip: gateOnly },
    async (t) => {
      const rig = await confirmed(t, ['1.1.0'], { options: 'options: { type: "object", properties: {} },' })
      // The bundle's own version takes it by now.
      const next = plugin('1.0.0', {
        options: 'options: { type: "object", properties: { height: { type: "number" } } },',
      })
      const withOption = await setUp(t, { place: rig.place, data: rig.data, mast: { height: 2 }, bundled: next })
      t.equal(withOption.running(), '1.0.0')
      t.match(withOption.reasons(), /mast 1\.1\.0 was given up: mast has no option height/)
      await withOption.station.stop()

      const other = await confirmed(t, ['1.1.0'], { options: 'options: { type: "object", properties: {} },' })
      const wrong = setUp(t, { place: other.place, data: other.data, mast: { hight: 2 }, bundled: next })
      await t.rejects(wrong, { code: 'RTK_ERR_PLUGIN_OPTIONS', message: /no option hight/ })
      const right = await other.again()
      t.equal(right.running(), '1.1.0', 'the update is kept')
    },
  )

  t.test('that was confirmed and does not come up in any of its tries is given up', { skip: gateOnly }, async (t) => {
    const start = 'if (globalThis.mastFails) throw new Error("no mast")'
    const rig = await confirmed(t, ['1.1.0'], { start })
    Object.assign(globalThis, { mastFails: true })
    t.teardown(() => Object.assign(globalThis, { mastFails: false }))
    const next = await rig.again()
    t.equal(next.running(), undefined)
    await drive(next.station.clock, () => next.running() === '1.0.0', 'the bundle’s own version')
    t.match(next.reasons(), /mast 1\.1\.0 was given up: .*no mast.*; the one of the bundle runs again/)
  })

  t.test('is watched until the end, also where that comes in the middle of a look', { skip: gateOnly }, async (t) => {
    const folder = scratch(t)
    const update = { name: 'mast', version: '1.1.0', folder: 'mast-1', tries: 1, confirmed: false }
    writeFileSync(join(folder, 'index.json'), JSON.stringify({ bundle: 'one', updates: { mast: update }, failed: {} }))
    const clock = new ManualClock()
    let looks = 0
    const report = () => {
      if (++looks === 2) updates.close()
      return [{ name: 'mast', state: 'running' }]
    }
    const deps = {
      folder,
      bundle: 'one',
      onTrial: false,
      clock,
      log: console,
      errors: { while() {} },
      plugins: () => ({ report }),
    }
    const updates = new UpdatedPlugins(deps as unknown as PluginUpdatesDeps)
    await updates.begin()
    await clock.advance(10_000)
    t.strictSame({ looks, pending: clock.pending }, { looks: 2, pending: 0 })
  })

  t.test(
    'whose list cannot be written is not loaded; one that is confirmed is, and nothing of the list is lost',
    async (t) => {
      const folder = scratch(t)
      const of = (name: string, confirmed: boolean) => ({
        name,
        version: '1.1.0',
        folder: `${name}-1`,
        tries: 1,
        confirmed,
      })
      const stored = {
        bundle: 'one',
        updates: { mast: of('mast', false), pole: of('pole', true) },
        failed: { stay: 'it threw' },
      }
      writeFileSync(join(folder, 'index.json'), JSON.stringify(stored))
      const standing = new Set<string>()
      const deps = {
        ...{ folder, bundle: 'one', onTrial: false, clock: new ManualClock(), log: { ...console, error() {} } },
        errors: { while: (code: string) => ({ clear: () => standing.delete(code), ...(standing.add(code) && {}) }) },
        load: async (place: string) => ({ definition: { name: basename(place).replace(/-1$/, '') }, place }),
        plugins: () => ({
          report: () => [],
          sourceOf: (name: string) => (name === 'ghost' ? undefined : name),
          reload: async () => {},
        }),
      }
      const updates = new UpdatedPlugins(deps as unknown as PluginUpdatesDeps)
      const disk = new FailingDisk(folder, { code: 'ENOSPC', at: 1 })
      t.teardown(() => disk.restore())
      await updates.begin()
      const placeOf = async (name: string) =>
        ((await updates.load(name, () => {})) as unknown as { place: string }).place
      t.equal(await placeOf('mast'), 'mast', 'it could not be counted: the version of the bundle')
      t.equal(await placeOf('pole'), join(folder, 'pole-1'))
      disk.failure = undefined
      await t.rejects(updates.prepare('ghost'), { code: 'RTK_ERR_NOT_LOADED' })
      t.strictSame(readdirSync(folder), ['index.json'], 'nothing was prepared for a plugin that is not here')
      const prepared = async (name: string) => {
        const place = await updates.prepare(name)
        for (const [file, text] of Object.entries(plugin('2.0.0')))
          writeFileSync(join(place, file), text.replaceAll('"name":"mast"', `"name":"${name}"`))
        return place
      }
      const place = await prepared('stay')
      const install = async (nth: number) => {
        disk.failure = { code: 'ENOSPC', at: disk.writes.length + nth, count: 1 }
        return updates.install('stay', place).catch(({ code }: { code: string }) => code)
      }
      let refused = 0
      while ((await install(refused + 1)) === 'ENOSPC') {
        refused++
        disk.failure = undefined
        await updates.install('pole', await prepared('pole'))
        const { failed } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))
        t.strictSame(failed, { stay: 'it threw' }, 'why it was given up before is known as before')
      }
      t.ok(refused >= 4, `${refused} writes`)
      updates.close()
    },
  )

  t.test('whose list is gone or damaged is reported', { skip: gateOnly }, async (t) => {
    for (const damage of ['', '{', '{"bundle":1}', undefined]) {
      const rig = await confirmed(t, ['1.1.0'])
      const index = join(rig.data, 'plugin-updates', 'index.json')
      if (damage === undefined) rmSync(index)
      else writeFileSync(index, damage)
      const next = await rig.again()
      t.equal(next.running(), '1.0.0')
      t.match(next.reasons(), /the list of updated plugins .* cannot be used .*: the plugins of the bundle run/)
      await next.station.stop()
    }
    const fresh = await setUp(t)
    t.equal(fresh.reasons(), '', 'a station without updates has no list')
  })
})
