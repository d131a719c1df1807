import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { gateOnly, ManualClock, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { leastWindow_bytes, longest_ms } from '../../../../plugins/device/ota/pace.js'
import { Slots } from '../../../../plugins/device/ota/slots/index.js'
import { bytesOf, Updates, type UpdatesDeps } from '../../../../plugins/device/ota/updates.js'
import { generateKeys, readPrivateKey } from '../../../../runtime/lib/image/keys.js'
import type { ImageManifest } from '../../../../runtime/lib/image/manifest.js'
import { definePlugin } from '../../../../runtime/plugin.js'
import { type BundleInstaller, firmwareInstaller } from '../../../../schemas/services.js'
import { drive, settled } from '../../../harness/drive.js'
import { createAuthority } from '../../../harness/peers/certificates.js'
import { errorsOf } from '../../../harness/standing-errors.js'
import { bundleImage, imageOf, maker, otaStation, scratch } from './rig.js'

/** What the launcher does before it starts a slot. */
const isWhole = (folder: string) =>
  spawnSync('sha256sum', ['--quiet', '--strict', '-c', 'SHA256SUMS'], { cwd: folder }).status === 0

/** Updates without a station around them. The clock stands. */
function updatesWith(given: Partial<UpdatesDeps> = {}) {
  const clock = new ManualClock()
  const errors: string[] = []
  const states: string[] = []
  const did: unknown[] = []
  const listeners: (() => void)[] = []
  const stop = new AbortController()
  const station = {
    version: '1.0.0',
    bootId: 'boot',
    onTrial: false,
    keepSettings: async () => void did.push('settings'),
  }
  const ctx = {
    clock,
    log: { info() {}, warn() {}, error() {} },
    signal: stop.signal,
    timers: { after: (ms: number, fn: () => void) => clock.timer(ms, fn) },
    services: { use: () => station },
    errors: errorsOf('ota', (text) => errors.push(text)),
    event: () => ({ on: (fn: () => void) => listeners.push(fn), emit: () => void states.push(updates.state) }),
  }
  const memory = {
    begin: async (...all: unknown[]) => void did.push(['begin', ...all]),
    installed: async () => void did.push('installed'),
    end: async () => void did.push('end'),
    keys: async () => new Map(),
  }
  const deps = {
    memory,
    signs: { before: () => ({ rtcm: true, broker: false }) },
    folders: () => undefined,
    bundles: () => undefined,
    isTrial: () => false,
    partition: () => 'a',
    largest_bytes: 1_000,
    changed: () => {},
    ...given,
  }
  const updates = new Updates(ctx as never, deps as never)
  return { clock, errors, states, did, stop, station, updates }
}

t.test('a download', async (t) => {
  const { random } = Math
  t.teardown(() => Object.assign(Math, { random }))
  // The waits are exact.
  Math.random = () => 0.5
  type Options = Parameters<ReturnType<UpdatesDeps['download']>['attempt']>[1]
  /** @param attempt one that fails */
  function downloading(attempt: (options: Options, n: number) => void) {
    const at_s: number[] = []
    const download = {
      file: '/none',
      discard: async () => {},
      attempt: async (_: URL, options: Options) => {
        at_s.push(rig.clock.monotonic() / 1_000)
        attempt(options, at_s.length)
      },
    }
    const rig = updatesWith({ download: () => download as never })
    return { ...rig, at_s }
  }
  const fails = (message: string, code = '') => {
    throw Object.assign(new Error(message), { code })
  }

  t.test('is tried eight times, unless another attempt gives the same', async (t) => {
    const eight = [0, 2, 6, 14, 30, 62, 122, 182]
    for (const [message, code, expected] of [
      ['the connection was cut off', 'ECONNRESET', eight],
      ['the server answered 503', 'RTK_ERR_FETCH', eight],
      ['too much', 'RTK_ERR_FETCH_TOO_LARGE', [0]],
      ['no disk', 'RTK_ERR_STORE_WRITE', [0]],
      ['not this one', 'RTK_ERR_FETCH_CERTIFICATE', [0]],
    ] as const) {
      const { updates, clock, at_s, errors } = downloading(() => fails(message, code))
      updates.fetch('https://example.org/x')
      t.match(updates.progress.fields, { state: 'downloading', failed: false, progress: 0 })
      await clock.advance(1_000_000)
      t.same(at_s, expected, message)
      t.match(updates.progress.fields, { state: 'failed', failed: true, progress: 0 })
      t.equal(errors.at(-1), `the update failed: ${message}`)
      t.throws(() => updates.progress.cancel(), { code: 'RTK_ERR_UNAVAILABLE' }, 'there is nothing left to cancel')
      updates.fetch('https://example.org/x')
      t.equal(updates.state, 'downloading', 'and the next one may begin')
    }
  })

  t.test('that brings 30 KB with each attempt has the time of its size, one that brings less has not', async (t) => {
    const total = 20 * leastWindow_bytes
    for (const [bytes, attempts] of [
      [leastWindow_bytes, longest_ms(total) / 2_000 + 2],
      [leastWindow_bytes - 1, 8],
    ] as const) {
      const { updates, clock, at_s } = downloading(({ progress }, n) => {
        progress(n * bytes, total)
        fails('cut off')
      })
      updates.fetch('https://example.org/x')
      await clock.advance(2 * longest_ms(total))
      t.equal(at_s.length, attempts)
    }
  })

  t.test('shows how much of it is there, where that is known', async (t) => {
    for (const [bytes, total, percent] of [
      [50, 200, 25],
      [199, 200, 99],
      [300, 200, 100],
      [5, 0, 0],
    ] as const) {
      const { updates, clock } = downloading(({ progress }) => {
        progress(bytes, total)
        fails('cut off')
      })
      updates.fetch('https://example.org/x')
      await clock.advance(1)
      t.same(updates.progress.fields, { state: 'downloading', failed: false, progress: percent })
    }
  })

  t.test('ends when a person cancels it, or the plugin stops', async (t) => {
    const { updates, clock, at_s, errors } = downloading(() => fails('cut off'))
    updates.fetch('https://example.org/x')
    await clock.advance(1_000)
    updates.progress.cancel()
    await clock.advance(60_000)
    t.same([at_s, errors.at(-1)], [[0], 'the update failed: it was cancelled'])
    const stopped = downloading(() => {
      stopped.stop.abort()
      fails('cut off')
    })
    stopped.updates.fetch('https://example.org/x')
    await stopped.clock.advance(60_000)
    t.same(stopped.at_s, [0])
    t.equal(stopped.updates.state, 'failed')
  })

  t.test('that is refused shows as failed, but not in place of one that runs, or of a trial', async (t) => {
    const { updates, errors, station } = downloading(() => fails('cut off'))
    station.onTrial = true
    t.throws(() => updates.fetch('ftp://x'), { code: 'RTK_ERR_FETCH_URL' })
    t.equal(updates.state, 'idle')
    t.throws(() => updates.fetch('https://example.org/x'), { message: /1\.0\.0 is on trial/ })
    station.onTrial = false
    t.throws(() => updates.fetch('ftp://x'), { code: 'RTK_ERR_FETCH_URL' })
    t.match([updates.state, errors.at(-1)], ['failed', /^the update was refused: /])
    updates.fetch('https://example.org/x')
    t.throws(() => updates.fetch('ftp://x'), { code: 'RTK_ERR_FETCH_URL' })
    t.equal(updates.state, 'downloading')
    t.throws(() => updates.fetch('https://example.org/x'), { message: /an update is running \(downloading, 0 %\)/ })
  })
})

t.test('what was installed is started a second later; where that fails, the next update may begin', async (t) => {
  for (const fails of [false, true]) {
    let restarts = 0
    const restart = async () => {
      restarts += 1
      if (fails) throw new Error('no rights')
    }
    const { updates, clock, errors, states } = updatesWith({ folders: () => ({ restart }) as never })
    updates.progress.show('verifying', 10)
    updates.progress.show('verifying', 20)
    updates.progress.show('verifying', 20)
    t.same([states, updates.progress.fields.progress, updates.running], [['verifying'], 20, 'a'])
    updates.restartSoon()
    t.throws(() => updates.progress.cancel(), { code: 'RTK_ERR_UNAVAILABLE' })
    await clock.advance(999)
    t.same([restarts, updates.progress.fields], [0, { state: 'rebooting', failed: false, progress: 100 }])
    await t.rejects(updates.install(bytesFrom()), { code: 'RTK_ERR_UPDATE_RUNNING' })
    await clock.advance(1)
    t.equal(restarts, 1)
    t.same(updates.progress.fields, { state: fails ? 'failed' : 'rebooting', failed: fails, progress: fails ? 0 : 100 })
    if (fails) {
      t.same(errors, ['the installed version was not started: no rights; restart the machine'])
      await t.rejects(updates.install(bytesFrom()), { message: /ends before/ })
    }
  }
  t.equal(bytesOf(2), 2_097_152)
})

/** An image as it is sent. */
async function* bytesFrom(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

t.test('a bundle of another format', async (t) => {
  const asked = (
    folder: string,
    ends: () => Promise<{ lost?: string }> = async () => ({}),
    download: UpdatesDeps['download'] = () => t.fail() as never,
  ) => {
    const files: string[] = []
    const installer = {
      async install(file: string, { begin, progress }: Parameters<BundleInstaller['install']>[1]) {
        files.push(readFileSync(file, 'utf8'))
        if (files[0] === 'unknown') throw new Error('its signature is not known')
        await begin({ version: '2.0.0', slot: 'b' })
        progress(40)
        shown.push(rig.updates.progress.fields.progress)
        return ends()
      },
      restart: async () => {},
    }
    const shown: number[] = []
    const rig = updatesWith({ bundles: () => installer as unknown as BundleInstaller, folder: () => folder, download })
    return { ...rig, files, shown }
  }
  const begun = [
    'begin',
    { version: '2.0.0' },
    { from: '1.0.0', slot: 'b', before: { rtcm: true, broker: false }, boot: 'boot' },
  ]

  t.test('is kept in a file, installed by its own program, and started', async (t) => {
    const folder = scratch(t)
    const { updates, did, files, shown } = asked(folder)
    t.same(await updates.install(bytesFrom('bun', 'dle')), { version: '2.0.0' })
    t.same([files, did, shown], [['bundle'], [begun, 'settings', 'installed'], [40]])
    t.same(updates.progress.fields, { state: 'rebooting', failed: false, progress: 100 })
    t.same(readdirSync(folder), [], 'nothing stays behind')
  })

  t.test('that fails is over, unless nobody knows how it ended', async (t) => {
    for (const [content, ends, ended, text] of [
      ['bundle', () => Promise.reject(new Error('no room')), ['end'], /no room/],
      ['bundle', async () => ({ lost: 'lost from sight' }), [], /lost from sight/],
      ['unknown', undefined, undefined, /signature is not known/],
      ['', undefined, undefined, /the upload is empty: a bundle is required/],
      ['x'.repeat(1_001), undefined, undefined, /larger than the 1000 bytes/],
      ['{"image": 1}\n', undefined, undefined, /^(?!.*bundle)/],
    ] as const) {
      const folder = scratch(t)
      const { updates, did, errors } = asked(folder, ends)
      await t.rejects(updates.install(bytesFrom(content)), { message: text }, content.slice(0, 9))
      t.same(did, ended ? [begun, 'settings', ...ended] : [], content.slice(0, 9))
      t.match([updates.state, errors.at(-1)], ['failed', text])
      t.same(readdirSync(folder), [])
      t.throws(() => updates.progress.cancel(), { code: 'RTK_ERR_UNAVAILABLE' })
    }
  })

  t.test('that a person cancels, or that outlives the plugin, is not installed', async (t) => {
    for (const [how, code] of [
      ['cancelled', 'RTK_ERR_ABORTED'],
      ['stopped', 'RTK_ERR_UNAVAILABLE'],
    ] as const) {
      const { updates, did, stop } = asked(scratch(t))
      const pieces = async function* () {
        yield Buffer.from('b')
        if (how === 'cancelled') updates.progress.cancel()
        else stop.abort()
        yield Buffer.from('undle')
      }
      await t.rejects(updates.install(pieces()), { code }, how)
      t.same(did, [], how)
    }
  })

  t.test('of a download is installed where it lies', async (t) => {
    const file = join(scratch(t), 'image')
    writeFileSync(file, 'bundle')
    let discarded = 0
    const download = { file, attempt: async () => {}, discard: async () => void discarded++ }
    const folder = scratch(t)
    const { updates, files, states } = asked(folder, undefined, () => download as never)
    updates.fetch('https://example.org/x')
    await until(() => discarded > 0, 'the end')
    t.same([files, updates.state, readdirSync(folder)], [['bundle'], 'rebooting', []])
    t.same(states, ['downloading', 'verifying', 'installing', 'rebooting'])
  })
})

t.test('an uploaded image', async (t) => {
  t.test('is unpacked into the other slot, put on trial, answered, and then started', async (t) => {
    const { station, store, post, root, state, update, files } = await otaStation(t)
    t.strictSame(update(), { state: 'idle', failed: false, progress: 0 })
    t.equal(station.field('esp.partition'), 'a')
    const { status, json } = await post(await bundleImage(t, '2.0.0'))
    t.equal(status, 200)
    t.strictSame(json(), { result: 'ok', version: '2.0.0' })
    t.equal(state(), 'good=a trial=b tries=0 back=')
    t.match(store, { copies: 1 }, 'the settings are kept for this version')
    t.strictSame(files('b'), ['b/node_modules/native/build.node', 'b/package.json', 'b/rtk-base.mjs', 'b/SHA256SUMS'])
    t.ok(isWhole(join(root, 'b')))
    t.strictSame(update(), { state: 'rebooting', failed: false, progress: 100 })
    t.equal(station.field('base.state.base'), 'updating')
    t.equal(station.restarts(), 0, 'the answer goes out first')
    await station.clock.advance(1_000)
    t.equal(station.restarts(), 1)
    t.match(
      await post(await bundleImage(t, '2.0.1')),
      { status: 409, text: /an update is running/ },
      'nothing comes between',
    )
  })

  t.test('is taken by every name that begins with esp, by both routes, chunked or not', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    for (const [path, chunked] of [
      ['/firmware?esp32', false],
      ['/update-firmware?esp-s3=', true],
    ] as const) {
      const { station } = await otaStation(t)
      const body = chunked ? new ReadableStream({ start: (to) => void [to.enqueue(image), to.close()] }) : image
      t.match(await station.request(path, { method: 'POST', body, duplex: 'half' } as RequestInit), { status: 200 })
    }
  })

  t.test('goes to a slot that neither runs nor is the good one', async (t) => {
    for (const [running, before, after] of [
      ['f', '', 'good=f trial=a tries=0 back='],
      ['f', 'good=a\ntrial=\ntries=0\nback=\n', 'good=a trial=b tries=0 back='],
      ['b', 'good=b\ntrial=\ntries=0\nback=a\n', 'good=b trial=a tries=0 back='],
      ['b', 'good=a\ntrial=\ntries=0\nback=\n', 'good=b trial=a tries=0 back='],
      ['a', 'gar\0bled\ngood=z\ntries=77', 'good=a trial=b tries=0 back='],
    ] as const) {
      const root = scratch(t)
      if (before) writeFileSync(join(root, 'state'), before)
      const { post, state } = await otaStation(t, { root, running })
      t.match(await post(await bundleImage(t, '2.0.0')), { status: 200 })
      t.equal(state(), after)
    }
  })

  t.test('one at a time: another is 409, a command 503, and neither disturbs the first', async (t) => {
    const { post, command, update, station } = await otaStation(t)
    const image = await bundleImage(t, '2.0.0')
    let go = (_: Uint8Array) => {}
    let end = () => {}
    const slow = new ReadableStream<Uint8Array>({
      start(to) {
        go = (piece) => to.enqueue(piece)
        end = () => to.close()
      },
    })
    const first = post(slow)
    go(image.subarray(0, image.length - 10))
    await until(async () => update().state === 'installing', 'the first one')
    t.equal(station.field('base.state.base'), 'updating')
    t.match(await post(image), { status: 409, text: /an update is running \(installing, \d+ %\)/ })
    t.match(await command('firmware=https://example.org/x'), { status: 503, text: /an update is running/ })
    go(image.subarray(image.length - 10))
    end()
    t.match(await first, { status: 200 })
  })

  t.test('that the client does not finish is given up, and the next one is taken', async (t) => {
    const { post, update, station, files, state } = await otaStation(t)
    const image = await bundleImage(t, '2.0.0')
    const gone = new AbortController()
    const half = new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(image.subarray(0, image.length - 10)) })
    const sent = station.request('/firmware?esp', {
      method: 'POST',
      body: half,
      duplex: 'half',
      signal: gone.signal,
    } as RequestInit)
    await until(async () => update().state === 'installing', 'the upload')
    gone.abort()
    await t.rejects(sent)
    await until(async () => update().failed, 'the failure')
    t.equal(files('b'), undefined)
    t.equal(state(), 'good=a trial= tries=0 back=')
    t.match(await post(image), { status: 200 })
    t.equal(update().failed, false)
  })
})

