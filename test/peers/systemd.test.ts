/** The package under a real systemd: a slot that is bad is rolled back without a hand, a good one stays. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gateOnly, machineOnly, sample, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import leds from '../../plugins/device/leds/index.js'
import radio from '../../plugins/network/radio/index.js'
import { packageRoot } from '../../runtime/platform/release.js'
import type { PluginDefinition } from '../../runtime/plugin.js'
import { dropIn } from '../../runtime/tools/build/deb/index.js'
import { writeSums } from '../../runtime/tools/build/deb/slot.js'
import { copyFor, debian13, inCopy, type Machine, noMachine, startMachine } from '../harness/peers/machine.js'
import { noPeer } from '../harness/peers/peers.js'
import { buildField, realUpdates } from './real-updates.js'

t.setTimeout(1_200_000)
const home = '/var/lib/rtk-base'

/** Bundles of a few lines, which do what an update might do. Each notes in `starts` which slot runs, with `!` on trial. */
const common = `import { appendFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
const { RTK_BASE_ROOT: root, RTK_BASE_SLOT: slot, RTK_TRIAL: trial, NOTIFY_FD: fd } = process.env
const tell = (text) => writeSync(Number(fd), text)
const alive = () => setInterval(() => tell('WATCHDOG=1'), 300)
const hang = () => { for (;;); }
const confirm = () => {
  writeFileSync(root + '/state.new', 'good=' + slot + '\\ntrial=\\ntries=0\\nback=\\n')
  renameSync(root + '/state.new', root + '/state')
}
appendFileSync(root + '/starts', slot + (trial === '' ? '' : '!') + ' ')
`
const bundles = {
  good: `alive(); setTimeout(() => { if (trial !== '') confirm(); tell('READY=1') }, 200)`,
  'crashes at start': 'process.exit(3)',
  'hangs at start': 'hang()',
  'hangs later': 'alive(); setTimeout(hang, 1000)',
  'is never ready': 'alive()',
}
type Bundle = keyof typeof bundles

/** The unit with shorter limits. */
const limits = '[Service]\nRestartSec=100ms\nTimeoutStartSec=5\nWatchdogSec=2\n'

const active = (machine: Machine) => machine.run('systemctl', 'is-active', 'rtk-base').stdout.trim()

/** Stops the service and starts it with `a`, which is good, and `b` on trial. */
function tryUpdate(machine: Machine, bundle: Bundle): void {
  machine.run('systemctl', 'stop', 'rtk-base')
  for (const [slot, name] of [
    ['a', 'good'],
    ['b', bundle],
  ] as const) {
    const folder = join(machine.root, home, slot)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'rtk-base.mjs'), `${common}${bundles[name]}\n`)
    writeSums(folder)
  }
  machine.write(`${home}/state`, 'good=a\ntrial=b\ntries=0\nback=\n')
  machine.write(`${home}/starts`, '')
  mkdirSync(join(machine.root, home, 'data'), { recursive: true })
  machine.run('chown', '-R', 'rtk-base:rtk-base', home)
  machine.run('systemctl', 'start', '--no-block', 'rtk-base')
}

const stateOf = (machine: Machine) => machine.read(`${home}/state`).trim().replaceAll('\n', ' ')

t.test('the package under the systemd of this machine', { skip: gateOnly || noMachine() }, (t) => underSystemd(t, '/'))

t.test('the package under that of Debian 13', { skip: machineOnly || noMachine() || noPeer('debootstrap') }, (t) =>
  underSystemd(t, debian13(t)),
)

