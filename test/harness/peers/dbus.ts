import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { atExit } from '../at-exit.js'
import { until } from '../manual-clock.js'
import { noPeer } from './peers.js'

/** Debian's own Python has its modules. */
export const python = '/usr/bin/python3'

/** A reason to skip what needs python-dbusmock; with `CI=true` never one. */
export function noDbusMock(): string | false {
  const noBus = noPeer('dbus-daemon')
  if (noBus !== false || process.env.CI === 'true') return noBus
  const found = spawnSync(python, ['-c', 'import dbusmock, gi']).status === 0
  return found ? false : 'python3-dbusmock is not installed on this machine'
}

const configuration = (
  path: string,
) => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=${path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
`

const peers = new Set<Peer>()
atExit(() => {
  for (const { child } of peers) child.kill('SIGKILL')
})

/** A process of the machine that a test ends, stops and starts again. */
export class Peer {
  readonly #start: () => ChildProcess
  #child: ChildProcess | undefined

  constructor(t: Test, start: () => ChildProcess) {
    this.#start = start
    t.teardown(() => this.stop('SIGKILL'))
    peers.add(this)
    this.start()
  }

  get child(): ChildProcess {
    return this.#child as ChildProcess
  }

  start(): void {
    this.#child = this.#start()
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill(signal)
    await ended
  }
}

/** Its file is there a moment before: who connects then is refused. */
async function isListening(path: string): Promise<boolean> {
  const socket = connect(path)
  const isThere = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isThere
}

/** A private system bus. */
export async function busFor(t: Test): Promise<{ address: string; folder: string; daemon: Peer; up(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-dbus-'))
  const socket = join(folder, 'bus')
  const config = join(folder, 'bus.conf')
  writeFileSync(config, configuration(socket))
  const daemon = new Peer(t, () => {
    rmSync(socket, { force: true })
    return spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--nopidfile'], { stdio: 'ignore' })
  })
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const up = () => until(() => isListening(socket), 'the bus listens')
  await up()
  return { address: `unix:path=${socket}`, folder, daemon, up }
}