t.test('what is not for this station is refused with the reason, and the disk is as before', async (t) => {
  const other = generateKeys()
  const rig = await otaStation(t, { ota: { limit_mb: 1 } })
  const { post, update, reasons, station } = rig
  const refused = async (body: RequestInit['body'], status: number, reason: RegExp) => {
    const before = readdirSync(rig.root)
    const answer = await post(body)
    t.match(answer, { status, text: reason }, String(reason))
    t.match(update(), { state: 'failed', failed: true })
    t.match(reasons(), reason)
    t.strictSame(readdirSync(rig.root), before, 'nothing written')
    t.equal(rig.files('b'), undefined)
    t.not(station.field('base.state.base'), 'updating')
  }
  await refused(
    await bundleImage(t, '2.0.0', { hardware: ['zed-f9p', 'other'] }),
    422,
    /for the hardware zed-f9p, other, and this is test/,
  )
  await refused(
    await bundleImage(t, '2.0.0', { name: 'roof', replaces: ['hill'] }),
    422,
    /for the variant roof, hill, and this is test/,
  )
  await refused(
    await bundleImage(t, '0.9.9'),
    422,
    /the running version 1\.0\.0 is newer, and the image does not allow a downgrade/,
  )
  const foreign = process.arch === 'arm64' ? 'linux-x64' : 'linux-arm64'
  await refused(await bundleImage(t, '2.0.0', { arch: foreign }), 422, new RegExp(`for ${foreign}, and this is linux-`))
  await refused(await bundleImage(t, '2.0.0', {}, readPrivateKey(other.privatePem)), 422, /not signed by a key/)
  await refused('', 422, /ends before its payload/)
  await refused('{"image": true}\n', 422, /not valid/)
  await refused(Buffer.alloc(3_000_000), 422, /does not begin with a manifest/)
  await refused(
    await imageOf(t, { 'x.bin': 'x'.repeat(5_000_000) }),
    413,
    /unpacks 5000000 bytes, more than the 4194304/,
  )
  const incompressible = randomBytes(1_500_000).toString('hex')
  await refused(await imageOf(t, { 'x.bin': incompressible }), 413, /more than the 1048576 that are allowed/)
  t.match(await post(await bundleImage(t, '2.0.0')), { status: 200 }, 'a good one is taken after all of that')
  for (const facts of [
    { name: 'roof', replaces: ['hill', 'test'] },
    { version: '1.0.0' },
    { version: '0.9.9', downgrade: true as const },
  ]) {
    const { post } = await otaStation(t)
    t.match(await post(await bundleImage(t, '2.0.0', facts)), { status: 200 }, JSON.stringify(facts))
  }
  const own = await otaStation(t, { variant: { name: 'hill' }, bundle: 'test' })
  t.match(
    await own.post(await bundleImage(t, '2.0.0')),
    { status: 200 },
    'a variant of the person’s own in this bundle',
  )

  t.test('with a slot that was begun: truncated, changed, longer', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    const changed = Buffer.from(image)
    changed[image.length - 40] ^= 4
    for (const bad of [image.subarray(0, -1), changed, Buffer.concat([image, Buffer.from([0])])]) {
      const { post, files, state } = await otaStation(t)
      t.match(await post(bad), { status: 422 })
      t.equal(files('b'), undefined)
      t.equal(state(), 'good=a trial= tries=0 back=')
    }
  })

  t.test('10 GB of zeros, announced or not: the answer comes long before their end', async (t) => {
    let sent = 0
    const zeros = () =>
      new ReadableStream<Uint8Array>({
        pull(to) {
          sent += 65_536
          if (sent > 10_000_000_000) to.close()
          else to.enqueue(new Uint8Array(65_536))
        },
      })
    const { post, files } = await otaStation(t)
    // The answer, or the connection that is closed behind it.
    const answer = await post(zeros()).catch(() => ({ status: 422, text: 'does not begin with a manifest' }))
    t.match(answer, { status: 422, text: /does not begin with a manifest/ })
    t.ok(sent < 200_000_000, `${sent} bytes`)
    t.equal(files('b'), undefined)
  })

  t.test('a disk without room: 503, and the running slot is untouched', async (t) => {
    const { Slots } = await import('../../../../plugins/device/ota/slots/index.js')
    const root = scratch(t)
    const slots = new Slots({ root, running: 'a', restart() {}, free: async () => 8 * 1_048_576 + 4_096 })
    const manifest = { files: [{ path: 'x', size: 5_000, sha256: '' }] } as unknown as ImageManifest
    await t.rejects(slots.prepare(manifest), {
      code: 'RTK_ERR_UNAVAILABLE',
      message: /needs 8396800 bytes on the disk, and 8392704 can be had/,
    })
    mkdirSync(join(root, 'b'))
    writeFileSync(join(root, 'b', 'old'), 'x'.repeat(4_096))
    t.match(await slots.prepare(manifest), { slot: 'b' }, 'the slot that goes counts as room')
  })

  t.test('without slots, without keys, without the plugin', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    const noSlots = await otaStation(t, { slots: undefined as never })
    t.match(await noSlots.post(image), { status: 503, text: /not started from slots.*install the Debian package/ })
    const noKeys = await otaStation(t, { ota: { keys: [] } })
    t.match(await noKeys.post(image), { status: 422, text: /trusts no key: set ota\.keys/ })
    const badKeys = await otaStation(t, { ota: { keys: [maker.publicPem, '/not/there.pub', '-----BEGIN x'] } })
    t.match(await badKeys.post(image), { status: 200 })
    t.match(badKeys.reasons(), /\/not\/there\.pub: ENOENT.*a key: .*correct ota\.keys/)
    await noSlots.station.unload('ota')
    t.match(await noSlots.post(image), { status: 404, text: /plugin ota, which this station does not run/ })
    t.match(await noSlots.command('firmware=https://x.org/y'), { status: 404 })
  })
})

