/**
 * A station whose disk fails at any of its writes: it starts or keeps running, says what is wrong for as long as it is, and what it said to
 * be stored is there afterwards.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { sample } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import alerts from '../../plugins/device/alerts/index.js'
import logPlugin from '../../plugins/device/log/index.js'
import record from '../../plugins/device/record/index.js'
import httpApi from '../../plugins/page/http-api/index.js'
import raw from '../../plugins/reference/raw/index.js'
import { openStore, type Store } from '../../runtime/platform/store/store.js'
import { definePlugin } from '../../runtime/plugin.js'
import { alertSource } from '../../schemas/services.js'
import { settled } from '../harness/drive.js'
import { FailingDisk, type Failure } from '../harness/failing-disk.js'
import type { MemoryStore } from '../harness/memory-store.js'
import { alert } from '../plugins/device/alerts/alerts-rig.js'
import { bundleImage, otaStation } from '../plugins/device/ota/rig.js'
import { setUp } from '../plugins/receivers/simulator-rig.js'

const silent = pino({ level: 'silent' })
const codes = ['ENOSPC', 'EIO', 'EROFS'] as const
const namespace = 'config'

function scratch(): string {
  return mkdtempSync(join(tmpdir(), 'rtk-base-failing-'))
}

/** An alert from the start on. */
const alarmed = definePlugin({
  name: 'alarmed',
  version: '1.0.0',
  api: '^1.0.0',
  provides: [alertSource],
  setup(ctx) {
    const { on } = ctx.event<void>()
    ctx.services.provide(alertSource, { active: () => [alert('TEST0001', 'moved')], onChange: on })
  },
})

const isOk = (answer: object) => (answer as { result?: string }).result === 'ok'

/** Each write once; a code and a duration for it. */
function* failures(writes: number, step: number): Generator<Failure> {
  for (let at = 1; at <= writes; at += step) {
    const code = codes[at % codes.length] ?? 'EIO'
    yield at % 2 === 0 ? { at, code, count: 1 } : { at, code }
  }
}

/** A start, a change, an alert and a recording on a disk that fails; then the same data on one that works. */
async function life(t: Test, failure?: Failure) {
  const data = scratch()
  const seed = await openStore(join(data, 'store'), silent)
  await seed.batch([{ namespace, key: 'raw-marker', value: 'before' }])
  await seed.close()
  const failing = new FailingDisk(data, failure)
  let store: Store | undefined
  try {
    store = await openStore(join(data, 'store'), silent)
    const plugins = { alerts, alarmed, 'http-api': httpApi, log: logPlugin, raw, record }
    const rig = await setUp(t, { store: store as unknown as MemoryStore, plugins, data })
    const answer = await rig.change({ 'raw-en': 1, 'raw-marker': 'after' })
    for (let minute = 0; minute < 3; minute++) {
      await rig.seconds(30)
      await settled()
    }
    const running = failing.writes.length
    const errors = rig.station.device.errors().map(({ code }) => code)
    const sent = rig.sent.length
    const later = await rig.change({ 'raw-marker': 'later' })
    const left = rig.station.device.errors().map(({ code }) => code)
    await rig.station.stop()
    await settled()
    failing.restore()
    const again = await openStore(join(data, 'store'), silent)
    const marker = await again.get(namespace, 'raw-marker')
    await again.close()
    return { writes: failing.writes, running, answer, errors, sent, later, left, marker }
  } finally {
    failing.restore()
    await store?.close().catch(() => {})
    rmSync(data, { recursive: true, force: true })
  }
}

t.test(
  'a station starts and runs on a disk that fails at any write, and loses nothing that it said to be stored',
  async (t) => {
    const whole = await life(t)
    t.match(whole, { answer: { result: 'ok' }, later: { result: 'ok' }, marker: 'later', errors: [], left: [] })
    t.ok(whole.writes.length > 60, `${whole.writes.length} writes`)
    for (const failure of failures(whole.writes.length, sample(23, 1, 7))) {
      const { answer, errors, later, left, marker, sent, writes } = await life(t, failure)
      const what = `${JSON.stringify(failure)}: ${writes[failure.at - 1]}`
      t.equal(sent, whole.sent, `${what}: RTCM flows`)
      const said = isOk(later) ? 'later' : isOk(answer) ? 'after' : 'before'
      // The file is in place, and the disk does not let it be taken back.
      const isStuck = failure.count === undefined && writes[failure.at - 1] === 'sync /store'
      if (!isStuck) t.equal(marker, said, `${what}: as it was said`)
      if (failure.count === undefined && failure.at < whole.running / 2)
        t.not(errors.length, 0, `${what}: a standing error says it`)
      if (isOk(later)) t.notOk(left.includes('store-unwritable'), `${what}: an error that is over is gone`)
    }
  },
)

/** An image is uploaded; the slot that runs is a. */
async function upload(t: Test, image: Uint8Array, failure?: Failure) {
  const folder = scratch()
  const [root, data] = [join(folder, 'root'), join(folder, 'data')]
  for (const path of [join(root, 'a'), data]) mkdirSync(path, { recursive: true })
  writeFileSync(join(root, 'a', 'rtk-base.mjs'), 'running')
  writeFileSync(join(root, 'state'), 'good=a\ntrial=\ntries=0\nback=\n')
  const failing = new FailingDisk(folder, failure)
  try {
    const rig = await otaStation(t, { root, data })
    const { status } = await rig.post(image)
    await settled()
    const update = rig.update()
    await rig.station.stop()
    return {
      writes: failing.writes,
      status,
      update,
      state: rig.state(),
      running: rig.files('a'),
      other: rig.files('b'),
    }
  } finally {
    failing.restore()
    rmSync(folder, { recursive: true, force: true })
  }
}

t.test('an upload that the disk cuts off at any write leaves the version that runs', async (t) => {
  const image = await bundleImage(t, '2.0.0')
  const whole = await upload(t, image)
  t.match(whole, { status: 200, state: /trial=b/ })
  t.ok(whole.writes.length > 10, `${whole.writes.length} writes`)
  for (const failure of failures(whole.writes.length, sample(5, 1, 2))) {
    const { other, running, state, status, update, writes } = await upload(t, image, failure)
    const what = `${JSON.stringify(failure)}: ${writes[failure.at - 1]}`
    t.strictSame(running, ['a/rtk-base.mjs'], `${what}: it runs`)
    if (/trial=b/.test(state)) t.strictSame(other, whole.other, `${what}: what is tried is whole`)
    else t.match(state, /^good=a trial= /, `${what}: nothing is tried`)
    if (status !== 200) t.match(update, { state: 'failed', failed: true }, `${what}: it is told`)
  }
})
