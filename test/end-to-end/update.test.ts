/** A simulator that is updated: the launcher, the slots and the processes are those of a device. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  freeTcpPort,
  gateOnly,
  ownPorts,
  readyBase,
  rtkBase,
  type StationProcess,
  startStation,
  until,
} from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { readPrivateKey } from '../../runtime/lib/image/keys.js'
import { packImage } from '../../runtime/lib/image/pack.js'
import { fromSlots } from '../harness/slots.js'

t.setTimeout(900_000)
const skip = process.platform === 'linux' ? false : 'the launcher needs Linux'
const folder = mkdtempSync(join(tmpdir(), 'rtk-base-update-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string) => join(folder, name)

interface Seen {
  esp: { version: string; partition: string }
  base: {
    update: { state: string; failed: boolean }
    state: { base: string; errors: { code: string; text: string }[] }
  }
}

/** A station whose address stays the same over its restarts. */
async function start(
  t: Test,
  entry: string,
  data: string,
  more: string[] = [],
): Promise<StationProcess & { seen(): Promise<Seen | undefined> }> {
  const port = await freeTcpPort()
  const { args } = await ownPorts()
  const set = ['--set', `http.port=${port}`, '--set', 'ota.healthy_s=2', ...readyBase, ...more]
  const station = await startStation([...args, ...set], { ...fromSlots(entry), data })
  t.teardown(() => station.end())
  // Between two runs nobody answers, and at the start of one the document is empty.
  return {
    ...station,
    seen: async () => {
      const document = await station.info<Partial<Seen>>().catch(() => ({}) as Partial<Seen>)
      return document.esp && document.base?.update && document.base.state ? (document as Seen) : undefined
    },
  }
}

async function send(station: StationProcess, image: string) {
  const answer = await fetch(`${station.url}/update-firmware?esp`, { method: 'POST', body: readFileSync(image) })
  return { status: answer.status, text: await answer.text() }
}

const stateOf = (data: string) =>
  readFileSync(join(data, 'slots', 'state'), 'utf8')
    .trim()
    .split('\n')
    .join(' ')

/** An image of a built folder in which the program begins with other code. */
async function spoiled(name: string, version: string, code: string): Promise<string> {
  const out = at(name)
  cpSync(at('next'), out, { recursive: true })
  writeFileSync(
    join(out, 'rtk-base.mjs'),
    `${code}\n${readFileSync(join(out, 'rtk-base.mjs'), 'utf8').replace(/^#!.*\n/, '')}`,
  )
  const facts = { type: 'bundle' as const, name: 'simulator', version, hardware: ['simulator'], arch: 'any' }
  await packImage(out, facts, readPrivateKey(readFileSync(at('maker.key'), 'utf8')), at(`${name}.img`))
  return at(`${name}.img`)
}

