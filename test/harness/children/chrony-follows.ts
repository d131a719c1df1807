/**
 * Run in a network of its own: chrony follows the receiver's time of a station, and the station hears that its clock is kept.
 * Prints what chrony and the station say. `-x`: the clock of this machine is left alone.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import system from '../../../plugins/device/system/index.js'
import { systemClock } from '../../../runtime/platform/ports/clock.js'
import { LinuxMachine } from '../../../runtime/platform/ports/machine.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { fakeProcesses } from '../fake-processes.js'
import { until } from '../manual-clock.js'
import { childEnv, freeUdpPort } from '../process.js'
import { createTestStation } from '../station.js'

/** Receiver minus clock of this machine: nobody else has this time. */
const ahead_ms = 1_000_000
const folder = mkdtempSync(join(tmpdir(), 'rtk-c-'))
const [socket, config] = [join(folder, 'command'), join(folder, 'chrony.conf')]

/** Fields of `chronyc -c tracking`; undefined while chrony does not answer. */
function tracking(): { reference: string; stratum: number; leap: string } | undefined {
  try {
    const args = ['-h', socket, '-c', 'tracking']
    const fields = execFileSync('chronyc', args, { encoding: 'utf8', stdio: 'pipe' }).trim().split(',')
    return { reference: fields[1] ?? '', stratum: Number(fields[2]), leap: fields.at(-1) ?? '' }
  } catch {
    return undefined
  }
}

const programs = fakeProcesses({
  // timedatectl would ask the kernel, which `chronyd -x` tells nothing.
  timedatectl: () => ({ stdout: tracking()?.leap === 'Normal' ? 'yes\n' : 'no\n' }),
  date: () => ({}),
})
const port = await freeUdpPort()
const station = await createTestStation({
  clock: systemClock,
  machine: new LinuxMachine(() => {}, programs),
  plugins: { system: [system as AnyPlugin, { ntpPort: port }] },
} as unknown as Parameters<typeof createTestStation>[0])
const telling = setInterval(() => station.device.setUtc(Date.now() + ahead_ms), 200)
const clock = () => station.field('base.clock') as { kept: string; served: number }
await until(() => clock().served === port, 'the time is served')
await until(() => clock().kept !== 'unknown', 'it is known who keeps the clock')
const before = clock().kept

const lines = [
  `server 127.0.0.1 port ${port} iburst minpoll 0 maxpoll 0`,
  'makestep 1 -1',
  // It serves nobody, and takes commands in its own folder alone.
  'port 0',
  'cmdport 0',
  `bindcmdaddress ${socket}`,
  `pidfile ${join(folder, 'pid')}`,
]
writeFileSync(config, `${lines.join('\n')}\n`)
const chrony = spawn('chronyd', ['-x', '-d', '-u', 'root', '-f', config], {
  stdio: ['ignore', 'pipe', 'pipe'],
  env: childEnv(),
})
let said = ''
for (const stream of [chrony.stdout, chrony.stderr])
  stream.on('data', (chunk) => {
    said += chunk
  })
await until(() => tracking()?.leap === 'Normal', 'chrony follows').catch((error) => {
  throw new Error(`${error.message}: ${said}`)
})
// Asked at the start, and every ten minutes.
await station.reload('system')
await until(() => clock().kept !== 'unknown', 'it is known who keeps the clock')
const [, wrong] = /System clock wrong by (-?[\d.]+) seconds/.exec(said) ?? []
const set = programs.calls.filter(([program]) => program === 'date').length
console.log(JSON.stringify({ before, after: clock().kept, set, wrong_s: Number(wrong), ...tracking() }))
clearInterval(telling)
chrony.kill()
await station.stop()
rmSync(folder, { recursive: true, force: true })
process.exit(0)
