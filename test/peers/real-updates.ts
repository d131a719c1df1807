/** The real service under a real systemd: from the request with the image to what the version that stays reports. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rtkBase, sample, until } from 'rtk-base/testing'
import type { Test } from 'tap'
import { readPrivateKey } from '../../runtime/lib/image/keys.js'
import { packImage } from '../../runtime/lib/image/pack.js'
import type { Machine } from '../harness/peers/machine.js'

const home = '/var/lib/rtk-base'

/** A base whose receiver and broker are in the service itself, so that an update can do without them. */
export const fieldVariant = {
  name: 'field',
  hardware: 'zed-f9p',
  serial: 'FIELD001',
  changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': 1883 },
  plugins: {
    system: {},
    verdict: {},
    log: {},
    ota: { healthy_s: 2, trial_min: 1 },
    'http-api': {},
    gnss: {},
    'simulated-receiver': { boot: 'fixed' },
    'gnss-zed': { port: 'simulator', configure: false },
    rtcm: {},
    integrity: { initial_s: 10 },
    'survey-in': {},
    'mqtt-broker': {},
    'mqtt-api': {},
    'mqtt-link': { insecure: true },
  } as Record<string, object>,
}

interface Bad {
  /** Begins the program. */
  code?: string
  /** A plugin that is missing. */
  without?: string
  /** The unit's, seconds. */
  startLimit_s?: number
  reason: RegExp
}
const bad: Readonly<Record<string, Bad>> = {
  'crashes at start': { code: 'process.exit(3)', reason: /it did not stay up: the process ended with exit code 3/ },
  'hangs at start': { code: 'for (;;);', reason: /it did not stay up: it did not answer the system’s watchdog/ },
  'hangs later': {
    code: 'setTimeout(() => { for (;;); }, 6_000)',
    reason: /it did not stay up: .*(watchdog|blocked)/,
  },
  'is never ready': { without: 'ota', startLimit_s: 25, reason: /did not (stay|come) up/ },
  'sends no RTCM, though it flowed before': {
    without: 'gnss-zed',
    reason: /no RTCM went out, though it did before the update/,
  },
  'does not reach the broker, though it was reached before': {
    without: 'mqtt-broker',
    reason: /the broker was not reached, though it was before the update/,
  },
}

/** Builds the package (1.0.0) and the folder of the next version (2.0.0), both of the field variant. */
export async function buildField(t: Test, folder: string): Promise<string> {
  const variant = join(folder, 'field.json')
  writeFileSync(variant, JSON.stringify(fieldVariant))
  const key = join(folder, 'maker.key')
  t.match(await rtkBase(['keys', join(folder, 'maker')]), { code: 0 })
  const common = ['--target', 'linux-x64', '--sign', key]
  const deb = ['build', variant, '--deb', '--out', folder, '--release', '1.0.0', ...common]
  const built = await rtkBase(deb)
  t.match(built, { code: 0 }, built.stderr)
  return /^(.*\.deb): /m.exec(built.stdout)?.[1] ?? ''
}

/** A signed image of 2.0.0, with what is wrong with it. */
async function imageOf(folder: string, name: string, { code, without }: Partial<Bad>): Promise<string> {
  const out = join(folder, name)
  cpSync(join(folder, 'next'), out, { recursive: true })
  const program = join(out, 'rtk-base.mjs')
  if (code) writeFileSync(program, `${code}\n${readFileSync(program, 'utf8').replace(/^#!.*\n/, '')}`)
  if (without) {
    const { [without]: _missing, ...plugins } = fieldVariant.plugins
    const file = join(out, 'runtime', 'variants', 'field.json')
    const built = JSON.parse(readFileSync(file, 'utf8')) as typeof fieldVariant
    const kept = Object.entries(built.plugins).filter(([plugin]) => plugin in plugins)
    writeFileSync(file, JSON.stringify({ ...built, plugins: Object.fromEntries(kept) }))
  }
  const facts = { type: 'bundle' as const, name: 'field', version: '2.0.0', hardware: ['zed-f9p'], arch: 'linux-x64' }
  const image = `${out}.img`
  await packImage(out, facts, readPrivateKey(readFileSync(join(folder, 'maker.key'), 'utf8')), image)
  rmSync(out, { recursive: true })
  return image
}

/** At the start of a service blocks are missing. */
interface Seen {
  esp?: { version: string; partition: string }
  base?: {
    update?: { state: string; failed: boolean }
    state?: { base: string; errors: { code: string; text: string }[] }
  }
  mqtt?: { state?: { link: string } }
}