/** A server of images on this machine. */
async function server(t: Test, handler: RequestListener): Promise<string> {
  const http = createServer(handler).listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  t.teardown(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

t.test('an image behind a URL', { skip: gateOnly }, async (t) => {
  t.test('is fetched, installed and started; the URL is taken letter by letter', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    const asked: string[] = []
    const url = await server(t, (request, response) => {
      asked.push(request.url ?? '')
      response.end(image)
    })
    for (const command of ['firmware', 'ota-upgrade']) {
      const rig = await otaStation(t, {})
      const seen: string[] = []
      t.match(await rig.command(`${command}=${url}/a%20b+c?d=e&f=%2F`), { status: 200, text: 'update started\n' })
      await until(async () => {
        const { state } = rig.update()
        if (seen.at(-1) !== state) seen.push(state)
        return state === 'rebooting'
      }, 'the restart')
      t.equal(rig.state(), 'good=a trial=b tries=0 back=')
      const incoming = join(rig.station.data, 'files', 'ota', 'incoming')
      await until(async () => readdirSync(incoming).length === 0, 'nothing left of the download')
    }
    t.strictSame(asked, ['/a%20b+c?d=e&f=%2F', '/a%20b+c?d=e&f=%2F'])
  })

  t.test('is https or http; what is refused shows in base.update and says why', async (t) => {
    const rig = await otaStation(t)
    for (const url of ['ftp://example.org/x', 'not a url', 'https://exa mple.org/', '']) {
      t.match(await rig.command(`firmware=${url}`), { status: 400 }, url)
      t.strictSame(rig.update(), { state: 'failed', failed: true, progress: 0 })
      t.match(rig.reasons(), /the update was refused: /)
    }
    for (const url of ['ftp://bob:s3cret@host/x?key=s3cret', 'https://bob:s3cret@exa mple.org/']) {
      t.notMatch((await rig.command(`firmware=${url}`)).text, 's3cret')
      t.match(rig.reasons(), /"(ftp|https):\/\/…@(host|exa)/)
      t.notMatch(JSON.stringify([rig.reasons(), rig.station.lines]), 's3cret')
    }
    const image = await bundleImage(t, '2.0.0')
    const url = await server(t, (_request, response) => response.end(image))
    t.match(await rig.command(`firmware=${url}`), { status: 200 })
    await until(() => rig.update().state === 'rebooting', 'fetched by http')
    t.equal(rig.reasons(), '')
  })

  t.test('by https: from an authority of its own, over redirects that stay on https', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    const authority = createAuthority(scratch(t))
    const { cert, key } = authority.issue('server', '/CN=localhost', 'subjectAltName=IP:127.0.0.1')
    const plain = await server(t, (_request, response) => response.end(image))
    const secure = createSecure({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
      const left = Number(/^\/redirect\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0)
      const location = request.url === '/out' ? `${plain}/image` : left > 0 ? `/redirect/${left - 1}` : undefined
      if (location) response.writeHead(302, { location }).end()
      else response.end(image)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => secure.once('listening', resolve))
    t.teardown(() => {
      secure.closeAllConnections()
      secure.close()
    })
    const base = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`
    const outcome = async (path: string, options: Record<string, unknown> = { ca: authority.ca }) => {
      const rig = await otaStation(t, { ota: options })
      t.match(await rig.command(`firmware=${base}${path}`), { status: 200 })
      await until(async () => ['rebooting', 'failed'].includes(rig.update().state), path)
      return rig.reasons() || rig.update().state
    }
    t.equal(await outcome('/image'), 'rebooting')
    t.equal(await outcome('/image', { ca: readFileSync(authority.ca, 'utf8') }), 'rebooting')
    t.equal(await outcome('/redirect/5'), 'rebooting')
    t.match(await outcome('/redirect/6'), /more than 5 redirects/)
    t.match(await outcome('/out', { ca: authority.ca }), /leads out of https, refused/)
    t.match(await outcome('/image', {}), /certificate/)
    t.match(await outcome('/image', { ca: '/not/there.pem' }), /ENOENT/)
    await t.rejects(otaStation(t, { ota: { insecure: true } }), /insecure/, 'P11: nothing switches the check off')
  })

  const etag = '"one"'
  /** Asks only when no work is open, as the clock advances only then: no poll is slower than the clock. */
  const whenWorked = async (condition: () => boolean) => {
    do await settled()
    while (!condition())
  }
  /** Sends a part of at most so many bytes, and cuts the connection when the client has stored it. */
  const breaking =
    (image: Buffer, most: number, folder: string, log: string[] = []): RequestListener =>
    (request, response) => {
      const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')
      const start = range && request.headers['if-range'] === etag ? Number(range[1]) : 0
      log.push(`${range?.[1] ?? '-'}>${start}`)
      const end = Math.min(start + most, image.length)
      const head = { etag, 'content-length': image.length - start }
      if (start === 0) response.writeHead(200, head)
      else response.writeHead(206, { ...head, 'content-range': `bytes ${start}-${image.length - 1}/${image.length}` })
      if (end === image.length) return response.end(image.subarray(start))
      response.write(image.subarray(start, end))
      const isStored = () => statSync(join(folder, 'image'), { throwIfNoEntry: false })?.size === end
      void whenWorked(isStored).then(() => response.socket?.destroy())
    }
  const incomingOf = (data: string) => join(data, 'files', 'ota', 'incoming')

  t.test('goes on where the link broke, also after a restart of the service', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    const log: string[] = []
    const data = scratch(t)
    const url = await server(t, breaking(image, Math.ceil(image.length / 5), incomingOf(data), log))
    const first = await otaStation(t, { data })
    await first.command(`firmware=${url}/image`)
    const received = () => log.length
    await until(
      async () => received() === 1 && first.station.lines.some(({ msg }) => /the download stopped/.test(msg)),
      'the first break',
    )
    t.equal(first.update().state, 'downloading')
    await first.station.stop()
    const second = await otaStation(t, { data })
    await second.command(`firmware=${url}/image`)
    await drive(second.station.clock, () => second.update().state === 'rebooting', 'the end')
    t.ok(log.length >= 5, log.join(' '))
    t.equal(log[0], '->0')
    t.ok(
      log.slice(1).every((entry) => /^(\d+)>\1$/.test(entry)),
      'every later request goes on',
    )
  })

  t.test('begins again where the content is another one, has no strong ETag, or the range is another', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    for (const [what, answer] of [
      ['another content: 200', { etag: '"two"', honest: true }],
      ['weak', { etag: 'W/"one"', honest: true }],
      ['none', { etag: undefined, honest: true }],
      ['416', { etag, honest: false, status: 416 }],
      ['another range', { etag, honest: false, status: 206 }],
    ] as const) {
      let count = 0
      const url = await server(t, (request, response) => {
        count++
        if (answer.etag) response.setHeader('etag', count === 1 && answer.etag === '"two"' ? '"one"' : answer.etag)
        if (count === 1) {
          response.writeHead(200, { 'content-length': image.length })
          response.write(image.subarray(0, 100), () => response.socket?.destroy())
        } else if (!answer.honest && request.headers.range) {
          if (answer.status === 206) response.setHeader('content-range', `bytes 0-${image.length - 1}/${image.length}`)
          response.writeHead(answer.status)
          response.end(answer.status === 206 ? image : '')
        } else response.end(image)
      })
      const rig = await otaStation(t, {})
      await rig.command(`firmware=${url}/image`)
      await drive(rig.station.clock, () => ['rebooting', 'failed'].includes(rig.update().state), what)
      t.equal(rig.update().state, 'rebooting', `${what}: ${rig.reasons()}`)
    }
  })

  const storedIn = (data: string) => statSync(join(incomingOf(data), 'image'), { throwIfNoEntry: false })?.size ?? 0
  /** The link breaks when the station has stored so many bytes. */
  const breakAt = (response: ServerResponse, bytes: number, data: string) =>
    whenWorked(() => storedIn(data) >= bytes).then(() => response.socket?.destroy())

  t.test('a refusal of a range is not read, however long it is', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    const data = scratch(t)
    let refusal: 'none' | 'sent' | 'ended' = 'none'
    const url = await server(t, (request, response) => {
      response.setHeader('etag', etag)
      if (request.headers.range) {
        refusal = 'sent'
        response.on('close', () => {
          refusal = 'ended'
        })
        const more = () => response.write(Buffer.alloc(65_536), () => response.destroyed || setImmediate(more))
        response.writeHead(416)
        more()
      } else if (refusal === 'none') {
        response.writeHead(200, { 'content-length': image.length })
        response.write(image.subarray(0, 100))
        void breakAt(response, 100, data)
      } else response.end(image)
    })
    const rig = await otaStation(t, { data })
    await rig.command(`firmware=${url}/image`)
    await drive(rig.station.clock, () => rig.update().state === 'rebooting', 'the update')
    // Bounded: a connection whose answer nobody reads stays.
    await until(() => refusal === 'ended', 'its end').catch(() => {})
    t.equal(refusal, 'ended')
  })

  t.test('the progress of what is compressed on the way is unknown, and none is above 100 %', async (t) => {
    const packed = gzipSync(Buffer.alloc(1_000_000))
    for (const [path, progress] of [
      ['/packed', 0],
      ['/wrong-total', 100],
    ] as const) {
      const data = scratch(t)
      const url = await server(t, (request, response) => {
        response.setHeader('etag', etag)
        if (path === '/packed') {
          response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length })
          // All but its end, so that there is time to look.
          response.write(packed.subarray(0, -10))
        } else if (request.headers.range) {
          response.writeHead(206, { 'content-range': 'bytes 100-19999/150' })
          response.write(Buffer.alloc(10_000))
        } else {
          response.writeHead(200, { 'content-length': 20_000 })
          response.write(Buffer.alloc(100))
          void breakAt(response, 100, data)
        }
      })
      const rig = await otaStation(t, { data })
      await rig.command(`firmware=${url}${path}`)
      await drive(rig.station.clock, () => storedIn(data) >= 10_000, path, 100)
      t.strictSame(rig.update(), { state: 'downloading', failed: false, progress }, path)
    }
  })

  t.test(
    'one that is just fast enough, but breaks off again and again, has the time of its size',
    { skip: gateOnly },
    async (t) => {
      const size = 100 * leastWindow_bytes
      const data = scratch(t)
      const asked: (() => Promise<void>)[] = []
      const url = await server(t, (request, response) => {
        asked.push(async () => {
          const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
          const head = { etag, 'content-length': size - start }
          if (start === 0) response.writeHead(200, head)
          else response.writeHead(206, { ...head, 'content-range': `bytes ${start}-${size - 1}/${size}` })
          response.write(Buffer.alloc(1))
          await until(() => storedIn(data) > start, 'its first byte')
          await rig.station.clock.advance(40_000)
          response.write(Buffer.alloc(leastWindow_bytes - 1))
          await breakAt(response, start + leastWindow_bytes, data)
        })
      })
      const rig = await otaStation(t, { data })
      await rig.command(`firmware=${url}/image`)
      const { clock } = rig.station
      const isOver = () => rig.update().state === 'failed'
      while (!isOver() && clock.monotonic() < 2 * longest_ms(size)) {
        await drive(clock, () => asked.length > 0 || isOver(), 'the next attempt')
        if (!isOver()) await clock.advance(40_000)
        await asked.shift()?.()
      }
      t.ok(isOver(), 'it ends')
      t.ok(clock.monotonic() > longest_ms(size), 'not before')
      t.match(rig.reasons(), /cut the connection off/)
    },
  )

  t.test('asks a server again that is only busy: 429, 503', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    const busy = [429, 503]
    const url = await server(t, (_request, response) => {
      const status = busy.shift()
      if (status === undefined) response.end(image)
      else response.writeHead(status).end()
    })
    const rig = await otaStation(t, {})
    await rig.command(`firmware=${url}/image`)
    await drive(rig.station.clock, () => ['rebooting', 'failed'].includes(rig.update().state), 'the end')
    t.equal(rig.update().state, 'rebooting', rig.reasons())
  })

  t.test(
    'fails with the reason: 404, redirects by http, too large without a length, silence, refused content',
    async (t) => {
      const image = await bundleImage(t, '2.0.0', { hardware: ['other'] })
      const url = await server(t, (request, response) => {
        if (request.url === '/404') return void response.writeHead(404).end()
        if (request.url === '/302') return void response.writeHead(302, { location: '/image' }).end()
        if (request.url === '/large') {
          const more = () => {
            while (response.write(Buffer.alloc(65_536)));
          }
          response.on('drain', more)
          return more()
        }
        response.end(image)
      })
      for (const [path, reason] of [
        ['/404', /answered 404/],
        ['/302', /answered 302/],
        ['/large', /more than the 1048576 bytes|more than \d+ bytes/],
        ['/image', /for the hardware other/],
      ] as const) {
        const data = scratch(t)
        const rig = await otaStation(t, { ota: { limit_mb: 1 }, data })
        await rig.command(`firmware=${url}${path}`)
        await drive(rig.station.clock, () => rig.update().state === 'failed', path, 10_000)
        t.match(rig.reasons(), reason, path)
        t.equal(rig.state(), '')
        t.notOk(existsSync(join(incomingOf(data), 'image')), `${path}: nothing stays on the disk`)
      }
    },
  )

  t.test('gives up after the eighth attempt without a byte, and keeps what it has', async (t) => {
    const image = await bundleImage(t, '2.0.0')
    let count = 0
    const data = scratch(t)
    const breaks = breaking(image, 50, incomingOf(data))
    const url = await server(t, (request, response) =>
      count++ === 0 ? breaks(request, response) : void response.socket?.destroy(),
    )
    const rig = await otaStation(t, { data })
    await rig.command(`firmware=${url}/image`)
    await drive(rig.station.clock, () => rig.update().state === 'failed', 'the end', 5_000)
    t.equal(count, 8)
    t.ok(existsSync(join(incomingOf(data), 'image.meta')))
  })
})

t.test('is there a newer version', async (t) => {
  const made_s = 1_764_720_000
  /** A station whose address has this image; the server notes which bytes were asked for. */
  async function checking(t: Test, image: Buffer, { ranges = true, version = '1.0.0' } = {}) {
    const asked: string[] = []
    let sent = 0
    const url = await server(t, (request, response) => {
      asked.push(request.headers.range ?? '')
      const [, end = ''] = /^bytes=0-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const part = ranges ? image.subarray(0, Number(end) + 1) : image
      sent += part.length
      const length = { 'content-length': part.length, 'last-modified': new Date(made_s * 1_000).toUTCString() }
      response.writeHead(ranges ? 206 : 200, length).end(part)
    })
    const rig = await otaStation(t, { version })
    const set = (address: string) => rig.station.station.change({ 'update-url': address }, { source: 'http' })
    const check = () => rig.station.request('/check-update', { method: 'POST' })
    return { ...rig, asked, sent: () => sent, url, set, check }
  }

  t.test('is answered from the signed head alone, and nothing is installed', async (t) => {
    for (const ranges of [true, false]) {
      const rig = await checking(t, await bundleImage(t, '2.0.0'), { ranges })
      t.match(await rig.check(), { status: 503, text: /no address for updates is set/ })
      t.strictSame(rig.asked, [], 'without an address nobody is asked')
      t.match(await rig.set(`${rig.url}/newest.img`), { result: 'ok' })
      t.strictSame(rig.asked, [], 'only a person asks')
      const { status, text } = await rig.check()
      t.equal(status, 200)
      t.strictSame(JSON.parse(text), {
        version: '2.0.0',
        running: '1.0.0',
        isNewer: true,
        date: made_s,
        url: `${rig.url}/newest.img`,
      })
      t.strictSame(rig.asked, ['bytes=0-1048703'])
      t.equal(rig.files('b'), undefined)
      t.strictSame(rig.update(), { state: 'idle', failed: false, progress: 0 })
    }
  })

  t.test('no: the same or an older one is not newer', async (t) => {
    for (const version of ['2.0.0', '2.0.1']) {
      const rig = await checking(t, await bundleImage(t, '2.0.0'), { version })
      await rig.set(rig.url)
      t.match(JSON.parse((await rig.check()).text), { version: '2.0.0', running: version, isNewer: false })
    }
  })

  t.test(
    'an image of another maker, of other hardware, a plugin or anything else is refused with the reason',
    async (t) => {
      const foreign = readPrivateKey(generateKeys().privatePem)
      const cases: [Buffer, RegExp][] = [
        [await bundleImage(t, '2.0.0', {}, foreign), /not signed by a key that this device trusts/],
        [await bundleImage(t, '2.0.0', { hardware: ['other'] }), /for the hardware other/],
        [await imageOf(t, { 'index.mjs': '' }, { type: 'plugin', name: 'mast' }), /the plugin mast/],
        [Buffer.from('<html>not found</html>\n\n\n'), /not a signature/],
        [Buffer.alloc(2_000_000, 'x'), /does not begin with a manifest/],
      ]
      for (const [image, text] of cases) {
        const rig = await checking(t, image)
        await rig.set(rig.url)
        t.match(await rig.check(), { status: 422, text })
        t.strictSame(rig.update(), { state: 'idle', failed: false, progress: 0 }, 'no update has failed')
      }
    },
  )

  t.test('a server that is not there or refuses, and an address that is none', async (t) => {
    const rig = await checking(t, Buffer.alloc(0))
    for (const bad of ['ftp://example.org/x', 'example.org', 'https://exa mple.org/'])
      t.match(await rig.set(bad), { result: 'failed' }, bad)
    const none = await server(t, (_request, response) => response.writeHead(404).end())
    await rig.set(none)
    t.match(await rig.check(), { status: 502, text: /answered 404/ })
  })
})

t.test('an upload holds nothing before its signed head is verified', async (t) => {
  /** A body that comes piece by piece, until its end. */
  const slowly = () => {
    let push = (_: Uint8Array | undefined) => {}
    const body = new ReadableStream<Uint8Array>({
      start(to) {
        push = (piece) => (piece ? to.enqueue(piece) : to.close())
      },
    })
    return { body, push: (piece: Uint8Array) => push(piece), end: () => push(undefined) }
  }
  const image = await bundleImage(t, '2.0.0')
  const head = image.indexOf(10, image.indexOf(10) + 1) + 1

  t.test('one byte of somebody else neither shows nor hinders, and ends after 10 s', async (t) => {
    const rig = await otaStation(t)
    const idle = slowly()
    let isOver = false
    const ended = rig.post(idle.body).finally(() => {
      isOver = true
    })
    idle.push(image.subarray(0, 1))
    t.not(rig.station.field('base.state.base'), 'updating')
    t.strictSame(rig.update(), { state: 'idle', failed: false, progress: 0 })
    t.match(await rig.post(image), { status: 200 })
    await drive(rig.station.clock, () => isOver, 'its end', 500)
    t.ok(rig.station.clock.monotonic() < 30_000, 'long before a payload would have to')
    t.match(await ended, { status: 408, text: /its signed head did not come within 10 s/ })
    t.match(rig.update(), { state: 'rebooting', failed: false }, 'the other one is not touched by it')
    t.equal(rig.state(), 'good=a trial=b tries=0 back=')
  })

  t.test('then it has to come at 512 B/s, or ends and leaves nothing', async (t) => {
    const rig = await otaStation(t)
    const idle = slowly()
    const ended = rig.post(idle.body)
    idle.push(image.subarray(0, head + 10))
    await until(async () => rig.update().state === 'installing', 'the upload')
    t.match(await rig.post(image), { status: 409 }, 'it holds the update now')
    let isOver = false
    void ended.then(() => {
      isOver = true
    })
    let byte = head + 10
    const isEnded = () => {
      // A byte every 5 s is no upload.
      if (byte < head + 50) idle.push(image.subarray(byte, ++byte))
      return isOver
    }
    await drive(rig.station.clock, isEnded, 'its end', 5_000)
    t.match(await ended, { status: 408, text: /less than 30720 bytes came within 60 s/ })
    t.match(rig.update(), { state: 'failed', failed: true })
    t.equal(rig.files('b'), undefined)
    t.match(await rig.post(image), { status: 200 })
  })

  t.test('its progress is shown, and a person can end it', async (t) => {
    const rig = await otaStation(t)
    t.match(await rig.command('ota-cancel'), { status: 503, text: /no update is under way/ })
    const idle = slowly()
    const ended = rig.post(idle.body)
    const [half, whole] = [Math.floor((image.length - head) / 2), image.length - head]
    idle.push(image.subarray(0, head + half))
    await until(async () => rig.update().state === 'installing', 'the upload')
    await until(async () => rig.update().progress > 0, 'half of it')
    t.equal(rig.update().progress, Math.floor((100 * half) / whole))
    t.match(await rig.command('ota-cancel'), { status: 200, text: /cancelled/ })
    idle.push(image.subarray(head + half, head + half + 10))
    t.match(await ended, { text: /it was cancelled/ })
    t.match(rig.update(), { state: 'failed' })
    t.match(await rig.post(image), { status: 200 })
  })
})

t.test('what an earlier life of the plugin began does not touch what the next one committed', async (t) => {
  const root = scratch(t)
  const slots = () => new Slots({ root, running: 'a', restart() {} })
  const image = { files: [] } as unknown as ImageManifest
  const [old, next] = [slots(), slots()]
  await old.prepare(image)
  await next.prepare(image)
  await next.commit(image)
  await old.abandon()
  t.ok(existsSync(join(root, 'b', 'SHA256SUMS')))
  await next.confirm()
  const third = slots()
  await third.prepare(image)
  await third.abandon()
  t.notOk(existsSync(join(root, 'b')), 'its own is removed')
})

t.test('a reload of the plugin', async (t) => {
  t.test('ends an update that runs, and makes the restart that was due', async (t) => {
    const rig = await otaStation(t)
    const image = await bundleImage(t, '2.0.0')
    let push = (_: Uint8Array) => {}
    const half = new ReadableStream<Uint8Array>({
      start(to) {
        push = (piece) => to.enqueue(piece)
      },
    })
    const sent = rig.post(half)
    push(image.subarray(0, image.length - 20))
    await until(async () => rig.update().state === 'installing', 'the upload')
    await rig.station.reload('ota')
    push(image.subarray(image.length - 20))
    t.match((await sent).status, 503)
    t.equal(rig.files('b'), undefined)
    t.match(await rig.post(image), { status: 200 })
    await rig.station.reload('ota')
    t.equal(rig.update().state, 'rebooting')
    await rig.station.clock.advance(1_000)
    t.equal(rig.station.restarts(), 1)
    t.equal(rig.reasons(), '')
  })

  t.test('the service that surfaces use is provided', async (t) => {
    let found: unknown
    const user = definePlugin({
      name: 'user',
      version: '1.0.0',
      api: '^1.0.0',
      setup: () => {},
      start: (ctx) => {
        found = ctx.services.find(firmwareInstaller)?.state
      },
    })
    await otaStation(t, { plugins: { user } })
    t.equal(found, 'idle')
  })
})