async function underSystemd(t: Test, base: string): Promise<void> {
  const out = t.testdir()
  const deb = await buildField(t, out)
  const root = copyFor(t, base)
  copyFileSync(deb, join(root, 'var', basename(deb)))
  // Node may have come here from elsewhere than from Debian.
  const installed = inCopy(root, 'dpkg', '-i', '--force-depends', `/var/${basename(deb)}`)
  t.equal(installed.code, 0, installed.stderr)
  const machine = await startMachine(t, root)
  machine.run('systemctl', 'stop', 'rtk-base')

  t.test('the slot of the package runs: as its own user, on port 80', async (t) => {
    machine.write('/etc/default/rtk-base', 'RTK_BASE_OPTIONS="--set http.port=80"\n')
    machine.run('systemctl', 'start', 'rtk-base')
    t.equal(active(machine), 'active', machine.run('journalctl', '-u', 'rtk-base', '--no-pager').stdout)
    const get = (path: string) =>
      machine.run('node', '-e', `fetch('http://127.0.0.1${path}').then((r) => r.text()).then((x) => console.log(x))`)
        .stdout
    t.match(JSON.parse(get('/get-info')), { esp: { partition: 'f' } })
    const pid = machine.run('systemctl', 'show', '-P', 'MainPID', 'rtk-base').stdout.trim()
    t.equal(machine.run('ps', '-o', 'user=', '-p', pid).stdout.trim(), 'rtk-base')

    t.test('and may restart the machine', { skip: noPeer('busctl') }, async (t) => {
      const login = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager', 'CanReboot']
      const asks = (user: string) =>
        machine.run('setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', 'busctl', 'call', ...login)
      t.match(asks('rtk-base').stdout, 's "yes"', asks('rtk-base').stderr)
      t.notMatch(asks('nobody').stdout, 's "yes"')
    })

    t.test('why it ended is known to the next run', async () => {
      machine.run('systemctl', 'kill', '--kill-who=main', '-s', 'KILL', 'rtk-base')
      await until(() => {
        const now = machine.run('systemctl', 'show', '-P', 'MainPID', 'rtk-base').stdout.trim()
        return now !== '0' && now !== pid && active(machine) === 'active'
      }, 'it was started again')
      const journal = () => machine.run('journalctl', '-u', 'rtk-base', '--no-pager').stdout
      await until(() => /ended by SIGKILL/.test(journal()), 'the journal has it')
    })
  })

  machine.write('/etc/systemd/system/rtk-base.service.d/limits.conf', limits)
  machine.run('systemctl', 'daemon-reload')
  const bad = (Object.keys(bundles) as Bundle[]).filter((name) => name !== 'good')
  for (const bundle of bad.slice(0, sample(0, bad.length, 1))) {
    t.test(`an update that ${bundle} is rolled back`, async (t) => {
      tryUpdate(machine, bundle)
      const begin = performance.now()
      const isBack = () => stateOf(machine) === 'good=a trial= tries=0 back=b' && active(machine) === 'active'
      await until(isBack, 'the old one runs', 60_000)
      t.equal(machine.read(`${home}/starts`), 'b! b! b! a ')
      t.comment(`${bundle}: back after ${((performance.now() - begin) / 1000).toFixed(1)} s`)
    })
  }

  t.test('a good update stays', async (t) => {
    tryUpdate(machine, 'good')
    await until(() => active(machine) === 'active', 'it is confirmed', 30_000)
    t.equal(stateOf(machine), 'good=b trial= tries=0 back=')
    machine.run('systemctl', 'kill', '--kill-who=main', '-s', 'KILL', 'rtk-base')
    await until(() => machine.read(`${home}/starts`) === 'b! b ' && active(machine) === 'active', 'it runs again')
    const ended = () => machine.run('cat', `${home}/data/ended`).stdout
    t.match(ended(), /^[0-9a-f-]{36} signal killed KILL\n$/)
    machine.run('systemctl', 'stop', 'rtk-base')
    t.match(ended(), /^[0-9a-f-]{36} success killed TERM\n$/)
  })

  await t.test('updates of the real service', { skip: gateOnly }, (t) => realUpdates(t, machine, out))
}

t.test('the unit exposes little', { skip: noPeer('systemd-analyze') || gateOnly }, async (t) => {
  const folder = t.testdir()
  const files = join(packageRoot(), 'runtime', 'tools', 'build', 'deb', 'files')
  const unit = join(folder, 'rtk-base.service')
  const dropIns = `${unit}.d`
  copyFileSync(join(files, 'rtk-base.service'), unit)
  for (const plugin of [undefined, leds, radio]) {
    rmSync(dropIns, { recursive: true, force: true })
    if (plugin) {
      mkdirSync(dropIns)
      writeFileSync(join(dropIns, 'plugin.conf'), dropIn(plugin as PluginDefinition) ?? '')
    }
    const command = ['security', '--offline=yes', '--threshold=30', '--no-pager', unit]
    const { status, stdout } = spawnSync('systemd-analyze', command, { encoding: 'utf8' })
    t.equal(
      status,
      0,
      `${plugin ? `with ${plugin.name}` : 'the unit alone'}: ${/level for .*: (\S+)/.exec(stdout)?.[1]}`,
    )
  }
})