/** @param folder where `buildField` has built */
export async function realUpdates(t: Test, machine: Machine, folder: string): Promise<void> {
  const next = ['build', join(folder, 'field.json'), '--out', join(folder, 'next'), '--release', '2.0.0']
  t.match(await rtkBase([...next, '--target', 'linux-x64', '--sign', join(folder, 'maker.key')]), { code: 0 })
  machine.run('systemctl', 'stop', 'rtk-base')
  machine.run('sh', '-c', `rm -rf ${home}/a ${home}/b ${home}/state ${home}/data/*`)
  const node = (script: string) => machine.run('node', '-e', script).stdout
  const seen = (): Seen => {
    const text = node(`fetch('http://127.0.0.1/get-info').then((r) => r.text()).then(console.log, () => {})`)
    return text.startsWith('{') ? (JSON.parse(text) as Seen) : {}
  }
  /** Asks once a second: a question starts a program. */
  const reached = (condition: (document: Seen) => boolean, what: string, limit_ms = 120_000) => {
    let asked_ms = Number.NEGATIVE_INFINITY
    let document: Seen = {}
    const isSo = () => {
      if (performance.now() - asked_ms < 1_000) return false
      document = seen()
      asked_ms = performance.now()
      return condition(document)
    }
    return until(isSo, what, limit_ms).then(
      () => document,
      (error) => {
        t.comment(machine.run('journalctl', '-u', 'rtk-base', '--no-pager', '-n', '60').stdout)
        throw error
      },
    )
  }
  const state = () => {
    const { stdout } = machine.run('cat', `${home}/state`)
    return stdout.trim().replaceAll('\n', ' ')
  }
  const works = () =>
    reached(({ base, mqtt }) => base?.state?.base === 'ready' && mqtt?.state?.link === 'up', 'RTCM and the broker')
  const limit = (startLimit_s = 180) => {
    // A machine that runs many tests is slow to start a service.
    const lines = ['[Service]', 'RestartSec=100ms', `TimeoutStartSec=${startLimit_s}`, 'WatchdogSec=12', '']
    machine.write('/etc/systemd/system/rtk-base.service.d/limits.conf', lines.join('\n'))
    machine.run('systemctl', 'daemon-reload')
  }
  const send = (image: string) => {
    mkdirSync(join(machine.root, 'var', 'images'), { recursive: true })
    cpSync(image, join(machine.root, 'var', 'images', 'next.img'))
    const body = "body: require('node:fs').readFileSync('/var/images/next.img')"
    return node(
      `fetch('http://127.0.0.1/update-firmware?esp', { method: 'POST', ${body} }).then((r) => r.text()).then(console.log)`,
    )
  }

  limit()
  machine.run('systemctl', 'start', 'rtk-base')
  const cases = Object.entries(bad)
  for (const [name, what] of cases.slice(0, sample(0, cases.length, 1))) {
    await t.test(`the real service: an update that ${name} is rolled back and reported`, async (t) => {
      t.match(await works(), { esp: { version: '1.0.0', partition: 'f' } })
      limit(what.startLimit_s)
      t.equal(send(await imageOf(folder, 'bad', what)), '{"result":"ok","version":"2.0.0"}\n')
      const begin = performance.now()
      const document = await reached(({ base }) => base?.update?.failed === true, 'the report', 400_000)
      t.comment(`${name}: reported after ${((performance.now() - begin) / 1000).toFixed(1)} s`)
      t.match(document, { esp: { version: '1.0.0', partition: 'f' }, base: { update: { state: 'failed' } } })
      const text = document.base?.state?.errors.find(({ code }) => code === 'update-failed')?.text ?? ''
      t.match(text, /^the update to 2\.0\.0 was given up: .*; 1\.0\.0 runs again$/)
      t.match(text, what.reason)
      t.equal(state(), 'good=f trial= tries=0 back=')
      limit()
    })
  }

  await t.test('the real service: a good update stays', async (t) => {
    await works()
    t.equal(send(await imageOf(folder, 'good', {})), '{"result":"ok","version":"2.0.0"}\n')
    const isDone = ({ esp, base }: Seen) => esp?.version === '2.0.0' && base?.update?.state === 'idle'
    t.match(await reached(isDone, 'the confirmation'), { esp: { partition: 'a' }, base: { update: { failed: false } } })
    t.equal(state(), 'good=a trial= tries=0 back= previous=f')
    t.equal(machine.run('systemctl', 'is-active', 'rtk-base').stdout.trim(), 'active')
    await works()
    const status = () => machine.run('systemctl', 'show', '-P', 'StatusText', 'rtk-base').stdout.trim()
    await until(() => /^fixed, \d+ outputs?$/.test(status()), `the status line, not "${status()}"`)
    machine.run('systemctl', 'kill', '--kill-who=main', '-s', 'KILL', 'rtk-base')
    t.match(await works(), { esp: { version: '2.0.0', partition: 'a' } }, 'also after its end')
  })
}