t.test('a simulator in slots', { skip: gateOnly || skip }, async (t) => {
  await rtkBase(['keys', at('maker')])
  for (const [name, release] of [
    ['first', '1.0.0'],
    ['next', '2.0.0'],
  ]) {
    const args = [
      'build',
      'simulator',
      '--out',
      at(name as string),
      '--release',
      release as string,
      '--sign',
      at('maker.key'),
    ]
    t.match(await rtkBase(args), { code: 0 })
  }
  const entry = join(at('first'), 'rtk-base.mjs')
  const data = at('data')

  await t.test('runs the new version, on trial at first, and keeps it', async (t) => {
    const station = await start(t, entry, data)
    t.match(await station.seen(), { esp: { version: '1.0.0', partition: 'f' } })
    await until(async () => (await station.seen())?.base.state.base === 'ready', 'RTCM')
    t.match(await send(station, at('next.img')), { status: 200, text: '{"result":"ok","version":"2.0.0"}' })
    await until(async () => (await station.seen())?.esp.version === '2.0.0', 'the new version')
    await until(async () => stateOf(data) === 'good=a trial= tries=0 back= previous=f', 'the confirmation')
    await until(async () => (await station.seen())?.base.update.state === 'idle', 'its report')
    t.match(await station.seen(), { esp: { partition: 'a' }, base: { update: { failed: false } } })
    await fetch(`${station.url}/system?reboot`, { method: 'POST' })
    await until(async () => station.output().split('variant simulator').length === 4, 'another start')
    t.match(await station.end(), { code: 0 })
    t.notMatch(
      spawnSync('pgrep', ['-fa', data], { encoding: 'utf8' }).stdout,
      'rtk-base.mjs',
      'nothing is left running',
    )
  })

  await t.test('starts it again next time, whichever version was called', async (t) => {
    const station = await start(t, entry, data)
    t.match(await station.seen(), { esp: { version: '2.0.0', partition: 'a' } })
    const before = await station.seen()
    t.match(before?.base.state.errors, [])
    // What runs the service is gone: the service notices.
    await station.end('SIGKILL')
    await until(
      async () => !spawnSync('pgrep', ['-fa', data], { encoding: 'utf8' }).stdout.includes('rtk-base.mjs'),
      'its end',
    )
  })

  const bad: [name: string, code: string, reason: RegExp, skip?: string | false][] = [
    ['crashes at start', 'process.exit(3)', /did not come up/],
    [
      'crashes later',
      'setTimeout(() => process.exit(3), 4_000)',
      /did not stay up: the process ended with exit code 3/,
    ],
  ]
  for (const [index, [what, code, reason, skip = false]] of bad.entries()) {
    await t.test(`one that ${what} is given up by itself, and the one before reports why`, { skip }, async (t) => {
      const image = await spoiled(`bad${index}`, `3.0.${index}`, code)
      const station = await start(t, entry, data, ['--set', 'ota.healthy_s=60'])
      t.match(await send(station, image), { status: 200 })
      await until(async () => (await station.seen())?.base.update.failed === true, 'the report')
      const seen = await station.seen()
      t.match(seen, { esp: { version: '2.0.0', partition: 'a' }, base: { update: { state: 'failed', failed: true } } })
      const error = seen?.base.state.errors.find(({ code }) => code === 'update-failed')
      t.match(
        error?.text,
        new RegExp(`update to 3\\.0\\.${index} was given up: .*${reason.source}.*; 2\\.0\\.0 runs again`),
      )
      t.equal(stateOf(data), 'good=a trial= tries=0 back= previous=f')
      await station.end()
    })
  }

  await t.test('one whose RTCM stops although it flowed gives itself up', { skip: gateOnly }, async (t) => {
    const out = at('silent')
    cpSync(at('next'), out, { recursive: true })
    const variant = join(out, 'runtime', 'variants', 'simulator.json')
    const { plugins, ...rest } = JSON.parse(readFileSync(variant, 'utf8'))
    const { 'mqtt-link': _link, rtcm: _rtcm, ...kept } = plugins
    writeFileSync(variant, JSON.stringify({ ...rest, plugins: kept }))
    const facts = { type: 'bundle' as const, name: 'simulator', version: '3.1.0', hardware: ['simulator'], arch: 'any' }
    await packImage(out, facts, readPrivateKey(readFileSync(at('maker.key'), 'utf8')), at('silent.img'))
    const station = await start(t, entry, data, ['--set', 'ota.trial_min=1'])
    await until(async () => (await station.seen())?.base.state.base === 'ready', 'RTCM')
    t.match(await send(station, at('silent.img')), { status: 200 })
    await until(async () => station.output().includes('this version is on trial'), 'the trial')
    await until(async () => (await station.seen())?.base.update.failed === true, 'the report')
    const error = (await station.seen())?.base.state.errors.find(({ code }) => code === 'update-failed')
    t.match(
      error?.text,
      /3\.1\.0 was given up: no RTCM went out, though it did before.*; the broker was not reached, though/,
    )
    await station.end()
  })

  await t.test('falls back to this version when the slot is damaged', { skip: gateOnly }, async (t) => {
    writeFileSync(join(data, 'slots', 'a', 'rtk-base.mjs'), 'half of it')
    const station = await start(t, entry, data)
    t.match(await station.seen(), { esp: { version: '1.0.0', partition: 'f' } })
    t.match(await send(station, at('next.img')), { status: 200 })
    await until(async () => (await station.seen())?.esp.version === '2.0.0', 'the new version')
    await until(async () => /^good=b trial= /.test(stateOf(data)), 'the confirmation')
    await station.end()
    t.ok(existsSync(join(data, 'slots', 'b', 'SHA256SUMS')))
  })
})
